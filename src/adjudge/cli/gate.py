"""`adjudge gate`: may the candidate replace the baseline? A verdict for people and for a build."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from adjudge.cli.exits import DONE, GATE_NO, GATE_UNSURE
from adjudge.cli.options import LpOption, UnitOption, existing
from adjudge.cli.output import FormatOption, is_for_people, print_note, print_result
from adjudge.cli.scorable import (
    CriterionOption,
    GoldOfSetOption,
    MetricOfSetOption,
    WeightsOption,
    domains_known,
    read_if_taken,
    refuse_of_judgements,
)
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.meta.comparing.gate import Gate, GateRow, GateSettings, Verdict

__all__ = ["command"]

_CODES: Final[Mapping[Verdict, int]] = {
    "ship": DONE,
    "do-not-ship": GATE_NO,
    "not-enough-data": GATE_UNSURE,
}


def command(
    *,
    baseline: Annotated[
        Path,
        typer.Option(metavar="RUN|FILE|TEST_SET", help="Judgements of what is in use.", show_default=False),
    ],
    candidate: Annotated[
        Path | None,
        typer.Option(metavar="RUN|FILE", help="Of what would replace it; else those of --baseline."),
    ] = None,
    margin: Annotated[
        float,
        typer.Option(
            min=0,
            help="How much lower the candidate's mean may be, in the scores' units.",
            show_default=False,
        ),
    ],
    alpha: Annotated[float, typer.Option(help="Chance, at most, of each wrong verdict.")] = 0.05,
    systems: Annotated[
        str | None, typer.Option(help="Baseline's system and candidate's, separated by a comma.")
    ] = None,
    gold: GoldOfSetOption = None,
    metric: MetricOfSetOption = None,
    domain_margin: Annotated[
        float | None, typer.Option(min=0, help="For each language pair and domain; else as --margin.")
    ] = None,
    more_critical: Annotated[
        int, typer.Option(min=0, metavar="N", help="Segments more with critical errors that are allowed.")
    ] = 0,
    critical_alpha: Annotated[
        float | None, typer.Option(help="Alpha of the test of critical errors; else --alpha.")
    ] = None,
    max_failed: Annotated[
        float, typer.Option(min=0, max=1, help="Share of segments that may lack a score on one side.")
    ] = 0.01,
    power: Annotated[float, typer.Option(help="Chance to decide, for the number of further segments.")] = 0.8,
    any_signature: Annotated[
        bool, typer.Option("--any-signature", help="Compare scores of different judges or settings.")
    ] = False,
    by_document: UnitOption = None,
    unseen: Annotated[
        Literal["scale", "seen"],
        typer.Option(help="How bad a segment nobody saw may be: as the scale allows, or as seen."),
    ] = "scale",
    scale: Annotated[
        str | None,
        typer.Option("--range", metavar="LOW,HIGH", help="Lowest and highest score, if none is stated."),
    ] = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: Annotated[
        Path | None,
        typer.Option("--test-set", metavar="PATH", help="Texts that say the domains; else a run's own."),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML, for a build.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also append Markdown, for a pull request.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Say whether a candidate may replace the baseline: ship, do not ship, or not enough data.

    It may, if it is shown not to be worse by the margin, on all segments and in every language pair and
    domain, and not to have more critical errors. Exit code 0: ship; 5: do not ship; 6: not enough data.
    """
    from adjudge.meta.comparing.gate import GateSettings, verdict_words
    from adjudge.report.gate_tables import gate_table, render_junit, render_summary

    settings = GateSettings(
        margin=margin,
        domain_margin=domain_margin,
        alpha=alpha,
        power=power,
        by_document=by_document,
        unseen=unseen,
        scale=_read_range(scale),
        more_critical=more_critical,
        critical_alpha=critical_alpha,
        max_failed=max_failed,
        any_signature=any_signature,
    )
    for path in (junit, summary):
        if path is not None:
            _write(path, "", append=True)  # what cannot be written is said before anything is computed
    paths = (baseline, candidate or baseline)
    if gold is not None or metric is not None:
        refuse_of_judgements("--gold or --metric", criterion=criterion, test_set=test_set)
        found = _of_test_set(paths, systems, lp, (gold, metric, weights), settings)
    else:
        scoring = {"weights": weights, "lp": lp, "criterion": criterion}
        found = _of_judged(paths, systems, scoring, test_set, settings)
    print_result(form, gate_table(found, exact=not is_for_people(form)), _data(found))
    if junit is not None:
        _write(junit, render_junit(found), append=False)
    if summary is not None:
        _write(summary, render_summary(found), append=True)
    if not is_for_people(form):
        print_note(f"{verdict_words(found.verdict).capitalize()}: {' '.join(found.reasons)}")
    raise typer.Exit(_CODES[found.verdict])


def _read_range(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise UsageError(
            f"--range takes the lowest and the highest score, as LOW,HIGH; got {text!r}"
        ) from None
    return low, high


def _of_test_set(
    paths: tuple[Path, Path],
    systems: str | None,
    lp: str | None,
    chosen: tuple[str | None, str | None, str | None],
    settings: GateSettings,
) -> Gate:
    """By one gold, or one metric, of a test set; its two systems are named."""
    from adjudge.meta.comparing.replacing import gate_test_set, old_and_new

    gold, metric, weights = chosen
    if not _is_one(paths):
        raise UsageError("with --gold or --metric both systems are of one test set: name it as --baseline")
    named = old_and_new(None if systems is None else systems.split(","), is_one=True)
    return gate_test_set(paths[0], lp, (gold, metric), named or (), settings, weights)


def _of_judged(
    paths: tuple[Path, Path],
    systems: str | None,
    scoring: Mapping[str, str | None],
    texts: Path | None,
    settings: GateSettings,
) -> Gate:
    """By what was judged in two runs or files, or in one."""
    from adjudge.core.language import canonical_lp
    from adjudge.meta.comparing.replacing import gate_judged, old_and_new

    existing([*paths])
    is_one = _is_one(paths)
    named = old_and_new(None if systems is None else systems.split(","), is_one=is_one)
    lp = None if scoring["lp"] is None else canonical_lp(scoring["lp"])
    old = read_if_taken(paths[0], lp, texts)
    new = old if is_one else read_if_taken(paths[1], lp, texts)
    domains = domains_known((old, new), paths, lp, texts)
    return gate_judged((old, new), named, {**scoring, "lp": lp}, settings=settings, domains=domains)


def _is_one(paths: tuple[Path, Path]) -> bool:
    """Whether both are one file or folder, however each is spelled."""
    return paths[0].resolve() == paths[1].resolve()


def _write(path: Path, text: str, *, append: bool) -> None:
    try:
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _data(found: Gate) -> dict[str, Any]:
    """The result as one JSON object; what it says of all segments stands outside of the rows, too."""
    critical, whole = found.critical, found.rows[0]
    sides = {"candidate": found.candidate, "baseline": found.baseline}
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "difference": whole.found.difference,
        "interval": [whole.found.low, whole.found.high],
        "margin": whole.margin,
        "n": whole.n,
        "needed": None if whole.more is None else whole.n + whole.more,
        **{
            key: {"name": side.name, "signature": str(side.signature), "n": side.n, "failed": side.failed}
            for key, side in sides.items()
        },
        "missing": found.missing,
        "asked": found.asked,
        "alpha": found.settings.alpha,
        "method": found.method,
        "rows": [_row(row) for row in found.rows],
        "critical": None
        if critical is None
        else {
            "candidate": critical.candidate,
            "baseline": critical.baseline,
            "allowed": critical.allowed,
            "new": list(critical.new),
            "gone": critical.gone,
            "p": critical.p,
            "alpha": critical.alpha,
        },
        "notes": list(found.notes),
    }


def _row(row: GateRow) -> dict[str, Any]:
    found = row.found
    return {
        "kind": row.kind,
        "name": row.name,
        "n": row.n,
        "means": [found.candidate, found.baseline],
        "difference": found.difference,
        "bounds": [found.low, found.high],
        "margin": row.margin,
        "p_as_good": found.p_as_good,
        "p_worse": found.p_worse,
        "units": found.units,
        "effective": found.effective,
        "verdict": row.verdict,
        "more": row.more,
    }
