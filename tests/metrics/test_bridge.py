"""Programs as metrics: one that behaves, and every way of not behaving that we could think of."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.segment_scores import score_records
from adjudge.core.record import Annotation, ErrorSpan, Failure
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.errors import UsageError
from adjudge.metrics import load_metric
from adjudge.metrics.bridge import Bridge
from adjudge.runs.engines import arun, run
from adjudge.store.run_directory import read_run

TEXTS = ("Eine Katze\u2028schläft.", "Straße 🐈 ", "", 'Zitat "so"\nzwei')

Made = Callable[..., Bridge]


def subjects() -> list[Subject]:
    return [
        Subject(
            segment=Segment(
                segment=str(n), lp="en-de", document="d", source=f"Source {n}", translations={"A": text}
            ),
            systems=("A",),
            reference=f"Referenz {n}",
        )
        for n, text in enumerate(TEXTS)
    ]


def four() -> TestSet:
    filled = (replace(s.segment, translations={"A": s.translation or "leer"}) for s in subjects())
    return TestSet(name="four", segments=tuple(filled))


@pytest.fixture
def bridge(tmp_path: Path) -> Made:
    """A bridge to a script of these lines; `units` are what it was given, `answer` writes one line."""

    def make(body: str, arguments: Sequence[str] = (), **settings: Any) -> Bridge:
        script = tmp_path / "script.py"
        script.write_text(
            "import json, os, sys, time\n"
            "sys.stdin.reconfigure(encoding='utf-8')\n"
            "units = [] if sys.stdin.isatty() else [json.loads(line) for line in sys.stdin]\n"
            "def answer(**fields): print(json.dumps(fields), flush=True)\n" + body,
            encoding="utf-8",
        )
        return Bridge(command=(sys.executable, "-S", str(script), *arguments), **{"name": "mine", **settings})

    return make


LENGTHS = "for u in units: answer(id=u['id'], score=len(u['translation']))\n"


# One that behaves...


def test_a_score_is_joined_by_its_id_and_never_by_its_place(bridge: Made) -> None:
    records = bridge("units.reverse()\n" + LENGTHS).annotate(subjects())
    assert records == [
        Annotation(
            lp="en-de",
            document="d",
            segment=str(n),
            system="A",
            annotator="mine",
            protocol="metric",
            rating=float(len(text)),
        )
        for n, text in enumerate(TEXTS)
    ]


def test_the_program_is_given_ids_texts_and_names(bridge: Made) -> None:
    body = "for u in units: answer(id=u['id'], score=0, rationale=json.dumps(u, sort_keys=True))\n"
    told = [
        json.loads(r.rationale or "") for r in bridge(body).annotate(subjects()) if isinstance(r, Annotation)
    ]
    assert [unit["translation"] for unit in told] == list(TEXTS)
    assert told[3] == {
        "id": "u4",
        "lp": "en-de",
        "document": "d",
        "segment": "3",
        "system": "A",
        "source": "Source 3",
        "translation": TEXTS[3],
    }


def test_a_reference_is_given_where_it_is_wanted(bridge: Made) -> None:
    body = "for u in units: answer(id=u['id'], score=0, rationale=u['reference'])\n"
    records = bridge(body, with_reference=True).annotate(subjects())
    assert [r.rationale for r in records if isinstance(r, Annotation)] == [f"Referenz {n}" for n in range(4)]


def test_lower_is_better_is_turned_round_with_its_range(bridge: Made) -> None:
    metric = bridge(LENGTHS, direction="lower", range="0..25")
    assert [r.rating for r in metric.annotate(subjects()) if isinstance(r, Annotation)] == [
        -float(len(text)) + 0.0 for text in TEXTS
    ]
    assert (metric.low, metric.high) == (-25.0, 0.0)
    assert metric.settings("en-de")["direction"] == "lower, negated"
    assert metric.settings("en-de")["range"] == "0..25"


@pytest.mark.parametrize(
    ("text", "bounds"),
    [("", (None, None)), ("0..1", (0, 1)), ("-25..0", (-25, 0)), ("0..", (0, None)), ("..1.5", (None, 1.5))],
)
def test_a_range_may_be_open(text: str, bounds: tuple[float | None, float | None]) -> None:
    metric = Bridge(range=text)
    assert (metric.low, metric.high) == bounds


def test_spans_come_with_offsets_in_code_points(bridge: Made) -> None:
    body = """
for u in units:
    start = u['translation'].find('🐈')
    spans = [] if start < 0 else [
        {'start': start, 'end': start + 1, 'text': '🐈', 'severity': 'Major', 'category': 'Accuracy/Addition',
         'note': 'no cat in the source'},
        {'severity': 'minor', 'category': 'accuracy/omission', 'side': 'source', 'start': 0, 'end': 6},
        {'severity': 'minor'}, {'severity': 'minor', 'text': 'nowhere'}]
    answer(id=u['id'], spans=spans, flags=['input_cut'] if spans else [])
"""
    metric = bridge(body, protocol="mqm")
    assert metric.weights == "mqm-google"
    record = metric.annotate(subjects())[1]
    assert isinstance(record, Annotation)
    assert record.flags == ("input_cut",)
    first, second, third, fourth = record.spans
    assert first == ErrorSpan(
        start=7,
        end=8,
        text="🐈",
        severity="major",
        category="accuracy/addition",
        note="no cat in the source",
        label="Accuracy/Addition",
    )
    assert (second.side, second.text) == ("source", "Source")
    assert (third.match, fourth.match, fourth.text) == ("unplaced", "unmatched", "nowhere")


@pytest.mark.parametrize("score", [0, 25])
def test_both_ends_of_a_range_are_scores(bridge: Made, score: int) -> None:
    metric = bridge(f"for u in units[:1]: answer(id=u['id'], score={score})\n", range="0..25")
    (record,) = metric.annotate(subjects()[:1])
    assert isinstance(record, Annotation)
    assert record.rating == score


@pytest.mark.parametrize("place", [0, len(TEXTS[0])])
def test_a_place_between_two_characters_is_a_span(bridge: Made, place: int) -> None:
    span = {"start": place, "end": place, "severity": "major"}
    (record,) = bridge(f"for u in units[:1]: answer(id=u['id'], spans=[{span}])\n", protocol="mqm").annotate(
        subjects()[:1]
    )
    assert isinstance(record, Annotation)
    assert [(s.start, s.end, s.text) for s in record.spans] == [(place, place, "")]


def test_score_and_spans_may_come_together(bridge: Made) -> None:
    span = {"start": 0, "end": 4, "severity": "minor"}
    body = f"for u in units[:1]: answer(id=u['id'], score=80, spans=[{span}])\n"
    for protocol in ("esa", "metric"):
        record = bridge(body, protocol=protocol).annotate(subjects()[:1])[0]
        assert isinstance(record, Annotation)
        assert (record.protocol, record.rating, record.spans[0].text) == (protocol, 80.0, "Eine")


def test_files_in_place_of_standard_input_and_output(bridge: Made) -> None:
    body = """
print('words on standard output harm nobody here')
with open(sys.argv[1], encoding='utf-8') as given, open(sys.argv[2], 'w') as out:
    for line in given:
        print(json.dumps({'id': json.loads(line)['id'], 'score': 1}), file=out)
"""
    records = bridge(body, ["{input}", "{output}"]).annotate(subjects())
    assert [r.rating for r in records if isinstance(r, Annotation)] == [1.0] * 4


def test_each_start_gets_a_batch(bridge: Made) -> None:
    records = bridge("for u in units: answer(id=u['id'], score=len(units))\n", batch=3).annotate(subjects())
    assert [r.rating for r in records if isinstance(r, Annotation)] == [3.0, 3.0, 3.0, 1.0]


def test_nothing_to_judge_starts_nothing() -> None:
    assert Bridge().annotate([]) == []


# Ways of misbehaving with one unit: the others keep their numbers...

ONE = {
    "missing": ("pass", "count", "3 of 4 were answered"),
    "twice": ("answer(id=i, score=1); answer(id=i, score=1)", "count", "more than once"),
    "nan": ("answer(id=i, score=float('nan'))", "range", "got 'nan'"),
    "infinity": ("answer(id=i, score=float('-inf'))", "range", "finite number"),
    "1e999": ('print(\'{"id": "%s", "score": 1e999}\' % i)', "range", "got 'inf'"),
    "very long number": ('print(\'{"id": "%s", "score": %s}\' % (i, \'9\' * 5000))', "range", "finite"),
    "text for a number": ("answer(id=i, score='1')", "range", "got '1'"),
    "truth for a number": ("answer(id=i, score=True)", "range", "got 'True'"),
    "null": ("answer(id=i, score=None)", "range", "got 'None'"),
    "list": ("answer(id=i, score=[1])", "range", "got '[1]'"),
    "too high": ("answer(id=i, score=101)", "range", "from 0 to 100"),
    "no score": ("answer(id=i)", "schema", "wanted a score, got id"),
    "another key": ("answer(id=i, score=1, prediction=1)", "schema", "got 'prediction'"),
    "bad flags": ("answer(id=i, score=1, flags='cut')", "schema", "flags"),
    "sentences for flags": ("answer(id=i, score=1, flags=['was cut'])", "schema", "flags"),
    "bad rationale": ("answer(id=i, score=1, rationale=1)", "schema", "rationale"),
    "known error": ("answer(id=i, error='too_long', detail='512 tokens')", "too_long", "512 tokens"),
    "error without detail": ("answer(id=i, error='refused')", "refused", "says the command"),
    "other error": ("answer(id=i, error='CUDA', detail='oom')", "server_error", "CUDA: oom"),
    "error that is none": ("answer(id=i, error=None)", "schema", "error and detail"),
    "error and score": ("answer(id=i, error='timeout', score=1)", "schema", "has 'score'"),
    "half a character": (
        'print(\'{"id": "%s", "error": "\\\\ud800"}\' % i)',
        "encoding",
        "half a character",
    ),
    "spans without a list": ("answer(id=i, score=1, spans={})", "schema", "must be a list"),
    "span that is none": ("answer(id=i, score=1, spans=[1])", "schema", "span 1"),
    "span with another key": (
        "answer(id=i, score=1, spans=[{'severity': 'minor', 'x': 1}])",
        "schema",
        "'x'",
    ),
    "severity": ("answer(id=i, score=1, spans=[{'severity': 'severe'}])", "label", "'severe'"),
    "category": (
        "answer(id=i, score=1, spans=[{'severity': 'minor', 'category': 'odd'}])",
        "label",
        "'odd'",
    ),
    "side": ("answer(id=i, score=1, spans=[{'severity': 'minor', 'side': 'left'}])", "label", "'left'"),
    "outside": (
        "answer(id=i, score=1, spans=[{'severity': 'minor', 'start': 0, 'end': 99}])",
        "range",
        "0 and 99",
    ),
    "half a place": ("answer(id=i, score=1, spans=[{'severity': 'minor', 'start': 0}])", "range", "None"),
    "other words": (
        "answer(id=i, score=1, spans=[{'severity': 'minor', 'start': 0, 'end': 4, 'text': 'Zwei'}])",
        "range",
        "'Eine' stands there",
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_what_is_wrong_with_one_answer_is_a_failure_of_its_unit_alone(bridge: Made, name: str) -> None:
    wrong, reason, detail = ONE[name]
    body = f"i = units[0]['id']\n{wrong}\nfor u in units[1:]: answer(id=u['id'], score=1)\n"
    first, *others = bridge(body, range="0..100").annotate(subjects())
    assert isinstance(first, Failure)
    assert (first.reason, first.segment, first.systems) == (reason, "0", ("A",))
    assert detail in first.detail
    assert all(isinstance(r, Annotation) and r.rating == 1 for r in others)


# ... and those that make every number of a start doubtful: there are none.

ALL = {
    "words before": ("print('Loading the model')\n" + LENGTHS, "parse", "got 'Loading the model'"),
    "words after": (LENGTHS + "print('done')", "parse", "line 5 of the answers"),
    "a warning in the middle": (LENGTHS + "print('[WARN] slow')", "parse", "standard error"),
    "a bare number": ("for u in units: print(0.5)", "parse", "must be a JSON object"),
    "a list": ("print(json.dumps([{'id': u['id'], 'score': 1} for u in units]))", "parse", "JSON object"),
    "broken json": (LENGTHS + 'print(\'{"id": "u1"\')', "parse", "line 5"),
    "deep json": ("print('[' * 100000)", "parse", "line 1"),
    "an unknown id": (LENGTHS + "answer(id='u5', score=1)", "count", "id 'u5', which nobody asked for"),
    "ids as numbers": ("for n, u in enumerate(units): answer(id=n, score=1)", "count", "id 0"),
    "no ids": ("for u in units: answer(score=1)", "count", "id None"),
    "a key twice": ('print(\'{"id": "u1", "score": 1, "score": 2}\')', "ambiguous", "twice"),
    "no utf-8": ('sys.stdout.buffer.write(b\'{"id": "\\xff"}\')', "encoding", "line 1"),
    "exit status": (LENGTHS + "sys.exit(3)", "server_error", "exit status 3; it said nothing"),
    "an exception": (
        "raise RuntimeError('no weights here')",
        "server_error",
        "RuntimeError: no weights here",
    ),
    "killed": (LENGTHS + "os.kill(os.getpid(), 9)", "server_error", "killed by SIGKILL, perhaps"),
    "segmentation fault": ("os.kill(os.getpid(), 11)", "server_error", "killed by SIGSEGV"),
    "hanging": (LENGTHS + "time.sleep(60)", "timeout", "did not end within 0.3 s and was killed"),
    "endless": ("while True: print('{}' * 100000, flush=True)", "oversize", "bytes of answers"),
    "nothing at all": ("", "count", "0 of 4 were answered"),
}


@pytest.mark.parametrize("name", ALL)
def test_a_start_that_cannot_be_believed_gives_no_number(bridge: Made, name: str) -> None:
    body, reason, detail = ALL[name]
    started = time.monotonic()
    records = bridge(body, time_limit=0.3 if name == "hanging" else 20.0).annotate(subjects())
    assert time.monotonic() - started < 50
    for record in records:
        assert isinstance(record, Failure)
        assert record.reason == reason
        assert detail in record.detail


def test_the_last_words_are_shown_and_nothing_that_moves_a_terminal(bridge: Made) -> None:
    body = "sys.stderr.write('\\n'.join(f'line {n} \\x1b[31mred' for n in range(50)))\nsys.exit(1)\n"
    record = bridge(body).annotate(subjects())[0]
    assert isinstance(record, Failure)
    assert "line 45  [31mred / line 46" in record.detail
    assert "line 44" not in record.detail


def test_what_the_program_started_is_killed_with_it(bridge: Made, tmp_path: Path) -> None:
    body = f"""
import subprocess
child = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])
open({str(tmp_path / "pid")!r}, 'w').write(str(child.pid))
time.sleep(60)
"""
    assert {
        r.reason for r in bridge(body, time_limit=0.5).annotate(subjects()) if isinstance(r, Failure)
    } == {"timeout"}
    assert is_gone(int((tmp_path / "pid").read_text()))


def is_gone(pid: int) -> bool:
    for _ in range(500):
        try:
            os.kill(pid, 0)
            with suppress(FileNotFoundError):  # it may go between the two looks
                if " Z " in Path(f"/proc/{pid}/stat").read_text():
                    return True  # dead, and its parent did not look yet
        except ProcessLookupError:
            return True
        time.sleep(0.02)
    return False


# Settings...


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"command": "python 'x"}, "cannot be split"),
        ({"name": " "}, "name of the metric"),
        ({"name": "a\nb"}, "name of the metric"),
        ({"range": "25"}, "range must look like"),
        ({"range": "a..b"}, "range must look like"),
        ({"range": "nan..1"}, "range must look like"),
        ({"range": "1..0"}, "range must rise"),
        ({"batch": 0}, "batch must be 1 or more"),
        ({"time_limit": 0.0}, "time_limit"),
        ({"time_limit": float("nan")}, "time_limit"),
        ({"criterion": "style"}, "a criterion is for protocol pairwise"),
        ({"protocol": "stars"}, "no protocol 'stars'"),
        ({"protocol": "mqm", "direction": "lower"}, "has its own scale"),
        ({"protocol": "esa", "range": "0..1"}, "has its own scale"),
        ({"weights": "gemba"}, "weights are for protocol mqm"),
        ({"protocol": "mqm", "weights": "none"}, "no weights 'none'"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        Bridge(**settings)


@pytest.mark.parametrize(
    ("command", "message"),
    [("", "needs a command"), ("no-such-program --x", "starts with 'no-such-program'")],
)
def test_a_command_that_cannot_be_run_stops_the_run_before_it_begins(
    command: str, message: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=message):
        run(Bridge(command=command), four(), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_settings_come_as_text(bridge: Made) -> None:
    made = load_metric(
        "bridge",
        {"command": "python 'my script.py' {input}", "time-limit": "5", "batch": "7", "direction": "lower"},
    )
    assert made == Bridge(command="python 'my script.py' {input}", time_limit=5.0, batch=7, direction="lower")


# Runs...


def test_a_run_keeps_numbers_and_failures_apart(bridge: Made, tmp_path: Path) -> None:
    body = "for u in units[:3]: answer(id=u['id'], score=2)\n"
    done = run(bridge(body, range="0..5"), four(), out=tmp_path / "run")
    assert done.info.counts == {"judged": 3, "failed": 1, "pending": 0}
    assert done.info.failures == {"count": 1}
    assert (done.info.annotator, done.info.low, done.info.high) == ("mine", 0.0, 5.0)
    assert read_run(tmp_path / "run") == done
    scores = score_records(done)
    assert (scores.systems[0].score, scores.systems[0].n, scores.systems[0].failed) == (2.0, 3, 1)
    assert scores.signature.fields["command"].endswith("script.py")


async def test_a_run_that_is_stopped_kills_its_program(bridge: Made, tmp_path: Path) -> None:
    body = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(60)\n"
    task = asyncio.create_task(arun(bridge(body), four(), out=tmp_path / "run"))
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
        assert not task.done()
        await asyncio.sleep(0.02)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(int((tmp_path / "pid").read_text()))
