"""`adjudge convert`, and what other commands make of files that have judgements in them."""

import json
from pathlib import Path

import pytest

import adjudge
from adjudge.core.record import Record
from adjudge.formats.its import ITS
from adjudge.formats.wmt import MARKS, TEXTS
from adjudge.formats.xliff import write_xliff
from adjudge.store.json_lines import write_records
from adjudge.store.run_directory import read_records
from tests.analysis.folders import write_folder
from tests.analysis.records import error, failed, mqm
from tests.cli.calling import Ask
from tests.formats.test_xliff import judged, one, span
from tests.formats.test_xliff import write as write_texts

ROW = "A\td\t1\t1\tr1\tHello\t<v>Hal</v>lo\tAccuracy/Vibes\tMajor"
MQM = f"system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n{ROW}\n"


FROM_MQM = ("convert", "mqm.tsv", "r.jsonl", "--to", "records", "--lp", "en-de")


@pytest.fixture
def _mqm() -> None:
    Path("mqm.tsv").write_text(MQM)


def test_two_text_files_become_a_test_set_on_standard_output(ask: Ask) -> None:
    Path("src.txt").write_text("Hello\n")
    Path("sys.txt").write_bytes(b"Hallo\r\n")
    lines = ("-s", "src.txt", "-t", "sys.txt", "--lp", "eng-deu", "--to", "jsonl", "-")
    done = ask.done("convert", *lines)
    assert done.json["translations"] == {"sys": "Hallo"}
    assert "Windows line ends" in done.err


@pytest.mark.usefixtures("_mqm")
def test_what_was_odd_and_what_got_lost_is_said_with_counts(ask: Ask) -> None:
    assert ask.done(*FROM_MQM).err.splitlines() == [
        "adjudge: mqm.tsv: 1 categories that no year has, kept as label",
        "adjudge: not in r.jsonl: 1 texts",
    ]
    assert json.loads(Path("r.jsonl").read_text())["spans"][0]["label"] == "Accuracy/Vibes"


@pytest.mark.usefixtures("_mqm")
def test_records_find_their_texts_in_another_file(ask: Ask) -> None:
    ask.done(*FROM_MQM)
    ask.done("convert", "mqm.tsv", "set.jsonl", "--to", "jsonl", "--lp", "en-de")
    ask.done("convert", "r.jsonl", "r1.seg.rating", "--to", "mtme-ratings", "--test-set", "set.jsonl")
    rating = Path("r1.seg.rating").read_text()
    assert rating.startswith('A\t{"errors": [{"start": 0, "end": 3, "category": "Accuracy/Vibes"')
    assert rating.endswith("}\n")


def test_only_one_annotator_may_be_kept(ask: Ask) -> None:
    Path("mqm.tsv").write_text(MQM + ROW.replace("r1", "r2") + "\n")
    ask.done(*FROM_MQM, "--annotator", "r2")
    (record,) = read_records("r.jsonl")
    assert record.annotator == "r2"
    assert "annotators are r1, r2" in ask.refused(*FROM_MQM, "--annotator", "r3", "--force")


@pytest.mark.usefixtures("_mqm")
@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ("mqm.tsv --to jsonl", 2, "convert takes IN and OUT, got 1 paths"),
        ("mqm.tsv mqm.tsv --to jsonl", 2, "exists: --force replaces it"),
        ("mqm.tsv new --to tei", 2, "no format 'tei'; there are run"),
        ("mqm.tsv new --to jsonl --from tei", 2, "no format 'tei'"),
        ("mqm.tsv - --to mtme", 2, "mtme is a folder, and cannot go to standard output"),
        ("nowhere new --to jsonl", 2, "no file, folder or public test set"),
        ("mqm.tsv new --to jsonl --from jsonl", 1, "not JSON"),
    ],
)
def test_a_wrong_call_ends_with_one_line_and_its_code(words: str, code: int, message: str, ask: Ask) -> None:
    said = ask.refused("convert", *words.split(), "--lp", "en-de", code=code)
    assert (message in said, said.count("\n")) == (True, 1)


def test_formats_and_public_test_sets_are_listed(ask: Ask) -> None:
    names = {row["format"] for row in ask.done("list", "formats", "--format", "json").json["formats"]}
    assert {"jsonl", "mtme", "mqm-tsv", "mtme-ratings"} <= names
    assert "wmt23" in ask.done("list", "test-sets", "--format", "json").out


# `adjudge score --score-files`: scores as the files that mt-metrics-eval and metrics tasks read.


@pytest.fixture
def folder() -> Path:
    return write_folder(Path("set"))


@pytest.fixture
def records() -> Path:
    """A judge that marks errors: B on all four segments, A on the first, where another one failed."""
    found: list[Record] = [
        mqm("B", "1", error("minor")),
        mqm("B", "2", error("major")),
        mqm("B", "3"),
        mqm("B", "4", error("minor")),
        mqm("A", "1", error("major")),
        failed("A", segment="2", protocol="mqm"),
    ]
    path = Path("records.jsonl")
    write_records(path, found)
    return path


def test_a_judge_that_marks_errors_becomes_score_files_in_the_order_of_the_test_set(
    folder: Path, records: Path, ask: Ask
) -> None:
    asked = ask.done("score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    written = folder / "metric-scores/en-de/ann-src"
    assert str(written) in asked.err
    texts = {level: Path(f"{written}.{level}.score").read_text() for level in ("seg", "sys", "doc", "domain")}
    a, b = "A\t-5.0\nA\tNone\nA\tNone\nA\tNone\n", "B\t-1.0\nB\t-5.0\nB\t0.0\nB\t-1.0\n"
    assert texts["seg"] == a + b
    assert texts["sys"] == "A\t-5.0\nB\t-1.75\n"
    assert texts["doc"] == "A\t-5.0\nA\tNone\nB\t-3.0\nB\t-0.5\n"
    assert texts["domain"] == "news\tA\t-5.0\nnews\tB\t-3.0\nchat\tA\tNone\nchat\tB\t-0.5\n"


def test_what_was_written_is_a_metric_of_the_folder(folder: Path, records: Path, ask: Ask) -> None:
    alone = ask("meta", folder, "--scores", f"ann-src={records}", "--format", "json").json
    ask("score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    inside = ask("meta", folder, "--format", "json").json
    of_run, of_file = (found["metrics"]["ann-src"] for found in (alone, inside))
    assert of_file["seg_pearson"] == of_run["seg_pearson"]
    assert of_file["n"] == of_run["n"]


def test_a_metric_is_named_by_the_reference_it_was_shown_and_keeps_its_corpus_score(
    folder: Path, ask: Ask
) -> None:
    run = adjudge.run("bleu", adjudge.load(folder), out=Path("bleu"))
    ask.done("score", Path("bleu"), "--score-files", Path("files"))
    lines = Path("files/en-de/bleu-refA.sys.score").read_text().splitlines()
    wanted = {s.system: s.score for s in adjudge.score(run).systems}
    assert {name: float(value) for name, value in (line.split("\t") for line in lines)} == wanted


def test_files_that_are_there_are_kept(folder: Path, records: Path, ask: Ask) -> None:
    there = folder / "metric-scores/en-de/ann-src.sys.score"
    there.write_text("A\t1\n")
    said = ask.refused("score", records, "--test-set", folder, "--score-files", folder / "metric-scores")
    assert f"{there} is there already" in said
    assert there.read_text() == "A\t1\n"
    assert not there.with_name("ann-src.seg.score").exists()


@pytest.mark.parametrize(
    ("texts", "message"),
    [(None, "has no texts: add --test-set"), ("other.jsonl", "the test set has no segment '2' of en-de")],
)
def test_lines_without_texts_cannot_be_placed(
    tmp_path: Path, records: Path, ask: Ask, texts: str | None, message: str
) -> None:
    (tmp_path / "other.jsonl").write_text('{"segment": "1", "lp": "en-de", "source": "x"}\n')
    more = [] if texts is None else ["--test-set", tmp_path / texts]
    asked = ask("score", records, *more, "--score-files", tmp_path / "files")
    assert asked.code in {1, 2}
    assert message in asked.err
    assert not (tmp_path / "files").exists()


# A table of WMT25 as commands take it: texts, gold, and what is handed in.


GOLD = (("0", "4", "major"), ("-1", "-1", "no-error"), ("0 missing", "2 missing", "minor major"))
FOUND = (("0", "2", "major"), ("-1", "-1", "no-error"), ("0", "2", "minor"))


@pytest.fixture
def _wmt25() -> None:
    for name, marks in (("gold", GOLD), ("found", FOUND), ("texts", ((),) * 3)):
        write(Path(f"{name}.tsv"), marks)


def write(path: Path, marks: tuple[tuple[str, ...], ...]) -> None:
    heading = [*TEXTS, *MARKS][: len(TEXTS) + len(marks[0])]
    rows = [
        ["d", str(n), "en", "de", "official", system, f"Text {n}", f"Satz {n}", "NaN", "news", "ESA", *own]
        for system in "AB"
        for n, own in enumerate(marks)
    ]
    path.write_text("".join("\t".join(row) + "\n" for row in [heading, *rows]))


@pytest.mark.usefixtures("_wmt25")
def test_predictions_are_measured_by_gold_as_the_task_did(ask: Ask) -> None:
    (row,) = ask("spans", "found.tsv", "--gold", "gold.tsv", "--rule", "w25", "--format", "csv").rows
    assert [float(row["precision"]), float(row["recall"])] == pytest.approx([1, 4 / 6])


@pytest.mark.usefixtures("_wmt25")
def test_its_gold_is_that_of_a_meta_evaluation(ask: Ask) -> None:
    scores = ("--scores", "found=found.tsv", "--measures", "seg_pearson", "--format", "json")
    assert ask("meta", "gold.tsv", *scores).json["gold"] == "gold"
    assert "holds texts and no judgements" in ask.refused("meta", "texts.tsv", *scores, code=1)


@pytest.mark.usefixtures("_wmt25")
def test_what_was_marked_goes_back_into_such_a_table(ask: Ask) -> None:
    ask.done("convert", "found.tsv", "r.jsonl", "--to", "records")
    ask.done("convert", "r.jsonl", "back.tsv", "--to", "wmt25", "--test-set", "texts.tsv")
    assert Path("back.tsv").read_text() == Path("found.tsv").read_text()


UNIT = "<trans-unit id='{}'><source>a</source><target>abc</target></trans-unit>"
TEXT = one("".join(map(UNIT.format, "123")))


@pytest.fixture(autouse=True)
def _files(_elsewhere: None, tmp_path: Path) -> None:
    records = [judged(span(0, 1, "a"), segment="1"), judged(segment="2")]
    write_xliff(Path("judged.xlf"), records, write_texts(tmp_path, TEXT))
    write_records("records.jsonl", records)


def test_scores_are_those_of_the_records_and_an_unjudged_translation_has_none(ask: Ask) -> None:
    of_file, of_records = (
        ask.done("score", name, "--level", "seg", "--format", "json").json
        for name in ("judged.xlf", "records.jsonl")
    )
    assert of_file == of_records
    assert [segment["segment"] for segment in of_file["segments"]] == ["1", "2"]


def test_a_language_that_the_file_does_not_name_is_taken_from_lp(ask: Ask) -> None:
    text = Path("judged.xlf").read_text().replace(' target-language="de"', "")
    Path("judged.xlf").write_text(text)
    assert ask("score", "judged.xlf").code == 2
    assert ask("score", "judged.xlf", "--lp", "en-de").code == 0


@pytest.mark.parametrize(
    "words", [["score"], ["rank"], ["report", "--out", "r.html"], ["compare", "judged.xlf"]]
)
def test_texts_alone_are_no_judgements(ask: Ask, words: list[str]) -> None:
    asked = ask(*words, "x.xlf")
    assert asked.code != 0
    assert "texts and no judgements" in asked.err


def test_what_was_odd_is_said(ask: Ask) -> None:
    text = TEXT.replace("<target>", f'<target xmlns:its="{ITS}" its:locQualityIssueSeverity="50">', 1)
    Path("other.xlf").write_text(text)
    asked = ask.done("score", "other.xlf")
    assert "other.xlf: 1 severities other than 0, 33, 67 and 100" in asked.err
    assert "1 judgements without an annotator" in asked.err
