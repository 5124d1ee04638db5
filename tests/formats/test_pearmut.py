"""Pearmut's campaigns and annotations: texts, inclusive ends, what was taken back, and the way back."""

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.record import Annotation, ErrorSpan
from adjudge.errors import DataError, UsageError
from adjudge.formats.campaign_export import (
    CampaignFile,
    final_records,
    read_campaign_file,
    write_campaign_file,
)
from adjudge.formats.pearmut import (
    RESET,
    pearmut_test_set,
    read_pearmut,
    read_pearmut_submissions,
    read_spans,
    render_spans,
    write_pearmut_submissions,
)
from adjudge.store.files import Fields
from tests.formats.campaigns import submission

NAME = "wmt25_#_en-cs_CZ"
ITEM = {"src": "A sofa 😀", "tgt": {"A": "Sofa 😀 je", "B": "Gauč"}, "item_id": "en-cs_CZ_#_news_#_7", "x": 1}
PLAIN = {"src": "Blue.", "tgt": {"A": "Modrá."}}
CHECK = {**PLAIN, "item_id": "c", "validation": {"A": {"score": [0, 30]}}}
SPAN = {"start_i": 5, "end_i": 6, "severity": "minor", "category": None}


def campaign_file(folder: Path, data: object, **more: Any) -> Path:
    path = folder / "campaign.json"
    info = {"assignment": "single-stream", "protocol": "ESA"}
    path.write_text(json.dumps({"info": info, "campaign_id": NAME, "data": data, **more}))
    return path


@pytest.mark.parametrize(
    "data",
    [[[ITEM], [PLAIN, CHECK]], [[[ITEM]], [[PLAIN, CHECK]]], {"anna": [[ITEM]], "ben": [[PLAIN], [CHECK]]}],
)
def test_a_campaign_is_a_test_set_without_its_checks(data: object, tmp_path: Path) -> None:
    form = [[{"text": "Your age?", "form": "number"}]]
    found = read_pearmut(campaign_file(tmp_path, data if isinstance(data, dict) else [*data, *form]))  # type: ignore[misc]
    first, second = pearmut_test_set(found).segments
    assert (first.segment, first.lp, first.document, dict(first.translations)) == (
        *("en-cs_CZ_#_news_#_7", "en-cs_CZ"),
        *("en-cs_CZ_#_news", ITEM["tgt"]),
    )
    assert (second.source, second.document) == ("Blue.", "2")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("x", "'data' must hold lists of documents"),
        ([[{"src": "a"}]], "'tgt' must say a text of one model at least"),
        ([[{"src": "a", "tgt": {"A": 5}}]], "'tgt' must hold texts, got 5"),
        ([["x"]], "an item must be a JSON object"),
        ([[ITEM], [{**ITEM, "tgt": {"A": "Jinak"}}]], "stands in the campaign with two different texts"),
    ],
)
def test_what_is_no_campaign_is_refused(data: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        pearmut_test_set(read_pearmut(campaign_file(tmp_path, data)))


def test_the_language_pair_is_in_the_name_or_given(tmp_path: Path) -> None:
    path = campaign_file(tmp_path, [[PLAIN]])
    text = path.read_text().replace(NAME, "autumn")
    path.write_text(text)
    with pytest.raises(UsageError, match="'autumn' does not say its language pair: add --lp"):
        pearmut_test_set(read_pearmut(path))
    assert pearmut_test_set(read_pearmut(path), "eng-ces").lps == ("en-cs",)


# What people said...


def answer(score: float | None = 70, *spans: object) -> dict[str, Any]:
    return {"score": score, "error_spans": [*spans], "textfield": None}


def line(item: Any = ITEM, said: Any = None, user: str = "anna", **more: Any) -> dict[str, Any]:
    actions = [{"time": 10.0, "action": "load"}, {"time": 100.0, "action": "score", "index": 0}]
    said = {model: answer() for model in item["tgt"]} if said is None else said
    usual = {"annotation": [said], "actions": actions, "item": [item], "user_id": user, "item_i": 3}
    return {**usual, **more}


def read(folder: Path, *lines: Any, **more: Any) -> CampaignFile:
    path = folder / f"{NAME}.jsonl"
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in lines))
    return read_pearmut_submissions(path, **more)


def write_back(campaign: CampaignFile, folder: Path, name: str = "back.jsonl") -> str:
    """Through our own lines, so that nothing else is carried along."""
    write_campaign_file(folder / "c.jsonl", campaign)
    assert not write_pearmut_submissions(folder / name, read_campaign_file(folder / "c.jsonl"))
    return (folder / name).read_text()


def test_a_line_says_who_marked_what_when(tmp_path: Path) -> None:
    missing = {**SPAN, "start_i": 10, "end_i": 10, "severity": "Major"}
    said = {"A": answer(55, SPAN, missing), "B": answer(90)}
    campaign = read(tmp_path, line(said=said))
    assert (campaign.name, campaign.protocol) == (NAME, "contrastive-esa")
    (only,) = campaign.submissions
    assert (only.person, only.kind, only.lp, only.segment, only.document) == (
        *("anna", "original", "en-cs_CZ"),
        *("en-cs_CZ_#_news_#_7", "en-cs_CZ_#_news"),
    )
    assert (only.started, only.ended, only.active, only.idle) == (100, 100, 61, 29)
    first, second = only.records
    assert isinstance(first, Annotation)
    assert (first.system, first.protocol, first.rating) == ("A", "esa", 55)
    assert first.spans == (
        ErrorSpan(severity="minor", start=5, end=6, text="😀"),
        ErrorSpan(severity="major", category="accuracy/omission", match="unplaced"),
    )
    assert isinstance(second, Annotation)
    assert second.rating == 90


def test_categories_make_it_mqm_without_ratings(tmp_path: Path) -> None:
    span = {**SPAN, "category": "Accuracy/Mistranslation"}
    campaign = read(tmp_path, line(PLAIN, {"A": answer(40, {**span, "start_i": 0, "end_i": 5})}))
    (record,) = campaign.submissions[0].records
    assert isinstance(record, Annotation)
    assert (campaign.protocol, record.protocol, record.rating) == ("mqm", "mqm", None)
    assert record.spans[0].category == "accuracy/mistranslation"
    assert read(tmp_path, line(PLAIN), protocol="DA").submissions[0].records[0].protocol == "da-sqm"


def test_tutorials_checks_and_what_was_skipped_are_told_apart(tmp_path: Path) -> None:
    shown = {
        "welcome_0": "tutorial",
        "welcome_1": "tutorial",
        "goodbye_0": "tutorial",
        "random_12": "check",
        "1": "original",
    }
    campaign = read(
        tmp_path,
        line(CHECK),
        line(PLAIN, {"A": answer(None)}, user="ben"),
        line({**PLAIN, "error_spans": {"A": [{**SPAN, "start_i": 0, "end_i": 0}]}}, user="eve"),
        *(line(PLAIN, item_i=number) for number in shown),
    )
    kinds = [(s.kind, len(s.records), "A" in s.given) for s in campaign.submissions]
    assert kinds == [
        ("check", 1, False),
        ("original", 0, False),
        ("original", 1, True),
        *((kind, 1, False) for kind in shown.values()),
    ]


def test_an_answer_that_was_skipped_is_no_clean_translation(tmp_path: Path) -> None:
    skipped = [{"time": 1.0, "action": "load"}, {"time": 2.0, "action": "submit_skip"}]
    mistake = {**SPAN, "start_i": 0, "end_i": 5, "category": "Accuracy/Mistranslation"}
    campaign = read(
        tmp_path,
        line(PLAIN, {"A": answer(40, mistake)}),
        line(PLAIN, {"A": answer(None)}, user="ben", actions=skipped),
        line(PLAIN, {"A": answer(None)}, user="eve"),
        line(PLAIN, {"A": answer(90)}, user="zoe", actions=skipped),
    )
    assert campaign.protocol == "mqm"
    numbers = {"anna": 1, "ben": 0, "eve": 1, "zoe": 1}
    assert {s.person: len(s.records) for s in campaign.submissions} == numbers
    records, met = final_records(campaign.submissions)
    assert len(records) == 3
    assert met == {"submissions without a judgement": 1}


def test_models_that_are_shown_again_beside_others_count_once(tmp_path: Path) -> None:
    def shown(*models: str) -> dict[str, Any]:
        return {**ITEM, "tgt": {model: text for model, text in ITEM["tgt"].items() if model in models}}  # type: ignore[attr-defined]

    lines = [line(shown("A")), line(shown("B")), line(ITEM), line(shown("B"), user="ben")]
    campaign = read(tmp_path, *lines)
    assert [s.is_last for s in campaign.submissions] == [False, False, True, True]


def test_of_an_item_that_stands_twice_in_a_document_the_later_place_counts(tmp_path: Path) -> None:
    said = {"A": answer()}
    campaign = read(tmp_path, line(item=PLAIN, annotation=[said, said]) | {"item": [PLAIN, PLAIN]})
    assert {s.item: s.is_last for s in campaign.submissions} == {0: False, 1: True}


def test_a_document_submitted_again_replaces_the_one_before(tmp_path: Path) -> None:
    lines = [line(PLAIN, {"A": answer(score)}) for score in (10, 20)]
    campaign = read(tmp_path, *lines, line(PLAIN, user="ben"))
    assert [(s.person, s.is_last, s.place) for s in campaign.submissions] == [
        ("anna", False, 0),
        ("anna", True, 1),
        ("ben", True, 0),
    ]


@pytest.mark.parametrize(
    ("reset", "counting"),
    [
        ({"annotation": RESET, "user_id": "anna"}, ["ben", "anna"]),
        ({"annotation": RESET}, ["anna"]),
        ({"annotation": RESET, "user_id": "eve"}, ["anna", "ben", "anna"]),
    ],
)
def test_a_reset_takes_back_what_its_user_said_before(
    reset: dict[str, Any], counting: list[str], tmp_path: Path
) -> None:
    lines = [line(PLAIN), line(PLAIN, user="ben"), reset, line(ITEM)]
    campaign = read(tmp_path, *lines)
    assert [s.person for s in campaign.submissions if s.is_last] == counting
    assert len(campaign.submissions) == 3
    assert [json.loads(text) for text in write_back(campaign, tmp_path).splitlines()] == lines


def test_what_came_from_pearmut_goes_back_as_it_was(tmp_path: Path) -> None:
    asked = {"text": "Age?", "form": "number"}
    form = {"annotation": ["42"], "item": [asked], "user_id": "anna", "item_i": 0}
    said = {"A": answer(50, {**SPAN, "note": "?"}), "B": answer()}
    two = line(said=said, comment="\u2028 odd", validations=[True])
    lines = [form, two, line(PLAIN, None, user="ben", annotation=[None]), line(CHECK, actions=[])]
    campaign = read(tmp_path, *lines)
    back = write_back(campaign, tmp_path)
    assert [json.loads(text) for text in back.removesuffix("\n").split("\n")] == lines


def test_several_campaigns_in_one_json_go_back_as_they_were(tmp_path: Path) -> None:
    values = {NAME: [line(), {"annotation": RESET}, line(PLAIN)], "wmt25_#_en-de": [line(PLAIN)]}
    path = tmp_path / "annotations.json"
    path.write_text(json.dumps(values))
    campaign = read_pearmut_submissions(path)
    assert [(s.lp, s.is_last) for s in campaign.submissions] == [
        ("en-cs_CZ", False),
        ("en-cs_CZ", True),
        ("en-de", True),
    ]
    assert json.loads(write_back(campaign, tmp_path, "b.json")) == values


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (5, "wanted a JSON object with an annotation"),
        (line(annotation=[]), "'item' and 'annotation' must be two lists of one length"),
        (line(said={"C": answer()}), "about 'C', which the item does not show"),
        (line(said={"A": answer(999)}), "a rating of esa lies in 0 to 100, got 999"),
        (
            line(said={"A": answer(5, {**SPAN, "severity": "awful"})}),
            "severity must be one of .* got 'awful'",
        ),
        (line(said={"A": answer(5, {**SPAN, "end_i": 1})}), "'end_i' not before it, got 5 and 1"),
        (line(said={"A": answer(5, 7)}), "a span must be a JSON object, got 7"),
        (line(item={"src": "x", "tgt": {}}, said={}), "'tgt' must say a text"),
        (line(actions=[{"time": "x"}]), "'time' must be a number, got 'x'"),
        (line(PLAIN, {"A": {"score": 5, "error_spans": 7}}), "'error_spans' must be a list, got 7"),
        (line({**PLAIN, "error_spans": {"A": 7}}), "'error_spans' must be a list, got 7"),
        (line(PLAIN, actions=7), "'actions' must be a list, got 7"),
    ],
)
def test_a_line_that_is_none_is_refused_with_its_number(value: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message) as refused:
        read(tmp_path, line(), value)
    assert "line 2" in str(refused.value)


def test_a_campaign_of_ours_is_read_again_from_its_lines(tmp_path: Path) -> None:
    face = ErrorSpan(severity="minor", start=5, end=6, text="😀")
    one = submission("ann", 1, "A", "Sofa 😀", face, active=5.0)
    again = replace(one, segment="4", item=1, place=1, started=15.0, ended=20.0)
    again = replace(again, records=tuple(replace(record, segment="4") for record in one.records))
    ours = CampaignFile(name="autumn", protocol="esa", submissions=(one, again))
    assert not write_pearmut_submissions(tmp_path / "autumn.jsonl", ours)
    found = read_pearmut_submissions(tmp_path / "autumn.jsonl", "en-de")
    plain = tuple(replace(s, more={}) for s in found.submissions)
    assert (found.name, found.protocol) == ("autumn", "esa")
    assert [replace(s, started=0.0) for s in plain] == [replace(s, started=0.0) for s in ours.submissions]


# WMT26: one campaign for each language pair, ids with their own marks, two words behind every text.


WMT26 = "eng_Latn---deu_Latn v3"


def _wmt26(folder: Path, spans: list[dict[str, object]]) -> Path:
    path = folder / "annotations.json"
    item = {"src": "Hi", "tgt": {"A": "Hallo"}, "item_id": "social_###_12_###_0"}
    tutorial = {"src": "x", "tgt": {"A": "y"}, "item_id": "csen_#_tutorial_#_1", "validation": {"A": {}}}
    check = {"src": "x", "tgt": {"1st": "y"}, "item_id": "attention_check_3"}
    lines = [
        {"annotation": [{"A": {"score": 1, "error_spans": []}}], "item": [item], "user_id": "ann"},
        {"annotation": RESET, "item": "", "user_id": "ann"},
        {"annotation": [{"A": {"score": 9, "error_spans": []}}], "item": [tutorial], "user_id": "ann"},
        {"annotation": [{"1st": {"score": 9, "error_spans": []}}], "item": [check], "user_id": "ann"},
        {"annotation": [{"A": {"score": 80, "error_spans": spans}}], "item": [item], "user_id": "ann"},
    ]
    other = [{"annotation": [{"A": {"score": 50, "error_spans": []}}], "item": [item], "user_id": "ben"}]
    path.write_text(json.dumps({WMT26: lines, "ces_Latn---ukr_Cyrl v3": other}))
    return path


def test_campaigns_of_wmt26_are_read_and_what_is_no_judgement_is_counted(tmp_path: Path) -> None:
    marks = [{"start_i": n, "end_i": m, "severity": "minor"} for n, m in ((0, 1), (5, 5), (6, 6), (5, 6))]
    path = _wmt26(tmp_path, marks)
    file = read_pearmut_submissions(path)
    records, met = final_records(file.submissions)
    first, second = (r for r in records if isinstance(r, Annotation))
    assert (first.lp, first.document, first.rating, second.lp) == (
        *("en_Latn-de_Latn", "social_###_12"),
        *(80, "cs_Latn-uk_Cyrl"),
    )
    assert [(s.start, s.category) for s in first.spans] == [
        (0, None),
        (None, "accuracy/omission"),
        (None, "instruction fault"),
        (None, "accuracy/omission"),
        (None, "instruction fault"),
    ]
    assert met == {
        "submissions of kind tutorial": 1,
        "submissions of kind check": 1,
        "submissions submitted again": 1,
    }
    write_pearmut_submissions(tmp_path / "back.json", file)
    assert json.loads((tmp_path / "back.json").read_text()) == json.loads(path.read_text())


@pytest.mark.parametrize("text", ["Modrá", "Sofa 😀 je", "😀", "je 😀😀", "😀e\u0301"])
def test_every_mark_comes_back_where_it_was_wherever_characters_take_two_units(text: str) -> None:
    places = combinations(range(len(text) + 1), 2)
    marks = [ErrorSpan(severity="minor", start=a, end=b, text=text[a:b]) for a, b in places]
    lost = ErrorSpan(severity="major", category="accuracy/omission", match="unplaced")
    rendered = render_spans([*marks, lost], text, has_categories=False)
    assert read_spans(rendered, text, Fields({}, "item")) == (*marks, lost)
    assert rendered[-1]["start_i"] == len(text.encode("utf-16-le")) // 2  # right behind the text


def test_a_mark_behind_all_words_is_refused(tmp_path: Path) -> None:
    path = _wmt26(tmp_path, [{"start_i": 7, "end_i": 7, "severity": "minor"}])
    with pytest.raises(DataError, match="the mark ends 3 places behind the text, where there are 2 words"):
        read_pearmut_submissions(path)


def test_the_instruction_of_a_document_is_one_of_each_of_its_segments(tmp_path: Path) -> None:
    told = {**ITEM, "instructions": "<div class='box'>Keep &amp; copy\n <b>tags</b></div>"}
    found = pearmut_test_set(read_pearmut(campaign_file(tmp_path, [[told, PLAIN]])))
    assert [s.meta["instruction"] for s in found] == ["Keep & copy tags"] * 2
