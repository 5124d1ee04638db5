"""`align`: put a system's text with other line breaks than the source's to the segments of the source.

No text is lost and none is made up: what no segment takes is kept as added, a segment that nothing fits has
an empty translation, and both are counted. The way is embedding-free: lengths (Gale and Church 1993,
https://aclanthology.org/J93-1004) and what stands in both texts, such as numbers and names.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import pairwise
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.core.frozen import frozen
from adjudge.core.record import grouped
from adjudge.core.segment import Segment, TestSet
from adjudge.core.wording import count
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import detect, load
from adjudge.formats.rows import Frame, Rows
from adjudge.formats.text import read_files
from adjudge.stats.judged import Floats
from adjudge.store.files import read_bytes, read_fields

ADDED: Final = "added"
"""Key of `Segment.meta`: system to the texts before this segment that translate no segment."""
MERGED: Final = "merged"
"""Key of `Segment.meta`: system to the id of the segment whose translation holds this one's, too."""


class Group(NamedTuple):
    """Segments of the source and pieces of the translation that belong together, as half-open ranges."""

    segments: tuple[int, int]
    pieces: tuple[int, int]


Aligner = Callable[[Sequence[str], Sequence[str], Sequence[str]], Sequence[Group]]
"""Takes sources, references (empty where there are none) and pieces of a document, gives groups in order."""


@frozen
class Aligned:
    """How one system's documents fit the source's."""

    system: str
    segments: int = 0  # of the source, in the documents that the system has
    translated: int = 0  # of them, those with text of their own
    merged: int = 0  # of them, those whose translation stands with an earlier segment's
    left_out: int = 0  # of them, those with text in the source and none in the translation
    added: int = 0  # pieces of the translation that no segment takes
    added_characters: int = 0  # code points in them
    missing: tuple[str, ...] = ()  # documents of the source that the system does not have
    # documents of the system that the source does not have; their text is nowhere in the result
    unknown: tuple[str, ...] = ()
    # document to its own counts of the same, for those in which anything is left out or added
    documents: Mapping[str, Mapping[str, int]] = field(default_factory=dict)

    @property
    def notes(self) -> Iterator[str]:
        """Say in sentences which documents do not fit."""
        if self.missing:
            lacks = count(len(self.missing), "document")
            yield f"{self.system} lacks {lacks} of the source, such as {self.missing[0]!r}."
        if self.unknown:
            yield (
                f"{count(len(self.unknown), 'document')} of {self.system}, such as {self.unknown[0]!r}, "
                "stand in no source; their text is in no segment."
            )


@frozen
class Alignment:
    """The test set with the systems' texts in its segments, and how they fit."""

    test_set: TestSet
    systems: tuple[Aligned, ...]


# Pieces


_ENDS: Final = re.compile(
    r"(?:[.!?…。！？｡।॥؟۔።፧։།။៕]+[\"'”’»«“)\]』」）】]*(?:\s+|(?<=[。！？｡])(?=\S)|$)|[^\S\n]*\n\s*)",
    re.UNICODE,
)
"""Where a sentence, or a line, may end: marks of many scripts, what closes a quotation, and white space."""
_ABBREVIATION: Final = re.compile(
    r"(?:\b\w|\b(?:Mr|Mrs|Ms|Dr|Prof|St|No|Nr|vs|etc|bzw|ca))\.\s+$", re.IGNORECASE
)


def pieces_of(text: str) -> list[str]:
    """Cut a text at the ends of its lines and sentences; joined, the pieces are the text."""
    pieces, start = [], 0
    for end in _ENDS.finditer(text):
        if end.end() > start and "\n" not in end[0] and _ABBREVIATION.search(text[start : end.end()]):
            continue
        if end.end() > start:
            pieces.append(text[start : end.end()])
            start = end.end()
    return [*pieces, text[start:]] if start < len(text) else pieces


# Anchors


_NUMBER: Final = re.compile(r"\d+")
_WORD: Final = re.compile(r"[^\W\d_]{4,}")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_TOO_OFTEN: Final = 50  # pieces with an anchor that tells them apart no more
_STEM: Final = 5  # letters of a word by which it is known again in a related language


def _anchors(text: str) -> set[str]:
    found = {str(int(number)) for number in _NUMBER.findall(text)}
    found |= {word.casefold()[:_STEM] for word in _WORD.findall(text) if not _UNSPACED.search(word)}
    found |= {a + b for a, b in pairwise(text) if _UNSPACED.match(a) and _UNSPACED.match(b)}
    return found


# The dynamic programme


_VARIANCE: Final = 20.0  # of the difference of lengths for each character; 6.8 in Gale and Church 1993
_LEFT_OUT: Final = 6.0
_ADD: Final = 4.0
_ADD_LETTER: Final = 0.01
_MERGE: Final = 7.0
_INSIDE_LINE: Final = 3.0  # a segment that begins or ends inside a line of the translation
_ACROSS_LINES: Final = 1.5  # a line end inside a segment
_MOST_GAIN: Final = 25.0
_UNMATCHED: Final = 0.15
_MOST_MERGED: Final = 3
_LEAST_BAND: Final = 250  # pieces on either side of where a segment is expected
_UNSPACED_WORTH: Final = (
    2.5  # letters of an alphabet that one character without spaces between words is worth
)
_PRIOR: Final = 500.0  # letters of which both sides are believed to have as many
_ENOUGH: Final = 20  # groups whose ratio of lengths is believed
_LEAST_RATIO: Final = 0.2
_SAME: Final = 1e-12
_ADDED_MOVE: Final = 1 << 14  # beside k pieces taken, and minus the segments that share one

Places = NDArray[np.int64]
Moves = NDArray[np.int16]


def _length(text: str) -> float:
    """Length of a text in letters of an alphabet, so that texts of all scripts are about equally long."""
    return len(text.strip()) + (_UNSPACED_WORTH - 1) * len(_UNSPACED.findall(text))


def align_texts(sources: Sequence[str], references: Sequence[str], pieces: Sequence[str]) -> list[Group]:
    """Put pieces of a translation to segments of the source, both in order, at the least cost.

    A segment takes any number of pieces that follow each other; up to three segments share one piece; a
    segment may take nothing, and a piece belong to none. The cost of a group is that of its lengths, minus
    log P(|delta|) with delta = (t - c s) / sqrt(20 s), less what stands on both sides, weighted by how
    rare it is.

    Groups in order; every segment is in one, and every piece in one or in none.
    """
    if not pieces or not sources:
        return [Group((i, i + 1), (0, 0)) for i in range(len(sources))]
    return _Programme(sources, references, pieces).groups()


class _Programme:
    def __init__(self, sources: Sequence[str], references: Sequence[str], pieces: Sequence[str]) -> None:
        self.sources, self.pieces = sources, pieces
        self.n, self.m = len(sources), len(pieces)
        self.lengths = np.array([_length(text) for text in sources])
        own = np.array([_length(piece) for piece in pieces])
        self.ends = np.concatenate([[0.0], np.cumsum(own)])
        self.ratio = (self.ends[-1] + _PRIOR) / (self.lengths.sum() + _PRIOR)
        lines = np.array([("\n" in piece) or place == self.m - 1 for place, piece in enumerate(pieces)])
        self.starts_line = np.concatenate([[True], lines])  # before piece j, and at the end
        self.line_ends = np.concatenate([[0.0], np.cumsum(lines)])
        self.added = np.concatenate([[0.0], np.cumsum(_ADD + _ADD_LETTER * own)])
        texts = [f"{s} {references[i]}" if references else s for i, s in enumerate(sources)]
        self.matches = self._matches(
            [_anchors(text) for text in texts], [_anchors(piece) for piece in pieces]
        )
        self.most = [2 * len(pieces_of(text)) + 3 for text in sources]

    def _matches(
        self, of_segments: Sequence[set[str]], of_pieces: Sequence[set[str]]
    ) -> list[tuple[float, dict[int, float]]]:
        places = grouped((anchor, place) for place, own in enumerate(of_pieces) for anchor in own)
        often = Counter(anchor for anchors in of_segments for anchor in anchors)
        found = []
        for anchors in of_segments:
            shared: dict[int, float] = {}
            whole = 0.0
            for anchor in anchors & places.keys():
                here = places[anchor]
                weight = math.log1p(self.m / (len(here) + often[anchor]))
                whole += weight
                for place in here if len(here) <= _TOO_OFTEN else ():
                    shared[place] = shared.get(place, 0.0) + weight
            found.append((whole, shared))
        return found

    def groups(self) -> list[Group]:
        found = self._pass()
        ratios = [
            (self.ends[g.pieces[1]] - self.ends[g.pieces[0]]) / self.lengths[slice(*g.segments)].sum()
            for g in found
            if g.pieces[1] > g.pieces[0] and self.lengths[slice(*g.segments)].sum() > 0
        ]
        self.ratio = float(np.median(ratios)) if len(ratios) >= _ENOUGH else self.ratio
        return self._pass()

    def _pass(self) -> list[Group]:
        before: list[Floats] = [self.added.copy()]  # the rows of the last few segments
        moves: list[tuple[int, Moves]] = [(0, np.full(self.m + 1, _ADDED_MOVE, dtype=np.int16))]
        position = np.concatenate([[0.0], np.cumsum(self.lengths)])
        position *= self.ends[-1] / max(position[-1], 1.0)
        band = max(_LEAST_BAND, self.m // 10)
        for i in range(self.n):
            centre = int(np.searchsorted(self.ends, position[i + 1]))
            window = max(0, min(self.m, centre) - band), min(self.m, centre + band)
            if i == self.n - 1:
                window = window[0], self.m
            row = np.full(self.m + 1, np.inf)
            move = np.zeros(self.m + 1, dtype=np.int16)
            inside = slice(window[0], window[1] + 1)
            row[inside] = before[-1][inside] + (_LEFT_OUT if self.lengths[i] else 0.0)
            if self.lengths[i]:
                self._take(i, window, before[-1], (row, move))
                self._share(i, window, before, (row, move))
            reached = np.minimum.accumulate(row[inside] - self.added[inside]) + self.added[inside]
            is_added = reached < row[inside] - _SAME
            row[inside] = np.where(is_added, reached, row[inside])
            move[inside][is_added] = _ADDED_MOVE
            before = [*before[1 - _MOST_MERGED :], row]
            moves.append((window[0], move[inside].copy()))
        return self._trace(before[-1], moves)

    def _take(self, i: int, window: tuple[int, int], before: Floats, table: tuple[Floats, Moves]) -> None:
        (low, high), (row, move) = window, table
        whole, shared = self.matches[i]
        most = min(whole, _MOST_GAIN)
        gains = np.zeros(self.m + 1)
        for place, weight in shared.items():
            gains[place + 1] += weight
        gains = np.cumsum(gains)
        for k in range(1, min(self.most[i], high) + 1):
            ends = np.arange(max(low, k), high + 1)
            begins = ends - k
            gain = np.minimum(gains[ends] - gains[begins], most)
            found = before[begins] + self._cost(self.lengths[i], begins, ends) - gain
            found += _UNMATCHED * (most - gain)
            better = found < row[ends] - _SAME
            row[ends[better]] = found[better]
            move[ends[better]] = k

    def _share(
        self, i: int, window: tuple[int, int], before: Sequence[Floats], table: tuple[Floats, Moves]
    ) -> None:
        row, move = table
        ends = np.arange(max(window[0], 1), window[1] + 1)
        for shared_by in range(2, min(len(before), _MOST_MERGED) + 1):
            lengths = self.lengths[i + 1 - shared_by : i + 1]
            if not lengths.all():
                break
            found = before[-shared_by][ends - 1] + self._cost(lengths.sum(), ends - 1, ends)
            found += _MERGE * (shared_by - 1)
            for whole, shared in self.matches[i + 1 - shared_by : i + 1]:
                gain = np.zeros(self.m)
                for place, weight in shared.items():
                    gain[place] = weight
                found -= np.minimum(gain[ends - 1], min(whole, _MOST_GAIN))
            better = found < row[ends] - _SAME
            row[ends[better]] = found[better]
            move[ends[better]] = -shared_by

    def _cost(self, length: float, begins: Places, ends: Places) -> Floats:
        """Cost of the lengths of a group, and of beginning, ending and going on where lines do not."""
        from scipy.special import log_ndtr

        characters = self.ends[ends] - self.ends[begins]
        spread = math.sqrt(_VARIANCE * max(length, 1.0) * max(self.ratio, _LEAST_RATIO))
        lengths = -(math.log(2) + log_ndtr(-np.abs(characters - self.ratio * length) / spread))
        cut = (~self.starts_line[begins]).astype(np.float64) + ~self.starts_line[ends]
        across = self.line_ends[np.maximum(ends - 1, begins)] - self.line_ends[begins]
        return np.asarray(lengths + _INSIDE_LINE * cut / 2 + _ACROSS_LINES * across, dtype=np.float64)

    def _trace(self, last: Floats, moves: Sequence[tuple[int, Moves]]) -> list[Group]:
        i, j = self.n, int(np.argmin(last + (self.added[-1] - self.added)))
        found: list[Group] = []
        while i > 0:
            low, row = moves[i]
            move = int(row[j - low])
            if move == _ADDED_MOVE:
                j -= 1
            elif move >= 0:
                found.append(Group((i - 1, i), (j - move, j)))
                i, j = i - 1, j - move
            else:
                found.append(Group((i + move, i), (j - 1, j)))
                i, j = i + move, j - 1
        return found[::-1]


# Files of systems


def align(
    test_set: TestSet | Frame | Rows | Path | str,
    outputs: Mapping[str, Path | str],
    lp: str | None = None,
    *,
    aligner: Aligner = align_texts,
) -> Alignment:
    """Put systems' texts with line breaks of their own to the segments of a test set.

    A file is plain text, which translates all documents of the test set in their order, or JSON lines with
    `doc_id` and `hypothesis`, one document each. A segment that nothing fits gets an empty translation,
    which judges see and count as an omission of everything; one whose translation stands with an earlier
    segment's gets none, and says so in `meta["merged"]`; text that fits no segment stands in
    `meta["added"]` of the segment behind it, or of the last one. A document that the system does not have
    leaves its segments without a translation.

    Args:
        test_set: sources, their documents and, where there are any, references, which help; or what
            `adjudge.load` reads.
            A text file is a source with a segment a line, and needs `lp`.
        outputs: system to file.
        lp: language pair, where the test set has several or cannot say it.
        aligner: another way to put pieces to segments.

    Raises:
        DataError: a file cannot be read or holds no text, or a document is there twice.
        UsageError: no language pair, or a system that the test set has already.
    """
    files: object = outputs
    if not isinstance(files, Mapping) or not all(isinstance(file, Path | str) for file in files.values()):
        raise UsageError(
            f"outputs must be system to file, such as {{'A': 'a.txt'}}; got {type(files).__name__}"
        )
    texts = test_set if isinstance(test_set, TestSet) else _load(test_set, lp)
    if len(texts.lps) != 1:
        raise UsageError(f"{texts.name} has several language pairs: add --lp, one of {', '.join(texts.lps)}")
    if not any(segment.source.strip() for segment in texts):
        raise DataError(f"{texts.name} has no source text to align to")
    segments, found = list(texts), []
    for system, path in outputs.items():
        if system in texts.systems:
            raise UsageError(
                f"{texts.name} has a system {system!r} already: give the output another name, NAME={path}"
            )
        documents = grouped((segment.document, place) for place, segment in enumerate(segments))
        written = _read_output(Path(path))
        if isinstance(written, str):
            written, documents = {"": written}, {"": list(range(len(segments)))}
        changed = list(segments)
        counts: dict[str, Counter[str]] = {}
        for document, places in documents.items():
            if document in written:
                part = [segments[place] for place in places]
                filled, counts[document] = _align_document(part, system, written[document], aligner)
                for place, segment in zip(places, filled, strict=True):
                    changed[place] = segment
        total = sum(counts.values(), Counter[str]())
        segments = changed
        found.append(
            Aligned(
                system=system,
                **{name: total[name] for name in _COUNTED},
                missing=tuple(name for name in documents if name not in written),
                unknown=tuple(name for name in written if name not in documents),
                documents={name: dict(c) for name, c in counts.items() if c["left_out"] or c["added"]},
            )
        )
    return Alignment(test_set=TestSet(name=texts.name, segments=tuple(segments)), systems=tuple(found))


def _load(given: Frame | Rows | Path | str, lp: str | None) -> TestSet:
    if not isinstance(given, Path | str):
        return load(given, lp)
    path = Path(given)
    if path.is_file() and path.suffix == ".txt":
        if lp is None:
            raise UsageError(f"a text file does not say its language pair: add --lp ({path})")
        return read_files(path, {}, {}, lp, path.stem)
    detect(path)
    return load(path, lp)


_COUNTED: Final = ("segments", "translated", "merged", "left_out", "added", "added_characters")


def _read_output(path: Path) -> str | dict[str, str]:
    raw = read_bytes(path)
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"not UTF-8 at byte {error.start}", path=path) from None
    if not text.strip():
        raise DataError("there is no text to align", path=path)
    if not path.name.removesuffix(".gz").endswith(".jsonl"):
        return text.replace("\r\n", "\n")
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                value = json.loads(line)
            except ValueError as error:
                raise DataError(f"not JSON: {error}", path=path, line=number) from None
            if not isinstance(value, dict):
                raise DataError(
                    f"wanted an object with doc_id and hypothesis, got {line:.60}", path=path, line=number
                )
            fields = read_fields(value, frozenset(value), "document", path, number)
            name = fields.text("doc_id")
            if name in found:
                fields.fail(f"document {name!r} is there twice")
            found[name] = fields.text("hypothesis").replace("\r\n", "\n")
    return found


def _align_document(
    segments: Sequence[Segment], system: str, text: str, aligner: Aligner
) -> tuple[list[Segment], Counter[str]]:
    pieces = pieces_of(text)
    references = [next(iter(s.references.values()), "") for s in segments]
    groups = aligner([s.source for s in segments], references if all(references) else [], pieces)
    _check(groups, len(segments), len(pieces))
    filled = list(segments)
    counts = Counter({"segments": len(segments)})
    done = 0
    for group in groups:
        (first, end), (begin, stop) = group
        filled[first] = _with_added(filled[first], system, pieces[done:begin], counts)
        done = stop
        joined = " ".join("".join(pieces[begin:stop]).split("\n")).strip()
        own = re.sub(r" {2,}", " ", joined) if "\n" in "".join(pieces[begin:stop]) else joined
        translations = {**filled[first].translations, system: own}
        filled[first] = replace(filled[first], translations=translations)
        counts["translated"] += bool(own)
        counts["left_out"] += not own and bool(filled[first].source.strip())
        for place in range(first + 1, end):
            meta = dict(filled[place].meta)
            meta[MERGED] = {**_mapping(meta, MERGED), system: segments[first].segment}
            filled[place] = replace(filled[place], meta=meta)
            counts["merged"] += 1
    filled[-1] = _with_added(filled[-1], system, pieces[done:], counts)
    return filled, counts


def _check(groups: Sequence[Group], segments: int, pieces: int) -> None:
    place = done = 0
    for group in groups:
        (first, end), (begin, stop) = group
        if first != place or end <= first or begin < done or stop < begin or stop > pieces:
            raise DataError(f"an aligner must give groups in order, each segment in one; got {tuple(group)}")
        place, done = end, stop
    if place != segments:
        raise DataError(f"an aligner must give every segment, and {segments - place} are missing")


def _with_added(segment: Segment, system: str, pieces: Sequence[str], counts: Counter[str]) -> Segment:
    texts = [piece.strip() for piece in pieces if piece.strip()]
    if not texts:
        return segment
    counts["added"] += len(texts)
    counts["added_characters"] += sum(map(len, texts))
    before = _mapping(segment.meta, ADDED)
    kept = {**before, system: [*before.get(system, []), *texts]}
    return replace(segment, meta={**segment.meta, ADDED: kept})


def _mapping(meta: Mapping[str, object], key: str) -> dict[str, list[str]]:
    found = meta.get(key)
    return dict(found) if isinstance(found, Mapping) else {}
