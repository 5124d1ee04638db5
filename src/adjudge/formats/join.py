"""Bring inputs together that are about the same segments: the same names must stand for the same texts.

Every verb that compares two inputs, or judgements with gold, calls `put_together`. Two deliveries need
equal sources, for other translations are their purpose; judgements and gold need equal translations of the
same system as well. Texts are compared where both sides have them, else their digests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from adjudge.core.language import one_spelling
from adjudge.core.record import Record, grouped
from adjudge.core.segment import digest_of, plain_text
from adjudge.core.verb import Mismatched
from adjudge.core.wording import form, of_all
from adjudge.errors import UsageError
from adjudge.formats.read import Judgements

__all__ = ["Same", "put_together"]

Same = Literal["sources", "translations"]
Key = tuple[str, str, str | None]
"""Language pair, segment, and a system; without a name it is the source, and None is the reference."""


_MISSING: Final = digest_of("")  # a translation that one input lacks is no other text


class _Text(NamedTuple):
    """A text, or the digest that is left of it, and the input that has it."""

    text: str | None
    digest: str | None
    side: int

    def is_same(self, other: _Text) -> bool:
        if self.text is not None and other.text is not None:
            return self.text == other.text or plain_text(self.text) == plain_text(other.text)
        return self._digest == other._digest

    @property
    def _digest(self) -> str | None:
        return self.digest if self.text is None else digest_of(self.text)


class Joined(NamedTuple):
    """Inputs about the same texts, and what must be said of them."""

    sides: list[Judgements]
    notes: list[str]


def put_together(sides: Sequence[Judgements], same: Same, mismatched: Mismatched = "refuse") -> Joined:
    """Compare the texts of inputs segment by segment, and refuse or leave out what differs.

    A language pair is spelled as in the first input that has it.
    Judgements without texts stay as they are, and a note says that their texts could not be compared.

    Args:
        sides: the inputs; one without records is a test set, with all its texts.
        same: which texts must be equal: sources with the references that scores used, or sources and
            translations.
        mismatched: whether texts that differ are refused, or left out of every input and counted in a note.

    Raises:
        UsageError: texts differ; says how many, and shows the first.
    """
    spelled = one_spelling(
        [{r.lp for r in s.records} if s.records or s.test_set is None else s.test_set.lps for s in sides]
    )
    sides = [side.spelled(lps) for side, lps in zip(sides, spelled, strict=True)]
    known: dict[Key, _Text] = {}
    differing: dict[Key, tuple[_Text, _Text]] = {}
    shared: set[tuple[str, str]] = set()
    silent = []
    for place, side in enumerate(sides):
        has_texts = False
        for key, text in _texts(side, place, same):
            has_texts = True
            first = known.setdefault(key, text)
            if first.side != place:
                shared.add(key[:2])
                if key not in differing and not first.is_same(text):
                    differing[key] = (first, text)
        if not has_texts:
            silent.append(side.name)
    notes = []
    if silent and len(sides) > 1:
        have = form(len(silent), "has", "have")
        notes = [f"Texts could not be compared: {' and '.join(silent)} {have} none."]
    if differing:
        told = _told(differing, len(shared), sides)
        if mismatched == "refuse":
            raise UsageError(
                f"{told}. Give inputs about the same texts; --mismatched leave-out leaves out what differs"
            )
        notes.append(f"{told}. Judgements of texts that differ are left out.")
        sides = [s.with_records(r for r in s.records if not _is_about(r, differing)) for s in sides]
    return Joined([*sides], notes)


def _texts(side: Judgements, place: int, same: Same) -> Iterator[tuple[Key, _Text]]:
    """Texts that a side judged; all of them where it is a test set."""
    if side.test_set is None:
        for record in side.records:
            if (digests := record.digests) is None:
                continue
            of_systems = zip(record.systems, digests.translations, strict=False)
            reference = [] if digests.reference is None else [(None, digests.reference)]
            for name, digest in (
                ("", digests.source),
                *(of_systems if same == "translations" else reference),
            ):
                if not name or digest != _MISSING:
                    yield (record.lp, record.segment, name), _Text(None, digest, place)
        return
    judged = grouped(((record.lp, record.segment), record.systems) for record in side.records)
    used = "" if side.run is None else side.run.info.signature.fields.get("ref", "")
    for one in side.test_set:
        if side.records and (one.lp, one.segment) not in judged:
            continue
        systems = (
            {name for names in judged[one.lp, one.segment] for name in names}
            if side.records
            else one.translations
        )
        texts: dict[str | None, str | None] = {"": one.source}
        texts |= (
            {name: one.translations.get(name) for name in systems}
            if same == "translations"
            else {None: one.references.get(used)}
        )
        for name, text in texts.items():
            if text is not None and (not name or one.has_translation(name)):
                yield (one.lp, one.segment, name), _Text(text, None, place)


def _is_about(record: Record, differing: Mapping[Key, object]) -> bool:
    place = (record.lp, record.segment)
    return any((*place, system) in differing for system in ("", None, *record.systems))


def _told(differing: Mapping[Key, tuple[_Text, _Text]], shared: int, sides: Sequence[Judgements]) -> str:
    lp, segment, system = next(iter(differing))
    one, other = differing[lp, segment, system]
    places = len({key[:2] for key in differing})
    what = f"translation of {system}" if system else "source" if system == "" else "reference"
    first, second = sides[one.side].name, sides[other.side].name
    shown = "".join(
        f"; {text.text!r:.80} in {name}"
        for text, name in ((one, first), (other, second))
        if text.text is not None
    )
    which = f"{of_all(places, shared, 'segment')} of {first} and {second} {form(places, 'has', 'have')}"
    return f"{which} other texts: the first is {segment!r} of {lp}, whose {what} differs{shown}"
