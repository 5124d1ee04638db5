"""Comparisons of two translations by people, and drafts chosen to be edited."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from adjudge.core.annotation import Preference
from adjudge.data.submissions import Submission
from adjudge.errors import UsageError
from adjudge.meta.agreement.agreement import AgreementSettings, find_agreement
from adjudge.meta.agreement.estimate import Draws, mean_of
from adjudge.meta.agreement.sources import source_of
from adjudge.meta.campaign.numbers import Number, Section, share_of
from adjudge.meta.ranking.comparisons import numbered

__all__ = ["comparison_sections", "draft_section", "preferences_of"]


def preferences_of(submissions: Sequence[Submission]) -> list[tuple[Submission, Preference]]:
    """Preferences that count: of last submissions that are neither tutorial nor check."""
    return [
        (submission, record)
        for submission in submissions
        if submission.is_last and submission.kind not in {"tutorial", "check"}
        for record in submission.records
        if isinstance(record, Preference)
    ]


def comparison_sections(submissions: Sequence[Submission], draws: Draws) -> tuple[Section, Section]:
    """How far people agree, and whether a verdict follows the side."""
    judged = preferences_of(submissions)
    return _agreement(judged, draws), _sides(judged, draws)


def _agreement(judged: Sequence[tuple[Submission, Preference]], draws: Draws) -> Section:
    title = "Do people prefer the same translations?"
    latest = {(p.lp, p.segment, frozenset(p.systems), p.annotator, p.criterion): p for _, p in judged}
    try:
        source = source_of("campaign", latest.values())
        found = find_agreement([source], [], AgreementSettings(draws=draws))
    except UsageError as error:
        return Section(name="agreement", title=title, notes=(f"Nothing to compare: {error}.",))
    numbers = [
        Number(of=" and ".join(row.between), measure=_named(row.criterion, row.measure), result=row.result)
        for row in found.rows
    ]
    return Section(name="agreement", title=title, numbers=tuple(numbers), notes=found.notes)


def _named(criterion: str, measure: str) -> str:
    return f"{criterion}: {measure}" if criterion else measure


def _sides(judged: Sequence[tuple[Submission, Preference]], draws: Draws) -> Section:
    """Shares of verdicts for each side; where sides do not matter, both get as many."""
    numbers: list[Number] = []
    known = [(p, _first_shown(s, p)) for s, p in judged]
    placed = [(p, first) for p, first in known if first is not None]
    people = sorted({p.annotator for p, _ in placed})
    for who in ("all", *(people if len(people) > 1 else ())):
        own = [(p, first) for p, first in placed if who in {"all", p.annotator}]
        numbers += _side_numbers(who, own, draws)
    lost = len(known) - len(placed)
    notes = [f"Preferences left out, not known which side was shown first: {lost:,}."] if lost else []
    title = "Does a verdict follow the side?"
    return Section(name="sides", title=title, numbers=tuple(numbers), notes=tuple(notes))


def _first_shown(submission: Submission, preference: Preference) -> str | None:
    """The system whose translation stood first: texts are kept in the order shown."""
    return next((system for system in submission.texts if system in preference.systems), None)


def _side_numbers(who: str, own: Sequence[tuple[Preference, str]], draws: Draws) -> Iterator[Number]:
    drawing = replace(draws, groups=numbered([(p.lp, p.segment) for p, _ in own]))
    winners = [{"A": p.systems[0], "B": p.systems[1]}.get(p.verdict) for p, _ in own]
    first = np.array([winner == shown for winner, (_, shown) in zip(winners, own, strict=True)])
    tied = np.array([winner is None for winner in winners])
    shares = {
        "share for the first side": first,
        "share for the second side": ~first & ~tied,
        "share tied": tied,
    }
    for measure, hits in shares.items():
        result = mean_of(hits.astype(np.float64), drawing, "nothing was compared")
        yield Number(of=who, measure=measure, result=result)


def draft_section(submissions: Sequence[Submission]) -> Section:
    """Whose drafts people chose to edit, and how often they left one as it was."""
    chosen = [
        s for s in submissions if s.is_last and s.chosen is not None and s.kind not in {"tutorial", "check"}
    ]
    systems = sorted({system for s in chosen for system in s.texts})
    numbers = []
    for system in systems:
        shown = [s for s in chosen if system in s.texts]
        result = share_of([s.chosen == system for s in shown])
        numbers.append(Number(of=system, measure="share chosen", result=result))
    same = [s.edited == s.texts.get(s.chosen or "") for s in chosen]
    left = share_of(same, "no draft was chosen")
    numbers.append(Number(of="all", measure="share left as it was", result=left))
    return Section(name="drafts", title="Which drafts do people choose?", numbers=tuple(numbers))
