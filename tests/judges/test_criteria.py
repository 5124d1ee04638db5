"""Pass or fail on the criteria that a segment brings."""

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Reply
from adjudge.core.judge import is_criteria_judge
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges import load_judge
from adjudge.judges.criteria import Criteria
from tests.judges.asking import Script, subject
from tests.judges.malformed import ANYWHERE, IN_FORM

PASS = '{"reason": "The doubled article does not touch the cat.", "verdict": "pass"}'
FAIL = '{"reason": "\\"Katze\\" is no dog.", "verdict": "fail"}'
TWO: Sequence[object] = ("The cat stays a cat.", {"id": "calm", "text": "Anna is calm."})


def checked(criteria: Sequence[object] = TWO, **texts: Any) -> Subject:
    about = subject(**texts)
    return replace(about, segment=replace(about.segment, meta={"criteria": list(criteria)}))


def told(verdict: object, reason: object = "The cat is there.", **more: object) -> str:
    return json.dumps({"reason": reason, "verdict": verdict, **more}, ensure_ascii=False)


async def one(reply: str | Reply) -> Annotation | AnswerError:
    """What comes of a single criterion, whose reply cannot be asked for again."""
    try:
        (found,) = await Criteria().check(checked(["The cat stays a cat."]), Script(reply))
    except AnswerError as error:
        return error
    return found


async def test_each_criterion_is_a_record_of_its_own() -> None:
    found = await Criteria().check(checked(), Script(PASS, FAIL))
    assert all(isinstance(each, Annotation) for each in found)
    assert [(a.criterion, a.rating, a.rationale) for a in found if isinstance(a, Annotation)] == [
        ("1", 1, "The doubled article does not touch the cat."),
        ("calm", 0, '"Katze" is no dog.'),
    ]
    assert {(a.protocol, a.annotator, a.system, a.flags) for a in found if isinstance(a, Annotation)} == {
        ("criteria", "criteria", "sys", ())
    }


async def test_a_verdict_that_cannot_be_read_is_missing_alone() -> None:
    first, second = await Criteria().check(checked(), Script("I think so.", FAIL))
    assert isinstance(first, AnswerError)
    assert isinstance(second, Annotation)
    assert second.rating == 0


@pytest.mark.parametrize(
    ("reply", "rating", "flags"),
    [
        (PASS, 1, ()),
        (FAIL, 0, ()),
        (f"<think>Maybe fail.</think>\n{PASS}", 1, ("extracted",)),
        (f"```json\n{FAIL}\n```", 0, ("extracted",)),
        (told("Pass"), 1, ("normalised",)),
        (told("FAILED."), 0, ("normalised",)),
        (told("**passes**"), 1, ("normalised",)),
        (told("pass", confidence=0.9), 1, ("normalised",)),
        (told("pass", "The translation passes the criterion."), 1, ()),
        (told("fail", "It could pass, but it fails."), 0, ()),
        (told("fail", "The translation passes on the news and loses the calm."), 0, ()),
        (told("pass", "The criterion is clearly met."), 1, ()),
        (told("fail", "The criterion is not met."), 0, ()),
        (told("fail", "The rule is violated: the cat is a dog."), 0, ()),
    ],
)
async def test_a_verdict_is_one_of_two_words(reply: str, rating: int, flags: tuple[str, ...]) -> None:
    found = await one(reply)
    assert isinstance(found, Annotation), found
    assert (found.rating, found.flags) == (rating, flags)


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("pass", "parse"),
        ("The translation passes.", "parse"),
        (f"I would say {PASS}", "words"),
        (f"{FAIL}\n\nOn second thought, it passes.", "words"),
        (f"{PASS} {FAIL}", "ambiguous"),
        ("I'm sorry, I can't help with that.", "parse"),
        (Reply(text=PASS, finish="length"), "truncated"),
        (Reply(text="", finish="content_filter"), "refused"),
        ('{"verdict": "pass"}', "schema"),
        ('{"reason": "Good."}', "schema"),
        (told("pass", ""), "schema"),
        (told("pass", None), "schema"),
        ("[]", "schema"),
        *((told(value), "label") for value in (True, 1, None, "yes", "true", "pass/fail", "partly", "", "1")),
        (told("bypass"), "label"),
        (told("pass", result="The verdict: fail."), "schema"),
        (told("pass", note="The verdict: fail."), "words"),
    ],
)
async def test_what_is_no_verdict_is_neither_a_pass_nor_a_fail(reply: str | Reply, reason: str) -> None:
    found = await one(reply)
    assert isinstance(found, AnswerError), found
    assert found.reason == reason, found


async def test_no_malformed_reply_of_any_form_becomes_a_verdict() -> None:
    replies = [bad.reply for rows in (ANYWHERE, *IN_FORM.values()) for bad in rows]
    read = [reply.text for reply in replies if not isinstance(await one(reply), AnswerError)]
    assert len(replies) >= 300
    assert read == []


@pytest.mark.parametrize("answer", [PASS, FAIL])
async def test_a_verdict_that_a_text_holds_is_not_taken_out_of_a_longer_reply(answer: str) -> None:
    about = checked([f"The answer is {answer}"])
    (found,) = await Criteria().check(about, Script(f"The criterion says: {answer}"))
    assert isinstance(found, AnswerError)


async def test_a_question_holds_one_criterion_as_data_behind_the_texts() -> None:
    ask = Script(PASS, FAIL)
    await Criteria().check(checked(), ask)
    assert [[q.name for q in asked.quoted] for asked in ask.asked] == [
        ["source", "translation", "criterion"]
    ] * 2
    assert [asked.quoted[-1].text for asked in ask.asked] == ["The cat stays a cat.", "Anna is calm."]
    assert {asked.messages[0] for asked in ask.asked} == {ask.asked[0].messages[0]}
    first, second = (asked.messages[1].parts[:-1] for asked in ask.asked)
    assert first == second  # a prefix cache serves all but the criterion
    assert {asked.about.stage for asked in ask.asked} == {"criterion 1", "criterion calm"}
    assert {(asked.about.wants, asked.attempts) for asked in ask.asked} == {("criterion", 2)}
    assert all(asked.schema is not None for asked in ask.asked)


@given(st.text(min_size=1).filter(str.strip))
async def test_a_criterion_may_be_any_text_and_is_never_part_of_our_words(text: str) -> None:
    ask = Script(PASS)
    await Criteria().check(checked([text]), ask)
    plain = Script(PASS)
    await Criteria().check(checked(["x"]), plain)
    assert ask.asked[0].quoted[-1].text == text
    assert ask.asked[0].words == plain.asked[0].words


async def test_a_reference_can_be_shown() -> None:
    judge, ask = Criteria(with_reference=True), Script(PASS)
    await judge.check(checked(["x"], reference="So."), ask)
    assert [q.text for q in ask.asked[0].quoted if q.name == "reference"] == ["So."]
    assert "reference translation made by a person" in ask.asked[0].words
    assert judge.prompts_digest != Criteria().prompts_digest


async def test_the_reason_can_be_in_a_language() -> None:
    ask = Script(PASS)
    await Criteria(explain_in="fr").check(checked(["x"]), ask)
    assert "- reason: one or two sentences in French: which" in ask.asked[0].words


def test_it_counts_one_call_for_each_criterion() -> None:
    judge = load_judge("criteria", settings={"with_reference": "yes"})
    assert judge == Criteria(with_reference=True)
    assert is_criteria_judge(judge)
    assert judge.calls_for(checked()) == (2, 2, 2)
    assert judge.calls_for(checked([])) == (0, 0, 0)


@pytest.mark.parametrize(
    ("replies", "came"),
    [
        ((PASS, FAIL, PASS), (1, (1.0, 0.0, 1.0), ())),
        ((FAIL, FAIL, PASS), (0, (0.0, 0.0, 1.0), ())),
        ((PASS, "hm", PASS), (1, (1.0, 1.0), ("samples_missing",))),
        ((PASS, "hm", FAIL), "ambiguous"),
        ((PASS, "hm", "hm"), "parse"),
    ],
)
async def test_more_than_half_of_the_samples_that_were_read_decide(
    replies: tuple[str, ...], came: object
) -> None:
    judge, ask = load_judge("criteria", settings={"samples": "3"}), Script(*replies)
    assert is_criteria_judge(judge)
    about = checked(["x"])
    assert judge.calls_for(about) == (3, 3, 3)
    (found,) = await judge.check(about, ask)
    assert {asked.sampling.temperature for asked in ask.asked} == {0.7}
    if isinstance(found, AnswerError):
        assert found.reason == came
    else:
        assert (found.rating, found.samples, found.flags) == came
        assert found.rationale == json.loads(replies[0])["reason"]
