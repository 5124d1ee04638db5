"""Whatever the command line takes, the public functions take: one reader."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import adjudge
from adjudge.core.record import ErrorSpan
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.mtme import write_ratings
from adjudge.formats.read import read_judgements
from adjudge.store.json_lines import record_to_json, write_test_set
from tests.analysis.folders import SYSTEMS, write_folder, write_scores
from tests.analysis.records import mqm as mqm_record
from tests.cli.calling import Asked

Capsys = pytest.CaptureFixture[str]

A = [0.9, 0.7, 0.5, 0.4, 0.6, 0.8]
B = [0.1, 0.2, 0.4, 0.3, 0.5, 0.2]


def mtme(folder: Path) -> Path:
    return write_scores(folder / "en-de/mine.seg.score", {"A": A, "B": B})


def comet(folder: Path) -> Path:
    scores = {name: [{"mt": "x", "COMET": v} for v in values] for name, values in (("A", A), ("B", B))}
    (path := folder / "en-de.comet.json").write_text(json.dumps(scores))
    return path


def table(folder: Path) -> Path:
    rows = [f"{name},{value}\n" for name, values in (("A", A), ("B", B)) for value in values]
    (path := folder / "en-de.x.csv").write_text("system,score\n" + "".join(rows))
    return path


def mqm(folder: Path) -> Path:
    heading = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    marks = [(system, how, n) for system, how in (("A", "Minor"), ("B", "Major")) for n in range(1, 7)]
    rows = [f"{name}\td\t{n}\t{n}\tr\tHi\tHallo\tStyle/Awkward\t{how}\n" for name, how, n in marks]
    (path := folder / "mqm.tsv").write_text(heading + "".join(rows))
    return path


@pytest.mark.parametrize("make", [mtme, comet, table, mqm])
def test_a_file_is_read_alike_by_the_command_and_by_python(
    make: Callable[[Path], Path], tmp_path: Path, capsys: Capsys
) -> None:
    path, lp = make(tmp_path), "en-de"
    asked = Asked(capsys, "score", path, "--lp", lp, "--format", "json")
    scores = adjudge.score(path, lp=lp)
    assert {name: row["score"] for name, row in asked.json["systems"].items()} == {
        s.system: s.score for s in scores.systems
    }
    ranked = Asked(capsys, "rank", path, "--lp", lp, "--format", "json").json["systems"]
    assert [(row["system"], row["score"]) for row in ranked] == [
        (s.system, s.score) for s in adjudge.rank(str(path), lp=lp).systems
    ]
    compared = Asked(capsys, "compare", path, "A", "B", "--lp", lp, "--format", "json")
    difference = adjudge.compare(path, systems=["A", "B"], lp=lp).whole.difference
    assert difference.value == compared.json["difference"]
    gate = ["gate", "--baseline", path, "--systems", "B,A", "--margin", "0.1", "--lp", lp, "--format", "json"]
    verdict = adjudge.gate(path, systems=["B", "A"], margin=0.1, lp=lp).verdict
    assert verdict == Asked(capsys, *gate).json["verdict"]
    assert len(adjudge.bias(path, lp=lp, resamples=0).rows) == 1


SAID = {"A": "eins zwei", "B": "eins zwei drei"}
TEXTS = TestSet(
    name="texts",
    segments=tuple(
        Segment(segment=f"s{n}", lp="en-de", source="one two", translations=SAID, domain=domain)
        for n, domain in enumerate(["news"] * 20 + ["chat"] * 20)
    ),
)


def ratings(folder: Path) -> Path:
    """Ratings without ids; B is worse."""
    severities: list[tuple[str, Literal["minor", "major"]]] = [("A", "minor"), ("B", "major")]
    judged = [
        mqm_record(system, segment.segment, ErrorSpan(severity=severity, start=0, end=4, text="eins"))
        for segment in TEXTS
        for system, severity in severities
    ]
    write_ratings(path := folder / "people.seg.rating", judged, TEXTS)
    write_test_set(folder / "texts.jsonl", TEXTS)
    return path


@pytest.mark.parametrize("texts", ["path", "set"])
def test_ratings_outside_of_their_folder_are_read_with_the_texts_given(texts: str, tmp_path: Path) -> None:
    path = ratings(tmp_path)
    known = TEXTS if texts == "set" else tmp_path / "texts.jsonl"
    with pytest.raises(UsageError, match="--test-set"):
        adjudge.score(path)
    assert {s.system: s.score for s in adjudge.score(path, test_set=known).systems} == {"A": -1, "B": -5}
    assert [s.system for s in adjudge.rank(path, test_set=known).systems] == ["A", "B"]
    found = adjudge.compare(path, systems=("A", "B"), test_set=known, resamples=10)
    assert found.whole.difference.value == 4
    assert [s.name for s in found.strata if s.kind == "domain"] == ["news", "chat"]
    (row,) = adjudge.bias(path, test_set=known, resamples=0).rows
    assert row.length is not None


def test_records_have_lengths_with_the_texts_given(tmp_path: Path) -> None:
    records = read_judgements(ratings(tmp_path), texts=TEXTS).records
    assert adjudge.bias(records, resamples=0).rows[0].length is None
    assert adjudge.bias(records, test_set=TEXTS, resamples=0).rows[0].length is not None


@pytest.mark.parametrize("function", [adjudge.score, adjudge.rank])
def test_texts_are_refused_where_records_have_their_ids(function: Any, tmp_path: Path) -> None:
    records = read_judgements(ratings(tmp_path), texts=TEXTS).records
    with pytest.raises(UsageError, match="test_set is for the path of ratings without ids"):
        function(records, test_set=TEXTS)
    with pytest.raises(UsageError, match="--test-set"):
        function(tmp_path, gold="mqm", test_set=TEXTS)


def test_scores_in_their_test_set_are_compared_by_its_domains_in_python(
    tmp_path: Path, capsys: Capsys
) -> None:
    folder = write_folder(tmp_path / "set")
    for name in ("sources/en-de.txt", "references/en-de.refA.txt", "documents/en-de.docs"):
        rows = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(row for row in rows for _ in range(20)))
    for system in SYSTEMS:
        (folder / f"system-outputs/en-de/{system}.txt").write_text("x\n" * 80)
    scores = {name: [n % k for n in range(80)] for k, name in enumerate(("A", "B", "C"), start=5)}
    path = write_scores(folder / "metric-scores/en-de/COMET-refA.seg.score", scores)
    asked = Asked(capsys, "compare", path, "A", "B", "--format", "json").json
    found = adjudge.compare(path, systems=("A", "B"))
    assert [(s.kind, s.name) for s in found.strata] == [(s["kind"], s["name"]) for s in asked["strata"]]
    assert {s.name for s in found.strata} >= {"news", "chat"}


def test_numbers_alone_are_compared_as_one_metric_of_two_systems(tmp_path: Path, capsys: Capsys) -> None:
    files = []
    for name, values in (("A", A), ("B", B)):
        files.append(tmp_path / f"{name}.txt")
        files[-1].write_text("".join(f"{value}\n" for value in values))
    asked = Asked(capsys, "compare", *files, "--lp", "en-de", "--format", "json")
    assert asked.code == 0, asked.err
    assert asked.json["difference"] == pytest.approx(sum(A) / 6 - sum(B) / 6)


@pytest.mark.parametrize("make", [comet, table])
def test_scores_of_other_programs_are_a_metric_of_meta(make: Callable[[Path], Path], tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "set")
    path = make(tmp_path)
    text = path.read_text()
    if make is table:
        rows = text.splitlines(keepends=True)
        path.write_text("".join([*rows[:5], *rows[7:11]]))
    else:
        cut: dict[str, list[Any]] = {name: rows[:4] for name, rows in json.loads(text).items()}
        path.write_text(json.dumps(cut))
    found = adjudge.meta(folder, scores={"mine": path})
    assert [m.name for m in found.metrics] == ["COMET-refA", "QE-src", "mine"]
    assert found.metrics[2].n == 6


def test_counts_of_thousands_are_written_as_in_tables(tmp_path: Path) -> None:
    rows = [{"mt": "x", "COMET": 1, "errors": [{}] * 1200}]
    (path := tmp_path / "en-de.c.json").write_text(json.dumps({"A": rows}))
    with pytest.warns(DataWarning, match=r"c\.json: 1,200 errors that COMET marked"):
        adjudge.score(path)


def test_the_gold_of_a_test_set_is_scored_and_ranked(tmp_path: Path, capsys: Capsys) -> None:
    folder = write_folder(tmp_path / "set")
    ranked = Asked(capsys, "rank", folder, "--gold", "mqm", "--format", "json")
    assert ranked.code == 0, ranked.err
    systems = ranked.json["systems"]
    assert [(s["system"], s["n"]) for s in systems] == [("refA", 3), ("A", 3), ("B", 3), ("C", 3)]
    assert systems[1]["score"] == pytest.approx(-7 / 3)
    assert [s.score for s in adjudge.rank(folder, gold="mqm").systems] == [s["score"] for s in systems]
    scored = Asked(capsys, "score", folder, "--gold", "mqm", "--format", "json").json
    assert scored["systems"]["A"]["score"] == systems[1]["score"]
    assert adjudge.score(folder, gold="mqm").systems[0].score == systems[1]["score"]
    metric = Asked(capsys, "rank", folder, "--metric", "QE-src", "--format", "json").json["systems"]
    assert [s["system"] for s in metric][:2] == ["refA", "A"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "mqm", "--metric", "QE-src"], "give --gold or --metric, not both"),
        (["--gold", "esa"], "has no gold 'esa'"),
        (["--gold", "mqm", "--criterion", "style"], "--criterion is for judgements"),
    ],
)
def test_what_does_not_fit_a_test_set_is_refused(
    tmp_path: Path, capsys: Capsys, arguments: list[str], message: str
) -> None:
    folder = write_folder(tmp_path / "set")
    for command in ("rank", "score"):
        asked = Asked(capsys, command, folder, *arguments)
        assert (asked.code, message in asked.err) == (2, True), asked.err


def test_gold_needs_the_path_of_a_test_set(tmp_path: Path) -> None:
    for function, given in ((adjudge.rank, adjudge.score(mtme(tmp_path))), (adjudge.score, [])):
        with pytest.raises(UsageError, match="gold or metric is of a test set"):
            function(given, gold="mqm")


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_data_frame_is_read_as_its_file_is(kind: str, tmp_path: Path) -> None:
    library = pytest.importorskip(kind)
    path = table(tmp_path)
    frame = library.read_csv(path)
    assert adjudge.score(frame, lp="en-de").systems == adjudge.score(path).systems
    with pytest.raises(UsageError, match="does not say its language pair"):
        adjudge.score(frame)
    rows = [record_to_json(record) for record in read_judgements(ratings(tmp_path), texts=TEXTS).records]
    wanted = adjudge.score(ratings(tmp_path), test_set=TEXTS)
    assert adjudge.score(library.DataFrame(rows)).systems == wanted.systems
    with pytest.raises(DataError, match=r"no .system. and .score. of scores.*it has .a."):
        adjudge.score(library.DataFrame({"a": [1]}), lp="en-de")
