"""What the numbers of a page mean."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from adjudge.analysis.rank import RankedSystem
from adjudge.core.record import Annotation
from adjudge.core.scores import Interval
from adjudge.reports.annotators import judged_annotators
from adjudge.reports.words import finding, headline, in_words, meaning
from tests.reports.samples import make_run, small_test_set

BEST = "is significantly better than every other system"
NONE = "No system is significantly better than every other one"


def rows(*groups: str, failed: int = 0) -> tuple[RankedSystem, ...]:
    """Systems named by letters; every one is significantly better than those of later groups alone."""
    names = "".join(groups)
    rests = {name: "".join(groups[place:]) for place, own in enumerate(groups, 1) for name in own}
    return of_pairs(names, {name: rest for name, rest in rests.items() if rest}, failed=failed)


def of_pairs(names: str, better: Mapping[str, str], failed: int = 0) -> tuple[RankedSystem, ...]:
    """Systems named by letters, best first, and whom each is significantly better than; in one cluster."""
    return tuple(
        RankedSystem(
            system=name,
            score=-float(place),
            interval=None,
            cluster=1,
            n=9,
            failed=failed,
            best=1 + sum(name in beaten for beaten in better.values()),
            worst=len(names) - len(better.get(name, "")),
            better_than=tuple(better.get(name, "")),
        )
        for place, name in enumerate(names)
    )


def unjudged(name: str, failed: int) -> RankedSystem:
    return RankedSystem(system=name, score=None, interval=None, cluster=None, n=0, failed=failed)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (rows("A", "B"), "A is significantly better than B"),
        (rows("AB"), "No significant difference between A and B"),
        (rows("ABCDE"), "No significant difference between any two of the 5 systems"),
        (
            rows("A", "BC"),
            "A is significantly better than every other system; no significant difference between B and C",
        ),
        (
            rows("A", "BCDEFG"),
            f"A {BEST}; no significant difference between the 6 others",
        ),
        (rows("A", "B", "C", "D"), "All 6 pairs differ significantly: A is best, then B, C and D"),
        (rows(*"ABCDE"), "All 10 pairs differ significantly: A is best"),
        (
            rows("A", "B", "CD"),
            "A is significantly better than every other system; 2 of the other 3 pairs differ significantly",
        ),
        (
            rows("AB", "C"),
            (
                "A is significantly better than 1 of the 2 others, but not than B; C is significantly "
                "worse than every other one; 2 of 3 pairs differ significantly"
            ),
        ),
        (
            of_pairs("ABCD", {"B": "CD"}),
            f"{NONE}; 2 of 6 pairs differ significantly",
        ),
    ],
)
def test_a_ranking_is_said_in_a_sentence_about_pairs(given: Sequence[RankedSystem], sentence: str) -> None:
    assert finding(given) == sentence


def test_systems_of_one_cluster_that_differ_are_not_said_to_be_equal() -> None:
    """Each system differs from all but its neighbours: WMT's rule puts all of them into one cluster."""
    names = "ABCDEFGHIJKLMN"
    chained = of_pairs(names, {name: names[place + 2 :] for place, name in enumerate(names)})
    assert {row.cluster for row in chained} == {1}
    assert finding(chained) == (
        "A is significantly better than 12 of the 13 others, but not than B; 78 of 91 pairs differ "
        "significantly"
    )


def test_one_system_is_said_with_its_interval() -> None:
    row = RankedSystem(system="A", score=-3.42, interval=Interval(-4.1, -2.7), cluster=1, n=48, failed=0)
    assert finding([row]) == "A scores −3.4 (−4.1 to −2.7) on 48 segments"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ((), "Nothing was judged"),
        ((unjudged("A", 4), unjudged("B", 8)), "Nothing was judged: all 12 judgements failed"),
        ((unjudged("A", 1),), "Nothing was judged: the one judgement failed"),
        ((*rows("A", "B"), unjudged("C", 5)), "A is significantly better than B; nothing was judged for C"),
    ],
)
def test_what_was_not_judged_is_said(given: tuple[RankedSystem, ...], sentence: str) -> None:
    assert finding(given) == sentence


def test_systems_without_common_segments_are_not_ranked() -> None:
    assert finding(loose("A", "B")) == "The systems were not judged on the same segments and cannot be ranked"


@pytest.mark.parametrize(
    ("rankings", "sentence"),
    [
        ({("en-de", "j"): rows("A", "BC")}, f"A {BEST}; no significant difference between B and C"),
        (
            {("en-de", "j"): rows("A", "B"), ("zh-en", "j"): rows("A", "B")},
            f"A {BEST} in both language pairs",
        ),
        (
            {(lp, "j"): rows("A", "B") for lp in ("en-de", "zh-en", "en-ar")},
            f"A {BEST} in all 3 language pairs",
        ),
        (
            {("en-de", "j"): rows("A", "B"), ("en-de", "k"): rows("A", "B")},
            f"Both annotators agree: A {BEST}",
        ),
        (
            {("en-de", "j"): rows("A", "B"), ("zh-en", "j"): rows("A", "B"), ("en-de", "k"): rows("A", "B")},
            f"Both annotators agree: A {BEST} in both language pairs; k judged en-de only",
        ),
        (
            {("en-de", who): rows("A", "B") for who in "jkl"},
            f"All annotators agree: A {BEST}",
        ),
        (
            {("en-de", "j"): rows("A", "B"), ("en-de", "k"): rows("B", "A")},
            "The annotators do not agree on which system is best",
        ),
        (
            {("en-de", "j"): rows("A", "B"), ("zh-en", "j"): rows("B", "A")},
            f"A {BEST} in en-de, B in zh-en",
        ),
        (
            {(lp, "j"): rows(best, "D") for lp, best in {"en-de": "A", "zh-en": "B", "en-ar": "C"}.items()},
            "Which system is best depends on the language pair",
        ),
        (
            {("zh-en", "j"): rows("AB"), ("en-de", "j"): rows("A", "B")},
            f"A {BEST} in en-de, none in zh-en",
        ),
        (
            {
                ("en-de", "j"): rows("AB"),
                ("zh-en", "j"): rows("AB"),
                ("en-de", "k"): rows("A", "B"),
                ("zh-en", "k"): rows("AB"),
            },
            f"By k, A {BEST} in en-de, none in zh-en; j does not show it",
        ),
        (
            {("en-de", "j"): rows("AB"), ("zh-en", "j"): rows("AB")},
            f"{NONE}, in any language pair",
        ),
        (
            {("en-de", "j"): rows("AB"), ("en-de", "k"): rows("AB")},
            "No system is significantly better than every other one",
        ),
        ({("en-de", "j"): rows("A"), ("zh-en", "j"): rows("A")}, "Only A was judged, in both language pairs"),
        ({}, "Nothing was judged"),
        (
            {("en-de", "j"): (unjudged("A", 1),), ("en-de", "k"): rows("A", "B")},
            f"A {BEST}",
        ),
    ],
)
def test_the_headline_says_what_all_rankings_show(
    rankings: dict[tuple[str, str], tuple[RankedSystem, ...]], sentence: str
) -> None:
    assert headline(rankings) == sentence


def loose(*names: str) -> tuple[RankedSystem, ...]:
    """Systems that share no segment."""
    return tuple(
        RankedSystem(system=name, score=-1.0, interval=None, cluster=None, n=3, failed=0) for name in names
    )


@pytest.mark.parametrize(
    ("rankings", "sentence"),
    [
        ({"j": rows("A", "B"), "k": loose("A", "B")}, f"A {BEST}; 1 more ranking lacks common segments"),
        (
            {"j": rows("A", "B"), "k": rows("AB"), "l": loose("A", "B"), "m": loose("A", "B")},
            f"By j, A {BEST}; k does not show it; 2 more rankings lack common segments",
        ),
        (
            {"j": loose("A", "B"), "k": loose("A", "B")},
            "The systems were not judged on the same segments and cannot be ranked",
        ),
        (
            {"gold": rows("A", "B"), "j": rows("B", "A"), "k": loose("A", "B")},
            f"By gold, A {BEST}; j contradicts it; 1 more ranking lacks common segments",
        ),
    ],
)
def test_what_cannot_be_ranked_is_no_ranking_without_a_leader(
    rankings: dict[str, tuple[RankedSystem, ...]], sentence: str
) -> None:
    assert headline({("en-de", who): r for who, r in rankings.items()}, gold=["gold"]) == sentence


def test_a_language_pair_that_cannot_be_ranked_is_still_one_that_somebody_judged() -> None:
    rankings = {("en-de", "j"): rows("A", "B"), ("zh-en", "k"): loose("A", "B")}
    told = f"A {BEST}; j judged en-de only; k judged zh-en only"
    assert headline(rankings) == f"{told}; 1 more ranking lacks common segments"


def test_who_judged_one_language_pair_is_not_said_to_show_it_in_all() -> None:
    rankings = {(lp, who): rows("A", "B") for lp in ("en-de", "zh-en", "en-ar") for who in ("gold", "metric")}
    rankings["zh-en", "judge"] = rows("AB")
    told = f"By gold, A {BEST} in all 3 language pairs; metric shows it too, judge does not"
    assert headline(rankings, gold={"gold"}) == f"{told}; judge judged zh-en only"


@pytest.mark.parametrize(
    ("judge", "metric", "sentence"),
    [
        (("A", "B"), ("A", "B"), f"All annotators agree: A {BEST}"),
        (("AB",), ("AB",), f"By gold, A {BEST}; judge and metric do not show it"),
        (("AB",), ("B", "A"), f"By gold, A {BEST}; judge does not show it, metric contradicts it"),
        (("A", "B"), ("AB",), f"By gold, A {BEST}; judge shows it too, metric does not"),
        (("A", "B"), ("B", "A"), f"By gold, A {BEST}; judge shows it too, metric contradicts it"),
        (("B", "A"), ("B", "A"), f"By gold, A {BEST}; judge and metric contradict it"),
    ],
)
def test_the_headline_measures_the_others_by_gold(
    judge: tuple[str, ...], metric: tuple[str, ...], sentence: str
) -> None:
    rankings = {"judge": rows(*judge), "metric": rows(*metric), "gold": rows("A", "B")}
    assert headline({("en-de", who): r for who, r in rankings.items()}, gold=["gold"]) == sentence


def test_whoever_puts_golds_leader_below_the_best_contradicts_gold() -> None:
    rankings = {"judge": rows("BC", "A"), "gold": rows("A", "B", "C")}
    found = headline({("en-de", who): r for who, r in rankings.items()}, gold=["gold"])
    assert found == f"By gold, A {BEST}; judge contradicts it"


@pytest.mark.parametrize(
    ("judges", "sentence"),
    [
        ({"judge": "AB"}, "; judge shows one"),
        ({"judge": "AB", "metric": "BA"}, "; judge and metric show one"),
    ],
)
def test_golds_ranking_is_said_apart_where_it_has_no_leader(judges: dict[str, str], sentence: str) -> None:
    rankings = {("en-de", who): rows(*order) for who, order in judges.items()}
    rankings["en-de", "gold"] = rows("AB")
    assert headline(rankings, gold=["gold"]) == f"By gold, {NONE[0].lower()}{NONE[1:]}{sentence}"


def test_golds_rankings_of_several_language_pairs_are_not_counted_with_those_of_judges() -> None:
    rankings = {("en-de", "gold"): rows("A", "B"), ("zh-en", "gold"): rows("AB")}
    rankings |= {("en-de", "judge"): rows("A", "B"), ("zh-en", "judge"): rows("A", "B")}
    rankings |= {("en-de", "metric"): rows("A", "B"), ("zh-en", "metric"): rows("AB")}
    assert headline(rankings, gold=["gold"]) == (
        f"By gold, A {BEST} in en-de, none in zh-en; metric shows it too, judge does not"
    )
    rankings["zh-en", "gold"] = rows("B", "A")
    assert headline(rankings, gold=["gold"]) == (
        f"By gold, A {BEST} in en-de, B in zh-en; metric does not show it, judge contradicts it"
    )


def test_two_rankings_of_gold_that_differ_are_no_one_ranking() -> None:
    rankings = {
        ("en-de", "one"): rows("A", "B"),
        ("en-de", "two"): rows("AB"),
        ("en-de", "j"): rows("A", "B"),
    }
    assert headline(rankings, gold=["one", "two"]) == (
        "The rankings of gold do not agree on which system is best"
    )


@pytest.mark.parametrize(
    ("judge", "metric", "sentence"),
    [
        (("R", "A", "B"), ("A", "B"), f"By gold, R {BEST}; judge shows it too; metric did not rank R"),
        (("AR", "B"), ("A", "B"), f"By gold, R {BEST}; judge does not show it; metric did not rank R"),
        (("A", "B"), ("R",), f"By gold, R {BEST}; judge and metric did not rank R"),
        (("X", "R", "A"), ("R", "A"), f"By gold, R {BEST}; judge and metric show it too"),
    ],
)
def test_an_annotator_is_measured_by_gold_on_the_systems_that_both_ranked(
    judge: tuple[str, ...], metric: tuple[str, ...], sentence: str
) -> None:
    rankings = {"judge": rows(*judge), "metric": rows(*metric), "gold": rows("R", "A", "B")}
    assert headline({("en-de", who): r for who, r in rankings.items()}, gold=["gold"]) == sentence


def test_gold_of_one_language_pair_says_which() -> None:
    rankings = {
        ("en-de", "judge"): rows("A", "B"),
        ("zh-en", "judge"): rows("B", "A"),
        ("en-de", "gold"): rows("A", "B"),
    }
    assert headline(rankings, gold=["gold"]) == f"By gold, A {BEST} in en-de; judge shows it too"


@pytest.mark.parametrize(
    ("metric", "sentence"),
    [
        (("A", "B"), f"Without R, which not every annotator judged: Both annotators agree: A {BEST}"),
        (
            ("B", "A"),
            (
                "Without R, which not every annotator judged: "
                "The annotators do not agree on which system is best"
            ),
        ),
        (("A",), "The annotators did not judge the same systems"),
    ],
)
def test_annotators_are_compared_on_the_systems_that_all_of_them_judged(
    metric: tuple[str, ...], sentence: str
) -> None:
    rankings = {("en-de", "judge"): rows("R", "A", "B"), ("en-de", "metric"): rows(*metric)}
    assert headline(rankings) == sentence


def test_many_annotators_are_counted() -> None:
    rankings = {"gold": rows("A", "B"), **{who: rows("A", "B") for who in "jkl"}}
    rankings |= {who: rows("AB") for who in "mnop"} | {who: rows("B", "A") for who in "qrstu"}
    found = headline({("en-de", who): r for who, r in rankings.items()}, gold=["gold"])
    assert found == (
        f"By gold, A {BEST}; j, k and l show it too, 4 annotators do not, 5 annotators contradict it"
    )


@pytest.mark.parametrize(
    ("names", "words"),
    [("A", "A"), ("AB", "A and B"), ("ABC", "A, B and C"), ("ABCDEF", "A, B, C and 3 others")],
)
def test_names_are_joined_as_in_a_sentence(names: str, words: str) -> None:
    assert in_words(list(names)) == words


TEXTS = small_test_set(["en-de"])
MEAN_OF_PAGE = "A system’s score on this page is the mean of its segments’ scores"


@pytest.mark.parametrize(
    ("corpus_scores", "apart", "words"),
    [
        ({"en-de": {"Alder": 40.0, "Birch": 30.0}}, False, MEAN_OF_PAGE),
        (
            {"en-de": {"Alder": 40.0, "Birch": 30.0}},
            True,
            "the metric’s own score of the whole corpus, not a",
        ),
        ({}, False, "is the mean over judged segments"),
    ],
)
def test_a_page_says_whether_its_scores_are_means_or_corpus_scores(
    corpus_scores: Mapping[str, Mapping[str, float]], apart: bool, words: str
) -> None:
    records = [
        Annotation(
            lp=s.lp, segment=s.segment, system=name, annotator="bleu", protocol="metric", rating=30.0 + index
        )
        for index, s in enumerate(TEXTS)
        for place, name in enumerate(("Alder", "Birch"))
        if not apart or place == index
    ]
    run = make_run(TEXTS, records, annotator="bleu", protocol="metric")
    run = replace(run, info=replace(run.info, corpus_scores=corpus_scores))
    (annotator,) = judged_annotators([run], ["en-de"], {})
    assert words in meaning(annotator)


FEW = "Too few segments to test: 2, and 6 are needed"


@pytest.mark.parametrize(
    ("rankings", "few", "sentence"),
    [
        ({"j": rows("AB")}, "j", FEW),
        ({"j": rows("A")}, "j", "A scores 0.00 on 9 segments"),
        ({"gold": rows("AB"), "j": rows("AB")}, ("gold", "j"), FEW),
        (
            {"gold": rows("AB"), "j": rows("A", "B")},
            ("gold",),
            f"A {BEST}; 1 more ranking has too few segments or documents to test",
        ),
    ],
)
def test_too_few_units_are_no_finding(
    rankings: dict[str, tuple[RankedSystem, ...]], few: tuple[str, ...], sentence: str
) -> None:
    places = {("en-de", who): own for who, own in rankings.items()}
    assert headline(places, ["gold"], {("en-de", who): FEW for who in few}) == sentence
