"""
M-MAD: an expert for each dimension, a debate in each that found something, and a final judge.

Paper    Feng et al., 2025, M-MAD: Multidimensional Multi-Agent Debate for Advanced Machine Translation
         Evaluation, https://arxiv.org/abs/2412.20127
Code     SU-JIAYUAN/M-MAD at d1e662e, code/stage1.py, code/stage2_3.py and code/utils/stage1.json; of the four
         strategies it has consensus, of the three topics severity, of the ablations none
Prompt   prompts/m_mad, in our own words, with examples of our own (en-de, zh-en, he-en)
Differs  1. What to do stands in a system message, and the texts, lists and statements are quoted data. Errors
            have the side that they are quoted from. The original flags errors of the source with yes or no;
            ours are of category `source error`, which costs nothing.
         2. A statement is reasons and a list of errors in one object, and the list is taken whole, on any
            topic. Every reply that is not in the form is a failure; the code goes on with no errors.
            Profile paper asks once, the others once more; the recommended one sends the schema.
         3. Severity: the other side begins with the same errors as minor; on a non-translation it denies that
            it is one. Minor errors alone leave nothing to debate, and stand. In doubt an error is minor and
            nothing a non-translation, as the code tells its agents. On category and entirety any error is
            debated (paper); under profile code only lists with a major one or a non-translation.
         4. A round is supporter, opponent, checker, and the opponent knows what the supporter just said.
            Under profile code both speak without knowing, as the code has it. The checker sees the two lists
            alone, as in the code, and answers with an object.
         5. Consensus: the supporter's last list is taken; the paper does not say whose. If it is not the
            opponent's too, the record is flagged `consensus_mismatch`.
         6. No consensus: the expert's list stands (paper); under profile code the supporter's last list. The
            record is flagged `no_consensus`.
         7. Deliberation, interactive review and consultancy review follow the few lines that the paper has of
            each: an arbiter decides from the transcript; a reviewer asks after each round but the last, and
            both answer in the next; the consultant examines, and no opponent speaks. No rounds, no debate.
         8. The final judge is asked if any error is left (as in the code). Its rules are applied to its
            answer too: a non-translation stands alone, and one span has one error. Flag `tidied` where that
            dropped something. Its analysis is the rationale.
         9. Without stage 1 (partition=false) one expert marks all four dimensions and there is one debate;
            with another strategy that is a baseline of the paper's table 5. Without stage 2: strategy=none.
            Without stage 3 (final_judge=false) the union of the viewpoints is scored.
        10. Weights: the paper's; under profile code those that fit the published scores. The published files
            have no cap; capped=true ends the paper's scale at 25.
        11. Each agent may have a model of its own (`--model supporter=... --model opponent=...`), the paper's
            future work; context and glossary are shown where the user gives them; with explain_in reasons
            and a note for each error are in that language.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, get_args

from adjudge.core.annotation import Annotation
from adjudge.core.ask import Ask
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.segment import Subject
from adjudge.errors import UsageError
from adjudge.judges._prompts import Prompts, load_prompts
from adjudge.judges._subject import TEXT_FILES
from adjudge.judges.m_mad import experts, final
from adjudge.judges.m_mad.debate import Debate, Strategy, debate_calls, debaters
from adjudge.judges.m_mad.final import FINAL_FILES, Judgement
from adjudge.judges.m_mad.floor import DEBATE_FILES, Floor, Topic
from adjudge.judges.m_mad.panel import ALL, DIMENSIONS, Dimension, Panel, Viewpoint, find_error_list

__all__ = ["MMad"]

ROUNDS: Final = 3
MOST_ROUNDS: Final = 5


@dataclass(frozen=True, kw_only=True)
class MMad:
    """Experts by dimension, debates between two sides, and a final judge.

    Args:
        profile: see Differs.
        strategy: how a debate is led and decided; none for no debate.
        topic: what is debated.
        rounds: of each debate, at most; 0 to 5.
        partition: an expert for each dimension, or one for all of them.
        final_judge: whether one makes the final list, or the union stands.
        capped: whether no translation loses more than 25 points.
        explain_in: code of the language of reasons and notes.
        prompts: folder with files that stand in for ours.

    Raises:
        UsageError: a setting that there is not.
    """

    name: ClassVar[str] = "m-mad"
    protocol: ClassVar[str] = "mqm"
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"
    strategy: Strategy = "consensus"
    topic: Topic = "severity"
    rounds: int = ROUNDS
    partition: bool = True
    final_judge: bool = True
    capped: bool = False
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what there is not."""
        for name, value, known in (
            ("strategy", self.strategy, get_args(Strategy)),
            ("topic", self.topic, get_args(Topic)),
        ):
            if value not in known:
                raise UsageError(f"{name} must be one of {', '.join(known)}; got {value!r}")
        if not 0 <= self.rounds <= MOST_ROUNDS:
            raise UsageError(f"rounds must be 0 to {MOST_ROUNDS}, got {self.rounds}")
        if self.topic != "severity" and debate_calls(self.strategy, self.rounds) == (0, 0):
            raise UsageError(f"topic {self.topic} says what is debated, and nothing is; drop it")
        if self.strategy == "none" and self.rounds not in {0, ROUNDS}:
            raise UsageError(
                f"rounds {self.rounds} says how long a debate is, and strategy none has none; drop it"
            )
        if self.capped and self.profile == "code":
            raise UsageError("profile code scores as the published files, which have no cap; drop capped")

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark by dimension, debate, and make one list."""
        marked = await self.mark(subject, ask)
        viewpoints = await self.debate(marked, subject, ask)
        spans, flags, rationale = await self.judge(viewpoints, subject, ask)
        told = [flag for viewpoint in viewpoints for flag in viewpoint.flags if flag != "span_unmatched"]
        unmatched = ["span_unmatched"] if any(span.match == "unmatched" for span in spans) else []
        kept = [flag for flag in flags if flag != "span_unmatched"]
        return annotation_of(
            self, subject, spans=spans, flags=(*told, *kept, *unmatched), rationale=rationale
        )

    async def mark(self, subject: Subject, ask: Ask) -> list[Viewpoint]:
        """Stage 1: each expert marks the errors of its dimension."""
        experts_ = (experts.mark(self._panel, dimension, subject, ask) for dimension in self._dimensions)
        return await asyncio.gather(*experts_)

    async def debate(self, marked: list[Viewpoint], subject: Subject, ask: Ask) -> list[Viewpoint]:
        """Stage 2: in each dimension two sides debate what its expert marked."""
        floors = (
            Floor(panel=self._panel, viewpoint=viewpoint, subject=subject, ask=ask, topic=self.topic)
            for viewpoint in marked
        )
        debates = (Debate(floor=floor, strategy=self.strategy, rounds=self.rounds) for floor in floors)
        return await asyncio.gather(*(debate.hold() for debate in debates))

    async def judge(self, viewpoints: list[Viewpoint], subject: Subject, ask: Ask) -> Judgement:
        """Stage 3: one list of all viewpoints."""
        errors = final.union(viewpoints)
        if not errors or not self.final_judge:
            return Judgement(errors, (), None)
        return await final.judge(self._panel, viewpoints, subject, ask)

    @property
    def weights(self) -> str:
        """The paper's, those that fit the published files, or the paper's with its cap."""
        if self.profile == "code":
            return "m-mad-published"
        return "m-mad-capped" if self.capped else "m-mad"

    @property
    def calls(self) -> Calls:
        """Nothing found; one dimension debated for as short as can be; all of them for as long."""
        experts_, last = len(self._dimensions), int(self.final_judge)
        least, most = debate_calls(self.strategy, self.rounds)
        return Calls(experts_, experts_ + least + last, experts_ * (1 + most) + last)

    @property
    def roles(self) -> tuple[str, ...]:
        """Experts, debaters of each dimension, and the final judge."""
        agents = ("expert", *debaters(self.strategy, self.rounds))
        spoken = (f"{agent}.{dimension.name}" for agent in agents for dimension in self._dimensions)
        return (*spoken, *(["final"] if self.final_judge else []))

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._files.digest

    @property
    def _dimensions(self) -> tuple[Dimension, ...]:
        return DIMENSIONS if self.partition else (ALL,)

    @cached_property
    def _panel(self) -> Panel:
        return Panel(judge=self.name, prompts=self._files, profile=self.profile, explain_in=self.explain_in)

    @cached_property
    def _files(self) -> Prompts:
        errors = find_error_list(ALL.categories, self.explain_in).file
        debate = DEBATE_FILES if debate_calls(self.strategy, self.rounds) != (0, 0) else ()
        last = FINAL_FILES if self.final_judge else ()
        marking = [file for one in self._dimensions for file in experts.expert_files(one, self.explain_in)]
        used = dict.fromkeys((*marking, *debate, *last, errors, "texts.md", *TEXT_FILES))
        return load_prompts("m_mad", used, self.prompts)
