"""How two translations are compared: in which orders, with which answer, and what the verdicts come to.

A `Comparison` asks about one pair by one `Criterion`, in one order or in both. `synthesise` makes an overall
verdict of those by single criteria. `read_strength` says how strong a preference is, and a `TieThreshold` up
to which strength it is a tie.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import ClassVar, Final, Literal, NamedTuple, get_args

from adjudge.core.ask import About, Ask, Message, Reply, Sampling
from adjudge.core.frozen import frozen
from adjudge.core.judge import PairJudge, Profile, preference_of
from adjudge.core.language import language_name
from adjudge.core.record import RENORMALISED, UNDECIDED, Preference, Verdict
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._prompts import Prompted, Prompts, judged_texts, language_names, render_pair
from adjudge.judges._reading import (
    AuthorsReply,
    Reading,
    last_letter,
    object_schema,
    or_authors,
    or_error,
    shares,
    shown,
)

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

_SPELLED: Final[Mapping[str, Verdict]] = {
    **{f"translation {letter.lower()}": letter for letter in VERDICTS if letter != "E"},
    **dict.fromkeys(("tie", "equal", "both", "equally good"), "E"),
}
_RESULT: Final = re.compile(r'"result"\s*:\s*"(?P<letter>[ABE])"')


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


@frozen
class PairSettings(Prompted):
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
    tie_threshold: TieThreshold | None = None
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
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


def read_strength(reply: Reply, verdict: Verdict) -> tuple[float, tuple[str, ...]]:
    """How sure the model was of its verdict, by the probability of the letter: for A above 0, for B below.

    The strength, with the flag `renormalised` where the probability is the letter's share of the three.
    """
    letters = list(_RESULT.finditer("".join(token.token for token in reply.logprobs)))
    if not letters:
        raise AnswerError("logprob", "no log-probability of the verdict came; measure by --samples")
    place, start, total = letters[-1].start("letter"), 0, 0.0
    for token in reply.logprobs:
        if start <= place < start + len(token.token):
            total = token.logprob
        start += len(token.token)
    if among := shares(reply, VERDICTS):
        return SIGNS[verdict] * among[verdict], (RENORMALISED,)
    return SIGNS[verdict] * math.exp(min(total, 0.0)), ()


def mean_strength(measured: Sequence[tuple[float | None, bool]]) -> float | None:
    """The mean over orders, given each one's strength and whether it saw the pair the other way round."""
    known = [-one if is_turned else one for one, is_turned in measured if one is not None]
    return math.fsum(known) / len(known) if known else None


_CODE: Final = Sampling(temperature=0.6, max_tokens=8000)
"""How FiRE's code draws its answers."""


class TieThreshold:
    """Strength up to which a preference is a tie: one for all criteria, or one for each.

    `said`: a number from 0 to 1, or `faithfulness=0.3,fluency=0.2`; a criterion without one makes no ties.
    """

    def __init__(self, said: str | float) -> None:
        self._said = f"{said:g}" if isinstance(said, int | float) else said
        self._of: dict[str, float] = {}
        for part in self._said.split(","):
            name, _, number = part.strip().rpartition("=")
            try:
                self._of[name] = float(number)
            except ValueError:
                self._of[name] = math.nan
        if not all(0 <= number <= 1 for number in self._of.values()):
            raise UsageError(
                f"tie_threshold must be from 0 to 1, or CRITERION=NUMBER by commas; got {said!r}"
            )
        if "" in self._of and len(self._of) > 1:
            raise UsageError(f"tie_threshold is one for all or one for each criterion, got {said!r}")

    def takes(self, strength: float | None, criterion: str) -> bool:
        """Whether a preference is too weak to count; never where nothing was measured."""
        threshold = self._of.get(criterion, self._of.get(""))
        return strength is not None and threshold is not None and abs(strength) <= threshold

    def check(self, criteria: Iterable[str]) -> None:
        """Refuse a threshold of a criterion that there is not."""
        known = {"", *criteria}
        for name in self._of.keys() - known:
            raise UsageError(f"tie_threshold names {name!r}; the criteria are {', '.join(known - {''})}")

    def __str__(self) -> str:
        return self._said

    def __repr__(self) -> str:
        return f"TieThreshold({self._said!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TieThreshold) and self._of == other._of

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._of.items())))


def check_threshold(threshold: TieThreshold | None, *, is_measured: bool) -> None:
    """Refuse a threshold that nothing is compared with."""
    if threshold is not None and not is_measured:
        raise UsageError("tie_threshold needs measured preferences: --strength logprob, or --samples")


IDENTICAL: Final = "identical"
"""Flag of a pair that is one text twice: equal by definition, and nobody was asked."""
PAIR_FILES: Final = (
    *("markers.md", "pair.md", "verdict_json.md"),
    *("instruction.md", "context.md", "context_pair.md", "terms.md", "term.md"),
)
"""Files that every judge of pairs uses."""

_ATTEMPTS: Final = 3
_ASPECT: Final = re.compile(r"^- (?P<name>[^:\n]+):", re.MULTILINE)


@frozen
class Criterion:
    """One criterion to compare by.

    Args:
        name: such as fluency.
        text: what it means, to the model.
        aspects: to be analysed one by one; empty for one analysis of the whole.
    """

    name: str
    text: str = ""
    aspects: tuple[str, ...] = ()


class Compared(NamedTuple):
    """What came of one criterion.

    Args:
        verdict: of all orders together.
        orders: the verdict of each order, mapped back to the pair as it is given.
        flags: on the way.
        rationale: the analysis of the first order asked.
        strength: how far it is for A, or below 0 for B; None where that was not measured.
    """

    verdict: Verdict
    orders: tuple[Verdict, ...]
    flags: tuple[str, ...]
    rationale: str
    strength: float | None = None


class _Answer(NamedTuple):
    verdict: Verdict
    flags: tuple[str, ...]
    analysis: str
    strength: float | None


@frozen
class Comparison:
    """The questions about one pair by one criterion.

    Args:
        judge: who asks.
        criterion: by which is compared.
        prompts: with `system.md` and `PAIR_FILES`.
        settings: of the judge.
    """

    judge: str
    criterion: Criterion
    prompts: Prompts
    settings: PairSettings

    async def settle(self, subject: Subject, ask: Ask) -> Compared | AnswerError:
        """Ask in every order; a verdict that changes with the order is E, or kept as undecided."""
        if is_identical(subject):
            return Compared("E", (), (IDENTICAL,), "")
        orders = self._orders(subject)
        answers = await asyncio.gather(*(self._put(order, ask) for order in orders))
        if failed := next((answer for answer in answers if isinstance(answer, AnswerError)), None):
            return failed
        read = [answer for answer in answers if isinstance(answer, _Answer)]
        turned = [order.systems != subject.systems for order in orders]
        verdicts = tuple(TURNED[a.verdict] if t else a.verdict for a, t in zip(read, turned, strict=True))
        strength = mean_strength([(a.strength, t) for a, t in zip(read, turned, strict=True)])
        flags = (
            *(flag for a in read for flag in a.flags),
            *disagreement(verdicts, self.settings.inconsistent),
        )
        verdict = verdicts[0] if len(set(verdicts)) == 1 else "E"
        threshold = self.settings.tie_threshold
        if verdict != "E" and threshold is not None and threshold.takes(strength, self.criterion.name):
            verdict, flags = "E", (*flags, TIE_BY_STRENGTH)
        return Compared(verdict, verdicts, flags, read[0].analysis, strength)

    async def _put(self, subject: Subject, ask: Ask) -> _Answer | AnswerError:
        about = About(
            judge=self.judge,
            stage="comparison",
            subject=subject,
            wants="verdict",
            role=self.criterion.name,
            facts={"criterion": self.criterion.name, "aspects": self.criterion.aspects},
        )
        drawn = _CODE if self.settings.profile == "code" and self.judge == "fire" else Sampling()
        is_fire_of_paper = self.judge == "fire" and self.settings.profile != "recommended"
        answer = await or_error(
            ask(
                self.messages(subject),
                about=about,
                read=or_authors(
                    partial(self.read, subject=subject), last_letter if is_fire_of_paper else None
                ),
                attempts=_ATTEMPTS,
                schema=self.schema,
                sampling=replace(drawn, logprobs=self.settings.strength == "logprob"),
            )
        )
        return answer if isinstance(answer, AnswerError) else answer.value

    def messages(self, subject: Subject) -> list[Message]:
        """The criterion and the form, which all pairs share, then the texts."""
        code = self.settings.explain_in
        language = "" if code is None else f" in {language_name(code)}"
        shape = json.dumps(dict.fromkeys(self.criterion.aspects, "...") or "...", ensure_ascii=False)
        system = self.prompts.message(
            "system",
            "system",
            **language_names(subject.lp),
            **({"criterion": self.criterion.text} if self.criterion.text else {}),
            markers=self.prompts.piece("markers"),
            form=self.prompts.piece("verdict_json", analysis=shape, language=language),
        )
        return [system, Message("user", render_pair(self.prompts, subject))]

    @property
    def schema(self) -> Mapping[str, object] | None:
        """JSON schema of the answer; None where the paper's form is only described."""
        if self.settings.profile != "recommended":
            return None
        text = {"type": "string"}
        aspects = self.criterion.aspects
        analysis = object_schema(**dict.fromkeys(aspects, text)) if aspects else text
        return object_schema(analysis=analysis, result={"type": "string", "enum": list(VERDICTS)})

    def read(self, reply: Reply, subject: Subject) -> _Answer:
        """Read one answer.

        Raises:
            AnswerError: it is not in the form.
        """
        verdict, analysis, flags = read_compared(reply, judged_texts(subject), self.criterion.aspects)
        if self.settings.strength != "logprob":
            return _Answer(verdict, flags, analysis, None)
        strength, how = read_strength(reply, verdict)
        return _Answer(verdict, (*flags, *how), analysis, strength)

    def _orders(self, subject: Subject) -> list[Subject]:
        turned = subject.of(*reversed(subject.systems))
        orders, seed = self.settings.shown_in, self.settings.order_seed
        if orders == "both":
            return [subject, turned]
        if orders == "random" and random.Random(f"{seed}/{subject.key}").random() < 0.5:
            return [turned]
        return [subject]


def read_compared(
    reply: Reply | str, judged: tuple[str, ...], aspects: tuple[str, ...] = ()
) -> tuple[Verdict, str, tuple[str, ...]]:
    """Read the verdict of a comparison, its analysis and flags.

    Raises:
        AnswerError: it is not in the form.
    """
    reading = Reading(reply, judged)
    found = reading.answer("result", optional=("analysis",))
    verdict = reading.label(found["result"], VERDICTS, "result", _SPELLED)
    analysis = found.get("analysis") or ""
    if aspects and analysis and not isinstance(reply, AuthorsReply):
        reading.fields(analysis, aspects, "the analysis")
    elif not isinstance(analysis, str):
        reading.flag("normalised")
    if isinstance(analysis, dict):
        analysis = [f"{name}: {reading.words(part, name)}" for name, part in analysis.items()]
    parts = analysis if isinstance(analysis, list) else [analysis]
    words = "\n".join(reading.words(part, "analysis") for part in parts if part != "").strip()
    if verdict == "E" and not any(map(str.isalnum, words)):
        raise AnswerError("schema", f"analysis must say why both are equal, got {shown(words)}")
    reading.flag("normalised", not words)
    return verdict, words, reading.settle(is_clean=verdict == "E")


def preference_by(
    judge: PairJudge, subject: Subject, criterion: str, found: Compared | AnswerError
) -> Preference | AnswerError:
    """What came of one criterion, as a record; or why there is none."""
    if isinstance(found, AnswerError):
        return found
    return preference_of(
        judge,
        subject,
        criterion=criterion,
        verdict=found.verdict,
        orders=found.orders,
        flags=found.flags,
        rationale=found.rationale or None,
        strength=found.strength,
    )


def is_identical(subject: Subject) -> bool:
    first, second = (subject.segment.translations[name] for name in subject.systems)
    return first == second


def read_criterion(name: str, text: str) -> Criterion:
    """Read a criterion: what it means, and `- NAME: what it means` for each aspect."""
    aspects = tuple(match["name"].strip() for match in _ASPECT.finditer(text))
    if len(set(aspects)) < len(aspects):
        raise UsageError(f"criterion {name!r} has two aspects of one name: {', '.join(aspects)}")
    return Criterion(name=name, text=text.strip(), aspects=aspects)
