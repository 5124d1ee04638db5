"""Texts whose line breaks are not the source's: where each part goes, and that none is lost."""

import json
import random
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adjudge.analysis.align import align, align_texts, pieces_of
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import load
from tests.cli.calling import Asked

Capsys = pytest.CaptureFixture[str]

SOURCES = [
    "The cat sat on the mat in 1984.",
    "It rained.",
    "Angela Merkel met Emmanuel Macron in Berlin on Monday.",
    "Nobody knew why.",
]
GERMAN = [
    "Die Katze saß 1984 auf der Matte.",
    "Es regnete.",
    "Angela Merkel traf Emmanuel Macron am Montag in Berlin.",
    "Niemand wusste warum.",
]
TEXTS = TestSet(
    name="t",
    segments=tuple(
        Segment(segment=str(n), lp="en-de", source=text, document="d") for n, text in enumerate(SOURCES, 1)
    ),
)


def aligned(text: str, folder: Path, test_set: TestSet = TEXTS) -> tuple[list[str | None], TestSet]:
    path = folder / "sys.txt"
    path.write_bytes(text.encode())
    found = align(test_set, {"sys": path})
    return [s.translations.get("sys") for s in found.test_set], found.test_set


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(GERMAN),
        "\r\n".join(GERMAN) + "\r\n",
        " ".join(GERMAN),
        "\n\n".join(GERMAN),
        f"{GERMAN[0]} {GERMAN[1]}\n{GERMAN[2]} {GERMAN[3]}",
        "\n".join([*GERMAN[:2], "Angela Merkel traf Emmanuel Macron\nam Montag in Berlin.", GERMAN[3]]),
    ],
    ids=["lines", "crlf", "one line", "paragraphs", "two and two", "broken line"],
)
def test_lines_that_were_merged_or_broken_come_to_their_segments(text: str, tmp_path: Path) -> None:
    assert aligned(text, tmp_path)[0] == GERMAN


def test_what_was_left_out_is_an_empty_translation_and_counted(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("\n".join([GERMAN[0], GERMAN[1], GERMAN[3]]))
    found = align(TEXTS, {"s": tmp_path / "s.txt"})
    assert [s.translations["s"] for s in found.test_set] == [GERMAN[0], GERMAN[1], "", GERMAN[3]]
    (row,) = found.systems
    assert (row.segments, row.translated, row.left_out, row.added, row.merged) == (4, 3, 1, 0, 0)
    assert row.documents == {"": {"segments": 4, "translated": 3, "left_out": 1}}


def test_what_was_added_is_kept_and_counted(tmp_path: Path) -> None:
    extra = "Quarterly earnings of Acme fell by 77 percent, said analysts of Bigbank yesterday evening."
    text = "\n".join([*GERMAN[:3], extra, GERMAN[3]])
    texts, test_set = aligned(text, tmp_path)
    assert texts == GERMAN
    assert test_set.segments[3].meta["added"] == {"sys": [extra]}
    path = tmp_path / "sys.txt"
    path.write_text("\n".join([*GERMAN, extra]))
    found = align(TEXTS, {"sys": path})
    assert (found.systems[0].added, found.systems[0].added_characters) == (1, len(extra))
    assert found.test_set.segments[-1].meta["added"] == {"sys": [extra]}


def test_segments_of_one_sentence_say_where_their_translation_stands(tmp_path: Path) -> None:
    sources = ["The old house by the river was sold in 2003", "and the new owners pulled it down in 2007"]
    both = "Das alte Haus am Fluss wurde 2003 verkauft und die neuen Besitzer rissen es 2007 ab"
    segments = [Segment(segment=str(n), lp="en-de", source=text) for n, text in enumerate(sources)]
    texts, test_set = aligned(both, tmp_path, TestSet(name="t", segments=tuple(segments)))
    assert texts == [both, None]
    assert test_set.segments[1].meta["merged"] == {"sys": "0"}


def test_documents_are_found_by_their_names_and_those_that_are_not_are_named(tmp_path: Path) -> None:
    other = [Segment(segment=f"e{n}", lp="en-de", source=s, document="e") for n, s in enumerate(SOURCES[:2])]
    texts = TestSet(name="t", segments=(*TEXTS, *other))
    path = tmp_path / "sys.jsonl"
    lines = [{"doc_id": "d", "hypothesis": " ".join(GERMAN)}, {"doc_id": "x", "hypothesis": "y"}]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = align(texts, {"sys": path})
    assert [s.translations.get("sys") for s in found.test_set] == [*GERMAN, None, None]
    assert (found.systems[0].missing, found.systems[0].unknown) == (("e",), ("x",))
    assert len([*found.systems[0].notes]) == 2


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "there is no text to align"),
        ("a.txt", b" \n\n", "there is no text to align"),
        ("a.txt", b"\xff\xfe", "not UTF-8 at byte 0"),
        ("a.jsonl", b"[1]\n", "wanted an object with doc_id and hypothesis"),
        ("a.jsonl", b"{\n", "not JSON"),
        ("a.jsonl", b'{"doc_id": "d", "hypothesis": "x"}\n' * 2, "document 'd' is there twice"),
    ],
)
def test_files_that_hold_no_texts_are_refused(name: str, content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=said):
        align(TEXTS, {"sys": tmp_path / name})


def test_sources_that_cannot_be_aligned_to_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    empty = TestSet(name="t", segments=(Segment(segment="1", lp="en-de", source=" "),))
    with pytest.raises(DataError, match="t has no source text"):
        align(empty, {"sys": tmp_path / "a.txt"})
    twice = TestSet(name="t", segments=(*TEXTS, Segment(segment="1", lp="en-cs", source="x")))
    with pytest.raises(UsageError, match="several language pairs"):
        align(twice, {"sys": tmp_path / "a.txt"})
    judged = align(TEXTS, {"sys": tmp_path / "a.txt"}).test_set
    with pytest.raises(UsageError, match="has a system 'sys' already"):
        align(judged, {"sys": tmp_path / "a.txt"})
    with pytest.raises(UsageError, match="add --lp"):
        align(tmp_path / "a.txt", {"sys": tmp_path / "a.txt"})


TEXT = st.text(alphabet=st.sampled_from("ab Z.!?。؟।\n\u2028,1é日本😀א"), max_size=80) | st.text(max_size=60)


@given(TEXT)
def test_pieces_joined_are_the_text(text: str) -> None:
    assert "".join(pieces_of(text)) == text


@settings(deadline=None)
@given(st.lists(TEXT, min_size=1, max_size=6), TEXT)
def test_every_segment_has_a_group_and_no_text_is_lost(sources: list[str], text: str) -> None:
    groups = align_texts(sources, [], pieces_of(text))
    assert [g.segments[0] for g in groups] == [0, *(g.segments[1] for g in groups)][:-1]
    assert groups[-1].segments[1] == len(sources)
    taken = [n for g in groups for n in range(*g.pieces)]
    assert taken == sorted(set(taken))
    if not any(s.strip() for s in sources) or not text.strip():
        return
    segments = [Segment(segment=str(n), lp="en-de", source=s) for n, s in enumerate(sources)]
    from adjudge.analysis.align import _align_document

    filled, counts = _align_document(segments, "sys", text, align_texts)
    kept = ""
    for segment in filled:
        added: Any = segment.meta.get("added", {})
        kept += "".join(added.get("sys", [])) + segment.translations.get("sys", "")
    assert sorted("".join(kept.split())) == sorted("".join(text.split()))
    assert counts["segments"] == len(sources)
    assert counts["translated"] + counts["left_out"] + counts["merged"] <= len(sources)


@pytest.mark.realdata
@pytest.mark.parametrize("lp", ["en-de", "zh-en"])
def test_most_damaged_lines_of_wmt23_are_found_again(lp: str, adjudge_data: Path) -> None:
    texts = load(adjudge_data / "wmt23", lp)
    system = next(s for s in texts.systems if s not in texts.references)
    lines = [s.translations[system].strip() for s in texts.segments[:200]]
    rng = random.Random(0)
    text = "".join(line + (" " if rng.random() < 0.1 else "\n") for line in lines)
    pieces = pieces_of(text)
    found = [""] * len(lines)
    for (first, _), (begin, end) in align_texts([s.source for s in texts.segments[:200]], [], pieces):
        found[first] = "".join(pieces[begin:end]).strip()
    assert sum(a == b for a, b in zip(found, lines, strict=True)) >= 0.85 * len(lines)


def asked(capsys: Capsys, folder: Path, *arguments: str) -> Asked:
    (folder / "source.txt").write_text("\n".join(SOURCES))
    (folder / "mine.txt").write_text(" ".join(GERMAN))
    paths = [str(folder / "source.txt"), str(folder / "mine.txt"), "--lp", "en-de"]
    return Asked(capsys, "align", *paths, "--out", str(folder / "out.jsonl"), *arguments)


def test_the_command_writes_a_test_set_and_says_what_fits(tmp_path: Path, capsys: Capsys) -> None:
    assert asked(capsys, tmp_path, "--format", "json").json["mine"]["translated"] == 4
    assert [s.translations["mine"] for s in load(tmp_path / "out.jsonl")] == GERMAN
    again = asked(capsys, tmp_path)
    assert (again.code, "--force replaces it" in again.err) == (2, True)


PROGRAM = """
import json, sys
asked = json.loads(sys.stdin.readline())
groups = [[[n, n + 1], [n, n + 1]] for n in range(len(asked["sources"]))]
print(json.dumps({"id": "1", "groups": GROUPS}))
"""


def test_a_program_of_ones_own_aligns_and_is_checked(tmp_path: Path, capsys: Capsys) -> None:
    program = tmp_path / "a.py"
    program.write_text(PROGRAM.replace("GROUPS", "groups"))
    command = f"{sys.executable} {program}"
    assert asked(capsys, tmp_path, "--aligner", command).code == 0
    assert [s.translations["mine"] for s in load(tmp_path / "out.jsonl")] == GERMAN
    wrong = {"groups[1:]": "each segment in one", "groups[:2]": "2 are missing", "3": "must answer"}
    for groups, said in wrong.items():
        program.write_text(PROGRAM.replace("GROUPS", groups))
        found = asked(capsys, tmp_path, "--force", "--aligner", command)
        assert found.code != 0
        assert said in " ".join(found.err.split())
