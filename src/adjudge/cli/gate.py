"""`adjudge gate`: may the candidate replace the baseline? A verdict for people and for a build."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.exits import DONE, GATE_NO, GATE_UNSURE
from adjudge.cli.options import LpOption
from adjudge.cli.output import FormatOption, print_note, print_result
from adjudge.cli.scorable import CriterionOption, WeightsOption, read_judgements, takes_texts
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.annotation import Record
    from adjudge.core.run import Run
    from adjudge.meta.comparing.gate import Gate, GateRow
    from adjudge.meta.comparing.two_systems import Place

    Judged = Run | Sequence[Record]

__all__ = ["command"]

_CODES = {"ship": DONE, "do not ship": GATE_NO, "not enough data": GATE_UNSURE}


def command(
    *,
    baseline: Annotated[
        Path, typer.Option(metavar="RUN|FILE", help="Judgements of what is in use.", show_default=False)
    ],
    candidate: Annotated[
        Path,
        typer.Option(
            metavar="RUN|FILE", help="Of what would replace it; may be the same.", show_default=False
        ),
    ],
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
    domain_margin: Annotated[
        float | None, typer.Option(min=0, help="For each language pair and domain; else as --margin.")
    ] = None,
    more_critical: Annotated[
        int, typer.Option(min=0, metavar="N", help="Segments more with critical errors that are allowed.")
    ] = 0,
    max_failed: Annotated[
        float, typer.Option(min=0, max=1, help="Share of segments that may lack a score on one side.")
    ] = 0.01,
    power: Annotated[float, typer.Option(help="Chance to decide, for the number of further segments.")] = 0.8,
    any_signature: Annotated[
        bool, typer.Option("--any-signature", help="Compare scores of different judges or settings.")
    ] = False,
    by_document: Annotated[bool, typer.Option("--by-document", help="Documents vary as wholes.")] = False,
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
    domain, without new critical errors. Exit code 0: ship; 5: do not ship; 6: not enough data.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.meta.comparing.gate import GateSettings, gate_scores
    from adjudge.report.gate_tables import gate_table, render_junit, render_summary
    from adjudge.scoring.score import score

    settings = GateSettings(
        margin=margin,
        domain_margin=domain_margin,
        alpha=alpha,
        power=power,
        by_document=by_document,
        more_critical=more_critical,
        max_failed=max_failed,
        any_signature=any_signature,
    )
    for path in (junit, summary):
        if path is not None:
            _write(path, "", append=True)  # what cannot be written is said before anything is computed
    lp = None if lp is None else canonical_lp(lp)
    judged = [_read(path, lp, test_set) for path in (candidate, baseline)]
    named = _named(systems, is_one=candidate == baseline)
    kept = judged if named is None else _compared(judged, set(named))
    scores = [score(each, weights=weights, lp=lp, criterion=criterion) for each in kept]
    found = gate_scores(
        scores[0],
        scores[1],
        (_records(kept[0]), _records(kept[1])),
        systems=named,
        settings=settings,
        domains=_domains(judged, candidate, lp, test_set),
    )
    is_for_people = form in {"table", "markdown", "latex"}
    print_result(form, gate_table(found, exact=not is_for_people), _data(found))
    if junit is not None:
        _write(junit, render_junit(found), append=False)
    if summary is not None:
        _write(summary, render_summary(found), append=True)
    if not is_for_people:
        print_note(f"{found.verdict.capitalize()}: {' '.join(found.reasons)}")
    raise typer.Exit(_CODES[found.verdict])


def _named(systems: str | None, *, is_one: bool) -> list[str] | None:
    """The candidate's system and the baseline's; on the command line the older one stands first."""
    if systems is None:
        if is_one:
            raise UsageError("baseline and candidate are one file: name both systems with --systems OLD,NEW")
        return None
    names = systems.split(",")
    if len(names) != 2:
        raise UsageError(f"--systems takes the baseline's and the candidate's, as OLD,NEW; got {systems!r}")
    if is_one and names[0] == names[1]:
        raise UsageError(f"--systems names {names[0]!r} twice: the candidate must be another system")
    return names[::-1]


def _compared(judged: Sequence[Judged], names: set[str]) -> list[Judged]:
    """What was judged of two systems, so that notes tell of no other.

    Comparisons stay, for their points are of all that was compared. So does everything where one of the two
    is missing: what there is instead will be said.
    """
    from adjudge.report.given import systems_of

    if names - {name for each in judged for r in _records(each) for name in systems_of(r)}:
        return list(judged)
    return [_kept(each, names) for each in judged]


def _kept(judged: Judged, names: set[str]) -> Judged:
    from adjudge.core.run import Run
    from adjudge.report.given import systems_of

    records = tuple(r for r in _records(judged) if r.protocol == "pairwise" or names & {*systems_of(r)})
    return replace(judged, records=records) if isinstance(judged, Run) else records


def _read(path: Path, lp: str | None, texts: Path | None) -> Judged:
    return read_judgements(path, lp, texts if takes_texts(path) else None)


def _domains(judged: Sequence[Judged], path: Path, lp: str | None, texts: Path | None) -> dict[Place, str]:
    """Of segments: from --test-set, else from the runs, else from the test set that a score file lies in."""
    from adjudge.data.load import load
    from adjudge.data.mtme_ratings import find_test_set
    from adjudge.meta.comparing.compare import domains_of

    if texts is None and (found := {place: name for each in judged for place, name in domains_of(each)}):
        return found
    known = find_test_set(path) if texts is None else load(texts, lp)
    return {} if known is None else {(s.lp, s.segment): s.domain for s in known}


def _records(judged: Judged) -> Sequence[Record]:
    from adjudge.core.run import Run

    return judged.records if isinstance(judged, Run) else judged


def _write(path: Path, text: str, *, append: bool) -> None:
    try:
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _data(found: Gate) -> dict[str, Any]:
    """The result as one JSON object."""
    critical = found.critical
    sides = {"candidate": found.candidate, "baseline": found.baseline}
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        **{
            key: {"name": side.name, "signature": str(side.signature), "n": side.n, "failed": side.failed}
            for key, side in sides.items()
        },
        "missing": found.missing,
        "asked": found.asked,
        "alpha": found.settings.alpha,
        "rows": [_row(row) for row in found.rows],
        "critical": None
        if critical is None
        else {
            "candidate": critical.candidate,
            "baseline": critical.baseline,
            "allowed": critical.allowed,
            "new": list(critical.new),
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
        "verdict": row.verdict,
        "more": row.more,
    }
