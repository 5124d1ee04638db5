"""Stage 1 of M-MAD: each expert marks the errors of its own dimension."""

from __future__ import annotations

from functools import partial
from typing import Final

from adjudge.core.ask import About, Ask, Message
from adjudge.core.segment import Subject
from adjudge.judges._subject import render_example, render_texts
from adjudge.judges.m_mad.panel import Dimension, Panel, Viewpoint

__all__ = ["expert_files", "mark"]

_GARBLED: Final = "non_translation"


async def mark(panel: Panel, dimension: Dimension, subject: Subject, ask: Ask) -> Viewpoint:
    """Mark the errors of one dimension.

    Raises:
        AnswerError: no readable answer.
    """
    errors = panel.errors(dimension.categories)
    about = About(
        judge=panel.judge,
        stage="annotation",
        subject=subject,
        wants="errors",
        role=f"expert.{dimension.name}",
        facts=errors.facts,
    )
    read = partial(errors.read, subject=subject)
    marked = await panel.put(messages(panel, dimension, subject), about, read, errors.schema, ask)
    return Viewpoint(dimension, marked.spans, marked.flags)


def messages(panel: Panel, dimension: Dimension, subject: Subject) -> list[Message]:
    """The dimension, three examples of it and one of a non-translation, then the texts."""
    files, errors = panel.prompts, panel.errors(dimension.categories)
    system = files.message(
        "system",
        "expert",
        markers=files.piece("markers"),
        kind=files.piece(f"kind_{dimension.name}"),
        form=errors.render_form(files),
    )
    examples = [*files.examples(dimension.name), *files.examples(_GARBLED)]
    shots = (render_example(files, one, errors.render_answer(one.errors)) for one in examples)
    texts = Message("user", render_texts(files, subject))
    return [system, *(message for shot in shots for message in shot), texts]


def expert_files(dimension: Dimension, explain_in: str | None) -> tuple[str, ...]:
    """The prompt files of an expert."""
    kinds = ("examples",) if explain_in is None else ("examples", "notes")
    names = (dimension.name, _GARBLED)
    return (
        "expert.md",
        f"kind_{dimension.name}.md",
        *(f"{kind}_{name}.jsonl" for kind in kinds for name in names),
    )
