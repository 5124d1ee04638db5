"""
GEMBA-ESA: errors in two severities first, then a rating from 0 to 100 given these errors.

Paper    none of its own; the protocol is Kocmi et al., 2024, https://arxiv.org/abs/2406.11580, the method a
         baseline of the WMT24 metrics task
Code     MicrosoftTranslator/GEMBA at bf1f113, gemba/gemba_esa.py; joined at 3fa5d58, gemba/utils.py
Prompt   prompts/gemba_esa, in our own words, with three examples of our own (en-de, en-cs, zh-en)
Differs  1. What to do stands in system messages, and the texts are quoted data.
         2. The recommended profile asks for JSON with a schema and for the side of each span. Profiles paper
            and code ask for the original's two headings, then for the bare number.
         3. Where the first step fails there is no second. The original goes on and shows the model the text
            "None" in place of the errors.
         4. The second step is shown the errors as they were read; the original passes the reply on unread.
         5. Every reply that is not in the form is a failure. In profiles paper and code the original's rule
            reads the rating, though (flag `authors_reader`): the only number of any text.
         6. An unreadable reply is asked for once more at temperature 0; the original raises the temperature.
         7. The spans keep their categories, which the original asks for and the protocol ESA does not.
         8. Context and glossary are shown where the user gives them; the original has neither. There is no
            variant with a reference, as in the original.
         9. With explain_in each error has a note in that language (recommended profile), which the second
            step is shown as well.
"""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Final

from adjudge.core.ask import About, Ask, Message, Quoted
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.judges._answers import ErrorList, Marked, Rating, RatingScale
from adjudge.judges._prompts import TEXT_FILES, Prompted, Prompts, load_prompts, render_texts
from adjudge.judges._reading import only_number, or_authors

SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor")


@frozen
class GembaEsa(Prompted):
    """Errors in two severities, then a rating from 0 to 100 given these errors."""

    name: ClassVar[str] = "gemba-esa"
    protocol: ClassVar[str] = "esa"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(2, 2, 2)

    profile: Profile = "recommended"
    explain_in: str | None = None
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark the errors of one translation, then rate it."""
        marked = await self.mark(subject, ask)
        rating = await self.rate(subject, marked, ask)
        flags = (*marked.flags, *rating.flags)
        return annotation_of(self, subject, rating=rating.number, spans=marked.spans, flags=flags)

    async def mark(self, subject: Subject, ask: Ask) -> Marked:
        """First step: errors in two severities."""
        return await self._errors.put(
            self.error_messages(subject), self._errors.about(self.name, subject), ask
        )

    async def rate(self, subject: Subject, marked: Marked, ask: Ask) -> Rating:
        """Second step: a rating given the errors."""
        scale = RatingScale(profile=self.profile)
        answer = await ask(
            self.rating_messages(subject, marked),
            about=About(judge=self.name, stage="rating", subject=subject, wants="rating", facts=scale.facts),
            read=or_authors(
                partial(scale.read, subject=subject), only_number if scale.form == "number" else None
            ),
            schema=scale.schema,
        )
        return answer.value

    def error_messages(self, subject: Subject) -> list[Message]:
        """What to mark, three worked examples, the texts."""
        return [*self._opening, Message("user", render_texts(self._files, subject))]

    def rating_messages(self, subject: Subject, marked: Marked) -> list[Message]:
        """What the scale means, then the texts and what was marked in them."""
        files = self._files
        errors = Quoted(
            "errors", self._errors.render_spans(marked.spans), is_json=self._errors.form == "json"
        )
        system = RatingScale(profile=self.profile).render_system(files, "rating", subject)
        return [system, files.message("user", "marked", texts=render_texts(files, subject), errors=errors)]

    @cached_property
    def _opening(self) -> tuple[Message, ...]:
        return self._errors.render_opening(self._files, "errors")

    @cached_property
    def _errors(self) -> ErrorList:
        return ErrorList.of(self.profile, SEVERITIES, self.explain_in)

    @cached_property
    def _files(self) -> Prompts:
        own = ("errors.md", "rating.md", "marked.md", *self._errors.example_files, "texts.md")
        forms = (self._errors.file, RatingScale(profile=self.profile).file)
        return load_prompts("gemba_esa", (*own, *forms, *TEXT_FILES), self.prompts)
