"""Which translations have no errors: how well a run tells, and which share can be published unseen.

The first is the third task of WMT26's automated MT evaluation, www2.statmt.org/wmt26/mteval-subtask3.html.
It says how labels are made, and not by which measure it ranks. The second (`publishable`) keeps a stated
risk.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from numpy.typing import NDArray

from adjudge.analysis.spans import COUNTED, Marking, Paired, keep_common, pair_up, read_both, signature_of
from adjudge.core.columns import Column
from adjudge.core.mqm import Weights, find_weights, mqm_score, weights_of
from adjudge.core.protocol import find_protocol
from adjudge.core.record import Annotation, are_by_criteria
from adjudge.core.scores import Signature
from adjudge.core.verb import Alpha, Option, settings, takes
from adjudge.errors import UsageError
from adjudge.formats.read import Given
from adjudge.stats.judged import Floats

__all__ = [
    "STARTS",
    "ErrorFree",
    "ErrorFreeSettings",
    "Publishable",
    "auc",
    "error_free",
    "error_free_of_runs",
    "mcc",
    "publishable",
    "upper_error_bound",
]


STARTS: Final = 10
"""Sequences of tests, each with its part of the doubt that is allowed."""


@dataclass(frozen=True, kw_only=True)
class Publishable:
    """What can be published where the predicted score is high enough.

    Args:
        risk: largest share of translations with errors among those published.
        confidence: with which that risk is kept.
        threshold: lowest predicted score that is published; None where no threshold keeps the risk.
        share: of all translations, 0 to 1.
        n: translations published.
        errors: of them, those in which gold has errors.
        bound: upper confidence bound of the share with errors among them; None where nothing is published.
        least: fewer translations than this can never show such a low risk.
    """

    risk: float
    confidence: float
    threshold: float | None
    share: float
    n: int
    errors: int
    bound: float | None
    least: int


def upper_error_bound(errors: int, n: int, confidence: float) -> float:
    """Exact one-sided upper bound of an error rate (Clopper and Pearson 1934).

    The rate at which `errors` or fewer among n have probability 1 - confidence; 1 where all are errors.
    """
    from scipy.stats import beta

    return 1.0 if errors >= n else float(beta.ppf(confidence, errors + 1, n - errors))


def publishable(
    scores: Floats, is_free: NDArray[np.bool_], *, risk: float = 0.05, confidence: float = 0.95
) -> Publishable:
    """Find the lowest predicted score above which errors are rare enough.

    For every distinct score, from high to low: of the translations with that score or a higher one, is the
    upper confidence bound of the share with errors (`upper_error_bound`) at most `risk`? The lowest score
    before the first no is the threshold. The scores, and so the order of the tests, do not depend on gold,
    and the first no ends them; so each may use the whole 1 - confidence (fixed-sequence testing, as in Learn
    then Test, Angelopoulos et al. 2021, arXiv 2110.01052). As one early error would end everything, there are
    `STARTS` such sequences, each from another tenth of the translations downwards and each with its tenth of
    1 - confidence; the lowest threshold of any counts. No test is made on fewer translations than `least`,
    since they show nothing even without an error: least = log((1 - confidence) / STARTS) / log(1 - risk).

    What the number rests on: translations that are drawn as those to come will be, and independent of one
    another. Several translations of one source are not quite; a threshold of other texts or systems has to
    be found anew.

    Args:
        scores: predicted, higher is better.
        is_free: whether gold calls each one free of errors.
        risk: above 0, below 1.
        confidence: above 0, below 1.

    Raises:
        UsageError: risk or confidence out of range.
    """
    for name, value in (("risk", risk), ("confidence", confidence)):
        if not 0 < value < 1:
            raise UsageError(f"{name} must lie between 0 and 1, got {value}")
    alone = 1 - (1 - confidence) / STARTS
    least = math.ceil(math.log(1 - alone) / math.log(1 - risk))
    order = np.argsort(-scores, kind="stable")
    errors = np.cumsum(~is_free[order])
    sizes = (
        np.flatnonzero(np.diff(scores[order], append=np.nan) != 0) + 1 if len(scores) else np.array([], int)
    )
    n, found = 0, 0
    bound: float | None = None
    for start in range(STARTS):
        for size in sizes[sizes >= max(least, len(scores) * start / STARTS)].tolist():
            upper = upper_error_bound(int(errors[size - 1]), size, alone)
            if upper > risk:
                break
            if size > n:
                n, found, bound = size, int(errors[size - 1]), upper
    return Publishable(
        risk=risk,
        confidence=confidence,
        threshold=float(scores[order[n - 1]]) if n else None,
        share=n / len(scores) if len(scores) else 0.0,
        n=n,
        errors=found,
        bound=bound,
        least=least,
    )


AT_LEAST: Final = 85.0
"""Lowest rating of 0 to 100 that is free of errors; WMT26's, from its guideline for annotators."""

Flags = NDArray[np.bool_]


@settings
class ErrorFreeSettings(Marking):
    """What is free of errors, and the risk that may be taken."""

    at_least: Annotated[
        float | None,
        Option(help="Lowest score of a predicted error-free translation (--error-free); default: 85."),
    ] = None
    gold_at_least: Annotated[
        float | None,
        Option(help="Lowest gold rating of an error-free translation (--error-free); default: 85."),
    ] = None
    weights: Annotated[
        str | None,
        Option(
            help="Error weights to score a run without ratings (--error-free).",
            metavar="NAME|FILE",
            short="w",
        ),
    ] = None
    risk: Annotated[
        Alpha, Option(help="Largest share with errors among published translations (--error-free).")
    ] = 0.05
    confidence: Annotated[Alpha, Option(help="Confidence level of --risk (--error-free).")] = 0.95


_TITLES: Final = {"precision": "precision", "recall": "recall", "F1": "f1", "MCC": "mcc", "AUC": "auc"}

FREE: Final = (
    *(
        Column(title, "of those free of errors", "decimal", of=f"of.{name}")
        for title, name in _TITLES.items()
    ),
    Column("publishable", "share that can be published unseen", "decimal", of="of.publishable.share"),
    Column("from score", "from which they are", "decimal", of="of.publishable.threshold"),
    Column("n free in gold", "translations", "count", of="of.n_gold"),
    Column("n predicted", "translations", "count", of="of.n_pred"),
    Column("translations", "that both judged", "count", of="of.n"),
    Column("failed", "judgements of the run that failed", "count", of="of.failed"),
)
"""The columns of `adjudge spans --error-free`, of a row whose `of` is an `ErrorFree`."""


@dataclass(frozen=True, kw_only=True)
class ErrorFree:
    """How well a run tells which translations have no errors. That they have none is the positive class.

    Args:
        n: translations that both judged.
        n_gold: of them, free of errors in gold.
        n_pred: predicted to be; None where the run only scores, and no `at_least` says what is good.
        failed: translations that gold judged and whose judgement in the run failed.
        precision: of those predicted free, the share that is; None of none.
        recall: of those free, the share predicted; None of none.
        f1: harmonic mean; None where precision or recall is.
        mcc: Matthews correlation, -1 to 1; None where either side has one class only.
        auc: chance that a translation without errors has a higher score than one with; ties count half.
            None where gold has one class only.
        publishable: what can be published unseen.
        signature: what makes the numbers repeatable.
        notes: what a reader must know.
    """

    n: int
    n_gold: int
    n_pred: int | None
    failed: int
    precision: float | None
    recall: float | None
    f1: float | None
    mcc: float | None
    auc: float | None
    publishable: Publishable
    signature: Signature
    notes: tuple[str, ...] = ()


@takes(ErrorFreeSettings)
def error_free(run: Given, gold: Given | None, settings: ErrorFreeSettings) -> ErrorFree:
    """Compare which translations a run and gold call free of errors.

    Free of errors: no error is marked, neutral marks aside, and the rating, where there is one, is at least
    `at_least`. MQM has no rating, so its marks decide alone; a protocol that only rates decides by its
    rating. WMT26 warns that 85 belongs to one guideline: look at what your annotators were told.

    A score of the run ranks the translations for AUC and for publishing: its rating, else minus the points of
    its errors.

    Args:
        run: a run, records, or the path of whatever holds judgements.
        gold: the same.
        settings: what is free of errors.

    Raises:
        DataError: nothing was judged by both.
        UsageError: a setting out of its range, or gold whose scale does not tell what is free of errors.
    """
    if gold is None:
        raise UsageError("error_free compares a run with gold: give both")
    return error_free_of_runs({"run": run}, gold, settings)["run"]


def error_free_of_runs(
    runs: Mapping[str, Given], gold: Given, settings: ErrorFreeSettings
) -> dict[str, ErrorFree]:
    """Compare several runs with gold, on the translations that all of them judged; see `error_free`."""
    paired, weights = {}, {}
    for name, run in runs.items():
        pred, golden = read_both(run, gold, lp=settings.lp, test_set=settings.test_set)
        for each in (pred, golden):
            if are_by_criteria(each.records):
                raise UsageError(
                    f"{each.name} holds verdicts on single criteria, which do not say whether a translation "
                    "is free of errors: leave it out"
                )
        weights[name] = find_weights(settings.weights or weights_of(pred.records, pred.weights))
        paired[name] = pair_up(
            pred,
            golden,
            lp=settings.lp,
            annotator=settings.annotator,
            gold_annotator=settings.gold_annotator,
        )
    kept = keep_common(paired)
    return {name: _compared(kept[name], weights[name], settings) for name in kept}


def _compared(paired: Paired, weights: Weights, settings: ErrorFreeSettings) -> ErrorFree:
    golds, preds = [b.gold for b in paired.both], [b.pred for b in paired.both]
    is_free, known = _labels(golds, settings.gold_at_least), _labels(preds, settings.at_least)
    if is_free is None:
        what = f"gold of protocol {golds[0].protocol} has a scale of its own"
        raise UsageError(f"{what}: give the lowest rating of an error-free translation with --gold-at-least")
    scores = np.array([a.rating if a.rating is not None else mqm_score(a, weights) for a in preds])
    precision, recall, f1 = (None, None, None) if known is None else _quality(is_free, known)
    return ErrorFree(
        n=len(is_free),
        n_gold=int(is_free.sum()),
        n_pred=None if known is None else int(known.sum()),
        failed=paired.failed,
        precision=precision,
        recall=recall,
        f1=f1,
        mcc=None if known is None else mcc(is_free, known),
        auc=auc(is_free, scores),
        publishable=publishable(scores, is_free, risk=settings.risk, confidence=settings.confidence),
        signature=signature_of(paired, _told(preds, weights, settings)),
        notes=(*paired.notes, *_notes(golds, preds, weights, known)),
    )


def _told(preds: Sequence[Annotation], weights: Weights, settings: ErrorFreeSettings) -> dict[str, object]:
    return {
        "at_least": settings.at_least,
        "gold_at_least": settings.gold_at_least,
        "weights": weights.name if any(a.rating is None for a in preds) else None,
        "risk": settings.risk,
        "confidence": settings.confidence,
    }


def _labels(annotations: Sequence[Annotation], at_least: float | None) -> Flags | None:
    if at_least is None:
        if any(a.rating is not None and find_protocol(a.protocol).high != 100 for a in annotations):
            return None
        at_least = AT_LEAST
    return np.array([_is_free(annotation, at_least) for annotation in annotations])


def _is_free(annotation: Annotation, at_least: float) -> bool:
    marked = any(span.severity in COUNTED for span in annotation.spans)
    counted = any(annotation.counts.get(severity) for severity in COUNTED)
    return not marked and not counted and (annotation.rating is None or annotation.rating >= at_least)


def _quality(is_free: Flags, predicted: Flags) -> tuple[float | None, float | None, float | None]:
    """Precision, recall and F1 of the translations without errors."""
    right, n_pred, n_gold = (int(flags.sum()) for flags in (is_free & predicted, predicted, is_free))
    precision = right / n_pred if n_pred else None
    recall = right / n_gold if n_gold else None
    if precision is None or recall is None:
        return precision, recall, None
    return precision, recall, 2 * right / (n_pred + n_gold)


def mcc(gold: Flags, predicted: Flags) -> float | None:
    """Matthews correlation coefficient, -1 to 1; None where either side has one class only.

    (TP TN - FP FN) / sqrt((TP + FP)(TP + FN)(TN + FP)(TN + FN))

    Matthews 1975; Pearson's correlation of the two labels. Others write 0 for 0 / 0.
    """
    tp, tn = int((gold & predicted).sum()), int((~gold & ~predicted).sum())
    fp, fn = int((~gold & predicted).sum()), int((gold & ~predicted).sum())
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / math.sqrt(product) if product else None


def auc(gold: Flags, scores: Floats) -> float | None:
    """Area under the ROC curve; None where gold has one class only.

    The chance that one of the positive class has the higher score than one of the negative, ties counting
    half: the rank-sum statistic of Mann and Whitney 1947 over the number of pairs. 0.5 is chance.
    """
    from scipy.stats import rankdata

    n, others = int(gold.sum()), int((~gold).sum())
    if not n or not others:
        return None
    return (float(rankdata(scores)[gold].sum()) - n * (n + 1) / 2) / (n * others)


def _notes(
    golds: list[Annotation], preds: list[Annotation], weights: Weights, known: Flags | None
) -> Iterator[str]:
    protocols = dict.fromkeys(a.protocol for a in golds)
    for protocol in protocols:
        if find_protocol(protocol).has_spans and not find_protocol(protocol).needs_rating:
            yield f"Gold of protocol {protocol} has no rating: a translation without marks is free of errors."
        if not find_protocol(protocol).has_spans:
            yield f"Gold of protocol {protocol} marks no errors: the rating decides alone."
    if known is None:
        yield "The scale of the run does not tell what is good: --at-least says from which score on it is."
    if any(a.rating is None for a in preds):
        yield f"The run does not rate: its score is minus the points of its errors ({weights.name})."
