"""A second look: other people see what was marked, and what was said before stays."""

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from adjudge.analysis.study_agreement import pair_agreements, segment_agreements
from adjudge.campaigns.again import (
    GateReport,
    Measure,
    adjudicate,
    apply_gate,
    differ,
    find_measure,
    second_pass,
)
from adjudge.campaigns.answers import finish, save, task_view
from adjudge.campaigns.assigning import assign_next, assignments
from adjudge.campaigns.dashboard import dashboard, find_progress
from adjudge.campaigns.database import Campaign, Person, task, verdict
from adjudge.campaigns.exporting import export_campaign, stream_submissions
from adjudge.campaigns.items import ItemShown
from adjudge.campaigns.people import add_people, people
from adjudge.campaigns.settings import NAMES, find_campaign_protocol
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation, ErrorSpan, Preference, Verdict
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.formats.campaign_export import (
    Submission,
    final_records,
    read_campaign_file,
    write_campaign_file,
)
from adjudge.formats.spreadsheet import write_spreadsheet
from adjudge.store.json_lines import record_from_json
from tests.campaigns.conftest import NOW, MakeCampaign, grow
from tests.campaigns.work import answer_all, change, items, person, take, work_off


@pytest.fixture
def judged(make_campaign: MakeCampaign) -> Campaign:
    """Two people each marked all six tasks, the first one the first character, the other the second."""
    campaign, _ = make_campaign("esa", 2, raters=2, assignment="pool")
    missing = {"severity": "major", "category": None}
    for number, more in enumerate(({"missing": missing}, {})):

        def mark(shown: ItemShown, at: int = number, more: dict[str, Any] = more) -> dict[str, Any]:
            text = shown.asked.texts[0][at]
            span = {"id": "m", "start": at, "end": at + 1, "text": text, "severity": "minor"}
            return {"rating": 50, "spans": [span], **more}

        work_off(campaign, person(campaign, number), NOW, mark)
    add_people(campaign, ["third"], "annotator", NOW, actor="test")
    return campaign


def by_name(campaign: Campaign, name: str) -> Person:
    return next(one for one in people(campaign) if one.name == name)


def test_another_person_sees_the_marks_of_each_and_can_keep_change_and_delete_them(judged: Campaign) -> None:
    assert second_pass(judged, NOW, actor="test") == 12
    third = by_name(judged, "third")
    given = take(judged, third, NOW)
    view = task_view(judged, third, given.id)
    part = view.items[0].state.translations[0]
    assert [(span.start, span.given) for span in part.spans] == [(0, 0)]
    assert part.missing is not None
    assert part.rating is None, "ratings are given freely"
    for shown in items(judged, given):
        event = change(shown, rating=80, spans=[], removed=[0], missing=None)
        assert save(judged, third, given.id, "p", [event], NOW).saved
    finish(judged, third, given.id, NOW)
    found = [one for one in stream_submissions(judged) if one.kind == "again"]
    assert found
    for one in found:
        ((_, (placed, nowhere)),) = one.given.items()
        assert (placed.start, placed.end, nowhere.match) == (0, 1, "unplaced")
        (record,) = one.records
        assert isinstance(record, Annotation)
        assert record.spans == ()


@pytest.mark.parametrize("how", ["static", "pool"])
def test_second_looks_stay_within_language_pairs_and_are_counted_as_left(
    make_campaign: MakeCampaign, scripts: TestSet, how: str
) -> None:
    people = {f"{lp} {n}": [lp] for lp in scripts.lps for n in (1, 2)}
    campaign, _ = make_campaign("esa", people, assignment=how, test_set=scripts)
    for number in range(len(people)):
        work_off(campaign, person(campaign, number), NOW, rating=50)
    add_people(campaign, ["judge"], "adjudicator", NOW, actor="test", lps=["en-de"])
    sent = second_pass(campaign, NOW, actor="test")
    assert sent == 16
    left = {one.name: one.left for one in find_progress(campaign, NOW).people if one.role == "annotator"}
    assert sum(number or 0 for number in left.values()) == 22, "segments of both systems"
    for number, (name, (lp,)) in enumerate(people.items()):
        done = work_off(campaign, person(campaign, number), NOW)
        assert {given.lp for given in done} <= {lp}
        assert bool(done) == bool(left[name])
    assert find_progress(campaign, NOW).items_left == 0


def test_nobody_looks_again_at_a_task_that_they_did(judged: Campaign) -> None:
    second_pass(judged, NOW, actor="test")
    assert assign_next(judged, person(judged, 0), NOW) is None
    assert len(work_off(judged, by_name(judged, "third"), NOW)) == 12


def test_a_second_pass_is_sent_but_once_and_what_was_finished_since_follows(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign("mqm", 1, assignment="pool")
    who = person(campaign)
    given = take(campaign, who, NOW)
    answer_all(campaign, who, given, NOW)
    assert second_pass(campaign, NOW, actor="test") == 0, "nothing is finished yet"
    finish(campaign, who, given.id, NOW)
    assert [second_pass(campaign, NOW, actor="test") for _ in range(2)] == [1, 0]
    work_off(campaign, who, NOW)
    assert second_pass(campaign, NOW, actor="test", numbers=[given.number]) == 0
    assert second_pass(campaign, NOW, actor="test") == 5


def test_a_second_pass_replaces_what_was_said_and_the_first_is_kept(judged: Campaign) -> None:
    before, alone = list(stream_submissions(judged)), dashboard(judged, NOW)
    second_pass(judged, NOW, actor="test")
    work_off(judged, by_name(judged, "third"), NOW + 60, rating=99)
    after = list(stream_submissions(judged))
    assert after[: len(before)] == before
    records, _ = final_records(after)
    assert {(record.annotator, record.flags) for record in records} == {("third", ("second-look",))}
    shown = dashboard(judged, NOW + 90)
    assert shown["shown"] == len(records)
    assert shown["agreement"] == alone["agreement"], "who was shown marks agrees with nobody by that"
    assert (alone["shown"], [one["n"] for one in alone["agreement"]][:1]) == (0, [12])


# An adjudicator decides where people differ, and sees what each of them said.


def mark_and_rate(rating: float, end: int, *, category: str | None = None, **more: Any) -> Any:
    """Mark the first characters of every translation, and rate it, Alder's 10 points higher."""

    def say(shown: ItemShown) -> dict[str, Any]:
        has_ratings = shown.asked.protocol.scale is not None
        parts = []
        for one in shown.translations:
            text = one["text"][:end]
            span = {"id": "m", "start": 0, "end": len(text), "text": text, "severity": "minor"}
            points = rating + 10 * (one["system"] == "Alder") if has_ratings else None
            parts.append({"rating": points, "spans": [{**span, "category": category}]})
        return {"state": {"translations": parts, **more}}

    return say


def judge_of(campaign: Campaign) -> Person:
    add_people(campaign, ["judge"], "adjudicator", NOW, actor="test")
    return by_name(campaign, "judge")


def apart(make_campaign: MakeCampaign, protocol: str = "esa") -> Campaign:
    """Two people rate 20 and 70, and mark other characters; the first one says why."""
    campaign, _ = make_campaign(protocol, 2, raters=2, assignment="pool")
    category = "style/awkward" if campaign.protocol.has_categories else None
    comment = "the first comment"
    work_off(campaign, person(campaign), NOW, mark_and_rate(20, 1, category=category, comment=comment))
    work_off(campaign, person(campaign, 1), NOW, mark_and_rate(70, 9, category=category))
    return campaign


EVERY = Measure(protocol=find_campaign_protocol("esa"), min_difference=0, min_f1=None)


def test_adjudications_are_sent_once_to_adjudicators_alone(judged: Campaign) -> None:
    with pytest.raises(UsageError, match="this campaign has none"):
        adjudicate(judged, NOW, actor="test")
    judge = judge_of(judged)
    found = adjudicate(judged, NOW, actor="test")
    assert (found.segments, found.differing, found.sent, found.tasks) == (12, 0, 0, 0), "all rated 50"
    found = adjudicate(judged, NOW, actor="test", measure=EVERY, numbers=[1, 2])
    assert (found.differing, found.sent, found.tasks) == (found.segments, found.segments, 2)
    found = adjudicate(judged, NOW, actor="test", measure=EVERY)
    assert (found.differing, found.tasks) == (12, 4), "two were sent before"
    assert adjudicate(judged, NOW, actor="test", measure=EVERY).tasks == 0
    assert assign_next(judged, by_name(judged, "third"), NOW) is None, "only adjudicators decide"
    assert take(judged, judge, NOW).kind == "adjudication"


def test_only_segments_in_which_people_differ_are_sent(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("esa", 2, raters=2, assignment="pool")
    higher = {"1": 25, "2": 24}  # by the segment's place in its document
    work_off(campaign, person(campaign), NOW, rating=50)
    done = work_off(
        campaign, person(campaign, 1), NOW, lambda one: {"rating": 50 + higher.get(one.segment[-1], 0)}
    )
    judge = judge_of(campaign)
    found = adjudicate(campaign, NOW, actor="test")
    assert str(found.measure) == "ratings 25 or more apart, on the scale from 0 to 100"
    assert (found.segments, found.differing, found.sent, found.tasks) == (12, *[len(done)] * 3)
    given = take(campaign, judge, NOW)
    (shown,) = items(campaign, given)
    assert [state.translations[0].rating for _, state in shown.between] == [50, 75]


def submission(who: str, *records: Annotation | Preference, edited: str | None = None) -> Submission:
    return Submission(
        person=who, protocol="x", kind="original", lp="en-de", segment="1", records=records, edited=edited
    )


def annotation(
    who: str, rating: float | None, *spans: ErrorSpan, protocol: str = "esa", system: str = "A"
) -> Annotation:
    return Annotation(
        lp="en-de", segment="1", system=system, annotator=who, protocol=protocol, rating=rating, spans=spans
    )


def error(start: int, end: int, severity: Severity = "minor") -> ErrorSpan:
    return ErrorSpan(severity=severity, start=start, end=end, text="x" * (end - start))


NOWHERE = ErrorSpan(severity="major", match="unplaced")


@pytest.mark.parametrize(
    ("one", "other", "is_apart"),
    [
        ((), (), False),
        ((error(0, 4),), (), True),
        ((error(0, 4),), (error(0, 4),), False),
        ((error(0, 4),), (error(0, 4, "major"),), True),
        ((error(0, 4),), (error(2, 6),), False),
        ((error(0, 4),), (error(3, 7),), True),
        ((error(0, 4),), (error(0, 4), error(9, 12)), False),
        ((error(0, 4),), (error(0, 4), error(6, 7), error(8, 9), error(9, 12)), True),
        ((NOWHERE,), (), True),
        ((NOWHERE,), (NOWHERE,), False),
    ],
)
def test_marks_differ_below_an_f1(
    one: tuple[ErrorSpan, ...], other: tuple[ErrorSpan, ...], is_apart: bool
) -> None:
    measure = find_measure(find_campaign_protocol("mqm"))
    assert str(measure) == "marks with an F1 below 0.5"
    said = [
        submission("ann", annotation("ann", None, *one, protocol="mqm")),
        submission("ben", annotation("ben", None, *other, protocol="mqm")),
    ]
    assert differ(said, measure) is is_apart
    assert differ(reversed(said), measure) is is_apart


def test_any_two_of_several_people_and_any_translation_are_enough() -> None:
    measure = find_measure(find_campaign_protocol("contrastive-esa"), 25)
    said = [
        submission(who, annotation(who, rating), annotation(who, 50, system="B"))
        for who, rating in (("ann", 40), ("ben", 52), ("cem", 64))
    ]
    assert not differ(said, measure)
    assert differ(said, find_measure(measure.protocol, 24))
    assert not differ(said[:2], find_measure(measure.protocol, 24))
    other = submission("dan", annotation("dan", 45), annotation("dan", 80, system="B"))
    assert differ([said[0], other], measure)


def test_both_measures_are_compared_where_both_are_given() -> None:
    esa = find_campaign_protocol("esa")
    marked = [submission("a", annotation("a", 50, error(0, 4))), submission("b", annotation("b", 50))]
    rated = [submission("a", annotation("a", 50)), submission("b", annotation("b", 59))]
    both = find_measure(esa, 5, 0.5)
    assert str(both) == "ratings 5 or more apart, on the scale from 0 to 100, or marks with an F1 below 0.5"
    assert [differ(each, both) for each in (marked, rated)] == [True, True]
    assert [differ(each, find_measure(esa)) for each in (marked, rated)] == [False, False]
    assert [differ(each, find_measure(esa, min_f1=0.5)) for each in (marked, rated)] == [True, False]


def test_verdicts_and_written_texts_differ_where_they_are_not_the_same() -> None:
    def compared(who: str, verdict: Verdict) -> Submission:
        return submission(
            who,
            Preference(
                lp="en-de", segment="1", systems=("A", "B"), annotator=who, criterion="style", verdict=verdict
            ),
        )

    pairwise = find_measure(find_campaign_protocol("pairwise"))
    assert str(pairwise) == "another verdict on a criterion"
    assert differ([compared("ann", "A"), compared("ben", "E")], pairwise)
    assert not differ([compared("ann", "A"), compared("ben", "A")], pairwise)
    written = find_measure(find_campaign_protocol("post-edit"))
    assert str(written) == "another text written"
    assert differ([submission("ann", edited="So."), submission("ben", edited="Na so.")], written)
    assert not differ([submission("ann", edited="So."), submission("ben", edited="So. ")], written)


@pytest.mark.parametrize(
    ("protocol", "numbers", "why"),
    [
        ("mqm", (5, None), "--min-difference compares ratings, and mqm has none"),
        ("sqm", (None, 0.5), "--min-f1 compares marks of errors, and sqm has none"),
        ("pairwise", (None, 0.5), "--min-f1 compares marks of errors, and pairwise has none"),
        ("sqm", (5, None), "--min-difference lies in 0 to 4 points, got 5"),
        ("esa", (float("nan"), None), "--min-difference lies in 0 to 100 points, got nan"),
        ("esa", (None, 50), "--min-f1 lies in 0 to 1, got 50"),
    ],
)
def test_a_measure_that_does_not_fit_is_refused(
    protocol: str, numbers: tuple[float | None, float | None], why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        find_measure(find_campaign_protocol(protocol), *numbers)


def test_one_of_several_translations_differs_by_half_of_the_scale() -> None:
    defaults = {name: find_measure(find_campaign_protocol(name)).min_difference for name in NAMES}
    assert defaults["esa"] == defaults["esa-ai"] == defaults["da-sqm"] == 25
    assert defaults["contrastive-esa"] == 50
    assert defaults["contrastive-sqm"] == defaults["sqm"] == 2


@pytest.mark.parametrize("protocol", ["esa", "contrastive-esa", "mqm"])
def test_an_adjudicator_sees_what_each_person_said_and_nobody_is_named(
    make_campaign: MakeCampaign, protocol: str
) -> None:
    """Everybody may see the systems in another order: each state stands in the adjudicator's."""
    campaign = apart(make_campaign, protocol)
    judge = judge_of(campaign)
    assert adjudicate(campaign, NOW, actor="test").tasks > 0
    seen = 0
    while (given := assign_next(campaign, judge, NOW)) is not None:
        view = task_view(campaign, judge, given.id)
        assert view.is_adjudication
        for one, shown in zip(view.items, items(campaign, given), strict=True):
            assert [state.comment for state in one.between] == ["the first comment", ""]
            assert all(not part.spans and part.rating is None for part in one.state.translations)
            for rating, end, state in zip((20, 70), (1, 9), one.between, strict=True):
                for text, stored, part in zip(one.texts, shown.translations, state.translations, strict=True):
                    assert [span.text for span in part.spans] == [text[:end]]
                    if campaign.protocol.scale:
                        assert part.rating == rating + 10 * (stored["system"] == "Alder")
                    seen += 1
            assert "annotator-" not in str([state.model_dump() for state in one.between])
            taken = one.between[1].model_dump(mode="json")
            event = change(shown, kind="complete", state=taken)
            assert save(campaign, judge, given.id, "p", [event], NOW).saved, "a state can be taken over"
        finish(campaign, judge, given.id, NOW)
    assert seen


def test_verdicts_are_turned_as_the_sides_are(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("pairwise", 2, raters=2, assignment="pool")
    for number, best in enumerate((min, max)):

        def prefer(shown: ItemShown, best: Any = best) -> dict[str, Any]:
            names = [one["system"] for one in shown.translations]
            return {"verdicts": dict.fromkeys(campaign.protocol.criteria, "AB"[names.index(best(names))])}

        work_off(campaign, person(campaign, number), NOW, prefer)
    judge = judge_of(campaign)
    found = adjudicate(campaign, NOW, actor="test")
    assert found.differing == found.segments > 0
    orders = set()
    while (given := assign_next(campaign, judge, NOW)) is not None:
        for shown in items(campaign, given):
            names = [one["system"] for one in shown.translations]
            orders.add(names == sorted(names))
            said = [set(state.verdicts.values()) for _, state in shown.between]
            assert [[names["AB".index(one)] for one in own] for own in said] == [[min(names)], [max(names)]]
        answer_all(campaign, judge, given, NOW)
        finish(campaign, judge, given.id, NOW)
    assert orders == {True, False}


def test_a_written_text_and_its_draft_are_shown(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("post-edit", 2, raters=2, assignment="pool")
    work_off(campaign, person(campaign, 0), NOW, chosen=0, edited="So.")
    work_off(campaign, person(campaign, 1), NOW, chosen=0, edited="Na so.")
    before = {(one.person, one.segment): one.chosen for one in stream_submissions(campaign)}
    judge = judge_of(campaign)
    found = adjudicate(campaign, NOW, actor="test")
    assert found.sent == found.segments > 0
    given = take(campaign, judge, NOW)
    for shown in items(campaign, given):
        assert [state.edited for _, state in shown.between] == ["So.", "Na so."]
        for name, state in shown.between:
            assert state.chosen is not None
            assert shown.translations[state.chosen]["system"] == before[name, shown.segment]
    work_off(campaign, judge, NOW, chosen=0, edited="Ja so.")
    (decision, *_) = [one for one in stream_submissions(campaign) if one.kind == "adjudication"]
    assert [one["edited"] for one in decision.more["between"]] == ["So.", "Na so."]


def test_a_decision_is_a_record_of_its_own_and_says_what_it_decided_between(
    make_campaign: MakeCampaign, tmp_path: Path
) -> None:
    campaign = apart(make_campaign)
    before = list(stream_submissions(campaign))
    judge = judge_of(campaign)
    adjudicate(campaign, NOW, actor="test")
    work_off(campaign, judge, NOW + 60, rating=33)
    file = export_campaign(campaign)
    assert file.submissions[: len(before)] == tuple(before), "what was said before stays"
    write_campaign_file(tmp_path / "c.jsonl", file)
    found = read_campaign_file(tmp_path / "c.jsonl")
    assert found.submissions == file.submissions
    decisions = [one for one in found.submissions if one.kind == "adjudication"]
    assert len(decisions) == 12
    for one in decisions:
        assert (one.person, one.more["role"]) == ("judge", "adjudicator")
        (decided,) = one.records
        assert (decided.annotator, decided.flags) == ("judge", ("adjudicated",))
        said = {
            each["person"]: [record_from_json(r) for r in each["records"]] for each in one.decided_between
        }
        assert said == {
            first.person: [*first.records]
            for first in before
            if (first.lp, first.segment, *first.texts) == (one.lp, one.segment, *one.texts)
        }
        assert len(said) == 2
    records, met = final_records(found.submissions)
    assert {(record.annotator, record.flags) for record in records} == {("judge", ("adjudicated",))}
    assert met["judgements replaced by a later pass"] == 24
    write_spreadsheet(tmp_path / "c.csv", file)
    text = (tmp_path / "c.csv").read_text(encoding="utf-8-sig")
    rows = [*csv.DictReader(io.StringIO(text))]
    assert {(row["person"] == "judge", row["decided between"], row["counts"]) for row in rows} == {
        (True, "annotator-1; annotator-2", "yes"),
        (False, "", "no, replaced by a later pass"),
    }


def test_what_is_changed_after_an_adjudication_was_sent_does_not_change_what_it_decides_between(
    make_campaign: MakeCampaign,
) -> None:
    campaign = apart(make_campaign)
    judge = judge_of(campaign)
    adjudicate(campaign, NOW, actor="test")
    first = person(campaign, 0)
    for one in assignments(campaign, first):
        for shown in items(campaign, one):
            assert save(campaign, first, one.id, "q", [change(shown, base=1, rating=99)], NOW).saved
    given = take(campaign, judge, NOW)
    for shown in items(campaign, given):
        ratings = [state.translations[0].rating for _, state in shown.between]
        assert ratings in ([20, 70], [30, 80])


def test_where_nothing_is_marked_there_is_nothing_to_look_at_again(make_campaign: MakeCampaign) -> None:
    for protocol in ("sqm", "da-sqm"):
        with pytest.raises(UsageError, match=f"for marks and edits, and protocol .*{protocol}"):
            second_pass(make_campaign(protocol, 1)[0], NOW, actor="test")


def test_sides_are_mapped_back_before_marks_are_given(make_campaign: MakeCampaign) -> None:
    """In a comparison the next person may see the pair the other way round."""
    campaign, _ = make_campaign("contrastive-esa", 2, assignment="pool")
    who, other = person(campaign, 0), person(campaign, 1)
    work_off(campaign, who, NOW, mark_and_rate(1, 2))
    second_pass(campaign, NOW, actor="test")
    seen = 0
    while (given := assign_next(campaign, other, NOW)) is not None:
        for one in task_view(campaign, other, given.id).items:
            for text, part in zip(one.texts, one.state.translations, strict=True):
                assert [span.text for span in part.spans] == [text[:2]]
                seen += 1
        answer_all(campaign, other, given, NOW)
        finish(campaign, other, given.id, NOW)
    assert seen == 12


def test_an_edited_draft_is_reviewed_as_one_more_draft(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("post-edit", 2, assignment="pool")
    first, second = person(campaign, 0), person(campaign, 1)
    work_off(campaign, first, NOW, chosen=0, edited="A better text.")
    tasks = second_pass(campaign, NOW, actor="test")
    assert tasks > 0
    assert second_pass(campaign, NOW, actor="test") == 0
    given = take(campaign, second, NOW)
    shown = items(campaign, given)
    assert all("A better text." in one.asked.texts for one in shown)
    for one in shown:
        place = one.asked.texts.index("A better text.")
        event = change(one, chosen=place, edited="A text that is better still.")
        assert save(campaign, second, given.id, "p", [event], NOW).saved
    finish(campaign, second, given.id, NOW)
    reviewed = [one for one in stream_submissions(campaign) if one.kind == "again"]
    assert [(one.chosen, one.edited) for one in reviewed] == [
        ("edited 1", "A text that is better still.") for _ in shown
    ]
    assert all(one.texts["edited 1"] == "A better text." for one in reviewed)


# MENT's gate: annotators who disagree judge again, and what they cannot agree on is dropped.


SYSTEMS = ("A", "B", "C")
SEGMENTS = ("agreed", "mended", "never")


@pytest.fixture
def ment() -> TestSet:
    """Three sources, three systems each."""
    return TestSet(
        name="ment",
        segments=tuple(
            Segment(segment=s, lp="zh-en", source=s, translations={x: f"{s} {x}" for x in SYSTEMS})
            for s in SEGMENTS
        ),
    )


def rate_all(campaign: Campaign, who: Person, is_second: bool) -> int:
    """Rates by system; the second annotator is contrary on all but `agreed`, and later on `never` alone."""

    with campaign.database.reading() as connection:
        kinds = set(connection.execute(select(task.c.kind)).scalars())
    contrary = {"never"} if "again" in kinds else {"mended", "never"}

    def rate(shown: ItemShown) -> dict[str, Any]:
        rating = SYSTEMS.index(shown.translations[0]["system"])
        return {"rating": 4 - rating if is_second and shown.segment in contrary else rating}

    return len(work_off(campaign, who, NOW, rate))


def both(campaign: Campaign) -> int:
    return sum(rate_all(campaign, person(campaign, n), is_second=n == 1) for n in (0, 1))


def gate(campaign: Campaign) -> GateReport:
    return apply_gate(campaign, NOW, actor="test", least_shared=3)


def test_a_segment_is_sent_out_again_once_and_dropped_when_it_fails_again(
    make_campaign_anywhere: MakeCampaign, ment: TestSet
) -> None:
    campaign, _ = make_campaign_anywhere("sqm", 2, raters=2, test_set=ment, assignment="pool")
    report = gate(campaign)
    assert report == GateReport(segments=3, first=0, failed=0, second=0, dropped=0)
    assert [report.failed_share, report.dropped_share, report.dropped_share_of_failed] == [None] * 3
    rate_all(campaign, person(campaign, 0), is_second=False)
    assert gate(campaign).first == 0, "one annotator is not enough"
    rate_all(campaign, person(campaign, 1), is_second=True)
    assert gate(campaign) == GateReport(segments=3, first=3, failed=2, second=0, dropped=0)
    assert gate(campaign) == GateReport(segments=3, first=3, failed=2, second=0, dropped=0)
    assert both(campaign) == 2 * 2 * 3, "two segments of three systems, by two people, sent once"
    report = gate(campaign)
    assert report == GateReport(segments=3, first=3, failed=2, second=2, dropped=1)
    assert report.failed_share == pytest.approx(2 / 3)
    assert report.dropped_share == pytest.approx(1 / 3)
    assert report.dropped_share_of_failed == pytest.approx(1 / 2)
    assert both(campaign) == 0
    with campaign.database.reading() as connection:
        rows = connection.execute(select(verdict.c.segment, verdict.c["pass"], verdict.c.decision)).all()
    assert sorted(tuple(row) for row in rows) == [
        ("agreed", 1, "kept"),
        ("mended", 1, "again"),
        ("mended", 2, "kept"),
        ("never", 1, "again"),
        ("never", 2, "dropped"),
    ]


def test_what_was_dropped_counts_no_more_and_a_second_judgement_replaces_the_first(
    make_campaign: MakeCampaign, ment: TestSet
) -> None:
    campaign, _ = make_campaign("sqm", 2, raters=2, test_set=ment, assignment="pool")
    both(campaign)
    gate(campaign)
    both(campaign)
    gate(campaign)
    records, _ = final_records(stream_submissions(campaign))
    assert {record.segment for record in records} == {"agreed", "mended"}
    assert len(records) == 2 * 2 * 3
    annotations = [record for record in records if isinstance(record, Annotation)]
    assert all(one.passes for one in segment_agreements(annotations, least_shared=3))


def test_where_it_is_asked_others_judge_again(make_campaign: MakeCampaign, ment: TestSet) -> None:
    campaign, _ = make_campaign("sqm", 4, raters=2, test_set=ment, assignment="pool")
    both(campaign)
    apply_gate(campaign, NOW, actor="test", least_shared=3, by_others=True)
    assert both(campaign) == 0
    assert [rate_all(campaign, person(campaign, n), is_second=False) for n in (2, 3)] == [6, 6]
    assert gate(campaign).dropped == 0


@pytest.mark.parametrize(
    ("protocol", "raters", "why"),
    [("mqm", 2, "mqm has none"), ("sqm", 1, "2 raters of each segment or more")],
)
def test_a_gate_needs_ratings_of_two(
    make_campaign: MakeCampaign, protocol: str, raters: int, why: str
) -> None:
    campaign, _ = make_campaign(protocol, 2, raters=raters)
    with pytest.raises(UsageError, match=why):
        gate(campaign)


def test_a_segment_that_one_system_alone_translated_is_left_alone_and_counted(
    make_campaign: MakeCampaign,
) -> None:
    campaign, _ = make_campaign("sqm", 2, raters=2, test_set=grow(1, "A", lp="zh-en"))
    for number in (0, 1):
        work_off(campaign, person(campaign, number), NOW)
    report = gate(campaign)
    assert (report.segments, report.first, report.unjudged) == (1, 0, 1)


# MENT's campaign: two people rate all ten systems of a source on one page.

TEN = tuple("ABCDEFGHIJ")


def rated(ratings: dict[str, int]) -> Any:
    """Rate each system of a page."""
    return lambda shown: {
        "state": {"translations": [{"rating": ratings[one["system"]]} for one in shown.translations]}
    }


def test_pairs_of_people_rate_ten_systems_as_one_task_and_the_gate_decides_on_each_source(
    make_campaign: MakeCampaign,
) -> None:
    ment = grow(8, *TEN, lp="zh-en")
    campaign, _ = make_campaign("contrastive-sqm", 4, raters=2, pairs_of_people=True, test_set=ment)

    def rate(which: int, *, is_contrary: bool) -> int:
        levels = {name: 4 - place // 2 if is_contrary else place // 2 for place, name in enumerate(TEN)}
        return len(work_off(campaign, person(campaign, which), NOW, rated(levels)))

    assert [rate(which, is_contrary=which == 3) for which in range(4)] == [4] * 4
    report = apply_gate(campaign, NOW, actor="test")
    assert (report.first, report.failed, report.unjudged) == (8, 4, 0)
    assert [rate(which, is_contrary=False) for which in range(4)] == [0, 0, 4, 4], "by the same two people"
    assert apply_gate(campaign, NOW, actor="test").dropped == 0
    records, _ = final_records(stream_submissions(campaign))
    pairs = pair_agreements(record for record in records if isinstance(record, Annotation))
    assert [one.summed for one in pairs] == [4, 4]
    assert [one.over_systems.value for one in pairs] == pytest.approx([1, 1])


def test_two_shared_systems_never_pass_the_gate(make_campaign: MakeCampaign) -> None:
    campaign, _ = make_campaign("contrastive-sqm", 2, raters=2, test_set=grow(1, "A", "B", lp="zh-en"))
    for number, rows in ((0, {"A": 4, "B": 3}), (1, {"A": 1, "B": 0})):
        work_off(campaign, person(campaign, number), NOW, rated(rows))
    report = apply_gate(campaign, NOW, actor="test")
    assert (report.first, report.failed, report.unjudged) == (0, 0, 1)
