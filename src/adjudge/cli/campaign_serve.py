"""`adjudge campaign serve`: pages for annotators and organisers, with no other setup."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.output import print_note

if TYPE_CHECKING:
    from adjudge.campaigns.people import Link

__all__ = ["command"]


def command(
    campaign: Annotated[Path, typer.Argument(help="Folder of the campaign.", show_default=False)],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine.")
    ] = "127.0.0.1",
    public_url: Annotated[
        str | None,
        typer.Option(
            help="Where browsers find it, behind a proxy: https://judge.example.org.", show_default=False
        ),
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes; several need PostgreSQL.")] = 1,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
) -> None:
    """Serve a campaign to its annotators and its organiser; Ctrl-C ends it.

    What annotators did is stored the moment their page says so: the server may be stopped at any time.
    The organiser's link is printed on a terminal only, so that no log keeps it.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.folder import alone, read_links
    from adjudge.campaigns.people import valid_links
    from adjudge.errors import UsageError
    from adjudge.web.security import read_site
    from adjudge.web.serving import address_of, listen, serve

    site = read_site(public_url)
    with open_campaign(campaign) as opened:
        links, without = valid_links(opened, read_links(campaign))
    if workers > 1 and opened.database.is_sqlite:
        raise UsageError(
            "several processes need a store on a PostgreSQL server: `campaign new --database URL`"
        )
    with alone(campaign) if opened.database.is_sqlite else nullcontext(), listen(host, port) as listening:
        address = address_of(listening)
        print_note(f"Campaign {opened.name} is at {site.origin or address}")
        _say_links(links, without, campaign, site.origin or address)
        print_note("Ctrl-C stops it.")
        if site.origin:
            print_note(f"It listens on {address}; a proxy must pass requests on, with their Host header.")
        elif host not in {"127.0.0.1", "::1", "localhost"}:
            print_note(
                "Anyone on the network can read along: for real work, put https in front (--public-url)."
            )
        serve(campaign, listening, public_url=public_url, workers=workers, is_logged=access_log)
    print_note("Stopped. Everything that was acknowledged is stored; the same command goes on.")


def _say_links(links: Sequence[Link], without: Sequence[str], folder: Path, address: str) -> None:
    """Where the links are that let somebody in, and of whom there is none."""
    from adjudge.report.findings import in_words

    organisers = [link for link in links if link.role == "organiser"]
    for link in organisers if sys.stderr.isatty() else ():
        print_note(f"The organiser's link: {address}{link.path}")
    if organisers and not sys.stderr.isatty():  # a log is read by others, and kept
        print_note("The organiser's link is printed on a terminal only; links.csv has it too.")
    another = f"`adjudge campaign people {folder} --new-link NAME`"
    if not links:
        print_note(f"There are no links here any more: {another}.")
        return
    where = f"{folder / 'links.csv'}, to be put behind {address}"
    whose = "Links" if without else "Everyone's links"
    print_note(f"{whose} are in {where}; each is a key, so send it to its person alone.")
    if without:
        print_note(f"None there lets in {in_words(without)}: later links are shown once; {another}.")
