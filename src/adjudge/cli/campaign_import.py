"""`adjudge campaign import`: a campaign that was begun elsewhere goes on here."""

from __future__ import annotations

import shutil
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import print_note, print_text
from adjudge.core.wording import count
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.making import Extras
    from adjudge.campaigns.progress import Progress
    from adjudge.core.annotation import Annotation
    from adjudge.core.segment import TestSet
    from adjudge.data.submissions import CampaignFile

__all__ = ["command"]


def command(
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
    from adjudge.campaigns.importing import import_submissions
    from adjudge.campaigns.making import new_campaign
    from adjudge.campaigns.progress import find_progress
    from adjudge.campaigns.settings import Settings
    from adjudge.data.convert import read_content

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
            print_text(_told(campaign, find_progress(campaign, now)))
    except BaseException:
        shutil.rmtree(name, ignore_errors=True)  # made a moment ago, by us
        raise
    for what, amount in left_out.items():
        print_note(f"adjudge: not in {name}, and in {file.name} still: {amount:,} {what}")
    print_note(f"adjudge: everybody has a new link, in {name / 'links.csv'}: whoever has one is that person")


def _told(campaign: Campaign, found: Progress) -> str:
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
    from adjudge.data.submission_records import campaign_test_set

    shown = tuple(replace(submission, edited=None) for submission in file.submissions)
    return campaign_test_set(replace(file, submissions=shown))


def _texts(file: Path, test_set: Path | None, lp: str | None) -> TestSet | None:
    """Everything that is to be judged: as told, or of the batches beside Appraise's export."""
    from adjudge.data.appraise_records import find_batch_file
    from adjudge.data.load import detect, load

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
    from adjudge.core.annotation import Annotation

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
