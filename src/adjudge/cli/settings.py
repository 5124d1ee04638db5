"""Options that only a judge or a metric knows: its settings, read from the words of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

from adjudge.errors import UsageError

__all__ = ["WithSettings", "read_settings", "split_settings"]


class WithSettings(TyperCommand):
    """A command that leaves the options it does not know, each with its value, in its context's `args`.

    typer alone would leave the options and take their values for its own arguments.
    """

    allow_extra_args = True

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 (typer's own, passed on)
        """Read what is the command's; behind words that are nobody's, its context gets the settings."""
        taken = {
            spelling: not getattr(parameter, "is_flag", False)
            for parameter in self.get_params(ctx)
            for spelling in (*parameter.opts, *parameter.secondary_opts)
            if spelling.startswith("-")
        }
        own, settings = split_settings(args, taken)
        ctx.args = [*super().parse_args(ctx, own), *settings]
        if ctx.params.get("test_set", own) is None and not ctx.params.get("source"):
            _refuse_eaten(settings)
        return ctx.args  # type: ignore[no-any-return]


def _refuse_eaten(settings: list[str]) -> None:
    """Tell of a switch that took the test set for its value: only the judge knows what is a switch.

    Raises:
        UsageError: a setting's value is a path that leads somewhere.
    """
    for option, value in pairwise(settings):
        if option.startswith("--") and "=" not in option and Path(value).exists():
            raise UsageError(
                f"{option} took {value!r} for its value; if it is the TEST_SET, say {option}=yes"
            )


def split_settings(arguments: list[str], taken: Mapping[str, bool]) -> tuple[list[str], list[str]]:
    """Tell the words of a command from those of settings.

    Args:
        arguments: of a command line.
        taken: every option of the command, and whether it takes a value.

    Returns:
        The words of the command, and those of settings: options that it has not, each with its value.
        `--` ends the settings.
    """
    own: list[str] = []
    settings: list[str] = []
    waiting = list(reversed(arguments))
    while waiting:
        word = waiting.pop()
        if word == "--":
            return [*own, word, *reversed(waiting)], settings
        is_setting = word.startswith("--") and word.partition("=")[0] not in taken
        words = settings if is_setting else own
        words.append(word)
        has_value = "=" not in word and not _is_option(waiting[-1:], taken) if is_setting else taken.get(word)
        if has_value and waiting:
            words.append(waiting.pop())
    return own, settings


def _is_option(words: list[str], taken: Mapping[str, bool]) -> bool:
    """Whether the next word is an option; -0.5 is a value."""
    return any(word.startswith("--") or word[:2] in taken for word in words)


def read_settings(arguments: list[str]) -> dict[str, str]:
    """Read `--name value`, `--name=value` and `--flag` into settings of the judge.

    Raises:
        UsageError: a word that belongs to no option, or a setting that is given twice.
    """
    settings: dict[str, str] = {}
    waiting = iter([*arguments, "--"])
    word = next(waiting)
    while word != "--":
        if not word.startswith("--"):
            raise UsageError(f"nothing is known of {word!r}; options start with --")
        name, separator, value = word[2:].partition("=")
        word = next(waiting)
        if not separator:
            value = "true"
            if not word.startswith("--"):
                value, word = word, next(waiting)
        if name.replace("-", "_") in {known.replace("-", "_") for known in settings}:
            raise UsageError(f"--{name} is given twice; say it once")
        settings[name] = value
    return settings
