"""What people said comes out under the names of the systems, whatever order they saw."""

import csv
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.study import analyse
from adjudge.campaigns.answers import save
from adjudge.campaigns.campaign import read_links
from adjudge.campaigns.database import Campaign
from adjudge.campaigns.exporting import export_campaign, stream_submissions
from adjudge.campaigns.items import ItemShown
from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.settings import CampaignSettings
from adjudge.core.record import Annotation, ErrorSpan, Preference
from adjudge.core.segment import Segment, TestSet
from adjudge.formats.campaign_export import (
    Submission,
    final_records,
    submission_from_json,
    submission_to_json,
)
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import content_of
from adjudge.formats.spreadsheet import write_spreadsheet
from adjudge.stats.bootstrap import Draws
from tests.campaigns.conftest import NOW, SYSTEMS, MakeCampaign
from tests.campaigns.work import begin, change, finished, items, person, take, work_off

ALL = ["esa", "esa-ai", "mqm", "da-sqm", "sqm", "contrastive-esa", "contrastive-sqm", "pairwise", "post-edit"]


def given_marks(test_set: TestSet) -> list[Annotation]:
    """The first word of every translation, marked beforehand."""
    return [
        Annotation(
            lp=one.lp,
            segment=one.segment,
            system=system,
            annotator="judge",
            protocol="mqm",
            spans=(ErrorSpan(severity="major", start=0, end=2, text=text[:2], category="fluency/grammar"),),
        )
        for one in test_set
        for system, text in one.translations.items()
    ]


@pytest.fixture
def make(make_campaign: MakeCampaign, small: TestSet) -> Any:
    def make(protocol: str, **more: Any) -> Campaign:
        if protocol == "esa-ai":
            more["given"] = given_marks(small)
        return make_campaign(protocol, 1, **more)[0]

    return make


def system_mark(text: str) -> dict[str, Any]:
    return {"id": "m", "start": 1, "end": 3, "text": text[1:3], "severity": "minor", "note": text}


@pytest.mark.parametrize("protocol", ALL)
def test_every_protocol_exports_what_was_shown_and_said(make: Any, small: TestSet, protocol: str) -> None:
    campaign = make(protocol)
    work_off(campaign, person(campaign), NOW)
    file = export_campaign(campaign)
    assert (file.name, file.protocol) == (campaign.name, protocol)
    assert file.settings["protocol"] == protocol
    sources = {one.segment: one for one in small}
    for found in file.submissions:
        assert submission_from_json(submission_to_json(found)) == found
        segment = sources[found.segment]
        assert found.source == segment.source
        assert found.document == segment.document
        assert found.texts.items() <= segment.translations.items()
        assert {record.annotator for record in found.records} <= {found.person}
    count = len(small) * (2 if campaign.protocol.shows == "one" else 1)
    assert sorted(found.place for found in file.submissions) == list(range(count))


def test_ratings_and_marks_go_to_the_system_that_was_shown_there(make: Any) -> None:
    campaign = make("contrastive-esa")

    def say(shown: ItemShown) -> dict[str, Any]:
        texts = shown.asked.texts
        parts = [{"rating": len(t), "spans": [system_mark(t)] if len(t) > 3 else []} for t in texts]
        return {"state": {"translations": parts}}

    work_off(campaign, person(campaign), NOW, say)
    orders = set()
    for found in stream_submissions(campaign):
        records = [record for record in found.records if isinstance(record, Annotation)]
        assert tuple(record.system for record in records) == SYSTEMS
        for record in records:
            assert record.rating == len(found.texts[record.system])
            assert [span.note for span in record.spans] in ([], [found.texts[record.system]])
        orders.add(tuple(found.texts))
    assert len(orders) == 2, "texts stand in the order shown, and both orders occur"


def test_verdicts_are_mapped_back_from_the_sides_shown(make: Any) -> None:
    campaign = make("pairwise")

    def say(shown: ItemShown) -> dict[str, Any]:
        longer = "A" if len(shown.asked.texts[0]) > len(shown.asked.texts[1]) else "B"
        return {"verdicts": dict.fromkeys(campaign.protocol.criteria, longer) | {"style": "E"}}

    work_off(campaign, person(campaign), NOW, say)
    assert len({tuple(found.texts) for found in stream_submissions(campaign)}) == 2
    for found in stream_submissions(campaign):
        a, b = (found.texts[system] for system in SYSTEMS)
        wanted = {"faithfulness": "A" if len(a) > len(b) else "B", "style": "E"}
        said = {one.criterion: one.verdict for one in found.records if isinstance(one, Preference)}
        assert {one.systems for one in found.records if isinstance(one, Preference)} == {SYSTEMS}
        assert said == {**wanted, "fluency": wanted["faithfulness"], "overall": wanted["faithfulness"]}


def test_reasons_of_a_preference_are_kept_by_system_and_told_in_a_spreadsheet(
    make: Any, tmp_path: Path
) -> None:
    campaign = make("pairwise")
    who, given, shown = begin(campaign, NOW)
    text, system = shown.asked.texts[1], shown.translations[1]["system"]
    state = {"translations": [{}, {"spans": [system_mark(text)]}], **finished(campaign)}
    assert not save(campaign, who, given.id, "p", [change(shown, state=state)], NOW).refused
    (found,) = stream_submissions(campaign)
    assert [(name, span["text"]) for name, (span,) in found.more["reasons"].items()] == [(system, text[1:3])]
    assert found.texts[system] == text
    assert final_records([found])[1] == {"marks that say why one of two is better": 1}
    write_spreadsheet(tmp_path / "out.csv", export_campaign(campaign))
    rows = csv.DictReader((tmp_path / "out.csv").read_text(encoding="utf-8-sig").splitlines())
    assert {row["marked"] for row in rows} == {f"{system}: {text[1:3]} (minor)"}


def test_reasons_that_a_file_made_up_are_none() -> None:
    said = {"person": "ann", "protocol": "pairwise", "kind": "original", "lp": "en-de", "segment": "1"}
    for made_up in ("why", {"A": "why"}, {"A": ["why"]}, [1]):
        assert not [*Submission(**said, more={"reasons": made_up}).reasons]  # type: ignore[arg-type]


@pytest.mark.parametrize("protocol", ["esa", "mqm"])
def test_what_is_missing_becomes_an_omission_without_a_place(make: Any, protocol: str) -> None:
    campaign = make(protocol)
    category = "accuracy/omission" if protocol == "mqm" else None
    missing = {"severity": "major", "category": category}
    work_off(campaign, person(campaign), NOW, **finished(campaign), missing=missing)
    for found in stream_submissions(campaign):
        (record,) = found.records
        assert isinstance(record, Annotation)
        assert record.spans == (ErrorSpan(severity="major", category="accuracy/omission", match="unplaced"),)


def test_a_non_translation_is_an_error_of_the_whole(make: Any) -> None:
    campaign = make("mqm")
    work_off(campaign, person(campaign), NOW, is_non_translation=[True])
    for found in stream_submissions(campaign):
        (record,) = found.records
        assert isinstance(record, Annotation)
        (text,) = found.texts.values()
        (span,) = record.spans
        assert (span.category, span.start, span.end) == ("non-translation", 0, len(text))


def test_a_mark_of_the_source_counts_there(make: Any) -> None:
    campaign = make("mqm")
    who, given, shown = begin(campaign, NOW)
    mark = {"id": "s", "side": "source", "start": 0, "end": 2, "severity": "minor"}
    mark |= {"text": shown.asked.source[:2], "category": "accuracy/omission"}
    save(campaign, who, given.id, "p", [change(shown, kind="complete", spans=[mark])], NOW)
    (found,) = stream_submissions(campaign)
    (record,) = found.records
    assert isinstance(record, Annotation)
    assert (record.spans[0].side, record.spans[0].text) == ("source", found.source[:2])


def test_what_stood_there_beforehand_is_exported_beside_what_became_of_it(make: Any) -> None:
    campaign = make("esa-ai")
    work_off(campaign, person(campaign), NOW, rating=50, spans=[], removed=[0])
    for found in stream_submissions(campaign):
        ((system, (span,)),) = found.given.items()
        assert (span.text, span.category) == (found.texts[system][:2], "fluency/grammar")
        (record,) = found.records
        assert isinstance(record, Annotation)
        assert record.spans == ()


def test_the_analysis_knows_what_a_control_did_not_show(make: Any) -> None:
    campaign = make("esa-ai", control=0.5)
    work_off(campaign, person(campaign), NOW)
    exported = export_campaign(campaign)
    for one in exported.submissions:
        assert submission_from_json(submission_to_json(one)) == one
        assert bool(one.given) == (one.kind != "control")
        if one.kind == "control":
            (system,) = one.texts
            ((span,),) = one.more["withheld"].values()
            assert (*one.more["withheld"], span["text"]) == (system, one.texts[system][:2])
    section = analyse(exported, draws=Draws(resamples=0)).section("assistance")
    (alone,) = (number for number in section.numbers if number.of == "shown without")
    controls = sum(one.kind == "control" for one in exported.submissions)
    assert controls > 0
    assert (alone.result.value, alone.result.n) == (0, controls)


def test_a_reference_is_exported_with_the_draft_it_was_made_of(make: Any) -> None:
    campaign = make("post-edit")

    def say(shown: ItemShown) -> dict[str, Any]:
        shorter = min((0, 1), key=lambda place: len(shown.asked.texts[place]))
        return {"chosen": shorter, "edited": "Ein Satz.\r\n"}

    work_off(campaign, person(campaign), NOW, say)
    for found in stream_submissions(campaign):
        assert found.chosen == min(found.texts, key=lambda system: len(found.texts[system]))
        assert (found.edited, found.records) == ("Ein Satz.\r\n", ())


def test_a_post_edit_of_a_damaged_copy_is_no_second_text_of_its_segment(make: Any, tmp_path: Path) -> None:
    campaign = make("post-edit", checks=0.5)
    work_off(campaign, person(campaign), NOW, lambda one: {"chosen": 0, "edited": f"Satz {one.id}."})
    exported = export_campaign(campaign)
    assert any(one.kind == "check" and one.edited for one in exported.submissions)
    content = content_of(exported)
    assert content.test_set is not None
    assert all(any(name.startswith("post-edit:") for name in s.translations) for s in content.test_set)
    write_content(tmp_path / "out.jsonl", "jsonl", content)


def test_a_check_has_the_text_before_it_was_damaged_and_says_whether_it_was_passed(make: Any) -> None:
    campaign = make("esa", checks=0.3)
    work_off(campaign, person(campaign), NOW)
    checks = [found for found in stream_submissions(campaign) if found.kind == "check"]
    assert checks
    for found in checks:
        for system, text in found.originals.items():
            assert found.texts[system] != text
            assert found.more["is_passed"] is False
        assert bool(found.originals) == ("is_passed" in found.more)


def test_times_are_those_of_the_work(make: Any) -> None:
    campaign = make("esa")
    who, given, shown = begin(campaign, NOW)
    first = change(shown, kind="mark", at=NOW + 10, active=4.0)
    last = change(shown, 1, rating=3, at=NOW + 25, active=6.5, idle=60)
    save(campaign, who, given.id, "p", [first, last], NOW + 30)
    (found,) = stream_submissions(campaign)
    assert (found.started, found.ended) == (NOW + 10, NOW + 25)
    assert (found.active, found.idle, found.revision) == (10.5, 60.0, 2)


def test_the_language_is_that_of_the_page_that_saved_last_and_said_it(make: Any) -> None:
    campaign = make("esa")
    who = person(campaign)
    given = take(campaign, who, NOW)
    shown, other = items(campaign, given)[:2]
    for base, language in enumerate(("de", "pt-BR", "")):
        event = replace(change(shown, base, rating=3), language=language)
        save(campaign, who, given.id, "p", [event], NOW + 30)
    save(campaign, who, given.id, "p", [change(other, rating=3)], NOW + 30)
    assert [found.language for found in stream_submissions(campaign)] == ["pt-BR", None]
    (refused,) = save(
        campaign, who, given.id, "p", [replace(change(other, 1, rating=4), language="\0")], NOW
    ).refused
    assert "language" in refused.why


def test_many_answers_come_in_order_from_many_reads(
    make_campaign: MakeCampaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign, _ = make_campaign("esa", 2, assignment="pool", raters=2)
    work_off(campaign, person(campaign, 0), NOW)
    work_off(campaign, person(campaign, 1), NOW + 30)
    whole = list(stream_submissions(campaign))
    monkeypatch.setattr("adjudge.campaigns.exporting._AT_ONCE", 5)
    assert list(stream_submissions(campaign)) == whole
    assert len(whole) == 24
    assert [one.ended for one in whole] == sorted(one.ended for one in whole)
    for who in {one.person for one in whole}:
        assert [one.place for one in whole if one.person == who] == list(range(12))


def test_an_export_is_the_same_from_every_store(make_campaign_anywhere: MakeCampaign) -> None:
    campaign, _ = make_campaign_anywhere("esa", 1, name="one")
    work_off(campaign, person(campaign), NOW, rating=7, comment="a\0b 🐕 \u2028")
    for found in stream_submissions(campaign):
        (record,) = found.records
        assert isinstance(record, Annotation)
        assert (record.rating, record.rationale) == (7, "a\0b 🐕 \u2028")


# No file that people open in a spreadsheet has a cell that it would run, whoever named whatever.


LINK = '=HYPERLINK("http://x")'
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", LINK, " =1", "\u200b=1", "\uff1d1", "%1", "|calc")
PEOPLE = [*FORMULAS[:5], *FORMULAS[7:], "'=1", "O'Neil", "''"]
LIVE = ("=", "+", "-", "@", "|", "%", "\uff1d", "\t", "\r", "\n", "\0")


def is_live(cell: str) -> bool:
    """Whether a spreadsheet would run a cell."""
    return cell.lstrip(" \u200b\ufeff").startswith(LIVE) and not cell.replace(".", "").isdecimal()


def test_names_texts_and_comments_are_no_formulas(tmp_path: Path) -> None:
    segments = tuple(
        Segment(
            segment=one, document=one, lp="en-de", source=one, translations={"=A1": f"{one} x", "@B": one}
        )
        for one in FORMULAS
    )
    settings = CampaignSettings(protocol="esa", assignment="pool")
    texts = TestSet(name="=set", segments=segments)
    campaign, links = new_campaign(tmp_path / "=c", texts, settings, PEOPLE, now=time.time())
    work_off(campaign, person(campaign), time.time(), rating=5, comment="=1+1")
    write_content(tmp_path / "out.csv", "spreadsheet", content_of(export_campaign(campaign)))
    campaign.database.close()
    for path in (tmp_path / "out.csv", tmp_path / "=c" / "links.csv"):
        rows = list(csv.reader(path.read_text("utf-8-sig").splitlines()))
        assert len(rows) > len(FORMULAS)
        assert [cell for row in rows for cell in row if is_live(cell)] == []
    assert read_links(tmp_path / "=c") == links
