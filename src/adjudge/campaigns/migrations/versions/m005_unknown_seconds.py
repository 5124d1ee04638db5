"""Seconds of work are missing where nobody measured them, as in answers that were imported."""

from __future__ import annotations

from alembic import op
from sqlalchemy import Float, text

revision = "m005"
down_revision = "m004"

_UNKNOWN = """
UPDATE answer SET active = NULL WHERE active = 0 AND EXISTS (
  SELECT 1 FROM event
  WHERE event.assignment_id = answer.assignment_id AND event.item_id = answer.item_id
    AND event.page = 'import'
)
"""


def upgrade() -> None:
    """Let the seconds of an answer be missing; of what was imported without them they are."""
    with op.batch_alter_table("answer") as batch:
        batch.alter_column("active", existing_type=Float(), nullable=True)
    op.execute(text(_UNKNOWN))
