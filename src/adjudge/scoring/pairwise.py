"""Preferences to points: what each of two systems earns from one comparison."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from adjudge.core.annotation import Failure, Preference, Record, Verdict
from adjudge.core.wording import count, form
from adjudge.errors import UsageError

__all__ = ["choose_criterion", "points", "undecided_note"]

_POINTS: Final[dict[Verdict, tuple[float, float]]] = {"A": (1.0, 0.0), "B": (0.0, 1.0), "E": (0.5, 0.5)}


def points(preference: Preference) -> tuple[float, float]:
    """What A and B earn: 1 for a win, 0.5 each for a tie, 0 for a loss.

    A system's mean over its comparisons is its win rate, 0 to 1: FiRE's normalised Copeland score
    (equation 2), which also holds where pairs are compared unequally often.
    """
    return _POINTS[preference.verdict]


def undecided_note(preferences: Iterable[Preference]) -> list[str]:
    """Say how many comparisons were left undecided; they earn nobody a point and are in no number."""
    if not (undecided := sum(p.is_undecided for p in preferences)):
        return []
    which = f"{count(undecided, 'comparison')} {form(undecided, 'is', 'are')}"
    return [f"{which} undecided, as the verdict changed with the order: neither wins nor ties, left out."]


def choose_criterion(records: Iterable[Record], wanted: str | None) -> str:
    """The criterion to score: the wanted one, the only one, or `overall`.

    Raises:
        UsageError: there is no such criterion, or there are several and none is `overall`.
    """
    named = [r.criterion for r in records if isinstance(r, Preference | Failure) and r.criterion is not None]
    known = tuple(dict.fromkeys(named)) or ("overall",)
    chosen = wanted or (known[0] if len(known) == 1 else "overall")
    if chosen not in known:
        what = f"there is no criterion {chosen!r}" if wanted else "there is no overall verdict"
        raise UsageError(f"{what} among these preferences; choose one of {', '.join(known)}")
    return chosen
