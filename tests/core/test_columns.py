"""A result declares its columns once: tables, CSV and data frames have the same ones."""

import csv
import io
import sys
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import adjudge
from adjudge import examples
from adjudge.analysis.bias import bias
from adjudge.cli.main import main
from adjudge.core.columns import Column, Framed
from adjudge.core.scores import Interval
from adjudge.errors import UsageError

GOLD = str(examples.path("gold.mqm.jsonl"))
ESA = str(examples.path("gold.esa.jsonl"))
PAIRS = str(examples.path("gold.pairwise.jsonl"))
TEST_SET = str(examples.path("test_set.jsonl"))

RESULTS: dict[str, tuple[list[str], Any]] = {
    "score": (["score", GOLD], lambda: adjudge.score(GOLD)),
    "score of a language pair": (["score", GOLD, "--lp", "en-de"], lambda: adjudge.score(GOLD, lp="en-de")),
    "rank": (["rank", GOLD], lambda: adjudge.rank(GOLD)),
    "rank of pairs": (["rank", PAIRS, "--lp", "en-de"], lambda: adjudge.rank(PAIRS, lp="en-de")),
    "compare": (
        ["compare", GOLD, "Alder", "Birch"],
        lambda: adjudge.compare(GOLD, systems=("Alder", "Birch")),
    ),
    "gate": (
        ["gate", "--baseline", GOLD, "--systems", "Birch,Alder", "--margin", "5"],
        lambda: adjudge.gate(GOLD, systems="Birch,Alder", margin=5.0),
    ),
    "meta": (
        ["meta", TEST_SET, "--lp", "en-de", "--gold", f"mqm={GOLD}", "--scores", f"esa={ESA}"],
        lambda: adjudge.meta(TEST_SET, "en-de", gold=[f"mqm={GOLD}"], scores=[f"esa={ESA}"]),
    ),
    "spans": (["spans", ESA, "--gold", GOLD], lambda: adjudge.spans(ESA, GOLD)),
    "bias": (["bias", PAIRS, "--test-set", TEST_SET], lambda: bias(PAIRS, test_set=TEST_SET)),
}


def printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> list[dict[str, str]]:
    with pytest.raises(SystemExit):
        main([*arguments, "--format", "csv"])
    return list(csv.DictReader(io.StringIO(capsys.readouterr().out)))


@pytest.mark.parametrize("name", RESULTS)
def test_a_frame_has_the_columns_and_every_digit_of_the_csv(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, call = RESULTS[name]
    rows, found = printed(arguments, capsys), call()
    assert isinstance(found, Framed)
    assert rows
    capsys.readouterr()
    polars, pandas = found.to_polars(), found.to_pandas()
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(pandas, pd.DataFrame)
    assert list(polars.columns) == list(pandas.columns) == list(rows[0])
    assert [
        {
            key: "" if value is None else value if isinstance(value, str) else repr(value)
            for key, value in row.items()
        }
        for row in polars.to_dicts()
    ] == rows
    assert pandas.shape == polars.shape
    assert pl.Null not in polars.dtypes


PAGE = Path(__file__).parents[2] / "docs" / "results.md"


def sections() -> str:
    """What the page says of every result's columns, of the bundled examples."""
    said: dict[str, dict[str, str]] = {}
    for name, (_, call) in RESULTS.items():
        rows = said.setdefault(name.partition(" ")[0], {})
        found = call()
        if "" not in found.groups():
            rows["lp"] = "language pair; `all` for the rows over all of them"
        for column in found.columns():
            assert column.says
            ends = (
                [f"{column.says}, {end} end" for end in ("lower", "upper")] if column.ends else [column.says]
            )
            rows |= dict(zip(column.names, ends if column.names else (), strict=True))
    return "\n".join(
        f"## {verb}\n\n| column | is |\n| --- | --- |\n"
        + "".join(f"| `{word}` | {says} |\n" for word, says in rows.items())
        for verb, rows in said.items()
    )


def test_the_page_about_results_has_the_columns() -> None:
    said = "`.venv/bin/python -m tests.core.test_columns` writes the page anew"
    assert PAGE.read_text("utf-8").endswith(sections()), said


class Row:
    score = 0.5
    interval = Interval(0.25, 0.75)
    nothing = None
    inner = None
    by_name: ClassVar = {"a": 1}


@pytest.mark.parametrize(
    ("column", "wanted"),
    [
        (Column("score", "x", "score"), (0.5,)),
        (Column("interval", "x", "interval", ends=("low", "high")), (0.25, 0.75)),
        (Column("nothing", "x", "interval", ends=("low", "high")), (None, None)),
        (Column("deep", "x", of="inner.deeper.score"), (None,)),
        (Column("a", "x", of="by_name.a"), (1,)),
        (Column("b", "x", of="by_name.b"), (None,)),
        (Column("twice", "x", of=lambda row: 2 * row.score), (1.0,)),
        (Column("", "x", of="score", title="for people"), ()),
    ],
)
def test_a_column_reaches_its_value_by_names_or_a_function(
    column: Column, wanted: tuple[object, ...]
) -> None:
    assert column.values(Row()) == wanted


def test_a_misspelt_name_is_no_missing_value() -> None:
    with pytest.raises(AttributeError):
        Column("scroe", "x").values(Row())


def test_a_library_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(UsageError, match="needs polars, which is not installed: pip install polars"):
        adjudge.rank(GOLD).to_polars()


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page[: page.index("## ")] + sections(), "utf-8")
