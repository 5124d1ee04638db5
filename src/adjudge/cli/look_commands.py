"""`adjudge list`: what there is, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from adjudge.analysis.score import scored
from adjudge.cli.inputs import (
    Asked,
    GoldOption,
    JudgedArgument,
    JudgedTextsOption,
    TitleOption,
    read_material,
)
from adjudge.cli.options import (
    FormatOption,
    LpOption,
    existing,
    is_for_people,
    print_note,
    print_result,
    print_text,
)
from adjudge.core.scores import Run, listed
from adjudge.core.verb import OneAnnotator
from adjudge.errors import UsageError
from adjudge.reports.tables import Table

if TYPE_CHECKING:
    from fastapi import FastAPI

    from adjudge.core.scores import Scores, SegmentScore
    from adjudge.core.segment import TestSet
    from adjudge.reports.annotators import Judged
    from adjudge.reports.html import Drawer
    from adjudge.reports.page import Page
    from adjudge.store.traces import Trace, TracedUnit
    from adjudge.web.viewer import Talk


# `adjudge score`: the records of a run or a file as numbers.


Level = Literal["seg", "doc", "sys"]


def score_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE",
            callback=existing,
            help="A run, records, MQM TSV or scores; a test set with --gold or --metric.",
        ),
    ],
    *,
    settings: OneAnnotator,
    level: Annotated[Level, typer.Option(help="Scores of segments, documents or systems.")] = "sys",
    score_files: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write files of mt-metrics-eval: LP/NAME-REF.seg.score..."),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Turn records into numbers: errors by weights, preferences into win rates, ratings as they are.

    A failed judgement has no score and is in no mean; each system says how many there were. Intervals
    are 95 % bootstrap intervals over the segments that the system was judged on.
    """
    from adjudge.analysis.segment_scores import with_intervals
    from adjudge.reports.result_tables import document_table, segment_table, system_table

    settings.refuse_beside_gold(score_files=score_files)
    read = scored(path, settings, needed=score_files is None)
    if score_files is not None:
        texts = None if read.judgements is None else read.judgements.test_set
        _write(score_files, read.scores, path, texts)
    scores = with_intervals(read.scores)
    tables = {"seg": segment_table, "doc": document_table, "sys": system_table}
    table = tables[level](scores, exact=not is_for_people(form))
    print_result(form, table, _data(scores, level), scores.notes)


def _write(folder: Path, scores: Scores, path: Path, texts: TestSet | None) -> None:
    """Write score files; the texts are those that are given, or lie with what was scored."""
    from adjudge.formats.score_file import write_score_files

    if texts is None:
        raise UsageError(f"score files have a line for each segment, and {path} has no texts: add --test-set")
    written = write_score_files(folder, scores, texts)
    print_note(f"adjudge: {', '.join(map(str, written))}")


def _data(scores: Scores, level: Level) -> dict[str, Any]:
    """The result as one JSON object; a bound that does not exist is null."""
    data: dict[str, Any] = {
        "signature": str(scores.signature),
        "range": scores.range,
        "direction": scores.direction,
        "systems": {
            s.system: {
                "score": s.score,
                "n": s.n,
                "failed": s.failed,
                "interval": listed(s.interval),
                **s.readings,
            }
            for s in scores.systems
        },
    }
    if scores.suspects is not None:
        data["suspects"] = {
            "judgements": scores.suspects.judgements,
            "in_translation": scores.suspects.in_translation,
            "segments": scores.suspects.segments,
            "systems": {
                s.system: {"score": s.score, "n": s.n, "failed": s.failed} for s in scores.suspects.systems
            },
        }
    if level == "seg":
        data["segments"] = _segments(scores.segments, with_lp=bool(scores.lps))
    if level == "doc":
        data["documents"] = _documents(scores)
    if scores.lps:
        data["lps"] = {lp: _data(part, level) for lp, part in scores.lps.items()}
    return data


def _segments(segments: Iterable[SegmentScore], *, with_lp: bool) -> list[dict[str, object]]:
    return [
        {**({"lp": s.lp} if with_lp else {}), "segment": s.segment, "system": s.system, "score": s.score}
        for s in segments
    ]


def _documents(scores: Scores) -> list[dict[str, object]]:
    from adjudge.analysis.segment_scores import document_scores

    return [
        {
            **({"lp": d.lp} if scores.lps else {}),
            "document": d.document,
            "system": d.system,
            "score": d.score,
            "n": d.n,
            "failed": d.failed,
        }
        for d in document_scores(scores.segments)
    ]


# `adjudge trace`: the conversation behind a judgement.


_SHOWN = 10
_ORDER = {"failed": 0, "pending": 1, "judged": 2}


def trace_command(
    run: Annotated[Path, typer.Argument(callback=existing, help="Run directory.")],
    segment: Annotated[str | None, typer.Option(help="Id of a segment.")] = None,
    system: Annotated[str | None, typer.Option(help="Name of a system.")] = None,
    lp: Annotated[str | None, typer.Option("--lp", "-l", help="Language pair.")] = None,
    form: FormatOption = "table",
) -> None:
    """Show the conversation behind judgements: every question, answer, re-ask and fault.

    Without --segment: a list of what was judged, failures first.
    """
    from adjudge.core.language import canonical_lp
    from adjudge.store.traces import Trace

    lp = None if lp is None else canonical_lp(lp)
    trace = Trace(run)
    try:
        every = [*trace.units()]
        units = [unit for unit in every if _is_wanted(unit, segment, system, lp)]
        if not units:
            chosen = {"segment": segment, "system": system, "lp": lp}
            raise UsageError(f"{run} has no such judgement: {_missing(every, chosen)}")
        if segment is None:
            _print_list(units, form)
        else:
            _print_conversations(trace, units, form)
    finally:
        trace.close()


def _is_wanted(unit: TracedUnit, segment: str | None, system: str | None, lp: str | None) -> bool:
    return (
        (segment is None or unit.segment.segment == segment)
        and (system is None or system in unit.systems)
        and (lp is None or unit.segment.lp == lp)
    )


def _missing(units: Sequence[TracedUnit], chosen: Mapping[str, str | None]) -> str:
    """Name what was asked for and is not there, beside what is; or say that it is not there together."""
    known = {
        "segment": dict.fromkeys(unit.segment.segment for unit in units),
        "system": dict.fromkeys(name for unit in units for name in unit.systems),
        "lp": dict.fromkeys(unit.segment.lp for unit in units),
    }
    for what, name in chosen.items():
        if name is not None and name not in known[what]:
            some = [*known[what]][:_SHOWN]
            more = ", ..." if len(known[what]) > _SHOWN else ""
            return f"no {what} {name!r}; there are {', '.join(some)}{more}"
    return "no " + " with ".join(f"{what} {name!r}" for what, name in chosen.items() if name is not None)


def _print_list(units: list[TracedUnit], form: str) -> None:
    units = sorted(units, key=lambda unit: _ORDER[unit.state])
    rows = [
        [
            unit.segment.lp,
            unit.segment.segment,
            " ".join(unit.systems),
            unit.state + (f"({unit.reason})" if unit.reason else ""),
            str(unit.calls),
            unit.detail,
        ]
        for unit in units
    ]
    table = Table(columns=["lp", "segment", "system", "state", ">calls", "detail"], rows=rows)
    print_result(form, table, {"units": [_unit_to_json(unit) for unit in units]})  # type: ignore[arg-type]
    if len({unit.unit for unit in units}) < len(units):
        print_note("calls are those for a source: its systems were judged together")
    print_note("one conversation: add --segment ID --system NAME")


def _unit_to_json(unit: TracedUnit) -> dict[str, object]:
    return {
        "lp": unit.segment.lp,
        "segment": unit.segment.segment,
        "systems": list(unit.systems),
        "state": unit.state,
        "reason": unit.reason,
        "detail": unit.detail,
        "calls": unit.calls,
    }


def _print_conversations(trace: Trace, units: list[TracedUnit], form: str) -> None:
    from adjudge.llm.model import mark_of
    from adjudge.runs.conversation import exchange_to_json, render_exchange

    data, rows = [], []
    for unit in units:
        mark = mark_of(unit.segment, bytes.fromhex(trace.info.secret))
        exchanges = trace.conversation(unit)
        data.append(_unit_to_json(unit) | {"exchanges": [exchange_to_json(e, mark) for e in exchanges]})
        rows += [
            [str(n), e.use.stage, e.use.role, e.use.reason, "" if e.reply is None else e.reply.text]
            for n, e in enumerate(exchanges, start=1)
        ]
        if form == "table":
            failed = f"({unit.reason}): {unit.detail}" if unit.reason else ""
            name = f"{unit.segment.lp}, segment {unit.segment.segment}, {' and '.join(unit.systems)}"
            print_text(f"{name}: {unit.state}{failed}\n\n")
            for number, exchange in enumerate(exchanges, start=1):
                print_text(render_exchange(exchange, number, mark) + "\n")
    if form != "table":
        table = Table(columns=[">", "stage", "role", "not used", "reply"], rows=rows)
        print_result(form, table, {"units": data})  # type: ignore[arg-type]


# `adjudge report`: one self-contained HTML page about runs, campaigns and metrics.


def report_command(
    judged: JudgedArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file.")] = Path("report.html"),
    title: TitleOption = None,
    lp: LpOption = None,
    gold: GoldOption = None,
    test_set: JudgedTextsOption = None,
    figures: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write its figures there too, as PDF, SVG and PNG.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
) -> None:
    """Write one HTML file: who leads, how sure that is, who agrees, every error in its place, what failed.

    Judges, people and metrics stand side by side, each an annotator. It opens without a server and asks
    nothing of any.
    """
    from adjudge.reports.tables import uncollected

    if out.exists() and not force:
        raise UsageError(f"--out {out} exists; --force replaces it")
    with uncollected():
        _report_write(judged, Asked(gold=gold, test_set=test_set, title=title, lp=lp), out, figures)


def _report_write(places: Sequence[Path], asked: Asked, out: Path, figures: Path | None) -> None:
    from adjudge.reports.html import drawer_for, render_page
    from adjudge.reports.page import page_commands
    from adjudge.store.files import write_text

    material = read_material(places, asked)
    with drawer_for(material.judged) as drawer:
        page = material.make()
        options = {**vars(asked), "out": out, "figures": figures, "force": True}
        again = page_commands("report", material.judged, places, options)
        write_text(out, [render_page(page, again, drawer=drawer)])
    print_note(f"{page.headline}.")
    for figure in page.figures if figures is not None else []:
        figure.write(figures or Path())
    print_note(f"The report: {out}" + ("" if figures is None else f"; its figures: {figures}"))


# `adjudge serve`: the report as a local page, with every conversation.


def serve_command(
    judged: JudgedArgument,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    title: TitleOption = None,
    lp: LpOption = None,
    gold: GoldOption = None,
    test_set: JudgedTextsOption = None,
) -> None:
    """Show the report as a page of this machine, with every conversation; Ctrl-C ends it.

    No run is changed, and nobody else is asked. Segments come a few at a time, so that runs of any size can
    be read. What is shown is what was there when it started.
    """
    from adjudge.reports.html import Drawer
    from adjudge.web.app import address_of, listen
    from adjudge.web.viewer import serve_viewer

    asked = Asked(gold=gold, test_set=test_set, title=title, lp=lp)
    with listen("127.0.0.1", port) as listening, Drawer() as drawer:
        print_note("Reading ...")
        app = _make(judged, asked, drawer)
        print_note(f"The report is at {address_of(listening)}")
        print_note("Ctrl-C stops it.")
        serve_viewer(app, listening)
    print_note("Stopped.")


def _make(places: Sequence[Path], asked: Asked, drawer: Drawer) -> FastAPI:
    """Read everything, and keep the server alone: records and page are gone when it begins."""
    from adjudge.reports.page import page_commands
    from adjudge.web.viewer import create_viewer

    material = read_material(places, asked)
    amount = sum(len(each.records) for each in material.judged)
    print_note(f"{amount:,} judgements; putting the page together ...")
    page = material.make()
    print_note(f"{page.headline}.")
    again = page_commands("serve", material.judged, places, vars(asked))
    return create_viewer(page, talks=_talks(page, material.judged, places), commands=again, drawer=drawer)


def _talks(page: Page, judged: Sequence[Judged], places: Sequence[Path]) -> dict[int, Talk]:
    """The conversations of runs, by the position of their annotator; a run without its store has none."""
    from adjudge.errors import StoreError
    from adjudge.runs.conversation import ReadableRun

    folders = {id(run.info): place for run, place in zip(judged, places, strict=True) if isinstance(run, Run)}
    found: dict[int, Talk] = {}
    for by, annotator in enumerate(page.annotators):
        if annotator.kind != "judge" or id(annotator.info) not in folders:
            continue
        try:
            found[by] = ReadableRun(folders[id(annotator.info)]).conversation
        except StoreError as error:
            print_note(f"adjudge: no conversations of {annotator.label}: {error}")
    return found


What = Literal[
    "judges", "metrics", "measures", "tasks", "models", "protocols", "weights", "formats", "test-sets"
]


def list_command(
    what: Annotated[What, typer.Argument(help="What to list.", show_default=False)],
    form: FormatOption = "table",
) -> None:
    """List what there is, by the names that other commands take."""
    columns, rows = _LISTS[what]()
    keys = [c.removeprefix(">").replace(" ", "_") for c in columns]
    data: dict[str, object] = {what: [dict(zip(keys, row, strict=True)) for row in rows]}
    print_result(form, Table(columns=columns, rows=rows), data)


Rows = tuple[list[str], list[list[str]]]


_UNITS: Final = {"translation": "translation", "pair": "pair", "source": "translation of a source"}
"""What the calls of a judge are counted for."""


def _judges() -> Rows:
    from adjudge.judges import JUDGES, load_judge
    from adjudge.runs.units import kind_of, names_in

    rows = []
    for name in names_in("adjudge.judges", JUDGES):
        try:
            judge = load_judge(name)
            title, kind = _title(judge), kind_of(judge)
        except Exception as error:
            if name in JUDGES:
                raise
            rows.append([name, "", "", "", f"cannot be loaded: {error}"])
            continue
        calls = judge.calls
        spread = str(calls.min) if calls.min == calls.max else f"{calls.min} to {calls.max}"
        rows.append([name, judge.protocol, judge.weights or "", f"{spread} a {_UNITS[kind]}", title])
    return ["judge", "protocol", "weights", ">calls", "what it does"], rows


def _metrics() -> Rows:
    from adjudge.metrics import METRICS, load_metric
    from adjudge.runs.units import names_in

    rows = []
    for name in names_in("adjudge.metrics", METRICS):
        try:
            metric = load_metric(name)
        except Exception as error:
            if name in METRICS:
                raise
            rows.append([name, "", "", f"cannot be loaded: {error}"])
            continue
        needs = "reference" if metric.with_reference else "source"
        rows.append([name, needs, metric.protocol, _title(metric)])
    return ["metric", "needs", "protocol", "what it does"], rows


def _measures() -> Rows:
    from adjudge.stats.measures import MEASURES

    rows = []
    for m in MEASURES.values():
        low, high = m.range
        best = "higher" if m.higher_is_better else "lower"
        rows.append([m.name, m.level, m.average or "", f"{low:g} to {high:g}", best, m.title, m.source])
    return ["measure", "level", "average", "range", "better", "what it is", "source"], rows


def _tasks() -> Rows:
    from adjudge.analysis.shared_tasks import list_tasks

    rows = [
        [
            t.name,
            t.gold or "",
            ", ".join(t.lps),
            ", ".join(s.measure for s in t.statistics),
            t.title,
            t.source,
        ]
        for t in list_tasks()
    ]
    return ["task", "gold", "lps", "measures", "title", "source"], rows


def _title(thing: object) -> str:
    """First line of a class's docstring; empty without one."""
    return next(iter((type(thing).__doc__ or "").strip().splitlines()), "")


def _models() -> Rows:
    from adjudge.llm.model_choice import describe_models

    rows = [list(row) for row in describe_models()]
    return ["model", "base URL", "key", "what it is"], rows


def _protocols() -> Rows:
    """Those of records, and then those that only campaigns have, with the records that they make."""
    from adjudge.campaigns.settings import NAMES, find_campaign_protocol
    from adjudge.core.protocol import PROTOCOLS

    rows = []
    for p in PROTOCOLS.values():
        scale = "" if p.low is None or p.high is None else f"{p.low:g} to {p.high:g}"
        rows.append([p.name, scale, ", ".join(p.severities), "yes" if p.name in NAMES else "", p.title])
    for asked in map(find_campaign_protocol, NAMES):
        if asked.name not in PROTOCOLS:
            scale = "" if asked.scale is None else f"{asked.scale.low:g} to {asked.scale.high:g}"
            records = f" (records: {asked.record})" if asked.record else " (a reference)"
            rows.append([asked.name, scale, ", ".join(asked.severities), "yes", asked.title + records])
    return ["protocol", "rating", "severities", "campaigns", "title"], rows


def _weights() -> Rows:
    from adjudge.core.typology import WEIGHTS

    rows = []
    for w in WEIGHTS.values():
        rules = ", ".join(f"{key} {value:g}" for key, value in w.rules.items())
        rows.append([w.name, rules, "" if w.cap is None else f"{w.cap:g}", w.source])
    return ["weights", "points", ">cap", "source"], rows


def _formats() -> Rows:
    from adjudge.formats.read import FORMATS

    rows = [[f.name, f.holds, "yes" if f.reads else "", "yes" if f.writes else "", f.title] for f in FORMATS]
    return ["format", "holds", "reads", "writes", "title"], rows


def _test_sets() -> Rows:
    from adjudge.formats.catalog import CATALOG

    rows = [[t.name, ", ".join(t.lps), t.size, t.licence, t.title] for t in CATALOG]
    return ["test set", "lps", ">size", "licence", "title"], rows


_LISTS = {
    "judges": _judges,
    "metrics": _metrics,
    "measures": _measures,
    "tasks": _tasks,
    "models": _models,
    "protocols": _protocols,
    "weights": _weights,
    "formats": _formats,
    "test-sets": _test_sets,
}
