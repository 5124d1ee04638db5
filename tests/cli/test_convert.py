"""`adjudge convert` as a user calls it."""

import json
from pathlib import Path

import pytest

from adjudge.cli.main import main

ROW = "A\td\t1\t1\tr1\tHello\t<v>Hal</v>lo\tAccuracy/Vibes\tMajor"
MQM = f"system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n{ROW}\n"


class Converted:
    """What the command printed and how it ended."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: object) -> None:
        with pytest.raises(SystemExit) as left:
            main(["convert", *map(str, arguments)])
        self.code = left.value.code or 0
        self.out, self.err = capsys.readouterr()


def test_two_text_files_become_a_test_set_on_standard_output(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "src.txt").write_text("Hello\n")
    (tmp_path / "sys.txt").write_bytes(b"Hallo\r\n")
    done = Converted(
        capfd, "-s", tmp_path / "src.txt", "-t", tmp_path / "sys.txt", "--lp", "eng-deu", "--to", "jsonl", "-"
    )
    assert done.code == 0
    assert json.loads(done.out)["translations"] == {"sys": "Hallo"}
    assert "Windows line ends" in done.err
    assert "Traceback" not in done.err


def test_what_was_odd_and_what_got_lost_is_said_with_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mqm.tsv").write_text(MQM)
    done = Converted(capsys, tmp_path / "mqm.tsv", tmp_path / "r.jsonl", "--to", "records", "--lp", "en-de")
    assert done.code == 0
    assert done.err.splitlines() == [
        f"adjudge: {tmp_path}/mqm.tsv: 1 categories that no year has, kept as label",
        f"adjudge: not in {tmp_path}/r.jsonl: 1 texts",
    ]
    assert json.loads((tmp_path / "r.jsonl").read_text())["spans"][0]["label"] == "Accuracy/Vibes"


def test_records_find_their_texts_in_another_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mqm.tsv").write_text(MQM)
    for given, out, form, more in (
        ("mqm.tsv", "r.jsonl", "records", ["--lp", "en-de"]),
        ("mqm.tsv", "set.jsonl", "jsonl", ["--lp", "en-de"]),
        ("r.jsonl", "en-de.r1.seg.rating", "mtme-ratings", ["--test-set", str(tmp_path / "set.jsonl")]),
    ):
        assert Converted(capsys, tmp_path / given, tmp_path / out, "--to", form, *more).code == 0
    rating = (tmp_path / "en-de.r1.seg.rating").read_text()
    assert rating.startswith('A\t{"errors": [{"start": 0, "end": 3, "category": "Accuracy/Vibes"')
    assert rating.endswith("}\n")


def test_only_one_annotator_may_be_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mqm.tsv").write_text(MQM + ROW.replace("r1", "r2") + "\n")
    shared = [tmp_path / "mqm.tsv", tmp_path / "r.jsonl", "--to", "records", "--lp", "en-de"]
    assert Converted(capsys, *shared, "--annotator", "r2").code == 0
    assert '"annotator":"r2"' in (tmp_path / "r.jsonl").read_text()
    assert len((tmp_path / "r.jsonl").read_text().splitlines()) == 1
    wrong = Converted(capsys, *shared, "--annotator", "r3", "--force")
    assert (wrong.code, "annotators are r1, r2" in wrong.err) == (2, True)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["mqm.tsv"], 2, "convert takes IN and OUT, got 1 paths"),
        (["mqm.tsv", "old.jsonl"], 2, "exists: --force replaces it"),
        (["mqm.tsv", "new", "--to", "tei"], 2, "no format 'tei'; there are jsonl"),
        (["mqm.tsv", "new", "--from", "tei"], 2, "no format 'tei'"),
        (["mqm.tsv", "-", "--to", "mtme"], 2, "mtme is a folder, and cannot go to standard output"),
        (["nowhere", "new"], 2, "no file, folder or public test set"),
        (["mqm.tsv", "new", "--from", "jsonl"], 1, "not JSON"),
    ],
)
def test_a_wrong_call_ends_with_one_line_and_its_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    (tmp_path / "mqm.tsv").write_text(MQM)
    (tmp_path / "old.jsonl").touch()
    paths = [tmp_path / a if "." in a or a in {"new", "nowhere"} else a for a in arguments]
    to = [] if "--to" in arguments else ["--to", "jsonl"]
    done = Converted(capsys, *paths, *to, "--lp", "en-de")
    assert done.code == code
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_the_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["list", "formats", "--format", "json"])
    names = [row["format"] for row in json.loads(capsys.readouterr().out)["formats"]]
    assert {"jsonl", "mtme", "mqm-tsv", "mtme-ratings"} <= set(names)


def test_the_public_test_sets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["list", "test-sets", "--format", "json"])
    assert "wmt23" in capsys.readouterr().out
