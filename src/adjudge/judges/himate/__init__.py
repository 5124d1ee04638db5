"""
HiMATE: an agent for every subtype of error, its self-reflection, and a discussion where it is not sure.

Paper    Zhang et al., 2025, https://arxiv.org/abs/2505.16281
Code     nlp2ct-shijie/HiMATE at f3cbb3e
Prompt   prompts/himate, in our own words, with examples of our own in en-de, zh-en, en-zh, he-en and en-cs:
         an agent is shown an error of another subtype, where it lists nothing, a translation without errors,
         and an error of its own subtype, all of one source; an agent without examples judges without, and
         the run says so
Differs  1. What to do stands in a system message, texts and what agents said are quoted data, and every
            answer is a JSON object with a schema, in all profiles; the paper has lines with fixed words.
         2. Each error but an omission must quote its span, which the paper scores and the code does not ask
            for. An agent may list several (`most`, 5; recommended); more are cut to the gravest, flag
            `errors_cut`. Profiles paper and code: one, as equation 4 has one severity for each subtype.
         3. An error that an agent itself calls another subtype is left to the agent of that one, flag
            `other_subtype`.
         4. Profiles paper and code drop an error whose correction changes nothing, without a comparison.
         5. Confidence is the share of the decision among both that may be given, at the token that tells them
            apart (flag `renormalised`). Without alternatives of tokens it is the exponential of the summed
            log-probabilities of the words of the decision, and of no other token of the answer. The paper
            sums those of the answer; the code's answer is one letter, and it multiplies by 100. It stands in
            the records wherever the model gives log-probabilities. With `verifications` above 1, for models
            without them, it is the share of so many answers, drawn at temperature 0.7, that agree; a tie
            keeps the error.
         6. Verification is blind (recommended): beside the source stand version 1 and version 2, in both
            orders, and the agent says which has an error of its subtype where they differ: one, both or
            neither. The error itself is not shown, as its words tell the versions apart. The error stands
            where the original has it, with a correction that failed too (both), flag `correction_failed`, or
            that is the same text or the source, or lacks over half of the characters outside the span: then
            nobody is asked, and the error has no confidence. Only the corrected version has it: acquitted.
            Where one order says that the original has it and the other that it has not, the error stands,
            flag `orders_differ`, with a confidence of 0.5 at most. Profiles paper and code: the agent is told
            the error and which version is corrected, without the source, in one order; a version that is no
            better acquits the error, also where the correction failed.
         7. An error is discussed if its confidence is not above the threshold: a number, or a file of
            `adjudge calibrate` for one model, with a threshold for each language pair (paper), and for each
            subtype or, where it was seen too seldom, its core type (code and recommended). Without one all
            errors that stand after stage 2 are discussed; the run says so.
         8. What is discussed is a place, and not a subtype (recommended): the expert of each core type sees
            all errors that agents reported there, and says whether there is one of its core type, of which
            subtype, and how grave. One error is left of a place, the gravest that is sure or that an expert
            accepts, flag `merged_errors`, whether several agents reported it there or one. A place where a
            major error is sure is not discussed: no expert could change the score. Without stage 3 the
            gravest of a place is left. In paper and code an expert is asked about one subtype, and one word
            can cost as often as agents name it.
         9. Both agents of a discussion are shown the correction of stage 2 and in which version each
            comparison found the error, and the tier-1 agent all definitions of its core type. A subtype that
            nobody reported is flagged `subtype_changed`, and the tier-2 agent is shown its definition, too.
        10. Without agreement after four turns the tier-1 agent's last verdict counts, flag `no_consensus`;
            the paper only says that the concluding conversation decides. Code, and profile code: a tier-1
            agent that agrees ends the discussion, at once or in its second turn, with what stood after stage
            2; where the tier-2 agent agrees, the first verdict of the tier-1 agent counts, though it withdrew
            it; else what stood after stage 2. The code's tier-1 agent agrees in words of its own; ours by the
            verdict that the tier-2 agent gave.
        11. The judged text stands last in every prompt (recommended): the task, which all agents share, then
            the subtype and its examples, which all translations share, so that a server's prefix cache can
            hold most of each prompt. In a discussion the turns so far stand before the texts. Profiles paper
            and code: source, translation, definition, and what was said, as the paper prints them, and two
            examples as in the code: the error, and the source of it without errors. Examples are turns before
            the texts; in the code they stand behind them.
        12. Every answer that is not in its form is a failure of the judgement, whichever agent gave it.
            Profile paper asks once, the others once more.
        13. `agents=core` asks one agent for each core type in stage 1, with one error of each subtype and one
            translation without any: ours.
        14. Ablations: `stages` for SE, SE+SR and SE+SR+CD; the judge single-agent is the single agent.
        15. Context, glossary and instruction are shown to every agent that judges, where the user gives
            them. Agents explain in explain_in, else in English.
        16. What an agent takes back after its self-reflection is flagged `reflection_dropped`, what an expert
            denies `discussion_dropped`, and a severity that nobody reported there `severity_changed`, in all
            profiles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise, product
from os.path import commonprefix
from pathlib import Path
from typing import ClassVar, Final, Literal

from adjudge.core.ask import Ask
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.protocol import SUBTYPES
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import UsageError
from adjudge.judges._answers import ErrorList
from adjudge.judges._prompts import TEXT_FILES, attempts_of, find_form, load_prompts
from adjudge.judges.himate.stages import (
    BY_CORE,
    BY_SUBTYPE,
    COORDINATORS,
    MOST,
    ROUNDS,
    SEVERITIES,
    Agent,
    Discussion,
    Evaluation,
    Reflection,
    Scope,
    Stage,
    merge,
)
from adjudge.store.run_directory import Calibration, read_calibration

__all__ = ["Himate", "Threshold"]


class Threshold:
    """Confidence up to which an error is discussed. Two are equal if they come to the same.

    `said`: a number from 0 to 1, or the path of a file that `adjudge calibrate` wrote.
    """

    def __init__(self, said: str | float | Path) -> None:
        self._value: float | None = None
        self._file: Calibration | None = None
        self.plain: Path | None = None
        """The file, where its confidences were not renormalised."""
        try:
            self._value = float(said)  # type: ignore[arg-type] # a path is no number, which is caught
        except (TypeError, ValueError):
            path = Path(said)  # type: ignore[arg-type] # no number comes here
            self._file = read_calibration(path)
            self.plain = None if self._file.renormalised else path
            return
        if not 0 <= self._value <= 1:
            raise UsageError(f"threshold must be a confidence from 0 to 1, or a file; got {said!r}")

    def of(self, lp: str, subtype: str | None = None) -> float:
        """The threshold of one lp, and of a subtype where the file has one for it."""
        if self._file is None:
            assert self._value is not None  # noqa: S101 (one of the two is set)
            return self._value
        if lp not in self._file.thresholds:
            known = ", ".join(self._file.thresholds)
            raise UsageError(f"the threshold file is for {known}; {lp} needs `adjudge calibrate` of its own")
        found = self._file.thresholds[lp]
        return found.threshold if subtype is None else found.subtypes.get(subtype, found.threshold)

    def check(self, wanted: Mapping[str, str], lps: Iterable[str]) -> None:
        """Refuse a file that was made for something else."""
        if self._file is None:
            return
        for what, name in wanted.items():
            if (made := getattr(self._file, what)) != name:
                raise UsageError(
                    f"the threshold file was made with {what} {made!r}, this run has {name!r}; "
                    "calibrate again, or give a number"
                )
        for lp in lps:
            self.of(lp)

    def __str__(self) -> str:
        return str(self._value) if self._file is None else f"p{self._file.percentile:g}-{self._file.digest}"

    def __repr__(self) -> str:
        return f"Threshold({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Threshold) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


TYPICAL: Final = 4  # errors of stage 1 in one translation; the paper's three cases have five, six and three
UNSURE: Final = 0.6  # of them, where a threshold was calibrated as in the paper
FILES: Final = (
    *("evaluate.md", "scope.md", "correct.md", "error.md", "respond.md", "statement.md", "subtypes.md"),
    *("texts.md", *TEXT_FILES, "version.md", "corrected.md", "cores.md", "severities.md"),
)


@frozen
class Himate:
    """Errors by nineteen agents, each looked at again, and discussed where the agent is not sure."""

    name: ClassVar[str] = "himate"
    protocol: ClassVar[str] = "mqm"
    weights: ClassVar[str] = "himate"
    with_reference: ClassVar[bool] = False

    profile: Profile = "recommended"
    stages: Literal["se", "se+sr", "se+sr+cd"] = "se+sr+cd"
    agents: Literal["subtype", "core"] = "subtype"
    most: int | None = None
    threshold: Threshold | None = None
    verifications: int = 1
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        find_form(self.profile)
        if self.most is not None and self.most < 1:
            raise UsageError(f"most must be 1 error of an agent or more, got {self.most}")
        if self.verifications < 1:
            raise UsageError(f"verifications must be 1 or more, got {self.verifications}")
        if self.verifications > 1 and self.stages == "se":
            raise UsageError(f"stages se verifies nothing; drop verifications {self.verifications}")
        if self.threshold is not None and self.stages != "se+sr+cd":
            raise UsageError(
                f"threshold is for stages with a discussion; stages {self.stages} have none: drop threshold"
            )

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Mark the errors of one translation."""
        found = await self._evaluation.run(subject, ask)
        if self.stages == "se":
            return self._annotation(subject, found)
        stands = await self.reflect(found, subject, ask, measured=self.threshold is not None)
        if self.stages == "se+sr":
            return self._annotation(subject, found, stands)
        return self._annotation(subject, found, stands, await self.discuss(stands, subject, ask))

    def for_calibration(self) -> Himate:
        """The judge with the first two stages only."""
        return replace(self, stages="se+sr", threshold=None)

    async def measure(self, subject: Subject, ask: Ask) -> tuple[Annotation, tuple[tuple[str, float], ...]]:
        """The first two stages, with subtype and confidence of every verification, for a calibration."""
        found = await self._evaluation.run(subject, ask)
        stands = await self.reflect(found, subject, ask, measured=True)
        return self._annotation(subject, found, stands), stands.confidences

    async def reflect(self, stage: Stage, subject: Subject, ask: Ask, *, measured: bool) -> Stage:
        """Second stage: every agent corrects its errors, and compares."""
        reflection = Reflection(
            scope=self._scope,
            verifications=self.verifications,
            measured=measured,
            attempts=attempts_of(self.profile),
            is_blind=self._is_ours,
        )
        return await reflection.run(stage.found, subject, ask)

    async def discuss(self, stage: Stage, subject: Subject, ask: Ask) -> Stage:
        """Third stage: the agents of the core types look at what is not sure."""
        threshold, by_subtype = self.threshold, self.profile != "paper"
        discussion = Discussion(
            scope=self._scope,
            threshold=None
            if threshold is None
            else lambda subtype: threshold.of(subject.lp, subtype if by_subtype else None),
            as_in_code=self.profile == "code",
            by_place=self._is_ours,
            language=self.explain_in or "en",
            attempts=attempts_of(self.profile),
        )
        return await discussion.run(stage.found, subject, ask)

    def advise(self, model: str, lps: Sequence[str], subjects: Iterable[Subject]) -> tuple[str, ...]:
        """What the user must know before a run.

        Args:
            model: whom the run asks, as its signature names it.
            lps: language pairs that it judges.
            subjects: some translations that it judges.

        Raises:
            UsageError: the threshold was made for something else.
        """
        notes: list[str] = []
        if self.threshold is not None:
            own = {"judge": self.name, "confidence": self.confidence, "prompts": self.prompts_digest}
            self.threshold.check({**own, "model": model}, lps)
        elif self.stages == "se+sr+cd":
            notes.append(
                "himate: no confidence threshold is set, so every remaining error is discussed (dearer); "
                "`adjudge calibrate himate` makes one"
            )
        if judged := tuple(subjects):
            notes.append(
                f"prompts of stage 1 begin alike: {self.shared_share(judged):.0%} of their characters, "
                f"measured on {len(judged)} translations, can come from a server's prefix cache"
            )
        return tuple(notes)

    def lacking(self, lps: Iterable[str]) -> tuple[str, ...]:
        """For which language pairs agents have no worked examples, in one line; nothing if for none."""
        return self._scope.lacking(self._agents, lps)

    def shared_share(self, subjects: Iterable[Subject]) -> float:
        """How much of the prompts of stage 1, in characters, can come from a cache that keeps every prefix.

        Returns:
            From 0 to 1: the share of what another prompt of these subjects begins with, too.
        """
        prompts = []
        for subject, agent in product(subjects, self._agents):
            messages = self._evaluation.messages(agent, subject)
            parts = (part for message in messages for part in message.parts)
            prompts.append("".join(part if isinstance(part, str) else part.text for part in parts))
        alike = sum(len(commonprefix(pair)) for pair in pairwise(sorted(prompts)))  # noqa: RUF071 (these are no paths)
        return alike / sum(map(len, prompts))

    @property
    def confidence(self) -> str:
        """How an agent's confidence is measured."""
        orders = ", both orders" if self._is_ours else ""
        return ("logprobs" if self.verifications == 1 else f"samples:{self.verifications}") + orders

    @property
    def roles(self) -> tuple[str, ...]:
        """Whatever the stages, so that a calibration's models have the names of the run that uses it."""
        return (*(agent.role for agent in self._agents), *COORDINATORS)

    @property
    def measured_roles(self) -> tuple[str, ...]:
        """Agents whose confidence is read from log-probabilities."""
        return tuple(agent.role for agent in self._agents) if self.verifications == 1 else ()

    @property
    def plain_threshold(self) -> Path | None:
        """The file of its threshold, where its confidences were not renormalised."""
        return None if self.threshold is None else self.threshold.plain

    @property
    def needs_logprobs(self) -> tuple[str, ...]:
        """The same, where a threshold makes use of it."""
        return () if self.threshold is None else self.measured_roles

    @property
    def calls(self) -> Calls:
        """One an agent, then for each error a correction, its verifications, and four turns at most."""
        count = len(self._agents)
        compared = 2 if self._is_ours and self.verifications == 1 else self.verifications
        reflected = 0 if self.stages == "se" else 1 + compared
        turns = 2 if self.stages == "se+sr+cd" else 0
        unsure = TYPICAL if self.threshold is None else round(UNSURE * TYPICAL)
        return Calls(
            count,
            count + TYPICAL * reflected + unsure * turns,
            count + count * self._most * (reflected + ROUNDS * turns),
        )

    @property
    def prompts_digest(self) -> str:
        """Six hexadecimal digits over its prompts."""
        return self._scope.prompts.digest

    def _annotation(self, subject: Subject, *stages: Stage) -> Annotation:
        last = stages[-1]
        if self._is_ours and self.stages != "se+sr+cd":  # a discussion merges places itself
            last = merge(last)
        spans = tuple(found.span for found in last.found)
        flags = tuple(flag for stage in (*stages[:-1], last) for flag in stage.flags)
        return annotation_of(self, subject, spans=spans, flags=flags)

    @property
    def _most(self) -> int:
        return self.most or (MOST if self._is_ours else 1)

    @property
    def _is_ours(self) -> bool:
        return self.profile == "recommended"

    @property
    def _agents(self) -> tuple[Agent, ...]:
        return BY_SUBTYPE if self.agents == "subtype" else BY_CORE

    @cached_property
    def _evaluation(self) -> Evaluation:
        return Evaluation(
            scope=self._scope,
            agents=self._agents,
            most=self._most,
            attempts=attempts_of(self.profile),
            texts_last=self._is_ours,
        )

    @cached_property
    def _scope(self) -> Scope:
        errors = ErrorList(
            form="json", severities=SEVERITIES, categories=SUBTYPES, explain_in=self.explain_in or "en"
        )
        own = (
            ["versions.md", "review_place.md"] if self._is_ours else ["verify.md", "compare.md", "review.md"]
        )
        files = (*FILES, *own, errors.file, *errors.example_files)
        return Scope(prompts=load_prompts("himate", files, self.prompts), errors=errors)
