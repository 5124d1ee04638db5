"""Commands that compare systems: `adjudge rank`, `compare`, `gate` and `power`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any, Final, cast

import typer

from adjudge.analysis.compare import CompareSettings, Comparison, Side, Stratum, compare
from adjudge.analysis.gate import Gate, GateRow, GateSettings, Verdict, gate, verdict_words
from adjudge.analysis.power import Plan, PowerSettings, Separation, power
from adjudge.analysis.rank import Ranking, RankSettings, rank, rank_by_criterion
from adjudge.cli.options import (
    FormatOption,
    check_sight,
    existing,
    is_for_people,
    print_note,
    print_result,
)
from adjudge.core.scores import listed
from adjudge.errors import DONE, GATE_NO, GATE_UNSURE, UsageError
from adjudge.formats.join import put_together
from adjudge.formats.read import Judgements, detect, read_judgements, refuse_twice
from adjudge.formats.registry import find_format
from adjudge.reports.tables import Table, TableFormat


def rank_command(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN|FILE...",
            callback=existing,
            help="Runs, records, MQM TSV or scores; or a test set with --gold or --metric.",
        ),
    ],
    *,
    settings: RankSettings,
    p_values: Annotated[
        bool, typer.Option("--p-values", help="Also print the p-value of every pair of systems.")
    ] = False,
    radar: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Draw a radar chart of one run's criteria (.pdf, .svg or .png)."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Rank systems by their mean on the segments that all of them were judged on, or by comparisons.

    Each run is a ranking of its own; files with one number a line, of one system each, are one ranking.
    Comparisons are preferences, or pairs of scores; all of them count. Rank is the best and the worst rank
    that the tests of a system's pairs allow. A line separates clusters: every system above it is better than
    every system below (WMT's rule, one-sided tests). A cluster is no statement of equality: two systems of
    one cluster may differ significantly, as --p-values shows.
    """
    settings.refuse_beside_gold(radar=radar)
    refuse_twice(paths)
    sources: dict[str, Judgements | Path] = {str(path): path for path in paths}
    notes: list[str] = []
    if not settings.is_of_test_set:
        lines = [path for path in paths if path.is_file() and detect(path) == "score-lines"]
        given: list[list[Path] | Path] = [
            *([lines] if lines else []),
            *(path for path in paths if path not in lines),
        ]
        read = [
            read_judgements(
                each,
                settings.lp,
                settings.test_set,
                needed=not settings.is_card,
                documents=settings.documents,
            )
            for each in given
        ]
        read, notes = put_together(read, "sources", settings.mismatched, settings.lp)
        sources = {each.name: each for each in read}
    plain = replace(settings, test_set=settings.test_set if settings.is_card else None, documents=None)
    rankings = {name: rank.by(source, plain) for name, source in sources.items()}
    rankings = {name: replace(one, notes=(*one.notes, *notes)) for name, one in rankings.items()}
    if radar is not None:
        if len(rankings) > 1:
            raise UsageError(f"--radar draws one run; there are {len(rankings)}")
        (judgements,) = sources.values()
        judgements = cast("Judgements", judgements).of_one_kind(settings.lp)
        from adjudge.reports.figures import figure_format, radar_figure

        figure_format(radar)
        radar_figure(radar.stem, rank_by_criterion(judgements, settings)).write_file(radar)
        print_note(f"The radar: {radar}")
        if judgements.has_scores and len(judgements.annotators) > 1:
            print_note(
                "It compares translations within each annotator; a ranking of scores takes their mean."
            )
    _print(rankings, form, p_values=p_values)
    check_sight(note for one in rankings.values() for note in one.notes)


def _print(rankings: dict[str, Ranking], form: TableFormat, *, p_values: bool) -> None:
    from adjudge.reports.result_tables import p_value_table, ranking_table

    several = len(rankings) > 1
    if is_for_people(form):
        for name, ranking in rankings.items():
            print_result(form, ranking_table(ranking, exact=False, title=name if several else ""), {})
            if p_values:
                print_result(form, p_value_table(ranking, exact=False), {})
        return
    made = p_value_table if p_values else ranking_table
    tables = {name: made(ranking, exact=True) for name, ranking in rankings.items()}
    whole = next(iter(tables.values())) if not several else _one_table(rankings, tables, form)
    data = [{"run": name, **_data(ranking)} for name, ranking in rankings.items()]
    notes = (
        f"{name}: {note}" if several else note for name, ranking in rankings.items() for note in ranking.notes
    )
    print_result(form, whole, {"rankings": data} if several else _data(next(iter(rankings.values()))), notes)


def _one_table(rankings: dict[str, Ranking], tables: dict[str, Table], form: TableFormat) -> Table:
    """Put the rows of several runs into one table, whose numbers must then be comparable."""
    first, *others = (ranking.signature for ranking in rankings.values())
    columns = {tuple(table.columns) for table in tables.values()}
    if form != "json" and (len(columns) > 1 or not all(first.is_comparable_with(s) for s in others)):
        lines = "\n".join(f"  {name}: {ranking.signature}" for name, ranking in rankings.items())
        raise UsageError(f"--format {form} makes one table, and these signatures must not be mixed:\n{lines}")
    rows = [[name, *row] for name, table in tables.items() for row in table.rows]
    return Table(columns=["run", *columns.pop()], rows=rows)


def _data(ranking: Ranking) -> dict[str, Any]:
    data: dict[str, Any] = {
        "signature": str(ranking.signature),
        "method": ranking.method,
        "systems": [
            {
                "system": s.system,
                "score": s.score,
                "interval": listed(s.interval),
                "ranks": None if s.best is None else [s.best, s.worst],
                "cluster": s.cluster,
                "n": s.n,
                "failed": s.failed,
                **({"untranslated": s.untranslated} if s.untranslated else {}),
                **s.readings,
                **({} if s.strength is None else {"strength": s.strength}),
            }
            for s in ranking.systems
        ],
    }
    if ranking.p_values:
        data["p_values"] = ranking.p_values
    if ranking.cycles:
        data["cycles"] = [{"systems": c.systems, "shares": c.shares} for c in ranking.cycles]
    if ranking.lps:
        data["lps"] = {lp: _data(part) for lp, part in ranking.lps.items()}
    return data


def compare_command(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="A B",
            help="Two runs or files; or one run, file or test set, and then two of its systems.",
            show_default=False,
        ),
    ],
    *,
    settings: CompareSettings,
    form: FormatOption = "table",
) -> None:
    """Compare two systems on the segments that both were judged on.

    The difference is the first less the second: above 0, the first is better.
    """
    from adjudge.reports.result_tables import comparison_table

    if len(what) == 1 and settings.systems is not None:
        what, settings = [*what, *settings.systems], replace(settings, systems=None)
    if settings.is_of_test_set and (len(what) != 3 or settings.systems is not None):
        raise UsageError("with --gold or --metric, give TEST_SET SYSTEM SYSTEM")
    if len(what) not in {2, 3}:
        raise UsageError(
            f"give two runs or files, or one and two of its systems (`adjudge compare RUN A B`); "
            f"got {' '.join(what)}"
        )
    first, second = Path(what[0]), Path(what[1]) if len(what) == 2 else None
    if second is None:
        if settings.systems is not None:
            raise UsageError("the systems are named twice: after the run, and with --systems")
        settings = replace(settings, systems=what[1:])
    for path in () if settings.is_of_test_set else (first, *([second] if second else [])):
        if not path.exists():
            raise UsageError(
                f"no file or folder {str(path)!r}: two systems are named after their run or file"
            )
        if not find_format(detect(path)).has_records:
            raise UsageError(f"{path} is a test set: add --gold or --metric to say whose scores count")
    found = compare.by(first, second, settings)
    print_result(
        form, comparison_table(found, exact=not is_for_people(form)), _compare_data(found), found.notes
    )


def _compare_data(found: Comparison) -> dict[str, Any]:
    return {
        "first": _side(found.first),
        "second": _side(found.second),
        **_stratum(found.whole),
        "strata": [{"kind": s.kind, "name": s.name, **_stratum(s)} for s in found.strata],
        "method": found.method,
        "notes": list(found.notes),
    }


def _side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "signature": str(side.signature),
        "n": side.n,
        "failed": side.failed,
        **({"untranslated": side.untranslated} if side.untranslated else {}),
    }


def _stratum(stratum: Stratum) -> dict[str, Any]:
    found, effect = stratum.difference, stratum.difference.effect
    data: dict[str, Any] = {
        "means": [found.first, found.second],
        "difference": found.value,
        "interval": listed(found.interval),
        "p": found.p,
        "n": stratum.n,
        "units": found.units,
        "effective": found.effective,
        "effect": {
            "d_z": effect.d_z,
            "superiority": effect.superiority,
            "cliff": effect.cliff,
            "wins": effect.wins,
            "ties": effect.ties,
            "losses": effect.losses,
        },
    }
    return data | ({} if stratum.p_holm is None else {"p_holm": stratum.p_holm})


_CODES: Final[Mapping[Verdict, int]] = {
    "ship": DONE,
    "do-not-ship": GATE_NO,
    "not-enough-data": GATE_UNSURE,
}


def gate_command(
    *,
    baseline: Annotated[
        Path,
        typer.Option(metavar="RUN|FILE|TEST_SET", help="Scores of the system in use.", show_default=False),
    ],
    candidate: Annotated[
        Path | None,
        typer.Option(metavar="RUN|FILE", help="The candidate's scores; default: the baseline file."),
    ] = None,
    settings: GateSettings,
    junit: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also write JUnit XML, for a build server.")
    ] = None,
    summary: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Also append a Markdown summary, for a pull request.")
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Say whether a candidate may replace the baseline: ship, do not ship, or not enough data.

    The candidate may, if it is shown not to be worse by the margin, on all segments and in every language
    pair and domain, and not to have more critical errors. Exit code 0: ship; 5: do not ship; 6: not
    enough data.
    """
    from adjudge.reports.result_tables import gate_table, render_junit, render_summary

    for path in (junit, summary):
        if path is not None:
            _write(path, "", append=True)  # what cannot be written is said before anything is computed
    if not settings.is_of_test_set:
        existing([baseline, *([candidate] if candidate else [])])
    found = gate.by(baseline, candidate, settings)
    print_result(form, gate_table(found, exact=not is_for_people(form)), _gate_data(found))
    if junit is not None:
        _write(junit, render_junit(found), append=False)
    if summary is not None:
        _write(summary, render_summary(found), append=True)
    if not is_for_people(form):
        print_note(f"{verdict_words(found.verdict).capitalize()}: {' '.join(found.reasons)}")
    raise typer.Exit(_CODES[found.verdict])


def _write(path: Path, text: str, *, append: bool) -> None:
    try:
        with path.open("a" if append else "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error


def _gate_data(found: Gate) -> dict[str, Any]:
    critical, whole = found.critical, _row(found.rows[0]) if found.rows else {}
    sides = {"candidate": found.candidate, "baseline": found.baseline}
    return {
        "verdict": found.verdict,
        "reasons": list(found.reasons),
        "difference": whole.get("difference"),
        "interval": whole.get("bounds"),
        "margin": found.settings.margin,
        "n": whole.get("n", 0),
        "needed": None if whole.get("more") is None else whole["n"] + whole["more"],
        **{key: _side(side) for key, side in sides.items()},
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
        "cards": {system: asdict(card) for system, card in found.cards.items()},
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


def power_command(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[RUN|FILE [SYSTEM SYSTEM]]",
            help="Existing judgements and two of their systems; without judgements, give --sd.",
            show_default=False,
        ),
    ] = None,
    *,
    settings: PowerSettings,
    form: FormatOption = "table",
) -> None:
    """Say the smallest difference that n segments and m annotators show, and how many judgements are needed.

    With judgements at hand: for two systems, or for each system and the next best.
    """
    if what and len(what) not in {1, 3}:
        raise UsageError(f"give a run or a file, alone or with two systems; got {len(what)} names")
    source = Path(what[0]) if what else None
    existing(source)
    found = power.by(source, replace(settings, systems=what[1:] or None if what else None))
    from adjudge.reports.result_tables import power_table

    data = (
        {"signature": str(found.signature), "pairs": [_power_data(row) for row in found.pairs]}
        if found.plan is None
        else _plan_data(found.plan, found.difference)
    )
    print_result(form, power_table(found, exact=not is_for_people(form)), data, found.notes)


def _plan_data(plan: Plan, difference: float | None) -> dict[str, Any]:
    data = {
        "segments": plan.segments,
        "annotators": plan.annotators,
        "sd": plan.sd,
        "annotator_sd": plan.annotator_sd,
        "alpha": plan.alpha,
        "power": plan.power,
        "detectable": plan.detectable,
    }
    if difference is None:
        return data
    return data | {
        "difference": difference,
        "power_for_difference": plan.power_for(difference),
        "needed": plan.needed_for(difference),
    }


def _power_data(row: Separation) -> dict[str, Any]:
    return {
        "lp": row.lp,
        "systems": [row.first, row.second],
        "n": row.n,
        "units": row.units,
        "difference": row.difference,
        "p": row.p,
        "sd": row.plan.sd,
        "annotator_sd": row.annotator_sd,
        "segments": row.plan.segments,
        "annotators": row.plan.annotators,
        "alpha": row.plan.alpha,
        "wanted": row.plan.power,
        "power": row.power,
        "detectable": row.detectable,
        "needed": row.needed,
        "more": row.more,
    }
