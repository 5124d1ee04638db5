"""What an earlier session recorded is taken over where nothing can have changed, else judged again."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.core.ask import Reply
from adjudge.core.scores import Run
from adjudge.errors import DataWarning, ServerStopError
from adjudge.judges._samples import Sampled
from adjudge.judges.gemba_mqm import GembaMqm
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs import resume, session, units
from adjudge.runs.resume import Journal, Kept, basis_of
from tests.durable import watch_names
from tests.runs.conftest import RULES, Rater, Stopping, small_set

SIZE = 12  # translations
MARKS = ".records.jsonl.marks"
ENTRY = resume.Entry(b'{"a": 1}\n', 1)


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the units that were judged, not taken over."""
    seen: list[str] = []
    judge_subject = units.judge_subject

    async def seeing(judge: Any, subject: Any, *more: Any) -> Sequence[Any]:
        seen.append(subject.key)
        return await judge_subject(judge, subject, *more)

    monkeypatch.setattr(session, "judge_subject", seeing)
    return seen


class Mumbling:
    """The embedded rules, which of one segment say nothing that can be read."""

    name = "builtin/rules"

    async def reply(self, request: Request) -> Reply:
        if request.about.subject.segment.segment == "3":
            return Reply(text="hm", model=self.name)
        return await RULES.reply(request)


def run(folder: Path, judge: str = "gemba-mqm", **options: Any) -> Run:
    return adjudge.run(judge, small_set(), out=folder, model="builtin/rules", **options)


def records(folder: Path) -> bytes:
    return (folder / "records.jsonl").read_bytes()


def test_nothing_is_judged_again_where_nothing_has_changed(tmp_path: Path, judged: list[str]) -> None:
    first = run(tmp_path / "run")
    before = records(tmp_path / "run")
    assert len(judged) == SIZE
    judged.clear()
    for concurrency in (1, 64):
        again = run(tmp_path / "run", concurrency=concurrency)
        assert not judged
        assert records(tmp_path / "run") == before
        assert again.info.calls == first.info.calls
        assert again.info.counts == first.info.counts
        assert again.info.signature == first.info.signature


@pytest.mark.parametrize("what", ["program", "answers", "marks", "records"])
def test_all_is_judged_again_where_something_has(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    run(tmp_path / "run")
    before = records(tmp_path / "run")
    judged.clear()
    if what == "program":
        monkeypatch.setattr(resume, "program_digest", lambda *_: b"a better reader")
    elif what == "answers":
        (tmp_path / "run/calls.sqlite").unlink()
    else:
        (tmp_path / "run" / {"marks": MARKS, "records": "records.jsonl"}[what]).unlink()
    with pytest.warns(DataWarning, match="the store has 0") if what == "answers" else nullcontext():
        run(tmp_path / "run", ask_again=what == "answers")
    assert len(judged) == SIZE
    assert records(tmp_path / "run") == before


@dataclass(frozen=True, kw_only=True)
class WithFile(Rater):
    """As if it were ours, with a setting that names a file."""

    file: str


WithFile.__module__ = "adjudge.judges.with_file"


class Foreign(GembaMqm):
    """A judge of another package, whose program we do not know."""


def test_only_of_our_own_judges_anything_is_kept() -> None:
    assert basis_of(GembaMqm()) == basis_of(GembaMqm())
    assert basis_of(Sampled(judge=GembaMqm(), samples=2)) == basis_of(Sampled(judge=GembaMqm(), samples=3))
    assert basis_of(Foreign()) != basis_of(Foreign())
    assert basis_of(Sampled(judge=Foreign(), samples=2)) != basis_of(Sampled(judge=Foreign(), samples=2))


def test_what_stands_in_a_file_that_a_setting_names_counts(tmp_path: Path) -> None:
    judge = WithFile(file=str(tmp_path / "some.json"))
    found = []
    for content in ("1", "2", "1"):
        (tmp_path / "some.json").write_text(content)
        found.append(basis_of(judge))
    assert found[0] == found[2] != found[1]


def test_the_program_is_all_that_a_judge_of_ours_imports() -> None:
    code = "import sys, adjudge.runs.run, adjudge.judges.gemba_mqm; print(*sys.modules)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    rooms = {name.split(".")[1] for name in said.split() if name.startswith("adjudge.")}
    assert rooms - {"errors"} == set(resume._ROOMS)


def test_reparse_reads_every_answer_anew(tmp_path: Path, judged: list[str]) -> None:
    run(tmp_path / "run")
    run(tmp_path / "run", reparse=True)
    assert len(judged) == 2 * SIZE


def test_a_failure_is_judged_again_and_nothing_else(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_rules, "RulesModel", Mumbling)
    done = run(tmp_path / "run")
    assert done.info.counts == {"judged": SIZE - 2, "failed": 2, "pending": 0}
    before = records(tmp_path / "run")
    judged.clear()
    again = run(tmp_path / "run")
    assert judged == ["en-de/3/A", "en-de/3/B"]
    assert records(tmp_path / "run") == before
    assert (again.info.calls, again.info.failures) == (done.info.calls, done.info.failures)


def test_a_damaged_answer_is_asked_for_again_and_its_unit_judged(tmp_path: Path, judged: list[str]) -> None:
    run(tmp_path / "run")
    with closing(sqlite3.connect(tmp_path / "run/calls.sqlite")) as connection, connection:
        connection.execute("UPDATE calls SET reply = x'00' WHERE id = 5")
    judged.clear()
    before = records(tmp_path / "run")
    assert run(tmp_path / "run").info.calls["asked"] == SIZE + 1
    assert len(judged) == 1
    assert records(tmp_path / "run") == before


def test_a_session_that_was_stopped_leaves_what_it_recorded(
    tmp_path: Path, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(tmp_path / "whole")
    model = Stopping(5)
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: model)
    for left in (5, 2):  # stopped twice, the second time while it reads what the first has left
        model.left, model.asked = left, 0
        with pytest.raises(ServerStopError):
            run(tmp_path / "run", concurrency=1)
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: RULES)
    judged.clear()
    run(tmp_path / "run")
    assert len(judged) == SIZE - 7
    assert records(tmp_path / "run") == records(tmp_path / "whole")
    names = {path.name for path in (tmp_path / "run").glob(".records*")}
    assert names == {MARKS}, "what was unfinished is gone"


def test_records_are_on_the_disk_before_they_have_their_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    named = watch_names(monkeypatch)
    run(tmp_path / "run")
    assert all(is_there for _, is_there in named), named
    assert {"records.jsonl", MARKS, "run.json", "test_set.jsonl"} <= {name for name, _ in named}


def test_an_adaptive_schedule_needs_its_verdicts(tmp_path: Path, judged: list[str]) -> None:
    options = {"pairs": "adaptive", "pairs_per_segment": 1}
    run(tmp_path / "run", judge="direct-rank", **options)
    first = records(tmp_path / "run"), len(judged)
    run(tmp_path / "run", judge="direct-rank", **options)
    assert (records(tmp_path / "run"), len(judged)) == (first[0], 2 * first[1])


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished") / "run"
    run(folder)
    return folder


@pytest.mark.filterwarnings("ignore:.*was changed after the run, and is made anew")
@given(
    name=st.sampled_from(["records.jsonl", MARKS]),
    place=st.floats(0, 1),
    new=st.one_of(st.none(), st.binary(min_size=1, max_size=3)),
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_happened_to_the_files_the_records_are_the_same(
    tmp_path: Path, finished: Path, name: str, place: float, new: bytes | None
) -> None:
    folder = tmp_path / "damaged"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(finished, folder)
    content = (folder / name).read_bytes()
    at = int(place * len(content))
    (folder / name).write_bytes(
        content[:at] if new is None else content[:at] + new + content[at + len(new) :]
    )
    run(folder)
    assert records(folder) == records(finished)


def test_of_two_unfinished_files_the_one_with_more_is_read(tmp_path: Path) -> None:
    def written(count: int) -> None:
        with closing(Journal(tmp_path, b"basis")) as made:
            for number in range(count):
                made.write(str(number), ENTRY)

    def found() -> int:
        with closing(Kept(tmp_path, b"basis")) as kept:
            return sum(kept.find(number, str(number)) == ENTRY for number in range(9))

    written(6)
    assert found() == 6  # put aside, so that a session can write its own
    written(3)
    assert found() == 6
    written(8)
    assert found() == 8
    with closing(Kept(tmp_path, b"another")) as kept:
        assert kept.find(0, "0") is None


def test_a_unit_that_was_passed_over_or_has_another_name_is_not_found(tmp_path: Path) -> None:
    with closing(Journal(tmp_path, b"basis")) as made:
        for name in "abcde":
            made.write(name, ENTRY)
    with closing(Kept(tmp_path, b"basis")) as kept:
        assert kept.find(1, "b") == ENTRY
        assert kept.find(0, "a") is None
        assert kept.find(2, "c") == ENTRY
        assert kept.find(3, "x") is None
        assert kept.find(4, "e") is None, "after what does not fit nothing is believed"
