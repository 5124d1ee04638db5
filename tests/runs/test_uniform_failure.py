"""Runs whose first units all fail for one reason stop; failures are warned of, and asked again if wished."""

import asyncio
import warnings
from collections import Counter
from pathlib import Path

import pytest

import adjudge
from adjudge.core.ask import Reply
from adjudge.core.record import Failure
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import FailureReason, UniformFailureError, UsageError
from adjudge.llm.model import Request
from adjudge.runs.engines import run
from adjudge.runs.job import remedy_for
from adjudge.store.run_directory import read_run
from tests.runs.conftest import Lengths, Rater, Scripted, small_set

MANY = 50


def many(size: int = MANY) -> TestSet:
    return small_set(size, systems=("A",))


def spoil(model: Scripted, numbers: range, text: str = "no number") -> None:
    model.texts |= {f"Satz {n} von A in en-de": text for n in numbers}


def test_a_run_whose_first_units_all_fail_for_one_reason_stops_and_goes_on_when_told_to(
    tmp_path: Path, model: Scripted
) -> None:
    spoil(model, range(MANY))
    with pytest.raises(
        UniformFailureError, match=r"first 20 units all failed for one reason, range: .*--json-schema"
    ):
        run(Rater(), many(), out=tmp_path / "run", concurrency=1)
    assert len(model.requests) == 40, "each of 20 was asked twice"
    done = run(Rater(), many(), out=tmp_path / "run", max_failed=1)
    assert done.info.failures == {"range": MANY}
    assert len(model.requests) == 2 * MANY, "what was asked before was not asked again"


@pytest.mark.parametrize("judged", [0, 5])  # with 21 units in flight the sixth is judged early enough
def test_failures_among_judgements_do_not_stop_a_run(judged: int, tmp_path: Path, model: Scripted) -> None:
    spoil(model, range(MANY))
    spoil(model, range(judged, judged + 1), "12")
    done = run(Rater(), many(), out=tmp_path / "run", concurrency=1)
    assert done.info.failures == {"range": MANY - 1}


def test_two_reasons_do_not_stop_a_run(tmp_path: Path, model: Scripted) -> None:
    spoil(model, range(MANY))
    spoil(model, range(3, 4), "")
    done = run(Rater(), many(), out=tmp_path / "run", concurrency=1)
    assert done.info.failures == {"empty": 1, "range": 49}


def test_a_small_run_comes_to_its_end_though_everything_fails(tmp_path: Path, model: Scripted) -> None:
    spoil(model, range(20))
    assert run(Rater(), many(20), out=tmp_path / "run").info.failures == {"range": 20}


def test_translations_that_are_missing_are_no_reason_to_stop(tmp_path: Path, model: Scripted) -> None:
    segments = tuple(
        Segment(segment=str(n), lp="en-de", source="s", translations={"A": f"Satz {n}"} if n > 30 else {})
        for n in range(40)
    )
    done = run(Rater(), TestSet(name="gaps", segments=segments), out=tmp_path / "run", concurrency=1)
    assert done.info.counts == {"judged": 9, "failed": 31, "pending": 0}
    assert done.info.failures == {"no_translation": 31}
    assert len(model.requests) == 9


class Refusing(Scripted):
    """A server with a content filter."""

    async def reply(self, request: Request) -> Reply:
        await super().reply(request)
        return Reply(text="", model=self.name, finish="content_filter")


def test_a_content_filter_that_refuses_everything_stops_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adjudge.llm.embedded_rules.RulesModel", Refusing)
    with pytest.raises(UniformFailureError, match=r"reason, refused: .*another --model"):
        run(Rater(), many(), out=tmp_path / "run", concurrency=1)


@pytest.mark.parametrize(
    ("reason", "words"),
    [
        ("schema", "--json-schema off"),
        ("no_answer", "--effort low"),
        ("truncated", "--effort low"),
        ("model_mismatch", "--served-as"),
        ("too_long", "--context"),
        ("server_error", "--concurrency"),
        ("bad_envelope", "--base-url"),
    ],
)
def test_each_reason_has_its_remedy(reason: FailureReason, words: str) -> None:
    assert words in remedy_for(Rater(), reason)


def test_a_judge_with_tools_names_the_form_without_them() -> None:
    from adjudge.judges import load_judge

    rate = load_judge("rate").fitted(search="", takes_tools=True)  # type: ignore[attr-defined]
    assert "--tools xml" in remedy_for(rate, "no_answer")


def test_failed_units_are_asked_again_and_nothing_else(tmp_path: Path, model: Scripted) -> None:
    spoil(model, range(10, 15))
    run(Rater(), many(), out=tmp_path / "run")
    assert len(model.requests) == 55
    model.requests.clear()
    model.texts.clear()
    done = run(Rater(), many(), out=tmp_path / "run", retry_failed=True)
    assert Counter(r.about.subject.segment.segment for r in model.requests) == {
        str(n): 1 for n in range(10, 15)
    }
    assert done.info.counts == {"judged": 50, "failed": 0, "pending": 0}
    model.requests.clear()
    again = run(Rater(), many(), out=tmp_path / "run")
    assert not model.requests, "the new answers are stored"
    assert again.records == done.records
    assert done.info.calls["asked"] == 60, "what was paid before stays counted"


def test_what_fails_again_stays_failed_and_each_question_is_put_once(tmp_path: Path, model: Scripted) -> None:
    spoil(model, range(10, 15))
    run(Rater(), many(), out=tmp_path / "run")
    model.requests.clear()
    done = run(Rater(), many(), out=tmp_path / "run", retry_failed=True)
    assert len(model.requests) == 10, "each of five is asked twice, as before"
    assert [r.segment for r in done.records if isinstance(r, Failure)] == [str(n) for n in range(10, 15)]


def test_an_unread_first_answer_of_a_judged_unit_is_not_asked_again(tmp_path: Path, model: Scripted) -> None:
    class Mending(Scripted):
        async def reply(self, request: Request) -> Reply:
            self.requests.append(request)
            return Reply(text="12" if request.again else "no number", model=self.name)

    mending = Mending()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("adjudge.llm.embedded_rules.RulesModel", lambda: mending)
        run(Rater(), many(5), out=tmp_path / "run")
        mending.requests.clear()
        run(Rater(), many(5), out=tmp_path / "run", retry_failed=True)
    assert not mending.requests


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reparse": True}, "--retry-failed: --reparse asks nothing"),
        ({"engine": "ray"}, "--retry-failed: leave --engine out"),
    ],
)
def test_asking_again_needs_somebody_who_is_asked(
    options: dict[str, object], message: str, tmp_path: Path, model: Scripted
) -> None:
    with pytest.raises(UsageError, match=message):
        run(Rater(), many(), out=tmp_path / "run", retry_failed=True, **options)  # type: ignore[arg-type]


def test_a_metric_has_nothing_to_ask_again(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--retry-failed: lengths is a metric"):
        run(Lengths(), many(), out=tmp_path / "run", retry_failed=True)


TEN = 10


def judged(out: Path, model: Scripted, failed: int, max_failed: float, *, in_loop: bool = False) -> Run:
    """Ten translations, the first of which get replies that are no number."""
    spoil(model, range(failed))
    if not in_loop:
        return adjudge.run(Rater(), many(TEN), out=out, max_failed=max_failed)
    return asyncio.run(adjudge.arun(Rater(), many(TEN), out=out, max_failed=max_failed))


@pytest.mark.parametrize("in_loop", [False, True])
@pytest.mark.parametrize(("failed", "max_failed"), [(1, 0.01), (6, 0.5), (TEN, 0.01), (1, 0.0)])
def test_more_failures_than_may_be_are_a_warning_and_the_run_is_kept(
    failed: int, max_failed: float, in_loop: bool, tmp_path: Path, model: Scripted
) -> None:
    with pytest.warns(adjudge.FailedWarning) as said:
        done = judged(tmp_path / "run", model, failed, max_failed, in_loop=in_loop)
    (warning,) = said
    text = str(warning.message)
    assert text.startswith(f"{failed} of {TEN} judgements failed")
    parts = [f"max_failed={max_failed}", f"range {failed}; first range: ", "no number", "--json-schema"]
    assert [part for part in (*parts, "retry_failed=True", str(tmp_path / "run")) if part not in text] == []
    assert warning.filename == __file__
    assert done.info.counts["failed"] == failed
    assert read_run(tmp_path / "run").records == done.records


@pytest.mark.parametrize(("failed", "max_failed"), [(0, 0.0), (1, 0.1), (5, 0.5), (TEN, 1.0)])
def test_no_more_failures_than_may_be_are_no_warning(
    failed: int, max_failed: float, tmp_path: Path, model: Scripted
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert judged(tmp_path / "run", model, failed, max_failed).info.counts["failed"] == failed


def test_a_warning_that_is_an_error_leaves_a_whole_run(tmp_path: Path, model: Scripted) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(adjudge.FailedWarning):
            judged(tmp_path / "run", model, TEN, 0.01)
    assert len(read_run(tmp_path / "run").records) == TEN
