"""How a campaign was set up; fixed when it is made, kept as JSON in its store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Literal, get_args

from adjudge.campaigns.protocols import CampaignProtocol, find_campaign_protocol
from adjudge.core.protocol import is_number
from adjudge.errors import DataError, UsageError

__all__ = [
    "AssignmentKind",
    "Balance",
    "CheckKind",
    "DynamicBy",
    "Settings",
    "read_settings",
    "render_settings",
]

Balance = Literal["documents", "systems"]
"""What comes first where not everything fits, and what is spread over people first.

`documents`: all systems of a document, so that systems are compared on the same texts. `systems`: equally
many tasks of each system, of as many documents as there are tasks.
"""
AssignmentKind = Literal["static", "pool", "dynamic"]
"""A batch for each person; whatever is next; what tells most by what is known so far."""
DynamicBy = Literal["ties", "disagreement", "information"]
CheckKind = Literal["damaged", "missing", "score"]
"""Some words replaced by others; some words left out; a whole translation of another text."""

_CHOICES: Final[dict[str, tuple[str, ...]]] = {
    "balance": get_args(Balance),
    "assignment": get_args(AssignmentKind),
    "dynamic_by": get_args(DynamicBy),
}
_SHARES: Final = {"checks": 0.5, "control": 1.0}
_POSITIVE: Final = ("redundancy", "lease_minutes", "time_idle_after")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a campaign was set up.

    Args:
        protocol: a name of `campaigns.protocols`.
        test_set: its name.
        digest: SHA-256 of the test set, so that an export knows what was judged.
        lps: language pairs, in order.
        redundancy: how many people judge each task.
        segments_each: the most segments that one person is asked to judge; None for no limit.
        checks: share of the tasks of each person that are attention checks; 0.12 in the ESA paper.
        check_kinds: what is done to texts, in turn.
        is_loud: whether a person is told at once of a check that was missed.
        checks_first: whether a check may come before its original; in static batches.
        balance: see `Balance`.
        assignment: see `AssignmentKind`.
        dynamic_by: what a dynamic assignment looks at.
        control: share of the tasks that are shown without the spans marked beforehand.
        lease_minutes: how long a task that nobody works on is kept for a person.
        seed: of everything that is drawn.
        half_steps: whether ratings of `sqm` may lie halfway.
        critical: whether `mqm` has a severity critical.
        tutorial: whether the tutorial must be passed before the first task.
        time_idle_after: seconds without a sign of life that count as a pause.
        code_pass: completion code for who passed the checks; empty for none.
        code_fail: completion code for who did not.

    Raises:
        UsageError: an unknown choice, or a number out of its range.
    """

    protocol: str
    test_set: str = ""
    digest: str = ""
    lps: tuple[str, ...] = ()
    redundancy: int = 1
    segments_each: int | None = None
    checks: float = 0.0
    check_kinds: tuple[CheckKind, ...] = ("damaged",)
    is_loud: bool = False
    checks_first: bool = False
    balance: Balance = "documents"
    assignment: AssignmentKind = "static"
    dynamic_by: DynamicBy = "ties"
    control: float = 0.0
    lease_minutes: float = 60.0
    seed: int = 0
    half_steps: bool = False
    critical: bool = False
    tutorial: bool = False
    time_idle_after: float = 60.0
    code_pass: str = ""
    code_fail: str = ""

    def __post_init__(self) -> None:
        """Refuse what no campaign can be."""
        protocol = find_campaign_protocol(self.protocol)
        for name, known in _CHOICES.items():
            _one_of(name, getattr(self, name), known)
        for kind in self.check_kinds or ("none",):
            _one_of("check_kinds", kind, get_args(CheckKind))
        for name, most in _SHARES.items():
            _within(name, getattr(self, name), 0, most)
        for name in _POSITIVE:
            _within(name, getattr(self, name), 1e-9, float("inf"))
        if self.redundancy != int(self.redundancy):
            raise UsageError(f"redundancy must be a whole number, got {self.redundancy!r}")
        if self.segments_each is not None:
            _within("segments_each", self.segments_each, 1, float("inf"))
        for why in self._contradictions(protocol):
            raise UsageError(why)

    def _contradictions(self, protocol: CampaignProtocol) -> Iterator[str]:
        if self.checks_first and self.assignment != "static":
            yield f"checks_first: only static batches have an order, not {self.assignment}"
        if self.control and not protocol.is_given_spans:
            yield f"control: protocol {self.protocol} marks nothing beforehand; esa-ai does"
        if self.half_steps and self.protocol != "sqm":
            yield f"half_steps: only sqm has them, not {self.protocol}"
        if self.critical and "critical" not in protocol.severities:
            yield f"critical: only mqm has such errors, not {self.protocol}"


def _one_of(name: str, value: object, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{name} must be one of {', '.join(known)}; got {value!r}")


def _within(name: str, value: object, low: float, high: float) -> None:
    if not is_number(value) or not low <= value <= high:
        least = f"{low:g} or more" if low >= 1 else "more than 0"
        wanted = least if high == float("inf") else f"a share from {low:g} to {high:g}"
        raise UsageError(f"{name} must be {wanted}, got {value!r}")


def render_settings(settings: Settings) -> str:
    """Settings as JSON."""
    return json.dumps(asdict(settings), ensure_ascii=False)


def read_settings(text: str) -> Settings:
    """Read what `render_settings` wrote.

    Raises:
        DataError: it is no JSON object of settings that this version knows.
    """
    try:
        values: dict[str, Any] = json.loads(text)
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return Settings(**{**values, **lists})
    except (ValueError, TypeError, AttributeError) as error:
        known = ", ".join(field.name for field in fields(Settings))
        raise DataError(
            f"the settings of this campaign cannot be read ({error}); known are {known}"
        ) from error
