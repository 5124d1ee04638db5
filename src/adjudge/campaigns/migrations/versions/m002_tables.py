"""The tables of the first release."""

from __future__ import annotations

from alembic import op

from adjudge.campaigns.database import METADATA

revision = "m002"
down_revision = "m001"


def upgrade() -> None:
    """Make all tables."""
    METADATA.create_all(op.get_bind())
