"""Tasks of a test set: whole documents of one system, of a pair, of several."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from adjudge.campaigns import database
from adjudge.campaigns.settings import NAMES, find_campaign_protocol
from adjudge.campaigns.tasks import Given, Task, find_media, make_tasks
from adjudge.core.record import Annotation, ErrorSpan, Failure
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, DataWarning, UsageError
from tests.campaigns.conftest import MakeCampaign, make_test_set

# Spans marked beforehand are made to fit the text shown, and what did not fit is said.


TEXT = "Der Hund 🐕 schläft."
SEGMENT = Segment(segment="1", lp="en-de", source="The dog sleeps.", translations={"A": TEXT, "B": TEXT})


def annotation(*spans: ErrorSpan, **more: Any) -> Annotation:
    named = {"lp": "en-de", "segment": "1", "system": "A", "annotator": "gemba", "protocol": "mqm"}
    return Annotation(spans=spans, **named | more)


def span(start: int | None, end: int | None, **more: Any) -> ErrorSpan:
    return ErrorSpan(start=start, end=end, **{"severity": "minor", "text": "", **more})


OF_THE_SOURCE = "marks in the source, left out because people are shown those of the translation alone: 1"
WITHOUT_A_PLACE = "marks without a place in the translation (something missing, or not found), left out: 1"


@pytest.mark.parametrize(
    ("marked", "shown", "said"),
    [
        (span(4, 8, text="Hund"), (4, 8, "Hund", "minor"), ()),
        (span(9, 10, text="🐕", severity="major"), (9, 10, "🐕", "major"), ()),
        (span(4, 8, severity="critical"), (4, 8, "Hund", "major"), ()),
        (
            span(11, 99, text="schläft. Und"),
            (11, 19, "schläft.", "minor"),
            ("marks that reach beyond the end of their translation, cut there: 1",),
        ),
        (span(19, 21), None, ("marks outside of their translation, left out: 1",)),
        (span(4, 4), None, ("marks outside of their translation, left out: 1",)),
        (span(4, 8, text="Katz"), None, ("marks of another text than the translation, left out: 1",)),
        (span(4, 8, text="hund", match="normalised"), (4, 8, "Hund", "minor"), ()),
        (span(0, 3, side="source"), None, (OF_THE_SOURCE,)),
        (span(None, None, match="unplaced"), None, (WITHOUT_A_PLACE,)),
        (span(None, None, match="unmatched", text="Hnd"), None, (WITHOUT_A_PLACE,)),
        (
            span(4, 8, severity="neutral"),
            None,
            ("marks of a severity that the protocol does not have, left out: 1",),
        ),
    ],
)
def test_a_mark_is_shown_or_left_out_with_a_word(
    marked: ErrorSpan, shown: tuple[int, int, str, str] | None, said: tuple[str, ...]
) -> None:
    given = Given([annotation(marked)], ("minor", "major"))
    found = given.of(SEGMENT, "A")
    assert found is not None
    fields = [(s["start"], s["end"], s["text"], s["severity"]) for s in found]
    assert fields == ([] if shown is None else [shown])
    assert given.warnings == said


def test_clean_is_not_the_same_as_never_annotated() -> None:
    named: Any = {"lp": "en-de", "segment": "1", "annotator": "gemba", "protocol": "mqm"}
    failed = Failure(systems=("B",), reason="empty", detail="", **named)
    given = Given([annotation(), failed], ("minor",))
    assert given.of(SEGMENT, "A") == []
    assert given.of(SEGMENT, "B") is None
    assert given.warnings == ("translations without a stored annotation, shown without marks: 1",)


def test_marks_stand_in_order() -> None:
    given = Given([annotation(span(9, 10), span(0, 8), span(0, 3))], ("minor",))
    assert [(s["start"], s["end"]) for s in given.of(SEGMENT, "A") or ()] == [(0, 3), (0, 8), (9, 10)]


def test_two_annotators_of_one_translation_are_refused() -> None:
    with pytest.raises(DataError, match="'gemba' and 'other'; give one annotator's"):
        Given([annotation(), annotation(annotator="other")], ("minor",))


def test_a_campaign_says_what_did_not_fit(make_campaign: MakeCampaign) -> None:
    records = [annotation(span(0, 999), segment="1.1", system="Alder")]
    with pytest.warns(DataWarning) as told:
        make_campaign("esa-ai", given=records)
    assert [str(one.message) for one in told] == [
        "translations without a stored annotation, shown without marks: 11",
        "marks that reach beyond the end of their translation, cut there: 1",
    ]


def test_given_spans_go_with_esa_ai_alone(make_campaign: MakeCampaign) -> None:
    for protocol, given in (("esa-ai", None), ("esa-ai", []), ("esa", [annotation()])):
        with pytest.raises(UsageError, match="marked beforehand"):
            make_campaign(protocol, given=given)


# Sources that are no text: copied under names of ours, and nothing from outside of their folder.


def segment(number: int = 1, **meta: Any) -> Segment:
    return Segment(segment=str(number), lp="en-de", source="", translations={"A": "a"}, meta=meta)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    (folder / "deep").mkdir(parents=True)
    for name, content in {"x.png": b"1", "deep/Ünï 2.PNG": b"2", "same.jpg": b"1", "s.mp3": b"3"}.items():
        (folder / name).write_bytes(content)
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    return folder


def test_files_are_copied_under_names_of_ours(make_campaign: MakeCampaign, folder: Path) -> None:
    sources = [
        segment(1, media="image", file="x.png"),
        segment(2, media="image", file="deep/Ünï 2.PNG"),
        segment(3, media="audio", file="s.mp3"),
        replace(segment(4), source="Plain text."),
        segment(5, media="image", file="x.png"),
    ]
    campaign, _ = make_campaign(test_set=TestSet(name="seen", segments=tuple(sources)), media=folder)
    with campaign.database.reading() as connection:
        columns = (database.item.c.segment, database.item.c.media, database.item.c.source)
        rows = {row.segment: row for row in connection.execute(select(*columns))}
    assert [rows[str(n)].media for n in range(1, 6)] == ["image", "image", "audio", "text", "image"]
    assert rows["4"].source == "Plain text."
    assert rows["1"].source == rows["5"].source
    contents = [(campaign.folder / rows[n].source).read_bytes() for n in ("1", "2", "3")]
    assert contents == [b"1", b"2", b"3"]
    names = sorted(path.name for path in (campaign.folder / "media").iterdir())
    assert all(len(name) == 36 and name.isascii() and name == name.lower() for name in names)
    assert len(names) == 3, "equal files are one"


def test_what_is_no_media_file_of_the_folder_is_refused(folder: Path) -> None:
    outside = ["../secret.png", "deep/../../secret.png", "link.png", "/etc/x.png"]
    wrong: list[tuple[str, dict[str, Any]]] = [
        *(("outside", {"media": "image", "file": name}) for name in outside),
        ("no file", {"media": "image", "file": "none.png"}),
        ("no name of a file", {"media": "image", "file": "a\0.png"}),
        *(("media is one of", {"media": "image", "file": name}) for name in ("x.svg", "x.html", "s.mp3", 7)),
        *(("media is one of", {"media": kind, "file": "x.png"}) for kind in ("html", None)),
        ("media is one of", {"media": "image"}),
    ]
    for why, meta in wrong:
        with pytest.raises(DataError, match=f"(?s)(?=.*segment '1' of en-de).*{why}"):
            find_media([segment(**meta)], folder)
    with pytest.raises(DataError, match="no folder of media files was given"):
        find_media([segment(media="image", file="x.png")], None)


def made_of(*rows: tuple[str, str, dict[str, str]]) -> TestSet:
    """Document, segment, translations."""
    segments = [
        Segment(segment=segment, lp="en-de", document=document, source="Source.", translations=translations)
        for document, segment, translations in rows
    ]
    return TestSet(name="made", segments=tuple(segments))


def shape(tasks: list[Task]) -> list[tuple[str, str, str]]:
    """Document, systems and segments of each task."""
    return [
        (each.document, "+".join(each.systems), " ".join(item.segment for item in each.items))
        for each in tasks
    ]


def test_every_task_is_a_whole_document() -> None:
    documents = {"doc-1": "1.1 1.2", "doc-2": "2.1", "doc-3": "3.1 3.2 3.3"}
    for protocol in NAMES:
        tasks = make_tasks(make_test_set("en-de"), find_campaign_protocol(protocol).shows)
        assert {document: segments for document, _, segments in shape(tasks)} == documents, protocol
        assert len({(document, segments) for document, _, segments in shape(tasks)}) == 3, protocol


def test_what_stands_beside_a_source() -> None:
    three = made_of(("d", "1", {"A": "a", "B": "b", "C": "c"}))
    together: dict[Any, list[str]] = {"one": ["A", "B", "C"], "pair": ["A+B", "A+C", "B+C"]}
    for shows, systems in (together | {"several": ["A+B+C"], "candidates": ["A+B+C"]}).items():
        assert [names for _, names, _ in shape(make_tasks(three, shows))] == systems


def test_only_the_pairs_that_were_asked_for_are_compared() -> None:
    texts = {"A": "a", "B": "b", "C": "c"}
    made = made_of(("d", "1", texts), ("d", "2", texts))
    asked = {
        ("en-de", "1", frozenset("AB")),
        ("en-de", "2", frozenset("AB")),
        ("en-de", "2", frozenset("BC")),
    }
    assert shape(make_tasks(made, "pair", pairs=asked)) == [("d", "A+B", "1 2"), ("d", "B+C", "2")]
    with pytest.raises(DataError, match="no segment has a pair that was asked for"):
        make_tasks(made, "pair", pairs={("en-cs", "1", frozenset("AB"))})


def test_pairs_of_identical_translations_are_dropped() -> None:
    same = made_of(("d", "1", {"A": "x", "B": "x", "C": "c"}), ("d", "2", {"A": "a", "B": "b", "C": "b"}))
    assert shape(make_tasks(same, "pair")) == [("d", "A+B", "2"), ("d", "A+C", "1 2"), ("d", "B+C", "1")]


@pytest.mark.parametrize("hole", [{}, {"A": ""}, {"A": " \u3000"}])
def test_what_a_system_did_not_translate_is_left_out(hole: dict[str, str]) -> None:
    gaps = made_of(("d", "1", {"A": "a", "B": "b"}), ("d", "2", {**hole, "B": "b2"}))
    assert shape(make_tasks(gaps, "one")) == [("d", "A", "1"), ("d", "B", "1 2")]
    assert shape(make_tasks(gaps, "pair")) == [("d", "A+B", "1")]
    (several,) = make_tasks(gaps, "several")
    assert [[shown["system"] for shown in item.translations] for item in several.items] == [["A", "B"], ["B"]]


@pytest.mark.parametrize(
    ("told", "shown"),
    [("Be brief.", "Be brief."), (" \u3000\n", None), ("", None), (7, None)],
)
def test_an_instruction_is_shown_unless_it_is_blank(told: object, shown: str | None) -> None:
    segment = Segment(
        segment="1", lp="en-de", source="Hi.", translations={"A": "Hallo."}, meta={"instruction": told}
    )
    (task,) = make_tasks(TestSet(name="told", segments=(segment,)), "one")
    assert task.items[0].translations[0].get("instruction") == shown


def test_a_segment_without_a_document_stands_alone() -> None:
    loose = made_of(("", "1", {"A": "a"}), ("", "2", {"A": "b"}))
    assert shape(make_tasks(loose, "one")) == [("", "A", "1"), ("", "A", "2")]


def test_documents_of_two_language_pairs_are_two() -> None:
    tasks = make_tasks(make_test_set("en-zh", "en-ja"), "one")
    assert sorted({(task.lp, task.document) for task in tasks}) == [("en-ja", "doc-1"), ("en-zh", "doc-1")]


@pytest.mark.parametrize(
    ("rows", "shows", "wanted"),
    [
        ([], "one", "a translation"),
        ([("d", "1", {})], "several", "a translation"),
        ([("d", "1", {"A": "a"})], "pair", "two systems"),
        ([("d", "1", {"A": "a", "B": "a"})], "pair", "two systems whose translations differ"),
    ],
)
def test_a_test_set_with_nothing_to_judge_is_refused(
    rows: list[tuple[str, str, dict[str, str]]], shows: str, wanted: str
) -> None:
    with pytest.raises(DataError, match=f"'made' has nothing to judge: no segment has {wanted}"):
        make_tasks(made_of(*rows), shows)  # type: ignore[arg-type]


def test_the_priority_of_a_task_is_the_mean_of_what_is_known() -> None:
    two = made_of(("d", "1", {"A": "a", "B": "b"}), ("d", "2", {"A": "a", "B": "b"}))
    known = {("en-de", "1", "A"): 1.0, ("en-de", "2", "A"): 3.0, ("en-de", "1", "B"): 5.0}
    assert [task.priority for task in make_tasks(two, "one", priorities=known)] == [2.0, 5.0]
    assert [task.priority for task in make_tasks(two, "several", priorities=known)] == [3.0]
    assert [task.priority for task in make_tasks(two, "one")] == [0.0, 0.0]
