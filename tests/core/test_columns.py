"""A result declares its columns once: tables, CSV and data frames have the same ones."""

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd  # type: ignore[import-untyped]
import polars as pl
import pytest

import adjudge
from adjudge import examples
from adjudge.analysis.agreement import AgreementSettings, find_agreement
from adjudge.analysis.bias import bias
from adjudge.analysis.spans import severity_confusion
from adjudge.analysis.thresholds import ThresholdSettings, thresholds
from adjudge.cli.main import main
from adjudge.core.columns import Column, Framed
from adjudge.core.scores import Interval
from adjudge.errors import UsageError
from adjudge.formats.read import read_judgements

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
    "power": (["power", GOLD], lambda: adjudge.power(GOLD)),
    "plan": (["power", "--sd", "8", "--difference", "1"], lambda: adjudge.power(sd=8.0, difference=1.0)),
    "meta": (
        ["meta", TEST_SET, "--lp", "en-de", "--gold", f"mqm={GOLD}", "--scores", f"esa={ESA}"],
        lambda: adjudge.meta(TEST_SET, "en-de", gold=[f"mqm={GOLD}"], scores=[f"esa={ESA}"]),
    ),
    "spans": (["spans", ESA, "--gold", GOLD], lambda: adjudge.spans(ESA, GOLD)),
    "confusion": (["spans", ESA, "--gold", GOLD, "--confusion"], lambda: severity_confusion(ESA, GOLD)),
    "estimate": (["estimate", ESA, "--gold", GOLD], lambda: adjudge.estimate(ESA, GOLD)),
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
    assert found.to_arrow().to_pydict() == polars.to_dict(as_series=False)
    assert pl.Null not in polars.dtypes


ALL: dict[str, Callable[[], Any]] = {
    **{name: call for name, (_, call) in RESULTS.items()},
    "agreement": lambda: find_agreement(
        [read_judgements(GOLD)], [read_judgements(ESA)], AgreementSettings(resamples=50)
    ),
    "thresholds": lambda: thresholds(ESA, GOLD, ThresholdSettings(bad="minor", publish_risk=0.4))[0],
    "spans at several thresholds": lambda: adjudge.spans(
        ESA, GOLD, rule="himate", threshold=(0.1, 0.5, 1), resamples=20
    ),
    "test set": lambda: adjudge.load(TEST_SET),
    "run": lambda: adjudge.run("rules", TEST_SET, lp="en-de"),
}
WITHOUT_FIGURE = {
    "confusion": "Confusion",
    "gate": "Gate",
    "power": "Power",
    "plan": "Power",
    "estimate": "Estimation",
    "bias": "Biases",
    "test set": "TestSet",
    "run": "Run",
}
REFUSED = {
    **dict.fromkeys(("score", "rank"), "a figure is of one language pair: choose one with lp="),
    "spans": "needs one rule and several of its thresholds",
}


@pytest.mark.parametrize("name", ALL)
def test_a_result_shows_itself_in_a_console_and_a_notebook(name: str) -> None:
    found = ALL[name]()
    shown, page = repr(found), found._repr_html_()
    assert 20 < len(shown.encode()) < 4096
    assert " at 0x" not in shown
    assert "<table" in page
    if name not in WITHOUT_FIGURE or name in {"gate", "power", "plan", "estimate", "bias"}:
        assert "───" in shown
        assert len(shown.split("\n")) < 40


@pytest.mark.parametrize("name", ALL)
def test_a_result_is_drawn_or_says_that_it_has_no_figure(name: str) -> None:
    found = ALL[name]()
    if name in WITHOUT_FIGURE:
        with pytest.raises(UsageError, match=f"{WITHOUT_FIGURE[name]} has no figure; there are figures of"):
            found.plot()
    elif name in REFUSED:
        with pytest.raises(UsageError, match=REFUSED[name]):
            found.plot()
    else:
        buffer = io.BytesIO()
        found.plot().savefig(buffer, format="png")
        assert buffer.getvalue().startswith(b"\x89PNG")
        assert len(found.plot().axes) >= 1


def test_what_a_console_shows_of_a_long_result_is_cut_and_says_so() -> None:
    rows = [{"system": f"system {n} 語", "segment": s, "score": n + 0.1} for n in range(99) for s in "12"]
    shown = repr(adjudge.score(rows, lp="en-de"))
    assert len(shown.encode()) < 4096
    assert "79 more rows: to_polars() and to_pandas() have all" in shown


def test_a_figure_of_nothing_is_refused() -> None:
    @adjudge.metric
    def mine(translation: str) -> float:
        raise ValueError

    lost = adjudge.run(mine, TEST_SET, lp="en-de", max_failed=1)
    with pytest.raises(UsageError, match="Scores has no numbers to draw"):
        adjudge.score(lost).plot()


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
    with pytest.raises(
        UsageError, match=r"needs polars, which is not installed: pip install 'adjudge\[notebook\]'"
    ):
        adjudge.rank(GOLD).to_polars()


if __name__ == "__main__":
    page = PAGE.read_text("utf-8")
    PAGE.write_text(page[: page.index("## ")] + sections(), "utf-8")


def test_a_forecast_is_a_frame_of_its_bounds() -> None:
    found = adjudge.forecast("gemba-mqm", TEST_SET, lp="en-de", limit=2, model="openai/gpt-5-mini")
    rows = {row["quantity"]: row for row in found.to_polars().to_dicts()}
    assert rows["units"]["typical"] == found.units
    assert [rows["calls"][name] for name in ("low", "typical", "high")] == [*found.calls]
    assert rows["price"]["unit"] == found.currency
    assert found.price is not None
    assert rows["price"]["high"] == pytest.approx(float(found.price[2]))
    assert found.to_pandas().shape == (6, 5)
    assert found.to_arrow().num_rows == 6
