"""The evaluation agent: one translation by the scale, with notes and an instruction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from adjudge.core.ask import Ask, Message, Quoted, Reply
from adjudge.core.protocol import is_number
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._fields import check_keys, object_schema, read_reasons, read_whole_number, read_words
from adjudge.judges._json import read_object
from adjudge.judges._prose import Trust
from adjudge.judges._rating import check_scale
from adjudge.judges._read import shown
from adjudge.judges._subject import judged_texts, language_names, render_texts
from adjudge.judges.rate.team import Team, notes_part

__all__ = ["Assessment", "evaluate"]

_KEYS = ("rationale", "error_spans", "suspected_gaps", "score", "confidence")
_SPAN_KEYS = ("source", "translation", "issue")


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What the agent says.

    Args:
        score: whole number of the scale.
        confidence: 0 to 1.
        rationale: why.
        error_spans: source part, translation part and issue of each.
        gaps: what it may not have known.
        flags: how the answer was read.
    """

    score: int
    confidence: float
    rationale: str
    error_spans: tuple[Mapping[str, str], ...]
    gaps: tuple[str, ...]
    flags: tuple[str, ...] = ()

    def render(self) -> str:
        """As the core agent is told it."""
        found = {
            "score": self.score,
            "confidence": self.confidence,
            "rationale": self.rationale,
            "error_spans": list(self.error_spans),
            "suspected_gaps": list(self.gaps),
        }
        return json.dumps(found, ensure_ascii=False)


async def evaluate(
    team: Team, subject: Subject, ask: Ask, stage: str, *, notes: str, instruction: str
) -> Assessment:
    """Rate one translation.

    Raises:
        AnswerError: no readable answer.
    """
    answer = await ask(
        messages(team, subject, notes, instruction),
        about=team.about(stage, subject, "evaluation", "assessment"),
        read=partial(read_assessment, team=team, subject=subject),
        schema=team.schema(_schema(team)),
    )
    return answer.value


def messages(team: Team, subject: Subject, notes: str, instruction: str) -> list[Message]:
    """The scale and the form, which all translations share, then the texts, notes and instruction."""
    prompts, scale = team.prompts, team.scale
    system = prompts.message(
        "system",
        "evaluate",
        **language_names(subject.lp),
        scale=prompts.piece("scale"),
        markers=prompts.piece("markers"),
        form=prompts.piece("evaluate_json", low=str(scale.low), high=str(scale.high)),
    )
    task = prompts.message(
        "user",
        "evaluate_task",
        texts=render_texts(prompts, subject),
        notes=notes_part(notes),
        instruction=Quoted("instruction", instruction) if instruction.strip() else "(none)",
    )
    return [system, task]


def read_assessment(reply: Reply, *, team: Team, subject: Subject) -> Assessment:
    """Read one answer, strictly.

    Raises:
        AnswerError: anything that is not in the form.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=_KEYS, trust=partial(_trust, team=team))
    value = reading.value
    confidence = value["confidence"]
    if not is_number(confidence) or not 0 <= confidence <= 1:
        raise AnswerError("range", f"confidence must be a number from 0 to 1, got {shown(confidence)}")
    score = read_whole_number(value["score"], team.scale.low, team.scale.high, "the score")
    check_scale(score, reading.dropped, team.scale.high)
    return Assessment(
        score=score,
        confidence=float(confidence),
        rationale=read_reasons(value["rationale"], "the rationale"),
        error_spans=tuple(_read_span(span) for span in _list(value["error_spans"], "error_spans")),
        gaps=tuple(read_words(gap, "a gap") for gap in _list(value["suspected_gaps"], "suspected_gaps")),
        flags=reading.flags,
    )


def _trust(value: Mapping[str, object], *, team: Team) -> Trust:
    score = value["score"]
    return "after" if is_number(score) and team.scale.low < score < team.scale.high else "alone"


def _read_span(value: object) -> Mapping[str, str]:
    span = check_keys(value, _SPAN_KEYS, "an error span")
    words = {key: span[key] for key in _SPAN_KEYS}
    if not all(isinstance(word, str) for word in words.values()):
        raise AnswerError("schema", f"an error span must be made of texts, got {shown(value)}")
    return {key: str(word) for key, word in words.items()}


def _list(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise AnswerError("schema", f"{what} must be a list, got {shown(value)}")
    return value


def _schema(team: Team) -> Mapping[str, object]:
    text = {"type": "string"}
    spans = {"type": "array", "items": object_schema(**dict.fromkeys(_SPAN_KEYS, text))}
    return object_schema(
        rationale=text,
        error_spans=spans,
        suspected_gaps={"type": "array", "items": text},
        score={"type": "integer", "minimum": team.scale.low, "maximum": team.scale.high},
        confidence={"type": "number", "minimum": 0, "maximum": 1},
    )
