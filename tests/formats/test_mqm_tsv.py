"""MQM TSV of every year: what each file's trap becomes, and that nothing is silent."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, ErrorSpan, Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.mqm_tsv import AttentionCheck, MqmFile, read_mqm_tsv, write_mqm_tsv
from adjudge.formats.read import detect, load
from tests.formats.nasty import annotations, texts

OLD = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity"
NEW = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\tcategory\tseverity\tmetadata"
DISPLACED = "segments whose docSegId is not their place in this file, and is not kept"


def read(folder: Path, *rows: str, heading: str = OLD, test_set: TestSet | None = None) -> MqmFile:
    path = folder / "mqm.tsv"
    path.write_bytes("".join(f"{row}\n" for row in (heading, *rows)).encode())
    return read_mqm_tsv(path, "en-de", test_set)


def row(
    target: str = "x", category: str = "Accuracy/Mistranslation", severity: str = "Major", **cells: str
) -> str:
    known = {"system": "A", "doc": "d", "doc_id": "1", "seg_id": "7", "rater": "r1", "source": "src"} | cells
    metadata = known.pop("metadata", None)
    return "\t".join([*known.values(), target, category, severity, *([metadata] if metadata else [])])


def one(file: MqmFile) -> ErrorSpan:
    (record,) = file.records
    (span,) = record.spans
    return span


# One line, one error...


def test_a_line_is_an_error_at_its_tags(tmp_path: Path) -> None:
    file = read(tmp_path, row("Ich 😀 <v>möchte</v> Sie", source="I 😀 want"))
    about: dict[str, Any] = {"lp": "en-de", "segment": "7", "document": "d"}
    span = ErrorSpan(severity="major", category="accuracy/mistranslation", start=6, end=12, text="möchte")
    assert file.records == (Annotation(**about, system="A", annotator="r1", protocol="mqm", spans=(span,)),)
    assert not file.met
    texts = {"A": "Ich 😀 möchte Sie"}
    assert file.test_set.segments == (Segment(**about, source="I 😀 want", translations=texts),)


def test_lines_of_one_rater_about_one_translation_are_one_judgement(tmp_path: Path) -> None:
    clean = row(category="No-error", severity="no-error", seg_id="8", doc_id="2")
    file = read(tmp_path, row("<v>x</v>"), row("x", rater="r2"), row("x<v></v>", severity="minor"), clean)
    assert [(r.annotator, len(r.spans)) for r in file.records] == [("r1", 2), ("r2", 1), ("r1", 0)]


def test_no_error_beside_errors_is_flagged_and_the_errors_count(tmp_path: Path) -> None:
    file = read(tmp_path, row("<v>x</v>"), row(category="No-error", severity="No-error"))
    assert file.records[0].flags == ("clean_and_errors",)
    assert len(file.records[0].spans) == 1
    assert sum(file.met.values()) == 1


@pytest.mark.parametrize(("category", "severity"), [("No-error", "Major"), ("Fluency/Grammar", "no-error")])
def test_a_line_that_is_both_error_and_none_is_refused(tmp_path: Path, category: str, severity: str) -> None:
    with pytest.raises(DataError, match=r"contradict each other.*line 2"):
        read(tmp_path, row(category=category, severity=severity))


@pytest.mark.parametrize("severity", ["Schwer", "", "1", "Majorr"])
def test_a_severity_that_does_not_exist_is_refused_and_never_costs_nothing(
    tmp_path: Path, severity: str
) -> None:
    with pytest.raises(DataError, match=r"severity must be .*line 3"):
        read(tmp_path, row(), row(severity=severity))


@pytest.mark.parametrize("severity", ["Major", "major", "Major ", "MAJOR"])
def test_severities_are_known_in_any_case(tmp_path: Path, severity: str) -> None:
    assert one(read(tmp_path, row(severity=severity))).severity == "major"


@pytest.mark.parametrize(
    ("raw", "category", "label"),
    [
        ("Accuracy/Mistranslation", "accuracy/mistranslation", None),
        ("accuracy/mistranslation", "accuracy/mistranslation", None),
        ("Style/Unnatural or awkward", "style/awkward", ...),
        ("Accuracy/Source language fragment", "accuracy/untranslated text", ...),
        ("Terminology/Inconsistent use of terminology", "terminology/inconsistent use", ...),
        ("Accuracy/Omission (Translation 2)", "accuracy/omission", ...),
        ("Source error/-", "source error", ...),
        ("Non-translation!", "non-translation", None),
        ("Other", "other", None),
        ("", None, None),
    ],
)
def test_labels_of_every_year_have_our_category_and_keep_their_spelling(
    tmp_path: Path, raw: str, category: str | None, label: Any
) -> None:
    span = one(read(tmp_path, row("<v>x</v>", category=raw)))
    assert (span.category, span.label) == (category, raw if label is ... else label)


def test_a_category_that_no_year_has_is_kept_and_counted(tmp_path: Path) -> None:
    file = read(tmp_path, row("<v>x</v>", category="Accuracy/Vibes"))
    assert (one(file).category, one(file).label) == (None, "Accuracy/Vibes")
    assert file.records[0].flags == ("category_unknown",)
    assert file.met == {"categories that no year has, kept as label": 1}


# Where the error is...


@pytest.mark.parametrize(
    ("target", "place", "flags"),
    [
        ("ab <v>cd</v> ef", (3, 5), ()),
        ("<v>ab cd ef</v>", (0, 8), ()),
        ("<v>ab cd ef", (0, 8), ("span_unbalanced",)),
        ("ab cd</v> ef", (0, 5), ("span_unbalanced",)),
        ("ab </v>cd<v> ef", (3, 5), ("span_unbalanced",)),
        ("ab<v></v> cd ef", (2, 2), ("span_empty",)),
        ("ab<v> cd </v>ef", (2, 6), ("span_edge_space",)),
        ("<v>ab</v> cd <v>ef</v>", (0, 8), ("span_in_parts",)),
        ("ab <v>ab</v> cd", (3, 5), ("span_repeated",)),
        ("<v>Prinz</v>Prinz", (0, 5), ("span_repeated",)),
    ],
)
def test_tags_are_half_open_offsets_and_what_is_odd_is_flagged(
    tmp_path: Path, target: str, place: tuple[int, int], flags: tuple[str, ...]
) -> None:
    file = read(tmp_path, row(target))
    assert (one(file).start, one(file).end) == place
    assert file.records[0].flags == flags
    assert len(file.met) == len(flags)
    assert one(file).text == re.sub("</?v>", "", target)[slice(*place)]


@pytest.mark.parametrize(
    ("target", "source", "place", "flags"),
    [
        ("x", "a <v>bc</v>", ("source", 2, 4, "bc", "exact"), ()),
        ("<v>x</v>", "<v>a</v>", ("translation", 0, 1, "x", "exact"), ("span_both_sides",)),
        ("x", "a", ("translation", None, None, "", "unplaced"), ()),
    ],
)
def test_tags_of_either_text_place_the_error(
    tmp_path: Path, target: str, source: str, place: tuple[object, ...], flags: tuple[str, ...]
) -> None:
    file = read(tmp_path, row(target, "Accuracy/Omission", source=source))
    span = one(file)
    assert (span.side, span.start, span.end, span.text, span.match) == place
    assert file.records[0].flags == flags


def test_token_indices_place_an_error_that_has_no_tags(tmp_path: Path) -> None:
    tokens = json.dumps({"segment": {"target_tokens": ["Ich", " ", "möchte", " ", "Sie"]}})
    rows = [
        row("Ich möchte Sie", category="No-error", severity="No-error", metadata=tokens),
        row("Ich möchte Sie", metadata='{"target_spans": [[2, 4]]}', rater="r2"),
        row("Ich <v>möchte</v> Sie", metadata='{"target_spans": [[2, 2]]}', rater="r3"),
        row("<v>Ich</v> möchte Sie", metadata='{"target_spans": [[2, 2]]}', rater="r4"),
        row("Ich möchte Sie", metadata='{"target_spans": [[2, 9]]}', rater="r5"),
    ]
    file = read(tmp_path, *rows, heading=NEW)
    assert [[(s.text, s.match) for s in r.spans] for r in file.records[1:]] == [
        [("möchte Sie", "exact")],
        [("möchte", "exact")],
        [("Ich", "exact")],
        [("", "unplaced")],
    ]
    assert file.records[3].flags == ("span_tokens_differ",)


# Texts that raters edited...


def test_marks_in_an_edited_text_are_carried_over_to_the_translation(tmp_path: Path) -> None:
    rows = [
        row("Um das zu tun, trug er <v>einen</v> Mundschutz."),
        row("Um das zu tun, trug <v>er angeblich </v>einen Mundschutz.", rater="r2"),
        row("Um das zu tun, trug er einen <v>Mundschutz</v>.", rater="r3"),
    ]
    file = read(tmp_path, *rows)
    assert [s.text for r in file.records for s in r.spans] == ["einen", "er ", "Mundschutz"]
    assert file.records[1].flags == ("span_edge_space", "text_edited")
    (edited,) = file.edited
    text = "Um das zu tun, trug er angeblich einen Mundschutz."
    assert (edited.rater, edited.side, edited.text) == ("r2", "translation", text)
    assert file.test_set.segments[0].translations["A"] == "Um das zu tun, trug er einen Mundschutz."


@pytest.mark.parametrize("target", ["mit <v>Prinz</v>Prinz Dianas", "mit Prinz<v>Prinz</v> Dianas"])
def test_words_repeated_beside_the_tag_are_marked_once_where_the_translation_is_known(
    tmp_path: Path, target: str
) -> None:
    known = Segment(segment="7", lp="en-de", source="src", translations={"A": "mit Prinz Dianas"})
    file = read(tmp_path, row(target), test_set=TestSet(name="t", segments=(known,)))
    assert (one(file).start, one(file).end, one(file).text) == (4, 9, "Prinz")
    assert file.test_set.segments[0].translations == {"A": "mit Prinz Dianas"}
    assert set(file.records[0].flags) == {"span_repeated", "text_edited"}


@given(text=st.text("ab ", max_size=12), onto=st.text("ab ", max_size=12), data=st.data())
def test_a_mark_carried_over_lies_within_the_other_text(text: str, onto: str, data: st.DataObject) -> None:
    from adjudge.formats.mqm_tsv import Mark, carry_over

    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    mark = carry_over(text, Mark(start, end), onto)
    assert 0 <= mark.start <= mark.end <= len(onto)
    if text == onto:
        assert mark == (start, end, ())


def test_a_rater_who_edits_a_text_in_many_lines_counts_once(tmp_path: Path) -> None:
    edited = [row("Das <v>ist</v> neu.") for _ in range(3)]
    file = read(tmp_path, *edited, row("Das ist <v>alt</v>.", rater="r2"), row("Das ist alt.", rater="r3"))
    assert file.test_set.segments[0].translations["A"] == "Das ist alt."
    assert file.met == {"translations of which a rater has another text or source, marks carried over": 1}


def test_very_long_changes_are_carried_over_like_short_ones(tmp_path: Path) -> None:
    rows = [
        row("a" + "x" * 4000 + "z"),
        row("a" + "x" * 4000 + "z", rater="r2"),
        row("a" + "<v>y</v>" * 2 + "yy" * 600 + "z", rater="r3"),
    ]
    file = read(tmp_path, *rows)
    assert file.records[2].spans[0].text == "xx"


# What a file is made of...


def test_every_year_names_its_columns_otherwise(tmp_path: Path) -> None:
    comments = read(tmp_path, row("<v>x</v>", metadata="too formal"), heading=OLD + "\tcomment")
    assert one(comments).note == "too formal"
    notes = read(tmp_path, row("<v>x</v>", metadata='{"note": "why", "timestamp": 3}'), heading=NEW)
    assert one(notes).note == "why"
    extra = read(tmp_path, row("<v>x</v>", metadata="{}\tsomething"), heading=NEW + "\tfeedback")
    assert extra.met == {"cells of a column 'feedback' that nobody reads": 1}


def test_google_does_not_quote_and_others_do(tmp_path: Path) -> None:
    plain = read(tmp_path, row('"<v>x</v>"'), row('"<v>a</v>" b', seg_id="8", doc_id="2"))
    assert plain.test_set.segments[0].translations["A"] == '"x"'
    quoted = read(tmp_path, row('"He said ""<v>x</v>"""'), row('"""y"""', seg_id="8", doc_id="2"))
    assert [s.translations["A"] for s in quoted.test_set] == ['He said "x"', '"y"']
    assert one(replace(quoted, records=quoted.records[:1])).text == "x"


@pytest.mark.parametrize(
    "rows", [[row('"<v>x</v>"')], [row('"x"'), row('"<v>y</v>."', seg_id="8", doc_id="2")]]
)
def test_words_in_quotation_marks_are_no_quoted_cells(rows: list[str], tmp_path: Path) -> None:
    file = read(tmp_path, *rows)
    assert all(s.translations["A"].startswith('"') for s in file.test_set)


def test_a_file_may_quote_every_cell_or_every_one_that_is_no_number(tmp_path: Path) -> None:
    def quoted(line: str) -> str:
        return "\t".join(cell if cell.isdecimal() else f'"{cell}"' for cell in line.split("\t"))

    file = read(tmp_path, quoted(row("<v>x</v> y")), heading=quoted(OLD))
    assert [s.translations for s in file.test_set] == [{"A": "x y"}]


def test_unbabel_states_its_score_beside_each_error(tmp_path: Path) -> None:
    rows = [
        row("<v>x</v>", severity="minor", metadata='"{""mqm"": 95.2}"'),
        row("x", category="no-error", severity="no-error", rater="r2", metadata='"{""mqm"": 100}"'),
    ]
    file = read(tmp_path, *rows, heading=OLD + "\tmisc")
    assert [len(r.spans) for r in file.records] == [1, 0]


def test_rows_that_lack_the_rater_are_read_from_their_end(tmp_path: Path) -> None:
    rows = ["A\td\t16\tsrc\t<v>x</v>y\tSource error\tMinor\t", "A\te\t16\tsrc\tz\tNo-error\tNo-error\t"]
    file = read(tmp_path, *rows)
    assert [(r.segment, r.annotator, r.flags) for r in file.records] == [
        ("d:16", "unknown", ("rater_unknown",)),
        ("e:16", "unknown", ("rater_unknown",)),
    ]
    assert file.met == {
        "rows shorter than the heading, read from their end": 2,
        "units without a rater": 2,
        DISPLACED: 2,
    }


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["A\td\tsrc\tx\tOther"], r"line 2\)"),
        (["A"], r"line 2\)"),
        (["A\td\t1\t2\t3\t4\tx\ty\tz\tOther\tMajor\tq\tr"], r"line 2\)"),
        ([row('"a ""b"""'), row("c\rd")], "quoted fields are broken"),
    ],
)
def test_a_row_that_fits_no_layout_is_refused(tmp_path: Path, rows: list[str], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, *rows)
    heading = "system\tdoc\tdocSegId\tglobalSegId\trater\tsource\ttarget\ta\tb\tc\tcategory\tseverity"
    with pytest.raises(DataError, match=r"a row of 11 fields has no 'severity'.*line 2"):
        read(tmp_path, "A\td\t1\t1\tr\ts\tt\ta\tb\tc\tStyle", heading=heading)


@pytest.mark.parametrize(
    "heading", ["", "a\tb", "sys\tdoc\tsource", "system\tdoc\tdoc_id\tsource\ttarget\tseverity"]
)
def test_a_file_without_the_known_heading_is_refused(tmp_path: Path, heading: str) -> None:
    with pytest.raises(DataError, match=r"an MQM TSV has no column '(system|category)'"):
        read(tmp_path, heading=heading)


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        ([("d", "1", "0"), ("d", "2", "0"), ("e", "1", "0")], ["d:1", "d:2", "e:1"]),
        ([("d", "", "1"), ("d", "", "2"), ("e", "", "1")], ["d:1", "d:2", "e:1"]),
        ([("d", "1", "1"), ("d", "1", "2"), ("e", "1", "1")], ["d:1:1", "d:1:2", "e:1:1"]),
    ],
)
def test_different_segments_never_become_one(
    ids: list[tuple[str, str, str]], wanted: list[str], tmp_path: Path
) -> None:
    rows = [row(f"t{n}", doc=d, doc_id=p, seg_id=s, source=f"s{n}") for n, (d, p, s) in enumerate(ids)]
    file = read(tmp_path, *rows)
    assert [(s.segment, s.source) for s in file.test_set] == [(w, f"s{n}") for n, w in enumerate(wanted)]
    assert not any("another text" in what for what in file.met)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"rating": "x"}, "'rating' must be a number, got 'x'"),
        ({"protocol": "esa"}, "protocol esa needs a rating"),
        ({"protocol": "odd"}, "no protocol 'odd'"),
    ],
)
def test_a_judgement_that_cannot_be_is_refused_with_its_line(
    stated: dict[str, object], message: str, tmp_path: Path
) -> None:
    metadata = json.dumps({"adjudge": {"first": True, **stated}})
    with pytest.raises(DataError, match=message) as refused:
        read(tmp_path, row(seg_id="8", doc_id="2"), row(metadata=metadata), heading=NEW)
    assert "mqm.tsv line 3" in str(refused.value)


def test_attention_checks_and_rows_with_metadata_only_are_kept_apart_from_errors(tmp_path: Path) -> None:
    rows = [
        row("<v>x</v>"),
        row("<v>x</v>", "Found", "HOTW-test"),
        row("<v>x</v>", "HOTW-test", "Missed", rater="r2"),
        row("y", "", "", rater="", system="B"),
    ]
    file = read(tmp_path, *rows)
    assert [(r.system, len(r.spans)) for r in file.records] == [("A", 1)]
    assert file.checks == (AttentionCheck("7", "A", "r1", True), AttentionCheck("7", "A", "r2", False))
    assert file.met == {"attention checks, kept apart from the errors": 2, "rows with metadata only": 1}
    with pytest.raises(DataError, match="Found or Missed"):
        read(tmp_path, row("x", "Maybe", "HOTW-test"))


def test_side_by_side_names_are_split_into_system_and_partner(tmp_path: Path) -> None:
    names = {"A_with_refA": "x", "refA_with_A": "y", "A_with_B": "x", "B_with_A": "z", "HW_with_Human": "q"}
    file = read(tmp_path, *(row(text, system=name) for name, text in names.items()))
    flags = [("with:refA",), ("with:A",), ("with:B",), ("with:A",), ()]
    found = ["A", "refA", "A", "B", "HW_with_Human"]
    assert [(r.system, r.flags) for r in file.records] == [*zip(found, flags, strict=True)]
    assert file.test_set.systems == ("A", "refA", "B", "HW_with_Human")


@pytest.mark.parametrize("suffix", ["en-de", "English-German"])
def test_the_language_pair_may_stand_behind_the_documents_names(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / "mqm.tsv"
    path.write_text(f"{OLD}\n{row(doc=f'news.1:{suffix}')}\n")
    assert read_mqm_tsv(path).records[0].lp == "en-de"
    assert load(path).lps == ("en-de",)
    path.write_text(f"{OLD}\n{row()}\n")
    with pytest.raises(UsageError, match="add --lp"):
        read_mqm_tsv(path)


# Writing...


def texts_of(records: list[Annotation], text: str) -> TestSet:
    systems: dict[str, dict[str, str]] = {}
    for record in records:
        systems.setdefault(record.segment, {})[record.system] = text
    return TestSet(
        name="t",
        segments=tuple(
            Segment(segment=name, lp="en-de", source=text, translations=by_system, document="d")
            for name, by_system in systems.items()
        ),
    )


@given(
    records=st.lists(annotations, max_size=3, unique_by=lambda r: (r.segment, r.system, r.annotator)),
    text=texts,
)
def test_annotations_come_back_as_they_were_written_or_are_refused(
    tmp_path_factory: pytest.TempPathFactory, records: list[Annotation], text: str
) -> None:
    path = tmp_path_factory.mktemp("mqm") / "mqm.tsv"
    test_set = texts_of(records, text)
    if not records:
        return
    try:
        lost = write_mqm_tsv(path, records, test_set)
    except DataError as error:
        assert re.search("a tab or a line end|tags in it|no category of an error", str(error))  # noqa: PT017
        return
    assert not lost
    file = read_mqm_tsv(path, "en-de")
    assert file.records == tuple(records)
    assert file.test_set.segments == test_set.segments


JUDGED = Annotation(
    lp="en-de",
    segment="7",
    system="A",
    annotator="r1",
    protocol="mqm",
    document="d",
    spans=(
        ErrorSpan(severity="minor", category="fluency/punctuation", start=0, end=1, text="x"),
        ErrorSpan(severity="major", category="non-translation", match="unplaced", note="all of it"),
    ),
)
TEXTS = TestSet(
    name="t", segments=(Segment(segment="7", lp="en-de", source="s", translations={"A": "xy"}, document="d"),)
)


def test_other_tools_find_the_columns_and_labels_that_they_know(tmp_path: Path) -> None:
    write_mqm_tsv(tmp_path / "out.tsv", [JUDGED, replace(JUDGED, annotator="r2", spans=())], TEXTS)
    heading, *rows = (tmp_path / "out.tsv").read_text().splitlines()
    assert heading == NEW
    cells = [line.split("\t") for line in rows]
    assert cells[0][:9] == ["A", "d", "1", "7", "r1", "s", "<v>x</v>y", "Fluency/Punctuation", "Minor"]
    assert cells[1][6:9] == ["xy", "Non-translation!", "Major"]
    assert json.loads(cells[1][9])["note"] == "all of it"
    assert cells[2][4:9] == ["r2", "s", "xy", "No-error", "No-error"]


def test_pairs_that_were_judged_side_by_side_keep_their_partners(tmp_path: Path) -> None:
    records = [replace(JUDGED, flags=("with:B",)), replace(JUDGED, flags=("with:C", "span_empty"))]
    write_mqm_tsv(tmp_path / "out.tsv", records, TEXTS)
    assert "A_with_B\t" in (tmp_path / "out.tsv").read_text()
    assert read_mqm_tsv(tmp_path / "out.tsv", "en-de").records == tuple(records)


def test_what_a_tsv_has_no_row_for_is_counted(tmp_path: Path) -> None:
    shared: dict[str, Any] = {"lp": "en-de", "annotator": "r1", "protocol": "mqm"}
    more: dict[str, Any] = {
        "references": {"refA": "x"},
        "domain": "news",
        "translations": {"A": "xy", "B": "z"},
    }
    segments = (replace(TEXTS.segments[0], **more),)
    failure = Failure(segment="7", systems=("A",), reason="empty", **shared)
    records: list[Record] = [JUDGED, failure, replace(JUDGED, lp="en-cs")]
    assert write_mqm_tsv(tmp_path / "out.tsv", records, TestSet(name="t", segments=segments)) == {
        "failures": 1,
        "records of other language pairs": 1,
        "translations that nobody judged": 1,
        "texts of references": 1,
        "segments whose domain or meta": 1,
    }


@pytest.mark.parametrize(
    ("change", "text", "message"),
    [
        ({}, "a\tb", "a tab or a line end, as in the source"),
        ({}, "a\nb", "a tab or a line end"),
        ({}, "a<v>b", "has its tags in it"),
        ({"annotator": "a\tb"}, "xy", "as in the rater"),
        ({"system": "B"}, "xy", "no translation by 'B' of segment '7', which 'r1' judged"),
        ({"segment": "8"}, "xy", "of segment '8'"),
        ({"spans": (replace(JUDGED.spans[0], label="No-error"),)}, "xy", "'No-error' is no category"),
    ],
)
def test_what_would_not_come_back_is_refused(
    tmp_path: Path, change: dict[str, Any], text: str, message: str
) -> None:
    segment = replace(TEXTS.segments[0], source=text)
    with pytest.raises(DataError, match=message):
        write_mqm_tsv(
            tmp_path / "out.tsv", [replace(JUDGED, **change)], TestSet(name="t", segments=(segment,))
        )
    with pytest.raises(DataError, match="judged 'A' of segment '7' twice"):
        write_mqm_tsv(tmp_path / "out.tsv", [JUDGED, JUDGED], TEXTS)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("positions", "lost"), [(("1", "2"), {}), (("7", "2"), {DISPLACED: 1})])
def test_places_in_documents_that_a_file_written_from_it_would_not_have_are_counted(
    positions: tuple[str, str], lost: dict[str, int], tmp_path: Path
) -> None:
    lines = [f"A\td\t{place}\t{i}\tr1\tone\teins\tNo-error\tNo-error\t" for i, place in enumerate(positions)]
    path = tmp_path / "file.tsv"
    path.write_text("\n".join([NEW, *lines]) + "\n", encoding="utf-8")
    assert read_mqm_tsv(path, "en-de").met == lost


def test_columns_may_stand_in_any_order_and_case(tmp_path: Path) -> None:
    (path := tmp_path / "x.tsv").write_text(
        "Category\tSource\tTarget\tSYSTEM\tdoc\tseverity\tseg_id\nNo-error\ts\tt\tA\td\tNo-error\t7\n"
    )
    assert detect(path) == "mqm-tsv"
    (segment,) = load(path, "en-de")
    assert (segment.segment, segment.source, segment.translations) == ("7", "s", {"A": "t"})
    path.write_text("Category\tSource\tTarget\tSYSTEM\tdoc\tseverity\tseg_id\nNo-error\ts\tt\tA\n")
    with pytest.raises(DataError, match="a row of 4 fields has no 'doc'"):
        load(path, "en-de")
