"""The agents of a debate: two sides, a reviewer, an arbiter and a checker, and what each is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final, Literal, NamedTuple

from adjudge.core.annotation import ErrorSpan
from adjudge.core.ask import About, Ask, Message, Reply
from adjudge.core.segment import Subject
from adjudge.judges._fields import object_schema, read_truth
from adjudge.judges._json import read_object
from adjudge.judges._prompts import Parts, joined
from adjudge.judges._subject import judged_texts, render_texts
from adjudge.judges.m_mad.panel import ALL, NON_TRANSLATION, Panel, Statement, Viewpoint

__all__ = ["DEBATE_FILES", "Floor", "Said", "Topic"]

Topic = Literal["severity", "category", "entirety"]
Speaker = Literal["supporter", "opponent", "reviewer"]

MISMATCH: Final = "consensus_mismatch"

DEBATE_FILES: Final = (
    *("debate_system.md", "debate.md", "silence.md", "transcript.md", "said.md"),
    *("checker.md", "compared.md", "statement_json.md", "remark_json.md"),
    *(f"turn_{name}.md" for name in ("supporter", "opponent", "reviewer", "consultant", "arbiter")),
    *(f"topic_{name}.md" for name in ("severity", "non_translation", "category", "entirety")),
    *(f"opposed_{name}.md" for name in ("severity", "non_translation", "category", "entirety")),
)
_SIDES: Final = {
    "supporter": "The supporting side",
    "opponent": "The opposing side",
    "reviewer": "The reviewer",
}
_AGREED: Final = object_schema(agreed={"type": "boolean"})


class Said(NamedTuple):
    """One contribution to a debate."""

    speaker: Speaker
    round: int
    statement: Statement


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Where the agents of one debate speak.

    Args:
        panel: whose agents they are.
        viewpoint: the expert's list, which one side supports.
        subject: what is judged.
        ask: how agents are asked.
        topic: what the debate is about.
    """

    panel: Panel
    viewpoint: Viewpoint
    subject: Subject
    ask: Ask
    topic: Topic

    async def speak(self, side: Speaker, said: Sequence[Said], number: int) -> Said:
        """A statement of one side: its reasons, and the errors that it holds now."""
        messages = self.messages(said, self._turn(f"turn_{side}", number))
        about = self._about("debate", side, "statement")
        return Said(side, number, await self.panel.put_statement(messages, about, self._offered, self.ask))

    async def examine(self, said: Sequence[Said], number: int, turn: str) -> Said:
        """What a reviewer, who holds no list, asks or objects."""
        messages = self.messages(said, self._turn(turn, number), self.panel.remark_form())
        about = self._about("review", "reviewer", "remark")
        return Said("reviewer", number, await self.panel.put_remark(messages, about, self.ask))

    async def decide(self, said: Sequence[Said]) -> Statement:
        """The decision of an arbiter who took no part."""
        messages = self.messages(said, self.panel.prompts.piece("turn_arbiter"))
        about = self._about("decision", "arbiter", "statement")
        return await self.panel.put_statement(messages, about, self._offered, self.ask)

    async def check(self, first: Statement, second: Statement) -> tuple[bool, list[str]]:
        """Whether both sides agree, as a checker says who sees their lists alone; and flags."""
        files, lists = self.panel.prompts, (first.marked.spans, second.marked.spans)
        quoted = [self.panel.quote_errors(spans) for spans in lists]
        messages = [
            files.message("system", "checker", markers=files.piece("markers")),
            files.message("user", "compared", first=quoted[0], second=quoted[1]),
        ]
        facts = {"held": tuple(map(self.panel.listed, lists))}
        about = replace(self._about("consensus", "checker", "agreement"), facts=facts)
        read = partial(read_agreement, subject=self.subject)
        agreed, flags = await self.panel.put(messages, about, read, _AGREED, self.ask)
        differ = {*map(_held, lists[0])} != {*map(_held, lists[1])}
        return agreed, [*flags, *([MISMATCH] if agreed and differ else [])]

    def messages(self, said: Sequence[Said], turn: Parts, form: Parts | None = None) -> list[Message]:
        """What is debated and how to answer; the texts, both standpoints, what was said, whose turn it is."""
        files = self.panel.prompts
        system = files.message(
            "system",
            "debate_system",
            kind=self.viewpoint.dimension.shown,
            markers=files.piece("markers"),
            topic=files.piece(f"topic_{self._debated}"),
            categories="\n".join(f"- {name}" for name in self._offered),
            form=form or self.panel.statement_form(self._offered),
        )
        question = files.message(
            "user",
            "debate",
            texts=render_texts(files, self.subject),
            supported=self.panel.quote_errors(self.viewpoint.spans),
            opposed=self._opposed(),
            transcript=self._transcript(said),
            turn=turn,
        )
        return [system, question]

    def _opposed(self) -> Parts:
        """What the other side begins with. On severity: the same errors as minor."""
        name = f"opposed_{self._debated}"
        if self._debated != "severity":
            return self.panel.prompts.piece(name)
        milder = [replace(span, severity="minor") for span in self.viewpoint.spans]
        return self.panel.prompts.piece(name, errors=self.panel.quote_errors(milder))

    def _transcript(self, said: Sequence[Said]) -> Parts:
        files = self.panel.prompts
        if not said:
            return files.piece("silence")
        pieces = [
            files.piece(
                "said",
                speaker=_SIDES[one.speaker],
                round=str(one.round),
                statement=self.panel.quote_statement(one.statement, with_errors=one.speaker != "reviewer"),
            )
            for one in said
        ]
        parts = [part for piece in pieces for part in (*piece, "\n\n")]
        return files.piece("transcript", said=joined(parts[:-1]))

    def _turn(self, name: str, number: int) -> Parts:
        return self.panel.prompts.piece(name, round=str(number))

    def _about(self, stage: str, agent: str, wants: str) -> About:
        return About(
            judge=self.panel.judge,
            stage=stage,
            subject=self.subject,
            wants=wants,
            role=f"{agent}.{self.viewpoint.dimension.name}",
            facts={"held": self.panel.listed(self.viewpoint.spans)},
        )

    @property
    def _debated(self) -> str:
        """The topic, which for a non-translation is whether it is one."""
        garbled = any(span.category == NON_TRANSLATION for span in self.viewpoint.spans)
        return "non_translation" if self.topic == "severity" and garbled else self.topic

    @property
    def _offered(self) -> tuple[str, ...]:
        """Whoever debates categories may choose from all of them."""
        return (ALL if self.topic == "category" else self.viewpoint.dimension).categories


def read_agreement(reply: Reply, subject: Subject) -> tuple[bool, tuple[str, ...]]:
    """Read whether two sides agree, and flags.

    Raises:
        AnswerError: it is not in the form.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("agreed",))
    return read_truth(reading.value["agreed"], "agreed"), reading.flags


def _held(span: ErrorSpan) -> tuple[object, ...]:
    """What two sides must say alike."""
    place = (span.start, span.end) if span.start is not None else (span.text,)
    return (span.side, place, span.severity, span.category)
