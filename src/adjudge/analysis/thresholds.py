"""Publish, post-edit or reject: cut-offs of an annotator's score, with a stated risk.

Which translations are bad is said by the errors that people marked, or by the scores they gave.
`find_thresholds` finds the cut-offs on scores; `thresholds` reads files.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import compress
from typing import Annotated, Final, Literal, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.compare import every_part
from adjudge.analysis.preferences import numbered
from adjudge.analysis.score import Place, Source, scored, together
from adjudge.core.columns import Column, Framed
from adjudge.core.frozen import frozen
from adjudge.core.protocol import SEVERITIES, Severity, find_protocol
from adjudge.core.record import Annotation, Record, grouped
from adjudge.core.scores import Interval, Scores
from adjudge.core.verb import Alpha, Option, Scoring, settings
from adjudge.core.wording import count, form, of_sight
from adjudge.errors import DataError, UsageError
from adjudge.stats.few_labels import Labelled, conformal_bound, shown_bound, sources_needed

Key = tuple[str, str, str]
"""A translation: language pair, segment, system."""


def bad_by_severity(records: Iterable[Record], severity: Severity) -> dict[Key, bool]:
    """Translations in which half of their annotators, or more, marked an error so grave or graver."""
    graver = SEVERITIES[SEVERITIES.index(severity) :]
    judged = [r for r in records if isinstance(r, Annotation)]
    could = {
        r.protocol for r in judged if severity in find_protocol(r.protocol).severities or _marks(r, graver)
    }
    if judged and not could:
        of = ", ".join(sorted({r.protocol for r in judged}))
        raise UsageError(
            f"gold marks no {severity} errors, for it is of protocol {of}: say below which score a "
            "translation is bad, --bad NUMBER"
        )
    marked = grouped(((r.lp, r.segment, r.system), _marks(r, graver)) for r in judged if r.protocol in could)
    return {key: 2 * sum(each) >= len(each) for key, each in marked.items()}


def _marks(record: Annotation, severities: Collection[Severity]) -> bool:
    return any(span.severity in severities for span in record.spans) or any(
        record.counts.get(severity, 0) for severity in severities
    )


def bad_by_score(gold: Scores, below: float) -> dict[Key, bool]:
    """Translations whose gold score is lower than a number."""
    found = {(s.lp, s.segment, s.system): s.score for s in gold.segments if s.score is not None}
    low, high = gold.range
    if math.isinf(high):
        high = max(found.values(), default=high) + 0.0  # no minus before a zero
    if not low < below <= high:
        scale = f"{high:g} and below" if math.isinf(low) else f"{low:g} to {high:g}"
        raise UsageError(f"--bad {below:g} lies outside of gold's scores, which are {scale}")
    return {key: score < below for key, score in found.items()}


_ALL: Final = "all"

Guarantee = Literal["tested", "average"]
Decision = Literal["publish", "post-edit", "reject"]


@settings
class ThresholdSettings(Scoring):
    """What is bad, and how much risk may be taken."""

    bad: Annotated[
        str,
        Option(
            help="Lowest severity, or lowest acceptable gold score, that decides which translations are bad.",
            metavar="SEVERITY|NUMBER",
        ),
    ] = "major"
    publish_risk: Annotated[Alpha, Option(help="Largest share of bad translations among the published.")] = (
        0.05
    )
    reject_risk: Annotated[Alpha, Option(help="Largest share of good translations among the rejected.")] = 0.1
    delta: Annotated[Alpha, Option(help="Chance that a guarantee does not hold.")] = 0.05
    guarantee: Annotated[
        Guarantee, Option(help="Bound each risk with probability 1 - delta, or on average.")
    ] = "tested"
    by_document: Annotated[bool, Option(help="Treat documents, not segments, as independent.")] = False
    together: Annotated[
        bool, Option(help="Make all guarantees hold jointly, with probability 1 - delta.")
    ] = False

    def __post_init__(self) -> None:
        if self.together and self.guarantee != "tested":
            raise UsageError("together is for tested guarantees: leave it out for guarantees on average")


@frozen
class Cut:
    """One cut-off, and what it does among the labelled translations."""

    # translations on or above it are published; on or below it, rejected. None: none can be given.
    bound: float | None
    n: int  # labelled translations on its side
    wrong: int  # of them, those that are bad (publish) or good (reject)
    # of the share of wrong ones, 95 %, exact (Clopper and Pearson 1934), with the effective number of
    # translations where sources have several (Korn and Graubard 1998); None where n is 0
    interval: Interval | None


@frozen
class Band:
    """The cut-offs of all translations, of a language pair, or of a domain."""

    name: str  # `all`, a language pair or a domain
    kind: str
    n: int  # labelled translations
    sources: int  # segments that they translate, or documents where those are what is independent
    bad: int
    publish: Cut  # from which score on a translation may go out
    reject: Cut  # up to which score it is not worth editing
    # of all that the annotator scored here: published, post-edited, rejected
    shares: Mapping[Decision, float]


@frozen
class Thresholds(Framed):
    """Cut-offs, and what they promise."""

    bands: tuple[Band, ...]  # all translations, then language pairs and domains where there are several
    settings: ThresholdSettings
    bad: str  # what makes a translation bad, in words
    signature: str  # of the scores that are cut
    notes: tuple[str, ...]  # what a reader must know

    def groups(self) -> dict[str, tuple[Band, ...]]:
        """All translations, then each language pair and each domain."""
        return {"": self.bands}

    def columns(self) -> list[Column]:
        return [
            Column("kind", "what the name is", title=""),
            Column("name", "all, a language pair or a domain", title="translations"),
            Column("n", "labelled translations", "count", title="labelled"),
            Column("sources", "what of them is independent", "count", title=""),
            Column("bad", "bad ones of them", "count"),
            *_cut_columns("publish", "publish from", "bad of them"),
            *_cut_columns("reject", "reject to", "good of them"),
            *(
                Column(name.replace("-", "_"), "share of all", "percent", of=f"shares.{name}", title=name)
                for name in self.bands[0].shares
            ),
        ]


def _cut_columns(side: str, title: str, wrong: str) -> list[Column]:
    return [
        Column(f"{side}_bound", "the cut-off", "score", of=f"{side}.bound", title=title),
        Column(f"{side}_n", "labelled beyond it", "count", of=f"{side}.n", title=""),
        Column(f"{side}_wrong", "wrongly there", "count", of=f"{side}.wrong", title=""),
        Column("", wrong, "count", of=lambda band: _wrong(getattr(band, side)), title=wrong, words=str),
        Column(
            f"{side}_interval",
            "95 % interval of the share that is wrong",
            "interval",
            of=f"{side}.interval",
            title="95 % interval",
            ends=(f"{side}_low", f"{side}_high"),
            words=lambda found: f"{100 * found.low:.1f} to {100 * found.high:.1f} %",
        ),
    ]


def _wrong(cut: Cut) -> str | None:
    return None if cut.interval is None else f"{cut.wrong} of {cut.n}"


class _Row(NamedTuple):
    key: Key
    score: float
    bad: bool | None
    document: str = ""


_SEVERITIES: Final = ("minor", "major", "critical")


def thresholds(source: Source, gold: Source, settings: ThresholdSettings) -> tuple[Thresholds, Scores]:
    """Find the cut-offs of an annotator's scores by what people said of some of the translations.

    Also the scores that are cut.
    """
    (source, gold), notes = together([source, gold], settings, "translations")
    judged, labelled = scored(source, settings), scored(gold, replace(settings, weights=None))
    if settings.bad in _SEVERITIES:
        records = () if labelled.judgements is None else labelled.judgements.records
        labels = bad_by_severity(records, cast("Severity", settings.bad))
        told = f"half of its annotators, or more, marked a {settings.bad} error or a graver one"
    else:
        try:
            below = float(settings.bad)
        except ValueError:
            below = math.nan
        if not math.isfinite(below):
            raise UsageError(f"--bad is {', '.join(_SEVERITIES)}, or a score; got {settings.bad!r}")
        labels, told = bad_by_score(labelled.scores, below), f"its gold score is below {below:g}"
    domains = {**labelled.domains, **judged.domains}
    found = find_thresholds(judged.scores, labels, told, settings=settings, domains=domains)
    return replace(found, notes=(*of_sight(judged.scores.notes), *found.notes, *notes)), judged.scores


def find_thresholds(
    scores: Scores,
    bad: Mapping[Key, bool],
    told: str,
    *,
    settings: ThresholdSettings,
    domains: Mapping[Place, str] | None = None,
) -> Thresholds:
    """Find the cut-offs of an annotator's score.

    Each of the two, of each band, has its own guarantee, and they are not corrected for their number. The
    guarantee is for translations like the labelled ones: of these systems, language pairs and domains.
    """
    rows = [
        _Row(key := (s.lp, s.segment, s.system), s.score, bad.get(key), s.document)
        for s in scores.segments
        if s.score is not None
    ]
    if not any(row.bad is not None for row in rows):
        raise DataError("no translation has both a score and a label: are both of one test set?")
    if settings.by_document and not any(row.document for row in rows):
        raise UsageError("--by-document needs documents, and these scores name none")
    parts = [(_ALL, _ALL, list(rows))]
    for part in every_part([row.key[:2] for row in rows], domains or {}):
        own = list(compress(rows, part.rows.tolist()))
        if any(row.bad is not None for row in own):
            parts.append((part.name, part.kind, own))
    level = settings.delta / (2 * len(parts)) if settings.together else settings.delta
    bands = [_band(name, kind, part, replace(settings, delta=level)) for name, kind, part in parts]
    unscored = sum((s.lp, s.segment, s.system) in bad for s in scores.segments if s.score is None)
    tested = replace(settings, delta=level)
    notes = []
    of = "document" if tested.by_document else "source"
    for band in bands:
        what = "All" if band.kind == _ALL else band.name
        for wanted, cut, risk in (
            ("from which one may publish", band.publish, tested.publish_risk),
            ("up to which one may reject", band.reject, tested.reject_risk),
        ):
            if cut.bound is None:
                notes.append(f"{what}: no score {wanted}; {_why(band, risk, tested)}.")
    if any(band.sources < band.n for band in bands):
        notes.append(
            f"Translations of one {of} are not independent: a tested risk is each {of}'s share, averaged."
        )
    if bands[0].bad in {0, bands[0].n}:  # labels that are all alike tell nothing apart
        which = "None" if not bands[0].bad else "Every one"
        note = f"{which} of the labelled translations is bad: does gold tell of what is meant by bad?"
        notes.insert(0, note)
    labelled = {(*row.key[:2], row.document) for row in rows if row.bad is not None and row.document}
    if not settings.by_document and len({(lp, document) for lp, _, document in labelled}) < len(labelled):
        notes.append(
            "Labelled segments of one document are taken for independent; if documents were drawn for "
            "labelling, add --by-document."
        )
    if not any((domains or {}).get(row.key[:2]) for row in rows):
        notes.append("No domains are known, and none has cut-offs: give the test set that says them.")
    if unscored:
        have = f"{count(unscored, 'labelled translation')} {form(unscored, 'has', 'have')}"
        notes.append(f"{have} no score, for the judgement failed; left out.")
    return Thresholds(
        bands=tuple(bands),
        settings=settings,
        bad=told,
        signature=str(scores.signature_of("segment")),
        notes=tuple(notes),
    )


def _band(name: str, kind: str, rows: Sequence[_Row], settings: ThresholdSettings) -> Band:
    known = [row for row in rows if row.bad is not None]
    keys = [
        (row.key[0], row.document, "") if settings.by_document and row.document else (*row.key[:2], "segment")
        for row in known
    ]
    labelled = Labelled(
        scores=np.array([row.score for row in known]),
        bad=np.array([bool(row.bad) for row in known]),
        groups=np.array(numbered(keys)),
    )
    publish = _cut(labelled, settings.publish_risk, settings)
    reject = _flipped(_cut(labelled.flipped, settings.reject_risk, settings))
    if publish.bound is not None and reject.bound is not None and reject.bound >= publish.bound:
        below = math.nextafter(publish.bound, -math.inf)  # what may go out is not rejected
        reject = _flipped(_side(labelled.flipped, -below))
    decisions = [decide(row.score, publish.bound, reject.bound) for row in rows]
    shares: dict[Decision, float] = {
        each: decisions.count(each) / len(rows) for each in ("publish", "post-edit", "reject")
    }
    return Band(
        name=name,
        kind=kind,
        n=len(labelled.scores),
        sources=len(np.unique(labelled.groups)),
        bad=int(labelled.bad.sum()),
        publish=publish,
        reject=reject,
        shares=shares,
    )


def _cut(labelled: Labelled, risk: float, settings: ThresholdSettings) -> Cut:
    if settings.guarantee == "tested":
        return _side(labelled, shown_bound(labelled, risk, settings.delta))
    bound = conformal_bound(labelled, risk)
    return _side(labelled, None if bound is None or math.isinf(bound) else bound)


def _side(labelled: Labelled, bound: float | None) -> Cut:
    above = np.zeros(len(labelled.scores), bool) if bound is None else labelled.scores >= bound
    n, wrong = int(above.sum()), int(labelled.bad[above].sum())
    interval = _exact(labelled.bad[above], labelled.groups[above]) if n else None
    return Cut(bound=bound, n=n, wrong=wrong, interval=interval)


def _flipped(cut: Cut) -> Cut:
    return cut if cut.bound is None else replace(cut, bound=-cut.bound)


def _exact(bad: NDArray[np.bool_], groups: NDArray[np.int64]) -> Interval:
    from scipy.special import betaincinv

    _, index, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    n, share, units = len(bad), float(bad.mean()), len(sizes)
    around = np.bincount(index, bad.astype(np.float64)) - share * sizes
    spread = units / max(units - 1, 1) * float(np.square(around).sum()) / n**2
    effective = float(n if units == n else min(n, share * (1 - share) / spread) if spread else units)
    wrong = share * effective
    low = 0.0 if not bad.any() else float(betaincinv(wrong, effective - wrong + 1, 0.025))
    high = 1.0 if bad.all() else float(betaincinv(wrong + 1, effective - wrong, 0.975))
    return Interval(low, high)


def decide(score: float, publish: float | None, reject: float | None) -> Decision:
    """What happens to a translation of that score."""
    if publish is not None and score >= publish:
        return "publish"
    return "reject" if reject is not None and score <= reject else "post-edit"


def _why(band: Band, risk: float, settings: ThresholdSettings) -> str:
    least = (
        sources_needed(risk, settings.delta) if settings.guarantee == "tested" else math.ceil(1 / risk - 1)
    )
    if band.sources < least:
        of = "documents" if settings.by_document else "sources"
        return f"that takes {least} labelled {of} at least, and there are {band.sources}"
    return "the score does not tell them apart well enough, or there are too few labels"
