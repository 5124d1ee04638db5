import json
import math
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.analysis.segment_scores import document_scores, score_records
from adjudge.core.record import Annotation, ErrorSpan, Record
from adjudge.core.scores import Run, RunInfo, Scores, Signature
from adjudge.core.segment import TestSet
from adjudge.core.typology import Weights, find_category
from adjudge.errors import DataError, UsageError
from adjudge.formats.mqm_tsv import read_mqm_tsv
from adjudge.formats.score_file import read_score_file
from tests.scoring.records import error, failed, mqm, preferred, rated

UNEQUAL = (
    "The systems are not judged on the same segments ({}): "
    "compare them with `adjudge rank`, which takes the common segments only."
)


def by_system(scores: Scores) -> dict[str, Any]:
    return {s.system: (s.score, s.n, s.failed) for s in scores.systems}


def by_translation(scores: Scores) -> dict[tuple[str, str], Any]:
    return {(s.system, s.segment): s.score for s in scores.segments}


def run(records: list[Record], **fields: object) -> Run:
    info = RunInfo(
        signature=Signature("gemba-mqm", {"model": "x", "weights": "gemba", "failed": "9/9", "version": "1"}),
        kind="judge",
        annotator="ann",
        protocol=records[0].protocol,
    )
    return Run(
        info=replace(info, **fields),  # type: ignore[arg-type]
        test_set=TestSet(name="t", segments=()),
        records=tuple(records),
    )


# By protocol...


def test_errors_are_scored_by_weights() -> None:
    scores = score_records(
        [mqm("a", "1", error("major")), mqm("a", "2"), mqm("b", "1", error("minor")), mqm("b", "2")]
    )
    assert by_translation(scores) == {("a", "1"): -5, ("a", "2"): 0, ("b", "1"): -1, ("b", "2"): 0}
    assert by_system(scores) == {"a": (-2.5, 2, 0), "b": (-0.5, 2, 0)}
    assert scores.range == (-math.inf, 0.0)
    assert scores.direction == "higher is better"
    assert scores.signature.name == "ann"
    assert dict(scores.signature.fields) | {"version": ""} == {
        "protocol": "mqm",
        "weights": "mqm-google",
        "failed": "0/4",
        "version": "",
    }
    assert scores.notes == ()


def test_the_count_of_unknown_categories_stands_beside_the_score() -> None:
    records = [mqm("a", "1", error("major", label="Fluency/Display")), mqm("b", "1")]
    scores = score_records(records)
    assert {s.system: s.score for s in scores.systems} == {"a": -5.0, "b": 0.0}
    assert any("('Fluency/Display' 1): each costs what its severity costs" in note for note in scores.notes)


@pytest.mark.parametrize(
    ("protocol", "rating", "span"),
    [
        ("esa", 70, (0, 100)),
        ("da-sqm", 70, (0, 100)),
        ("sqm", 3, (0, 4)),
        ("metric", -7.5, (-math.inf, math.inf)),
    ],
)
def test_ratings_are_scored_as_they_are(protocol: str, rating: float, span: tuple[float, float]) -> None:
    scores = score_records([rated("a", "1", rating, protocol=protocol)])
    assert by_system(scores) == {"a": (rating, 1, 0)}
    assert scores.range == span
    assert "weights" not in scores.signature.fields


def test_esa_is_scored_by_its_spans_where_weights_are_given() -> None:
    esa = replace(rated("a", "1", 83, protocol="esa"), spans=(error("major"), error("minor")))
    assert by_system(score_records([esa])) == {"a": (83, 1, 0)}
    spans = score_records([esa], weights="esa-spans")
    assert by_system(spans) == {"a": (-6, 1, 0)}
    assert spans.range == (-math.inf, 0.0)
    assert spans.signature.fields["weights"] == "esa-spans"


def test_preferences_are_scored_as_win_rates_over_comparisons() -> None:
    scores = score_records(
        [
            preferred("a", "b", "A", "1"),
            preferred("a", "b", "E", "2"),
            preferred("c", "a", "A", "2"),
            preferred("b", "c", "B", "3"),
        ]
    )
    # a: win, tie, loss; b: loss, tie, loss; c: win, win
    assert by_system(scores) == {"a": (0.5, 3, 0), "b": (0.5 / 3, 3, 0), "c": (1.0, 2, 0)}
    assert by_translation(scores)["a", "2"] == 0.25
    assert {s.weight for s in scores.segments if (s.system, s.segment) == ("a", "2")} == {2.0}
    assert scores.range == (0.0, 1.0)
    assert scores.signature.fields["criterion"] == "overall"
    assert scores.signature.fields["failed"] == "0/4"
    assert scores.notes == ("The systems are not compared equally often (a 3, b 3, c 2 comparisons).",)


def test_one_criterion_is_scored_at_a_time() -> None:
    asked = [preferred("a", "b", "A", criterion=c) for c in ("fluency", "style")]
    with pytest.raises(UsageError, match=r"no overall verdict.*choose one of fluency, style"):
        score_records(asked)
    assert by_system(score_records(asked, criterion="style")) == {"a": (1, 1, 0), "b": (0, 1, 0)}
    assert score_records(asked[:1]).signature.fields["criterion"] == "fluency"
    overall = [*asked, preferred("a", "b", "B")]
    assert by_system(score_records(overall)) == {"a": (0, 1, 0), "b": (1, 1, 0)}
    with pytest.raises(UsageError, match="no criterion 'tone'"):
        score_records(asked, criterion="tone")


# Failures and coverage...


def test_a_failure_has_no_score_and_is_in_no_mean() -> None:
    scores = score_records(
        [rated("a", "1", 80), failed("a", segment="2"), rated("b", "1", 60), rated("b", "2", 100)]
    )
    assert by_translation(scores)["a", "2"] is None
    assert by_system(scores) == {"a": (80, 1, 1), "b": (80, 2, 0)}
    assert scores.signature.fields["failed"] == "1/4"
    assert scores.notes == (
        "1 of 4 judgements failed; it has no score and is in no mean.",
        UNEQUAL.format("a 1, b 2; 1 in common"),
    )


def test_a_system_of_which_nothing_was_judged_has_no_score() -> None:
    scores = score_records(
        [failed("a", segment="1", protocol="mqm"), failed("a", segment="2", protocol="mqm")]
    )
    assert by_system(scores) == {"a": (None, 0, 2)}
    assert scores.range == (-math.inf, 0.0)
    assert len(scores.notes) == 1


def test_unequal_coverage_is_said_even_if_nothing_failed() -> None:
    same_size = [rated("a", "1", 1), rated("a", "2", 1), rated("b", "2", 1), rated("b", "3", 1)]
    assert "(a 2, b 2; 1 in common)" in score_records(same_size).notes[0]
    many = [rated(s, str(i), 1) for n, s in enumerate("abcde", start=1) for i in range(n)]
    assert "(from 1 for a to 5 for e; 1 in common)" in score_records(many).notes[0]


def test_a_failed_comparison_fails_for_both_systems() -> None:
    scores = score_records(
        [
            preferred("a", "b", "A", "1"),
            failed("a", "b", segment="2", protocol="pairwise", criterion="overall"),
            failed("a", "b", segment="2", protocol="pairwise", criterion="fluency"),
        ]
    )
    assert by_system(scores) == {"a": (1, 1, 1), "b": (0, 1, 1)}
    assert by_translation(scores)["a", "2"] is None
    assert scores.signature.fields["failed"] == "1/2"


def test_a_failure_of_all_systems_at_once_fails_each() -> None:
    scores = score_records(
        [failed("a", "b", segment="1", protocol="sqm"), rated("a", "2", 4, protocol="sqm")]
    )
    assert by_system(scores) == {"a": (4, 1, 1), "b": (None, 0, 1)}
    assert scores.signature.fields["failed"] == "2/3"


# Several annotators...


def test_several_annotators_of_a_translation_are_averaged_each_for_itself() -> None:
    scores = score_records(
        [
            mqm("a", "1", error("major"), annotator="x"),
            mqm("a", "1", error("minor"), error("minor"), annotator="y"),
            mqm("a", "1", annotator="z"),
        ]
    )
    assert by_translation(scores) == {("a", "1"): -7 / 3}
    assert scores.signature.name == "mqm"
    assert scores.signature.fields["annotators"] == "3"
    assert scores.notes == ()


def test_a_translation_that_one_annotator_failed_is_judged_by_the_others_and_counted() -> None:
    scores = score_records([rated("a", "1", 80, annotator="x"), failed("a", segment="1", annotator="y")])
    assert by_translation(scores) == {("a", "1"): 80}
    assert by_system(scores) == {"a": (80, 1, 1)}
    assert scores.signature.fields["failed"] == "1/2"


def test_different_numbers_of_annotators_are_said() -> None:
    scores = score_records(
        [rated("a", "1", 80, annotator=x) for x in "xyz"] + [rated("a", "2", 0, annotator="x")]
    )
    assert by_system(scores) == {"a": (40, 2, 0)}
    assert scores.notes == (
        "Each translation was judged by 1 to 3 annotators; its score is the mean over those who judged it.",
    )


@pytest.mark.parametrize(
    "records",
    [
        [rated("a", "1", 80), rated("a", "1", 90)],
        [rated("a", "1", 80), failed("a", segment="1")],
        [preferred("a", "b", "A"), preferred("b", "a", "A")],
    ],
)
def test_one_annotator_cannot_judge_the_same_twice(records: list[Record]) -> None:
    with pytest.raises(DataError, match=r"'ann' judged a( and b)? twice on segment '1' of en-de"):
        score_records(records)


# Runs...


def test_a_run_is_scored_with_its_own_weights_and_signature() -> None:
    judged: list[Record] = [mqm("a", "1", *[error("minor")] * 7), failed("a", segment="2", protocol="mqm")]
    scores = score_records(run(judged, weights="gemba"))
    assert by_system(scores) == {"a": (-5, 1, 1)}
    assert scores.range == (-25.0, 0.0)
    assert str(scores.signature) == "gemba-mqm|model:x|weights:gemba|failed:1/2|version:1"
    other = score_records(run(judged, weights="gemba"), weights="mqm-google")
    assert by_system(other) == {"a": (-7, 1, 1)}
    assert other.signature.fields["weights"] == "mqm-google"


def test_weights_of_one_s_own_are_named_too() -> None:
    own = Weights(name="ours", source="here", rules={"minor": 3})
    scores = score_records([mqm("a", "1", error("minor"))], weights=own)
    assert by_system(scores) == {"a": (-3, 1, 0)}
    assert scores.signature.fields["weights"] == "ours"


def test_a_corpus_score_is_the_system_s_score_and_the_signature_says_so() -> None:
    records: list[Record] = [
        rated(s, i, v, protocol="metric") for s, i, v in (("a", "1", 10), ("a", "2", 30))
    ]
    bleu = run(records, kind="metric", corpus_scores={"en-de": {"a": 27.5}})
    scores = score_records(bleu)
    assert by_system(scores) == {"a": (27.5, 2, 0)}
    assert by_translation(scores) == {("a", "1"): 10, ("a", "2"): 30}
    assert scores.signature.fields["level"] == "corpus"
    assert "level" not in score_records(run(records, kind="metric")).signature.fields


def test_a_run_that_is_not_finished_says_so() -> None:
    scores = score_records(run([rated("a", "1", 1)], counts={"judged": 1, "pending": 3}))
    assert scores.notes == ("3 judgements are still pending: the run is not finished.",)


# Several language pairs...


def test_each_language_pair_is_scored_on_its_own_and_all_together() -> None:
    records = [
        rated("a", "1", 10),
        rated("a", "2", 20),
        rated("b", "1", 0),
        rated("b", "2", 0),
        rated("a", "1", 60, lp="zh-en"),
        rated("b", "1", 90, lp="zh-en"),
    ]
    scores = score_records(records)
    assert by_system(scores) == {"a": (30, 3, 0), "b": (30, 3, 0)}
    assert {lp: by_system(part) for lp, part in scores.lps.items()} == {
        "en-de": {"a": (15, 2, 0), "b": (0, 2, 0)},
        "zh-en": {"a": (60, 1, 0), "b": (90, 1, 0)},
    }
    assert scores.lps["zh-en"] == score_records(records, lp="zh-en")
    assert score_records(records, lp="zh-en").lps == {}
    assert scores.signature.fields["failed"] == "0/6"
    assert scores.lps["zh-en"].signature.fields["failed"] == "0/2"


def test_language_pairs_with_other_systems_are_never_pooled() -> None:
    scores = score_records(
        [rated("a", "1", 10), rated("a", "1", 60, lp="zh-en"), rated("b", "1", 9, lp="zh-en")]
    )
    assert scores.systems == ()
    assert set(scores.lps) == {"en-de", "zh-en"}
    assert len(scores.segments) == 3
    (note,) = scores.notes
    assert note.startswith("The language pairs do not have the same systems, so no score is over all of them")
    assert note.endswith("choose one with --lp (en-de, zh-en).")


def test_language_pairs_that_are_not_pooled_say_each_what_is_unequal_in_them() -> None:
    records = [rated("a", "1", 10), rated("a", "2", 10), rated("b", "1", 9), rated("c", "1", 9, lp="zh-en")]
    first, second = score_records(records).notes
    assert first == "en-de: " + UNEQUAL.format("a 2, b 1; 1 in common")
    assert second.startswith("The language pairs do not have the same systems")


def test_corpus_scores_are_never_averaged_over_language_pairs() -> None:
    records: list[Record] = [rated("a", "1", 1, protocol="metric", lp=lp) for lp in ("en-de", "zh-en")]
    scores = score_records(
        run(records, kind="metric", corpus_scores={"en-de": {"a": 20}, "zh-en": {"a": 40}})
    )
    assert scores.systems == ()
    assert [by_system(part) for part in scores.lps.values()] == [{"a": (20, 1, 0)}, {"a": (40, 1, 0)}]
    assert scores.notes[0].startswith("A corpus score is no mean")


# What cannot be scored...


@pytest.mark.parametrize(
    ("records", "settings", "message"),
    [
        ([], {}, "no records"),
        (
            [rated("a", "1", 1), mqm("a", "2")],
            {},
            "one protocol can be scored together; these are of da-sqm, mqm",
        ),
        ([rated("a", "1", 1)], {"lp": "de-en"}, "no records of lp 'de-en'; there are some of en-de"),
        ([rated("a", "1", 1)], {"weights": "gemba"}, "protocol da-sqm have none"),
        ([mqm("a", "1")], {"weights": "mqm"}, "no weights 'mqm'; there are"),
        ([mqm("a", "1")], {"criterion": "fluency"}, "records are of protocol mqm"),
        ([preferred("a", "b", "A")], {"weights": "gemba"}, "protocol pairwise have none"),
    ],
)
def test_what_cannot_be_scored_is_refused_with_a_reason(
    records: list[Record], settings: dict[str, str], message: str
) -> None:
    with pytest.raises((DataError, UsageError), match=message):
        score_records(records, **settings)


def test_documents_have_means_of_their_own() -> None:
    scores = score_records(
        [
            rated("a", "1", 10, document="x"),
            rated("a", "2", 20, document="x"),
            rated("a", "3", 90, document="y"),
            failed("a", segment="4"),
        ]
    )
    found = [(d.lp, d.document, d.system, d.score, d.n, d.failed) for d in document_scores(scores.segments)]
    assert found == [
        ("en-de", "x", "a", 15, 2, 0),
        ("en-de", "y", "a", 90, 1, 0),
        ("en-de", "", "a", None, 0, 1),
    ]


# Real data...


def wmt23_records(folder: Path, lp: str, rating: str) -> list[Annotation]:
    """The annotations of a `.seg.rating` file: one line a segment, in blocks by system."""
    found, position = [], Counter[str]()
    for line in (folder / f"{lp}.{rating}.seg.rating").read_text(encoding="utf-8").split("\n"):
        system, _, rest = line.partition("\t")
        position[system] += 1
        if rest not in {"", "None"}:
            errors = [
                ErrorSpan(severity=e["severity"], category=find_category(e["category"]), match="unplaced")
                for e in json.loads(rest)["errors"]
            ]
            found.append(mqm(system, str(position[system]), *errors, annotator=rating, lp=lp))
    return found


def gold(path: Path) -> dict[tuple[str, str], float]:
    found, position = {}, Counter[str]()
    for line in path.read_text(encoding="utf-8").split("\n"):
        system, _, value = line.partition("\t")
        position[system] += 1
        if value not in {"", "None"}:
            found[system, str(position[system])] = float(value)
    return found


@pytest.mark.realdata
def test_the_published_scores_of_wmt23_come_out_bit_for_bit(adjudge_data: Path) -> None:
    folder = adjudge_data / "wmt23" / "human-scores"
    segments = gold(folder / "en-de.mqm.seg.score")
    systems = {system: value for (system, _), value in gold(folder / "en-de.mqm.sys.score").items()}
    records = [r for r in wmt23_records(folder, "en-de", "mqm.merged") if r.system in systems]
    scores = score_records(records, weights="mqm-google")
    assert by_translation(scores) == segments
    assert {s.system: s.score for s in scores.systems} == systems
    assert {s.n for s in scores.systems} == {460}
    assert scores.notes == ()


@pytest.mark.realdata
def test_the_published_averages_of_wmt21_s_ted_talks_come_out(adjudge_data: Path) -> None:
    stem = adjudge_data / "mqm-tsv" / "mqm_ted_zhen"
    scores = score_records(read_mqm_tsv(f"{stem}.tsv", "zh-en").records, weights="mqm-google-2021")
    names = {"ref": "ref-A", "refB": "ref-B"}  # as the other file calls them
    found = {(names.get(s.system, s.system), s.segment): s.score for s in scores.segments}
    table = read_score_file(f"{stem}.avg_seg_scores.tsv")
    published = {
        (system, unit): value
        for system, values in zip(table.systems, table.values.tolist(), strict=True)
        for unit, value in zip(table.units, values, strict=True)
        if not math.isnan(value)
    }
    assert found == pytest.approx(published, abs=1e-9)
    assert len(found) == 7935


def test_scores_of_preferences_keep_them() -> None:
    records = [preferred("a", "b", "A"), preferred("a", "b", "B", criterion="style")]
    other = replace(records[0], lp="zh-en")
    found = score_records([*records, other], criterion="overall")
    assert found.preferences == (records[0], other)
    assert {lp: part.preferences for lp, part in found.lps.items()} == {
        "en-de": (records[0],),
        "zh-en": (other,),
    }
    assert score_records(records, criterion="style").preferences == (records[1],)
