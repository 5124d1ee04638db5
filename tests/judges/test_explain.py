"""Errors explained in a language that the reader knows."""

import json
from pathlib import Path

import pytest

from adjudge.core.ask import Reply
from adjudge.core.judge import Profile
from adjudge.errors import (
    AnswerError,
    UsageError,
)
from adjudge.judges import JUDGES as ALL
from adjudge.judges import has_setting
from adjudge.judges._prompts import Prompts, load_prompts
from adjudge.llm.embedded_rules import RulesModel
from adjudge.runs.conversation import rehearse
from adjudge.runs.units import load_annotator, signature_of
from tests.judges.asking import Script, load_judge, subject

JUDGES = ("gemba-mqm", "gemba-esa", "gemba-v2", "ea-prompt", "single-agent")
WITH_EXAMPLES = ("gemba_mqm", "gemba_esa", "ea_prompt")

ERROR = {
    "span": "die die",
    "note": "Le mot est écrit deux fois.",
    "category": "fluency/grammar",
    "severity": "minor",
    "side": "translation",
}
REPLY = json.dumps({"errors": [ERROR]})
COUNTS, RATING = '{"major": 0, "minor": 1}', '{"rating": 90}'


def replies(name: str, first: str) -> Script:
    second = {"ea-prompt": [COUNTS], "gemba-esa": [RATING], "gemba-v2": [first] * 9}
    return Script(first, *second.get(name, []))


@pytest.mark.parametrize("name", JUDGES)
async def test_every_error_comes_with_its_note(name: str) -> None:
    ask = replies(name, REPLY)
    judge = load_judge(name, settings={"explain-in": "fr"})
    annotation = await judge.annotate(subject(), ask)
    assert [span.note for span in annotation.spans] == ["Le mot est écrit deux fois."]
    asked = ask.asked[0]
    assert "- note: in French, in one or two sentences" in asked.words
    assert '"note"' in json.dumps(asked.schema)
    assert judge.prompts_digest != load_judge(name).prompts_digest


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize(
    "error",
    [
        {key: value for key, value in ERROR.items() if key != "note"},
        {**ERROR, "note": None},
        {**ERROR, "note": " "},
    ],
)
async def test_an_error_without_its_note_is_refused(name: str, error: dict[str, object]) -> None:
    judge = load_judge(name, settings={"explain-in": "fr"})
    with pytest.raises(AnswerError, match="schema"):
        await judge.annotate(subject(), replies(name, json.dumps({"errors": [error]})))


@pytest.mark.parametrize("name", JUDGES)
@pytest.mark.parametrize(
    ("settings", "error", "note"),
    [({}, ERROR, ""), ({"explain-in": "fr"}, {**ERROR, "why": "twice"}, ERROR["note"])],
)
async def test_what_nobody_asked_for_is_dropped_and_flagged(
    name: str, settings: dict[str, str], error: dict[str, str], note: str
) -> None:
    ask = replies(name, json.dumps({"errors": [error]}))
    annotation = await load_judge(name, settings=settings).annotate(subject(), ask)
    assert [(span.text, span.note) for span in annotation.spans] == [("die die", note)]
    assert "normalised" in annotation.flags


@pytest.mark.parametrize("name", JUDGES)
async def test_a_note_that_nobody_asked_for_and_that_declines_is_refused(name: str) -> None:
    declines = json.dumps({"errors": [{**ERROR, "note": "I'm sorry, but I can't help with that."}]})
    with pytest.raises(AnswerError, match="refused"):
        await load_judge(name).annotate(subject(), replies(name, declines))


async def test_the_second_step_is_shown_the_notes() -> None:
    ask = replies("gemba-esa", REPLY)
    await load_judge("gemba-esa", settings={"explain-in": "fr"}).annotate(subject(), ask)
    assert "Le mot est écrit deux fois." in ask.asked[1].quoted[-1].text


async def test_one_step_has_notes_too() -> None:
    reply = json.dumps({"errors": [ERROR], "counts": json.loads(COUNTS), "score": -1})
    judge = load_judge("ea-prompt", settings={"explain-in": "fr", "steps": "1"})
    annotation = await judge.annotate(subject(), Script(reply))
    assert [span.note for span in annotation.spans] == ["Le mot est écrit deux fois."]


@pytest.mark.parametrize("name", [name for name in JUDGES if name != "gemba-v2"])
@pytest.mark.parametrize("profile", ["paper", "code"])
def test_headings_have_no_place_for_notes(name: str, profile: Profile) -> None:
    with pytest.raises(UsageError, match="explain_in is for the recommended profile"):
        load_judge(name, profile=profile, settings={"explain-in": "fr"})


@pytest.mark.parametrize("name", ["gemba-da", "gemba-sqm"])
def test_a_judge_that_only_rates_has_nothing_to_explain(name: str) -> None:
    with pytest.raises(UsageError, match="has no setting 'explain-in'"):
        load_judge(name, settings={"explain-in": "fr"})


def test_the_documentation_names_every_judge_that_explains() -> None:
    page = (Path(__file__).parents[2] / "docs" / "samples.md").read_text(encoding="utf-8")
    section = page.partition("## Explanations in a language")[2]
    named = {name for name in ALL if f"`{name}`" in section}
    assert named == {name for name in ALL if has_setting(name, "explain_in")}


@pytest.mark.parametrize("name", [name for name in ALL if has_setting(name, "explain_in")])
def test_the_signature_names_the_language(name: str) -> None:
    def signature(settings: dict[str, str]) -> dict[str, str]:
        judge = load_annotator(name, settings=settings)
        return dict(signature_of(judge, reference="src", lps=("en-de",), extra={}).fields)

    assert "explain_in" not in signature({})
    assert signature({"explain-in": "fr"})["explain_in"] == "fr"


def test_a_language_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="42"):
        load_judge("gemba-mqm", settings={"explain-in": "42"})


@pytest.mark.parametrize("folder", WITH_EXAMPLES)
def test_every_error_of_an_example_has_a_note_of_its_own(folder: str) -> None:
    files = load_prompts(folder, ("examples.jsonl", "notes.jsonl"), None)
    notes = [error["note"] for example in files.examples() for error in example.errors]
    assert len(set(notes)) == len(notes) > 6
    assert all(note.endswith(".") for note in notes)


@pytest.mark.parametrize(
    ("notes", "message"),
    [
        ('["a"]\n["b"]', "notes.jsonl has 2 lines, examples.jsonl 1 examples"),
        ('["a"]', "a list with the 0 notes"),
        ("{", "a list with the 0 notes"),
        ("3", "a list with the 0 notes"),
        ("{}\n{}", "notes.jsonl has 2 lines"),
    ],
)
def test_notes_that_do_not_fit_the_examples_are_an_error(notes: str, message: str) -> None:
    example = '{"lp": "en-de", "source": "a", "reference": "b", "translation": "c", "errors": []}'
    with pytest.raises(UsageError, match=message):
        Prompts(texts={"examples.jsonl": example, "notes.jsonl": notes}).examples()


@pytest.mark.parametrize("name", JUDGES)
async def test_the_embedded_rules_can_be_asked_for_notes(name: str) -> None:
    judge = load_judge(name, settings={"explain-in": "fr"})
    exchanges = await rehearse(judge, subject("Sie kaufte 7 Äpfel.", "She bought 9 apples."), RulesModel())
    assert not any(exchange.use.reason for exchange in exchanges)
    reply = exchanges[0].reply
    assert isinstance(reply, Reply)
    assert '"note": "found by rule' in reply.text
