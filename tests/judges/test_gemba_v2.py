import math
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Reply
from adjudge.core.judge import PROFILES
from adjudge.core.record import Annotation
from adjudge.errors import AnswerError, DataError, UsageError
from adjudge.judges import load_judge
from adjudge.judges._answers import GEMBA_CATEGORIES
from adjudge.judges.gemba_v2 import GembaV2, reciprocal_rank_mean
from tests.judges.asking import Script, subject
from tests.judges.test_m_mad import marks

CLEAN = marks()
MAJOR = marks(("die die", "fluency/grammar", "major"))
CRITICAL = marks(("neuen Sofa", "accuracy/mistranslation", "critical"))
COMMA = marks((",", "fluency/punctuation", "minor"))


async def judged(*replies: str | Reply, **settings: Any) -> Annotation:
    return await GembaV2(**settings).annotate(subject(), Script(*replies))


@pytest.mark.differs("gemba_v2", 1, 6)
async def test_ten_samples_make_one_score_in_which_the_best_weigh_most() -> None:
    annotation = await judged(*[CLEAN] * 5, *[MAJOR] * 5)
    harmonic = [1 / rank for rank in range(1, 11)]
    assert annotation.rating == pytest.approx(-5 * sum(harmonic[5:]) / sum(harmonic))
    assert list(annotation.samples) == [0, 0, 0, 0, 0, -5, -5, -5, -5, -5]
    assert (annotation.protocol, annotation.annotator, annotation.flags) == (
        "metric",
        "gemba-v2",
        ("outvoted_errors",),
    )


@pytest.mark.differs("gemba_v2", 1, 6)
async def test_an_outlier_is_dropped_flagged_and_kept_among_the_samples() -> None:
    annotation = await judged(*[MAJOR] * 9, CRITICAL)
    assert annotation.rating == -5
    assert annotation.flags == ("outlier_dropped", "outvoted_errors")
    assert annotation.samples == (*[-5.0] * 9, -25.0)


@pytest.mark.parametrize(
    ("reply", "score"),
    [
        (CLEAN, 0.0),
        (MAJOR, -5.0),
        (CRITICAL, -25.0),
        (COMMA, -0.1),
        (marks(("neuen", "fluency/spelling", "minor"), ("Sofa", "other", "minor")), -2.0),
        (marks(("", "non-translation", "major")), -25.0),
    ],
)
@pytest.mark.differs("gemba_v2", 1, 2)
async def test_errors_cost_what_the_paper_says(reply: str, score: float) -> None:
    annotation = await judged(*[reply] * 10)
    assert annotation.rating == score
    assert str(annotation.rating) == str(score)


@pytest.mark.differs("gemba_v2", 6)
async def test_the_spans_are_those_that_more_than_half_mark() -> None:
    annotation = await judged(*[MAJOR] * 6, *[CRITICAL] * 4)
    assert [span.text for span in annotation.spans] == ["die die"]
    assert (await judged(*[MAJOR] * 5, *[CRITICAL] * 5)).spans == ()


@pytest.mark.differs("gemba_v2", 5)
async def test_a_sample_that_cannot_be_read_is_left_out_and_never_a_number() -> None:
    annotation = await judged(*["Looks good to me."] * 4, *[MAJOR] * 6)
    assert (annotation.rating, annotation.samples) == (-5, (-5.0,) * 6)
    assert annotation.flags == ("samples_missing",)


@pytest.mark.parametrize(
    ("bad", "reason", "detail"),
    [
        (["Looks good to me."] * 5, "parse", r"5 of 10 samples could be read.*\(parse 5\)"),
        (["I'm sorry, but I can't help with that."] * 5, "parse", r"\(parse 5\)"),
        (["{}", "nothing", "nothing", "nothing", "{}"], "count", r"\(parse 3, schema 2\)"),
    ],
)
@pytest.mark.differs("gemba_v2", 5)
async def test_half_of_the_samples_are_not_enough(bad: list[str], reason: str, detail: str) -> None:
    with pytest.raises(AnswerError, match=detail) as error:
        await judged(*bad, *[MAJOR] * 5)
    assert error.value.reason == reason


@pytest.mark.differs("gemba_v2", 1, 2, 3, 5)
async def test_every_sample_is_the_same_question_drawn_at_random() -> None:
    ask = Script(*[CLEAN] * 10)
    await GembaV2().annotate(subject(), ask)
    assert len({asked.messages for asked in ask.asked}) == 1
    assert {asked.sampling.temperature for asked in ask.asked} == {0.7}
    asked = ask.asked[0]
    assert [message.role for message in asked.messages] == ["system", "user"]
    assert (asked.about.stage, asked.about.wants, asked.attempts) == ("errors", "errors", 2)
    schema: Any = asked.schema
    assert list(schema["properties"]) == ["errors"]
    error = schema["properties"]["errors"]["items"]["properties"]
    assert list(error) == ["span", "category", "severity", "side"]
    assert tuple(error["category"]["enum"]) == GEMBA_CATEGORIES
    assert error["severity"]["enum"] == ["critical", "major", "minor"]
    for profile in PROFILES:
        other = Script(*[CLEAN] * 10)
        await GembaV2(profile=profile).annotate(subject(), other)
        assert other.asked == ask.asked


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"temperature": "0"}, "need a temperature above 0"),
        ({"temperature": "nan"}, "must be a number, got 'nan'"),
        ({"temperature": "-1"}, "need a temperature above 0"),
        ({"samples": "0"}, "samples must be 1 or more"),
    ],
)
def test_what_would_be_the_same_sample_ten_times_is_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_judge("gemba-v2", settings=settings)


@pytest.mark.differs("gemba_v2", 2)
def test_it_is_loaded_by_name_and_counts_its_calls() -> None:
    assert load_judge("gemba-v2").calls == (10, 10, 10)
    assert not load_judge("gemba-v2").with_reference
    judge = load_judge("gemba-v2", settings={"samples": "3", "temperature": "1"})
    assert judge == GembaV2(samples=3, temperature=1.0)
    assert judge.calls == (3, 3, 3)


SCORES = st.lists(st.floats(-500, 0), min_size=1, max_size=12)


@pytest.mark.parametrize(
    ("scores", "score", "used"),
    [
        ([-50, -11, -6, -6, -11, -6, -6, -55, -6, -11], -8.4961, 9),  # the appendix of the paper: -8.50
        ([0, -1, -6, -6, -6, -25], -2.2774, 5),  # two deviations of a sample would reach the last
        ([-3], -3, 1),
        ([-3, -3, -3], -3, 3),
        ([0, -6], -2, 2),  # (0 + -6/2) / (1 + 1/2)
        ([0, -3, -6], (-3 / 2 - 6 / 3) / (11 / 6), 3),
        ([-0.1] * 10, -0.1, 10),
        ([0] * 9 + [-25], 0, 9),
        ([-25] * 9 + [0], -25, 9),
        ([-1, -101], (-1 - 101 / 2) / 1.5, 2),  # two scores are never farther than one deviation
    ],
)
@pytest.mark.differs("gemba_v2", 1, 2)
def test_known_scores_come_to_known_numbers(scores: list[float], score: float, used: int) -> None:
    aggregate = reciprocal_rank_mean(scores)
    assert aggregate.score == pytest.approx(score, abs=5e-5)
    assert aggregate.used == used


@given(SCORES, st.randoms())
def test_the_order_of_samples_makes_no_difference(scores: list[float], chance: random.Random) -> None:
    shuffled = list(scores)
    chance.shuffle(shuffled)
    assert reciprocal_rank_mean(shuffled) == reciprocal_rank_mean(scores)


@given(SCORES)
def test_the_aggregate_lies_between_the_plain_mean_of_those_used_and_the_best(scores: list[float]) -> None:
    score, used = reciprocal_rank_mean(scores)
    assert min(scores) <= score <= max(scores)
    assert 1 <= used <= len(scores)
    if used == len(scores):
        assert score >= math.fsum(scores) / len(scores) - 1e-9


def test_no_samples_have_no_aggregate() -> None:
    with pytest.raises(DataError, match="no samples"):
        reciprocal_rank_mean([])
