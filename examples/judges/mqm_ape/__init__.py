"""
MQM-APE: an error counts only where its correction makes the translation better.

Paper    Lu et al., 2025, https://aclanthology.org/2025.coling-main.374
Code     Coldmist-Lu/MQM_APE, not compared with
Prompt   prompts/mqm_ape, in our own words
Differs  What this file decides for itself:
         1. The recommended profile shows the translation and its correction in both orders. An error stays
            where both orders prefer the correction; all others are dropped (flag `unproved_dropped`).
         2. A correction that changes nothing proves no error, and nobody is asked.
         3. An answer that cannot be read fails the whole judgement: no error is kept or dropped for it.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import ClassVar, Final

from adjudge.kit import (
    PAIR_FILES,
    TEXT_FILES,
    About,
    Annotation,
    AnswerError,
    Ask,
    Calls,
    Comparison,
    Criterion,
    ErrorList,
    ErrorSpan,
    Message,
    PairSettings,
    Profile,
    Prompted,
    Prompts,
    Quoted,
    Reading,
    Reply,
    Subject,
    annotation_of,
    joined,
    judged_texts,
    load_prompts,
    object_schema,
    or_error,
    render_texts,
)

EDIT: Final[Mapping[str, object]] = object_schema(translation={"type": "string"})


@dataclass(frozen=True, kw_only=True)
class MqmApe(Prompted):
    """Errors, each of them proved by a correction that is better than the translation."""

    name: ClassVar[str] = "mqm-ape"
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "gemba"
    with_reference: ClassVar[bool] = False
    calls: ClassVar[Calls] = Calls(1, 7, 1_501)  # no error, two, and the 500 that one answer may list

    profile: Profile = "recommended"
    prompts: Path | None = None

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Find the errors, and keep those that are proved."""
        system = self._errors.render_system(self._files, "evaluate")
        texts = Message("user", render_texts(self._files, subject))
        marked = await self._errors.put([system, texts], self._errors.about(self.name, subject), ask)
        proofs = await asyncio.gather(*(or_error(self.prove(span, subject, ask)) for span in marked.spans))
        for proof in proofs:
            if isinstance(proof, AnswerError):
                raise proof
        spans = tuple(span for span, proof in zip(marked.spans, proofs, strict=True) if proof is True)
        dropped = () if spans == marked.spans else ("unproved_dropped",)
        return annotation_of(self, subject, spans=spans, flags=(*marked.flags, *dropped))

    async def prove(self, span: ErrorSpan, subject: Subject, ask: Ask) -> bool:
        """Whether the translation is better with this error corrected."""
        edited = await self.edit(span, subject, ask)
        versions = {"translation": subject.translation, "correction": edited}
        segment = replace(subject.segment, translations=versions)
        found = await self._comparison.settle(replace(subject, segment=segment, systems=(*versions,)), ask)
        if isinstance(found, AnswerError):
            raise found
        return found.verdict == "B"

    async def edit(self, span: ErrorSpan, subject: Subject, ask: Ask) -> str:
        """Correct one error."""
        error = Quoted("error", self._errors.render_spans([span]), is_json=True)
        told = joined((*render_texts(self._files, subject), "\n\n", *self._files.piece("error", error=error)))
        system = self._files.message("system", "edit", markers=self._files.piece("markers"))
        facts = {"span": span.text, "side": span.side}
        about = About(judge=self.name, stage="edit", subject=subject, wants="correction", facts=facts)
        read = partial(read_edit, subject=subject)
        return (await ask([system, Message("user", told)], about=about, read=read, schema=EDIT)).value

    @cached_property
    def _errors(self) -> ErrorList:
        return ErrorList.of(self.profile, ("critical", "major", "minor"), None)

    @cached_property
    def _comparison(self) -> Comparison:
        settings = PairSettings(profile=self.profile)
        criterion = Criterion(name="overall")
        return Comparison(judge=self.name, criterion=criterion, prompts=self._files, settings=settings)

    @cached_property
    def _files(self) -> Prompts:
        ours = ("evaluate.md", "edit.md", "error.md", "system.md")  # system.md is the comparison's
        used = (*ours, "texts.md", self._errors.file, *TEXT_FILES, *PAIR_FILES)
        return load_prompts("mqm_ape", used, self.prompts, package=__package__)


def read_edit(reply: Reply, subject: Subject) -> str:
    """Read a corrected translation.

    Raises:
        AnswerError: there is none.
    """
    reading = Reading(reply, judged_texts(subject))
    text = reading.leaf(reading.words(reading.answer("translation")["translation"], "the translation"))
    reading.settle()
    return text
