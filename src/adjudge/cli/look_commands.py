"""Commands that show what was judged: `adjudge score`, `trace`, `report` and `serve`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.analysis.score import ScoreSettings, scored
from adjudge.cli.options import (
    FormatOption,
    existing,
    is_for_people,
    print_note,
    print_result,
    print_text,
)
from adjudge.core.frozen import frozen
from adjudge.core.scores import Run, listed
from adjudge.errors import DONE, GATE_NO, GATE_UNSURE, DataError, UsageError
from adjudge.reports.page import PageSettings, ReportSettings
from adjudge.reports.tables import Table
from adjudge.store.run_directory import INFO, RECORDS, is_finished, read_run_info

if TYPE_CHECKING:
    from fastapi import FastAPI

    from adjudge.core.scores import Scores
    from adjudge.core.segment import TestSet
    from adjudge.formats.read import Judgements
    from adjudge.reports.annotators import Judged
    from adjudge.reports.html import Drawer
    from adjudge.reports.page import Page
    from adjudge.store.traces import TracedUnit
    from adjudge.web.viewer import Talk


Level = Literal["seg", "doc", "sys"]


def score_command(
    path: Annotated[
        Path,
        typer.Argument(
            metavar="RUN|FILE",
            callback=existing,
            help="Run, records, MQM TSV or scores; or a test set with --gold or --metric.",
        ),
    ],
    *,
    settings: ScoreSettings,
    level: Annotated[Level, typer.Option(help="Print scores of segments, documents or systems.")] = "sys",
    score_files: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also write score files of mt-metrics-eval: LP/NAME-REF.seg.score..."
        ),
    ] = None,
    form: FormatOption = "table",
) -> None:
    """Turn records into numbers: errors by weights, preferences into win rates, ratings as they are.

    A failed judgement has no score and is in no mean; each system says how many there were. Intervals
    are 95 % intervals over the documents that the system was judged on, or over its segments where no
    documents are known. If the weights define a pass mark, the exit code is 5 where a scorecard fails, else
    6 where one is open.
    """
    from adjudge.analysis.score import with_intervals
    from adjudge.reports.result_tables import document_table, segment_table, system_table

    settings.refuse_beside_gold(score_files=score_files)
    read = scored(path, settings, needed=score_files is None)
    if score_files is not None:
        texts = None if read.judgements is None else read.judgements.test_set
        _write(score_files, read.scores, path, texts)
    scores = with_intervals(read.scores, by_document=settings.by_document)
    tables = {"seg": segment_table, "doc": document_table, "sys": system_table}
    table = tables[level](scores, exact=not is_for_people(form))
    notes = (*scores.notes, *(scores.interval_notes if level == "sys" else ()))
    print_result(form, table, _data(scores, level), notes)
    rows = [row for part in (scores, *scores.lps.values()) for row in part.systems]
    verdicts = {row.card.verdict for row in rows if row.card is not None}
    raise typer.Exit(GATE_NO if "fail" in verdicts else GATE_UNSURE if "open" in verdicts else DONE)


def _write(folder: Path, scores: Scores, path: Path, texts: TestSet | None) -> None:
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
                **({"untranslated": s.untranslated} if s.untranslated else {}),
                "interval": listed(s.interval),
                **({} if s.spread is None else {"spread": s.spread}),
                **s.readings,
                **({} if s.card is None else {"card": asdict(s.card)}),
                **({} if s.checklist is None else {"checklist": s.checklist.to_json()}),
            }
            for s in scores.systems
        },
    }
    if scores.interval_notes:
        data["interval_notes"] = list(scores.interval_notes)
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
        data["segments"] = [
            {
                **({"lp": s.lp} if scores.lps else {}),
                "segment": s.segment,
                "system": s.system,
                "score": s.score,
                **({} if s.spread is None else {"spread": s.spread}),
            }
            for s in scores.segments
        ]
    if level == "doc":
        from adjudge.analysis.segment_scores import document_scores

        data["documents"] = [
            {
                **({"lp": d.lp} if scores.lps else {}),
                "document": d.document,
                "system": d.system,
                "score": d.score,
                "n": d.n,
                "failed": d.failed,
                **({"untranslated": d.untranslated} if d.untranslated else {}),
            }
            for d in document_scores(scores.segments)
        ]
    if scores.lps:
        data["lps"] = {lp: _data(part, level) for lp, part in scores.lps.items()}
    return data


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
    from adjudge.core.language import coded_lp, lp_among
    from adjudge.core.names import as_name
    from adjudge.store.traces import Trace

    lp = None if lp is None else coded_lp(lp)
    segment, system = (None if name is None else as_name(name) for name in (segment, system))
    trace = Trace(run)
    try:
        every = [*trace.units()]
        lp = lp_among(lp, (unit.segment.lp for unit in every), run)
        units = [
            unit
            for unit in every
            if segment in {None, unit.segment.segment}
            and (system is None or system in unit.systems)
            and lp in {None, unit.segment.lp}
        ]
        if not units:
            chosen = {"segment": segment, "system": system}
            raise UsageError(f"{run} has no such judgement: {_missing(every, chosen)}")
        if segment is None:
            _print_list(units, form)
        else:
            from adjudge.llm.model import mark_of
            from adjudge.runs.conversation import exchange_to_json, render_exchange

            data, rows = [], []
            for unit in units:
                mark = mark_of(unit.segment, bytes.fromhex(trace.info.secret))
                exchanges = trace.conversation(unit)
                data.append(
                    _unit_to_json(unit) | {"exchanges": [exchange_to_json(e, mark) for e in exchanges]}
                )
                rows += [
                    [str(n), e.use.stage, e.use.role, e.use.reason, "" if e.reply is None else e.reply.text]
                    for n, e in enumerate(exchanges, start=1)
                ]
                if form == "table":
                    why = f": {unit.detail}" if unit.reason else ""
                    name = f"{unit.segment.lp}, segment {unit.segment.segment}, {' and '.join(unit.systems)}"
                    print_text(f"{name}: {_state(unit)}{why}\n\n")
                    for number, exchange in enumerate(exchanges, start=1):
                        print_text(render_exchange(exchange, number, mark) + "\n")
            if form != "table":
                table = Table(columns=[">", "stage", "role", "not used", "reply"], rows=rows)
                print_result(form, table, {"units": data})
    finally:
        trace.close()


def _missing(units: Sequence[TracedUnit], chosen: Mapping[str, str | None]) -> str:
    known = {
        "segment": dict.fromkeys(unit.segment.segment for unit in units),
        "system": dict.fromkeys(name for unit in units for name in unit.systems),
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
            _state(unit),
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


def _state(unit: TracedUnit) -> str:
    if unit.reason == "no_translation":
        return "not translated"
    return unit.state + (f"({unit.reason})" if unit.reason else "")


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


_CAMPAIGN = "campaign.json"

JudgedArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="RUN|FILE|CAMPAIGN...",
        callback=existing,
        help="Run directories, records, campaigns and their exports, MQM TSV, .seg.rating, .seg.score.",
    ),
]


@frozen
class Material:
    """What a page is made of."""

    asked: PageSettings
    judged: Sequence[Judged]  # all that stands on it, in the order given
    texts: TestSet | None

    def make(self) -> Page:
        """Read gold, and put the page together."""
        from adjudge.formats.read import read_judgements
        from adjudge.reports.annotators import read_judged
        from adjudge.reports.page import make_page

        path = self.asked.gold
        gold: Judgements | tuple[()] = ()
        if isinstance(path, Path | str) and _is_campaign(Path(path)):
            gold = _campaign(Path(path))
        elif isinstance(path, Path | str):
            beside = next((each.test_set for each in self.judged if each.test_set is not None), None)
            gold = read_judgements(read_judged([path], self.asked.lp, self.texts, beside)[0])
        return make_page(
            self.judged,
            title=self.asked.title,
            gold=gold,
            lp=self.asked.lp,
            test_set=self.texts,
            weights=self.asked.weights,
            mismatched=self.asked.mismatched,
        )


def read_material(places: Sequence[Path], asked: PageSettings) -> Material:
    """Read everything but gold; folders of campaigns are opened, the rest are files and runs."""
    from adjudge.formats.read import load, refuse_twice
    from adjudge.reports.annotators import read_judged

    refuse_twice(places)
    texts = asked.test_set
    if isinstance(texts, Path | str):
        texts = load(texts, asked.lp)
    campaigns = {index: _campaign(place) for index, place in enumerate(places) if _is_campaign(place)}
    files = [place for index, place in enumerate(places) if index not in campaigns]
    beside = next((c.test_set for c in campaigns.values()), None)
    rest = iter(read_judged(files, asked.lp, texts, beside))
    return Material(
        asked=asked,
        judged=[campaigns[index] if index in campaigns else next(rest) for index in range(len(places))],
        texts=texts,
    )


def _is_campaign(path: Path) -> bool:
    return (path / _CAMPAIGN).is_file()


def _campaign(path: Path) -> Judgements:
    from adjudge.cli.people_commands import read_campaign
    from adjudge.formats.file_content import content_of
    from adjudge.formats.read import Judgements

    content = content_of(read_campaign(path))
    for what, amount in content.met.items():
        print_note(f"adjudge: {path}: left out {amount:,} {what}")
    records = tuple(content.records or ())
    return Judgements(name=path.resolve().name, records=records, test_set=content.test_set, form="campaign")


def report_command(
    judged: JudgedArgument,
    *,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    settings: ReportSettings,
    figures: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Also write the figures to this folder as PDF, SVG and PNG."),
    ] = None,
) -> None:
    """Write one HTML file: who leads, how sure that is, who agrees, every error in its place, what failed.

    Judges, people and metrics stand side by side, each an annotator. The page needs no server and
    sends nothing.
    """
    from adjudge.store.files import uncollected

    if out.exists() and not settings.force:
        raise UsageError(f"--out {out} exists; --force replaces it")
    with uncollected():
        from adjudge.reports.html import drawer_for, render_page
        from adjudge.reports.page import page_commands
        from adjudge.store.files import write_text

        material = read_material(judged, settings)
        with drawer_for(material.judged) as drawer:
            page = material.make()
            options = {**_given(settings), "out": out, "figures": figures, "force": True}
            again = page_commands("report", material.judged, judged, options)
            write_text(out, [render_page(page, again, drawer=drawer)])
        print_note(f"{page.headline}.")
        for figure in page.figures if figures is not None else []:
            figure.write(figures or Path())
        print_note(f"The report: {out}" + ("" if figures is None else f"; its figures: {figures}"))


def _given(asked: PageSettings) -> dict[str, object]:
    return {field.name: getattr(asked, field.name) for field in fields(PageSettings)}


def serve_command(
    judged: JudgedArgument,
    *,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 for any free one.")] = 8000,
    settings: PageSettings,
) -> None:
    """Show the report as a page of this machine, with every conversation; Ctrl-C ends it.

    No run is changed, and nobody else is asked. Segments come a few at a time, so that runs of any size can
    be read. Runs and files that changed are read again when the page is loaded. A run that has not ended
    has no report yet: the page says how far it is.
    """
    from adjudge.reports.html import Drawer
    from adjudge.web.app import address_of, listen
    from adjudge.web.viewer import create_follower, serve_viewer

    with listen("127.0.0.1", port) as listening, Drawer() as drawer:
        print_note("Reading ...")
        make, look = partial(_make, judged, settings, drawer), partial(_look, judged)
        app = create_follower(look, make, is_ready=not _under_way(judged))
        print_note(f"The report is at {address_of(listening)}")
        print_note("Ctrl-C stops it.")
        serve_viewer(app, listening)
    print_note("Stopped.")


def _look(places: Sequence[Path]) -> list[tuple[int, int] | None]:
    """When the files of runs, and other files, were written, and their bytes; None for what is not there."""
    files = [f for place in places for f in ((place / INFO, place / RECORDS) if place.is_dir() else (place,))]
    found: list[tuple[int, int] | None] = []
    for file in files:
        try:
            seen = file.stat()
        except OSError:
            found.append(None)
        else:
            found.append((seen.st_mtime_ns, seen.st_size))
    return found


def _under_way(places: Sequence[Path]) -> list[str]:
    runs = {place: read_run_info(place) for place in places if (place / INFO).is_file()}
    left = {place: info.counts for place, info in runs.items() if not is_finished(place, info)}
    return [
        f"{place} has not ended: "
        + ", ".join(f"{counts.get(state, 0):,} {state}" for state in ("judged", "failed", "pending"))
        for place, counts in left.items()
    ]


def _make(places: Sequence[Path], asked: PageSettings, drawer: Drawer) -> FastAPI:
    from adjudge.errors import StoreError
    from adjudge.reports.page import page_commands
    from adjudge.runs.conversation import ReadableRun
    from adjudge.web.viewer import create_viewer

    if waiting := _under_way(places):
        raise DataError("\n".join([*waiting, "Load this page again to see what there is then."]))
    material = read_material(places, asked)
    amount = sum(len(each.records) for each in material.judged)
    print_note(f"{amount:,} judgements; putting the page together ...")
    page = material.make()
    print_note(f"{page.headline}.")
    again = page_commands("serve", material.judged, places, _given(asked))
    folders = {
        id(run.info): place
        for run, place in zip(material.judged, places, strict=True)
        if isinstance(run, Run)
    }
    found: dict[int, Talk] = {}
    for by, annotator in enumerate(page.annotators):
        if annotator.kind != "judge" or id(annotator.info) not in folders:
            continue
        try:
            found[by] = ReadableRun(folders[id(annotator.info)]).conversation
        except StoreError as error:
            print_note(f"adjudge: no conversations of {annotator.label}: {error}")
    return create_viewer(page, talks=found, commands=again, drawer=drawer)
