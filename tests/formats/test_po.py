"""PO in: messages, plurals, and what is no translation."""

from pathlib import Path

import polib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.core.segment import Segment
from adjudge.errors import DataError, DataWarning, UsageError
from adjudge.formats.read import detect, load

HEAD = r"""msgid ""
msgstr ""
"Language: de\n"
"X-Source-Language: en\n"
"Content-Type: text/plain; charset=UTF-8\n"

"""


def write(folder: Path, text: str, head: str = HEAD, encoding: str = "utf-8") -> Path:
    path = folder / "messages.po"
    path.write_bytes((head + text).encode(encoding))
    return path


def test_a_message_is_a_segment(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        '# by a person\n#. a button\n#: src/a.c:12\n#, c-format\nmsgctxt "menu"\n'
        'msgid "Open\\n%s"\nmsgstr ""\n"Öff"\n"nen\\n%s"\n\nmsgid "New"\nmsgstr ""\n',
    )
    assert detect(path) == "po"
    meta = {"context": "menu", "notes": ["a button", "by a person"]}
    found = list(load(path))
    assert found == [
        Segment(
            segment=found[0].segment,
            lp="en-de",
            source="Open\n%s",
            translations={"target": "Öffnen\n%s"},
            meta={**meta, "places": ["src/a.c:12"], "flags": ["c-format"]},
        ),
        Segment(segment="New", lp="en-de", source="New"),
    ]


def test_every_plural_form_is_a_segment_with_the_source_it_translates(tmp_path: Path) -> None:
    forms = 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "eine"\nmsgstr[1] "viele"\nmsgstr[2] ""\n'
    found = list(load(write(tmp_path, forms)))
    assert [s.segment for s in found] == ["%d file[0]", "%d file[1]", "%d file[2]"]
    assert [s.source for s in found] == ["%d file", "%d files", "%d files"]
    assert [dict(s.translations) for s in found] == [{"target": "eine"}, {"target": "viele"}, {}]
    (one_form,) = load(write(tmp_path, 'msgid "a"\nmsgid_plural "b"\nmsgstr[0] "c"\n'))
    assert (one_form.segment, one_form.source) == ("a[0]", "b"), "a language without plurals"


def test_fuzzy_and_obsolete_messages_are_left_out_and_counted(tmp_path: Path) -> None:
    text = (
        '#, fuzzy\nmsgid "a"\nmsgstr "x"\n\n#, fuzzy\nmsgid "b"\nmsgstr "x"\n\n'
        'msgid "c"\nmsgstr "y"\n\n#~ msgid "d"\n#~ msgstr "z"\n'
    )
    with pytest.warns(DataWarning, match="2 fuzzy, 1 obsolete messages are left out"):
        (segment,) = load(write(tmp_path, text))
    assert (segment.segment, segment.source) == ("c", "c")


def test_the_language_pair_is_asked_for_where_the_header_lacks_it(tmp_path: Path) -> None:
    path = write(tmp_path, 'msgid "a"\nmsgstr "b"\n', HEAD.replace('"X-Source-Language: en\\n"\n', ""))
    with pytest.raises(UsageError, match="does not name both its languages: add --lp"):
        load(path)
    assert load(path, "en-de").lps == ("en-de",)
    with pytest.raises(UsageError, match=r"messages\.po names the language 'de', and not 'fr'"):
        load(path, "en-fr")


def test_the_character_set_is_what_the_header_says(tmp_path: Path) -> None:
    head = HEAD.replace("UTF-8", "ISO-8859-1")
    (segment,) = load(write(tmp_path, 'msgid "a"\nmsgstr "Öl"\n', head, "latin-1"))
    assert segment.translations == {"target": "Öl"}
    for wrong in ("UTF-8", "no-such"):
        with pytest.raises(DataError, match=f"not {wrong}, which its header names"):
            load(write(tmp_path, 'msgid "a"\nmsgstr "Öl"\n', HEAD.replace("UTF-8", wrong), "latin-1"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "Hello\n", "not PO"),
        (HEAD, "no message"),
        (HEAD + 'msgstr[x "a"\n', "not PO"),
        ("", "the file is empty"),
    ],
)
def test_what_is_no_po_file_is_refused_without_naming_our_copy(
    tmp_path: Path, text: str, message: str
) -> None:
    path = write(tmp_path, text, head="")
    with pytest.raises(DataError, match=message) as caught:
        load(path)
    assert str(caught.value).count("messages.po") == 1


@pytest.mark.parametrize(
    ("broken", "line"),
    [
        ('msgid "broken', 4),
        ("msgid broken", 4),
        ('msgid ""\n"bro\nmsgstr ""', 5),
        ('msgid "a\\"', 4),
        ('msgid "a"\nmsgstr[0] "b', 5),
    ],
)
def test_a_text_whose_quotes_are_not_closed_is_refused_with_its_line(
    tmp_path: Path, broken: str, line: int
) -> None:
    path = write(tmp_path, f'msgid "a"\nmsgstr "b"\n\n{broken}\n')
    line += HEAD.count("\n")
    with pytest.raises(DataError, match=rf"not PO: a text must stand between quotes .*\.po line {line}\)"):
        load(path)


texts = st.text(st.characters(codec="utf-8", exclude_characters="\r\x00"), min_size=1, max_size=20)


@given(source=texts, target=texts)
def test_any_message_that_polib_writes_is_read_as_it_is(
    tmp_path_factory: pytest.TempPathFactory, source: str, target: str
) -> None:
    file = polib.POFile()
    file.metadata = {"Language": "de", "Content-Type": "text/plain; charset=UTF-8"}
    file.append(polib.POEntry(msgid=source, msgstr=target))
    path = tmp_path_factory.mktemp("x") / "x.po"
    path.write_bytes(str(file).encode())
    (segment,) = load(path, "en-de")
    assert (segment.source, segment.translations) == (source, {"target": target})
