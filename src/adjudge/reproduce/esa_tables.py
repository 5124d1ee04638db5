"""The numbers of the ESA paper by the names that `papers/esa.toml` has for them.

`Study` reads the paper's campaigns, translation by translation, beside WMT23's own annotations. One function
for each table or figure computes all its numbers at once: name of a row and of a column to the number as it
is printed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final

import numpy as np

from adjudge.analysis.study import bins_of, error_profile, features_of_ratings, token_counts
from adjudge.analysis.study_agreement import count_errors, error_agreement, meets, score_agreement
from adjudge.analysis.study_people import (
    Check,
    attention,
    damaged_range,
    learned_speed_up,
    median_seconds,
    seconds_between_starts,
)
from adjudge.analysis.study_pieces import (
    SAME,
    Mark,
    covered_share,
    pooled_share,
    repeated_share,
    starts_or_ends_within,
)
from adjudge.analysis.study_systems import (
    best_major_weight,
    cluster_cuts,
    major_weight_curve,
    subset_agreement,
)
from adjudge.core.protocol import find_category
from adjudge.core.record import ErrorSpan, grouped
from adjudge.errors import DataError
from adjudge.formats.appraise import AppraiseRow, AppraiseSpan, BatchItem, read_appraise, read_batches
from adjudge.formats.mtme import read_mtme, read_ratings
from adjudge.formats.score_file import ScoreTable, read_score_file
from adjudge.reproduce.paper_tables import Definition, Inputs, MissingInputError
from adjudge.stats.bounds import Totals
from adjudge.stats.correlation import spearman
from adjudge.stats.judged import Floats, Result
from adjudge.stats.paired import Test, better_p_values, significance_clusters
from adjudge.stats.spa import pairwise_accuracy
from adjudge.store.files import read_text

Key = tuple[str, int]
"""System, and line of the test set from 0."""

CAMPAIGNS: Final = {
    "ESA_1": "240315rc5ESA",
    "ESA_2": "240520rc6ESA",
    "ESA_again": "240521rc6ESA",
    "MQM": "240315rc5MQM",
    "MQM_again": "240521rc6MQM",
    "ESA_AI": "240315rc5GEMBA",
}
_BATCHES: Final = "batches_wmt23_en-de_esa.json"
_PEOPLE: Final = "Annotators_mapping.csv"
_POINTS: Final = {"minor": 1.0, "major": 5.0, "critical": 25.0, "undecided": 0.0}
_PUNCTUATION: Final = 0.1


def points_of(spans: Iterable[AppraiseSpan]) -> float:
    """What spans cost, negative, as the ESA paper counts: punctuation 0.1 whatever its severity, no cap."""
    return -sum(
        _PUNCTUATION if "Punctuation" in span.error_type else _POINTS[span.severity] for span in spans
    )


def marks_of_appraise(spans: Iterable[AppraiseSpan], *, exact: bool = False) -> tuple[Mark, ...]:
    return tuple(
        Mark(span.start, span.end, span.severity, *_names(span.error_type, exact=exact)) for span in spans
    )


def _names(error_type: Sequence[str], *, exact: bool) -> tuple[str, str]:
    ours = find_category("/".join(error_type)) if exact and error_type else None
    core, _, sub = (ours or "/".join(error_type).lower()).partition("/")
    return core, sub


def marks_of_wmt(spans: Iterable[ErrorSpan], *, as_published: bool, with_source: bool) -> tuple[Mark, ...]:
    found = []
    for span in spans:
        core, _, sub = (span.category or "").partition("/")
        placed = span.start is not None and (with_source or span.side == "translation")
        last = span.end if as_published or span.end is None else span.end - 1
        ends = (span.start, last) if placed else (None, None)
        found.append(Mark(*ends, span.severity, core, sub))
    return tuple(found)


class Study:
    """Everything that the tables need, each file read once and only when it is wanted.

    `rows`, `last`, `gold` and `by_key` are functions of a name, which remember what they gave.
    """

    def __init__(self, folder: Path, wmt: Path, told: Callable[[Path], str]) -> None:
        self.folder, self.wmt, self._told = folder, wmt, told
        self.rows, self.last = cache(self._rows), cache(self._last)
        self.gold, self.by_key = cache(self._gold), cache(self._by_key)

    def there(self, path: Path) -> Path:
        if not path.exists():
            raise MissingInputError(self._told(path))
        return path

    # What was shown...

    @cached_property
    def items(self) -> Mapping[tuple[int, int, str], BatchItem]:
        """Batch, number and document to what was shown."""
        batches = read_batches(self.there(self.folder / _BATCHES))
        return {(b.number, item.number, item.document): item for b in batches for item in b.items}

    @cached_property
    def shown(self) -> Mapping[Key, BatchItem]:
        """The item of each translation, neither damaged nor a filler."""
        return {
            (item.system, item.line): item
            for item in self.items.values()
            if item.line is not None and item.kind == "TGT" and not item.is_duplicate
        }

    def key(self, row: AppraiseRow) -> Key:
        """The translation that a row judges; of a damaged one, the original."""
        item = self.items.get((row.batch, row.item, row.document))
        if item is None or item.line is None:
            raise DataError(f"no batch shows item {row.item} of batch {row.batch}, document {row.document!r}")
        return item.system, item.line

    # What was said...

    def _rows(self, campaign: str) -> tuple[AppraiseRow, ...]:
        path = self.there(self.folder / f"{CAMPAIGNS[campaign]}.scores.csv")
        return tuple(r for r in read_appraise(path).rows if not r.is_tutorial)

    def _last(self, campaign: str) -> dict[Key, AppraiseRow]:
        found: dict[Key, AppraiseRow] = {}
        for row in self.rows(campaign):
            if row.kind == "TGT" and not row.is_duplicate:
                key = self.key(row)
                if key not in found or row.end >= found[key].end:
                    found[key] = row
        return found

    @cached_property
    def people(self) -> Mapping[str, str]:
        text = read_text(self.there(self.folder / _PEOPLE), keep_mark=True).removeprefix("\ufeff")
        return {row["login"]: row["AnnotatorID"] for row in csv.DictReader(io.StringIO(text, newline=""))}

    def _gold(self, name: str) -> ScoreTable:
        return read_score_file(self.there(self.wmt / "human-scores" / f"{name}.seg.score"))

    @cached_property
    def wmt_spans(self) -> Mapping[Key, tuple[ErrorSpan, ...]]:
        path = self.there(self.wmt / "human-scores" / "en-de.mqm.merged.seg.rating")
        records = read_ratings(path, read_mtme(self.wmt, "en-de")).records
        return {(r.system, int(r.segment) - 1): r.spans for r in records}

    # Which translations...

    @cached_property
    def systems(self) -> tuple[str, ...]:
        return tuple(sorted({system for system, _ in self.shown}))

    @cached_property
    def annotated(self) -> tuple[Key, ...]:
        """Translations that both protocols have; by system, then line."""
        return tuple(sorted(self.last("ESA_1").keys() & self.last("MQM").keys()))

    @cached_property
    def shared(self) -> tuple[Key, ...]:
        """Those of them that WMT23 judged by both protocols."""
        golds = [self.by_key("en-de.mqm"), self.by_key("en-de.da-sqm")]
        return tuple(key for key in self.annotated if all(key in gold for gold in golds))

    @cached_property
    def is_shared(self) -> frozenset[Key]:
        return frozenset(self.shared)

    @cached_property
    def again(self) -> tuple[Key, ...]:
        """Those of them that were annotated a second time."""
        twice = self.last("ESA_again").keys() & self.last("MQM_again").keys()
        return tuple(key for key in self.shared if key in twice)

    def _by_key(self, name: str) -> Mapping[Key, float]:
        table = self.gold(name)
        return {
            (system, line): value
            for system, values in zip(table.systems, table.values.tolist(), strict=True)
            for line, value in enumerate(values)
            if not np.isnan(value)
        }

    # Numbers of them...

    def scores(self, protocol: str, keys: Sequence[Key]) -> Floats:
        golds = {"MQM_WMT": "en-de.mqm", "DA_WMT": "en-de.da-sqm"}
        if protocol in golds:
            found = self.by_key(golds[protocol])
            return np.array([found[key] for key in keys])
        campaign = protocol.removesuffix("_spans")
        last = self.last(campaign)
        if campaign != protocol or campaign.startswith("MQM"):
            return np.array([points_of(last[key].spans) for key in keys])
        return np.array([last[key].score for key in keys])

    def by_system(self, protocol: str) -> Floats:
        """Scores of the shared translations, systems by segments, systems by name."""
        return self.scores(protocol, self.shared).reshape(len(self.systems), -1)

    def severities(self, protocol: str, keys: Sequence[Key]) -> list[list[str]]:
        """The severity of each error of each translation."""
        if protocol == "MQM_WMT":
            return [[span.severity for span in self.wmt_spans[key]] for key in keys]
        last = self.last(protocol)
        return [[span.severity for span in last[key].spans] for key in keys]


Numbers = dict[tuple[str, str], float]
"""Row and column to number."""

_MQM_WMT: Final = "MQM_WMT"
_CHECKED: Final = {
    "score of original": ("score of the original", 1),
    "score of copy": ("score of the copy", 1),
    "% lower": ("share with a lower score", 100),
    "errors in original": ("marks in the original", 1),
    "errors in copy": ("marks in the copy", 1),
    "% more errors": ("share with more marks", 100),
    "% damage marked": ("share with the damage marked", 100),
}
"""Row of table 6 to what `attention` calls it, and the scale that the table prints it on."""


def known(result: Result) -> float:
    if result.value is None:
        raise MissingInputError(f"no value: {result.reason}")
    return result.value


def counts(study: Study) -> Numbers:
    """Section 5 and what the text says of WMT23's own annotations."""
    found = {
        "systems": len(study.systems),
        "segments of a system": len({line for _, line in study.annotated}),
        "translations": len(study.annotated),
        "documents": len({study.shown[key].document.partition("#")[0] for key in study.annotated}),
        "shared translations": len(study.shared),
        **{
            f"annotators of {name}": len(
                {study.people[study.last(name)[key].login] for key in study.annotated}
            )
            for name in ("ESA_1", "ESA_2", "MQM")
        },
        "accuracy of one pair of systems": 100 / (len(study.systems) * (len(study.systems) - 1) / 2),
        **_wmt_counts(study),
    }
    return {(row, "value"): float(value) for row, value in found.items()}


def _wmt_counts(study: Study) -> dict[str, float]:
    judged = {key: value for key, value in study.by_key("en-de.mqm").items() if key[0] in study.systems}
    marks = {"all": [study.wmt_spans[key] for key in judged]}
    marks["shared"] = [study.wmt_spans[key] for key in study.shared]
    scores = {"all": np.array(list(judged.values())), "shared": study.scores(_MQM_WMT, study.shared)}
    found = {"DA_WMT of 100": 100 * float((study.scores("DA_WMT", study.shared) == 100).mean())}
    for name, spans in marks.items():
        found[f"MQM_WMT of 0, {name}"] = 100 * float((scores[name] == 0).mean())
        found[f"MQM_WMT without errors, {name}"] = 100 * float(np.mean([not s for s in spans]))
    by_reference = {"all": [key for key in judged if key[0] == "refA"]}
    by_reference["shared"] = [key for key in study.shared if key[0] == "refA"]
    for name, keys in by_reference.items():
        cores = [(s.category or "").partition("/")[0] for key in keys for s in study.wmt_spans[key]]
        found[f"refA, fluency and style, {name}"] = 100 * float(
            np.mean([c in {"fluency", "style"} for c in cores])
        )
        found[f"refA, not accuracy, {name}"] = 100 * float(np.mean([c != "accuracy" for c in cores]))
    return found


def protocols(study: Study) -> Numbers:
    """Table 1: errors, severities and scores by protocol, over the shared translations."""
    found: Numbers = {}
    for name in ("ESA_1", "ESA_2", "MQM", _MQM_WMT):
        profile = error_profile(study.severities(name, study.shared))
        found[name, "errors"] = known(profile["errors a translation"])
        found[name, "% minor"] = 100 * known(profile["share of minor errors"])
        found[name, "% major"] = 100 * known(profile["share of major errors"])
        if name.startswith("ESA"):
            found[name, "score"] = float(study.scores(name, study.shared).mean())
        points = name if name == _MQM_WMT else f"{name}_spans"
        found[name, "points"] = float(study.scores(points, study.shared).mean())
    return found


def score_with_gold(study: Study) -> Numbers:
    """Table 2: tau-c of each protocol with WMT23's MQM, over all shared translations together."""
    gold = study.scores(_MQM_WMT, study.shared)
    names = ("ESA_1", "ESA_1_spans", "ESA_2", "ESA_2_spans", "MQM", "DA_WMT")
    found = {name: score_agreement(gold, study.scores(name, study.shared)) for name in names}
    return {(name, "tau-c"): known(results["Kendall tau-c"]) for name, results in found.items()}


def coverage(study: Study) -> Numbers:
    """Table 3: how much of one annotation's errors another one has; as the paper counts, and mended."""
    found: Numbers = {}
    for column, exact in (("", False), (", mended", True)):
        marks = {
            name: [marks_of_appraise(study.last(campaign)[key].spans) for key in study.shared]
            for name, campaign in (("ESA", "ESA_1"), ("MQM", "MQM"))
        }
        marks[_MQM_WMT] = [
            marks_of_wmt(study.wmt_spans[key], as_published=not exact, with_source=not exact)
            for key in study.shared
        ]
        for one, ours in marks.items():
            for other, theirs in marks.items():
                if one != other:
                    found[one, f"{other}{column}"] = 100 * covered_share(ours, theirs)
                    if exact:
                        found[one, f"{other}, pooled"] = 100 * pooled_share(ours, theirs)
    return found


def repeated_errors(study: Study) -> Numbers:
    """Table 5: errors of the MQM campaign that are marked again; as the paper counts, and mended."""
    found: Numbers = {}
    for ending, exact, is_met in (("", False, starts_or_ends_within), (", mended", True, meets)):
        first, later = (
            [marks_of_appraise(study.last(name)[key].spans, exact=exact) for key in study.again]
            for name in ("MQM", "MQM_again")
        )
        wmt = [
            marks_of_wmt(study.wmt_spans[key], as_published=not exact, with_source=False)
            for key in study.again
        ]
        for same in SAME:
            found[same, f"intra{ending}"] = 100 * repeated_share(first, later, same, is_met)
            found[same, f"inter{ending}"] = 100 * repeated_share(first, wmt, same, is_met)
    return found


def segment_agreement(study: Study) -> Numbers:
    """Table 4 and figure 7: one annotator twice, and two protocols' annotators, on translations."""
    pairs = {
        "intra ESA": ("ESA_1", "ESA_again", study.again),
        "intra MQM": ("MQM", "MQM_again", study.again),
        "inter ESA": ("ESA_1", "ESA_2", study.again),
        "inter MQM": ("MQM", _MQM_WMT, study.again),
        "inter ESA, all": ("ESA_1", "ESA_2", study.shared),
        "inter MQM, all": ("MQM", _MQM_WMT, study.shared),
    }
    found: Numbers = {}
    for column, (one, other, keys) in pairs.items():
        found["translations", column] = len(keys)
        alike = score_agreement(study.scores(one, keys), study.scores(other, keys))
        found["tau-c", column] = known(alike["Kendall tau-c"])
        found["Pearson", column] = known(alike["Pearson"])
        errors = error_agreement(study.severities(one, keys), study.severities(other, keys))
        for measure, definition, result in errors:
            if definition == "paper":
                found[measure.removeprefix("error recall, "), column] = 100 * known(result)
    return found


def attention_checks(study: Study) -> Numbers:
    """Table 6: damaged copies beside their originals; the 59 that the paper counts, and all."""
    found: Numbers = {}
    kept = _with_neighbours(study)
    for name, has_rating in (("ESA", True), ("MQM", False)):
        checks = _checks(study, {"ESA": "ESA_1", "MQM": "MQM"}[name], has_rating=has_rating)
        for ending, chosen in (("", [checks[key] for key in kept]), (", all", list(checks.values()))):
            seen = attention(chosen)
            found["checks", f"{name}{ending}"] = len(chosen)
            for row, (measure, scale) in _CHECKED.items():
                found[row, f"{name}{ending}"] = scale * known(seen[measure])
    return found


_Place = tuple[int, int, str]


def _place(row: AppraiseRow) -> _Place:
    return row.batch, row.item, row.document


def _checks(study: Study, campaign: str, *, has_rating: bool) -> Mapping[_Place, Check]:
    copies = _copies(study, campaign)
    originals = {(row.login, study.key(row)): row for row in study.last(campaign).values()}
    found = {}
    for place, row in sorted(copies.items()):
        first = originals.get((row.login, study.key(row)))
        if first is None:
            raise DataError(f"{row.login!r} judged {row.document!r} and never its original")
        text = study.shown[study.key(row)].translation
        found[place] = Check(
            original=first.score if has_rating else points_of(first.spans),
            damaged=row.score if has_rating else points_of(row.spans),
            original_marks=len(first.spans),
            marks=marks_of_appraise(row.spans),
            damage=damaged_range(text, study.items[place].translation),
        )
    return found


def _copies(study: Study, campaign: str) -> Mapping[_Place, AppraiseRow]:
    """The submission of each damaged copy that stands last in the file, as the paper takes it."""
    rows = (r for r in study.rows(campaign) if r.kind == "BAD" and not r.is_duplicate)
    return {_place(row): row for row in rows}


def _with_neighbours(study: Study) -> list[_Place]:
    every = (*study.last("ESA_AI").values(), *_copies(study, "ESA_AI").values())
    by_batch = grouped((row.login, row) for row in every)
    found = []
    for rows in by_batch.values():
        rows.sort(key=lambda row: row.start)
        for place, row in enumerate(rows):
            around = rows[max(place - 1, 0) : place] + rows[place + 1 : place + 2]
            lonely = len(around) < 2 or all(other.kind == "TGT" for other in around)
            if row.kind == "BAD" and lonely:
                found.append(_place(row))
    return found


def correlations_of_features(study: Study) -> Numbers:
    """Table 7: Pearson of the slider with lengths and errors, plain and for each token of the translation."""
    keys = study.annotated
    lengths = {
        "source": token_counts([study.shown[key].source for key in keys]),
        "target": token_counts([study.shown[key].translation for key in keys]),
    }
    severities, last = study.severities("ESA_1", keys), study.last("ESA_1")
    missing = np.array([float(sum(span.is_missing for span in last[key].spans)) for key in keys])
    found = features_of_ratings(study.scores("ESA_1", keys), lengths, severities, missing)
    return {(name, "Pearson"): known(result) for name, result in found.items()}


_ALPHA: Final = 0.05
_CLIPPED: Final = -15  # the paper's histograms of points end here
_PROTOCOLS: Final = ("DA_WMT", "ESA_1", "ESA_1_spans", "MQM", "MQM_WMT", "ESA_2")
_SIZES: Final = (*range(10, 160, 15), 160)
_WEIGHTS: Final = np.arange(101) / 10


def distributions(study: Study) -> Numbers:
    """Figure 3: the slider in ten bins, and how much of the points is cut off or exactly 0."""
    tenths = bins_of(study.scores("ESA_1", study.shared), 0, 100)
    found = {(words, "ESA_1"): float(n) for words, n in tenths}
    for name in ("ESA_1_spans", "MQM", "MQM_WMT"):
        points = study.scores(name, study.shared)
        found["% below -15", name] = 100 * float((points < _CLIPPED).mean())
        found["% at 0", name] = 100 * float((points == 0).mean())
    return found


def rankings(study: Study) -> Numbers:
    """Figure 4: systems by protocol beside WMT23's MQM, over the shared translations."""
    gold = study.by_system("MQM_WMT").mean(axis=1)
    found: Numbers = {}
    for name in _PROTOCOLS:
        scores = study.by_system(name)
        means = scores.mean(axis=1)
        found["Spearman", name] = known(spearman(gold, means))
        found["% accuracy", name] = 100 * known(pairwise_accuracy(gold, means))
        cuts = cluster_cuts(scores)
        found["clusters", name] = len(cuts) + 1
        found |= {(f"cut {place}", name): cut for place, cut in enumerate(cuts, start=1)}
        found["clusters, rank sums as WMT", name] = _clusters(scores, "rank-sum")
        found["clusters, signed ranks", name] = _clusters(scores, "wilcoxon")
        best = float(means[study.systems.index("refA")])
        found["cluster of refA", name] = 1 + sum(cut > best for cut in cuts)
        found |= {(system, name): float(means[place]) for place, system in enumerate(study.systems)}
    return found


def _clusters(scores: Floats, test: Test) -> int:
    """How many clusters there are where all systems above must be better than all below."""
    means = scores.mean(axis=1)
    order = np.argsort(-means, kind="stable")
    totals = Totals(sums=scores[order].T, sizes=np.ones_like(scores.T))
    p_values = better_p_values(totals, test, resamples=0, seed=0)  # neither test draws
    return significance_clusters(means[order].tolist(), p_values, _ALPHA)[-1]


def _work(study: Study, campaign: str) -> list[AppraiseRow]:
    """One row an item and login, the first of the file, in reversed file order, which is oldest first.

    Damaged copies and fillers are among them, for they are work too.
    """
    found: dict[tuple[str, int], AppraiseRow] = {}
    for row in reversed(study.rows(campaign)):
        found[row.login, row.item] = row
    return list(found.values())


def _seconds(rows: Sequence[AppraiseRow]) -> Floats:
    return seconds_between_starts([row.login for row in rows], np.array([row.start for row in rows]))


def times(study: Study) -> Numbers:
    """Section 6.5: seconds a segment, and how much less ESA takes; of all items, and of the shared ones."""
    found: Numbers = {}
    for ending, of_all in (("", True), (", shared", False)):
        for name in ("MQM", "ESA_1"):
            rows = _work(study, name) if of_all else sorted(_work(study, name), key=lambda row: row.start)
            seconds, kept = _seconds(rows), np.ones(len(rows), dtype=bool)
            if not of_all:
                kept = np.array(
                    [
                        row.kind == "TGT" and not row.is_duplicate and study.key(row) in study.is_shared
                        for row in rows
                    ]
                )
            people = [study.people[row.login] for row, keep in zip(rows, kept, strict=True) if keep]
            median, mean = median_seconds(people, seconds[kept])
            found[name, f"median{ending}"] = median
            found[name, f"mean of medians{ending}"] = mean
        for column in (f"median{ending}", f"mean of medians{ending}"):
            found["% less", column] = 100 * (1 - found["ESA_1", column] / found["MQM", column])
    return found


def speed(study: Study) -> Numbers:
    """Figure 5: how much faster people become; times counted in the order of starts, or of the file."""
    campaigns = {"MQM": ["MQM"], "ESA": ["ESA_1", "ESA_2"], "ESA_1": ["ESA_1"], "ESA_2": ["ESA_2"]}
    found: Numbers = {}
    for ending, by_start in (("", True), (", file order", False)):
        people = {name: _people(study, name, by_start=by_start) for name in ("MQM", "ESA_1", "ESA_2")}
        for row, names in campaigns.items():
            seen = learned_speed_up([seconds for name in names for seconds in people[name]])
            found[row, f"saved{ending}"] = seen.saved
            found[row, f"start{ending}"], found[row, f"end{ending}"] = seen.start, seen.end
    return found


def _people(study: Study, campaign: str, *, by_start: bool) -> list[Floats]:
    """The seconds of each annotator's translations, in the order of their starts.

    `by_start`: whether the item before is the one that was started before, or that stands before.
    """
    rows = _work(study, campaign)
    if by_start:
        rows.sort(key=lambda row: row.start)
    timed = sorted(zip(rows, _seconds(rows).tolist(), strict=True), key=lambda pair: pair[0].start)
    own = ((row, seconds) for row, seconds in timed if row.kind == "TGT" and not row.is_duplicate)
    found = grouped((study.people[row.login], seconds) for row, seconds in own)
    return [np.array(values) for values in found.values()]


def wmt_systems(study: Study, name: str) -> Numbers:
    """Figure 6: systems and cuts by WMT23's own scores, over every segment that was judged.

    `name`: of the scores, such as `en-de.mqm`; also the column.
    """
    table = study.gold(name)
    rows = [place for place, system in enumerate(table.systems) if system != "synthetic_ref"]
    scores = table.values[rows]
    means = np.nanmean(scores, axis=1)
    cuts = sorted(cluster_cuts(scores))
    return {
        **{(table.systems[row], name): float(mean) for row, mean in zip(rows, means, strict=True)},
        ("systems", name): len(rows),
        ("cuts", name): len(cuts),
        **{(f"cut {place}", name): cut for place, cut in enumerate(cuts, start=1)},
    }


def major_weights(study: Study) -> Numbers:
    """Figure 8: which weight of a major error fits the slider best."""
    ratings, errors = study.scores("ESA_1", study.annotated), study.severities("ESA_1", study.annotated)
    minor, major = (count_errors(errors, (kind,)) for kind in ("minor", "major"))
    tokens = token_counts([study.shown[key].translation for key in study.annotated])
    shared = study.severities("ESA_1", study.shared)
    few_minor, few_major = (count_errors(shared, (kind,)) for kind in ("minor", "major"))
    few_ratings = study.scores("ESA_1", study.shared)
    curve = major_weight_curve(ratings, minor, major, _WEIGHTS)
    return {
        ("best weight", "annotated"): best_major_weight(ratings, minor, major, _WEIGHTS),
        ("best weight", "a token"): best_major_weight(ratings, minor / tokens, major / tokens, _WEIGHTS),
        ("best weight", "shared"): best_major_weight(few_ratings, few_minor, few_major, _WEIGHTS),
        **{(f"Pearson at {_WEIGHTS[at]:g}", "annotated"): float(curve[at]) for at in (48, 50, 0, 100)},
    }


def subset_consistency(study: Study) -> Numbers:
    """Figure 9: how well some of the 156 segments rank the systems as all of them do."""
    found: Numbers = {}
    for name in ("MQM_WMT", "DA_WMT", "ESA_1", "ESA_1_spans", "MQM"):
        scores = study.by_system(name)
        for ending, as_paper in (("", True), (", pairs", False)):
            curve = [subset_agreement(scores, size, as_paper=as_paper) for size in _SIZES]
            shares = dict(zip(_SIZES, curve, strict=True))
            found |= {(f"{size} segments", f"{name}{ending}"): 100 * share for size, share in shares.items()}
            found["mean", f"{name}{ending}"] = 100 * float(np.mean(curve))
    means = [found["mean", name] for name in ("ESA_1", "ESA_1_spans", "MQM")]
    found["place among ESA, its errors and MQM", "ESA_1"] = 1 + sum(mean > means[0] for mean in means)
    return found


_WMT: Final = ("en-de.mqm", "en-de.da-sqm", "zh-en.mqm", "zh-en.da-sqm")

CAMPAIGN_MEASURES: Final[Mapping[str, Callable[[Study], Numbers]]] = {
    "campaign_counts": counts,
    "campaign_protocols": protocols,
    "campaign_tau_c": score_with_gold,
    "campaign_coverage": coverage,
    "campaign_agreement": segment_agreement,
    "campaign_repeated_errors": repeated_errors,
    "campaign_attention": attention_checks,
    "campaign_features": correlations_of_features,
    "campaign_distributions": distributions,
    "campaign_rankings": rankings,
    "campaign_speed": speed,
    "campaign_times": times,
    "campaign_major_weights": major_weights,
    "campaign_subsets": subset_consistency,
    **{f"campaign_{name}": partial(wmt_systems, name=name) for name in _WMT},
}
"""What a measure computes: all numbers of one table or figure at once."""


def campaign_value(definition: Definition, row: str, source: str, inputs: Inputs) -> float:
    """Compute a cell about the campaigns."""
    place = inputs.paper.inputs[source].place
    folder = inputs.place(place, "240315rc5ESA.scores.csv")

    def study(_: Path) -> Study:
        return Study(folder, inputs.place("wmt23", "human-scores/en-de.mqm.seg.score"), inputs.told)

    def numbers(_: Path) -> Numbers:
        return CAMPAIGN_MEASURES[definition.measure](inputs.content(folder, study))

    found = inputs.content(folder / definition.measure, numbers)
    if (row, str(definition.criterion)) not in found:
        raise MissingInputError(f"{row} of {definition.criterion}, which the definition does not give")
    return found[row, str(definition.criterion)]
