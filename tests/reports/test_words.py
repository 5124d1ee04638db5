"""What the numbers of a page mean."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from adjudge.analysis.rank import RankedSystem
from adjudge.core.scores import Interval
from adjudge.reports.annotators import judged_annotators
from adjudge.reports.words import finding, headline, in_words, meaning
from tests.analysis.records import rated
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
        (rows("A", "BC"), f"A {BEST}; no significant difference between B and C"),
        (rows("A", "BCDEFG"), f"A {BEST}; no significant difference between the 6 others"),
        (rows("A", "B", "C", "D"), "All 6 pairs differ significantly: A is best, then B, C and D"),
        (rows(*"ABCDE"), "All 10 pairs differ significantly: A is best"),
        (rows("A", "B", "CD"), f"A {BEST}; 2 of the other 3 pairs differ significantly"),
        (
            rows("AB", "C"),
            (
                "A is significantly better than 1 of the 2 others, but not than B; C is significantly "
                "worse than every other one; 2 of 3 pairs differ significantly"
            ),
        ),
        (of_pairs("ABCD", {"B": "CD"}), f"{NONE}; 2 of 6 pairs differ significantly"),
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
    assert finding(loose("A", "B")) == UNRANKED


def loose(*names: str) -> tuple[RankedSystem, ...]:
    """Systems that share no segment."""
    return tuple(
        RankedSystem(system=name, score=-1.0, interval=None, cluster=None, n=3, failed=0) for name in names
    )


Rankings = dict[tuple[str, str], tuple[RankedSystem, ...]]


def rankings_of(told: str) -> Rankings:
    """`j: A BC`: j, of en-de, finds A better than B and C; `zh-en k: ~AB`: k could rank neither."""
    found: Rankings = {}
    for part in told.split("; "):
        who, _, order = part.partition(": ")
        *lp, name = who.split()
        ranked = loose(*order[1:]) if order.startswith("~") else rows(*order.split())
        found["".join(lp) or "en-de", name] = ranked
    return found


AGREE = f"Both annotators agree: A {BEST}"
UNRANKED = "The systems were not judged on the same segments and cannot be ranked"
WITHOUT_R = "Without R, which not every annotator judged: "


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ("j: A BC", f"A {BEST}; no significant difference between B and C"),
        ("j: A B; zh-en j: A B", f"A {BEST} in both language pairs"),
        ("j: A B; zh-en j: A B; en-ar j: A B", f"A {BEST} in all 3 language pairs"),
        ("j: A B; k: A B", AGREE),
        ("j: A B; zh-en j: A B; k: A B", f"{AGREE} in both language pairs; k judged en-de only"),
        ("j: A B; k: A B; l: A B", f"All annotators agree: A {BEST}"),
        ("j: A B; k: B A", "The annotators do not agree on which system is best"),
        ("j: A B; zh-en j: B A", f"A {BEST} in en-de, B in zh-en"),
        ("j: A D; zh-en j: B D; en-ar j: C D", "Which system is best depends on the language pair"),
        ("zh-en j: AB; j: A B", f"A {BEST} in en-de, none in zh-en"),
        (
            "j: AB; zh-en j: AB; k: A B; zh-en k: AB",
            f"By k, A {BEST} in en-de, none in zh-en; j does not show it",
        ),
        ("j: AB; zh-en j: AB", f"{NONE}, in any language pair"),
        ("j: AB; k: AB", NONE),
        ("j: A; zh-en j: A", "Only A was judged, in both language pairs"),
        # what cannot be ranked is no ranking without a leader
        ("j: A B; k: ~AB", f"A {BEST}; 1 more ranking lacks common segments"),
        (
            "j: A B; k: AB; l: ~AB; m: ~AB",
            f"By j, A {BEST}; k does not show it; 2 more rankings lack common segments",
        ),
        ("j: ~AB; k: ~AB", UNRANKED),
        (
            "j: A B; zh-en k: ~AB",
            f"A {BEST}; j judged en-de only; k judged zh-en only; 1 more ranking lacks common segments",
        ),
        # annotators are compared on the systems that all of them judged
        ("judge: R A B; metric: A B", f"{WITHOUT_R}{AGREE}"),
        ("judge: R A B; metric: B A", f"{WITHOUT_R}The annotators do not agree on which system is best"),
        ("judge: R A B; metric: A", "The annotators did not judge the same systems"),
    ],
)
def test_the_headline_says_what_all_rankings_show(told: str, sentence: str) -> None:
    assert headline(rankings_of(told)) == sentence


def test_who_judged_nothing_has_no_part_in_the_headline() -> None:
    assert headline({}) == "Nothing was judged"
    judged: Rankings = {("en-de", "j"): (unjudged("A", 1),), ("en-de", "k"): rows("A", "B")}
    assert headline(judged) == f"A {BEST}"


BY_GOLD = f"By gold, A {BEST}"
ZH_ONLY = "judge judged zh-en only"
NO_LEADER = f"By gold, {NONE[0].lower()}{NONE[1:]}"


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        ("judge: A B; metric: A B; gold: A B", f"All annotators agree: A {BEST}"),
        ("judge: AB; metric: AB; gold: A B", f"{BY_GOLD}; judge and metric do not show it"),
        ("judge: AB; metric: B A; gold: A B", f"{BY_GOLD}; judge does not show it, metric contradicts it"),
        ("judge: A B; metric: AB; gold: A B", f"{BY_GOLD}; judge shows it too, metric does not"),
        ("judge: A B; metric: B A; gold: A B", f"{BY_GOLD}; judge shows it too, metric contradicts it"),
        ("judge: B A; metric: B A; gold: A B", f"{BY_GOLD}; judge and metric contradict it"),
        ("judge: BC A; gold: A B C", f"{BY_GOLD}; judge contradicts it"),
        ("gold: A B; j: B A; k: ~AB", f"{BY_GOLD}; j contradicts it; 1 more ranking lacks common segments"),
        # gold's ranking is said apart where it has no leader
        ("judge: A B; gold: AB", f"{NO_LEADER}; judge shows one"),
        ("judge: A B; metric: B A; gold: AB", f"{NO_LEADER}; judge and metric show one"),
        # several language pairs
        ("judge: A B; zh-en judge: B A; gold: A B", f"{BY_GOLD} in en-de; judge shows it too"),
        (
            "gold: A B; zh-en gold: AB; judge: A B; zh-en judge: A B; metric: A B; zh-en metric: AB",
            f"{BY_GOLD} in en-de, none in zh-en; metric shows it too, judge does not",
        ),
        (
            "gold: A B; zh-en gold: B A; judge: A B; zh-en judge: A B; metric: A B; zh-en metric: AB",
            f"{BY_GOLD} in en-de, B in zh-en; metric does not show it, judge contradicts it",
        ),
        (
            "; ".join(f"{lp} {who}: A B" for lp in ("en-de", "zh-en", "en-ar") for who in ("gold", "metric"))
            + "; zh-en judge: AB",
            f"{BY_GOLD} in all 3 language pairs; metric shows it too, judge does not; {ZH_ONLY}",
        ),
        # an annotator is measured on the systems that both ranked
        (
            "judge: R A B; metric: A B; gold: R A B",
            f"By gold, R {BEST}; judge shows it too; metric did not rank R",
        ),
        (
            "judge: AR B; metric: A B; gold: R A B",
            f"By gold, R {BEST}; judge does not show it; metric did not rank R",
        ),
        ("judge: A B; metric: R; gold: R A B", f"By gold, R {BEST}; judge and metric did not rank R"),
        ("judge: X R A; metric: R A; gold: R A B", f"By gold, R {BEST}; judge and metric show it too"),
        # many annotators are counted
        (
            "; ".join(["gold: A B", *(f"{who}: A B" for who in "jkl"), *(f"{who}: AB" for who in "mnop")])
            + "".join(f"; {who}: B A" for who in "qrstu"),
            f"{BY_GOLD}; j, k and l show it too, 4 annotators do not, 5 annotators contradict it",
        ),
        ("gold: A B; gold2: AB; j: A B", "The rankings of gold do not agree on which system is best"),
    ],
)
def test_the_headline_measures_the_others_by_gold(told: str, sentence: str) -> None:
    assert headline(rankings_of(told), gold=["gold", "gold2"]) == sentence


def test_names_are_joined_as_in_a_sentence() -> None:
    words = {"A": "A", "AB": "A and B", "ABC": "A, B and C", "ABCDEF": "A, B, C and 3 others"}
    assert {names: in_words(list(names)) for names in words} == words


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
        rated(name, s.segment, 30.0 + index, annotator="bleu", protocol="metric")
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
    ("told", "few", "sentence"),
    [
        ("j: AB", ("j",), FEW),
        ("j: A", ("j",), "A scores 0.00 on 9 segments"),
        ("gold: AB; j: AB", ("gold", "j"), FEW),
        (
            "gold: AB; j: A B",
            ("gold",),
            f"A {BEST}; 1 more ranking has too few segments or documents to test",
        ),
    ],
)
def test_too_few_units_are_no_finding(told: str, few: tuple[str, ...], sentence: str) -> None:
    assert headline(rankings_of(told), ["gold"], {("en-de", who): FEW for who in few}) == sentence
