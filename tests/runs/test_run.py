"""A run: recorded, resumable, signed, and never a failure turned into a number."""

import asyncio
import gc
import math
import re
import signal
import sys
from contextlib import closing, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, ClassVar

import pytest

import adjudge
from adjudge.analysis.segment_scores import score_records
from adjudge.core.ask import About, Ask, Reply
from adjudge.core.record import Annotation, Failure
from adjudge.core.segment import Subject, TestSet
from adjudge.errors import AdjudgeError, AnswerError, ServerStopError, StoreError, UsageError
from adjudge.llm.model import Request
from adjudge.runs import session
from adjudge.runs.engines import run
from adjudge.runs.job import prepare
from adjudge.runs.resume import RunDirectory
from adjudge.runs.run import execute
from adjudge.runs.units import code_of
from adjudge.store.run_directory import read_run, read_run_info
from tests.open_files import files_open_in
from tests.runs.conftest import Lengths, Rater, Scripted, small_set

MOST_ENTERED = 216
"""Functions before the first question of a run; who lowers their number lowers this."""

# An engine is found by its name, and imported when it is called for.


def test_an_unknown_engine_is_refused_before_anything_is_written(tmp_path: Path, model: Scripted) -> None:
    with pytest.raises(UsageError, match=r"engine must be 'local', .* got 'steam'"):
        run(Rater(), small_set(), out=tmp_path / "run", engine="steam")  # type: ignore[arg-type]
    assert not (tmp_path / "run").exists()
    assert model.requests == []


@pytest.mark.usefixtures("model")
@pytest.mark.parametrize("trouble", ["other settings", "a lock"])
def test_a_replay_that_cannot_start_holds_no_file(tmp_path: Path, trouble: str) -> None:
    replay, out = f"replay:{tmp_path / 'recorded'}", tmp_path / "out" / "run"
    run(Rater(), small_set(), out=tmp_path / "recorded")
    run(Rater(), small_set(), out=out, model=replay)
    job = prepare(Rater(), small_set(), out=out, model=replay, seed=int(trouble == "other settings"))
    with closing(RunDirectory(out)) if trouble == "a lock" else nullcontext():
        with pytest.raises(AdjudgeError, match=r"another process|seed"):
            asyncio.run(execute(job))
        assert files_open_in(tmp_path / "recorded") == []


@pytest.mark.usefixtures("model")
def test_models_beside_one_that_cannot_be_opened_hold_no_file(tmp_path: Path) -> None:
    run(Rater(), small_set(), out=tmp_path / "recorded")
    names = [f"replay:{tmp_path / 'recorded'}", "core=nobody/knows"]
    with pytest.raises(UsageError, match="nobody/knows") as refused:
        prepare(Rater(), small_set(), out=tmp_path / "run", model=names)
    assert refused.tb is not None, "which keeps what was opened until then"
    assert files_open_in(tmp_path) == []


@pytest.mark.usefixtures("model")
def test_a_run_that_cannot_start_lets_its_files_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ServerStopError("no meter today")

    job = prepare(Rater(), small_set(), out=tmp_path / "run")
    monkeypatch.setattr(session, "Meter", refuse)
    with pytest.raises(ServerStopError, match="today"):
        asyncio.run(execute(job))
    assert files_open_in(tmp_path) == []


FILES = {
    "answers.keys",
    "run.json",
    "records.jsonl",
    ".records.jsonl.marks",
    "test_set.jsonl",
    "calls.sqlite",
}


def files(out: Path) -> set[str]:
    return {path.name for path in out.iterdir()} - {".lock"}


def test_a_run_leaves_a_directory_that_holds_everything(tmp_path: Path, model: Scripted) -> None:
    done = run(Rater(), small_set(), out=tmp_path / "run")
    assert files(tmp_path / "run") == FILES
    assert [(r.segment, r.system) for r in done.records if isinstance(r, Annotation)] == [
        (str(n), system) for n in range(6) for system in "AB"
    ]
    assert done.records[0] == Annotation(
        lp="en-de", segment="0", system="A", annotator="rater", protocol="da-sqm", rating=21.0
    )
    assert done.test_set.segments == small_set().segments
    info = done.info
    assert (info.kind, info.annotator, info.protocol, info.weights) == ("judge", "rater", "da-sqm", None)
    assert info.counts == {"judged": 12, "failed": 0, "pending": 0}
    assert info.calls == {"asked": 12, "from_store": 0, "attempts": 12, "repaired": 0}
    assert info.price == 0.0
    assert info.times["started"] <= info.times["finished"]
    assert info.test_set["digest"] == small_set().digest
    assert read_run(tmp_path / "run") == done


def test_an_answer_that_cannot_be_read_is_a_failure_with_its_reason(tmp_path: Path, model: Scripted) -> None:
    model.texts["Satz 1 von B in en-de"] = "very good"
    done = run(Rater(), small_set(), out=tmp_path / "run")
    assert [r for r in done.records if isinstance(r, Failure)] == [
        Failure(
            lp="en-de",
            document="doc0",
            segment="1",
            systems=("B",),
            annotator="rater",
            protocol="da-sqm",
            reason="range",
            detail="wanted a number, got 'very good'",
        )
    ]
    assert done.info.failures == {"range": 1}
    assert done.info.counts == {"judged": 11, "failed": 1, "pending": 0}
    assert "failed:1/12" in str(done.info.signature)


def test_a_run_is_printed_without_its_records_and_its_secret(tmp_path: Path, model: Scripted) -> None:
    done = run(Rater(), small_set(), out=tmp_path / "run")
    assert repr(done).startswith("<run of <test set ")
    assert f"{len(done.records)} records, {done.info.signature}>" in repr(done)
    assert done.info.secret
    assert done.info.secret not in repr(done) + repr(done.info)


def test_a_value_that_no_record_accepts_stops_the_run_and_what_was_judged_stays(
    tmp_path: Path, model: Scripted
) -> None:
    model.texts["Satz 1 von A in en-de"] = "101"
    with pytest.raises(UsageError, match=r"judge 'rater': annotate ended with DataError: .*conftest.py line"):
        run(Rater(), small_set(2), out=tmp_path / "run", concurrency=1)
    assert len((tmp_path / "run" / ".records.part").read_bytes().splitlines()) == 2


def test_every_question_is_put_with_the_seed_of_the_run(tmp_path: Path, model: Scripted) -> None:
    run(Rater(questions=2), small_set(2), out=tmp_path / "run", seed=7)
    assert [request.seed for request in model.requests] == [7] * 8


def test_an_error_of_a_judge_itself_is_no_failure_but_an_error(tmp_path: Path, model: Scripted) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Broken(Rater):
        name: ClassVar[str] = "broken"

        async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
            raise ZeroDivisionError

    with pytest.raises(
        UsageError, match=r"judge 'broken': annotate ended with ZeroDivisionError: .*test_run\.py line \d"
    ):
        run(Broken(), small_set(), out=tmp_path / "run")


def test_a_judge_that_forgets_to_await_ask_is_told_where_and_python_adds_nothing(
    tmp_path: Path, model: Scripted, recwarn: pytest.WarningsRecorder
) -> None:
    @dataclass(frozen=True, kw_only=True)
    class Forgetful(Rater):
        name: ClassVar[str] = "forgetful"

        async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
            about = About(judge=self.name, stage="rating", subject=subject, wants="rating")
            answer: Any = ask([], about=about, read=float)  # type: ignore[arg-type]
            return replace(await super().annotate(subject, ask), rating=answer.value)

    with pytest.raises(
        UsageError, match=r"judge 'forgetful': annotate ended with AttributeError: .*test_run\.py line \d"
    ):
        run(Forgetful(), small_set(1), out=tmp_path / "run")
    gc.collect()
    assert [str(one.message) for one in recwarn if one.category is RuntimeWarning] == []


def test_judges_see_context_terms_and_reference(tmp_path: Path, model: Scripted) -> None:
    (tmp_path / "terms.tsv").write_text("bank\tUfer\n")
    run(
        Rater(with_reference=True),
        small_set(2, systems=["A"]),
        out=tmp_path / "run",
        context=1,
        terms=tmp_path / "terms.tsv",
    )
    said = ["".join(p for p in r.messages[0].parts if isinstance(p, str)) for r in model.requests]
    assert "Rate  term bank=Ufer reference Referenz 0 0" in said
    assert "Rate  term bank=Ufer before 0 reference Referenz 1 0" in said


def signature(out: Path, judge: Any = Rater(), **options: Any) -> str:  # noqa: B008 (frozen)
    return str(run(judge, small_set(1), out=out, **options).info.signature)


def test_a_signature_says_what_makes_the_number_repeatable(tmp_path: Path, model: Scripted) -> None:
    version, code = adjudge.__version__, code_of(Rater())
    assert re.fullmatch("[0-9a-f]{6}", code)
    assert signature(tmp_path / "a") == (
        f"rater|model:builtin/rules|prompts:abc123|profile:recommended|ref:src|code:{code}|failed:0/2|seed:0"
        f"|version:{version}"
    )
    (tmp_path / "terms.tsv").write_text("bank\tUfer\n")
    options = {"context": 2, "terms": tmp_path / "terms.tsv", "seed": 7, "json_schema": "off"}
    assert signature(tmp_path / "b", Rater(questions=2, with_reference=True), **options) == (
        "rater|model:builtin/rules|prompts:abc123|profile:recommended|ref:refA|with_reference:yes|questions:2"
        f"|code:{code}|context:2|terms:e85e32|schema:off|failed:0/2|seed:7|version:{version}"
    )


def test_a_metrics_signature_says_what_it_does_in_each_language_pair(tmp_path: Path) -> None:
    done = run(Lengths(), small_set(1, lps=["en-de", "en-zh"]), out=tmp_path / "run")
    assert str(done.info.signature) == (
        f"lengths|ref:src|unit:characters|tok:en-de=13a,en-zh=zh|code:{code_of(Lengths())}|failed:0/4"
        f"|version:{adjudge.__version__}"
    )


def records(out: Path) -> bytes:
    return (out / "records.jsonl").read_bytes()


@pytest.mark.parametrize("after", [0, 1, 7, 23])
def test_a_run_that_the_server_stopped_goes_on_where_it_was(
    tmp_path: Path, model: Scripted, after: int
) -> None:
    run(Rater(questions=2), small_set(), out=tmp_path / "undisturbed")
    model.requests.clear()
    model.left = after
    with pytest.raises(ServerStopError):
        run(Rater(questions=2), small_set(), out=tmp_path / "run")
    info = read_run_info(tmp_path / "run")
    assert info.counts["pending"] > 0
    assert sum(info.counts.values()) == 12
    assert info.calls["asked"] == after
    assert "records.jsonl" not in files(tmp_path / "run")
    model.left = math.inf
    done = run(Rater(questions=2), small_set(), out=tmp_path / "run")
    assert len(model.requests) == 24
    assert done.info.calls["asked"] == 24
    assert records(tmp_path / "run") == records(tmp_path / "undisturbed")


def test_a_failure_to_answer_is_tried_again_by_the_next_session(tmp_path: Path, model: Scripted) -> None:
    model.left, model.error = 3, AnswerError("server_error", "down")
    first = run(Rater(), small_set(), out=tmp_path / "run")
    assert first.info.failures == {"server_error": 9}
    model.left = math.inf
    second = run(Rater(), small_set(), out=tmp_path / "run")
    assert second.info.counts == {"judged": 12, "failed": 0, "pending": 0}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"judge": Rater(questions=2)}, "judge questions was 1, now 2"),
        ({"test_set": small_set(5)}, "test set was"),
        ({"context": 1}, "context was 0, now 1"),
        ({"seed": 1}, "seed was 0, now 1"),
        ({"json_schema": "on"}, "json_schema was auto, now on"),
        ({"model": "vllm/x"}, "model was builtin/rules, now vllm/x"),
    ],
)
def test_a_directory_of_another_run_is_refused_with_what_differs(
    tmp_path: Path, model: Scripted, change: dict[str, Any], said: str
) -> None:
    run(Rater(), small_set(), out=tmp_path / "run")
    judge, test_set = change.pop("judge", Rater()), change.pop("test_set", small_set())
    before = records(tmp_path / "run")
    with pytest.raises(UsageError, match=said):
        run(judge, test_set, out=tmp_path / "run", **change)
    assert records(tmp_path / "run") == before


def test_speed_and_place_may_differ_when_a_run_is_resumed(tmp_path: Path, model: Scripted) -> None:
    run(Rater(), small_set(), out=tmp_path / "run")
    (tmp_path / "run").rename(tmp_path / "moved")
    done = run(Rater(), small_set(), out=tmp_path / "moved", concurrency=3, timeout=9.0)
    assert done.info.calls["asked"] == 12


@pytest.mark.parametrize("content", ["file", "folder"])
def test_nothing_of_somebody_else_is_written_over(tmp_path: Path, content: str) -> None:
    out = tmp_path / "out"
    if content == "file":
        out.write_text("mine")
    else:
        out.mkdir()
        (out / "thesis.tex").write_text("mine")
    with pytest.raises(UsageError, match="--out"):
        run(Lengths(), small_set(), out=out)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_cleanly_and_the_run_goes_on_later(
    tmp_path: Path, model: Scripted, number: signal.Signals
) -> None:
    answer = model.reply

    async def reply(request: Request) -> Reply:
        if len(model.requests) == 5:
            model.requests.append(request)
            signal.raise_signal(number)
            await asyncio.sleep(0.01)
        return await answer(request)

    model.reply = reply  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run(Rater(), small_set(), out=tmp_path / "run", concurrency=1)
    info = read_run_info(tmp_path / "run")
    assert info.counts["judged"] == 5
    assert info.calls["asked"] == 6, "what was on its way was kept"
    model.reply = answer  # type: ignore[method-assign]
    model.requests.clear()
    done = run(Rater(), small_set(), out=tmp_path / "run")
    assert len(model.requests) == 6
    assert done.info.counts["judged"] == 12


async def test_a_notebook_has_a_loop_of_its_own_and_can_run_all_the_same(
    tmp_path: Path, model: Scripted
) -> None:
    done = run(Rater(), small_set(1), out=tmp_path / "run")
    assert len(done.records) == 2
    with pytest.raises(UsageError):
        run(Rater(), small_set(2), out=tmp_path / "run")


def test_a_call_store_that_is_none_stops_with_a_clear_word(tmp_path: Path, model: Scripted) -> None:
    (tmp_path / "calls.sqlite").write_bytes(b"this is not a database, whatever its name may say" * 99)
    with pytest.raises(StoreError, match=r"calls\.sqlite"):
        run(Rater(), small_set(), out=tmp_path / "run", store=tmp_path / "calls.sqlite")


def test_a_metric_runs_through_the_same_directory_without_calls(tmp_path: Path) -> None:
    done = run(Lengths(), small_set(400, lps=["en-de", "en-zh"]), out=tmp_path / "run")
    assert files(tmp_path / "run") == FILES - {"answers.keys", "calls.sqlite"}
    assert [r.rating for r in done.records[:2] if isinstance(r, Annotation)] == [21.0, 21.0]
    assert len(done.records) == 1600
    assert done.info.kind == "metric"
    assert done.info.corpus_scores == {}
    assert score_records(done).range == (0.0, math.inf)


def test_corpus_scores_are_kept_for_metrics_that_have_them(tmp_path: Path) -> None:
    segments = list(small_set(2).segments)
    segments[0] = replace(segments[0], translations={"A": "four"})
    done = run(Lengths(corpus=True), TestSet(name="gap", segments=tuple(segments)), out=tmp_path / "run")
    assert done.info.corpus_scores == {"en-de": {"A": 25.0, "B": 21.0}}
    assert done.info.failures == {"no_translation": 1}


def test_names_files_and_settings_are_resolved(tmp_path: Path, model: Scripted) -> None:
    from adjudge.store.json_lines import write_test_set

    write_test_set(tmp_path / "set.jsonl", small_set(1))
    done = run("chrf", tmp_path / "set.jsonl", out=tmp_path / "run")
    assert done.info.annotator == "chrf"
    with pytest.raises(UsageError, match="nobody"):
        run("nobody", tmp_path / "set.jsonl", out=tmp_path / "other")
    with pytest.raises(UsageError, match="neither prompts nor profiles"):
        run("chrf", tmp_path / "set.jsonl", out=tmp_path / "other", profile="paper")
    with pytest.raises(AdjudgeError, match="nothing"):
        run("chrf", tmp_path / "nothing.jsonl", out=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_small_run_enters_few_functions_before_its_first_question(tmp_path: Path) -> None:
    """Counts the distinct functions of adjudge that a run enters before its first worker starts."""
    package = Path(adjudge.__file__).parent
    entered: set[CodeType] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_qualname == "work.<locals>.worker":
            sys.setprofile(None)
        elif event == "call" and frame.f_code.co_filename.startswith(str(package)):
            entered.add(frame.f_code)

    for out, noting in ((tmp_path / "warm", None), (tmp_path / "run", note)):
        sys.setprofile(noting)
        adjudge.run("gemba-mqm", package / "examples" / "test_set.jsonl", lp="en-de", limit=2, out=out)
        sys.setprofile(None)
    assert len(entered) <= MOST_ENTERED, f"{len(entered)}\n" + "\n".join(
        sorted(f"{c.co_filename}: {c.co_qualname}" for c in entered)
    )
