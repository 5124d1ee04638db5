"""Segments that are judged anew, since people did not agree on them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from adjudge.campaigns.copies import insert_copy, item_values, items_of
from adjudge.campaigns.items import AnyRow
from adjudge.campaigns.schema import item, task
from adjudge.data.submissions import FIRST

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["send_segments_again"]


def send_segments_again(
    connection: Connection, campaign: Campaign, segments: Collection[tuple[str, str]], *, by_others: bool
) -> int:
    """Have segments judged anew by as many people as before, who see nothing of the first judgements.

    Args:
        connection: that writes.
        campaign: theirs.
        segments: language pair and id of each.
        by_others: whether those who judged a document may not judge it again.

    Returns:
        How many new tasks: one for each task of the first pass that holds any of the segments.
    """
    wanted: defaultdict[int, set[int]] = defaultdict(set)
    is_first = (task.c.campaign_id == campaign.id) & task.c.kind.in_(FIRST)
    query = select(task.c.id, task.c.lp, item.c.segment, item.c.id.label("item_id")).join_from(item, task)
    for row in connection.execute(query.where(is_first)) if segments else ():
        if (row.lp, row.segment) in segments:
            wanted[row.id].add(row.item_id)
    redundancy = campaign.settings.redundancy
    for number, chosen in sorted(wanted.items()):
        rows = [row for row in items_of(connection, number) if row.item_id in chosen]
        values = [item_values(row, _bare(row)) for row in rows]
        origin = number if by_others else None
        insert_copy(connection, campaign, number, values, kind="again", redundancy=redundancy, copy_of=origin)
    return len(wanted)


def _bare(row: AnyRow) -> str:
    shown = [{**one, "given": None} for one in json.loads(row.translations)]
    return json.dumps(shown, ensure_ascii=False)
