"""Matching rules: what the marked errors of a run earn beside those of gold.

A `Mark` is a side, a half-open range, a severity and a category. Rules count characters (`w25`, `chars`) or
marks matched one-to-one (`em`, `mp`, `mpp`, `himate`); `RULES` lists them. From the credit of each
translation come precision, recall and F1, micro over all translations or macro over each, with bootstrap
intervals.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.preferences import numbered
from adjudge.core.frozen import frozen
from adjudge.core.mqm import total
from adjudge.core.protocol import Severity
from adjudge.core.record import ErrorSpan, Side
from adjudge.core.scores import Interval
from adjudge.errors import UsageError
from adjudge.stats.bootstrap import bootstrap_interval
from adjudge.stats.judged import Floats

Average = Literal["micro", "macro"]


class Credit(NamedTuple):
    """What the marks of one translation earn under one rule."""

    gold: float  # credit of the gold marks, 0 to `gold_most`
    gold_most: float  # what gold would earn if all of it were found: marks, weights or characters
    pred: float  # credit of the predicted marks, 0 to `pred_most`
    pred_most: float  # what the prediction would earn if all of it were right


class Quality(NamedTuple):
    """Precision, recall and their harmonic mean, each from 0 to 1."""

    precision: float
    recall: float
    f1: float


def quality(credit: Credit) -> Quality:
    """Turn credit into precision, recall and F1.

    precision = pred / pred_most; recall = gold / gold_most; F1 = 2 P R / (P + R)

    0 of 0 is 1, as in the scripts of WMT25 and of Perrella et al. 2026: nothing was predicted wrongly,
    nothing of gold was missed. Who is silent where gold marks something has F1 0; a translation that both
    leave clean has 1, 1, 1.
    """
    precision = credit.pred / credit.pred_most if credit.pred_most else 1.0
    recall = credit.gold / credit.gold_most if credit.gold_most else 1.0
    return Quality(precision, recall, f1_of(precision, recall))


def f1_of(precision: float, recall: float) -> float:
    """Harmonic mean; 0 where both are 0."""
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def micro(credits_: Sequence[Credit]) -> Quality:
    """Quality of all credit together: every mark counts alike, wherever it stands."""
    gold, gold_most, pred, pred_most = (total(column) for column in zip(*credits_, strict=True))
    return quality(Credit(gold, gold_most, pred, pred_most))


def macro(credits_: Sequence[Credit]) -> Quality:
    """Mean over translations of each one's precision, recall and F1.

    Silence is rewarded: each translation that gold leaves clean gives 1 to who marks nothing (Perrella et
    al. 2026). F1 is the mean of F1 (Opitz and Burst 2019, arXiv 1911.03347), not that of the two means.
    """
    each = [quality(credit) for credit in credits_]
    return Quality(*(total(column) / len(each) for column in zip(*each, strict=True)))


Unit = Literal["characters", "words"]
"""What ranges and lengths count in."""


_ALONE: Final = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Tibetan, Burmese, Khmer
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"  # kana, Han
    "\U0001b000-\U0001b16f\U00020000-\U000323af]"  # more of both
)
"""Letters of scripts that set no spaces between words."""


class Mark(NamedTuple):
    """One marked error."""

    side: Side
    start: int | None  # first unit of the range, counted from 0; None where it has no place
    end: int | None  # one past the last unit; None where it has no place
    severity: Severity
    category: str | None  # canonical category; None where none was asked for
    # of the marked text, or of a quotation without a place; in characters, single characters
    words: tuple[str, ...] = ()

    @property
    def length(self) -> int:
        """Units of the range; 0 where it has no place."""
        return 0 if self.start is None or self.end is None else self.end - self.start


def split_words(text: str) -> list[tuple[int, int]]:
    """Half-open ranges of the words of a text, in code points.

    A run of letters and digits is a word. So is every punctuation mark and symbol, and every letter of a
    script that sets no spaces: Chinese, Japanese, Thai, Lao, Tibetan, Burmese, Khmer. Combining marks and
    joiners belong to what stands before them; white space is no word.
    """
    words: list[tuple[int, int]] = []
    is_open = False  # whether a letter would continue the last word
    for place, char in enumerate(text):
        kind = unicodedata.category(char)[0]
        if char.isspace():
            is_open = False
        elif words and words[-1][1] == place and (kind in "MC" or (is_open and _is_letter(char, kind))):
            words[-1] = (words[-1][0], place + 1)
        else:
            words.append((place, place + 1))
            is_open = _is_letter(char, kind)
    return words


def _is_letter(char: str, kind: str) -> bool:
    return kind not in "PS" and not _ALONE.match(char)


def mark_of(span: ErrorSpan, unit: Unit, words: Sequence[tuple[int, int]] = ()) -> Mark:
    parts = span.text if unit == "characters" else (span.text[a:b] for a, b in split_words(span.text))
    start, end = span.start, span.end
    if unit == "words" and start is not None and end is not None:
        before = sum(word_end <= start for _, word_end in words)
        start, end = before, before + sum(max(a, start) < min(b, end) for a, b in words)
    return Mark(span.side, start, end, span.severity, span.category, tuple(parts))


def overlap(one: Mark, other: Mark) -> int:
    """Units that both marks hold; 0 where they are on two sides, or one has no place."""
    if one.side != other.side or one.start is None or other.start is None:
        return 0
    return max(0, min(one.start + one.length, other.start + other.length) - max(one.start, other.start))


def is_same_place(one: Mark, other: Mark) -> bool:
    """Whether two marks hold exactly the same.

    Without a place, as of an omission that nobody could point at, the same words on the same side are the
    same; so two marks without place and words agree that something is missing.
    """
    if (one.side, one.start, one.end) != (other.side, other.start, other.end):
        return False
    return one.start is not None or one.words == other.words


def shares(one: Mark, other: Mark) -> tuple[float, float]:
    """Which part of each mark the other one holds, each from 0 to 1.

    (overlap / length of one, overlap / length of other); (1, 1) for the same place, of length 0 too.
    """
    if is_same_place(one, other):
        return 1.0, 1.0
    common = overlap(one, other)
    return (common / one.length, common / other.length) if common else (0.0, 0.0)


OTHER_SEVERITY: Final = 0.5
"""Credit of a character that both mark with different severities."""


_Place = tuple[Side, int]


class _Depth(NamedTuple):
    """How many marks of each severity hold each character."""

    major: Counter[_Place]
    minor: Counter[_Place]


def wmt25_characters(gold: Sequence[Mark], pred: Sequence[Mark]) -> Credit:
    """`w25`: characters that both sides mark, as often as both mark them.

    For each character: min(gold, pred) for major and for minor, then 0.5 for each of what is left on both
    sides. Denominators: marked characters of gold and of the prediction; two marks count them twice.
    Critical counts as major, neutral as minor.

    Source: `scoring_esa.py` of WMT25's task 2 (github.com/wmt-conference/wmt25-mteval at 74e123c). Marks
    without a place and empty marks have no characters and are left out, as `missing` is there. The script
    knows the translation only; here each side's characters count. Long marks weigh more than short ones.
    """
    one, other = _depth(gold), _depth(pred)
    earned = 0.0
    for place in {*one.major, *one.minor} & {*other.major, *other.minor}:
        major = min(one.major[place], other.major[place])
        minor = min(one.minor[place], other.minor[place])
        left = (depth.major[place] + depth.minor[place] - major - minor for depth in (one, other))
        earned += major + minor + OTHER_SEVERITY * min(left)
    return Credit(earned, _all(one), earned, _all(other))


def wmt23_characters(gold: Sequence[Mark], pred: Sequence[Mark]) -> Credit:
    """`chars`: characters that both sides mark, however often.

    A character that both mark earns 1 where a severity is common to both, else 0.5. Denominators: characters
    that gold marks, that the prediction marks. Critical counts as major, neutral as minor.

    Source: `task2_evaluate.py` of WMT23's QE task (github.com/WMT-QE-Task/qe-eval-scripts at 96340b0). An
    empty mark counts as the one character at its place; a mark without a place is left out. The script knows
    the translation only, and divides by zero where nothing is marked. Long marks weigh more than short ones.
    """
    one, other = _depth(gold, empty=1), _depth(pred, empty=1)
    marked, found = {*one.major, *one.minor}, {*other.major, *other.minor}
    agreed = (one.major.keys() & other.major.keys()) | (one.minor.keys() & other.minor.keys())
    earned = len(agreed) + OTHER_SEVERITY * (len(marked & found) - len(agreed))
    return Credit(earned, len(marked), earned, len(found))


def _depth(marks: Iterable[Mark], empty: int = 0) -> _Depth:
    depth = _Depth(Counter(), Counter())
    for mark in marks:
        if mark.start is not None:
            of_severity = depth.major if mark.severity in {"major", "critical"} else depth.minor
            length = mark.length or empty
            of_severity.update((mark.side, place) for place in range(mark.start, mark.start + length))
    return depth


def _all(depth: _Depth) -> int:
    return depth.major.total() + depth.minor.total()


Places = NDArray[np.intp]

_DIGITS: Final = 12  # sums of shares that agree so far are the same
_MOST_SUMS: Final = 20_000


class Pair(NamedTuple):
    """A gold mark and a predicted one that may be matched, by place, and what each of them then earns."""

    gold: int
    pred: int
    gold_earns: float
    pred_earns: float


def best_assignment(
    gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]
) -> float:
    """Largest sum that a one-to-one matching earns, where both marks of a pair earn the same.

    Solved exactly as a linear assignment (`scipy.optimize.linear_sum_assignment`).
    """
    table, rows, columns = _assignment(gold, pred, earns)
    return float(table[rows, columns].sum())


def best_pairs(
    gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]
) -> list[tuple[Mark, Mark]]:
    """The pairs of that matching which earn something."""
    table, rows, columns = _assignment(gold, pred, earns)
    places = zip(rows.tolist(), columns.tolist(), strict=True)
    return [(gold[row], pred[column]) for row, column in places if table[row, column] > 0]


def _assignment(
    gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]
) -> tuple[Floats, Places, Places]:
    none = np.empty(0, dtype=np.intp)
    if not gold or not pred:
        return np.zeros((len(gold), len(pred))), none, none
    from scipy.optimize import linear_sum_assignment

    table = np.array([[earns(g, p) for p in pred] for g in gold], dtype=np.float64)
    return table, *linear_sum_assignment(table, maximize=True)


def best_f1(pairs: Sequence[Pair], gold_most: float, pred_most: float) -> tuple[float, float]:
    """What gold and prediction earn under the one-to-one matching with the highest F1.

    The two marks of a pair earn differently, so F1 of the sums is no sum over pairs, and a linear assignment
    does not find its highest value. F1 rises with either sum: per group of marks that compete with one
    another, all pairs of sums that no other exceeds in both are kept, then those of the groups are added up.
    Between equal F1 the higher precision is taken (Perrella et al.'s code does the same).

    A group of more than `_MOST_SUMS` such sums, as of dozens of marks on one word, is matched by a linear
    assignment of the sum of both earnings.

    Earnings of gold and of the prediction.
    """
    sums = [(0.0, 0.0)]
    for group in _groups(pairs):
        sums = _best_of([(a + c, b + d) for a, b in sums for c, d in _group_sums(group)])

    def rank(earned: tuple[float, float]) -> tuple[float, float, float]:
        recall, precision = earned[0] / gold_most, earned[1] / pred_most
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
        return round(f1, _DIGITS), round(precision + recall, _DIGITS), precision

    return max(sums, key=rank)


def _groups(pairs: Sequence[Pair]) -> list[list[Pair]]:
    home: dict[tuple[str, int], list[Pair]] = {}
    for pair in pairs:
        ends = ("gold", pair.gold), ("pred", pair.pred)
        group, *others = {id(g): g for g in (home.get(end) for end in ends) if g}.values() or [[]]
        group.append(pair)
        for other in others:
            group.extend(other)
        for one in [pair, *(o for other in others for o in other)]:
            home["gold", one.gold] = home["pred", one.pred] = group
    return list({id(group): group for group in home.values()}.values())


def _group_sums(pairs: Sequence[Pair]) -> list[tuple[float, float]]:
    found: dict[frozenset[int], list[tuple[float, float]]] = {frozenset(): [(0.0, 0.0)]}
    for gold in dict.fromkeys(pair.gold for pair in pairs):
        grown = {used: list(sums) for used, sums in found.items()}
        for pair in (p for p in pairs if p.gold == gold):
            for used, sums in found.items():
                if pair.pred not in used:
                    more = [(a + pair.gold_earns, b + pair.pred_earns) for a, b in sums]
                    grown.setdefault(used | {pair.pred}, []).extend(more)
        found = {used: _best_of(sums) for used, sums in grown.items()}
        if sum(map(len, found.values())) > _MOST_SUMS:
            return [_assigned(pairs)]
    return _best_of([s for sums in found.values() for s in sums])


def _best_of(sums: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    kept: list[tuple[float, float]] = []
    for one, other in sorted(sums, reverse=True):
        if not kept or other > kept[-1][1]:
            kept.append((one, other))
    return kept


def _assigned(pairs: Sequence[Pair]) -> tuple[float, float]:
    from scipy.optimize import linear_sum_assignment

    gold, pred = (
        {name: place for place, name in enumerate(dict.fromkeys(names))}
        for names in ((p.gold for p in pairs), (p.pred for p in pairs))
    )
    table = np.zeros((len(gold), len(pred), 2))
    for pair in pairs:
        table[gold[pair.gold], pred[pair.pred]] = pair.gold_earns, pair.pred_earns
    rows, columns = linear_sum_assignment(table.sum(axis=2), maximize=True)
    one, other = table[rows, columns].sum(axis=0)
    return float(one), float(other)


def exact_match(gold: Sequence[Mark], pred: Sequence[Mark], *, penalty: float = 0.0) -> Credit:
    """`em`: a mark counts where the other side has the very same range, else not.

    Credit of a matched pair: 1, or 1 - penalty where the severities differ. Rewards silence and single
    words: the fewer and shorter the marks, the likelier they are met exactly.

    Source: Perrella et al. 2026, arXiv 2603.19921. Two marks without a place and with equal words are the
    same; an empty mark equals an empty mark at the same place. Of marks that stand twice, each counts.
    """
    return _counted(gold, pred, lambda g, p: _reward(g, p, penalty) if is_same_place(g, p) else 0.0)


def partial_match(gold: Sequence[Mark], pred: Sequence[Mark], *, penalty: float = 0.0) -> Credit:
    """`mp`: a mark counts where it shares anything with its partner of the other side.

    Credit of a matched pair: 1, or 1 - penalty where the severities differ; one-to-one, as many pairs as
    can be. Rewards long marks: one over the whole text meets whatever is there.

    Source: Perrella et al. 2026, arXiv 2603.19921. Empty marks and marks without a place match as in `em`.
    """
    return _counted(gold, pred, lambda g, p: _reward(g, p, penalty) if any(shares(g, p)) else 0.0)


def partial_credit(
    gold: Sequence[Mark],
    pred: Sequence[Mark],
    *,
    penalty: float = 0.0,
    weights: Mapping[Severity, float] | None = None,
) -> Credit:
    """`mpp`: matched marks earn the part of themselves that the partner holds.

    gold earns overlap / length of the gold mark, the prediction overlap / length of the predicted mark, each
    times 1 - penalty where the severities differ. Marks are matched one-to-one on the same side so that F1
    of the translation is highest. A mark too long loses precision, one too short recall, and silence has
    recall 0.

    With weights every mark counts as its severity weighs, and a pair as the lower of its two weights.

    Source: Perrella et al. 2026, arXiv 2603.19921, one-to-one; severity weights as in its authors' package
    span-mt-metrics-eval. Marks without a place and empty marks earn all or nothing, as in `em`.
    """
    if weights is not None and penalty:
        raise UsageError("give either a severity penalty or severity weights, not both")
    gold_most, pred_most = (_mass(marks, weights) for marks in (gold, pred))
    pairs = [
        Pair(i, j, shared[0] * worth, shared[1] * worth)
        for i, g in enumerate(gold)
        for j, p in enumerate(pred)
        if any(shared := shares(g, p)) and (worth := _worth(g, p, penalty, weights)) > 0
    ]
    gold_earns, pred_earns = best_f1(pairs, gold_most, pred_most) if pairs else (0.0, 0.0)
    return Credit(gold_earns, gold_most, pred_earns, pred_most)


def common_run(gold: Sequence[Mark], pred: Sequence[Mark], *, threshold: float = 0.5) -> Credit:
    """`himate`: marks match where their longest common run of words is long enough for both.

    run / words of gold >= threshold and run / words of the prediction >= threshold, 0 < threshold <= 1

    Source: HiMATE, appendix E, algorithm 1. It compares words, not places: a quotation found nowhere can
    match, and so can another occurrence of the same words. (The paper's example counts 4, 5 and 3 words
    where there are 5, 5 and 4; at 50 % both agree.) How matches become precision and recall the paper does
    not say: here one-to-one, as many as can be, so that a mark given twice counts once. Severity plays no
    part. Marks without words match marks without words.
    """
    return _counted(gold, pred, lambda g, p: float(is_run_match(g, p, threshold)))


def is_run_match(one: Mark, other: Mark, threshold: float) -> bool:
    if one.side != other.side:
        return False
    if not one.words or not other.words:
        return not one.words and not other.words
    return _longest_run(one.words, other.words) / max(len(one.words), len(other.words)) >= threshold


def _longest_run(one: Sequence[str], other: Sequence[str]) -> int:
    longest = 0
    before = [0] * (len(other) + 1)
    for word in one:
        here = [0] * (len(other) + 1)
        for place, found in enumerate(other, start=1):
            if word == found:
                here[place] = before[place - 1] + 1
        longest = max(longest, *here)
        before = here
    return longest


def _counted(gold: Sequence[Mark], pred: Sequence[Mark], earns: Callable[[Mark, Mark], float]) -> Credit:
    earned = best_assignment(gold, pred, earns)
    return Credit(earned, len(gold), earned, len(pred))


def _reward(gold: Mark, pred: Mark, penalty: float) -> float:
    return 1.0 if gold.severity == pred.severity else 1.0 - penalty


def _worth(gold: Mark, pred: Mark, penalty: float, weights: Mapping[Severity, float] | None) -> float:
    if weights is None:
        return _reward(gold, pred, penalty)
    return min(weights[gold.severity], weights[pred.severity])


def _mass(marks: Sequence[Mark], weights: Mapping[Severity, float] | None) -> float:
    if weights is None:
        return float(len(marks))
    for mark in marks:
        if mark.severity not in weights:
            raise UsageError(f"the severity weights have none for {mark.severity}; add it, 0 to ignore it")
    return total(weights[mark.severity] for mark in marks)


THRESHOLD: Final = 0.5
"""Threshold of `himate` where none is given; that of the paper's example."""

THRESHOLDS: Final = tuple(tenth / 10 for tenth in range(1, 11))
"""Thresholds of a curve."""


@frozen
class Rule:
    """One matching rule."""

    name: str  # the word on the command line
    title: str
    # what the marks of one translation earn; its docstring has formula, source and edge cases
    credit: Callable[..., Credit]
    unit: Unit = "characters"  # what marks count in where nothing else is asked for
    takes: frozenset[str] = frozenset()  # settings of `credit`: threshold, penalty, weights
    compares_words: bool = False  # whether it looks at the words of marks, not at their places


RULES: Final[Mapping[str, Rule]] = {
    rule.name: rule
    for rule in (
        Rule(
            name="mpp",
            title="partial overlap, partial credit",
            credit=partial_credit,
            takes=frozenset({"penalty", "weights"}),
        ),
        Rule(name="em", title="exact match", credit=exact_match, takes=frozenset({"penalty"})),
        Rule(name="mp", title="any overlap", credit=partial_match, takes=frozenset({"penalty"})),
        Rule(name="w25", title="characters, WMT25", credit=wmt25_characters),
        Rule(
            name="himate",
            title="common run of words",
            credit=common_run,
            unit="words",
            takes=frozenset({"threshold"}),
            compares_words=True,
        ),
        Rule(name="chars", title="characters, WMT23 QE", credit=wmt23_characters),
    )
}


def find_rule(name: str) -> Rule:
    if name not in RULES:
        raise UsageError(f"no matching rule {name!r}; there are {', '.join(RULES)}")
    return RULES[name]


def quality_intervals(
    credits_: Sequence[Credit], segments: Sequence[Hashable], average: Average, *, resamples: int, seed: int
) -> Mapping[str, Interval | None]:
    """95 % percentile intervals of `precision`, `recall` and `f1`.

    Whole segments are drawn, all translations of one source together, for they are hard or easy together.
    """
    places = numbered(segments)
    rows = np.array([c if average == "micro" else (*quality(c), 1.0) for c in credits_], dtype=np.float64)
    sums = np.zeros((len(set(places)), 4))
    np.add.at(sums, places, rows)

    def statistic(name: str, draws: Floats) -> Floats:
        return _drawn_quality(draws @ sums, average)[name]

    return {
        name: bootstrap_interval(
            lambda draws, name=name: statistic(name, draws),  # type: ignore[misc]
            range(len(sums)),
            resamples=resamples,
            seed=seed,
        )
        for name in ("precision", "recall", "f1")
    }


def _drawn_quality(drawn: Floats, average: Average) -> dict[str, Floats]:
    if average == "macro":
        precision, recall, f1, n = drawn.T
        return {"precision": precision / n, "recall": recall / n, "f1": f1 / n}
    gold, gold_most, pred, pred_most = drawn.T
    precision = np.divide(pred, pred_most, out=np.ones_like(pred), where=pred_most > 0)
    recall = np.divide(gold, gold_most, out=np.ones_like(gold), where=gold_most > 0)
    both = precision + recall
    f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
    return {"precision": precision, "recall": recall, "f1": f1}
