"""Translations of a test set's sources by a language model: systems to be judged, or drafts to be edited.

Paper    RATE and MENT, under review, section 3.3 (five drafts of each source, of which a person edits the
         best)
Code     none public
Prompt   curation/prompts/translate, in our own words
Differs  1. Texts are quoted data, and the translation comes in a JSON object, so that nothing said around
            it gets into it. An empty one is a failure, as is one that cannot be read; both are asked for
            once more.
         2. Sources before it in the document and a glossary are shown where the user gives them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Final

from adjudge.core.ask import About, Ask, Reply, Sampling
from adjudge.core.language import target_language
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.curation.asking import Key, SourceQuestion
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._fields import object_schema
from adjudge.judges._json import read_object
from adjudge.judges._read import shown
from adjudge.judges._subject import judged_texts

__all__ = ["AskTranslation", "candidate_names", "check_names", "read_translation", "with_translations"]

_SCHEMA: Final = object_schema(translation={"type": "string"})
_ROOM: Final = 2048  # tokens of a reply at least
_ROOM_EACH: Final = 4  # tokens a code point of the source: scripts differ, and JSON escapes


@dataclass(frozen=True, kw_only=True)
class AskTranslation(SourceQuestion[str]):
    """One translation, or several, of each source.

    Args:
        temperature: at which they are drawn; above 0 where several are wanted.
        prompts: as `SourceQuestion` has it.

    Raises:
        UsageError: a temperature below 0.
    """

    name: ClassVar[str] = "translate"

    temperature: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what no server takes."""
        if not 0 <= self.temperature < math.inf:
            raise UsageError(f"--temperature must be 0 or more, got {self.temperature!r}")

    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[str | AnswerError]:
        """Ask for one after the other: which is which does not depend on who answers first."""
        return [await self._translate(subject, ask) for _ in subject.systems]

    async def _translate(self, subject: Subject, ask: Ask) -> str | AnswerError:
        facts = {"language": target_language(subject.lp)}
        room = max(_ROOM, _ROOM_EACH * len(subject.source))
        try:
            answer = await ask(
                self.messages(subject),
                about=About(
                    judge=self.name, stage="translation", subject=subject, wants="translation", facts=facts
                ),
                read=partial(read_reply, subject=subject),
                schema=_SCHEMA,
                sampling=Sampling(temperature=self.temperature, max_tokens=room),
            )
        except AnswerError as error:
            return error
        return answer.value


def read_reply(reply: Reply, subject: Subject) -> str:
    """Read the answer of a model.

    Raises:
        AnswerError: anything but the object that was asked for, or no words in it.
    """
    value = read_object(reply, judged=judged_texts(subject), keys=("translation",)).value
    return read_translation(value["translation"], subject.source)


def read_translation(value: object, source: str) -> str:
    """A translation that has words in it; white space around it is dropped unless the source has some.

    Raises:
        AnswerError: schema, or empty.
    """
    if not isinstance(value, str):
        raise AnswerError("schema", f"a translation must be a text, got {shown(value)}")
    if not value.strip() and source.strip():
        raise AnswerError("empty", "wanted a translation, got no words")
    return value if source != source.strip() else value.strip()


def candidate_names(name: str, candidates: int) -> tuple[str, ...]:
    """What the candidates of one system are called: its name, or NAME-1, NAME-2 and so on.

    Raises:
        UsageError: fewer than one, or a name that no file could have.
    """
    if candidates < 1:
        raise UsageError(f"--candidates must be 1 or more, got {candidates}")
    if not name.strip() or re.search(r"[/\\\t,:\x00-\x1f]", name):
        raise UsageError(f"--name must be a word without / \\ : , or tab, got {name!r}")
    return (name,) if candidates == 1 else tuple(f"{name}-{number}" for number in range(1, candidates + 1))


def with_translations(test_set: TestSet, found: Mapping[Key, str], names: Sequence[str]) -> TestSet:
    """The test set with these systems besides its own; what failed is absent, never an empty text.

    Raises:
        UsageError: it has a system or a reference of that name already.
    """
    check_names(test_set, names)
    return TestSet(name=test_set.name, segments=tuple(_with(s, found, names) for s in test_set))


def check_names(test_set: TestSet, names: Sequence[str]) -> None:
    """Refuse names that are taken, before anything is paid.

    Raises:
        UsageError: a system or a reference has one of them.
    """
    if taken := [name for name in names if name in {*test_set.systems, *test_set.references}]:
        raise UsageError(f"{test_set.name!r} has {taken[0]!r} already; give another --name")


def _with(segment: Segment, found: Mapping[Key, str], names: Sequence[str]) -> Segment:
    keys = {name: Key(segment.lp, segment.segment, name) for name in names}
    new = {name: found[key] for name, key in keys.items() if key in found}
    return replace(segment, translations={**segment.translations, **new})
