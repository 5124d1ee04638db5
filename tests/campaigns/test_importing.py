"""Importing: what people said elsewhere is answers here, and what they did not finish is to do."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from adjudge.campaigns.answers import save
from adjudge.campaigns.assigning import assignments
from adjudge.campaigns.dashboard import dashboard, find_progress
from adjudge.campaigns.database import Campaign, assignment
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.importing import import_submissions
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import TestSet
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import Submission, campaign_test_set, read_campaign_file
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import content_of
from adjudge.formats.pearmut import read_pearmut_submissions
from tests.campaigns.conftest import NOW, MakeCampaign
from tests.campaigns.work import change, finished, items, person, take, work_off

PEOPLE = ["ann", "ben"]


def said(campaign: Campaign) -> list[tuple[Any, ...]]:
    """What counts of an export, without what is the store's own."""
    return sorted(
        (s.person, s.segment, *sorted(s.texts), s.records, s.chosen or "", s.edited or "", s.active, s.ended)
        for s in export_campaign(campaign).submissions
    )


@pytest.mark.parametrize(
    "protocol", ["esa", "mqm", "da-sqm", "sqm", "contrastive-esa", "contrastive-sqm", "pairwise", "post-edit"]
)
def test_an_export_goes_into_another_campaign_and_comes_out_equal(
    protocol: str, make_campaign_anywhere: MakeCampaign
) -> None:
    first, _ = make_campaign_anywhere(protocol, PEOPLE, raters=2, name="first")
    for number in range(2):
        work_off(first, person(first, number), NOW, **finished(first))
    second, _ = make_campaign_anywhere(protocol, PEOPLE, raters=2, name="second", assignment="pool")
    assert not import_submissions(second, export_campaign(first).submissions, NOW + 1e6)
    assert said(second) == said(first)
    found = find_progress(second, NOW + 1e6)
    assert (found.items_left, found.tasks_done) == (0, found.tasks)


def test_what_nobody_measured_is_unknown_and_not_nothing(make_campaign_anywhere: MakeCampaign) -> None:
    first, _ = make_campaign_anywhere("esa", PEOPLE, raters=2, name="first")
    for number in range(2):
        work_off(first, person(first, number), NOW, rating=70, active=12.0)
    submissions = [
        replace(s, active=None, language="ar") if s.person == "ann" or s.segment == "1.1" else s
        for s in export_campaign(first).submissions
    ]
    second, _ = make_campaign_anywhere("esa", PEOPLE, raters=2, name="second", assignment="pool")
    import_submissions(second, submissions, NOW + 1e6)
    found = find_progress(second, NOW + 1e6)
    ann, ben, _ = found.people
    assert (ann.items, ann.timed, ann.active, ann.seconds_each) == (12, 0, None, None)
    assert (ben.items, ben.timed, ben.active, ben.seconds_each) == (12, 10, 120.0, 12.0)
    assert found.active == 120.0
    told = {one["name"]: one for one in dashboard(second, NOW + 1e6)["people"]}
    seconds = [told[name]["judged"][0]["seconds"] for name in ("ann", "ben")]
    assert (told["ann"]["active"], *seconds) == (None, None, 12.0)
    exported = export_campaign(second).submissions
    assert sum(s.active is None for s in exported) == 14
    assert sum(s.language == "ar" for s in exported) == 14
    third, _ = make_campaign_anywhere("esa", PEOPLE, raters=2, name="third", assignment="pool")
    import_submissions(third, [s for s in submissions if s.active is None and s.task < 3], NOW + 1e6)
    found = find_progress(third, NOW + 1e6)
    assert found.items_left
    assert (found.active, found.active_left) == (None, None)
    assert dashboard(third, NOW + 1e6)["progress"]["active"] is None


def test_work_on_what_was_imported_does_not_make_its_time_known(make_campaign: MakeCampaign) -> None:
    first, _ = make_campaign("esa", PEOPLE, raters=2, name="first")
    work_off(first, person(first), NOW, rating=70)
    second, _ = make_campaign("esa", PEOPLE, raters=2, name="second", assignment="pool")
    submissions = [replace(s, active=None) for s in export_campaign(first).submissions]
    import_submissions(second, submissions, NOW)
    with second.database.reading() as connection:
        row = connection.execute(select(assignment.c.id, assignment.c.person_id).limit(1)).one()
    (given,) = [one for one in assignments(second, person(second)) if one.id == row.id]
    shown = items(second, given)[0]
    saved = save(second, person(second), given.id, "page", [change(shown, 1, rating=60, active=4.0)], NOW)
    assert not saved.refused
    assert {s.active for s in export_campaign(second).submissions} == {None}


def marked(campaign: Campaign, *spans: ErrorSpan, **changes: Any) -> list[Submission]:
    """One submission of the first segment of the first system, with these marks."""
    work_off(campaign, person(campaign), NOW, rating=70)
    first = min(export_campaign(campaign).submissions, key=lambda s: (s.segment, *s.texts))
    (record,) = first.records
    assert isinstance(record, Annotation)
    return [replace(first, records=(replace(record, spans=spans),), **changes)]


def two(make_campaign: MakeCampaign, protocol: str = "esa") -> tuple[Campaign, Campaign]:
    """One to export from, and one of the same people to import into."""
    return make_campaign(protocol, PEOPLE)[0], make_campaign(protocol, PEOPLE, assignment="pool")[0]


@pytest.mark.parametrize("is_first", [True, False])
def test_a_filler_does_not_replace_what_was_said_first(is_first: bool, make_campaign: MakeCampaign) -> None:
    first, _ = make_campaign(annotators=PEOPLE)
    (one,) = marked(first)
    (record,) = one.records
    assert isinstance(record, Annotation)
    filler = replace(one, records=(replace(record, rating=10, flags=("duplicate",)),))
    second, _ = make_campaign(annotators=PEOPLE, assignment="pool")
    left_out = import_submissions(second, [one, filler] if is_first else [filler, one], NOW)
    assert left_out == {"submissions of a translation by one who judged it twice": 1}
    (found,) = export_campaign(second).submissions
    assert [r.rating for r in found.records if isinstance(r, Annotation)] == [70]


FAULT = ErrorSpan(severity="minor", category="instruction fault", match="unplaced")
MISSING = ErrorSpan(severity="major", category="accuracy/omission", match="unplaced")
TOLD = "Keep <b>placeholders</b> & be brief."


@pytest.mark.parametrize(
    ("spans", "left_out"),
    [
        ([ErrorSpan(severity="minor", start=1, end=2, text="i"), MISSING], {}),
        ([FAULT], {"marks that an instruction is not followed, where none is shown": 1}),
        (
            [
                ErrorSpan(severity="minor", match="unplaced"),
                ErrorSpan(severity="minor", match="unmatched", text="Hnd"),
            ],
            {"marks whose place in their text is not known": 2},
        ),
        ([ErrorSpan(severity="neutral", start=0, end=3, text="Die")], {"marks of severity neutral": 1}),
    ],
)
def test_marks_come_in_with_their_places_and_what_has_none_is_counted(
    spans: list[ErrorSpan], left_out: dict[str, int], make_campaign: MakeCampaign
) -> None:
    first, second = make_campaign(annotators=PEOPLE[:1])[0], two(make_campaign)[1]
    assert import_submissions(second, marked(first, *spans), NOW) == left_out
    (found,) = export_campaign(second).submissions
    (record,) = found.records
    assert isinstance(record, Annotation)
    assert record.spans == (() if left_out else tuple(spans))


def test_a_mark_that_is_none_of_the_text_is_no_answer(make_campaign: MakeCampaign) -> None:
    first, second = two(make_campaign)
    odd = ErrorSpan(severity="minor", start=0, end=3, text="xyz")
    (what,) = import_submissions(second, marked(first, odd), NOW)
    assert what.startswith("submissions that the protocol does not allow (")


@pytest.mark.parametrize("form", ["campaign", "pearmut"])
def test_special_marks_go_out_and_come_back_as_categories_of_their_own(
    form: str, make_campaign: MakeCampaign, small: TestSet, tmp_path: Path
) -> None:
    texts = replace(small, segments=tuple(replace(one, meta={"instruction": TOLD}) for one in small))
    first, _ = make_campaign("contrastive-esa", PEOPLE[:1], name="first_#_en-de", test_set=texts)
    marks: Any = {"missing": {"severity": "major"}, "instruction_fault": "minor"}
    work_off(first, person(first), NOW, rating=70, **marks)
    exported = export_campaign(first)
    assert {r.spans for s in exported.submissions for r in s.records if isinstance(r, Annotation)} == {
        (MISSING, FAULT)
    }
    file = tmp_path / f"{first.name}.jsonl"
    write_content(file, form, content_of(exported))
    read = read_campaign_file(file) if form == "campaign" else read_pearmut_submissions(file)
    shown = campaign_test_set(read)
    assert {one.meta["instruction"] for one in shown} == {TOLD}
    second, _ = make_campaign("contrastive-esa", PEOPLE, test_set=shown, assignment="pool")
    assert not import_submissions(second, read.submissions, NOW)
    before, *after = (
        {str(record) for one in each.submissions for record in one.records}
        for each in (exported, read, export_campaign(second))
    )
    assert after == [before, before]


def test_what_is_no_translation_at_all_stays_that(make_campaign: MakeCampaign) -> None:
    first, second = two(make_campaign, "mqm")
    work_off(first, person(first), NOW, is_non_translation=[True])
    assert not import_submissions(second, export_campaign(first).submissions, NOW)
    assert said(second) == said(first)
    spans = {span.category for one in export_campaign(second).submissions for span in one.records[0].spans}  # type: ignore[union-attr]
    assert spans == {"non-translation"}


@pytest.mark.parametrize(
    ("change", "counted"),
    [
        ({"kind": "check"}, "answers to attention checks, which belong to the campaign that made them"),
        ({"kind": "tutorial"}, "answers in a tutorial, which belongs to the campaign that had it"),
        ({"is_last": False}, "submissions that were submitted again"),
        ({"segment": "elsewhere"}, "submissions of translations that the campaign does not have"),
        ({"texts": {"Alder": "Another text."}}, "submissions of another text than the campaign's"),
    ],
)
def test_what_has_no_place_is_counted(
    change: dict[str, Any], counted: str, make_campaign: MakeCampaign
) -> None:
    first, second = two(make_campaign)
    assert import_submissions(second, marked(first, **change), NOW) == {counted: 1}
    assert not export_campaign(second).submissions


def test_a_draft_that_was_not_shown_cannot_have_been_chosen(make_campaign: MakeCampaign) -> None:
    first, second = two(make_campaign, "post-edit")
    work_off(first, person(first), NOW, **finished(first))
    (one, *_) = export_campaign(first).submissions
    found = import_submissions(second, [replace(one, chosen="Nobody")], NOW)
    assert found == {"submissions that chose a draft that was not shown": 1}


def test_who_was_not_finished_goes_on_where_they_stopped(make_campaign: MakeCampaign) -> None:
    first, second = two(make_campaign)
    work_off(first, person(first), NOW)
    everything = export_campaign(first).submissions
    documents: dict[int, list[Submission]] = {}
    for one in everything:
        documents.setdefault(one.task, []).append(one)
    half = next(parts for parts in documents.values() if len(parts) > 1)[:1]
    import_submissions(second, half, NOW)
    assert find_progress(second, NOW).tasks_done == 0
    given = take(second, person(second), NOW)
    assert given.document == half[0].document
    assert len(export_campaign(second).submissions) == 1


def test_only_a_campaign_that_nobody_worked_on_takes_them_and_only_of_its_people(
    make_campaign: MakeCampaign,
) -> None:
    first, _ = make_campaign(annotators=PEOPLE)
    second, _ = make_campaign(annotators=["eve"], assignment="pool")
    found = marked(first)
    with pytest.raises(UsageError, match="has nobody called 'ann'"):
        import_submissions(second, found, NOW)
    with pytest.raises(UsageError, match=r"people have worked on .* already: import into a new one"):
        import_submissions(first, found, NOW)
