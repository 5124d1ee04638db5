"""Any judge, asked several times."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.ask import Ask, Reply
from adjudge.core.judge import Calls, annotation_of
from adjudge.core.protocol import SEVERITIES, Severity
from adjudge.core.record import Annotation, ErrorSpan, Preference
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges import load_judge
from adjudge.judges._pairs import TieThreshold
from adjudge.judges._samples import Sampled, is_outvoted, middle, vote
from adjudge.judges.fire import DirectRank, Fire
from adjudge.judges.gemba_v2 import GembaV2
from adjudge.runs.engines import run
from tests.judges.asking import SINGLE, Script, pair, subject
from tests.judges.asking import load_judge as asking_load_judge
from tests.judges.malformed import VALID
from tests.runs.conftest import small_set


def says(verdict: str) -> str:
    return json.dumps({"analysis": "Because.", "result": verdict}) if verdict in "ABE" else "the first"


async def compared(replies: str, samples: int, **settings: Any) -> Any:
    """One comparison by direct-rank; one letter a question, `?` for an answer that cannot be read."""
    threshold = settings.pop("tie_threshold", None)
    threshold = None if threshold is None else TieThreshold(threshold)
    judge = Sampled(judge=DirectRank(**settings), samples=samples, tie_threshold=threshold)
    script = Script(*map(says, replies))
    (found,) = await judge.compare(pair(), script)
    assert {asked.sampling.temperature for asked in script.asked} == {0.7}
    return found


@pytest.mark.parametrize(
    ("replies", "verdict", "strength"),
    [("AAB", "A", 1 / 3), ("BBA", "B", -1 / 3), ("AEE", "E", 1 / 3), ("ABE", "E", 0.0), ("AABB", "E", 0.0)],
)
async def test_the_verdict_is_what_most_samples_give_or_a_tie(
    replies: str, verdict: str, strength: float
) -> None:
    found = await compared(replies, len(replies), orders="given")
    assert (found.verdict, "".join(found.samples)) == (verdict, replies)
    assert found.strength == pytest.approx(strength)
    assert found.orders == (verdict,)
    for threshold in (0.3, 0.34) if verdict != "E" else ():
        found = await compared(replies, len(replies), orders="given", tie_threshold=threshold)
        assert found.verdict == (verdict if threshold == 0.3 else "E")
        assert ("tie_by_strength" in found.flags) == (found.verdict == "E")


async def test_each_order_has_the_verdict_of_most_of_its_samples() -> None:
    found = await compared("ABAAAB", 3)
    assert (found.verdict, found.samples, found.orders) == ("A", ("A", "E", "A"), ("A", "A"))
    assert found.flags == ()


@pytest.mark.parametrize(("inconsistent", "undecided"), [("E", False), ("keep", True)])
async def test_samples_that_follow_the_position_are_e_or_kept(inconsistent: str, undecided: bool) -> None:
    found = await compared("AAAAAB", 3, inconsistent=inconsistent)
    assert (found.verdict, found.orders, found.is_undecided) == ("E", ("A", "B"), undecided)
    assert "position_inconsistent" in found.flags


async def test_samples_that_cannot_be_read_are_left_out_or_fail_it() -> None:
    found = await compared("A?A", 3, orders="given")
    assert (found.samples, found.flags) == (("A", "A"), ("samples_missing",))
    failed = await compared("A??", 3, orders="given")
    assert failed.reason == "parse"


async def test_a_pair_of_one_text_is_not_sampled() -> None:
    script = Script()
    judge = Sampled(judge=DirectRank(), samples=5)
    (found,) = await judge.compare(pair("Same.", "Same."), script)
    assert isinstance(found, Preference)
    assert (found.verdict, found.flags, found.samples, script.asked) == ("E", ("identical",), (), [])


def test_a_judge_of_pairs_is_sampled_by_name() -> None:
    judge = load_judge("fire", settings={"samples": "3", "tie-threshold": "0.4"})
    assert judge == Sampled(judge=Fire(), samples=3, tie_threshold=TieThreshold(0.4))
    assert judge.criteria == Fire().criteria
    assert judge.calls == (18, 18, 18)


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

    def calls_for(self, subject: Subject) -> Calls:
        systems = len(subject.systems)
        return Calls(systems, systems, systems)


async def test_a_source_is_judged_several_times_and_each_system_averaged() -> None:
    judge = Sampled(judge=Rater(), samples=3)
    first, second = await judge.annotate_all(pair(), Script("80", "10", "90", "?", "100", "?"))
    assert isinstance(first, Annotation)
    assert (first.rating, first.samples) == (90, (80, 90, 100))
    assert isinstance(second, AnswerError)
    assert judge.calls_for(pair()) == (6, 6, 6)


async def test_a_sample_that_fails_as_a_whole_fails_for_every_system() -> None:
    judge = Sampled(judge=Rater(), samples=3)
    found = await judge.annotate_all(pair(), Script("80", "10", "!", "60", "30"))
    assert [(o.rating, o.flags) for o in found if isinstance(o, Annotation)] == [
        (70, ("samples_missing",)),
        (20, ("samples_missing",)),
    ]


def rating(number: int) -> str:
    return json.dumps({"rating": number})


def counts(major: int, minor: int) -> str:
    return json.dumps({"major": major, "minor": minor})


async def judged(name: str, samples: int, *replies: str | Reply) -> Annotation:
    judge = asking_load_judge(name, settings={"samples": str(samples)})
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


async def test_flags_of_all_samples_are_kept_once_and_what_cannot_be_read_is_left_out() -> None:
    annotation = await judged("gemba-da", 3, f"So: {rating(80)}", "fine", f"So: {rating(90)}")
    assert (annotation.rating, annotation.samples) == (85, (80, 90))
    assert {*annotation.flags} == {"extracted", "samples_missing"}
    assert len(annotation.flags) == 2


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([rating(80), "fine"], "parse"),
        (["I'm sorry, but I can't help with that."] * 3 + [rating(80)], "parse"),
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
    plain, judge = asking_load_judge(name), asking_load_judge(name, settings={"samples": "5"})
    assert judge == Sampled(judge=plain, samples=5, temperature=0.7)
    assert judge.calls == tuple(5 * count for count in plain.calls)
    same = ("name", "protocol", "weights", "profile", "with_reference", "prompts_digest")
    assert [getattr(judge, key) for key in same] == [getattr(plain, key) for key in same]


async def test_questions_are_drawn_at_the_temperature_and_repeated_word_for_word() -> None:
    ask = Script(rating(1), rating(2))
    judge = asking_load_judge("gemba-da", settings={"samples": "2", "temperature": "1.5"})
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
        ({"samples": "3", "temperature": "inf"}, "must be a number, got 'inf'"),
        ({"temperature": "0.5"}, "gemba-da takes none: add samples"),
    ],
)
def test_what_would_be_one_judgement_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        asking_load_judge("gemba-da", settings=settings)


TEXT = "one two three four five six seven eight nine ten"


def at(start: int, end: int, severity: Severity = "major", category: str | None = "other") -> ErrorSpan:
    return ErrorSpan(start=start, end=end, text=TEXT[start:end], severity=severity, category=category)


def nowhere(text: str = "", category: str = "accuracy/omission") -> ErrorSpan:
    return ErrorSpan(
        text=text, severity="minor", category=category, match="unmatched" if text else "unplaced"
    )


def in_source(start: int, end: int) -> ErrorSpan:
    return ErrorSpan(start=start, end=end, severity="major", side="source")


A, B, C = at(0, 3), at(4, 7), at(8, 13)


@pytest.mark.parametrize(
    ("samples", "agreed"),
    [
        ([[], [], []], []),
        ([[A], [A], []], [A]),
        ([[A], [], []], []),
        ([[B, A], [A, B], [C]], [A, B]),
        ([[at(0, 5)], [at(2, 7)], [at(4, 9)]], [at(2, 7)]),  # the one in the middle overlaps both
        ([[at(0, 48)], [A], [A]], [A]),  # the place that fits the others best
        ([[at(0, 48)], [A, B], [A, B]], [A, B]),  # one wide span is one vote, for one error
        ([[A, A], [A, A], [A]], [A, A]),  # two errors in one place need two votes each
        ([[in_source(0, 3)], [A], []], []),  # the same offsets on the other side are another place
        ([[in_source(0, 3)], [in_source(1, 3)], []], [in_source(0, 3)]),
        ([[nowhere()], [nowhere()], []], [nowhere()]),
        ([[nowhere()], [nowhere(category="non-translation")], []], []),
        ([[nowhere("x  y")], [nowhere("x y", "other")], []], [nowhere("x  y")]),
        ([[at(0, 3)], [at(3, 6)], []], []),  # touching is not overlapping
    ],
)
def test_an_error_of_most_counts(samples: Sequence[Sequence[ErrorSpan]], agreed: Sequence[ErrorSpan]) -> None:
    assert list(vote(samples)) == list(agreed)


@pytest.mark.parametrize(
    ("samples", "is_told"), [([[A], [A], [A]], False), ([[A], [at(1, 4)], [A]], False), ([[A], [], []], True)]
)
def test_an_error_that_is_outvoted_is_told(samples: Sequence[Sequence[ErrorSpan]], is_told: bool) -> None:
    assert is_outvoted(samples, vote(samples)) == is_told


@pytest.mark.parametrize(
    ("severities", "agreed"),
    [
        (("minor", "major", "major"), "major"),
        (("minor", "minor", "critical"), "minor"),
        (("minor", "major", "critical"), "major"),
        (("minor", "major"), "minor"),
        (("neutral", "critical", "critical", "minor", "minor"), "minor"),
    ],
)
def test_the_severity_is_of_most_or_the_middle(severities: tuple[Severity, ...], agreed: Severity) -> None:
    (span,) = vote([[at(0, 3, severity)] for severity in severities])
    assert span.severity == agreed


def test_the_category_is_the_most_frequent_and_its_place_is_kept() -> None:
    style, grammar = "style/awkward", "fluency/grammar"
    samples = [[at(0, 3, category=style)], [at(0, 7, category=grammar)], [at(1, 7, category=grammar)]]
    (span,) = vote(samples)
    assert (span.category, span.start, span.end) == (grammar, 0, 7)


@pytest.mark.parametrize(
    ("numbers", "reached"), [([1], 1), ([1, 3], 1), ([0, 2, 5], 2), ([5, 0, 2], 2), ([1, 2, 3, 4], 2)]
)
def test_the_middle_is_what_more_than_half_reach(numbers: list[int], reached: int) -> None:
    assert middle(numbers) == reached
    assert 2 * sum(number >= reached for number in numbers) > len(numbers)


SPANS = st.builds(
    lambda start, length, severity: at(start, start + length, severity),
    st.integers(0, 20),
    st.integers(1, 6),
    st.sampled_from(SEVERITIES),
)


@given(st.lists(SPANS, max_size=5), st.integers(1, 5))
def test_samples_that_all_say_the_same_agree_on_it(spans: list[ErrorSpan], times: int) -> None:
    places = sorted((s.start, s.end) for s in spans)
    assert sorted((s.start, s.end) for s in vote([spans] * times)) == places


@given(st.lists(st.lists(SPANS, max_size=4), min_size=1, max_size=5))
def test_no_more_errors_are_agreed_on_than_votes_allow(samples: list[list[ErrorSpan]]) -> None:
    agreed = vote(samples)
    assert len(agreed) * len(samples) <= 2 * sum(map(len, samples))
    assert all(any(span.start == s.start for spans in samples for s in spans) for span in agreed)
