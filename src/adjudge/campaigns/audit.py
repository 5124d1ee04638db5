"""Who did what to a campaign: a list that only grows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Connection, insert, select

from adjudge.campaigns.schema import audit

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign

__all__ = ["AuditLine", "read_audit", "write_audit"]


@dataclass(frozen=True, kw_only=True)
class AuditLine:
    """One thing that was done.

    Args:
        at: seconds since 1970.
        actor: name of a person, or `command` where it was the command line.
        action: one word or two.
        detail: what to, or how much.
    """

    at: float
    actor: str
    action: str
    detail: str


def read_audit(campaign: Campaign) -> tuple[AuditLine, ...]:
    """Everything that was done to a campaign, the first thing first."""
    columns = (audit.c.at, audit.c.actor, audit.c.action, audit.c.detail)
    query = select(*columns).where(audit.c.campaign_id == campaign.id).order_by(audit.c.id)
    with campaign.database.reading() as connection:
        rows = connection.execute(query)
        return tuple(AuditLine(at=at, actor=who, action=what, detail=more) for at, who, what, more in rows)


def write_audit(
    connection: Connection, campaign: int, now: float, *, actor: str, action: str, detail: str = ""
) -> None:
    """Add a line.

    Args:
        connection: within the transaction of the action itself, so that neither is without the other.
        campaign: id.
        now: seconds since 1970.
        actor: name of a person, or `command` where it was the command line.
        action: one word or two.
        detail: never a secret.
    """
    row = {"campaign_id": campaign, "at": now, "actor": actor, "action": action, "detail": detail}
    connection.execute(insert(audit).values(**row))
