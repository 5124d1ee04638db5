"""`adjudge curate classify`: of which kind the errors are that people marked."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from adjudge.cli.asking import ask, end, load_sources, with_options
from adjudge.cli.options import existing
from adjudge.cli.output import print_note, print_result
from adjudge.report.tables import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adjudge.core.annotation import Record

__all__ = ["command"]

_OPTIONS = {
    "records": (
        Annotated[
            Path,
            typer.Option(
                "--records", metavar="FILE", callback=existing, help="What people marked, such as an export."
            ),
        ],
        ...,
    ),
    "out": (
        Annotated[
            Path, typer.Option("--out", "-o", help="Records to write; what is asked is kept in FILE.run.")
        ],
        ...,
    ),
}


@with_options(_OPTIONS, frozenset({"terms", "context_size", "systems", "limit"}))
def command(**values: Any) -> None:  # noqa: ANN401 (the options of `adjudge run`)
    """Give the marked errors of --records a category each, where they have none (ESA).

    TEST_SET has the texts that were annotated. Place, severity and rating stay as they are. Marks whose
    category could not be had stay without one, flagged `category_missing`.
    """
    from adjudge.curation.classifying import AskCategories, marked_set, with_categories
    from adjudge.data.records import read_records, write_records

    out: Path = values["out"]
    records = read_records(values["records"])
    asked = marked_set(records, load_sources(values))
    question = AskCategories(prompts=values["prompts"])
    gathered = ask(values, question, asked, form=values["form"])
    classified = with_categories(records, asked, gathered.found)
    write_records(out, classified)
    counts = _count(classified)
    signature = str(gathered.outcome.info.signature)
    failed = len(gathered.failures)
    data = {"signature": signature, "out": str(out), "categories": counts, "failed": failed}
    rows = [[name or "(none)", f"{number}"] for name, number in counts.items()]
    notes = [f"translations asked about: {len(asked)}, failed: {failed}", signature]
    print_result(values["form"], Table(columns=["category", ">marks"], rows=rows, notes=notes), data)
    print_note(f"{len(classified)} records -> {out}")
    end(gathered, values["max_failed"])


def _count(records: Sequence[Record]) -> dict[str, int]:
    """Marks by category, the most frequent first; without one under an empty name."""
    from adjudge.core.annotation import Annotation

    spans = [span for record in records if isinstance(record, Annotation) for span in record.spans]
    return dict(Counter(span.category or "" for span in spans).most_common())
