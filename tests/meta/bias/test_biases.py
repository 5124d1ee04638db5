from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from adjudge.analysis.bias import Biases, Families, bias, find_biases, length_bias, read_families
from adjudge.analysis.preferences import Source
from adjudge.core.record import Failure, Preference
from adjudge.core.segment import (
    Segment,
    TestSet,
)
from adjudge.errors import DataError, UsageError
from adjudge.stats.bootstrap import Draws
from adjudge.store.json_lines import write_records
from tests.scoring.records import failed, preferred, rated

OWN = Families(systems={"mine": "x", "theirs": "y"}, annotators={"judge": "x", "other": "y"})


def verdicts(annotator: str, text: str, pair: tuple[str, str] = ("mine", "theirs")) -> list[Preference]:
    return [
        preferred(*pair, verdict, str(i), annotator=annotator)  # type: ignore[arg-type]
        for i, verdict in enumerate(text)
    ]


def found(
    judged: list[Preference], gold: list[Preference] | None = None, families: Families | None = OWN
) -> Biases:
    return bias(judged, gold=gold, families=families, resamples=0)


def test_a_judge_that_favours_its_family_goes_beyond_gold_and_other_judges() -> None:
    judged = [*verdicts("judge", "AAAE"), *verdicts("other", "ABBE")]
    mine, other = found(judged, verdicts("people", "ABEE")).rows
    assert mine.family is not None
    assert mine.family.systems == ("mine",)
    assert mine.family.own.value == 3.5 / 4
    assert mine.family.gold is not None
    assert mine.family.beyond_gold is not None
    assert (mine.family.gold.value, mine.family.beyond_gold.value) == (0.5, 0.375)
    assert mine.family.others is not None
    assert mine.family.beyond_others is not None
    assert (mine.family.others.value, mine.family.beyond_others.value) == (0.375, 0.5)
    assert other.family is not None
    assert other.family.own.value == 2.5 / 4  # of "theirs"


def test_pairs_of_two_of_the_family_or_of_none_do_not_count() -> None:
    families = Families(systems={"mine": "x", "mine2": "x"}, annotators={"judge": "x"})
    judged = [
        *verdicts("judge", "A"),
        *verdicts("judge", "B", ("mine", "mine2")),
        *verdicts("judge", "B", ("foo", "theirs")),
    ]
    (row,) = found(judged, families=families).rows
    assert row.family is not None
    assert (row.family.own.value, row.family.own.n, row.n) == (1, 1, 3)
    assert (row.family.gold, row.family.others) == (None, None)


def test_an_annotator_without_a_family_has_no_such_bias() -> None:
    (row,) = found(verdicts("nobody", "AAB")).rows
    assert row.family is None


def test_the_longer_wins_beyond_gold() -> None:
    own, gold = np.array([1.0, 1, 0, -1, np.nan, 1]), np.array([1.0, -1, 0, 1, 1, np.nan])
    differences = np.array([5.0, 2, 9, -4, 3, 0])  # the last pair is equally long
    result = length_bias(own, gold, differences, Draws())
    assert (result.longer.value, result.longer.n) == (3.5 / 4, 4)
    assert result.gold is not None
    assert result.beyond_gold is not None
    assert (result.gold.value, result.beyond_gold.value) == (1.5 / 4, 0.5)


def test_lengths_are_code_points_of_the_texts() -> None:
    segment = Segment(segment="0", lp="en-de", source="s", translations={"a": "𝒳", "b": "ab"})  # one and two
    source = Source(
        name="run",
        records=(preferred("a", "b", "B", "0"),),
        test_set=TestSet(name="t", segments=(segment,)),
    )
    (row,) = find_biases([source], gold=None, families=None, draws=Draws()).rows
    assert row.length is not None
    assert row.length.longer.value == 1


def test_scores_become_pairs_and_have_no_position() -> None:
    judged = [rated("mine", "1", 70), rated("theirs", "1", 60)]
    (row,) = bias(judged, resamples=0).rows
    assert (row.criterion, row.n, row.position) == ("overall", 1, None)


def test_each_criterion_is_a_row_and_failures_are_counted() -> None:
    judged: list[Preference | Failure] = [
        preferred("a", "b", "A", criterion="style"),
        preferred("a", "b", "A", criterion="fluency"),
        failed("a", "b", segment="2", protocol="pairwise", criterion="fluency"),
    ]
    result = bias(judged, resamples=0)
    assert [(r.criterion, r.n, r.failed) for r in result.rows] == [("style", 1, 0), ("fluency", 1, 1)]
    assert "1 of 3 comparisons failed; it has no verdict and is in no number." in result.notes


def test_the_notes_say_what_is_missing() -> None:
    notes = found(verdicts("judge", "AB")).notes
    assert notes == (
        "2 verdicts were not asked in both orders; they say nothing of position.",
        "There are no texts, so nothing is said of length: give runs, or --test-set.",
        "There is no gold: what looks like a bias may be quality.",
        "The families name annotators that nothing is known of: other.",
    )


def test_two_runs_of_one_judge_are_told_apart_by_their_names(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_records(tmp_path / f"{name}.jsonl", verdicts("judge", "AB"))
    result = bias(tmp_path / "one.jsonl", str(tmp_path / "two.jsonl"), resamples=0)
    assert [r.annotator for r in result.rows] == [f"{tmp_path}/{name}.jsonl:judge" for name in ("one", "two")]
    with pytest.raises(DataError, match="is given 2 times"):
        bias(tmp_path / "one.jsonl", tmp_path / "one.jsonl")


def test_what_holds_nothing_is_an_error() -> None:
    with pytest.raises(UsageError, match="at least one run"):
        bias()
    with pytest.raises(UsageError, match="run 1 has no records of he-en; it has some of"):
        bias(verdicts("judge", "A"), lp="he-en")
    with pytest.raises(DataError, match="run 1 holds preferences and annotations"):
        bias([*verdicts("judge", "A"), rated("a", "1", 3)])


@pytest.mark.parametrize("name", ["families.toml", "families.json"])
def test_families_are_read_from_toml_and_json(name: str, tmp_path: Path) -> None:
    text = '[systems]\n"GPT 4" = "gpt"\n[annotators]\nfire = "gpt"\n'
    if name.endswith("json"):
        text = '{"systems": {"GPT 4": "gpt"}, "annotators": {"fire": "gpt"}}'
    (tmp_path / name).write_text(text)
    assert read_families(tmp_path / name) == ({"GPT 4": "gpt"}, {"fire": "gpt"})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[systems", "not TOML"),
        ("[system]\na='b'", "unknown key 'system'; known are annotators, systems"),
        ("[systems]\na=1", "'systems' must hold texts, got 1 for 'a'"),
    ],
)
def test_a_file_that_names_no_families_is_an_error(text: str, wanted: str, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(text)
    with pytest.raises(DataError, match=wanted):
        read_families(tmp_path / "f.toml")


def test_gold_of_one_language_pair_is_enough() -> None:
    judged = verdicts("judge", "AB")
    both = [*judged, *(replace(p, lp="zh-en") for p in judged)]
    (row,) = bias(both, gold=verdicts("people", "AA"), lp="en-de", families=OWN, resamples=0).rows
    assert row.n == 2


def test_gold_of_other_translations_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"run 1 and gold \(gold\) compare no translations in common: do they"
    ):
        found(verdicts("judge", "AB"), verdicts("people", "AB", ("mine", "neither")))


def test_scores_are_not_blamed_for_having_no_order() -> None:
    scores = [rated(system, "1", rating, annotator="judge") for system, rating in (("a", 1), ("b", 2))]
    notes = " ".join(bias(scores, resamples=0).notes)
    assert "Verdicts made of scores have no order; nothing is said of their position." in notes
    assert "both orders" not in notes
    assert "1 verdict was not asked in both orders" in " ".join(found(verdicts("judge", "A")).notes)
