"""
Direct rank: which of two translations is better as a whole, in one question; FiRE's baseline.

Paper    FiRE, under review, section 4 (Direct-Rank); the prompt for overall quality of its appendix B
Code     none public
Prompt   prompts/direct_rank, in our own words
Differs  1. What to do stands in a system message, and the texts are quoted data. The answer keeps the paper's
            shape, an analysis and then the result; the recommended profile sends its schema.
         2. The recommended profile shows each pair in both orders; verdicts that disagree are E, flagged
            `position_inconsistent`, and both are kept; with `inconsistent=keep` they are undecided
            (`position_undecided`) and left out of all points. Profiles paper and code show the pair as given.
         3. An answer that cannot be read is asked for at most three times, then it is a failure. The paper
            asks until it can read one.
         4. Two translations that are the same text are E, flagged `identical`, and nobody is asked.
         5. With `strength=logprob` a verdict is measured by the share of its letter among the three (flag
            `renormalised`), and one not above `tie_threshold` is E, flagged `tie_by_strength`.
         6. Context and glossary are shown where the user gives them. With explain_in the analysis is in that
            language. Texts may have any length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from adjudge.core.ask import Ask
from adjudge.core.judge import Calls
from adjudge.core.record import Preference
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._pairs import PAIR_FILES, Comparison, Criterion, PairSettings, preference_by
from adjudge.judges._prompts import Prompts, load_prompts

__all__ = ["DirectRank"]


@dataclass(frozen=True, kw_only=True)
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
