"""Frames of every library, lists of dictionaries, Parquet and data sets of Hugging Face say the same."""

import json
import math
import sys
import types
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adjudge
from adjudge import examples
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.read import read_content, read_judgements
from tests.cli.calling import Asked, call
from tests.reports.samples import make_run, small_test_set

WAYS: dict[str, Callable[[Any], Any]] = {
    "polars": lambda framed: framed.to_polars(),
    "lazy": lambda framed: framed.to_polars().lazy(),
    "pandas": lambda framed: framed.to_pandas(),
    "arrow": lambda framed: framed.to_arrow(),
    "dictionaries": lambda framed: framed.to_polars().to_dicts(),
    "dictionaries of pandas": lambda framed: framed.to_pandas().to_dict("records"),
}

names = st.text("abcßé語", min_size=1, max_size=4)
texts = st.text("ab \"',;\n\tß語🦭", min_size=1, max_size=9).filter(str.strip)


@st.composite
def sets_of_texts(draw: Callable[[Any], Any]) -> TestSet:
    systems = draw(st.lists(names, min_size=1, max_size=3, unique=True))
    segments = [
        Segment(
            segment=str(number),
            lp=draw(st.sampled_from(["en-de", "he-en"])),
            source=draw(texts),
            translations={name: draw(texts) for name in systems},
            references={"refA": draw(texts)} if draw(st.booleans()) else {},
            document=draw(st.sampled_from(["", "d1"])),
            domain=draw(st.sampled_from(["", "news"])),
        )
        for number in range(draw(st.integers(1, 4)))
    ]
    return TestSet(name="frame", segments=tuple(segments))


def spans(draw: Callable[[Any], Any]) -> tuple[ErrorSpan, ...]:
    placed = st.builds(
        lambda start, size, **said: ErrorSpan(start=start, end=start + size, text="x" * size, **said),
        st.integers(0, 9),
        st.integers(0, 3),
        severity=st.sampled_from(["minor", "major", "critical"]),
        category=st.none() | st.just("fluency/grammar"),
        confidence=st.none() | st.floats(0, 1),
    )
    lost = st.just(ErrorSpan(severity="minor", match="unmatched", text="gone"))
    return tuple(draw(st.lists(placed | lost, max_size=3)))


@st.composite
def records(draw: Callable[[Any], Any]) -> tuple[Record, ...]:
    found: list[Record] = []
    for number in range(draw(st.integers(1, 6))):
        document = draw(st.sampled_from(["", "d"]))
        about: dict[str, Any] = {"lp": "en-de", "segment": str(number), "document": document}
        about["annotator"] = draw(names)
        kind = draw(st.sampled_from(["annotation", "preference", "failure", "lost pair"]))
        if kind in {"failure", "lost pair"}:
            systems = ("X",) if kind == "failure" else ("X", "Y")
            about |= {"systems": systems, "protocol": "esa", "reason": "parse", "detail": draw(texts)}
            found.append(Failure(**about))
            continue
        about["flags"] = tuple(draw(st.lists(names, max_size=2, unique=True)))
        if kind == "annotation":
            rating = draw(st.none() | st.floats(0, 100))
            about |= {"protocol": "mqm" if rating is None else "esa", "rating": rating}
            found.append(Annotation(**about, system=draw(names), spans=spans(draw)))
        else:
            about |= {"verdict": draw(st.sampled_from(["A", "B", "E"])), "criterion": "overall"}
            strength = draw(st.none() | st.floats(-1, 1))
            found.append(Preference(**about, systems=("X", "Y"), strength=strength))
    return tuple(found)


def run_of(found: tuple[Record, ...]) -> Run:
    return replace(make_run(small_test_set(["en-de"]), []), records=found)


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(test_set=sets_of_texts())
def test_texts_come_back_from_every_frame(way: str, test_set: TestSet) -> None:
    back = adjudge.load(WAYS[way](test_set))
    assert back.segments == test_set.segments


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(found=records())
def test_records_come_back_from_every_frame(way: str, found: tuple[Record, ...]) -> None:
    assert read_judgements(WAYS[way](run_of(found))).records == found


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(found=records(), test_set=sets_of_texts())
def test_parquet_holds_records_or_texts(found: tuple[Record, ...], test_set: TestSet, tmp_path: Path) -> None:
    run_of(found).to_polars().write_parquet(tmp_path / "records.parquet")
    assert read_judgements(tmp_path / "records.parquet").records == found
    pq.write_table(test_set.to_arrow(), tmp_path / "frame.parquet")
    assert adjudge.load(tmp_path / "frame.parquet") == test_set


@pytest.mark.parametrize("name", ["gold.mqm.jsonl", "gold.esa.jsonl", "gold.pairwise.jsonl"])
def test_convert_to_parquet_and_back_loses_nothing(name: str, tmp_path: Path) -> None:
    source = examples.path(name)
    assert call("convert", source, tmp_path / "it.parquet", "--to", "parquet") == 0
    assert call("convert", tmp_path / "it.parquet", tmp_path / "back.jsonl", "--to", "records") == 0
    assert adjudge.read_records(tmp_path / "back.jsonl") == adjudge.read_records(source)


def test_convert_of_texts_to_parquet_counts_what_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = examples.path("test_set.jsonl")
    done = Asked(capsys, "convert", source, tmp_path / "it.parquet", "--to", "parquet")
    held = sum(bool(segment.meta) for segment in adjudge.load(source))
    assert (done.code, f"{held} segments with meta" in done.err) == (0, True)
    assert [*pl.read_parquet(tmp_path / "it.parquet").columns][:5] == [
        "lp",
        "document",
        "segment",
        "domain",
        "source",
    ]
    refused = Asked(capsys, "convert", source, "-", "--to", "parquet")
    assert (refused.code, "give a file" in refused.err) == (2, True)


SCORES = {"system": ["A", "A", "B", "B"], "segment": ["1", "2", "1", "2"], "score": [1.0, 0.1, 0.25, 4.0]}


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(SCORES),
        pl.DataFrame(SCORES).to_pandas(),
        pl.DataFrame(SCORES).to_arrow(),
        pl.DataFrame(SCORES).to_dicts(),
    ],
    ids=["polars", "pandas", "arrow", "dictionaries"],
)
def test_scores_in_a_frame_are_scored_and_ranked(frame: Any, tmp_path: Path) -> None:
    pl.DataFrame(SCORES).write_parquet(tmp_path / "scores.parquet")
    for source in (frame, tmp_path / "scores.parquet"):
        found = {row.system: row.score for row in adjudge.score(source, lp="en-de")}
        assert found == {"A": pytest.approx(0.55), "B": pytest.approx(2.125)}


def test_what_comet_reads_and_writes_is_read_as_rows_too(tmp_path: Path) -> None:
    rows = [{"src": "One.", "mt": "Eins.", "ref": "Eins!"}, {"src": "Two.", "mt": "Zwei.", "ref": "Zwei!"}]
    (tmp_path / "comet.json").write_text(json.dumps(rows))
    given, read = adjudge.load(rows, lp="en-de"), adjudge.load(tmp_path / "comet.json", lp="en-de")
    assert given.segments == read.segments


def test_gaps_of_pandas_are_no_text_and_whole_ids_have_no_point() -> None:
    frame = pl.DataFrame({"id": [1, 2], "source": ["a", "b"], "A": ["x", None]}).to_pandas()
    frame["id"] = frame["id"].astype(float)
    with pytest.warns(DataWarning, match="1 empty cell"):
        found = adjudge.load(frame, lp="en-de")
    assert [(s.segment, s.has_translation("A")) for s in found] == [("1", True), ("2", False)]


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ([{"text": "a"}], DataError, "no column 'source' of texts"),
        ([{"source": "a", "A": "b"}], UsageError, "does not say its language pair"),
        ([{"kind": "annotation", "lp": "en-de"}], DataError, "missing"),
        (pl.DataFrame(), DataError, "has no rows"),
        ([], UsageError, "a list of dictionaries was wanted, got an empty list"),
        (
            [{"source": "a", "translation": "b", "system": "A"}],
            DataError,
            "texts are given in a column source and one column for each system",
        ),
        (3, UsageError, "a data frame or a list of dictionaries was wanted, got int"),
        (pl.DataFrame(SCORES), UsageError, "lp"),
    ],
)
def test_rows_that_are_nothing_say_why(rows: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        adjudge.load(rows)


def test_a_system_with_the_name_of_a_column_is_refused() -> None:
    segment = Segment(segment="1", lp="en-de", source="a", translations={"domain": "b"})
    with pytest.raises(UsageError, match="a system is called 'domain'"):
        TestSet(name="t", segments=(segment,)).to_dict()


def test_a_file_that_only_begins_like_parquet_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(DataError, match="not Parquet"):
        read_content(tmp_path / "a.parquet", lp="en-de")


class Split:
    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def to_list(self) -> list[dict[str, Any]]:
        return self.rows


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """A library `datasets` that knows two data sets; what it was asked for."""
    asked: list[tuple[str, str]] = []
    one = Split([{"src": "One.", "mt": "Eins."}])
    scored = Split([{"system": "A", "segment": 1, "lp": "en-de", "score": 0.5}])
    known = {"me/texts": {"train": one}, "me/both": {"texts": one, "scores": scored}}

    def load_dataset(name: str, revision: str) -> dict[str, Split]:
        asked.append((name, revision))
        if name not in known:
            raise FileNotFoundError(f"no {name}")
        return known[name]

    library = types.ModuleType("datasets")
    library.load_dataset = load_dataset  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "datasets", library)
    return asked


def test_a_data_set_of_hugging_face_is_read_at_its_revision(hub: list[tuple[str, str]]) -> None:
    (segment,) = adjudge.load("hf:me/texts@v1.0", lp="en-de")
    assert (segment.source, segment.translations) == ("One.", {"mt": "Eins."})
    (row,) = adjudge.score("hf:me/both@abc123#scores")
    assert (row.system, row.score) == ("A", 0.5)
    assert len(adjudge.run("rules", "hf:me/both@abc123#texts", lp="en-de").records) == 1
    assert hub == [("me/texts", "v1.0"), ("me/both", "abc123"), ("me/both", "abc123")]


@pytest.mark.parametrize(
    ("place", "error", "words"),
    [
        ("hf:me/texts", UsageError, "hf:OWNER/NAME@REVISION"),
        ("hf:texts@v1", UsageError, "hf:OWNER/NAME@REVISION"),
        ("hf:me/both@v1", UsageError, "choose one of its splits with #SPLIT: texts, scores"),
        ("hf:me/both@v1#test", UsageError, "choose one of its splits"),
        ("hf:me/nothing@v1", DataError, "cannot be had: FileNotFoundError: no me/nothing"),
    ],
)
def test_a_data_set_that_cannot_be_meant_says_why(
    place: str, error: type[Exception], words: str, hub: list[tuple[str, str]]
) -> None:
    with pytest.raises(error, match=words):
        adjudge.load(place, lp="en-de")


def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UsageError, match=r"pip install 'adjudge\[hf\]'"):
        adjudge.load("hf:me/texts@v1", lp="en-de")


_MARK = -7.5  # stands where the score is missing, or is none, until it is written


def _sources(value: Any, folder: Path) -> dict[str, Any]:
    """The same scores with one cell of a kind, as each library and file holds it."""
    rows = [{**row, "score": value if place == 1 else row["score"]} for place, row in enumerate(ROWS)]
    cell = "" if value is None else str(value)
    text = pl.DataFrame({**SCORES, "score": [1.0, _MARK, 0.25, 4.0]}).write_csv()
    (folder / "scores.csv").write_text(text.replace(str(_MARK), cell))
    frame = pl.DataFrame(rows, strict=False)
    frame.write_parquet(folder / "scores.parquet")
    return {
        "csv": folder / "scores.csv",
        "parquet": folder / "scores.parquet",
        "polars": frame,
        "arrow": frame.to_arrow(),
        "pandas": pd.DataFrame(rows),
        "dictionaries": rows,
    }


ROWS = pl.DataFrame(SCORES).to_dicts()
KINDS = ["csv", "parquet", "polars", "arrow", "pandas", "dictionaries"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [None, "", "None"], ids=["null", "empty", "word"])
def test_a_missing_score_is_said_wherever_it_is_missing(value: Any, kind: str, tmp_path: Path) -> None:
    with pytest.warns(DataWarning, match=r"1 missing scores \(None or an empty cell\)"):
        found = adjudge.score(_sources(value, tmp_path)[kind], lp="en-de")
    assert {row.system: (row.score, row.n) for row in found} == {"A": (1.0, 1), "B": (2.125, 2)}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [math.nan, math.inf, "nan", "NA", "0,5"], ids=repr)
def test_what_is_no_number_is_refused_in_every_frame(value: Any, kind: str, tmp_path: Path) -> None:
    if (kind, value) in {("pandas", math.nan), ("csv", "0,5")}:
        return  # the sign of pandas for an empty cell; two cells
    with pytest.raises(DataError, match=r"a plain finite number or None, got .*(row 2|line 3)\)"):
        adjudge.score(_sources(value, tmp_path)[kind], lp="en-de")


@pytest.mark.parametrize("value", [math.nan, pd.NA, None, pd.NaT], ids=repr)
def test_a_gap_of_pandas_is_a_missing_score(value: Any) -> None:
    frame = pd.DataFrame(ROWS).astype(object)
    frame.loc[1, "score"] = value
    with pytest.warns(DataWarning, match="the frame given as source: 1 missing scores"):
        found = adjudge.score(frame, lp="en-de")
    assert [row.n for row in found] == [1, 2]


GOLD = [
    {"system": name, "segment": segment.segment, "score": place}
    for place, segment in enumerate(small_test_set(["en-de"]))
    for name in segment.translations
]
BAD: Any = [*ROWS[:2], {**ROWS[2], "score": "much"}]


@pytest.mark.parametrize(
    ("ask", "place"),
    [
        (lambda bad: adjudge.rank(bad, lp="en-de"), "source"),
        (lambda bad: adjudge.score(bad, lp="en-de"), "source"),
        (lambda bad: adjudge.compare(ROWS, bad, lp="en-de"), "second"),
        (lambda bad: adjudge.gate(ROWS, bad, margin=1, lp="en-de"), "candidate"),
        (lambda bad: adjudge.bias([ROWS, bad], lp="en-de"), r"judged\[1\]"),
        (lambda bad: adjudge.spans(ROWS, bad, lp="en-de"), "gold"),
        (lambda bad: adjudge.load(bad, lp="en-de"), "path"),
        (lambda bad: adjudge.meta(small_test_set(["en-de"]), gold={"mqm": bad}), r"gold\['mqm'\]"),
        (
            lambda bad: adjudge.meta(small_test_set(["en-de"]), gold={"mqm": GOLD}, scores={"x": bad}),
            r"scores\['x'\]",
        ),
    ],
    ids=["rank", "score", "compare", "gate", "bias", "spans", "load", "meta", "scores"],
)
@pytest.mark.parametrize("kind", ["frame", "list of dictionaries"])
def test_a_message_names_the_argument_and_the_row(ask: Callable[[Any], Any], place: str, kind: str) -> None:
    bad = pd.DataFrame(BAD) if kind == "frame" else BAD
    with pytest.raises(DataError, match=rf"\(the {kind} given as {place}, row 3\)$"):
        ask(bad)


def test_a_message_names_the_row_of_a_record() -> None:
    good = {"kind": "annotation", "lp": "en-de", "segment": "1", "system": "A", "annotator": "x"}
    with pytest.raises(
        DataError, match=r"no protocol .nothing.*\(the list of dictionaries given as source, row 2\)$"
    ):
        adjudge.score([{**good, "protocol": "sqm", "rating": 1.0}, {**good, "protocol": "nothing"}])
