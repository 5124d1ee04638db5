"""
Single agent: HiMATE's baseline, all nineteen error subtypes in one question.

Paper    Zhang et al., 2025, https://arxiv.org/abs/2505.16281, section 5.1 and table 2 (SA)
Code     nlp2ct-shijie/HiMATE at f3cbb3e has the stages of HiMATE and not this baseline
Prompt   prompts/himate, in our own words; the paper prints no prompt of it
Differs  1. The paper says only that one agent evaluates all subtypes at once. It is asked as each agent of
            HiMATE's first stage is (definitions, severities, examples, notes, form, in all profiles), so that
            himate with stages=se and this judge differ in the number of agents alone. Of the examples it sees
            an error of each subtype, and one translation without any. The judged text stands last in all
            profiles.
         2. It lists every error, and each but an omission must quote its span, which the paper scores.
            HiMATE's code asks for one error a subtype and for no span.
         3. Every reply that is not in the form is a failure. Profile paper asks once, the others once more.
         4. Context and glossary are shown where the user gives them. Notes are in explain_in, else English.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from adjudge.core.ask import Ask
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.judges._answers import ErrorList
from adjudge.judges._prompts import TEXT_FILES, attempts_of, find_form, load_prompts
from adjudge.judges.himate.stages import ALONE, SEVERITIES, Evaluation, Scope

_FILES = (*("single_agent.md", "scope.md", "severities.md", "subtypes.md", "texts.md", *TEXT_FILES),)


@frozen
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

    def __post_init__(self) -> None:
        find_form(self.profile)

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark the errors of one translation."""
        stage = await self.evaluation.run(subject, ask)
        return annotation_of(
            self, subject, spans=tuple(found.span for found in stage.found), flags=stage.flags
        )

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self.evaluation.scope.prompts.digest

    def lacking(self, lps: Iterable[str]) -> tuple[str, ...]:
        """For which language pairs there are no worked examples, in one line; nothing if for none."""
        return self.evaluation.scope.lacking((ALONE,), lps)

    @cached_property
    def evaluation(self) -> Evaluation:
        """HiMATE's first stage, with one agent for everything."""
        errors = ErrorList(
            form="json", severities=SEVERITIES, categories=SUBTYPES, explain_in=self.explain_in or "en"
        )
        files = (*_FILES, errors.file, *errors.example_files)
        return Evaluation(
            scope=Scope(prompts=load_prompts("himate", files, self.prompts), errors=errors),
            agents=(ALONE,),
            most=None,
            attempts=attempts_of(self.profile),
            texts_last=True,
            judge="single-agent",
        )
