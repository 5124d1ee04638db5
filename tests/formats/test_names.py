"""Names: what a unit is called does not depend on what else its file holds."""

import csv
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import openpyxl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.segment import TestSet
from adjudge.errors import DataError, DataWarning
from adjudge.formats.read import load

PLAIN, LEFT_OUT, UNTRANSLATED, DELETED = "plain", "left out", "untranslated", "deleted"
TEXTS = (
    *("Open", "open", "Open the file.", "Two\nlines", "a|b", "x[0]", "long " * 30, "שלום עולם", " blank "),
    *("e\u0301", "\u00e9", "%d files"),
)
CONTEXTS = (None, "", "menu", "a|b", "menu\nbar")
Unit = tuple[int, str, str]
"""Its number in the whole of a delivery, its source, and what became of it."""
Write = Callable[[Path, Sequence[Unit]], Path]


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def po(folder: Path, units: Sequence[Unit]) -> Path:
    lines = ['msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n']
    for number, source, state in units:
        context = CONTEXTS[number % len(CONTEXTS)]
        lines += ["#, fuzzy\n"] * (state == LEFT_OUT)
        lines += [] if context is None else [f"msgctxt {quoted(context)}\n"]
        text = "" if state == UNTRANSLATED else f"Ü {source}"
        plural = f"msgid_plural {quoted(source)}\nmsgstr[0] {quoted(text)}\nmsgstr[1] {quoted(text)}\n"
        lines += [
            f"msgid {quoted(source)}\n",
            plural if number % 3 == 0 else f"msgstr {quoted(text)}\n",
            "\n",
        ]
    path = folder / "x.po"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def xml(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;")


def tmx(*, named: bool) -> Write:
    def write(folder: Path, units: Sequence[Unit]) -> Path:
        path = folder / "x.tmx"
        rows = (
            "<tu"
            + f" tuid='t{number}'" * named
            + ">"
            + f"<tuv xml:lang='en'><seg>{xml(source)}</seg></tuv>"
            + f"<tuv xml:lang='de'><seg>{'' if state == UNTRANSLATED else 'Ü'}</seg></tuv>"
            * (state != LEFT_OUT)
            + "</tu>"
            for number, source, state in units
        )
        path.write_text(
            f"<tmx version='1.4'><header srclang='en'/><body>{''.join(rows)}</body></tmx>", encoding="utf-8"
        )
        return path

    return write


def rows_of(units: Sequence[Unit], *, named: bool) -> list[list[str]]:
    """A table, in which a unit that is left out is a row of empty cells."""
    heading = ["source", "Alder", *["Segment ID"] * named]
    return [heading] + [
        [""] * len(heading)
        if state == LEFT_OUT
        else [source, "" if state == UNTRANSLATED else "Ü", *[f"k{number}"] * named]
        for number, source, state in units
    ]


def table(*, named: bool, end: str, between: str = "") -> Write:
    def write(folder: Path, units: Sequence[Unit]) -> Path:
        path = folder / f"x.{end}"
        rows = rows_of(units, named=named)
        if end == "xlsx":
            book = openpyxl.Workbook()
            for row in rows:
                book.active.append([cell or None for cell in row])
            book.save(path)
        elif end == "parquet":
            columns = {name: [row[at] or None for row in rows[1:]] for at, name in enumerate(rows[0])}
            pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String)).write_parquet(path)
        elif end == "json":
            dicts = [dict(zip(["src", "mt", "key"], row, strict=False)) for row in rows[1:]]
            path.write_text(json.dumps(dicts), encoding="utf-8")
        else:
            with path.open("w", encoding="utf-8", newline="") as file:
                for row in rows:
                    csv.writer(file, delimiter="\t" if end == "tsv" else ",").writerow(row)
                    file.write(between)
        return path

    return write


def xliff(version: str, *, named: bool, files: int = 1) -> Write:
    def unit(number: int, source: str, state: str) -> str:
        given = f' id="u{number}"' * named + ' translate="no"' * (state == LEFT_OUT)
        target = "<target/>" if state == UNTRANSLATED else "<target>Ü</target>"
        texts = f"<source>{xml(source)}</source>{target}"
        if version == "1.2":
            return f"<trans-unit{given}>{texts}</trans-unit>"
        return f"<unit{given}><segment>{texts}</segment><segment id='s'>{texts}</segment></unit>"

    def write(folder: Path, units: Sequence[Unit]) -> Path:
        path = folder / "x.xlf"
        body = ["".join(unit(*each) for each in units if each[0] % files == part) for part in range(files)]
        if version == "1.2":
            around = "<file original='f{}' source-language='en' target-language='de'><body>{}</body></file>"
            head = "<xliff version='1.2'>"
        else:
            around, head = "<file id='f{}'>{}</file>", "<xliff version='2.0' srcLang='en' trgLang='de'>"
        inside = "".join(around.format(at, part) for at, part in enumerate(body))
        path.write_text(f"{head}{inside}</xliff>", encoding="utf-8")
        return path

    return write


def lines(folder: Path, units: Sequence[Unit]) -> Path:
    path = folder / "x"
    (path / "translations").mkdir(parents=True)
    flat = [(" ".join(source.split("\n")), state) for _, source, state in units]
    (path / "source.txt").write_text(
        "".join(("" if state == LEFT_OUT else text) + "\n" for text, state in flat), encoding="utf-8"
    )
    (path / "translations" / "Alder.txt").write_text(
        "".join(("" if state in {LEFT_OUT, UNTRANSLATED} else "Ü") + "\n" for _, state in flat),
        encoding="utf-8",
    )
    return path


NAMED: dict[str, Write] = {
    "PO": po,
    "TMX with tuid": tmx(named=True),
    "XLIFF 1.2": xliff("1.2", named=True),
    "XLIFF 2": xliff("2.0", named=True),
    "XLIFF 1.2 of two files": xliff("1.2", named=True, files=2),
    **{f"{end} with ids": table(named=True, end=end) for end in ("csv", "tsv", "xlsx", "parquet", "json")},
}
PLACED: dict[str, Write] = {
    "TMX without tuid": tmx(named=False),
    "XLIFF 1.2 without ids": xliff("1.2", named=False),
    "XLIFF 2 without ids": xliff("2.0", named=False),
    "lines": lines,
    **{
        f"{end} without ids": table(named=False, end=end) for end in ("csv", "tsv", "xlsx", "parquet", "json")
    },
    "CSV with blank lines": table(named=False, end="csv", between="\r\n"),
}


def names_in(test_set: TestSet) -> dict[str, list[str]]:
    """What each text is called."""
    found: dict[str, list[str]] = {}
    for segment in test_set:
        found.setdefault(segment.source, []).append(segment.segment)
    return found


@pytest.mark.parametrize("write", [*NAMED, *PLACED])
@given(st.data())
def test_what_becomes_of_some_units_changes_the_name_of_no_other(
    tmp_path_factory: pytest.TempPathFactory, write: str, data: st.DataObject
) -> None:
    ways = [PLAIN, LEFT_OUT, UNTRANSLATED, *[DELETED] * (write in NAMED)]
    states = data.draw(st.lists(st.sampled_from(ways), min_size=len(TEXTS), max_size=len(TEXTS)))
    states[data.draw(st.integers(0, len(TEXTS) - 1))] = PLAIN
    pair = data.draw(st.sampled_from(["en-de", "en-de_AT"]))
    whole = [(number, text, PLAIN) for number, text in enumerate(TEXTS)]
    part = [(*unit[:2], state) for unit, state in zip(whole, states, strict=True) if state != DELETED]
    folder = tmp_path_factory.mktemp("x")
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        given_lp = None if write.startswith(("XLIFF", "TMX")) else pair
        one = names_in(load({**NAMED, **PLACED}[write](folder / "a", whole), given_lp))
        other = names_in(load({**NAMED, **PLACED}[write](folder / "b", part), given_lp))
    other.pop("", None)
    assert other
    assert other == {text: one[text] for text in other}


def test_a_message_of_gettext_is_called_by_its_context_and_text(tmp_path: Path) -> None:
    units = [(2, "Open", PLAIN), (5, "Close", PLAIN), (7, "Save", PLAIN), (4, "x" * 61, PLAIN)]
    first, second, third, long = load(po(tmp_path, units), "en-de")
    assert [first.segment, second.segment, third.segment] == ["menu|Open", "Close", "menu|Save"]
    assert long.segment.startswith("menu bar|xxx")
    assert len(long.segment) < 60


def test_a_message_that_stands_twice_is_refused_as_gettext_does(tmp_path: Path) -> None:
    path = po(tmp_path, [(2, "Open", PLAIN), (7, "Open", LEFT_OUT)])
    with pytest.raises(DataError, match=r"message 'Open' stands already in line 3: .*x\.po line 7\)"):
        load(path, "en-de")


def test_a_unit_that_shares_its_tuid_never_takes_the_name_of_another(tmp_path: Path) -> None:
    def write(*tuids: str) -> Path:
        unit = (
            "<tu tuid='{}'><tuv xml:lang='en'><seg>{}</seg></tuv><tuv xml:lang='de'><seg>b</seg></tuv></tu>"
        )
        path = tmp_path / "x.tmx"
        rows = "".join(unit.format(tuid, number) for number, tuid in enumerate(tuids))
        path.write_text(f"<tmx version='1.4'><header srclang='en'/><body>{rows}</body></tmx>")
        return path

    assert [s.segment for s in load(write("x", "y", "x", ""))] == ["x#1", "y", "x#3", "4"]
    assert [s.segment for s in load(write("x", "y"))] == ["x", "y"]
