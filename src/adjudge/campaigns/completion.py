"""The code that a person shows a platform such as Prolific when nothing is left for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from adjudge.campaigns.noticing import checks_noticed
from adjudge.campaigns.schema import assignment, task

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["SHARE_TO_PASS", "completion_code"]

SHARE_TO_PASS: Final = 0.5
"""Share of the attention checks that are to be noticed."""


def completion_code(campaign: Campaign, person: Person) -> str:
    """The campaign's code for who passed, or for who did not; none for who did nothing.

    Who finished work and met no check passed.

    Args:
        campaign: with codes in its settings, or none.
        person: for whom nothing is left to do.
    """
    settings = campaign.settings
    if not _has_worked(campaign, person):
        return ""
    if settings.code_pass == settings.code_fail:
        return settings.code_pass
    noticed = checks_noticed(campaign, person)
    is_passed = sum(noticed) >= SHARE_TO_PASS * len(noticed)
    return settings.code_pass if is_passed else settings.code_fail


def _has_worked(campaign: Campaign, person: Person) -> bool:
    """Whether the person finished anything but a tutorial."""
    is_theirs = (assignment.c.person_id == person.id) & (assignment.c.state == "done")
    query = select(assignment.c.id).join_from(assignment, task).where(is_theirs, task.c.kind != "tutorial")
    with campaign.database.reading() as connection:
        return connection.execute(query.limit(1)).first() is not None
