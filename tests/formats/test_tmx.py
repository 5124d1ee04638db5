"""TMX in: units, languages, inline tags, and what a memory says besides."""

from pathlib import Path

import pytest

from adjudge.core.segment import Segment
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import detect, load

HEAD = '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">\n'


def write(folder: Path, units: str, source: str = "en", head: str = HEAD) -> Path:
    path = folder / "memory.tmx"
    path.write_text(f'{head}<tmx version="1.4"><header srclang="{source}"/><body>{units}</body></tmx>')
    return path


def unit(*variants: tuple[str, str], more: str = "", **attributes: str) -> str:
    texts = "".join(f'<tuv xml:lang="{lang}"><seg>{text}</seg></tuv>' for lang, text in variants)
    given = "".join(f' {key}="{value}"' for key, value in attributes.items())
    return f"<tu{given}>{more}{texts}</tu>"


def test_a_unit_is_a_segment_for_each_language(tmp_path: Path) -> None:
    more = "<note>for the shop</note><prop type='domain'>retail</prop>"
    path = write(tmp_path, unit(("de-DE", "Hallo"), ("EN", "Hello"), ("cs", "Ahoj"), more=more, tuid="t"))
    assert detect(path) == "tmx"
    meta = {"notes": ["for the shop"], "properties": {"domain": "retail"}}
    assert list(load(path)) == [
        Segment(segment="t", lp="en-de_DE", source="Hello", translations={"target": "Hallo"}, meta=meta),
        Segment(segment="t", lp="en-cs", source="Hello", translations={"target": "Ahoj"}, meta=meta),
    ]
    assert load(path, "en-cs").lps == ("en-cs",)


def test_a_second_translation_is_another_system(tmp_path: Path) -> None:
    (segment,) = load(write(tmp_path, unit(("en", "Hi"), ("de", "Hallo"), ("de", "Tag"))))
    assert segment.translations == {"target": "Hallo", "target 2": "Tag"}


def test_units_without_names_of_their_own_are_numbered(tmp_path: Path) -> None:
    texts = ("en", "a"), ("de", "b")
    assert [s.segment for s in load(write(tmp_path, unit(*texts) + unit(*texts)))] == ["1", "2"]


def test_inline_tags_become_placeholders(tmp_path: Path) -> None:
    text = (
        '<bpt i="1">&lt;b></bpt>a<ept i="1">&lt;/b></ept> <ph x="2"/><hi>c</hi><it pos="begin" x="3">i</it>'
    )
    (segment,) = load(write(tmp_path, unit(("en", text), ("de", text))))
    assert segment.source == segment.translations["target"] == "<t1>a</t1> <t2/>c<t3>"


def test_where_any_language_may_be_the_source_the_pair_is_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, unit(("en", "a"), ("de", "b")), "*all*")
    with pytest.raises(UsageError, match="any language may be the source: add --lp"):
        load(path)
    assert next(iter(load(path, "de-en"))).source == "b"


@pytest.mark.parametrize(
    ("units", "head", "message"),
    [
        ("", HEAD, "no unit has both"),
        (unit(("fr", "a"), ("de", "b")), HEAD, "no unit has both"),
        (unit(("en", "&nbsp;")), HEAD, "entities are not read|not XML"),
    ],
)
def test_a_memory_without_translations_is_refused(
    tmp_path: Path, units: str, head: str, message: str
) -> None:
    with pytest.raises(DataError, match=message):
        load(write(tmp_path, units, head=head))
