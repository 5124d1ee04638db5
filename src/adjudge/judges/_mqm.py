"""Errors as judges ask for them and read them: a JSON object, or headings with one error a line."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Final, get_args

from adjudge.core.annotation import ErrorSpan, Side
from adjudge.core.ask import About, Ask, Message, Reply, Sampling
from adjudge.core.judge import Profile
from adjudge.core.language import language_name
from adjudge.core.segment import Subject
from adjudge.core.typology import Severity
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._fields import object_schema, pick_keys
from adjudge.judges._headings import heading, read_headings, render_headings
from adjudge.judges._json import Reading, read_object
from adjudge.judges._profiles import Form, find_form
from adjudge.judges._prompts import Parts, Prompts
from adjudge.judges._prose import Trust, check_reasons
from adjudge.judges._read import copied, read_text, shown
from adjudge.judges._spans import Listed, Marked, either, place_errors, stands_in
from adjudge.judges._subject import judged_texts, render_example

__all__ = ["GEMBA_CATEGORIES", "ErrorList", "errors_trust"]

GEMBA_CATEGORIES: Final = (
    *("accuracy/addition", "accuracy/mistranslation", "accuracy/omission", "accuracy/untranslated text"),
    *("fluency/character encoding", "fluency/grammar", "fluency/inconsistency"),
    *("fluency/punctuation", "fluency/register", "fluency/spelling"),
    *("style/awkward", "terminology/inappropriate for context", "terminology/inconsistent use"),
    *("non-translation", "other"),
)
"""What GEMBA offers, and the judges that follow it: MQM without locale conventions."""

_KEYS: Final = ("span", "category", "severity", "side")
_KEYS_EXPLAINED: Final = ("span", "note", "category", "severity", "side")
_SAMPLING: Final = Sampling()
_SIDES: Final[tuple[Side, ...]] = get_args(Side)
_SIDE_NAMES: Final[Mapping[Side, Collection[str]]] = {
    "translation": (
        *("translation", "target", "target language", "tgt", "trg", "mt", "hypothesis", "hyp", "output"),
        *("candidate", "translated", "the translation", "target side", "translation side"),
    ),
    "source": ("source", "source language", "src", "original", "the source", "source side"),
}


@dataclass(frozen=True, kw_only=True)
class ErrorList:
    """How one judge asks for errors.

    Args:
        form: of the answer.
        severities: that may be given, in the order of the headings.
        categories: that are offered. Any other of the typology is accepted too; an unknown one never is.
        explain_in: code of the language in which each error is explained; None for no explanations.

    Raises:
        UsageError: no such language, or explanations where the form has no place for them.
    """

    form: Form
    severities: tuple[Severity, ...]
    categories: tuple[str, ...]
    explain_in: str | None = None

    def __post_init__(self) -> None:
        """Refuse explanations that nobody could read."""
        if self.explain_in is None:
            return
        if self.form != "json":
            raise UsageError("explain_in is for the recommended profile: the papers' headings have no notes")
        language_name(self.explain_in)

    @classmethod
    def of(
        cls,
        profile: Profile,
        severities: tuple[Severity, ...],
        explain_in: str | None,
        categories: tuple[str, ...] = GEMBA_CATEGORIES,
    ) -> ErrorList:
        """In the form of a profile."""
        return cls(
            form=find_form(profile), severities=severities, categories=categories, explain_in=explain_in
        )

    @property
    def file(self) -> str:
        """Prompt file that describes the form."""
        return f"errors_{self.form}.md" if self.explain_in is None else "errors_json_explained.md"

    @property
    def example_files(self) -> tuple[str, ...]:
        """Prompt files with worked examples."""
        return ("examples.jsonl",) if self.explain_in is None else ("examples.jsonl", "notes.jsonl")

    @cached_property
    def facts(self) -> Mapping[str, object]:
        """What the embedded model needs to know."""
        facts = {"form": self.form, "severities": self.severities, "categories": self.categories}
        return facts if self.explain_in is None else {**facts, "explain_in": self.explain_in}

    @cached_property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None for headings."""
        if self.form != "json":
            return None
        return object_schema(errors=self.list_schema)

    @cached_property
    def list_schema(self) -> Mapping[str, object]:
        """JSON schema of the list alone."""
        error = object_schema(
            span={"type": "string"},
            **({} if self.explain_in is None else {"note": {"type": "string"}}),
            category={"type": "string", "enum": list(self.categories)},
            severity={"type": "string", "enum": list(self.severities)},
            side={"type": "string", "enum": list(_SIDES)},
        )
        return {"type": "array", "items": error}

    async def put(
        self,
        messages: Sequence[Message],
        about: About,
        ask: Ask,
        *,
        attempts: int = 2,
        sampling: Sampling = _SAMPLING,
    ) -> Marked:
        """Ask for the errors and read them.

        Raises:
            AnswerError: no readable answer.
        """
        answer = await ask(
            messages,
            about=about,
            read=partial(self.read, subject=about.subject),
            attempts=attempts,
            schema=self.schema,
            sampling=sampling,
        )
        return answer.value

    def about(self, judge: str, subject: Subject) -> About:
        """What a question for errors is about."""
        return About(judge=judge, stage="errors", subject=subject, wants="errors", facts=self.facts)

    def render_system(self, prompts: Prompts, file: str = "system") -> Message:
        """What to do, how texts are marked off, how to answer."""
        return prompts.message(
            "system", file, markers=prompts.piece("markers"), form=self.render_form(prompts)
        )

    def render_opening(self, prompts: Prompts, file: str = "system") -> tuple[Message, ...]:
        """What every unit is told: what to do, then all worked examples."""
        shots = (render_example(prompts, e, self.render_answer(e.errors)) for e in prompts.examples())
        return (self.render_system(prompts, file), *(message for shot in shots for message in shot))

    def render_form(self, prompts: Prompts) -> Parts:
        """Say how to answer."""
        if self.explain_in is not None:
            language = language_name(self.explain_in)
            severities = either(self.severities)
            return prompts.piece("errors_json_explained", severities=severities, language=language)
        if self.form == "json":
            return prompts.piece("errors_json", severities=either(self.severities))
        return prompts.piece("errors_headings", headings="\n".join(map(heading, self.severities)))

    def render_answer(self, errors: Sequence[Mapping[str, str]]) -> str:
        """Write an answer in the form, as an annotator would."""
        if self.form == "json":
            return json.dumps(
                {"errors": [{key: e[key] for key in self._keys} for e in errors]}, ensure_ascii=False
            )
        return render_headings(errors, self.severities)

    def render_spans(self, spans: Sequence[ErrorSpan]) -> str:
        """Write errors that were read in the form."""
        return self.render_answer(
            [
                {
                    "span": s.text,
                    "note": s.note,
                    "category": s.category or "other",
                    "severity": s.severity,
                    "side": s.side,
                }
                for s in spans
            ]
        )

    def read(self, reply: Reply, subject: Subject) -> Marked:
        """Read an answer in the form.

        Raises:
            AnswerError: it is not in the form.
        """
        judged = judged_texts(subject)
        if self.form == "json":
            reading = read_object(
                reply,
                judged=judged,
                keys=("errors",),
                trust=errors_trust,
                repair=True,
                what="the list of errors",
            )
            if reading.is_mended:
                return self._read_mended(reading, subject)
            return self._read_object(reading, subject)
        text = read_text(reply)
        headed = read_headings(text, self.severities, stands_in(subject))
        flags = (*copied(text, judged), *headed.flags)
        return place_errors(headed.listed, subject, self.severities, flags)

    def _read_object(self, reading: Reading, subject: Subject) -> Marked:
        return place_errors(self.read_list(reading.value["errors"]), subject, self.severities, reading.flags)

    def _read_mended(self, reading: Reading, subject: Subject) -> Marked:
        """Refuse what mending may have made up: a clean verdict, or a quotation that stands nowhere."""
        try:
            marked = self._read_object(reading, subject)
        except AnswerError as error:
            raise AnswerError("parse", f"broken JSON; mended, it is refused for {error}") from None
        if not marked.spans or {"span_unmatched", "normalised", "repeated_errors"} & {*marked.flags}:
            raise AnswerError("parse", "broken JSON, and what is left of it proves no error in the text")
        return marked

    def read_list(self, value: object) -> list[Listed]:
        """Check the list of a JSON answer.

        Raises:
            AnswerError: schema, or label for an unknown side.
        """
        if not isinstance(value, list):
            raise AnswerError("schema", f"errors must be a list, got {shown(value)}")
        return [_read_error(item, self._keys, f"error {number}") for number, item in enumerate(value, 1)]

    @property
    def _keys(self) -> tuple[str, ...]:
        return _KEYS if self.explain_in is None else _KEYS_EXPLAINED


def errors_trust(value: Mapping[str, object]) -> Trust:
    """Words may stand around a list with errors in it, and around no other."""
    return "around" if value["errors"] and isinstance(value["errors"], list) else "clean"


def _read_error(value: object, keys: tuple[str, ...], what: str) -> Listed:
    needed = tuple(key for key in keys if key != "side")
    fields = pick_keys(value, needed, what, optional=("side",))
    for words in fields.dropped.values():
        if isinstance(words, str):
            check_reasons(words, what)
    error = {key: "" if key == "span" and item is None else item for key, item in fields.values.items()}
    texts = {key: text for key, text in error.items() if isinstance(text, str)}
    if len(texts) < len(error):
        raise AnswerError("schema", f"{what} must hold texts, got {shown(value)}")
    if not texts.get("note", "given").strip():
        raise AnswerError("schema", f"{what} must be explained, got an empty note")
    check_reasons(texts.get("note", ""), what)
    side = _read_side(texts["side"]) if "side" in texts else None
    return Listed(
        *(texts["span"], texts["category"], texts["severity"], side, texts.get("note", "")),
        is_normalised=bool(fields.dropped) or texts.get("side") != side or fields.values["span"] is None,
        is_side_open=side is None,
    )


def _read_side(words: str) -> Side:
    """The text that an error is marked in, by any of its names.

    Raises:
        AnswerError: label.
    """
    folded = " ".join(words.lower().replace("_", " ").replace("-", " ").split()).removesuffix(" text")
    side = next((side for side, names in _SIDE_NAMES.items() if folded in names), None)
    if side is None:
        raise AnswerError("label", f"side must be translation or source, got {shown(words)}")
    return side
