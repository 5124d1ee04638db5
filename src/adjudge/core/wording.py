"""Amounts in sentences for people, with their noun, and shares that people write."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable
from typing import Final

from adjudge.errors import UsageError


def form(amount: int, one: str, many: str) -> str:
    """Choose the word that goes with an amount: 1 is, 2 are."""
    return one if amount == 1 else many


def count(amount: int, one: str, many: str | None = None) -> str:
    """Write an amount with its noun: 1 segment, 2,000 segments."""
    return f"{amount:,} {form(amount, one, many or one + 's')}"


def of_all(amount: int, every: int, one: str, many: str | None = None) -> str:
    """Write an amount out of several: 1 of 2,000 segments, to go with a verb in the form of `amount`."""
    return f"{amount:,} of {count(every, one, many)}"


def shortened(text: str, longest: int = 80) -> str:
    """Cut a text that is longer, and show that it was cut."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def command(*words: object) -> str:
    """Write a command to copy: paths and names are quoted where a shell asks for that."""
    return shlex.join(["adjudge", *map(str, words)])


def nearest(name: str, known: Iterable[str], most: int = 3) -> str:
    """Which known names are meant, perhaps, by one that is none: "; did you mean omission?", or nothing.

    Names of nearly the same letters; without one, a name that begins so, or that stands for it, as lp for
    langpair. The dashes of options do not count: they make all options alike.
    """
    word, names = name.lstrip("-"), {each.lstrip("-"): each for each in known}
    near = (
        difflib.get_close_matches(word, names, n=most, cutoff=0.7)
        or [each for each in names if len(word) > 2 and each.startswith(word)][:most]
        or [each for each in names if len(each) == 2 and each[0] == word[:1] and each[1] in word[1:]][:1]
    )
    return f"; did you mean {' or '.join(names[each] for each in near)}?" if near else ""


def read_share(value: float | str) -> float:
    """Read `1%`, `0.01` or a number as a share."""
    text = str(value)
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        name = "--max-failed (in Python max_failed)"
        raise UsageError(f"{name} must be a share such as 1% or 0.01, got {value!r}")
    return share


def has_too_many_failures(failed: int, judged: int, allowed: float | str) -> bool:
    """Whether a larger share of judgements failed than may fail, such as 0.01 or 1%."""
    return failed > read_share(allowed) * (failed + judged)


UNFIT: Final = " is unfit, because "
"""What stands in a note that a judge does not see what it judges."""
UNSEEN: Final = " is not shown to see: "
"""What stands in a note that nothing shows whether a judge sees what it judges."""


SIGHT: Final = {"unfit": UNFIT, "not_shown_to_see": UNSEEN}
"""Where JSON has these notes, and what stands in them."""


def unfit_first(notes: Iterable[str]) -> tuple[list[str], list[str]]:
    """Notes that a judge is unfit, which stand before every number, and the others."""
    told = [*notes]
    return [note for note in told if UNFIT in note], [note for note in told if UNFIT not in note]


def of_sight(notes: Iterable[str]) -> list[str]:
    """Notes that a judge is unfit or not shown to see, which go with all that is made of its scores."""
    return [note for note in notes if UNFIT in note or UNSEEN in note]
