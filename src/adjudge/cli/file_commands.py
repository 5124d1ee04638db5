"""`adjudge demo`: the main job on the bundled test set, every step a command that can be repeated."""

from __future__ import annotations

import shlex
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from adjudge.cli.options import LpOption, ReferencesOption, SourceOption, TranslationsOption, print_note
from adjudge.errors import UsageError

# `adjudge convert`: between every format that holds the same thing.


def convert_command(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="[IN] OUT", help="From where, to where; IN is left out with -s and -t."),
    ],
    *,
    to: Annotated[str, typer.Option(help="Format to write; `adjudge list formats` names them.")],
    form: Annotated[
        str | None, typer.Option("--from", metavar="FORMAT", help="Format of IN; found out if left out.")
    ] = None,
    lp: LpOption = None,
    test_set: Annotated[
        Path | None, typer.Option(help="All texts that the records are about, where IN lacks them.")
    ] = None,
    annotator: Annotated[str | None, typer.Option(help="Only this annotator's records.")] = None,
    protocol: Annotated[
        str, typer.Option(help="What the numbers of a score file are ratings of.")
    ] = "metric",
    source: SourceOption = None,
    translations: TranslationsOption = None,
    references: ReferencesOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
) -> None:
    """Convert test sets and records between formats, without loss where the format allows it.

    What the format cannot hold is refused, or counted on standard error. OUT is a file, `-` for standard
    output, or a folder for formats that are folders.
    """
    from adjudge.formats.convert import check_target, of_annotator, write_content
    from adjudge.formats.read import Content, detect, find_format, load, load_lines, read_content

    given, out = _split(paths, with_lines=source is not None)
    check_target(out, to, force=force)
    if source is not None:
        content = Content(test_set=load_lines(source, translations or [], references or [], lp))
    else:
        texts = None if test_set is None else load(test_set, lp)
        whole = find_format(to).is_campaign
        content = read_content(given, form, lp=lp, test_set=texts, protocol=protocol, as_campaign=whole)
    if test_set is not None and find_format(detect(test_set)).is_marked_up:
        content = replace(content, origin=test_set)
    if annotator is not None:
        content = of_annotator(content, annotator)
    _say(content.met, str(given))
    _say(write_content(out, to, content, force=force), f"not in {out}")


def _split(paths: list[Path], *, with_lines: bool) -> tuple[Path, Path]:
    if len(paths) != (1 if with_lines else 2):
        wanted = "OUT alone beside -s and -t" if with_lines else "IN and OUT"
        raise UsageError(f"convert takes {wanted}, got {len(paths)} paths")
    return paths[0], paths[-1]


def _say(counts: Counter[str], where: str) -> None:
    for what, count in counts.items():
        print_note(f"adjudge: {where}: {count:,} {what}")


# `adjudge fetch`: download a public test set into the cache.


def fetch_command(
    name: Annotated[str, typer.Argument(help="A name of `adjudge list test-sets`.", show_default=False)],
) -> None:
    """Download a public test set; from then on its name is a TEST_SET everywhere.

    It is kept in the folder that ADJUDGE_CACHE names, else in the user's cache folder. An interrupted
    download goes on where it stopped. Prints where the test set lies.
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
_FILES = ("test_set.jsonl", "gold.mqm.jsonl", "gold.esa.jsonl", "gold.pairwise.jsonl", "README.md")


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder for the data, the runs and the report.")] = Path("demo"),
) -> None:
    """Judge, score, rank and report the bundled test set, offline, with the embedded rules.

    No language model is asked. Each step is printed as the command that repeats it.
    """
    _copy_examples(out)
    for what, arguments in story(out):
        _step(what, arguments)
    print_note("Next, with a model of yours (any OpenAI-compatible server):")
    print_note(
        f"$ adjudge run gemba-mqm {out / 'test_set.jsonl'} --lp en-de --out {out / 'runs' / 'my-model'} "
        "--base-url http://localhost:8000/v1 --model my-model"
    )


def story(out: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield each step: what it is for, and its arguments."""
    test_set, runs = str(out / "test_set.jsonl"), out / "runs"
    judge, chrf = str(runs / "gemba-mqm"), str(runs / "chrf")
    gold = str(out / "gold.mqm.jsonl")
    yield "Judge four systems in three language pairs", ["run", "gemba-mqm", test_set, "--out", judge]
    yield "Score them with a string metric too", ["run", "chrf", test_set, "--out", chrf]
    yield "Turn records into numbers", ["score", judge]
    yield "Rank the systems", ["rank", judge, "--lp", "en-de"]
    yield "Compare with the gold of the examples", ["rank", gold, "--lp", "en-de"]
    for name, paper in _PAPERS.items():
        run = ["run", name, test_set, "--lp", "en-de", "--out", str(runs / name)]
        yield f"Judge one language pair as {paper} does", run
    scores = [part for name in ("gemba-mqm", "chrf", *_PAPERS) for part in ("--scores", str(runs / name))]
    table = ["meta", test_set, "--lp", "en-de", "--gold", f"mqm={gold}", *scores]
    yield "See which of them agrees with gold", table
    report = ["--title", "The bundled examples", "--gold", gold, "--out", str(out / "report.html")]
    yield "Look at all of it", ["report", judge, chrf, *report, "--force"]


def _copy_examples(out: Path) -> None:
    """Copy the bundled files; ours are replaced, anything else in the folder is left alone."""
    from adjudge import examples

    if out.exists() and not out.is_dir():
        raise UsageError(f"--out must name a folder, {out} is a file")
    out.mkdir(parents=True, exist_ok=True)
    for name in _FILES:
        shutil.copyfile(examples.path(name), out / name)


def _step(what: str, arguments: list[str]) -> None:
    from adjudge.cli.main import app_for

    sys.stdout.flush()
    print_note(f"\n# {what}\n$ adjudge {shlex.join(arguments)}")
    code = app_for(arguments)(arguments, prog_name="adjudge", standalone_mode=False)
    sys.stdout.flush()
    if code:
        raise typer.Exit(code)
