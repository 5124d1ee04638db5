"""XLIFF out: quality issues and confidence of ITS 2.0 in the file that was judged, all else as it was."""

import random
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.typology import CATEGORIES
from adjudge.errors import DataError, UsageError
from adjudge.formats.convert import Content, read_content, write_content
from adjudge.formats.its import ISSUE_TYPES, ITS
from adjudge.formats.xliff import read_xliff, write_xliff
from tests.data.test_xliff import one, two, write, xml_texts

HELLO = "Hallo <g id='1'>Welt</g>, du"  # Hallo <t1>Welt</t1>, du
FORMS = ["1", "2"]


def file_of(version: str, target: str = HELLO, source: str = "Hello") -> str:
    inside = f"<source>{source}</source><target>{target}</target>"
    if version == "2":
        return two(f"\n <segment>{inside}</segment>\n").replace("g id", "pc id").replace("</g>", "</pc>")
    return one(f"<trans-unit id='u1'>\n {inside}\n</trans-unit>")


def judged(*spans: ErrorSpan, **fields: Any) -> Annotation:
    about: dict[str, Any] = {
        "annotator": "j",
        "protocol": "mqm",
        "system": "target",
        "segment": "u1",
    } | fields
    return Annotation(lp="en-de", spans=spans, **about)


def span(start: int, end: int, text: str = "", **fields: Any) -> ErrorSpan:
    return ErrorSpan(start=start, end=end, text=text, **({"severity": "major"} | fields))


def marked(folder: Path, text: str, *records: Record) -> Any:
    origin, out = write(folder, text), folder / "out.xlf"
    assert not write_xliff(out, records, origin)
    assert read_xliff(out) == type(read_xliff(out))(name="out", segments=read_xliff(origin).segments)
    return etree.parse(out).getroot()


def its(element: Any, name: str) -> Any:
    return element.get(f"{{{ITS}}}{name}")


def issues(root: Any) -> list[dict[str, str]]:
    return [dict(issue.attrib) for issue in root.iter(f"{{{ITS}}}locQualityIssue")]


def marks(root: Any) -> list[str]:
    return ["".join(m.itertext()) for m in root.iter("{*}mrk") if its(m, "locQualityIssuesRef")]


@pytest.mark.parametrize("version", FORMS)
def test_an_error_is_marked_where_it_stands_and_said_beside_it(tmp_path: Path, version: str) -> None:
    error = span(10, 14, "Welt", category="fluency/spelling", note="lower case?", severity="minor")
    root = marked(tmp_path, file_of(version), judged(error))
    assert marks(root) == ["Welt"]
    assert issues(root) == [
        {
            "locQualityIssueType": "misspelling",
            "locQualityIssueComment": "fluency/spelling, minor: “Welt” - lower case?",
            "locQualityIssueSeverity": "33",
            "locQualityIssueProfileRef": "urn:adjudge:protocol:mqm",
        }
    ]
    (mark,) = (m for m in root.iter("{*}mrk") if its(m, "locQualityIssuesRef"))
    (standoff,) = root.iter(f"{{{ITS}}}locQualityIssues")
    name = standoff.get("{http://www.w3.org/XML/1998/namespace}id")
    assert its(mark, "locQualityIssuesRef") == (f"#its={name}" if version == "2" else f"#{name}")
    assert standoff.getparent().tag.endswith("}unit" if version == "2" else "}trans-unit")
    assert its(root, "version") == "2.0"


@pytest.mark.parametrize("version", FORMS)
@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (0, 5, ["Hallo"]),
        (10, 14, ["Welt"]),
        (11, 13, ["el"]),
        (19, 23, [", du"]),
        (3, 21, ["lo Welt, "]),  # around the whole tag
        (3, 12, []),  # into the tag
        (6, 14, []),  # from the placeholder on
        (4, 4, []),  # nothing
    ],
)
def test_a_place_that_crosses_no_tag_is_marked(
    tmp_path: Path, version: str, start: int, end: int, found: list[str]
) -> None:
    root = marked(tmp_path, file_of(version), judged(span(start, end)))
    wholes = ["Hallo Welt, du"] if version == "2" else []
    assert marks(root) == (found or wholes)
    assert len(issues(root)) == 1


@pytest.mark.parametrize("version", FORMS)
def test_errors_within_errors_are_marked_and_crossing_ones_belong_to_the_whole(
    tmp_path: Path, version: str
) -> None:
    root = marked(
        tmp_path, file_of(version, "abcdef"), judged(span(2, 3), span(0, 4), span(3, 6), span(0, 4))
    )
    assert sorted(marks(root), key=len)[:3] == ["c", "abcd", "abcd"]
    whole = "{*}mrk[1]" if version == "2" else "."
    (holder,) = root.iter("{*}target")
    assert its(holder.find(whole), "locQualityIssuesRef")
    assert len(issues(root)) == 4


@pytest.mark.parametrize("version", FORMS)
@pytest.mark.parametrize(
    ("protocol", "rating", "confidence"),
    [("esa", 72, "0.72"), ("esa", 0, "0"), ("esa", 100, "1"), ("sqm", 3, "0.75"), ("esa", 1 / 3, "0.003333")],
)
def test_a_rating_is_the_confidence_from_0_to_1(
    tmp_path: Path, version: str, protocol: str, rating: float, confidence: str
) -> None:
    root = marked(tmp_path, file_of(version), judged(protocol=protocol, rating=rating, annotator="GEMBA é|x"))
    (holder,) = (e for e in root.iter() if its(e, "mtConfidence"))
    assert its(holder, "mtConfidence") == confidence
    who = "urn:adjudge:annotator:GEMBA%20%C3%A9%7Cx"
    assert its(holder, "annotatorsRef") == f"localization-quality-issue|{who} mt-confidence|{who}"
    assert holder.tag.endswith("}mrk" if version == "2" else "}target")


def test_a_rating_without_ends_is_counted_and_no_confidence(tmp_path: Path) -> None:
    origin = write(tmp_path, file_of("1"))
    lost = write_xliff(tmp_path / "out.xlf", [judged(protocol="metric", rating=-3.5)], origin)
    assert lost == {"ratings on a scale without ends: adjudge alone reads them back": 1}
    assert "mtConfidence" not in (tmp_path / "out.xlf").read_text()


def test_errors_of_the_source_or_without_a_place_belong_to_the_translation(tmp_path: Path) -> None:
    source = span(0, 5, "Hello", side="source", category="accuracy/omission")
    lost = ErrorSpan(severity="critical", text="weg", match="unmatched", label="Odd\x01")
    root = marked(tmp_path, file_of("1"), judged(source, lost))
    assert marks(root) == []
    (target,) = root.iter("{*}target")
    assert its(target, "locQualityIssuesRef")
    assert [i["locQualityIssueComment"] for i in issues(root)] == [
        "accuracy/omission, major in the source: “Hello”",
        "Odd\ufffd, critical: “weg”",
    ]
    assert [i["locQualityIssueType"] for i in issues(root)] == ["omission", "uncategorized"]


def test_every_category_has_a_type_of_the_standard() -> None:
    known = [
        "terminology",
        "mistranslation",
        "omission",
        "untranslated",
        "addition",
        "duplication",
        "inconsistency",
        "grammar",
        "legal",
        "register",
        "locale-specific-content",
        "locale-violation",
        "style",
        "characters",
        "misspelling",
        "typographical",
        "formatting",
        "inconsistent-entities",
        "numbers",
        "markup",
        "pattern-problem",
        "whitespace",
        "internationalization",
        "length",
        "non-conformance",
        "uncategorized",
        "other",
    ]
    assert set(ISSUE_TYPES) == set(CATEGORIES)
    assert set(ISSUE_TYPES.values()) <= set(known)


def test_what_stands_around_the_tree_is_kept_byte_for_byte(tmp_path: Path) -> None:
    head = "\ufeff<?xml version=\"1.0\" encoding='utf-8'?>\r\n<!-- <xliff> &amp; -->\r\n<?odd one?>\r\n\r\n"
    text = head + file_of("1").replace("\n", "\r\n") + "\r\n<!-- end -->\r\n"
    origin = write(tmp_path, text)
    write_xliff(tmp_path / "out.xlf", [judged()], origin)
    out = (tmp_path / "out.xlf").read_bytes().decode()
    assert out.startswith(head)
    assert out.endswith("</xliff>\r\n<!-- end -->\r\n")
    assert out.count("\n") == out.count("\r\n") == text.count("\n")


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1"])
def test_the_encoding_of_the_file_is_kept(tmp_path: Path, encoding: str) -> None:
    origin = tmp_path / "in.xlf"
    text = f"<?xml version='1.0' encoding='{encoding}'?>" + file_of("1", "Öl &#x4F60;")
    origin.write_bytes(text.encode(encoding))
    write_xliff(tmp_path / "out.xlf", [judged(span(0, 2, "Öl"))], origin)
    assert "Öl" in (tmp_path / "out.xlf").read_bytes().decode(encoding)
    assert read_xliff(tmp_path / "out.xlf").segments == read_xliff(origin).segments


def without_its(root: Any) -> bytes:
    """The tree as it was before it was judged."""
    for element in list(root.iter(f"{{{ITS}}}locQualityIssues")):
        before, parent = element.getprevious(), element.getparent()
        if before is None:
            parent.text = element.tail
        elif element.getnext() is None:
            before.tail = element.tail
        parent.remove(element)
    for element in root.iter():
        for key in [key for key in element.attrib if key.startswith((f"{{{ITS}}}", "{urn:adjudge:"))]:
            del element.attrib[key]
    etree.strip_tags(root, "{*}mrk")
    etree.cleanup_namespaces(root)
    return etree.tostring(root, method="c14n")


@given(data=st.data(), text=xml_texts, version=st.sampled_from(FORMS))
def test_without_its_marks_the_file_is_the_one_that_was_judged(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, text: str, version: str
) -> None:
    folder = tmp_path_factory.mktemp("x")
    inside = f"{escape(text, {chr(13): '&#13;'})}<g id='1'>{escape(text, {chr(13): '&#13;'})}</g><!-- c -->x"
    origin = write(folder, file_of(version, inside))
    shown = read_xliff(origin).segments[0].translations["target"]
    spans = []
    for _ in range(data.draw(st.integers(0, 4))):
        start, end = sorted(data.draw(st.integers(0, len(shown))) for _ in range(2))
        spans.append(span(start, end, shown[start:end]))
    root = marked(folder, origin.read_bytes().decode(), judged(*spans))
    assert len(issues(root)) == len(spans)
    assert without_its(root) == without_its(etree.parse(origin).getroot())


# What is refused...


def test_records_of_another_text_are_refused(tmp_path: Path) -> None:
    origin = write(tmp_path, file_of("1"))
    for record in (judged(span(0, 5, "Guten")), judged(span(0, 99))):
        with pytest.raises(DataError, match="about another text: segment 'u1'"):
            write_xliff(tmp_path / "out.xlf", [record], origin)
    with pytest.raises(DataError, match="judge a segment 'u2' that is not there"):
        write_xliff(tmp_path / "out.xlf", [judged(segment="u2")], origin)
    assert not (tmp_path / "out.xlf").exists()


def test_two_annotators_are_not_mixed_and_nobody_judges_twice(tmp_path: Path) -> None:
    origin = write(tmp_path, file_of("1"))
    with pytest.raises(UsageError, match="got 'j' and 'k': add --annotator"):
        write_xliff(tmp_path / "out.xlf", [judged(), judged(annotator="k")], origin)
    with pytest.raises(DataError, match="judged segment 'u1' twice"):
        write_xliff(tmp_path / "out.xlf", [judged(), judged()], origin)


def test_a_file_that_was_judged_before_is_not_judged_over(tmp_path: Path) -> None:
    origin, out = write(tmp_path, file_of("1")), tmp_path / "out.xlf"
    write_xliff(out, [judged()], origin)
    with pytest.raises(DataError, match="has its:annotatorsRef already"):
        write_xliff(out, [judged()], out)


def test_what_is_no_judgement_of_the_target_is_counted(tmp_path: Path) -> None:
    about: dict[str, Any] = {"lp": "en-de", "segment": "u1", "annotator": "j"}
    records: list[Record] = [
        Failure(**about, systems=("target",), protocol="mqm", reason="empty"),
        Preference(**about, systems=("target", "b"), criterion="overall", verdict="A"),
        judged(system="b"),
    ]
    lost = write_xliff(tmp_path / "out.xlf", records, write(tmp_path, file_of("1")))
    assert lost == {"failures": 1, "preferences": 1, "judgements of other systems": 1}


def test_xliff_is_written_into_the_file_that_was_judged_and_nothing_else(tmp_path: Path) -> None:
    origin = write(tmp_path, file_of("1"))
    content = read_content(origin)
    with pytest.raises(UsageError, match="give a run or records, and that file with --test-set FILE"):
        write_content(tmp_path / "out.xlf", "xliff", content)
    with pytest.raises(UsageError, match="give a run or records, and that file with --test-set FILE"):
        write_content(tmp_path / "out.xlf", "xliff", Content(test_set=content.test_set, records=[judged()]))
    assert content.origin == origin
    with_records = Content(test_set=content.test_set, records=[judged()], origin=origin)
    assert not write_content(tmp_path / "out.xlf", "xliff", with_records)


def test_a_file_that_does_not_name_its_target_language_is_written_by_that_of_the_texts(
    tmp_path: Path,
) -> None:
    origin = write(tmp_path, file_of("1").replace(' target-language="de"', ""))
    content = Content(test_set=read_xliff(origin, "en-de"), records=[judged()], origin=origin)
    assert not write_content(tmp_path / "out.xlf", "xliff", content)
    with pytest.raises(UsageError, match="add --lp"):
        write_xliff(tmp_path / "none.xlf", [judged()], origin)


def test_records_may_come_in_any_order(tmp_path: Path) -> None:
    units = "".join(
        f"<trans-unit id='{n}'><source>a</source><target>b</target></trans-unit>" for n in range(9)
    )
    records = [judged(span(0, 1, "b"), segment=str(n)) for n in range(9)]
    origin, outs = write(tmp_path, one(units)), []
    for name in ("a.xlf", "b.xlf"):
        write_xliff(tmp_path / name, records, origin)
        random.Random(1).shuffle(records)
        outs.append((tmp_path / name).read_bytes())
    assert outs[0] == outs[1]
