"""
Criteria: each segment has pass/fail rules of its own, and each rule is asked about in a question of its own.

Paper    none that we know of; the Last Translation Benchmark, https://last-translation-benchmark.vilda.net,
         whose texts come with verification rules written by people
Code     zouharvi/last-translation-benchmark at 03e7722, scripts/20c-verify_by_extra_models.py
Prompt   prompts/criteria, in our own words
Differs  1. What to do stands in a system message, and source, translation and criterion are quoted data; the
            original has one message with the texts as they are.
         2. The answer is JSON with the reason before the verdict, and with a schema; the original asks for
            one word, pass or fail. Profiles do not differ.
         3. The verdict must be `pass` or `fail`; another form of the word, such as `Passed.`, is read and
            flagged `normalised`. Words around the object are refused for both verdicts alike, so that
            neither is read more often than the other. The original looks for "pass" in the last word of
            any reply, then for "fail", and then anywhere.
         4. An answer that cannot be read, or whose reason says the opposite, is asked for once more, and then
            is a failure of this one criterion: neither a pass nor a fail. The original's platform counts an
            unreadable reply as a fail.
         5. Reference, context, glossary and instruction are shown where the user gives them. With explain_in
            the reason is in that language. Images and sounds of the original are not shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from adjudge.core.ask import About, Ask, Message, Quoted, Reply
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.language import language_name
from adjudge.core.record import Annotation
from adjudge.core.segment import Criterion, Subject, read_criteria
from adjudge.errors import AnswerError
from adjudge.judges._prompts import (
    TEXT_FILES,
    Prompted,
    Prompts,
    joined,
    judged_texts,
    language_names,
    load_prompts,
    render_texts,
)
from adjudge.judges._reading import Reading, object_schema, or_error

__all__ = ["Criteria"]

VERDICTS: Final = ("pass", "fail")
SCHEMA: Final = object_schema(reason={"type": "string"}, verdict={"type": "string", "enum": [*VERDICTS]})

_SPELLED: Final = {"passes": "pass", "passed": "pass", "fails": "fail", "failed": "fail"}


class Checked(NamedTuple):
    """What came of one criterion: whether the translation passes, why, and flags."""

    is_passed: bool
    reason: str
    flags: tuple[str, ...]


@frozen
class Criteria(Prompted):
    """Pass or fail on each criterion that a segment brings, one question each."""

    name: ClassVar[str] = "criteria"
    protocol: ClassVar[str] = "criteria"
    weights: ClassVar[None] = None
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    profile: Profile = "recommended"
    with_reference: bool = False
    explain_in: str | None = None
    prompts: Path | None = None

    async def check(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Ask about every criterion of the segment."""
        criteria = read_criteria(subject.segment)
        return await asyncio.gather(*(self.settle(subject, criterion, ask) for criterion in criteria))

    async def settle(self, subject: Subject, criterion: Criterion, ask: Ask) -> Annotation | AnswerError:
        """Put the one question about one criterion."""
        about = About(
            judge=self.name,
            stage=f"criterion {criterion.id}",
            subject=subject,
            wants="criterion",
            facts={"criterion": criterion.text},
        )
        answer = await or_error(
            ask(
                self.messages(subject, criterion),
                about=about,
                read=partial(read_verdict, judged=(*judged_texts(subject), criterion.text)),
                schema=SCHEMA,
            )
        )
        if isinstance(answer, AnswerError):
            return answer
        return annotation_of(
            self,
            subject,
            criterion=criterion.id,
            rating=int(answer.value.is_passed),
            flags=answer.value.flags,
            rationale=answer.value.reason,
        )

    def messages(self, subject: Subject, criterion: Criterion) -> list[Message]:
        """What to do and the texts, which all criteria of a translation share, then the criterion."""
        files = self._files
        system = files.message(
            "system",
            f"system{self._kind}",
            **language_names(subject.lp),
            markers=files.piece("markers"),
            language="" if self.explain_in is None else f" in {language_name(self.explain_in)}",
        )
        texts = render_texts(files, subject, with_reference=self.with_reference)
        asked = files.piece("criterion", criterion=Quoted("criterion", criterion.text))
        return [system, Message("user", joined((*texts, "\n\n", *asked)))]

    def calls_for(self, subject: Subject) -> Calls:
        """One call for each criterion."""
        return Calls(*[len(read_criteria(subject.segment))] * 3)

    @property
    def _kind(self) -> str:
        return "_with_reference" if self.with_reference else ""

    @cached_property
    def _files(self) -> Prompts:
        used = (f"system{self._kind}.md", f"texts{self._kind}.md", "criterion.md", *TEXT_FILES)
        return load_prompts("criteria", used, self.prompts)


def read_verdict(reply: Reply, judged: tuple[str, ...]) -> Checked:
    """Read the verdict on one criterion, and its reason.

    Args:
        reply: of the model.
        judged: the texts and the criterion, none of which can be the answer.

    Raises:
        AnswerError: it is not in the form.
    """
    reading = Reading(reply, judged)
    said = reading.answer("reason", "verdict")
    is_passed = reading.label(said["verdict"], VERDICTS, "verdict", _SPELLED) == "pass"
    return Checked(is_passed, reading.words(said["reason"], "reason"), reading.settle(is_clean=is_passed))
