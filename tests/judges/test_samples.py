"""Any judge, asked several times."""

import json
from typing import Any

import pytest

from adjudge.core.ask import Reply
from adjudge.core.record import Annotation
from adjudge.errors import (
    AnswerError,
    UsageError,
)
from adjudge.judges._samples import Sampled
from adjudge.judges.gemba_da import GembaDa
from adjudge.judges.gemba_v2 import GembaV2
from tests.judges.asking import SINGLE, Script, load_judge, subject
from tests.judges.malformed import VALID


def rating(number: int) -> str:
    return json.dumps({"rating": number})


def counts(major: int, minor: int) -> str:
    return json.dumps({"major": major, "minor": minor})


async def judged(name: str, samples: int, *replies: str | Reply) -> Annotation:
    judge = load_judge(name, settings={"samples": str(samples)})
    return await judge.annotate(subject(), Script(*replies))


async def test_ratings_come_to_their_mean_and_are_kept() -> None:
    annotation = await judged("gemba-da", 3, rating(80), rating(90), rating(100))
    assert annotation.rating == 90
    assert list(annotation.samples) == [80, 90, 100]
    assert (annotation.flags, annotation.annotator, annotation.protocol) == ((), "gemba-da", "da-sqm")


async def test_errors_come_to_those_that_more_than_half_mark_and_the_scores_are_kept() -> None:
    clean, two = '{"errors": []}', VALID["errors-json"]
    annotation = await judged("gemba-mqm", 3, two, clean, two)
    assert [span.text for span in annotation.spans] == ["neuen Sofa", "die die"]
    assert annotation.rating is None
    assert list(annotation.samples) == [-6, 0, -6]
    assert (await judged("gemba-mqm", 3, two, clean, clean)).spans == ()


async def test_each_sample_goes_through_all_steps_of_the_judge() -> None:
    steps = (VALID["errors-json"], rating(40), '{"errors": []}', rating(100))
    annotation = await judged("gemba-esa", 2, *steps)
    assert (annotation.rating, annotation.spans, annotation.samples) == (70, (), (40, 100))


async def test_counts_come_to_what_more_than_half_reach() -> None:
    two = VALID["errors-json"]
    annotation = await judged("ea-prompt", 3, two, counts(1, 1), two, counts(3, 0), two, counts(1, 5))
    assert annotation.counts == {"major": 1, "minor": 1}
    assert list(annotation.samples) == [-6, -15, -10]
    assert annotation.flags == ("count_mismatch",)


async def test_flags_of_all_samples_are_kept_once() -> None:
    annotation = await judged("gemba-da", 3, f"So: {rating(1)}", rating(2), f"So: {rating(3)}")
    assert annotation.flags == ("extracted",)


async def test_a_sample_that_cannot_be_read_is_left_out_and_said() -> None:
    annotation = await judged("gemba-da", 3, rating(80), "fine", rating(90))
    assert (annotation.rating, annotation.samples) == (85, (80, 90))
    assert annotation.flags == ("samples_missing",)


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([rating(80), "fine"], "parse"),
        (["I'm sorry, but I can't help with that."] * 3 + [rating(80)], "refused"),
        (["fine", rating(101), rating(80)], "count"),
        (["fine"] * 4, "parse"),
    ],
)
async def test_half_of_the_samples_or_fewer_are_a_failure(replies: list[str], reason: str) -> None:
    with pytest.raises(AnswerError, match="samples could be read") as error:
        await judged("gemba-da", len(replies), *replies)
    assert error.value.reason == reason


@pytest.mark.parametrize("name", [name for name in SINGLE if name != "gemba-v2"])
def test_every_judge_can_be_sampled_and_forecasts_its_calls(name: str) -> None:
    plain, judge = load_judge(name), load_judge(name, settings={"samples": "5"})
    assert judge == Sampled(judge=plain, samples=5, temperature=0.7)
    assert judge.calls == tuple(5 * count for count in plain.calls)
    same = ("name", "protocol", "weights", "profile", "with_reference", "prompts_digest")
    assert [getattr(judge, key) for key in same] == [getattr(plain, key) for key in same]


async def test_questions_are_drawn_at_the_temperature_and_repeated_word_for_word() -> None:
    ask = Script(rating(1), rating(2))
    judge = load_judge("gemba-da", settings={"samples": "2", "temperature": "1.5"})
    await judge.annotate(subject(), ask)
    first, second = ask.asked
    assert first.messages == second.messages
    assert first.sampling.temperature == second.sampling.temperature == 1.5
    assert first.schema == second.schema is not None


async def test_a_temperature_of_the_judge_is_left_alone() -> None:
    ask = Script(*['{"errors": []}'] * 4)
    await Sampled(judge=GembaV2(samples=2, temperature=0.3), samples=2).annotate(subject(), ask)
    assert {asked.sampling.temperature for asked in ask.asked} == {0.3}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"samples": "1"}, "samples must be 2 or more"),
        ({"samples": "many"}, "must be a whole number, got 'many'"),
        ({"samples": "3", "temperature": "0"}, "need a temperature above 0"),
        ({"samples": "3", "temperature": "inf"}, "need a temperature above 0"),
        ({"temperature": "0.5"}, "gemba-da takes none: add samples"),
    ],
)
def test_what_would_be_one_judgement_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_judge("gemba-da", settings=settings)


def test_it_can_be_made_in_python() -> None:
    assert Sampled(judge=GembaDa(), samples=3).temperature == 0.7
