"""Settings from files: the user's own and `adjudge.toml` of a folder, which others may have written.

The user's own file is `~/.config/adjudge/adjudge.toml`, and counts less than the folder's. The folder's file
counts if the user trusts what it says, or if it sets only what `harmless.txt` lists: options that send
nothing, spend nothing, run no code, read and write no file, leave no data out and decide no verdict. Whatever
is not in the list needs trust, for anybody can write the file of a folder that is downloaded.
"""

from __future__ import annotations

import hashlib
import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from adjudge.core.wording import nearest
from adjudge.errors import UsageError

FILE: Final = Path("adjudge.toml")


def settings_files() -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the files that give defaults, each with its content: the folder's, then the user's own."""
    for path in (FILE, user_folder("XDG_CONFIG_HOME", ".config") / FILE):
        if path.is_file():
            table = read_toml(path)
            if path == FILE and (keys := [*_harmful(table)]) and not _mark(table).exists():
                raise UsageError(
                    f"{path} sets {', '.join(keys)}, and you do not trust {path.absolute()} as it is now. "
                    "Such settings may send, spend, run code, reach other files or leave data out. "
                    "Read the file; then add --trust-config, or remove them"
                    + nearest(keys[0], _listed(), most=1)
                )
            yield path, table


def find_default(name: str) -> tuple[Any, str]:
    """Return a value that stands in no table of a command, and its file; None where no file has it."""
    for path, table in settings_files():
        if name in table:
            return table[name], str(path)
    return None, ""


def trust_folder() -> None:
    """Trust the working folder's file with the settings that it has now, there and nowhere else."""
    if FILE.is_file():
        mark = _mark(read_toml(FILE))
        mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mark.touch(0o600)


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file of the user's; numbers with a point are decimals."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    except UnicodeDecodeError as error:
        raise UsageError(f"cannot read {path}: it is not UTF-8, as TOML must be; save it so") from error
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}") from error


def user_folder(variable: str, usual: str) -> Path:
    """Our folder in one of the user's: that of the variable, or else one of the home folder."""
    return Path(os.environ.get(variable) or f"~/{usual}").expanduser() / "adjudge"


def _harmful(table: Mapping[str, Any], above: str = "") -> Iterator[str]:
    listed = _listed()
    for name, value in table.items():
        if isinstance(value, dict) and (value or not above):
            yield from _harmful(value, f"{above}{name}.")
        elif above + name not in listed or re.search(r"[/\\]|\.toml\b", str(value)):
            yield above + name


def _listed() -> list[str]:
    return Path(__file__).with_name("harmless.txt").read_text(encoding="utf-8").split()


def _mark(table: Mapping[str, Any]) -> Path:
    # The folder counts too: the same lines beside other files mean something else.
    digest = hashlib.sha256(f"{FILE.absolute()} {table}".encode("utf-8", "surrogateescape"))
    return user_folder("XDG_STATE_HOME", ".local/state") / "trusted" / digest.hexdigest()
