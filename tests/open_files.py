"""Which files this process holds open."""

from contextlib import suppress
from pathlib import Path

__all__ = ["files_open_in"]


def files_open_in(folder: Path) -> list[Path]:
    """Those below a folder; Linux says."""
    found = []
    for number in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile, as the list itself
            file = number.readlink()
            if file.is_relative_to(folder):
                found.append(file)
    return found
