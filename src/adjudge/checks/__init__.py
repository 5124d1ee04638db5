"""Deterministic checks of a translation against its source, without a language model.

Each check is a pure function from the two texts to marks; the modules hold checks of one kind. `RULES` says
of every rule what it means, how bad it is and how often it is right; `find_errors` applies them all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from adjudge.checks.content import (
    check_chatter,
    check_length,
    check_names,
    check_refusal,
    check_repetition,
    check_sentences,
    check_untranslated,
    check_whole,
)
from adjudge.checks.dates import check_dates, check_times
from adjudge.checks.markup import check_emoji, check_encoding, check_markup
from adjudge.checks.numbers import check_currency, check_numbers, check_telephone
from adjudge.checks.punctuation import (
    check_brackets,
    check_capitals,
    check_punctuation,
    check_quotes,
    check_spacing,
)
from adjudge.checks.texts import Mark, Texts, check_scripts
from adjudge.core.frozen import frozen
from adjudge.core.protocol import SEVERITIES, Severity
from adjudge.core.record import ErrorSpan

__all__ = ["CLEAN_PRECISION", "RULES", "Finding", "Rule", "find_errors"]


class Rule(NamedTuple):
    """One rule."""

    name: str  # stands in every finding
    severity: Severity
    category: str  # canonical category of `core.protocol`
    precision: float  # probability that a finding is a real error
    # findings on which the precision was measured (docs/benchmark-tables.md); 0 where it is our judgement
    seen: int
    what: str


CLEAN_PRECISION: Final = 0.25
"""Probability that people find no error either where no rule finds one (docs/benchmark-tables.md)."""

_ENCODING: Final = "fluency/character encoding"
_WRONG: Final = "accuracy/mistranslation"
_LEFT: Final = "accuracy/untranslated text"
_MISSING: Final = "accuracy/omission"
_NEW: Final = "accuracy/addition"
_MARKS: Final = "fluency/punctuation"

RULES: Final[Mapping[str, Rule]] = {
    rule.name: rule
    for rule in (
        # no translation at all
        Rule("empty-translation", "critical", "non-translation", 0.99, 0, "nothing was translated"),
        Rule("source-copied", "critical", "non-translation", 0.95, 0, "the translation is the source"),
        Rule("wrong-language", "critical", "non-translation", 0.95, 0, "the words are of another language"),
        Rule("refusal", "critical", "non-translation", 0.9, 0, "a model declines to translate"),
        Rule("text-from-nothing", "major", _NEW, 0.95, 0, "the source is empty, the translation is not"),
        Rule("chatter", "major", _NEW, 0.85, 0, "a model speaks of its translation"),
        # characters
        Rule("replacement-character", "major", _ENCODING, 0.95, 0, "U+FFFD stands for a lost character"),
        Rule("mojibake", "major", _ENCODING, 0.95, 0, "UTF-8 was read as another encoding"),
        Rule("control-character", "minor", _ENCODING, 0.8, 0, "a control character"),
        Rule("html-entity", "minor", _ENCODING, 0.8, 0, "escaped for HTML; the source is not"),
        Rule("token-left-over", "major", _ENCODING, 0.97, 0, "a mark left over from a tokenizer"),
        # languages
        Rule("foreign-script", "major", _WRONG, 0.9, 0, "letters that the target language does not use"),
        Rule("source-script-left", "major", _LEFT, 0.9, 0, "source script left standing"),
        Rule("mixed-script-word", "minor", "fluency/spelling", 0.7, 0, "Latin and Cyrillic in one word"),
        Rule("untranslated-run", "major", _LEFT, 0.65, 11, "words of the source in a row"),
        Rule("untranslated-word", "major", _LEFT, 0.6, 0, "a function word of the source"),
        # what must stay as it is
        Rule("link-changed", "major", _WRONG, 0.9, 0, "another address than the source's"),
        Rule("link-lost", "major", _MISSING, 0.8, 0, "an address is missing"),
        Rule("link-added", "major", _NEW, 0.8, 0, "an address that the source has not"),
        Rule("placeholder-changed", "major", _WRONG, 0.9, 0, "another placeholder than the source's"),
        Rule("placeholder-lost", "major", _MISSING, 0.75, 30, "a placeholder is missing"),
        Rule("placeholder-added", "major", _NEW, 0.7, 0, "a placeholder that the source has not"),
        Rule("tag-changed", "major", _WRONG, 0.9, 0, "another tag than the source's"),
        Rule("tag-lost", "major", _MISSING, 0.5, 18, "a tag is missing"),
        Rule("tag-added", "major", _NEW, 0.95, 18, "a tag that the source has not"),
        Rule("handle-changed", "major", _WRONG, 0.8, 0, "another @name than the source's"),
        Rule("handle-lost", "major", _MISSING, 0.8, 0, "an @name is missing"),
        Rule("handle-added", "major", _NEW, 0.6, 0, "an @name that the source has not"),
        Rule("code-lost", "major", _MISSING, 0.75, 23, "a code of letters and digits is missing"),
        Rule("code-changed", "major", _WRONG, 0.8, 0, "another code of letters and digits"),
        Rule("emoji-lost", "minor", _MISSING, 0.6, 0, "an emoji is missing"),
        Rule("latin-name-lost", "major", _MISSING, 0.6, 0, "a Latin name of a non-Latin source is missing"),
        # numbers and what is made of them
        Rule("number-changed", "major", _WRONG, 0.7, 14, "another number than the source's"),
        Rule("number-lost", "major", _MISSING, 0.75, 28, "a number is missing"),
        Rule("number-added", "major", _NEW, 0.6, 0, "a number that the source has not"),
        Rule("number-format", "minor", "locale convention", 0.6, 0, "separators of the source language"),
        Rule("date-changed", "major", _WRONG, 0.8, 0, "another date than the source's"),
        Rule("weekday-changed", "major", _WRONG, 0.8, 0, "another weekday than the source's"),
        Rule("date-format", "minor", "locale convention/date", 0.5, 0, "a date in a foreign order"),
        Rule("english-ordinal", "minor", "locale convention/date", 0.8, 0, "an English ordinal such as 5th"),
        Rule("time-changed", "major", _WRONG, 0.8, 0, "another time of day than the source's"),
        Rule(
            "time-format", "minor", "locale convention/time", 0.7, 0, "a.m. or p.m. where clocks count to 24"
        ),
        Rule("telephone-changed", "major", _WRONG, 0.85, 0, "another telephone number than the source's"),
        Rule(
            "telephone-format", "minor", "locale convention/telephone", 0.6, 0, "a telephone number mangled"
        ),
        Rule("currency-changed", "major", _WRONG, 0.85, 0, "another currency than the source's"),
        Rule("currency-format", "minor", "locale convention/currency", 0.5, 0, "a symbol on the wrong side"),
        # sentences and length
        Rule("sentence-lost", "major", _MISSING, 0.85, 102, "a sentence without a counterpart"),
        Rule("sentence-added", "major", _NEW, 0.6, 10, "a sentence without a counterpart"),
        Rule("too-short", "major", _MISSING, 0.65, 42, "much shorter than is usual for the pair"),
        Rule("too-long", "major", _NEW, 0.75, 0, "much longer than is usual for the pair"),
        Rule("breaks-off", "major", "fluency/text-breaking", 0.7, 17, "a long text without a final mark"),
        Rule("doubled-word", "minor", "fluency/grammar", 0.6, 0, "a word twice"),
        Rule("repeated-phrase", "major", _NEW, 0.9, 53, "a phrase again"),
        Rule("endless-repetition", "critical", _NEW, 0.95, 0, "a phrase again and again"),
        # punctuation
        Rule("unpaired-bracket", "minor", _MARKS, 0.65, 0, "a bracket without a partner"),
        Rule("unpaired-quote", "minor", _MARKS, 0.7, 42, "a quotation mark without a partner"),
        Rule("quote-style", "minor", _MARKS, 0.9, 644, "quotation marks of another language"),
        Rule("half-width-mark", "minor", _MARKS, 0.8, 0, "half-width punctuation after a full-width letter"),
        Rule("full-width-mark", "minor", _MARKS, 0.75, 0, "full-width punctuation"),
        Rule("latin-mark", "minor", _MARKS, 0.9, 0, "Latin punctuation after an Arabic letter"),
        Rule("french-space", "minor", _MARKS, 0.6, 0, "no space before a high mark in French"),
        Rule("space-before-mark", "minor", _MARKS, 0.8, 70, "a space where none stands"),
        Rule("doubled-mark", "minor", _MARKS, 0.8, 0, "one mark too many"),
        Rule("no-space-after-mark", "minor", _MARKS, 0.6, 0, "no space after a mark"),
        Rule("split-number", "minor", _MARKS, 0.85, 15, "a space within a number"),
        Rule("final-mark-lost", "minor", _MARKS, 0.65, 0, "no final mark"),
        Rule("final-mark-added", "minor", _MARKS, 0.45, 220, "a final mark that the source has not"),
        Rule("question-lost", "minor", _MARKS, 0.45, 15, "a question ends as a statement"),
        Rule("question-added", "minor", _MARKS, 0.4, 16, "a statement ends as a question"),
        Rule("inverted-mark-lost", "minor", _MARKS, 0.9, 0, "a Spanish question that does not open"),
        Rule("space-at-start", "minor", _MARKS, 0.5, 0, "white space at the start"),
        Rule("space-at-end", "minor", _MARKS, 0.5, 0, "white space at the end"),
        Rule("doubled-space", "minor", _MARKS, 0.5, 28, "two spaces"),
        Rule("small-letter", "minor", "fluency/spelling", 0.8, 34, "a sentence starts small"),
    )
}
"""Every rule by its name, in the order of the documentation."""

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


@frozen
class Finding:
    """One error that a rule found."""

    span: ErrorSpan  # the error; its text stands at its offsets, word for word
    rule: str
    precision: float  # probability that it is a real error


def find_errors(source: str, translation: str, lp: str) -> list[Finding]:
    """Check one translation. The same texts give the same findings, in the order of the texts.

    A translation that is none (empty, copied, in another language, refused) has that one error. No rule
    speaks more than a hundred times.
    """
    texts = Texts(source, translation, lp)
    marks = [*check_whole(texts), *check_refusal(texts)][:1]
    marks = marks or [mark for check in CHECKS for mark in _first(check(texts))]
    found = {mark.rule for mark in marks}
    marks = [mark for mark in marks if not found & _EXPLAINED_BY.get(mark.rule, frozenset())]
    return [
        _finding(mark, texts)
        for mark in sorted(_largest(marks), key=lambda m: (m.side == "source", m.start, m.end, m.rule))
    ]


def _first(marks: Iterator[Mark]) -> Iterator[Mark]:
    seen: Counter[str] = Counter()
    for mark in marks:
        seen[mark.rule] += 1
        if seen[mark.rule] <= _MOST:
            yield mark


def _largest(marks: list[Mark]) -> Iterator[Mark]:
    """Leave out what stands inside another error that is as bad, so that none counts twice."""
    kept: list[Mark] = []
    for mark in sorted(marks, key=_rank):
        if not any(_holds(other, mark) for other in kept):
            kept.append(mark)
            yield mark


def _holds(other: Mark, mark: Mark) -> bool:
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
