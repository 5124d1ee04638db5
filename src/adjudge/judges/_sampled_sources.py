"""Several independent judgements of all translations of a source, and one annotation of each made of them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from adjudge.core.annotation import Annotation
from adjudge.core.ask import Ask
from adjudge.core.judge import Calls, SearchingJudge, SourceJudge
from adjudge.core.search import SearchEngine
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError
from adjudge.judges._samples import Repeated, taken_of_each, together

__all__ = ["SampledSearches", "SampledSources"]

Outcome = Annotation | AnswerError
Annotate = Callable[[Subject, Ask], Awaitable[Sequence[Outcome]]]


@dataclass(frozen=True, kw_only=True)
class _OfSources(Repeated):
    """Whatever it looks up, its calls are counted for a source."""

    judge: SourceJudge | SearchingJudge

    def calls_for(self, systems: int) -> Calls:
        """The judge's own, as often as there are samples."""
        return Calls(*(self.samples * count for count in self.judge.calls_for(systems)))


@dataclass(frozen=True, kw_only=True)
class SampledSources(_OfSources):
    """A judge of all translations of a source, asked several times."""

    judge: SourceJudge

    async def annotate_all(self, subject: Subject, ask: Ask) -> Sequence[Outcome]:
        """Judge all translations several times; of each put together what its judgements agree on."""
        return await _sampled(self, self.judge.annotate_all, subject, ask)


@dataclass(frozen=True, kw_only=True)
class SampledSearches(_OfSources):
    """A judge of all translations of a source that looks things up, asked several times.

    Each sample begins anew, with nothing in its memory; a query has one answer for all of them.
    """

    judge: SearchingJudge

    @property
    def search(self) -> str:
        """The judge's own."""
        return self.judge.search

    @property
    def said(self) -> Sequence[str]:
        """The judge's own."""
        found: Sequence[str] = getattr(self.judge, "said", ())
        return found

    def fitted(self, *, search: str, takes_tools: bool) -> SampledSearches:
        """With the judge as it fits; see `core.judge.SearchingJudge`."""
        return replace(self, judge=self.judge.fitted(search=search, takes_tools=takes_tools))

    async def annotate_all(
        self, subject: Subject, ask: Ask, engine: SearchEngine | None = None
    ) -> Sequence[Outcome]:
        """Judge all translations several times; of each put together what its judgements agree on."""
        return await _sampled(self, partial(self.judge.annotate_all, engine=engine), subject, ask)


async def _sampled(sampled: Repeated, annotate: Annotate, subject: Subject, ask: Ask) -> Sequence[Outcome]:
    """Of each system one outcome, put together from all samples."""
    warm = sampled.warm(ask)
    judgings = (annotate(subject, warm) for _ in range(sampled.samples))
    taken = [await taken_of_each(judging, len(subject.systems)) for judging in judgings]
    return [_together(own, sampled.weights) for own in zip(*taken, strict=True)]


def _together(taken: Sequence[Outcome], weights: str | None) -> Outcome:
    try:
        return together(taken, weights)
    except AnswerError as error:
        return error
