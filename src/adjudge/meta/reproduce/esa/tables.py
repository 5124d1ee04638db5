"""The ESA paper's tables, number by number: name of a row and of a column to the number as it is printed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from adjudge.data.appraise import AppraiseRow
from adjudge.errors import DataError
from adjudge.meta.campaign.agreeing import error_agreement, meets, score_agreement
from adjudge.meta.campaign.attention import Check, attention, damaged_range
from adjudge.meta.campaign.marks import (
    SAME,
    Mark,
    covered_share,
    pooled_share,
    repeated_share,
    starts_or_ends_within,
)
from adjudge.meta.campaign.profile import error_profile, features_of_ratings, token_counts
from adjudge.meta.measures.result import Floats, Result
from adjudge.meta.reproduce.esa.study import (
    Key,
    Study,
    marks_of_appraise,
    marks_of_wmt,
    points_of,
)
from adjudge.meta.reproduce.inputs import MissingInputError

__all__ = [
    "Numbers",
    "attention_checks",
    "correlations_of_features",
    "counts",
    "coverage",
    "known",
    "protocols",
    "repeated_errors",
    "score_with_gold",
    "segment_agreement",
]

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
    """The value of a measure.

    Raises:
        MissingInputError: it has none.
    """
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
        **{f"annotators of {name}": _annotators(study, name) for name in ("ESA_1", "ESA_2", "MQM")},
        "accuracy of one pair of systems": 100 / (len(study.systems) * (len(study.systems) - 1) / 2),
        **_wmt_counts(study),
    }
    return {(row, "value"): float(value) for row, value in found.items()}


def _annotators(study: Study, campaign: str) -> int:
    return len({study.people[study.last(campaign)[key].login] for key in study.annotated})


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


# Errors that overlap...


def coverage(study: Study) -> Numbers:
    """Table 3: how much of one annotation's errors another one has; as the paper counts, and mended."""
    found: Numbers = {}
    for column, exact in (("", False), (", mended", True)):
        marks = _all_marks(study, exact=exact)
        for one, ours in marks.items():
            for other, theirs in marks.items():
                if one != other:
                    found[one, f"{other}{column}"] = 100 * covered_share(ours, theirs)
                    if exact:
                        found[one, f"{other}, pooled"] = 100 * pooled_share(ours, theirs)
    return found


def _all_marks(study: Study, *, exact: bool) -> Mapping[str, list[tuple[Mark, ...]]]:
    """Marks of the shared translations; exact: ends as they are meant, and none of the source."""
    found = {
        name: [marks_of_appraise(study.last(campaign)[key].spans) for key in study.shared]
        for name, campaign in (("ESA", "ESA_1"), ("MQM", "MQM"))
    }
    found[_MQM_WMT] = [
        marks_of_wmt(study.wmt_spans[key], as_published=not exact, with_source=not exact)
        for key in study.shared
    ]
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


# The same translations twice...


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


# Attention...


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
    """Damaged copies of a campaign, without fillers, by their place in the batches."""
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
    """The copies that the paper counts: none that comes before or after another one in the ESA-AI campaign.

    The paper's script skips a copy where the item before or after it has no spans of the machine, which is
    so for copies; the first and the last item of a batch have one neighbour only, and are counted.
    """
    by_batch: dict[str, list[AppraiseRow]] = {}
    for row in (*study.last("ESA_AI").values(), *_copies(study, "ESA_AI").values()):
        by_batch.setdefault(row.login, []).append(row)
    found = []
    for rows in by_batch.values():
        rows.sort(key=lambda row: row.start)
        for place, row in enumerate(rows):
            around = rows[max(place - 1, 0) : place] + rows[place + 1 : place + 2]
            lonely = len(around) < 2 or all(other.kind == "TGT" for other in around)
            if row.kind == "BAD" and lonely:
                found.append(_place(row))
    return found


# What goes along with the slider...


def correlations_of_features(study: Study) -> Numbers:
    """Table 7: Pearson of the slider with lengths and errors, plain and for each token of the translation."""
    keys = study.annotated
    lengths = {
        "source": token_counts([study.shown[key].source for key in keys]),
        "target": token_counts([study.shown[key].translation for key in keys]),
    }
    severities = study.severities("ESA_1", keys)
    found = features_of_ratings(study.scores("ESA_1", keys), lengths, severities, _missing(study, keys))
    return {(name, "Pearson"): known(result) for name, result in found.items()}


def _missing(study: Study, keys: Sequence[Key]) -> Floats:
    last = study.last("ESA_1")
    return np.array([float(sum(span.is_missing for span in last[key].spans)) for key in keys])
