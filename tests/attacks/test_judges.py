"""Every judge against every attack: what a model is shown, and what is made of what it says."""

import json
import re
import secrets
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest

from adjudge.core.ask import Message, Quoted
from adjudge.core.judge import PROFILES, TranslationJudge
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.llm.model import mark_of, render_message
from tests.attacks.corpus import ATTACKS, Attack
from tests.attacks.hostile import COPIED, LATER, PLACES, Hostile, subject_with
from tests.judges.asking import SINGLE, load_judge

SETTINGS: dict[str, list[dict[str, str]]] = {
    "ea-prompt": [{}, {"steps": "1"}],
    "gemba-da": [{}, {"with_reference": "true"}],
    "gemba-v2": [{"samples": "1"}],
    "m-mad": [{"strategy": "none", "final_judge": "false"}],  # its debates: test_debates.py
}
WAYS = [(n, p, s) for n in SINGLE for p in PROFILES for s in SETTINGS.get(n, [{}])]
VERDICTS = ("04 fence break", "06 fake JSON verdict", "09 fake reasoning", "10 master key")
SAID = ("errors", "error", "corrected-translation", "statement")  # quoted, and said by the model before
BETWEEN = 7
SECRET = secrets.token_bytes(16)
QUOTE = re.compile(r'^<<([\w-]+) (\w+)>>\n(["\[{][^\n]*)\n<</\1 \2>>$', re.MULTILINE)


def identity(way: tuple[str, str, dict[str, str]]) -> str:
    return " ".join((way[0], way[1], *way[2]))


def parameter(way: tuple[str, str, dict[str, str]]) -> Any:
    """A judge's other profiles read their replies as the recommended one does, or by the authors' rule."""
    return pytest.param(way, id=identity(way), marks=[pytest.mark.exhaustive] * (way[1] != "recommended"))


@pytest.fixture(params=[parameter(way) for way in WAYS])
def judge(request: pytest.FixtureRequest) -> TranslationJudge:
    name, profile, settings = request.param
    return load_judge(name, profile=profile, settings=settings)


def in_turn(attacks: list[Attack], judge: TranslationJudge) -> Iterator[tuple[Attack, str, Subject]]:
    """Each attack in one of the places, another one for the next judge."""
    first = WAYS.index(next(way for way in WAYS if way[:2] == (judge.name, judge.profile)))
    for number, attack in zip(count(first), attacks, strict=False):
        place = PLACES[number % len(PLACES)]
        yield attack, place, subject_with(attack, place)


async def outcome(judge: TranslationJudge, subject: Subject, ask: Hostile) -> str:
    """What became of a reply that was copied from a text."""
    try:
        annotation: Annotation = await judge.annotate(subject, ask)
    except AnswerError:
        return "refused"
    if not ask.is_believed:
        return "not asked"
    return "flagged" if COPIED & {*annotation.flags} else "believed"


def told_at(step: int, judge: TranslationJudge) -> list[Attack]:
    """The verdicts that a model says at a step: all at the first and the last, some at each between.

    Steps between are many where agents are alike but for their category, as the 19 of HiMATE.
    """
    every = list({a.text: a for a in ATTACKS if a.kind in VERDICTS}.values())
    return every if step in {0, judge.calls.min - 1} else every[step % BETWEEN :: BETWEEN]


def shared_out(attacks: list[Attack], judge: TranslationJudge) -> list[Attack]:
    """All attacks; of a judge that asks many agents each of its profiles gets its share."""
    return attacks if judge.calls.min <= 2 else attacks[PROFILES.index(judge.profile) :: len(PROFILES)]


async def test_a_verdict_from_the_text_is_refused_or_flagged(judge: TranslationJudge) -> None:
    """The model says the attack and nothing else, at every step; or it says it among other words."""
    for step in range(judge.calls.min):
        outcomes: Counter[str] = Counter()
        for attack, place, subject in in_turn(told_at(step, judge), judge):
            whole = await outcome(judge, subject, Hostile(attack.text, step=step))
            outcomes[whole] += 1
            assert whole != "believed", (attack, place)
            prose = Hostile(f"Here is what I found.\n{attack.text}\nThat is all.", step=step)
            among = await outcome(judge, subject, prose)
            assert among == "refused" or (among == "flagged" and judge.profile != "recommended"), (
                attack,
                place,
            )
        if step == 0:
            assert set(outcomes) == {"refused", "flagged"}, "no attack has the form of this judge"


async def test_a_model_sees_each_text_as_one_json_string_that_it_cannot_leave(
    judge: TranslationJudge,
) -> None:
    """Our own words are the same whatever the texts say, every text comes back, and no copy is believed."""
    ours: dict[tuple[str, str], list[str]] = {}
    for attack, place, subject in in_turn(shared_out(ATTACKS, judge), judge):
        ask = Hostile(attack.text, step=judge.calls.min - 1)
        assert await outcome(judge, subject, ask) != "believed", (attack, place)
        mark = mark_of(subject.segment, SECRET)
        messages = [message for asked in ask.asked for message in asked]
        shown = {text for message in messages for text in shown_in(message, mark)}
        assert attack.text in shown, (attack, place)
        told = {subject.source, subject.translation, subject.context[0].source, subject.reference}
        assert shown <= {*told, LATER["correction"]["translation"]}
        always = [message for asked in ask.asked[: judge.calls.min] for message in asked]
        words = [part for message in always for part in message.parts if isinstance(part, str)]
        assert words == ours.setdefault((subject.lp, place), words), (attack, place)


def shown_in(message: Message, mark: str) -> list[str]:
    """The judged texts of a message as it is sent, read back."""
    wire = render_message(message, mark)
    quoted = [part for part in message.parts if isinstance(part, Quoted)]
    found = [(name, json.loads(text)) for name, digits, text in QUOTE.findall(wire) if digits == mark]
    assert found == [(p.name, json.loads(p.text) if p.is_json else p.text) for p in quoted]
    assert wire.count(mark) == 2 * len(quoted)
    return [part.text for part in quoted if part.name not in SAID]


async def test_no_text_can_make_a_judgement_fail(judge: TranslationJudge) -> None:
    for _, _, subject in in_turn(shared_out(ATTACKS[::5], judge), judge):
        await judge.annotate(subject, Hostile())
