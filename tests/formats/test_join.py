"""Two inputs with the same names and other texts: every verb refuses what it must, and says how many."""

import json
import re
import shutil
import unicodedata
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import adjudge
from adjudge.core.record import Annotation
from adjudge.core.segment import Digests, Segment, TestSet, digest_of
from adjudge.errors import UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.join import put_together
from adjudge.formats.read import Judgements, read_content, read_judgements
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import read_records
from tests.cli.calling import Asked, call

LPS = ("en-de", "zh-en")
SIZE = 100


def texts(change: Callable[[Segment], Segment] = lambda segment: segment) -> TestSet:
    """Two language pairs whose ids repeat, in documents of four, by three systems."""
    return TestSet(
        name="set",
        segments=tuple(
            change(
                Segment(
                    segment=str(n),
                    lp=lp,
                    document=f"d{n // 4}",
                    source=f"Source {n}, {lp}.",
                    translations={system: f"{system} has translation {n}." for system in "ABC"},
                    references={"ref": f"Reference {n}."},
                )
            )
            for lp in LPS
            for n in range(SIZE)
        ),
    )


def made_of(test_set: TestSet, **fields: Any) -> TestSet:
    """The test set with the same change in every segment."""
    return TestSet(name=test_set.name, segments=tuple(replace(s, **fields) for s in test_set))


def said_of(name: str, test_set: TestSet) -> Judgements:
    """Judgements of every translation, with its texts."""
    return Judgements(name=name, records=tuple(judged(test_set, name)), test_set=test_set)


def other_source(segment: Segment) -> Segment:
    return replace(segment, source="Other.") if (segment.lp, segment.segment) == ("zh-en", "7") else segment


def other_translation(segment: Segment) -> Segment:
    if (segment.lp, segment.segment) != ("zh-en", "7"):
        return segment
    return replace(segment, translations={**segment.translations, "B": "Other."})


def judged(test_set: TestSet, who: str, protocol: str = "mqm") -> list[Annotation]:
    marks = protocol == "mqm"
    return [
        Annotation(
            lp=segment.lp,
            segment=segment.segment,
            document=segment.document,
            system=system,
            annotator=who,
            protocol=protocol,
            rating=None if marks else (int(segment.segment) * 7 + place * 11 + len(who)) % 100,
        )
        for segment in test_set
        for place, system in enumerate("ABC")
    ]


def written(path: Path, test_set: TestSet, who: str, protocol: str = "da-sqm") -> Path:
    write_records(path, judged(test_set, who, protocol), test_set)
    return path


VERBS: dict[str, tuple[str, str, list[str]]] = {
    "compare": ("sources", "da-sqm", ["{one}", "{other}"]),
    "gate": (
        "sources",
        "da-sqm",
        ["--baseline", "{one}", "--candidate", "{other}", "--systems", "A,B", "--margin", "9"],
    ),
    "rank": ("sources", "da-sqm", ["{one}", "{other}"]),
    "agreement": ("translations", "da-sqm", ["{one}", "{other}", "--resamples", "0"]),
    "bias": ("translations", "da-sqm", ["{one}", "--gold", "{other}", "--resamples", "0"]),
    "spans": ("translations", "mqm", ["{one}", "--gold", "{other}"]),
    "estimate": ("translations", "da-sqm", ["{one}", "--gold", "{other}"]),
    "thresholds": ("translations", "da-sqm", ["{one}", "--gold", "{other}", "--bad", "50"]),
    "meta": ("translations", "da-sqm", ["{set}", "--lp", "zh-en", "--gold", "{one}", "--scores", "{other}"]),
    "report": (
        "translations",
        "da-sqm",
        ["{one}", "--gold", "{other}", "--test-set", "{set}", "--out", "{out}", "--force"],
    ),
    "curate agreement": ("translations", "da-sqm", ["{one}", "{other}"]),
    "curate select": (
        "translations",
        "da-sqm",
        ["{set}", "--lp", "zh-en", "--gold", "{one}", "--scores", "{other}", "--draws", "9"],
    ),
    "score": ("translations", "da-sqm", ["{set}", "--lp", "zh-en", "--metric", "{other}"]),
}


@pytest.fixture
def arguments(tmp_path: Path) -> Callable[..., list[str]]:
    """The words of a verb over two files of judgements, the second of which was made of other texts."""

    def words(verb: str, change: Callable[[Segment], Segment]) -> list[str]:
        same, protocol, pattern = VERBS[verb]
        places = {
            "one": written(tmp_path / "one.jsonl", texts(), "ann", protocol),
            "other": written(
                tmp_path / "other.jsonl", texts(change), "ann" if same == "sources" else "ben", protocol
            ),
            "set": tmp_path / "set.jsonl",
            "out": tmp_path / "page.html",
        }
        write_test_set(places["set"], texts())
        return [*verb.split(), *(word.format(**places) for word in pattern)]

    return words


@pytest.mark.parametrize("change", [other_source, other_translation])
@pytest.mark.parametrize("verb", VERBS)
def test_other_texts_under_the_same_names_are_refused_where_they_matter(
    verb: str, change: Any, arguments: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    words = arguments(verb, change)
    found = Asked(capsys, *words)
    if change is other_translation and VERBS[verb][0] == "sources":
        assert "other texts" not in found.err
        return
    what = "source" if change is other_source else "translation of B"
    assert found.code == 2, found.err
    assert f"the first is '7' of zh-en, whose {what} differs" in found.err
    assert f"1 of {100 if VERBS[verb][2][0] == '{set}' else 200} segments of " in found.err
    left_out = Asked(capsys, *words, "--mismatched", "leave-out")
    assert left_out.code != 2, left_out.err


@pytest.mark.parametrize("lp", ["en-de", "eng_Latn-deu"])
@pytest.mark.parametrize("verb", [verb for verb, (*_, words) in VERBS.items() if words[0] != "{set}"])
def test_texts_of_a_pair_that_is_not_asked_for_are_not_looked_at(
    verb: str, lp: str, arguments: Callable[..., list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    found = Asked(capsys, *arguments(verb, other_source), "--lp", lp)
    assert "other texts" not in found.err


def test_what_is_left_out_is_counted_and_in_no_number(tmp_path: Path) -> None:
    one, other = (
        written(tmp_path / f"{name}.jsonl", made, "ann")
        for name, made in (("one", texts()), ("other", texts(other_source)))
    )
    with pytest.raises(UsageError, match="1 of 200 segments"):
        adjudge.compare(one, other, systems=("A", "B"))
    found = adjudge.compare(one, other, systems=("A", "B"), mismatched="leave-out")
    assert found.whole.n == 199
    assert any("1 of 200 segments" in note and "left out" in note for note in found.notes)


def test_texts_that_differ_only_in_blanks_line_ends_and_composition_are_one() -> None:
    plain, odd = "Café\nau lait", "  Cafe\u0301\r\nau lait \n"
    assert digest_of(plain) == digest_of(odd) != digest_of("Café au lait")
    sides = [said_of(name, made_of(texts(), source=text)) for name, text in (("a", plain), ("b", odd))]
    assert put_together(sides, "translations").notes == []


@given(st.sets(st.tuples(st.sampled_from(LPS), st.integers(0, SIZE - 1)), max_size=9))
def test_whatever_differs_is_counted_with_texts_and_with_digests(places: set[tuple[str, int]]) -> None:
    def changed(segment: Segment) -> Segment:
        is_other = (segment.lp, int(segment.segment)) in places
        return replace(segment, source="Other." if is_other else segment.source)

    one, other = texts(), texts(changed)
    with_texts = said_of("one", one)
    by_digest = Judgements(
        name="other",
        records=tuple(
            replace(r, digests=Digests.of(s, r.systems))
            for s, own in zip(other, zip(*[iter(judged(other, "b"))] * 3, strict=True), strict=True)
            for r in own
        ),
    )
    sides, notes = put_together([with_texts, by_digest], "sources", "leave-out")
    assert [len(side.records) for side in sides] == [3 * (2 * SIZE - len(places))] * 2
    assert bool(notes) is bool(places)
    assert not places or notes[0].startswith(f"{len(places)} of 200 segments of one and other")


def test_a_message_shows_where_it_cuts_a_text_and_whose_text_is_not_there(tmp_path: Path) -> None:
    path = written(tmp_path / "other.jsonl", texts(), "ann")
    whole = said_of("whole", texts(lambda segment: replace(segment, source=segment.source * 20)))
    with pytest.raises(UsageError) as told:
        put_together([whole, read_judgements(path)], "sources")
    cut = ("Source 0, en-de." * 20)[:79] + "…"
    assert f"whose source differs; {cut!r} in whole; of {path} a digest alone is known." in str(told.value)


def test_two_inputs_of_one_name_are_told_apart() -> None:
    sides = [said_of("chrf", t) for t in (texts(), texts(other_source))]
    with pytest.raises(UsageError, match=r"of chrf \(input 1\) and chrf \(input 2\) has"):
        put_together(sides, "sources")
    bare = [replace(side, test_set=None) for side in sides]
    assert put_together(bare, "sources").notes == [
        "Texts could not be compared: chrf (input 1) and chrf (input 2) have none."
    ]


HEADING = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\n"


def texts_by_a(*rows: tuple[str, str, str, str]) -> TestSet:
    """A test set of rows of language pair, name, source and A's translation."""
    return TestSet(
        name="texts",
        segments=tuple(
            Segment(lp=lp, segment=name, source=source, translations={"A": text})
            for lp, name, source, text in rows
        ),
    )


def table_of(form: str, folder: Path, test_set: TestSet, lp: str) -> Path:
    """Scores or marks of one language pair: as a table with texts, or with names alone."""
    rows: list[dict[str, Any]] = [
        {"lp": lp, "system": system, "segment": s.segment, "score": (int(s.segment) * 7 + place * 11) % 100}
        | ({"source": s.source, "translation": text} if form != "names" else {})
        for s in test_set
        if s.lp == lp
        for place, (system, text) in enumerate(s.translations.items())
    ]
    path = folder / f"{form}.{ {'parquet': 'parquet', 'mqm-tsv': 'tsv'}.get(form, 'csv') }"
    if form == "parquet":
        pytest.importorskip("polars").DataFrame(rows).write_parquet(path)
    elif form == "mqm-tsv":
        marks = ("Style\tMinor" if row["score"] % 2 else "No-error\tNo-error" for row in rows)
        path.write_text(
            HEADING
            + "".join(
                f"{row['system']}\td\t{row['segment']}\t{row['segment']}\tr1\t{row['source']}\t"
                f"{row['translation']}\t{mark}\n"
                for row, mark in zip(rows, marks, strict=True)
            )
        )
    else:
        path.write_text(
            "\n".join(",".join(map(str, row)) for row in [[*rows[0]], *(quoted(r) for r in rows)])
        )
    return path


def quoted(row: dict[str, Any]) -> list[str]:
    return [f'"{cell}"' for cell in row.values()]


@pytest.mark.parametrize("lp", LPS)
@pytest.mark.parametrize("role", ["--gold", "--scores"])
@pytest.mark.parametrize("form", ["csv", "parquet", "mqm-tsv"])
def test_a_table_with_other_texts_is_refused_or_left_out_where_it_is_measured(
    form: str, role: str, lp: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def changed(segment: Segment) -> Segment:
        if segment.segment == "7":
            return replace(segment, source="Something that nobody has translated.")
        other = (
            {**segment.translations, "B": "Wovon hier keine Rede war."} if segment.segment == "8" else None
        )
        return segment if other is None else replace(segment, translations=other)

    write_test_set(tmp_path / "set.jsonl", texts())
    one = written(tmp_path / "one.jsonl", texts(), "ann")
    given = {"--gold": one, "--scores": one, role: table_of(form, tmp_path, texts(changed), lp)}
    words = ["meta", tmp_path / "set.jsonl", "--lp", lp, *(word for pair in given.items() for word in pair)]
    refused = Asked(capsys, *words)
    assert refused.code == 2
    assert "2 of 100 segments of set and " in refused.err
    found = Asked(capsys, *words, "--mismatched", "leave-out")
    assert found.code == 0, found.err
    assert "2 of 100 segments of set and " in found.out
    assert "could not be compared" not in found.out


@pytest.mark.parametrize("lp", LPS)
def test_scores_without_texts_are_measured_and_a_note_says_that_nobody_compared_their_texts(
    lp: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_test_set(tmp_path / "set.jsonl", texts())
    one = written(tmp_path / "one.jsonl", texts(), "ann")
    lines = tmp_path / "lines"
    lines.mkdir()
    for place, system in enumerate("ABC"):
        numbers = "".join(f"{(n * 7 + place * 11) % 100}\n" for n in range(SIZE))
        (lines / f"{system}.txt").write_text(numbers)
    ratings = tmp_path / f"{lp}.mqm.seg.rating"
    error = {"start": 0, "end": 1, "severity": "minor", "category": "style"}
    ratings.write_text(
        "".join(
            f"{system}\t{json.dumps({'errors': [error] * ((n + place) % 3)})}\n"
            for place, system in enumerate("ABC")
            for n in range(SIZE)
        )
    )
    whole = tmp_path / "whole.seg.score"
    whole.write_text("".join(f"{s}\t{(n * 7) % 100}\n" for s in "ABC" for n in range(SIZE)))
    for bare in (table_of("names", tmp_path, texts(), lp), lines, ratings, whole):
        for words in (["meta"], ["curate", "select", "--draws", "9"]):
            found = Asked(capsys, *words, tmp_path / "set.jsonl", "--lp", lp, "--gold", one, "--scores", bare)
            assert found.code == 0, found.err
            assert f"Texts could not be compared: {bare} has none." in " ".join(
                (found.out + found.err).split()
            )


def test_a_translation_that_one_input_lacks_is_no_other_text() -> None:
    def without(segment: Segment) -> Segment:
        return replace(segment, translations={**segment.translations, "B": " "})

    one, other = texts(), texts(without)
    with_texts = [said_of("a", one), said_of("b", other)]
    by_digest = [
        replace(
            side,
            test_set=None,
            records=tuple(
                replace(
                    r,
                    digests=Digests.of(
                        next(s for s in t if (s.lp, s.segment) == (r.lp, r.segment)), r.systems
                    ),
                )
                for r in side.records[:30]
            ),
        )
        for side, t in zip(with_texts, (one, other), strict=True)
    ]
    for sides in (with_texts, by_digest, [with_texts[0], by_digest[1]], [by_digest[0], with_texts[1]]):
        assert put_together(sides, "translations").notes == []


@pytest.mark.parametrize("change", [other_source, other_translation])
def test_a_report_compares_the_texts_that_it_is_given_beside(change: Any, tmp_path: Path) -> None:
    run = adjudge.run("chrf", texts().select(limit=8, lp="zh-en"), out=tmp_path / "run", reference="ref")
    with pytest.raises(UsageError, match=r"1 of 8 segments of chrf and set has .*'7' of zh-en"):
        adjudge.report(run, tmp_path / "page.html", test_set=texts(change))


def test_the_records_of_a_run_and_of_a_conversion_keep_digests(tmp_path: Path) -> None:
    test_set = texts().select(lp="en-de", limit=2)
    adjudge.run("chrf", test_set, out=tmp_path / "run", reference="ref")
    for record in read_records(tmp_path / "run"):
        assert record.digests == Digests.of(
            next(s for s in test_set if s.segment == record.segment),
            record.systems,
            f"Reference {record.segment}.",
        )
    line = json.loads((tmp_path / "run" / "records.jsonl").read_text().splitlines()[0])
    assert set(line["digests"]) == {"source", "translations", "reference"}
    moved = tmp_path / "moved.jsonl"
    moved.write_bytes((tmp_path / "run" / "records.jsonl").read_bytes())
    other = made_of(test_set, references={"ref": "Another."})
    adjudge.run("chrf", other, out=tmp_path / "second", reference="ref")
    with pytest.raises(UsageError, match="whose reference differs"):
        put_together([read_judgements(moved), read_judgements(tmp_path / "second")], "sources")


_ROWS = """lp,segment,system,score,source,translation
en-de,1,A,3,{one},Auf
en-de,2,A,4,Close,{two}
fr-ja,1,A,5,Fermer,閉
"""
_OF_COMET = """{{"A.txt": [
  {{"src": "{one}", "mt": "Auf", "COMET": 3}}, {{"src": "Close", "mt": "{two}", "COMET": 4}}
]}}"""
WITH_TEXTS = {"score-table": ("scores.csv", _ROWS), "comet": ("scores.json", _OF_COMET)}


@pytest.mark.parametrize(("one", "two"), [("Open", "Zu"), ("Open 7", "Zu"), ("Open", "Weg damit")])
@pytest.mark.parametrize("form", WITH_TEXTS)
def test_scores_with_texts_beside_them_are_held_to_those_of_the_test_set(
    form: str, one: str, two: str, tmp_path: Path
) -> None:
    name, content = WITH_TEXTS[form]
    file = tmp_path / name
    file.write_text(content.format(one=one, two=two), encoding="utf-8")
    segments = [("en-de", "1", "Open", "Auf"), ("en-de", "2", "Close", "Zu"), ("fr-ja", "1", "Fermer", "閉")]
    texts = texts_by_a(*segments[: 2 if form == "comet" else 3])
    if (one, two) == ("Open", "Zu"):
        assert len(read_judgements(file, texts=texts).records) == len(texts)
    else:
        with pytest.raises(UsageError, match=f"other texts than 1 of {len(texts)} judgements"):
            read_judgements(file, texts=texts)


def test_an_mqm_tsv_is_about_the_sources_of_its_test_set(tmp_path: Path) -> None:
    file = tmp_path / "marks.tsv"
    file.write_text(
        f"{HEADING}"
        "A\td\t1\t1\tr1\tOpen 1 file\tÖffne <v>1</v> Datei\tAccuracy/Mistranslation\tMajor\n"
        "A\td\t2\t2\tr1\tClose it\tSchließ es\tNo-error\tNo-error\n",
        encoding="utf-8",
    )

    def texts(first: str) -> TestSet:
        return texts_by_a(("en-de", "1", first, "Öffne 1 Datei"), ("en-de", "2", "Close it", "Schließ es"))

    assert len(read_judgements(file, "en-de", texts("Open  1 file")).records) == 2  # WMT's lose blanks
    file.write_text(unicodedata.normalize("NFD", file.read_text()), encoding="utf-8")
    (span,) = read_judgements(file, "en-de", texts("Open 1 file")).records[0].spans  # type: ignore[union-attr]
    assert (span.start, span.text) == (6, "1")
    other = texts("Open 7 files")
    for read in (read_judgements, lambda file, lp, other: read_content(file, lp=lp, test_set=other)):
        with pytest.raises(UsageError, match="other texts than 1 of 2 judgements"):
            read(file, "en-de", other)


def test_raters_edit_a_translation_and_do_not_write_another(tmp_path: Path) -> None:
    file = tmp_path / "marks.tsv"
    rows = [
        ("en-de", "1", "Er öffnet <v>neue</v> Datei"),  # edited
        ("en-de", "2", "Was <v>ganz</v> anderes"),
        ("fr-ja", "1", "ファイルを<v>開く</v>"),
        ("fr-ja", "2", "まったく<v>別の</v>文"),
    ]
    lines = [
        f"A\td:{lp}\t{n}\t{n}\tr{rater}\tS{n}\t{text}\tAccuracy/Mistranslation\tMajor\n"
        for lp, n, text in rows
        for rater in (1, 1, 2)
    ]
    file.write_text(HEADING + "".join(lines), encoding="utf-8")
    wrote = {"en-de": ("Er öffnet die neue Datei", "Sie schließt"), "fr-ja": ("ファイルを開け", "閉じます")}
    for lp, translations in wrote.items():
        known = texts_by_a(*((lp, f"{n}", f"S{n}", text) for n, text in enumerate(translations, start=1)))
        with pytest.raises(UsageError, match=r"2 of 4 judgements .* segment '2'"):
            read_judgements(file, lp, known)
        whole = Judgements(name="texts", records=(), test_set=known)
        (_, kept), notes = put_together(
            [whole, read_judgements(file, lp, beside=known)], "translations", "leave-out"
        )
        assert {record.segment for record in kept.records} == {"1"}
        assert notes[0].startswith("1 of 2 segments of texts and ")
        assert kept.notes == (
            "1 translations of which a rater has another text or source, marks carried over",
        )


def test_rows_without_segments_are_numbered_within_pair_and_annotator(tmp_path: Path) -> None:
    file = tmp_path / "scores.csv"
    rows = [f"{lp},{who},A,{n}" for lp in ("en-de", "fr-ja") for who in ("ann", "ben") for n in range(3)]
    file.write_text("\n".join(["lp,annotator,system,score", *rows]), encoding="utf-8")
    records = read_judgements(file).records
    assert len({(r.lp, r.annotator, r.segment) for r in records}) == 12
    assert {r.segment for r in records} == {"1", "2", "3"}


@pytest.mark.realdata
@pytest.mark.parametrize("form", ["records", "parquet", "campaign", "appraise", "pearmut"])
def test_what_we_write_of_appraise_joins_with_the_batches_that_it_came_from(
    form: str, adjudge_data: Path, tmp_path: Path
) -> None:
    file = adjudge_data / "esa" / "240315rc5ESA.scores.csv"
    read = read_judgements(file)
    told = read_content(file, test_set=read.test_set, as_campaign=form not in {"records", "parquet"})
    out = tmp_path / {"parquet": "parquet", "appraise": "out.csv"}.get(form, "out.jsonl")
    write_content(out, form, told)
    if form == "appraise":
        shutil.copy(next(file.parent.glob("batches*.json")), tmp_path)
    back = read_judgements(out)
    assert put_together([read, back], "translations").notes == []
    assert {(r.lp, r.segment, r.systems) for r in read.records} == {
        (r.lp, r.segment, r.systems) for r in back.records
    }


@pytest.mark.parametrize("pair", LPS)
def test_scores_that_name_another_language_pair_are_none_of_the_one_that_is_asked_for(
    tmp_path: Path, pair: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_test_set(tmp_path / "set.jsonl", texts())
    gold = written(tmp_path / "gold.jsonl", texts(), "gold")
    other = next(lp for lp in LPS if lp != pair)
    rows = [f"{system},{n},{n * 7 % 11}\n" for system in "ABC" for n in range(SIZE)]
    for name in (f"{other}.own.csv", f"{other}/own.csv", "own.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"system,segment,score\n{''.join(rows)}")
        judged = [
            ["agreement", gold, "--judge", tmp_path / name, "--resamples", "0"],
            ["meta", tmp_path / "set.jsonl", "--gold", gold, "--scores", tmp_path / name],
            ["rank", tmp_path / name],
        ]
        for words in judged:
            is_named = name != "own.csv"
            assert (call(*map(str, words), "--lp", pair) != 0) == is_named, words
            assert not is_named or other in capsys.readouterr().err
    both = ["meta", tmp_path / "set.jsonl", "--gold", gold, "--scores", tmp_path / "own.csv"]
    assert call(*map(str, both), "--lp", ",".join(LPS)) != 0, "which pair it is of is not said"
    assert "does not say its language pair" in capsys.readouterr().err


def test_a_run_whose_texts_were_changed_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_test_set(tmp_path / "set.jsonl", texts())
    assert call("run", "chrf", str(tmp_path / "set.jsonl"), "--out", str(tmp_path / "run")) == 0
    file = tmp_path / "run/test_set.jsonl"
    file.write_text(file.read_text("utf-8").replace("Source 7, zh-en.", "Another."), "utf-8")
    assert call("rank", str(tmp_path / "run")) == 2
    assert "has other texts than 3 of 600 judgements" in capsys.readouterr().err


@pytest.mark.parametrize(("form", "name"), [("wmt25", "t.tsv"), ("mtme-ratings", "zh-en.x.seg.rating")])
def test_a_score_is_not_written_as_a_translation_without_errors(tmp_path: Path, form: str, name: str) -> None:
    write_test_set(tmp_path / "set.jsonl", texts())
    records = written(tmp_path / "scores.jsonl", texts(), "metric", "metric")
    words = ["--to", form, "--lp", "zh-en", "--test-set", str(tmp_path / "set.jsonl")]
    call("convert", str(records), str(tmp_path / name), *words)
    written_out = (tmp_path / name).read_text("utf-8") if (tmp_path / name).exists() else ""
    assert not re.search("no-error|errors", written_out)


def test_a_file_with_texts_of_its_own_is_held_to_those_that_are_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_test_set(tmp_path / "set.jsonl", texts())
    write_test_set(tmp_path / "other.jsonl", texts(other_source))
    records = written(tmp_path / "marks.jsonl", texts(), "gold", "mqm")
    given = ["--test-set", tmp_path / "set.jsonl", "--lp", "zh-en"]
    assert call("convert", records, tmp_path / "t.tsv", "--to", "wmt25", *given) == 0
    capsys.readouterr()
    for name, code in (("set.jsonl", 0), ("other.jsonl", 2)):
        words = ["--to", "records", "--lp", "zh-en", "--test-set", tmp_path / name]
        assert call("convert", tmp_path / "t.tsv", tmp_path / f"{name}.out", *words) == code
    assert "has other texts than 3 of 300 judgements" in capsys.readouterr().err
