"""A store with nothing in it."""

from __future__ import annotations

revision = "m001"
down_revision = None


def upgrade() -> None:
    """Nothing is there before the first tables."""
