"""`adjudge agreement`, `bias`, `thresholds`, `estimate`, `meta` and `reproduce` as a user calls them."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import adjudge
from adjudge import examples
from adjudge.analysis.shared_tasks import list_tasks
from adjudge.core.record import Annotation, Preference, Record
from adjudge.formats.score_file import read_score_file
from adjudge.reproduce import reproduction
from adjudge.stats.correlation import kendall_like
from adjudge.store.json_lines import read_test_set, write_records
from adjudge.store.run_directory import read_records
from tests.analysis.folders import GOLD, METRIC, write_folder, write_own, write_ratings, write_scores
from tests.analysis.records import error, failed, mqm, preferred, rated
from tests.cli.calling import Ask


def data_of(ask: Ask, *arguments: object) -> dict[str, Any]:
    found: dict[str, Any] = ask.done("agreement", *arguments, "--format", "json").json
    return found


def values(data: dict[str, Any], **wanted: object) -> dict[tuple[str, str], float | None]:
    return {
        (row["measure"], " and ".join(row["between"])): row["value"]
        for row in data["rows"]
        if all(row[key] == value for key, value in wanted.items())
    }


def write(name: str, *records: Record) -> str:
    write_records(name, records)
    return name


def verdicts(annotator: str, text: str) -> list[Record]:
    return [preferred("a", "b", v, str(i), annotator=annotator) for i, v in enumerate(text)]  # type: ignore[arg-type]


def test_three_people_and_a_judge_on_preferences(ask: Ask) -> None:
    people = write("people.jsonl", *verdicts("p", "AABBE"), *verdicts("q", "AABEE"), *verdicts("r", "AEBAE"))
    judge = write("judge.jsonl", *verdicts("j", "AABBA"), failed("a", "b", segment="9", annotator="j"))
    data = data_of(ask, people, "--judge", judge, "--resamples", "50")
    found = values(data, criterion="overall")
    assert found["agreement, ranked easy", "j and majority"] == 1
    assert found["agreement, tied", "j and majority"] == 0
    assert {"Fleiss kappa", "Krippendorff alpha, nominal", "Krippendorff alpha, ordinal"} <= {
        m for m, _ in found
    }
    assert ("Cohen kappa", "p and q") in found
    assert data["tests"][0]["passes"] is None  # five units are too few
    assert data["notes"][:-1] == ["1 judgement failed; it has no label and is in no number."]


def test_an_annotator_in_two_files_is_compared_with_itself(ask: Ask) -> None:
    one = write("one.jsonl", *verdicts("p", "AABB"))
    two = write("two.jsonl", *verdicts("p", "AABE"))
    found = values(data_of(ask, one, two, "--resamples", "0"))
    assert found["agreement", f"{one}:p and {two}:p"] == 0.75


def test_scores_are_compared_as_scores_and_as_pairs(ask: Ask) -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 100, (4, 12))
    records: list[Record] = []
    for annotator in "pq":
        noise = np.clip(truth + rng.integers(-10, 11, truth.shape), 0, 100)
        records += [
            rated("abcd"[s], str(k), int(noise[s, k]), annotator=annotator)
            for s in range(4)
            for k in range(12)
        ]
    path = write("ratings.jsonl", *records)
    found = values(data_of(ask, path, "--resamples", "0"), criterion=None)
    alphas = {f"Krippendorff alpha, {level}" for level in ("ordinal", "interval")}
    pearsons = {"Pearson", "Pearson of system sums", "Pearson by segment"}
    assert {m for m, _ in found} == {*alphas, *pearsons, "Kendall tau-c"}
    ratings = [
        [r.rating or 0 for r in records if isinstance(r, Annotation) and r.annotator == n] for n in "pq"
    ]
    assert found["Pearson", "p and q"] == pytest.approx(stats.pearsonr(*ratings)[0])
    pairs = values(data_of(ask, path, "--pairs", "--tie", "5", "--resamples", "0"), criterion="overall")
    assert 0.5 < (pairs["Cohen kappa", "p and q"] or 0) < 1


def test_numbers_that_compare_values_need_one_scale(ask: Ask) -> None:
    points = write("mqm.jsonl", *(mqm("a", str(i), annotator="p") for i in range(40)))
    ratings = write("esa.jsonl", *(rated("a", str(i), i, annotator="q") for i in range(40)))
    judge = write("judge.jsonl", *(mqm("a", str(i), annotator="j") for i in range(40)))
    apart = data_of(ask, points, ratings, "--judge", judge, "--resamples", "0")
    assert {m for m, _ in values(apart)} >= {"Pearson", "Kendall tau-c"}
    assert not [m for m, _ in values(apart) if m.startswith("Krippendorff")]
    assert apart["tests"] == []
    assert any("(p: points of errors; q: 0 to 100)" in note for note in apart["notes"])


def test_a_judge_on_another_scale_than_people_is_not_tested_beside_them(ask: Ask) -> None:
    people: list[Record] = [rated("a", str(i), i, annotator=name) for name in "pq" for i in range(40)]
    path = write("esa.jsonl", *people)
    alike = write("alike.jsonl", *(rated("a", str(i), i, annotator="j") for i in range(40)))
    other = write("other.jsonl", *(mqm("a", str(i), annotator="k") for i in range(40)))
    data = data_of(ask, path, "--judge", alike, "--judge", other, "--resamples", "0")
    assert [test["judge"] for test in data["tests"]] == ["j"]
    assert ("Krippendorff alpha, interval", "all") in values(data)
    assert [n for n in data["notes"] if n.startswith("k is on another scale (points of errors)")]


def test_marked_errors_agree_where_both_or_neither_marked(ask: Ask) -> None:
    records: list[Record] = [
        mqm("a", "1", error("minor", "style"), annotator="p"),
        mqm("a", "1", error("critical", "accuracy"), annotator="q"),
        mqm("b", "1", error("neutral", "style"), annotator="p"),
        mqm("b", "1", annotator="q"),
    ]
    path = write("mqm.jsonl", *records)
    found = values(data_of(ask, path, "--resamples", "0"))
    assert [found[f"error recall, {kind}", "p and q"] for kind in ("any", "minor", "major")] == [1, 0.5, 0.5]
    by_criterion = data_of(ask, path, "--by-criterion", "--resamples", "0")
    criteria = {row["criterion"] for row in by_criterion["rows"]}
    assert criteria == {"faithfulness", "fluency", "style", "overall"}


def test_annotators_who_share_nothing_are_said_to(ask: Ask) -> None:
    other = [replace(r, segment=f"x{r.segment}") for r in verdicts("r", "AB")]
    path = write("p.jsonl", *verdicts("p", "AAB"), *verdicts("q", "ABB"), *other)
    (note,) = data_of(ask, path, "--resamples", "0")["notes"]
    assert "2 of 3 pairs of annotators judged nothing in common on overall" in note
    people = write("p.jsonl", *(mqm("A", "1", annotator=each) for each in "pq"))
    judge = write("j.jsonl", mqm("A", "2", annotator="j"))
    note, _ = data_of(ask, people, "--judge", judge, "--resamples", "0")["notes"]
    assert "2 of 3 pairs of annotators judged nothing in common," in note


@pytest.mark.parametrize(
    ("records", "wanted"),
    [
        (verdicts("p", "AB"), "needs two annotators or a judge; these are all by p"),
        ([*verdicts("p", "AB"), rated("a", "1", 3)], "holds preferences and annotations"),
    ],
)
def test_what_cannot_agree_is_an_error(records: list[Record], wanted: str, ask: Ask) -> None:
    asked = ask("agreement", write("p.jsonl", *records))
    assert asked.code != 0
    assert wanted in asked.err


def test_scores_beside_preferences_need_pairs(ask: Ask) -> None:
    path = write("p.jsonl", rated("a", "0", 90, annotator="p"), rated("b", "0", 60, annotator="p"))
    judge = write("j.jsonl", *verdicts("j", "A"))
    assert "add --pairs to turn the scores" in ask.refused("agreement", path, "--judge", judge)
    found = values(data_of(ask, path, "--judge", judge, "--pairs", "--resamples", "0"))
    assert found["agreement, ranked", "j and majority"] == 1


def test_the_planted_errors_agree_with_the_preferences_made_of_them(ask: Ask) -> None:
    preferences, errors = examples.path("gold.pairwise.jsonl"), examples.path("gold.mqm.jsonl")
    data = data_of(ask, preferences, "--judge", errors, "--by-criterion", "--resamples", "0")
    for criterion in ("faithfulness", "fluency", "style"):
        found = values(data, criterion=criterion)
        assert {v for (measure, _), v in found.items() if measure.startswith("agreement")} == {1}
    assert all(isinstance(r, Preference) for r in read_records(preferences))


@pytest.mark.realdata
def test_two_raters_of_wmt23_agree_as_scipy_says(adjudge_data: Path, ask: Ask) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    files = [folder / f"zh-en.mqm.rater{i}.seg.rating" for i in (1, 2)]
    data = data_of(ask, *files, "--resamples", "0")
    found = values(data)
    two = "mqm.rater1 and mqm.rater2"
    assert found["Krippendorff alpha, interval", "all"] == pytest.approx(0.444, abs=5e-4)
    assert found["Pearson", two] == pytest.approx(0.448, abs=5e-4)
    assert {row["n"] for row in data["rows"]} == {288, 18}
    assert read_score_file(folder / "zh-en.mqm.seg.score").values.shape[0] >= 16


@pytest.mark.parametrize("is_terminal", [True, False])
def test_a_bar_on_a_terminal_says_how_far_it_is(
    is_terminal: bool, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = write("people.jsonl", *(r for p in "pqr" for r in verdicts(p, "AABBE")))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    said = ask.done("agreement", people, "--resamples", "5", "--format", "json").err
    assert ("100%" in said, bool(said)) == (is_terminal, is_terminal)


@pytest.fixture
def judge() -> Path:
    """The examples' preferences, asked twice by a judge that takes the first where it sees no difference."""
    records = []
    for record in read_records(examples.path("gold.pairwise.jsonl")):
        assert isinstance(record, Preference)
        verdict = record.verdict
        orders = ("A", "B") if verdict == "E" else (verdict, verdict)
        records.append(replace(record, annotator="judge", orders=orders))  # type: ignore[arg-type]
    write_records("judge.jsonl", records)
    return Path("judge.jsonl")


def test_the_biases_are_one_json_object(judge: Path, ask: Ask) -> None:
    families = Path("families.json")
    families.write_text('{"systems": {"Birch": "b"}, "annotators": {"judge": "b"}}')
    gold = examples.path("gold.pairwise.jsonl")
    words = ("--gold", gold, "--families", families, "--lp", "en-de", "--format", "json")
    data = ask.done("bias", judge, *words).json
    assert data["signature"].startswith("judge|gold:")
    assert "|lp:en-de|resamples:1000|seed:0|version:" in data["signature"]
    assert [row["criterion"] for row in data["rows"]] == ["faithfulness", "fluency", "style", "overall"]
    style = data["rows"][2]
    assert (style["n"], style["failed"]) == (48, 0)
    ties = 36
    assert style["position"]["consistency"]["value"] == pytest.approx(1 - ties / 48)
    assert style["position"]["tie"]["value"] == 0
    assert style["position"]["lean"]["value"] == pytest.approx(ties / 48)
    assert style["family"]["systems"] == ["Birch"]
    assert style["family"]["beyond_gold"]["value"] == 0
    assert style["length"] is None


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "markdown", "latex"])
def test_every_format_has_every_number(form: str, judge: Path, ask: Ask) -> None:
    path = write("p.jsonl", *verdicts("p", "AABB"), *verdicts("q", "AABE"))
    more = ("--format", form, "--resamples", "50")
    assert ask.done("agreement", path, *more).out.count("Cohen kappa") == 1
    asked = ask.done("bias", judge, "--lp", "en-de", *more)
    assert asked.out.count("same verdict in both orders") == 4
    assert ("There is no gold" in asked.err) == (form in {"csv", "tsv"})
    assert ("There is no gold" in asked.out) == (form not in {"csv", "tsv"})


def test_a_p_value_is_never_printed_as_zero(judge: Path, ask: Ask) -> None:
    records = [replace(r, lp="en-de", segment=f"{r.lp} {r.segment}") for r in read_records(judge)]
    write_records("many.jsonl", records)
    out = ask.done("bias", Path("many.jsonl"), "--resamples", "0").out
    assert "<0.001" in out
    assert " 0.000" not in out.split("first wins both orders")[1].splitlines()[0]


def test_lengths_come_from_the_test_set_that_is_named(judge: Path, ask: Ask) -> None:
    texts = examples.path("test_set.jsonl")
    arguments = [judge, "--test-set", texts, "--lp", "en-de", "--resamples", "0", "--format", "json"]
    data = ask.done("bias", *arguments).json
    segments = {s.segment: s.translations for s in read_test_set(texts) if s.lp == "en-de"}
    points = []
    for record in read_records(judge):
        if isinstance(record, Preference) and (record.lp, record.criterion) == ("en-de", "style"):
            a, b = (len(segments[record.segment][system]) for system in record.systems)
            if a != b:
                points.append({"A": float(a > b), "B": float(b > a), "E": 0.5}[record.verdict])
    (found,) = (row["length"]["longer"] for row in data["rows"] if row["criterion"] == "style")
    assert found == {"value": pytest.approx(sum(points) / len(points)), "interval": None, "n": len(points)}


@pytest.mark.realdata
def test_score_files_in_a_test_set_have_its_texts(adjudge_data: Path, ask: Ask) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    scores, gold = (folder / f"en-de.{name}.seg.score" for name in ("da-sqm", "mqm"))
    (row,) = ask.done("bias", scores, "--gold", gold, "--resamples", "0", "--format", "json").json["rows"]
    assert row["length"]["longer"]["n"] > 30_000
    assert row["length"]["beyond_gold"]["value"] == pytest.approx(
        row["length"]["longer"]["value"] - row["length"]["gold"]["value"], abs=0.05
    )


RNG = np.random.default_rng(0)
SCORES = RNG.permutation(200) / 2.0


@pytest.fixture
def judged() -> Path:
    """One system; the last judgement failed."""
    path = Path("judge.jsonl")
    last = failed("x", segment="200")
    write_records(path, [*(rated("x", str(n), score) for n, score in enumerate(SCORES.tolist())), last])
    return path


@pytest.fixture
def gold() -> Path:
    """A major error in what scores below 40."""
    marks = [[error("major")] if score < 40 else [] for score in SCORES.tolist()]
    records = [mqm("x", str(n), *found, annotator="rater") for n, found in enumerate(marks)]
    write_records("gold.jsonl", records)
    return Path("gold.jsonl")


def labels(system: str, scores: Any = SCORES[:40], before: str = "") -> list[Record]:
    return [rated(system, f"{before}{n}", score, annotator="r") for n, score in enumerate(scores)]


def test_cut_offs_are_found_and_each_translation_is_decided(judged: Path, gold: Path, ask: Ask) -> None:
    risks = ("--publish-risk", 0.1, "--reject-risk", 0.1, "--decisions", "decisions.tsv")
    (band,) = ask.done("thresholds", judged, "--gold", gold, *risks, "--format", "json").json["bands"]
    publish, reject = band["publish"]["bound"], band["reject"]["bound"]
    assert (band["n"], band["bad"]) == (200, int((SCORES < 40).sum()))
    assert 30 < publish < 45
    assert reject < publish
    rows = [line.split("\t") for line in Path("decisions.tsv").read_text().splitlines()]
    assert rows[0] == ["lp", "segment", "system", "score", "decision"]
    assert rows[-1] == ["en-de", "200", "x", "", "failed"]
    for _, segment, _, score, decision in rows[1:-1]:
        assert float(score) == SCORES[int(segment)]
        assert (decision == "publish") == (float(score) >= publish)
        assert (decision == "reject") == (float(score) <= reject)


def test_a_person_reads_the_promise_in_words(judged: Path, gold: Path, ask: Ask) -> None:
    out = ask("thresholds", judged, "--gold", gold).out
    assert "Bad: half of its annotators, or more, marked a major error or a graver one." in out
    assert "With a chance of 95 % each: at most 5 % of what is published is bad" in out
    out = ask("thresholds", judged, "--gold", gold, "--guarantee", "average").out
    assert "On average: at most 5 % of all translations are published and bad" in out


def test_bad_may_be_a_low_score(judged: Path, ask: Ask) -> None:
    words = ("thresholds", judged, "--gold", judged, "--bad")
    found = ask.done(*words, 66, "--format", "json").json
    assert found["bad"] == "its gold score is below 66"
    assert found["bands"][0]["bad"] == int((SCORES < 66).sum())
    for bad in ("awful", "nan", "inf"):
        assert f"--bad is minor, major, critical, or a score; got '{bad}'" in ask.refused(*words, bad)


def test_domains_come_from_the_test_set_that_score_files_lie_in_or_that_is_named(
    judged: Path, gold: Path, ask: Ask
) -> None:
    folder = write_folder(Path("set"))
    for file in (*folder.glob("*/en-de*.txt"), *folder.glob("system-outputs/en-de/*.txt")):
        file.write_text("x\n" * 20)
    (folder / "documents" / "en-de.docs").write_text("news\td1\n" * 10 + "chat\td2\n" * 10)
    scores = {name: list(range(20)) for name in ("A", "B")}
    metric, people = folder / "metric-scores/en-de/m-src.seg.score", folder / "human-scores/en-de.h.seg.score"
    metric.parent.mkdir(parents=True, exist_ok=True)
    write_scores(metric, scores)
    write_scores(people, scores)
    texts = ("--test-set", folder, "--lp", "en-de", "--format", "json")
    for more in (("--format", "json"), texts):
        found = ask.done("thresholds", metric, "--gold", people, "--bad", 5, *more).json
        assert [band["name"] for band in found["bands"]] == ["all", "news", "chat"]
    ask.done("thresholds", judged, "--gold", gold, *texts)  # their texts may know no domains


def test_systems_are_estimated_from_few_labels(judged: Path, ask: Ask) -> None:
    words = ("estimate", judged, "--gold", write("few.jsonl", *labels("x", SCORES[:40] / 2)))
    (row,) = ask(*words, "--format", "json").json["systems"]
    assert (row["system"], row["ahead"], row["mean"]["labelled"]) == ("x", None, 40)
    assert row["mean"]["value"] == pytest.approx(SCORES.mean() / 2, abs=0.5)
    out = ask(*words).out
    assert "labels alone" in out
    assert "This holds if the labelled segments were drawn at random." in out
    assert len(ask(*words, "--format", "csv").rows) == 1


def test_labels_of_other_systems_and_segments_are_named(judged: Path, ask: Ask) -> None:
    others = {
        "Systems that ann does not have, scored by gold, are left out: X.": labels("X"),
        "gold judges 40 segments that ann does not have, such as 's0'": labels("x", before="s"),
    }
    for culprits, records in others.items():
        asked = ask("estimate", judged, "--gold", write("few.jsonl", *records))
        assert asked.code != 0
        assert f"gold judges no system and segment of ann: {culprits}" in asked.err
    few = write("few.jsonl", *labels("x"), labels("X")[0])
    notes = ask("estimate", judged, "--gold", few, "--format", "json").json["notes"]
    assert notes[2] == "1 label of translations that ann did not judge is left out."


OF_SYSTEMS = ("accuracy", "pearson", "spearman", "kendall")
OF_SEGMENTS = (
    *("acc_eq", "acc_eq_epsilon", "acc_eq_chance"),
    *("pearson", "spearman", "kendall_b", "kendall_c"),
)
KEYS = [*(f"sys_{name}" for name in OF_SYSTEMS), "spa", *(f"seg_{name}" for name in OF_SEGMENTS), "meta"]


@pytest.fixture
def folder() -> Path:
    return write_folder(Path("set"))


def test_json_is_one_object_with_plain_numbers(folder: Path, ask: Ask) -> None:
    asked = ask("meta", folder, "--lp", "en-de", "--gold", "mqm", "--format", "json")
    found = asked.json
    assert asked.code == 0
    assert (found["lp"], found["gold"], found["systems"]) == ("en-de", "mqm", ["A", "B", "C"])
    assert (found["n_segments"], found["n_all"], found["excluded"]) == (3, 4, ["refA"])
    assert list(found["metrics"]) == ["COMET-refA", "QE-src"]
    row = found["metrics"]["COMET-refA"]
    assert [key for key in row if key in KEYS] == KEYS
    assert all(isinstance(row[key], float) for key in KEYS if key != "meta")
    assert row["meta"] is None
    assert (row["n"], row["failed"]) == (9, 0)
    (ours, _) = adjudge.meta(folder, gold="mqm").metrics
    assert ours.results["spa"].value == row["spa"]
    assert found["signature"].startswith(
        "meta|test_set:set|lp:en-de|gold:mqm|reference:refA|excluded:refA|segments:3/4|version:"
    )
    assert "3 systems are compared" in asked.err


def test_the_table_marks_the_best_and_says_what_was_left_out(folder: Path, ask: Ask) -> None:
    asked = ask("meta", folder, "--measures", "seg_pearson,seg_acc_eq")
    lines = asked.out.splitlines()
    heading = next(line for line in lines if "metric" in line)
    assert heading.split() == ["metric", "seg", "r", "acc_eq", "chance", "n", "failed"]
    names = [line.split()[0] for line in lines if "-refA" in line or "-src" in line]
    assert names == ["COMET-refA", "QE-src"]
    assert asked.out.count("*") == 2
    assert "left out: refA (reference that metrics were shown)." in asked.out
    assert "Gold mqm judged 3 of 4 segments" in asked.out
    for form, mark in (("markdown", "**0.9"), ("latex", r"\textbf{0.9")):
        out = ask("meta", folder, "--measures", "seg_pearson", "--format", form).out
        assert out.count(mark) == 1
        assert "set en-de, gold mqm" in out


def test_separated_values_have_every_number_in_full(folder: Path, ask: Ask) -> None:
    rows = ask("meta", folder, "--format", "csv", "--strata", "domain", "--smallest", "3").rows
    whole = ask("meta", folder, "--format", "json").json["metrics"]["QE-src"]
    of_one = [row for row in rows if row["metric"] == "QE-src"]
    assert [row["stratum"] for row in of_one] == ["", "domain: news", "domain: chat"]
    found = of_one[0]
    assert float(found["seg_acc_eq_chance"]) == whole["seg_acc_eq_chance"]
    assert (found["seg_pearson"], found["seg_pearson_n"]) == (repr(whole["seg_pearson"]), "9")


def test_runs_and_files_of_ones_own_are_judged(ask: Ask) -> None:
    own = write_own(Path("own.jsonl"))
    gold = write_ratings(Path("people.jsonl"), {"A": [90, 80, 70, 60], "B": [80, 50, 40, 30]})
    judge = write_ratings(Path("judge.jsonl"), {"A": [9, 8, None, 6], "B": [7, 5, 4, 3]})
    comet = write_scores(Path("COMET.seg.score"), METRIC)
    scores = ("--scores", f"mine={judge}", "--scores", comet)
    found = ask("meta", own, "--gold", gold, *scores, "--format", "json").json
    metrics = found["metrics"]
    assert list(metrics) == ["mine", "COMET"]
    assert (metrics["mine"]["failed"], metrics["mine"]["n"], metrics["COMET"]["n"]) == (1, 7, 8)
    assert found["excluded"] == ["C"]


def test_a_measure_without_value_is_null_and_says_why(folder: Path, ask: Ask) -> None:
    constant = write_scores(folder / "same.seg.score", {s: [1, 1, 1, 1] for s in "ABC"})
    asked = ask("meta", folder, "--scores", constant, "--format", "json")
    row = asked.json["metrics"]["same"]
    assert row["seg_pearson"] is None
    assert "all metric scores are equal" in row["reasons"]["seg_pearson"]
    assert "same gives every translation the score 1" in asked.err
    assert "all metric scores are equal" in ask("meta", folder, "--scores", constant).out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--gold", "esa"], "no gold 'esa', and there is no such file; it has mqm"),
        (["--measures", "pearson"], "no measure 'pearson'; there are sys_accuracy"),
        (["--strata", "genre"], "strata must be"),
        (["--lp", "en-fr"], "no lp 'en-fr'"),
        (["--scores", "nothing.seg.score"], "nothing.seg.score"),
        (["--task", "wmt18"], "no task 'wmt18'"),
        (["--metrics", ""], "metrics must be one name or more"),
        (["--measures", " , "], "measures must be one name or more"),
        (["--strata", ""], "strata must be one name or more"),
        (["--threshold", "2"], "no measure here takes a threshold; one that does: --measures seg_kendall"),
    ],
)
def test_what_is_not_there_is_said_in_one_line(
    folder: Path, ask: Ask, arguments: list[str], message: str
) -> None:
    asked = ask("meta", folder, *arguments)
    assert asked.code in {1, 2}
    assert asked.out == ""
    assert message in asked.err
    assert len(asked.err.strip().splitlines()) == 1


def test_two_language_pairs_are_two_parts_and_a_whole(folder: Path, ask: Ask) -> None:
    write_folder(folder, lp="zh-en")
    found = ask("meta", folder, "--lp", "en-de,zh-en", "--format", "json").json
    assert [part["lp"] for part in found["parts"]] == ["en-de", "zh-en"]
    assert found["lp"] == "en-de,zh-en"
    whole, part = found["metrics"]["QE-src"], found["parts"][0]["metrics"]["QE-src"]
    assert whole["sys_accuracy"] == part["sys_accuracy"]


def test_the_kendall_like_measure_counts_pairs_as_far_apart_as_is_said(folder: Path, ask: Ask) -> None:
    asked = ("meta", folder, "--measures", "seg_kendall_like", "--intervals", "--format", "json")
    far, near = (ask(*asked, *more).json for more in ((), ("--threshold", "2")))
    systems = near["systems"]
    gold, metric = (np.array([side[s] for s in systems], float) for side in (GOLD, METRIC))
    wanted = kendall_like(gold, metric, "item", threshold=2).value
    row = near["metrics"]["COMET-refA"]
    assert far["metrics"]["COMET-refA"]["seg_kendall_like"] is None  # no two are 25 apart
    assert row["seg_kendall_like"] == wanted is not None
    assert row["intervals"]["seg_kendall_like"] is not None
    assert "|threshold:2|" in near["signature"]
    assert "threshold" not in far["signature"]


def test_measures_and_tasks_are_listed(ask: Ask) -> None:
    measures = json.loads(ask("list", "measures", "--format", "json").out)["measures"]
    assert set(KEYS) - {"meta", "seg_acc_eq_epsilon", "seg_acc_eq_chance"} <= {m["measure"] for m in measures}
    tasks = ask("list", "tasks", "--format", "json").json["tasks"]
    assert [task["task"] for task in tasks] == [task.name for task in list_tasks()]


def test_clusters_and_intervals_are_printed(folder: Path, ask: Ask) -> None:
    asked = ("meta", folder, "--measures", "seg_pearson,seg_mae", "--significance", "50", "--intervals")
    table = ask(*asked, "--scale", "minmax").out
    assert "(1)*" in table
    assert "95 % intervals, en-de" in table
    found = ask(*asked, "--format", "json").json
    row = found["metrics"]["QE-src"]
    assert row["clusters"]["seg_pearson"] in {1, 2}
    assert len(row["intervals"]["seg_pearson"]) == 2
    assert row["seg_mae"] is None  # a metric's range is not known from its file
    assert found["p_values"]["metrics"] == ["COMET-refA", "QE-src"]
    assert found["p_values"]["better"]["seg_pearson"][0][0] == 1
    rows = ask(*asked, "--format", "tsv").out.splitlines()
    assert "seg_pearson_low" in rows[0]
    assert "seg_pearson_cluster" in rows[0]


def test_figures_are_written_to_a_folder(folder: Path, ask: Ask) -> None:
    assert "2 figures in" in ask("meta", folder, "--metrics", "QE-src", "--figures", Path("drawn")).err
    kinds, forms = ("scatter", "calibration"), ("pdf", "svg", "png")
    names = {f"{kind}.en-de.mqm.QE-src.{form}" for kind in kinds for form in forms}
    assert {file.name for file in Path("drawn").iterdir()} == names
    assert "no metric 'BLEU'; there are COMET-refA, QE-src" in ask("meta", folder, "--metrics", "BLEU").err


def test_strata_stand_in_one_table_with_lines_between_them(folder: Path, ask: Ask) -> None:
    asked = ("meta", folder, "--strata", "domain", "--measures", "seg_pearson", "--format", "markdown")
    out = ask(*asked, "--smallest", "6").out
    rows = [line.split("|")[1:4] for line in out.splitlines() if line.startswith("| news")]
    assert [[cell.strip() for cell in row] for row in rows] == [
        ["news", "2", "COMET-refA"],
        ["news", "2", "QE-src"],
    ]
    assert "chat: no numbers, for 3 judged translations, 6 are needed." in out


def test_what_to_know_of_a_number_stands_below_the_table(folder: Path, ask: Ask) -> None:
    tied = {"A": [1, 2, 3, 4], "B": [1, 2, 3, 4], "C": [0, 1, 2, 3]}
    file = write_scores(folder.parent / "tied.seg.score", tied)
    asked = ask("meta", folder, "--scores", f"tied={file}", "--measures", "spa")
    assert "of tied: the metric ties the systems of 1 pair in every segment;" in " ".join(asked.out.split())


def test_tables_of_markdown_have_an_empty_line_between_them(folder: Path, ask: Ask) -> None:
    write_folder(folder, lp="zh-en")
    lines = ask("meta", folder, "--lp", "en-de,zh-en", "--intervals", "--format", "markdown").out.splitlines()
    titles = [place for place, line in enumerate(lines) if line.startswith("**")]
    assert len(titles) == 5
    assert all(lines[place - 1] == "" for place in titles[1:])


def test_several_golds_have_no_numbers_together(folder: Path, ask: Ask) -> None:
    write_scores(folder / "human-scores/en-de.da.seg.score", METRIC)
    asked = "meta", folder, "--gold", "mqm", "--gold", "da", "--format"
    rows = ask(*asked, "csv").rows
    assert [(row["gold"], row["metric"]) for row in rows] == [
        (gold, metric) for gold in ("mqm", "da") for metric in ("COMET-refA", "QE-src")
    ]
    found = ask(*asked, "json").json
    assert set(found) == {"signature", "test_set", "lp", "gold", "notes", "parts"}
    assert "segments:" not in found["signature"]
    assert [part["n_segments"] for part in found["parts"]] == [3, 4]
    assert "en-de, gold da: " in ask(*asked, "csv").err


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """WMT23 en-de of four segments with two metrics of the paper."""
    folder = write_folder(tmp_path / "wmt23")
    write_scores(folder / "metric-scores/en-de/chrF-refA.seg.score", METRIC)
    return tmp_path


def test_json_has_every_cell_with_its_verdict(data: Path, ask: Ask) -> None:
    asked = ask("reproduce", "m-mad", "--data", data, "--format", "json")
    found = asked.json
    assert (asked.code, found["paper"]) == (0, "m-mad")
    assert {tuple(cell) for cell in found["cells"]} == {
        ("table", "row", "column", "paper", "ours", "verdict", "reason")
    }
    (cell,) = [c for c in found["cells"] if (c["row"], c["column"]) == ("chrF", "en-de seg Pearson")]
    assert (cell["table"], cell["paper"], cell["verdict"]) == ("Table 2", 0.232, "differs")
    assert 0.9 < cell["ours"] < 1
    lacking = [c for c in found["cells"] if c["verdict"] == "missing-input"]
    assert all(c["ours"] is None and c["reason"].startswith("wanted: ") for c in lacking)
    assert sum(found["counts"].values()) == len(found["cells"])
    assert found["counts"]["missing-input"] == len(lacking)
    assert "lack an input" in asked.err


def test_a_row_of_ones_own_is_added(data: Path, ask: Ask) -> None:
    own = write_scores(data / "en-de.own.seg.score", METRIC)
    asked = ask("reproduce", "m-mad", "--data", data, "--add", f"mine={own}", "--format", "json")
    (theirs, mine) = [
        c for c in asked.json["cells"] if c["column"] == "en-de seg Pearson" and c["row"] in {"chrF", "mine"}
    ]
    assert (mine["ours"], mine["paper"], mine["reason"]) == (theirs["ours"], None, "no row of the paper")
    wrong = ("--data", data, "--add", data / "nothing")
    assert "no run and no file" in ask.refused("reproduce", "m-mad", *wrong)


def test_the_table_has_the_papers_tables_and_ends_with_a_count(data: Path, ask: Ask) -> None:
    asked = ask("reproduce", "m-mad", "--data", data)
    titles = [line for line in asked.out.splitlines() if line.startswith("Table ")]
    assert [title.strip() for title in titles] == [f"Table {n}" for n in (1, 2, 5, 6, 7, 9)]
    (line,) = [x for x in asked.out.splitlines() if x.split()[:4] == ["chrF", "en-de", "seg", "Pearson"]]
    assert line.split()[4] == "0.232"
    assert "differs" in line
    assert "wanted: wmt23/sources/zh-en.txt" in asked.out
    assert asked.out.splitlines()[-1].startswith("m-mad: 268 cells; of 8 computed 0 match")


def test_other_forms_have_every_cell_too(data: Path, ask: Ask) -> None:
    words = ("reproduce", "m-mad", "--data", data, "--format")
    rows = ask.done(*words, "csv").rows
    assert (len(rows), rows[0]["paper"]) == (268, "0.808")
    assert list(rows[0]) == ["table", "row", "column", "paper", "ours", "verdict", "reason"]
    assert {row["verdict"] for row in rows} == {"differs", "missing-input"}
    assert ask.done(*words, "tsv").out.startswith("table\trow\tcolumn")
    assert "\n\n**Table 2**\n\n| row |" in ask.done(*words, "markdown").out
    assert "% Table 2\n\\begin{tabular}" in ask.done(*words, "latex").out


def test_an_unknown_paper_and_an_unknown_folder_are_wrong_use(data: Path, ask: Ask) -> None:
    assert "no paper 'bleu'" in ask.refused("reproduce", "bleu", "--data", data)
    assert "no folder" in ask.refused("reproduce", "rate", "--data", data / "nowhere")
    assert ask("reproduce", "rate").code == 2


def test_a_broken_file_is_an_error(data: Path, ask: Ask) -> None:
    (data / "wmt23/metric-scores/en-de/chrF-refA.seg.score").write_text("A\t1\n")
    assert "chrF-refA.seg.score" in ask.refused("reproduce", "m-mad", "--data", data, code=1)


@pytest.mark.realdata
def test_what_a_paper_does_not_print_is_null_and_a_dash(
    adjudge_data: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reproduction, "reproduce", cache(reproduction.reproduce))
    asked = ask("reproduce", "esa", "--data", adjudge_data, "--format", "json")
    alone = [c for c in asked.json["cells"] if c["paper"] is None and c["ours"] is not None]
    assert {c["verdict"] for c in alone} == {"missing-input"}
    assert all(c["reason"].startswith("no number of the paper") for c in alone)
    assert f"{len(alone)} have no number in the paper" in asked.err
    asked = ask("reproduce", "esa", "--data", adjudge_data)
    (line,) = [x for x in asked.out.splitlines() if x.split()[:4] == ["checks", "ESA,", "all", "–"]]
    assert line.split()[4:7] == ["396", "–", "–"]
