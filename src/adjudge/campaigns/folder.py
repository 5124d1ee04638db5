"""A campaign's folder: where its store is, guidelines for people to edit, and the links.

NAME/campaign.json     name, protocol, address of the store, version
NAME/campaign.sqlite   the store, where it is no server's
NAME/guidelines/*.md   what annotators read; may be edited at any time
NAME/media/            sources that are no text
NAME/typology.toml     categories of errors, where they are not ours
NAME/links.csv         each person's way in, as it was when the campaign was made
NAME/.serving          held by the process that serves it

The folder is readable by its owner alone.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import secrets
import shlex
import shutil
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from adjudge.campaigns.people import ROLES, Link
from adjudge.data.files import write_text
from adjudge.data.spreadsheet import render_cell
from adjudge.errors import DataError, StoreError, UsageError

__all__ = [
    "STORE",
    "TYPOLOGY",
    "alone",
    "read_file",
    "read_links",
    "refuse_taken",
    "store_url",
    "unfinished",
    "write_file",
    "write_links",
]

STORE: Final = "campaign.sqlite"
TYPOLOGY: Final = "typology.toml"
_FILE: Final = "campaign.json"
_LINKS: Final = "links.csv"
_SERVING: Final = ".serving"
_VERSION: Final = 1
_FORMULA_MARK: Final = re.compile("^'")


def read_file(folder: Path) -> dict[str, str]:
    """Read what a campaign says of itself: name, protocol, database.

    Raises:
        UsageError: no campaign is there.
        DataError: its file is damaged, or of another version.
    """
    path = folder / _FILE
    if not path.is_file():
        raise UsageError(
            f"no campaign in {str(folder)!r}: it has no {_FILE}; `adjudge campaign new` makes one"
        )
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["version"] != _VERSION:
            raise DataError(f"wanted a campaign of version {_VERSION}, got {said['version']!r}", path=path)
        return {key: str(said[key]) for key in ("name", "protocol", "database")}
    except (ValueError, KeyError, TypeError, OSError) as error:
        raise DataError(
            f"wanted name, protocol, database and version as JSON, got {error!r}", path=path
        ) from error


def store_url(folder: Path, database: str | None = None) -> URL:
    """Address of the store: a server's as it was given, else that of a file in the folder.

    Raises:
        UsageError: no address.
    """
    if database is None or "://" not in database:
        return URL.create("sqlite", database=str(folder.absolute() / (database or STORE)))
    try:
        return make_url(database)
    except ArgumentError as error:
        raise UsageError("a store's address reads postgresql://USER@HOST/DATABASE") from error


def refuse_taken(folder: Path) -> None:
    """Refuse a name at which something is.

    Raises:
        UsageError: something is; where that is a campaign, says what opens it.
    """
    if folder.exists():
        opening = f", or open it: adjudge campaign serve {shlex.quote(str(folder))}"
        is_campaign = (folder / _FILE).is_file()
        raise UsageError(f"{str(folder)!r} exists; choose another name{opening if is_campaign else ''}")


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """A folder that gets its name when everything is in it; after an error there is none."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    draft.mkdir(mode=0o700)
    try:
        yield draft
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_file(folder: Path, name: str, protocol: str, database: str | None) -> None:
    """Write what a campaign says of itself."""
    said = {"name": name, "protocol": protocol, "database": database or STORE, "version": _VERSION}
    write_text(folder / _FILE, [json.dumps(said, indent=2, ensure_ascii=False), "\n"])


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only one that serves a campaign, until this process ends, whatever ends it.

    Raises:
        UsageError: another process serves it.
        StoreError: the folder cannot be written to.
    """
    with closing(sqlite3.connect(folder / _SERVING, timeout=0, isolation_level=None)) as held:
        try:
            held.execute("PRAGMA locking_mode = EXCLUSIVE")
            held.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise StoreError(f"cannot serve {str(folder)!r}: {error}; may you write there?") from error
            taken = f"another process serves {str(folder)!r} already: stop it, or use it"
            raise UsageError(taken) from error
        yield  # the file stays: who removed it could remove what the next process holds


def read_links(folder: Path) -> tuple[Link, ...]:
    """Links as they were handed out when the campaign was made; people may have edited or moved the file."""
    try:
        rows = list(csv.DictReader((folder / _LINKS).read_text(encoding="utf-8").splitlines()))
    except (OSError, UnicodeDecodeError, csv.Error):
        return ()
    return tuple(
        Link(name=_FORMULA_MARK.sub("", row["name"]), role=role, secret=row["link"].removeprefix("/#"))
        for row in rows
        for role in ROLES
        if row.get("role") == role and row.get("name") and row.get("link")
    )


def write_links(folder: Path, links: Iterable[Link]) -> None:
    """Write links where their owner alone can read them; a spreadsheet runs no name as a formula."""
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["name", "role", "link"])
    rows.writerows([_cell(link.name), link.role, link.path] for link in links)
    path = folder / _LINKS
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(table.getvalue())


def _cell(name: str) -> str:
    return f"'{name}" if render_cell(name).startswith("'") else name
