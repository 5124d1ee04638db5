"""The tables of the first release."""

from __future__ import annotations

from alembic import op

from adjudge.campaigns.database import METADATA

revision = "m001"
down_revision = None


def upgrade() -> None:
    METADATA.create_all(op.get_bind())
