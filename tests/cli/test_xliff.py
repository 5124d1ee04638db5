"""XLIFF with judgements in it, where commands take what was judged."""

import json
from pathlib import Path

import pytest

from adjudge.formats.its import ITS
from adjudge.formats.xliff import write_xliff
from adjudge.store.json_lines import write_records
from tests.cli.calling import Asked
from tests.data.test_xliff import one, write
from tests.data.test_xliff_writer import judged, span

UNIT = "<trans-unit id='{}'><source>a</source><target>abc</target></trans-unit>"
TEXT = one("".join(map(UNIT.format, "123")))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = [judged(span(0, 1, "a"), segment="1"), judged(segment="2")]
    write_xliff("judged.xlf", records, write(tmp_path, TEXT))
    write_records("records.jsonl", records)


def test_scores_are_those_of_the_records_and_an_unjudged_translation_has_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = []
    for name in ("judged.xlf", "records.jsonl"):
        asked = Asked(capsys, "score", name, "--level", "seg", "--format", "json")
        assert asked.code == 0
        found.append(json.loads(asked.out))
    assert found[0] == found[1]
    assert [segment["segment"] for segment in found[0]["segments"]] == ["1", "2"]


def test_a_language_that_the_file_does_not_name_is_taken_from_lp(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = Path("judged.xlf").read_text().replace(' target-language="de"', "")
    Path("judged.xlf").write_text(text)
    assert Asked(capsys, "score", "judged.xlf").code == 2
    assert Asked(capsys, "score", "judged.xlf", "--lp", "en-de").code == 0


@pytest.mark.parametrize(
    "words", [["score"], ["rank"], ["report", "--out", "r.html"], ["compare", "judged.xlf"]]
)
def test_texts_alone_are_no_judgements(capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    asked = Asked(capsys, *words, "x.xlf")
    assert asked.code != 0
    assert "texts and no judgements" in asked.err


def test_what_was_odd_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = TEXT.replace("<target>", f'<target xmlns:its="{ITS}" its:locQualityIssueSeverity="50">', 1)
    Path("other.xlf").write_text(text)
    asked = Asked(capsys, "score", "other.xlf")
    assert asked.code == 0
    assert "other.xlf: 1 severities other than 0, 33, 67 and 100" in asked.err
    assert "1 judgements without an annotator" in asked.err
