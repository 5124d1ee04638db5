"""`adjudge campaign import`: a campaign that was begun elsewhere goes on here."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

import typer

from adjudge.cli.options import (
    LimitOption,
    LpOption,
    ReferencesOption,
    SourceOption,
    SystemsOption,
    TestSetArgument,
    TranslationsOption,
    existing,
    print_note,
    print_text,
)
from adjudge.core.wording import count
from adjudge.errors import UsageError
from adjudge.reports.tables import duration

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.dashboard import Progress
    from adjudge.campaigns.making import Extras
    from adjudge.campaigns.settings import CampaignProtocol, CheckKind
    from adjudge.campaigns.tasks import Pairs, Priorities
    from adjudge.core.record import Annotation, Record
    from adjudge.core.segment import TestSet
    from adjudge.formats.campaign_export import CampaignFile


# `adjudge campaign new`: from a test set to links for annotators.


_SECONDS: Final = {"mqm": 49, "post-edit": 120}
"""Seconds of a translation, or of drafts to edit: mqm and esa as in the ESA paper (its section on time), the
others roughly."""
_USUAL_SECONDS: Final = 34


def campaign_new_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder to make; also the campaign's name.")],
    test_set: TestSetArgument = None,
    *,
    protocol: Annotated[
        str,
        typer.Option(
            help="What is asked: esa, esa-ai, mqm, da-sqm, sqm, contrastive-esa, pairwise, post-edit."
        ),
    ] = "esa",
    annotators: Annotated[
        str, typer.Option("--annotators", "-n", help="How many people, or their names with commas between.")
    ] = "1",
    redundancy: Annotated[int, typer.Option(min=1, help="How many people judge each task.")] = 1,
    segments_each: Annotated[
        int | None, typer.Option(min=1, help="The most segments that one person is asked to judge.")
    ] = None,
    checks: Annotated[
        float, typer.Option(min=0, max=0.5, help="Share of attention checks; 0.12 in the ESA paper.")
    ] = 0.0,
    check_kinds: Annotated[
        str, typer.Option("--check-kinds", help="Of damaged, missing, score; commas between.")
    ] = "damaged",
    loud: Annotated[bool, typer.Option("--loud", help="Tell people at once of a check they missed.")] = False,
    checks_first: Annotated[
        bool, typer.Option("--checks-first", help="A check may come before its original (static batches).")
    ] = False,
    assignment: Annotated[
        Literal["static", "pool", "dynamic"], typer.Option(help="A batch each, whatever is next, or below.")
    ] = "static",
    dynamic_by: Annotated[
        Literal["ties", "disagreement", "information"],
        typer.Option(help="What a dynamic assignment looks at."),
    ] = "ties",
    metrics: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="RUN|FILE",
            callback=existing,
            help="Scores of a metric or judge, for --dynamic-by disagreement; twice or more.",
        ),
    ] = None,
    pairs_file: Annotated[
        Path | None,
        typer.Option(callback=existing, help="Pairs of `adjudge curate pairs`, and no others, for pairwise."),
    ] = None,
    balance: Annotated[
        Literal["documents", "systems"], typer.Option(help="What is spread evenly where not all fits.")
    ] = "documents",
    given: Annotated[
        Path | None,
        typer.Option(metavar="RUN|FILE", callback=existing, help="Marks made beforehand, for esa-ai."),
    ] = None,
    control: Annotated[
        float, typer.Option(min=0, max=1, help="Share of tasks that are shown without those marks.")
    ] = 0.0,
    tutorial: Annotated[
        bool, typer.Option("--tutorial/--no-tutorial", help="Whether a tutorial must be passed first.")
    ] = False,
    tutorial_file: Annotated[
        Path | None, typer.Option(callback=existing, help="TOML file of a tutorial of your own.")
    ] = None,
    half_steps: Annotated[bool, typer.Option("--half-steps", help="Ratings of sqm halfway.")] = False,
    critical: Annotated[bool, typer.Option("--critical", help="A severity critical in mqm.")] = False,
    typology: Annotated[
        Path | None, typer.Option(callback=existing, help="TOML file of categories for mqm.")
    ] = None,
    guidelines: Annotated[
        Path | None, typer.Option(callback=existing, help="Folder of your own guidelines.")
    ] = None,
    media: Annotated[
        Path | None, typer.Option(callback=existing, help="Folder of images, audio or video.")
    ] = None,
    code_pass: Annotated[str, typer.Option(help="Completion code for who passed the checks.")] = "",
    code_fail: Annotated[str, typer.Option(help="Completion code for who did not.")] = "",
    lease: Annotated[float, typer.Option(min=1, help="Minutes that an idle task is kept.")] = 60.0,
    idle_after: Annotated[
        float, typer.Option(min=1, help="Seconds without a sign of life that count as a pause.")
    ] = 60.0,
    database: Annotated[
        str | None, typer.Option(metavar="URL", help="postgresql://... in place of a file.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is drawn.")] = 0,
    lp: LpOption = None,
    source: SourceOption = None,
    translations: TranslationsOption = None,
    references: ReferencesOption = None,
    systems: SystemsOption = None,
    limit: LimitOption = None,
) -> None:
    """Make a campaign in which people judge TEST_SET; `adjudge campaign serve NAME` then runs it.

    TEST_SET is anything that other commands take, Appraise's batches and Pearmut's campaigns too.
    """
    from adjudge.campaigns.dashboard import find_progress
    from adjudge.campaigns.making import Extras, new_campaign
    from adjudge.campaigns.settings import Settings

    settings = Settings(
        protocol=protocol,
        redundancy=redundancy,
        segments_each=segments_each,
        checks=checks,
        check_kinds=cast("tuple[CheckKind, ...]", tuple(check_kinds.split(","))),  # Settings refuses others
        is_loud=loud,
        checks_first=checks_first,
        assignment=assignment,
        dynamic_by=dynamic_by,
        balance=balance,
        control=control,
        tutorial=tutorial or tutorial_file is not None,
        half_steps=half_steps,
        critical=critical,
        code_pass=code_pass,
        code_fail=code_fail,
        lease_minutes=lease,
        time_idle_after=idle_after,
        seed=seed,
    )
    from adjudge.formats.read import load_chosen

    chosen = load_chosen(test_set, lp, (source, translations, references), systems, limit)
    _refuse_idle(
        {
            "--dynamic-by": (dynamic_by != "ties" and assignment != "dynamic", "--assignment dynamic"),
            "--check-kinds": (check_kinds != "damaged" and not checks, "--checks"),
            "--loud": (loud and not checks, "--checks"),
            "--checks-first": (checks_first and not checks, "--checks"),
            "--code-fail": (bool(code_fail) and not checks, "--checks"),
        }
    )
    extras = Extras(
        pairs=None if pairs_file is None else _read_pairs(pairs_file),
        given=None if given is None else _read_given(given, lp),
        media=media,
        guidelines=guidelines,
        typology=typology,
        tutorial=tutorial_file,
        priorities=_priorities(metrics or [], lp, dynamic_by if assignment == "dynamic" else ""),
    )
    now = time.time()
    campaign, _ = new_campaign(
        name, chosen, settings, _people(annotators), now=now, database=database, extras=extras
    )
    with campaign:
        print_text(_told(campaign, chosen, find_progress(campaign, now)))
    print_note(f"adjudge: everybody's link is in {name / 'links.csv'}: whoever has one is that person")


def _refuse_idle(options: Mapping[str, tuple[bool, str]]) -> None:
    """Refuse options that would change nothing, each with whether it would and what it needs."""
    for name, (is_idle, needed) in options.items():
        if is_idle:
            raise UsageError(f"{name} does nothing without {needed}")


def _read_pairs(path: Path) -> Pairs:
    from adjudge.formats.pair_file import read_pairs

    return {(pair.lp, pair.segment, frozenset(pair.systems)) for pair in read_pairs(path)}


def _people(text: str) -> int | Sequence[str]:
    if text.isdecimal():
        return int(text)
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--annotators takes a number, or names with commas between")
    return names


def _read_given(path: Path, lp: str | None) -> Sequence[Record]:
    from adjudge.core.language import canonical_lp
    from adjudge.formats.read import read_judgements

    lp = None if lp is None else canonical_lp(lp)
    return read_judgements(path, lp).warn().of_one_kind(lp).records


def _priorities(metrics: Sequence[Path], lp: str | None, by: str) -> Priorities | None:
    """How far scores of a translation differ: the standard deviation of its z-scores."""
    if by != "disagreement":
        if metrics:
            raise UsageError("--metrics are for --assignment dynamic --dynamic-by disagreement")
        return None
    from adjudge.analysis.score import score
    from adjudge.campaigns.planning import disagreement

    return disagreement([score(path, lp=lp) for path in metrics])


def _told(campaign: Campaign, test_set: TestSet, found: Progress) -> str:
    """What was made, for people."""
    settings, kinds = campaign.settings, found.kinds
    rest = [count(number, kind) for kind, number in sorted(kinds.items()) if kind != "original"]
    seconds = _seconds(campaign.protocol, test_set)
    people = sum(person.role == "annotator" for person in found.people)
    work = found.items * seconds
    each = duration(work / people)
    by = "the one person" if people == 1 else f"{settings.redundancy} of {people} people"
    lines = [
        f"Campaign {campaign.name}: {campaign.protocol.title}, {', '.join(settings.lps)}",
        f"  tasks    {count(sum(kinds.values()), 'document')}"
        + (f", of them {', '.join(rest)}" if rest else ""),
        f"  to do    {count(found.items, 'segment')}, each task by {by}",
        f"  time     about {duration(work)} of work, {each} each, at {seconds} s a segment",
        f"Next: adjudge campaign serve {campaign.folder}",
        "",
    ]
    return "\n".join(lines)


def _seconds(protocol: CampaignProtocol, test_set: TestSet) -> int:
    """Seconds that a segment takes, with all translations that are judged side by side."""
    each = _SECONDS.get(protocol.name, _USUAL_SECONDS)
    if protocol.shows == "pair":
        return 2 * each
    if protocol.shows == "several":
        return round(each * fmean(len(segment.translations) for segment in test_set if segment.translations))
    return each


def campaign_import_command(
    name: Annotated[Path, typer.Argument(metavar="NAME", help="Folder to make; also the campaign's name.")],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            callback=existing,
            help="Appraise's export with its batches beside it, Pearmut's annotations, or our own.",
        ),
    ],
    *,
    test_set: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="All that is to be judged, where FILE has what was judged alone."),
    ] = None,
    redundancy: Annotated[
        int | None, typer.Option(min=1, help="People a task; else as many as one already has.")
    ] = None,
    lp: LpOption = None,
) -> None:
    """Make a campaign of what people said elsewhere, with their names; what they did not finish is to do.

    Everybody gets a new link. What has no place here is counted on standard error; FILE stays what it is.
    """
    from adjudge.campaigns.dashboard import find_progress
    from adjudge.campaigns.importing import import_submissions
    from adjudge.campaigns.making import new_campaign
    from adjudge.campaigns.settings import Settings
    from adjudge.formats.read import read_content

    if (file / "campaign.json").is_file():
        raise UsageError(
            f"{file} is a campaign of adjudge already: `adjudge campaign export {file} FILE` first"
        )
    content = read_content(file, lp=lp, as_campaign=True)
    campaign_file = content.campaign
    if campaign_file is None:
        raise UsageError(f"{file} says what was judged, and not by whom when: give a campaign's export")
    if campaign_file.protocol == "esa-ai" and not _given(campaign_file):
        raise UsageError(
            f"{file} has marks that a machine made, and its batches have none: put those beside it that "
            "people were shown"
        )
    people = [*dict.fromkeys(s.person for s in campaign_file.submissions)]
    settings = Settings(
        protocol=campaign_file.protocol,
        redundancy=redundancy or _most_people(campaign_file),
        assignment="pool",
    )
    if not people:
        raise UsageError(f"{file} has no submission")
    chosen = _texts(file, test_set, lp) or _shown(campaign_file)
    now = time.time()
    campaign, _ = new_campaign(name, chosen, settings, people, now=now, extras=_extras(campaign_file))
    try:
        with campaign:
            left_out = import_submissions(campaign, campaign_file.submissions, now)
            print_text(_campaign_import_told(campaign, find_progress(campaign, now)))
    except BaseException:
        shutil.rmtree(name, ignore_errors=True)  # made a moment ago, by us
        raise
    for what, amount in left_out.items():
        print_note(f"adjudge: not in {name}, and in {file.name} still: {amount:,} {what}")
    print_note(f"adjudge: everybody has a new link, in {name / 'links.csv'}: whoever has one is that person")


def _campaign_import_told(campaign: Campaign, found: Progress) -> str:
    """What was taken over, for people."""
    settings, people = campaign.settings, sum(person.role == "annotator" for person in found.people)
    begun = found.items_given_back
    lines = [
        f"Campaign {campaign.name}: {campaign.protocol.title}, {', '.join(settings.lps)}",
        f"  done     {count(found.items_done, 'segment')}, by {count(people, 'person', 'people')}",
        *([f"  begun    {count(begun, 'segment')} besides, in tasks to be gone on with"] if begun else []),
        f"  to do    {count(found.items_left, 'segment')}, each task by {settings.redundancy} of {people}",
        "  not made checks and tutorial: what people did of such elsewhere is no part of a new campaign",
        f"Next: adjudge campaign serve {campaign.folder}",
        "",
    ]
    return "\n".join(lines)


def _shown(file: CampaignFile) -> TestSet:
    """The texts that people saw; a reference that one of them wrote is none."""
    from adjudge.formats.campaign_export import campaign_test_set

    shown = tuple(replace(submission, edited=None) for submission in file.submissions)
    return campaign_test_set(replace(file, submissions=shown))


def _texts(file: Path, test_set: Path | None, lp: str | None) -> TestSet | None:
    """Everything that is to be judged: as told, or of the batches beside Appraise's export."""
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


def _extras(file: CampaignFile) -> Extras:
    from adjudge.campaigns.making import Extras

    return Extras(given=_given(file) if file.protocol == "esa-ai" else None)


def _given(file: CampaignFile) -> Sequence[Annotation]:
    """The marks that people were shown, as if one annotator had made them."""
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
