"""Scores with and without what is flagged."""

import json
import math
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudge.analysis.bias import bias
from adjudge.analysis.preferences import tabulate
from adjudge.analysis.rank import Method, rank
from adjudge.analysis.segment_scores import document_scores, score_records
from adjudge.core.mqm import Weights
from adjudge.core.protocol import find_category
from adjudge.core.record import SUSPECT, UNDECIDED, Annotation, ErrorSpan, Preference, Record, without_repeats
from adjudge.core.scores import Checklist, Run, RunInfo, Scores, Signature, all_pass
from adjudge.core.segment import TestSet
from adjudge.errors import DataError, UsageError
from adjudge.formats.mqm_tsv import read_mqm_tsv
from adjudge.formats.score_file import read_score_file
from adjudge.reports.segments import count_verdicts
from tests.analysis.records import checked, error, failed, mqm, preferred, rated

# Comparisons that were left undecided are neither wins nor ties.


def undecided(a: str, b: str, segment: str) -> Preference:
    flags = ("position_inconsistent", UNDECIDED)
    return replace(preferred(a, b, "E", segment), orders=("A", "B"), flags=flags)


RECORDS = [preferred("a", "b", "A", "1"), preferred("a", "b", "E", "2"), undecided("a", "b", "3")]


def test_an_undecided_comparison_earns_nobody_a_point_and_is_counted() -> None:
    found = score_records(RECORDS)
    assert by_system(found) == {"a": (0.75, 2, 0), "b": (0.25, 2, 0)}
    assert found.notes == (
        "1 comparison is undecided, as the verdict changed with the order: neither wins nor ties, left out.",
    )
    assert found.signature.fields["failed"] == "0/2"


@pytest.mark.parametrize("method", ["mean", "copeland", "davidson"])
def test_a_ranking_leaves_it_out_and_says_so(method: Method) -> None:
    found = rank(RECORDS, method=method, resamples=10)
    assert [(s.system, s.n) for s in found.systems] == [("a", 2), ("b", 2)]
    assert any("1 comparison is undecided" in note for note in found.notes)


def test_its_label_is_missing_and_its_position_bias_is_not() -> None:
    table = tabulate(RECORDS, "overall")
    np.testing.assert_array_equal(table.labels, [[1], [0], [np.nan]])
    assert table.undecided == {"ann": 1}
    (row,) = bias(RECORDS, resamples=0).rows
    assert (row.n, row.undecided) == (2, 1)
    assert row.position is not None
    assert (row.position.n, row.position.consistency.value) == (1, 0.0)
    (counts,) = count_verdicts(RECORDS)
    assert (counts.a, counts.b, counts.equal, counts.undecided) == (1, 0, 1, 1)


def test_nothing_but_undecided_comparisons_is_nothing_to_score() -> None:
    with pytest.raises(DataError, match="every comparison is undecided"):
        score_records([undecided("a", "b", "1")])


def test_an_undecided_comparison_has_no_winner() -> None:
    with pytest.raises(DataError, match="position_undecided has verdict E, got A"):
        replace(undecided("a", "b", "1"), verdict="A")


NOTE = (
    "{} were repeated: the same annotator had judged the translation before (flag duplicate). "
    "The first judgement counts."
)


def again(record: Annotation) -> Annotation:
    return replace(record, flags=("duplicate",))


FIRST = rated("a", "1", 80)
OTHERS = [rated("a", "2", 60), rated("b", "1", 50), rated("b", "2", 50)]


@pytest.mark.parametrize(
    "records",
    [
        [FIRST, again(rated("a", "1", 0)), *OTHERS],
        [again(rated("a", "1", 0)), FIRST, *OTHERS],
    ],
    ids=["oldest first", "newest first"],
)
def test_of_a_repeated_item_the_judgement_without_the_flag_counts(records: list[Annotation]) -> None:
    assert without_repeats(records) == ([FIRST, *OTHERS], 1)
    scores = score_records(records)
    assert {s.system: s.score for s in scores.systems} == {"a": 70, "b": 50}
    assert NOTE.format("1 judgement").replace("were", "was") in scores.notes


def test_a_filler_that_stands_alone_counts_and_of_several_the_first() -> None:
    alone = again(FIRST)
    assert without_repeats([alone, again(rated("a", "1", 0)), *OTHERS]) == ([alone, *OTHERS], 1)
    assert without_repeats([alone, *OTHERS]) == ([alone, *OTHERS], 0)


def test_a_filler_that_somebody_else_judged_is_a_second_opinion() -> None:
    records = [FIRST, again(rated("a", "1", 0, annotator="ben"))]
    assert without_repeats(records) == (records, 0)
    assert score_records(records).systems[0].score == 40


def test_everything_else_stays() -> None:
    records: list[Record] = [
        FIRST,
        failed("b", segment="1"),
        preferred("a", "b", "A", segment="1"),
        again(FIRST),
    ]
    assert without_repeats(records) == (records[:3], 1)


def test_a_second_judgement_without_the_flag_is_still_an_error() -> None:
    with pytest.raises(DataError, match="judged a twice"):
        score_records([FIRST, FIRST, again(FIRST)])


def test_several_language_pairs_say_it_once() -> None:
    french = rated("a", "1", 10, lp="en-fr")
    scores = score_records([FIRST, again(FIRST), french, again(french)])
    assert scores.notes.count(NOTE.format("2 judgements")) == 1
    assert scores.lps["en-fr"].notes == ()


UNEQUAL = (
    "The systems are not judged on the same segments ({}): "
    "compare them with `adjudge rank`, which takes the common segments only."
)


def scored(*records: Record) -> Scores:
    return score_records(records)


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


def test_errors_are_scored_by_weights() -> None:
    scores = scored(
        mqm("a", "1", error("major")), mqm("a", "2"), mqm("b", "1", error("minor")), mqm("b", "2")
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
    scores = scored(
        preferred("a", "b", "A", "1"),
        preferred("a", "b", "E", "2"),
        preferred("c", "a", "A", "2"),
        preferred("b", "c", "B", "3"),
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


def test_a_failure_has_no_score_and_is_in_no_mean() -> None:
    known = [rated("a", "1", 80), rated("b", "1", 60), rated("b", "2", 100)]
    scores = score_records([*known, failed("a", segment="2")])
    assert by_translation(scores)["a", "2"] is None
    assert by_system(scores) == {"a": (80, 1, 1), "b": (80, 2, 0)}
    assert scores.signature.fields["failed"] == "1/4"
    assert scores.notes == (
        "1 of 4 judgements failed; it has no score and is in no mean.",
        UNEQUAL.format("a 1, b 2; 1 in common"),
    )


def test_a_system_of_which_nothing_was_judged_has_no_score() -> None:
    scores = scored(failed("a", segment="1", protocol="mqm"), failed("a", segment="2", protocol="mqm"))
    assert by_system(scores) == {"a": (None, 0, 2)}
    assert scores.range == (-math.inf, 0.0)
    assert len(scores.notes) == 1


def test_unequal_coverage_is_said_even_if_nothing_failed() -> None:
    same_size = [rated(*of, 1) for of in (("a", "1"), ("a", "2"), ("b", "2"), ("b", "3"))]
    assert "(a 2, b 2; 1 in common)" in score_records(same_size).notes[0]
    many = [rated(s, str(i), 1) for n, s in enumerate("abcde", start=1) for i in range(n)]
    assert "(from 1 for a to 5 for e; 1 in common)" in score_records(many).notes[0]


def test_a_failed_comparison_fails_for_both_systems() -> None:
    scores = scored(
        preferred("a", "b", "A", "1"),
        failed("a", "b", segment="2", protocol="pairwise", criterion="overall"),
        failed("a", "b", segment="2", protocol="pairwise", criterion="fluency"),
    )
    assert by_system(scores) == {"a": (1, 1, 1), "b": (0, 1, 1)}
    assert by_translation(scores)["a", "2"] is None
    assert scores.signature.fields["failed"] == "1/2"


def test_a_failure_of_all_systems_at_once_fails_each() -> None:
    scores = scored(failed("a", "b", segment="1", protocol="sqm"), rated("a", "2", 4, protocol="sqm"))
    assert by_system(scores) == {"a": (4, 1, 1), "b": (None, 0, 1)}
    assert scores.signature.fields["failed"] == "2/3"


def test_several_annotators_of_a_translation_are_averaged_each_for_itself() -> None:
    scores = scored(
        mqm("a", "1", error("major"), annotator="x"),
        mqm("a", "1", error("minor"), error("minor"), annotator="y"),
        mqm("a", "1", annotator="z"),
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
    scores = scored(*(rated("a", "1", 80, annotator=x) for x in "xyz"), rated("a", "2", 0, annotator="x"))
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


def test_each_language_pair_is_scored_on_its_own_and_all_together() -> None:
    german = [rated("a", "1", 10), rated("a", "2", 20), rated("b", "1", 0), rated("b", "2", 0)]
    records = [*german, rated("a", "1", 60, lp="zh-en"), rated("b", "1", 90, lp="zh-en")]
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


def test_language_pairs_that_are_not_pooled_say_each_what_is_unequal_in_them() -> None:
    judged = [rated("a", "1", 10), rated("a", "2", 10), rated("b", "1", 9)]
    scores = score_records([*judged, rated("c", "1", 9, lp="zh-en")])
    assert (scores.systems, set(scores.lps), len(scores.segments)) == ((), {"en-de", "zh-en"}, 4)
    first, second = scores.notes
    assert first == "en-de: " + UNEQUAL.format("a 2, b 1; 1 in common")
    assert second.startswith("The language pairs do not have the same systems, so no score is over all")
    assert second.endswith("choose one with --lp (en-de, zh-en).")


def test_corpus_scores_are_never_averaged_over_language_pairs() -> None:
    records: list[Record] = [rated("a", "1", 1, protocol="metric", lp=lp) for lp in ("en-de", "zh-en")]
    scores = score_records(
        run(records, kind="metric", corpus_scores={"en-de": {"a": 20}, "zh-en": {"a": 40}})
    )
    assert scores.systems == ()
    assert [by_system(part) for part in scores.lps.values()] == [{"a": (20, 1, 0)}, {"a": (40, 1, 0)}]
    assert scores.notes[0].startswith("A corpus score is no mean")


@pytest.mark.parametrize(
    ("records", "settings", "message"),
    [
        ([], {}, "no records"),
        ([rated("a", "1", 1), mqm("a", "2")], {}, "one protocol can .* these are of da-sqm, mqm"),
        ([rated("a", "1", 1)], {"lp": "de-en"}, "what was judged has no lp 'de-en'; it has en-de"),
        ([rated("a", "1", 1)], {"weights": "gemba"}, "protocol da-sqm have none"),
        ([mqm("a", "1")], {"weights": "mqm"}, "no weights 'mqm'; there are"),
        ([mqm("a", "1")], {"criterion": "fluency"}, "records are of protocol mqm"),
        ([preferred("a", "b", "A")], {"weights": "gemba"}, "protocol pairwise have none"),
    ],
)
def test_what_cannot_be_scored_is_refused(
    records: list[Record], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises((DataError, UsageError), match=message):
        score_records(records, **settings)


def test_documents_have_means_of_their_own() -> None:
    scores = scored(
        rated("a", "1", 10, document="x"),
        rated("a", "2", 20, document="x"),
        rated("a", "3", 90, document="y"),
        failed("a", segment="4"),
        failed("a", segment="5"),
    )
    found = [(d.lp, d.document, d.system, d.score, d.n, d.failed) for d in document_scores(scores.segments)]
    assert found == [
        ("en-de", "x", "a", 15, 2, 0),
        ("en-de", "y", "a", 90, 1, 0),
        ("en-de", "", "a", None, 0, 2),
    ]


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
    scores = score_records(read_mqm_tsv(Path(f"{stem}.tsv"), "zh-en").records, weights="mqm-google-2021")
    names = {"ref": "ref-A", "refB": "ref-B"}  # as the other file calls them
    found = {(names.get(s.system, s.system), s.segment): s.score for s in scores.segments}
    table = read_score_file(Path(f"{stem}.avg_seg_scores.tsv"))
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


ALONE = (SUSPECT, "instruction@translation")
BOTH = (SUSPECT, "instruction@both")


def flagged(segment: str, system: str, rating: float, *flags: str, lp: str = "en-de") -> Annotation:
    return replace(rated(system, segment, rating, lp=lp), flags=flags)


TABLE = [
    *(flagged("1", "A", 80), flagged("1", "B", 60)),
    *(flagged("2", "A", 100, *ALONE), flagged("2", "B", 50)),
    *(flagged("3", "A", 70, *BOTH), flagged("3", "B", 60, *BOTH)),
    *(flagged("4", "A", 60), flagged("4", "B", 50)),
]


def test_a_flagged_segment_is_left_out_for_every_system() -> None:
    scores = score_records(TABLE)
    assert {s.system: s.score for s in scores.systems} == {"A": 77.5, "B": 55.0}
    found: Any = scores.suspects
    assert (found.judgements, found.asked, found.in_translation, found.segments) == (3, 8, 1, 2)
    assert {s.system: (s.score, s.n) for s in found.systems} == {"A": (70.0, 2), "B": (55.0, 2)}
    (note,) = scores.notes
    assert note == (
        "3 of 8 judgements are flagged injection_suspect, 1 of them for what a translation holds and its "
        "source does not. Without their segments (2) A moves most, by -7.5."
    )


def test_nothing_is_said_where_nothing_is_flagged() -> None:
    scores = score_records([r for r in TABLE if r.segment in {"1", "4"}])
    assert scores.suspects is None
    assert scores.notes == ()


def test_where_every_segment_is_flagged_there_is_nothing_to_compare() -> None:
    scores: Any = score_records([flagged("1", "A", 80, *ALONE), flagged("1", "B", 60)])
    assert scores.suspects.systems == ()
    assert scores.notes[0].endswith("no score can be had without their segments (1).")


def test_each_language_pair_has_its_own() -> None:
    other = [flagged("1", "A", 10, *ALONE, lp="en-cs"), flagged("2", "A", 20, lp="en-cs")]
    scores = score_records([*TABLE, *other])
    assert scores.suspects is None  # the language pairs have not the same systems
    assert scores.systems == ()
    assert [lp for lp, part in scores.lps.items() if part.suspects is not None] == ["en-de", "en-cs"]
    assert [note.partition(":")[0] for note in scores.notes if SUSPECT in note] == ["en-de", "en-cs"]


@pytest.mark.parametrize("flags", [ALONE, BOTH])
def test_a_flagged_comparison_is_one_judgement(flags: tuple[str, ...]) -> None:
    records: list[Record] = [
        replace(preferred("A", "B", "A", str(n), annotator="a"), flags=f) for n, f in enumerate([(), flags])
    ]
    records.append(failed("A", "B", segment="9", protocol="pairwise", annotator="a", criterion="overall"))
    found: Any = score_records(records).suspects
    assert (found.judgements, found.asked, found.segments) == (1, 3, 1)
    assert found.in_translation == (flags is ALONE)
    assert {s.system: (s.score, s.n, s.failed) for s in found.systems} == {"A": (1.0, 1, 1), "B": (0.0, 1, 1)}


VERDICTS: list[tuple[str, str, str, bool | None]] = [
    *[("a", "1", "x", True), ("a", "1", "y", True)],
    *[("a", "2", "x", True), ("a", "2", "y", None), ("a", "2", "z", False)],
    *[("a", "3", "x", True), ("a", "3", "y", None)],
    *[("b", "1", "x", True), ("b", "1", "y", False)],
    *[("b", "2", "x", False), ("b", "2", "y", False), ("b", "2", "z", False)],
    *[("b", "3", "x", None), ("b", "3", "y", None)],
]
CHECKED: list[Record] = [checked(*where, passed=passed) for *where, passed in VERDICTS]


def test_a_score_is_the_share_of_the_criteria_that_are_passed_of_those_whose_verdict_was_read() -> None:
    found = score_records(CHECKED)
    assert [by_translation(found)[s, n] for s in "ab" for n in "123"] == [1.0, 0.5, 1.0, 0.5, 0.0, None]
    assert [s.score for s in found.systems] == pytest.approx([2.5 / 3, 0.25])
    assert [(s.system, s.n, s.failed) for s in found.systems] == [("a", 3, 2), ("b", 2, 2)]
    assert found.range == (0.0, 1.0)
    assert found.signature.fields["failed"] == "4/14"
    assert "criteria" not in found.signature.fields
    lists = [s.checklist for s in found.systems]
    assert lists == [
        Checklist(passed=4, judged=5, missing=2, all_passed=1, settled=2, unsettled=1),
        Checklist(passed=1, judged=5, missing=2, all_passed=0, settled=2, unsettled=1),
    ]
    assert [each and each.all_pass for each in lists] == [0.5, 0.0]
    assert "4 of 14 judgements failed; they have no score and are in no mean." in found.notes
    assert any(note.startswith("2 of 6 translations have no all-pass value: a") for note in found.notes)


def test_the_all_pass_score_has_no_value_where_a_missing_verdict_could_decide() -> None:
    found = score_records(CHECKED, criterion="all-pass")
    assert [by_translation(found)[s, n] for s in "ab" for n in "123"] == [1.0, 0.0, None, 0.0, 0.0, None]
    assert [(s.system, s.score, s.n, s.failed) for s in found.systems] == [("a", 0.5, 2, 1), ("b", 0.0, 2, 1)]
    assert (found.signature.fields["criteria"], found.signature.fields["failed"]) == ("all-pass", "2/6")
    assert "4 of 14 verdicts failed, and are neither a pass nor a fail." in found.notes
    assert found.systems[0].score == score_records(CHECKED).systems[0].checklist.all_pass  # type: ignore[union-attr]


def test_one_criterion_can_be_scored_alone() -> None:
    found = score_records(CHECKED, criterion="y")
    assert [(s.system, s.score, s.n, s.failed, s.checklist) for s in found.systems] == [
        ("a", 1.0, 1, 2, None),
        ("b", 0.0, 2, 1, None),
    ]


def test_a_criterion_that_no_segment_has_is_refused() -> None:
    with pytest.raises(UsageError, match=r"criterion 'fluency'; choose one of all-pass, x, y, z"):
        score_records(CHECKED, criterion="fluency")
    many = [checked("a", "1", f"c{n}", passed=True) for n in range(20)]
    with pytest.raises(UsageError, match=r"c0, .*c8 \.\.\.$"):
        score_records(many, criterion="fluency")


def test_a_verdict_that_one_annotator_gave_twice_is_refused() -> None:
    twice = [checked("a", "1", "x", passed=True), checked("a", "1", "x", passed=None)]
    with pytest.raises(DataError, match="'ann' judged a by criterion 'x' twice on segment '1'"):
        score_records(twice)


def test_several_annotators_of_one_translation_each_count() -> None:
    records = [*CHECKED[:2], checked("a", "1", "x", passed=False, annotator="ben")]
    found = score_records(records)
    (system,) = found.systems
    assert system.score == pytest.approx(2 / 3)
    assert system.n == 1
    assert system.checklist == Checklist(passed=2, judged=3, missing=0, all_passed=1, settled=2, unsettled=0)
    assert found.signature.fields["annotators"] == "2"
    assert score_records(records, criterion="all-pass").systems[0].score == 0.5


def test_verdicts_are_counted_for_each_language_pair_too() -> None:
    found = scored(
        *CHECKED,
        checked("a", "1", "x", passed=True, lp="en-fr"),
        checked("b", "1", "x", passed=None, lp="en-fr"),
    )
    assert [s.checklist and s.checklist.passed for s in found.lps["en-fr"].systems] == [1, 0]
    assert [s.checklist and s.checklist.passed for s in found.systems] == [5, 1]


def test_verdicts_are_ranked_by_means_and_by_pairs() -> None:
    for settings in ({}, {"method": "copeland"}, {"criterion": "all-pass"}):
        found = rank(CHECKED, resamples=10, **settings)  # type: ignore[arg-type]
        assert [s.system for s in found.systems] == ["a", "b"], settings


@given(st.lists(st.sampled_from([0.0, 1.0, None]), min_size=1))
def test_a_failed_verdict_turns_no_fail_into_a_pass_and_no_pass_into_a_fail(
    verdicts: list[float | None],
) -> None:
    assert [all_pass(known) for known in ([1.0], [1.0, 1.0], [1.0, 0.0])] == [1.0, 1.0, 0.0]
    ways = [[0.0, 1.0] if verdict is None else [verdict] for verdict in verdicts[:8]]
    outcomes = {all_pass(way) for way in product(*ways)}
    assert all_pass(verdicts[:8]) == (outcomes.pop() if len(outcomes) == 1 else None)
