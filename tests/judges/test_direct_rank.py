"""Direct rank: one question for the whole, and every way to have no verdict."""

import json

import pytest

from adjudge.core.ask import Reply
from adjudge.core.record import Preference
from adjudge.errors import AnswerError
from adjudge.judges.fire import DirectRank
from tests.judges.asking import Script, pair


def says(verdict: str) -> str:
    return json.dumps({"analysis": "A is closer.", "result": verdict})


@pytest.mark.parametrize(("judge", "calls"), [(DirectRank(), 2), (DirectRank(profile="paper"), 1)])
async def test_one_question_an_order(judge: DirectRank, calls: int) -> None:
    ask = Script(*[says("E")] * calls)
    await judge.compare(pair(), ask)
    assert (judge.calls, len(ask.asked)) == ((calls, calls, calls), calls)


async def test_a_verdict_that_both_orders_share_stands() -> None:
    (found,) = await DirectRank().compare(pair(), Script(says("B"), says("A")))
    assert isinstance(found, Preference)
    assert (found.criterion, found.verdict, found.orders, found.flags) == ("overall", "B", ("B", "B"), ())
    assert found.rationale == "A is closer."


async def test_one_order_without_an_answer_is_no_verdict() -> None:
    (found,) = await DirectRank().compare(pair(), Script(says("A"), ""))
    assert isinstance(found, AnswerError)
    assert found.reason == "empty"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "empty"),
        ("A", "schema"),
        ("The first translation is better.", "parse"),
        ("I'm sorry, but I can't help with that.", "parse"),
        (says("C"), "label"),
        (says("A or B"), "label"),
        ('{"analysis": "A", "result": null}', "label"),
        ('{"analysis": "A", "result": ["A"]}', "label"),
        ('{"result": "E"}', "schema"),
        ('{"analysis": "", "result": "E"}', "schema"),
        ('{"analysis": "-", "result": "E"}', "schema"),
        ('{"analysis": 3, "result": "A"}', "schema"),
        ('{"analysis": {"x": 1}, "result": "A"}', "schema"),
        ('{"analysis": "A is closer.", "result": "A", "winner": "B"}', "schema"),
        ('{"analysis": "A is closer.", "result": "A", "score": 1}', "schema"),
        ('{"analysis": "A is closer.", "result": "A", "note": "x"}', "words"),
    ],
)
async def test_what_is_no_verdict_is_a_failure(reply: str, reason: str) -> None:
    (found,) = await DirectRank(profile="paper").compare(pair(), Script(reply))
    assert isinstance(found, AnswerError)
    if reply != "A":
        assert found.reason == reason


@pytest.mark.parametrize(
    ("reply", "rationale"),
    [
        (says("a"), "A is closer."),
        (says("Translation A."), "A is closer."),
        ('{"analysis": "", "result": "A"}', None),
        ('{"analysis": {"x": "y"}, "result": "A"}', "x: y"),
        ('{"result": "A"}', None),
        ('{"analysis": "A is closer.", "result": "A", "confidence": 1}', "A is closer."),
    ],
)
async def test_a_verdict_that_is_meant_beyond_doubt_is_read_and_flagged(
    reply: str, rationale: str | None
) -> None:
    (found,) = await DirectRank(profile="paper").compare(pair(), Script(reply))
    assert isinstance(found, Preference)
    assert (found.verdict, found.flags, found.rationale) == ("A", ("normalised",), rationale)


async def test_a_cut_answer_is_truncated() -> None:
    cut = Reply(text=says("A"), finish="length")
    (found,) = await DirectRank(profile="paper").compare(pair(), Script(cut))
    assert isinstance(found, AnswerError)
    assert found.reason == "truncated"
