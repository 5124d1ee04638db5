"""What kind of errors each system makes, as shares of all its errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final

from adjudge.core.wording import count
from adjudge.report.findings import in_words
from adjudge.report.parts.figures import bars_figure
from adjudge.report.parts.part import Part, file_stem
from adjudge.report.tallies import Errors

__all__ = ["errors_part"]

_MOST: Final = 5  # categories that stand side by side; the rest are one
_REST: Final = "all others"
_FEWEST: Final = 10  # errors of a system; shares of fewer say little


def errors_part(lp: str, errors: Mapping[str, Errors]) -> Part | None:
    """A profile of each annotator that marks categories.

    Args:
        lp: language pair.
        errors: annotator's label to what it marked.
    """
    figures, findings, few = [], [], []
    for label, own in errors.items():
        totals = _core_totals(own)
        kept = {system: counts for system, counts in totals.items() if counts.total() >= _FEWEST}
        if not kept:
            continue
        few += [name for name in totals if name not in kept and totals[name].total()]
        shares = _shares(kept)
        title = _finding(label, kept)
        findings.append(title)
        n = sum(counts.total() for counts in kept.values())
        what = f"share of a system’s errors by {label}, {n:,} errors in all"
        figures.append(bars_figure(f"errors.{lp}.{file_stem(label)}", title, shares, what))
    if not figures:
        return None
    notes = (
        [f"Fewer than {_FEWEST} errors, and no profile: {in_words(list(dict.fromkeys(few)))}."] if few else []
    )
    return Part(
        name="errors", title="Error profile", finding=findings[0], figures=tuple(figures), notes=tuple(notes)
    )


def _core_totals(errors: Errors) -> dict[str, Counter[str]]:
    """System to errors of each core type, in page order."""
    totals: dict[str, Counter[str]] = {system: Counter() for system in errors.systems}
    for category, counts in errors.categories.items():
        core = category.partition("/")[0]
        for system, amount in counts.items():
            totals.setdefault(system, Counter())[core] += amount
    return totals


def _shares(totals: Mapping[str, Counter[str]]) -> dict[str, dict[str, float]]:
    whole = sum(totals.values(), Counter())
    first = [name for name, _ in whole.most_common(_MOST)]
    first = first if len(whole) <= _MOST else first[: _MOST - 1]
    shares = {}
    for system, counts in totals.items():
        row = {name: counts[name] / counts.total() for name in first}
        if len(whole) > len(first):
            row[_REST] = sum(counts[name] for name in whole if name not in first) / counts.total()
        shares[system] = row
    return shares


def _finding(label: str, totals: Mapping[str, Counter[str]]) -> str:
    """Which kind is most frequent, and for how many systems."""
    whole = sum(totals.values(), Counter())
    name, amount = whole.most_common(1)[0]
    leading = sum(counts.most_common(1)[0][0] == name for counts in totals.values())
    of = "every system" if leading == len(totals) else f"{leading} of {count(len(totals), 'system')}"
    share = round(100 * amount / whole.total())
    return f"By {label}, {share} % of errors are of {name}, most frequent in {of}"
