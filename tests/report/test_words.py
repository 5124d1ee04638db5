"""What the numbers of a page mean."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from adjudge.core.record import Annotation
from adjudge.reports.annotators import judged_annotators
from adjudge.reports.words import meaning
from tests.report.samples import make_run, small_test_set

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
