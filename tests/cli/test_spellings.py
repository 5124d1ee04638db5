"""One file that is spelled in two ways is one file: what is odd in it is said once."""

from pathlib import Path

import pytest

from tests.cli.calling import Asked

HEADING = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
ODD = "12 segments whose docSegId is not their place in this file"


@pytest.fixture
def spellings(tmp_path: Path) -> tuple[Path, Path]:
    path = tmp_path / "gold.tsv"
    rows = [
        f"{system}\td:en-de\t{n}\t{n}\tr\tHello {n}\t<v>Hallo</v> {n}\tFluency/Grammar\tMinor\n"
        for n in range(12)
        for system in ("old", "new")
    ]
    path.write_text(HEADING + "".join(rows))
    (tmp_path / "sub").mkdir()
    return path, tmp_path / "sub" / ".." / "gold.tsv"


def test_compare_says_once_what_is_odd(
    spellings: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "compare", *spellings, "--systems", "old,new", "--format", "json")
    assert asked.code == 0
    assert asked.err.count(ODD) == 1
    assert [asked.json[side]["name"] for side in ("first", "second")] == ["old", "new"]


def test_gate_says_it_once_and_asks_for_both_systems(
    spellings: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    sides = ("gate", "--baseline", spellings[0], "--candidate", spellings[1], "--margin", 1)
    asked = Asked(capsys, *sides, "--systems", "old,new", "--format", "json")
    assert asked.err.count(ODD) == 1
    assert asked.json["n"] == 12
    assert "baseline and candidate are one: name both systems" in Asked(capsys, *sides).err
