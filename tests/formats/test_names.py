"""Names: what a unit is called does not depend on what else its file holds."""

import csv
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import openpyxl
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.compare import compare
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning
from adjudge.formats.campaign_export import CampaignFile, Submission
from adjudge.formats.convert import of_annotator
from adjudge.formats.file_content import Content
from adjudge.formats.read import load, read_content, read_judgements

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
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that two differ in case is nothing to tell
        assert len(load(po(tmp_path, [(2, "Open", PLAIN), (7, "open", PLAIN)]), "en-de")) == 2


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


EMPTY = ("", " ", "\u200b", " \u2060\u00a0")


WMT25 = "doc_id,segment_id,source_lang,target_lang,set_id,system_id,source_segment,hypothesis_segment"
MQM = "system,doc,docSegId,globalSegId,rater,source,target,category,severity"
ITEM = {"item_id": "SEGMENT", "doc_id": "DOCUMENT", "src": "a", "tgt": {"SYSTEM": "b"}}
SAID = {"item": [ITEM], "annotation": [{"SYSTEM": {"score": 5, "error_spans": []}}], "actions": []}
JUDGED = {"kind": "annotation", "lp": "cs-uk", "annotator": "Ann", "protocol": "da-sqm", "rating": 5}
SHOWN = {"segment": "SEGMENT", "document": "DOCUMENT"}
PAIR = {"src": "a", "trans1": "b", "trans2": "c", "model1": "SYSTEM", "model2": "Birch"}
XLIFF = "<xliff version='1.2'><file original='DOCUMENT' source-language='en' target-language='de'><body>"
XLIFF += "<trans-unit id='SEGMENT'><source>a</source><target>b</target></trans-unit></body></file></xliff>"
TMX = (
    "<tmx version='1.4'><header srclang='en'/><body><tu tuid='SEGMENT'><tuv xml:lang='en'><seg>a</seg></tuv>"
)
TMX += "<tuv xml:lang='de'><seg>b</seg></tuv></tu></body></tmx>"
READERS: dict[str, tuple[str, str]] = {
    "texts/x.jsonl": (
        json.dumps({"lp": "en-de", "source": "a", "translations": {"SYSTEM": "b"}} | SHOWN),
        "system segment document",
    ),
    "records/x.jsonl": (json.dumps(JUDGED | SHOWN | {"system": "SYSTEM"}), "system segment document"),
    "texts/x.csv": ("source,SYSTEM,id,document\na,b,SEGMENT,DOCUMENT\n", "system segment document"),
    "texts/x.xlsx": ("source,SYSTEM,id,document\na,b,SEGMENT,DOCUMENT\n", "system segment document"),
    "scores/x.csv": (
        "system,segment,document,score\nAlder,1,d,1\nSYSTEM,SEGMENT,DOCUMENT,2\n",
        "system segment document",
    ),
    "wmt25/x.tsv": (
        f"{WMT25},reference_segment,domain_name,method\nDOCUMENT,SEGMENT,en,de,set,SYSTEM,a,b,,news,\n",
        "system segment document",
    ),
    "mqm/x.tsv": (
        f"{MQM}\nSYSTEM,DOCUMENT,1,SEGMENT,r1,a,b,No-error,No-error\n",
        "system segment document",
    ),
    "pearmut/en---de.jsonl": (
        json.dumps(SAID | {"user_id": "u", "item_i": 0}),
        "system segment document",
    ),
    "wmt26/x.jsonl": (
        json.dumps({"item_id": "SEGMENT_###_DOCUMENT", "src": "a", "hyps": {"SYSTEM": "b"}}),
        "system segment document",
    ),
    "fire/en-de-annotation.json": (json.dumps([PAIR]), "system"),
    "x.xlf": (XLIFF, "segment document"),
    "x.tmx": (TMX, "segment"),
}
"""Each with one text whose names stand in capitals, and the names that it has."""
SEEN = {"system": "Alder", "segment": "s", "document": "d"}


def named(folder: Path, reader: str, names: dict[str, str]) -> Path:
    """A file of a reader with these names."""
    text, path = READERS[reader][0], folder / Path(reader).name
    if reader.startswith("wmt26"):
        is_named = names["segment"].strip(" \u200b\u2060\u00a0")
        item = f"a_###_en_###_de_###_news_###_{names['document']}_###_1" if is_named else names["segment"]
        text = text.replace("SEGMENT_###_DOCUMENT", item)
    for kind, name in names.items():
        text = text.replace(kind.upper(), name)
    if path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in text.splitlines():
            book.active.append(row.split(","))
        book.save(path)
    else:
        path.write_text(text.replace(",", "\t") if path.suffix == ".tsv" else text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", EMPTY)
@pytest.mark.parametrize(
    ("reader", "kind"), [(reader, kind) for reader, (_, kinds) in READERS.items() for kind in kinds.split()]
)
def test_an_empty_name_is_refused_with_its_file(tmp_path: Path, reader: str, kind: str, name: str) -> None:
    lp = None if "csv" not in reader and reader not in {"texts/x.xlsx", "mqm/x.tsv"} else "en-de"
    read_content(named(tmp_path, reader, SEEN), lp=lp)
    path = named(tmp_path, reader, SEEN | {kind: name})
    may_lack_it = kind == "document" or reader in {"x.xlf", "x.tmx", "mqm/x.tsv"}
    if not name and may_lack_it and (kind, reader) != ("system", "mqm/x.tsv"):
        read_content(path, lp=lp)
        return
    with pytest.raises(DataError) as caught:
        read_content(path, lp=lp)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def annotation(**names: str) -> Annotation:
    about: dict[str, Any] = {"lp": "en-de", "segment": "1", "annotator": "Ann", "system": "Alder"}
    return Annotation(**(about | {"document": "d"} | names), protocol="da-sqm", rating=5.0)


@pytest.mark.parametrize("kind", ["system", "segment", "document", "annotator"])
@pytest.mark.parametrize("spelling", ["Ale\u0301", " Al\u00e9\t", "\u00a0Ale\u0301"])
def test_a_name_in_two_spellings_is_one(kind: str, spelling: str) -> None:
    assert getattr(annotation(**{kind: spelling}), kind) == "Al\u00e9"


def test_systems_in_two_spellings_are_compared_as_one(tmp_path: Path) -> None:
    for file, system in (("a.csv", "Ale\u0301"), ("b.csv", "Al\u00e9 ")):
        rows = "".join(f"{system},{number},{number}\n" for number in range(1, 9))
        (tmp_path / file).write_text(f"system,segment,score\n{rows}", encoding="utf-8")
    found = compare(
        tmp_path / "a.csv", tmp_path / "b.csv", lp="cs-uk", systems="Ale\u0301,Al\u00e9", resamples=20
    )
    assert (found.first.name, found.second.name, found.first.n) == ("Al\u00e9", "Al\u00e9", 8)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ("alder", "'Alder' and 'alder'"),
        ("\u0410lder", r"'Alder' and '\u0410lder' \('\\u0410lder'\)"),
        ("Al\u200bder", r"'Alder' and 'Al\\u200bder'"),
        ("Al\u00adder", r"'Alder' and 'Al\\xadder'"),
    ],
)
@pytest.mark.parametrize("kind", ["system", "segment", "document", "annotator"])
def test_names_that_look_alike_stay_apart_with_a_warning(kind: str, other: str, said: str) -> None:
    records = [annotation(**{kind: name}) for name in ("Alder", other, "Birch", "Alder")]
    with pytest.warns(DataWarning, match=f"two {kind}s look alike and are kept apart: {said}") as caught:
        found = read_judgements(records)
    assert len(caught) == 1
    assert {getattr(record, kind) for record in found.records} == {"Alder", other, "Birch"}


@pytest.mark.parametrize(
    ("name", "is_told"),
    [
        ("GPT\u041e-4", True),
        ("\u0391lder", True),
        ("\u042f\u043d\u0434\u0435\u043a\u0441 MT", False),
        ("\u6771\u4eac\u306e\u30c6\u30b9\u30c8MT2", False),
        ("\u041c\u0422b", True),
        ("GPT4\u043e", True),
        ("\u041c\u0422_b-2", False),
        ("\u05d0-MT.3", False),
    ],
)
def test_a_word_of_two_scripts_is_told(name: str, is_told: bool) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_judgements([annotation(system=name), annotation(system="Birch")])
    assert bool(caught) == is_told


def test_two_spellings_of_one_system_in_a_segment_are_refused() -> None:
    with pytest.raises(DataError, match="stands twice, spelled in two ways"):
        Segment(segment="1", lp="en-de", source="a", translations={"e\u0301": "b", "\u00e9": "c"})


def test_people_and_systems_are_chosen_in_any_spelling() -> None:
    segment = Segment(segment="1", lp="en-de", source="a", translations={"\u00e9": "b"})
    test_set = TestSet(name="x", segments=(segment,))
    assert test_set.select(systems=["e\u0301 "]).systems == ("\u00e9",)
    said, about = annotation(annotator="Zoe\u0308"), {"lp": "en-de", "segment": "1", "protocol": "da-sqm"}
    work = Submission(person=" Zoe\u0308", kind="original", records=(said,), **about)  # type: ignore[arg-type]
    campaign = CampaignFile(name="c", protocol="da-sqm", submissions=(work,))
    kept = of_annotator(Content(records=[said], campaign=campaign), "Zoë ")
    assert [r.annotator for r in kept.records] == [s.person for s in campaign.submissions] == ["Zoë"]
    assert kept.campaign is not None
    assert kept.campaign.submissions
