"""MQM: the weights of errors, named or from a file, and the score of a translation: its errors, negated.

`total` and `mean` are the same on every machine and in every Python.
"""

from __future__ import annotations

import hashlib
import json
import math
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final, Literal

from annotated_types import Ge, Gt, Le

from adjudge.core.frozen import frozen
from adjudge.core.protocol import CATEGORIES, SEVERITIES, Severity, find_category, find_severity, fold_label
from adjudge.core.record import Annotation, ErrorSpan, Record
from adjudge.core.wording import count, form, nearest
from adjudge.errors import DataError, UsageError

DEFAULT_WEIGHTS: Final = "mqm-google"
"""Weights of MQM records that come without any."""


@frozen
class PassMark:
    """What a scorecard asks of all translations of a system together."""

    points: Annotated[float, Ge(0)]  # the most points that pass, in so many words as `words` says
    words: Annotated[float, Gt(0)] = 1000  # that the points are counted in; 1,000 in most scorecards
    # translations with a critical error that still pass; None for no veto
    critical: Annotated[int, Ge(0)] | None = 0
    # segments without a translation that leave a scorecard open; more fail it, None: never. With one of them
    # a scorecard never passes.
    untranslated: Annotated[int, Ge(0)] | None = None
    text: Literal["source", "translation"] = "source"  # whose words are counted


@frozen
class Weights:
    """How much each error costs; named data that every signature shows."""

    name: str  # the word on the command line; of a file its name and the start of its digest
    # `severity`, `severity/category` or `*/category` to points; the most specific rule wins
    rules: Mapping[str, float]
    source: str  # where the numbers come from
    first: int | None = None  # only so many errors count, those that cost most; None for all
    cap: float | None = None  # no translation loses more than this; None for no cap
    # category to how many times the points of its severity it costs, where no rule names it
    multipliers: Mapping[str, float] = field(default_factory=dict)
    passing: PassMark | None = None  # what passes, in a scorecard; None for weights that only score

    @cached_property
    def labels(self) -> frozenset[str]:
        """Categories of their own, which adjudge does not know: they are compared with an error's label."""
        named = {key.partition("/")[2] for key in self.rules if "/" in key} | {*self.multipliers}
        return frozenset(named - CATEGORIES.keys())

    def points_of(self, span: ErrorSpan) -> float:
        """Points of a marked error, by its label where these weights have a category of that name."""
        if self.labels and span.label and (label := fold_label(span.label)) in self.labels:
            for key in (f"{span.severity}/{label}", f"*/{label}"):
                if key in self.rules:
                    return self.rules[key]
            return self.points(span.severity, None) * self.multipliers.get(label, 1)
        return self.points(span.severity, span.category)

    def points(self, severity: Severity, category: str | None) -> float:
        """Points that one error costs, 0 or more."""
        known = self._known.get((severity, category))
        if known is None:
            known = self._known[severity, category] = self._find(severity, category)
        return known

    @cached_property
    def _known(self) -> dict[tuple[Severity, str | None], float]:
        return {}

    def _find(self, severity: Severity, category: str | None) -> float:
        if category is not None and category not in CATEGORIES:
            raise DataError(f"category must be one of {', '.join(CATEGORIES)}; got {category!r}")
        for key in self._keys(severity, category):
            if key in self.rules:
                names = () if category is None or "/" in key else (category, category.split("/", 1)[0])
                times = next((self.multipliers[name] for name in names if name in self.multipliers), 1)
                return self.rules[key] * times
        what = severity if category is None else f"{severity} {category}"
        mend = (
            f"choose others of {_names()}"
            if self.name in WEIGHTS
            else f"add it to their file: {severity} = ..."
        )
        raise UsageError(f"weights {self.name!r} have no rule for a {what} error; {mend}")

    @staticmethod
    def _keys(severity: Severity, category: str | None) -> list[str]:
        if category is None:
            return [severity]
        names = (category, category.split("/", 1)[0])
        return [f"{s}/{name}" for name in names for s in (severity, "*")] + [severity]


_NO_POINTS: Final[Mapping[str, float]] = {"*/source error": 0, "*/accuracy/creative reinterpretation": 0}
"""Marked in the WMT data but not held against a system."""

_GOOGLE: Final[Mapping[str, float]] = {
    "critical": 25,
    "major": 5,
    "minor": 1,
    "neutral": 0,
    "minor/fluency/punctuation": 0.1,
    "*/non-translation": 25,
}

_M_MAD: Final[Mapping[str, float]] = {
    "major": 5,
    "minor": 1,
    "neutral": 0,
    "*/non-translation": 25,
    "*/source error": 0,
}

WEIGHTS: Final[Mapping[str, Weights]] = {
    w.name: w
    for w in (
        Weights(
            name="mqm-google",
            source="Freitag et al. 2021, as WMT23 applies it; critical as in the ESA paper's MQM campaigns",
            rules={**_GOOGLE, **_NO_POINTS},
        ),
        Weights(
            name="mqm-google-2021",
            source="fits the published scores of WMT21's TED files, where errors of the source cost too",
            rules=_GOOGLE,
        ),
        Weights(
            name="gemba",
            source="GEMBA-MQM, Kocmi and Federmann 2023: the first five errors, at most 25 points",
            rules={"critical": 25, "major": 5, "minor": 1, "neutral": 0, "*/non-translation": 25},
            first=5,
            cap=25,
        ),
        Weights(
            name="himate",
            source="HiMATE, table 6",
            rules={"major": 5, "minor": 1, "neutral": 0, "minor/fluency/punctuation": 0.1},
        ),
        Weights(
            name="m-mad",
            source="M-MAD, section 3",
            rules=_M_MAD,
        ),
        Weights(
            name="m-mad-capped",
            source="M-MAD, section 2.1: no segment is worse than 25",
            rules=_M_MAD,
            cap=25,
        ),
        Weights(
            name="m-mad-published",
            source="fits M-MAD's published score files, which differ from the paper in punctuation",
            rules={**_M_MAD, "minor/fluency/punctuation": 0.1},
        ),
        Weights(name="ea-prompt", source="EAPrompt, Lu et al. 2024", rules={"major": 5, "minor": 1}),
        Weights(
            name="ea-prompt-published",
            source="fits the published EAPrompt files, where a major error costs 6",
            rules={"major": 6, "minor": 1},
        ),
        Weights(
            name="esa-spans",
            source="ESA paper, section 4; 4.8 is the scanned optimum for a major error",
            rules={"critical": 5, "major": 5, "minor": 1, "neutral": 0},
        ),
    )
}


def _names() -> str:
    return ", ".join(WEIGHTS)


def find_weights(name: str) -> Weights:
    """Look weights up by their name, or read the file of that name."""
    if name.endswith(".toml"):
        return read_weights(name)
    if name not in WEIGHTS:
        raise UsageError(f"no weights {name!r}; there are {_names()}, and files that end in .toml")
    return WEIGHTS[name]


def read_weights(path: Path | str) -> Weights:
    """Read weights from a TOML file: its points, its multipliers, its limits, and what passes.

    Its name in signatures holds a digest of what it says, so that numbers of other weights stand apart. A
    category of the typology may be spelled as in any year; any other is one of its own, and is compared with
    the label that an error had in its file.
    """
    from pydantic import TypeAdapter, ValidationError

    path = Path(path)
    try:
        said = tomllib.loads(path.read_text("utf-8"))
        file = TypeAdapter(_File).validate_python(said)
        rules = _distinct("points", file.points, _rule)
        multipliers = _distinct("multipliers", file.multipliers, _category)
    except FileNotFoundError:
        raise UsageError(f"there is no file of weights {path}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"weights {path}: {error}") from None
    except ValidationError as error:
        found = error.errors()[0]
        where = ".".join(map(str, found["loc"])) or "the file"
        raise UsageError(f"weights {path}: {where}: {found['msg']}") from None
    except DataError as error:
        raise UsageError(f"weights {path}: {error}") from None
    digest = hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()[:8]
    return Weights(
        name=f"{file.name or path.stem}@{digest}",
        rules=rules,
        source=file.source or path.name,
        first=file.first,
        cap=file.cap,
        multipliers=multipliers,
        passing=file.passing,
    )


_Points = Annotated[float, Ge(0), Le(1e6)]


@frozen
class _File:
    """A file of weights: the fields of `Weights`, with `points` for its rules."""

    __pydantic_config__ = {"extra": "forbid"}  # noqa: RUF012 (pydantic's own name)

    points: Mapping[str, _Points]
    name: str = ""
    source: str = ""
    first: Annotated[int, Ge(1)] | None = None
    cap: _Points | None = None
    multipliers: Mapping[str, _Points] = field(default_factory=dict)
    passing: PassMark | None = None


def _distinct(table: str, said: Mapping[str, float], name_of: Callable[[str], str]) -> dict[str, float]:
    """Name each rule in one way, and refuse two that are one: the order in the file would decide."""
    spelled: dict[str, str] = {}
    for key in said:
        if (known := spelled.setdefault(name_of(key), key)) != key:
            raise DataError(f"{table}: {known!r} and {key!r} are both {name_of(key)!r}; keep one of them")
    return {name: said[key] for name, key in spelled.items()}


def _rule(key: str) -> str:
    severity, slash, category = key.partition("/")
    known = "*" if slash and severity.strip() == "*" else find_severity(severity)
    if known is None:
        raise DataError(f"points: {key!r} begins with none of {', '.join(SEVERITIES)}, or */ and a category")
    return f"{known}/{_category(category)}" if slash else known


def _category(label: str) -> str:
    """The category of that name. A label with a slash that the typology does not have stays as it is."""
    folded = fold_label(label)
    return (None if "/" in folded else find_category(folded)) or folded


def total(values: Iterable[float]) -> float:
    """Add from left to right, each step rounded: bit for bit what the public score files hold.

    `sum` rounds otherwise since Python 3.12; see docs/decisions/020-plain-sums.md. Empty: 0.
    """
    result = 0.0
    for value in values:
        result += value
    return result


def mean(values: Sequence[float]) -> float | None:
    """Arithmetic mean; None of no values."""
    if len(values) == 1:
        return 0.0 + values[0]
    return total(values) / len(values) if values else None


_MOST_NAMES: Final = 5


def mqm_score(annotation: Annotation, weights: Weights) -> float:
    """Minus the points of the errors; 0 is a clean translation, higher is better.

    score = -min(cap, sum of points(severity, category) over the errors that count)

    The form is that of Freitag et al. 2021; the points are those of `weights`. With `mqm-google` it equals
    the published segment scores of WMT23 en-de bit for bit. Errors on the source and errors without a
    place count like all others. With `weights.first`, only so many count: those that cost most, in whichever
    order they were marked. Where the annotator counted the errors
    (`annotation.counts`), the count is scored and the spans are not, as in EAPrompt's paper. An error whose
    category adjudge does not know costs what its severity costs; `unknown_categories_note` counts these.
    """
    if annotation.counts:
        costs = [weights.points(s, None) for s, times in annotation.counts.items() for _ in range(times)]
    else:
        costs = [weights.points_of(span) for span in annotation.spans]
    if weights.first is not None:
        costs = sorted(costs, reverse=True)[: weights.first]
    points = total(costs)
    if weights.cap is not None:
        points = min(points, weights.cap)
    return 0.0 - points  # not -points: a clean translation has 0, not -0


def unused_categories_note(records: Iterable[Record], weights: Weights) -> list[str]:
    """Name the categories of a file of weights that neither adjudge nor an error has: misspelt, perhaps."""
    if not weights.labels:
        return []
    marked = (s.label for r in records if isinstance(r, Annotation) for s in r.spans if s.label)
    there = {fold_label(label) for label in marked}
    known = {*CATEGORIES, *(name.rpartition("/")[2] for name in CATEGORIES), *there}
    return [
        f"Weights {weights.name} have a category {label!r}, which is none of the typology and of no error "
        f"here: its points count nowhere{nearest(label, known) or '.'}"
        for label in sorted(weights.labels - there)
    ]


def mqm_range(weights: Weights) -> tuple[float, float]:
    """Lowest and highest score: minus the cap, or minus infinity, to 0."""
    return (-math.inf if weights.cap is None else 0.0 - weights.cap, 0.0)


def weights_of(records: Iterable[Record], run: str | None = None) -> str:
    """Name the weights by which marked errors are scored where nobody chose any."""
    if run is not None:
        return run
    found = {r.weights or DEFAULT_WEIGHTS for r in records if isinstance(r, Annotation)}
    if len(found) > 1:
        told = " and ".join(sorted(found))
        raise UsageError(f"the records have different weights, {told}: choose with --weights")
    return found.pop() if found else DEFAULT_WEIGHTS


def unknown_categories_note(records: Iterable[Record], weights: Weights) -> list[str]:
    """Count the errors of categories that adjudge does not know, and name these, most frequent first."""
    found = Counter(
        span.label
        for record in records
        if isinstance(record, Annotation) and not record.counts
        for span in record.spans
        if span.category is None and span.label and fold_label(span.label) not in weights.labels
    )
    if not found:
        return []
    named = ", ".join(f"{label!r} {times:,}" for label, times in found.most_common(_MOST_NAMES))
    rest = len(found) - _MOST_NAMES
    more = f" and {count(rest, 'other category', 'other categories')}" if rest > 0 else ""
    n = found.total()
    subject = f"{count(n, 'error')} {form(n, 'has a category', 'have categories')} that adjudge does not know"
    return [f"{subject} ({named}{more}): each costs what its severity costs."]
