"""XLIFF in: segments, states, notes, languages, and inline tags as text that leads back to them."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from adjudge.core.protocol import CATEGORIES, SEVERITIES
from adjudge.core.record import Annotation, ErrorSpan, Failure, Match, Preference, Record, Side
from adjudge.core.segment import Segment
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content, ContentWithTexts
from adjudge.formats.its import ISSUE_TYPES, ITS, issue_attributes, label_of, severity_of
from adjudge.formats.read import detect, load, read_content
from adjudge.formats.xliff import read_judged_xliff, read_xliff, write_xliff

ONE = '<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">{}</xliff>'
TWO = (
    '<xliff version="2.1" xmlns="urn:oasis:names:tc:xliff:document:2.0" srcLang="en" trgLang="de">{}</xliff>'
)
FILE = '<file original="{}" source-language="{}" target-language="{}"><body>{}</body></file>'


def one(units: str, original: str = "a.txt", source: str = "en", target: str = "de") -> str:
    return ONE.format(FILE.format(original, source, target, units))


def two(segments: str) -> str:
    return TWO.format(f'<file id="f1"><unit id="u1">{segments}</unit></file>')


def write(folder: Path, text: str, name: str = "x.xlf") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def read(folder: Path, text: str) -> list[Segment]:
    return list(read_xliff(write(folder, text)))


def test_a_unit_of_1_2_is_a_segment_with_its_state_and_notes(tmp_path: Path) -> None:
    text = one(
        '<group id="g"><trans-unit id="7" approved="yes" resname="menu.open"><source>Open</source>'
        '<target state="final" state-qualifier="exact-match">Öffnen</target>'
        "<note>a button</note><note>short</note>"
        "<alt-trans><source>Open</source><target>Auf</target></alt-trans></trans-unit></group>"
    )
    meta = {"approved": "yes", "name": "menu.open", "state": "final", "state-qualifier": "exact-match"}
    assert read(tmp_path, text) == [
        Segment(
            segment="7",
            lp="en-de",
            source="Open",
            translations={"target": "Öffnen"},
            document="a.txt",
            meta={**meta, "notes": ["a button", "short"]},
        )
    ]


def test_segments_of_a_unit_of_2_have_ids_of_their_own(tmp_path: Path) -> None:
    text = two(
        "<notes><note>n</note></notes>"
        '<segment id="s1" state="final"><source>One.</source><target>Eins.</target></segment>'
        "<ignorable><source> </source></ignorable>"
        "<segment><source>Two.</source></segment>"
    )
    first, second = read(tmp_path, text)
    assert (first.segment, second.segment, first.document) == ("u1/s1", "u1/2", "f1")
    assert first.translations == {"target": "Eins."}
    assert first.meta == {"state": "final", "notes": ["n"]}
    assert second.translations == {}


@pytest.mark.parametrize(("given", "name"), [("", "u1"), (' id="s1"', "u1/s1")])
def test_one_segment_of_a_unit_of_2_is_called_as_if_there_were_more(
    tmp_path: Path, given: str, name: str
) -> None:
    (segment,) = read(tmp_path, two(f"<segment{given}><source>One.</source></segment>"))
    assert segment.segment == name


@pytest.mark.parametrize("version", ["1", "2"])
@pytest.mark.parametrize(
    ("inside", "text"),
    [
        ("a <g id='1'>b</g> c", "a <t1>b</t1> c"),
        ("a<x id='2'/>b", "a<t2/>b"),
        ("<bx id='1'/>b<ex id='9' rid='1'/>", "<t1>b</t1>"),
        ("<bpt id='1'>&lt;b></bpt>b<ept id='1'>&lt;/b></ept>", "<t1>b</t1>"),
        ("<it id='1' pos='open'>x</it>b", "<t1>b"),
        ("b<it id='1' pos='close'>x</it>", "b</t1>"),
        ("<ph id='a b'>{0}<sub>no</sub></ph>!", "<ta_b/>!"),
        ("<pc id='1'>a<pc id='2'>b</pc></pc>", "<t1>a<t2>b</t2></t1>"),
        ("<sc id='1'/>b<ec startRef='1'/>", "<t1>b</t1>"),
        ("a<cp hex='0001'/>b<cp hex='1F600'/>", "a\x01b😀"),
        ("<cp hex='D83D'/><cp hex='zz'/><cp hex='FFFFFFFFFF'/>", "\ufffd\ufffd\ufffd"),
        ("a <mrk id='m' type='term'>b</mrk><sm id='x'/>c<em startRef='x'/>", "a bc"),
        ("a<!-- not text -->b<?nor this?>c", "abc"),
        ("<![CDATA[<b> & ]]>c", "<b> & c"),
        ("&lt;t1&gt;&amp;&#x202E;&#13;\r\n", "<t1>&\u202e\r\n"),
        ("  two  \n lines\u2028 ", "  two  \n lines\u2028 "),
    ],
)
def test_inline_tags_become_placeholders_and_text_stays_text(
    tmp_path: Path, version: str, inside: str, text: str
) -> None:
    unit = f"<source xml:space='preserve'>{inside}</source><target>{inside}</target>"
    whole = (
        one(f"<trans-unit id='1'>{unit}</trans-unit>")
        if version == "1"
        else two(f"<segment>{unit}</segment>")
    )
    (segment,) = read(tmp_path, whole)
    assert segment.source == text
    assert segment.translations == {"target": text}


@pytest.mark.parametrize(
    ("target", "translations"),
    [
        ("", {}),
        ("<target/>", {}),
        ("<target state='new'></target>", {}),
        ("<target state='needs-translation'/>", {}),
        ("<target state='final'/>", {"target": ""}),
        ("<target state='new'>Neu</target>", {"target": "Neu"}),
    ],
)
def test_an_empty_target_is_a_translation_only_if_somebody_finished_it(
    tmp_path: Path, target: str, translations: dict[str, str]
) -> None:
    other = "<trans-unit id='2'><source>Old</source><target>Alt</target></trans-unit>"
    segment, _ = read(tmp_path, one(f"<trans-unit id='1'><source>New</source>{target}</trans-unit>{other}"))
    assert segment.translations == translations


def test_ids_of_several_files_are_told_apart_by_the_file(tmp_path: Path) -> None:
    unit = "<trans-unit id='1'><source>a</source></trans-unit>"
    names = ["a", "b", "b"]
    text = ONE.format("".join(FILE.format(name, "en", "de", unit) for name in names))
    found = read(tmp_path, text)
    assert [s.segment for s in found] == ["a/1", "b#2/1", "b#3/1"]
    assert [s.document for s in found] == ["a", "b#2", "b#3"]


def test_files_of_several_languages_are_several_language_pairs(tmp_path: Path) -> None:
    unit = "<trans-unit id='1'><source>a</source></trans-unit>"
    text = ONE.format(
        FILE.format("a", "en-US", "de-DE", unit) + FILE.format("b", "en-US", "zh-Hans-CN", unit)
    )
    path = write(tmp_path, text)
    assert load(path).lps == ("en_US-de_DE", "en_US-zh_Hans_CN")
    assert load(path, "en_US-de_DE").lps == ("en_US-de_DE",)
    with pytest.raises(UsageError, match="it has en_US-de_DE, en_US-zh_Hans_CN"):
        load(path, "en-fr")


def test_a_language_that_is_not_said_is_asked_for(tmp_path: Path) -> None:
    unit = "<trans-unit id='1'><source>a</source><target>b</target></trans-unit>"
    path = write(tmp_path, one(unit).replace(' target-language="de"', ""))
    with pytest.raises(UsageError, match="does not name both its languages: add --lp"):
        load(path)
    assert load(path, "en-fr").lps == ("en-fr",)
    path = write(tmp_path, path.read_text().replace("<target>", '<target xml:lang="cs">'))
    assert load(path).lps == ("en-cs",)


def test_what_is_not_to_be_translated_is_left_out_and_said(tmp_path: Path) -> None:
    units = (
        "<trans-unit id='1' translate='no'><source>a</source></trans-unit>"
        "<group translate='no'><trans-unit id='2'><source>a</source></trans-unit>"
        "<trans-unit id='3' translate='yes'><source>a</source></trans-unit></group>"
    )
    with pytest.warns(DataWarning, match="2 units are not to be translated"):
        assert [s.segment for s in read(tmp_path, one(units))] == ["3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<xliff", r"not XML: .*x\.xlf line 1"),
        ("<xliff version='3.0'/>", "XLIFF 1 or 2 was wanted, got <xliff> of version 3.0"),
        ("<tmx version='1.4'/>", "XLIFF 1 or 2 was wanted, got <tmx>"),
        (one(""), "no unit that is to be translated"),
        (one("<trans-unit id='1'><source/></trans-unit>" * 2), r"id '1' occurs twice .*x\.xlf"),
    ],
)
def test_what_is_no_xliff_is_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, text)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "iso-8859-1"])
def test_a_file_is_told_by_its_outermost_element_in_any_encoding(tmp_path: Path, encoding: str) -> None:
    declared = {"utf-8-sig": "utf-8"}.get(encoding, encoding)
    head = f"<?xml version='1.0' encoding='{declared}'?>\n<!-- <tmx> -->\n"
    path = tmp_path / "any.name"
    path.write_bytes((head + one("<trans-unit id='1'><source>Öl</source></trans-unit>")).encode(encoding))
    assert detect(path) == "xliff"
    (segment,) = load(path)
    assert segment.source == "Öl"


def writable(char: str) -> bool:
    return char in "\t\n\r" or (char >= " " and char not in "\ufffe\uffff")


xml_texts = st.text(max_size=30).map(lambda text: "".join(filter(writable, text)))


@given(source=xml_texts, target=xml_texts)
def test_any_text_that_xml_can_write_is_read_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, source: str, target: str
) -> None:
    own = {"\r": "&#13;"}
    unit = f"<source>{escape(source, own)}</source><target state='final'>{escape(target, own)}</target>"
    (segment,) = read(tmp_path_factory.mktemp("x"), one(f"<trans-unit id='1'>{unit}</trans-unit>"))
    assert (segment.source, segment.translations) == (source, {"target": target})


# XLIFF out: quality issues and confidence of ITS 2.0 in the file that was judged, all else as it was.


HELLO = "Hallo <g id='1'>Welt</g>, du"  # Hallo <t1>Welt</t1>, du
FORMS = ["1", "2"]


def file_of(version: str, target: str = HELLO, source: str = "Hello") -> str:
    inside = f"<source>{source}</source><target>{target}</target>"
    if version == "2":
        return two(f"\n <segment>{inside}</segment>\n").replace("g id", "pc id").replace("</g>", "</pc>")
    return one(f"<trans-unit id='u1'>\n {inside}\n</trans-unit>")


def judged(*spans: ErrorSpan, **fields: Any) -> Annotation:
    about: dict[str, Any] = {"annotator": "j", "protocol": "mqm", "system": "target", "segment": "u1"}
    return Annotation(lp="en-de", spans=spans, **(about | fields))


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
    known = """terminology mistranslation omission untranslated addition duplication inconsistency grammar
        legal register locale-specific-content locale-violation style characters misspelling typographical
        formatting inconsistent-entities numbers markup pattern-problem whitespace internationalization length
        non-conformance uncategorized other"""
    assert set(ISSUE_TYPES) == set(CATEGORIES)
    assert set(ISSUE_TYPES.values()) <= set(known.split())


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
def test_the_encoding_of_the_file_is_kept_and_what_it_cannot_say_comes_back(
    tmp_path: Path, encoding: str
) -> None:
    origin, out = tmp_path / "in.xlf", tmp_path / "out.xlf"
    text = f"<?xml version='1.0' encoding='{encoding}'?>" + file_of("1", "Öl &#x4F60;")
    origin.write_bytes(text.encode(encoding))
    record = judged(span(0, 2, "Öl", note="你 😀"), rationale="你", flags=("é",))
    write_xliff(out, [record], origin)
    assert "Öl" in out.read_bytes().decode(encoding)
    assert read_xliff(out).segments == read_xliff(origin).segments
    assert read_judged_xliff(out).records == (record,)


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


@pytest.mark.parametrize(
    ("records", "error", "message"),
    [
        ([judged(span(0, 5, "Guten"))], DataError, "about another text: segment 'u1'"),
        ([judged(span(0, 99))], DataError, "about another text: segment 'u1'"),
        ([judged(segment="u2")], DataError, "judge a segment 'u2' that is not there"),
        ([judged(), judged(annotator="k")], UsageError, "judged twice, by 'j' and 'k'; XLIFF holds one"),
        ([judged(), judged()], UsageError, "segment 'u1' by 'target' was judged twice"),
    ],
)
def test_records_that_are_not_of_this_text_once_are_refused(
    tmp_path: Path, records: list[Annotation], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        write_xliff(tmp_path / "out.xlf", records, write(tmp_path, file_of("1")))
    assert not (tmp_path / "out.xlf").exists()


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
    for half in (content, Content(test_set=content.test_set, records=[judged()])):
        with pytest.raises(UsageError, match="give a run or records, and that file with --test-set FILE"):
            write_content(tmp_path / "out.xlf", "xliff", half)
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


# XLIFF in with its judgements: ours as they were, those of others as ITS 2.0 says them, none made up.


SHOWN = "Hallo <t1>Welt</t1>, du"
UNIT = '<trans-unit id="u1"{}><source>Hello</source><target{}>{}</target>{}</trans-unit>'


def xliff_judged_read(folder: Path, text: str) -> ContentWithTexts[Record]:
    found = read_judged_xliff(write(folder, text))
    assert found.test_set == read_xliff(folder / "x.xlf")
    return found


def foreign(
    folder: Path, target: str, *, at_target: str = "", at_unit: str = "", after: str = ""
) -> ContentWithTexts[Record]:
    text = one(UNIT.format(at_unit, at_target, target, after)).replace(
        "<xliff ", f'<xliff xmlns:its="{ITS}" '
    )
    return xliff_judged_read(folder, text)


def the_one(found: ContentWithTexts[Record]) -> Annotation:
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


def test_a_translation_without_a_mark_was_not_judged_and_one_judged_clean_was(tmp_path: Path) -> None:
    units = "".join(UNIT.format("", "", "b", "").replace('"u1"', f'"{n}"') for n in "123")
    origin, out = write(tmp_path, one(units)), tmp_path / "out.xlf"
    clean = judged(segment="2", document="a.txt")
    write_xliff(out, [clean], origin)
    assert read_judged_xliff(out).records == (clean,)
    assert not read_content(origin).records


# What was changed since...


def written(folder: Path, *spans: ErrorSpan, version: str = "1", **fields: Any) -> tuple[Annotation, str]:
    origin, record = write(folder, file_of(version), "origin.xlf"), judged(*spans, **fields)
    write_xliff(folder / "out.xlf", [record], origin)
    return record, (folder / "out.xlf").read_text()


CHANGED = {"judgements that were changed since adjudge wrote them, taken as they are now": 1}


@pytest.mark.parametrize("version", FORMS)
def test_an_error_is_where_its_mark_is_now_and_as_severe_as_it_says(tmp_path: Path, version: str) -> None:
    error = span(10, 14, "Welt", category="accuracy/gender mismatch", label="Gender")
    record, text = written(tmp_path, error, version=version, counts={"major": 1}, samples=(5.0,))
    found = xliff_judged_read(tmp_path, text.replace("Hallo", "Hallihallo"))
    moved = replace(error, start=15, end=19)
    assert found.records == (replace(record, spans=(moved,), counts={}, samples=()),)
    lighter = xliff_judged_read(tmp_path, text.replace('Severity="67"', 'Severity="33"'))
    (only,) = the_one(lighter).spans
    assert (only.severity, only.start, only.end, only.text) == ("minor", 10, 14, "Welt")
    assert the_one(lighter).annotator == record.annotator
    assert found.met == lighter.met == CHANGED


def test_an_error_taken_back_is_gone(tmp_path: Path) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"), span(0, 5, "Hallo", severity="minor"))
    text = text.replace('Severity="67"', 'Severity="67" locQualityIssueEnabled="no"')
    found = xliff_judged_read(tmp_path, text)
    assert found.records == (replace(record, spans=record.spans[1:]),)
    assert found.met == {**CHANGED, "issues that are not enabled, left out": 1}


@pytest.mark.parametrize("version", FORMS)
def test_marks_that_a_tool_dropped_do_not_make_a_translation_clean(tmp_path: Path, version: str) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"), span(0, 5, "Hallo"), version=version)
    assert text.count(' its:locQualityIssuesRef="') == 2
    found = xliff_judged_read(tmp_path, text.replace(' its:locQualityIssuesRef="', ' ref="'))
    assert the_one(found).spans == record.spans
    found = xliff_judged_read(
        tmp_path, text.replace(' its:locQualityIssuesRef="', ' ref="').replace("Hallo<", "Guten Tag<")
    )
    assert [error.match for error in the_one(found).spans] == ["unmatched"] * 2
    assert [error.text for error in the_one(found).spans] == ["Welt", "Hallo"]
    assert found.met == CHANGED


def test_an_error_that_somebody_adds_is_there(tmp_path: Path) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"))
    mark = '<mrk mtype="x-its" its:locQualityIssueType="grammar" its:locQualityIssueSeverity="100">du</mrk>'
    found = the_one(xliff_judged_read(tmp_path, text.replace(", du<", f", {mark}<")))
    assert found.spans[0] == record.spans[0]
    assert (found.spans[1].text, found.spans[1].severity) == ("du", "critical")
    assert found.spans[1].category == "fluency/grammar"


@pytest.mark.parametrize(("confidence", "rating"), [("0.5", 50), ("0.003333", 1 / 3)])
def test_a_confidence_that_was_changed_is_the_rating(tmp_path: Path, confidence: str, rating: float) -> None:
    record, text = written(tmp_path, protocol="esa", rating=1 / 3)
    found = xliff_judged_read(tmp_path, text.replace('"0.003333"', f'"{confidence}"'))
    assert found.records == (replace(record, rating=rating),)


def test_a_confidence_of_another_tool_is_no_rating_of_ours(tmp_path: Path) -> None:
    record, text = written(tmp_path, span(10, 14, "Welt"))
    found = xliff_judged_read(
        tmp_path,
        text.replace("<target ", '<target its:mtConfidence="0.25" ').replace(
            " mt-confidence|urn:adjudge:annotator:j", " mt-confidence|http://mt"
        ),
    )
    ours, theirs = found.records
    assert ours == record
    assert isinstance(theirs, Annotation)
    assert (theirs.annotator, theirs.protocol, theirs.rating) == ("http://mt", "metric", 0.25)


@pytest.mark.parametrize(
    "raw",
    [
        *("", "[]", "{", '{"protocol": "mqm"}'),
        *('{"protocol": "mqm", "spans": []}', '{"protocol": "odd", "spans": []}'),
    ],
)
def test_a_record_of_ours_that_is_damaged_is_refused_with_its_line(tmp_path: Path, raw: str) -> None:
    _, text = written(tmp_path)
    start, end = text.index('adjudge:record="') + 16, text.index('"', text.index('adjudge:record="') + 16)
    broken = text[:start] + raw.replace('"', "&quot;") + text[end:]
    if raw == '{"protocol": "mqm", "spans": []}':  # all else may be left out
        assert xliff_judged_read(tmp_path, broken).records
        return
    with pytest.raises(DataError, match=r"x\.xlf line 2"):
        xliff_judged_read(tmp_path, broken)


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
    (error,) = the_one(xliff_judged_read(tmp_path, text)).spans
    assert (error.side, error.start, error.end, error.text) == ("source", 2, 4, "ll")


def test_issues_in_xliff_2_are_read_at_mark_segment_and_unit(tmp_path: Path) -> None:
    issue = 'its:locQualityIssueType="style" its:locQualityIssueSeverity="67"'
    mark = f'<mrk id="m" type="its:generic" {issue}>b</mrk>'
    text = two(f"<segment {issue}><source>a</source><target>a{mark}</target></segment>").replace(
        "<xliff ", f'<xliff xmlns:its="{ITS}" '
    )
    record = the_one(xliff_judged_read(tmp_path, text.replace("<unit ", f"<unit {issue} ")))
    assert [(e.match, e.text) for e in record.spans] == [("unplaced", ""), ("unplaced", ""), ("exact", "b")]


@pytest.mark.parametrize(
    ("said", "protocol", "rating"),
    [
        ('its:mtConfidence="0.82"', "metric", 0.82),
        ('its:mtConfidence="0"', "metric", 0),
        ('its:locQualityRatingScore="85.5" its:locQualityRatingScoreThreshold="95"', "esa", 85.5),
    ],
)
def test_what_another_tool_says_of_a_whole_is_one_judgement(
    tmp_path: Path, said: str, protocol: str, rating: float
) -> None:
    record = the_one(foreign(tmp_path, "b", at_target=f" {said}"))
    assert (record.protocol, record.rating, record.spans) == (protocol, rating, ())
    issue = 'its:locQualityIssueType="style" its:locQualityIssueSeverity="67"'
    who = ' its:locQualityRatingScore="60" its:annotatorsRef="{0}-issue|t {0}-rating|t"'
    both = the_one(foreign(tmp_path, f"a<mrk {issue}>b</mrk>", at_unit=who.format("localization-quality")))
    assert (both.annotator, both.protocol, both.rating, len(both.spans)) == ("t", "esa", 60, 1)


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


def test_what_judges_no_translation_is_counted_and_is_no_judgement(tmp_path: Path) -> None:
    other = '<alt-trans its:mtConfidence="0.4"><target its:mtConfidence="0.9">c</target></alt-trans>'
    part = "a<mrk its:mtConfidence='0.3'>b</mrk>"
    found = foreign(tmp_path, part, at_target=' its:locQualityRatingVote="3"', after=other)
    assert (found.records, found.met) == (
        (),
        {
            "confidences and ratings of a part of a translation, left out": 1,
            "marks of ITS that are about no translation here, or votes, left out": 3,
        },
    )
    taken_back = ' its:locQualityIssueType="style" its:locQualityIssueSeverity="67"'
    found = foreign(tmp_path, "b", at_target=f'{taken_back} its:locQualityIssueEnabled="no"')
    assert (found.records, found.met) == ((), {"issues that are not enabled, left out": 1})
    named = foreign(tmp_path, "b", at_target=' its:annotatorsRef="localization-quality-issue|http://check"')
    two_of_a_unit = two("<segment><source>a</source><target>b</target></segment>" * 2)
    rated = f'<unit xmlns:its="{ITS}" its:locQualityRatingScore="3" '
    for found in (named, xliff_judged_read(tmp_path, two_of_a_unit.replace("<unit ", rated))):
        assert (found.records, sum(found.met.values())) == ((), 1)


def test_judgements_of_another_language_pair_are_left_out(tmp_path: Path) -> None:
    unit = UNIT.format("", ' its:mtConfidence="0.5"', "b", "")
    part = '<file original="{0}" source-language="en" target-language="{0}"><body>{1}</body></file>'
    text = ONE.format(part.format("de", unit) + part.format("cs", unit))
    path = write(tmp_path, text.replace("<xliff ", f'<xliff xmlns:its="{ITS}" '))
    assert [r.lp for r in read_judged_xliff(path).records] == ["en-de", "en-cs"]
    assert [r.lp for r in read_content(path, lp="en-cs").records] == ["en-cs"]


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
    assert xliff_judged_read(tmp_path, text).records == (record,)
    assert xliff_judged_read(tmp_path, text).met == Counter()


def test_a_translation_with_thousands_of_marks_is_read_in_time_linear_in_them(tmp_path: Path) -> None:
    """Rendering the whole text once for each mark took minutes."""
    mark = "<mrk mtype='x-its' its:locQualityIssueType='style' its:locQualityIssueSeverity='33'>a</mrk>"
    record = the_one(foreign(tmp_path, mark * 6_000))
    assert len(record.spans) == 6_000
    assert record.spans[-1].start == 5_999


def test_a_unit_with_thousands_of_segments_is_read_in_time_linear_in_them(tmp_path: Path) -> None:
    """Looking for notes in the whole unit once for each segment took minutes."""
    segments = "<segment><source>a</source><target>b</target></segment>" * 10_000
    found = read(tmp_path, two(f"<notes><note>n</note></notes>{segments}"))
    assert len(found) == 10_000
    assert found[-1].meta["notes"] == ["n"]
