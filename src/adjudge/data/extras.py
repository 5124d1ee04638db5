"""Libraries of the extra `l10n`, which a plain installation does not have."""

from __future__ import annotations

import importlib
from typing import Any

from adjudge.errors import UsageError

__all__ = ["import_extra"]


def import_extra(module: str) -> Any:  # noqa: ANN401 (a module is of no type that a caller could be given)
    """Import a module of the extra `l10n` when a file needs it.

    Raises:
        UsageError: it is not installed; says what installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise UsageError(
            f"a file of this format is read with {library}, which is not installed: "
            "pip install 'adjudge[l10n]'"
        ) from error
