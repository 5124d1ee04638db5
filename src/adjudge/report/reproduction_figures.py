"""Figures of a paper, drawn again from the numbers that `reproduce` computes for them.

The ESA paper's figures 4 and 9. Its figures 5, 7 and 8 are drawn from the campaigns themselves, by
`adjudge campaign analyse --figures` on its CSV files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from adjudge.meta.reproduce.reproduction import Reproduction
from adjudge.report.campaign_figures import Subsets, subsets_figure, systems_figure
from adjudge.report.figures import Figure

__all__ = ["reproduction_figures"]

_ESA: Final = "esa"
_GOLD: Final = "MQM_WMT"
_NO_SYSTEM: Final = re.compile(r"Spearman|% accuracy|clusters?\b.*|cut \d+")
_SIZE: Final = re.compile(r"(\d+) segments")
_SEGMENTS: Final = 156  # of the systems' means, which all protocols share


def reproduction_figures(found: Reproduction) -> Iterator[Figure]:
    """All that can be drawn; nothing of other papers, and nothing where files are missing."""
    if found.paper == _ESA:
        yield from _systems(_columns(found, "Figure 4"))
        yield from _subsets(_columns(found, "Figure 9"))


def _columns(found: Reproduction, table: str) -> dict[str, dict[str, float]]:
    """Column to rows to our numbers."""
    columns: dict[str, dict[str, float]] = {}
    for cell in found.cells:
        if cell.table == table and cell.ours is not None:
            columns.setdefault(cell.column, {})[cell.row] = cell.ours
    return columns


def _systems(columns: Mapping[str, Mapping[str, float]]) -> Iterator[Figure]:
    """Figure 4: systems by each protocol beside WMT23's MQM."""
    gold = columns.get(_GOLD, {})
    for protocol, numbers in columns.items():
        systems = [row for row in numbers if row in gold and not _NO_SYSTEM.fullmatch(row)]
        if protocol == _GOLD or len(systems) < 2:
            continue
        cuts = [value for row, value in numbers.items() if row.startswith("cut ")]
        ours, theirs = (np.array([side[system] for system in systems]) for side in (numbers, gold))
        yield systems_figure(f"figure-4.{protocol}", systems, ours, theirs, cuts, _SEGMENTS)


def _subsets(columns: Mapping[str, Mapping[str, float]]) -> Iterator[Figure]:
    """Figure 9: as the paper counts, and its mended columns, which end in `, pairs`."""
    for name, is_mended in (("figure-9", False), ("figure-9.pairs", True)):
        curves = {
            protocol.removesuffix(", pairs"): _curve(numbers)
            for protocol, numbers in columns.items()
            if protocol.endswith(", pairs") == is_mended
        }
        if curves:
            best = max(curves, key=lambda protocol: sum(curves[protocol].shares))
            yield subsets_figure(name, curves, best)


def _curve(numbers: Mapping[str, float]) -> Subsets:
    points = sorted(
        (int(match[1]), value / 100) for row, value in numbers.items() if (match := _SIZE.match(row))
    )
    return Subsets([size for size, _ in points], [share for _, share in points])
