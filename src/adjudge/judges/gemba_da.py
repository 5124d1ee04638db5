"""
GEMBA-DA and GEMBA-SQM: a rating from 0 to 100 in one question, with or without a reference.

Paper    Kocmi and Federmann, 2023, https://arxiv.org/abs/2302.14520
Code     MicrosoftTranslator/GEMBA at 0fdcd8d, gemba/prompt.py (GEMBA-DA, GEMBA-SQM, and both with _ref)
Prompt   prompts/gemba_da and prompts/gemba_sqm, in our own words
Differs  1. What to do stands in a system message, and the texts are quoted data; the original has one message
            with the texts between quotation marks.
         2. The recommended profile asks for JSON with a schema; profiles paper and code for the bare number.
         3. The answer must be the whole reply, or stand in a known wrapper (tags, a lead-in, quotation marks,
            marks of a chat template; flag `extracted`). `87.0` and `87%` are 87 (`normalised`), and so is
            {"rating": 87} where the bare number was asked for. Words beside it are asked about in the
            recommended profile; beside a 100 the question is put anew. In the others parse_numerical_answer's
            rule reads them (flag `authors_reader`): the only number of any text, so that "-5" is 5 and "I
            cannot rate because of the 2 languages" is 2.
         4. An unreadable reply is asked for once more at temperature 0; the original raises the temperature.
         5. Context and glossary are shown where the user gives them; the original has neither.
"""

from __future__ import annotations

from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar

from adjudge.core.ask import About, Ask, Message
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.judges._answers import Rating, RatingScale
from adjudge.judges._prompts import TEXT_FILES, Prompted, Prompts, load_prompts, render_texts
from adjudge.judges._reading import only_number, or_authors


@frozen
class GembaDa(Prompted):
    """A rating from 0 to 100, asked for once, with or without a reference."""

    name: ClassVar[str] = "gemba-da"
    folder: ClassVar[str] = "gemba_da"
    protocol: ClassVar[str] = "da-sqm"
    weights: ClassVar[None] = None
    calls: ClassVar[Calls] = Calls(1, 1, 1)

    profile: Profile = "recommended"
    with_reference: bool = False
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Rate one translation."""
        rating = await self.rate(subject, ask)
        return annotation_of(self, subject, rating=rating.number, flags=rating.flags)

    async def rate(self, subject: Subject, ask: Ask) -> Rating:
        """Put the one question."""
        scale = RatingScale(profile=self.profile)
        answer = await ask(
            self.messages(subject),
            about=About(judge=self.name, stage="rating", subject=subject, wants="rating", facts=scale.facts),
            read=or_authors(
                partial(scale.read, subject=subject), only_number if scale.form == "number" else None
            ),
            schema=scale.schema,
        )
        return answer.value

    def messages(self, subject: Subject) -> list[Message]:
        """What the scale means, then the texts."""
        name = "system_with_reference" if self.with_reference else "system"
        system = RatingScale(profile=self.profile).render_system(self._files, name, subject)
        texts = render_texts(self._files, subject, with_reference=self.with_reference)
        return [system, Message("user", texts)]

    @cached_property
    def _files(self) -> Prompts:
        kind = "_with_reference" if self.with_reference else ""
        used = (f"system{kind}.md", f"texts{kind}.md", RatingScale(profile=self.profile).file, *TEXT_FILES)
        return load_prompts(self.folder, used, self.prompts)


@frozen
class GembaSqm(GembaDa):
    """A rating from 0 to 100 on a scale with four named points, with or without a reference."""

    name: ClassVar[str] = "gemba-sqm"
    folder: ClassVar[str] = "gemba_sqm"
