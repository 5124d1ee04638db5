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
from adjudge.formats.read import read_judgements
from adjudge.store.json_lines import write_records, write_test_set
from adjudge.store.run_directory import read_records, write_run_info
from tests.analysis.records import error, failed, mqm, preferred, rated
from tests.campaigns.work import work_off
from tests.cli.calling import Asked, call
from tests.reports.samples import small_test_set

TEXTS = examples.path("test_set.jsonl")
GOLD = examples.path("gold.mqm.jsonl")


# Who judged a filler of a batch judged a translation twice: the first judgement counts, and that is said.


SEGMENTS = [str(i) for i in range(6)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two annotators of two systems; the first judged one translation again, and otherwise."""
    found = {
        name: [mqm(system, s, annotator=name) for s in SEGMENTS for system in ("a", "b")]
        for name in ("anna", "ben")
    }
    again = mqm("a", "0", error("major"), annotator="anna")
    write_records(tmp_path / "anna.jsonl", [replace(again, flags=("duplicate",)), *found["anna"]])
    write_records(tmp_path / "ben.jsonl", found["ben"])
    texts = [Segment(segment=s, lp="en-de", source="x", translations={"a": "y", "b": "z"}) for s in SEGMENTS]
    write_test_set(tmp_path / "texts.jsonl", TestSet(name="t", segments=tuple(texts)))
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "score anna.jsonl",
        "rank anna.jsonl",
        "rank anna.jsonl --method copeland",
        "agreement anna.jsonl ben.jsonl --pairs",
        "agreement anna.jsonl ben.jsonl",
        "bias anna.jsonl",
        "compare anna.jsonl ben.jsonl",
        "spans anna.jsonl --gold ben.jsonl",
        "thresholds ben.jsonl --gold anna.jsonl --bad major",
        "power anna.jsonl",
        "meta texts.jsonl --gold ben.jsonl --scores anna.jsonl",
        "report anna.jsonl --test-set texts.jsonl --out report.html",
    ],
)
def test_the_first_judgement_counts(
    command: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    asked = Asked(capsys, *command.split())
    assert asked.code == 0, asked.err
    assert " ".join((asked.out + asked.err).split()).count("1 judgement was repeated") == 1


def test_the_mean_is_that_of_first_judgements(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = Asked(capsys, "score", folder / "anna.jsonl", "--format", "csv").rows
    assert [row["score"] for row in rows] == ["0.0", "0.0"]


def test_both_judgements_stay_in_the_records(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert Asked(capsys, "convert", folder / "anna.jsonl", folder / "new.jsonl", "--to", "records").code == 0
    kept = [r for r in read_records(folder / "new.jsonl") if isinstance(r, Annotation)]
    assert [r.flags for r in kept if (r.segment, r.system) == ("0", "a")] == [("duplicate",), ()]


# `adjudge report` of a campaign beside a run and a metric.


REPORT_TEXTS = small_test_set(["en-de"])


@pytest.fixture
def autumn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign in which two people did everything, and a metric's scores of the same texts."""
    monkeypatch.chdir(tmp_path)
    write_test_set("set.jsonl", REPORT_TEXTS)
    assert call("campaign", "new", "autumn", "set.jsonl", "-n", "anna,ben", "--raters", "2") == 0
    campaign = open_campaign("autumn")
    for who in people(campaign):
        if who.role == "annotator":
            work_off(campaign, who, 1_760_000_000.0)
    campaign.database.close()
    scores = [
        Annotation(
            lp=s.lp, segment=s.segment, system=name, annotator="metric", protocol="metric", rating=len(text)
        )
        for s in REPORT_TEXTS
        for name, text in s.translations.items()
    ]
    write_score_records(Path("metric.seg.score"), scores, REPORT_TEXTS)
    return tmp_path


def test_a_campaign_and_its_export_and_a_metric_make_one_page(
    autumn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("campaign", "export", "autumn", "autumn.jsonl") == 0
    capsys.readouterr()
    assert call("report", "autumn", "metric.seg.score", "--out", "folder.html") == 0, capsys.readouterr().err
    assert call("report", "autumn.jsonl", "metric.seg.score", "--out", "export.html") == 0
    folder, export = (Path(name).read_text(encoding="utf-8") for name in ("folder.html", "export.html"))
    for page in (folder, export):
        assert "<bdi>metric</bdi>" in page
        assert "<bdi>autumn</bdi>" in page
        assert all(name in page for name in ("anna", "ben", *REPORT_TEXTS.systems))
    assert "adjudge rank metric.seg.score\nadjudge report autumn metric.seg.score --out folder.html" in folder


SCORE_AND_RANK_TEXTS = TestSet(name="t", segments=(Segment(segment="0", lp="en-de", source="x"),))


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Two systems over 20 segments in two documents; one judgement of b failed."""
    path = tmp_path / "gold.jsonl"
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


def make_run(folder: Path, records: list[Record], **fields: Any) -> Path:
    info: dict[str, Any] = {
        "signature": Signature(folder.name, {"model": "builtin/rules", "version": "1"}),
        "kind": "judge",
        "annotator": "ann",
        "protocol": records[0].protocol,
    }
    write_run_info(folder, RunInfo(**(info | fields)))
    write_test_set(
        folder / "test_set.jsonl", TestSet(name="t", segments=(Segment(segment="0", lp="en-de", source="x"),))
    )
    write_records(folder / "records.jsonl", records)
    return folder


# score...


def test_score_prints_a_table_with_n_failures_interval_and_signature(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "score", records)
    assert asked.code == 0
    assert [line.split() for line in asked.out.splitlines() if line.startswith((" a", " b"))] == [
        ["a", "−1.00", "−1.00", "to", "−1.00", "20", "0"],
        ["b", "−5.10", "−5.10", "to", "−5.10", "19", "1"],
    ]
    assert "ann|protocol:mqm|weights:mqm-google|failed:1/40|version:" in asked.out
    assert "1 of 40 judgements failed; it has no score and is in no mean." in asked.out
    assert "(a 20, b 19; 19 in common)" in asked.out
    assert asked.err == ""


def test_score_as_json_has_the_shape_that_others_rely_on(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "score", records, "--format", "json")
    assert list(asked.json) == ["signature", "range", "direction", "systems", "interval_notes"]
    assert asked.json["range"] == [None, 0]
    assert asked.json["direction"] == "higher is better"
    assert asked.json["systems"]["a"] == {"score": -1, "n": 20, "failed": 0, "interval": [-1, -1]}
    assert set(asked.json["systems"]["b"]) == {"score", "n", "failed", "interval"}
    assert "1 of 40 judgements failed" in asked.err


def test_scores_of_segments_and_documents_come_along(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segments = Asked(capsys, "score", records, "--level", "seg", "--format", "json").json["segments"]
    assert len(segments) == 40
    assert segments[:2] == [
        {"segment": "0", "system": "a", "score": -1.0},
        {"segment": "0", "system": "b", "score": None},
    ]
    documents = Asked(capsys, "score", records, "--level", "doc", "--format", "json").json["documents"]
    assert documents[0] == {"document": "doc0", "system": "a", "score": -1.0, "n": 10, "failed": 0}
    assert [(d["n"], d["failed"]) for d in documents] == [(10, 0), (9, 1), (10, 0), (10, 0)]
    table = Asked(capsys, "score", records, "--level", "seg").out
    assert [line.split() for line in table.splitlines()[3:5]] == [["0", "a", "−1.00"], ["0", "b", "failed"]]
    rows = Asked(capsys, "score", records, "--level", "seg", "--format", "csv").rows
    assert rows[1] == {"segment": "0", "system": "b", "score": ""}
    assert Asked(capsys, "score", records, "--level", "doc", "--format", "tsv").out.startswith(
        "document\tsystem\t"
    )


def test_programs_get_every_digit(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = Asked(capsys, "score", records, "--format", "csv").rows
    assert list(rows[0]) == ["system", "score", "low", "high", "n", "failed"]
    assert float(rows[1]["score"]) == pytest.approx(-5.1)
    assert "−" not in rows[1]["score"]


def test_weights_are_chosen_by_name(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = Asked(capsys, "score", records, "--weights", "gemba", "--format", "json")
    assert asked.json["range"] == [-25, 0]
    assert asked.json["systems"]["b"]["score"] == -6
    wrong = Asked(capsys, "score", records, "--weights", "mqm")
    assert (wrong.code, wrong.out) == (2, "")
    assert wrong.err.startswith("adjudge: no weights 'mqm'; there are mqm-google")


def test_a_run_is_scored_with_its_weights_and_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make_run(
        tmp_path / "gemba-mqm", [mqm("a", "0", error("minor", "fluency/punctuation"))], weights="gemba"
    )
    asked = Asked(capsys, "score", run, "--format", "json")
    assert asked.json["signature"] == "gemba-mqm|model:builtin/rules|weights:gemba|failed:0/1|version:1"
    assert asked.json["systems"]["a"]["score"] == -1


def test_a_corpus_score_has_no_interval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = make_run(
        tmp_path / "bleu",
        [rated("a", str(i), i, protocol="metric") for i in range(3)],
        kind="metric",
        corpus_scores={"en-de": {"a": 31.5}},
    )
    asked = Asked(capsys, "score", run, "--format", "json")
    assert asked.json["systems"]["a"] == {"score": 31.5, "n": 3, "failed": 0, "interval": None}
    assert "|level:corpus|" in asked.json["signature"]
    assert "|level:corpus|" in Asked(capsys, "score", run).out


@pytest.mark.parametrize(
    ("words", "level"),
    [
        ("rank {}", "mean"),
        ("compare {} a b", "mean"),
        ("gate --baseline {} --systems a,b --margin 1", "mean"),
        ("power {} a b", "mean"),
        ("estimate {} --gold {}", "mean"),
        ("thresholds {} --gold {} --bad 20", "segment"),
    ],
)
def test_means_of_segments_are_signed_as_such_though_a_metric_has_a_corpus_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, level: str
) -> None:
    bleu = make_run(
        tmp_path / "bleu",
        [
            rated(s, str(i), i * (2 if s == "a" else 1), protocol="metric", document=f"d{i}")
            for i in range(30)
            for s in "ab"
        ],
        kind="metric",
        corpus_scores={"en-de": {"a": 31.5, "b": 30}},
    )
    asked = Asked(capsys, *words.format(bleu, bleu).split())
    assert f"|level:{level}" in asked.out, asked.err
    assert "level:corpus" not in asked.out


@pytest.mark.parametrize(("level", "said"), [("seg", "segment"), ("doc", "mean")])
def test_a_corpus_score_is_not_the_level_of_smaller_parts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], level: str, said: str
) -> None:
    bleu = make_run(
        tmp_path / "bleu",
        [rated("a", str(i), i, protocol="metric") for i in range(3)],
        kind="metric",
        corpus_scores={"en-de": {"a": 31.5}},
    )
    assert f"|level:{said}|" in Asked(capsys, "score", bleu, "--level", level).out
    plain = make_run(tmp_path / "plain", [rated("a", "1", 1, protocol="metric")], kind="metric")
    assert "level:" not in Asked(capsys, "score", plain, "--level", level).out


def test_where_all_failed_the_table_shows_dashes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_records(tmp_path / "r.jsonl", [failed("a", segment=str(i)) for i in range(3)])
    row = next(
        line for line in Asked(capsys, "score", tmp_path / "r.jsonl").out.splitlines() if " a " in line
    )
    assert row.split() == ["a", "–", "–", "0", "3"]
    ranked = Asked(capsys, "rank", tmp_path / "r.jsonl", "--format", "json")
    assert ranked.json["systems"] == [
        {"system": "a", "score": None, "interval": None, "ranks": None, "cluster": None, "n": 0, "failed": 3}
    ]


@pytest.mark.parametrize("command", ["score", "rank"])
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.jsonl", "nothing.jsonl"),
        (
            "text.txt",
            "no known format",
        ),
        (".", "no known format"),
        ("mqm.seg.score", "add --lp, such as --lp en-de"),
        ("texts.jsonl", "holds texts and no judgements"),
        ("mqm.sys.score", "known and not read here: give the .seg.score or .seg.rating"),
        ("mqm.domain.score", "known and not read here: give the .seg.score or .seg.rating"),
        ("mqm.seg.rating", "say what they are about with --test-set"),
    ],
)
def test_what_cannot_be_scored_says_what_can(
    command: str, name: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text("hello\n")
    write_test_set(tmp_path / "texts.jsonl", SCORE_AND_RANK_TEXTS)
    for level in ("seg.score", "sys.score", "domain.score", "seg.rating"):
        (tmp_path / f"mqm.{level}").write_text("a\t1\n")
    asked = Asked(capsys, command, tmp_path / name)
    assert asked.code in {1, 2}
    assert message in asked.err
    assert asked.out == ""


@pytest.mark.parametrize("command", ["score", "rank"])
def test_an_empty_file_is_called_empty(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "records.jsonl").touch()
    asked = Asked(capsys, command, tmp_path / "records.jsonl")
    assert (asked.code, asked.out) == (1, "")
    assert "the file is empty; give a run or records" in asked.err


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("blank.jsonl", b" \n\n", "the file holds blanks and empty lines only"),
        ("scores.tsv", b"system\tsegment\tscore\n", "it has a heading and no row below it"),
        ("texts.csv", b"source,Alder\n", "the table has no row"),
        ("noise.jsonl", b"\x8a\xa6\x00" * 900, "no text, and no other format that is known: byte 0x8A"),
        ("cut.json", b'{"lp": "en-de", "segm', "JSON that is cut off or damaged: Unterminated string"),
        ("texts.jsonl", b'{"segment": "1", "source": "a", "translations": {"A', "texts.jsonl line 1"),
        ("folder", None, "found an empty folder"),
    ],
)
def test_a_file_with_nothing_in_it_or_damaged_is_called_that(
    name: str, content: bytes | None, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).mkdir() if content is None else (tmp_path / name).write_bytes(content)
    for command in ("score", "rank"):
        asked = Asked(capsys, command, tmp_path / name)
        assert (asked.code, asked.out) == (1, "")
        assert message in asked.err
        assert "holds texts" not in asked.err


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("en-de.mqm.seg.score", "mqm|protocol:metric|failed:0/5|"),
        ("metric-scores/en-de/COMET-refA.seg.score", "COMET-refA|protocol:metric|failed:0/5|"),
    ],
)
def test_score_files_are_read_and_none_is_no_score(
    name: str, signature: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a\t1\na\tNone\na\t3\nb\t4\nb\t5\nb\t6\n")
    asked = Asked(capsys, "score", path, "--lp", "eng-deu", "--format", "json")
    assert asked.json["signature"].startswith(signature)
    reach = 12.706205  # Student's t with one degree of freedom, and a standard error of 1
    around = pytest.approx([2 - reach, 2 + reach])
    assert asked.json["systems"]["a"] == {"score": 2, "n": 2, "failed": 0, "interval": around}
    ranked = Asked(capsys, "rank", path, "--format", "json")
    assert [(s["system"], s["score"], s["n"]) for s in ranked.json["systems"]] == [("b", 5, 2), ("a", 2, 2)]
    assert "1 of 3 segments is not judged for every system, and left out." in ranked.err


def test_a_language_pair_that_is_given_counts_more_than_the_name_of_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (path := tmp_path / "mqm-tsv" / "ted.avg_seg_scores.tsv").parent.mkdir()
    path.write_text("system mqm_avg_score seg_id\na\t-1 1\na\tNone 2\n")
    asked = Asked(capsys, "score", path, "--lp", "zh-en", "--format", "json")
    assert asked.json["signature"].startswith("ted|protocol:metric|")
    assert asked.json["systems"]["a"]["score"] == -1
    assert (
        "en-de.m.avg_seg_scores.tsv has no lp 'zh-en'; it has en-de"
        in Asked(capsys, "score", path.rename(tmp_path / "en-de.m.avg_seg_scores.tsv"), "--lp", "zh-en").err
    )


def test_records_may_come_from_standard_input(
    records: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = Asked(capsys, "score", records, "--format", "csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(records.read_bytes())))
    assert Asked(capsys, "score", "-", "--format", "csv").out == wanted.out


def test_a_file_without_any_score_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path := tmp_path / "en-de.m.seg.score").write_text("a\tNone\nb\tNone\n")
    for command in ("score", "rank"):
        asked = Asked(capsys, command, path)
        assert (asked.code, "there is no score in this file: every line says None" in asked.err) == (1, True)


def test_an_mqm_file_is_scored_and_what_is_odd_in_it_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = ["system", "doc", "docSegId", "globalSegId", "rater", "source", "target", "category", "severity"]
    rows = [
        ["a", "d:en-de", "1", "1", "r", "x", "ein <v>Fehler</v>", "Accuracy/Mistranslation", "Major"],
        ["a", "d:en-de", "2", "2", "r", "x", "gut", "No-error", "No-error"],
        ["b", "d:en-de", "1", "1", "r", "x", "<v>ein </v>Fehler", "Fluency/Punctuation", "Minor"],
        ["b", "d:en-de", "2", "2", "r", "x", "gut", "No-error", "No-error"],
    ]
    path = tmp_path / "mqm.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in [head, *rows]), encoding="utf-8")
    asked = Asked(capsys, "score", path, "--format", "json")
    assert {name: s["score"] for name, s in asked.json["systems"].items()} == {"a": -2.5, "b": -0.05}
    assert "mqm.tsv: 1 marks with white space at an edge" in asked.err


# rank...


@pytest.mark.parametrize("weights", ["mqm-google", "gemba", "himate", "m-mad", "esa-spans"])
@pytest.mark.parametrize("category", ["Fluency/Display", "Style/Archaic or obscure word choice"])
def test_a_category_that_no_year_had_is_weighted_by_its_severity_and_counted(
    category: str, weights: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    heading = "system\tdoc\tdoc_id\tseg_id\trater\tsource\ttarget\tcategory\tseverity\n"
    rows = [("A", category, "Major"), ("A", "Accuracy/Omission", "Minor"), ("B", "No-error", "No-error")]
    lines = [f"{system}\td\t1\t1\tr1\tHi\tHallo\t{kind}\t{how}\n" for system, kind, how in rows]
    (path := tmp_path / "mqm.tsv").write_text(heading + "".join(lines))
    asked = Asked(capsys, "score", path, "--lp", "en-de", "--weights", weights, "--format", "json")
    assert asked.code == 0
    assert {name: s["score"] for name, s in asked.json["systems"].items()} == {"A": -6, "B": 0}
    assert f"1 error has a category that adjudge does not know ('{category}' 1)" in asked.err
    assert f"'{category}' 1): each costs" in Asked(capsys, "rank", path, "--lp", "en-de").out


def test_rank_prints_clusters_intervals_and_the_method(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "rank", records, "--by-segment")
    assert "take segments for independent" in asked.out
    assert [line.split() for line in asked.out.splitlines() if line.startswith((" a", " b"))] == [
        ["a", "−1.00", "−1.00", "to", "−1.00", "1", "1", "19", "0"],
        ["b", "−5.10", "−5.10", "to", "−5.10", "2", "2", "19", "1"],
    ]
    assert "Method: mean over 19 common segments; 95 % intervals by Student's t" in asked.out
    assert "1 of 20 segments is not judged for every system, and left out." in asked.out


def test_rank_as_json_has_the_shape_that_others_rely_on(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "rank", records, "--by-segment", "--format", "json")
    assert list(asked.json) == ["signature", "method", "systems", "p_values"]
    assert asked.json["p_values"] == [[None, 2 / 1001], [None, None]]
    assert asked.json["systems"][0] == {
        "system": "a",
        "score": -1,
        "interval": [-1, -1],
        "ranks": [1, 1],
        "cluster": 1,
        "n": 19,
        "failed": 0,
    }


def test_rank_prints_the_p_value_of_every_pair(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"a": 9, "b": 8, "c": 1, "d": None}
    write_records(
        tmp_path / "r.jsonl",
        [
            failed(s, segment=str(i)) if value is None else rated(s, str(i), value + (i * 7 + ord(s)) % 5)
            for s, value in scores.items()
            for i in range(30)
        ],
    )
    asked = Asked(capsys, "rank", tmp_path / "r.jsonl", "--p-values")
    matrix = [line.split() for line in asked.out.splitlines() if line.startswith((" 1 a", " 2 b", " 3 c"))]
    assert [len(row) for row in matrix] == [5, 5, 5]
    assert matrix[0][2] == "–"
    assert matrix[0][4] == "0.002"
    assert matrix[1][2:] == ["–", "–", "0.002"]
    pairs = Asked(capsys, "rank", tmp_path / "r.jsonl", "--p-values", "--format", "csv").out.splitlines()
    assert pairs[0] == "better,worse,p"
    assert [line.rsplit(",", 1)[0] for line in pairs[1:]] == ["a,b", "a,c", "b,c"]
    found = Asked(capsys, "rank", tmp_path / "r.jsonl", "--format", "json").json
    assert [row["system"] for row in found["systems"]] == ["a", "b", "c", "d"]
    assert found["p_values"][0][1] == float(pairs[1].rsplit(",", 1)[1])
    assert found["p_values"][3] == [None] * 4


def test_rank_of_comparisons_keeps_the_shape_and_adds_strengths_and_cycles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "r.jsonl"
    games = [("a", "b"), ("b", "c"), ("c", "a"), ("a", "b")]
    write_records(path, [preferred(a, b, "A", segment=str(i)) for i, (a, b) in enumerate(games)])
    asked = Asked(capsys, "rank", path, "--method", "bradley-terry", "--format", "json")
    assert list(asked.json) == ["signature", "method", "systems", "p_values", "cycles"]
    assert [s["system"] for s in asked.json["systems"]] == ["a", "c", "b"]
    assert set(asked.json["systems"][0]) == {
        "system", "score", "interval", "ranks", "cluster", "n", "failed", "strength"
    }  # fmt: skip
    assert asked.json["cycles"] == [{"systems": ["a", "b", "c"], "shares": [1, 1, 1]}]
    assert "log strength" in Asked(capsys, "rank", path, "--method", "davidson").out
    assert "strength" not in Asked(capsys, "rank", path, "--method", "copeland").out
    refused = Asked(capsys, "rank", path, "--method", "davidson", "--test", "wilcoxon")
    assert (refused.code, "a test of its own" in refused.err) == (2, True)


def test_a_radar_is_drawn_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = examples.path("gold.pairwise.jsonl")
    few = ["--lp", "en-de", "--resamples", "20"]
    drawn = Asked(capsys, "rank", gold, *few, "--radar", tmp_path / "r.svg")
    assert (drawn.code, drawn.err) == (0, f"The radar: {tmp_path / 'r.svg'}\n")
    assert (tmp_path / "r.svg").read_text().startswith("<?xml")
    for arguments, wanted in (
        ([gold, examples.path("gold.mqm.jsonl"), "--radar", "r.svg"], "--radar draws one run; there are 2"),
        ([gold, "--radar", "r.gif"], "ends in .pdf, .svg, .png"),
        ([examples.path("gold.esa.jsonl"), "--radar", "r.svg"], "protocol esa has none"),
    ):
        refused = Asked(capsys, "rank", *arguments, *few)
        assert (refused.code, wanted in refused.err) == (2, True), refused.err


def test_what_is_odd_in_a_file_is_said_once_with_a_radar_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = read_judgements

    def read_and_say(path: Path, lp: str | None, texts: Path | None, **more: Any) -> Any:
        sys.stderr.write("something odd\n")
        return read(path, lp, texts, **more)

    monkeypatch.setattr("adjudge.cli.compare_commands.read_judgements", read_and_say)
    few = ["--lp", "en-de", "--resamples", "20", "--radar", tmp_path / "r.svg"]
    asked = Asked(capsys, "rank", examples.path("gold.pairwise.jsonl"), *few)
    assert (asked.code, asked.err.count("something odd")) == (0, 1)


def test_marked_errors_are_ranked_by_criterion(capsys: pytest.CaptureFixture[str]) -> None:
    gold = examples.path("gold.mqm.jsonl")
    ask = ["rank", gold, "--lp", "en-de", "--resamples", "20", "--criterion"]
    style = Asked(capsys, *ask, "style", "--method", "copeland", "--format", "json")
    assert style.code == 0, style.err
    assert "|criterion:style|" in style.json["signature"]
    assert "|weights:mqm-google|" in style.json["signature"]
    assert "Preferences on style are made of errors, each annotator's on their own." in style.err
    fluency = Asked(capsys, *ask, "fluency", "--method", "copeland", "--format", "json")
    assert [s["score"] for s in fluency.json["systems"]] != [s["score"] for s in style.json["systems"]]
    refused = Asked(capsys, *ask, "beauty")
    assert (refused.code, "choose one of faithfulness, fluency, style, overall" in refused.err) == (2, True)


def test_rank_takes_its_settings(records: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["--test", "wilcoxon", "--alpha", "0.01", "--resamples", "50", "--seed", "3", "--by-document"]
    asked = Asked(capsys, "rank", records, *settings, "--format", "json")
    assert asked.json["method"] == (
        "mean over 19 common segments; 95 % intervals by Student's t with Hall's correction for skew over 2 "
        "documents; ranks by two-sided, "
        "clusters by one-sided Wilcoxon signed-rank test of every pair over 2 documents, p < 0.01, not "
        "corrected for the number of pairs; seed 3"
    )
    assert [s["cluster"] for s in asked.json["systems"]] == [1, 1]  # two documents show nothing


@pytest.mark.parametrize("form", ["table", "markdown", "latex"])
def test_several_runs_are_a_table_each(form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = make_run(tmp_path / "one", [rated(s, str(i), 50 + i) for s in "ab" for i in range(3)])
    two = make_run(tmp_path / "two", [rated(s, str(i), 70 + i) for s in "ab" for i in range(3)])
    asked = Asked(capsys, "rank", one, two, "--format", form)
    assert asked.code == 0
    assert asked.out.count("Method: ") == 2
    assert asked.out.index("one|") < asked.out.index("two|")
    data = Asked(capsys, "rank", one, two, "--format", "json").json
    assert [(r["run"], r["signature"].split("|")[0]) for r in data["rankings"]] == [
        (str(one), "one"),
        (str(two), "two"),
    ]


def test_several_runs_share_a_file_only_under_one_signature(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = [rated(s, str(i), 50 + i) for s in "ab" for i in range(3)]
    runs = [make_run(tmp_path / name, list(judged), signature=Signature("j", {})) for name in ("one", "two")]
    rows = Asked(capsys, "rank", *runs, "--format", "csv").rows
    assert [(Path(row["run"]).name, row["system"]) for row in rows] == [
        ("one", "a"),
        ("one", "b"),
        ("two", "a"),
        ("two", "b"),
    ]
    other = make_run(tmp_path / "other", list(judged), signature=Signature("j", {"model": "x"}))
    refused = Asked(capsys, "rank", *runs, other, "--format", "csv")
    assert (refused.code, refused.out) == (2, "")
    assert "must not be mixed" in refused.err


# Several language pairs...


@pytest.fixture
def two_lps(tmp_path: Path) -> Path:
    path = tmp_path / "two.jsonl"
    write_records(
        path,
        [
            rated(s, str(i), 50 + i + 9 * (s == "b"), lp=lp)
            for lp in ("en-de", "zh-en")
            for s in "ab"
            for i in range(6)
        ],
    )
    return path


@pytest.mark.parametrize("command", ["score", "rank"])
def test_each_language_pair_is_what_lp_alone_gives(
    command: str, two_lps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = Asked(capsys, command, two_lps, "--format", "json").json
    assert set(whole["lps"]) == {"en-de", "zh-en"}
    assert len(whole["systems"]) == 2
    for lp, part in whole["lps"].items():
        assert part == Asked(capsys, command, two_lps, "--lp", lp, "--format", "json").json
        assert "lps" not in part


def test_segments_of_several_language_pairs_name_theirs(
    two_lps: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = Asked(capsys, "score", two_lps, "--level", "seg", "--format", "json").json
    assert data["segments"][0] == {"lp": "en-de", "segment": "0", "system": "a", "score": 50}
    assert data["lps"]["zh-en"]["segments"][0] == {"segment": "0", "system": "a", "score": 50}
    rows = Asked(capsys, "score", two_lps, "--format", "csv").rows
    assert [(row["lp"], row["system"]) for row in rows] == [
        (lp, s) for lp in ("en-de", "zh-en", "all") for s in "ba"
    ]


def test_language_pairs_with_other_systems_have_no_scores_over_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "odd.jsonl"
    write_records(path, [rated("a", "1", 1), rated("b", "1", 1, lp="zh-en")])
    for command, nothing in (("score", {}), ("rank", [])):
        asked = Asked(capsys, command, path, "--format", "json")
        assert asked.json["systems"] == nothing
        assert "choose one with --lp (en-de, zh-en)" in asked.err
        assert "choose one with --lp" in Asked(capsys, command, path).out


def test_preferences_are_scored_by_criterion(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pairs.jsonl"
    write_records(path, [preferred("a", "b", "A", criterion=c) for c in ("fluency", "style")])
    asked = Asked(capsys, "rank", path, "--criterion", "style", "--format", "json")
    assert [(s["system"], s["score"]) for s in asked.json["systems"]] == [("a", 1), ("b", 0)]
    assert Asked(capsys, "score", path).code == 2


@pytest.mark.parametrize("command", ["score", "rank"])
def test_ratings_outside_of_their_folder_are_scored_with_the_texts_given(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    segment = Segment(segment="7", lp="en-de", source="x", translations={"a": "one two"})
    texts = TestSet(name="t", segments=(segment,))
    write_test_set(tmp_path / "texts.jsonl", texts)
    write_ratings(tmp_path / "people.seg.rating", [mqm("a", "7", error("major"))], texts)
    (tmp_path / "people.seg.score").write_text("a\t-5\n")
    for name in ("people.seg.rating", "people.seg.score"):
        given = (command, tmp_path / name, "--test-set", tmp_path / "texts.jsonl", "--format", "csv")
        assert [(r["system"], r["score"]) for r in Asked(capsys, *given).rows] == [("a", "-5.0")]


def test_a_scorecard_ranks_records_with_their_texts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (card := tmp_path / "card.toml").write_text(
        'source = "ours"\n[points]\ncritical = 25\nmajor = 5\nminor = 1\nneutral = 0\n'
        "[passing]\npoints = 30\nwords = 1000\n"
    )
    gold, texts = str(examples.path("gold.mqm.jsonl")), str(examples.path("test_set.jsonl"))
    asked = ("rank", gold, "--lp", "en-de", "--weights", str(card))
    assert call(*asked) == 2
    assert "add --test-set" in capsys.readouterr().err
    assert call(*asked, "--test-set", texts) == 0
    assert "Alder" in capsys.readouterr().out


def test_texts_are_refused_where_nothing_needs_them(
    records: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = Asked(capsys, "score", records, "--test-set", records)
    assert asked.code == 2
    assert (
        "--test-set is for appraise, comet, mqm-tsv, mtme-ratings, mtme-scores, parquet, score-lines, "
        "score-table, and" in asked.err
    )


@pytest.mark.realdata
def test_the_errors_of_wmt23_rank_as_its_scores_do(
    adjudge_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    errors, scores = (
        Asked(capsys, "rank", folder / f"en-de.{name}", "--format", "json").json["systems"]
        for name in ("mqm.merged.seg.rating", "mqm.seg.score")
    )
    assert [s for s in errors if s["system"] != "synthetic_ref"] == scores


@pytest.mark.realdata
@pytest.mark.parametrize(
    "name", ["m-mad/M-MAD_en-de.seg.score", "wmt23/metric-scores/zh-en/BLEU-refA.seg.score"]
)
def test_score_files_outside_of_a_test_set_are_ranked(
    name: str, adjudge_data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lp = "zh-en" if "zh-en" in name else "en-de"
    asked = Asked(capsys, "rank", adjudge_data / name, "--lp", lp, "--format", "csv")
    assert asked.code == 0
    assert len(asked.rows) > 10


def test_an_export_of_appraise_takes_the_batches_that_its_error_asks_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    item = {
        "mqm": [],
        "documentID": "doc#a",
        "sourceID": "set",
        "targetID": "set.a",
        "sourceText": "One.",
        "targetText": "Eins.",
        "itemType": "TGT",
        "itemID": 1,
        "isCompleteDocument": False,
    }
    task = {"batchNo": 1, "randomSeed": 1, "sourceLanguage": "eng", "targetLanguage": "deu"}
    texts, export = tmp_path / "texts" / "batches.json", tmp_path / "export.csv"
    texts.parent.mkdir()
    texts.write_text(json.dumps([{"items": [item], "task": task}]))
    export.write_text("engdeu0101,set.a,1,TGT,eng,deu,70,doc#a,False,[],10.0,20.0\n")
    assert "give the campaign's batches with --test-set BATCHES.json" in Asked(capsys, "score", export).err
    (row,) = Asked(capsys, "score", export, "--test-set", texts, "--format", "csv").rows
    assert (row["system"], row["score"]) == ("a", "70.0")


@pytest.mark.parametrize("form", ["csv", "tsv"])
def test_a_terminal_obeys_no_name_of_a_system(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = [
        rated(name, str(segment), 50.0 + segment)
        for name in ("A\x1b[31m", "B\u202e\rC")
        for segment in range(3)
    ]
    write_records(tmp_path / "r.jsonl", records)
    for command in (("score",), ("score", "--level", "seg"), ("rank",)):
        asked = Asked(capsys, command[0], tmp_path / "r.jsonl", *command[1:], "--format", form)
        assert not [char for char in asked.out + asked.err if char in "\x1b\u202e\r"], command
        assert "A[ESC][31m" in asked.out
        assert "B[RLO][CR]C" in asked.out
