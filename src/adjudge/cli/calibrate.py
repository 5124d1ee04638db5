"""`adjudge calibrate`: how sure a judge must be of a finding that it does not look at again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from adjudge.cli.calibrate_ties import calibrate_run
from adjudge.cli.failures import check_failures
from adjudge.cli.options import existing, naming_the_nearest
from adjudge.cli.output import print_note, print_result
from adjudge.cli.run import make_job
from adjudge.cli.run_options import with_run_options
from adjudge.cli.settings import WithSettings, read_settings
from adjudge.cli.stops import RESUMABLE, parting
from adjudge.core.wording import read_share
from adjudge.errors import UsageError
from adjudge.report.tables import Table, TableFormat

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from adjudge.core.judge import Judge
    from adjudge.data.calibration import Calibration

__all__ = ["WithSettings", "command"]

_NOT_HERE: Final = ("samples", "temperature")
_OUT = Annotated[Path | None, typer.Option("--out", "-o", help="File of the threshold, such as himate.json.")]
_GOLD = Annotated[
    Path | None,
    typer.Option(callback=existing, help="Of a judge of pairs: what people said; TEST_SET is then its run."),
]
_PERCENTILE = Annotated[
    float, typer.Option(help="Of the confidences: so many per cent of the findings are looked at again.")
]


@with_run_options(
    {"out": (_OUT, None), "gold": (_GOLD, None), "percentile": (_PERCENTILE, 60.0)},
    dropped={"dry_run", *_NOT_HERE},
)
def command(**values: Any) -> None:  # noqa: ANN401 (the options of `adjudge run`)
    """Find the confidence below which HiMATE discusses what it found, for one model, by language pair.

    TEST_SET is a validation set: other texts than those to be judged, about a tenth as many. It takes the
    options of `adjudge run`. What is asked is kept beside FILE, in FILE.run, and the same command goes on
    where it was stopped.

    Of a judge of pairs, such as fire: TEST_SET is a run with measured preferences, and --gold has the
    verdicts of people. Nothing is asked; the --tie-threshold that agrees best with them is printed.
    """
    from adjudge.data.calibration import write_calibration
    from adjudge.runs.calibration import acalibrate
    from adjudge.runs.run import run_to_end

    form: TableFormat = values.pop("form")
    if (gold := values.pop("gold")) is not None:
        _refuse(read_settings(values["context"].args), "nothing is asked with --gold")
        calibrate_run(values["judge"], values["test_set"], gold, values["lp"], form)
        return
    out = values["out"]
    if out is None:
        raise UsageError("--out FILE is missing: it holds the threshold")
    allowed = read_share(values["max_failed"])
    values |= dict.fromkeys(_NOT_HERE) | {"judge": _judge(values)}
    job = make_job(values, out.with_name(f"{out.name}.run"), dry=False)
    with parting(RESUMABLE):
        calibration, outcome = run_to_end(acalibrate(job, values["percentile"]))
    write_calibration(out, calibration)
    print_result(form, _table(calibration), _to_json(calibration))
    print_note(f"use it with: adjudge run {calibration.judge} ... --threshold {out}")
    check_failures(outcome.info.counts, allowed)


def _judge(values: Mapping[str, Any]) -> Judge:
    """The judge under its settings, with the stages that a calibration needs."""
    from adjudge.runs.annotators import load_annotator
    from adjudge.runs.calibration import for_calibration

    settings = read_settings(values["context"].args)
    if values["explain_in"] is not None:
        settings["explain-in"] = values["explain_in"]
    with naming_the_nearest(values["context"]):
        judge = load_annotator(
            values["judge"], profile=values["profile"], prompts=values["prompts"], settings=settings
        )
    calibrated = for_calibration(judge)
    fields = {name: name.replace("-", "_") for name in settings}
    lost = [name for name, each in fields.items() if getattr(judge, each) != getattr(calibrated, each, None)]
    _refuse(lost, "a calibration sets that itself")
    return calibrated


def _refuse(settings: Iterable[str], why: str) -> None:
    """Refuse a setting that would go unheard.

    Raises:
        UsageError: there is one.
    """
    for name in settings:
        raise UsageError(f"{why}: leave --{name} out")


def _table(calibration: Calibration) -> Table:
    rows = [
        [lp, f"{t.threshold:.6g}", f"{t.confidences}", f"{t.below}", f"{t.judged}", f"{t.failed}"]
        for lp, t in calibration.thresholds.items()
    ]
    columns = ["lp", ">threshold", ">confidences", ">below it", ">judged", ">failed"]
    made = f"{calibration.judge} with {calibration.model}: percentile {calibration.percentile:g}"
    notes = [f"{made} of confidences by {calibration.confidence}; digest {calibration.digest}"]
    return Table(columns=columns, rows=rows, notes=notes)


def _to_json(calibration: Calibration) -> dict[str, object]:
    from dataclasses import asdict

    return {**asdict(calibration), "digest": calibration.digest}
