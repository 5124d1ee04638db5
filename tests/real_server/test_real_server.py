"""Every judge against llama.cpp's own server, with a model of random weights that a second writes.

`make real-server` installs the server and runs this. What such a model says is forced JSON of random letters,
or no JSON at all: each call must end as an answer or as a failure with
the right reason, and each run by itself.
"""

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip(
    "gguf", reason="llama.cpp's server is not installed: `make real-server` installs it and runs these tests"
)

from adjudge.core.segment import TestSet
from adjudge.errors import ServerAwayError
from adjudge.llm.faults import Patience
from tests.faults.server import patient
from tests.real_server.serve import RealServer, running
from tests.real_server.table import CASES, TEXTS, Case, Ended, judge

pytestmark = pytest.mark.slow

OF_A_REPLY = {
    *(
        "ambiguous",
        "count",
        "empty",
        "encoding",
        "label",
        "parse",
        "range",
        "schema",
        "span",
        "truncated",
        "words",
    )
}
"""Reasons that are about what a model wrote. None is about the server, which has done what it was asked."""
QUICK = {"gemba-mqm", "gemba-da", "direct-rank", "fire", "rate"}


def longer(words: int) -> TestSet:
    """One segment whose source is so long, of which a word is ten tokens."""
    (segment,) = TEXTS.segments
    return replace(TEXTS, segments=(replace(segment, source="Harbours. " * words),))


def check(ended: Ended, schema: str) -> None:
    """Each call ended well or for a reason that fits how the reply stopped."""
    reasons = OF_A_REPLY if schema == "on" else OF_A_REPLY | {"logprob"}  # of bytes that are no text
    assert set(ended.records) <= {"record"} | reasons
    assert set(ended.calls) <= {"read"} | reasons
    for reason, finish in ended.stops:
        assert (finish == "length") == (reason == "truncated"), "only a reply that was cut is one"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=[] if case.judge in QUICK else [pytest.mark.nightly])
        for case in CASES
    ],
)
def test_each_judge_ends_with_records_or_reasons(real: RealServer, tmp_path: Path, case: Case) -> None:
    ended = judge(case, real, tmp_path / "run")
    check(ended, case.schema)
    assert ended.records
    assert "logprob" not in case.settings.values() or case.schema == "off" or ended.calls["read"]


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 2, 3])
def test_models_that_say_something_else_end_the_same_way(tmp_path: Path, seed: int) -> None:
    with running(tmp_path, seed) as server:
        for number, case in enumerate(case for case in CASES if case.judge in QUICK):
            check(judge(case, server, tmp_path / str(number)), case.schema)


@pytest.mark.nightly
@pytest.mark.parametrize("tokens", [1, 8, 64])
def test_a_reply_that_is_cut_is_truncated_or_what_the_server_makes_of_it(
    real: RealServer, tmp_path: Path, tokens: int
) -> None:
    """Of JSON that is cut at some places llama.cpp's server says that it cannot read it."""
    ended = judge(Case("gemba-mqm", "on"), real, tmp_path / "run", max_tokens=(str(tokens),))
    check(ended, "on")
    assert set(ended.records) <= {"record", "truncated", "parse"}
    assert tokens > 8 or "record" not in ended.records


def test_a_text_that_does_not_fit_is_too_long(real: RealServer, tmp_path: Path) -> None:
    ended = judge(Case("gemba-mqm", "on"), real, tmp_path / "run", longer(2000))
    assert (set(ended.records), set(ended.calls)) == ({"too_long"}, {"too_long"})


@pytest.mark.nightly
def test_a_reply_for_which_the_context_has_no_room_is_truncated(real: RealServer, tmp_path: Path) -> None:
    ended = judge(Case("gemba-da", "off"), real, tmp_path / "run", longer(1470))
    assert set(ended.records) == {"truncated"}


def stored(out: Path) -> int:
    if not (path := out / "calls.sqlite").exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM calls").fetchone()[0])
        except sqlite3.OperationalError:  # there are no tables yet, or they are being written
            return 0


@pytest.mark.parametrize("is_back", [True, False])
def test_a_server_that_is_killed_amid_a_run_costs_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_back: bool
) -> None:
    """The run waits for it; where it stays away the run stops, and the same call goes on with what is had."""
    defaults = Patience.__init__.__kwdefaults__ or {}
    monkeypatch.setitem(defaults, "longest_wait", 60.0 if is_back else 2.0)
    (segment,) = TEXTS.segments
    segments = (replace(segment, segment=str(n), source=f"Ship {n}.") for n in range(20))
    texts, case, out = replace(TEXTS, segments=tuple(segments)), Case("direct-rank", "on"), tmp_path / "run"
    with running(tmp_path, seed=0) as server:

        def kill() -> None:
            patient(60, lambda: stored(out) > 5)
            server.kill()
            if is_back:
                server.start()

        killer = threading.Thread(target=kill)
        killer.start()
        if is_back:
            ended = judge(case, server, out, texts)
            killer.join()
        else:
            with pytest.raises(ServerAwayError):
                judge(case, server, out, texts)
            killer.join()
            known = stored(out)
            assert 5 < known < 40
            server.start()
            ended = judge(case, server, out, texts)
        check(ended, "on")
        assert ended.records.total() == 20
        assert stored(out) <= 40
