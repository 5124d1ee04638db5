"""
GEMBA-MQM: one question with three worked examples, answered by errors and their severities.

Paper    Kocmi and Federmann, 2023, https://arxiv.org/abs/2310.13988
Code     MicrosoftTranslator/GEMBA at ea90068, gemba/gemba_mqm_utils.py; asked by gemba/gpt_api.py
Prompt   prompts/gemba_mqm, in our own words, with three examples of our own (en-de, en-cs, zh-en)
Differs  1. What to do stands in the system message; the original repeats it in every turn. The texts are
            quoted data, where the original puts them between backticks that a text may contain.
         2. The recommended profile asks for JSON with a schema and for the side of each span. Profiles paper
            and code ask for the original's three headings.
         3. Every reply that is not in the form is a failure in the recommended profile. In the others
            parse_mqm_answer's rule reads it (flag `authors_reader`): any line under a heading is an error,
            and a line that says "no error" is none, even inside a quotation. The original also reads a
            refusal, an empty reply, an error page and bold headings as no error at all. Here these are
            failures, and so is a reply without errors in which such a line says more than that.
         4. An unknown category is a failure; by the original's rule it is `other`.
         5. A non-translation keeps the severity it was given. The original moves it to critical, and so does
            its rule here; the weights `gemba` charge it 25 points either way.
         6. An unreadable reply is asked for once more at temperature 0. The original raises the temperature
            in ten steps, and mixes the answers in one table.
         7. The first five errors and the cap of 25 points are in the weights `gemba`. The reader keeps all
            errors, the most severe first, as the original counts them.
         8. Context and glossary are shown where the user gives them; the original has neither. With
            explain_in each error has a note in that language (recommended profile).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final

from adjudge.core.ask import Ask, Message
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.judges._answers import ErrorList, Marked
from adjudge.judges._prompts import TEXT_FILES, Prompted, Prompts, load_prompts, render_texts
from adjudge.judges._reading import error_lines

SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "major", "minor")


@frozen
class GembaMqm(Prompted):
    """Errors in three severities, asked for once with three worked examples."""

    name: ClassVar[str] = "gemba-mqm"
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "gemba"
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    profile: Profile = "recommended"
    explain_in: str | None = None
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark the errors of one translation."""
        marked = await self.mark(subject, ask)
        worst_first = sorted(marked.spans, key=lambda span: SEVERITIES.index(span.severity))
        return annotation_of(self, subject, spans=tuple(worst_first), flags=marked.flags)

    async def mark(self, subject: Subject, ask: Ask) -> Marked:
        """Put the one question."""
        about = self._errors.about(self.name, subject)
        return await self._errors.put(self.messages(subject), about, ask, rule=error_lines)

    def messages(self, subject: Subject) -> list[Message]:
        """What to do, three worked examples, the texts."""
        return [*self._opening, Message("user", render_texts(self._files, subject))]

    @cached_property
    def _opening(self) -> tuple[Message, ...]:
        return self._errors.render_opening(self._files)

    @cached_property
    def _errors(self) -> ErrorList:
        return ErrorList.of(self.profile, SEVERITIES, self.explain_in)

    @cached_property
    def _files(self) -> Prompts:
        used = ("system.md", *self._errors.example_files, "texts.md", self._errors.file, *TEXT_FILES)
        return load_prompts("gemba_mqm", used, self.prompts)
