"""What one verb reads every verb reads, from Python as from the command line, with the same numbers."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import adjudge
from adjudge import examples
from adjudge.core.record import Annotation, Record
from adjudge.errors import DataError, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.read import detect, load, read_judgements
from adjudge.formats.registry import FORMATS, find_format
from adjudge.store.json_lines import record_to_json
from tests.cli.calling import Asked

pytestmark = pytest.mark.filterwarnings("ignore:.*marks (beside a repetition|with white space)")

LP = "en-de"
SET = load(examples.path("test_set.jsonl"), LP)
MARKED = [r for r in read_judgements(examples.path("gold.mqm.jsonl")).records if r.lp == LP]
RATED: list[Record] = [
    Annotation(
        lp=LP, segment=s.segment, system=name, annotator="length", protocol="metric", rating=len(text) / 7
    )
    for s in SET
    for name, text in s.translations.items()
]
ROWS = [
    {"lp": r.lp, "segment": r.segment, "system": r.systems[0], "score": r.rating}  # type: ignore[union-attr]
    for r in RATED
]


def converted(form: str, records: list[Record], name: str) -> Callable[[Path], Path]:
    """Write records of the examples in a format that adjudge writes."""

    def write(folder: Path) -> Path:
        write_content(folder / name, form, Content(test_set=SET, records=records))
        return folder / name

    return write


def write_run(folder: Path) -> Path:
    adjudge.run("gemba-mqm", SET, out=folder / "run", model="builtin/rules")
    return folder / "run"


def write_comet(folder: Path) -> Path:
    path = folder / "scores.json"
    by_system = {
        name: [{"mt": "x", "COMET": row["score"]} for row in ROWS if row["system"] == name]
        for name in SET.systems
    }
    path.write_text(json.dumps(by_system))
    return path


def write_table(folder: Path) -> Path:
    path = folder / "scores.csv"
    path.write_text(pd.DataFrame(ROWS).to_csv(index=False))
    return path


WRITERS: dict[str, Callable[[Path], Path]] = {
    "run": write_run,
    "records": converted("records", MARKED, "gold.jsonl"),
    "mqm-tsv": converted("mqm-tsv", MARKED, "gold.tsv"),
    "wmt25": converted("wmt25", MARKED, "wmt25.tsv"),
    "parquet": converted("parquet", MARKED, "gold.parquet"),
    "mtme-ratings": converted("mtme-ratings", MARKED, f"{LP}.mqm.seg.rating"),
    "mtme-scores": converted("mtme-scores", RATED, f"{LP}.length.seg.score"),
    "comet": write_comet,
    "score-table": write_table,
}
ELSEWHERE = {
    "fire-mt": "tests/formats/test_fire_mt.py, whose judgements are of pairs",
    "ment-jsonl": "tests/formats/test_ment.py, whose shape only the hub's files have",
    "wmt25-jsonl": "tests/formats/test_wmt.py",
    "wmt-scores": "tests/formats/test_wmt.py",
    "wmt26": "tests/formats/test_wmt.py",
    "campaign": "tests/cli/test_people_commands.py: a campaign has judgements when people have judged",
    "appraise": "tests/formats/test_appraise.py, with its batches",
    "pearmut": "tests/formats/test_pearmut.py",
    "xliff": "tests/formats/test_xliff.py: judgements are written into the file that was judged",
    "score-lines": "tests/formats/test_score_file.py: of one system, so that nothing is ranked",
}
"""Formats whose judgements cannot be made of the examples alone, and where they go through the verbs."""


TEXTS = ("--test-set", examples.path("test_set.jsonl"), "--lp", LP)


def test_every_format_of_judgements_is_here_or_elsewhere() -> None:
    assert {*WRITERS, *ELSEWHERE} == {form.name for form in FORMATS if form.has_records and form.reads}
    for where in ELSEWHERE.values():
        assert (Path(__file__).parents[2] / where.split(".py")[0]).with_suffix(".py").is_file()


@pytest.fixture(params=WRITERS, scope="module")
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return WRITERS[request.param](tmp_path_factory.mktemp(request.param))


def needs_texts(path: Path) -> bool:
    return find_format(detect(path)).takes_texts


def asked(capsys: pytest.CaptureFixture[str], verb: str, path: Path, *more: object) -> Any:
    """What the command line says; texts are given where the file carries none."""
    texts = TEXTS if needs_texts(path) else TEXTS[2:]
    return Asked(capsys, verb, path, *more, *texts, "--format", "json").json


def given(path: Path) -> dict[str, Any]:
    """The same for Python."""
    return {"lp": LP} | ({"test_set": examples.path("test_set.jsonl")} if needs_texts(path) else {})


def test_score_reads_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = adjudge.score(path, **given(path))
    printed = {name: row["score"] for name, row in asked(capsys, "score", path)["systems"].items()}
    assert {s.system: s.score for s in scores.systems} == printed
    assert len(printed) == len(SET.systems)


def test_rank_reads_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranking = adjudge.rank(path, **given(path), resamples=50)
    printed = asked(capsys, "rank", path, "--resamples", 50)
    assert [row.system for row in ranking.systems] == [row["system"] for row in printed["systems"]]
    assert [row.score for row in ranking.systems] == [row["score"] for row in printed["systems"]]


def test_compare_reads_it(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = adjudge.compare(path, None, systems=["Alder", "Dogwood"], **given(path))
    printed = asked(capsys, "compare", path, "Alder", "Dogwood")
    assert found.whole.difference.value == printed["difference"]


def test_a_report_reads_it(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    holds = find_format(detect(path)).holds
    carries_texts = "test set" in holds and " or " not in holds
    texts = None if carries_texts else examples.path("test_set.jsonl")
    page = adjudge.report(path, tmp_path / "python.html", lp=LP, test_set=texts)
    words = TEXTS[2:] if carries_texts else TEXTS
    Asked(capsys, "report", path, "--out", tmp_path / "line.html", *words)
    python, line = (
        re.sub(r"(python|line)\.html", "FILE", each.read_text()) for each in (page, tmp_path / "line.html")
    )
    assert python == line


@pytest.mark.parametrize("frame", [pl.DataFrame(ROWS), pd.DataFrame(ROWS)], ids=["polars", "pandas"])
def test_a_frame_is_read_as_its_file_is(frame: Any, tmp_path: Path) -> None:
    of_file = adjudge.score(write_table(tmp_path), lp=LP, test_set=SET)
    of_frame = adjudge.score(frame, lp=LP)
    assert {s.system: s.score for s in of_file.systems} == {s.system: s.score for s in of_frame.systems}
    ranked = (
        adjudge.rank(frame, lp=LP).systems,
        adjudge.rank(write_table(tmp_path), lp=LP, test_set=SET).systems,
    )
    assert [row.system for row in ranked[0]] == [row.system for row in ranked[1]]


@pytest.mark.parametrize("given", [pl.DataFrame(ROWS), pd.DataFrame(ROWS)], ids=["polars", "pandas"])
@pytest.mark.parametrize("verb", [adjudge.load, adjudge.meta])
def test_a_frame_of_scores_is_no_test_set(verb: Callable[..., object], given: object) -> None:
    with pytest.raises(DataError, match=r"the frame given as (path|test_set) holds judgements and no texts"):
        verb(given, lp=LP)


@pytest.mark.parametrize("given", [None, 3, 1.5, b"texts.csv", ["a"]])
@pytest.mark.parametrize("verb", [adjudge.load, adjudge.meta])
def test_what_is_no_path_is_refused_in_our_words(verb: Callable[[Any], object], given: object) -> None:
    with pytest.raises(UsageError, match=rf"a path, .*was wanted, got {type(given).__name__}$"):
        verb(given)


@pytest.mark.parametrize("given", [None, 3, [1, 2], {"a": 1}, pd.Series([1.0]), pl.Series([1.0]), ["a", 1]])
def test_what_holds_no_judgements_is_refused_in_our_words(given: Any) -> None:
    for verb in (adjudge.rank, adjudge.score):
        with pytest.raises(UsageError, match="judgements are wanted: a run, records, a data frame or a path"):
            verb(given)


def test_results_become_data_frames() -> None:
    for result in (adjudge.rank(RATED), adjudge.score(RATED)):
        names = [row.system for row in result.systems]
        assert [*pd.DataFrame(result)["system"]] == names
        assert pl.DataFrame(list(result))["system"].to_list() == names


RUN = adjudge.run("chrf", SET.select(limit=6))
NONSENSE: list[Any] = [None, 3, {"a": 1}, [3], b"a", pl.Series([1.0]), SET, pl.DataFrame({"a": [1]})]
TAKERS: dict[str, Callable[[Any, Path], object]] = {
    "load": lambda it, _: adjudge.load(it),
    "rank": lambda it, _: adjudge.rank(it),
    "score": lambda it, _: adjudge.score(it),
    "compare": lambda it, _: adjudge.compare(it, systems="Alder,Birch"),
    "gate": lambda it, _: adjudge.gate(it, systems="Alder,Birch", margin=1),
    "power": lambda it, _: adjudge.power(it, systems="Alder,Birch"),
    "estimate": lambda it, _: adjudge.estimate(it, RUN),
    "gold of estimate": lambda it, _: adjudge.estimate(RUN, it),
    "meta gold": lambda it, _: adjudge.meta(SET, gold={"g": it}, scores={"s": RUN}),
    "meta scores": lambda it, _: adjudge.meta(SET, gold={"g": RUN}, scores={"s": it}),
    "scores of meta": lambda it, _: adjudge.meta(SET, gold={"g": RUN}, scores=it),
    "spans": lambda it, _: adjudge.spans(it, MARKED),
    "bias": lambda it, _: adjudge.bias(it, resamples=0),
    "report": lambda it, out: adjudge.report(it, out / "it.html"),
    "gold of a report": lambda it, out: adjudge.report(RUN, out / "it.html", gold=it),
    "run": lambda it, _: adjudge.run(it, SET),
    "read_records": lambda it, _: adjudge.read_records(it),
    "outputs of align": lambda it, _: adjudge.align(SET, it),
    "metric": lambda it, _: adjudge.metric()(it),
}


@pytest.mark.parametrize("verb", TAKERS)
@pytest.mark.parametrize("given", NONSENSE, ids=lambda given: type(given).__name__)
def test_what_a_verb_cannot_take_is_refused_in_our_words(verb: str, given: Any, tmp_path: Path) -> None:
    with pytest.raises((UsageError, DataError)):
        TAKERS[verb](given, tmp_path)


@pytest.mark.parametrize("verb", ["run", "forecast", "align"])
@pytest.mark.parametrize("given", [None, 3, {"a": 1}, [3], RUN], ids=lambda given: type(given).__name__)
def test_what_is_no_test_set_is_refused_in_our_words(verb: str, given: Any) -> None:
    ask: dict[str, Callable[[], object]] = {
        "run": lambda: adjudge.run("chrf", given),
        "forecast": lambda: adjudge.forecast("gemba-mqm", given, model="builtin/rules"),
        "align": lambda: adjudge.align(given, {}),
    }
    with pytest.raises(UsageError, match=r"wanted, got|give a TEST_SET"):
        ask[verb]()


FRAMES: dict[str, Callable[[], Any]] = {
    "polars": lambda: pl.DataFrame(ROWS),
    "pandas": lambda: pd.DataFrame(ROWS),
    "dictionaries": lambda: ROWS,
    "records": lambda: RATED,
    "frame of records": RUN.to_polars,
}


@pytest.mark.filterwarnings("ignore:.*1 empty cell")
@pytest.mark.filterwarnings("ignore:40 gold records of translations that no run judged are not shown")
@pytest.mark.parametrize("kind", FRAMES)
def test_bias_and_report_take_what_rank_takes(kind: str, tmp_path: Path) -> None:
    given = FRAMES[kind]()
    assert adjudge.bias(given, resamples=0, test_set=None).rows
    out = adjudge.report(given, tmp_path / "a.html", test_set=SET.to_polars())
    beside = adjudge.report([RUN, given], tmp_path / "b.html", gold=[record_to_json(each) for each in MARKED])
    assert "Alder" in out.read_text()
    assert "Alder" in beside.read_text()
