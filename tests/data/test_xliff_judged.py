"""XLIFF in with its judgements: ours as they were, those of others as ITS 2.0 says them, none made up."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.record import Annotation, ErrorSpan, Failure, Match, Side
from adjudge.core.typology import CATEGORIES, SEVERITIES
from adjudge.errors import DataError
from adjudge.formats.convert import read_content
from adjudge.formats.its import ISSUE_TYPES, ITS, issue_attributes, label_of, severity_of
from adjudge.formats.xliff import JudgedXliff, read_judged_xliff, read_xliff, write_xliff
from tests.data.test_xliff import ONE, one, two, write
from tests.data.test_xliff_writer import FORMS, file_of, judged, span

SHOWN = "Hallo <t1>Welt</t1>, du"
UNIT = '<trans-unit id="u1"{}><source>Hello</source><target{}>{}</target>{}</trans-unit>'


def read(folder: Path, text: str) -> JudgedXliff:
    found = read_judged_xliff(write(folder, text))
    assert found.test_set == read_xliff(folder / "x.xlf")
    return found


def foreign(
    folder: Path, target: str, *, at_target: str = "", at_unit: str = "", after: str = ""
) -> JudgedXliff:
    text = one(UNIT.format(at_unit, at_target, target, after)).replace(
        "<xliff ", f'<xliff xmlns:its="{ITS}" '
    )
    return read(folder, text)


def the_one(found: JudgedXliff) -> Annotation:
    (record,) = found.records
    assert isinstance(record, Annotation)
    return record


# What adjudge wrote...


signs = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LOST: tuple[Match, ...] = ("unmatched", "unplaced")
SIDES: tuple[Side, ...] = ("translation", "source")
names = st.sampled_from(["j", "GEMBA é|x", "a b#c/%20"])


@st.composite
def errors(draw: st.DrawFn) -> ErrorSpan:
    said: dict[str, Any] = {
        "severity": draw(st.sampled_from(SEVERITIES)),
        "category": draw(st.none() | st.sampled_from(list(CATEGORIES))),
        "note": draw(signs),
        "label": draw(st.none() | signs),
    }
    if draw(st.booleans()):
        match = draw(st.sampled_from(LOST))
        side = draw(st.sampled_from(SIDES))
        return ErrorSpan(**said, match=match, text=draw(signs), side=side)
    side = draw(st.sampled_from(SIDES))
    text = SHOWN if side == "translation" else "Hello"
    start, end = sorted(draw(st.integers(0, len(text))) for _ in range(2))
    return ErrorSpan(**said, start=start, end=end, text=text[start:end], side=side)


@st.composite
def annotations(draw: st.DrawFn) -> Annotation:
    rated = draw(st.sampled_from([("esa", 0, 100), ("da-sqm", 0, 100), ("sqm", 0, 4), ("metric", -1e9, 1e9)]))
    protocol, low, high = draw(st.sampled_from([("mqm", None, None), rated]))
    rating = None if low is None or high is None else draw(st.floats(low, high))
    return Annotation(
        lp="en-de",
        segment="u1",
        system="target",
        annotator=draw(names),
        protocol=protocol,
        document=draw(st.sampled_from(["a.txt", "", "é"])),
        rating=rating,
        spans=tuple(draw(st.lists(errors(), max_size=4))),
        counts=draw(st.dictionaries(st.sampled_from(SEVERITIES), st.integers(0, 9))),
        flags=tuple(draw(st.lists(signs, max_size=2))),
        rationale=draw(st.none() | signs),
        samples=tuple(draw(st.lists(st.floats(-9, 9), max_size=2))),
        steps=tuple(draw(st.lists(signs, max_size=2))),
    )


@given(record=annotations(), version=st.sampled_from(FORMS), ends=st.sampled_from(["\n", "\r\n"]))
def test_whatever_adjudge_writes_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, record: Annotation, version: str, ends: str
) -> None:
    folder = tmp_path_factory.mktemp("x")
    origin, out = write(folder, file_of(version).replace("\n", ends)), folder / "out.xlf"
    write_xliff(out, [record], origin)
    found = read_judged_xliff(out)
    assert found.records == (record,)
    assert not found.met


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_what_the_encoding_of_the_file_cannot_say_comes_back_too(tmp_path: Path, encoding: str) -> None:
    origin, out = tmp_path / "in.xlf", tmp_path / "out.xlf"
    head = f"<?xml version='1.0' encoding='{encoding}'?>"
    origin.write_bytes((head + file_of("1", "Öl")).encode(encoding))
    record = judged(span(0, 2, "Öl", note="你 😀"), rationale="你", flags=("é",))
    write_xliff(out, [record], origin)
    assert read_judged_xliff(out).records == (record,)


def test_a_translation_without_a_mark_was_not_judged_and_one_judged_clean_was(tmp_path: Path) -> None:
    units = "".join(UNIT.format("", "", "b", "").replace('"u1"', f'"{n}"') for n in "123")
    origin, out = write(tmp_path, one(units)), tmp_path / "out.xlf"
    clean = judged(segment="2", document="a.txt")
    write_xliff(out, [clean], origin)
    assert read_judged_xliff(out).records == (clean,)
    assert read_content(origin).records is None


# What was changed since...


def written(folder: Path, *spans: ErrorSpan, version: str = "1", **fields: Any) -> tuple[Annotation, str]:
    origin, record = write(folder, file_of(version), "origin.xlf"), judged(*spans, **fields)
    write_xliff(folder / "out.xlf", [record], origin)
    return record, (folder / "out.xlf").read_text()


CHANGED = {"judgements that were changed since adjudge wrote them, taken as they are now": 1}


@pytest.mark.parametrize("version", FORMS)
def test_an_error_is_where_its_mark_is_now(tmp_path: Path, version: str) -> None:
    error = span(10, 14, "Welt", category="accuracy/gender mismatch", label="Gender")
    record, text = written(tmp_path, error, version=version, counts={"major": 1}, samples=(5.0,))
    found = read(tmp_path, text.replace("Hallo", "Hallihallo"))
    moved = replace(error, start=15, end=19)
    assert found.records == (replace(record, spans=(moved,), counts={}, samples=()),)
    assert found.met == CHANGED


@pytest.mark.parametrize("version", FORMS)
def test_an_error_said_to_be_less_severe_is_that_and_counts_once(tmp_path: Path, version: str) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"), version=version)
    found = read(tmp_path, text.replace('Severity="67"', 'Severity="33"'))
    (error,) = the_one(found).spans
    assert (error.severity, error.start, error.end, error.text) == ("minor", 10, 14, "Welt")
    assert the_one(found).annotator == record.annotator
    assert found.met == CHANGED


def test_an_error_taken_back_is_gone(tmp_path: Path) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"), span(0, 5, "Hallo", severity="minor"))
    text = text.replace('Severity="67"', 'Severity="67" locQualityIssueEnabled="no"')
    found = read(tmp_path, text)
    assert found.records == (replace(record, spans=record.spans[1:]),)
    assert found.met == {**CHANGED, "issues that are not enabled, left out": 1}


@pytest.mark.parametrize("version", FORMS)
def test_marks_that_a_tool_dropped_do_not_make_a_translation_clean(tmp_path: Path, version: str) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"), span(0, 5, "Hallo"), version=version)
    assert text.count(' its:locQualityIssuesRef="') == 2
    found = read(tmp_path, text.replace(' its:locQualityIssuesRef="', ' ref="'))
    assert the_one(found).spans == record.spans
    found = read(
        tmp_path, text.replace(' its:locQualityIssuesRef="', ' ref="').replace("Hallo<", "Guten Tag<")
    )
    assert [error.match for error in the_one(found).spans] == ["unmatched"] * 2
    assert [error.text for error in the_one(found).spans] == ["Welt", "Hallo"]
    assert found.met == CHANGED


def test_an_error_that_somebody_adds_is_there(tmp_path: Path) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"))
    mark = '<mrk mtype="x-its" its:locQualityIssueType="grammar" its:locQualityIssueSeverity="100">du</mrk>'
    found = the_one(read(tmp_path, text.replace(", du<", f", {mark}<")))
    assert found.spans[0] == record.spans[0]
    assert (found.spans[1].text, found.spans[1].severity) == ("du", "critical")
    assert found.spans[1].category == "fluency/grammar"


@pytest.mark.parametrize(("confidence", "rating"), [("0.5", 50), ("0.003333", 1 / 3)])
def test_a_confidence_that_was_changed_is_the_rating(tmp_path: Path, confidence: str, rating: float) -> None:
    record, text = written(tmp_path, protocol="esa", rating=1 / 3)
    found = read(tmp_path, text.replace('"0.003333"', f'"{confidence}"'))
    assert found.records == (replace(record, rating=rating),)


def test_a_confidence_of_another_tool_is_no_rating_of_ours(tmp_path: Path) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"))
    found = read(
        tmp_path,
        text.replace("<target ", '<target its:mtConfidence="0.25" ').replace(
            " mt-confidence|urn:adjudge:annotator:j", " mt-confidence|http://mt"
        ),
    )
    ours, theirs = found.records
    assert ours == record
    assert isinstance(theirs, Annotation)
    assert (theirs.annotator, theirs.protocol, theirs.rating) == ("http://mt", "metric", 0.25)


@pytest.mark.parametrize("raw", ["", "[]", "{", '{"protocol": "mqm"}', '{"protocol": "odd", "spans": []}'])
def test_a_record_of_ours_that_is_damaged_is_refused_with_its_line(tmp_path: Path, raw: str) -> None:
    _, text = written(tmp_path)
    start, end = text.index('adjudge:record="') + 16, text.index('"', text.index('adjudge:record="') + 16)
    broken = text[:start] + raw.replace('"', "&quot;") + text[end:]
    if raw == '{"protocol": "mqm"}':  # all else may be left out
        assert read(tmp_path, broken).records
        return
    with pytest.raises(DataError, match=r"x\.xlf line 2"):
        read(tmp_path, broken)


# What other tools wrote...


def test_issues_of_another_tool_are_a_judgement_by_mqm(tmp_path: Path) -> None:
    stand_off = (
        '<its:locQualityIssues xml:id="lq1"><its:locQualityIssue locQualityIssueType="misspelling" '
        'locQualityIssueComment="unknown word" locQualityIssueSeverity="33"/><its:locQualityIssue '
        'locQualityIssueType="whitespace" locQualityIssueSeverity="0"/></its:locQualityIssues>'
    )
    target = (
        "Ha <g id='1'><mrk mtype='x-its' its:locQualityIssuesRef='#lq1'>Wlet</mrk></g>, <mrk mtype='x-its' "
        "its:locQualityIssueType='omission' its:locQualityIssueSeverity='100'>du</mrk>"
    )
    who = ' its:annotatorsRef="mt-confidence|http://mt localization-quality-issue|http://check"'
    found = foreign(tmp_path, target, at_unit=who, after=stand_off)
    record = the_one(found)
    assert (record.annotator, record.protocol, record.rating) == ("http://check", "mqm", None)
    assert (record.lp, record.segment, record.system, record.document) == ("en-de", "u1", "target", "a.txt")
    shown = [(e.start, e.end, e.text, e.severity, e.category, e.label, e.note) for e in record.spans]
    assert shown == [
        (7, 11, "Wlet", "minor", "fluency/spelling", "misspelling", "unknown word"),
        (7, 11, "Wlet", "neutral", None, "whitespace", ""),
        (18, 20, "du", "critical", "accuracy/omission", "omission", ""),
    ]
    assert record.flags == ("category_unknown",)
    assert found.met == {"types that are no category of ours, kept as label": 1}


def test_an_error_of_the_whole_has_no_place_and_one_of_the_source_is_there(tmp_path: Path) -> None:
    own = ' its:locQualityIssueType="style" its:locQualityIssueSeverity="67"'
    record = the_one(foreign(tmp_path, "b", at_target=own))
    assert record.flags == ("rater_unknown",)
    assert record.annotator == "localization-quality-issue"
    assert [(e.match, e.start, e.severity) for e in record.spans] == [("unplaced", None, "major")]
    text = one(UNIT.format("", "", "b", "")).replace("<xliff ", f'<xliff xmlns:its="{ITS}" ')
    text = text.replace("Hello", f"He<mrk mtype='x-its'{own}>ll</mrk>o")
    (error,) = the_one(read(tmp_path, text)).spans
    assert (error.side, error.start, error.end, error.text) == ("source", 2, 4, "ll")


def test_issues_in_xliff_2_are_read_at_mark_segment_and_unit(tmp_path: Path) -> None:
    issue = 'its:locQualityIssueType="style" its:locQualityIssueSeverity="67"'
    mark = f'<mrk id="m" type="its:generic" {issue}>b</mrk>'
    text = two(f"<segment {issue}><source>a</source><target>a{mark}</target></segment>").replace(
        "<xliff ", f'<xliff xmlns:its="{ITS}" '
    )
    record = the_one(read(tmp_path, text.replace("<unit ", f"<unit {issue} ")))
    assert [(e.match, e.text) for e in record.spans] == [("unplaced", ""), ("unplaced", ""), ("exact", "b")]


@pytest.mark.parametrize(
    ("at_target", "protocol", "rating"),
    [
        ('its:mtConfidence="0.82"', "metric", 0.82),
        ('its:mtConfidence="0"', "metric", 0),
        ('its:locQualityRatingScore="85.5" its:locQualityRatingScoreThreshold="95"', "esa", 85.5),
    ],
)
def test_a_number_of_another_tool_is_a_rating(
    tmp_path: Path, at_target: str, protocol: str, rating: float
) -> None:
    record = the_one(foreign(tmp_path, "b", at_target=f" {at_target}"))
    assert (record.protocol, record.rating, record.spans) == (protocol, rating, ())


def test_a_rating_and_the_errors_of_one_tool_are_one_judgement(tmp_path: Path) -> None:
    issue = 'its:locQualityIssueType="style" its:locQualityIssueSeverity="67"'
    rating = ' its:locQualityRatingScore="60" its:annotatorsRef="{0}-issue|t {0}-rating|t"'
    at_unit = rating.format("localization-quality")
    record = the_one(foreign(tmp_path, f"a<mrk {issue}>b</mrk>", at_unit=at_unit))
    assert (record.annotator, record.protocol, record.rating, len(record.spans)) == ("t", "esa", 60, 1)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        *(("mtConfidence", value) for value in ("1.01", "-0.1", "nan", "", "0,5", "1e-1", "٠", "1_0")),
        *(("locQualityRatingScore", value) for value in ("101", "inf", "good")),
        *(("locQualityIssueSeverity", value) for value in ("100.5", "-1", "major", "")),
    ],
)
def test_a_number_that_is_none_is_refused(tmp_path: Path, attribute: str, value: str) -> None:
    high = 1 if attribute == "mtConfidence" else 100
    with pytest.raises(
        DataError, match=rf"its:{attribute} must be a number from 0 to {high}, got '.*x\.xlf line"
    ):
        foreign(tmp_path, "b", at_target=f' its:{attribute}="{value}"')


@pytest.mark.parametrize(
    "at_target",
    [
        ' its:locQualityIssueType="style"',
        ' its:locQualityIssuesRef="#nowhere"',
        ' its:locQualityIssuesRef="other.xml#lq1"',
        ' its:locQualityIssuesRef="#empty"',
    ],
)
def test_an_error_that_nobody_can_weigh_is_a_failure_and_no_score(tmp_path: Path, at_target: str) -> None:
    after = '<its:locQualityIssues xml:id="empty"/>'
    found = foreign(tmp_path, "b", at_target=at_target, after=after)
    (record,) = found.records
    assert isinstance(record, Failure)
    assert (record.reason, record.systems, record.segment) == ("label", ("target",), "u1")
    assert sum(found.met.values()) == 1


@given(number=st.floats(0, 100))
def test_a_severity_is_the_nearest_step_and_never_costs_nothing_above_zero(number: float) -> None:
    steps = {"neutral": 0, "minor": 33, "major": 67, "critical": 100}
    severity, is_step = severity_of(number)
    assert (severity == "neutral") == (number == 0)
    if number > 0:
        assert abs(number - steps[severity]) <= min(abs(number - step) for step in (33, 67, 100))
    assert is_step or abs(number - steps[severity]) >= 0.5


@pytest.mark.parametrize(
    ("number", "severity"), [(50, "major"), (83.5, "critical"), (0.2, "minor"), (33.3, "minor")]
)
def test_between_two_steps_it_is_the_worse_one(tmp_path: Path, number: float, severity: str) -> None:
    own = f' its:locQualityIssueType="style" its:locQualityIssueSeverity="{number}"'
    found = foreign(tmp_path, "b", at_target=own)
    assert [error.severity for error in the_one(found).spans] == [severity]
    odd = "severities other than 0, 33, 67 and 100, taken for the nearest of these and never for 0"
    assert found.met[odd] == (number != 33.3)


def test_what_was_taken_back_alone_is_no_judgement(tmp_path: Path) -> None:
    own = ' its:locQualityIssueType="style" its:locQualityIssueSeverity="67" its:locQualityIssueEnabled="no"'
    found = foreign(tmp_path, "b", at_target=own)
    assert found.records == ()
    assert found.met == {"issues that are not enabled, left out": 1}


def test_to_be_named_for_a_translation_is_not_to_find_it_clean(tmp_path: Path) -> None:
    who = ' its:annotatorsRef="localization-quality-issue|http://check"'
    found = foreign(tmp_path, "b", at_target=who)
    assert found.records == ()
    assert sum(found.met.values()) == 1


def test_marks_of_other_texts_and_of_parts_are_counted(tmp_path: Path) -> None:
    other = '<alt-trans its:mtConfidence="0.4"><target its:mtConfidence="0.9">c</target></alt-trans>'
    part = "a<mrk its:mtConfidence='0.3'>b</mrk>"
    found = foreign(tmp_path, part, at_target=' its:locQualityRatingVote="3"', after=other)
    assert found.records == ()
    assert found.met == {
        "confidences and ratings of a part of a translation, left out": 1,
        "marks of ITS that are about no translation here, or votes, left out": 3,
    }


def test_a_unit_of_several_segments_says_nothing_of_one_of_them(tmp_path: Path) -> None:
    text = two("<segment><source>a</source><target>b</target></segment>" * 2).replace(
        "<unit ", f'<unit xmlns:its="{ITS}" its:locQualityRatingScore="3" '
    )
    found = read(tmp_path, text)
    assert found.records == ()
    assert sum(found.met.values()) == 1


def test_judgements_of_another_language_pair_are_left_out(tmp_path: Path) -> None:
    unit = UNIT.format("", ' its:mtConfidence="0.5"', "b", "")
    part = '<file original="{0}" source-language="en" target-language="{0}"><body>{1}</body></file>'
    text = ONE.format(part.format("de", unit) + part.format("cs", unit))
    path = write(tmp_path, text.replace("<xliff ", f'<xliff xmlns:its="{ITS}" '))
    assert [r.lp for r in read_judged_xliff(path).records] == ["en-de", "en-cs"]
    assert [r.lp for r in read_judged_xliff(path, "en-cs").records] == ["en-cs"]


def test_a_category_that_goes_out_and_comes_in_by_its_type_alone_is_of_the_same_type() -> None:
    for category, issue_type in ISSUE_TYPES.items():
        found, label = label_of(issue_type)
        assert found is None or ISSUE_TYPES[found] == issue_type
        assert label == (None if issue_type == "uncategorized" else issue_type)
        assert (found is None) == (issue_type in {"uncategorized", "formatting"}), category


def test_the_same_error_marked_in_two_places_is_told_apart(tmp_path: Path) -> None:
    one_word = [span(place, place + 1, "l", severity="minor") for place in (3, 2)]
    assert len({str(issue_attributes(error, "mqm")) for error in one_word}) == 1
    record, text = written(tmp_path, *one_word)
    assert read(tmp_path, text).records == (record,)
    assert read(tmp_path, text).met == Counter()
