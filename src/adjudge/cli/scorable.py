"""Options of what is scored, and what reads it: a run, or a file of any format that holds judgements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from adjudge.errors import UsageError
from adjudge.meta.judgements import (
    domains_known,
    read_if_taken,
    read_judgements,
    read_scores,
    read_source,
    takes_texts,
    texts_of,
)

__all__ = [
    "CriterionOption",
    "GoldOfSetOption",
    "MetricOfSetOption",
    "TextsOption",
    "WeightsOption",
    "domains_known",
    "read_if_taken",
    "read_judgements",
    "read_scores",
    "read_source",
    "refuse_of_judgements",
    "takes_texts",
    "texts_of",
]

WeightsOption = Annotated[
    str | None,
    typer.Option(
        "--weights",
        "-w",
        help="Points of marked errors, one of `adjudge list weights`; else the run's, else mqm-google.",
    ),
]
CriterionOption = Annotated[
    str | None, typer.Option(help="Of preferences, such as fluency; else the only one, else overall.")
]
GoldOfSetOption = Annotated[
    str | None, typer.Option(help="Of a test set: the gold, its own or a file, whose scores count.")
]
MetricOfSetOption = Annotated[
    str | None, typer.Option(help="Of a test set: the metric, its own or a file, whose scores count.")
]
TextsOption = Annotated[
    Path | None,
    typer.Option(
        "--test-set", metavar="PATH", help="Texts of a .seg.rating that lies elsewhere; batches of Appraise."
    ),
]


def refuse_of_judgements(beside: str, **given: object) -> None:
    """Refuse options about judgements where none are read, which would go unheard.

    Args:
        beside: the options in whose company none are.
        given: values of options by their names in Python; None where one was left out.
    """
    for name, value in given.items():
        if value is not None:
            option = "--" + name.replace("_", "-")
            raise UsageError(f"{option} is for judgements: leave it out with {beside}")
