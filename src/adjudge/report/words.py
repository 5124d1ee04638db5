"""What numbers and failures mean, in the words of a reader who has not read the papers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from adjudge.core.language import language_name, source_language, target_language
from adjudge.core.protocol import find_protocol
from adjudge.core.score import Scores
from adjudge.core.typology import find_weights
from adjudge.errors import FailureReason
from adjudge.meta.ranking.rank import Ranking
from adjudge.report.annotators import Annotator
from adjudge.report.numbers import number

__all__ = ["FAILURES", "axis_words", "lp_words", "meaning"]

FAILURES: Final[Mapping[FailureReason, str]] = {
    "ambiguous": "the reply can be read in two ways",
    "bad_envelope": "the server's answer is not built as it should be",
    "connection": "the server could not be reached",
    "count": "not as many answers came as were asked for",
    "empty": "the reply is empty",
    "encoding": "the reply is not valid text",
    "label": "the reply names a severity or category that does not exist",
    "logprob": "token probabilities are missing or are no numbers",
    "missing": "something that the judge needs is missing",
    "model_mismatch": "another model answered than the one asked",
    "no_answer": "the model thought and did not answer",
    "not_json": "the server answered with something else than JSON",
    "oversize": "the reply is too large",
    "parse": "the reply does not have the form asked for",
    "range": "a number lies outside of its scale",
    "refused": "the model declined to answer",
    "schema": "the reply lacks a part, or has one too many",
    "server_error": "the server failed",
    "timeout": "no reply came in time",
    "too_long": "the texts do not fit into the model",
    "truncated": "the reply was cut off",
}
"""Each reason for a failure, to be read after the word itself."""


def lp_words(lp: str) -> str:
    """Name a language pair: English to German."""
    return f"{language_name(source_language(lp))} to {language_name(target_language(lp))}"


def axis_words(annotator: Annotator, scores: Scores) -> str:
    """What an axis of scores shows."""
    weights = scores.signature.fields.get("weights")
    if scores.range == (0.0, 1.0) and annotator.protocol == "pairwise":
        return "share of comparisons won, higher is better"
    plain = "score" if annotator.protocol == "metric" else "rating"
    what = f"score ({weights} weights)" if weights else plain
    return f"{what}, {scores.direction}"


def meaning(annotator: Annotator) -> str:
    """Say where the numbers of an annotator come from, on which scale, and which way is better."""
    results = list(annotator.results.values())
    if not results:
        return "It has no score on this page."
    scores = results[0].scores
    weights = scores.signature.fields.get("weights")
    if annotator.protocol == "pairwise":
        criterion = scores.signature.fields.get("criterion", "overall")
        start = f"A score is the share of comparisons won on the criterion {criterion}; a tie counts half."
    elif weights:
        start = f"A score is minus the points of all errors marked. {_weight_words(weights)}"
    elif annotator.kind == "ensemble":
        start = f"A score is made of those of {scores.signature.fields['members'].replace(',', ', ')}."
    elif annotator.info is None and annotator.protocol == "metric":
        start = "A score is the number that its file gives."
    elif annotator.kind == "metric":
        start = "A score is what the metric computed, without a language model."
    else:
        start = f"A score is the rating given ({find_protocol(annotator.protocol).title})."
    return f"{start} {_range_words(scores)} {_mean_words(results[0].ranking)}"


def _weight_words(name: str) -> str:
    weights = find_weights(name)
    plain = [f"{key} {value:g}" for key, value in weights.rules.items() if "/" not in key]
    special = [f"{_rule(key)} {value:g}" for key, value in weights.rules.items() if "/" in key]
    words = f"Weights {name}: {', '.join(plain)}"
    if special:
        words += f"; {', '.join(special)}"
    if weights.first is not None:
        words += f"; only the first {weights.first} errors count"
    if weights.cap is not None:
        words += f"; at most {weights.cap:g} points in all"
    return f"{words} ({weights.source})."


def _rule(key: str) -> str:
    severity, _, category = key.partition("/")
    return f"any {category}" if severity == "*" else f"{severity} {category}"


def _range_words(scores: Scores) -> str:
    low, high = scores.range
    if math.isinf(low) and math.isinf(high):
        where = "Scores have no fixed range"
    elif math.isinf(low):
        where = f"The best score is {number(high, 0)}, and there is no worst"
    else:
        where = f"Scores lie between {number(low, 0)} and {number(high, 0)}"
    return f"{where}; {scores.direction}."


def _mean_words(ranking: Ranking) -> str:
    level = ranking.signature.fields.get("level")
    if level == "corpus":
        return "A system’s score is the metric’s own score of the whole corpus, not a mean."
    if level == "mean":
        return (
            "A system’s score on this page is the mean of its segments’ scores; the metric’s own score of "
            "the whole corpus is another number, which `adjudge score` prints."
        )
    return "A system’s score is the mean over judged segments; failures have no score and are in no mean."
