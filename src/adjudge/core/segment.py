"""What is judged: segments, test sets, and the subject of one judgement.

Knows nothing of files: `formats/` reads and writes them.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, Final, NamedTuple
from unicodedata import normalize

from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.language import of_lp
from adjudge.core.names import as_name, is_blank, keep_names
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError

INSTRUCTION: Final = "instruction"
"""Key of `Segment.meta` with what a translation had to follow: a brief, a style guide, WMT26's instruction.

Judges are shown it as data.
"""

CRITERIA: Final = "criteria"
"""Key of `Segment.meta` with what a translation of the segment passes or fails; see `read_criteria`."""

PAIRS: Final = "pairs"
"""Key of `Segment.meta` with the pairs of systems that are compared on the segment; see `listed_pairs`."""

LEVELS: Final = "levels"
"""Key of `Segment.meta` of a benchmark of pairs: criterion to how hard the pair is, `easy` or `hard`."""

ALL_PASS: Final = "all-pass"  # noqa: S105 (no password)
"""Name of the verdict on all criteria of a segment together. No criterion can have it as its id."""


class Criterion(NamedTuple):
    """One criterion of a segment, such as "The pun on 'bank' must survive"."""

    id: str  # unique within the segment
    text: str  # what a translation must do to pass


@frozen
class Segment:
    """One unit of text with its translations; a headline, a sentence, a paragraph or a document.

    Args:
        segment: id, unique within the lp.
        lp: language pair in canonical form (`core.language`), such as `en-de`.
        source: the text that was translated.
        translations: system name to translation. A system that is absent, or whose text is blank, left the
            segment untranslated; see `has_translation`.
        references: reference name to text; may be empty.
        document: id of the text it belongs to; segments of a document stand together, in order.
        domain: such as `news`; empty where the test set has none.
        meta: anything else that its file said, carried along.

    Raises:
        DataError: an empty name, or two spellings of one system.
    """

    segment: str
    lp: str
    source: str
    translations: Mapping[str, str] = field(default_factory=dict)
    references: Mapping[str, str] = field(default_factory=dict)
    document: str = ""
    domain: str = ""
    meta: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        keep_names(
            self, segment="segment", document="document", translations="system", references="reference"
        )

    def has_translation(self, system: str) -> bool:
        """Whether a system translated it; a blank text is a translation of a blank source alone."""
        return self._is_translation(self.translations.get(system))

    def has_reference(self, name: str) -> bool:
        """Whether there is such a reference; a blank text is the reference of a blank source alone."""
        return self._is_translation(self.references.get(name))

    def _is_translation(self, text: str | None) -> bool:
        return text is not None and (not is_blank(text) or is_blank(self.source))


def digest_of(text: str) -> str:
    """16 hex digits of SHA-256 over what files of one text share: NFC, LF for line ends, no outer blanks."""
    plain = normalize("NFC", text.replace("\r\n", "\n").strip())
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class Digests(NamedTuple):
    """Digests of the texts of a judgement: source, translation of each system, reference if it was shown."""

    source: str
    translations: tuple[str, ...]
    reference: str | None = None

    @classmethod
    def of(cls, segment: Segment, systems: Iterable[str], reference: str | None = None) -> Digests:
        """Digests of the texts of a segment; of a missing translation that of the empty text."""
        return cls(
            digest_of(segment.source),
            tuple(digest_of(segment.translations.get(system, "")) for system in systems),
            None if reference is None else digest_of(reference),
        )

    def fits(self, segment: Segment, systems: Iterable[str]) -> bool:
        """Whether source and translations are those of a segment; a missing translation is no other text."""
        other = Digests.of(segment, systems)
        pairs = zip(self.translations, other.translations, strict=False)
        none = digest_of("")
        return self.source == other.source and all(one == two or none in {one, two} for one, two in pairs)


def read_criteria(segment: Segment) -> tuple[Criterion, ...]:
    """Read the criteria of a segment from its meta, in order; none where it has none.

    A criterion is a text, or an object with `id` and `text`. A text alone is called by its place: 1, 2, 3.
    """
    listed = segment.meta.get(CRITERIA, ())
    where = f"the criteria of segment {segment.segment!r} of {segment.lp}"
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        raise DataError(f"{where} must be a list of texts or of objects with id and text, got {listed!r:.80}")
    found: dict[str, Criterion] = {}
    for place, each in enumerate(listed, start=1):
        said = {"id": str(place), "text": each} if isinstance(each, str) else each
        if not isinstance(said, Mapping) or said.keys() != {"id", "text"}:
            raise DataError(
                f"{where}: a criterion is a text, or an object with id and text; got {each!r:.80}"
            )
        name, text = said["id"], said["text"]
        if not isinstance(name, str) or not isinstance(text, str) or not name.strip() or not text.strip():
            raise DataError(f"{where}: id and text must be texts that say something, got {each!r:.80}")
        if name in found or name == ALL_PASS:
            why = "means all criteria together" if name == ALL_PASS else "stands twice"
            raise DataError(f"{where}: id {name!r} {why}; give each criterion an id of its own")
        found[name] = Criterion(name, text)
    return tuple(found.values())


def listed_pairs(segment: Segment) -> tuple[tuple[str, str], ...] | None:
    """Read the pairs of systems that a test set of pairs compares on a segment, the first shown first.

    None where the segment has no such list, and every two systems are a pair.
    """
    listed: Any = segment.meta.get(PAIRS)
    if listed is None:
        return None
    try:
        found = tuple((as_name(first), as_name(second)) for first, second in listed)
    except (TypeError, ValueError):
        found = (("", ""),)
    if any(first == second for first, second in found) or len({*map(frozenset, found)}) < len(found):
        where = f"the pairs of segment {segment.segment!r} of {segment.lp}"
        raise DataError(
            f"{where} must be a list of two different systems each, none twice; got {listed!r:.80}"
        )
    return found


def _text_of(kind: str, name: str) -> Callable[[Segment], str | None]:
    return lambda segment: getattr(segment, kind).get(name)


_NAMED: Final = 5  # names of language pairs and systems that a short description has


@frozen
class TestSet(Framed):
    """Segments in a fixed order, of one or several language pairs.

    Raises:
        DataError: two segments of one lp share an id.
    """

    __test__ = False  # pytest would take the name for a test class

    name: str
    segments: tuple[Segment, ...]

    def __post_init__(self) -> None:
        seen: set[tuple[str, str]] = set()
        for segment in self.segments:
            key = (segment.lp, segment.segment)
            if key in seen:
                message = f"segment id {segment.segment!r} occurs twice in {segment.lp} of {self.name!r}"
                raise DataError(f"{message}; ids must be unique within an lp")
            seen.add(key)

    def __len__(self) -> int:
        return len(self.segments)

    def __repr__(self) -> str:
        counts = ", ".join(
            f"{count(len(names), what)}: {', '.join(names[:_NAMED])}{', ...' if len(names) > _NAMED else ''}"
            if names
            else f"no {what}"
            for what, names in (("language pair", self.lps), ("system", self.systems))
        )
        return f"<test set {self.name!r}: {count(len(self), 'segment')}, {counts}>"

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    def groups(self) -> dict[str, tuple[Segment, ...]]:
        """One row a segment."""
        return {"": self.segments}

    def columns(self) -> list[Column]:
        """Texts of each segment: source, `reference NAME` of each reference, a column for each system.

        Raises:
            UsageError: a system has the name of another column.
        """
        found = [
            Column("lp", "language pair"),
            Column("document", "id of its document"),
            Column("segment", "its id"),
            Column("domain", "such as news"),
            Column("source", "the text that was translated"),
        ]
        found += [Column(f"reference {n}", "the text", of=_text_of("references", n)) for n in self.references]
        if taken := {column.name for column in found} & {*self.systems}:
            raise UsageError(f"a system is called {min(taken)!r}, as is another column: rename the system")
        return found + [Column(name, "the text", of=_text_of("translations", name)) for name in self.systems]

    @cached_property
    def lps(self) -> tuple[str, ...]:
        """Language pairs in order of first appearance."""
        return tuple(dict.fromkeys(s.lp for s in self.segments))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Systems of all segments in order of first appearance."""
        return tuple(dict.fromkeys(name for s in self.segments for name in s.translations))

    @cached_property
    def references(self) -> tuple[str, ...]:
        """Names of references in order of first appearance."""
        return tuple(dict.fromkeys(name for s in self.segments for name in s.references))

    @cached_property
    def digest(self) -> str:
        """SHA-256 over every id, text, criterion and listed pair, so that a run knows what it judged."""
        digest = hashlib.sha256()
        for s in self.segments:
            row = [s.lp, s.document, s.segment, s.domain, s.source]
            row += [dict(s.references), dict(s.translations)]  # type: ignore[list-item]
            row += [s.meta[key] for key in (CRITERIA, PAIRS) if key in s.meta]  # type: ignore[misc]
            digest.update(json.dumps(row, ensure_ascii=True, sort_keys=True, default=str).encode())
            digest.update(b"\n")
        return digest.hexdigest()

    def select(
        self, *, lp: str | None = None, systems: Iterable[str] | None = None, limit: int | None = None
    ) -> TestSet:
        """Keep one language pair, some systems, and the first `limit` segments of each pair that is left.

        Raises:
            UsageError: an lp or a system that the test set does not have.
        """
        kept = of_lp(self.segments, lp, repr(self.name))
        if systems is not None:
            wanted, known = tuple(map(as_name, systems)), {name for s in kept for name in s.translations}
            for name in wanted:
                if name not in known:
                    raise UsageError(
                        f"{self.name!r} has no system {name!r}; it has {', '.join(sorted(known))}"
                    )
            kept = [
                replace(s, translations={n: s.translations[n] for n in wanted if n in s.translations})
                for s in kept
            ]
        if limit is not None:
            every, kept, numbers = kept, [], Counter[str]()
            for s in every:
                numbers[s.lp] += 1
                if numbers[s.lp] <= limit:
                    kept.append(s)
        return TestSet(name=self.name, segments=tuple(kept))


@frozen
class Term:
    """One entry of a glossary: how `source` must be translated."""

    source: str
    translation: str


@frozen
class Subject:
    """What one judgement is about: one translation, a pair, or all translations of a source.

    Args:
        segment: the segment judged.
        systems: whose translations of it are judged; one, two or all, in the order shown.
        reference: the reference a method with reference is shown, else None.
        context: the segments before it in its document, in order.
        terms: the glossary entries that apply.
    """

    segment: Segment
    systems: tuple[str, ...]
    reference: str | None = None
    context: tuple[Segment, ...] = ()
    terms: tuple[Term, ...] = ()

    @property
    def lp(self) -> str:
        """Language pair of the segment."""
        return self.segment.lp

    @property
    def source(self) -> str:
        """Source text of the segment."""
        return self.segment.source

    @property
    def system(self) -> str:
        """The one system of a subject that is a single translation."""
        (system,) = self.systems
        return system

    @property
    def translation(self) -> str:
        """The one translation of a subject that is a single translation."""
        return self.segment.translations[self.system]

    def of(self, *systems: str) -> Subject:
        """The same, of these systems alone."""
        return self if systems == self.systems else replace(self, systems=systems)

    @property
    def digests(self) -> Digests:
        """Digests of what is judged."""
        return Digests.of(self.segment, self.systems, self.reference)

    @property
    def key(self) -> str:
        """Stable name of the unit of work, readable in traces."""
        return "/".join((self.lp, self.segment.segment, *self.systems))
