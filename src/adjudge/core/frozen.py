"""What a value is made as: a dataclass whose fields are given by name and never change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

from adjudge.core.columns import Framed

C = TypeVar("C")


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[C]) -> type[C]:
    """Make a class a frozen keyword-only dataclass; a table keeps its own look."""
    return dataclass(frozen=True, kw_only=True, repr=not issubclass(cls, Framed))(cls)
