"""The embedded rules as a judge of pairs."""

import json
import math

import pytest

from adjudge.core.ask import About, Message, Reply, Sampling
from adjudge.core.segment import (
    Segment,
    Subject,
)
from adjudge.errors import ModelError
from adjudge.llm.embedded_rules import RulesModel
from adjudge.llm.model import Request

GOOD, DOUBLED, WRONG = "Es kostet 40 Euro.", "Es kostet kostet 40 Euro.", "Es kostet 4 Euro."


async def compare(first: str, second: str, **facts: object) -> Reply:
    segment = Segment(
        segment="1", lp="en-de", source="It costs 40 euros.", translations={"X": first, "Y": second}
    )
    about = About(
        judge="fire",
        stage="comparison",
        subject=Subject(segment=segment, systems=("X", "Y")),
        wants="verdict",
        facts=facts,
    )
    request = Request(
        messages=(Message("user", ("?",)),), about=about, schema=None, sampling=Sampling(logprobs=True)
    )
    return await RulesModel().reply(request)


@pytest.mark.parametrize(
    ("first", "second", "criterion", "verdict"),
    [
        (GOOD, WRONG, "faithfulness", "A"),
        (WRONG, GOOD, "faithfulness", "B"),
        (GOOD, GOOD, "faithfulness", "E"),
        (GOOD, WRONG, "fluency", "E"),
        (DOUBLED, GOOD, "fluency", "B"),
        (DOUBLED, GOOD, "faithfulness", "E"),
        (DOUBLED, GOOD, "style", "E"),
        (DOUBLED, WRONG, "overall", "A"),
        (WRONG, DOUBLED, "brevity", "B"),
    ],
)
async def test_the_fewer_points_by_a_criterion_are_better(
    first: str, second: str, criterion: str, verdict: str
) -> None:
    reply = await compare(first, second, criterion=criterion)
    assert json.loads(reply.text)["result"] == verdict


async def test_every_aspect_is_analysed() -> None:
    reply = await compare(GOOD, WRONG, criterion="fluency", aspects=("words", "order"))
    assert json.loads(reply.text)["analysis"].keys() == {"words", "order"}


async def test_the_verdict_is_a_token_of_its_own_with_the_rules_precision() -> None:
    reply = await compare(GOOD, WRONG, criterion="overall")
    assert "".join(token.token for token in reply.logprobs) == reply.text
    (verdict,) = [token for token in reply.logprobs if token.token == "A"]
    assert 0 < math.exp(verdict.logprob) < 1


async def test_one_translation_is_no_pair() -> None:
    segment = Segment(segment="1", lp="en-de", source="a", translations={"X": "b"})
    about = About(judge="fire", stage="x", subject=Subject(segment=segment, systems=("X",)), wants="verdict")
    with pytest.raises(ModelError, match="compare two translations, got X"):
        await RulesModel().reply(Request(messages=(), about=about, schema=None, sampling=Sampling()))
