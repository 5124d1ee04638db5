"""What Alembic runs: the steps on a connection that is already open, in the transaction of its owner."""

from __future__ import annotations

from alembic import context

from adjudge.campaigns.database import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
