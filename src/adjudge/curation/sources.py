"""Which sources a benchmark keeps: the hardest of each domain, with what was found in them.

`AskDifficulty` asks a model how far a translator must leave the words of a source: MENT's filter before
anything is translated. `find_private` finds what identifies a person and can be told by its form: addresses
and numbers, each with a check of its own. `keep_hardest` chooses.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Annotated, ClassVar, Final, Literal, NamedTuple, get_args

from annotated_types import Ge, Gt, Le

from adjudge.core.ask import About, Ask, Reply
from adjudge.core.frozen import frozen
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.core.verb import Option, Seed, settings
from adjudge.curation.questions import Key, Question
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._prompts import judged_texts
from adjudge.judges._reading import Reading, object_schema

LOWEST: Final = 1
HIGHEST: Final = 10
PLACE: Final = "source"
"""Name under which a source itself is asked about."""

_KEYS: Final = ("reasons", "personal", "offensive", "difficulty")
_SCHEMA: Final = object_schema(
    reasons={"type": "string"},
    personal={"type": "boolean"},
    offensive={"type": "boolean"},
    difficulty={"type": "integer", "minimum": LOWEST, "maximum": HIGHEST},
)


@frozen
class Difficulty:
    """What a model said of one source."""

    score: int  # 1 (word for word will do) to 10 (only a new text can do the same)
    reasons: str
    personal: bool  # whether it names what identifies a private person
    offensive: bool  # whether annotators should be warned of it

    def __str__(self) -> str:
        words = [word for word in ("personal", "offensive") if getattr(self, word)]
        return ": ".join([", ".join([f"difficulty {self.score}", *words]), self.reasons])


@frozen
class AskDifficulty(Question[Difficulty]):
    """One question about each source."""

    name: ClassVar[str] = "difficulty"

    async def obtain(self, subject: Subject, ask: Ask) -> Sequence[Difficulty | AnswerError]:
        answer = await ask(
            self.messages(subject),
            about=About(judge=self.name, stage="difficulty", subject=subject, wants="difficulty"),
            read=partial(read_difficulty, subject=subject),
            schema=_SCHEMA,
        )
        return [answer.value]


def read_difficulty(reply: Reply, subject: Subject) -> Difficulty:
    reading = Reading(reply, judged_texts(subject))
    said = reading.answer(*_KEYS)
    found = Difficulty(
        score=reading.integer(said["difficulty"], LOWEST, HIGHEST, "the difficulty"),
        reasons=reading.words(said["reasons"], "reasons"),
        personal=reading.truth(said["personal"], "personal"),
        offensive=reading.truth(said["offensive"], "offensive"),
    )
    reading.settle()
    return found


Kind = Literal["e-mail", "iban", "card", "id", "phone"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
"""In the order in which they are looked for: what is an IBAN is no telephone number too."""

_DIGITS: Final = r"[ .\-\u00a0\u202f]?"


class Private(NamedTuple):
    """One place in a text; offsets are half-open, in code points."""

    kind: Kind
    start: int
    end: int


def find_private(text: str) -> tuple[Private, ...]:
    """Places that identify a person, in order and without overlaps.

    `e-mail`: an address. `iban`: with its check digits (ISO 7064, mod 97). `card`: 13 to 19 digits with
    Luhn's digit and a known first digit. `id`: a number that its text calls one of a passport, an identity
    card, social security or taxes, or China's 18-digit number with its check digit. `phone`: with a
    country code, or called one, or in a form that only telephone numbers have. Names and addresses of
    houses have no form: a model or a person must find them.
    """
    found: list[Private] = []
    for kind in KINDS:
        for start, end in _FINDERS[kind](text):
            if all(end <= other.start or start >= other.end for other in found):
                found.append(Private(kind, start, end))
    return tuple(sorted(found, key=lambda place: place.start))


_Places = Iterator[tuple[int, int]]

_EMAIL: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_]{2,24}(?![\w-])")
_IBAN: Final = re.compile(r"(?<![0-9A-Za-z])[A-Z]{2}[0-9]{2}(?:[ \u00a0]?[0-9A-Z]){11,30}(?![0-9A-Za-z])")
_CARD: Final = re.compile(rf"(?<![0-9])(?<![0-9][ .\-])[3-6](?:{_DIGITS}[0-9]){{12,18}}(?![ .\-]?[0-9])")
_CALLED_ID: Final = re.compile(
    r"(?:passport|identity card|id card|social security|ssn|tax id|national id|driver'?s? licen[cs]e|"
    r"reisepass|personalausweis|ausweis|sozialversicherung\w*|steuer-?id|passeport|carte d'identité|"
    r"pasaporte|dni|护照|身份证|паспорт\w*|снилс|инн)"
    r"[^0-9A-Za-z\n]{0,12}(?:(?:no|nr|number|nummer|numéro|número|номер|号码|号)[^0-9A-Za-z\n]{0,4})?"
    r"(?P<number>[A-Z]{0,3}[0-9][0-9A-Z \-]{4,18}[0-9A-Z])(?![0-9A-Za-z])",
    re.IGNORECASE,
)
_CHINESE_ID: Final = re.compile(r"(?<![0-9])[1-9][0-9]{16}[0-9Xx](?![0-9A-Za-z])")
_PHONE: Final = re.compile(
    r"(?<![\w+])(?<![0-9][ .\-])(?:"
    r"(?:\+|00)[1-9][0-9]{0,2}(?:[ .\-/()\u00a0]{0,2}[0-9]){6,13}"
    r"|\(?[0-9]{3}\)?[ .\-][0-9]{3}[.\-][0-9]{4}"
    r"|1[3-9][0-9]{9}"
    r")(?![\w])"
)
_CALLED_PHONE: Final = re.compile(
    r"(?:phone|mobile|cell|call me|tel(?:efon|éfono|ephone)?|handy|fax|whatsapp|wechat|"
    r"电话|手机|微信|тел(?:ефон)?)"
    r"[^0-9+\n]{0,6}(?P<number>\+?[0-9](?:[ .\-/()]{0,2}[0-9]){5,14})(?![0-9])",
    re.IGNORECASE,
)
_SHORTEST_IBAN: Final = 15
_CHINESE_WEIGHTS: Final = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)


def _ibans(text: str) -> _Places:
    for match in _IBAN.finditer(text):
        words = match[0]
        for end in range(len(words), _SHORTEST_IBAN - 1, -1):
            is_whole = end == len(words) or words[end] in " \u00a0"
            code = re.sub(r"[ \u00a0]", "", words[:end])
            number = "".join(str(int(char, 36)) for char in code[4:] + code[:4])
            if is_whole and len(code) >= _SHORTEST_IBAN and int(number) % 97 == 1:
                yield match.start(), match.start() + end
                break


def _cards(text: str) -> _Places:
    for match in _CARD.finditer(text):
        digits = [int(char) for char in match[0] if char.isdigit()]
        doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
        passes_luhn = (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
        if len(set(digits)) > 1 and passes_luhn:
            yield match.span()


def _ids(text: str) -> _Places:
    yield from (match.span("number") for match in _CALLED_ID.finditer(text))
    for match in _CHINESE_ID.finditer(text):
        total = sum(weight * int(char) for weight, char in zip(_CHINESE_WEIGHTS, match[0], strict=False))
        if "10X98765432"[total % 11] == match[0][-1].upper():
            yield match.span()


def _phones(text: str) -> _Places:
    yield from (match.span() for match in _PHONE.finditer(text))
    yield from (match.span("number") for match in _CALLED_PHONE.finditer(text))


_FINDERS: Final[Mapping[Kind, Callable[[str], _Places]]] = {
    "e-mail": lambda text: (match.span() for match in _EMAIL.finditer(text)),
    "iban": _ibans,
    "card": _cards,
    "id": _ids,
    "phone": _phones,
}

Flagged = Literal["mark", "drop"]
"""What becomes of a source that is personal or offensive: said in its `meta`, or not kept."""


@settings
class FilterSettings:
    """How many sources are kept."""

    top: Annotated[int | None, Ge(1), Option(help="Keep the N hardest sources of each language pair.")] = None
    share: Annotated[
        float | None, Gt(0), Le(1), Option(help="Keep this share of the rated sources, such as 0.2.")
    ] = None
    least: Annotated[int, Ge(LOWEST), Le(HIGHEST), Option(help="Keep no source with a lower difficulty.")] = (
        LOWEST
    )
    strata: Annotated[
        Literal["domain", "none"], Option(help="Choose from each domain by its size, or from all together.")
    ] = "domain"
    flagged: Annotated[Flagged, Option(help="Mark or drop personal and offensive sources.")] = "mark"
    seed: Seed = 0

    def __post_init__(self) -> None:
        if self.top is not None and self.share is not None:
            raise UsageError("--top and --share: choose one of them")

    def wanted(self, rated: int) -> int:
        if self.share is not None:
            return math.ceil(self.share * rated - 1e-9)
        return rated if self.top is None else min(self.top, rated)


@frozen
class Domain:
    """What became of the sources of one domain of one language pair."""

    lp: str  # language pair
    name: str  # of the domain; empty for sources without one, or where domains do not matter
    sources: int
    rated: int  # those with a difficulty
    failed: int  # those whose difficulty was asked for and not obtained; never kept
    personal: int  # those that identify a person, by a rule or by the model
    offensive: int  # those that the model warns of
    kept: int
    mean: float | None  # of the difficulties; None without any
    easiest: int | None  # difficulty of the easiest source that was kept


@frozen
class Kept:
    """A benchmark's sources."""

    test_set: TestSet  # in their order; `meta` says under `difficulty` what the model said and what was found
    domains: tuple[Domain, ...]


@frozen
class _Source:
    segment: Segment
    difficulty: Difficulty | None

    @cached_property
    def private(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.kind for place in find_private(self.segment.source)))

    @property
    def is_personal(self) -> bool:
        return bool(self.private) or (self.difficulty is not None and self.difficulty.personal)

    @property
    def is_offensive(self) -> bool:
        return self.difficulty is not None and self.difficulty.offensive

    def marked(self) -> Segment:
        if self.difficulty is None:
            return self.segment
        said: dict[str, object] = {"score": self.difficulty.score, "reasons": self.difficulty.reasons}
        found = {"personal": self.is_personal, "private": list(self.private), "offensive": self.is_offensive}
        return replace(
            self.segment,
            meta={**self.segment.meta, "difficulty": said | {k: v for k, v in found.items() if v}},
        )


def keep_hardest(test_set: TestSet, found: Mapping[Key, Difficulty], keeping: FilterSettings) -> Kept:
    """Keep the hardest sources of each language pair, and of each domain its share.

    Sources that failed are never kept, for they have no score. At the bound, which of several equally hard
    ones are kept is drawn.
    """
    sources = [_Source(segment=s, difficulty=found.get(Key(s.lp, s.segment, PLACE))) for s in test_set]
    groups: dict[tuple[str, str], list[_Source]] = {}
    for source in sources:
        name = source.segment.domain if keeping.strata == "domain" else ""
        groups.setdefault((source.segment.lp, name), []).append(source)
    kept: set[Key] = set()
    for lp in test_set.lps:
        kept |= _keep(lp, {name: group for (of, name), group in groups.items() if of == lp}, keeping)
    if not kept:
        raise UsageError("no source is kept: none was rated, or none is as hard as --least asks")
    chosen = tuple(source.marked() for source in sources if _key(source) in kept)
    domains = tuple(_count(lp, name, group, kept) for (lp, name), group in groups.items())
    return Kept(test_set=TestSet(name=test_set.name, segments=chosen), domains=domains)


def _keep(lp: str, groups: Mapping[str, Sequence[_Source]], keeping: FilterSettings) -> set[Key]:
    fit = {name: [s for s in group if _fits(s, keeping)] for name, group in groups.items()}
    rated = {name: sum(s.difficulty is not None for s in group) for name, group in groups.items()}
    counts = quotas(rated, {n: len(g) for n, g in fit.items()}, keeping.wanted(sum(rated.values())))
    return {
        _key(source)
        for name, group in fit.items()
        for source in _hardest(group, counts[name], f"{keeping.seed}/{lp}/{name}")
    }


def _fits(source: _Source, keeping: FilterSettings) -> bool:
    if source.difficulty is None or source.difficulty.score < keeping.least:
        return False
    return keeping.flagged == "mark" or not (source.is_personal or source.is_offensive)


def _hardest(group: Iterable[_Source], count: int, seed: str) -> list[_Source]:
    drawn = list(group)
    random.Random(seed).shuffle(drawn)
    drawn.sort(key=lambda s: -(s.difficulty.score if s.difficulty else 0))
    return drawn[:count]


def quotas(sizes: Mapping[str, int], there: Mapping[str, int], wanted: int) -> dict[str, int]:
    """Share a number among groups in proportion to their sizes, none more than is there.

    Whole parts first, then one more for the largest remainders; what one group cannot fill goes to the
    others.
    """
    found = dict.fromkeys(sizes, 0)
    open_ = {name for name in sizes if there[name]}
    while (left := wanted - sum(found.values())) > 0 and open_:
        total = sum(sizes[name] for name in open_)
        parts = {name: left * sizes[name] / total for name in sizes if name in open_}
        whole = {name: math.floor(part + 1e-9) for name, part in parts.items()}
        spare = left - sum(whole.values())
        for name in sorted(parts, key=lambda name: whole[name] - parts[name])[:spare]:
            whole[name] += 1
        for name, part in whole.items():
            found[name] = min(there[name], found[name] + part)
        open_ = {name for name in open_ if found[name] < there[name]}
    return found


def _key(source: _Source) -> Key:
    return Key(source.segment.lp, source.segment.segment, PLACE)


def _count(lp: str, name: str, group: Sequence[_Source], kept: Collection[Key]) -> Domain:
    scores = [s.difficulty.score for s in group if s.difficulty is not None]
    taken = [s.difficulty.score for s in group if s.difficulty is not None and _key(s) in kept]
    return Domain(
        lp=lp,
        name=name,
        sources=len(group),
        rated=len(scores),
        failed=len(group) - len(scores),
        personal=sum(source.is_personal for source in group),
        offensive=sum(source.is_offensive for source in group),
        kept=len(taken),
        mean=math.fsum(scores) / len(scores) if scores else None,
        easiest=min(taken, default=None),
    )
