"""What is judged, as messages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from adjudge.core.ask import Message, Quoted
from adjudge.core.language import language_name, source_language, target_language
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._examples import Example
from adjudge.judges._prompts import Part, Parts, Prompts, joined

__all__ = [
    "TEXT_FILES",
    "judged_texts",
    "language_names",
    "render_example",
    "render_pair",
    "render_terms",
    "render_texts",
]

TEXT_FILES: Final = ("markers.md", "context.md", "context_segment.md", "terms.md", "term.md")
"""Files that every judge uses, besides `texts.md` or `texts_with_reference.md`."""

_PAIR_NAMES: Final = {"source": "source", "first": "translation-a", "second": "translation-b"}


def judged_texts(subject: Subject) -> tuple[str, ...]:
    """Everything a model is shown that it did not get from us."""
    context = [text for s in subject.context for text in (s.source, *s.translations.values())]
    terms = [text for t in subject.terms for text in (t.source, t.translation)]
    translations = [subject.segment.translations[name] for name in subject.systems]
    return (subject.source, *translations, subject.reference or "", *context, *terms)


def render_texts(prompts: Prompts, subject: Subject, *, with_reference: bool = False) -> Parts:
    """Context and glossary, where there are any, then the texts themselves.

    Raises:
        AnswerError: a reference is to be shown and there is none.
    """
    texts = {"source": subject.source, "translation": subject.translation}
    if with_reference:
        if subject.reference is None:
            raise AnswerError("missing", "with_reference needs a reference, and this segment has none")
        texts["reference"] = subject.reference
    quoted = {name: Quoted(name, text) for name, text in texts.items()}
    shown = _fill(prompts, subject.lp, quoted)
    if not subject.context and not subject.terms:
        return shown
    context = _render_context(prompts, subject, "context_segment", ("translation",))
    return joined((*context, *render_terms(prompts, subject), *shown))


def render_pair(prompts: Prompts, subject: Subject) -> Parts:
    """Context and glossary, where there are any, then the source and its two translations."""
    first, second = (subject.segment.translations[name] for name in subject.systems)
    texts = {"source": subject.source, "first": first, "second": second}
    quoted = {key: Quoted(_PAIR_NAMES[key], text) for key, text in texts.items()}
    shown = prompts.piece("pair", **language_names(subject.lp), **quoted)
    context = _render_context(prompts, subject, "context_pair", ("first", "second"))
    return joined((*context, *render_terms(prompts, subject), *shown))


@lru_cache(maxsize=256)
def language_names(lp: str) -> Mapping[str, str]:
    """What both languages are called, as prompts name them."""
    return {
        "source_language": language_name(source_language(lp)),
        "target_language": language_name(target_language(lp)),
    }


def render_example(
    prompts: Prompts, example: Example, answer: str, *, with_reference: bool = False
) -> tuple[Message, Message]:
    """One worked example as a question and its answer."""
    texts = {"source": example.source, "translation": example.translation}
    if with_reference:
        texts["reference"] = example.reference
    marked = {name: _marked(name, text) for name, text in texts.items()}
    return Message("user", _fill(prompts, example.lp, marked)), Message("assistant", (answer,))


def _fill(prompts: Prompts, lp: str, texts: Mapping[str, Part]) -> Parts:
    return prompts.piece(
        "texts_with_reference" if "reference" in texts else "texts",
        **language_names(lp),
        **texts,
    )


def _render_context(prompts: Prompts, subject: Subject, file: str, names: tuple[str, ...]) -> Parts:
    """Segments before this one, each with its translation by every system of the subject."""
    if not subject.context:
        return ()
    segments: list[Part] = []
    for segment in subject.context:
        texts = (segment.translations.get(system) for system in subject.systems)
        shown = ("(none)" if text is None else Quoted("context-translation", text) for text in texts)
        values = dict(zip(names, shown, strict=True))
        segments += [*prompts.piece(file, source=Quoted("context-source", segment.source), **values), "\n\n"]
    return (*prompts.piece("context", segments=tuple(segments[:-1])), "\n\n")


def render_terms(prompts: Prompts, subject: Subject) -> Parts:
    """The glossary, where there is one."""
    if not subject.terms:
        return ()
    terms: list[Part] = []
    for term in subject.terms:
        source, translation = Quoted("term", term.source), Quoted("term-translation", term.translation)
        terms += [*prompts.piece("term", source=source, translation=translation), "\n\n"]
    return (*prompts.piece("terms", terms=tuple(terms[:-1])), "\n\n")


def _marked(name: str, text: str) -> str:
    """In the look of a quoted text, but the same in every call: a prefix cache then holds the examples."""
    return f"<<{name} example>>\n{json.dumps(text, ensure_ascii=False)}\n<</{name} example>>"
