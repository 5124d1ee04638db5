"""Stage 3, collaborative discussion: the agent of the core type and the agent that is not sure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, NamedTuple

from adjudge.core.ask import About, Answer, Ask, Message, Quoted, Reply
from adjudge.core.language import language_name
from adjudge.core.segment import Subject
from adjudge.core.typology import Severity
from adjudge.errors import AnswerError
from adjudge.judges._fields import object_schema, read_reasons, read_truth
from adjudge.judges._json import read_object
from adjudge.judges._prompts import Parts, joined
from adjudge.judges._read import shown
from adjudge.judges._spans import either
from adjudge.judges._subject import judged_texts, render_texts
from adjudge.judges.himate.agents import SEVERITIES, Found, Scope, Stage, in_turn

__all__ = ["ROUNDS", "Discussion"]

ROUNDS: Final = 2
"""Of two turns each: four in all, as in the paper."""

TEXT: Final = {"type": "string"}
TRUTH: Final = {"type": "boolean"}
OPINION: Final = object_schema(
    opinion=TEXT, exists=TRUTH, severity={"type": "string", "enum": list(SEVERITIES)}
)
RESPONSE: Final = object_schema(reply=TEXT, agrees=TRUTH)


class Opinion(NamedTuple):
    """What the expert says of an error."""

    opinion: str
    exists: bool
    severity: Severity
    flags: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As the other one reads it."""
        said = {"opinion": self.opinion, "exists": self.exists, "severity": self.severity}
        return json.dumps(said, ensure_ascii=False)


class Response(NamedTuple):
    """What the evaluator says to it."""

    reply: str
    agrees: bool
    flags: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """As the other one reads it."""
        return json.dumps({"reply": self.reply, "agrees": self.agrees}, ensure_ascii=False)


Turns = tuple[Opinion | Response, ...]


class _Settled(NamedTuple):
    found: Found | None
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Discussion:
    """The third stage.

    Args:
        scope: what the agents know.
        threshold: confidence below which an error is discussed; None for all of them.
        as_in_code: on agreement the expert's first verdict counts; without, what the evaluator found.
        language: code of the language that both speak.
        attempts: how often an unreadable answer may be asked for.
    """

    scope: Scope
    threshold: float | None
    as_in_code: bool
    language: str
    attempts: int

    async def run(self, found: Sequence[Found], subject: Subject, ask: Ask) -> Stage:
        """Discuss what is not sure."""
        done = await in_turn(found, lambda one: self._settle(one, subject, ask))
        return Stage(
            tuple(one.found for one in done if one.found is not None),
            tuple(flag for one in done for flag in one.flags),
        )

    def is_unsure(self, found: Found) -> bool:
        """Whether it is to be discussed."""
        return self.threshold is None or found.confidence is None or found.confidence < self.threshold

    async def _settle(self, found: Found, subject: Subject, ask: Ask) -> _Settled:
        return await self.discuss(found, subject, ask) if self.is_unsure(found) else _Settled(found)

    async def discuss(self, found: Found, subject: Subject, ask: Ask) -> _Settled:
        """Expert, evaluator, and both once more if they do not agree."""
        turns: Turns = ()
        opinions: list[Opinion] = []
        flags: list[str] = []
        for _ in range(ROUNDS):
            opinion = await self.review(found, turns, subject, ask)
            response = await self.respond(found, (*turns, opinion), subject, ask)
            turns = (*turns, opinion, response)
            opinions.append(opinion)
            flags += [*opinion.flags, *response.flags]
            if response.agrees:
                return _settled(found, opinions[0] if self.as_in_code else opinion, flags)
        flags.append("no_consensus")
        return _Settled(found, tuple(flags)) if self.as_in_code else _settled(found, opinions[-1], flags)

    async def review(self, found: Found, turns: Turns, subject: Subject, ask: Ask) -> Opinion:
        """The tier-1 agent's turn."""
        definitions = self.scope.define(found.subtype, whole_core=True)
        answer: Answer[Opinion] = await ask(
            self._messages("review", definitions, found, turns, subject),
            about=self._about("opinion", found.coordinator, found, subject),
            read=partial(read_opinion, subject=subject),
            attempts=self.attempts,
            schema=OPINION,
        )
        return answer.value

    async def respond(self, found: Found, turns: Turns, subject: Subject, ask: Ask) -> Response:
        """The tier-2 agent's turn."""
        definitions = self.scope.define(found.subtype)
        said = turns[-1]
        facts = {"exists": said.exists, "severity": said.severity} if isinstance(said, Opinion) else {}
        answer: Answer[Response] = await ask(
            self._messages("respond", definitions, found, turns, subject),
            about=self._about("response", found.agent.role, found, subject, **facts),
            read=partial(read_response, subject=subject),
            attempts=self.attempts,
            schema=RESPONSE,
        )
        return answer.value

    def _messages(
        self, file: str, definitions: str, found: Found, turns: Turns, subject: Subject
    ) -> list[Message]:
        files = self.scope.prompts
        system = files.message(
            "system",
            file,
            markers=files.piece("markers"),
            definitions=definitions,
            language=language_name(self.language),
        )
        error = Quoted("error", self.scope.errors.render_spans([found.span]))
        shown_parts: Parts = (*render_texts(files, subject), "\n\n", *files.piece("error", error=error))
        for turn in turns:
            speaker = "The expert" if isinstance(turn, Opinion) else "The evaluator"
            statement = Quoted("statement", turn.words)
            shown_parts += ("\n\n", *files.piece("statement", speaker=speaker, statement=statement))
        return [system, Message("user", joined(shown_parts))]

    def _about(self, wants: str, role: str, found: Found, subject: Subject, **more: object) -> About:
        span = found.span
        facts = {"category": found.subtype, "span": span.text, "side": span.side, "found": span.severity}
        return About(
            judge="himate",
            stage="discussion",
            subject=subject,
            role=role,
            wants=wants,
            facts={**facts, **more},
        )


def _settled(found: Found, opinion: Opinion, flags: Sequence[str]) -> _Settled:
    if not opinion.exists:
        return _Settled(None, tuple(flags))
    span = replace(found.span, severity=opinion.severity, note=opinion.opinion)
    return _Settled(found._replace(span=span), tuple(flags))


def read_opinion(reply: Reply, subject: Subject) -> Opinion:
    """Read the expert's verdict.

    Raises:
        AnswerError: reasons, existence or severity are missing or not in their form.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("opinion", "exists", "severity"))
    said = reading.value
    severity = next((known for known in SEVERITIES if known == said["severity"]), None)
    if severity is None:
        raise AnswerError("label", f"severity must be {either(SEVERITIES)}, got {shown(said['severity'])}")
    return Opinion(
        read_reasons(said["opinion"], "opinion"),
        read_truth(said["exists"], "exists"),
        severity,
        reading.flags,
    )


def read_response(reply: Reply, subject: Subject) -> Response:
    """Read whether the evaluator agrees.

    Raises:
        AnswerError: it is not said, or without reasons.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("reply", "agrees"))
    said = reading.value
    return Response(read_reasons(said["reply"], "reply"), read_truth(said["agrees"], "agrees"), reading.flags)
