"""The embedded rules in a debate."""

import json
import math
from typing import Any

import pytest

from adjudge.core.ask import About, Message, Reply, Sampling
from adjudge.core.segment import Subject
from adjudge.errors import ModelError
from adjudge.llm.embedded_rules import RulesModel
from adjudge.llm.model import Request
from tests.judges.asking import pair, subject

SOURCE, TRANSLATION = "It costs 40 euros, or so.", "Es kostet 400 400 Euro."


def error(span: str, category: str, severity: str, side: str = "translation", **more: str) -> dict[str, str]:
    return {"span": span, "category": category, "severity": severity, "side": side, **more}


NUMBER = error("400", "accuracy/mistranslation", "major")
INVENTED = error("Euro", "accuracy/mistranslation", "major")
GARBLED = error("", "non-translation", "major")


async def ask(wants: str, held: Any, judged: Subject | None = None) -> Reply:
    judged = judged or subject(TRANSLATION, SOURCE)
    about = About(judge="m-mad", stage="x", subject=judged, wants=wants, facts={"held": held})
    messages = (Message("user", ("?",)),)
    return await RulesModel().reply(
        Request(messages=messages, about=about, schema=None, sampling=Sampling(logprobs=True))
    )


@pytest.mark.parametrize(
    ("held", "kept"),
    [
        ((), []),
        ((NUMBER,), [NUMBER]),
        ((NUMBER | {"severity": "minor"},), [NUMBER]),
        ((NUMBER | {"span": "kostet 400 400"},), [NUMBER | {"span": "kostet 400 400"}]),
        ((INVENTED,), [INVENTED | {"severity": "minor"}]),
        ((INVENTED | {"note": "Faux."},), [INVENTED | {"severity": "minor", "note": "Faux."}]),
        ((NUMBER | {"side": "source"},), [NUMBER | {"side": "source", "severity": "minor"}]),
        ((GARBLED,), []),
    ],
)
async def test_what_no_rule_bears_out_is_minor_or_no_non_translation(held: Any, kept: Any) -> None:
    reply = await ask("statement", held)
    answer = json.loads(reply.text)
    assert answer["errors"] == kept
    assert answer["statement"]


async def test_a_non_translation_that_a_rule_finds_stands() -> None:
    reply = await ask("statement", (GARBLED,), subject("", SOURCE))
    assert json.loads(reply.text)["errors"] == [GARBLED]
    assert 0.9 < math.exp(sum(token.logprob for token in reply.logprobs)) < 1


@pytest.mark.parametrize(
    ("first", "second", "agreed"),
    [
        ((), (), True),
        ((NUMBER, INVENTED), (INVENTED, NUMBER), True),
        ((NUMBER,), (NUMBER | {"severity": "minor"},), False),
        ((NUMBER,), (), False),
    ],
)
async def test_two_lists_agree_if_they_hold_the_same(first: Any, second: Any, *, agreed: bool) -> None:
    assert json.loads((await ask("agreement", (first, second))).text) == {"agreed": agreed}


@pytest.mark.parametrize(
    ("held", "kept"),
    [
        ((NUMBER, INVENTED), [NUMBER, INVENTED]),
        ((NUMBER, NUMBER | {"category": "fluency/spelling"}), [NUMBER]),
        ((NUMBER | {"category": "style/awkward", "severity": "minor"}, NUMBER), [NUMBER]),
        (
            (NUMBER | {"category": "style/awkward"}, NUMBER | {"severity": "minor"}),
            [NUMBER | {"category": "style/awkward"}],
        ),
        ((NUMBER, NUMBER | {"side": "source"}), [NUMBER, NUMBER | {"side": "source"}]),
        ((NUMBER, GARBLED, GARBLED), [GARBLED]),
    ],
)
async def test_of_each_span_the_most_severe_error_is_left(held: Any, kept: Any) -> None:
    assert json.loads((await ask("merged", held)).text)["errors"] == kept


async def test_a_remark_counts_what_rules_find() -> None:
    told = json.loads((await ask("remark", (NUMBER, INVENTED))).text)
    assert "1 of the 2 errors" in told["statement"]


@pytest.mark.parametrize("wants", ["statement", "remark", "agreement", "merged"])
async def test_nothing_to_debate_is_an_error_that_says_so(wants: str) -> None:
    with pytest.raises(ModelError, match="m-mad"):
        await ask(wants, None)


@pytest.mark.parametrize("wants", ["statement", "remark", "merged"])
async def test_a_pair_is_not_debated(wants: str) -> None:
    with pytest.raises(ModelError, match="one translation at a time, got X, Y"):
        await ask(wants, (NUMBER,), pair())
