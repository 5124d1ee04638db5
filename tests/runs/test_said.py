"""What a run says before it begins: what is odd, what is missing, and what changed since."""

import asyncio
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.blindness import why_unfit
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import UsageError
from adjudge.runs import units
from adjudge.runs.engines import run
from adjudge.runs.job import prepare
from adjudge.runs.run import execute
from adjudge.runs.units import load_annotator, plan_units
from adjudge.store.run_directory import read_run
from tests.cli.calling import Asked
from tests.faults.server import Fault, body, envelope, running
from tests.runs.conftest import Lengths, Rater, Scripted, small_set

XLIFF = """<?xml version="1.0"?>
<xliff version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2">
<file original="a" source-language="en" target-language="de" datatype="plaintext"><body>
<trans-unit id="u1"><source>Hello</source><target>Hallo</target></trans-unit>
</body></file></xliff>
"""


@pytest.mark.parametrize("name", ["comet", "COMET-22", "cometkiwi", "metricx-24", "bleurt"])
def test_a_neural_metric_leads_to_the_bridge(name: str) -> None:
    with pytest.raises(UsageError, match="adjudge run bridge --command"):
        load_annotator(name)


@pytest.mark.parametrize(
    ("texts", "note"),
    [
        (("", "a"), "1 of 4 translations is missing (1 of A) and judged by nobody"),
        ((" \n", "\u3000"), "2 of 4 translations are missing (1 of A, 1 of B) and judged by nobody"),
        (("a", "b"), None),
    ],
)
def test_missing_translations_are_counted(texts: tuple[str, str], note: str | None) -> None:
    segments = [
        Segment(segment=name, lp="en-de", source="s", translations=dict(zip("AB", of, strict=True)))
        for name, of in {"1": texts, "2": ("a", "b")}.items()
    ]
    plan = plan_units(TestSet(name="t", segments=tuple(segments)), with_reference=False)
    assert plan.notes == (() if note is None else (note,))


def test_a_test_set_that_changed_is_named_by_segment_and_text(tmp_path: Path, model: Scripted) -> None:
    old = small_set()
    run(Rater(), old, out=tmp_path / "run")
    first, second, *rest = old.segments
    cases = {
        "segment 2 (en-de '1') differs in its source": replace(second, source="other"),
        "segment 2 (en-de '1') differs in its translation by B": replace(
            second, translations={**second.translations, "B": "anders"}
        ),
        "segment 2 was en-de '1', now en-de 'x'": replace(second, segment="x"),
        "segment 2 (en-de '1') differs in its document, domain or notes": replace(second, domain="other"),
    }
    for said, changed in cases.items():
        with pytest.raises(UsageError) as refused:
            run(Rater(), TestSet(name=old.name, segments=(first, changed, *rest)), out=tmp_path / "run")
        assert said in str(refused.value)
    with pytest.raises(UsageError, match="the run has 6 segments, the test set 5 segments"):
        run(Rater(), small_set(5), out=tmp_path / "run")


def test_judges_of_other_packages_are_listed_even_if_they_are_broken(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import adjudge.core.judge

    entries = EntryPoints(
        [
            EntryPoint("rater", "tests.runs.conftest:Rater", "adjudge.judges"),
            EntryPoint("broken", "no_such_package:Judge", "adjudge.judges"),
        ]
    )
    for module in (adjudge.core.judge, units):
        monkeypatch.setattr(module, "entry_points", lambda group: entries.select(group=group))
    asked = Asked(capsys, "list", "judges", "--format", "json")
    rows = {row["judge"]: row for row in asked.json["judges"]}
    assert rows["rater"]["protocol"] == "da-sqm"
    assert "cannot be loaded" in rows["broken"]["what_it_does"]
    assert "gemba-mqm" in rows


def test_a_run_of_xliff_is_written_back_into_its_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    origin, out = tmp_path / "a.xlf", tmp_path / "run"
    origin.write_text(XLIFF)
    assert Asked(capsys, "run", "gemba-mqm", origin, "--out", out, "--model", "builtin/rules").code == 0
    done = Asked(capsys, "convert", out, tmp_path / "judged.xlf", "--to", "xliff")
    assert done.code == 0, done.err
    assert "Hallo" in (tmp_path / "judged.xlf").read_text()
    origin.unlink()
    lost = Asked(capsys, "convert", out, tmp_path / "again.xlf", "--to", "xliff")
    assert lost.code == 2
    assert "the file that was judged is not known" in lost.err


def test_nothing_is_sent_by_a_run_that_is_to_send_nothing(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"adjudge\.forecast"):
        run(Lengths(), small_set(1), out=tmp_path / "run", dry_run=True)


@pytest.mark.parametrize(
    ("fingerprints", "is_said"), [(("fp_a",), False), (("fp_a", "fp_b"), True), (("",), False)]
)
def test_fingerprints_of_the_server_are_kept_and_a_change_is_said(
    tmp_path: Path, fingerprints: tuple[str, ...], is_said: bool
) -> None:
    def play(number: int) -> Fault:
        about = {"system_fingerprint": fingerprints[number * 2 // 12 % len(fingerprints)]}
        return body(envelope('{"rating": 87}') | about)

    with running() as server:
        server.play = play
        options: Any = {"base_url": server.url, "model": "mock"}
        test_set = small_set(12)
        run("gemba-da", test_set, out=tmp_path / "run", **options)
        asked = len(server.log)
        outcome = asyncio.run(execute(prepare("gemba-da", test_set, out=tmp_path / "run", **options)))
        assert len(server.log) == asked
    assert any("2 fingerprints of itself (fp_a, fp_b)" in note for note in outcome.notes) == is_said
    served = ",".join(f"#{name}" for name in fingerprints if name)
    assert outcome.info.signature.fields.get("served", "") == served
    assert not any("more than one model" in reason for reason in why_unfit(read_run(tmp_path / "run"))[0])
