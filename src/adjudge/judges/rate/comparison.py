"""The comparison agent: a translation and an anchor in both orders, and what that does to a score."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal

from adjudge.core.annotation import Verdict
from adjudge.core.ask import Ask, Message, Reply
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._comparison import read_compared
from adjudge.judges._fields import object_schema
from adjudge.judges._subject import language_names, render_pair
from adjudge.judges._verdicts import VERDICTS
from adjudge.judges.rate.memory import Anchor
from adjudge.judges.rate.team import Moves, Scale, Team, notes_part

__all__ = ["Calibration", "compare", "move"]

Outcome = Literal["win", "tie", "lose"]
"""Of the translation, in one order."""

_OUTCOMES: Final[Mapping[tuple[bool, Verdict], Outcome]] = {
    (False, "A"): "win",
    (False, "B"): "lose",
    (False, "E"): "tie",
    (True, "A"): "lose",
    (True, "B"): "win",
    (True, "E"): "tie",
}
"""By whether the anchor stands first, and the verdict."""
_POINTS: Final[Mapping[Outcome, int]] = {"win": 1, "tie": 0, "lose": -1}
_CANDIDATE: Final = "candidate"
_ANCHOR: Final = "anchor"


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What a comparison says.

    Args:
        anchor: score of the anchor.
        outcomes: of the translation, it first and then the anchor first.
        suggested: score.
        analyses: of both orders.
        flags: how both answers were read.
    """

    anchor: float
    outcomes: tuple[Outcome, Outcome]
    suggested: float
    analyses: tuple[str, str]
    flags: tuple[str, ...] = ()

    def render(self) -> str:
        """As the core agent is told it."""
        found = {
            "anchor_score": self.anchor,
            "outcome": "-".join(self.outcomes),
            "suggested_score": self.suggested,
            "analyses": list(self.analyses),
            "anchor_memory_status": "initialized",
        }
        return json.dumps(found, ensure_ascii=False)


def move(
    tentative: float, anchor: float, outcomes: tuple[Outcome, Outcome], scale: Scale, how: Moves
) -> float:
    """The score that two outcomes suggest.

    Paper: two wins lift the tentative score by a step and a win and a tie by half of one, unless it is above
    the anchor's already; two losses lower it by a step, a loss and a tie by half of one; anything else keeps
    it. Code: the same moves from the anchor's score, where the tentative score is not on that side of it
    already, and anything else is the anchor's score.
    """
    points = sum(_POINTS[outcome] for outcome in outcomes)
    change = points * scale.step / 2
    if how == "code":
        is_wrong = tentative <= anchor if points > 0 else tentative >= anchor
        suggested = anchor + change if points == 0 or is_wrong else tentative
    else:
        suggested = tentative if points > 0 and tentative > anchor else tentative + change
    return scale.clip(suggested)


async def compare(  # noqa: PLR0913 (what the agent is given)
    team: Team, subject: Subject, ask: Ask, stage: str, *, anchor: Anchor, tentative: float, notes: str
) -> Calibration:
    """Compare a translation with an anchor, in both orders.

    Raises:
        AnswerError: one order has no readable answer: that is no tie.
    """
    texts = {_CANDIDATE: subject.translation, _ANCHOR: anchor.text}
    segment = replace(subject.segment, translations=texts)
    orders = [
        replace(subject, segment=segment, systems=systems, context=())
        for systems in ((_CANDIDATE, _ANCHOR), (_ANCHOR, _CANDIDATE))
    ]
    first, second = await asyncio.gather(*(_put(team, order, ask, stage, notes) for order in orders))
    if isinstance(first, AnswerError):
        raise first
    if isinstance(second, AnswerError):
        raise second
    outcomes = _OUTCOMES[False, first[0]], _OUTCOMES[True, second[0]]
    return Calibration(
        anchor=anchor.score,
        outcomes=outcomes,
        suggested=move(tentative, anchor.score, outcomes, team.scale, team.moves),
        analyses=(first[1], second[1]),
        flags=(*first[2], *second[2]),
    )


async def _put(
    team: Team, order: Subject, ask: Ask, stage: str, notes: str
) -> tuple[Verdict, str, tuple[str, ...]] | AnswerError:
    """Verdict, analysis and flags of one order; both orders are waited for, in any timing."""
    try:
        answer = await ask(
            messages(team, order, notes),
            about=team.about(stage, order, "comparison", "verdict", criterion="overall"),
            read=partial(_read, subject=order),
            schema=team.schema(_schema()),
        )
    except AnswerError as error:
        return error
    return answer.value


def messages(team: Team, order: Subject, notes: str) -> list[Message]:
    """What to compare by, which all pairs share, then the texts and the notes."""
    prompts = team.prompts
    system = prompts.message(
        "system",
        "compare",
        **language_names(order.lp),
        markers=prompts.piece("markers"),
        form=prompts.piece("verdict_json", analysis='"..."', language="in words"),
    )
    texts = render_pair(prompts, order)
    return [system, prompts.message("user", "compare_task", texts=texts, notes=notes_part(notes))]


def _read(reply: Reply, *, subject: Subject) -> tuple[Verdict, str, tuple[str, ...]]:
    return read_compared(reply, (subject.source, *subject.segment.translations.values()))


def _schema() -> Mapping[str, object]:
    return object_schema(analysis={"type": "string"}, result={"type": "string", "enum": list(VERDICTS)})
