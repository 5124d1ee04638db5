"""`adjudge campaign people`: who takes part; new people, new links, no more access, a password."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.output import FormatOption, print_note, print_result
from adjudge.errors import UsageError
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Link, Person, Role

__all__ = ["command"]

_ACTOR = "command"


def command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    add: Annotated[list[str] | None, typer.Option(metavar="PERSON", help="Add somebody; repeat.")] = None,
    role: Annotated[
        str, typer.Option(help="Of who is added: annotator, adjudicator or organiser.")
    ] = "annotator",
    batch: Annotated[
        int | None, typer.Option(min=0, help="Static batch of who is added, shared with who has it.")
    ] = None,
    new_link: Annotated[
        list[str] | None, typer.Option(metavar="PERSON", help="Replace somebody's link; repeat.")
    ] = None,
    revoke: Annotated[
        list[str] | None, typer.Option(metavar="PERSON", help="Shut somebody out; answers stay. Repeat.")
    ] = None,
    password: Annotated[
        str | None, typer.Option(metavar="PERSON", help="Ask for a new password of an organiser.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """List the people of a campaign, after the changes asked for.

    A new link is printed once and kept nowhere: whoever has it is that person.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.people import people, set_password
    from adjudge.campaigns.people import revoke as revoke_person
    from adjudge.report.findings import in_words

    with open_campaign(name) as campaign:
        now = time.time()
        links = _links(campaign, add or [], role, batch, new_link or [], now)  # type: ignore[arg-type]
        for one in revoke or []:
            revoke_person(campaign, _find(campaign, one).id, now, actor=_ACTOR)
        if password is not None:
            number = _find(campaign, password).id
            chosen = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
            set_password(campaign, number, chosen, now, actor=_ACTOR)
        found = people(campaign)
    paths = {link.name: link.path for link in links}
    print_result(form, _table(campaign.name, found, paths), _data(campaign.name, found, paths))
    if links:
        print_note("adjudge: links go behind the address of the server; they are not shown again")
        if (file := name / "links.csv").is_file():
            whose = in_words([*paths])
            print_note(f"adjudge: {file} stays as it was made; of {whose}, only the links above are good")


def _links(
    campaign: Campaign, add: list[str], role: Role, batch: int | None, renewed: list[str], now: float
) -> list[Link]:
    from adjudge.campaigns.people import add_people, new_link

    links = [*add_people(campaign, add, role, now, actor=_ACTOR, batch=batch)] if add else []
    return links + [new_link(campaign, _find(campaign, one).id, now, actor=_ACTOR) for one in renewed]


def _find(campaign: Campaign, name: str) -> Person:
    from adjudge.campaigns.people import people

    everyone = people(campaign)
    found = next((person for person in everyone if person.name == name), None)
    if found is None:
        known = ", ".join(person.name for person in everyone)
        raise UsageError(f"campaign {campaign.name!r} has nobody called {name!r}; there are {known}")
    return found


def _table(name: str, people: tuple[Person, ...], links: dict[str, str]) -> Table:
    return Table(
        title=f"People of {name}",
        columns=("person", "role", ">batch", "state", "link"),
        rows=[
            [p.name, p.role, "" if p.batch is None else str(p.batch), _state(p), links.get(p.name, "")]
            for p in people
        ],
    )


def _state(person: Person) -> str:
    return "active" if person.revoked_at is None else "revoked"


def _data(name: str, people: tuple[Person, ...], links: dict[str, str]) -> dict[str, object]:
    found = [
        {"person": p.name, "role": p.role, "batch": p.batch, "state": _state(p), "link": links.get(p.name)}
        for p in people
    ]
    return {"campaign": name, "people": found}
