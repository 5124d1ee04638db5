"""`adjudge curate translate`: translations of a test set by a model or a command."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.asking import OutOption, ask, end, load_sources, run_folder, with_options
from adjudge.cli.output import print_note, print_result
from adjudge.cli.stops import parting
from adjudge.core.wording import read_share
from adjudge.errors import UsageError
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.core.annotation import Failure
    from adjudge.core.segment import TestSet
    from adjudge.curation.asking import Gathered

__all__ = ["command"]

_WARM = 0.7
_OPTIONS = {
    "out": (OutOption, ...),
    "name": (
        Annotated[str | None, typer.Option(help="Of the system; else the model's, without its provider.")],
        None,
    ),
    "candidates": (
        Annotated[int, typer.Option(min=1, help="Draw so many of each source: systems NAME-1, NAME-2, ...")],
        1,
    ),
    "temperature": (
        Annotated[float | None, typer.Option(min=0, help="0 for one candidate, 0.7 for several.")],
        None,
    ),
    "command": (
        Annotated[
            str | None, typer.Option(help="A program that translates JSON lines, in place of a model.")
        ],
        None,
    ),
}


@with_options(_OPTIONS)
def command(**values: Any) -> None:  # noqa: ANN401 (the options of `adjudge run`)
    """Translate a test set: one more system, or several drafts of which people edit the best (MENT has five).

    The systems that it has stay. What failed is absent, never an empty text, and is counted.
    """
    from adjudge.curation.asking import blank
    from adjudge.curation.translating import candidate_names, check_names, with_translations
    from adjudge.data.jsonl import write_test_set

    out: Path = values["out"]
    test_set = load_sources(values)
    names = candidate_names(values["name"] or _system_name(values), values["candidates"])
    check_names(test_set, names)
    asked = blank(test_set, names)
    gathered = _by_model(values, asked) if values["command"] is None else _by_command(values, asked)
    write_test_set(out, with_translations(test_set, gathered.found, names))
    signature = str(gathered.outcome.info.signature)
    rows = _count(asked, names, gathered.failures)
    data = {"signature": signature, "out": str(out), "systems": rows}
    print_result(values["form"], _table(rows, signature), data)
    print_note(f"{len(test_set)} segments with {', '.join(names)} -> {out}")
    end(gathered, values["max_failed"])


def _system_name(values: Mapping[str, Any]) -> str:
    """What the system is called where the user says nothing.

    Raises:
        UsageError: nothing says it.
    """
    if values["command"] is not None:
        raise UsageError("--command needs --name: what the system is called")
    from adjudge.llm.models import EMBEDDED, chosen_outside

    model = next((name for name in values["model"] or [] if "=" not in name), None) or chosen_outside()
    return (model or EMBEDDED).rpartition("/")[2].replace(":", "-")


def _by_model(values: Mapping[str, Any], asked: TestSet) -> Gathered[str]:
    from adjudge.curation.translating import AskTranslation

    warmth = values["temperature"]
    if warmth is None:
        warmth = _WARM if values["candidates"] > 1 else 0.0
    if values["candidates"] > 1 and not warmth:
        raise UsageError("--candidates above 1 needs a temperature above 0, or all would be one")
    question = AskTranslation(temperature=warmth, prompts=values["prompts"])
    return ask(values, question, asked, form=values["form"])


def _by_command(values: Mapping[str, Any], asked: TestSet) -> Gathered[str]:
    """Let a program translate.

    Raises:
        UsageError: it cannot be run, or an option is for models.
    """
    from adjudge.core.annotation import Failure
    from adjudge.curation.asking import Gathered
    from adjudge.curation.commands import CommandTranslator
    from adjudge.data.run_dir import read_run
    from adjudge.runs.job import prepare
    from adjudge.runs.local import execute
    from adjudge.runs.run import run_to_end

    given = {
        "--model": values["model"],
        "--temperature": values["temperature"],
        "--prompts": values["prompts"],
    }
    if for_models := [name for name, value in given.items() if value]:
        raise UsageError(f"{for_models[0]} is for models, and --command asks none")
    if values["dry_run"]:
        raise UsageError("--dry-run is for models; a command costs what it costs")
    read_share(values["max_failed"])  # a share that is none is said before anything is translated
    translator = CommandTranslator(command=values["command"])
    job = prepare(translator, asked, run_folder(values["out"]), progress=True)
    with parting("stopped; nothing was written"):
        outcome = run_to_end(execute(job))
    failures = tuple(r for r in read_run(job.out).records if isinstance(r, Failure))
    for failure in failures[:1]:
        print_note(f"first {failure.reason}: {' '.join(failure.detail.split())[:200]}")
    return Gathered(found=translator.found, failures=failures, outcome=outcome)


def _count(asked: TestSet, names: Sequence[str], failures: Sequence[Failure]) -> list[dict[str, object]]:
    """What came of each system."""
    rows = []
    for name in names:
        reasons = Counter(failure.reason for failure in failures if failure.systems == (name,))
        failed = reasons.total()
        row = {"system": name, "translated": len(asked) - failed, "failed": failed, "reasons": dict(reasons)}
        rows.append(row)
    return rows


def _table(rows: Sequence[Mapping[str, Any]], signature: str) -> Table:
    cells = [
        [row["system"], f"{row['translated']}", f"{row['failed']}", _reasons(row["reasons"])] for row in rows
    ]
    columns = ["system", ">translated", ">failed", "reasons"]
    return Table(columns=columns, rows=cells, notes=[signature])


def _reasons(reasons: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} {number}" for reason, number in reasons.items())
