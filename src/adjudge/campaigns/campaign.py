"""The folder of a campaign: opening it, its links and guidelines, and the completion code.

A folder holds `campaign.json`, which says where the store is, the store itself where no server has it, the
links, and guidelines for people to edit. The completion code is what a person shows a platform such as
Prolific when nothing is left for them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from sqlalchemy import URL, Connection, make_url, select
from sqlalchemy.exc import ArgumentError

from adjudge.campaigns.attention_checks import checks_noticed
from adjudge.campaigns.database import (
    ROLES,
    Campaign,
    Database,
    Person,
    assignment,
    copy_campaign,
    delete_campaign,
    has_campaign,
    holds_nothing_new,
    size_of,
    task,
)
from adjudge.campaigns.database import campaign as campaign_table
from adjudge.campaigns.people import Link
from adjudge.campaigns.settings import (
    OURS,
    CampaignProtocol,
    CampaignSettings,
    find_campaign_protocol,
    read_settings,
    read_typology,
)
from adjudge.core.wording import command
from adjudge.errors import AdjudgeError, DataError, StoreError, UsageError, warn
from adjudge.formats.spreadsheet import render_cell
from adjudge.store.files import make_parents, read_text, write_text

STORE: Final = "campaign.sqlite"
TYPOLOGY: Final = "typology.toml"
_FILE: Final = "campaign.json"
_LINKS: Final = "links.csv"
_VERSION: Final = 1
_FORMULA_MARK: Final = re.compile("^'")


def read_file(folder: Path) -> dict[str, str]:
    """Read what a campaign says of itself: name, protocol, database."""
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
    """Address of the store: a server's as it was given, else that of a file in the folder."""
    if database is None or "://" not in database:
        return URL.create("sqlite", database=str(folder.absolute() / (database or STORE)))
    try:
        return make_url(database)
    except ArgumentError as error:
        raise UsageError("a store's address reads postgresql://USER@HOST/DATABASE") from error


def refuse_taken(folder: Path) -> None:
    if folder.exists():
        opening = f", or open it: {command('campaign', 'serve', folder)}"
        is_campaign = (folder / _FILE).is_file()
        raise UsageError(f"{str(folder)!r} exists; choose another name{opening if is_campaign else ''}")


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """A folder that gets its name when everything is in it; after an error there is none."""
    make_parents(folder)
    draft = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")
    draft.mkdir(mode=0o700)
    try:
        yield draft
        draft.rename(folder)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def write_file(folder: Path, name: str, protocol: str, database: str | None) -> None:
    said = {"name": name, "protocol": protocol, "database": database or STORE, "version": _VERSION}
    write_text(folder / _FILE, [json.dumps(said, indent=2, ensure_ascii=False), "\n"])


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Be the only one that serves a campaign, until this process ends, whatever ends it."""
    with closing(sqlite3.connect(folder / ".serving", timeout=0, isolation_level=None)) as held:
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


def write_links(
    folder: Path, links: Iterable[Link], held: Sequence[tuple[Sequence[str], int, int]] = ()
) -> None:
    """Write links where their owner alone can read them; a spreadsheet runs no name as a formula."""
    table = io.StringIO()
    rows = csv.writer(table)
    rows.writerow(["name", "role", "languages", "documents", "segments", "link"])
    for number, link in enumerate(links):
        lps, documents, segments = held[number] if number < len(held) else ((), 0, 0)
        is_formula = render_cell(link.name).startswith("'")
        name = f"'{link.name}" if is_formula else link.name
        rows.writerow([name, link.role, " ".join(lps), documents or "", segments or "", link.path])
    path = folder / _LINKS
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(table.getvalue())


def open_campaign(folder: Path | str) -> Campaign:
    folder = Path(folder)
    said = read_file(folder)
    database = _open_store(folder, store_url(folder, said["database"]))
    try:
        return _open(folder, said["name"], database)
    except BaseException:
        database.close()
        raise


def _open_store(folder: Path, url: URL) -> Database:
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").is_file():
        raise DataError(f"the store of the campaign is missing; {_BACK}", path=url.database)
    database = Database(url)
    try:
        _check_store(folder, database)
        database.migrate()
    except BaseException:
        database.close()
        raise
    return database


_BACK: Final = "`adjudge campaign restore NAME BACKUP` brings it back from a backup"


def _refuse_other(folder: Path, name: str, target: Database, old: Connection, new: Connection) -> None:
    if has_campaign(name, new) and not holds_nothing_new(name, new, old):
        remove = command("campaign", "remove", folder, "--database", target.url, "--backup", "FILE")
        raise UsageError(
            f"{target.url} has a campaign {name!r} that holds what the backup lacks, and it is not "
            f"replaced: `{remove}` keeps it in FILE and removes it there; or choose another database"
        )


def _warn_of_newer(name: str, backup: Path, before: Database, old: Connection) -> None:
    with suppress(StoreError), before.reading() as connection:  # a server that is gone may be why it leaves
        if has_campaign(name, connection) and not holds_nothing_new(name, connection, old):
            warn(f"{before.url} holds what people did after {backup} was written, and keeps it")


def _drop_if_empty(database: Database) -> None:
    with database.reading() as connection:
        is_empty = connection.execute(select(campaign_table.c.id)).first() is None
    if database.is_sqlite and is_empty:
        path = Path(make_url(database.url).database or "")
        database.close()
        for ending in ("", "-wal", "-shm"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def restore_campaign(folder: Path, backup: Path, database: str | None = None) -> tuple[str, str]:
    """Put the state of a backup in the place of a campaign that nobody serves.

    Interrupted, it is in one store or in both, is used in one, and the same call goes on.

    Addresses of the store before and of the store now, without passwords. `database`: address of the store
    that has the campaign from then on, or a file in the folder; what the store before it holds stays there.
    None for the store that the folder names.
    """
    if not backup.is_file():
        raise UsageError(f"no file {str(backup)!r}: give a file that `adjudge campaign backup` wrote")
    said = read_file(folder)
    url = store_url(folder, database or said["database"])
    with (
        alone(folder),
        TemporaryDirectory() as scratch,
        closing(Database(store_url(Path(scratch)))) as copy,
        closing(Database(store_url(folder, said["database"]))) as before,
        closing(Database(url)) as target,
    ):
        shutil.copy(backup, Path(scratch) / STORE)  # SQLite writes beside what it opens
        try:
            _check_store(backup, copy)
        except AdjudgeError as error:
            raise DataError("it is no backup of a campaign, or it is damaged", path=backup) from error
        copy.migrate()
        with copy.reading() as old:
            if not has_campaign(said["name"], old):
                raise DataError(f"it has no campaign {said['name']!r}", path=backup)
            target.migrate()
            with target.writing_alone() as new:
                if database is not None:
                    _refuse_other(folder, said["name"], target, old, new)
                copy_campaign(said["name"], old, new)
            if database is not None and before.url != target.url:
                _warn_of_newer(said["name"], backup, before, old)
        if database is not None:
            if target.is_sqlite:  # a path is read from where the command runs, and kept from the folder
                database = os.path.relpath(url.database or "", folder)
            write_file(folder, said["name"], said["protocol"], database)
        return before.url, target.url


def remove_campaign(
    folder: Path, database: str | None, backup: Path | None, confirm: Callable[[str], None]
) -> str:
    """Remove all rows of a campaign that nobody serves from a store; files in its folder stay.

    Nothing is lost: all that people did must be in the store that the folder names, as after a restore to
    another one, or in the backup, which is written before.

    Address of the store, without password. `database`: address of the store; None for the one that the folder
    names. `backup`: file to write; None where everything is in the folder's own store.
    """
    name, own = folder.name, None
    held: AbstractContextManager[None] = nullcontext()
    if database is None or (folder / _FILE).is_file():
        said = read_file(folder)
        name, own, held = said["name"], store_url(folder, said["database"]), alone(folder)
    url = store_url(folder, database) if own is None or database is not None else own
    with held, closing(_open_store(folder, url)) as store:
        with store.reading() as connection:
            if not has_campaign(name, connection):
                raise DataError(f"the store {store.url} has no campaign {name!r}: nothing is removed")
            told = size_of(name, connection)
        if backup is None:
            _refuse_loss(folder, name, store, own)
        confirm(f"campaign {name!r} in {store.url}: {told}")
        with store.writing_alone() as connection:
            if backup is None:
                _refuse_loss(folder, name, store, own)  # whatever was done while the answer was awaited
            else:
                store.backup(backup, name)
            delete_campaign(name, connection)
        _drop_if_empty(store)
        return store.url


def _refuse_loss(folder: Path, name: str, store: Database, own: URL | None) -> None:
    why = "this is the only store that is known of it"
    if own is not None:
        with closing(_open_store(folder, own)) as kept:
            if not kept.is_same(store):
                with store.reading() as one, kept.reading() as other:
                    if holds_nothing_new(name, one, other):
                        return
                why = f"it has what {kept.url} lacks"
    raise UsageError(f"{name!r} stays in {store.url}, since {why}: --backup FILE copies it to FILE first")


def _check_store(folder: Path, database: Database) -> None:
    from adjudge.campaigns.migrations import is_store

    with database.reading() as connection:
        if not is_store(connection):
            why = "holds no campaign: it is empty, or another program's"
            raise DataError(f"the store {database.url} {why}", path=folder)


def _open(folder: Path, name: str, database: Database) -> Campaign:
    with database.reading() as connection:
        row = connection.execute(select(campaign_table).where(campaign_table.c.name == name)).first()
    if row is None:
        raise DataError(f"the store {database.url} has no campaign {name!r}; {_BACK}", path=folder)
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


def protocol_of(settings: CampaignSettings) -> CampaignProtocol:
    """A protocol as a campaign has it: critical errors and half steps only where they were asked for."""
    protocol = find_campaign_protocol(settings.protocol)
    if not settings.critical:
        kept = tuple(severity for severity in protocol.severities if severity != "critical")
        protocol = replace(protocol, severities=kept)
    if settings.half_steps and protocol.scale is not None:
        protocol = replace(protocol, scale=replace(protocol.scale, step=protocol.scale.step / 2))
    return protocol


_GENERAL: Final = "guidelines.md"


def write_guidelines(folder: Path, protocol: str, lps: Iterable[str], *, own: Path | None = None) -> None:
    """Put guidelines into a campaign's folder: ours, or one's own where there are some."""
    names = {_GENERAL: f"{protocol}.md", **{f"{lp}.md": f"{lp}.md" for lp in lps}}
    ours = files("adjudge.campaigns") / "guidelines"
    texts = {name: read_text(own / name) for name in names if own is not None and (own / name).is_file()}
    if own is not None and not texts:
        raise UsageError(f"guidelines: {str(own)!r} has none of {', '.join(names)}")
    for name, file in names.items():
        if name not in texts and (ours / file).is_file():
            texts[name] = (ours / file).read_text(encoding="utf-8")
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        write_text(folder / name, [text])


def read_guidelines(campaign: Campaign, lp: str) -> str:
    """Guidelines as they stand in a campaign's folder now; the general ones where there are no others."""
    folder = campaign.folder / "guidelines"
    names = [_GENERAL, *(f"{known}.md" for known in campaign.settings.lps if known == lp)]
    found = [folder / name for name in names if (folder / name).is_file()]
    return "\n\n".join(read_text(path).strip() for path in found)


SHARE_TO_PASS: Final = 0.5
"""Share of the attention checks that are to be noticed."""


def completion_code(campaign: Campaign, person: Person) -> str:
    """The campaign's code for who passed, or for who did not; none for who did nothing.

    Who finished work and met no check passed.
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
    is_theirs = (assignment.c.person_id == person.id) & (assignment.c.state == "done")
    query = select(assignment.c.id).join_from(assignment, task).where(is_theirs, task.c.kind != "tutorial")
    with campaign.database.reading() as connection:
        return connection.execute(query.limit(1)).first() is not None
