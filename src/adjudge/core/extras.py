"""Libraries that not everybody needs: what installs them, and an error that says so where one is missing."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import Any, Final

from adjudge.errors import UsageError

EXTRAS: Final = {
    "campaign": ("alembic", "argon2", "fastapi", "sqlalchemy", "starlette", "uvicorn"),
    "l10n": ("lxml", "openpyxl", "polib"),
    "hf": ("datasets",),
    "notebook": ("pandas", "polars", "pyarrow"),
    "plot": ("matplotlib",),
    "postgres": ("psycopg",),
}
"""Extra of adjudge to the libraries that it brings."""


def has_library(name: str) -> bool:
    """Whether a library can be imported; it is not."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def import_extra(module: str) -> Any:  # noqa: ANN401 (a module is of no type that a caller could be given)
    """Import a module of another library when it is needed."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        library = module.partition(".")[0]
        raise missing_extra(ImportError(name=library)) or _missing(library, library) from error


def missing_extra(error: ImportError) -> UsageError | None:
    """What to say of a library of an extra that could not be imported; None where it is of none."""
    library = (error.name or "").partition(".")[0]
    found = (extra for extra, libraries in EXTRAS.items() if library in libraries)
    return next((_missing(library, f"'adjudge[{extra}]'") for extra in found), None)


def _missing(library: str, package: str) -> UsageError:
    return UsageError(f"this needs {library}, which is not installed: pip install {package}")
