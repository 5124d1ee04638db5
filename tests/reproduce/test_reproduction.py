"""Verdicts of a paper's cells, on small folders; the real ones stand in `test_verdicts.py`."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import adjudge
from adjudge.errors import DataError, UsageError
from adjudge.reproduce.paper_tables import Definition, Input, Paper, PaperTable, Reason, Row
from adjudge.reproduce.reproduction import Cell, printed, reproduce
from tests.analysis.folders import GOLD, METRIC, QE, write_folder, write_scores

# F1 of marked errors in HiMATE's table 3, on four segments of one system.


SYSTEM = "HuaweiTSC"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Gold marks both words of the first segment, and the only one of the third."""
    folder = write_folder(tmp_path / "wmt22", "zh-en")
    (folder / "system-outputs/zh-en/A.txt").rename(folder / f"system-outputs/zh-en/{SYSTEM}.txt")
    write_scores(folder / "human-scores/zh-en.mqm.seg.score", {SYSTEM: GOLD["A"]})
    write_ratings(folder / "human-scores/zh-en.mqm.merged.seg.rating")
    return tmp_path


def write_ratings(path: Path) -> None:
    marks = [[(0, 3)], [], [(0, 1)], []]
    shared = {"category": "style/awkward", "severity": "minor", "score": 1, "is_source_error": False}
    lines = [
        f"{SYSTEM}\t{json.dumps({'errors': [{'start': a, 'end': b, **shared} for a, b in each]})}\n"
        for each in marks
    ]
    path.write_text("".join(lines))


def write_records(data: Path, **changes: object) -> None:
    """Marks of a judge: a word of the first segment, that of the second, and nothing else."""
    words = [[("A", 0, 1)], [("2", 0, 1)], [], []]
    rows: list[dict[str, Any]] = [
        {
            "kind": "annotation",
            "lp": "zh-en",
            "document": "",
            "segment": str(number),
            "system": SYSTEM,
            "annotator": "judge",
            "protocol": "mqm",
            "spans": [
                {"side": "translation", "start": a, "end": b, "text": text, "severity": "minor"}
                for text, a, b in each
            ],
            **changes,
        }
        for number, each in enumerate(words, start=1)
    ]
    (data / "himate").mkdir(exist_ok=True)
    file = data / "himate/HiMATE-4o-mini_zh-en.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def row(data: Path) -> dict[str, Cell]:
    cells = reproduce("himate", data).cells
    return {c.column: c for c in cells if (c.table, c.row) == ("Table 3", "HiMATE")}


def test_f1_is_of_the_sources_of_a_length(data: Path) -> None:
    write_records(data)
    found = row(data)
    assert found["short F1"].ours == pytest.approx(2 / 3)  # one of two marks is right, none is missed
    assert found["medium F1"].ours == 0
    assert found["long F1"].reason == "wanted: segments of wmt22 zh-en that the column is about"


def test_scores_mark_nothing_and_gold_may_not_either(data: Path) -> None:
    write_scores(data / "himate/HiMATE-4o-mini_zh-en.seg.score", {SYSTEM: [-1, -2, -1, 0]})
    assert row(data)["short F1"].reason == "wanted: himate/HiMATE-4o-mini_zh-en.jsonl"
    (data / "wmt22/human-scores/zh-en.mqm.merged.seg.rating").unlink()
    assert row(data)["short F1"].reason == "wanted: wmt22/human-scores/zh-en.mqm.merged.seg.rating"


def test_a_judge_of_other_segments_has_no_f1(data: Path) -> None:
    write_records(data, system="B")
    assert row(data)["short F1"].verdict == "missing-input"


def test_a_protocol_without_marks_is_wrong_use(data: Path) -> None:
    write_records(data, protocol="sqm", rating=3, spans=[])
    with pytest.raises(UsageError, match="marks no errors"):
        reproduce("himate", data)


# FiRE's tables, on a benchmark of a few pairs in the layout of its repository.


LABELS = ("A>B", "A≈B", "A<B")
CRITERIA = ("Faithfulness", "Fluency", "Consistency of Style", "Overall")
PEOPLE = [(3, 0, 0), (2, 1, 0), (0, 3, 0), (0, 1, 2), (1, 1, 1), (1, 2, 0)]
"""Ranked easy, ranked hard, tied easy, ranked hard, no majority, tied hard."""


def write_benchmark(data: Path, people: Sequence[Sequence[object]] = PEOPLE) -> Path:
    file = data / "fire/en-zh/en-zh-annotation.json"
    file.parent.mkdir(parents=True)
    rows = [
        {"src": "s", "trans1": "x", "trans2": "y", "model1": "m", "model2": "n"}
        | {c: {"level": "Easy", "annotation": dict(zip(LABELS, counts, strict=True))} for c in CRITERIA}
        for counts in people
    ]
    file.write_text(json.dumps(rows, ensure_ascii=False))
    return file


def write_verdicts(data: Path, verdicts: str, **changes: object) -> None:
    rows = [
        {
            "kind": "preference",
            "lp": "en-zh",
            "document": "",
            "segment": str(number),
            "systems": ["m", "n"],
            "annotator": "judge",
            "criterion": "faithfulness",
            "verdict": verdict,
            "protocol": "pairwise",
            **changes,
        }
        for number, verdict in enumerate(verdicts, start=1)
    ]
    (data / "fire/GPT-4o-FiRE_en-zh.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def cells(data: Path) -> dict[tuple[str, str, str], Cell]:
    return {(cell.table, cell.row, cell.column): cell for cell in reproduce("fire", data).cells}


def test_pairs_are_counted_and_kappa_has_those_without_a_majority_too(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    found = cells(tmp_path)
    assert found["Table 1", "Overall", "en-zh pairs"].ours == 5
    wanted = {"ranked": 3, "tied": 2, "easy": 2, "hard": 3}
    assert {s: found["Table 18", "Fluency", f"en-zh {s}"].ours for s in wanted} == wanted
    agreed = (1 + 1 / 3 + 1 + 1 / 3 + 0 + 1 / 3) / 6
    chance = (7 / 18) ** 2 + (8 / 18) ** 2 + (3 / 18) ** 2
    kappa = found["Table 1", "Faithfulness", "en-zh kappa"].ours
    assert kappa == pytest.approx((agreed - chance) / (1 - chance))
    assert found["Table 1", "Faithfulness", "ru-zh kappa"].reason == (
        "wanted: fire/ru-zh/ru-zh-annotation.json"
    )


@pytest.mark.parametrize("swapped", [False, True])
def test_verdicts_are_compared_with_the_majority(tmp_path: Path, swapped: bool) -> None:
    write_benchmark(tmp_path)
    if swapped:
        write_verdicts(tmp_path, "BAAAEE", systems=["n", "m"])
    else:
        write_verdicts(tmp_path, "ABBBEE")
    found = cells(tmp_path)
    assert found["Table 9", "GPT-4o", "en-zh Faithfulness ranked"].ours == pytest.approx(200 / 3)
    assert found["Table 9", "GPT-4o", "en-zh Faithfulness tied"].ours == 50
    assert found["Table 17", "GPT-4o", "en-zh Faithfulness ranked easy"].ours == 100
    assert found["Table 17", "GPT-4o", "en-zh Faithfulness ranked hard"].ours == 50
    assert found["Table 9", "GPT-4o", "en-zh Fluency ranked"].reason == (
        "wanted: verdicts on Fluency in fire/GPT-4o-FiRE_en-zh.jsonl"
    )
    assert found["Table 2", "KIWI-XL", "en-zh"].reason == "wanted: fire/KIWI-XL_en-zh.jsonl"


def test_what_was_not_decided_is_left_out(tmp_path: Path) -> None:
    write_benchmark(tmp_path)
    write_verdicts(tmp_path, "EEEEEE", flags=["position_undecided"])
    assert cells(tmp_path)["Table 9", "GPT-4o", "en-zh Faithfulness ranked"].verdict == "missing-input"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"segment": "7"}, "no number from 1 to 6"),
        ({"segment": "x"}, "no number from 1 to 6"),
        ({"segment": "1"}, "two verdicts on faithfulness of pair 1"),
        ({"systems": ["m", "o"]}, "pair 1 is of m and n, got m and o"),
    ],
)
def test_verdicts_on_other_pairs_are_an_error(
    tmp_path: Path, changes: dict[str, object], message: str
) -> None:
    write_benchmark(tmp_path)
    write_verdicts(tmp_path, "AB", **changes)
    with pytest.raises(DataError, match=message):
        reproduce("fire", tmp_path)


@pytest.mark.parametrize("counts", [(3, 0, 1), (3, 0, -0.5), ("3", 0, 0)])
def test_labels_of_other_than_three_people_are_an_error(tmp_path: Path, counts: Sequence[object]) -> None:
    file = write_benchmark(tmp_path, [counts])
    with pytest.raises(DataError, match="of three people"):
        reproduce("fire", tmp_path)
    file.write_text("{}")
    with pytest.raises(DataError, match="wanted a list of pairs"):
        reproduce("fire", tmp_path)


def reproduction_cells(found: tuple[Cell, ...]) -> Mapping[tuple[str, str, str], Cell]:
    return {(cell.table, cell.row, cell.column): cell for cell in found}


def paper(text: str, definition: Definition, *reasons: Reason, metric: str = "COMET-{ref}") -> Paper:
    """A paper with one number."""
    table = PaperTable(
        name="Table 1",
        input="set",
        columns={"r": definition},
        rows=(Row(name="COMET", metric=metric, cells=(text,)),),
    )
    return Paper(
        name="mine",
        title="Mine",
        source="here",
        places={"set": ["set", "elsewhere"], "mine": ["mine"]},
        inputs={"set": Input(place="set", gold="mqm", task="wmt23")},
        tables=(table,),
        reasons=reasons,
        notes=(),
    )


PEARSON = Definition(measure="seg_pearson", lps=("en-de",))


@pytest.fixture
def reproduction_data(tmp_path: Path) -> Path:
    write_folder(tmp_path / "set")
    return tmp_path


def value(reproduction_data: Path, definition: Definition = PEARSON) -> float:
    ours = reproduce(paper("9.9", definition), reproduction_data).cells[0].ours
    assert ours is not None
    return ours


def test_a_number_is_compared_as_it_is_printed(reproduction_data: Path) -> None:
    exact = value(reproduction_data)
    metrics = adjudge.meta(reproduction_data / "set", "en-de", task="wmt23").metrics
    assert exact == metrics[0].results["seg_pearson"].value
    (cell,) = reproduce(paper(printed(exact, "0.000"), PEARSON), reproduction_data).cells
    assert (cell.verdict, cell.reason, cell.ours) == ("match", "", exact)


def neighbours(exact: float) -> list[str]:
    """The numbers of three digits on both sides of a value, and the next one above; the nearest first."""
    low = math.floor(exact * 1000)
    near, far = sorted((low, low + 1), key=lambda thousandths: abs(thousandths / 1000 - exact))
    return [f"{thousandths / 1000:.3f}" for thousandths in (near, far, low + 2)]


def test_less_than_one_unit_is_rounding_and_more_is_not(reproduction_data: Path) -> None:
    found = [
        reproduce(paper(text, PEARSON), reproduction_data).cells[0]
        for text in neighbours(value(reproduction_data))
    ]
    assert [cell.verdict for cell in found] == ["match", "rounding", "differs"]
    assert [bool(cell.reason) for cell in found] == [False, True, True]


def test_one_whole_unit_is_no_rounding(reproduction_data: Path) -> None:
    accuracy = Definition(measure="sys_accuracy", lps=("en-de",))
    assert value(reproduction_data, accuracy) == 1
    (cell,) = reproduce(paper("0.9", accuracy), reproduction_data).cells
    assert (cell.verdict, cell.reason) == ("differs", "we know no reason")


@pytest.mark.parametrize(
    ("number", "text"), [(0.125, "0.13"), (-0.125, "-0.13"), (0.115, "0.12"), (0.1249, "0.12"), (2, "2.00")]
)
def test_halves_are_printed_away_from_zero(number: float, text: str) -> None:
    assert printed(number, "0.00") == text


def test_the_papers_own_definition_proves_a_reason(reproduction_data: Path) -> None:
    theirs = value(reproduction_data, Definition(measure="seg_pearson", lps=("en-de",), average="item"))
    why = Reason(tables=("Table 1",), text="by item", instead={"average": "item"})
    (cell,) = reproduce(paper(f"{theirs:.3f}", PEARSON, why), reproduction_data).cells
    assert (cell.verdict, cell.reason) == ("differs", f"by item; this gives {theirs:.3f}")
    (cell,) = reproduce(paper("0.111", PEARSON, why), reproduction_data).cells
    assert cell.reason == f"by item; but that gives {theirs:.3f}"


def test_a_reason_that_is_no_matter_of_rounding_is_none_however_near(reproduction_data: Path) -> None:
    near = neighbours(value(reproduction_data))[1]
    for rounding, verdict in ((True, "rounding"), (False, "differs")):
        why = Reason(tables=("Table 1",), text="why", rounding=rounding)
        (cell,) = reproduce(paper(near, PEARSON, why), reproduction_data).cells
        assert (cell.verdict, cell.reason) == (verdict, "why")


@pytest.mark.parametrize(
    ("metric", "lp", "wanted"),
    [
        ("MaTESe-{ref}", "en-de", "set/metric-scores/en-de/MaTESe-refA.seg.score"),
        ("mine/judge_{lp}", "en-de", "mine/judge_en-de.seg.score"),
        ("COMET-{ref}", "zh-en", "set/sources/zh-en.txt"),
    ],
)
def test_a_cell_without_its_file_names_it(reproduction_data: Path, metric: str, lp: str, wanted: str) -> None:
    definition = Definition(measure="seg_pearson", lps=(lp,))
    (cell,) = reproduce(paper("0.5", definition, metric=metric), reproduction_data).cells
    assert (cell.verdict, cell.ours, cell.reason) == ("missing-input", None, f"wanted: {wanted}")


def test_the_gold_may_be_missing_too_and_the_folder(reproduction_data: Path, tmp_path: Path) -> None:
    (reproduction_data / "set/human-scores/en-de.mqm.seg.score").unlink()
    (cell,) = reproduce(paper("0.5", PEARSON), reproduction_data).cells
    assert cell.reason == "wanted: set/human-scores/en-de.mqm.seg.score"
    (tmp_path / "empty").mkdir()
    (cell,) = reproduce(paper("0.5", PEARSON), tmp_path / "empty").cells
    assert cell.reason == "wanted: set/sources/en-de.txt"
    with pytest.raises(UsageError, match="no folder"):
        reproduce("rate", tmp_path / "nowhere")


def test_a_folder_may_lie_where_a_repository_has_it(reproduction_data: Path) -> None:
    exact = value(reproduction_data)
    (reproduction_data / "set").rename(reproduction_data / "elsewhere")
    assert value(reproduction_data) == exact


def test_a_broken_file_is_an_error_and_no_missing_input(reproduction_data: Path) -> None:
    (reproduction_data / "set/metric-scores/en-de/COMET-refA.seg.score").write_text("A\tx\n")
    with pytest.raises(DataError, match=r"COMET-refA\.seg\.score"):
        reproduce(paper("0.5", PEARSON), reproduction_data)


def test_a_metric_without_a_system_has_no_number_for_all_of_them(reproduction_data: Path) -> None:
    write_scores(
        reproduction_data / "set/metric-scores/en-de/COMET-refA.seg.score", {s: METRIC[s] for s in "AC"}
    )
    (cell,) = reproduce(paper("0.5", PEARSON), reproduction_data).cells
    assert cell.verdict == "missing-input"
    assert cell.reason == "wanted: scores of B in set/metric-scores/en-de/COMET-refA.seg.score"


def test_scores_that_are_missing_or_look_wrong_are_said(reproduction_data: Path) -> None:
    holes = {**METRIC, "B": [0.7, None, 0.6, 0.3]}
    file = write_scores(reproduction_data / "set/metric-scores/en-de/COMET-refA.seg.score", holes)
    (note,) = reproduce(paper("0.5", PEARSON), reproduction_data).notes
    assert note.startswith("set/metric-scores/en-de/COMET-refA.seg.score has no score of 1 of the 9 ")
    write_scores(file, {system: [-1 - (system == "B"), -2, -3, -4] for system in "ABC"})
    (note,) = reproduce(paper("0.5", PEARSON), reproduction_data).notes
    assert "in all 1 segments that gold did not judge: a filler" in note


def test_a_measure_without_a_value_is_no_number(reproduction_data: Path) -> None:
    flat = {system: [1, 1, 1, 1] for system in ("A", "B", "C")}
    write_scores(reproduction_data / "set/metric-scores/en-de/COMET-refA.seg.score", flat)
    (cell,) = reproduce(paper("0.5", PEARSON), reproduction_data).cells
    assert (cell.verdict, cell.ours) == ("missing-input", None)
    assert cell.reason.startswith("wanted: no value: ")


def test_some_segments_only(reproduction_data: Path) -> None:
    part = Definition(measure="seg_pearson", lps=("en-de",), segments=(1, 2))
    gold = [GOLD[s][k] for s in "ABC" for k in range(2)]
    metric = [METRIC[s][k] for s in "ABC" for k in range(2)]
    by_domain = Definition(measure="seg_pearson", lps=("en-de",), domain="news")
    by_length = Definition(measure="seg_pearson", lps=("en-de",), lengths=(0, 3))
    from scipy.stats import pearsonr

    wanted = pearsonr([float(g or 0) for g in gold], [float(m or 0) for m in metric]).statistic
    for definition in (part, by_domain, by_length):
        assert value(reproduction_data, definition) == pytest.approx(wanted, abs=1e-12)


def test_means_of_two_language_pairs_and_of_their_rounded_means(reproduction_data: Path) -> None:
    write_folder(reproduction_data / "set", "zh-en")
    write_scores(
        reproduction_data / "set/metric-scores/zh-en/COMET-refA.seg.score", {s: QE[s] for s in "ABC"}
    )
    both = adjudge.meta(reproduction_data / "set", "en-de,zh-en", task="wmt23", metrics=("COMET-refA",))
    lps = ("en-de", "zh-en")
    assert value(reproduction_data, Definition(measure="meta", lps=lps)) == both.metrics[0].meta
    rounded = [round(part.metrics[0].meta or 0, 1) for part in both.parts]
    found = value(reproduction_data, Definition(measure="meta", lps=lps, rounded=1))
    assert found == pytest.approx(sum(rounded) / 2)


# Papers on folders in the layout that their users have...


@pytest.mark.parametrize("place", ["m-mad", "M-MAD/metrics_scores"])
def test_he_en_is_computed_as_soon_as_it_is_there(tmp_path: Path, place: str) -> None:
    folder = write_folder(tmp_path / "wmt23", "he-en")
    write_scores(folder / "metric-scores/he-en/chrF-refB.seg.score", {**METRIC, "refA": [1, 0.9, 1, 0.8]})
    write_scores(tmp_path / place / "M-MAD_he-en.seg.score", QE)
    found = reproduction_cells(reproduce("m-mad", tmp_path).cells)
    metrics = adjudge.meta(
        folder,
        "he-en",
        gold="mqm",
        task="wmt23",
        scores={"ours": tmp_path / place / "M-MAD_he-en.seg.score"},
    ).metrics
    by_name = {metric.name: metric for metric in metrics}
    for row, metric in (("chrF", "chrF-refB"), ("M-MAD (Ours)", "ours")):
        assert found["Table 9", row, "meta"].ours == by_name[metric].meta
        assert found["Table 9", row, "sys Acc"].ours == by_name[metric].results["sys_accuracy"].value
        assert by_name[metric].results["sys_accuracy"].n == 6  # A, B, C and the person
    assert found["Table 9", "BLEU", "meta"].reason == (
        "wanted: wmt23/metric-scores/he-en/BLEU-refB.seg.score"
    )


def test_a_test_set_that_was_fetched_needs_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path / "cache"))
    folder = write_folder(tmp_path / "cache/test-sets/wmt23")
    write_scores(folder / "metric-scores/en-de/chrF-refA.seg.score", METRIC)
    (tmp_path / "reproduction_data").mkdir()
    found = reproduction_cells(reproduce("m-mad", tmp_path / "reproduction_data").cells)
    assert found["Table 2", "chrF", "en-de seg Pearson"].ours is not None
    wanted = folder / "metric-scores/en-de/BLEU-refA.seg.score"
    assert found["Table 2", "BLEU", "en-de seg Pearson"].reason == f"wanted: {wanted.as_posix()}"


def write_ment(path: Path, lp: str, shift: float, *, lines: int = 3) -> None:
    """MENT of a few segments and four systems, with sums as scores of systems."""
    systems = {f"system_{n}": [(n * 7 + k * 5 + n * k) % 5 for k in range(lines)] for n in range(4)}
    (path / "sources").mkdir(parents=True, exist_ok=True)
    (path / f"sources/{lp}.txt").write_text('{"src": "s"}\n' * lines)
    for system in systems:
        (path / f"system-outputs/{lp}").mkdir(parents=True, exist_ok=True)
        (path / f"system-outputs/{lp}/{system}").write_text('{"trans": "t"}\n' * lines)
    ours = {s: [v * 2 + shift * k for k, v in enumerate(values)] for s, values in systems.items()}
    write_scores(path / f"human-scores/{lp}.seg.score", systems)
    write_scores(path / f"metric-scores/{lp}/RATE-src.seg.score", ours)


def seg_pearson(folder: Path, lp: str, first: int, last: int) -> float:
    """Pearson's r of all scores of these lines."""
    rows = []
    for name in (f"human-scores/{lp}.seg.score", f"metric-scores/{lp}/RATE-src.seg.score"):
        values: dict[str, list[float]] = {}
        for line in (folder / name).read_text().splitlines():
            values.setdefault(line.split("\t")[0], []).append(float(line.split("\t")[1]))
        rows.append([v for system in sorted(values) for v in values[system][first - 1 : last]])
    return float(np.asarray(np.corrcoef(rows))[0, 1])


def test_rate_is_computed_for_both_language_pairs_as_soon_as_both_are_there(tmp_path: Path) -> None:
    folder = tmp_path / "RATE/meta_eval/workspace"
    for lp, shift in (("zh-en", 1.5), ("en-zh", 2.5)):
        write_ment(folder, lp, shift)
    found = reproduction_cells(reproduce("rate", tmp_path).cells)
    both = adjudge.meta(folder, "zh-en,en-zh", task="ment").metrics[0].meta
    assert both is not None
    assert found["Table 3", "RATE (Ours)", "meta"].ours == pytest.approx(100 * both, abs=1e-12)
    assert found["Table 4", "RATE", "mean meta"].ours == pytest.approx(100 * both, abs=1e-12)
    for lp in ("zh-en", "en-zh"):
        results = adjudge.meta(folder, lp, task="ment").metrics[0].results
        flat = adjudge.meta(folder, lp, task="ment", average="none").metrics[0].results["seg_acc_eq"].value
        cell = found["Table 3", "RATE (Ours)", f"{lp} seg Acc-t"]
        assert cell.ours == 100 * (results["seg_acc_eq"].value or 0)
        assert cell.reason.endswith(f"gives {printed(100 * (flat or 0), '0.0')}")


def test_the_domains_of_rate_are_lines_of_the_files(tmp_path: Path) -> None:
    folder = tmp_path / "RATE/meta_eval/workspace"
    write_ment(folder, "en-zh", 0.01, lines=355)
    found = reproduction_cells(reproduce("rate", tmp_path).cells)
    lines = {"Table 8": (285, 355), "Table 9": (1, 92), "Table 10": (201, 284), "Table 11": (93, 200)}
    for table, (first, last) in lines.items():
        ours = found[table, "RATE (Ours)", "en-zh seg r"].ours
        assert ours == pytest.approx(100 * seg_pearson(folder, "en-zh", first, last), abs=1e-9)
        assert found[table, "RATE (Ours)", "meta"].reason.startswith("wanted: ")


def test_the_domains_of_the_paper_overlap_by_a_line(tmp_path: Path) -> None:
    folder = tmp_path / "RATE/meta_eval/workspace"
    lines = {
        "zh-en": {"Table 9": (1, 96), "Table 10": (183, 289), "Table 11": (96, 183)},
        "en-zh": {"Table 9": (1, 93), "Table 10": (201, 285), "Table 11": (93, 201)},
    }
    for lp, count in (("zh-en", 398), ("en-zh", 355)):
        write_ment(folder, lp, 0.01, lines=count)
    found = reproduction_cells(reproduce("rate", tmp_path).cells)
    for lp, tables in lines.items():
        for table, (first, last) in tables.items():
            reason = found[table, "RATE (Ours)", f"{lp} seg r"].reason
            assert "overlap by a line" in reason
            assert reason.endswith(f"gives {printed(100 * seg_pearson(folder, lp, first, last), '0.0')}")
            assert "overlap by a line" in found[table, "RATE (Ours)", "meta"].reason


def test_himate_is_one_system_and_runs_are_read_as_score_files_are(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "wmt22", "zh-en")
    (folder / "system-outputs/zh-en/A.txt").rename(folder / "system-outputs/zh-en/HuaweiTSC.txt")
    gold = {"HuaweiTSC": [-1, -2, -7, -4], "B": GOLD["B"], "C": GOLD["C"]}
    write_scores(folder / "human-scores/zh-en.mqm.seg.score", gold)
    for metric in (folder / "metric-scores/zh-en").iterdir():
        metric.unlink()
    ours = {"HuaweiTSC": [-1, -1, -5, -2]}
    write_scores(tmp_path / "himate/HiMATE-4o-mini_zh-en.seg.score", ours)
    run = [
        {"kind": "annotation", "lp": "zh-en", "document": "", "segment": str(n + 1), "system": "HuaweiTSC",
         "annotator": "m", "protocol": "esa", "rating": 100 + score, "spans": []}
        for n, score in enumerate(ours["HuaweiTSC"])
    ]  # fmt: skip
    (tmp_path / "himate/M-MAD-4o-mini_zh-en.jsonl").write_text("".join(json.dumps(r) + "\n" for r in run))
    found = reproduction_cells(reproduce("himate", tmp_path).cells)
    for name in ("HiMATE, 4o-mini", "M-MAD, 4o-mini"):
        row = {column: found["Table 1", name, f"zh-en {column}"].ours for column in ("tau", "s", "MAE")}
        assert row["tau"] == pytest.approx(0.912870929)
        assert row["s"] == pytest.approx(0.948683298)
        assert row["MAE"] == pytest.approx((1 / 6 + 1 / 4) / 4)
    assert found["Table 1", "HiMATE, 4o-mini", "en-de tau"].reason == "wanted: wmt22/sources/en-de.txt"
    assert found["Table 1", "BLEU", "zh-en tau"].reason == (
        "wanted: wmt22/metric-scores/zh-en/BLEU-refA.seg.score"
    )


def test_a_number_that_the_paper_does_not_print_stands_alone(reproduction_data: Path) -> None:
    why = Reason(tables=("Table 1",), text="mended")
    (cell,) = reproduce(paper("?", PEARSON), reproduction_data).cells
    assert (cell.paper, cell.verdict, cell.is_unprinted) == ("", "missing-input", True)
    assert (cell.ours, cell.reason) == (value(reproduction_data), "no number of the paper to compare")
    (cell,) = reproduce(paper("?", PEARSON, why), reproduction_data).cells
    assert cell.reason == "no number of the paper to compare; ours: mended"
