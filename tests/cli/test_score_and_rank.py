"""`adjudge score` and `rank` as a user calls them."""

import io
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge import examples
from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.people import people
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import RunInfo, Signature
from adjudge.core.segment import Segment, TestSet
from adjudge.formats.mtme import write_ratings, write_score_records
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import read_records, write_run_info
from tests.analysis.records import error, failed, mqm, preferred, rated
from tests.campaigns.work import work_off
from tests.cli.calling import Ask
from tests.reports.samples import small_test_set

# Who judged a filler of a batch judged a translation twice: the first judgement counts, and that is said.


SEGMENTS = [str(i) for i in range(6)]


@pytest.fixture
def _twice() -> None:
    """Two annotators of two systems; the first judged one translation again, and otherwise."""
    anna, ben = ([mqm(x, s, annotator=who) for s in SEGMENTS for x in "ab"] for who in ("anna", "ben"))
    again = mqm("a", "0", error("major"), annotator="anna")
    write_records("anna.jsonl", [replace(again, flags=("duplicate",)), *anna])
    write_records("ben.jsonl", ben)
    texts = [Segment(segment=s, lp="en-de", source="x", translations={"a": "y", "b": "z"}) for s in SEGMENTS]
    write_test_set("texts.jsonl", TestSet(name="t", segments=tuple(texts)))


TAKES_JUDGEMENTS = """
score anna.jsonl
rank anna.jsonl
rank anna.jsonl --method copeland
agreement anna.jsonl ben.jsonl --pairs
agreement anna.jsonl ben.jsonl
bias anna.jsonl
compare anna.jsonl ben.jsonl
spans anna.jsonl --gold ben.jsonl
thresholds ben.jsonl --gold anna.jsonl --bad major
power anna.jsonl
meta texts.jsonl --gold ben.jsonl --scores anna.jsonl
report anna.jsonl --test-set texts.jsonl --out report.html
"""


@pytest.mark.usefixtures("_twice")
def test_the_first_judgement_counts_and_both_stay_in_the_records(ask: Ask) -> None:
    told = {}
    for command in TAKES_JUDGEMENTS.strip().splitlines():
        asked = ask.done(*command.split())
        told[command] = " ".join((asked.out + asked.err).split()).count("1 judgement was repeated")
    assert {command: times for command, times in told.items() if times != 1} == {}
    assert [row["score"] for row in ask("score", "anna.jsonl", "--format", "csv").rows] == ["0.0", "0.0"]
    ask.done("convert", "anna.jsonl", "new.jsonl", "--to", "records")
    kept = [r for r in read_records("new.jsonl") if isinstance(r, Annotation)]
    assert [r.flags for r in kept if (r.segment, r.system) == ("0", "a")] == [("duplicate",), ()]


REPORT_TEXTS = small_test_set(["en-de"])


def test_a_campaign_and_its_export_and_a_metric_make_one_page(ask: Ask) -> None:
    """Two people did everything in the campaign; the metric scored the same texts."""
    write_test_set("set.jsonl", REPORT_TEXTS)
    ask.done("campaign", "new", "autumn", "set.jsonl", "-n", "anna,ben", "--raters", "2")
    with open_campaign("autumn") as campaign:
        for who in people(campaign):
            if who.role == "annotator":
                work_off(campaign, who, 1_760_000_000.0)
    said: dict[str, Any] = {"lp": "en-de", "annotator": "metric", "protocol": "metric"}
    scores = [
        Annotation(segment=s.segment, system=name, rating=len(text), **said)
        for s in REPORT_TEXTS
        for name, text in s.translations.items()
    ]
    write_score_records(Path("metric.seg.score"), scores, REPORT_TEXTS)
    ask.done("campaign", "export", "autumn", "autumn.jsonl")
    for source in ("autumn", "autumn.jsonl"):
        ask.done("report", source, "metric.seg.score", "--out", f"{source}.html")
        page = Path(f"{source}.html").read_text(encoding="utf-8")
        assert "<bdi>metric</bdi>" in page
        assert "<bdi>autumn</bdi>" in page
        assert all(name in page for name in ("anna", "ben", *REPORT_TEXTS.systems))
    command = "adjudge rank metric.seg.score\nadjudge report autumn metric.seg.score --out autumn.html"
    assert command in Path("autumn.html").read_text(encoding="utf-8")


@pytest.fixture
def records() -> Path:
    """Two systems over 20 segments in two documents; one judgement of b failed."""
    path = Path("gold.jsonl")
    found: list[Record] = []
    for i in range(20):
        document = f"doc{i // 10}"
        found.append(mqm("a", str(i), error("minor"), document=document))
        found.append(
            failed("b", segment="0", protocol="mqm")
            if i == 0
            else mqm("b", str(i), error("major"), error("minor", "fluency/punctuation"), document=document)
        )
    write_records(path, found)
    return path


TEXTS = TestSet(name="t", segments=(Segment(segment="0", lp="en-de", source="x"),))


def make_run(folder: Path, records: list[Record], **fields: Any) -> Path:
    info: dict[str, Any] = {
        "signature": Signature(folder.name, {"model": "builtin/rules", "version": "1"}),
        "kind": "judge",
        "annotator": "ann",
        "protocol": records[0].protocol,
    }
    write_run_info(folder, RunInfo(**(info | fields)))
    write_test_set(folder / "test_set.jsonl", TEXTS)
    write_records(folder / "records.jsonl", records)
    return folder


def make_metric(folder: Path, segments: int = 3, **corpus: float) -> Path:
    """A run of a metric that scores systems in equal steps; `corpus`: what it gives each as a whole."""
    records: list[Record] = [
        rated(name, str(i), i * (place + 1), protocol="metric", document=f"d{i}")
        for i in range(segments)
        for place, name in enumerate(corpus)
    ]
    return make_run(folder, records, kind="metric", corpus_scores={"en-de": corpus})


def test_score_prints_a_table_with_n_failures_interval_and_signature(records: Path, ask: Ask) -> None:
    asked = ask.done("score", records)
    assert [line.split() for line in asked.out.splitlines() if line.startswith((" a", " b"))] == [
        ["a", "−1.00", "−1.00", "to", "−1.00", "20", "0"],
        ["b", "−5.10", "−5.10", "to", "−5.10", "19", "1"],
    ]
    assert "ann|protocol:mqm|weights:mqm-google|failed:1/40|version:" in asked.out
    assert "1 of 40 judgements failed; it has no score and is in no mean." in asked.out
    assert "(a 20, b 19; 19 in common)" in asked.out
    assert asked.err == ""


def test_score_as_json_has_the_shape_that_others_rely_on(records: Path, ask: Ask) -> None:
    asked = ask("score", records, "--format", "json")
    assert list(asked.json) == ["signature", "range", "direction", "systems", "interval_notes"]
    assert asked.json["range"] == [None, 0]
    assert asked.json["direction"] == "higher is better"
    assert asked.json["systems"]["a"] == {"score": -1, "n": 20, "failed": 0, "interval": [-1, -1]}
    assert set(asked.json["systems"]["b"]) == {"score", "n", "failed", "interval"}
    assert "1 of 40 judgements failed" in asked.err


def test_scores_of_segments_and_documents_come_along(records: Path, ask: Ask) -> None:
    segments = ask("score", records, "--level", "seg", "--format", "json").json["segments"]
    assert len(segments) == 40
    assert segments[:2] == [
        {"segment": "0", "system": "a", "score": -1.0},
        {"segment": "0", "system": "b", "score": None},
    ]
    documents = ask("score", records, "--level", "doc", "--format", "json").json["documents"]
    assert documents[0] == {"document": "doc0", "system": "a", "score": -1.0, "n": 10, "failed": 0}
    assert [(d["n"], d["failed"]) for d in documents] == [(10, 0), (9, 1), (10, 0), (10, 0)]
    table = ask("score", records, "--level", "seg").out
    assert [line.split() for line in table.splitlines()[3:5]] == [["0", "a", "−1.00"], ["0", "b", "failed"]]
    rows = ask("score", records, "--level", "seg", "--format", "csv").rows
    assert rows[1] == {"segment": "0", "system": "b", "score": ""}
    assert ask("score", records, "--level", "doc", "--format", "tsv").out.startswith("document\tsystem\t")


def test_programs_get_every_digit(records: Path, ask: Ask) -> None:
    rows = ask("score", records, "--format", "csv").rows
    assert list(rows[0]) == ["system", "score", "low", "high", "n", "failed"]
    assert float(rows[1]["score"]) == pytest.approx(-5.1)
    assert "−" not in rows[1]["score"]


def test_weights_are_chosen_by_name(records: Path, ask: Ask) -> None:
    asked = ask("score", records, "--weights", "gemba", "--format", "json")
    assert asked.json["range"] == [-25, 0]
    assert asked.json["systems"]["b"]["score"] == -6
    wrong = ask("score", records, "--weights", "mqm")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("adjudge: no weights 'mqm'; there are mqm-google")


def test_a_run_is_scored_with_its_weights_and_signature(ask: Ask) -> None:
    run = make_run(Path("gemba-mqm"), [mqm("a", "0", error("minor", "fluency/punctuation"))], weights="gemba")
    asked = ask("score", run, "--format", "json")
    assert asked.json["signature"] == "gemba-mqm|model:builtin/rules|weights:gemba|failed:0/1|version:1"
    assert asked.json["systems"]["a"]["score"] == -1


def test_a_corpus_score_has_no_interval(ask: Ask) -> None:
    run = make_metric(Path("bleu"), a=31.5)
    found = ask("score", run, "--format", "json").json
    assert found["systems"]["a"] == {"score": 31.5, "n": 3, "failed": 0, "interval": None}
    assert "|level:corpus|" in found["signature"]
    assert "|level:corpus|" in ask("score", run).out


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("score {} --level seg", "segment"),
        ("score {} --level doc", "mean"),
        ("rank {}", "mean"),
        ("compare {} a b", "mean"),
        ("gate --baseline {} --systems a,b --margin 1", "mean"),
        ("power {} a b", "mean"),
        ("estimate {} --gold {}", "mean"),
        ("thresholds {} --gold {} --bad 20", "segment"),
    ],
)
def test_numbers_of_segments_are_signed_as_such_though_a_metric_has_a_corpus_score(
    ask: Ask, words: str, level: str
) -> None:
    bleu = make_metric(Path("bleu"), 30, a=31.5, b=30)
    out = ask(*words.format(bleu, bleu).split()).out
    assert f"|level:{level}" in out
    assert "level:corpus" not in out


def test_the_level_is_not_signed_where_there_is_but_one(ask: Ask) -> None:
    plain = make_run(Path("plain"), [rated("a", "1", 1, protocol="metric")], kind="metric")
    for level in ("seg", "doc"):
        assert "level:" not in ask("score", plain, "--level", level).out


def test_where_all_failed_the_table_shows_dashes(ask: Ask) -> None:
    write_records("r.jsonl", [failed("a", segment=str(i)) for i in range(3)])
    row = next(line for line in ask("score", "r.jsonl").out.splitlines() if " a " in line)
    assert row.split() == ["a", "–", "–", "0", "3"]
    ranked = ask("rank", "r.jsonl", "--format", "json")
    assert ranked.json["systems"] == [
        {"system": "a", "score": None, "interval": None, "ranks": None, "cluster": None, "n": 0, "failed": 3}
    ]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("nothing.jsonl", None, "nothing.jsonl"),
        ("text.txt", b"hello\n", "no known format"),
        (".", None, "no known format"),
        ("mqm.seg.score", b"a\t1\n", "add --lp, such as --lp en-de"),
        ("mqm.sys.score", b"a\t1\n", "known and not read here: give the .seg.score or .seg.rating"),
        ("mqm.domain.score", b"a\t1\n", "known and not read here: give the .seg.score or .seg.rating"),
        ("mqm.seg.rating", b"a\t1\n", "say what they are about with --test-set"),
        ("texts.jsonl", b'{"segment": "0", "lp": "en-de", "source": "x"}\n', "holds texts and no judgements"),
        ("empty.jsonl", b"", "the file is empty; give a run or records"),
        ("blank.jsonl", b" \n\n", "the file holds blanks and empty lines only"),
        ("scores.tsv", b"system\tsegment\tscore\n", "it has a heading and no row below it"),
        ("texts.csv", b"source,Alder\n", "the table has no row"),
        ("noise.jsonl", b"\x8a\xa6\x00" * 900, "no text, and no other format that is known: byte 0x8A"),
        ("cut.json", b'{"lp": "en-de", "segm', "JSON that is cut off or damaged: Unterminated string"),
        ("cut.jsonl", b'{"segment": "1", "source": "a", "translations": {"A', "cut.jsonl line 1"),
        ("en-de.m.seg.score", b"a\tNone\nb\tNone\n", "no score in this file: every line says None"),
    ],
)
def test_what_cannot_be_scored_says_what_can(
    name: str, content: bytes | None, message: str, ask: Ask
) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    else:
        Path("something.txt").write_text("hello\n")
    for command in ("score", "rank"):
        asked = ask(command, name)
        assert (asked.code in {1, 2}, asked.out) == (True, "")
        assert message in asked.err


def test_an_empty_folder_is_called_that(ask: Ask) -> None:
    Path("folder").mkdir()
    for command in ("score", "rank"):
        assert "found an empty folder" in ask.refused(command, "folder", code=1)


@pytest.mark.parametrize("name", ["en-de.mqm.seg.score", "metric-scores/en-de/COMET-refA.seg.score"])
def test_score_files_are_read_and_none_is_no_score(name: str, tmp_path: Path, ask: Ask) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a\t1\na\tNone\na\t3\nb\t4\nb\t5\nb\t6\n")
    asked = ask("score", path, "--lp", "eng-deu", "--format", "json")
    assert asked.json["signature"].startswith(f"{path.name.split('.')[-3]}|protocol:metric|failed:0/5|")
    reach = 12.706205  # Student's t with one degree of freedom, and a standard error of 1
    around = pytest.approx([2 - reach, 2 + reach])
    assert asked.json["systems"]["a"] == {"score": 2, "n": 2, "failed": 0, "interval": around}
    ranked = ask("rank", path, "--format", "json")
    assert [(s["system"], s["score"], s["n"]) for s in ranked.json["systems"]] == [("b", 5, 2), ("a", 2, 2)]
    assert "1 of 3 segments is not judged for every system, and left out." in ranked.err


def test_a_language_pair_that_is_given_counts_more_than_the_name_of_a_folder(ask: Ask) -> None:
    (path := Path("mqm-tsv/ted.avg_seg_scores.tsv")).parent.mkdir()
    path.write_text("system mqm_avg_score seg_id\na\t-1 1\na\tNone 2\n")
    asked = ask("score", path, "--lp", "zh-en", "--format", "json")
    assert asked.json["signature"].startswith("ted|protocol:metric|")
    assert asked.json["systems"]["a"]["score"] == -1
    other = path.rename(Path("en-de.m.avg_seg_scores.tsv"))
    assert "has no lp 'zh-en'; it has en-de" in ask("score", other, "--lp", "zh-en").err


def test_records_may_come_from_standard_input(
    records: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    wanted = ask("score", records, "--format", "csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(records.read_bytes())))
    assert ask("score", "-", "--format", "csv").out == wanted.out


def test_an_mqm_file_is_scored_and_what_is_odd_in_it_is_said(ask: Ask) -> None:
    head = ["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity"]
    rows = [
        ["a", "d:en-de", "1", "1", "r", "x", "ein <v>Fehler</v>", "Accuracy/Mistranslation", "Major"],
        ["a", "d:en-de", "2", "2", "r", "x", "gut", "No-error", "No-error"],
        ["b", "d:en-de", "1", "1", "r", "x", "<v>ein </v>Fehler", "Fluency/Punctuation", "Minor"],
        ["b", "d:en-de", "2", "2", "r", "x", "gut", "No-error", "No-error"],
    ]
    path = Path("mqm.tsv")
    path.write_text("".join("\t".join(row) + "\n" for row in [head, *rows]), encoding="utf-8")
    asked = ask("score", path, "--format", "json")
    assert {name: s["score"] for name, s in asked.json["systems"].items()} == {"a": -2.5, "b": -0.05}
    odd = "mqm.tsv: 1 marks with white space at an edge"
    assert odd in asked.err
    assert ask.done("rank", path, "--resamples", "20", "--radar", "r.svg").err.count(odd) == 1


@pytest.mark.parametrize("weights", ["mqm-google", "gemba", "himate", "m-mad", "esa-spans"])
def test_a_category_that_no_year_had_is_weighted_by_its_severity_and_counted(weights: str, ask: Ask) -> None:
    heading = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    for category in ("Fluency/Display", "Style/Archaic or obscure word choice"):
        rows = [("A", category, "Major"), ("A", "Accuracy/Omission", "Minor"), ("B", "No-error", "No-error")]
        lines = [f"{system}\td\t1\t1\tr1\tHi\tHallo\t{kind}\t{how}\n" for system, kind, how in rows]
        Path("mqm.tsv").write_text(heading + "".join(lines))
        asked = ask.done("score", "mqm.tsv", "--lp", "en-de", "--weights", weights, "--format", "json")
        assert {name: s["score"] for name, s in asked.json["systems"].items()} == {"A": -6, "B": 0}
        assert f"1 error has a category that adjudge does not know ('{category}' 1)" in asked.err
        assert f"'{category}' 1): each costs" in ask("rank", "mqm.tsv", "--lp", "en-de").out


def test_rank_prints_clusters_intervals_and_the_method(records: Path, ask: Ask) -> None:
    asked = ask("rank", records, "--by-segment")
    assert "take segments for independent" in asked.out
    assert [line.split() for line in asked.out.splitlines() if line.startswith((" a", " b"))] == [
        ["a", "−1.00", "−1.00", "to", "−1.00", "1", "1", "19", "0"],
        ["b", "−5.10", "−5.10", "to", "−5.10", "2", "2", "19", "1"],
    ]
    assert "Method: mean over 19 common segments; 95 % intervals by Student's t" in asked.out
    assert "1 of 20 segments is not judged for every system, and left out." in asked.out


def test_rank_as_json_has_the_shape_that_others_rely_on(records: Path, ask: Ask) -> None:
    asked = ask("rank", records, "--by-segment", "--format", "json")
    assert list(asked.json) == ["signature", "method", "systems", "p_values"]
    assert asked.json["p_values"] == [[None, 2 / 1001], [None, None]]
    of_a = {"score": -1, "interval": [-1, -1], "ranks": [1, 1], "cluster": 1, "n": 19, "failed": 0}
    assert asked.json["systems"][0] == {"system": "a", **of_a}


def test_rank_prints_the_p_value_of_every_pair(ask: Ask) -> None:
    scores = {"a": 9, "b": 8, "c": 1, "d": None}
    records = [
        failed(s, segment=str(i)) if value is None else rated(s, str(i), value + (i * 7 + ord(s)) % 5)
        for s, value in scores.items()
        for i in range(30)
    ]
    write_records("r.jsonl", records)
    asked = ask("rank", "r.jsonl", "--p-values")
    matrix = [line.split() for line in asked.out.splitlines() if line.startswith((" 1 a", " 2 b", " 3 c"))]
    assert [len(row) for row in matrix] == [5, 5, 5]
    assert matrix[0][2] == "–"
    assert matrix[0][4] == "0.002"
    assert matrix[1][2:] == ["–", "–", "0.002"]
    pairs = ask("rank", "r.jsonl", "--p-values", "--format", "csv").out.splitlines()
    assert pairs[0] == "better,worse,p"
    assert [line.rsplit(",", 1)[0] for line in pairs[1:]] == ["a,b", "a,c", "b,c"]
    found = ask("rank", "r.jsonl", "--format", "json").json
    assert [row["system"] for row in found["systems"]] == ["a", "b", "c", "d"]
    assert found["p_values"][0][1] == float(pairs[1].rsplit(",", 1)[1])
    assert found["p_values"][3] == [None] * 4


def test_rank_of_comparisons_keeps_the_shape_and_adds_strengths_and_cycles(ask: Ask) -> None:
    path = "r.jsonl"
    games = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "b")]
    write_records(path, [preferred(a, b, "A", segment=str(i)) for i, (a, b) in enumerate(games)])
    asked = ask("rank", path, "--method", "bradley-terry", "--format", "json")
    assert list(asked.json) == ["signature", "method", "systems", "p_values", "cycles"]
    assert [s["system"] for s in asked.json["systems"]] == ["a", "c", "b"]
    assert set(asked.json["systems"][0]) == {
        "system", "score", "interval", "ranks", "cluster", "n", "failed", "strength"
    }  # fmt: skip
    assert asked.json["cycles"] == [{"systems": ["a", "b", "c"], "shares": [1, 1, 1]}]
    assert "log strength" in ask("rank", path, "--method", "davidson").out
    assert "strength" not in ask("rank", path, "--method", "copeland").out
    assert "a test of its own" in ask.refused("rank", path, "--method", "davidson", "--test", "wilcoxon")


def test_a_radar_is_drawn_of_one_run(ask: Ask) -> None:
    gold = examples.path("gold.pairwise.jsonl")
    few = ["--lp", "en-de", "--resamples", "20"]
    drawn = ask("rank", gold, *few, "--radar", Path("r.svg"))
    assert (drawn.code, drawn.err) == (0, "The radar: r.svg\n")
    assert Path("r.svg").read_text().startswith("<?xml")
    for arguments, wanted in (
        ([gold, examples.path("gold.mqm.jsonl"), "--radar", "r.svg"], "--radar draws one run; there are 2"),
        ([gold, "--radar", "r.gif"], "ends in .pdf, .svg, .png"),
        ([examples.path("gold.esa.jsonl"), "--radar", "r.svg"], "protocol esa has none"),
    ):
        assert wanted in ask.refused("rank", *arguments, *few)


def test_marked_errors_are_ranked_by_criterion(ask: Ask) -> None:
    words = ("rank", examples.path("gold.mqm.jsonl"), "--lp", "en-de", "--resamples", "20", "--criterion")
    style, fluency = (
        ask.done(*words, criterion, "--method", "copeland", "--format", "json")
        for criterion in ("style", "fluency")
    )
    assert "|criterion:style|" in style.json["signature"]
    assert "|weights:mqm-google|" in style.json["signature"]
    assert "Preferences on style are made of errors, each annotator's on their own." in style.err
    assert [s["score"] for s in fluency.json["systems"]] != [s["score"] for s in style.json["systems"]]
    assert "choose one of faithfulness, fluency, style, overall" in ask.refused(*words, "beauty")


def test_rank_takes_its_settings(records: Path, ask: Ask) -> None:
    settings = ["--test", "wilcoxon", "--alpha", "0.01", "--resamples", "50", "--seed", "3", "--by-document"]
    asked = ask("rank", records, *settings, "--format", "json")
    assert asked.json["method"] == (
        "mean over 19 common segments; 95 % intervals by Student's t with Hall's correction for skew over 2 "
        "documents; ranks by two-sided, "
        "clusters by one-sided Wilcoxon signed-rank test of every pair over 2 documents, p < 0.01, not "
        "corrected for the number of pairs; seed 3"
    )
    assert [s["cluster"] for s in asked.json["systems"]] == [1, 1]  # two documents show nothing


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_several_runs_are_a_table_each(form: str, ask: Ask) -> None:
    one = make_run(Path("one"), [rated(s, str(i), 50 + i) for s in "ab" for i in range(3)])
    two = make_run(Path("two"), [rated(s, str(i), 70 + i) for s in "ab" for i in range(3)])
    asked = ask.done("rank", one, two, "--format", form)
    assert asked.out.count("Method: ") == 2
    assert asked.out.index("one|") < asked.out.index("two|")
    rankings = ask("rank", one, two, "--format", "json").json["rankings"]
    assert [r["run"] for r in rankings] == [str(one), str(two)]
    assert [r["signature"].split("|")[0] for r in rankings] == ["one", "two"]


def test_several_runs_share_a_file_only_under_one_signature(tmp_path: Path, ask: Ask) -> None:
    judged = [rated(s, str(i), 50 + i) for s in "ab" for i in range(3)]
    runs = [make_run(tmp_path / name, list(judged), signature=Signature("j", {})) for name in ("one", "two")]
    rows = ask("rank", *runs, "--format", "csv").rows
    found = [(Path(row["run"]).name, row["system"]) for row in rows]
    assert found == [("one", "a"), ("one", "b"), ("two", "a"), ("two", "b")]
    other = make_run(tmp_path / "other", list(judged), signature=Signature("j", {"model": "x"}))
    refused = ask("rank", *runs, other, "--format", "csv")
    assert (refused.code, refused.out) == (2, "")
    assert "must not be mixed" in refused.err


@pytest.fixture
def two_lps() -> Path:
    lps = ("en-de", "zh-en")
    records = [rated(s, str(i), 50 + i + 9 * (s == "b"), lp=lp) for lp in lps for s in "ab" for i in range(6)]
    write_records("two.jsonl", records)
    return Path("two.jsonl")


def test_segments_of_several_language_pairs_name_theirs(two_lps: Path, ask: Ask) -> None:
    data = ask("score", two_lps, "--level", "seg", "--format", "json").json
    assert data["segments"][0] == {"lp": "en-de", "segment": "0", "system": "a", "score": 50}
    assert data["lps"]["zh-en"]["segments"][0] == {"segment": "0", "system": "a", "score": 50}
    rows = ask("score", two_lps, "--format", "csv").rows
    lps = ("en-de", "zh-en", "all")
    assert [(row["lp"], row["system"]) for row in rows] == [(lp, s) for lp in lps for s in "ba"]


@pytest.mark.parametrize("command", ["score", "rank"])
def test_each_language_pair_is_what_lp_alone_gives(command: str, two_lps: Path, ask: Ask) -> None:
    whole = ask(command, two_lps, "--format", "json").json
    assert set(whole["lps"]) == {"en-de", "zh-en"}
    assert len(whole["systems"]) == 2
    for lp, part in whole["lps"].items():
        assert part == ask(command, two_lps, "--lp", lp, "--format", "json").json
        assert "lps" not in part


def test_language_pairs_with_other_systems_have_no_scores_over_all(ask: Ask) -> None:
    path = Path("odd.jsonl")
    write_records(path, [rated("a", "1", 1), rated("b", "1", 1, lp="zh-en")])
    for command, nothing in (("score", {}), ("rank", [])):
        asked = ask(command, path, "--format", "json")
        assert asked.json["systems"] == nothing
        assert "choose one with --lp (en-de, zh-en)" in asked.err
        assert "choose one with --lp" in ask(command, path).out


def test_preferences_are_scored_by_criterion(ask: Ask) -> None:
    path = Path("pairs.jsonl")
    write_records(path, [preferred("a", "b", "A", criterion=c) for c in ("fluency", "style")])
    asked = ask("rank", path, "--criterion", "style", "--format", "json")
    assert [(s["system"], s["score"]) for s in asked.json["systems"]] == [("a", 1), ("b", 0)]
    assert ask("score", path).code == 2


@pytest.mark.parametrize("command", ["score", "rank"])
def test_ratings_outside_of_their_folder_are_scored_with_the_texts_given(
    command: str, tmp_path: Path, ask: Ask
) -> None:
    segment = Segment(segment="7", lp="en-de", source="x", translations={"a": "one two"})
    texts = TestSet(name="t", segments=(segment,))
    write_test_set(tmp_path / "texts.jsonl", texts)
    write_ratings(tmp_path / "people.seg.rating", [mqm("a", "7", error("major"))], texts)
    (tmp_path / "people.seg.score").write_text("a\t-5\n")
    for name in ("people.seg.rating", "people.seg.score"):
        given = (command, tmp_path / name, "--test-set", tmp_path / "texts.jsonl", "--format", "csv")
        assert [(r["system"], r["score"]) for r in ask(*given).rows] == [("a", "-5.0")]


def test_a_scorecard_ranks_records_with_their_texts(ask: Ask) -> None:
    (card := Path("card.toml")).write_text(
        'source = "ours"\n[points]\ncritical = 25\nmajor = 5\nminor = 1\nneutral = 0\n'
        "[passing]\npoints = 30\nwords = 1000\n"
    )
    gold, texts = str(examples.path("gold.mqm.jsonl")), str(examples.path("test_set.jsonl"))
    asked = ("rank", gold, "--lp", "en-de", "--weights", str(card))
    assert "add --test-set" in ask.refused(*asked)
    assert "Alder" in ask.done(*asked, "--test-set", texts).out


def test_texts_are_refused_where_nothing_needs_them(records: Path, ask: Ask) -> None:
    assert "--test-set is for appraise, comet, " in ask.refused("score", records, "--test-set", records)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "lp"),
    [("m-mad/M-MAD_en-de.seg.score", "en-de"), ("wmt23/metric-scores/zh-en/BLEU-refA.seg.score", "zh-en")],
)
def test_score_files_outside_of_a_test_set_are_ranked(
    name: str, lp: str, adjudge_data: Path, ask: Ask
) -> None:
    assert len(ask.done("rank", adjudge_data / name, "--lp", lp, "--format", "csv").rows) > 10


@pytest.mark.realdata
def test_the_errors_of_wmt23_rank_as_its_scores_do(adjudge_data: Path, ask: Ask) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    errors, scores = (
        ask("rank", folder / f"en-de.{name}", "--format", "json").json["systems"]
        for name in ("mqm.merged.seg.rating", "mqm.seg.score")
    )
    assert [s for s in errors if s["system"] != "synthetic_ref"] == scores


def test_an_export_of_appraise_takes_the_batches_that_its_error_asks_for(ask: Ask) -> None:
    item = {"documentID": "doc#a", "sourceID": "set", "targetID": "set.a", "itemType": "TGT", "itemID": 1}
    item |= {"sourceText": "One.", "targetText": "Eins.", "isCompleteDocument": False, "mqm": []}
    task = {"batchNo": 1, "randomSeed": 1, "sourceLanguage": "eng", "targetLanguage": "deu"}
    texts, export = Path("texts/batches.json"), Path("export.csv")
    texts.parent.mkdir()
    texts.write_text(json.dumps([{"items": [item], "task": task}]))
    export.write_text("engdeu0101,set.a,1,TGT,eng,deu,70,doc#a,False,[],10.0,20.0\n")
    assert "give the campaign's batches with --test-set BATCHES.json" in ask("score", export).err
    (row,) = ask("score", export, "--test-set", texts, "--format", "csv").rows
    assert (row["system"], row["score"]) == ("a", "70.0")


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_terminal_obeys_no_name_of_a_system(form: str, ask: Ask) -> None:
    names = ("A\x1b[31m", "B\u202e\rC")
    write_records("r.jsonl", [rated(name, str(n), 50.0 + n) for name in names for n in range(3)])
    for command in (("score",), ("score", "--level", "seg"), ("rank",)):
        asked = ask(command[0], "r.jsonl", *command[1:], "--format", form)
        assert not [char for char in asked.out + asked.err if char in "\x1b\u202e\r"], command
        assert "A[ESC][31m" in asked.out
        assert "B[RLO][CR]C" in asked.out
