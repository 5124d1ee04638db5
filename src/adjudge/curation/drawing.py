"""What is drawn from texts: pairs of translations that are compared, and worked examples for HiMATE's agents.

Pairs: all systems and sources alike, weak systems more rarely. FiRE, section 3.2 and appendix J: all pairs of
systems of each source, those of one text left out, drawn evenly; pairs of a system that is much weaker than
the others are thinned, for they are easy and would be too many.

Examples: for each subtype of error a translation that people marked with one, and one that they marked with
an error of another subtype alone, of the same source where there is one, and a translation of that source
without errors.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Annotated, Final

import numpy as np
from annotated_types import Ge
from pydantic import BeforeValidator

from adjudge.analysis.pair_schedules import ListedPair, Pair, Place
from adjudge.core.frozen import frozen
from adjudge.core.names import as_name
from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import LanguagePair, Option, Seed, Texts, settings, takes
from adjudge.errors import DataError, UsageError
from adjudge.formats.read import Given, read_judgements
from adjudge.store.files import make_folder, render_json_line, write_bytes


@frozen
class Composition:
    """What became of the pairs of two systems in one language pair."""

    lp: str  # language pair
    systems: Pair
    there: int  # sources that both translated
    identical: int  # of these, with one and the same text
    drawn: int  # pairs that were drawn


@frozen
class PairSample:
    """Pairs that were drawn, in test-set order."""

    pairs: tuple[ListedPair, ...]
    compositions: tuple[Composition, ...]  # by language pair and systems
    sources: Mapping[str, Mapping[int, int]]  # sources by the number of their pairs, by language pair


def _read_factors(value: object) -> object:
    if isinstance(value, Mapping):
        return value
    found = {}
    for text in value if isinstance(value, list | tuple) else [value]:
        name, equals, factor = str(text).rpartition("=")
        try:
            found[as_name(name)] = float(factor if equals else "")
        except ValueError:
            raise ValueError("like SYSTEM=3") from None
    return found


@settings
class DrawSettings:
    """Which pairs are drawn."""

    pairs: Annotated[
        int | None, Ge(1), Option(help="Pairs to draw from each language pair; default: all.")
    ] = None
    thin: Annotated[
        Mapping[str, float] | None,
        BeforeValidator(lambda it: None if it is None else _read_factors(it)),
        Option(
            help="Draw pairs of this system FACTOR times less often; repeat for more.",
            metavar="SYSTEM=FACTOR",
            repeats=True,
        ),
    ] = None
    seed: Annotated[int, Option(help="Seed of the draws.")] = 0


@takes(DrawSettings)
def draw_pairs(test_set: TestSet, settings: DrawSettings) -> PairSample:
    """Draw pairs of each language pair, as even as they can be over systems first, then over sources.

    Two texts are one where they are equal but for white space. Of pairs with a thinned system, 1 of
    `factor` may be drawn, and they come up as much more rarely. The next pair is always of the two systems
    that have the fewest for their weight, and of the source that has the fewest; among equals it is drawn.

    `test_set`: with two systems at least.
    """
    thin = settings.thin or {}
    for name, factor in thin.items():
        if name not in test_set.systems:
            raise UsageError(
                f"--thin: {test_set.name!r} has no system {name!r}; it has {', '.join(test_set.systems)}"
            )
        if not 1 <= factor < math.inf:
            raise UsageError(f"--thin {name}: a factor must be 1 or more, got {factor:g}")
    chosen: list[ListedPair] = []
    compositions: list[Composition] = []
    sources: dict[str, dict[int, int]] = {}
    for lp in test_set.lps:
        board = _Board([s for s in test_set if s.lp == lp], thin, f"{settings.seed}/{lp}")
        board.draw(settings.pairs)
        chosen += board.listed()
        compositions += board.compositions(lp)
        sources[lp] = board.spread()
    if not chosen:
        raise UsageError(f"{test_set.name!r} has no two translations of a source that differ")
    return PairSample(pairs=tuple(chosen), compositions=tuple(compositions), sources=sources)


@dataclass
class _Deck:
    """The pairs of two systems."""

    # places of sources that may still be drawn, in an order that is drawn
    open: np.ndarray[tuple[int], np.dtype[np.int64]]
    limit: int  # how many may be drawn
    weight: float  # how often they come up, beside other decks
    there: int  # sources that both translated
    identical: int
    drawn: list[int] = field(default_factory=list)

    @property
    def need(self) -> float:
        return (len(self.drawn) + 0.5) / self.weight


class _Board:
    """One language pair: its sources, and a deck for every two systems."""

    def __init__(self, segments: Sequence[Segment], thin: Mapping[str, float], seed: str) -> None:
        systems = tuple(dict.fromkeys(name for s in segments for name in s.translations))
        pairs = Place(segments[0].lp, "", systems).pairs
        self._segments = segments
        self._draws = random.Random(seed)
        self._decks = {pair: _deck(segments, pair, thin, self._draws) for pair in pairs}
        self._counts = np.zeros(len(segments), dtype=np.int64)

    def draw(self, number: int | None) -> None:
        left = sum(deck.limit for deck in self._decks.values())
        for _ in range(left if number is None else min(number, left)):
            open_ = [deck for deck in self._decks.values() if len(deck.drawn) < deck.limit]
            least = min(deck.need for deck in open_)
            deck = self._draws.choice([deck for deck in open_ if deck.need <= least + 1e-12])
            place = int(self._counts[deck.open].argmin())  # among equals the first of the drawn order
            source = int(deck.open[place])
            deck.open = np.delete(deck.open, place)
            deck.drawn.append(source)
            self._counts[source] += 1

    def listed(self) -> list[ListedPair]:
        drawn = sorted(
            (source, row) for row, deck in enumerate(self._decks.values()) for source in deck.drawn
        )
        pairs = list(self._decks)
        return [
            ListedPair(lp=s.lp, segment=s.segment, document=s.document, systems=pairs[row])
            for source, row in drawn
            for s in [self._segments[source]]
        ]

    def compositions(self, lp: str) -> list[Composition]:
        return [
            Composition(
                lp=lp, systems=pair, there=deck.there, identical=deck.identical, drawn=len(deck.drawn)
            )
            for pair, deck in self._decks.items()
        ]

    def spread(self) -> dict[int, int]:
        numbers, sources = np.unique(self._counts, return_counts=True)
        return dict(zip(numbers.tolist(), sources.tolist(), strict=True))


def _deck(segments: Sequence[Segment], pair: Pair, thin: Mapping[str, float], draws: random.Random) -> _Deck:
    there = [place for place, s in enumerate(segments) if all(map(s.has_translation, pair))]
    differ = [
        place
        for place in there
        if len({" ".join(segments[place].translations[name].split()) for name in pair}) == 2
    ]
    draws.shuffle(differ)
    weight = 1 / math.prod(thin.get(name, 1.0) for name in pair)
    return _Deck(
        open=np.array(differ, dtype=np.int64),
        limit=round(len(differ) * weight),
        weight=weight,
        there=len(there),
        identical=len(there) - len(differ),
    )


_SEVERITIES: Final = ("major", "minor", "neutral")
"""Those that HiMATE's agents may give."""


@settings
class ExampleSettings:
    """Which annotations examples are drawn from."""

    lp: LanguagePair = None
    test_set: Texts = None
    longest: Annotated[
        int, Ge(1), Option(help="Skip sources and translations of more characters.", metavar="N")
    ] = 300
    seed: Seed = 0


@frozen
class Shown:
    """One annotated translation that an agent may be shown."""

    segment: Segment
    # of one annotator; of a drawn one each error has a subtype, and words that stand once
    annotation: Annotation

    @property
    def translation(self) -> str:
        return self.segment.translations[self.annotation.system]


@frozen
class DrawnPair:
    """What one agent is shown in one language pair."""

    category: str  # the agent's subtype
    error: Shown
    other: Shown  # one with errors of other subtypes alone
    # a translation of the source of `error` in which nobody marked an error; empty if there is none
    clean: str


@frozen
class ExampleSample:
    """Examples that were drawn."""

    pairs: tuple[DrawnPair, ...]  # by subtype, then language pair
    lacking: Mapping[str, tuple[str, ...]]  # language pair to the subtypes without an example
    too_long: int  # translations that were left out for their length, or that of their source
    # annotations with errors that were left out, as an error has no subtype, severity or place, or its words
    # stand in the text twice
    unfit: int


@takes(ExampleSettings)
def draw_examples(annotations: Given, settings: ExampleSettings) -> ExampleSample:
    """Draw worked examples for each subtype of error from annotated translations.

    An error is drawn among the annotations that can be shown best: of a source that has another error of the
    same core type, and a translation without errors; with few other errors. A subtype that has few
    annotations chooses first, and one that comes later takes another source if it can. A translation
    without errors is one where nobody marked any; of several the one that is most like the wrong one.
    """
    given = read_judgements(annotations, settings.lp, settings.test_set, needed=False)
    read = given.of_one_kind(settings.lp)
    if read.test_set is None:
        raise UsageError(f"{read.name} has no texts; name them with --test-set")
    made = [record for record in read.records if isinstance(record, Annotation)]
    segments = {(segment.lp, segment.segment): segment for segment in read.test_set}
    stack = _Stack(made, segments, settings.longest)
    lps = dict.fromkeys(annotation.lp for annotation in made)
    drawn = {lp: stack.draw(lp, settings.seed) for lp in lps}
    pairs = tuple(drawn[lp][name] for name in SUBTYPES for lp in lps if name in drawn[lp])
    if not pairs:
        raise DataError(f"{read.name} has no error of a subtype that could be shown as an example")
    return ExampleSample(
        pairs=pairs,
        lacking={lp: tuple(name for name in SUBTYPES if name not in drawn[lp]) for lp in lps},
        too_long=stack.too_long,
        unfit=stack.unfit,
    )


_Text = tuple[str, str, str]
"""Language pair, source and translation."""


class _Stack:
    """Annotations that can be shown, and what is known of the translations of each source.

    `longest`: characters of a text that can be shown.
    """

    def __init__(
        self, annotations: Iterable[Annotation], segments: Mapping[tuple[str, str], Segment], longest: int
    ) -> None:
        self.unfit = 0
        self._shown: list[Shown] = []
        self._marked: dict[_Text, set[str | None]] = {}  # what anybody marked
        long: set[_Text] = set()
        for annotation in annotations:
            segment = segments.get((annotation.lp, annotation.segment))
            if segment is None or not segment.has_translation(annotation.system):
                continue
            shown = Shown(segment=segment, annotation=annotation)
            if max(len(segment.source), len(shown.translation)) > longest:
                long.add(_text(shown))
                continue
            self._marked.setdefault(_text(shown), set()).update(span.category for span in annotation.spans)
            if annotation.spans and _is_fit(shown):
                self._shown.append(shown)
            elif annotation.spans:
                self.unfit += 1
        self.too_long = len(long)

    def draw(self, lp: str, seed: int) -> dict[str, DrawnPair]:
        shown = [one for one in self._shown if one.segment.lp == lp]
        random.Random(f"{seed}/{lp}").shuffle(shown)
        by_source: dict[str, list[Shown]] = {}
        for one in shown:
            by_source.setdefault(one.segment.source, []).append(one)
        clean: dict[str, list[str]] = {}
        for (of, text, translation), categories in self._marked.items():
            if of == lp and not categories:
                clean.setdefault(text, []).append(translation)
        having = {
            name: [one for one in shown if any(error.category == name for error in one.annotation.spans)]
            for name in SUBTYPES
        }
        found: dict[str, DrawnPair] = {}
        taken: set[str] = set()
        for name in sorted(SUBTYPES, key=lambda name: len(having[name])):
            ranked = []
            for error in having[name]:
                source = error.segment.source
                other = self._best(by_source[source], name)
                fit = _distance(other, name), source not in clean, len(error.annotation.spans)
                ranked.append(((source in taken, *fit), error, other))
            if not ranked:
                continue
            _, error, near = min(ranked, key=lambda one: one[0])
            if (other := near or self._best(shown, name)) is not None:
                taken.add(error.segment.source)
                likest = _likest(clean.get(error.segment.source, ()), error.translation)
                found[name] = DrawnPair(category=name, error=error, other=other, clean=likest)
        return found

    def _best(self, shown: Iterable[Shown], name: str) -> Shown | None:
        """The nearest without an error of the subtype, whoever looked for it; the first among equals."""
        fit = (one for one in shown if name not in self._marked[_text(one)])
        return min(fit, key=lambda one: (_distance(one, name), len(one.annotation.spans)), default=None)


def _likest(translations: Iterable[str], wrong: str) -> str:
    def likeness(translation: str) -> float:
        return SequenceMatcher(None, translation, wrong, autojunk=False).ratio()

    return max(translations, key=likeness, default="")


def _text(shown: Shown) -> _Text:
    return shown.segment.lp, shown.segment.source, shown.translation


def _distance(other: Shown | None, name: str) -> int:
    if other is None:
        return 2
    core = name.partition("/")[0]
    return int(all((error.category or "").partition("/")[0] != core for error in other.annotation.spans))


def _is_fit(shown: Shown) -> bool:
    for error in shown.annotation.spans:
        text = shown.segment.source if error.side == "source" else shown.translation
        if error.category not in SUBTYPES or error.severity not in _SEVERITIES:
            return False
        if error.start is None or not error.text.strip() or text.count(error.text) != 1:
            return False
    return True


def write_examples(folder: Path, sample: ExampleSample) -> None:
    """Write `examples.jsonl` and `notes.jsonl` into a folder that `--prompts` of himate takes.

    Where an annotator said nothing of an error, its note says what it was marked as.
    """
    examples, notes = [], []
    for pair in sample.pairs:
        for shown, clean in ((pair.error, pair.clean), (pair.other, "")):
            own = sorted(shown.annotation.spans, key=lambda error: error.category != pair.category)
            errors = [
                {"span": e.text, "category": e.category, "severity": e.severity, "side": e.side} for e in own
            ]
            texts = {"source": shown.segment.source, "reference": clean, "translation": shown.translation}
            examples.append({"lp": shown.segment.lp, **texts, "errors": errors})
            notes.append([e.note or f"An annotator marked this as {e.category}, {e.severity}." for e in own])
    make_folder(folder)
    write_bytes(folder / "examples.jsonl", map(render_json_line, examples))
    write_bytes(folder / "notes.jsonl", map(render_json_line, notes))
