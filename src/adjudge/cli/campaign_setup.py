"""Commands that make campaigns: `adjudge campaign new` and `import`."""

from __future__ import annotations

import re
import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Final

import typer

from adjudge.campaigns.settings import CampaignSettings
from adjudge.cli.options import (
    LpOption,
    TestSetArgument,
    changed_options,
    existing,
    print_note,
    print_text,
)
from adjudge.core.language import canonical_lp
from adjudge.core.record import grouped
from adjudge.core.verb import Option, settings
from adjudge.core.wording import command, count
from adjudge.errors import UsageError
from adjudge.formats.read import TextSettings
from adjudge.reports.tables import duration

if TYPE_CHECKING:
    from adjudge.campaigns.dashboard import Progress
    from adjudge.campaigns.database import Campaign
    from adjudge.campaigns.tasks import Priorities
    from adjudge.core.record import Annotation
    from adjudge.core.segment import TestSet
    from adjudge.formats.campaign_export import CampaignFile


_SECONDS: Final = {"mqm": 49, "post-edit": 120}
"""Seconds of a translation, or of drafts to edit: mqm and esa as in the ESA paper (its section on time), the
others roughly."""
_USUAL_SECONDS: Final = 34


@settings
class ExtraSettings:
    """What a campaign may have besides a test set."""

    metrics: Annotated[
        Sequence[Path],
        Option(
            help="Metric or judge scores for --dynamic-by disagreement; give two or more.",
            metavar="RUN|FILE",
            kind=list[Path],
            exists=True,
        ),
    ] = ()
    pairs_file: Annotated[
        Path | None,
        Option(help="Compare only the pairs in this file of `adjudge curate pairs` (pairwise).", exists=True),
    ] = None
    given: Annotated[
        Path | None, Option(help="Prepared error marks (esa-ai).", metavar="RUN|FILE", exists=True)
    ] = None
    tutorial_file: Annotated[Path | None, Option(help="TOML file with your own tutorial.", exists=True)] = (
        None
    )
    typology: Annotated[Path | None, Option(help="TOML file with error categories (mqm).", exists=True)] = (
        None
    )
    guidelines: Annotated[Path | None, Option(help="Folder with your own guidelines.", exists=True)] = None
    media: Annotated[Path | None, Option(help="Folder with images, audio or video.", exists=True)] = None
    database: Annotated[
        str | None,
        Option(help="Store the campaign in PostgreSQL (postgresql://...), not in a file.", metavar="URL"),
    ] = None


def campaign_new_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder to make; also the campaign's name.")],
    test_set: TestSetArgument = None,
    *,
    annotators: Annotated[
        str,
        typer.Option(
            "--annotators",
            "-n",
            help="Number of people, or their names with any language pairs, such as anna:en-de+he-en,ben.",
            metavar="N|A,B",
        ),
    ] = "1",
    settings: CampaignSettings,
    extra: ExtraSettings,
    texts: TextSettings,
) -> None:
    """Make a campaign in which people judge TEST_SET; `adjudge campaign serve NAME` then runs it.

    TEST_SET is anything that other commands take, Appraise's batches and Pearmut's campaigns too.
    """
    from adjudge.analysis.pair_schedules import read_pairs
    from adjudge.campaigns.dashboard import find_progress
    from adjudge.campaigns.making import Extras, new_campaign
    from adjudge.formats.read import read_judgements

    if extra.tutorial_file is not None:
        settings = replace(settings, tutorial=True)
    chosen = texts.load(test_set)
    of_checks = ("check_kinds", "is_loud", "checks_first", "code_fail")
    idle = {
        "--assignment dynamic": settings.assignment != "dynamic"
        and changed_options(settings, ["dynamic_by"]),
        "--checks": not settings.checks and changed_options(settings, of_checks),
    }
    for needed, names in idle.items():
        if names:
            raise UsageError(f"{names[0]} does nothing without {needed}")
    pairs, given = None, None
    if extra.given is not None:
        given = read_judgements(extra.given, texts.lp).warn().of_one_kind(texts.lp).records
    if extra.pairs_file is not None:
        pairs = {(one.lp, one.segment, frozenset(one.systems)) for one in read_pairs(extra.pairs_file)}
    extras = Extras(
        pairs=pairs,
        given=given,
        media=extra.media,
        guidelines=extra.guidelines,
        typology=extra.typology,
        tutorial=extra.tutorial_file,
        priorities=_priorities(extra.metrics, texts.lp, settings),
        database=extra.database,
    )
    now = time.time()
    campaign, _ = new_campaign(name, chosen, settings, _people(annotators), now=now, extras=extras)
    with campaign:
        print_text(_summary(campaign, chosen, find_progress(campaign, now)))
    print_note(f"adjudge: everybody's link is in {name / 'links.csv'}: whoever has one is that person")


def _people(text: str) -> int | dict[str, Sequence[str]]:
    if text.isdecimal():
        return int(text)
    people: dict[str, Sequence[str]] = {}
    for part in filter(None, map(str.strip, text.split(","))):
        name, _, lps = part.rpartition(":")
        own = [lp.strip() for lp in lps.split("+")] if name and _LPS.fullmatch(lps) else []
        name = name.strip() if own else part
        if name in people:
            raise UsageError(f"there is somebody called {name!r} already; names are unique")
        people[name] = [canonical_lp(lp) for lp in own]
    if not people:
        raise UsageError("--annotators takes a number, or names with commas between")
    return people


_LPS: Final = re.compile(r"\s*[A-Za-z]{2,}[\w-]*-\w+\s*(\+\s*[A-Za-z]{2,}[\w-]*-\w+\s*)*")


def _priorities(metrics: Sequence[Path], lp: str | None, settings: CampaignSettings) -> Priorities | None:
    if (settings.assignment, settings.dynamic_by) != ("dynamic", "disagreement"):
        if metrics:
            raise UsageError("--metrics are for --assignment dynamic --dynamic-by disagreement")
        return None
    from adjudge.analysis.score import score
    from adjudge.campaigns.planning import disagreement

    return disagreement([score(path, lp=lp) for path in metrics])


def _summary(campaign: Campaign, test_set: TestSet, found: Progress) -> str:
    settings, kinds = campaign.settings, found.kinds
    rest = [count(number, kind) for kind, number in sorted(kinds.items()) if kind != "original"]
    seconds = _SECONDS.get(campaign.protocol.name, _USUAL_SECONDS)
    if campaign.protocol.shows == "pair":
        seconds *= 2
    if campaign.protocol.shows == "several":
        seconds = round(seconds * fmean(len(s.translations) for s in test_set if s.translations))
    people = sum(person.role == "annotator" for person in found.people)
    work = found.items * seconds
    each = duration(work / people)
    told, needed = _first_pass(campaign, people)
    checks = f", and {found.items - needed:,} in checks" if found.items > needed else ""
    if settings.checks and settings.assignment != "static":
        rest.append(f"{settings.checks:.0%} checks as documents are dealt")
    lines = [
        f"Campaign {campaign.name}: {campaign.protocol.title}, {', '.join(settings.lps)}",
        f"  tasks    {count(sum(kinds.values()), 'document')}"
        + (f", of them {', '.join(rest)}" if rest else ""),
        f"  to do    {told}{checks}: {count(found.items, 'judgement')}",
        f"  time     about {duration(work)} of work, {each} each, at {seconds} s a segment",
        f"Next: {command('campaign', 'serve', campaign.folder)}",
        "",
    ]
    return "\n".join(lines)


def _first_pass(campaign: Campaign, people: int) -> tuple[str, int]:
    from adjudge.campaigns.dashboard import count_first_pass

    items, segments, needed = count_first_pass(campaign)
    noun = {"one": "translation", "pair": "pair"}.get(campaign.protocol.shows)
    told = (
        count(segments, "segment")
        if noun is None
        else f"{count(items, noun)} of {count(segments, 'segment')}"
    )
    by = "the one person" if people == 1 else f"{campaign.settings.raters} of {people} people"
    return f"{told}, each by {by}", needed


def campaign_import_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder to make; also the campaign's name.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            callback=existing,
            help="Export of Appraise (with its batches beside), Pearmut or adjudge.",
        ),
    ],
    *,
    test_set: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="Test set with all texts, if FILE has only judged texts."),
    ] = None,
    raters: Annotated[
        int | None,
        typer.Option(min=1, help="Raters of each segment; default: as many as FILE has."),
    ] = None,
    lp: LpOption = None,
) -> None:
    """Make a campaign of what people said elsewhere, with their names; what they did not finish is to do.

    Everybody gets a new link. What has no place here is counted on standard error; FILE stays what it is.
    """
    from adjudge.campaigns.dashboard import find_progress
    from adjudge.campaigns.importing import import_submissions
    from adjudge.campaigns.making import Extras, new_campaign
    from adjudge.formats.read import read_content

    if (file / "campaign.json").is_file():
        raise UsageError(
            f"{file} is a campaign of adjudge already: `{command('campaign', 'export', file, 'FILE')}` first"
        )
    content = read_content(file, lp=lp, as_campaign=True)
    campaign_file = content.campaign
    if campaign_file is None:
        raise UsageError(
            f"{file} does not say who judged each translation and when: give a campaign's export"
        )
    if campaign_file.protocol == "esa-ai" and not _given(campaign_file):
        raise UsageError(
            f"{file} has marks that a machine made, and its batches have none: put "
            f"the batches that people saw beside {file.name}"
        )
    worked = grouped((s.person, s.lp) for s in campaign_file.submissions)
    people = {person: [*dict.fromkeys(lps)] for person, lps in worked.items()}
    settings = CampaignSettings(
        protocol=campaign_file.protocol,
        raters=raters or _most_people(campaign_file),
        assignment="pool",
    )
    if not people:
        raise UsageError(f"{file} has no submission")
    chosen = _texts(file, test_set, lp) or _texts_as_shown(campaign_file)
    now = time.time()
    extras = Extras(given=_given(campaign_file) if campaign_file.protocol == "esa-ai" else None)
    campaign, _ = new_campaign(name, chosen, settings, people, now=now, extras=extras)
    try:
        with campaign:
            left_out = import_submissions(campaign, campaign_file.submissions, now)
            print_text(_summary_of_import(campaign, find_progress(campaign, now)))
    except BaseException:
        shutil.rmtree(name, ignore_errors=True)  # made a moment ago, by us
        raise
    for what, amount in left_out.items():
        print_note(f"adjudge: not in {name}, and in {file.name} still: {amount:,} {what}")
    print_note(f"adjudge: everybody has a new link, in {name / 'links.csv'}: whoever has one is that person")


def _summary_of_import(campaign: Campaign, found: Progress) -> str:
    settings, people = campaign.settings, sum(person.role == "annotator" for person in found.people)
    begun = found.items_given_back
    told, _ = _first_pass(campaign, people)
    lines = [
        f"Campaign {campaign.name}: {campaign.protocol.title}, {', '.join(settings.lps)}",
        f"  done     {count(found.items_done, 'judgement')}, by {count(people, 'person', 'people')}",
        *([f"  begun    {count(begun, 'judgement')} besides, in tasks to be gone on with"] if begun else []),
        f"  to do    {count(found.items_left, 'judgement')}; in all {told}",
        "  not made checks and tutorial: what people did of such elsewhere is no part of a new campaign",
        f"Next: {command('campaign', 'serve', campaign.folder)}",
        "",
    ]
    return "\n".join(lines)


def _texts_as_shown(file: CampaignFile) -> TestSet:
    from adjudge.formats.campaign_export import campaign_test_set

    shown = tuple(replace(submission, edited=None) for submission in file.submissions)
    return campaign_test_set(replace(file, submissions=shown))


def _texts(file: Path, test_set: Path | None, lp: str | None) -> TestSet | None:
    from adjudge.formats.appraise import find_batch_file
    from adjudge.formats.read import detect, load

    if test_set is None and detect(file) == "appraise":
        test_set = find_batch_file(file)
    return None if test_set is None else load(test_set, lp)


def _most_people(file: CampaignFile) -> int:
    people: defaultdict[tuple[str, str, frozenset[str]], set[str]] = defaultdict(set)
    for submission in file.submissions:
        if submission.kind == "original":
            key = (submission.lp, submission.segment, frozenset(submission.texts))
            people[key].add(submission.person)
    return max(map(len, people.values()), default=1)


def _given(file: CampaignFile) -> Sequence[Annotation]:
    from adjudge.core.record import Annotation

    found = {}
    for s in file.submissions:
        if s.kind == "original":
            for system, spans in s.given.items():
                found[s.lp, s.segment, system] = Annotation(
                    lp=s.lp,
                    segment=s.segment,
                    system=system,
                    annotator="given",
                    protocol="mqm",
                    document=s.document,
                    spans=spans,
                )
    return [*found.values()]
