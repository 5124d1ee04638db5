"""`adjudge curate filter`: keep the sources that are hardest to translate."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.cli.asking import OutOption, ask, end, load_sources, with_options
from adjudge.cli.output import print_note, print_result
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from adjudge.curation.keeping import Domain

__all__ = ["command"]

_OPTIONS = {
    "out": (OutOption, ...),
    "top": (Annotated[int | None, typer.Option(min=1, help="Keep so many of each language pair.")], None),
    "share": (Annotated[float | None, typer.Option(help="Keep this share of them, such as 0.2.")], None),
    "least": (Annotated[int, typer.Option(min=1, max=10, help="Keep none that is easier.")], 1),
    "strata": (
        Annotated[
            Literal["domain", "none"],
            typer.Option(help="Take from each domain its share, or from all alike."),
        ],
        "domain",
    ),
    "flagged": (
        Annotated[
            Literal["mark", "drop"], typer.Option(help="What is personal or offensive: mark it, or drop it.")
        ],
        "mark",
    ),
}


@with_options(_OPTIONS, frozenset({"terms", "systems", "translation"}))
def command(**values: Any) -> None:  # noqa: ANN401 (the options of `adjudge run`)
    """Keep the sources that are hardest to translate, as MENT did before anything was translated.

    A model says from 1 (word for word will do) to 10 (only a new text can do the same) how hard each source
    is, and why. Personal and offensive content is flagged. What failed has no score and is not kept.
    """
    from adjudge.curation.asking import blank
    from adjudge.curation.difficulty import PLACE, AskDifficulty
    from adjudge.curation.keeping import Keeping, keep_hardest
    from adjudge.data.jsonl import write_test_set

    out: Path = values["out"]
    keeping = Keeping(
        top=values["top"],
        share=values["share"],
        least=values["least"],
        by_domain=values["strata"] == "domain",
        flagged=values["flagged"],
        seed=values["seed"],
    )
    test_set = load_sources(values)
    question = AskDifficulty(prompts=values["prompts"])
    gathered = ask(values, question, blank(test_set, [PLACE]), form=values["form"])
    kept = keep_hardest(test_set, gathered.found, keeping)
    write_test_set(out, kept.test_set)
    signature = str(gathered.outcome.info.signature)
    data = {"signature": signature, "out": str(out), "domains": [asdict(domain) for domain in kept.domains]}
    print_result(values["form"], _table(kept.domains, signature), data)
    print_note(f"{len(kept.test_set)} sources -> {out}")
    end(gathered, values["max_failed"])


def _table(domains: tuple[Domain, ...], signature: str) -> Table:
    rows = [_row(domain) for domain in domains]
    counts = [">sources", ">rated", ">failed", ">personal", ">offensive", ">kept"]
    columns = ["lp", "domain", *counts, ">mean difficulty", ">easiest kept"]
    return Table(columns=columns, rows=rows, notes=[signature])


def _row(domain: Domain) -> list[str]:
    d = domain
    counts = (d.sources, d.rated, d.failed, d.personal, d.offensive, d.kept)
    mean = "" if d.mean is None else f"{d.mean:.2f}"
    return [d.lp, d.name or "all", *map(str, counts), mean, "" if d.easiest is None else f"{d.easiest}"]
