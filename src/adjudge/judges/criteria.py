"""
Criteria: each segment has pass/fail rules of its own, and each rule is asked about in a question of its own.

Paper    none that we know of; the Last Translation Benchmark, https://last-translation-benchmark.vilda.net,
         whose texts come with verification rules written by people
Code     zouharvi/last-translation-benchmark at 03e7722, scripts/20c-verify_by_extra_models.py
Prompt   prompts/criteria, in our own words
Differs  1. What to do stands in a system message, and source, translation and criterion are quoted data; the
            original has one message with the texts as they are.
         2. The answer is JSON with the reason before the verdict, and with a schema; the original asks for
            one word, pass or fail. All profiles put the same question.
         3. The verdict must be `pass` or `fail`; another form of the word, such as `Passed.`, is read and
            flagged `normalised`. Words around the object of a fail are asked about in the recommended
            profile, and around that of a pass the question is put anew; in the others they are a failure. The
            original looks for "pass" in the last word of any reply, then for "fail", and then anywhere.
         4. In the recommended profile the model is shown each reason beside its criterion, without the texts
            and the verdict, and is asked whether the reason says pass, fail or neither. The criterion is
            asked about once more if the reason does not say its verdict.
         5. An answer that cannot be read is asked for once more, too. What is wrong twice is a failure of
            this one criterion: neither a pass nor a fail. The original's platform counts an unreadable reply
            as a fail.
         6. Reference, context, glossary and instruction are shown where the user gives them. With explain_in
            the reason is in that language. Images and sounds of the original are not shown.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
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
    Parts,
    Prompted,
    Prompts,
    joined,
    judged_texts,
    language_names,
    load_prompts,
    render_texts,
)
from adjudge.judges._reading import Reading, object_schema, or_error, shown

VERDICTS: Final = ("pass", "fail")
SCHEMA: Final = object_schema(reason={"type": "string"}, verdict={"type": "string", "enum": [*VERDICTS]})

_SAYS: Final = (*VERDICTS, "neither")
_SAYS_SCHEMA: Final = object_schema(says={"type": "string", "enum": [*_SAYS]})
_SPELLED: Final = {"passes": "pass", "passed": "pass", "fails": "fail", "failed": "fail"}


class Checked(NamedTuple):
    """What came of one criterion: pass or fail, why, and flags."""

    verdict: str
    reason: str
    flags: tuple[str, ...]


@frozen
class Criteria(Prompted):
    """Pass or fail on each criterion that a segment brings, one question each."""

    name: ClassVar[str] = "criteria"
    protocol: ClassVar[str] = "criteria"
    weights: ClassVar[None] = None

    profile: Profile = "recommended"
    with_reference: bool = False
    explain_in: str | None = None
    prompts: Path | None = None

    async def check(self, subject: Subject, ask: Ask) -> Sequence[Annotation | AnswerError]:
        """Ask about every criterion of the segment."""
        return await asyncio.gather(
            *(or_error(self.settle(subject, each, ask)) for each in read_criteria(subject.segment))
        )

    async def settle(self, subject: Subject, criterion: Criterion, ask: Ask, again: Parts = ()) -> Annotation:
        """Ask about one criterion, and once more if the reason does not say the verdict.

        Raises:
            AnswerError: no readable answer; ambiguous for two reasons that do not say their verdicts.
        """
        about = About(
            judge=self.name,
            stage=f"criterion {criterion.id}",
            subject=subject,
            wants="criterion",
            facts={"criterion": criterion.text},
        )
        read = partial(read_verdict, judged=(*judged_texts(subject), criterion.text))
        messages = self.messages(subject, criterion, again)
        told = (await ask(messages, about=about, read=read, schema=SCHEMA)).value
        if self.profile == "recommended":
            message = self._files.message(
                "user",
                "reason",
                criterion=Quoted("criterion", criterion.text),
                reason=Quoted("reason", told.reason),
            )
            about = replace(
                about, stage=f"reason {criterion.id}", wants="says", facts={"verdict": told.verdict}
            )
            # Neither the texts nor the verdict are shown, so that nothing but the reason can answer.
            says = await ask(
                [message], about=about, read=partial(read_says, told.verdict), schema=_SAYS_SCHEMA
            )
            if not says.value:
                if again:
                    raise AnswerError(
                        "ambiguous", f"the reason does not say the verdict: {shown(told.reason)}"
                    )
                return await self.settle(subject, criterion, ask, ("\n\n", *self._files.piece("again")))
        return annotation_of(
            self,
            subject,
            criterion=criterion.id,
            rating=int(told.verdict == "pass"),
            flags=told.flags,
            rationale=told.reason,
        )

    def messages(self, subject: Subject, criterion: Criterion, again: Parts = ()) -> list[Message]:
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
        return [system, Message("user", joined((*texts, "\n\n", *asked, *again)))]

    def calls_for(self, subject: Subject) -> Calls:
        """So many calls for each criterion."""
        return Calls(*(len(read_criteria(subject.segment)) * count for count in self.calls))

    @property
    def calls(self) -> Calls:
        """For one criterion."""
        return Calls(2, 2, 4) if self.profile == "recommended" else Calls(1, 1, 1)

    @property
    def _kind(self) -> str:
        return "_with_reference" if self.with_reference else ""

    @cached_property
    def _files(self) -> Prompts:
        used = (
            f"system{self._kind}.md",
            f"texts{self._kind}.md",
            "criterion.md",
            "again.md",
            "reason.md",
            *TEXT_FILES,
        )
        return load_prompts("criteria", used, self.prompts)


def read_verdict(reply: Reply, judged: tuple[str, ...]) -> Checked:
    """Read the verdict on one criterion, and its reason."""
    reading = Reading(reply, judged)
    said = reading.answer("reason", "verdict")
    verdict = reading.label(said["verdict"], VERDICTS, "verdict", _SPELLED)
    reason = reading.words(said["reason"], "reason")
    return Checked(verdict, reason, reading.settle(is_clean=verdict == "pass"))


def read_says(verdict: str, reply: Reply) -> bool:
    """Read whether a reason says its verdict, from an answer that is never mended."""
    reading = Reading(reply)
    says = reading.label(reading.answer("says")["says"], _SAYS, "says")
    reading.settle(is_clean=True)
    return says == verdict
