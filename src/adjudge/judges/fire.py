"""
FiRE: two translations compared by one criterion at a time, and the overall verdict made of these.

`Fire` is the method, `DirectRank` its baseline: which of the two is better as a whole, in one question.

Paper    FiRE, under review; fine-grained ranking by faithfulness, fluency and consistency of style;
         its section 4 has the baseline (Direct-Rank)
Code     wygao8/FiRE-MT at d6a2321, scripts/prompt.py and fire_eval.py; none of the baseline
Prompt   prompts/fire, in our own words; the aspects of each criterion are the paper's (its appendix B), the
         rules those of the code: other criteria are ignored, names that nobody can verify do not count, what
         cannot be translated is copied, an empty translation or one in another language is the worst.
         prompts/direct_rank is the paper's question for overall quality (its appendix B), in our own words
Differs  1. What to do stands in a system message, and the texts are quoted data. The answer keeps the paper's
            shape, an analysis of each aspect and then the result; the recommended profile sends its schema.
         2. The recommended profile shows each pair in both orders. Verdicts that disagree are E, and the
            record is flagged `position_inconsistent` and keeps both; the paper measures this bias and judges
            in the order given, as its code and profiles paper and code do. `orders=random` draws one order
            for each pair. With `inconsistent=keep` they are undecided instead (flag `position_undecided`):
            neither a win nor a tie, counted and left out of all points. They speak for neither in the overall
            verdict.
         3. An answer that cannot be read is asked for at most three times, as in the code, then the criterion
            has failed. The paper asks until it can read one. A reply is its JSON object; in profiles paper
            and code another one is read by the code's rule (flag `authors_reader`): the last letter behind
            the word "result" and a colon.
         4. A criterion that failed leaves the overall verdict standing where no verdict in its place could
            change it; else the overall verdict has failed as well. The paper has no such case.
         5. Two translations that are the same text are E on everything, flagged `identical`, and nobody is
            asked. The paper's data has no such pairs.
         6. The overall verdict of each single order is kept too, for the position consistency of the whole.
            With `inconsistent=keep` it is undecided where these disagree. It has the flags that say how the
            answers on its criteria were read.
         7. Criteria of your own: files `criterion_NAME.md` in the folder of --prompts, in the order of their
            names, in place of the three.
         8. Ties, the paper's open problem: with `strength=logprob` each verdict is measured by the share
            of its letter among the three (flag `renormalised`; plain probability where the server gives no
            alternatives), A above 0 and B below, as the mean of the orders; one that is not stronger than
            `tie_threshold` is E (flag `tie_by_strength`). `adjudge calibrate` finds the threshold.
         9. The code draws at temperature 0.6 with 8,000 tokens a reply, and so does profile code; the others
            draw at 0. The code takes a criterion without an answer for E in the overall verdict.
        10. `locale=true` compares by locale convention, too, which the code defines and the paper does not
            use; it has no part in the overall verdict.
        11. Context and glossary are shown where the user gives them. With explain_in the analysis is in that
            language. Texts may have any length.
        12. The direct rank shares 1 to 3, 5, 8 and 11, but not the rule of the code, which has no direct
            rank. An answer that could not be had is its failure. It draws at 0 in every profile.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar, Final

from adjudge.core.ask import Ask
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls
from adjudge.core.record import RENORMALISED, UNDECIDED, Preference, Verdict
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._pairs import (
    INCONSISTENT,
    PAIR_FILES,
    TIE_BY_STRENGTH,
    Compared,
    Comparison,
    Criterion,
    PairSettings,
    disagreement,
    majority,
    preference_by,
    read_criterion,
    synthesise,
)
from adjudge.judges._prompts import Prompts, find_prompts, load_prompts

OVERALL: Final = "overall"
LOCALE: Final = "locale"
START: Final = "criterion_"
NAME: Final = re.compile(rf"{START}(?:[0-9]+-)?([a-z][a-z0-9-]*)\.md")


@frozen
class Fire(PairSettings):
    """Each criterion on its own, in both orders, and an overall verdict made of them."""

    name: ClassVar[str] = "fire"

    locale: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.tie_threshold is not None:
            self.tie_threshold.check(self.criteria)

    async def compare(self, subject: Subject, ask: Ask) -> Sequence[Preference | AnswerError]:
        """Compare by each criterion, then overall."""
        found = await asyncio.gather(*(comparison.settle(subject, ask) for comparison in self._comparisons))
        return [
            preference_by(self, subject, criterion, outcome)
            for criterion, outcome in zip(self.criteria, [*found, self.synthesise(found)], strict=True)
        ]

    def synthesise(self, found: Sequence[Compared | AnswerError]) -> Compared | AnswerError:
        """The overall verdict: what more criteria favour, ties broken in their order."""
        found = found[:-1] if self.locale else found
        read = [outcome for outcome in found if isinstance(outcome, Compared)]
        verdict = synthesise([None if isinstance(o, AnswerError) else o.verdict for o in found])
        if verdict is None:
            return next(outcome for outcome in found if isinstance(outcome, AnswerError))
        known = [o.orders for o in read] if len(read) == len(found) else []
        orders: tuple[Verdict, ...] = tuple(map(majority, zip(*known, strict=True)))
        moved = disagreement(orders, self.inconsistent)
        own = {INCONSISTENT, UNDECIDED, RENORMALISED}
        if verdict != "E" or UNDECIDED in moved:  # else all are E, and one that was strong would decide
            own.add(TIE_BY_STRENGTH)
        flags = dict.fromkeys(flag for o in read for flag in o.flags if flag not in own)
        return Compared("E" if UNDECIDED in moved else verdict, orders, (*flags, *moved), "")

    @property
    def criteria(self) -> tuple[str, ...]:
        """The single ones, that of the locale last, then overall."""
        return (*(comparison.criterion.name for comparison in self._comparisons), OVERALL)

    @property
    def roles(self) -> tuple[str, ...]:
        """The single criteria; nobody is asked for the overall verdict."""
        return self.criteria[:-1]

    @property
    def calls(self) -> Calls:
        """One for each criterion and order."""
        return Calls(*[len(self._comparisons) * self.times] * 3)

    @cached_property
    def _comparisons(self) -> tuple[Comparison, ...]:
        return tuple(
            Comparison(judge=self.name, criterion=criterion, prompts=self._files, settings=self)
            for criterion in self._found
        )

    @cached_property
    def _found(self) -> tuple[Criterion, ...]:
        found = [read_criterion(_name(file), self._files.texts[file]) for file in self._criterion_files]
        if self.locale:
            found.append(read_criterion(LOCALE, self._files.texts["locale.md"]))
        names = [criterion.name for criterion in found]
        if len(set(names)) < len(names) or OVERALL in names:
            raise UsageError(
                f"criteria need names of their own, and none is {OVERALL}; got {', '.join(names)}"
            )
        return tuple(found)

    @cached_property
    def _criterion_files(self) -> tuple[str, ...]:
        return find_prompts("fire", START, self.prompts)

    @cached_property
    def _files(self) -> Prompts:
        used = ("system.md", *PAIR_FILES, *self._criterion_files, *(["locale.md"] if self.locale else []))
        return load_prompts("fire", used, self.prompts, free=START)


@frozen
class DirectRank(PairSettings):
    """The better one of two translations as a whole, in both orders."""

    name: ClassVar[str] = "direct-rank"
    criteria: ClassVar[tuple[str, ...]] = ("overall",)
    roles: ClassVar[tuple[str, ...]] = criteria

    async def compare(self, subject: Subject, ask: Ask) -> Sequence[Preference | AnswerError]:
        """Compare the two as a whole."""
        found = await self._comparison.settle(subject, ask)
        return [preference_by(self, subject, "overall", found)]

    @property
    def calls(self) -> Calls:
        """One for each order."""
        return Calls(self.times, self.times, self.times)

    @cached_property
    def _comparison(self) -> Comparison:
        return Comparison(
            judge=self.name, criterion=Criterion(name="overall"), prompts=self._files, settings=self
        )

    @cached_property
    def _files(self) -> Prompts:
        return load_prompts("direct_rank", ("system.md", *PAIR_FILES), self.prompts)


def _name(file: str) -> str:
    match = NAME.fullmatch(file)
    if match is None:
        wanted = f"{START}NAME.md or {START}1-NAME.md, NAME in small letters, digits and '-'"
        raise UsageError(f"the file of a criterion is called {wanted}; got {file!r}")
    return match[1]
