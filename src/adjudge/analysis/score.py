"""`score`: whatever a user has as scores, with intervals and scorecards.

`scored` reads and scores any source; the verbs that compare systems begin with it. A scorecard says how
many points in so many words a system lost, and whether that passes.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.blindness import sight_of
from adjudge.analysis.eval_set import row_means
from adjudge.analysis.eval_set_files import read_one
from adjudge.analysis.preferences import preferences_of
from adjudge.analysis.segment_scores import score_matrix, score_records
from adjudge.core.language import count_words, lp_among, source_language, target_language
from adjudge.core.mqm import PassMark, Weights, total, weights_of
from adjudge.core.record import Annotation, Record, are_by_criteria
from adjudge.core.scores import VERSION, Card, Interval, Run, Scores, SegmentScore, Signature, SystemScore
from adjudge.core.segment import Segment, TestSet
from adjudge.core.verb import ByDocument, OneAnnotator, Scoring, settings, takes
from adjudge.core.wording import count, form, of_all
from adjudge.errors import DataError, UsageError
from adjudge.formats.join import Same, put_together
from adjudge.formats.read import Given, Judgements, load, read_judgements
from adjudge.stats.bootstrap import lone_unit_note
from adjudge.stats.bounds import METHOD, Totals, bounds_of_means

Place = tuple[str, str]
"""Language pair and id of a segment."""

Source = Scores | Given
"""What scores are taken from, or made of."""


@settings
class ScoreSettings(OneAnnotator):
    """How to score, and what the intervals draw."""

    by_document: ByDocument = None


@takes(ScoreSettings)
def score(source: Source, settings: ScoreSettings) -> Scores:
    """Score judgements: errors by weights, preferences into win rates, ratings as they are.

    Every mean has its 95 % interval (`with_intervals`).

    Args:
        source: a run, records, a data frame, or the path of whatever holds judgements, or those of several
            files with one number a line; the path of a test set with gold or metric.
        settings: which judgements, and how.

    Raises:
        DataError: nothing to score.
        UsageError: a setting that the source has no use for; documents wanted where there are none.
    """
    return with_intervals(scored(source, settings, needed=True).scores, by_document=settings.by_document)


def texts_of(judgements: Judgements, given: TestSet | Path | str | None) -> TestSet | None:
    """The texts that were judged: those that are given, else those that the judgements bring."""
    return load(given) if isinstance(given, Path | str) else (given or judgements.test_set)


class Scored(NamedTuple):
    """A source and its scores."""

    scores: Scores  # of its systems and segments
    # language pair and id of each segment to its domain; empty where no texts are known
    domains: Mapping[Place, str]
    judgements: Judgements | None = None  # that were scored; None for scores, and for those of a test set


def scored(
    source: Source, settings: Scoring, *, needed: bool = False, errors_as_preferences: bool = False
) -> Scored:
    if isinstance(settings, OneAnnotator) and settings.is_of_test_set:
        if not isinstance(source, str | Path) or isinstance(settings.weights, Weights):
            raise UsageError(
                "gold or metric is of a test set: give the path of the test set, and weights by name"
            )
        kind, named = ("metric", settings.metric) if settings.gold is None else ("gold", settings.gold)
        found = read_one(
            source,
            settings.lp,
            kind,  # type: ignore[arg-type]
            named or "",
            settings.weights,
            settings.mismatched,
        )
        ((_, one),) = (found.golds or found.metrics).items()
        places = ((found.lp, segment) for segment in found.segments)
        means, judged = row_means(one.segments), ~np.isnan(one.segments)
        notes = list(found.notes)
        known = ~np.isnan(one.systems) & ~np.isnan(means)
        if not np.allclose(one.systems[known], means[known], rtol=1e-4, atol=1e-6):
            notes.append(
                f"System scores of {one.name} are no means of its segment scores; the means count here."
            )
        return Scored(
            Scores(
                signature=Signature(one.name, {"test_set": found.name, "lp": found.lp, "version": VERSION}),
                range=(-math.inf, math.inf),
                segments=tuple(
                    SegmentScore(
                        lp=found.lp, segment=segment, system=system, score=float(value), document=document
                    )
                    for system, row in zip(found.systems, one.segments, strict=True)
                    for segment, document, value in zip(found.segments, found.documents, row, strict=True)
                    if not math.isnan(value)
                ),
                systems=tuple(
                    SystemScore(
                        system=system,
                        score=None if math.isnan(mean) else float(mean),
                        n=int(n),
                        failed=one.failed.get(system, 0),
                    )
                    for system, mean, n in zip(found.systems, means, judged.sum(axis=1), strict=True)
                ),
                notes=tuple(notes),
            ),
            dict(zip(places, found.domains, strict=True)),
        )
    texts = settings.test_set
    if isinstance(source, Scores):
        for name in ("weights", "lp", "criterion", "documents"):
            if getattr(settings, name, None) is not None:
                raise UsageError(
                    f"the input holds scores already: give {name} where they are made, score({name}=...)"
                )
        if texts is not None and needed:
            raise UsageError("test_set is for the path of ratings without ids: leave it out with scores")
        return Scored(source, {} if texts is None else domains_of(texts, None))
    needed = needed and not settings.is_card
    documents = settings.documents if isinstance(settings, OneAnnotator) else None
    judgements = read_judgements(source, settings.lp, texts, needed=needed, documents=documents).warn()
    lp_among(settings.lp, (record.lp for record in judgements.records), judgements.name)
    domains = judgements.domains if texts is None else domains_of(texts, settings.lp)
    made = score_judgements(judgements, settings, errors_as_preferences=errors_as_preferences)
    return Scored(
        with_cards(made, judgements.run or judgements.records, texts_of(judgements, texts), lp=settings.lp),
        domains,
        judgements,
    )


def together(sources: Sequence[Source], settings: Scoring, same: Same) -> tuple[list[Source], list[str]]:
    """Read sources whose scores are compared, once their texts are; scores in memory have none.

    The judgements in place of each source, and what must be said of their texts.
    """
    documents = settings.documents if isinstance(settings, OneAnnotator) else None
    read: list[Source] = [
        each
        if isinstance(each, Scores)
        else read_judgements(each, settings.lp, settings.test_set, needed=False, documents=documents)
        for each in sources
    ]
    judged = [each for each in read if isinstance(each, Judgements)]
    sides, notes = put_together(judged, same, settings.mismatched, settings.lp)
    rest = iter(sides)
    return [next(rest) if isinstance(each, Judgements) else each for each in read], notes


def score_judgements(
    judgements: Judgements, settings: Scoring, *, errors_as_preferences: bool = False
) -> Scores:
    """Score what was read; see `scored`."""
    judged = judgements.run or judgements.records
    if errors_as_preferences and settings.criterion is not None:
        kept = judgements.of_one_kind(None)
        if kept.has_scores and not are_by_criteria(kept.records):
            points = settings.weights or weights_of(kept.records, kept.weights)
            made = preferences_of(kept, by_criterion=True, weights=points)
            scores = score_records(made, lp=settings.lp, criterion=settings.criterion)
            within = f"Preferences on {settings.criterion} are made of errors, each annotator's on their own."
            name = points.name if isinstance(points, Weights) else points
            signature = scores.signature.with_fields(weights=name)
            return replace(scores, signature=signature, notes=(*sight_of([kept]), *scores.notes, within))
    return score_records(
        judged,
        weights=settings.weights,
        lp=settings.lp,
        criterion=settings.criterion,
        beside=judgements.beside,
    )


# Scorecards


def with_cards(
    scores: Scores,
    judged: Run | Sequence[Record],
    texts: Iterable[Segment] | None,  # whose words are counted; None where none are known
    *,
    lp: str | None = None,  # the language pair that was chosen; None for all of the run or of the texts
) -> Scores:
    """Add the scorecard of every system, where the weights say what passes.

    A scorecard is about all segments of a run, or all texts that are given with records. One that is not
    judged (it failed, it is not translated, nobody came to it) has no points, and its words are not counted.
    Where such segments could still make a system fail, its verdict is `open`, never `pass`.
    """
    if scores.weights is None or scores.weights.passing is None:
        return scores
    if texts is None:
        raise UsageError("a scorecard counts words, and these judgements have no texts: add --test-set")
    segments = {(s.lp, s.segment): s for s in texts}
    asked = [(s.lp, s.segment) for s in judged.test_set] if isinstance(judged, Run) else [*segments]
    asked = [place for place in asked if lp is None or place[0] == lp]
    records = judged.records if isinstance(judged, Run) else judged
    graves = {(r.lp, r.segment, r.systems[0]) for r in records if is_critical(r)}
    own: dict[str, dict[Place, float | None]] = {s.system: dict.fromkeys(asked) for s in scores.systems}
    for each in scores.segments:
        own.setdefault(each.system, {})[each.lp, each.segment] = each.score
    systems = tuple(
        replace(s, card=_card(s, own[s.system], segments, graves, scores.weights.passing))
        for s in scores.systems
    )
    lps = {name: with_cards(part, judged, segments.values(), lp=name) for name, part in scores.lps.items()}
    missing = sorted({place[0] for place in asked} - {s.lp for s in scores.segments})
    none = f"Nothing of {', '.join(missing)} is judged, so that scorecards are open: choose with --lp."
    return replace(scores, systems=systems, lps=lps, notes=(*scores.notes, *([none] if missing else ())))


def is_critical(record: Record) -> bool:
    """Whether somebody marked or counted a critical error."""
    if not isinstance(record, Annotation):
        return False
    return any(s.severity == "critical" for s in record.spans) or record.counts.get("critical", 0) > 0


def _card(
    row: SystemScore,
    scores: Mapping[Place, float | None],
    segments: Mapping[Place, Segment],
    graves: Collection[tuple[str, str, str]],
    passing: PassMark,
) -> Card:
    words = {place: _words(place, row.system, segments, passing) for place in scores}
    known = {place: score for place, score in scores.items() if score is not None}
    points, counted = 0.0 - total(known.values()), sum(words[place] for place in known)
    critical = sum((*place, row.system) in graves for place in scores)
    is_over = _exceeds(points, sum(words.values()), passing)
    is_vetoed = (passing.critical is not None and critical > passing.critical) or (
        passing.untranslated is not None and row.untranslated > passing.untranslated
    )
    is_open = len(known) < len(scores) or _exceeds(points, counted, passing)
    return Card(
        points=points,
        words=counted,
        rate=points * passing.words / counted if counted else None,
        quality=100 - 100 * points / counted if counted else None,
        critical=critical,
        unjudged=len(scores) - len(known),
        untranslated=row.untranslated,
        verdict="fail" if is_over or is_vetoed else "open" if is_open or not counted else "pass",
    )


def _exceeds(points: float, words: int, passing: PassMark) -> bool:
    return round(points * passing.words - passing.points * words, 6) > 0


def _words(place: Place, system: str, segments: Mapping[Place, Segment], passing: PassMark) -> int:
    lp = place[0]
    if (segment := segments.get(place)) is None:
        raise UsageError(f"a scorecard counts words, and the texts have no segment {'/'.join(place)}")
    if passing.text == "source":
        return count_words(segment.source, source_language(lp))
    return count_words(segment.translations.get(system, ""), target_language(lp))


def domains_of(texts: TestSet | Path | str, lp: str | None) -> Mapping[Place, str]:
    """Return the domain of each segment of a test set, or of its path."""
    known = load(texts, lp) if isinstance(texts, Path | str) else texts
    return {(s.lp, s.segment): s.domain for s in known}


# Intervals of means


def translated_by_all(scores: Scores) -> tuple[Scores, list[str]]:
    """Leave out segments that a system did not translate: it would be spared what the others are judged on.

    A system of which nothing is judged leaves nothing out.
    """
    judged = {s.system for s in scores.segments if s.score is not None}
    holes = {(s.lp, s.segment) for s in scores.segments if s.is_untranslated and s.system in judged}
    if not holes:
        return scores, []
    segments = tuple(s for s in scores.segments if (s.lp, s.segment) not in holes)
    if all(s.score is None for s in segments):
        lps = ", ".join(dict.fromkeys(s.lp for s in scores.segments))
        raise DataError(f"no segment of {lps} is translated by every one of {', '.join(sorted(judged))}")
    which = of_all(len(holes), len({(s.lp, s.segment) for s in scores.segments}), "segment")
    note = f"{which} {form(len(holes), 'is', 'are')} not translated by every system, and left out."
    names = [system for system in dict.fromkeys(s.system for s in scores.segments) if system in judged]
    lost = {(s.lp, s.segment, s.system) for s in scores.segments if s.is_untranslated}
    places = dict.fromkeys((s.lp, s.segment) for s in scores.segments)
    translated = np.array([[(*place, name) not in lost for name in names] for place in places])
    return replace(scores, segments=segments), [note, *costly_note(translated, names)]


def costly_note(judged: NDArray[np.bool_], systems: Sequence[str]) -> list[str]:
    """Name the systems that cost the others so many segments that more scores would count without them.

    `judged`: segments by systems.
    """
    order = np.argsort(judged.sum(axis=0), kind="stable")
    common = {k: int(judged[:, order[k:]].all(axis=1).sum()) for k in range(max(1, len(systems) - 1))}
    best = max(common, key=lambda k: (common[k] * (len(systems) - k), -k))
    if not best:
        return []
    names = ", ".join(systems[column] for column in order[:best])
    have = f"the others have {count(common[best], 'segment')} in common, and {common[0]:,} with"
    return [f"Without {names} {have} {form(best, 'it', 'them')}."]


def lone_system_note(systems: Collection[str]) -> Sequence[str]:
    """Say that a ranking of one system ranks nothing."""
    told = f"There is one system only, {', '.join(systems)}: nothing is ranked."
    return [told] if len(systems) == 1 else []


FEW_DOCUMENTS: Final = 10
"""Documents below which intervals and tests over them deserve a warning."""


def few_documents_note(units: int, *, by_document: bool) -> Iterator[str]:
    """Say that documents are few, where they are the unit of tests."""
    if by_document and 1 < units < FEW_DOCUMENTS:
        yield (
            f"There are only {units} documents, so that intervals are wide and tests weak. Judge more "
            "documents; --by-segment takes segments for independent and finds more differences than there "
            "are."
        )


def draws_documents(documents: Iterable[tuple[str, str]], *, by_document: bool | None = None) -> bool:
    """Whether documents, and not segments, are drawn: where two or more are known, unless it is said.

    `by_document`: what was asked for; None for no wish.
    """
    known = len({each for each in documents if each[1]})
    if by_document and not known:
        raise UsageError("--by-document needs documents, and these records name none")
    return known > 1 if by_document is None else by_document


def intervals_of_means(totals: Totals, scale: tuple[float, float]) -> list[Interval | None]:
    """95 % intervals of means, by `stats.bounds`; None with fewer than two units of a system."""
    low, high = scale
    found = [None if bounds is None else bounds.interval for bounds in bounds_of_means(totals)]
    return [each and Interval(max(each.low, low), min(each.high, high)) for each in found]


def with_intervals(scores: Scores, *, by_document: bool | None = None) -> Scores:
    """Give every system the 95 % interval of its mean, over the documents or segments it was judged on.

    Documents are the unit where two or more are known, since segments of one document are not independent.
    One document or segment has no interval, and a note says so. A corpus score gets none: it is no mean of
    the segments. Language pairs and all of them together each settle for themselves what the unit is.

    `by_document`: over documents, or segments as if independent; None for documents where they are known.
    """
    lps = {lp: with_intervals(part, by_document=by_document) for lp, part in scores.lps.items()}
    of_lps = [f"{lp}: {note}" for lp, part in lps.items() for note in part.interval_notes]
    if scores.is_corpus or not scores.systems:
        return replace(scores, lps=lps, interval_notes=tuple(of_lps))
    matrix = score_matrix(scores.segments)
    by_document = draws_documents(matrix.documents, by_document=by_document)
    totals = matrix.totals(by_document=by_document)
    units = dict(zip(matrix.systems, (totals.sizes > 0).sum(axis=0).tolist(), strict=True))
    found = dict(zip(matrix.systems, intervals_of_means(totals, scores.range), strict=True))
    has_documents = any(document for _, document in matrix.documents)
    return replace(
        scores,
        systems=tuple(replace(s, interval=found.get(s.system)) for s in scores.systems),
        lps=lps,
        interval_notes=(
            *_interval_notes(units, by_document=by_document, has_documents=has_documents),
            *of_lps,
        ),
    )


def _interval_notes(units: Mapping[str, int], *, by_document: bool, has_documents: bool) -> Iterator[str]:
    of = "documents" if by_document else "segments"
    several = sorted({n for n in units.values() if n > 1})
    alone = [system for system, n in units.items() if n == 1]
    if not several:
        yield from lone_unit_note(max(units.values(), default=0), of)
        return
    over = f"{several[0]:,} to {several[-1]:,} {of}" if len(several) > 1 else f"{several[0]:,} {of}"
    yield f"95 % intervals: {METHOD} over {over}."
    if alone:
        have = form(len(alone), "has", "have")
        yield f"{', '.join(alone)} {have} no interval: one of the {of} alone says nothing of others."
    if by_document and several[0] < FEW_DOCUMENTS:
        yield (
            f"There are only {over}, so that intervals are wide. Judge more documents; --by-segment takes "
            "segments for independent, and its intervals are too narrow."
        )
    if has_documents and not by_document:
        yield (
            "Intervals take segments for independent. Segments of one document are not: intervals are too "
            "narrow."
        )
