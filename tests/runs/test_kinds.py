"""Units of work that are a pair of translations, or all translations of a source, and their traces."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from adjudge.core.ask import About, Ask, Message, Quoted, Reply
from adjudge.core.judge import Calls, Profile, annotation_of, preference_of
from adjudge.core.record import Annotation, Failure, Preference, Verdict
from adjudge.core.segment import Subject, TestSet
from adjudge.errors import AnswerError, ServerStopError, UsageError
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs.engines import run
from adjudge.runs.forecast import forecast
from adjudge.store.run_directory import read_records, read_run
from adjudge.store.traces import Trace
from tests.runs.conftest import Scripted, Stopping, read_rating, small_set

CRITERIA = ("fluency", "overall")


async def rating(subject: Subject, ask: Ask, name: str, words: str = "") -> float:
    about = About(judge=name, stage="rating", subject=subject, wants="rating")
    message = Message("user", ("Rate ", Quoted("translation", subject.translation), words))
    return (await ask([message], about=about, read=read_rating)).value


@dataclass(frozen=True, kw_only=True)
class Comparer:
    """Rates both by each criterion; the higher one is better."""

    name: ClassVar[str] = "comparer"
    protocol: ClassVar[str] = "pairwise"
    weights: ClassVar[None] = None
    calls: ClassVar[Calls] = Calls(4, 4, 4)
    criteria: ClassVar[tuple[str, ...]] = CRITERIA
    prompts_digest: ClassVar[str] = "abc123"
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"

    async def compare(self, subject: Subject, ask: Ask) -> Sequence[Preference | AnswerError]:
        return [await self.verdict(subject, criterion, ask) for criterion in self.criteria]

    async def verdict(self, subject: Subject, criterion: str, ask: Ask) -> Preference | AnswerError:
        a, b = (subject.of(system) for system in subject.systems)
        words = f"{criterion} {subject.key}"
        try:
            first, second = [await rating(one, ask, self.name, words) for one in (a, b)]
        except AnswerError as error:
            return error
        verdict: Verdict = "A" if first > second else "B" if first < second else "E"
        return preference_of(self, subject, criterion=criterion, verdict=verdict)


@dataclass(frozen=True, kw_only=True)
class Reader:
    """Rates every translation of a source."""

    name: ClassVar[str] = "reader"
    protocol: ClassVar[str] = "da-sqm"
    weights: ClassVar[None] = None
    calls: ClassVar[Calls] = Calls(1, 2, 3)
    prompts_digest: ClassVar[str] = "abc123"
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"

    def calls_for(self, subject: Subject) -> Calls:
        return Calls(*(count * len(subject.systems) for count in self.calls))

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        return [await self.read(subject.of(system), ask) for system in subject.systems]

    async def read(self, subject: Subject, ask: Ask) -> Annotation | AnswerError:
        try:
            return annotation_of(self, subject, rating=await rating(subject, ask, self.name))
        except AnswerError as error:
            return error


def with_gap(test_set: TestSet) -> TestSet:
    """The last segment without a translation by B."""
    *others, last = test_set.segments
    texts = {name: text for name, text in last.translations.items() if name != "B"}
    return TestSet(name="gap", segments=(*others, replace(last, translations=texts)))


THREE = small_set(2, systems=("A", "B", "CC"))


def test_every_pair_is_compared_on_every_criterion(tmp_path: Path, model: Scripted) -> None:
    done = run(Comparer(), THREE, out=tmp_path / "run")
    preferences = [r for r in done.records if isinstance(r, Preference)]
    assert [(r.segment, r.systems, r.criterion, r.verdict) for r in preferences] == [
        (segment, pair, criterion, verdict)
        for segment in "01"
        for pair, verdict in ((("A", "B"), "E"), (("A", "CC"), "B"), (("B", "CC"), "B"))
        for criterion in CRITERIA
    ]
    assert done.info.counts == {"judged": 12, "failed": 0, "pending": 0}
    assert len(model.requests) == 24
    assert read_run(tmp_path / "run") == done


def test_a_criterion_without_a_verdict_fails_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tired(Scripted):
        async def reply(self, request: Request) -> object:  # type: ignore[override]
            said = await super().reply(request)
            is_fluency = "fluency" in str(request.messages)
            return replace(said, text="well") if is_fluency else said

    monkeypatch.setattr(embedded_rules, "RulesModel", Tired)
    done = run(Comparer(), small_set(1), out=tmp_path / "run")
    failure, preference = done.records
    assert isinstance(preference, Preference)
    assert failure == Failure(
        lp="en-de",
        document="doc0",
        segment="0",
        systems=("A", "B"),
        annotator="comparer",
        protocol="pairwise",
        criterion="fluency",
        reason="range",
        detail="wanted a number, got 'well'",
    )
    assert done.info.counts == {"judged": 1, "failed": 1, "pending": 0}
    assert "failed:1/2" in str(done.info.signature)
    assert read_run(tmp_path / "run") == done


def test_a_pair_without_one_of_its_translations_asks_nobody(tmp_path: Path, model: Scripted) -> None:
    done = run(Comparer(), with_gap(small_set(2)), out=tmp_path / "run")
    missing = [r for r in done.records if isinstance(r, Failure)]
    assert [(r.systems, r.criterion, r.reason) for r in missing] == [
        (("A", "B"), criterion, "no_translation") for criterion in CRITERIA
    ]
    assert len(model.requests) == 4  # of the other segment


def test_a_comparison_needs_two_systems(tmp_path: Path, model: Scripted) -> None:
    with pytest.raises(UsageError, match="needs two systems, and 'small' has 'A' alone"):
        run(Comparer(), small_set(2, systems=("A",)), out=tmp_path / "run")


def test_all_translations_of_a_source_are_judged_at_once(tmp_path: Path, model: Scripted) -> None:
    done = run(Reader(), THREE, out=tmp_path / "run")
    assert [(r.segment, r.system) for r in done.records if isinstance(r, Annotation)] == [
        (segment, system) for segment in "01" for system in ("A", "B", "CC")
    ]
    assert {request.about.subject.segment.segment for request in model.requests} == {"0", "1"}


def test_of_a_source_only_what_is_there_is_judged(tmp_path: Path, model: Scripted) -> None:
    model.texts["Satz 1 von CC in en-de"] = "well"
    done = run(Reader(), with_gap(THREE), out=tmp_path / "run")
    first, gap, unreadable = done.records[3:]
    assert isinstance(first, Annotation)
    assert isinstance(gap, Failure)
    assert isinstance(unreadable, Failure)
    assert (gap.systems, gap.reason) == (("B",), "no_translation")
    assert (unreadable.systems, unreadable.reason) == (("CC",), "range")
    assert done.info.counts == {"judged": 4, "failed": 2, "pending": 0}


def test_a_forecast_counts_the_calls_of_pairs(model: Scripted) -> None:
    found = forecast(Comparer(), with_gap(THREE), model="openai/x", base_url="http://localhost:9/v1")
    assert found.units == 12
    assert found.calls == (16, 16, 16)  # of four pairs; two have a translation that is missing


def test_a_judge_that_owes_a_judgement_is_told_so(tmp_path: Path, model: Scripted) -> None:
    class Short(Reader):
        async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
            return (await super().annotate_all(subject, ask))[:1]

    with pytest.raises(UsageError, match=r"reader owes 3 judgements of en-de/[01]/A/B/CC, gave 1"):
        run(Short(), THREE, out=tmp_path / "run")


def test_a_value_that_no_record_accepts_stops_the_run(tmp_path: Path, model: Scripted) -> None:
    model.texts["Satz 0 von B in en-de"] = "101"
    with pytest.raises(UsageError, match="judge 'reader': annotate_all ended with DataError"):
        run(Reader(), THREE, out=tmp_path / "run")


def test_a_trace_shows_what_was_said_of_one_system_among_others(tmp_path: Path, model: Scripted) -> None:
    class Named(Reader):
        async def read(self, subject: Subject, ask: Ask) -> Annotation | AnswerError:
            about = About(judge="reader", stage=f"{subject.system}: 1", subject=subject, wants="rating")
            said = [Message("user", ("Rate ", Quoted("translation", subject.translation)))]
            found = await ask(said, about=about, read=read_rating)
            return annotation_of(self, subject, rating=found.value)

    run(Named(), with_gap(THREE), out=tmp_path / "run")
    trace = Trace(tmp_path / "run")
    units = {(unit.segment.segment, unit.systems): unit for unit in trace.units()}
    assert [e.use.stage for e in trace.conversation(units["0", ("B",)])] == ["B: 1"]
    assert [e.use.stage for e in trace.conversation(units["1", ("CC",)])] == ["CC: 1"]
    assert (units["0", ("A",)].calls, units["1", ("A",)].calls, units["1", ("B",)].calls) == (3, 2, 0)
    assert trace.conversation(units["1", ("B",)]) == []
    trace.close()


def test_every_pair_is_a_unit_with_the_calls_of_all_criteria(tmp_path: Path) -> None:
    run("fire", THREE, out=tmp_path / "run")
    trace = Trace(tmp_path / "run")
    units = list(trace.units())
    assert [(u.segment.segment, u.systems, u.state, u.calls) for u in units] == [
        (segment, pair, "judged", 6) for segment in "01" for pair in (("A", "B"), ("A", "CC"), ("B", "CC"))
    ]
    assert {exchange.use.role for exchange in trace.conversation(units[0])} == {
        "faithfulness",
        "fluency",
        "style",
    }
    trace.close()


def test_a_pair_of_which_one_criterion_failed_is_shown_as_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(embedded_rules.RulesModel):
        async def reply(self, request: Request) -> Reply:
            said = await super().reply(request)
            return replace(said, text="the first") if request.about.role == "style" else said

    monkeypatch.setattr(embedded_rules, "RulesModel", Silent)
    run("fire", small_set(1), out=tmp_path / "run")
    first, *_ = read_records(tmp_path / "run")
    assert isinstance(first, Preference)
    trace = Trace(tmp_path / "run")
    (unit,) = trace.units()
    trace.close()
    assert (unit.state, unit.reason) == ("failed", "parse")


def test_the_pairs_of_a_run_that_was_stopped_are_pending(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: Stopping(0))
    with pytest.raises(ServerStopError):
        run("direct-rank", small_set(1, systems=("A", "B", "CC")), out=tmp_path / "run")
    trace = Trace(tmp_path / "run")
    states = [(u.systems, u.state) for u in trace.units()]
    trace.close()
    assert states == [(("A", "B"), "pending"), (("A", "CC"), "pending"), (("B", "CC"), "pending")]
