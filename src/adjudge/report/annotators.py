"""Who annotated, with the numbers that follow: one entry for each run, file or campaign, one for the gold.

From here on a page cannot tell a person from a judge; it only knows what each of them is called.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final, Literal

from adjudge.core.annotation import Annotation, Record
from adjudge.core.run import Kind, Run, RunInfo
from adjudge.core.score import Scores
from adjudge.errors import DataError, DataWarning
from adjudge.meta.ranking.rank import RankedSystem, Ranking, rank
from adjudge.report.draws import draws_for
from adjudge.report.given import Given, Judged
from adjudge.scoring.score import score

__all__ = [
    "RULES_MODEL",
    "Annotator",
    "Kept",
    "Result",
    "beside_gold",
    "gold_annotators",
    "judged_annotators",
]

RULES_MODEL: Final = "builtin/rules"
"""The embedded model: checks in the clothes of a judge, and no language model."""

Place = tuple[tuple[str, str], str]
"""Language pair and segment id, and the system."""

Kept = Mapping[tuple[str, str], Iterable[str]]
"""Language pair and segment id to the systems whose translations a page shows."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """The numbers of one annotator on one language pair.

    Args:
        scores: of every system and segment.
        ranking: of its systems; without clusters where they cannot be compared.
    """

    scores: Scores
    ranking: Ranking


@dataclass(frozen=True, kw_only=True)
class Annotator:
    """One annotator of a page.

    Args:
        label: what the page calls it; no two annotators of a page share one.
        name: the annotator that its records name.
        kind: what it is; `people` and `records` are those of a file or campaign.
        protocol: of its records.
        records: that concern a translation of the page.
        results: language pair to numbers; none for a protocol that the page cannot score.
        info: of its run; None for all others.
    """

    label: str
    name: str
    kind: Kind | Literal["gold", "people", "records"]
    protocol: str
    records: tuple[Record, ...]
    results: Mapping[str, Result] = field(default_factory=dict)
    info: RunInfo | None = None

    @property
    def model(self) -> str:
        """The model of its run, as the signature says it; empty where none was asked."""
        return "" if self.info is None else self.info.signature.fields.get("model", "")

    @cached_property
    def is_several(self) -> bool:
        """Whether several annotators hide behind this one, as in most gold."""
        return len({record.annotator for record in self.records}) > 1

    @property
    def kind_words(self) -> str:
        """What a page calls one that has no better name."""
        return "run" if self.info is not None else "file"

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
        """Its records on one language pair."""
        return tuple(record for record in self.records if record.lp == lp)


def judged_annotators(judged: Sequence[Judged], lps: Iterable[str], kept: Kept) -> list[Annotator]:
    """One annotator for each run, and for each protocol of anything else, in the order given.

    Args:
        judged: runs, files and campaigns.
        lps: language pairs to keep.
        kept: what the page shows; of files and campaigns, judgements of anything else are left out.
    """
    wanted = tuple(lps)
    shown = _places(kept)
    plain: list[tuple[Annotator, Judged]] = []
    for each in judged:
        found = _of_given(each, wanted, shown) if isinstance(each, Given) else [_of_run(each, wanted)]
        plain += [(annotator, each) for annotator in found]
    labels = _labels([annotator for annotator, _ in plain])
    return [
        replace(
            annotator,
            label=label,
            results=_results(annotator.records if isinstance(each, Given) else each, wanted),
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


def _of_given(given: Given, lps: Sequence[str], shown: Collection[Place]) -> list[Annotator]:
    """One annotator for each protocol, called as the file is; by the only name in it where that is a part.

    So `en-de.chrF.seg.score` is chrF, and nobody meets a name that means something to its author alone.
    """
    own = [r for r in given.records if r.lp in lps and _is_shown(r, shown)]
    names = {record.annotator for record in own}
    name = names.pop() if len(names) == 1 else given.name
    called = name if name in given.name else given.name
    protocols = list(dict.fromkeys(record.protocol for record in own))
    return [
        Annotator(
            label=called if len(protocols) == 1 else f"{called} ({protocol})",
            name=name,
            kind="people" if given.by_people else "records",
            protocol=protocol,
            records=tuple(record for record in own if record.protocol == protocol),
        )
        for protocol in protocols
    ]


def _places(kept: Kept) -> set[Place]:
    return {(key, name) for key, names in kept.items() for name in names}


def _is_shown(record: Record, shown: Collection[Place]) -> bool:
    return all(((record.lp, record.segment), name) in shown for name in record.systems)


def _labels(annotators: Sequence[Annotator]) -> list[str]:
    """Tell runs of one judge apart: by their model, else by what else their signatures differ in.

    Files of one name are told apart by whom their records name.
    """
    labels = [a.label for a in annotators]
    labels = _more(labels, [a.model for a in annotators])
    fields = [{} if a.info is None else dict(a.info.signature.fields) for a in annotators]
    for key in dict.fromkeys(key for own in fields for key in own if key not in {"failed", "model"}):
        labels = _more(labels, [f"{key} {own[key]}" if key in own else "" for own in fields])
    labels = _more(labels, [a.name if a.info is None else "" for a in annotators])
    return _more(labels, [f"{a.kind_words} {index}" for index, a in enumerate(annotators, 1)])


def _more(labels: list[str], words: list[str]) -> list[str]:
    """Add a word to labels that are shared, where the words differ."""
    variants: dict[str, set[str]] = {}
    for label, word in zip(labels, words, strict=True):
        variants.setdefault(label, set()).add(word)
    return [
        f"{label}, {word}" if word and len(variants[label]) > 1 else label
        for label, word in zip(labels, words, strict=True)
    ]


def gold_annotators(gold: Sequence[Record], kept: Kept) -> list[Annotator]:
    """One annotator for each protocol of the gold, restricted to translations that the page shows.

    Args:
        gold: records of any number of annotators.
        kept: what the page shows.
    """
    shown = _places(kept)
    own = [r for r in gold if _is_shown(r, shown)]
    protocols = list(dict.fromkeys(record.protocol for record in own))
    found = []
    for protocol in protocols:
        records = tuple(record for record in own if record.protocol == protocol)
        label = "gold" if len(protocols) == 1 else f"gold ({protocol})"
        lps = dict.fromkeys(record.lp for record in records)
        results = _results(records, lps)
        found.append(
            Annotator(
                label=label, name="gold", kind="gold", protocol=protocol, records=records, results=results
            )
        )
    return found


def beside_gold(own: Sequence[Annotator], gold: Sequence[Annotator]) -> list[Annotator]:
    """Leave out who is gold already: measured by itself, it would agree with all of it."""
    kept = []
    for annotator in own:
        if any(annotator.records == each.records for each in gold):
            told = f"{annotator.label} holds the judgements of gold, and stands on the page as gold alone"
            warnings.warn(told, DataWarning, stacklevel=3)
        else:
            kept.append(annotator)
    return kept


def _results(judged: Run | Sequence[Record], lps: Iterable[str]) -> dict[str, Result]:
    """Score and rank each language pair on its own."""
    records = judged.records if isinstance(judged, Run) else judged
    known = {record.lp for record in records}
    found = {}
    for lp in (lp for lp in lps if lp in known):
        scores = score(judged, lp=lp, criterion=_criterion(records, lp))
        found[lp] = Result(scores=scores, ranking=_ranking(scores))
    return found


def _criterion(records: Sequence[Record], lp: str) -> str | None:
    """The criterion that ranks preferences: `overall`, or else the first; None for other records."""
    named = [r.criterion for r in records if r.lp == lp and not isinstance(r, Annotation) and r.criterion]
    return "overall" if "overall" in named else next(iter(named), None)


def _ranking(scores: Scores) -> Ranking:
    """Rank; systems that share no judged segment keep their means and get no rank."""
    try:
        return rank(scores, resamples=draws_for(len(scores.segments)))
    except DataError as error:
        systems = tuple(
            RankedSystem(system=s.system, score=s.score, interval=None, cluster=None, n=s.n, failed=s.failed)
            for s in scores.systems
        )
        notes = (f"Not ranked: {error}.",)
        return Ranking(signature=scores.signature, method="", systems=systems, notes=notes)
