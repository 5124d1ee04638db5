"""Verdicts: by single criteria to an overall one, in two orders, and how strong the preference is."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import ClassVar, Final, Literal, get_args

from adjudge.core.annotation import UNDECIDED, Verdict
from adjudge.core.ask import Reply
from adjudge.core.judge import Profile
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._prose import Trust
from adjudge.judges._read import shown

__all__ = [
    "INCONSISTENT",
    "SIGNS",
    "TIE_BY_STRENGTH",
    "TURNED",
    "VERDICTS",
    "Inconsistent",
    "Orders",
    "PairSettings",
    "Strength",
    "check_agrees",
    "check_threshold",
    "disagreement",
    "is_near_tie",
    "majority",
    "mean_strength",
    "read_strength",
    "read_verdict",
    "synthesise",
    "verdict_trust",
]

Orders = Literal["both", "given", "random"]
"""Which translation is shown first: each once, the first system of the pair, or one drawn at random."""
Inconsistent = Literal["E", "keep"]
"""What verdicts are that change with the order: equal, or undecided, which is neither a tie nor a win."""
Strength = Literal["none", "logprob"]
"""Whether it is measured how sure a verdict is: by the probability that the model gave its letter."""

INCONSISTENT: Final = "position_inconsistent"
"""Flag of a comparison whose verdict changed with the order."""
TIE_BY_STRENGTH: Final = "tie_by_strength"
"""Flag of a comparison that is E because its preference was not strong enough."""
VERDICTS: Final[tuple[Verdict, ...]] = get_args(Verdict)
TURNED: Final[Mapping[Verdict, Verdict]] = {"A": "B", "B": "A", "E": "E"}
"""A verdict on a pair that was shown the other way round."""
SIGNS: Final[Mapping[Verdict, int]] = {"A": 1, "B": -1, "E": 0}

_SPELLED: Final = re.compile(
    r"\s*[\"'*(]*(?:translation\s+)?[\"'*(]*(?P<letter>[ABE])[\"'*).]*\s*", re.IGNORECASE
)
_NAMED: Final = re.compile(r"\b([ABE])\b(?!['’])")
_THAN: Final = re.compile(
    r"\b(?:than|over|to|as|unlike|whereas in|compared (?:to|with)) (?:translation )?[AB]\b", re.IGNORECASE
)
_BETTER: Final = re.compile(
    r"\b([AB]) (?:wins|(?:is|was|seems|reads|sounds|remains|would be|looks)"
    r"(?: (?:clearly|much|far|slightly|overall|a bit|somewhat|still|the|therefore|thus|significantly"
    r"|by far|definitely))*"
    r" (?:better|best|superior|stronger|preferable|preferred|winner|more (?:accurate|faithful|fluent"
    r"|natural)))\b"
)
_PREFERRED: Final = re.compile(
    r"\b(?:prefer|choose|better one is|winner is|best is) (?:translation )?([AB])\b"
)
_EQUAL: Final = re.compile(
    r"equal|tie\b|same|both|neither|as good|identical|but|however|while|outweigh|balance", re.IGNORECASE
)
_RESULT: Final = re.compile(r'"result"\s*:\s*"(?P<letter>[ABE])"')


def read_verdict(value: object) -> tuple[Verdict, tuple[str, ...]]:
    """A verdict as a model gives it, with the flag `normalised` for `a`, `A.` or `Translation A`.

    Raises:
        AnswerError: label, for anything else.
    """
    match = _SPELLED.fullmatch(value) if isinstance(value, str) else None
    verdict = next((known for known in VERDICTS if match and known == match["letter"].upper()), None)
    if verdict is None:
        raise AnswerError("label", f"result must be A, B or E, got {shown(value)}")
    return verdict, () if verdict == value else ("normalised",)


def verdict_trust(value: Mapping[str, object]) -> Trust:
    """Words may stand around a preference; never around "equally good"."""
    try:
        return "alone" if read_verdict(value["result"])[0] == "E" else "around"
    except AnswerError:
        return "alone"


def check_agrees(words: str, verdict: Verdict, *, is_strict: bool = False) -> None:
    """Refuse a verdict that its own reasons contradict: they call only the other translation better.

    Args:
        words: reasons within the answer, or prose around it.
        verdict: of the answer.
        is_strict: whether naming another verdict is enough, as in words around an answer.

    Raises:
        AnswerError: ambiguous.
    """
    named = {name.upper() for name in _NAMED.findall(words)}
    if is_strict and named - {verdict}:
        raise AnswerError("ambiguous", f"words around the verdict {verdict} name another: {shown(words)}")
    told = _THAN.sub(" ", words)
    better = set(_BETTER.findall(told)) | set(_PREFERRED.findall(told))
    if verdict == "E":
        is_contrary = len(better) == 1 and not _EQUAL.search(told)
    else:
        is_contrary = bool(better) and verdict not in {*better, *_NAMED.findall(told)}
    if is_contrary:
        raise AnswerError("ambiguous", f"the reasons contradict the verdict {verdict}: {shown(words)}")


def majority(verdicts: Sequence[Verdict]) -> Verdict:
    """Which translation more criteria favour; if as many favour each, the first verdict that is not E."""
    lead = sum(map(SIGNS.__getitem__, verdicts))
    if lead:
        return "A" if lead > 0 else "B"
    return next((verdict for verdict in verdicts if verdict != "E"), "E")


def synthesise(verdicts: Sequence[Verdict | None]) -> Verdict | None:
    """`majority`, where a verdict may be unknown; None if it could change the outcome."""
    ways = (VERDICTS if verdict is None else (verdict,) for verdict in verdicts)
    outcomes = {majority(way) for way in product(*ways)}
    return outcomes.pop() if len(outcomes) == 1 else None


@dataclass(frozen=True, kw_only=True)
class PairSettings:
    """What every judge of pairs may be told.

    Args:
        profile: the recommended one shows both orders and holds the model to a schema.
        orders: see `Orders`; None for those of the profile: the paper shows the pair as given.
        order_seed: of the random order.
        inconsistent: see `Inconsistent`.
        strength: see `Strength`.
        tie_threshold: a preference that is not stronger is E; None makes no ties.
        explain_in: code of the language of the analysis; None leaves it to the model.
        prompts: folder with files that stand in for ours.

    Raises:
        UsageError: no such orders, or a setting that does nothing beside others.
    """

    protocol: ClassVar[str] = "pairwise"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"
    orders: Orders | None = None
    order_seed: int = 0
    inconsistent: Inconsistent = "E"
    strength: Strength = "none"
    tie_threshold: float | None = None
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        """Refuse orders that there are not, and settings that do nothing."""
        if self.orders is not None and self.orders not in get_args(Orders):
            raise UsageError(f"orders must be one of {', '.join(get_args(Orders))}; got {self.orders!r}")
        if self.inconsistent == "keep" and self.shown_in != "both":
            raise UsageError(
                f"inconsistent keep is for verdicts of both orders, and orders {self.shown_in} asks for one; "
                "drop it"
            )
        if self.order_seed and self.shown_in != "random":
            raise UsageError(
                f"order_seed {self.order_seed} draws no order where orders are {self.shown_in}; "
                "say orders random"
            )
        check_threshold(self.tie_threshold, is_measured=self.strength != "none")

    @property
    def shown_in(self) -> Orders:
        """The orders in which a pair is shown."""
        return self.orders or ("both" if self.profile == "recommended" else "given")

    @property
    def times(self) -> int:
        """How often each question is put about a pair."""
        return 2 if self.shown_in == "both" else 1


def disagreement(orders: Sequence[Verdict], inconsistent: Inconsistent) -> tuple[str, ...]:
    """Flags of verdicts that change with the order; none where they agree."""
    if len(set(orders)) < 2:
        return ()
    return (INCONSISTENT, UNDECIDED) if inconsistent == "keep" else (INCONSISTENT,)


def read_strength(reply: Reply, verdict: Verdict) -> float:
    """How sure the model was of its verdict, by the probability of the letter: for A above 0, for B below.

    Raises:
        AnswerError: logprob, where the server gave none for it.
    """
    letters = list(_RESULT.finditer("".join(token.token for token in reply.logprobs)))
    if not letters:
        raise AnswerError("logprob", "no log-probability of the verdict came; measure by --samples")
    place, start, total = letters[-1].start("letter"), 0, 0.0
    for token in reply.logprobs:
        if start <= place < start + len(token.token):
            total = token.logprob
        start += len(token.token)
    return SIGNS[verdict] * math.exp(min(total, 0.0))


def mean_strength(measured: Sequence[tuple[float | None, bool]]) -> float | None:
    """The mean over orders, given each one's strength and whether it saw the pair the other way round."""
    known = [-one if is_turned else one for one, is_turned in measured if one is not None]
    return math.fsum(known) / len(known) if known else None


def is_near_tie(strength: float | None, threshold: float | None) -> bool:
    """Whether a preference is too weak to count; never where nothing was measured or nothing is wanted."""
    return strength is not None and threshold is not None and abs(strength) <= threshold


def check_threshold(threshold: float | None, *, is_measured: bool) -> None:
    """Refuse a threshold that nothing is compared with.

    Raises:
        UsageError: no number from 0 to 1, or the strength of preferences is not measured.
    """
    if threshold is None:
        return
    if not 0 <= threshold <= 1:
        raise UsageError(f"tie_threshold must be from 0 to 1, got {threshold!r}")
    if not is_measured:
        raise UsageError("tie_threshold needs measured preferences: --strength logprob, or --samples")
