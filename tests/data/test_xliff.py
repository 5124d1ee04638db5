"""XLIFF in: segments, states, notes, languages, and inline tags as text that leads back to them."""

from pathlib import Path
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.segment import Segment
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.read import detect, load
from adjudge.formats.xliff import read_xliff

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


def test_a_unit_of_2_with_one_segment_goes_by_its_own_name(tmp_path: Path) -> None:
    (segment,) = read(tmp_path, two('<segment id="s1"><source>One.</source></segment>'))
    assert segment.segment == "u1"


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
    (segment,) = read(tmp_path, one(f"<trans-unit id='1'><source>New</source>{target}</trans-unit>"))
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
