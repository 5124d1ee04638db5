"""The whole analysis of a campaign under way, as `adjudge campaign analyse` prints it."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import Any, Final

from adjudge.campaigns.campaign import Campaign, open_campaign
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.resting import Resting
from adjudge.report.tables import Table

__all__ = ["analysis_context"]


def analysis_context(campaign: Campaign, now: float) -> dict[str, Any]:
    """Every table, and of when it is; it rests between two times, as `Resting` says.

    Args:
        campaign: which.
        now: seconds since 1970.
    """
    return _ANALYSES.of(campaign, now)


def _analysed(campaign: Campaign, now: float) -> dict[str, Any]:
    """Analyse in a process of its own: it may take half a minute, and nobody who works is to feel it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        tables = pool.submit(tables_of, campaign.folder).result()
    return {
        "campaign": campaign.name,
        "as_of": datetime.fromtimestamp(now, UTC),
        "tables": tables,
    }


_ANALYSES: Final = Resting(_analysed, perf_counter)


def tables_of(folder: Path) -> list[Table]:
    """Tables of what the store of a campaign holds now."""
    from adjudge.meta.campaign.analysis import analyse
    from adjudge.report.campaign_tables import analysis_tables

    with open_campaign(folder) as campaign:
        file = export_campaign(campaign)
    return analysis_tables(analyse(file))
