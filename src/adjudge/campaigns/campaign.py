"""A campaign, opened: `folder.py` says which files it has, `making.py` makes it of a test set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from sqlalchemy import select

from adjudge.campaigns.database import Database
from adjudge.campaigns.folder import TYPOLOGY, read_file, store_url
from adjudge.campaigns.protocols import CampaignProtocol, find_campaign_protocol
from adjudge.campaigns.schema import campaign as campaign_table
from adjudge.campaigns.settings import Settings, read_settings
from adjudge.campaigns.typology import OURS, read_typology
from adjudge.errors import DataError

__all__ = ["Campaign", "open_campaign", "protocol_of"]


@dataclass(frozen=True, kw_only=True)
class Campaign:
    """An open campaign; safe to share between threads.

    Args:
        folder: where its files are.
        id: in the store.
        name: also of the folder, when it was made.
        settings: as it was set up.
        protocol: as the settings have it: with half steps or critical errors where they were asked for.
        categories: that an error may have, and what each means.
        database: the store.
    """

    folder: Path
    id: int
    name: str
    settings: Settings
    protocol: CampaignProtocol
    categories: Mapping[str, str]
    database: Database

    def __enter__(self) -> Self:
        """Use it; at the end its store is closed."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the store."""
        self.database.close()


def open_campaign(folder: Path | str) -> Campaign:
    """Open a campaign; its store is carried to the tables of this version.

    Raises:
        UsageError: no campaign is there.
        DataError: its files are damaged.
        StoreError: the store cannot be opened, or is of a newer version.
    """
    folder = Path(folder)
    said = read_file(folder)
    url = store_url(folder, said["database"])
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise DataError("the store of the campaign is missing", path=url.database)
    database = Database(url)
    try:
        _check_store(folder, database)
        database.migrate()
        return _open(folder, said["name"], database)
    except BaseException:
        database.close()
        raise


def _check_store(folder: Path, database: Database) -> None:
    """Refuse to write tables into a store that is empty or another program's."""
    from adjudge.campaigns.migrations import is_store

    with database.reading() as connection:
        if not is_store(connection):
            why = "holds no campaign: it is empty, or another program's"
            raise DataError(f"the store {database.url} {why}", path=folder)


def _open(folder: Path, name: str, database: Database) -> Campaign:
    with database.reading() as connection:
        row = connection.execute(select(campaign_table).where(campaign_table.c.name == name)).first()
    if row is None:
        raise DataError(f"the store {database.url} has no campaign {name!r}", path=folder)
    settings = read_settings(row.settings)
    return Campaign(
        folder=folder,
        id=row.id,
        name=row.name,
        settings=settings,
        protocol=protocol_of(settings),
        categories=read_typology(typology) if (typology := folder / TYPOLOGY).is_file() else OURS,
        database=database,
    )


def protocol_of(settings: Settings) -> CampaignProtocol:
    """A protocol as a campaign has it: critical errors and half steps only where they were asked for."""
    protocol = find_campaign_protocol(settings.protocol)
    if not settings.critical:
        kept = tuple(severity for severity in protocol.severities if severity != "critical")
        protocol = replace(protocol, severities=kept)
    if settings.half_steps and protocol.scale is not None:
        protocol = replace(protocol, scale=replace(protocol.scale, step=protocol.scale.step / 2))
    return protocol
