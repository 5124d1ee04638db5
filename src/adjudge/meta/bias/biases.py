"""`bias`: what judges favour besides quality, criterion by criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from adjudge.core.annotation import Failure, Preference, Record
from adjudge.core.keywords import checks_keywords
from adjudge.core.run import Run
from adjudge.core.score import Signature
from adjudge.core.segment import TestSet
from adjudge.core.version import VERSION
from adjudge.core.wording import count, form, of_all
from adjudge.data.families import read_families
from adjudge.errors import DataError, UsageError
from adjudge.meta.agreement.estimate import Draws
from adjudge.meta.agreement.sources import Source, criteria_of, named_apart, preferences_of, source_of
from adjudge.meta.bias.family import Families, FamilyBias, family_bias
from adjudge.meta.bias.length import LengthBias, length_bias, lengths_of_pairs
from adjudge.meta.bias.position import PositionBias, position_bias
from adjudge.meta.bias.repeat import self_agreement
from adjudge.meta.judgements import read_source, with_texts
from adjudge.meta.measures.result import Result
from adjudge.meta.ranking.comparisons import tabulate

__all__ = ["Bias", "Biases", "bias", "find_biases"]


@dataclass(frozen=True, kw_only=True)
class Bias:
    """Biases of one annotator on one criterion.

    Args:
        annotator: whose they are.
        criterion: on which.
        n: comparisons with a verdict.
        failed: comparisons asked for and not obtained; they are in no number.
        undecided: comparisons whose verdict changed with the order and was kept as that; of their bias only
            that of position is told.
        position: None where nothing was asked in both orders.
        repeat: how often two samples have the same verdict; None where nothing was sampled twice.
        length: None where there are no texts.
        family: None where the annotator has no family, or no system of it was compared.
    """

    annotator: str
    criterion: str
    n: int
    failed: int
    undecided: int = 0
    position: PositionBias | None = None
    repeat: Result | None = None
    length: LengthBias | None = None
    family: FamilyBias | None = None


@dataclass(frozen=True, kw_only=True)
class Biases:
    """Biases of all annotators that are not gold.

    Args:
        rows: by annotator, then criterion.
        signature: what makes the numbers repeatable.
        notes: what a reader must know: what is missing for which bias.
    """

    rows: tuple[Bias, ...]
    signature: Signature
    notes: tuple[str, ...] = ()


@checks_keywords()
def bias(
    *judged: Run | Sequence[Record] | Path | str,
    gold: Run | Sequence[Record] | Path | str | None = None,
    families: Families | Path | str | None = None,
    lp: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    test_set: TestSet | Path | str | None = None,
) -> Biases:
    """Find the biases of judges; see `find_biases`.

    Args:
        judged: runs or records, of preferences or of scores, from which pairs are made.
        gold: what people said of the same translations.
        families: which systems and judges are of one model family, or a file that says so.
        lp: one language pair.
        resamples: draws of the intervals, over segments; 0 for none.
        seed: of those draws.
        test_set: texts, or their path, of what has none of its own; lengths are theirs.

    Raises:
        DataError: a file is not what it should be; or gold compares no two translations that a judge
            compared.
        UsageError: nothing is given.
    """
    if not judged:
        raise UsageError("bias needs at least one run, or records")
    sources = [_read(f"run {place}", one, lp, test_set) for place, one in enumerate(judged, start=1)]
    if isinstance(families, str | Path):
        systems, annotators = read_families(families)
        families = Families(systems=systems, annotators=annotators)
    return find_biases(
        sources,
        gold=None if gold is None else _read("gold", gold, lp, test_set),
        families=families,
        draws=Draws(resamples=resamples, seed=seed),
    )


def _read(
    name: str,
    judged: Run | Sequence[Record] | Path | str,
    lp: str | None,
    texts: TestSet | Path | str | None,
) -> Source:
    if isinstance(judged, str | Path):
        return read_source(Path(judged), lp, texts)
    return with_texts(source_of(name, judged, lp), lp, texts)


def find_biases(
    sources: Sequence[Source], *, gold: Source | None, families: Families | None, draws: Draws
) -> Biases:
    """Position, length and family bias of every annotator that is not gold, on every criterion.

    Annotations become preferences by their scores, `overall`; a score has no position. Lengths are code
    points of the translations in the sources' test sets. Of several annotators of gold the mean counts.

    Args:
        sources: of the judges; annotators that stand in several of them get the source's name.
        gold: what people said.
        families: which systems and annotators are of one model family.
        draws: of the intervals; segments are drawn whole.

    Raises:
        DataError: gold compares no two translations that a judge compared.
    """
    apart = named_apart([*sources, gold] if gold is not None else sources)
    own, rest = apart[: len(sources)], apart[len(sources) :]
    judged = [p for source in own for p in preferences_of(source)]
    wanted = [p for source in rest for p in preferences_of(source)]
    if gold is not None and not _pairs(judged) & _pairs(wanted):
        told = ", ".join(source.name for source in sources)
        raise DataError(
            f"{told} and gold ({gold.name}) compare no translations in common: do they judge the same "
            "language pair and test set?"
        )
    finder = _Finder(
        gold=tuple(a for source in rest for a in source.annotators),
        families=families or Families(),
        lengths=_lengths(apart),
        draws=draws,
        scored=frozenset(a for source in own if source.has_scores for a in source.annotators),
    )
    rows = [row for criterion in criteria_of(judged) for row in finder.rows(judged, wanted, criterion)]
    names = list(dict.fromkeys(row.annotator for row in rows))
    rows.sort(key=lambda row: names.index(row.annotator))
    return Biases(
        rows=tuple(rows),
        signature=_signature(names, finder, [*judged, *wanted]),
        notes=tuple(_notes(rows, [*judged, *wanted], finder)),
    )


def _signature(names: Sequence[str], finder: _Finder, records: Sequence[Preference | Failure]) -> Signature:
    """Say whose judgements were looked at, beside whose, and how intervals were drawn."""
    fields = {
        "gold": ",".join(finder.gold),
        "lp": ",".join(dict.fromkeys(r.lp for r in records)),
        "resamples": str(finder.draws.resamples),
        "seed": str(finder.draws.seed),
    }
    told = {key: value for key, value in fields.items() if value}
    return Signature(",".join(names) or "nothing", {**told, "version": VERSION})


@dataclass(frozen=True, kw_only=True)
class _Finder:
    """What is known besides the verdicts.

    Args:
        gold: annotators that are gold.
        families: who belongs together.
        lengths: code points by language pair, segment and system.
        draws: of the intervals.
        scored: annotators whose verdicts are made of scores, which have no order.
    """

    gold: tuple[str, ...]
    families: Families
    lengths: Mapping[tuple[str, str, str], int]
    draws: Draws
    scored: frozenset[str]

    def rows(
        self,
        judged: Sequence[Preference | Failure],
        wanted: Sequence[Preference | Failure],
        criterion: str,
    ) -> Iterator[Bias]:
        """Biases of every judge on one criterion."""
        table = tabulate([*judged, *wanted], criterion)
        differences = lengths_of_pairs(table, self.lengths)
        gold = [name for name in self.gold if name in table.annotators]
        draws = replace(self.draws, groups=table.segments)
        for annotator in (a for a in table.annotators if a not in self.gold):
            verdicts = table.column(annotator)
            own = [
                p
                for p in judged
                if isinstance(p, Preference) and (p.annotator, p.criterion) == (annotator, criterion)
            ]
            position, repeat = position_bias(own, self.draws), self_agreement(own, self.draws)
            yield Bias(
                annotator=annotator,
                criterion=criterion,
                n=int((~np.isnan(verdicts)).sum()),
                failed=table.failed.get(annotator, 0),
                undecided=table.undecided.get(annotator, 0),
                position=position if position.n else None,
                repeat=repeat if repeat.n else None,
                length=length_bias(verdicts, table.mean_of(gold) if gold else None, differences, draws)
                if self.lengths
                else None,
                family=family_bias(table, annotator, gold, self.families, draws),
            )


def _lengths(sources: Sequence[Source]) -> dict[tuple[str, str, str], int]:
    """Code points of every translation in the test sets."""
    return {
        (segment.lp, segment.segment, system): len(text)
        for source in sources
        if source.test_set is not None
        for segment in source.test_set
        for system, text in segment.translations.items()
    }


def _pairs(records: Sequence[Preference | Failure]) -> set[tuple[str, str, frozenset[str]]]:
    """Which two translations were compared, whatever the criterion."""
    return {(r.lp, r.segment, frozenset(r.systems)) for r in records if isinstance(r, Preference)}


def _notes(rows: Sequence[Bias], records: Sequence[Preference | Failure], finder: _Finder) -> Iterator[str]:
    failed = sum(row.failed for row in rows)
    if failed:
        tried = failed + sum(row.n for row in rows)
        have = form(failed, "it has no verdict and is", "they have no verdict and are")
        yield f"{of_all(failed, tried, 'comparison')} failed; {have} in no number."
    if undecided := sum(row.undecided for row in rows):
        which = f"{count(undecided, 'comparison')} {form(undecided, 'is', 'are')}"
        yield f"{which} undecided: the verdict changed with the order; no points."
    asked = [row for row in rows if row.annotator not in finder.scored]
    if once := sum(row.n + row.undecided - (row.position.n if row.position else 0) for row in asked):
        which = f"{count(once, 'verdict')} {form(once, 'was', 'were')}"
        yield f"{which} not asked in both orders; {form(once, 'it says', 'they say')} nothing of position."
    if len(asked) < len(rows):
        yield "Verdicts made of scores have no order; nothing is said of their position."
    if rows and not finder.lengths:
        yield "There are no texts, so nothing is said of length: give runs, or --test-set."
    if not finder.gold:
        yield "There is no gold: what looks like a bias may be quality."
    for what, named, known in (
        ("systems", finder.families.systems, {s for r in records for s in r.systems}),
        ("annotators", finder.families.annotators, {r.annotator for r in records}),
    ):
        if unknown := sorted(set(named) - known):
            yield f"The families name {what} that nothing is known of: {', '.join(unknown)}."
