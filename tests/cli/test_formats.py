"""XLIFF with judgements in it, where commands take what was judged."""

import json
from pathlib import Path

import pytest

import adjudge
from adjudge.cli.main import main
from adjudge.core.record import Record
from adjudge.formats.its import ITS
from adjudge.formats.wmt import MARKS, TEXTS
from adjudge.formats.xliff import write_xliff
from adjudge.store.json_lines import write_records
from tests.analysis.folders import write_folder
from tests.analysis.records import error, failed, mqm
from tests.cli.calling import Asked
from tests.formats.test_xliff import judged, one, span
from tests.formats.test_xliff import write as write_texts

# `adjudge convert` as a user calls it.


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
        (["mqm.tsv", "new", "--to", "tei"], 2, "no format 'tei'; there are run"),
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


# `adjudge score --score-files`: scores as the files that mt-metrics-eval and metrics tasks read.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "set")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """A judge that marks errors: B on all four segments, A on the first, where another one failed."""
    found: list[Record] = [
        mqm("B", "1", error("minor")),
        mqm("B", "2", error("major")),
        mqm("B", "3"),
        mqm("B", "4", error("minor")),
        mqm("A", "1", error("major")),
        failed("A", segment="2", protocol="mqm"),
    ]
    path = tmp_path / "records.jsonl"
    write_records(path, found)
    return path


def test_a_judge_that_marks_errors_becomes_score_files_in_the_order_of_the_test_set(
    folder: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    assert asked.code == 0, asked.err
    written = folder / "metric-scores/en-de/ann-src"
    assert str(written) in asked.err
    texts = {level: Path(f"{written}.{level}.score").read_text() for level in ("seg", "sys", "doc", "domain")}
    a, b = "A\t-5.0\nA\tNone\nA\tNone\nA\tNone\n", "B\t-1.0\nB\t-5.0\nB\t0.0\nB\t-1.0\n"
    assert texts["seg"] == a + b
    assert texts["sys"] == "A\t-5.0\nB\t-1.75\n"
    assert texts["doc"] == "A\t-5.0\nA\tNone\nB\t-3.0\nB\t-0.5\n"
    assert texts["domain"] == "news\tA\t-5.0\nnews\tB\t-3.0\nchat\tA\tNone\nchat\tB\t-0.5\n"


def test_what_was_written_is_a_metric_of_the_folder(
    folder: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alone = Asked(capsys, "meta", folder, "--scores", f"ann-src={records}", "--format", "json").json
    Asked(capsys, "score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    inside = Asked(capsys, "meta", folder, "--format", "json").json
    of_run, of_file = (found["metrics"]["ann-src"] for found in (alone, inside))
    assert of_file["seg_pearson"] == of_run["seg_pearson"]
    assert of_file["n"] == of_run["n"]


def test_a_metric_is_named_by_the_reference_it_was_shown_and_keeps_its_corpus_score(
    tmp_path: Path, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = adjudge.run("bleu", adjudge.load(folder), out=tmp_path / "bleu")
    asked = Asked(capsys, "score", tmp_path / "bleu", "--score-files", tmp_path / "files")
    assert asked.code == 0, asked.err
    lines = (tmp_path / "files/en-de/bleu-refA.sys.score").read_text().splitlines()
    wanted = {s.system: s.score for s in adjudge.score(run).systems}
    assert {name: float(value) for name, value in (line.split("\t") for line in lines)} == wanted


def test_files_that_are_there_are_kept(
    folder: Path, records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    there = folder / "metric-scores/en-de/ann-src.sys.score"
    there.write_text("A\t1\n")
    asked = Asked(capsys, "score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    assert asked.code == 2
    assert f"{there} is there already" in asked.err
    assert there.read_text() == "A\t1\n"
    assert not there.with_name("ann-src.seg.score").exists()


@pytest.mark.parametrize(
    ("texts", "message"),
    [(None, "has no texts: add --test-set"), ("other.jsonl", "the test set has no segment '2' of en-de")],
)
def test_lines_without_texts_cannot_be_placed(
    tmp_path: Path, records: Path, capsys: pytest.CaptureFixture[str], texts: str | None, message: str
) -> None:
    (tmp_path / "other.jsonl").write_text('{"segment": "1", "lp": "en-de", "source": "x"}\n')
    more = [] if texts is None else ["--test-set", tmp_path / texts]
    asked = Asked(capsys, "score", records, *more, "--score-files", tmp_path / "files")
    assert asked.code in {1, 2}
    assert message in asked.err
    assert not (tmp_path / "files").exists()


# A table of WMT25 as commands take it: texts, gold, and what is handed in.


GOLD = (("0", "4", "major"), ("-1", "-1", "no-error"), ("0 missing", "2 missing", "minor major"))
FOUND = (("0", "2", "major"), ("-1", "-1", "no-error"), ("0", "2", "minor"))


@pytest.fixture
def wmt25_folder(tmp_path: Path) -> Path:
    for name, marks in (("gold", GOLD), ("found", FOUND)):
        write(tmp_path / f"{name}.tsv", marks)
    write(tmp_path / "texts.tsv", ((),) * 3)
    return tmp_path


def write(path: Path, marks: tuple[tuple[str, ...], ...]) -> None:
    heading = [*TEXTS, *MARKS][: len(TEXTS) + len(marks[0])]
    rows = [
        ["d", str(n), "en", "de", "official", system, f"Text {n}", f"Satz {n}", "NaN", "news", "ESA", *own]
        for system in "AB"
        for n, own in enumerate(marks)
    ]
    path.write_text("".join("\t".join(row) + "\n" for row in [heading, *rows]))


def test_predictions_are_measured_by_gold_as_the_task_did(
    wmt25_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(
        capsys, "spans", wmt25_folder / "found.tsv", "--gold", wmt25_folder / "gold.tsv", "--rule", "w25",
        "--format", "csv",
    )  # fmt: skip
    (row,) = asked.rows
    assert [float(row["precision"]), float(row["recall"])] == pytest.approx([1, 4 / 6])


def test_its_gold_is_that_of_a_meta_evaluation(
    wmt25_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = (
        "--scores",
        f"found={wmt25_folder / 'found.tsv'}",
        "--measures",
        "seg_pearson",
        "--format",
        "json",
    )
    assert Asked(capsys, "meta", wmt25_folder / "gold.tsv", *scores).json["gold"] == "gold"
    asked = Asked(capsys, "meta", wmt25_folder / "texts.tsv", *scores)
    assert (asked.code, "holds texts and no judgements" in asked.err) == (1, True)


def test_what_was_marked_goes_back_into_such_a_table(
    wmt25_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records, back = wmt25_folder / "r.jsonl", wmt25_folder / "back.tsv"
    assert Asked(capsys, "convert", wmt25_folder / "found.tsv", records, "--to", "records").code == 0
    texts = ("--test-set", wmt25_folder / "texts.tsv")
    assert Asked(capsys, "convert", records, back, "--to", "wmt25", *texts).code == 0
    assert back.read_text() == (wmt25_folder / "found.tsv").read_text()


@pytest.mark.parametrize("command", ["score", "rank"])
def test_texts_alone_are_nothing_to_score(
    wmt25_folder: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    asked = Asked(capsys, command, wmt25_folder / "texts.tsv")
    assert (asked.code, "holds texts and no judgements" in asked.err) == (1, True)


UNIT = "<trans-unit id='{}'><source>a</source><target>abc</target></trans-unit>"
TEXT = one("".join(map(UNIT.format, "123")))


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    records = [judged(span(0, 1, "a"), segment="1"), judged(segment="2")]
    write_xliff(Path("judged.xlf"), records, write_texts(tmp_path, TEXT))
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
