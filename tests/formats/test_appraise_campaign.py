"""Appraise's campaigns whole: who did what when, what was damaged, and back byte for byte."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, ErrorSpan
from adjudge.errors import DataError
from adjudge.formats.appraise import code_points, code_units, place_of, read_batches, units_of, write_batches
from adjudge.formats.appraise_campaign import (
    appraise_batches_of,
    read_appraise_submissions,
    write_appraise_submissions,
)
from adjudge.formats.campaign_export import (
    CampaignFile,
    Submission,
    campaign_test_set,
    final_records,
    read_campaign_file,
    write_campaign_file,
)
from adjudge.formats.pearmut import read_pearmut_submissions, write_pearmut_submissions
from adjudge.formats.read import read_content
from tests.formats.campaigns import ITEM, TASK, row, submission

SECOND = {**ITEM, "itemID": 2, "_item": "A | 5 | doc", "targetText": "zwei"}
COPY = {**ITEM, "documentID": "doc#A#bad3", "itemType": "BAD", "targetText": "a x c", "itemID": 5}
FILLER = {**ITEM, "documentID": "doc#A#duplicate1", "itemID": 6}
TUTORIAL = {**ITEM, "documentID": "ende-tutorial1", "targetID": "ende-tutorial1", "itemID": 3, "_item": "-"}


def read(folder: Path, items: list[dict[str, Any]], *rows: str) -> tuple[CampaignFile, Counter[str]]:
    (folder / "batches.json").write_text(json.dumps([{"items": items, "task": TASK}]))
    (folder / "a.scores.csv").write_bytes("".join(rows).encode())
    return read_appraise_submissions(folder / "a.scores.csv", read_batches(folder / "batches.json"))


def mark(**fields: object) -> str:
    return '"' + json.dumps([fields], separators=(",", ":")).replace('"', '""') + '"'


def test_a_row_becomes_what_was_shown_and_what_was_said(tmp_path: Path) -> None:
    spans = mark(start_i=1, end_i=2, severity="minor", error_type=None)
    campaign, met = read(tmp_path, [ITEM, SECOND], row(), row(item=2, score=71, spans="[]"), row(spans=spans))
    assert (campaign.name, campaign.protocol, campaign.settings, met) == ("a", "esa", {"test_set": "set"}, {})
    _, _, third = campaign.submissions
    assert [(s.segment, s.task, s.item, s.place, s.is_last) for s in campaign.submissions] == [
        ("5", 1, 0, 0, False),
        ("6", 1, 1, 1, True),
        ("5", 1, 0, 2, True),
    ]
    assert (third.person, third.kind, third.lp, third.document, third.batch) == (
        *("engdeu0102", "original", "en-de"),
        *("doc", 2),
    )
    assert (third.source, dict(third.texts), third.started, third.ended, third.active) == (
        *("A source", {"A": " a😀c "}),
        *(10.0, 20.0, None),
    )
    (record,) = third.records
    assert isinstance(record, Annotation)
    assert (record.rating, record.spans) == (50, (ErrorSpan(severity="minor", start=2, end=3, text="😀"),))


def test_a_damaged_copy_is_a_check_that_knows_its_original(tmp_path: Path) -> None:
    damaged = row(kind="BAD", item=5, document="doc#A#bad3")
    campaign, met = read(tmp_path, [ITEM, SECOND, COPY], damaged, row(end=30.0))
    check, original = campaign.submissions
    found = (check.kind, check.segment, dict(check.texts), dict(check.originals))
    assert found == ("check", original.segment, {"A": "a x c"}, {"A": " a😀c "})
    assert check.task != original.task
    assert not met
    campaign, met = read(tmp_path, [COPY], damaged)
    assert campaign.submissions[0].originals == {}
    assert met == {"damaged translations whose original is in no item of their batch": 1}


def test_copies_that_have_the_number_of_their_original_are_told_apart(tmp_path: Path) -> None:
    plain = [{k: v for k, v in {**item, "itemID": 1}.items() if k != "_item"} for item in (ITEM, COPY)]
    campaign, _ = read(tmp_path, plain, row(), row(kind="BAD", document="doc#A#bad3"))
    assert [(s.kind, s.segment, dict(s.originals)) for s in campaign.submissions] == [
        ("original", "doc:1", {}),
        ("check", "doc:1", {"A": " a😀c "}),
    ]


def test_newer_batches_name_no_system_in_their_documents_and_no_test_set_in_their_targets(
    tmp_path: Path,
) -> None:
    def shown(number: int, system: str, text: str, **more: Any) -> dict[str, Any]:
        usual = {
            "documentID": "news.1",
            "sourceID": "en-de",
            "targetID": system,
            "_item": "",
            "itemID": number,
        }
        return {**ITEM, **usual, "sourceText": f"s{number}", "targetText": text, **more}

    bad = {"itemType": "BAD", "documentID": "news.1#bad"}
    items = [
        *(shown(7, "Claude-3.5", "drei sieben"), shown(8, "Claude-3.5", "drei acht")),
        *(shown(7, "GPT-4.5", "vier sieben"), shown(8, "GPT-4.5", "vier acht")),
        *(shown(7, "Claude-3.5", "drei Hund", **bad), shown(8, "Claude-3.5", "drei Maus", **bad)),
        *(shown(7, "GPT-4.5", "vier Hund", **bad), shown(8, "GPT-4.5", "vier Maus", **bad)),
    ]
    rows = [
        row(item=i["itemID"], kind=i["itemType"], document=i["documentID"], score=n, end=20.0 + n)
        .replace("set.A", i["targetID"])
        for n, i in enumerate(items, start=1)
    ]  # fmt: skip
    campaign, met = read(tmp_path, items, *rows)
    assert met == {}
    assert all(s.is_last and s.document == "news.1" for s in campaign.submissions)
    assert [(s.kind, s.task, s.segment, dict(s.texts), dict(s.originals)) for s in campaign.submissions] == [
        ("original", 1, "news.1:1", {"Claude-3.5": "drei sieben"}, {}),
        ("original", 1, "news.1:2", {"Claude-3.5": "drei acht"}, {}),
        ("original", 2, "news.1:1", {"GPT-4.5": "vier sieben"}, {}),
        ("original", 2, "news.1:2", {"GPT-4.5": "vier acht"}, {}),
        ("check", 3, "news.1:1", {"Claude-3.5": "drei Hund"}, {"Claude-3.5": "drei sieben"}),
        ("check", 3, "news.1:2", {"Claude-3.5": "drei Maus"}, {"Claude-3.5": "drei acht"}),
        ("check", 4, "news.1:1", {"GPT-4.5": "vier Hund"}, {"GPT-4.5": "vier sieben"}),
        ("check", 4, "news.1:2", {"GPT-4.5": "vier Maus"}, {"GPT-4.5": "vier acht"}),
    ]
    assert write_back(campaign, tmp_path) == "".join(rows).encode()
    records = read_content(tmp_path / "a.scores.csv").records or ()
    assert [(r.segment, r.systems, r.rating) for r in records if isinstance(r, Annotation)] == [
        ("news.1:1", ("Claude-3.5",), 1),
        ("news.1:2", ("Claude-3.5",), 2),
        ("news.1:1", ("GPT-4.5",), 3),
        ("news.1:2", ("GPT-4.5",), 4),
    ]


def test_a_document_may_have_the_sign_that_parts_it_from_its_system(tmp_path: Path) -> None:
    name = "wmt25_#_en-de_#_news"
    ours = replace(our_own(), submissions=tuple(
        replace(s, document=name, records=tuple(replace(r, document=name) for r in s.records))
        for s in our_own().submissions
    ))  # fmt: skip
    found, met = there_and_back(ours, tmp_path)
    assert not met
    assert {(s.document, *s.originals.values()) for s in found.submissions} == {
        (name,),
        (name, "Das  Sofa 😀 von B"),
    }


def test_tutorials_and_fillers_are_kept_and_named(tmp_path: Path) -> None:
    tutorial = row(item=3, document="ende-tutorial1").replace("set.A", "ende-tutorial1")
    campaign, _ = read(
        tmp_path, [ITEM, TUTORIAL, FILLER], tutorial, row(item=6, document="doc#A#duplicate1", end=30.0)
    )
    learnt, filler = campaign.submissions
    assert (learnt.kind, learnt.records[0].segment) == ("tutorial", "ende-tutorial1:1")
    assert (filler.kind, filler.records[0].flags) == ("original", ("duplicate",))


def test_a_filler_does_not_replace_the_first_judgement_on_its_way_through_pearmut(tmp_path: Path) -> None:
    rows = row(score=70), row(item=6, score=10, document="doc#A#duplicate1", end=30.0)
    campaign, _ = read(tmp_path, [ITEM, FILLER], *rows)
    write_pearmut_submissions(path := tmp_path / "p_#_en-de.jsonl", campaign)
    records, _ = final_records(read_pearmut_submissions(path, "en-de").submissions)
    assert [r.rating for r in records if isinstance(r, Annotation)] == [70]


@pytest.mark.parametrize(
    ("ends", "last"), [((30.0, 20.0), 0), ((20.0, 30.0), 1), ((20.0, 20.0), 1), ((20.0, 30.0, 25.0), 1)]
)
def test_the_submission_that_ended_last_counts_and_of_equal_ones_the_later_row(
    ends: tuple[float, ...], last: int, tmp_path: Path
) -> None:
    campaign, _ = read(tmp_path, [ITEM], *(row(score=n, end=end) for n, end in enumerate(ends)))
    ratings = {r.rating for s in campaign.submissions for r in s.records if isinstance(r, Annotation)}
    assert ratings == {*range(len(ends))}
    assert [
        r.rating for s in campaign.submissions if s.is_last for r in s.records if isinstance(r, Annotation)
    ] == [last]


def test_marks_made_beforehand_are_given_and_make_it_esa_ai(tmp_path: Path) -> None:
    marked = {**ITEM, "mqm": [{"start_i": 0, "end_i": 0, "severity": "major"}]}
    campaign, _ = read(tmp_path, [marked, SECOND], row(), row(item=2, end=30.0))
    assert campaign.protocol == "esa-ai"
    first, second = campaign.submissions
    assert first.given == {"A": (ErrorSpan(severity="major", start=1, end=2, text="a"),)}
    assert second.given == {}
    assert {s.records[0].protocol for s in campaign.submissions} == {"esa"}
    kept = mark(
        start_i=0, end_i=0, severity="major"
    )  # which nobody touched: it tells what the batches do not
    assert read(tmp_path, [ITEM], row(spans=kept))[0].protocol == "esa-ai"
    assert read(tmp_path, [ITEM], row(score=0))[0].protocol == "mqm"


def test_a_clock_that_went_back_is_counted_and_not_lost(tmp_path: Path) -> None:
    text = row(start=30.0)
    campaign, met = read(tmp_path, [ITEM], text)
    (only,) = campaign.submissions
    assert (only.started, only.ended) == (20, 20)
    assert met == {"submissions that end before they start; both times are that of the end": 1}
    assert write_back(campaign, tmp_path) == text.encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (row(item=9), "'engdeu0102', item 9: no batch shows item 9 of batch 2, document 'doc#A'"),
        (row().replace("set.A", "set.B"), "no batch shows item 1 of batch 2, document 'doc#A', by 'set.B'"),
        (row(score=999), "'engdeu0102', item 1: a rating of esa lies in 0 to 100, got 999"),
        (row(spans=mark(start_i=0, end_i=0, severity="odd")), "item 1: a severity must be minor"),
    ],
)
def test_a_row_that_cannot_be_is_refused_with_its_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, [ITEM], text)
    with pytest.raises(DataError, match=message):
        read_content(tmp_path / "a.scores.csv")


# And back...


def write_back(campaign: CampaignFile, folder: Path) -> bytes:
    """Through our own lines, so that nothing else is carried along."""
    write_campaign_file(folder / "c.jsonl", campaign)
    left_out = write_appraise_submissions(folder / "b.csv", read_campaign_file(folder / "c.jsonl"))
    assert not left_out
    return (folder / "b.csv").read_bytes()


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("batch_columns", ["", ",2,77"])
def test_what_came_from_appraise_goes_back_byte_for_byte(
    line_end: str, batch_columns: str, tmp_path: Path
) -> None:
    odd = [
        mark(start_i=0, end_i=9, severity="minor", error_type=None),
        mark(start_i="missing", end_i="missing", severity="undecided", error_type=["Accuracy", "Omission"]),
        mark(start_i=2, end_i=2, severity="major"),
        mark(start_i=0, end_i=0, severity="critical", error_type=["Style", "Odd one"]),
    ]
    rows = [row(spans=spans, end=40.0 - n) for n, spans in enumerate(odd)]
    rows.append(row(score=7.5, kind="BAD", item=5, document="doc#A#bad3", start=10.125))
    text = "".join(line.removesuffix("\n") + batch_columns + line_end for line in rows)
    campaign, _ = read(tmp_path, [ITEM, COPY], text)
    assert write_back(campaign, tmp_path) == text.encode()


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name",
    [
        "240315rc5GEMBA",
        *("240315rc5ESA", "240315rc5MQM", "240520rc6ESA", "240520rc6GEMBA"),
        *("240521rc6ESA", "240521rc6GEMBA", "240521rc6MQM"),
    ],
)
def test_the_campaigns_of_the_esa_paper_go_through_ours_and_back_byte_for_byte(
    name: str, adjudge_data: Path, tmp_path: Path
) -> None:
    path = adjudge_data / "esa" / f"{name}.scores.csv"
    batches = read_batches(adjudge_data / "esa" / "batches_wmt23_en-de_esa.json")
    campaign, met = read_appraise_submissions(path, batches)
    checks = [s for s in campaign.submissions if s.kind == "check"]
    assert all(s.originals for s in checks)
    assert {s.segment for s in checks if s.originals == s.texts} <= {"98"}  # the one that nobody damaged
    assert 145 <= len(checks) <= 403
    wanted = {"GEMBA": "esa-ai", "ESA": "esa", "MQM": "mqm"}
    assert campaign.protocol == next(p for word, p in wanted.items() if word in name)
    assert ("GEMBA" in name) == bool(met)
    assert write_back(campaign, tmp_path) == path.read_bytes()


def our_own() -> CampaignFile:
    def sofa(person: str, task: int, system: str, **fields: Any) -> Submission:
        spans = (
            ErrorSpan(severity="minor", start=10, end=11, text="😀"),
            ErrorSpan(severity="major", category="accuracy/omission", match="unplaced"),
        )
        return submission(person, task, system, f"Das  Sofa 😀 von {system}", *spans, **fields)

    texts, originals = {"B": "Das  Sofa 😀 Hund B"}, {"B": "Das  Sofa 😀 von B"}
    damaged = {"kind": "check", "texts": texts, "originals": originals}
    return CampaignFile(
        name="autumn.1",
        protocol="esa",
        submissions=(
            sofa("ann", 1, "A"),
            sofa("ben", 1, "A", place=0),
            sofa("ann", 2, "B", place=1),
            sofa("ann", 3, "B", place=2, **damaged),
        ),
    )


def there_and_back(ours: CampaignFile, folder: Path) -> tuple[CampaignFile, Counter[str]]:
    """A campaign as its export and the batches beside it say it, and what was lost on the way."""
    lost = write_appraise_submissions(folder / "scores.csv", ours)
    write_batches(folder / "batches.json", appraise_batches_of(ours))
    found, met = read_appraise_submissions(folder / "scores.csv", read_batches(folder / "batches.json"))
    return found, lost + met


def test_a_campaign_of_ours_is_read_again_from_the_export_and_the_batches_beside_it(tmp_path: Path) -> None:
    ours = our_own()
    found, met = there_and_back(ours, tmp_path)
    assert not met
    plain = [replace(s, more={}, batch=None) for s in found.submissions]
    key = lambda s: (s.task, s.person)  # noqa: E731 (one use)
    assert sorted(plain, key=key) == sorted(ours.submissions, key=key)


@pytest.mark.parametrize("names", [("s1", "s2", "s3"), ("007", "7", "0"), ("١", "²", "d:1")])
def test_segments_keep_their_ids_where_a_document_is_half_done(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    (first, *_) = our_own().submissions
    (record,) = first.records
    assert isinstance(record, Annotation)

    def one(task: int, system: str, item: int) -> Submission:
        said = replace(record, system=system, segment=names[item])
        shown = {"segment": names[item], "source": f"s{item}", "texts": {system: f"{system}{item}"}}
        return replace(first, task=task, item=item, records=(said,), **shown)  # type: ignore[arg-type]

    ours = replace(
        our_own(), submissions=(one(1, "A", 1), one(1, "A", 2), *(one(2, "B", n) for n in range(3)))
    )
    found, _ = there_and_back(ours, tmp_path)
    assert campaign_test_set(found).segments == campaign_test_set(ours).segments
    assert {s.segment for s in found.submissions} == {*names}


def test_what_appraise_has_no_words_for_is_counted(tmp_path: Path) -> None:
    ours = our_own()
    record = ours.submissions[0].records[0]
    assert isinstance(record, Annotation)
    odd = (
        ErrorSpan(severity="minor", start=0, end=3, text="The", side="source"),
        ErrorSpan(severity="neutral", start=0, end=3, text="Das"),
        ErrorSpan(severity="minor", start=2, end=2),
        ErrorSpan(severity="minor", start=0, end=1, text=" "),
        ErrorSpan(severity="minor", start=0, end=4, text=" Das"),
    )
    texts = {"A": " Das  Sofa "}
    first = replace(ours.submissions[0], records=(replace(record, spans=odd),), texts=texts, edited="Neu")
    assert write_appraise_submissions(tmp_path / "s.csv", replace(ours, submissions=(first,))) == {
        "errors marked in the source": 1,
        "errors without weight (neutral)": 1,
        "marks of nothing": 1,
        "marks of white space at an edge of a text": 1,
        "edges of marks in white space around a text": 1,
        "references that people wrote": 1,
    }


def test_a_batch_has_about_a_hundred_items_and_whole_documents(tmp_path: Path) -> None:
    (first, *_) = our_own().submissions
    many = tuple(
        replace(first, task=task, item=item, document=f"d{task}", segment=f"{task}-{item}")
        for task in range(1, 8)
        for item in range(30)
    )
    batches = appraise_batches_of(replace(our_own(), submissions=many))
    assert [len(batch.items) for batch in batches] == [90, 90, 30]
    assert [batch.number for batch in batches] == [1, 2, 3]


@given(st.text(alphabet="aé😀\u0301\u2028𐍈", max_size=8), st.data())
def test_units_are_counted_as_browsers_count_them_and_lead_back(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    units = [code_units(text, start), code_units(text, end)]
    assert units == [len(text[:at].encode("utf-16-le")) // 2 for at in (start, end)]
    assert code_points(text, *units) == (start, end)


@pytest.mark.parametrize("around", ["", " ", "\ufeff\u3000"])
@given(
    st.lists(st.sampled_from(["a", "é", "😀", "\u0301", "\u2028", "ش", "<br>", "<BR/>"]), min_size=1),
    st.data(),
)
def test_places_in_what_is_shown_come_back(around: str, parts: list[str], data: st.DataObject) -> None:
    parts = ["x", *parts, "y"]
    start = data.draw(st.integers(0, len(parts) - 1))
    end = data.draw(st.integers(start + 1, len(parts)))
    text = around + "".join(parts) + around
    wanted = len(around + "".join(parts[:start])), len(around + "".join(parts[:end]))
    units = units_of(text, *wanted)
    assert units is not None
    assert place_of(text, *units) == (*wanted, "")
