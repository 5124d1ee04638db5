"""`adjudge list`: what there is, by name."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from adjudge.cli.output import FormatOption, print_result
from adjudge.report.tables import Table

__all__ = ["command"]

What = Literal[
    "judges", "metrics", "measures", "tasks", "models", "protocols", "weights", "formats", "test-sets"
]


def command(
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
    from adjudge.runs.annotators import names_in
    from adjudge.runs.judging import kind_of

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
    from adjudge.runs.annotators import names_in

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
    from adjudge.meta.measures import MEASURES

    rows = []
    for m in MEASURES.values():
        low, high = m.range
        best = "higher" if m.higher_is_better else "lower"
        rows.append([m.name, m.level, m.average or "", f"{low:g} to {high:g}", best, m.title, m.source])
    return ["measure", "level", "average", "range", "better", "what it is", "source"], rows


def _tasks() -> Rows:
    from adjudge.meta.evaluation.tasks import list_tasks

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
    from adjudge.llm.models import describe_models

    rows = [list(row) for row in describe_models()]
    return ["model", "base URL", "key", "what it is"], rows


def _protocols() -> Rows:
    """Those of records, and then those that only campaigns have, with the records that they make."""
    from adjudge.campaigns.protocols import NAMES, find_campaign_protocol
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
    from adjudge.data.formats import FORMATS

    rows = [[f.name, f.holds, "yes" if f.reads else "", "yes" if f.writes else "", f.title] for f in FORMATS]
    return ["format", "holds", "reads", "writes", "title"], rows


def _test_sets() -> Rows:
    from adjudge.data.catalog import CATALOG

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
