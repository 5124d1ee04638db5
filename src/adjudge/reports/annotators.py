"""The annotators of a page: who judged, what they said and the scores and ranking that follow.

`read_judged` reads what a page is about: runs, files of records or scores, and campaigns. `judged_annotators`
and `gold_annotators` make one `Annotator` of each run and of each protocol of anything else. A page treats
people and judges alike from here on; it only knows what each annotator is called.
"""

from __future__ import annotations

import filecmp
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from adjudge.analysis.rank import RankedSystem, Ranking, rank
from adjudge.analysis.score import with_cards
from adjudge.analysis.segment_scores import score_records
from adjudge.core.frozen import frozen
from adjudge.core.mqm import Weights
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Record
from adjudge.core.scores import Kind, Run, RunInfo, Scores
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import DataError, UsageError, warn
from adjudge.formats.read import Judgements, detect, read_judgements
from adjudge.formats.registry import find_format
from adjudge.reports.tables import draws_for
from adjudge.store.files import uncollected
from adjudge.store.run_directory import TEST_SET, read_run

_LINES: Final = frozenset({"mtme-ratings", "mtme-scores"})
"""Formats whose lines are those of a whole test set, of one language pair."""
_PEOPLE: Final = frozenset({"appraise", "campaign", "mqm-tsv", "mtme-ratings", "pearmut"})
"""Formats in which people's judgements are published or collected."""

Judged = Run | Judgements
"""A run, or judgements that are no run: any number of annotators and protocols."""


@uncollected()
def read_judged(
    paths: Sequence[Path | str],
    lp: str | None = None,
    test_set: TestSet | None = None,
    beside: TestSet | None = None,
) -> list[Judged]:
    """Read runs, records, campaigns' exports and score files; what is odd in them is warned of.

    What has texts of its own is read first, so that the rest can take them.
    """
    places = [Path(path) for path in paths]
    forms = [detect(place) for place in places]
    found: dict[int, Judged] = {}
    for late in (False, True):
        sets = [each.test_set for each in found.values() if each.test_set is not None]
        beside = sets[0] if sets else beside
        for index, (place, form) in enumerate(zip(places, forms, strict=True)):
            if find_format(form).takes_texts != late:
                continue
            if form == "run":
                found[index] = read_run(place, _same_texts(place, found, places))
            else:
                found[index] = _read(place, lp, test_set if late else None, beside)
    return [found[index] for index in range(len(places))]


def _same_texts(path: Path, found: Mapping[int, Judged], places: Sequence[Path]) -> TestSet | None:
    for index, known in found.items():
        own, other = path / TEST_SET, places[index] / TEST_SET
        if isinstance(known, Run) and own.is_file() and filecmp.cmp(own, other, shallow=False):
            return known.test_set
    return None


def _read(path: Path, lp: str | None, texts: TestSet | None, beside: TestSet | None) -> Judgements:
    found = read_judgements(path, lp, texts, beside=beside).warn()
    if found.form in _LINES and found.test_set is None:
        raise UsageError(f"{path} has lines without ids: say what they are about with --test-set")
    name = path.resolve().name
    for ending in (".gz", ".seg.rating", ".seg.score", ".jsonl", ".json", ".tsv", ".csv"):
        name = name.removesuffix(ending)
    return replace(found, name=(name or path.name))


def shown_texts(records: Iterable[Record], texts: Iterable[Segment]) -> Iterator[Segment]:
    """Of some texts, the segments and translations that records are about, in the order of the texts."""
    wanted: dict[tuple[str, str], set[str]] = {}
    for record in records:
        wanted.setdefault((record.lp, record.segment), set()).update(record.systems)
    for segment in texts:
        names = wanted.get((segment.lp, segment.segment))
        if names is not None:
            kept = {name: text for name, text in segment.translations.items() if name in names}
            yield segment if len(kept) == len(segment.translations) else replace(segment, translations=kept)


RULES_MODEL: Final = "builtin/rules"
"""The embedded model: checks in the clothes of a judge, and no language model."""

Place = tuple[tuple[str, str], str]
"""Language pair and segment id, and the system."""

Kept = Mapping[tuple[str, str], Collection[str]]
"""Language pair and segment id to the systems whose translations a page shows."""


@frozen
class Result:
    """The numbers of one annotator on one language pair."""

    scores: Scores  # of every system and segment
    ranking: Ranking  # of its systems; without clusters where they cannot be compared


@frozen
class Annotator:
    """One annotator of a page."""

    label: str  # what the page calls it; no two annotators of a page share one
    name: str
    # what it is; `people` and `records` are those of a file or campaign
    kind: Kind | Literal["gold", "people", "records"]
    protocol: str
    records: tuple[Record, ...]  # that concern a translation of the page
    # language pair to numbers; none for a protocol that the page cannot score
    results: Mapping[str, Result] = field(default_factory=dict)
    info: RunInfo | None = None  # of its run; None for all others

    def weights_of(self, lp: str) -> Weights | None:
        """Of its marked errors; None where it has no score by any."""
        return self.results[lp].scores.weights if lp in self.results else None

    @property
    def model(self) -> str:
        """The model of its run, as the signature says it; empty where none was asked."""
        return "" if self.info is None else self.info.signature.fields.get("model", "")

    @cached_property
    def is_several(self) -> bool:
        """Whether several annotators hide behind this one, as in most gold."""
        return len({record.annotator for record in self.records}) > 1

    @property
    def only_rules(self) -> bool:
        """Whether what looks like a judge asked no language model."""
        return self.kind == "judge" and RULES_MODEL in self.model

    @cached_property
    def segment_scores(self) -> dict[Place, float | None]:
        """Score of each translation; None where its judgement failed."""
        return {
            ((s.lp, s.segment), s.system): s.score
            for result in self.results.values()
            for s in result.scores.segments
        }

    def of_lp(self, lp: str) -> tuple[Record, ...]:
        return tuple(record for record in self.records if record.lp == lp)


def judged_annotators(
    judged: Sequence[Judged],
    lps: Iterable[str],
    kept: Kept,
    weights: Weights | None = None,  # of marked errors; None for those of each run
    texts: Iterable[Segment] = (),
) -> list[Annotator]:
    """One annotator for each run, and for each protocol of anything else, in the order given."""
    wanted = tuple(lps)
    plain: list[tuple[Annotator, Judged]] = []
    for each in judged:
        found = _of_given(each, wanted, kept) if isinstance(each, Judgements) else [_of_run(each, wanted)]
        plain += [(annotator, each) for annotator in found]
    labels = _labels([annotator for annotator, _ in plain])
    return [
        replace(
            annotator,
            label=label,
            results=_results(
                annotator.records if isinstance(each, Judgements) else each, wanted, weights, texts
            ),
        )
        for (annotator, each), label in zip(plain, labels, strict=True)
    ]


def _of_run(run: Run, lps: Sequence[str]) -> Annotator:
    return Annotator(
        label=run.info.annotator,
        name=run.info.annotator,
        kind=run.info.kind,
        protocol=run.info.protocol,
        records=tuple(record for record in run.records if record.lp in lps),
        info=run.info,
    )


def _of_given(given: Judgements, lps: Sequence[str], kept: Kept) -> list[Annotator]:
    own = [r for r in shown_records(given.records, kept) if r.lp in lps]
    names = {record.annotator for record in own}
    name = names.pop() if len(names) == 1 else given.name
    called = name if name in given.name else given.name
    return _by_protocol(own, called, name, "people" if given.form in _PEOPLE else "records")


def _by_protocol(
    own: Sequence[Record], called: str, name: str, kind: Literal["gold", "people", "records"]
) -> list[Annotator]:
    protocols = list(dict.fromkeys(record.protocol for record in own))
    return [
        Annotator(
            label=called if len(protocols) == 1 else f"{called} ({protocol})",
            name=name,
            kind=kind,
            protocol=protocol,
            records=tuple(record for record in own if record.protocol == protocol),
        )
        for protocol in protocols
    ]


def shown_records(records: Iterable[Record], kept: Kept) -> Iterator[Record]:
    """Records that concern no translation but those that the page shows."""
    return (r for r in records if all(name in kept.get((r.lp, r.segment), ()) for name in r.systems))


def _labels(annotators: Sequence[Annotator]) -> list[str]:
    labels = [a.label for a in annotators]
    labels = _more(labels, [a.model for a in annotators])
    fields = [{} if a.info is None else dict(a.info.signature.fields) for a in annotators]
    for key in dict.fromkeys(key for own in fields for key in own if key not in {"failed", "model"}):
        labels = _more(labels, [f"{key} {own[key]}" if key in own else "" for own in fields])
    labels = _more(labels, [a.name if a.info is None else "" for a in annotators])
    kinds = ["file" if a.info is None else "run" for a in annotators]
    return _more(labels, [f"{kind} {index}" for index, kind in enumerate(kinds, 1)])


def _more(labels: list[str], words: list[str]) -> list[str]:
    variants: dict[str, set[str]] = {}
    for label, word in zip(labels, words, strict=True):
        variants.setdefault(label, set()).add(word)
    return [
        f"{label}, {word}" if word and len(variants[label]) > 1 else label
        for label, word in zip(labels, words, strict=True)
    ]


def gold_annotators(
    gold: Sequence[Record], kept: Kept, weights: Weights | None = None, texts: Iterable[Segment] = ()
) -> list[Annotator]:
    """One annotator for each protocol of the gold, restricted to translations that the page shows.

    `weights`: of marked errors; None for the default.
    """
    return [
        replace(a, results=_results(a.records, dict.fromkeys(r.lp for r in a.records), weights, texts))
        for a in _by_protocol(list(shown_records(gold, kept)), "gold", "gold", "gold")
    ]


def beside_gold(own: Sequence[Annotator], gold: Sequence[Annotator]) -> list[Annotator]:
    """Leave out who is gold already: measured by itself, it would agree with all of it."""
    kept = []
    for annotator in own:
        if any(annotator.records == each.records for each in gold):
            warn(f"{annotator.label} holds the judgements of gold, and stands on the page as gold alone")
        else:
            kept.append(annotator)
    return kept


def _results(
    judged: Run | Sequence[Record], lps: Iterable[str], weights: Weights | None, texts: Iterable[Segment]
) -> dict[str, Result]:
    """Score and rank each language pair on its own; preferences on `overall`, or else the first criterion."""
    records = judged.records if isinstance(judged, Run) else judged
    known = {record.lp for record in records}
    points = weights if any(find_protocol(r.protocol).has_spans for r in records) else None
    found = {}
    for lp in (lp for lp in lps if lp in known):
        named = [r.criterion for r in records if r.lp == lp and r.protocol == "pairwise" and r.criterion]
        criterion = "overall" if "overall" in named else next(iter(named), None)
        scores = score_records(judged, weights=points, lp=lp, criterion=criterion)
        found[lp] = Result(scores=with_cards(scores, judged, texts, lp=lp), ranking=_ranking(scores))
    return found


def _ranking(scores: Scores) -> Ranking:
    try:
        return rank(scores, resamples=draws_for(len(scores.segments)))
    except DataError as error:
        systems = tuple(
            RankedSystem(system=s.system, score=s.score, interval=None, cluster=None, n=s.n, failed=s.failed)
            for s in scores.systems
        )
        return Ranking(
            signature=scores.signature, method="", systems=systems, notes=(f"Not ranked: {error}.",)
        )
