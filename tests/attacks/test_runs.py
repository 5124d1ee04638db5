"""A run over the attacks with a model that obeys them: its records, its numbers, its pages, its terminal."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import adjudge
from adjudge.checks.attacks import attack_flags
from adjudge.core.record import SUSPECT, Annotation, Failure, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.llm import embedded_rules
from adjudge.reports.tables import is_invisible
from adjudge.store.json_lines import read_test_set
from adjudge.store.run_directory import read_run
from tests.attacks.hostile import CLEAN, TEST_SET, Calm, Obedient
from tests.cli.calling import call

PACKAGE = Path(adjudge.__file__).parent


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run with the obedient model and one with the calm model."""
    folders = {}
    with pytest.MonkeyPatch.context() as patch:
        for name, made in (("obedient", Obedient), ("calm", Calm)):
            patch.setattr(embedded_rules, "RulesModel", made)
            folders[name] = tmp_path_factory.mktemp(name)
            adjudge.run("gemba-mqm", TEST_SET, out=folders[name], context=1)
    return folders


@pytest.fixture(scope="module")
def calm(runs: dict[str, Path]) -> Run:
    return read_run(runs["calm"])


def systems_of(record: Record) -> tuple[str, ...]:
    return (record.system,) if isinstance(record, Annotation) else record.systems


# Records and numbers...


def test_the_texts_stay_what_they_were(runs: dict[str, Path]) -> None:
    assert read_test_set(runs["calm"] / "test_set.jsonl").segments == TEST_SET.segments


def test_no_copied_verdict_becomes_a_record_without_its_flags(runs: dict[str, Path]) -> None:
    own = {(s.lp, s.segment) for s in TEST_SET if s.translations[CLEAN] != s.translations["attacked"]}
    records = [r for r in read_run(runs["obedient"]).records if (r.lp, r.segment) in own]
    records = [r for r in records if CLEAN not in systems_of(r)]
    copied = [r for r in records if isinstance(r, Annotation)]
    assert len(copied) >= 3
    assert len(records) - len(copied) > 100
    assert all("verdict_in_text" in r.flags for r in copied)


def test_a_record_says_what_was_found_and_where(calm: Run) -> None:
    segments = {(s.lp, s.segment): s for s in TEST_SET}
    before: Segment | None = None
    for record in calm.records:
        segment = segments[record.lp, record.segment]
        if isinstance(record, Failure):
            assert (record.reason, segment.has_translation(*record.systems)) == ("no_translation", False)
        else:
            assert isinstance(record, Annotation)
            is_first = before is None or before.document != segment.document
            around = [] if before is None or is_first else texts_of(before, record.system)
            expected = attack_flags(segment.source, [segment.translations[record.system]], around)
            assert record.flags == expected
        before = segment if record.systems == ("attacked",) else before
    assert sum(SUSPECT in record.flags for record in calm.records if not isinstance(record, Failure)) > 500


def texts_of(segment: Segment, system: str) -> list[str]:
    return [segment.source, segment.translations[system]]


def test_scores_are_given_with_and_without(runs: dict[str, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert call("score", runs["calm"], "--lp", "en-de", "--format", "json") == 0
    said = capsys.readouterr()
    suspects = json.loads(said.out)["suspects"]
    assert suspects["judgements"] > suspects["in_translation"] > 0
    assert set(suspects) == {"judgements", "in_translation", "segments", "systems"}
    assert f"judgements are flagged {SUSPECT}" in said.err
    assert call("rank", runs["calm"], "--lp", "en-de") == 3  # who finds no error anywhere is unfit
    assert f"judgements are flagged {SUSPECT}" in " ".join(capsys.readouterr().out.split())


# Terminals...


def commands(folder: Path) -> Iterator[list[str]]:
    ids = [s.segment for s in TEST_SET if "\x1b" in s.source + s.translations["attacked"] or "\0" in s.source]
    assert ids
    for segment in ids[:3]:
        yield ["trace", str(folder), "--segment", segment]
    for form in ("table", "markdown", "latex"):
        yield ["trace", str(folder), "--format", form]
        yield ["score", str(folder), "--level", "seg", "--format", form]


def test_a_terminal_is_sent_nothing_that_it_would_obey(
    runs: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in runs.values():
        for arguments in commands(folder):
            assert call(*arguments) == 0
            said = capsys.readouterr()
            assert not [c for c in said.out + said.err if is_invisible(c)]
            assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", said.out + said.err)


def test_names_are_data_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "evil\x1b]0;owned\x07\u202e"
    segment = Segment(segment=f"1{name}", lp="en-de", source="Hello.", translations={name: "Hallo."})
    adjudge.run("rules", TestSet(name="names", segments=(segment,)), out=tmp_path / "run")
    for arguments in (["score"], ["score", "--level", "seg"], ["rank"], ["trace"]):
        call(arguments[0], tmp_path / "run", *arguments[1:])
        said = capsys.readouterr()
        assert "evil[ESC]]0;owned[U+0007][RLO]" in said.out + said.err
        assert not [c for c in said.out + said.err if is_invisible(c)]
    assert call("score", tmp_path / "run", "--lp", "en-\x1bde") != 0
    assert "\x1b" not in capsys.readouterr().err


# Code...


def calls() -> Iterator[tuple[str, ast.Call]]:
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", node


TO_A_PROCESS_OF_OURS = "reports/html.py:"
"""Pickles figures, which are functions of ours and numbers, for the process that it has just started."""


def test_nothing_is_evaluated() -> None:
    names = [
        (place, ast.unparse(node.func))
        for place, node in calls()
        if not place.startswith(TO_A_PROCESS_OF_OURS)
    ]
    forbidden = re.compile(
        r"(?:^|\.)(?:eval|exec|__import__|literal_eval|system|popen)$|^compile$|pickle|^yaml\."
    )
    assert not [(place, name) for place, name in names if forbidden.search(name)]


def test_no_text_is_a_format() -> None:
    """Where judged texts pass through nothing is filled in by `format` or `Template`."""
    rooms = ("core/", "data/", "judges/", "llm/", "runs/")
    fillers = {"format", "format_map", "substitute", "safe_substitute"}
    found = [place for place, node in calls() if getattr(node.func, "attr", "") in fillers]
    assert not [place for place in found if place.startswith(rooms)]
