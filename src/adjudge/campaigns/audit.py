"""Who did what to a campaign: a list that only grows."""

from __future__ import annotations

from sqlalchemy import Connection, insert

from adjudge.campaigns.schema import audit

__all__ = ["write_audit"]


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
