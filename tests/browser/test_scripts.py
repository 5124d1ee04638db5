"""The page's pure modules as tables: code points, marks, undo, keys, time, differences."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from playwright.sync_api import Browser, Page

from adjudge.reports.tables import RANGES

pytestmark = pytest.mark.browser

TEXT = st.text(st.sampled_from("ab é\u0301क्तक\u0301ी👩\u200d🚀👋🏽🇨🇭\r\n\u2028天気ำ "), max_size=30)


class Quiet(SimpleHTTPRequestHandler):
    """Serves our scripts and an empty page."""

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 (the base class's name)
        """Say nothing."""


@pytest.fixture(scope="module")
def page(chromium: Browser) -> Iterator[Page]:
    """An empty page beside our scripts; `load` imports one."""
    folder = str(files("adjudge.web") / "static")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    found = chromium.new_page()
    found.goto(f"http://127.0.0.1:{server.server_port}/js/text.js")
    yield found
    found.close()
    server.shutdown()
    server.server_close()


def call(page: Page, code: str, *arguments: object) -> Any:
    """Run code with every module at hand."""
    names = ("text", "marks", "history", "keys", "timing", "diff", "figures", "paint")
    imports = "".join(f"const {name} = await import('/js/{name}.js');" for name in names)
    return page.evaluate(f"async (a) => {{ {imports} return ({code})(...a); }}", list(arguments))


# Text...


@pytest.mark.parametrize(
    ("text", "graphemes"),
    [
        ("", [0]),
        ("ab", [0, 1, 2]),
        ("e\u0301a", [0, 2, 3]),
        ("👨‍👩‍👧‍👦!", [0, 7, 8]),
        ("👋🏽🇨🇭", [0, 2, 4]),
        ("a\r\nb", [0, 1, 3, 4]),
        ("ที่", [0, 3]),
        ("天気", [0, 1, 2]),
    ],
)
def test_people_see_characters_where_the_store_counts_code_points(
    page: Page, text: str, graphemes: list[int]
) -> None:
    found = call(page, "(t) => { const m = text.mapText(t); return [m.graphemes, m.length]; }", text)
    assert found == [graphemes, len(text)]


@given(text=TEXT, one=st.integers(0, 30), other=st.integers(0, 30))
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_stretch_is_the_text_that_python_cuts_out(page: Page, text: str, one: int, other: int) -> None:
    code = """(t, a, b) => {
      const map = text.mapText(t);
      const found = text.snap(map, a, b);
      return [found, text.slice(map, ...found)];
    }"""
    (start, end), part = call(page, code, text, min(one, len(text)), min(other, len(text)))
    assert 0 <= start <= min(one, other, len(text))
    assert min(max(one, other), len(text)) <= end <= len(text)
    assert text[start:end] == part


@pytest.mark.parametrize(
    ("lang", "text", "words"),
    [
        ("de", "Der rote Ball.", [[0, 3], [4, 8], [9, 13]]),
        ("hi", "कुत्ता भागा", [[0, 6], [7, 11]]),
        ("th", "ครอบครัวไปทะเล", [[0, 8], [8, 10], [10, 14]]),
        ("no_such-language!", "a b", [[0, 1], [2, 3]]),
    ],
)
def test_words_are_those_of_the_language(page: Page, lang: str, text: str, words: list[list[int]]) -> None:
    assert call(page, "(t, l) => text.mapText(t, l).words", text, lang) == words


def test_the_caret_moves_by_character_and_word(page: Page) -> None:
    code = """() => {
      const m = text.mapText("Ein e\u0301👋🏽 Wort");
      return [text.nextGrapheme(m, 4), text.nextGrapheme(m, 6), text.previousGrapheme(m, 8),
        text.previousGrapheme(m, 0),
        text.nextWord(m, 0), text.nextWord(m, 99), text.previousWord(m, 13), text.previousWord(m, 0),
        text.wordAt(m, 10), text.wordAt(m, 3), text.trim(m, 3, 4), text.trim(m, 0, 4)];
    }"""
    assert call(page, code) == [6, 8, 6, 0, 3, 13, 9, 0, [9, 13], [0, 3], [3, 4], [0, 3]]


# Marks...

NOTHING: dict[str, object] = {"rating": None, "spans": [], "missing": None, "removed": []}


def span(start: int, end: int, **more: object) -> dict[str, object]:
    return {
        "side": "translation",
        "start": start,
        "end": end,
        "text": "x" * (end - start),
        "severity": "minor",
        "category": None,
        "note": "",
        **more,
    }


def test_marks_are_added_once_in_the_order_of_the_text_and_may_overlap(page: Page) -> None:
    code = "(j, ...s) => s.reduce((all, one) => marks.addSpan(all, one), j)"
    source = span(0, 1, side="source")
    found = call(
        page, code, NOTHING, source, span(5, 9), span(5, 9), span(2, 7), span(5, 9, severity="major")
    )
    kept = [(s["id"], s["side"], s["start"], s["severity"]) for s in found["spans"]]
    assert kept == [
        ("c3", "translation", 2, "minor"),
        ("c2", "translation", 5, "minor"),
        ("c4", "translation", 5, "major"),
        ("c1", "source", 0, "minor"),
    ]
    assert call(page, code, NOTHING, span(3, 3)) == NOTHING


def test_a_given_mark_that_is_removed_stays_known(page: Page) -> None:
    judged = {**NOTHING, "spans": [span(0, 2, id="g0", given=0), span(3, 4, id="c1", given=None)]}
    found = call(page, "(j) => marks.removeSpan(marks.removeSpan(j, 'g0'), 'c1')", judged)
    assert found == {**NOTHING, "removed": [0]}


def test_a_given_mark_knows_whether_it_is_as_it_was(page: Page) -> None:
    code = """(judged, given) => [judged, marks.changeSpan(judged, 'g0', {end: 5})]
      .map(({spans}) => marks.isUnchanged(spans[0], given))"""
    judged = {**NOTHING, "spans": [span(0, 2, id="g0", given=0)]}
    assert call(page, code, judged, span(0, 2)) == [True, False]


def test_marks_at_a_place_come_narrowest_first_and_lie_in_lanes(page: Page) -> None:
    spans = [span(0, 9, id="a"), span(2, 4, id="b"), span(5, 6, id="c")]
    code = (
        "(s) => [marks.spansAt(s, 'translation', 3).map((x) => x.id), marks.layMarks(s).map((x) => x.lane)]"
    )
    assert call(page, code, spans) == [["b", "a"], [0, 1, 1]]


@pytest.mark.parametrize(
    ("shown", "boxed"),
    [
        ("Ring \u260e\ufe0e me", []),
        ("\u845b\U000e0100\u98fe\u533a", []),
        ("\u2229\ufe00", []),
        ("a\ufe0eb\U000e0100", [1, 3]),
        ("\u845b\U000e0100\U000e0101", [2]),
        ("\ufe0e", [0]),
        ("a\u200bb", [1]),
    ],
)
def test_a_variation_selector_is_boxed_only_where_nothing_has_variants(
    page: Page, shown: str, boxed: list[int]
) -> None:
    code = "(shown, invisible) => paint.invisibleOf(text.mapText(shown), invisible).map(({ point }) => point)"
    assert call(page, code, shown, {"ranges": RANGES, "names": {}}) == boxed


# Undo...


def test_undo_and_redo_walk_the_states_and_typing_is_one_step(page: Page) -> None:
    code = """() => {
      let h = new history.History('');
      const seen = [];
      h = h.advance('a').advance('ab', true).advance('b');
      for (const step of ['undo', 'undo', 'undo', 'redo', 'redo', 'redo']) {
        h = h[step]();
        seen.push(h.present);
      }
      return seen;
    }"""
    assert call(page, code) == ["ab", "", "", "ab", "b", "b"]


# Keys...


def key(name: str, **held: bool) -> dict[str, object]:
    return {"key": name, "ctrlKey": False, "metaKey": False, "altKey": False, "shiftKey": False, **held}


@pytest.mark.parametrize(
    ("press", "place", "action"),
    [
        (key("2"), "text", "severity"),
        (key("?", shiftKey=True), "task", "keys"),
        (key("Z", metaKey=True, shiftKey=True), "task", "redo"),
        (key("z", ctrlKey=True), "task", "undo"),
        (key("ArrowDown", altKey=True), "task", "next"),
        (key("Enter", ctrlKey=True), "task", "done"),
        (key("x"), "segment", None),
        (key("m", ctrlKey=True), "segment", None),
    ],
)
def test_a_press_has_a_meaning_at_a_place(
    page: Page, press: dict[str, object], place: str, action: str | None
) -> None:
    assert call(page, "(press, place) => keys.actionOf(press, place)", press, place) == action


@pytest.mark.parametrize(
    ("press", "move"),
    [
        (key("ArrowLeft"), ["grapheme", "left", False]),
        (key("ArrowRight", ctrlKey=True, shiftKey=True), ["word", "right", True]),
        (key("ArrowUp"), ["line", "up", False]),
        (key("ArrowDown", altKey=True), None),
        (key("End", shiftKey=True), ["text", "end", True]),
        (key("a"), None),
    ],
)
def test_a_press_moves_the_caret(page: Page, press: dict[str, object], move: list[object] | None) -> None:
    code = "(press) => { const m = keys.moveOf(press); return m && [m.by, m.to, m.extends]; }"
    assert call(page, code, press) == move


# Time...


def test_pauses_and_hidden_pages_are_idle_time(page: Page) -> None:
    code = """() => {
      const watch = new timing.Stopwatch(60, 100);
      watch.touch(105); // on no item yet
      watch.turnTo(1, 110); watch.touch(140); watch.touch(300);
      watch.show(false, 310); watch.show(true, 315);
      watch.turnTo(2, 320); watch.touch(321.5); watch.touch(320);
      return [watch.take(1), watch.take(1), watch.take(2)];
    }"""
    assert call(page, code) == [
        {"active": 45, "idle": 165},
        {"active": 0, "idle": 0},
        {"active": 1.5, "idle": 0},
    ]


# Numbers...


def test_a_share_is_0_or_100_only_where_it_is(page: Page) -> None:
    parts = [(0, 72), (4, 72), (71, 72), (719, 720), (1, 720), (72, 72)]
    shares = [call(page, "(part, all) => figures.share(part, all)", *two) for two in parts]
    assert shares == ["0 %", "6 %", "99 %", ">99 %", "<1 %", "100 %"]


# Differences...


@given(before=TEXT, after=TEXT)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_differences_hold_both_texts(page: Page, before: str, after: str) -> None:
    pieces = call(page, "(a, b) => diff.compareTexts(a, b)", before, after)
    assert "".join(p["text"] for p in pieces if p["kind"] != "added") == before
    assert "".join(p["text"] for p in pieces if p["kind"] != "removed") == after
    assert (before == after) == all(p["kind"] == "same" for p in pieces)


def test_differences_are_words(page: Page) -> None:
    pieces = call(page, "(a, b) => diff.compareTexts(a, b, 'en')", "the red cat", "the blue cat!")
    assert [(p["kind"], p["text"]) for p in pieces] == [
        ("same", "the "),
        ("removed", "red"),
        ("added", "blue"),
        ("same", " cat"),
        ("added", "!"),
    ]


def test_the_largest_texts_are_compared_within_a_second(page: Page) -> None:
    code = """() => {
      const [old, now] = ["a", "b"].map((c) => Array.from({ length: 2000 }, (_, n) => c + n).join(" "));
      const start = performance.now();
      const pieces = diff.compareTexts(old, now, "en");
      return [performance.now() - start, pieces.map(({ kind, text }) => [kind, text === old, text === now])];
    }"""
    milliseconds, pieces = call(page, code)
    assert pieces == [["removed", True, False], ["added", False, True]]
    assert milliseconds < 1_500


def test_the_page_its_key_map_and_the_docs_say_the_same(page: Page) -> None:
    rows = call(page, "() => keys.BINDINGS.map((b) => [b.place, b.shown, b.does])")
    where = {"text": "in a text", "segment": "in a segment", "task": "everywhere"}
    docs = (Path(__file__).parents[2] / "docs" / "annotate.md").read_text(encoding="utf-8")
    assert not [row for place, *row in rows if f"| {where[place]} | {row[0]} | {row[1]} |" not in docs]
