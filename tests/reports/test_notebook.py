"""A notebook shows runs, records and results as HTML that no text can break out of."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge import examples
from adjudge.analysis.meta_settings import MetaEvaluation, MetricResults
from adjudge.core.record import Annotation, ErrorSpan, Failure, Preference, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.reports.notebook import render, show
from adjudge.reports.segments import render_marked
from adjudge.reports.tables import Table
from adjudge.stats.judged import Result
from tests.analysis.records import preferred
from tests.reports.samples import failure, judge_all, make_run, preferences, small_test_set

EVIL = '<script>alert("1")</script>&\u202e\u200b\ud800'


class Texts(HTMLParser):
    """The words of a page, and its elements and attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words = ""
        self.tags: list[str] = []
        self.names: set[str] = set()
        self.marked: list[tuple[str, str]] = []
        self._titles: list[str | None] = []
        self.feed(page)
        self.close()
        assert self._titles == [], "every element is closed"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.names |= {name for name, _ in attrs}
        if tag != "br":
            self._titles.append(dict(attrs).get("title"))

    def handle_endtag(self, tag: str) -> None:
        self._titles.pop()

    def handle_data(self, data: str) -> None:
        self.words += data
        if self._titles and (title := self._titles[-1]):
            self.marked.append((data, title))


def _run() -> Run:
    """Three language pairs, in which the judgement of the first segment by Cedar failed."""
    test_set = small_test_set()
    records = judge_all(test_set)
    records[2] = failure(test_set.segments[0], "Cedar", detail=EVIL)
    return make_run(test_set, records)


def span(start: int | None, end: int | None, **more: Any) -> ErrorSpan:
    return ErrorSpan(**({"severity": "major", "start": start, "end": end} | more))


@pytest.mark.parametrize(
    ("spans", "marked"),
    [
        ([], []),
        ([span(0, 5)], [("Satz\U0001f600", "major")]),
        (
            [span(4, 5), span(6, 9, severity="minor", category="other")],
            [("\U0001f600", "major"), ("von", "minor: other")],
        ),
        (
            [span(0, 9), span(6, 13, severity="critical")],
            [("Satz\U0001f600 ", "major"), ("von", "major; critical"), (" mir", "critical")],
        ),
        ([span(5, 5, note="omitted")], [("\u2038", "major: omitted")]),
        ([span(6, 99)], [("von mir", "major")]),
        ([span(None, None, match="unplaced")], []),
    ],
)
def test_errors_are_underlined_where_they_are(spans: list[ErrorSpan], marked: list[tuple[str, str]]) -> None:
    page = Texts(render_marked("Satz\U0001f600 von mir"[:13], spans, "de"))
    assert [(words, title) for words, title in page.marked] == marked
    assert page.words.replace("\u2038", "") == "Satz\U0001f600 von mir"


def test_every_severity_has_a_line_of_its_own() -> None:
    lines = {
        re.findall('text-decoration:[^"]*', render_marked("a", [span(0, 1, severity=severity)]))[0]
        for severity in ("neutral", "minor", "major", "critical")
    }
    assert len({line.split("#")[0] for line in lines}) == 4, "told apart without colour"


def test_what_nobody_sees_is_named_and_a_joined_emoji_is_left_alone() -> None:
    page = Texts(render_marked("a\u200bb\u202ec \U0001f469\u200d\U0001f4bb\ud800", []))
    assert page.words == "aZWSPbRLOc \U0001f469\u200d\U0001f4bbU+D800"


def evil_records() -> list[Record]:
    place: Any = {"lp": "en-de", "segment": EVIL, "annotator": EVIL}
    marks = (
        span(0, 8, text=EVIL, note=EVIL),
        span(None, None, text=EVIL, match="unmatched", note=EVIL),
        span(1, 3, side="source", note=EVIL),
    )
    said: Any = {"rationale": EVIL, "flags": (EVIL,)}
    return [
        Annotation(**place, **said, system=EVIL, protocol="mqm", spans=marks),
        Preference(**place, **said, systems=(EVIL, "B"), criterion=EVIL, verdict="A"),
        Failure(**place, systems=(EVIL,), protocol="mqm", reason="parse", detail=EVIL, criterion=EVIL),
    ]


def evil_set() -> TestSet:
    texts = {EVIL: EVIL, "B": EVIL}
    return TestSet(name=EVIL, segments=(Segment(segment=EVIL, lp="en-de", source=EVIL, translations=texts),))


def evil_pages() -> list[str]:
    records = evil_records()
    table = Table(
        columns=[EVIL, f">{EVIL}"], rows=[[EVIL, EVIL]], title=EVIL, notes=[EVIL], best=frozenset({(0, 1)})
    )
    pages = [*map(render, records), render(table), show(records, evil_set())._repr_html_()]
    return [page for page in pages if page is not None]


def test_no_text_becomes_markup() -> None:
    pages = evil_pages()
    assert len(pages) == 5
    for page in pages:
        seen = Texts(page)
        assert not {"script", "a", "img", "style", "link"} & {*seen.tags}
        assert seen.names <= {"style", "title", "dir", "lang", "scope"}
        assert '<script>alert("1")</script>&' in seen.words
        assert not set("\u202e\u200b\ud800") & {*page}
        page.encode()


def test_a_run_shows_its_counts_scores_and_first_segments() -> None:
    run = _run()
    page = Texts(str(render(run)))
    assert "17 judged, 1 failed (refused 1)" in page.words
    assert "judge|model:openai/gpt-x|prompts:3fa19c" in page.words
    assert "failed: refused" in page.words
    shown = {(s.lp, s.segment): s.translations for s in run.test_set.segments[:5]}
    for record in run.records:
        if isinstance(record, Annotation) and (texts := shown.get((record.lp, record.segment))):
            for mark in record.spans:
                piece = texts[record.system][mark.start : mark.end].split()[-1]
                assert any(words.endswith(piece) and mark.note in title for words, title in page.marked)
    assert "1 more segment" in page.words


def test_records_are_shown_under_their_texts_by_choice() -> None:
    run = _run()
    first = next(iter(run.test_set))
    shown = show(run, segments=[first.segment], systems=["Birch"])
    assert repr(shown) == f"<1 records on 1 segments of {run.test_set.name!r}>"
    words = Texts(shown._repr_html_()).words
    assert first.source in words
    assert first.translations["Birch"] in words
    assert first.translations["Alder"] not in words
    with pytest.raises(UsageError, match="needs the test set"):
        show(run.records)
    with pytest.raises(UsageError, match="no judgement is about segment '99'"):
        show(run, segments=["99"])
    with pytest.raises(UsageError, match="no judgement is about system 'Nobody'"):
        show(run, systems=["Nobody"])


def test_all_that_was_said_of_a_pair_stands_beside_it_once() -> None:
    test_set = small_test_set(["en-de"])
    said = preferences(test_set)
    said += [replace(p, annotator="other", verdict="B", criterion="fluency") for p in said]
    words = Texts(show(said, test_set)._repr_html_()).words
    for segment in test_set:
        assert words.count(segment.translations["Alder"]) == 1
    assert "ranker faithfulness: equally good" in words
    assert "other fluency: B, Birch, is better" in words


def test_a_segment_with_very_many_pairs_is_cut_in_a_run_and_says_so() -> None:
    names = [f"system {number}" for number in range(8)]
    segment = Segment(segment="1", lp="en-de", source="a", translations=dict.fromkeys(names, "b"))
    test_set = TestSet(name="wide", segments=(segment,))
    pairs: list[Record] = [preferred(*pair, "A", "1", annotator="judge") for pair in combinations(names, 2)]
    run = make_run(test_set, pairs, protocol="pairwise")
    words = Texts(str(render(run))).words
    assert words.count(", is better") == 20
    assert "8 more: show(run, segments=[...]) shows all" in words
    assert Texts(show(run)._repr_html_()).words.count(", is better") == 28


PLACE: Any = {"test_set": EVIL, "lp": "en-de", "gold": EVIL, "excluded": {}, "reference": ""}
FOUND = MetaEvaluation(
    **PLACE,
    systems=("A", "B"),
    n_segments=9,
    n_all=9,
    measures=("seg_pearson",),
    metrics=(MetricResults(name=EVIL, results={"seg_pearson": Result(value=0.5, n=9)}),),
)


@pytest.fixture(scope="module")
def results() -> list[object]:
    """One of each type that is shown."""
    run, test_set = _run(), small_test_set(["en-de"])
    scores = adjudge.score(run, lp="en-de")
    return [
        run,
        *evil_records(),
        scores,
        test_set,
        adjudge.rank(scores),
        adjudge.compare(run, systems=["Alder", "Cedar"], lp="en-de", resamples=20),
        FOUND,
        adjudge.spans(run, run.records),
        adjudge.bias(preferences(test_set), resamples=20),
        Table(columns=["a"], rows=[]),
    ]


def test_every_type_shows_itself(results: list[Any]) -> None:
    for value in results:
        page = value._repr_html_()
        assert page
        assert page == render(value)
        Texts(page)


def test_what_is_not_ours_is_left_to_others() -> None:
    assert render(object()) is None
    assert render(3) is None


def test_ipython_itself_shows_them(results: list[Any]) -> None:
    core = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    shell = core.InteractiveShell.instance()
    for value in results:
        data, _ = shell.display_formatter.format(value)
        assert data["text/html"] == render(value)
        assert "text/plain" in data


PAGE = (Path(__file__).parents[2] / "docs" / "notebooks.md").read_text("utf-8")


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_the_notebook_of_the_page_runs_with_either_library(
    library: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files, notebook = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[:2]
    assert len(notebook.splitlines()) < 40
    monkeypatch.chdir(tmp_path)
    (tmp_path / "demo").symlink_to(examples.path("test_set.jsonl").parent)
    exec(files, {})  # noqa: S102 (the page's own)
    room: dict[str, Any] = {}
    exec(notebook.replace("polars", library), room)  # noqa: S102
    assert {path.name for path in tmp_path.iterdir()} >= {"table.tex", "ranking.pdf", "correlations.pdf"}
    gold = adjudge.score(examples.path("gold.mqm.jsonl"), lp="en-de")
    assert room["found"].n_segments == len({each.segment for each in gold.segments})
    assert {metric.name for metric in room["found"].metrics} == {"overlap", "esa"}
    assert r"\begin{tabular}" in (tmp_path / "table.tex").read_text()
    assert {row.system for row in room["ranking"].systems} == {"Alder", "Birch", "Cedar"}
