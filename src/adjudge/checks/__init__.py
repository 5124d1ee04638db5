"""Deterministic checks of a translation against its source, without a language model.

Each family is a small file with one pure function from the two texts to marks; `RULES` says of every rule
what it means, how bad it is and how often it is right.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from adjudge.checks.brackets import check_brackets
from adjudge.checks.capitals import check_capitals
from adjudge.checks.chatter import check_chatter, check_refusal
from adjudge.checks.currency import check_currency
from adjudge.checks.dates import check_dates
from adjudge.checks.emoji import check_emoji
from adjudge.checks.encoding import check_encoding
from adjudge.checks.length import check_length
from adjudge.checks.markup import check_markup
from adjudge.checks.names import check_names
from adjudge.checks.numbers import check_numbers
from adjudge.checks.punctuation import check_punctuation
from adjudge.checks.quotes import check_quotes
from adjudge.checks.repetition import check_repetition
from adjudge.checks.rules import CLEAN_PRECISION, RULES, Rule
from adjudge.checks.scripts import check_scripts
from adjudge.checks.sentences import check_sentences
from adjudge.checks.spacing import check_spacing
from adjudge.checks.telephone import check_telephone
from adjudge.checks.texts import Mark, Texts
from adjudge.checks.times import check_times
from adjudge.checks.untranslated import check_untranslated
from adjudge.checks.whole import check_whole
from adjudge.core.annotation import ErrorSpan
from adjudge.core.typology import SEVERITIES

__all__ = ["CLEAN_PRECISION", "RULES", "Finding", "Rule", "find_errors"]

Check = Callable[[Texts], Iterator[Mark]]

CHECKS: Final[tuple[Check, ...]] = (
    check_chatter,
    check_encoding,
    check_scripts,
    check_untranslated,
    check_markup,
    check_numbers,
    check_dates,
    check_times,
    check_telephone,
    check_currency,
    check_names,
    check_emoji,
    check_sentences,
    check_length,
    check_repetition,
    check_brackets,
    check_quotes,
    check_punctuation,
    check_spacing,
    check_capitals,
)


_MOST: Final = 100  # findings of one rule in one text
_EXPLAINED_BY: Final[Mapping[str, frozenset[str]]] = {
    "too-short": frozenset({"sentence-lost", "placeholder-lost"}),
    "too-long": frozenset({"sentence-added", "repeated-phrase", "endless-repetition"}),
}
"""A rule about the whole text, and rules that say more exactly what is wrong."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One error that a rule found.

    Args:
        span: the error; its text stands at its offsets, word for word.
        rule: name in `RULES`.
        precision: probability that it is a real error.
    """

    span: ErrorSpan
    rule: str
    precision: float


def find_errors(source: str, translation: str, lp: str) -> list[Finding]:
    """Check one translation. The same texts give the same findings, in the order of the texts.

    A translation that is none (empty, copied, in another language, refused) has that one error. No rule
    speaks more than a hundred times.

    Args:
        source: text that was translated.
        translation: text that is checked.
        lp: language pair in any spelling that `core.language` reads.

    Raises:
        UsageError: no language pair.
    """
    texts = Texts(source, translation, lp)
    marks = [*check_whole(texts), *check_refusal(texts)][:1]
    marks = marks or [mark for check in CHECKS for mark in _first(check(texts))]
    found = {mark.rule for mark in marks}
    marks = [mark for mark in marks if not found & _EXPLAINED_BY.get(mark.rule, frozenset())]
    return [_finding(mark, texts) for mark in sorted(_largest(marks), key=_place)]


def _first(marks: Iterator[Mark]) -> Iterator[Mark]:
    """The first marks of every rule. A text with more is broken, and no list of them all serves anyone."""
    seen: Counter[str] = Counter()
    for mark in marks:
        seen[mark.rule] += 1
        if seen[mark.rule] <= _MOST:
            yield mark


def _place(mark: Mark) -> tuple[bool, int, int, str]:
    return (mark.side == "source", mark.start, mark.end, mark.rule)


def _largest(marks: list[Mark]) -> Iterator[Mark]:
    """Leave out what stands inside another error that is as bad, so that none counts twice."""
    kept: list[Mark] = []
    for mark in sorted(marks, key=_rank):
        if not any(_holds(other, mark) for other in kept):
            kept.append(mark)
            yield mark


def _holds(other: Mark, mark: Mark) -> bool:
    """Whether a mark stands inside another one. What is wrong with a whole text hides nothing in it."""
    if other.rule in _EXPLAINED_BY and mark[1:4] != other[1:4]:
        return False
    return other.side == mark.side and other.start <= mark.start and mark.end <= other.end


def _rank(mark: Mark) -> tuple[int, int, float, str, int]:
    rule = RULES[mark.rule]
    return (-SEVERITIES.index(rule.severity), mark.start - mark.end, -rule.precision, mark.rule, mark.start)


def _finding(mark: Mark, texts: Texts) -> Finding:
    rule = RULES[mark.rule]
    text = texts.source if mark.side == "source" else texts.translation
    span = ErrorSpan(
        severity=rule.severity,
        start=mark.start,
        end=mark.end,
        text=text[mark.start : mark.end],
        category=rule.category,
        side=mark.side,
        note=mark.note,
    )
    return Finding(span=span, rule=rule.name, precision=rule.precision)
