"""
GEMBA-V2: ten lists of errors drawn at random, each scored, and one score made of the ten.

Paper    Junczys-Dowmunt, 2025, GEMBA V2: Ten Judgments Are Better Than One, WMT25,
         https://aclanthology.org/2025.wmt-1.67
Code     none by its author that we know of; facts from the abstract, from the ten scores of its appendix as
         others cite them, and from what others who built it agree on
Prompt   prompts/gemba_v2, in our own words; the paper's was not read
Differs  1. Known and kept: no reference; ten samples; MQM errors in three severities as JSON; 25, 5, 1 and
            0.1 for minor punctuation; samples beyond two standard deviations dropped; a mean weighted by
            1, 1/2, 1/3 ... from the best sample down. The ten scores of the appendix come to its -8.50.
         2. Ours, since we know no better: the standard deviation is the population's and outliers are dropped
            once; the temperature is 0.7 and a setting; a non-translation costs 25 whatever its severity; the
            categories are GEMBA-MQM's; there are no worked examples. All profiles put the same question.
         3. The answer is a flat list with the side of each span; the original's model repeats source and
            translation first.
         4. The original shows the whole source document; ours shows what --context gives.
         5. A sample that cannot be read is asked for once more, and then left out: flag `samples_missing`. If
            half of them or more cannot be read, the judgement fails. We know nothing of the original here.
         6. The scores of all samples that were read are kept, outliers too (flag `outlier_dropped`). The
            spans are those that more than half of the samples mark; they explain the score, no more. With
            explain_in each error has a note in that language.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from adjudge.core.ask import Ask, Message, Sampling
from adjudge.core.frozen import frozen
from adjudge.core.judge import Calls, Profile, annotation_of
from adjudge.core.mqm import find_weights, mqm_score, total
from adjudge.core.protocol import Severity
from adjudge.core.record import Annotation
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, DataError, UsageError
from adjudge.judges._answers import GEMBA_CATEGORIES, ErrorList, Marked
from adjudge.judges._prompts import TEXT_FILES, Prompted, Prompts, load_prompts, render_texts
from adjudge.judges._reading import or_error
from adjudge.judges._samples import OUTVOTED, TEMPERATURE, check_temperature, is_outvoted, readable, vote

_DEVIATIONS: Final = 2.0


class Aggregate(NamedTuple):
    """One number, and how many of the samples it is made of."""

    score: float
    used: int


def reciprocal_rank_mean(scores: Sequence[float]) -> Aggregate:
    """GEMBA-V2's aggregate of repeated judgements, in which good ones weigh most.

    Scores farther than two standard deviations (of the population) from the mean are dropped, once. The
    others are ranked from the best, and score = sum(s_r / r) / sum(1 / r) over the ranks r = 1, 2, ...

    Source: Junczys-Dowmunt 2025, whose example of ten scores (-50 -11 -6 -6 -11 -6 -6 -55 -6 -11) comes to
    -8.50. Equal scores come to themselves, a single one too. Independent of the order given.

    `scores`: higher is better.
    """
    if not scores:
        raise DataError("there are no samples to aggregate")
    every = sorted(scores, reverse=True)
    mean = total(every) / len(every)
    deviation = math.sqrt(total((s - mean) ** 2 for s in every) / len(every))
    ranked = [s for s in every if abs(s - mean) <= _DEVIATIONS * deviation]
    ranked = ranked or every  # the mean of equal scores may miss them by a rounding
    weights = [1 / rank for rank in range(1, len(ranked) + 1)]
    best, worst = ranked[0], ranked[-1]
    score = total(w * s for w, s in zip(weights, ranked, strict=True)) / total(weights)
    return Aggregate(min(max(score, worst), best), len(ranked))


SEVERITIES: Final[tuple[Severity, ...]] = ("critical", "major", "minor")
POINTS: Final = "mqm-google"


@frozen
class GembaV2(Prompted):
    """Ten lists of errors drawn at random, outliers dropped, the best of the others weighing most."""

    name: ClassVar[str] = "gemba-v2"
    protocol: ClassVar[str] = "metric"
    weights: ClassVar[None] = None
    with_reference: ClassVar[bool] = False
    low: ClassVar[None] = None
    high: ClassVar[float] = 0.0

    profile: Profile = "recommended"
    samples: int = 10
    temperature: float = TEMPERATURE
    explain_in: str | None = None
    prompts: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what would be the same sample again and again."""
        if self.samples < 1:
            raise UsageError(f"samples must be 1 or more, got {self.samples}")
        check_temperature(self.temperature)

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        """Draw the samples, score each, and weigh them."""
        taken = await asyncio.gather(*(self.draw(subject, ask) for _ in range(self.samples)))
        read = readable(taken)
        scores = [self.score(marked, subject) for marked in read]
        rating, used = reciprocal_rank_mean(scores)
        flags = [flag for marked in read for flag in marked.flags]
        flags += ["samples_missing"] if len(read) < self.samples else []
        flags += ["outlier_dropped"] if used < len(scores) else []
        samples = [marked.spans for marked in read]
        spans = vote(samples)
        flags += [OUTVOTED] if is_outvoted(samples, spans) else []
        return annotation_of(
            self,
            subject,
            rating=rating,
            spans=spans,
            flags=tuple(flags),
            samples=tuple(scores),
        )

    async def draw(self, subject: Subject, ask: Ask) -> Marked | AnswerError:
        """One sample: a list of errors, or why there is none."""
        about = self._errors.about(self.name, subject)
        sampling = Sampling(temperature=self.temperature)
        return await or_error(self._errors.put(self.messages(subject), about, ask, sampling=sampling))

    def score(self, marked: Marked, subject: Subject) -> float:
        """The score of one sample: minus the points of its errors."""
        errors = annotation_of(self, subject, rating=0.0, spans=marked.spans)
        return mqm_score(errors, find_weights(POINTS))

    def messages(self, subject: Subject) -> list[Message]:
        """What to mark, then the texts."""
        texts = render_texts(self._files, subject)
        return [self._errors.render_system(self._files), Message("user", texts)]

    @property
    def calls(self) -> Calls:
        """One call a sample."""
        return Calls(self.samples, self.samples, self.samples)

    @cached_property
    def _errors(self) -> ErrorList:
        return ErrorList(
            form="json", severities=SEVERITIES, categories=GEMBA_CATEGORIES, explain_in=self.explain_in
        )

    @cached_property
    def _files(self) -> Prompts:
        used = ("system.md", "texts.md", self._errors.file, *TEXT_FILES)
        return load_prompts("gemba_v2", used, self.prompts)
