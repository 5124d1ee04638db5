"""Files with one number a line, of one system each: one ranking, one metric, with documents."""

import random
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from adjudge import load
from adjudge.analysis.meta import meta
from adjudge.analysis.rank import rank
from adjudge.analysis.score import score
from adjudge.core.language import canonical_lp, coded_lp
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import TextSettings, detect, read_judgements
from adjudge.store.json_lines import write_test_set
from tests.cli.calling import Asked, call

LINES = 12


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Scores of three systems, the better the later, and their texts."""
    rng = random.Random(4)
    (tmp_path / "HUMAN").mkdir()
    for place, system in enumerate("ABC"):
        numbers = [f"{50 + 20 * place + rng.random()}" for _ in range(LINES)]
        (tmp_path / "HUMAN" / f"{system}.scores").write_text("\n".join(numbers) + "\n")
        (tmp_path / f"{system}.txt").write_text("ein Text\n" * LINES)
    (tmp_path / "source.txt").write_text("a text\n" * LINES)
    (tmp_path / "documents").write_text("".join(f"doc{line // 2}\n" for line in range(LINES)))
    return tmp_path


def files(folder: Path) -> list[Path]:
    return [folder / "HUMAN" / f"{system}.scores" for system in "ABC"]


def texts(folder: Path, **keywords: object) -> TextSettings:
    translations = [str(folder / f"{system}.txt") for system in "ABC"]
    return TextSettings(lp="en-de", source=folder / "source.txt", translation=translations, **keywords)  # type: ignore[arg-type]


def test_files_of_one_system_each_are_one_ranking(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = rank(files(folder), lp="en-de")
    assert [(row.system, row.cluster, row.n) for row in found.systems] == [
        ("C", 1, LINES),
        ("B", 2, LINES),
        ("A", 3, LINES),
    ]
    assert rank(folder / "HUMAN", lp="en-de") == found
    for given_files in (files(folder), [folder / "HUMAN"]):
        asked = Asked(capsys, "rank", *given_files, "--lp", "en-de", "--format", "json")
        assert [row["system"] for row in asked.json["systems"]] == ["C", "B", "A"]


def test_a_ranking_of_one_system_says_so(folder: Path) -> None:
    note = "There is one system only, A: nothing is ranked."
    assert note in rank(files(folder)[0], lp="en-de").notes
    assert not any("nothing is ranked" in each for each in rank(files(folder)[:2], lp="en-de").notes)


def test_compare_and_gate_read_a_folder_and_two_files(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second, _ = files(folder)
    lp = ("--lp", "en-de", "--format", "json")
    ours = Asked(capsys, "compare", folder / "HUMAN", "A", "B", *lp).json
    assert ours["means"] == Asked(capsys, "compare", first, second, *lp).json["means"]
    for sides in (
        ("--baseline", first, "--candidate", second),
        ("--baseline", folder / "HUMAN", "--systems", "A,B"),
    ):
        assert Asked(capsys, "gate", *sides, "--margin", 1, *lp).code == 0


def test_a_folder_of_files_is_one_metric(folder: Path) -> None:
    write_test_set(folder / "t.jsonl", texts(folder).load(None))
    found = meta(folder / "t.jsonl", gold=[str(folder / "HUMAN")], scores=[str(folder / "HUMAN")])
    (metric,) = found.metrics
    assert (metric.name, metric.n, metric.partial) == ("HUMAN", 3 * LINES, False)


def test_files_that_do_not_fit_together_are_refused(folder: Path) -> None:
    first, second, third = files(folder)
    third.write_text("1\n2\n")
    with pytest.raises(DataError, match="'C' has 2 scores, 'A' has 12"):
        rank([first, second, third], lp="en-de")
    with pytest.raises(UsageError, match="two files of one system"):
        rank([first, third.rename(folder / "A.scores")], lp="en-de")
    with pytest.raises(UsageError, match="read together"):
        rank([first, folder / "HUMAN"], lp="en-de")
    (folder / "HUMAN" / ".DS_Store").write_bytes(b"\0\1")
    assert detect(folder / "HUMAN") == "score-lines"
    (folder / "HUMAN" / "notes.md").write_text("words\n")
    with pytest.raises(DataError, match=r"holds nothing else: take notes\.md out of it, or name the files"):
        detect(folder / "HUMAN")


def test_lines_that_nobody_scored_are_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in files(folder):
        file.write_text("None\n" * 2 + "".join(file.read_text().splitlines(keepends=True)[2:]))
    for paths in (files(folder), [folder / "HUMAN"]):
        assert call("rank", *map(str, paths), "--lp", "en-de") == 0
        assert "2 segments that nobody scored" in " ".join("".join(capsys.readouterr()).split())


def test_documents_of_texts_are_those_of_score_files(folder: Path) -> None:
    named = texts(folder, documents=folder / "documents").load(None)
    assert [segment.document for segment in named] == [f"doc{line // 2}" for line in range(LINES)]
    kept = texts(folder, documents=folder / "documents", limit=3).load(None)
    assert [segment.document for segment in kept] == ["doc0", "doc0", "doc1"]
    write_test_set(folder / "t.jsonl", texts(folder).load(None))
    assert load(folder / "t.jsonl", documents=folder / "documents").segments == named.segments
    found = score(read_judgements(files(folder), "en-de", named))
    assert "correction for skew over 6 documents" in found.interval_notes[0]
    assert "over 6 documents" in rank(files(folder), lp="en-de", test_set=named).method


@pytest.mark.filterwarnings("ignore:.*(nobody scored|missing scores)")
def test_documents_of_score_files_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines without a score keep their document, the last ones too."""
    for file in files(folder):
        lines = file.read_text().split("\n")
        file.write_text("\n".join([*lines[:2], "None", *lines[3:11], "None", ""]))
    documents, lp = folder / "documents", "en-de"
    for source in (files(folder), folder / "HUMAN"):
        assert "over 6 documents" in rank(source, lp=lp, documents=documents).method
        assert "over 6 documents" in score(source, lp=lp, documents=documents).interval_notes[0]
        records = read_judgements(source, lp, documents=documents).records
        assert {(r.segment, r.document) for r in records} == {
            (str(line + 1), f"doc{line // 2}") for line in range(LINES) if line not in {2, 11}
        }
    first, second, _ = files(folder)
    more = ("--lp", lp, "--documents", documents)
    ranked = Asked(capsys, "rank", *files(folder), *more)
    assert "correction for skew over 6 documents" in ranked.out
    assert "over documents" in Asked(capsys, "compare", first, second, *more).out
    sides = ("--baseline", first, "--candidate", second, "--margin", 1)
    assert "documents" in Asked(capsys, "gate", *sides, *more).out
    with pytest.raises(UsageError, match="is for files with a number a line"):
        read_judgements(read_judgements(first, lp), documents=documents)


@pytest.mark.parametrize(
    ("lines", "why"),
    [("a\n" * 11, "11 documents, one a line, for 12 segments"), ("a\n" * 5 + "\n" + "a\n" * 6, "is empty")],
)
def test_documents_that_do_not_fit_are_refused(folder: Path, lines: str, why: str) -> None:
    (folder / "documents").write_text(lines)
    with pytest.raises(DataError, match=why):
        texts(folder, documents=folder / "documents").load(None)
    with pytest.raises(DataError, match=why):
        rank(files(folder), lp="en-de", documents=folder / "documents")


def test_documents_are_not_named_twice(folder: Path) -> None:
    write_test_set(folder / "t.jsonl", texts(folder, documents=folder / "documents").load(None))
    with pytest.raises(UsageError, match="names its documents already"):
        load(folder / "t.jsonl", documents=folder / "documents")


CODES = st.sampled_from(["en", "de", "he", "pt_BR", "pt-BR", "zh", "sr_Cyrl_RS", "heb"])
NAMED = {"english", "Hebrew", "German", "thai", "Portuguese (Brazil)"}
NAMES = st.sampled_from(sorted(NAMED))
BETWEEN = st.sampled_from(["-", "->", " to ", "→", "/"])


@settings(max_examples=60)
@given(st.one_of(CODES, NAMES), BETWEEN, st.one_of(CODES, NAMES))
@example("pt_BR", "-", "thai")  # which the code br-Thai is the end of
def test_languages_are_chosen_by_their_codes(source: str, between: str, target: str) -> None:
    text = f"{source}{between}{target}"
    try:
        wanted = canonical_lp(text)
    except UsageError:
        return
    if {source, target} & NAMED:
        with pytest.raises(UsageError, match=f"write {wanted} in place of"):
            coded_lp(text)
    else:
        assert coded_lp(text) == wanted


def test_every_place_that_takes_a_language_pair_wants_codes(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = "english-german"
    write_test_set(folder / "t.jsonl", texts(folder).load(None))
    test_set, gold = folder / "t.jsonl", f"HUMAN={folder / 'HUMAN'}"
    for command in (
        ["rank", *files(folder)],
        ["score", files(folder)[0]],
        ["convert", "--to", "tmx", test_set, folder / "out.tmx"],
        ["run", "chrf", test_set, "--out", folder / "run"],
        ["meta", test_set, "--gold", gold, "--scores", gold],
        ["trace", folder],
    ):
        asked = Asked(capsys, *command, "--lp", name)
        assert (asked.code, "write en-de in place of 'english-german'" in asked.err) == (2, True), command
    for use in (lambda: load(test_set, name), lambda: rank(files(folder), lp=name)):
        with pytest.raises(UsageError, match="write en-de"):
            use()
