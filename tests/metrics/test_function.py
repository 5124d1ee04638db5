"""Functions as metrics: what they give, what they may not give, and the file that `--plugin` names."""

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge.core.record import Annotation, Failure
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import FailedWarning, UsageError
from adjudge.metrics.function import FunctionMetric
from adjudge.runs.units import code_of
from tests.cli.calling import Asked
from tests.runs.conftest import Rater, small_set

FILE = """
import adjudge

@adjudge.metric(range=(0, 1), name="overlap")
def share(translation, reference):
    if "boom" in translation:
        raise ValueError("no words")
    words = set(reference.split())
    return len(words & set(translation.split())) / len(words)

@adjudge.metric(direction="lower", batch=2)
def lengths(sources, translations):
    return [abs(len(a) - len(b)) for a, b in zip(sources, translations)]
"""


def texts(*translations: str) -> TestSet:
    segments = (
        Segment(
            segment=str(n),
            lp="en-de",
            source=f"s{n}",
            translations={"A": text},
            references={"refA": "ein Satz"},
        )
        for n, text in enumerate(translations)
    )
    return TestSet(name="texts", segments=tuple(segments))


def outcomes(metric: FunctionMetric, test_set: TestSet) -> list[float | str | None]:
    """Rating of each translation, or the reason for none."""
    records = adjudge.run(metric, test_set, max_failed=1).records
    return [each.reason if isinstance(each, Failure) else each.rating for each in records]  # type: ignore[union-attr]


# What a function is given and gives...


@given(
    values=st.lists(
        st.floats() | st.integers(-5, 5) | st.booleans() | st.none() | st.text(max_size=2),
        min_size=1,
        max_size=9,
    ),
    low=st.none() | st.floats(-3, 0),
    high=st.none() | st.floats(0.5, 3),
    batch=st.none() | st.integers(1, 4),
    direction=st.sampled_from(["higher", "lower"]),
)
def test_only_a_finite_number_in_the_range_is_a_score(
    values: list[Any], low: float | None, high: float | None, batch: int | None, direction: Any
) -> None:
    given = dict(zip(map(str, range(len(values))), values, strict=True))

    def one(translation: str) -> Any:
        return given[translation]

    def many(translations: list[str]) -> list[Any]:
        assert len(translations) <= (batch or 1)
        return [given[each] for each in translations]

    metric = adjudge.metric(range=(low, high), batch=batch, direction=direction)(many if batch else one)
    found = outcomes(metric, texts(*given))
    sign = -1 if direction == "lower" else 1
    for value, got in zip(values, found, strict=True):
        is_score = isinstance(value, int | float) and math.isfinite(value)
        is_score = is_score and (low is None or value >= low) and (high is None or value <= high)
        assert got == sign * value if is_score else got in {"range", "schema"}
    assert (metric.low, metric.high) == tuple(
        None if end is None else sign * end for end in ((low, high) if sign == 1 else (high, low))
    )


@pytest.mark.parametrize(
    "number", [np.float32(0.5), np.float64(0.5), np.array(0.5), Decimal("0.5"), np.int8(1), True, np.True_]
)
def test_a_number_may_be_of_any_library(number: Any) -> None:
    def metric(translation: str) -> Any:
        return number

    assert outcomes(adjudge.metric(range=(0, 1))(metric), texts("a")) == [float(number)]


@pytest.mark.parametrize(
    ("result", "reason", "words"),
    [
        (10**400, "schema", "a score must be a number"),
        ([0.5, 0.5], "schema", "a score must be a number"),
        ("0.5", "schema", "got '0.5', of type str"),
        (b"1", "schema", "of type bytes"),
        (None, "schema", "got None, of type NoneType"),
        ({"score": 1}, "schema", "of type dict"),
        (np.float64("nan"), "range", "a finite number"),
        (float("nan"), "range", "got 'nan'"),
        (-math.inf, "range", "got '-inf'"),
    ],
)
def test_what_is_no_number_is_a_failure_that_shows_it(result: Any, reason: str, words: str) -> None:
    @adjudge.metric
    def mine(translation: str) -> Any:
        return result

    with pytest.warns(FailedWarning, match=rf"first {reason}: a score must be a .*got .*correct the metric"):
        (record,) = adjudge.run(mine, texts("a")).records
    assert isinstance(record, Failure)
    assert (record.reason, record.annotator, words in record.detail) == (reason, "mine", True)


def test_what_it_raises_is_a_failure_and_is_counted_beside_the_scores() -> None:
    @adjudge.metric(range=(0, None))
    def mine(source: str, translation: str) -> float:
        return 1 / (len(translation) - 3)

    run = adjudge.run(mine, texts("four", "six", "a text"), max_failed=0.5)
    assert [type(record) for record in run.records] == [Annotation, Failure, Annotation]
    failure = run.records[1]
    assert isinstance(failure, Failure)
    assert failure.reason == "raised"
    assert failure.detail.startswith("ZeroDivisionError: ")
    scores = adjudge.score(run)
    (system,) = scores.systems
    assert (system.n, system.failed) == (2, 1)
    assert scores.signature.fields["failed"] == "1/3"
    assert scores.signature.fields["range"] == "0.."
    assert scores.range == (0.0, math.inf)


@pytest.mark.parametrize("size", [0, 1, 3])
def test_a_batch_of_another_length_fails_whole(size: int) -> None:
    @adjudge.metric(batch=2)
    def mine(translations: Sequence[str]) -> list[float]:
        return [1.0] * size

    assert outcomes(mine, texts("a", "b")) == ["count", "count"]


@pytest.mark.parametrize(
    "result", ["12", 3, None, {0: 1.0, 1: 2.0}, {1.0, 2.0}, np.array(1.0), b"12"], ids=repr
)
def test_a_batch_that_is_no_list_fails_whole(result: Any) -> None:
    @adjudge.metric(batch=2)
    def mine(translations: Sequence[str]) -> Any:
        return result

    assert outcomes(mine, texts("a", "b")) == ["schema", "schema"]


def test_a_batch_may_be_of_any_ordered_kind() -> None:
    for made in (np.array, tuple, iter):

        @adjudge.metric(batch=2, name="made")
        def mine(translations: Sequence[str], made: Any = made) -> Any:
            return made([1.0, 2.0])

        assert outcomes(mine, texts("a", "b")) == [1.0, 2.0]


def test_a_batch_that_raises_fails_alone() -> None:
    @adjudge.metric(batch=2)
    def mine(translations: Sequence[str]) -> list[float]:
        return [1 / len(each.strip("b")) for each in translations]

    assert outcomes(mine, texts("a", "b", "aa", "aaaa")) == ["raised", "raised", 0.5, 0.25]


def test_a_segment_without_reference_or_translation_is_no_call() -> None:
    seen = []

    @adjudge.metric
    def mine(reference: str, translation: str) -> float:
        seen.append((reference, translation))
        return 0.0

    first, second, third = texts("a", "", "c")
    holes = TestSet(name="holes", segments=(first, second, replace(third, references={})))
    assert outcomes(mine, holes) == [0.0, "no_translation", "missing"]
    assert seen == [("ein Satz", "a")]


def test_the_function_stays_a_function() -> None:
    @adjudge.metric(direction="lower")
    def mine(translation: str) -> int:
        return len(translation)

    assert mine("abc") == 3


# The signature...


def test_a_signature_changes_with_the_file_of_the_function(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    found = []
    for body in ("1.0", "1.0", "2.0"):
        file.write_text(f"import adjudge\n@adjudge.metric\ndef f(translation): return {body}\n")
        run = adjudge.run("f", texts("a"), plugin=file)
        found.append(str(run.info.signature))
    assert found[0] == found[1] != found[2]
    assert "|code:" in found[0]


def test_a_function_that_stands_in_no_file_has_a_code_too() -> None:
    def made(body: str) -> FunctionMetric:
        room: dict[str, Any] = {}
        exec(f"def f(translation): return {body}", room)  # noqa: S102 (as `python -c` does)
        return adjudge.metric(room["f"])

    assert code_of(made("1")) == code_of(made("1")) != code_of(made("2"))


def test_two_functions_of_one_name_in_one_file_have_different_code() -> None:
    def length(translation: str) -> float:
        return len(translation)

    first = adjudge.metric(length)

    def length(translation: str) -> float:  # type: ignore[no-redef]
        return 2 * len(translation)

    assert code_of(first) != code_of(adjudge.metric(length))


def test_the_code_of_a_function_holds_what_it_was_made_with() -> None:
    def scaled(factor: object, start: int = 0) -> FunctionMetric:
        @adjudge.metric(name="scaled")
        def length(translation: str, start: int = start) -> float:
            return start + len(translation) * int(str(factor))

        return length

    assert code_of(scaled(1)) == code_of(scaled(1))
    assert len({code_of(made) for made in (scaled(1), scaled(-1), scaled("1"), scaled(1, start=2))}) == 4
    assert code_of(scaled(object())) == code_of(scaled(object()))  # where it lies in memory tells nothing


# Mistakes...


def _keyword_only(translation: str, *, strict: bool) -> float:
    return 0.0


async def _late(translation: str) -> float:
    return 0.0


@pytest.mark.parametrize(
    ("function", "settings", "words"),
    [
        (lambda a, b, c: 0, {}, "its parameters must be translation"),
        (lambda source: 0, {}, "its parameters must be translation"),
        (_keyword_only, {}, "they are translation, strict"),
        (lambda translation: 0, {"batch": 4}, "its parameters must be translations"),
        (lambda translation: 0, {"range": (1, 0)}, "range must be two rising numbers"),
        (lambda translation: 0, {"range": (0, 1, 2)}, "range must be two rising numbers"),
        (lambda translation: 0, {"range": (math.nan, 1)}, "range must be two rising numbers"),
        (lambda translation: 0, {"range": "0..1"}, "range must be two rising numbers"),
        (lambda translations: 0, {"batch": 0}, "batch must be a number of translations"),
        (lambda translation: 0, {"batch": True}, "batch must be a number of translations"),
        (lambda translation: 0, {"name": "a\nb"}, "name of a metric must be"),
        (lambda translation: 0, {"name": "a/b"}, r"without / and .*give another name="),
        (lambda translation: 0, {"name": "a\\b"}, r"without / and .*give another name="),
        (lambda translation: 0, {"name": " "}, "name of a metric must be"),
        (lambda translation: 0, {"name": ".."}, "name of a metric must be"),
        (lambda translation: 0, {"name": "chrf"}, "'chrf' is a metric of ours; give the function another"),
        (lambda translation: 0, {"name": ""}, "a lambda has none; give name="),
        (lambda translation: 0, {"direction": "down"}, "direction must be"),
        (_late, {}, "stands above a plain function"),
        (len, {}, "stands above a plain function"),
        ("mine", {}, "stands above a plain function, got 'mine', of type str"),
    ],
)
def test_a_mistake_is_one_line(function: Any, settings: dict[str, Any], words: str) -> None:
    named = {"name": "mine"} if getattr(function, "__name__", "") == "<lambda>" else {}
    with pytest.raises(UsageError, match=words) as said:
        adjudge.metric(**{**named, **settings})(function)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize(
    ("judge", "words"),
    [
        (lambda source, translation: 1.0, "@adjudge.metric above it"),
        (adjudge.metrics.Bleu, r"make a judge or a metric of it, Bleu\(\)"),
        (3, "neither a judge nor a metric"),
    ],
)
def test_what_is_no_metric_is_told_what_to_do(judge: Any, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        adjudge.run(judge, texts("a"))


# On the command line...


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str], list[str]]:
    """The option, with a file of these lines, and a test set."""

    def write(lines: str) -> list[str]:
        (tmp_path / "mine.py").write_text(lines)
        for name, text in (("s", "one\ntwo\n"), ("A", "ein Satz\nboom\n"), ("r", "ein Satz\nein Wort\n")):
            (tmp_path / name).write_text(text)
        files = ["-s", str(tmp_path / "s"), "-t", str(tmp_path / "A"), "-r", str(tmp_path / "r")]
        return [
            *files,
            "--lp",
            "en-de",
            "--out",
            str(tmp_path / "out"),
            "--plugin",
            str(tmp_path / "mine.py"),
        ]

    return write


def test_each_decorated_function_of_a_file_is_a_metric_by_its_name(
    plugin: Callable[[str], list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = Asked(capsys, "run", "overlap", *plugin(FILE), "--max-failed", "0.5")
    assert done.code == 0, done.err
    shown = Asked(capsys, "score", str(tmp_path / "out"), "--format", "json")
    assert '"failed": 1' in shown.out
    assert "overlap|ref:r|range:0..1|code:" in shown.out
    again = Asked(capsys, "run", "overlap", *plugin(FILE), "--max-failed", "0.5")
    assert again.code == 0, again.err
    other = Asked(capsys, "run", "overlap", *plugin(FILE + "\n"), "--max-failed", "0.5")
    assert (other.code, "holds another run" in other.err) == (2, True)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("import adjudge\n", "no function with @adjudge.metric"),
        ("import nothing_of_that_name\n", "cannot be imported: ModuleNotFoundError"),
        ("def f(:\n", "cannot be imported: SyntaxError"),
        (FILE.replace("overlap", "bleu"), "'bleu' is a metric of ours"),
        (FILE.replace("overlap", "gemba-mqm"), "'gemba-mqm' is a judge of ours"),
        (FILE.replace("overlap", "lengths"), "two metrics with the name 'lengths'"),
        (FILE.replace("(0, 1)", "(1, 0)"), "range must be two rising numbers"),
        (FILE.replace("overlap", "overlaps"), "did you mean overlaps?"),
    ],
)
def test_what_is_wrong_with_a_plugin_is_one_line(
    lines: str, words: str, plugin: Callable[[str], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    done = Asked(capsys, "run", "overlap", *plugin(lines))
    assert (done.code, done.out) == (2, "")
    assert words in done.err
    assert "Traceback" not in done.err


def test_a_function_has_no_settings_on_the_command_line(
    plugin: Callable[[str], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    done = Asked(capsys, "run", "overlap", *plugin(FILE), "--lowercase", "yes")
    assert (done.code, "no setting 'lowercase'" in done.err.replace("\n", " ")) == (2, True)


# In memory...


def test_a_run_without_a_directory_leaves_nothing_on_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    kept = small_set(lps=["en-de"])
    runs = [adjudge.run(judge, kept, max_failed=1) for judge in (adjudge.metrics.Rules(), "gemba-da")]
    assert [(len(run.records), len(adjudge.rank(run).systems)) for run in runs] == [(12, 2), (12, 2)]
    assert not [*tmp_path.iterdir()]
    (tmp_path / "out").mkdir()
    there = adjudge.run("gemba-da", kept, max_failed=1, out=tmp_path / "out" / "run")
    assert there.records == runs[1].records


def test_answers_that_cost_something_are_not_forgotten() -> None:
    with pytest.raises(UsageError, match=r"would be lost with the run: give out="):
        adjudge.run(Rater(), small_set(), model="openai/some", base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize("name", ["retry_failed", "reparse", "ask_again"])
def test_what_is_about_a_run_directory_needs_one(name: str) -> None:
    with pytest.raises(UsageError, match=f"{name} needs a run directory: add out="):
        adjudge.run("gemba-da", small_set(), **{name: True})  # type: ignore[arg-type]


BESIDE = """
import adjudge
from helper import weight
import words.count

@adjudge.metric
def weighed(translation):
    \"\"\"Words, weighed.\"\"\"
    return weight * words.count.of(translation)
"""


def _write_beside(folder: Path, weight: float) -> Path:
    (folder / "words").mkdir(parents=True, exist_ok=True)
    (folder / "words" / "count.py").write_text("def of(text): return len(text.split())\n")
    (folder / "helper.py").write_text(f"weight = {weight}\n")
    (folder / "mine.py").write_text(BESIDE)
    return folder / "mine.py"


def test_a_plugin_imports_what_lies_beside_it_as_it_is_now(tmp_path: Path) -> None:
    found = {}
    for folder, weight in (("a", 1.5), ("b", 2.25), ("a", 10.125)):
        run = adjudge.run("weighed", texts("one two"), plugin=_write_beside(tmp_path / folder, weight))
        found[str(run.info.signature)] = run.records[0].rating  # type: ignore[union-attr]
    assert [*found.values()] == [3.0, 4.5, 20.25]
    assert str(tmp_path) not in " ".join(sys.path)


def test_a_process_elsewhere_imports_what_lies_beside_a_plugin(
    plugin: Callable[[str], list[str]], tmp_path: Path
) -> None:
    given = plugin(BESIDE)
    _write_beside(tmp_path, 1.5)
    (tmp_path / "elsewhere").mkdir()
    command = [sys.executable, "-m", "adjudge", "run", "weighed", *given]
    done = subprocess.run(command, cwd=tmp_path / "elsewhere", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_list_of_metrics_has_those_of_a_plugin(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = _write_beside(tmp_path, 1.5)
    shown = Asked(capsys, "list", "metrics", "--plugin", str(file), "--format", "json")
    listed = {row["metric"]: row for row in json.loads(shown.out)["metrics"]}
    assert (listed["weighed"]["what_it_does"], "chrf" in listed) == ("Words, weighed.", True)
    refused = Asked(capsys, "list", "judges", "--plugin", str(file))
    assert (refused.code, "--plugin is for `list metrics`" in refused.err) == (2, True)
