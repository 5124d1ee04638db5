"""Direct rank: one question for the whole, and every way to have no verdict."""

import json

import pytest

from adjudge.core.judge import PROFILES, Profile
from adjudge.core.record import Preference
from adjudge.errors import AnswerError
from adjudge.judges._pairs import TieThreshold
from adjudge.judges.fire import DirectRank
from tests.judges.asking import Script, pair
from tests.judges.test_fire import sure


def says(verdict: str) -> str:
    return json.dumps({"analysis": "A is closer.", "result": verdict})


@pytest.mark.parametrize(("judge", "calls"), [(DirectRank(), 2), (DirectRank(profile="paper"), 1)])
@pytest.mark.differs("fire", 12)
async def test_one_question_an_order(judge: DirectRank, calls: int) -> None:
    ask = Script(*[says("E")] * calls)
    await judge.compare(pair(), ask)
    assert (judge.calls, len(ask.asked)) == ((calls, calls, calls), calls)


@pytest.mark.differs("fire", 12)
async def test_a_verdict_that_both_orders_share_stands() -> None:
    (found,) = await DirectRank().compare(pair(), Script(says("B"), says("A")))
    assert isinstance(found, Preference)
    assert (found.criterion, found.verdict, found.orders, found.flags) == ("overall", "B", ("B", "B"), ())
    assert found.rationale == "A is closer."


@pytest.mark.differs("fire", 12)
async def test_one_order_without_an_answer_is_no_verdict() -> None:
    (found,) = await DirectRank().compare(pair(), Script(says("A"), ""))
    assert isinstance(found, AnswerError)
    assert found.reason == "empty"


@pytest.mark.differs("fire", 12)
@pytest.mark.parametrize("profile", PROFILES)
async def test_it_asks_as_fire_asks_and_draws_nothing_at_random(profile: Profile) -> None:
    ask = Script(says("A"), says("A"))
    judge = DirectRank(profile=profile, orders="both", inconsistent="keep", explain_in="fr")
    (found,) = await judge.compare(pair("$markers", "B"), ask)
    assert isinstance(found, Preference)
    assert found.is_undecided
    for asked in ask.asked:
        assert [message.role for message in asked.messages] == ["system", "user"]
        assert {quoted.text for quoted in asked.quoted} == {"She left the bank.", "$markers", "B"}
        assert "in French" in asked.words
        assert (asked.attempts, asked.sampling.temperature) == (3, 0)
        assert (asked.schema is None) == (profile != "recommended")
    (same,) = await judge.compare(pair("A", "A"), Script())
    assert isinstance(same, Preference)
    assert same.flags == ("identical",)


@pytest.mark.differs("fire", 12)
async def test_a_weak_preference_is_a_tie() -> None:
    judge = DirectRank(strength="logprob", tie_threshold=TieThreshold(0.7))
    (found,) = await judge.compare(pair(), Script(sure("A", 0.9), sure("B", 0.4)))
    assert isinstance(found, Preference)
    assert found.verdict == "E"
    assert found.strength == pytest.approx(0.65)
    assert "tie_by_strength" in found.flags


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
async def test_a_verdict_meant_beyond_doubt_is_read_and_flagged(reply: str, rationale: str | None) -> None:
    (found,) = await DirectRank(profile="paper").compare(pair(), Script(reply))
    assert isinstance(found, Preference)
    assert (found.verdict, found.flags, found.rationale) == ("A", ("normalised",), rationale)
