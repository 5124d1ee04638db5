"""Commands about files, and what there is: `adjudge convert`, `fetch`, `demo` and `list`."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from adjudge.cli.options import FormatOption, Without, print_note, print_result
from adjudge.core.verb import LanguagePair, Name, Option, settings
from adjudge.core.wording import command
from adjudge.errors import AnswerError, DataError, UsageError
from adjudge.formats.read import TextSettings
from adjudge.reports.tables import Table, whole

if TYPE_CHECKING:
    from adjudge.analysis.align import Aligner

# Convert


@settings
class ConvertSettings:
    """How what is converted is read, and which of it."""

    test_set: Annotated[Path | None, Option(help="Test set with the texts, if IN has none.")] = None
    annotator: Annotated[Name | None, Option(help="Convert only this annotator's records.")] = None
    protocol: Annotated[str, Option(help="Protocol of the numbers in a score file.")] = "metric"


def convert_command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="[IN] OUT", help="Input and output; omit IN with -s and -t."),
    ],
    *,
    to: Annotated[str, typer.Option(help="Format to write; `adjudge list formats` names them.")],
    settings: ConvertSettings,
    texts: Annotated[TextSettings, Without("systems", "limit")],
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Convert test sets and records between formats, without loss where the format allows it.

    What the format cannot hold is refused, or counted on standard error. OUT is a file, `-` for standard
    output, or a folder for formats that are folders.
    """
    from adjudge.formats.convert import check_target, of_annotator, write_content
    from adjudge.formats.file_content import Content
    from adjudge.formats.read import detect, load, read_content
    from adjudge.formats.registry import find_format

    test_set, lp = settings.test_set, texts.lp
    with_lines = texts.source is not None
    if len(paths) != (1 if with_lines else 2):
        wanted = "OUT alone beside -s and -t" if with_lines else "IN and OUT"
        raise UsageError(f"convert takes {wanted}, got {len(paths)} paths")
    given, out = paths[0], paths[-1]
    check_target(out, to, force=force)
    if texts.source is not None:
        content: Content[Any] = Content(test_set=texts.load(None))
    else:
        content = read_content(
            given,
            lp=lp,
            test_set=None if test_set is None else load(test_set, lp),
            protocol=settings.protocol,
            as_campaign=find_format(to).is_campaign,
        )
    if test_set is not None and find_format(detect(test_set)).is_marked_up:
        content = replace(content, origin=test_set)
    if settings.annotator is not None:
        content = of_annotator(content, settings.annotator)
    _say(content.met, str(given))
    _say(write_content(out, to, content, force=force), f"not in {out}")


# Align


@settings
class AlignSettings:
    """Where the result goes, and how texts are aligned."""

    out: Annotated[Path, Option(help="Test set to write, as JSON lines.", metavar="FILE")]
    lp: LanguagePair = None
    aligner: Annotated[str | None, Option(help="Your own alignment program.", metavar="COMMAND")] = None
    force: Annotated[bool, Option(help="Replace OUT if it exists.")] = False


def align_command(
    test_set: Annotated[
        str, typer.Argument(metavar="TEST_SET", help="Test set with sources, documents and any references.")
    ],
    outputs: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]FILE...", help="Text of one system, or JSON lines with doc_id and hypothesis."
        ),
    ],
    *,
    settings: AlignSettings,
    form: FormatOption = "table",
) -> None:
    """Align texts with other line breaks to the segments of the source.

    What was left out has an empty translation, and what was added is kept beside the segments; both are
    counted. OUT is a test set like any other.
    """
    from adjudge.analysis.align import align, align_texts
    from adjudge.core.wording import count
    from adjudge.formats.text import split_names
    from adjudge.store.json_lines import write_test_set

    if settings.out.exists() and not settings.force:
        raise UsageError(f"{settings.out} exists: --force replaces it")
    way = align_texts if settings.aligner is None else _by_command(settings.aligner)
    found = align(test_set, split_names(outputs, "output"), settings.lp, aligner=way)
    write_test_set(settings.out, found.test_set)
    names = ("segments", "translated", "merged", "left_out", "added", "added_characters")
    table = Table(
        columns=["system", *(f">{name.replace('_', ' ')}" for name in names)],
        rows=[[row.system, *(whole(getattr(row, name)) for name in names)] for row in found.systems],
        title=f"{found.test_set.name}, {count(len(found.test_set), 'segment')}",
        notes=[note for row in found.systems for note in row.notes],
    )
    data = {
        row.system: {
            **{name: getattr(row, name) for name in names},
            "missing": list(row.missing),
            "unknown": list(row.unknown),
            "documents": {name: dict(counts) for name, counts in row.documents.items()},
        }
        for row in found.systems
    }
    print_result(form, table, data)


def _by_command(command: str) -> Aligner:
    from adjudge.analysis.align import Group
    from adjudge.metrics.bridge import Command, find_program, read_answers, split_command

    arguments = split_command(command)
    find_program(arguments[0])
    program = Command(arguments=arguments, seconds=_ALIGNER_SECONDS)

    def groups(sources: Sequence[str], references: Sequence[str], pieces: Sequence[str]) -> list[Group]:
        asked = {"id": "1", "sources": sources, "references": references, "pieces": pieces}
        raw = program.run([json.dumps(asked, ensure_ascii=False)], most=_ALIGNER_BYTES)
        answer = read_answers(raw, {"1"})["1"]
        if isinstance(answer, AnswerError):
            raise DataError(f"the aligner gave no answer: {answer}")
        try:
            return [Group((int(a), int(b)), (int(c), int(d))) for (a, b), (c, d) in answer["groups"]]
        except (KeyError, TypeError, ValueError):
            raise DataError(
                'the aligner must answer {"id", "groups": [[[first segment, end], [first piece, end]], ...]}'
            ) from None

    return groups


def _say(counts: Counter[str], where: str) -> None:
    for what, count in counts.items():
        print_note(f"adjudge: {where}: {count:,} {what}")


_ALIGNER_SECONDS: Final = 3600.0
_ALIGNER_BYTES: Final = 2**28


# Fetch


def fetch_command(
    name: Annotated[str, typer.Argument(help="A name of `adjudge list test-sets`.", show_default=False)],
) -> None:
    """Download a public test set; from then on its name is a TEST_SET everywhere.

    The test set is kept in the folder that ADJUDGE_CACHE names, else in the user's cache folder. The same
    command resumes an interrupted download. It prints the folder of the test set.
    """
    from adjudge.formats.catalog import find_public_set
    from adjudge.formats.fetch import fetch

    entry = find_public_set(name)
    print_note(f"{entry.title}: {entry.size} from {entry.url} (licence: {entry.licence})")
    path = fetch(name, progress=_Meter())
    print(path)


class _Meter:
    """Says every five seconds how much is here."""

    def __init__(self) -> None:
        self.said = time.monotonic()

    def __call__(self, here: int, total: int | None) -> None:
        """Say it, unless it was just said."""
        if time.monotonic() - self.said > 5:
            self.said = time.monotonic()
            of = "" if total is None else f" of {total / 1e6:.0f}"
            print(f"{here / 1e6:.0f}{of} MB", file=sys.stderr)


_PAPERS = {"himate": "HiMATE", "m-mad": "M-MAD", "rate": "RATE", "fire": "FiRE"}


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the data, the runs and the report.")] = Path("demo"),
) -> None:
    """Judge, score, rank and report the bundled test set, offline, with the embedded rules.

    No language model is asked. Each step is printed as the command that repeats it.
    """
    from adjudge import examples
    from adjudge.store.files import make_folder

    if out.exists() and not out.is_dir():
        raise UsageError(f"--out must name a folder, {out} is a file")
    make_folder(out)
    (out / "runs").mkdir(exist_ok=True)
    for name in examples.FILES:
        shutil.copyfile(examples.path(name), out / name)
    for what, arguments in story(out):
        _step(what, arguments)
    print_note("Next, with a model of yours (any OpenAI-compatible server):")
    judged = ("run", "gemba-mqm", out / "test_set.jsonl", "--lp", "en-de", "--out", out / "runs" / "my-model")
    print_note(f"$ {command(*judged, '--base-url', 'http://localhost:8000/v1', '--model', 'my-model')}")


def story(out: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each step: what it is for, and its arguments."""
    test_set, runs = str(out / "test_set.jsonl"), out / "runs"
    judge, chrf = str(runs / "gemba-mqm"), str(runs / "chrf")
    gold = str(out / "gold.mqm.jsonl")
    rules = ["--model", "builtin/rules", "--out"]
    yield "Judge four systems in three language pairs", ["run", "gemba-mqm", test_set, *rules, judge]
    yield "Score them with a string metric too", ["run", "chrf", test_set, "--out", chrf]
    yield "Turn records into numbers", ["score", judge]
    yield "Rank the systems", ["rank", judge, "--lp", "en-de"]
    yield "Compare with the gold of the examples", ["rank", gold, "--lp", "en-de"]
    for name, paper in _PAPERS.items():
        run = ["run", name, test_set, "--lp", "en-de", *rules, str(runs / name)]
        yield f"Judge one language pair as {paper} does", run
    scores = [part for name in ("gemba-mqm", "chrf", *_PAPERS) for part in ("--scores", str(runs / name))]
    table = ["meta", test_set, "--lp", "en-de", "--gold", f"mqm={gold}", *scores]
    yield "See which of them agrees with gold", table
    report = ["--title", "The bundled examples", "--gold", gold, "--out", str(out / "report.html")]
    yield "Look at all of it", ["report", judge, chrf, *report, "--force"]


def _step(what: str, arguments: list[str]) -> None:
    from adjudge.cli.main import app_for

    sys.stdout.flush()
    print_note(f"\n# {what}\n$ {command(*arguments)}")
    code = app_for(arguments)(arguments, prog_name="adjudge", standalone_mode=False)
    sys.stdout.flush()
    if code:
        raise typer.Exit(code)


# List


What = Literal[
    "judges", "metrics", "measures", "tasks", "models", "protocols", "weights", "formats", "test-sets"
]


def list_command(
    what: Annotated[What, typer.Argument(help="Kind of entry to list.", show_default=False)],
    form: FormatOption = "table",
    plugin: Annotated[
        Path | None,
        typer.Option(exists=True, metavar="FILE", help="Also list the metrics of this Python file."),
    ] = None,
) -> None:
    """List the names that other commands take."""
    if plugin is not None and what != "metrics":
        raise UsageError(f"--plugin is for `list metrics`: leave it out with {what}")
    columns, rows = _LISTS[what]() if plugin is None else _metrics(plugin)
    keys = [c.removeprefix(">").replace(" ", "_") for c in columns]
    data: dict[str, object] = {what: [dict(zip(keys, row, strict=True)) for row in rows]}
    print_result(form, Table(columns=columns, rows=rows), data)


Rows = tuple[list[str], list[list[str]]]


_UNITS: Final = {
    "translation": "translation",
    "criteria": "criterion",
    "pair": "pair",
    "source": "translation of a source",
}
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


def _metrics(plugin: Path | None = None) -> Rows:
    from adjudge.metrics import METRICS, load_metric
    from adjudge.metrics.function import read_plugin
    from adjudge.runs.units import names_in

    rows = []
    for name, made in ({} if plugin is None else read_plugin(plugin)).items():
        title = next(iter((made.function.__doc__ or "").strip().splitlines()), "")
        rows.append([name, "reference" if made.with_reference else "source", made.protocol, title])
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
    return next(iter((type(thing).__doc__ or "").strip().splitlines()), "")


def _models() -> Rows:
    from adjudge.llm.model_choice import describe_models

    rows = [list(row) for row in describe_models()]
    return ["model", "base URL", "key", "what it is"], rows


def _protocols() -> Rows:
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
    from adjudge.core.mqm import WEIGHTS

    rows = []
    for w in WEIGHTS.values():
        rules = ", ".join(f"{key} {value:g}" for key, value in w.rules.items())
        rows.append([w.name, rules, "" if w.cap is None else f"{w.cap:g}", w.source])
    return ["weights", "points", ">cap", "source"], rows


def _formats() -> Rows:
    from adjudge.formats.registry import FORMATS

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
