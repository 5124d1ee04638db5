"""Bring inputs together that are about the same segments: the same names must stand for the same texts.

Every verb that compares two inputs, or judgements with gold, calls `put_together`. Two deliveries need
equal sources, for other translations are their purpose; judgements and gold need equal translations of the
same system as well. Texts are compared where both sides have them, else their digests.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final, Literal, NamedTuple

from adjudge.core.language import one_spelling
from adjudge.core.record import Record
from adjudge.core.segment import Digests, digest_of
from adjudge.core.verb import Mismatched
from adjudge.core.wording import form, of_all, shortened
from adjudge.errors import UsageError
from adjudge.formats.read import Judgements

Same = Literal["sources", "translations"]
Key = tuple[str, str, str | None]
"""Language pair, segment, and a system; without a name it is the source, and None is the reference."""


_MISSING: Final = digest_of("")  # a translation that one input lacks is no other text


class _Text(NamedTuple):
    """A text, or the digest that is left of it, and the input that has it."""

    text: str
    is_digest: bool
    side: str

    @property
    def digest(self) -> str:
        return self.text if self.is_digest else digest_of(self.text)

    @property
    def told(self) -> str:
        if self.is_digest:
            return f"of {self.side} a digest alone is known"
        return f"{shortened(self.text)!r} in {self.side}"


class Joined(NamedTuple):
    """Inputs about the same texts, and what must be said of them."""

    sides: list[Judgements]
    notes: list[str]


def put_together(
    sides: Sequence[Judgements], same: Same, mismatched: Mismatched = "refuse", lp: str | None = None
) -> Joined:
    """Compare the texts of inputs segment by segment, and refuse or leave out what differs.

    A language pair is spelled as in the first input that has it.
    A run keeps what the other inputs judged beside its own records: it may show whether its judge sees.
    Judgements without texts of their own stay as they are, and a note says that their texts could not be
    compared.
    """
    spelled = one_spelling([{lp for lp, *_ in _judged(side)} for side in sides])
    sides = [side.spelled(lps) for side, lps in zip(sides, spelled, strict=True)]
    there = {lp for side in sides for lp, *_ in _judged(side)}
    wanted = lp and one_spelling([there, [lp]])[1].get(lp, lp)
    known: dict[Key, _Text] = {}
    differing: dict[Key, tuple[_Text, _Text]] = {}
    shared: set[tuple[str, str]] = set()
    silent = []
    times = Counter(side.name for side in sides)
    for place, side in enumerate(sides, start=1):
        name = side.name if times[side.name] == 1 else f"{side.name} (input {place})"
        if not (own := {key: text for key, text in _texts(side, same, name) if wanted in {None, key[0]}}):
            silent.append(name)
        shared |= {key[:2] for key in own.keys() & known.keys()}
        for key, text in own.items():
            first = known.setdefault(key, text)
            if first.text != text.text and first.digest != text.digest:
                differing.setdefault(key, (first, text))
    notes = []
    if silent and len(sides) > 1:
        notes = [uncompared(silent)]
    if differing:
        told = _told(differing, len(shared))
        if mismatched == "refuse":
            raise UsageError(
                f"{told}. Give inputs about the same texts; --mismatched leave-out leaves out what differs"
            )
        notes.append(f"{told}. Judgements of texts that differ are left out.")
        sides = [s.with_records(r for r in s.records if not _is_about(r, differing)) for s in sides]
    every = [side.records for side in sides]
    others = (chain.from_iterable(every[:i] + every[i + 1 :]) for i in range(len(every)))
    sides = [
        side if side.run is None else replace(side, beside=tuple(theirs))
        for side, theirs in zip(sides, others, strict=True)
    ]
    return Joined(sides, notes)


def uncompared(names: Sequence[str]) -> str:
    """Say which inputs have no texts that could be compared."""
    return f"Texts could not be compared: {' and '.join(names)} {form(len(names), 'has', 'have')} none."


def _judged(side: Judgements) -> Iterator[tuple[str, str, Iterable[str], Digests | None]]:
    if side.records or side.test_set is None:
        return ((r.lp, r.segment, r.systems, r.digests) for r in side.records)
    return ((s.lp, s.segment, s.translations, None) for s in side.test_set)


def _texts(side: Judgements, same: Same, called: str) -> Iterator[tuple[Key, _Text]]:
    segments = {} if side.is_lent or side.test_set is None else {(s.lp, s.segment): s for s in side.test_set}
    used = "" if side.run is None else side.run.info.signature.fields.get("ref", "")
    for lp, name, systems, digests in _judged(side):
        texts: Iterable[str | None]
        shown = digests and digests.reference
        if (one := segments.get((lp, name))) is not None:
            source, reference = one.source, one.references.get(used) or shown
            texts = (one.translations[each] if one.has_translation(each) else None for each in systems)
        elif digests is not None:
            source, texts, reference = digests
        else:
            continue
        more = zip(systems, texts, strict=False) if same == "translations" else [(None, reference)]
        for system, text in [("", source), *more]:
            if text is not None and (not system or text != _MISSING):
                yield (lp, name, system), _Text(text, one is None or text is shown, called)


def _is_about(record: Record, differing: Mapping[Key, object]) -> bool:
    place = (record.lp, record.segment)
    return any((*place, system) in differing for system in ("", None, *record.systems))


def _told(differing: Mapping[Key, tuple[_Text, _Text]], shared: int) -> str:
    lp, segment, system = next(iter(differing))
    one, other = differing[lp, segment, system]
    places = len({key[:2] for key in differing})
    shown = f"{one.told}; {other.told}"
    what = f"translation of {system}" if system else "source" if system == "" else "reference"
    which = (
        f"{of_all(places, shared, 'segment')} of {one.side} and {other.side} {form(places, 'has', 'have')}"
    )
    return f"{which} other texts: the first is {segment!r} of {lp}, whose {what} differs; {shown}"
