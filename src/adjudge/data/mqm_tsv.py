"""MQM TSV, as in wmt-mqm-human-evaluation and Marot: one line an error, read from every year and written.

What is odd in a file is never silent: it becomes a flag of the annotation and a count of the file.

- `No-error` is a judgement without spans; a unit that has no line was not judged.
- `HOTW-test` lines are attention checks, not errors: they are kept apart.
- Raters edited texts. The translation is the text of the test set if one is given, else the one that
  most raters of the unit have; marks are carried over to it, and what the rater's text was is kept beside.
- In side-by-side files `A_with_B` is system A, judged beside B: the flag `with:B`.
- A row without rater has the annotator `unknown`.
- Severities that do not exist are an error, categories that no year has are kept as `label` and counted.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from adjudge.core.annotation import Annotation, ErrorSpan, Side
from adjudge.core.language import canonical_lp
from adjudge.core.segment import Segment, TestSet
from adjudge.core.typology import find_severity
from adjudge.data.labels import read_label
from adjudge.data.mqm_extras import read_judgement, read_partner, read_span
from adjudge.data.mqm_rows import Row, read_rows
from adjudge.data.mqm_spans import Mark, carry_over, read_tags, remove_tags, token_range
from adjudge.errors import AdjudgeError, DataError, UsageError

__all__ = ["AttentionCheck", "EditedText", "MqmFile", "read_mqm_tsv"]

K = TypeVar("K")

_CLEAN: Final = {"no-error", "no error"}
_CHECK: Final = "hotw-test"
_UNKNOWN: Final = "unknown"

_MET: Final = {
    "span_unbalanced": "tags without a partner",
    "span_in_parts": "errors marked in several parts, taken as one range",
    "span_empty": "marks around nothing",
    "span_edge_space": "marks with white space at an edge",
    "span_repeated": "marks beside a repetition of the same words",
    "span_both_sides": "errors marked in source and target, placed in the target",
    "span_tokens_differ": "token indices that mark something else than the tags",
    "text_edited": "texts that differ from the translation, marks carried over",
    "category_unknown": "categories that no year has, kept as label",
    "clean_and_errors": "units called clean and given errors by one rater; the errors count",
    "rater_unknown": "units without a rater",
}
"""Flags of annotations and what they say in a count."""


class AttentionCheck(NamedTuple):
    """One check of a rater's attention."""

    segment: str
    system: str
    rater: str
    found: bool


class EditedText(NamedTuple):
    """A rater's text where it is not the translation."""

    segment: str
    system: str
    rater: str
    side: Side
    text: str


@dataclass(frozen=True, kw_only=True)
class MqmFile:
    """All that one file says.

    Args:
        test_set: sources and translations.
        records: one annotation a rater, system and segment, in order of first appearance.
        checks: attention checks.
        edited: texts that raters changed.
        met: what was odd, and how often.
    """

    test_set: TestSet
    records: tuple[Annotation, ...]
    checks: tuple[AttentionCheck, ...] = ()
    edited: tuple[EditedText, ...] = ()
    met: Counter[str] = field(default_factory=Counter)


def read_mqm_tsv(path: Path | str, lp: str | None = None, test_set: TestSet | None = None) -> MqmFile:
    """Read a file.

    Args:
        path: the file.
        lp: language pair; may be left out where the documents' names end in it (`news.1:en-de`).
        test_set: texts as the systems wrote them, in which the marks are placed.

    Raises:
        DataError: a row fits no known layout, or has a severity that does not exist; says which.
        UsageError: no lp, and the documents do not name one.
    """
    path = Path(path)
    rows, met = read_rows(path)
    checks = [row for row in rows if _is_check(row)]
    rated = [row for row in rows if not _is_check(row) and (row.rater or row.category or row.severity)]
    reader = _Reader(path, _find_lp(rows, lp, path), rated, test_set)
    records = reader.read()
    met["rows with metadata only"] += len(rows) - len(checks) - len(rated)
    met["attention checks, kept apart from the errors"] += len(checks)
    met["segments whose docSegId is not their place in this file, and is not kept"] += _displaced(rated)
    met += reader.met
    return MqmFile(
        test_set=reader.test_set(path.name.split(".")[0]),
        records=records,
        checks=tuple(reader.check(row) for row in checks),
        edited=tuple(reader.edited),
        met=+met,
    )


def _is_check(row: Row) -> bool:
    return _CHECK in {row.severity.lower(), row.category.lower()}


def _find_lp(rows: Iterable[Row], lp: str | None, path: Path) -> str:
    if lp is not None:
        return canonical_lp(lp)
    try:
        (found,) = {canonical_lp(row.document.rpartition(":")[2]) for row in rows}
    except (UsageError, ValueError):
        raise UsageError(f"{path} does not say its language pair: add --lp, such as --lp en-de") from None
    return found


class _Reader:
    """Reads the rows of one file, of one language pair."""

    def __init__(self, path: Path, lp: str, rows: list[Row], test_set: TestSet | None) -> None:
        self.path = path
        self.lp = lp
        self.rows = rows
        self.met: Counter[str] = Counter()
        self.edited: list[EditedText] = []
        self._ids = _segment_ids(rows)
        self._names = _split_names(rows)
        self._tokens = _tokens(rows)
        known = [] if test_set is None else [s for s in test_set if s.lp == lp]
        self._segments = {s.segment: s for s in known}
        self._sources = _most_common((self._id(r), r.rater, remove_tags(r.source)) for r in rows)
        self._targets = _most_common(
            ((self._id(r), self._names[r.system][0]), r.rater, remove_tags(r.target)) for r in rows
        )

    def _id(self, row: Row) -> str:
        return self._ids[row.document, row.position, row.segment]

    def source(self, segment: str) -> str:
        """Source text that marks are placed in."""
        known = self._segments.get(segment)
        return self._sources[segment] if known is None else known.source

    def target(self, segment: str, system: str) -> str:
        """Translation that marks are placed in."""
        known = self._segments.get(segment)
        found = None if known is None else known.translations.get(system)
        return self._targets[segment, system] if found is None else found

    def check(self, row: Row) -> AttentionCheck:
        """Read an attention check."""
        words = {row.category.lower(), row.severity.lower()}
        if not words & {"found", "missed"}:
            raise DataError(
                f"an attention check is Found or Missed, got {words}", path=self.path, line=row.line
            )
        ids = self._ids.get((row.document, row.position, row.segment))
        return AttentionCheck(ids or row.segment or row.position, row.system, row.rater, "found" in words)

    def read(self) -> tuple[Annotation, ...]:
        """Read every unit: the rows of one rater about one translation."""
        units: defaultdict[tuple[str, str, str], list[Row]] = defaultdict(list)
        for row in self.rows:
            units[self._id(row), row.system, row.rater].append(row)
        return tuple(self._annotation(*key, rows) for key, rows in units.items())

    def _annotation(self, segment: str, name: str, rater: str, rows: list[Row]) -> Annotation:
        system, partner = self._names[name]
        flags: set[str] = set()
        spans = []
        for row in rows:
            self._note_edits(row, segment, system, flags)
            if not self._is_clean(row):
                spans.append(self._span(row, segment, system, flags))
        if spans and len(spans) < len(rows):
            flags.add("clean_and_errors")
        if not rater:
            flags.add("rater_unknown")
        self.met.update(_MET[flag] for flag in flags & {"clean_and_errors", "rater_unknown"})
        with_partner = [f"with:{partner}"] if partner else []
        annotation = Annotation(
            lp=self.lp,
            segment=segment,
            system=system,
            annotator=rater or _UNKNOWN,
            protocol="mqm",
            document=rows[0].document,
            spans=tuple(spans),
            flags=(*with_partner, *sorted(flags)),
        )
        try:
            return read_judgement(rows[0].metadata, annotation)
        except AdjudgeError as error:
            raise DataError(str(error), path=self.path, line=rows[0].line) from error

    def _is_clean(self, row: Row) -> bool:
        clean = [label.lower() in _CLEAN for label in (row.category, row.severity)]
        if any(clean) and not all(clean):
            labels = f"category {row.category!r} with severity {row.severity!r}"
            raise DataError(f"{labels} contradict each other", path=self.path, line=row.line)
        return all(clean)

    def _span(self, row: Row, segment: str, system: str, flags: set[str]) -> ErrorSpan:
        stated = read_span(row.metadata, self.path, row.line)
        if stated is not None:
            return stated
        severity = find_severity(row.severity)
        if severity is None:
            message = f"severity must be neutral, minor, major, critical or No-error, got {row.severity!r}"
            raise DataError(message, path=self.path, line=row.line)
        category, label = read_label(row.category)
        if label is not None and category is None:
            flags.add("category_unknown")
            self.met[_MET["category_unknown"]] += 1
        side, mark = self._place(row, segment, system, flags)
        text = self.source(segment) if side == "source" else self.target(segment, system)
        note = row.metadata.get("note")
        return ErrorSpan(
            severity=severity,
            start=None if mark is None else mark.start,
            end=None if mark is None else mark.end,
            text="" if mark is None else text[mark.start : mark.end],
            category=category,
            side=side,
            match="unplaced" if mark is None else "exact",
            note=note if isinstance(note, str) else row.comment,
            label=label,
        )

    def _place(self, row: Row, segment: str, system: str, flags: set[str]) -> tuple[Side, Mark | None]:
        """Find the mark of a row, in the text of the unit."""
        source, target = read_tags(row.source), read_tags(row.target)
        odd = []
        if source is not None and target is not None:
            odd.append("span_both_sides")
        side: Side = "source" if target is None and source is not None else "translation"
        mark = source if side == "source" else target
        text = remove_tags(row.source if side == "source" else row.target)
        tokens = self._token_range(row, side, text)
        if mark is None and tokens is not None:
            mark = Mark(*tokens)
        elif mark is not None and tokens is not None and tokens != mark[:2]:
            odd.append("span_tokens_differ")
        if mark is None:
            return side, None
        odd.extend(mark.flags)
        flags.update(odd)
        self.met.update(_MET[flag] for flag in odd)
        wanted = self.source(segment) if side == "source" else self.target(segment, system)
        return side, mark if text == wanted else carry_over(text, mark, wanted)

    def _token_range(self, row: Row, side: Side, text: str) -> tuple[int, int] | None:
        key = "source" if side == "source" else "target"
        tokens = self._tokens.get((row.document, row.position, row.system, key))
        return token_range(row.metadata, f"{key}_spans", tokens, text)

    def _note_edits(self, row: Row, segment: str, system: str, flags: set[str]) -> None:
        """Keep the texts of a row that are not those of the unit."""
        texts: tuple[tuple[Side, str, str], ...] = (
            ("source", remove_tags(row.source), self.source(segment)),
            ("translation", remove_tags(row.target), self.target(segment, system)),
        )
        for side, text, wanted in texts:
            if text != wanted:
                flags.add("text_edited")
                self.met[_MET["text_edited"]] += 1
                self.edited.append(EditedText(segment, system, row.rater, side, text))

    def test_set(self, name: str) -> TestSet:
        """Sources and translations that the marks are placed in."""
        documents = {self._id(row): row.document for row in reversed(self.rows)}
        systems = list(dict.fromkeys(self._names[row.system][0] for row in self.rows))
        segments = []
        for segment in dict.fromkeys(self._id(row) for row in self.rows):
            known = self._segments.get(segment)
            found = [s for s in systems if (segment, s) in self._targets]
            segments.append(
                Segment(
                    segment=segment,
                    lp=self.lp,
                    source=self.source(segment),
                    translations={system: self.target(segment, system) for system in found},
                    references={} if known is None else known.references,
                    document=documents[segment],
                    domain="" if known is None else known.domain,
                )
            )
        return TestSet(name=name, segments=tuple(segments))


def _segment_ids(rows: Iterable[Row]) -> dict[tuple[str, str, str], str]:
    """Segment id of each document, position and id: the file's own if it is unique, else `DOC:POSITION`.

    Where a document has a position twice, both; where it has none, its own id in place of it.
    """
    keys = [*dict.fromkeys((row.document, row.position, row.segment) for row in rows)]
    own = [segment for _, _, segment in keys]
    placed = [f"{document}:{position or segment}" for document, position, segment in keys]
    if "" not in own and len({*own}) == len(keys):
        return dict(zip(keys, own, strict=True))
    if len({*placed}) == len(keys):
        return dict(zip(keys, placed, strict=True))
    return {key: ":".join(key) for key in keys}


def _displaced(rows: Iterable[Row]) -> int:
    """Number of segments whose position in their document does not follow from the file."""
    counts: Counter[str] = Counter()
    found = 0
    for document, position, _ in dict.fromkeys((row.document, row.position, row.segment) for row in rows):
        counts[document] += 1
        found += position.isdecimal() and int(position) != counts[document]
    return found


def _split_names(rows: Iterable[Row]) -> dict[str, tuple[str, str]]:
    """System and partner of each name; a side-by-side pair was judged from its other side too."""
    stated: dict[str, str | None] = {}
    for row in rows:
        stated[row.system] = stated.get(row.system) or read_partner(row.metadata)
    split = {}
    for name, known in stated.items():
        system, _, partner = name.partition("_with_")
        both = known is None and partner and f"{partner}_with_{system}" in stated
        beside = partner if both else known or ""
        split[name] = (name.removesuffix(f"_with_{beside}") if beside else name, beside)
    return split


def _tokens(rows: Iterable[Row]) -> dict[tuple[str, str, str, str], object]:
    """Tokens of a segment, which stand in its first row only."""
    found: dict[tuple[str, str, str, str], object] = {}
    for row in rows:
        segment = row.metadata.get("segment")
        for side in ("source", "target"):
            if isinstance(segment, Mapping) and f"{side}_tokens" in segment:
                key = (row.document, row.position, row.system, side)
                found.setdefault(key, segment[f"{side}_tokens"])
    return found


def _most_common(rows: Iterable[tuple[K, str, str]]) -> dict[K, str]:
    """Text of each key that most raters had; one who edited it in five rows still counts once."""
    counts: defaultdict[K, Counter[str]] = defaultdict(Counter)
    for key, _, text in dict.fromkeys(rows):
        counts[key][text] += 1
    return {key: texts.most_common(1)[0][0] for key, texts in counts.items()}
