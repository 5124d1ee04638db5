"""`bias`: what judges favour besides quality, criterion by criterion.

Four biases, each its own function: for systems of the judge's model family (`family_bias`), for longer
translations (`length_bias`), for what stood first (`position_bias`), and whether a judge that is asked
again says the same (`self_agreement`). `read_families` reads which families made translations and
judgements.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import numpy as np
from pydantic import SkipValidation

from adjudge.analysis.blindness import sight_of
from adjudge.analysis.preferences import (
    VERDICTS,
    Comparisons,
    criteria_of,
    named_apart,
    numbered,
    preferences_of,
    tabulate,
)
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.record import Failure, Preference, by_pair, rows_by_pair
from adjudge.core.scores import INTERVAL, VERSION, Signature
from adjudge.core.verb import IntervalDraws, LanguagePair, OfMismatched, Option, Seed, Texts, settings, takes
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.formats.join import put_together
from adjudge.formats.read import Given, Judgements, read_judgements, refuse_twice, sources_of
from adjudge.stats.bootstrap import Draws, mean_of
from adjudge.stats.judged import Floats, Result
from adjudge.store.files import read_fields, read_json, read_text


@frozen
class Families:
    """Which model family made a translation, or a judgement; names are free."""

    systems: Mapping[str, str] = field(default_factory=dict)
    annotators: Mapping[str, str] = field(default_factory=dict)


@frozen
class FamilyBias:
    """How an annotator treats systems of its own family, on pairs with exactly one of them."""

    family: str
    systems: tuple[str, ...]  # of that family, which were compared
    own: Result  # points (win 1, tie 0.5) that the annotator gave them
    # points that judges of other families gave them on the same pairs; None without such judges
    others: Result | None = None
    beyond_others: Result | None = None  # the difference, on the pairs that both judged; 0 without bias
    gold: Result | None = None  # points that gold gave them; None without gold
    beyond_gold: Result | None = None  # the difference, on the pairs that both judged; 0 without bias


def family_bias(
    table: Comparisons, annotator: str, gold: Sequence[str], families: Families, draws: Draws
) -> FamilyBias | None:
    """Points for the own family beyond those that others and gold give it on the same pairs.

    FiRE, section 5.3 and figure 5, which shows the shares side by side; here a tie is half a point, so that
    a judge that seldom says "equal" is not taken for one that favours itself, and differences have intervals.

    None where the annotator has no family, or no system of it was compared with another one.
    """
    family = families.annotators.get(annotator)
    own = {system for system, name in families.systems.items() if name == family}
    sides = np.array([(u.first in own) * 1.0 - (u.second in own) for u in table.units])
    sides[sides == 0] = np.nan
    if family is None or np.isnan(sides).all():
        return None
    judges = [a for a in table.annotators if a not in gold and families.annotators.get(a) != family]
    points = (1 + table.column(annotator) * sides) / 2
    others, beyond_others = _beside(table, judges, points, sides, draws)
    wanted, beyond_gold = _beside(table, gold, points, sides, draws)
    return FamilyBias(
        family=family,
        systems=tuple(s for s in table.systems if s in own),
        own=mean_of(points, draws, "none of its pairs with a system of the family has a verdict"),
        others=others,
        beyond_others=beyond_others,
        gold=wanted,
        beyond_gold=beyond_gold,
    )


def _beside(
    table: Comparisons, names: Sequence[str], points: Floats, sides: Floats, draws: Draws
) -> tuple[Result | None, Result | None]:
    if not names:
        return None, None
    theirs = (1 + table.mean_of(names) * sides) / 2
    none = "no pair was judged by both"
    same = np.where(np.isnan(points), np.nan, theirs)
    return mean_of(same, draws, none), mean_of(points - theirs, draws, none)


@frozen
class LengthBias:
    """How often the longer translation wins."""

    longer: Result  # points (win 1, tie 0.5) of the longer translation, of pairs of unequal length
    gold: Result | None = None  # the same by gold, on the pairs that both judged; None without gold
    beyond_gold: Result | None = None  # the difference on those pairs; 0 without bias; None without gold


def length_bias(own: Floats, gold: Floats | None, differences: Floats, draws: Draws) -> LengthBias:
    """Points of the longer translation, of the annotator and of gold.

    A longer translation may well be the better one, so that only what goes beyond gold is a bias (Dubois et
    al. 2024 on judges of other texts).

    `own`: 1 for the first system, 0 for a tie, -1 for the second, NaN for no verdict. `gold`: the same of
    gold, a mean of several annotators where there are several; None without gold. `differences`: length of
    the first translation less that of the second; NaN where a text is missing.
    """
    signs = np.where(differences == 0, np.nan, np.sign(differences))
    points = (1 + own * signs) / 2
    longer = mean_of(points, draws, "no pair of unequal length has a verdict")
    if gold is None:
        return LengthBias(longer=longer)
    wanted = (1 + gold * signs) / 2
    none = "no pair of unequal length has a verdict and gold"
    return LengthBias(
        longer=longer,
        gold=mean_of(np.where(np.isnan(points), np.nan, wanted), draws, none),
        beyond_gold=mean_of(points - wanted, draws, none),
    )


_NOTHING: Final = "nothing was asked in both orders"


@frozen
class PositionBias:
    """Verdicts of one annotator that was asked in both orders."""

    n: int  # comparisons asked in both orders
    consistency: Result  # share of them with the same verdict in both orders; 1 is without bias
    first: Result  # share of all answers that chose what stood first
    second: Result  # share of all answers that chose what stood second
    tie: Result  # share of all answers that chose neither
    # share of comparisons won by the first place in both orders (primacy), less those won by the second in
    # both (recency); from -1 to 1, 0 without bias. `p` is that of an exact two-sided test that flips the
    # signs of whole segments, as the interval draws whole segments: comparisons of one segment share its
    # source and are not independent. With one comparison a segment it is the sign test.
    lean: Result


def position_bias(preferences: Iterable[Preference], draws: Draws) -> PositionBias:
    """Position consistency and fairness.

    consistency = share of comparisons whose two orders have the same verdict, of A, B and E
    fairness = distribution of the answers of both orders over first place, second place and tie

    FiRE, section 4.3 and table 5. `orders` holds verdicts mapped back to (A, B): the first was asked with A
    in the first place, the second with B. Preferences asked once, or more than twice, are left out.
    """
    asked = [p for p in preferences if len(p.orders) == 2]
    segments = numbered([(p.lp, p.segment) for p in asked])
    draws = replace(draws, groups=segments)
    verdicts = np.array([[VERDICTS[v] for v in p.orders] for p in asked]).reshape(len(asked), 2)
    places = verdicts * [1.0, -1.0]  # 1 for the first place, -1 for the second
    both = places.sum(axis=1) / 2
    wins = np.where(np.abs(both) == 1, both, 0.0)
    return PositionBias(
        n=len(asked),
        consistency=mean_of((verdicts[:, 0] == verdicts[:, 1]).astype(np.float64), draws, _NOTHING),
        first=mean_of((places == 1).mean(axis=1), draws, _NOTHING),
        second=mean_of((places == -1).mean(axis=1), draws, _NOTHING),
        tie=mean_of((places == 0).mean(axis=1), draws, _NOTHING),
        lean=replace(
            mean_of(wins, draws, _NOTHING),
            test=partial(_flip_p_value, np.bincount(segments, wins).astype(np.float64)) if asked else None,
        ),
    )


def _flip_p_value(sums: Floats) -> float:
    sizes = np.abs(sums).round().astype(np.int64)
    reach, total = int(sizes.sum()), abs(int(sums.sum()))
    chances = np.zeros(2 * reach + 1)  # of each total, from -reach on
    chances[reach] = 1.0
    for size in sizes[sizes > 0].tolist():
        flipped = np.zeros_like(chances)
        flipped[size:] += chances[:-size] / 2
        flipped[:-size] += chances[size:] / 2
        chances = flipped
    return min(1.0, float(chances[np.abs(np.arange(-reach, reach + 1)) >= total].sum()))


def self_agreement(preferences: Iterable[Preference], draws: Draws) -> Result:
    """Chance that two samples of one comparison have the same verdict, of A, B and E; 1 is always.

    For each comparison the share of its pairs of samples that agree; their mean. It is not corrected for
    chance. Preferences without two samples are left out.
    """
    sampled = [p for p in preferences if len(p.samples) > 1]
    draws = replace(draws, groups=numbered([(p.lp, p.segment) for p in sampled]))
    counts = [Counter(p.samples) for p in sampled]
    same = [sum(n * (n - 1) for n in c.values()) / (c.total() * (c.total() - 1)) for c in counts]
    return mean_of(np.array(same), draws, "nothing was sampled twice")


_KEYS: Final = frozenset({"systems", "annotators"})


def read_families(path: Path | str) -> tuple[dict[str, str], dict[str, str]]:
    """Read system to family, and annotator to family."""
    path = Path(path)
    text = read_text(path)
    if path.suffix == ".json":
        value = read_json(text, path=path)
    else:
        try:
            value = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise DataError(f"not TOML: {error}", path=path) from error
    fields = read_fields(value, _KEYS, "families", path)
    return fields.text_mapping("systems"), fields.text_mapping("annotators")


@frozen
class Bias:
    """Biases of one annotator on one criterion."""

    lp: str  # language pair
    annotator: str
    criterion: str
    n: int  # comparisons with a verdict
    failed: int  # comparisons asked for and not obtained; they are in no number
    # comparisons whose verdict changed with the order and was kept as that; of their bias only that of
    # position is told
    undecided: int = 0
    position: PositionBias | None = None  # None where nothing was asked in both orders
    # how often two samples have the same verdict; None where nothing was sampled twice
    repeat: Result | None = None
    length: LengthBias | None = None  # None where there are no texts
    # None where the annotator has no family, or no system of it was compared
    family: FamilyBias | None = None


class BiasNumber(NamedTuple):
    """One number of one annotator on one criterion."""

    of: Bias
    kind: str
    name: str
    result: Result


@frozen
class Biases(Framed):
    """Biases of all annotators that are not gold."""

    rows: tuple[Bias, ...]  # by annotator, then language pair and criterion
    signature: Signature  # what makes the numbers repeatable
    notes: tuple[str, ...] = ()  # what a reader must know: what is missing for which bias

    def groups(self) -> dict[str, list[BiasNumber]]:
        return {
            lp: [BiasNumber(bias, *found) for bias in rows for found in _results(bias)]
            for lp, rows in rows_by_pair(self.rows).items()
        }

    def columns(self) -> list[Column]:
        return [
            Column("annotator", "whose it is", of="of.annotator"),
            Column("criterion", "on which", of="of.criterion"),
            Column("bias", "what it is a bias for", of="kind"),
            Column("number", "what was measured", of="name"),
            Column("value", "the measure", "score", of="result.value"),
            replace(INTERVAL, of="result.interval"),
            Column("p", "p-value of no bias, two-sided", "p", of="result.p", none=""),
            Column("n", "comparisons", "count", of="result.n"),
            Column("failed", "comparisons that were not obtained", "count", of="of.failed"),
        ]


def _results(bias: Bias) -> list[tuple[str, str, Result]]:
    found: list[tuple[str, str, Result | None]] = []
    if (position := bias.position) is not None:
        found += [
            ("position", "same verdict in both orders", position.consistency),
            ("position", "chose the first", position.first),
            ("position", "chose the second", position.second),
            ("position", "chose neither", position.tie),
            ("position", "first wins both orders, less second", position.lean),
        ]
    found.append(("chance", "same verdict in two samples", bias.repeat))
    if (length := bias.length) is not None:
        found += [
            ("length", "points of the longer", length.longer),
            ("length", "points of the longer, by gold", length.gold),
            ("length", "points of the longer, beyond gold", length.beyond_gold),
        ]
    if (family := bias.family) is not None:
        kind = f"family {family.family}"
        found += [
            (kind, "points of its own", family.own),
            (kind, "points of its own, by other judges", family.others),
            (kind, "points of its own, beyond other judges", family.beyond_others),
            (kind, "points of its own, by gold", family.gold),
            (kind, "points of its own, beyond gold", family.beyond_gold),
        ]
    return [(kind, name, result) for kind, name, result in found if result is not None]


@settings
class BiasSettings:
    """Beside whom, and how, biases are looked for."""

    mismatched: OfMismatched = "refuse"
    gold: Annotated[
        SkipValidation[Given | None],
        Option(help="Human judgements of the same translations: a run or a file.", kind=Path, exists=True),
    ] = None
    families: Annotated[
        SkipValidation[Families | Path | str | None],
        Option(
            help="TOML or JSON file with families: tables [systems] and [annotators].",
            kind=Path,
            exists=True,
            metavar="FILE",
        ),
    ] = None
    lp: LanguagePair = None
    test_set: Texts = None
    resamples: IntervalDraws = 1000
    seed: Seed = 0


@takes(BiasSettings)
def bias(judged: Given | Sequence[Given], settings: BiasSettings) -> Biases:
    """Find position, length and family bias of every judge, on every criterion.

    Annotations become preferences by their scores, `overall`; a score has no position. Lengths are code
    points of the translations. Of several annotators of gold the mean counts. Segments are drawn whole for
    the intervals; 0 resamples give none.

    Args:
        judged: a run, records, a file, or several of them, of preferences or of scores, from which pairs are
            made; annotators that stand in several of them get the source's name.
        settings: gold, families and draws.

    Raises:
        DataError: a file is not what it should be; or gold compares no two translations that a judge
            compared.
        UsageError: nothing is given, or one source twice.
    """
    given = sources_of(judged)
    if not given:
        raise UsageError("bias needs at least one run, or records")
    refuse_twice(given)
    sources = [_read(each, f"run {place}", settings) for place, each in enumerate(given, start=1)]
    gold = None if settings.gold is None else _read(settings.gold, "gold", settings)
    families = settings.families
    if isinstance(families, str | Path):
        systems, annotators = read_families(families)
        families = Families(systems=systems, annotators=annotators)
    sides, told = put_together(
        [*sources, gold] if gold is not None else sources, "translations", settings.mismatched
    )
    apart = named_apart(sides)
    own, rest = apart[: len(sources)], apart[len(sources) :]
    found = [p for source in own for p in preferences_of(source)]
    wanted = [p for source in rest for p in preferences_of(source)]
    if gold is not None and not _pairs(found) & _pairs(wanted):
        these = ", ".join(source.name for source in sources)
        raise DataError(
            f"{these} and gold ({gold.name}) compare no translations in common: do they judge the same "
            "language pair and test set?"
        )
    finder = _Finder(
        gold=tuple(a for source in rest for a in source.annotators),
        families=families or Families(),
        lengths={
            (segment.lp, segment.segment, system): len(text)
            for source in apart
            if source.test_set is not None
            for segment in source.test_set
            for system, text in segment.translations.items()
        },
        draws=Draws(resamples=settings.resamples, seed=settings.seed),
        scored=frozenset(a for source in own if source.has_scores for a in source.annotators),
    )
    golds = by_pair(wanted)
    rows = [
        row
        for lp, judged_there in by_pair(found).items()
        for criterion in criteria_of(judged_there)
        for row in finder.rows(judged_there, golds.get(lp, ()), criterion)
    ]
    names = list(dict.fromkeys(row.annotator for row in rows))
    rows.sort(key=lambda row: names.index(row.annotator))
    fields = {
        "gold": ",".join(finder.gold),
        "lp": ",".join(dict.fromkeys(r.lp for r in [*found, *wanted])),
        "resamples": str(finder.draws.resamples),
        "seed": str(finder.draws.seed),
    }
    kept = {key: value for key, value in fields.items() if value}
    return Biases(
        rows=tuple(rows),
        signature=Signature(",".join(names) or "nothing", {**kept, "version": VERSION}),
        notes=(*sight_of(own), *_notes(rows, [*found, *wanted], finder), *told),
    )


def _read(source: Given, name: str, settings: BiasSettings) -> Judgements:
    found = read_judgements(source, settings.lp, settings.test_set, needed=False).warn()
    named = found if isinstance(source, Judgements | Path | str) else replace(found, name=name)
    return named.of_one_kind(settings.lp)


@frozen
class _Finder:
    """What is known besides the verdicts."""

    gold: tuple[str, ...]
    families: Families  # who belongs together
    lengths: Mapping[tuple[str, str, str], int]  # code points by language pair, segment and system
    draws: Draws
    scored: frozenset[str]  # annotators whose verdicts are made of scores, which have no order

    def rows(
        self,
        judged: Sequence[Preference | Failure],
        wanted: Sequence[Preference | Failure],
        criterion: str,
    ) -> Iterator[Bias]:
        table = tabulate([*judged, *wanted], criterion)
        found = [
            [self.lengths.get((u.lp, u.segment, system), np.nan) for system in (u.first, u.second)]
            for u in table.units
        ]
        differences = np.asarray(np.array(found).reshape(len(found), 2) @ [1.0, -1.0])
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
                lp=judged[0].lp,
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


def _pairs(records: Sequence[Preference | Failure]) -> set[tuple[str, str, frozenset[str]]]:
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
