"""A call store that looks into another one first of all that it would ask for, and never writes that one."""

from __future__ import annotations

from pathlib import Path

from adjudge.core.ask import Reply
from adjudge.data.calls import CallReader, CallStore

__all__ = ["LayeredStore", "open_store"]


class LayeredStore(CallStore):
    """The store of a part of a run, on top of the store of the whole run.

    Args:
        path: of the SQLite file that is written.
        run: name of the run.
        base: store whose answers count too.
    """

    def __init__(self, path: Path, run: str, base: Path) -> None:
        """Open both.

        Raises:
            StoreError: one cannot be opened.
        """
        self._base = CallReader(base)
        try:
            super().__init__(path, run)
        except BaseException:
            self._base.close()
            raise

    def find(self, key: bytes) -> Reply | None:
        """The reply to a request in either of them."""
        return super().find(key) or self._base.find(key)

    def close(self) -> None:
        """Close both."""
        self._base.close()
        super().close()


def open_store(path: Path, run: str, base: Path | None, *, is_shared: bool = False) -> CallStore:
    """Open a store, on top of another one where that is there.

    Args:
        path: of the SQLite file that is written.
        run: name of the run.
        base: store whose answers count too.
        is_shared: whether other processes may write it at the same time; a store on top of another is not.

    Raises:
        StoreError: one of them cannot be opened.
    """
    if base is None or not base.is_file() or not base.stat().st_size:
        return CallStore(path, run, is_shared=is_shared)
    return LayeredStore(path, run, base)
