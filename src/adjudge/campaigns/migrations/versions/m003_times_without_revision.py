"""Events that tell seconds alone have no revision."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Integer

revision = "m003"
down_revision = "m002"


def upgrade() -> None:
    """Let the revision of an event be missing."""
    with op.batch_alter_table("event") as batch:
        batch.alter_column("revision", existing_type=Integer(), nullable=True)
