"""`adjudge compare`: is one of two systems better, by how much, and how sure is that?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from adjudge.cli.options import LpOption, SeedOption, TestDrawsOption, UnitOption
from adjudge.cli.output import FormatOption, is_for_people, print_result
from adjudge.cli.scorable import (
    CriterionOption,
    GoldOfSetOption,
    MetricOfSetOption,
    TextsOption,
    WeightsOption,
    domains_known,
    read_judgements,
    refuse_of_judgements,
)
from adjudge.core.score import listed
from adjudge.errors import UsageError

if TYPE_CHECKING:
    from adjudge.core.score import Scores
    from adjudge.meta.comparing.two_systems import Comparison, Place, Side, Stratum

__all__ = ["command"]


def command(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="A B",
            help="Two runs or files; or one run, file or test set, and then two of its systems.",
            show_default=False,
        ),
    ],
    *,
    gold: GoldOfSetOption = None,
    metric: MetricOfSetOption = None,
    systems: Annotated[
        str | None, typer.Option(help="Two systems of one run, or one of each of two: A,B.")
    ] = None,
    weights: WeightsOption = None,
    lp: LpOption = None,
    criterion: CriterionOption = None,
    test_set: TextsOption = None,
    test: Annotated[
        Literal["permutation", "bootstrap", "wilcoxon"],
        typer.Option(help="Of the p-values: of means (permutation, bootstrap) or of ranks."),
    ] = "permutation",
    by_document: UnitOption = None,
    holm: Annotated[bool, typer.Option("--holm", help="Correct the p-values of domains as well.")] = False,
    resamples: TestDrawsOption = 1000,
    seed: SeedOption = 0,
    form: FormatOption = "table",
) -> None:
    """Compare two systems on the segments that both were judged on.

    The difference is the first less the second: above 0, the first is better.
    """
    from adjudge.meta.comparing.two_systems import ComparisonSettings, compare_scores
    from adjudge.report.comparison_tables import comparison_table

    settings = ComparisonSettings(
        test=test, by_document=by_document, correct=holm, resamples=resamples, seed=seed
    )
    named: Sequence[str] | None = None if systems is None else systems.split(",")
    if len(what) == 1 and named is not None:
        what, named = [*what, *named], None
    if gold is not None or metric is not None:
        refuse_of_judgements("--gold or --metric", criterion=criterion, test_set=test_set)
        if len(what) != 3 or named is not None:
            raise UsageError("with --gold or --metric, give TEST_SET SYSTEM SYSTEM")
        first, second, chosen, domains = _of_test_set(what, lp, (gold, metric), weights)
    else:
        first, second, chosen, domains = _of_runs(what, named, (weights, lp, criterion, test_set))
    found = compare_scores(first, second, chosen, settings=settings, domains=domains)
    print_result(form, comparison_table(found, exact=not is_for_people(form)), _data(found), found.notes)


_Chosen = tuple["Scores", "Scores", "Sequence[str] | None", "Mapping[Place, str]"]


def _of_test_set(
    what: Sequence[str], lp: str | None, annotators: tuple[str | None, str | None], weights: str | None
) -> _Chosen:
    from adjudge.meta.comparing.compare import chosen_annotator, read_one_annotator

    scores, domains = read_one_annotator(Path(what[0]), lp, *chosen_annotator(*annotators), weights)
    return scores, scores, what[1:], domains


def _of_runs(
    what: Sequence[str],
    chosen: Sequence[str] | None,
    reading: tuple[str | None, str | None, str | None, Path | None],
) -> _Chosen:
    """Two sources; or one source and two systems."""
    from adjudge.core.language import canonical_lp
    from adjudge.data.formats import find_format
    from adjudge.data.load import detect
    from adjudge.scoring.score import score

    weights, lp, criterion, texts = reading
    lp = None if lp is None else canonical_lp(lp)
    if len(what) not in {2, 3}:
        raise UsageError(
            f"give two runs or files, or one and two of its systems (`adjudge compare RUN A B`); "
            f"got {' '.join(what)}"
        )
    if len(what) == 3 and chosen is not None:
        raise UsageError("the systems are named twice: after the run, and with --systems")
    paths = [Path(name) for name in (what if len(what) == 2 else what[:1])]
    for path in paths:
        if not path.exists():
            raise UsageError(
                f"no file or folder {str(path)!r}: two systems are named after their run or file"
            )
        if not find_format(detect(path)).has_records:
            raise UsageError(f"{path} is a test set: add --gold or --metric to say whose scores count")
    files = [path.resolve() for path in paths]  # one file under two names is read, and complained of, once
    named = dict(zip(files[::-1], paths[::-1], strict=True))
    found = {file: read_judgements(path, lp, texts) for file, path in named.items()}
    judged = [found[file] for file in files]
    scores = [score(each, weights=weights, lp=lp, criterion=criterion) for each in judged]
    domains = domains_known(judged, paths, lp, texts)
    return scores[0], scores[-1], what[1:] if len(what) == 3 else chosen, domains


def _data(found: Comparison) -> dict[str, Any]:
    """The result as one JSON object."""
    return {
        "first": _side(found.first),
        "second": _side(found.second),
        **_stratum(found.whole),
        "strata": [{"kind": s.kind, "name": s.name, **_stratum(s)} for s in found.strata],
        "method": found.method,
        "notes": list(found.notes),
    }


def _side(side: Side) -> dict[str, Any]:
    return {"name": side.name, "signature": str(side.signature), "n": side.n, "failed": side.failed}


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
