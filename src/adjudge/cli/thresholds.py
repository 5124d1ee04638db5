"""`adjudge thresholds`: from which score on may a translation go out unseen? With a stated risk."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, cast

import typer

from adjudge.cli.options import LpOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_result
from adjudge.cli.scorable import WeightsOption, domains_known, read_if_taken
from adjudge.core.score import listed
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adjudge.core.score import Scores
    from adjudge.core.typology import Severity
    from adjudge.meta.comparing.replacing import Judged
    from adjudge.meta.deciding.labels import Key
    from adjudge.meta.deciding.thresholds import Band, Cut, Thresholds

__all__ = ["command"]

_SEVERITIES = ("minor", "major", "critical")


def command(
    run: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE", callback=existing, help="Whose scores decide.", show_default=False
        ),
    ],
    *,
    gold: Annotated[
        Path,
        typer.Option(
            metavar="FILE", callback=existing, help="Judgements of people, of some of it.", show_default=False
        ),
    ],
    bad: Annotated[
        str,
        typer.Option(
            metavar="SEVERITY|NUMBER",
            help="Bad is what has an error so grave in gold, or a lower gold score.",
        ),
    ] = "major",
    publish_risk: Annotated[
        float, typer.Option(help="Share of bad translations among those published.")
    ] = 0.05,
    reject_risk: Annotated[float, typer.Option(help="Share of good ones among those rejected.")] = 0.1,
    delta: Annotated[float, typer.Option(help="Chance that a guarantee does not hold.")] = 0.05,
    guarantee: Annotated[
        Literal["tested", "average"],
        typer.Option(help="Of each risk: with chance 1 - delta; or on average, as shares of all."),
    ] = "tested",
    decisions: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write the decision on each translation, TSV.")
    ] = None,
    by_document: Annotated[
        bool, typer.Option("--by-document", help="Documents are independent, not their segments.")
    ] = False,
    together: Annotated[
        bool, typer.Option("--together", help="All guarantees hold at once, with chance 1 - delta.")
    ] = False,
    weights: WeightsOption = None,
    lp: LpOption = None,
    test_set: Annotated[
        Path | None,
        typer.Option("--test-set", metavar="PATH", help="Texts that say the domains; else a run's own."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Find the scores from which on to publish and up to which to reject; what lies between is post-edited.

    The cut-offs come from a small gold set, for all translations and for every language pair and domain.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.meta.deciding.thresholds import ThresholdSettings, thresholds
    from adjudge.report.decision_tables import guarantees, threshold_table
    from adjudge.scoring.score import score

    settings = ThresholdSettings(
        publish_risk=publish_risk,
        reject_risk=reject_risk,
        delta=delta,
        guarantee=guarantee,
        by_document=by_document,
        together=together,
    )
    lp = None if lp is None else canonical_lp(lp)
    judged, labelled = (read_if_taken(path, lp, test_set) for path in (run, gold))
    scores = score(judged, weights=weights, lp=lp)
    labels, told = _labels(labelled, bad, lp)
    domains = domains_known((judged, labelled), (run, gold), lp, test_set)
    found = thresholds(scores, labels, told, settings=settings, domains=domains)
    table = threshold_table(found, exact=not is_for_people(form))
    print_result(form, table, _data(found), (*guarantees(found), *found.notes))
    if decisions is not None:
        _write(decisions, scores, found)


def _labels(judged: Judged, bad: str, lp: str | None) -> tuple[Mapping[Key, bool], str]:
    from adjudge.core.run import Run
    from adjudge.meta.deciding.labels import bad_by_score, bad_by_severity
    from adjudge.scoring.score import score

    if bad in _SEVERITIES:
        records = judged.records if isinstance(judged, Run) else judged
        labels = bad_by_severity(records, cast("Severity", bad))
        return labels, f"half of its annotators, or more, marked a {bad} error or a graver one"
    try:
        below = float(bad)
    except ValueError:
        below = math.nan
    if not math.isfinite(below):
        raise UsageError(f"--bad is {', '.join(_SEVERITIES)}, or a score; got {bad!r}")
    return bad_by_score(score(judged, lp=lp), below), f"its gold score is below {below:g}"


def _write(path: Path, scores: Scores, found: Thresholds) -> None:
    """A decision for each translation: by the cut-offs of all, since those of parts may lack labels."""
    from adjudge.data.files import write_text
    from adjudge.meta.deciding.thresholds import decide
    from adjudge.report.tables import Table, render_table

    publish, reject = found.bands[0].publish.bound, found.bands[0].reject.bound
    rows = [
        [s.lp, s.segment, s.system, "", "failed"]
        if s.score is None
        else [s.lp, s.segment, s.system, repr(s.score), decide(s.score, publish, reject)]
        for s in scores.segments
    ]
    table = Table(columns=["lp", "segment", "system", ">score", "decision"], rows=rows)
    write_text(path, [render_table(table, "tsv")])


def _data(found: Thresholds) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "bad": found.bad,
        "publish_risk": found.settings.publish_risk,
        "reject_risk": found.settings.reject_risk,
        "delta": found.settings.delta,
        "guarantee": found.settings.guarantee,
        "by_document": found.settings.by_document,
        "together": found.settings.together,
        "signature": found.signature,
        "bands": [_band(band) for band in found.bands],
        "notes": list(found.notes),
    }


def _band(band: Band) -> dict[str, Any]:
    return {
        "kind": band.kind,
        "name": band.name,
        "n": band.n,
        "sources": band.sources,
        "bad": band.bad,
        "publish": _cut(band.publish),
        "reject": _cut(band.reject),
        "shares": dict(band.shares),
    }


def _cut(cut: Cut) -> dict[str, Any]:
    return {"bound": cut.bound, "n": cut.n, "wrong": cut.wrong, "interval": listed(cut.interval)}
