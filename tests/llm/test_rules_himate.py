"""The embedded rules in HiMATE's later stages."""

import json
import math

import pytest

from adjudge.checks import RULES
from adjudge.core.ask import About
from adjudge.core.segment import (
    Segment,
    Subject,
)
from adjudge.llm.embedded_rules import ROLES

SOURCE = "He paid 300 dollars, and then the others came."
TRANSLATION = "Er zahlte 500 Dollar , und dann kamen die anderen."


def answer(wants: str, translation: str = TRANSLATION, **facts: object) -> tuple[dict[str, object], float]:
    segment = Segment(segment="1", lp="en-de", source=SOURCE, translations={"A": translation})
    judged = Subject(segment=segment, systems=("A",))
    tokens = ROLES[wants](About(judge="himate", stage="x", subject=judged, wants=wants, facts=facts))
    assert isinstance(tokens, tuple)
    return json.loads("".join(t.token for t in tokens)), math.exp(sum(t.logprob for t in tokens))


SPACE = {"category": "fluency/punctuation", "span": "Dollar ,", "side": "translation"}


def test_a_correction_leaves_out_what_is_wrong_and_puts_back_what_is_missing() -> None:
    said, _ = answer("correction", **SPACE)
    assert said == {"translation": "Er zahlte 500 und dann kamen die anderen."}
    said, _ = answer("correction", category="accuracy/omission", span="300", side="source")
    assert said == {"translation": f"{TRANSLATION} 300"}
    said, _ = answer("correction", "500", category="accuracy/addition", span="500", side="translation")
    assert said == {"translation": SOURCE}, "a translation of nothing is none"


@pytest.mark.parametrize(
    ("corrected", "result"),
    [
        ("Er zahlte 500 Dollar, und dann kamen die anderen.", "corrected"),
        (TRANSLATION + " So.", "no difference"),
    ],
)
def test_a_verification_looks_whether_its_rules_still_find_the_error(corrected: str, result: str) -> None:
    said, probability = answer("verification", corrected=corrected, **SPACE)
    assert said == {"result": result}
    if result == "corrected":
        assert probability == pytest.approx(RULES["space-before-mark"].precision)


def test_an_opinion_is_that_of_the_rule_and_the_evaluator_agrees_with_it() -> None:
    said, probability = answer("opinion", **SPACE)
    assert said == {"opinion": "found by rule space-before-mark", "exists": True, "severity": "minor"}
    assert probability == pytest.approx(RULES["space-before-mark"].precision)
    assert answer("opinion", **{**SPACE, "span": "Er"})[0]["exists"] is False
    assert answer("response", exists=True, **SPACE)[0]["agrees"] is True
    assert answer("response", exists=False, **SPACE)[0]["agrees"] is False
