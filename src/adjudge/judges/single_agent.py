"""
Single agent: HiMATE's baseline, all nineteen error subtypes in one question.

Paper    Zhang et al., 2025, https://arxiv.org/abs/2505.16281, section 5.2 and table 2 (SA)
Code     nlp2ct-shijie/HiMATE at f3cbb3e has the stages of HiMATE and not this baseline
Prompt   prompts/single_agent, in our own words; the paper prints no prompt of it
Differs  1. The paper says only that one agent evaluates all subtypes at once. Definitions and severities are
            those of HiMATE's first stage; there are no examples, where each of its nineteen agents has two.
         2. Any number of errors of a subtype may be listed, and each must quote its span, which the paper
            scores. HiMATE's code asks for one error a subtype and for no span.
         3. The recommended profile asks for JSON with a schema; profiles paper and code for headings by
            severity. The paper shows no form.
         4. Every reply that is not in the form is a failure. Profile paper asks once, the others once more.
         5. Context and glossary are shown where the user gives them. With explain_in each error has a note in
            that language (recommended profile).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from adjudge.core.ask import Ask, Message
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.core.typology import SUBTYPES, Severity
from adjudge.judges._answers import ErrorList, Marked
from adjudge.judges._prompts import TEXT_FILES, Prompts, attempts_of, load_prompts, render_texts

__all__ = ["SingleAgent"]

SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor", "neutral")


@dataclass(frozen=True, kw_only=True)
class SingleAgent:
    """Errors of all nineteen subtypes, asked for at once; HiMATE's baseline."""

    name: ClassVar[str] = "single-agent"
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "himate"
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    profile: Profile = "recommended"
    explain_in: str | None = None
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark the errors of one translation."""
        marked = await self.mark(subject, ask)
        return annotation_of(self, subject, spans=marked.spans, flags=marked.flags)

    async def mark(self, subject: Subject, ask: Ask) -> Marked:
        """Put the one question."""
        about = self._errors.about(self.name, subject)
        attempts = attempts_of(self.profile)
        return await self._errors.put(self.messages(subject), about, ask, attempts=attempts)

    def messages(self, subject: Subject) -> list[Message]:
        """Every subtype with its definition, then the texts."""
        texts = render_texts(self._files, subject)
        system = self._files.message(
            "system",
            "system",
            markers=self._files.piece("markers"),
            subtypes=self._files.piece("subtypes"),
            form=self._errors.render_form(self._files),
        )
        return [system, Message("user", texts)]

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._files.digest

    @cached_property
    def _errors(self) -> ErrorList:
        return ErrorList.of(self.profile, SEVERITIES, self.explain_in, SUBTYPES)

    @cached_property
    def _files(self) -> Prompts:
        used = ("system.md", "subtypes.md", "texts.md", self._errors.file, *TEXT_FILES)
        return load_prompts("single_agent", used, self.prompts)
