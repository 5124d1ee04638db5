"""Judges of pairs and of whole sources, asked several times."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from adjudge.core.ask import Ask
from adjudge.core.judge import Calls, annotation_of
from adjudge.core.record import Annotation, Preference
from adjudge.core.segment import Subject
from adjudge.errors import (
    AnswerError,
    UsageError,
)
from adjudge.judges import load_judge
from adjudge.judges._samples import SampledPairs, SampledSources
from adjudge.judges.direct_rank import DirectRank
from adjudge.judges.fire import Fire
from adjudge.runs.run import run
from tests.judges.asking import Script, pair
from tests.runs.conftest import small_set


def says(verdict: str) -> str:
    return json.dumps({"analysis": "Because.", "result": verdict}) if verdict in "ABE" else "the first"


async def compared(replies: str, samples: int, **settings: Any) -> Preference | AnswerError:
    """One comparison by direct-rank; one letter a question, `?` for an answer that cannot be read."""
    threshold = settings.pop("tie_threshold", None)
    judge = SampledPairs(judge=DirectRank(**settings), samples=samples, tie_threshold=threshold)
    script = Script(*map(says, replies))
    (found,) = await judge.compare(pair(), script)
    assert {asked.sampling.temperature for asked in script.asked} == {0.7}
    return found


@pytest.mark.parametrize(
    ("replies", "verdict", "strength"),
    [("AAB", "A", 1 / 3), ("BBA", "B", -1 / 3), ("AEE", "E", 1 / 3), ("ABE", "E", 0.0), ("AABB", "E", 0.0)],
)
async def test_the_verdict_is_what_most_samples_give(replies: str, verdict: str, strength: float) -> None:
    found = await compared(replies, len(replies), orders="given")
    assert isinstance(found, Preference)
    assert (found.verdict, "".join(found.samples)) == (verdict, replies)
    assert found.strength == pytest.approx(strength)
    assert found.orders == (verdict,)


async def test_each_order_has_the_verdict_of_most_of_its_samples() -> None:
    found = await compared("ABAAAB", 3)
    assert isinstance(found, Preference)
    assert (found.verdict, found.samples, found.orders) == ("A", ("A", "E", "A"), ("A", "A"))
    assert found.flags == ()


@pytest.mark.parametrize(("inconsistent", "undecided"), [("E", False), ("keep", True)])
async def test_samples_that_follow_the_position_are_e_or_kept(inconsistent: str, undecided: bool) -> None:
    found = await compared("AAAAAB", 3, inconsistent=inconsistent)
    assert isinstance(found, Preference)
    assert (found.verdict, found.orders, found.is_undecided) == ("E", ("A", "B"), undecided)
    assert "position_inconsistent" in found.flags


@pytest.mark.parametrize(("threshold", "verdict"), [(0.3, "A"), (0.34, "E")])
async def test_a_majority_that_is_not_stronger_than_the_threshold_is_a_tie(
    threshold: float, verdict: str
) -> None:
    found = await compared("AAB", 3, orders="given", tie_threshold=threshold)
    assert isinstance(found, Preference)
    assert (found.verdict, "tie_by_strength" in found.flags) == (verdict, verdict == "E")


async def test_samples_that_cannot_be_read_are_left_out_or_fail_it() -> None:
    found = await compared("A?A", 3, orders="given")
    assert isinstance(found, Preference)
    assert (found.samples, found.flags) == (("A", "A"), ("samples_missing",))
    failed = await compared("A??", 3, orders="given")
    assert isinstance(failed, AnswerError)
    assert failed.reason == "parse"


async def test_a_pair_of_one_text_is_not_sampled() -> None:
    script = Script()
    judge = SampledPairs(judge=DirectRank(), samples=5)
    (found,) = await judge.compare(pair("Same.", "Same."), script)
    assert isinstance(found, Preference)
    assert (found.verdict, found.flags, found.samples, script.asked) == ("E", ("identical",), (), [])


def test_a_judge_of_pairs_is_sampled_by_name() -> None:
    judge = load_judge("fire", settings={"samples": "3", "tie-threshold": "0.4"})
    assert judge == SampledPairs(judge=Fire(), samples=3, tie_threshold=0.4)
    assert judge.criteria == Fire().criteria
    assert judge.calls == (18, 18, 18)


def test_a_threshold_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="must be from 0 to 1, got -1"):
        load_judge("fire", settings={"samples": "3", "tie-threshold": "-1"})


def test_a_run_keeps_every_sample_and_its_signature_names_them(tmp_path: Path) -> None:
    settings = {"samples": "3", "tie-threshold": "0.4"}
    done = run("direct-rank", small_set(2), out=tmp_path / "run", settings=settings)
    assert all(isinstance(r, Preference) and len(r.samples) == 3 for r in done.records)
    said = done.info.signature.fields
    assert (said["samples"], said["temperature"], said["tie_threshold"]) == ("3", "0.7", "0.4")
    before = (tmp_path / "run" / "records.jsonl").read_bytes()
    again = run("direct-rank", small_set(2), out=tmp_path / "run", settings=settings)
    assert (tmp_path / "run" / "records.jsonl").read_bytes() == before
    assert again.info.calls["asked"] == done.info.calls["asked"] == 12


class Rater(DirectRank):
    """Rates all translations of a source, each by a number that it is given."""

    protocol = "da-sqm"

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        found: list[Annotation | AnswerError] = []
        for system in subject.systems:
            answer = await ask([], about=None, read=lambda reply: reply.text)  # type: ignore[arg-type]
            if answer.value == "?":
                found.append(AnswerError("parse", "no number"))
            elif answer.value == "!":
                raise AnswerError("refused", "no")
            else:
                found.append(annotation_of(self, subject.of(system), rating=float(answer.value)))
        return found

    def calls_for(self, systems: int) -> Calls:
        return Calls(systems, systems, systems)


async def test_a_source_is_judged_several_times_and_each_system_averaged() -> None:
    judge = SampledSources(judge=Rater(), samples=3)
    first, second = await judge.annotate_all(pair(), Script("80", "10", "90", "?", "100", "?"))
    assert isinstance(first, Annotation)
    assert (first.rating, first.samples) == (90, (80, 90, 100))
    assert isinstance(second, AnswerError)
    assert judge.calls_for(2) == (6, 6, 6)


async def test_a_sample_that_fails_as_a_whole_fails_for_every_system() -> None:
    judge = SampledSources(judge=Rater(), samples=3)
    found = await judge.annotate_all(pair(), Script("80", "10", "!", "60", "30"))
    assert [(o.rating, o.flags) for o in found if isinstance(o, Annotation)] == [
        (70, ("samples_missing",)),
        (20, ("samples_missing",)),
    ]
