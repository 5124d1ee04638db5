"""How two translations are compared: in which orders, with which answer, and what the verdicts come to."""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple

from adjudge.core.annotation import Preference, Verdict
from adjudge.core.ask import About, Ask, Message, Reply, Sampling
from adjudge.core.judge import PairJudge, preference_of
from adjudge.core.language import language_name
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._fields import check_keys, object_schema, read_reasons, read_words
from adjudge.judges._json import read_object
from adjudge.judges._prompts import Parts, Prompts
from adjudge.judges._prose import check_reasons
from adjudge.judges._read import shown
from adjudge.judges._subject import judged_texts, language_names, render_pair
from adjudge.judges._verdicts import (
    TIE_BY_STRENGTH,
    TURNED,
    VERDICTS,
    PairSettings,
    check_agrees,
    disagreement,
    is_near_tie,
    mean_strength,
    read_strength,
    read_verdict,
    verdict_trust,
)

__all__ = [
    "IDENTICAL",
    "PAIR_FILES",
    "Compared",
    "Comparison",
    "Criterion",
    "is_identical",
    "preference_by",
    "read_compared",
    "read_criterion",
]

IDENTICAL: Final = "identical"
"""Flag of a pair that is one text twice: equal by definition, and nobody was asked."""
PAIR_FILES: Final = (
    *("markers.md", "pair.md", "verdict_json.md"),
    *("context.md", "context_pair.md", "terms.md", "term.md"),
)
"""Files that every judge of pairs uses."""

_ATTEMPTS: Final = 3
_LABEL: Final = 20  # characters of a field that names a verdict, and no reasons
_ASPECT: Final = re.compile(r"^- (?P<name>[^:\n]+):", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Criterion:
    """One criterion to compare by.

    Args:
        name: such as fluency.
        text: what it means, to the model.
        aspects: to be analysed one by one; empty for one analysis of the whole.
    """

    name: str
    text: str = ""
    aspects: tuple[str, ...] = ()


class Compared(NamedTuple):
    """What came of one criterion.

    Args:
        verdict: of all orders together.
        orders: the verdict of each order, mapped back to the pair as it is given.
        flags: on the way.
        rationale: the analysis of the first order asked.
        strength: how far it is for A, or below 0 for B; None where that was not measured.
    """

    verdict: Verdict
    orders: tuple[Verdict, ...]
    flags: tuple[str, ...]
    rationale: str
    strength: float | None = None


class _Answer(NamedTuple):
    verdict: Verdict
    flags: tuple[str, ...]
    analysis: str
    strength: float | None


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The questions about one pair by one criterion.

    Args:
        judge: who asks.
        criterion: by which is compared.
        prompts: with `system.md` and `PAIR_FILES`.
        settings: of the judge.
    """

    judge: str
    criterion: Criterion
    prompts: Prompts
    settings: PairSettings

    async def settle(self, subject: Subject, ask: Ask) -> Compared | AnswerError:
        """Ask in every order; a verdict that changes with the order is E, or kept as undecided."""
        if is_identical(subject):
            return Compared("E", (), (IDENTICAL,), "")
        orders = self._shown(subject)
        answers = await asyncio.gather(*(self._put(order, ask) for order in orders))
        if failed := next((answer for answer in answers if isinstance(answer, AnswerError)), None):
            return failed
        read = [answer for answer in answers if isinstance(answer, _Answer)]
        turned = [order.systems != subject.systems for order in orders]
        verdicts = tuple(TURNED[a.verdict] if t else a.verdict for a, t in zip(read, turned, strict=True))
        strength = mean_strength([(a.strength, t) for a, t in zip(read, turned, strict=True)])
        flags = (
            *(flag for a in read for flag in a.flags),
            *disagreement(verdicts, self.settings.inconsistent),
        )
        verdict = verdicts[0] if len(set(verdicts)) == 1 else "E"
        if verdict != "E" and is_near_tie(strength, self.settings.tie_threshold):
            verdict, flags = "E", (*flags, TIE_BY_STRENGTH)
        return Compared(verdict, verdicts, flags, read[0].analysis, strength)

    async def _put(self, subject: Subject, ask: Ask) -> _Answer | AnswerError:
        """One question: the first system of the subject is A."""
        about = About(
            judge=self.judge,
            stage="comparison",
            subject=subject,
            wants="verdict",
            role=self.criterion.name,
            facts={"criterion": self.criterion.name, "aspects": self.criterion.aspects},
        )
        try:
            answer = await ask(
                self.messages(subject),
                about=about,
                read=partial(self.read, subject=subject),
                attempts=_ATTEMPTS,
                schema=self.schema,
                sampling=Sampling(logprobs=self.settings.strength == "logprob"),
            )
        except AnswerError as error:
            return error
        return answer.value

    def messages(self, subject: Subject) -> list[Message]:
        """The criterion and the form, which all pairs share, then the texts."""
        system = self.prompts.message(
            "system",
            "system",
            **language_names(subject.lp),
            **({"criterion": self.criterion.text} if self.criterion.text else {}),
            markers=self.prompts.piece("markers"),
            form=self._form(),
        )
        return [system, Message("user", render_pair(self.prompts, subject))]

    def _form(self) -> Parts:
        code = self.settings.explain_in
        language = "in words" if code is None else f"in {language_name(code)}"
        shape = json.dumps(dict.fromkeys(self.criterion.aspects, "...") or "...", ensure_ascii=False)
        return self.prompts.piece("verdict_json", analysis=shape, language=language)

    @property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None where the paper's form is only described."""
        if self.settings.profile != "recommended":
            return None
        text = {"type": "string"}
        aspects = self.criterion.aspects
        analysis = object_schema(**dict.fromkeys(aspects, text)) if aspects else text
        return object_schema(analysis=analysis, result={"type": "string", "enum": list(VERDICTS)})

    def read(self, reply: Reply, subject: Subject) -> _Answer:
        """Read one answer.

        Raises:
            AnswerError: it is not in the form.
        """
        verdict, analysis, flags = read_compared(reply, judged_texts(subject), self.criterion.aspects)
        strength = read_strength(reply, verdict) if self.settings.strength == "logprob" else None
        return _Answer(verdict, flags, analysis, strength)

    def _shown(self, subject: Subject) -> list[Subject]:
        """The pair in each order in which it is shown."""
        turned = subject.of(*reversed(subject.systems))
        orders, seed = self.settings.shown_in, self.settings.order_seed
        if orders == "both":
            return [subject, turned]
        if orders == "random" and random.Random(f"{seed}/{subject.key}").random() < 0.5:
            return [turned]
        return [subject]


def read_compared(
    reply: Reply, judged: tuple[str, ...], aspects: tuple[str, ...] = ()
) -> tuple[Verdict, str, tuple[str, ...]]:
    """Read the verdict of a comparison, its analysis and flags.

    Raises:
        AnswerError: it is not in the form, or the analysis declines or contradicts the verdict.
    """
    reading = read_object(
        reply, judged=judged, keys=("analysis", "result"), trust=verdict_trust, what="the verdict"
    )
    verdict, spelled = read_verdict(reading.value["result"])
    analysis, joined_ = _read_analysis(reading.value["analysis"], aspects, verdict)
    check_reasons(analysis, "the verdict")
    check_agrees(analysis, verdict)
    check_agrees(reading.around, verdict, is_strict=True)
    for name, value in reading.dropped.items():
        if isinstance(value, str):
            check_agrees(value, verdict, is_strict=len(value) <= _LABEL and "confid" not in name.lower())
    return verdict, analysis, (*reading.flags, *dict.fromkeys((*spelled, *joined_)))


def _read_analysis(value: object, aspects: tuple[str, ...], verdict: Verdict) -> tuple[str, tuple[str, ...]]:
    """The analysis as text. One of several parts is joined; an empty one is enough for a preference."""
    if aspects:
        found = check_keys(value, aspects, "the analysis")
        return "\n".join(f"{name}: {read_reasons(found[name], name)}" for name in aspects), ()
    if isinstance(value, list) and value and all(isinstance(part, str) for part in value):
        return read_words("\n".join(value), "analysis"), ("normalised",)
    if isinstance(value, dict) and value and all(isinstance(part, str) for part in value.values()):
        return read_words("\n".join(f"{name}: {part}" for name, part in value.items()), "analysis"), (
            "normalised",
        )
    if isinstance(value, str) and not value.strip() and verdict != "E":
        return "", ("normalised",)
    words = read_words(value, "analysis")
    if verdict == "E" and not any(map(str.isalnum, words)):
        raise AnswerError("schema", f"analysis must say why both are equal, got {shown(words)}")
    return words, ()


def preference_by(
    judge: PairJudge, subject: Subject, criterion: str, found: Compared | AnswerError
) -> Preference | AnswerError:
    """What came of one criterion, as a record; or why there is none."""
    if isinstance(found, AnswerError):
        return found
    return preference_of(
        judge,
        subject,
        criterion=criterion,
        verdict=found.verdict,
        orders=found.orders,
        flags=found.flags,
        rationale=found.rationale or None,
        strength=found.strength,
    )


def is_identical(subject: Subject) -> bool:
    """Whether both translations are the same text."""
    first, second = (subject.segment.translations[name] for name in subject.systems)
    return first == second


def read_criterion(name: str, text: str) -> Criterion:
    """Read a criterion: what it means, and `- NAME: what it means` for each aspect."""
    aspects = tuple(match["name"].strip() for match in _ASPECT.finditer(text))
    if len(set(aspects)) < len(aspects):
        raise UsageError(f"criterion {name!r} has two aspects of one name: {', '.join(aspects)}")
    return Criterion(name=name, text=text.strip(), aspects=aspects)
