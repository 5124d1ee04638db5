"""What the agents of M-MAD share: their kinds of errors, how they are asked, and how they answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Final, NamedTuple, TypeVar

from adjudge.core.annotation import ErrorSpan
from adjudge.core.ask import About, Ask, Message, Quoted, Reply
from adjudge.core.judge import Profile
from adjudge.core.language import language_name
from adjudge.core.segment import Subject
from adjudge.core.typology import Severity
from adjudge.judges._fields import object_schema, read_reasons
from adjudge.judges._json import read_object
from adjudge.judges._mqm import ErrorList, errors_trust
from adjudge.judges._profiles import attempts_of
from adjudge.judges._prompts import Parts, Prompts
from adjudge.judges._spans import Marked, place_errors
from adjudge.judges._subject import judged_texts

__all__ = [
    "ALL",
    "DIMENSIONS",
    "NON_TRANSLATION",
    "SEVERITIES",
    "Dimension",
    "Panel",
    "Statement",
    "Viewpoint",
    "find_error_list",
]

T = TypeVar("T")

SEVERITIES: Final[tuple[Severity, ...]] = ("major", "minor")
NON_TRANSLATION: Final = "non-translation"
OPEN_TO_ALL: Final = ("source error", NON_TRANSLATION)


@dataclass(frozen=True, kw_only=True)
class Dimension:
    """One kind of error, with an expert of its own.

    Args:
        name: of the agents' roles and of the prompt files.
        shown: what the prompts call it.
        own: its categories, without those that every expert has.
    """

    name: str
    shown: str
    own: tuple[str, ...]

    @property
    def categories(self) -> tuple[str, ...]:
        """All that its expert may give."""
        return (*self.own, *OPEN_TO_ALL)


DIMENSIONS: Final = (
    Dimension(
        name="accuracy",
        shown="accuracy",
        own=tuple(f"accuracy/{n}" for n in ("addition", "omission", "mistranslation", "untranslated text")),
    ),
    Dimension(
        name="fluency",
        shown="fluency",
        own=(
            *("fluency/punctuation", "fluency/spelling", "fluency/grammar"),
            *("fluency/register", "fluency/inconsistency", "fluency/character encoding"),
        ),
    ),
    Dimension(
        name="terminology",
        shown="terminology",
        own=("terminology/inappropriate for context", "terminology/inconsistent use"),
    ),
    Dimension(name="style", shown="style", own=("style/awkward",)),
)
"""The paper's four, in the order that decides between equally severe errors of one span."""

ALL: Final = Dimension(name="all", shown="every kind", own=tuple(c for d in DIMENSIONS for c in d.own))
"""All four at once, for the ablation without dimension partition."""


class Viewpoint(NamedTuple):
    """What is held of one dimension, and the flags of what led there."""

    dimension: Dimension
    spans: tuple[ErrorSpan, ...]
    flags: tuple[str, ...]


class Statement(NamedTuple):
    """Reasons, and the errors that the speaker holds."""

    words: str
    marked: Marked


@dataclass(frozen=True, kw_only=True)
class Panel:
    """All agents of one judge.

    Args:
        judge: its name.
        prompts: its files.
        profile: the recommended one holds models to a schema; the paper asks once.
        explain_in: code of the language of reasons and notes; None for reasons alone, in any language.
    """

    judge: str
    prompts: Prompts
    profile: Profile
    explain_in: str | None

    def errors(self, categories: tuple[str, ...]) -> ErrorList:
        """How errors of these categories are asked for."""
        return find_error_list(categories, self.explain_in)

    async def put(
        self,
        messages: Sequence[Message],
        about: About,
        read: Callable[[Reply], T],
        schema: Mapping[str, object] | None,
        ask: Ask,
    ) -> T:
        """Put one question.

        Raises:
            AnswerError: no readable answer.
        """
        answer = await ask(
            messages,
            about=about,
            read=read,
            attempts=attempts_of(self.profile),
            schema=schema if self.profile == "recommended" else None,
        )
        return answer.value

    async def put_statement(
        self, messages: Sequence[Message], about: About, categories: tuple[str, ...], ask: Ask
    ) -> Statement:
        """Put a question that is answered by reasons and a list of errors.

        Raises:
            AnswerError: no readable answer.
        """
        errors = self.errors(categories)
        read = partial(read_statement, subject=about.subject, errors=errors)
        schema = object_schema(statement={"type": "string"}, errors=errors.list_schema)
        return await self.put(messages, about, read, schema, ask)

    async def put_remark(self, messages: Sequence[Message], about: About, ask: Ask) -> Statement:
        """Put a question that is answered by words alone.

        Raises:
            AnswerError: no readable answer.
        """
        read = partial(read_remark, subject=about.subject)
        return await self.put(messages, about, read, object_schema(statement={"type": "string"}), ask)

    def statement_form(self, categories: tuple[str, ...]) -> Parts:
        """Say how to answer by reasons and a list of errors."""
        errors = self.errors(categories).render_form(self.prompts)
        return self.prompts.piece("statement_json", errors=errors, language=self._language)

    def remark_form(self) -> Parts:
        """Say how to answer by words alone."""
        return self.prompts.piece("remark_json", language=self._language)

    def quote_errors(self, spans: Sequence[ErrorSpan]) -> Quoted:
        """Errors that an agent listed, as data."""
        return Quoted("errors", self.errors(ALL.categories).render_spans(spans))

    def quote_statement(self, statement: Statement, *, with_errors: bool) -> Quoted:
        """What an agent said, as data, in the form in which it was asked for."""
        said: dict[str, object] = {"statement": statement.words}
        if with_errors:
            said |= json.loads(self.quote_errors(statement.marked.spans).text)
        return Quoted("statement", json.dumps(said, ensure_ascii=False))

    def listed(self, spans: Sequence[ErrorSpan]) -> tuple[Mapping[str, str], ...]:
        """Errors as the embedded model is told of them."""
        return tuple(json.loads(self.quote_errors(spans).text)["errors"])

    @property
    def _language(self) -> str:
        return "in words" if self.explain_in is None else f"in {language_name(self.explain_in)}"


@lru_cache(maxsize=64)
def find_error_list(categories: tuple[str, ...], explain_in: str | None) -> ErrorList:
    """How errors of these categories are asked for."""
    return ErrorList(form="json", severities=SEVERITIES, categories=categories, explain_in=explain_in)


def read_statement(reply: Reply, subject: Subject, errors: ErrorList) -> Statement:
    """Read reasons and a list of errors.

    Raises:
        AnswerError: they are not in the form.
    """
    judged = judged_texts(subject)
    reading = read_object(reply, judged=judged, keys=("statement", "errors"), trust=errors_trust)
    words = read_reasons(reading.value["statement"], "statement")
    return Statement(
        words, place_errors(errors.read_list(reading.value["errors"]), subject, SEVERITIES, reading.flags)
    )


def read_remark(reply: Reply, subject: Subject) -> Statement:
    """Read words alone.

    Raises:
        AnswerError: they are not in the form.
    """
    reading = read_object(reply, judged=judged_texts(subject), keys=("statement",))
    return Statement(read_reasons(reading.value["statement"], "statement"), Marked((), reading.flags))
