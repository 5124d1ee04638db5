"""A row of one's own in a paper's tables: the same translations and measures as every other row."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import adjudge
from adjudge.errors import DataError, UsageError
from adjudge.reproduce.paper_tables import Definition, Input, Paper, PaperTable, Row, read_paper
from adjudge.reproduce.reproduction import Cell, reproduce
from tests.analysis.folders import GOLD, METRIC, QE, write_folder, write_scores
from tests.reproduce.test_reproduction import write_benchmark, write_verdicts

Found = dict[tuple[str, str, str], Cell]


def found(paper: str | Paper, data: Path, *add: str) -> Found:
    return {(cell.table, cell.row, cell.column): cell for cell in reproduce(paper, data, add).cells}


def one_table(*measures: str, **fields: object) -> Paper:
    columns = {name: Definition(measure=name, lps=("en-de",), **fields) for name in measures}  # type: ignore[arg-type]
    rows = (Row(name="COMET", metric="COMET-{ref}", cells=("0.1",) * len(measures)),)
    table = PaperTable(name="Table 1", input="set", columns=columns, rows=rows)
    return Paper(
        name="mine",
        title="Mine",
        source="here",
        places={"set": ["set"]},
        inputs={"set": Input(place="set", gold="mqm", task="wmt23")},
        tables=(table,),
        reasons=(),
        notes=(),
    )


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_folder(tmp_path / "set")
    return tmp_path


def test_a_whole_file_stands_in_the_table(data: Path) -> None:
    ours = write_scores(data / "en-de.ours.seg.score", METRIC)
    cells = found(one_table("seg_pearson", "sys_pearson"), data, f"{{odd}}={ours}")
    for column in ("seg_pearson", "sys_pearson"):
        own = cells["Table 1", "{odd}", column]
        assert own.ours == pytest.approx(cells["Table 1", "COMET", column].ours)
        assert (own.paper, own.verdict, own.reason) == ("", "missing-input", "no row of the paper")
    assert len(cells) == 4


def test_a_part_gets_a_table_where_every_row_is_on_that_part(data: Path) -> None:
    part = {system: [*values[:2], None, None] for system, values in QE.items()}
    ours = write_scores(data / "en-de.ours.seg.score", part)
    cells = found(one_table("seg_pearson"), data, f"ours={ours}")
    refused = cells["Table 1", "ours", "seg_pearson"]
    assert refused.ours is None
    assert refused.reason == ("wanted: 9 judgements; it has 6, see Table 1, on what ours judged")
    for row, scores in (("COMET", METRIC), ("ours", QE)):
        sides = [[float(each[s][k] or 0) for s in "ABC" for k in range(2)] for each in (GOLD, scores)]
        cell = cells["Table 1, on what ours judged", row, "seg_pearson"]
        assert cell.ours == pytest.approx(np.asarray(np.corrcoef(sides))[0, 1])
        assert not cell.paper


def test_systems_are_compared_on_all_segments_or_in_a_table_of_that_part(data: Path) -> None:
    judged = {s: [m if g is not None else None for g, m in zip(GOLD[s], QE[s], strict=True)] for s in "ABC"}
    ours = write_scores(data / "en-de.ours.seg.score", judged)
    cells = found(one_table("seg_pearson", "sys_pearson"), data, f"ours={ours}")
    assert cells["Table 1", "ours", "seg_pearson"].ours is not None
    assert cells["Table 1", "ours", "sys_pearson"].reason.startswith("wanted: 12 judgements; it has 9")
    assert {(table, column) for table, _, column in cells if table != "Table 1"} == {
        ("Table 1, on what ours judged", "sys_pearson")
    }


def test_a_run_without_a_system_is_refused(data: Path) -> None:
    ours = write_scores(data / "en-de.ours.seg.score", {s: METRIC[s] for s in "AB"})
    with pytest.raises(UsageError, match=r"ours can stand in no table of mine: wanted: scores of C in "):
        found(one_table("seg_pearson"), data, f"ours={ours}")


def two_tables() -> Paper:
    mine = one_table("seg_pearson")
    column = Definition(measure="seg_pearson", lps=("zh-en",))
    return replace(
        mine, tables=(replace(mine.tables[0], name="Table 0", columns={"zh": column}), *mine.tables)
    )


def test_the_reason_is_that_of_the_language_pair_that_a_file_has(data: Path) -> None:
    write_folder(data / "set", "zh-en")
    ours = write_scores(data / "en-de.ours.seg.score", {s: METRIC[s] for s in "AB"})
    with pytest.raises(UsageError, match=r"ours can stand in no table of mine: wanted: scores of C in "):
        found(two_tables(), data, f"ours={ours}")
    other = write_scores(data / "en-de.other.seg.score", {s: METRIC[s][:3] for s in "ABC"})
    with pytest.raises(UsageError, match=r"other can stand in no table of mine: wanted: 3 seg scores a sys"):
        found(two_tables(), data, f"other={other}")


@pytest.mark.parametrize("name", ["en-de.ours.seg.score", "ours.jsonl"])
def test_a_damaged_file_is_bad_data_and_no_wrong_use(data: Path, name: str) -> None:
    write_folder(data / "set", "zh-en")
    ours = data / name
    if name.endswith("jsonl"):
        rating = {"segment": "1", "system": "A", "rating": 7, "spans": [], "document": "", "lp": "en-de"}
        row = json.dumps({"kind": "annotation", "annotator": "judge", "protocol": "da-sqm", **rating})
        ours.write_text(f"{row}\n{row[:-9]}\n")
    else:
        write_scores(ours, METRIC)
        ours.write_text(ours.read_text().replace("B\t0.7", "B 0.7"))
    with pytest.raises(DataError, match=rf"{name} line \d+"):
        found(two_tables(), data, f"ours={ours}")


def test_a_name_of_the_table_and_a_paper_without_judges_are_refused(data: Path) -> None:
    ours = write_scores(data / "en-de.ours.seg.score", METRIC)
    with pytest.raises(UsageError, match="Table 1 has a row 'COMET'"):
        found(one_table("seg_pearson"), data, f"COMET={ours}")
    with pytest.raises(UsageError, match="none of its tables compares judges"):
        found("esa", data, f"ours={ours}")


def test_scores_of_a_whole_corpus_are_none_of_some_segments(data: Path) -> None:
    file = data / "set/metric-scores/en-de/COMET-refA.sys.score"
    file.write_text("A\t9\nB\t2\nC\t4\n")
    some = one_table("sys_pearson", "seg_pearson", segments=(1, 2))
    cells = found(some, data)
    assert cells["Table 1", "COMET", "seg_pearson"].ours is not None
    assert cells["Table 1", "COMET", "sys_pearson"].reason == (
        "wanted: scores of systems on these segments alone; COMET-refA has those of its whole corpus, which "
        "are no means of segments"
    )


def test_verdicts_on_a_part_of_the_pairs(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    write_verdicts(tmp_path, "ABBBEE")
    whole = (tmp_path / "fire/GPT-4o-FiRE_en-zh.jsonl").rename(tmp_path / "whole.jsonl")
    (tmp_path / "part.jsonl").write_text("".join(whole.read_text().splitlines(keepends=True)[:2]))
    theirs = "DeepSeek-R1-FiRE"
    (tmp_path / f"fire/{theirs}_en-zh.jsonl").write_text(whole.read_text())
    column = "en-zh Faithfulness"
    cells = found("fire", tmp_path, f"all={whole}", f"two={tmp_path / 'part.jsonl'}")
    assert cells["Table 3", "all", column].ours == cells["Table 3", "FiRE", column].ours
    part = "Table 3, on what two judged"
    assert cells["Table 3", "two", column].reason == f"wanted: 3 judgements; it has 2, see {part}"
    assert cells[part, "two", column].ours == cells[part, "FiRE", column].ours == 50
    assert ("Table 18", "all", "en-zh ranked") not in cells


def test_a_judge_of_single_translations_stands_in_fires_tables(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    rows = [
        {"kind": "annotation", "lp": "en-zh", "document": "", "segment": str(n), "system": system,
         "annotator": "judge", "protocol": "da-sqm", "rating": rating, "spans": []}
        for n in range(1, 7) for system, rating in (("m", 70), ("n", 70 - 10 * (n < 3)))
    ]  # fmt: skip
    file = tmp_path / "ours.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    cells = found("fire", tmp_path, f"ours={file}")
    assert cells["Table 2", "ours", "en-zh"].ours == pytest.approx(200 / 3)
    assert cells["Table 3", "ours", "en-zh Fluency"].ours is None


@pytest.mark.realdata
def test_m_mads_own_file_gives_its_printed_row(adjudge_data: Path, tmp_path: Path) -> None:
    link = tmp_path / "en-de.own.seg.score"
    for ending in ("seg", "sys"):
        own = adjudge_data / f"m-mad/M-MAD_en-de.{ending}.score"
        link.with_name(f"en-de.own.{ending}.score").symlink_to(own)
    cells = found("m-mad", adjudge_data, f"own={link}")
    columns = [f"en-de {name}" for name in ("sys Acc", "sys Pearson", "seg Acc-t", "seg Pearson")]
    printed = [cells["Table 2", "M-MAD (Ours)", column].paper for column in columns]
    assert [f"{cells['Table 2', 'own', column].ours:.3f}" for column in columns] == printed
    assert cells["Table 1", "own", "meta"].reason == "wanted: judgements of zh-en"


@pytest.mark.realdata
def test_bleu_of_the_corpus_is_the_papers(adjudge_data: Path, tmp_path: Path) -> None:
    adjudge.run("bleu", adjudge_data / "ment", lp="zh-en", out=tmp_path / "bleu")
    cells = found("rate", adjudge_data, f"ours={tmp_path / 'bleu'}")
    for column in ("sys Acc", "sys r", "sys rho"):
        theirs, own = (cells["Table 3", row, f"zh-en {column}"] for row in ("BLEU", "ours"))
        assert f"{own.ours:.1f}" == theirs.paper, column
    assert cells["Table 8", "ours", "zh-en sys Acc"].reason.endswith("which are no means of segments")
    assert cells["Table 8", "ours", "zh-en seg r"].ours is not None


def test_scores_of_systems_are_points_by_comparisons(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    write_verdicts(tmp_path, "ABEAA")
    (tmp_path / "fire/GPT-4o-FiRE_en-zh.jsonl").rename(tmp_path / "fire/records.jsonl")
    text = (tmp_path / "fire/records.jsonl").read_text()
    text = text.replace('"m"', '"GPT-4o"').replace('"n"', '"NLLB"')
    (tmp_path / "fire/DeepSeek-R1-FiRE_en-zh.jsonl").write_text(text)
    with pytest.raises(DataError, match="pair 1 is of m and n"):  # tables 2 and 3 are about the benchmark
        found("fire", tmp_path)
    (tmp_path / "fire/en-zh/en-zh-annotation.json").unlink()
    cells = found("fire", tmp_path)
    for system, points in (("GPT-4o", 0.7), ("NLLB", 0.3)):
        cell = cells["Table 15", system, "en-zh Faithfulness"]
        assert cell.ours == pytest.approx(points)
        assert cell.reason == "no number of the paper to compare"
    assert cells["Table 15", "DeepL", "en-zh Faithfulness"].reason == (
        "wanted: verdicts on faithfulness of DeepL in fire/DeepSeek-R1-FiRE_en-zh.jsonl"
    )
    (tmp_path / "fire/QwQ-32B-FiRE-wmt24pp_zh-de.jsonl").write_text(text.replace("en-zh", "zh-de"))
    cell = found("fire", tmp_path)["Table 16", "GPT-4o", "zh-de Faithfulness"]
    assert (cell.paper, cell.verdict) == ("0.86", "differs")
    assert cell.ours == pytest.approx(0.7)


def test_every_criterion_of_table_16_shares_one_point_between_two_systems() -> None:
    (table,) = [table for table in read_paper("fire").tables if table.name == "Table 16"]
    for place in range(len(table.columns)):
        scores = [float(row.cells[place]) for row in table.rows if row.cells[place] != "-"]
        assert sum(scores) / len(scores) == pytest.approx(0.5, abs=0.06)


def test_fires_third_language_pair(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    (tmp_path / "fire/en-zh").rename(tmp_path / "fire/ja-zh")
    (tmp_path / "fire/ja-zh/en-zh-annotation.json").rename(tmp_path / "fire/ja-zh/ja-zh-annotation.json")
    write_verdicts(tmp_path, "ABBBEE", lp="ja-zh")
    (tmp_path / "fire/GPT-4o-FiRE_en-zh.jsonl").rename(tmp_path / "fire/GPT-4o-FiRE_ja-zh.jsonl")
    cell = found("fire", tmp_path)["Table 11", "GPT-4o-FiRE", "ja-zh Faithfulness"]
    assert (cell.paper, cell.verdict) == ("80.6", "differs")
    assert cell.ours == pytest.approx(200 / 3)


@pytest.mark.realdata
def test_ment_has_as_many_translations_as_printed(adjudge_data: Path) -> None:
    cells = found("rate", adjudge_data)
    own = [cell for (table, row, _), cell in cells.items() if (table, row) == ("Table 2", "ZH-EN")]
    assert [cell.verdict for cell in own] == ["match"] * 5
    assert cells["Table 2", "Total", "Total"].paper == "7530"
