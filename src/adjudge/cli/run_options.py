"""Commands that take the options of `adjudge run`, which typer reads off a signature."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from adjudge.cli.output import FormatOption
from adjudge.cli.run import command as run_command

__all__ = ["RUN_DEFAULTS", "with_run_options"]

_RUN: Final = inspect.signature(run_command, eval_str=True).parameters

RUN_DEFAULTS: Final[Mapping[str, Any]] = {
    name: parameter.default for name, parameter in _RUN.items() if parameter.default is not parameter.empty
}
"""Options of `adjudge run` that have a default, by name."""


def with_run_options(
    added: Mapping[str, tuple[Any, Any]], *, dropped: Collection[str]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of `adjudge run` that fit, its own, and `--format`.

    Args:
        added: name to annotation and default; they stand in for those of `adjudge run`.
        dropped: options of `adjudge run` that the command has no use for.
    """
    kept = [p for name, p in _RUN.items() if name not in {*dropped, *added}]
    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in {**added, "form": (FormatOption, "table")}.items()
    ]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.Signature([*kept, *own])
        function.__signature__ = signature  # type: ignore[attr-defined]
        function.__annotations__ = {p.name: p.annotation for p in signature.parameters.values()}
        return function

    return decorate
