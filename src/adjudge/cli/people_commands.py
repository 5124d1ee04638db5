"""Commands that run a campaign: `adjudge campaign serve`, `status`, `people`, `export` and others."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer
from pydantic import BeforeValidator

from adjudge.cli.options import FormatOption, LpOption, existing, print_note, print_result, print_tables
from adjudge.core.language import canonical_lp
from adjudge.core.names import as_name
from adjudge.core.verb import IntervalDraws, LanguagePair, OfMismatched, Option, Seed, settings, split_names
from adjudge.core.wording import command, count
from adjudge.errors import DataError, UsageError
from adjudge.reports.tables import Table, TableFormat, duration

if TYPE_CHECKING:
    from adjudge.campaigns.again import Adjudications, GateReport
    from adjudge.campaigns.dashboard import PersonProgress, Progress
    from adjudge.campaigns.database import Campaign, Person
    from adjudge.campaigns.people import Link
    from adjudge.formats.campaign_export import CampaignFile


How = Literal["marks", "adjudicate", "gate"]
_ACTOR = "command"


@settings
class AgainSettings:
    """What is too far apart."""

    threshold: Annotated[
        float | None, Option(help="Smallest correlation of two annotators in the gate; default: 0.7.")
    ] = None
    by_others: Annotated[bool, Option(help="Rejudge with people who are new to the segment (gate).")] = False
    min_difference: Annotated[
        float | None,
        Option(help="Smallest rating difference to adjudicate; default by scale: docs/campaigns.md."),
    ] = None
    min_f1: Annotated[
        float | None,
        Option(help="Adjudicate marks with a lower F1; default without ratings: 0.5."),
    ] = None


def campaign_again_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    how: Annotated[
        How,
        typer.Option(
            help="Check marks again, adjudicate differences, or rejudge (then drop) inconsistent "
            "ratings; docs/campaigns.md."
        ),
    ],
    tasks: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBERS", help="Task numbers, separated by commas; default: all finished tasks."
        ),
    ] = None,
    settings: AgainSettings,
    form: FormatOption = "table",
) -> None:
    """Send finished tasks out again; earlier judgements stay, and nothing is sent twice."""
    from adjudge.analysis.study_agreement import THRESHOLD
    from adjudge.campaigns.again import adjudicate, apply_gate, find_measure, second_pass
    from adjudge.campaigns.campaign import open_campaign

    apart = (settings.min_difference, settings.min_f1)
    if how != "gate" and (settings.threshold is not None or settings.by_others):
        raise UsageError(f"--threshold and --by-others are for --how gate, not {how}")
    if how != "adjudicate" and apart != (None, None):
        raise UsageError(f"--min-difference and --min-f1 are for --how adjudicate, not {how}")
    if how == "gate" and tasks is not None:
        raise UsageError("the gate decides on all segments: --tasks is for marks and adjudicate")
    with open_campaign(name) as campaign:
        now = time.time()
        if how == "gate":
            least = THRESHOLD if settings.threshold is None else settings.threshold
            report = apply_gate(campaign, now, actor=_ACTOR, threshold=least, by_others=settings.by_others)
            _print_gate(form, campaign, report)
            return
        numbers = None if tasks is None else _numbers(tasks)
        if how == "adjudicate":
            measure = find_measure(campaign.protocol, *apart)
            _print_adjudications(
                form, campaign, adjudicate(campaign, now, actor=_ACTOR, measure=measure, numbers=numbers)
            )
        else:
            sent = second_pass(campaign, now, actor=_ACTOR, numbers=numbers)
            table = Table(columns=["campaign", "sent for", ">tasks"], rows=[[campaign.name, how, str(sent)]])
            print_result(form, table, {"campaign": campaign.name, "how": how, "tasks": sent})


def _print_adjudications(form: TableFormat, campaign: Campaign, found: Adjudications) -> None:
    table = Table(
        title=f"Adjudication in {campaign.name}",
        columns=["", ">segments"],
        rows=[
            ["finished by two people or more", str(found.segments)],
            ["people differ", str(found.differing)],
            ["sent to adjudicators now", str(found.sent)],
        ],
        notes=[
            f"People differ in {found.differing} of {found.segments} segments: {found.measure}.",
            f"{count(found.tasks, 'new task')}. What was sent before is not sent again.",
        ],
    )
    data = {
        "campaign": campaign.name,
        "how": "adjudicate",
        "measure": str(found.measure),
        "min_difference": found.measure.min_difference,
        "min_f1": found.measure.min_f1,
        "segments": found.segments,
        "differing": found.differing,
        "sent": found.sent,
        "tasks": found.tasks,
    }
    print_result(form, table, data)


def _numbers(text: str) -> list[int]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() for part in parts):
        raise UsageError(f"--tasks takes numbers with commas between, got {text!r}")
    return [int(part) for part in parts]


def _print_gate(form: TableFormat, campaign: Campaign, found: GateReport) -> None:
    rows = [
        ["segments", str(found.segments), ""],
        ["judged as often as asked", str(found.first), ""],
        ["failed and sent out again", str(found.failed), _share(found.failed_share)],
        ["judged again", str(found.second), ""],
        ["dropped", str(found.dropped), _share(found.dropped_share)],
        ["dropped, of those judged again", "", _share(found.dropped_share_of_failed)],
    ]
    left = (
        f"Of those decided on now, {found.undefined} have ratings without a correlation; {found.unjudged} "
        "have no two people who rated five systems and are left alone."
    )
    table = Table(
        title=f"Agreement gate of {campaign.name}", columns=["", ">n", ">share"], rows=rows, notes=[left]
    )
    shares = {
        "failed_share": found.failed_share,
        "dropped_share": found.dropped_share,
        "dropped_share_of_failed": found.dropped_share_of_failed,
    }
    print_result(form, table, {"campaign": campaign.name, **asdict(found), **shares})


def _share(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f} %"


@settings
class AnalyseSettings:
    """What a campaign is compared with, and how it is counted."""

    gold: Annotated[Path | None, Option(help="Gold judgements of the same translations.", exists=True)] = None
    beside: Annotated[
        Path | None,
        Option(
            help="Another campaign of the same translations, such as a later round.",
            metavar="NAME|FILE",
            exists=True,
        ),
    ] = None
    batches: Annotated[
        Path | None,
        Option(help="Appraise's batches of a CSV; default: the only batches*.json beside.", exists=True),
    ] = None
    weights: Annotated[
        str | None,
        Option(
            help="Error weights; default: esa-spans for ESA, mqm-google for MQM.",
            metavar="NAME|FILE",
            short="w",
        ),
    ] = None
    lp: LanguagePair = None
    test_set: Annotated[
        Path | None, Option(help="Test set with the texts, if --gold has none.", metavar="PATH")
    ] = None
    mismatched: OfMismatched = "refuse"
    resamples: IntervalDraws = 1000
    seed: Seed = 0


def campaign_analyse_command(
    campaign: Annotated[
        Path,
        typer.Argument(
            metavar="NAME|FILE",
            help="Folder of a campaign, its export, or an Appraise CSV.",
            callback=existing,
            show_default=False,
        ),
    ],
    *,
    settings: AnalyseSettings,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder for figures as PDF, SVG and PNG.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Analyse a campaign: rankings, agreement, attention, times, drift, and what marks and ratings hold.

    Where a definition of the ESA paper has a flaw, the paper's number and a mended one stand there.
    """
    from adjudge.analysis.study import analyse
    from adjudge.formats.campaign_export import apart, select_lp
    from adjudge.formats.read import read_judgements
    from adjudge.reports.campaign_report import (
        analysis_data,
        analysis_rows,
        analysis_tables,
        campaign_figures,
    )
    from adjudge.stats.bootstrap import Draws

    lp, batches, beside = settings.lp, settings.batches, settings.beside
    said = select_lp(read_campaign(campaign, batches), lp)
    gold = None if settings.gold is None else read_judgements(settings.gold, lp, settings.test_set).warn()
    other = None
    if beside is not None:
        home = beside.resolve().parent
        has_own = home != Path(campaign).resolve().parent and any(home.glob("batches*.json"))
        other = select_lp(read_campaign(beside, None if has_own else batches), lp)
    draws = Draws(resamples=settings.resamples, seed=settings.seed)
    compared: dict[str, Any] = {"gold": gold, "beside": other, "mismatched": settings.mismatched}
    found = [analyse(part, **compared, weights=settings.weights, draws=draws) for part in apart(said)]
    for figure in campaign_figures(*found) if figures is not None else ():
        figure.write(figures or Path())
    if figures is not None:
        print_note(f"The figures: {figures}")
    if form in {"json", "csv", "tsv"}:
        print_result(form, analysis_rows(*found), {"pairs": analysis_data(*found)})
        return
    print_tables(form, analysis_tables(*found))


def read_campaign(path: Path, batches: Path | None = None) -> CampaignFile:
    """Read a campaign's folder, its export, or an Appraise CSV with its batches."""
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.exporting import export_campaign
    from adjudge.formats.campaign_export import read_campaign_file

    if path.is_dir():
        with open_campaign(path) as opened:
            return export_campaign(opened)
    return _read_appraise(path, batches) if path.suffix.lower() == ".csv" else read_campaign_file(path)


def _read_appraise(path: Path, batches: Path | None) -> CampaignFile:
    from adjudge.formats.appraise import read_batches
    from adjudge.formats.appraise_campaign import read_appraise_submissions

    beside = [batches] if batches is not None else sorted(path.parent.glob("batches*.json"))
    if len(beside) != 1:
        raise DataError(
            f"an Appraise CSV says no texts: wanted its batches, found {len(beside)} files batches*.json "
            "beside it; name one with --batches",
            path=path,
        )
    file, met = read_appraise_submissions(path, read_batches(beside[0]))
    for what, number in met.items():
        print_note(f"adjudge: {path}: {number:,} {what}")
    return file


def campaign_backup_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; must not exist.")],
) -> None:
    """Copy the store of a campaign to a file, also while people work.

    The file is a SQLite store, also where the campaign is on a PostgreSQL server. `adjudge campaign restore`
    goes back to it.
    """
    from adjudge.campaigns.campaign import open_campaign

    with open_campaign(name) as campaign:
        campaign.database.backup(out, campaign.name)
    print_note(f"The store of {campaign.name} is copied to {out}.")


def campaign_restore_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    file: Annotated[Path, typer.Argument(metavar="BACKUP", help="File that `campaign backup` wrote.")],
    *,
    database: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="New store, postgresql://USER@HOST/DATABASE or a file in the folder; default: its current "
            "store.",
        ),
    ] = None,
) -> None:
    """Go back to a backup; all that people did since is lost. Stop the server first.

    With --database the campaign is in that store from then on, and its old store keeps what it has. Links
    and the backup stay what they are.
    """
    from adjudge.campaigns.campaign import restore_campaign

    old, new = restore_campaign(name, file, database)
    print_note(f"{name} is again what it was when {file} was written.")
    if old != new:
        remove = command("campaign", "remove", name, "--database", old)
        print_note(f"It is in {new} now. Where {old} still has it, `{remove}` removes it there.")


def campaign_remove_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    database: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Remove the campaign from this store; default: its current store."),
    ] = None,
    backup: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Back up to FILE first; FILE must not exist.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Skip the prompt for the name of the campaign.")] = False,
) -> None:
    """Remove all that a database holds of a campaign, with --backup, or where another database has it.

    Stop the server first. Files in the folder stay, and `adjudge campaign restore` goes back to the backup.
    """
    from adjudge.campaigns.campaign import remove_campaign

    def confirm(what: str) -> None:
        print_note(f"To be removed: {what}.")
        if not yes and typer.prompt(f"Type {name.name} to remove it", err=True) != name.name:
            raise UsageError(f"that is not the name {name.name!r}: nothing is removed")

    removed = remove_campaign(name, database, backup, confirm)
    kept = "" if backup is None else f" `{command('campaign', 'restore', name, backup)}` brings it back."
    print_note(f"{name} is no longer in {removed}.{kept}")


def campaign_translate_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    language: Annotated[str, typer.Option(metavar="CODE", help="Language of the pages, such as de or ar.")],
) -> None:
    """Write what annotators read to NAME/words/CODE.po, for you to translate; again: bring it up to date.

    The pages' own words are filled in where adjudge has them. What stays empty is shown in English. The
    server reads the file when it starts.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.web.catalogues import write_words

    with open_campaign(name) as campaign:
        path, missing = write_words(campaign, language)
    print_note(f"{path}: {count(missing, 'entry', 'entries')} to translate.")


_FORMATS: Final = (
    *("campaign", "records", "jsonl", "appraise", "pearmut", "mqm-tsv", "mtme-ratings", "mtme-scores"),
    "spreadsheet",
)


def campaign_export_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="File to write; `-` is standard output.")],
    *,
    to: Annotated[
        str, typer.Option(metavar="FORMAT", help=f"Format: {', '.join(_FORMATS)}. `jsonl` has only texts.")
    ] = "campaign",
    annotator: Annotated[str | None, typer.Option(help="Export only this person's judgements.")] = None,
    lp: LpOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Export a campaign at any time, half done too.

    `campaign` has everything; `records` what counts, as every other command reads it: checks, tutorials and
    what was judged again later are left out, and counted on standard error.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.exporting import write_export
    from adjudge.formats.convert import check_target

    if to not in _FORMATS:
        raise UsageError(f"a campaign is exported as {', '.join(_FORMATS)}; got {to!r}")
    check_target(out, to, force=force)
    with open_campaign(name) as campaign:
        written, left_out = write_export(campaign, to, out, lp=lp, annotator=annotator, force=force)
    if written is not None and not written.submissions:
        print_note(f"adjudge: nobody has judged anything in {written.name} yet: {out} holds no judgement")
    for what, number in left_out.items():
        print_note(f"adjudge: not in {out}: {number:,} {what}")


@settings
class PeopleSettings:
    """What is to change about the people of a campaign."""

    add: Annotated[
        Sequence[str], Option(help="Add a person; repeat for more.", metavar="PERSON", repeats=True)
    ] = ()
    role: Annotated[
        Literal["annotator", "adjudicator", "organiser"], Option(help="Role of the added people.")
    ] = "annotator"
    languages: Annotated[
        tuple[str, ...],
        BeforeValidator(split_names),
        Option(help="Language pairs of the added people; default: one is chosen.", metavar="A,B", kind=str),
    ] = ()
    new_link: Annotated[
        Sequence[str],
        Option(help="Replace a person's link; repeat for more.", metavar="PERSON", repeats=True),
    ] = ()
    revoke: Annotated[
        Sequence[str],
        Option(
            help="Shut a person out and keep the answers; repeat for more.", metavar="PERSON", repeats=True
        ),
    ] = ()
    password: Annotated[
        str | None, Option(help="Prompt for a new password of this organiser.", metavar="PERSON")
    ] = None


def campaign_people_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    changes: PeopleSettings,
    form: FormatOption = "table",
) -> None:
    """Change the people of a campaign as the options say, then list them.

    A new link is printed once and kept nowhere: whoever has it is that person.
    """
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.dashboard import find_progress
    from adjudge.campaigns.people import add_people, new_link, revoke, set_password
    from adjudge.reports.words import in_words

    with open_campaign(name) as campaign:
        now = time.time()
        links: list[Link] = []
        if changes.add:
            lps = [canonical_lp(lp) for lp in changes.languages]
            links += add_people(campaign, changes.add, changes.role, now, actor=_ACTOR, lps=lps)
        links += [new_link(campaign, _find(campaign, one).id, now, actor=_ACTOR) for one in changes.new_link]
        for one in changes.revoke:
            revoke(campaign, _find(campaign, one).id, now, actor=_ACTOR)
        if changes.password is not None:
            number = _find(campaign, changes.password).id
            chosen = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
            set_password(campaign, number, chosen, now, actor=_ACTOR)
        found = find_progress(campaign, now).people
    paths = {link.name: link.path for link in links}
    print_result(
        form,
        Table(
            title=f"People of {campaign.name}",
            columns=("person", "role", *_HOLDS, "state", "link"),
            rows=[[p.name, p.role, *_work_cells(p), _state(p), paths.get(p.name, "")] for p in found],
        ),
        _data(campaign.name, found, paths),
    )
    if links:
        print_note("adjudge: links go behind the address of the server; they are not shown again")
        if (file := name / "links.csv").is_file():
            whose = in_words([*paths])
            print_note(f"adjudge: {file} stays as it was made; of {whose}, only the links above are good")


def _find(campaign: Campaign, name: str) -> Person:
    from adjudge.campaigns.people import people

    everyone = people(campaign)
    found = next((person for person in everyone if person.name == as_name(name)), None)
    if found is None:
        known = ", ".join(person.name for person in everyone)
        raise UsageError(f"campaign {campaign.name!r} has nobody called {name!r}; there are {known}")
    return found


_HOLDS: Final = ("languages", ">documents", ">segments", ">left")


def _work_cells(person: PersonProgress) -> list[str]:
    left = "" if person.left is None else f"{person.left:,}"
    return [" ".join(person.lps), *(f"{n:,}" if n else "" for n in (person.documents, person.held)), left]


def _state(person: PersonProgress) -> str:
    return "revoked" if person.is_revoked else "failed the test" if person.is_failed else "active"


def _data(name: str, people: tuple[PersonProgress, ...], links: dict[str, str]) -> dict[str, object]:
    found = [
        {"person": p.name, "role": p.role, **_work_data(p), "state": _state(p), "link": links.get(p.name)}
        for p in people
    ]
    return {"campaign": name, "people": found}


def _work_data(person: PersonProgress) -> dict[str, Any]:
    held = {"documents": person.documents, "segments": person.held, "segments_left": person.left}
    return {"languages": list(person.lps), **held}


def campaign_serve_command(
    campaign: Annotated[Path, typer.Argument(help="Folder of the campaign.", show_default=False)],
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    host: Annotated[
        str, typer.Option(help="Address to listen on; 0.0.0.0 for all of this machine.")
    ] = "127.0.0.1",
    public_url: Annotated[
        str | None,
        typer.Option(
            help="Public URL behind a proxy, such as https://judge.example.org.",
            metavar="URL",
            show_default=False,
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Number of server processes; several need PostgreSQL.")
    ] = 1,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for each request.")] = False,
) -> None:
    """Serve a campaign to its annotators and its organiser; Ctrl-C ends it.

    What annotators did is stored the moment their page says so: the server may be stopped at any time.
    The organiser's link is printed on a terminal only, so that no log keeps it.
    """
    from adjudge.campaigns.campaign import alone, open_campaign, read_links
    from adjudge.campaigns.people import valid_links
    from adjudge.errors import UsageError
    from adjudge.web.app import address_of, listen, serve
    from adjudge.web.catalogues import read_words
    from adjudge.web.security import read_site

    site = read_site(public_url)
    with open_campaign(campaign) as opened:
        links, without = valid_links(opened, read_links(campaign))
    read_words(campaign)  # a damaged catalogue is refused before anybody is told the address
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
    from adjudge.reports.words import in_words

    organisers = [link for link in links if link.role == "organiser"]
    for link in organisers if sys.stderr.isatty() else ():
        print_note(f"The organiser's link: {address}{link.path}")
    if organisers and not sys.stderr.isatty():  # a log is read by others, and kept
        print_note("The organiser's link is printed on a terminal only; links.csv has it too.")
    another = f"`{command('campaign', 'people', folder, '--new-link', 'NAME')}`"
    if not links:
        print_note(f"There are no links here any more: {another}.")
        return
    where = f"{folder / 'links.csv'}, to be put behind {address}"
    whose = "Links" if without else "Everyone's links"
    print_note(f"{whose} are in {where}; each is a key, so send it to its person alone.")
    if without:
        print_note(f"None there lets in {in_words(without)}: later links are shown once; {another}.")


def campaign_status_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder of the campaign.")],
    *,
    log: Annotated[
        bool, typer.Option("--log", help="Print the log of changes in place of the progress.")
    ] = False,
    form: FormatOption = "table",
) -> None:
    """Progress, pace and checks, person by person, and what is still to do."""
    from adjudge.campaigns.campaign import open_campaign
    from adjudge.campaigns.dashboard import find_progress
    from adjudge.campaigns.database import read_audit
    from adjudge.web.catalogues import missing_by_language

    with open_campaign(name) as campaign:
        if log:
            lines = read_audit(campaign)
            data = {"campaign": campaign.name, "log": [asdict(line) for line in lines]}
            rows = [[_moment(line.at), line.actor, line.action, line.detail] for line in lines]
            title, columns = f"What was done to {campaign.name}", ("when", "who", "what", "detail")
            print_result(form, Table(title=title, columns=columns, rows=rows), data)
            return
        found = find_progress(campaign, time.time())
        missing = missing_by_language(campaign)
    table, data = _status_table(campaign.name, found), _status_data(campaign.name, found)
    notes = [
        f"Not translated of what annotators read in {language}: {count(number, 'entry', 'entries')}."
        for language, number in missing.items()
    ]
    told = replace(table, notes=[*table.notes, *notes])
    print_result(form, told, data | {"not_translated": missing})


def _status_table(name: str, found: Progress) -> Table:
    notes = [
        f"Tasks: {found.tasks_done:,} of {found.tasks:,} done, {found.under_way:,} under way.",
        f"Still to do: {count(found.items_left, 'judgement')}"
        + ("." if found.active_left is None else f", about {duration(found.active_left)} of work."),
    ]
    if found.ends_at is not None and found.an_hour is not None and found.items_left:
        notes.append(f"At {found.an_hour:.1f} judgements an hour it ends {_moment(found.ends_at)}.")
    if found.items_given_back:
        notes.append(
            f"Finished besides, in tasks that were given back: {count(found.items_given_back, 'judgement')}. "
            "They count, and the tasks are done again."
        )
    if failed := [person.name for person in found.people if person.is_failed]:
        notes.append(
            f"Failed the test and get no work; what was dealt to them is others': {', '.join(failed)}."
        )
    if untimed := sum(person.items - person.timed for person in found.people):
        what = f"{count(untimed, 'judgement')} nobody measured the time, as in what was imported"
        notes.append(f"Of {what}: hours, seconds and the work left are told of the others.")
    if any(person.checks for person in found.people):
        notes.append("Checks: noticed of done, with the 95 % Wilson interval.")
    return Table(
        title=f"{name}: {found.items_done:,} of {found.items:,} judgements",
        columns=(
            "person",
            *_HOLDS,
            ">tasks done",
            ">segments done",
            ">hours",
            ">s a segment",
            ">checks",
            "last seen",
        ),
        rows=[_row(person) for person in found.people if person.role != "organiser"],
        notes=notes,
    )


def _row(person: PersonProgress) -> list[str]:
    interval = person.interval
    checks = "" if interval is None else f"{person.passed}/{person.checks}"
    unknown = "–" if person.items else ""
    return [
        person.name + ("" if (state := _state(person)) == "active" else f" ({state})"),
        *_work_cells(person),
        f"{person.tasks:,}",
        f"{person.items:,}",
        "–" if person.active is None else f"{person.active / 3600:.1f}",
        unknown if person.seconds_each is None else f"{person.seconds_each:.0f}",
        checks if interval is None else f"{checks} [{interval.low:.0%}, {interval.high:.0%}]",
        "" if person.last_at is None else _moment(person.last_at),
    ]


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")


def _status_data(name: str, found: Progress) -> dict[str, Any]:
    return {
        "campaign": name,
        "tasks": found.tasks,
        "tasks_done": found.tasks_done,
        "under_way": found.under_way,
        "segments": found.items,
        "segments_done": found.items_done,
        "segments_given_back": found.items_given_back,
        "segments_left": found.items_left,
        "kinds": found.kinds,
        "active_seconds": found.active,
        "active_seconds_left": found.active_left,
        "segments_an_hour": found.an_hour,
        "ends_at": found.ends_at,
        "people": [_person(person) for person in found.people],
    }


def _person(person: PersonProgress) -> dict[str, Any]:
    interval = person.interval
    return {
        "person": person.name,
        "role": person.role,
        "revoked": person.is_revoked,
        "failed_test": person.is_failed,
        **_work_data(person),
        "tasks_done": person.tasks,
        "segments_done": person.items,
        "active_seconds": person.active,
        "idle_seconds": None if person.active is None else person.idle,
        "seconds_each": person.seconds_each,
        "checks": person.checks,
        "checks_passed": person.passed,
        "interval": None if interval is None else [interval.low, interval.high],
        "first_at": person.first_at,
        "last_at": person.last_at,
    }
