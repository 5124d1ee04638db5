"""A test set in which any translations are missing goes through every verb, every page and every format."""

import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import adjudge
from adjudge.analysis.rank import Method
from adjudge.analysis.segment_scores import document_scores
from adjudge.core.record import Failure, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import GATE_NO, AdjudgeError, DataError, DataWarning, UsageError
from adjudge.formats.convert import write_content
from adjudge.formats.file_content import Content
from adjudge.formats.read import load
from adjudge.formats.registry import FORMATS, Format
from adjudge.reports.notebook_html import render_run
from adjudge.reports.page import make_page
from adjudge.reports.result_tables import (
    document_table,
    ranking_table,
    render_junit,
    segment_table,
    system_table,
)
from adjudge.web.viewer import create_viewer
from tests.analysis.records import failed, mqm, rated
from tests.cli.calling import call

SYSTEMS = ("A", "B", "C")
HOLES = (None, "", " \u3000")
"""Ways to have no translation: none at all, and blank ones."""
JUDGES = ("rules", "gemba-mqm", "gemba-da", "direct-rank", "chrf")

there = st.sampled_from(["Der Zug fährt um 9.", "Der Zug ist 8."])
maybe = st.one_of(there, st.sampled_from(HOLES))


def a_set(texts: list[list[str | None]], source: str = "The train leaves at 9.") -> TestSet:
    segments = [
        Segment(
            segment=str(number),
            lp="en-de",
            document=f"d{number // 2}",
            domain="news",
            source=source,
            translations={s: text for s, text in zip(SYSTEMS, row, strict=True) if text is not None},
            references={"R": "Der Zug fährt um 9 Uhr."},
        )
        for number, row in enumerate(texts)
    ]
    return TestSet(name="t", segments=tuple(segments))


def holes_of(test_set: TestSet, system: str) -> int:
    return sum(not segment.has_translation(system) for segment in test_set)


@pytest.mark.parametrize("judge", JUDGES)
@given(texts=st.lists(st.tuples(maybe, maybe, maybe).map(list), min_size=1, max_size=4))
@settings(max_examples=12, deadline=None)
def test_every_verb_and_page_takes_any_holes(judge: str, texts: list[list[str | None]]) -> None:
    test_set = a_set(texts)
    pairwise = judge == "direct-rank"
    with tempfile.TemporaryDirectory() as folder:
        if len(test_set.systems) < (2 if pairwise else 1):
            with pytest.raises(UsageError, match=r"no translation to judge|a comparison needs two systems"):
                adjudge.run(judge, test_set, out=f"{folder}/run")
            return
        run = adjudge.run(judge, test_set, out=f"{folder}/run")
        known = [s for s in SYSTEMS if s in test_set.systems]
        lost = [r for r in run.records if isinstance(r, Failure)]
        assert {r.reason for r in lost} <= {"no_translation"}
        holes = {s: holes_of(test_set, s) for s in known}
        if not pairwise:
            assert {s: sum(s in r.systems for r in lost) for s in known} == holes
        assert run.info.failed == 0
        look_at(run)
        if pairwise and len(lost) == len(run.records):
            return
        scores = adjudge.score(run)
        for row in scores.systems:
            assert row.failed == 0
            assert pairwise or (row.n, row.untranslated) == (
                len(test_set) - holes[row.system],
                holes[row.system],
            )
        assert ("untranslated" in scores.signature.fields) == bool(lost)
        assert scores.signature.fields["failed"].startswith("0/")
        assert all(document.failed == 0 for document in document_scores(scores.segments))
        for table in (system_table, document_table, segment_table):
            shown = table(scores, exact=False)
            assert ("not translated" in str(shown)) == any(row.untranslated for row in scores.systems)
        rank_and_compare(run, test_set, judged={row.system for row in scores.systems if row.n})


def look_at(run: Run) -> None:
    """Open every page of a run."""
    create_viewer(make_page([run]), talks={})
    assert "not translated" in render_run(run) or not run.info.untranslated


def rank_and_compare(run: Run, test_set: TestSet, judged: set[str]) -> None:
    """Rank and compare: means on segments that all who were judged translated, pairs wherever both did."""
    if not judged:
        assert "nothing to rank" in adjudge.rank(run).method
        return
    common = [s for s in test_set if all(map(s.has_translation, judged))]
    compared = {
        a: sum(s.has_translation(a) and s.has_translation(b) for s in test_set for b in judged - {a})
        for a in judged
    }
    methods: tuple[Method, ...] = (
        ("copeland", "bradley-terry")
        if run.info.protocol == "pairwise"
        else ("mean", "item-mean", "copeland")
    )
    for method in methods:
        if (not common and method != "copeland") or (len(judged) < 2 and method == "copeland"):
            with suppress(DataError):  # nothing to rank on
                adjudge.rank(run, method=method, resamples=50)
            continue
        ranking = adjudge.rank(run, method=method, resamples=50)
        ranking_table(ranking, exact=False)
        most = dict.fromkeys(judged, len(common)) if "mean" in method else compared
        assert all(row.n <= most.get(row.system, 0) for row in ranking.systems)
        if method == "mean":
            assert {row.n for row in ranking.systems if row.score is not None} == {len(common)}
    pairs = [] if run.info.protocol == "pairwise" else list(product(judged, judged))
    for one, other in pairs:
        both = sum(s.has_translation(one) and s.has_translation(other) for s in test_set)
        if one == other or both < 2:
            continue
        assert adjudge.compare(run, systems=f"{one},{other}", resamples=50).whole.n == both
        told = adjudge.gate(run, systems=f"{one},{other}", margin=1, by_document=False)
        left_out = holes_of(test_set, other) > holes_of(test_set, one)
        assert bool(told.left_out) == left_out
        assert told.verdict == "do-not-ship" or not left_out
        assert told.missing == 0


XLIFF = """<?xml version="1.0" encoding="UTF-8"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en" target-language="de" datatype="plaintext"><body>
<trans-unit id="1"><source>It is 5.</source><target>Es ist 5.</target></trans-unit>
<trans-unit id="2"><source>It is 6.</source>%s</trans-unit>
</body></file></xliff>
"""
PO = """msgid ""
msgstr ""
"Language: de\\n"

msgid "It is 5."
msgstr "Es ist 5."

msgid "It is 6."
msgstr ""
"""
FILES = {
    "empty target": {"a.xlf": XLIFF % "<target/>"},
    "no target": {"a.xlf": XLIFF % ""},
    "msgstr": {"a.po": PO},
    "cell": {"a.csv": "id,source,target\n1,It is 5.,Es ist 5.\n2,It is 6.,\n"},
    "blank cell": {"a.tsv": "id\tsource\ttarget\n1\tIt is 5.\tEs ist 5.\n2\tIt is 6.\t \n"},
    "line": {"s.txt": "It is 5.\nIt is 6.\n", "target.txt": "Es ist 5.\n\n"},
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.filterwarnings("ignore::adjudge.errors.DataWarning")
def test_a_file_with_a_hole_is_judged_and_shown(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, text in FILES[case].items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in FILES[case]]
    given = ["-s", paths[0], "-t", paths[1]] if len(paths) > 1 else paths
    run, page = tmp_path / "run", tmp_path / "report.html"
    assert call("run", "rules", *given, "--lp", "en-de", "--out", str(run)) == 0
    told = capsys.readouterr().err
    assert "1 of 2 translations is missing (1 of target) and judged by nobody" in told
    assert "1 judged, 1 not translated, 0 failed" in told
    assert "first no_translation" not in told
    for verb in ("score", "rank"):
        assert call(verb, str(run)) == 0
        assert "not translated" in capsys.readouterr().out
    assert call("report", str(run), "--out", str(page)) == 0
    text = page.read_text()
    assert "1 translation is missing." in " ".join(re.sub("<[^>]*>", "", text).split())
    assert '"failed":"no_translation"' in text


NOTHING = {
    "empty.xlf": (XLIFF % "<target/>").replace("Es ist 5.", ""),
    "absent.xlf": (XLIFF % "").replace("<target>Es ist 5.</target>", ""),
    "a.po": PO.replace("Es ist 5.", ""),
    "a.csv": "id,source,target\n1,It is 5.,\n2,It is 6.,\n",
    "reference.csv": "id,source,target,reference\n1,It is 5.,,Um 5.\n2,It is 6.,,Um 6.\n",
    "a.jsonl": '{"segment": "1", "lp": "en-de", "source": "It is 5.", "translations": {"target": ""}}\n'
    '{"segment": "2", "lp": "en-de", "source": "It is 6.", "translations": {"target": ""}}\n',
}


@pytest.mark.parametrize(
    ("judge", "name"), [*(("rules", name) for name in NOTHING), ("chrf", "reference.csv")]
)
@pytest.mark.filterwarnings("ignore::adjudge.errors.DataWarning")
def test_a_test_set_in_which_nothing_is_translated_is_judged_by_nobody(
    judge: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(NOTHING[name])
    run = tmp_path / "run"
    assert call("run", judge, str(tmp_path / name), "--lp", "en-de", "--out", str(run)) == 0
    told = capsys.readouterr().err
    assert "nothing is translated, and nothing is judged" in told
    assert "0 judged, 2 not translated, 0 failed" in told
    assert call("rank", str(run)) == 0
    assert "nothing to rank" in capsys.readouterr().out


BLANK = {  # the second pair of each is blank on both sides
    "a.xlf": (XLIFF % "<target/>").replace("It is 6.", ""),
    "new.xlf": (XLIFF % '<target state="new"> </target>').replace("It is 6.", "\u3000"),
    "a.po": PO.replace("It is 6.", " "),
    "a.csv": "id,source,target\n1,It is 5.,Es ist 5.\n2,,\n",
    "short.csv": "id,source,target\n1,It is 5.,Es ist 5.\n2\n",
    "a.tsv": "id\tsource\ttarget\n1\tIt is 5.\tEs ist 5.\n2\t \t\n",
    "a.jsonl": '{"segment": "1", "lp": "en-de", "source": "It is 5.", "translations": {"target": "Um 5."}}\n'
    '{"segment": "2", "lp": "en-de", "source": "", "translations": {"target": ""}}\n',
}


@pytest.mark.parametrize("name", BLANK)
def test_a_blank_text_of_a_blank_source_is_a_translation_in_every_format(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(BLANK[name])
    test_set = load(tmp_path / name, lp="en-de")
    assert [segment.has_translation("target") for segment in test_set] == [True, True]


def test_a_target_that_is_not_there_is_no_translation_of_a_blank_source(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text((XLIFF % "").replace("It is 6.", ""))
    assert [segment.has_translation("target") for segment in load(tmp_path / "a.xlf")] == [True, False]


def test_whoever_leaves_hard_segments_out_does_not_win_and_is_not_shipped() -> None:
    records: list[Record] = []
    for number in range(12):
        is_hard = number < 4
        records += [
            rated("A", str(number), 40 if is_hard else 90),
            rated("B", str(number), 40 if is_hard else 88),
            failed("C", segment=str(number), reason="no_translation")
            if is_hard
            else rated("C", str(number), 89),
        ]
    last = adjudge.score(records).systems[2]
    assert (last.score, last.n, last.untranslated) == (89, 8, 4)
    methods: tuple[Method, ...] = ("mean", "item-mean", "copeland")
    for method in methods:
        found = adjudge.rank(records, method=method, resamples=50)
        assert [row.system for row in found.systems] == ["A", "C", "B"]
        told = "4 of 12 segments are not" if "mean" in method else "28 comparisons count, 8 to 12 of each two"
        assert any(told in note for note in found.notes), found.notes
        assert found.systems[1].untranslated == 4
    gate = adjudge.gate(records, systems="B,C", margin=5)
    assert (gate.verdict, gate.missing, gate.asked) == ("do-not-ship", 0, 8)
    assert gate.reasons[0] == (
        "Segments that are not translated: candidate 4, baseline 0, allowed 0 (--more-untranslated)."
    )
    assert '"not translated"' in render_junit(gate)
    assert adjudge.gate(records, systems="C,B", margin=5, more_untranslated=0).left_out == ""
    assert adjudge.gate(records, systems="B,C", margin=5, more_untranslated=4).left_out == ""


def test_a_candidate_that_translated_nothing_is_not_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records: list[Record] = []
    for number in range(12):
        records += [rated("A", str(number), 90), failed("B", segment=str(number), reason="no_translation")]
    path, junit, summary = tmp_path / "a.jsonl", tmp_path / "junit.xml", tmp_path / "summary.md"
    write_content(path, "records", Content(records=records))
    told = "Segments that are not translated: candidate 12, baseline 0, allowed 0 (--more-untranslated)."
    for form in ("table", "json"):
        given = ["--baseline", str(path), "--margin", "1", "--junit", str(junit), "--summary", str(summary)]
        assert call("gate", *given, "--systems", "A,B", "--format", form) == GATE_NO
        assert told in " ".join("".join(capsys.readouterr()).split())
    assert all(told in file.read_text() for file in (junit, summary))
    with pytest.raises(DataError, match="no segment is judged in both: 12 segments are not translated"):
        adjudge.gate(path, systems="B,A", margin=1)


def test_a_comparison_tells_of_holes_of_its_two_systems_alone() -> None:
    records: list[Record] = []
    for number in range(12):
        records += [rated("A", str(number), 90), rated("B", str(number), 80)]
        records.append(failed("C", segment=str(number), reason="no_translation"))
    records[1] = failed("B", segment="0", reason="no_translation")
    notes = adjudge.compare(records, systems="A,B", resamples=50).notes
    assert [note.partition(";")[0] for note in notes if "missing" in note] == [
        "1 translation is missing (1 of B)"
    ]


@pytest.mark.parametrize("method", ["mean", "item-mean"])
def test_a_ranking_names_the_system_that_costs_the_others_most_segments(method: Method) -> None:
    records: list[Record] = []
    for number in range(12):
        records += [rated("A", str(number), 90), rated("B", str(number), 80 + number % 3)]
        records += [
            rated("C", str(number), 85)
            if number < 3
            else failed("C", segment=str(number), reason="no_translation")
        ]
    found = adjudge.rank(records, method=method, resamples=50)
    assert "Without C the others have 12 segments in common, and 3 with it." in found.notes
    others = [record for record in records if "C" not in record.systems]
    assert not any("Without" in note for note in adjudge.rank(others, method=method, resamples=50).notes)


def test_a_warning_points_at_the_line_of_the_user(tmp_path: Path) -> None:
    path, out, scores = tmp_path / "a.csv", tmp_path / "run", [tmp_path / "A.scores", tmp_path / "B.scores"]
    path.write_text(FILES["cell"]["a.csv"])
    for file in scores:
        file.write_text("1\n2\nNone\n")
    verbs: tuple[Callable[[], object], ...] = (
        lambda: adjudge.load(path, lp="en-de"),
        lambda: adjudge.run("rules", path, lp="en-de", out=out),
        lambda: adjudge.rank(scores, lp="en-de"),
    )
    for verb in verbs:
        with pytest.warns(DataWarning) as caught:
            verb()
        assert {warning.filename for warning in caught} == {__file__}


def test_an_xliff_that_was_judged_still_has_its_holes(tmp_path: Path) -> None:
    (tmp_path / "a.xlf").write_text(XLIFF % "<target/>")
    run, judged = tmp_path / "run", tmp_path / "judged.xlf"
    assert call("run", "rules", str(tmp_path / "a.xlf"), "--out", str(run)) == 0
    assert call("convert", str(run), str(judged), "--to", "xliff", "--test-set", str(tmp_path / "a.xlf")) == 0
    for source in (run, judged):
        (row,) = adjudge.score(source).systems
        assert (row.n, row.failed, row.untranslated) == (1, 0, 1)


@pytest.mark.parametrize("judge", ["direct-rank", "fire"])
@pytest.mark.parametrize("others", [("B",), ("B", "C")])
def test_of_a_pair_the_system_without_a_translation_alone_left_it_out(
    judge: str, others: tuple[str, ...], tmp_path: Path
) -> None:
    rows: list[list[str | None]] = [
        [None if n % 3 == 0 else "Um 9.", "Der Zug 8.", "Der Zug 9."] for n in range(12)
    ]
    test_set = a_set(rows).select(systems=["A", *others])
    run = adjudge.run(judge, test_set, out=tmp_path / "run")
    scores = adjudge.score(run)
    assert {row.system: (row.untranslated, row.failed) for row in scores.systems} == {
        "A": (4, 0),
        **dict.fromkeys(others, (0, 0)),
    }
    assert any("4 translations are missing (4 of A)" in note for note in scores.notes)
    found = adjudge.gate(run, systems="B,A", margin=1)
    assert (found.verdict, found.candidate.untranslated, found.baseline.untranslated) == ("do-not-ship", 4, 0)
    assert adjudge.gate(run, systems="A,B", margin=1).left_out == ""


@pytest.mark.parametrize(("allowed", "verdict"), [(None, "open"), (1, "open"), (0, "fail")])
def test_a_scorecard_with_a_hole_never_passes(tmp_path: Path, allowed: int | None, verdict: str) -> None:
    more = "" if allowed is None else f"untranslated = {allowed}\n"
    (tmp_path / "card.toml").write_text(f"[points]\nmajor = 5\nminor = 1\n[passing]\npoints = 1000\n{more}")
    test_set = a_set([["x", "y", "z"], [None, "y", "z"]])
    records: list[Record] = [mqm("A", "0"), failed("A", segment="1", protocol="mqm", reason="no_translation")]
    scores = adjudge.score(records, weights=str(tmp_path / "card.toml"), test_set=test_set)
    card = scores.systems[0].card
    assert card is not None
    assert (card.verdict, card.unjudged, card.untranslated, card.words) == (verdict, 1, 1, 5)


WRITTEN = [form for form in FORMATS if form.writes and not form.is_marked_up]


@pytest.mark.parametrize("form", WRITTEN, ids=lambda form: form.name)
@given(
    texts=st.lists(st.tuples(maybe, there, there).map(list), min_size=1, max_size=3),
    source=st.sampled_from(["The train leaves at 9.", ""]),
)
@settings(max_examples=8, deadline=None)
@pytest.mark.filterwarnings("ignore::adjudge.errors.DataWarning")
def test_every_format_takes_any_holes(form: Format, texts: list[list[str | None]], source: str) -> None:
    test_set = a_set(texts, source)
    records: list[Record] = [
        rated(s, segment.segment, number)
        if segment.has_translation(s)
        else failed(s, segment=segment.segment, reason="no_translation")
        for number, segment in enumerate(test_set)
        for s in ("A", "B", "C")
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("out" if form.files else "out.jsonl")
        whole = a_set([["x", "y", "z"]])
        try:
            write_content(path, form.name, Content(test_set=whole, records=[rated("A", "0", 1)]))
        except AdjudgeError:  # it holds other things: who judged when, a shared task's own ids
            return
        write_content(path, form.name, Content(test_set=test_set, records=records), force=True)
        if form.has_records:
            return
        back = load(path, lp="en-de")
        is_lost = form.name in {"text", "ment"} and not source and "A" in test_set.systems
        assert [s.has_translation("A") for s in back] == [s.has_translation("A") or is_lost for s in test_set]
