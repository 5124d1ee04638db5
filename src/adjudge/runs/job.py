"""What is to be run, resolved from names, files and options, before anything is asked."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Final, Unpack

from adjudge.core.judge import is_searching_judge
from adjudge.core.run import RunInfo
from adjudge.core.score import Signature
from adjudge.core.search import NO_ENGINE
from adjudge.core.segment import TestSet
from adjudge.core.wording import read_share
from adjudge.data.calls import STORE, Spent
from adjudge.data.load import load
from adjudge.data.pair_files import read_pairs
from adjudge.errors import UsageError
from adjudge.llm.budget import Budget, Meter
from adjudge.llm.connection import Connection
from adjudge.llm.models import EMBEDDED, Models, open_models
from adjudge.llm.prices import Price, find_prices, with_batches
from adjudge.meta.ranking.schedules import Schedule
from adjudge.runs.advice import advise, check_roles
from adjudge.runs.annotators import Annotator, is_metric, load_annotator, settings_of, signature_of
from adjudge.runs.judging import criteria_of, kind_of
from adjudge.runs.options import Options
from adjudge.runs.record import describe_test_set
from adjudge.runs.scale.shards import Shard, part_of
from adjudge.runs.units import Plan, plan_units, read_terms

__all__ = ["Job", "Options", "open_again", "prepare"]

_CONCURRENCY: Final = 20
_METRICS: Final = "adjudge.metrics."  # begins the modules of ours


@dataclass(frozen=True, kw_only=True)
class Job:
    """One run, ready to go.

    Args:
        annotator: judge or metric.
        plan: what is judged.
        out: run directory.
        models: whom a judge asks; None for a metric.
        store: path of the call store.
        settings: as `run.json` keeps them.
        signature: without the failed count.
        width: units of work at a time.
        seed: of sampling.
        offline: ask nobody.
        retry_failed: ask again what failed because its stored replies could not be read.
        may_all_fail: go on although the first units all fail for one reason.
        prices: of every model that may be paid, None where unknown.
        budget: limits of what may be paid.
        progress: show it.
        notes: what the user must know beforehand.
        engine: who carries it out; a name of `runs.engines.ENGINES`.
        base: store whose answers count too, and which is not written.
        open_meter: counts what is paid; `Meter`, or one that shares a budget with others.
        options: that it was made with, so that it can be made elsewhere.
    """

    annotator: Annotator
    plan: Plan
    out: Path
    models: Models | None
    store: Path
    settings: Mapping[str, object]
    signature: Signature
    width: int = _CONCURRENCY
    seed: int = 0
    offline: bool = False
    retry_failed: bool = False
    may_all_fail: bool = False
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)
    progress: bool = False
    notes: tuple[str, ...] = field(default=())
    engine: str = "local"
    base: Path | None = None
    open_meter: Callable[[Mapping[str, Price | None], Budget, Mapping[str, Spent]], Meter] = Meter
    options: Options = field(default_factory=Options)

    @property
    def _origin(self) -> dict[str, object]:
        """The file of the test set, seen from the run directory."""
        origin = self.options.get("origin")
        return {} if origin is None else {"origin": _seen_from(Path(origin), self.out)}

    def info(self) -> RunInfo:
        """What `run.json` says before the first unit is judged."""
        return RunInfo(
            signature=self.signature,
            kind="metric" if is_metric(self.annotator) else "judge",
            annotator=self.annotator.name,
            protocol=self.annotator.protocol,
            weights=self.annotator.weights,
            low=getattr(self.annotator, "low", None),
            high=getattr(self.annotator, "high", None),
            settings=self.settings,
            test_set=describe_test_set(self.plan.whole, self.plan.systems) | self._origin,
            counts={"judged": 0, "failed": 0, "pending": len(self.plan)},
        )


def prepare(
    annotator: Annotator | str, test_set: TestSet | Path | str, out: Path | str, **options: Unpack[Options]
) -> Job:
    """Resolve names, files and options.

    Raises:
        UsageError: something is unknown, unclear or contradicts.
        DataError: a file cannot be read.
    """
    if isinstance(annotator, str):
        annotator = _load(annotator, options)
    if not isinstance(test_set, TestSet):
        test_set = load(test_set)
    out = Path(out)
    terms = options.get("terms")
    plan = plan_units(
        test_set,
        with_reference=annotator.with_reference,
        reference=options.get("reference"),
        kind=kind_of(annotator),
        criteria=criteria_of(annotator),
        schedule=_schedule(annotator, options),
        context=options.get("context", 0),
        terms=() if terms is None else read_terms(Path(terms)),
    )
    annotator, models = _fitted(annotator, _open_models(annotator, options), options)
    check_roles(annotator, models)
    _refuse_unused(annotator, options)
    store = Path(options.get("store") or out / STORE)
    prices = {} if models is None else with_batches(find_prices(models.paid, options.get("prices")))
    budget = _budget(prices, options)
    job = Job(
        annotator=annotator,
        plan=plan,
        out=out,
        models=models,
        store=store,
        settings=_settings(annotator, models, plan, options) | _places(store, out) | _money(prices, budget),
        signature=_signature(annotator, models, plan, options),
        width=options.get("concurrency", _CONCURRENCY),
        seed=options.get("seed", 0),
        offline=options.get("reparse", False),
        retry_failed=options.get("retry_failed", False),
        may_all_fail=read_share(options.get("max_failed", 0.0)) == 1,
        prices=prices,
        budget=budget,
        progress=options.get("progress", False),
        notes=(*plan.notes, *_notes(models), *advise(annotator, models, plan)),
        engine=options.get("engine", "local"),
        options=options,
    )
    shard = options.get("shard")
    return job if shard is None else part_of(job, Shard.read(shard))


def open_again(job: Job) -> Models | None:
    """The models of a job, opened once more: of every part of a run that is judged beside others.

    Raises:
        ModelError: a key is missing.
    """
    return _fitted(job.annotator, _open_models(job.annotator, job.options), job.options)[1]


def _schedule(annotator: Annotator, options: Options) -> Schedule:
    """The pairs that are compared.

    Raises:
        UsageError: this is chosen for who compares none, or none of a metric's at a time.
    """
    kind, per_segment = options.get("pairs", "all"), options.get("pairs_per_segment")
    in_all, anchors = options.get("pairs_in_all"), tuple(options.get("anchors", ()))
    file = options.get("pairs_file")
    said = {
        "--pairs": kind != "all",
        "--pairs-per-segment": per_segment,
        "--pairs-in-all": in_all,
        "--pairs-file": file is not None,
    }
    chosen = [name for name, value in (said | {"--anchors": anchors}).items() if value]
    if chosen and kind_of(annotator) != "pair":
        raise UsageError(f"{chosen[0]}: {annotator.name} does not compare pairs")
    if is_metric(annotator) and kind == "adaptive":
        raise UsageError(
            f"--pairs adaptive is for judges; {annotator.name} is a metric and judges all at once"
        )
    return Schedule(
        kind="listed" if file is not None and kind == "all" else kind,
        per_segment=per_segment,
        in_all=in_all,
        anchors=anchors,
        seed=options.get("seed", 0),
        listed={} if file is None else _listed(Path(file)),
    )


def _listed(file: Path) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """The pairs of a file by language pair and segment."""
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for pair in read_pairs(file):
        found.setdefault((pair.lp, pair.segment), []).append(pair.systems)
    return found


def _load(name: str, options: Options) -> Annotator:
    prompts = options.get("prompts")
    return load_annotator(
        name,
        profile=options.get("profile", "recommended"),
        prompts=None if prompts is None else Path(prompts),
        settings=options.get("settings", {}),
    )


def _open_models(annotator: Annotator, options: Options) -> Models | None:
    names, connection = options.get("model", ()), _connection(options)
    if not is_metric(annotator):
        return open_models([names] if isinstance(names, str) else list(names), connection)
    if given := (*(["--model"] if names else []), *connection.given):
        raise UsageError(f"{', '.join(given)}: {annotator.name} is a metric and asks no model")
    return None


def _refuse_unused(annotator: Annotator, options: Options) -> None:
    """Refuse what nobody would make use of; a metric from outside may read more than ours.

    Raises:
        UsageError: as said.
    """
    is_ours = is_metric(annotator) and type(annotator).__module__.startswith(_METRICS)
    if given := [name for name in ("context", "terms") if is_ours and options.get(name)]:
        raise UsageError(f"--{given[0]}: {annotator.name} is a metric and reads one translation at a time")
    if options.get("retry_failed", False):
        _refuse_retry(annotator, options)
    if options.get("workers") is not None and options.get("engine", "local") != "ray":
        raise UsageError("--workers is for --engine ray; leave it out, or choose that engine")


def _refuse_retry(annotator: Annotator, options: Options) -> None:
    """Refuse to ask failed units again where that cannot be done.

    Raises:
        UsageError: nobody is asked, or the answers are in stores of several parts.
    """
    why = {
        f"{annotator.name} is a metric and asks no model": is_metric(annotator),
        "--reparse asks nothing": options.get("reparse", False),
        "merge the shards first, then retry in the whole run": options.get("shard") is not None,
        "leave --engine out: the same command finishes on this machine": options.get("engine", "local")
        != "local",
    }
    if found := [words for words, holds in why.items() if holds]:
        raise UsageError(f"--retry-failed: {found[0]}")


def _fitted(annotator: Annotator, models: Models | None, options: Options) -> tuple[Annotator, Models | None]:
    """A judge that searches with its search engine, and with what its model can do.

    Raises:
        UsageError: no such engine, or one that the judge cannot have; a key where none is needed.
        ModelError: the key of the engine is missing.
    """
    key_env = options.get("search_key_env")
    if models is None or not is_searching_judge(annotator):
        if key_env is not None:
            raise UsageError(f"--search-key-env: {annotator.name} does not search")
        return annotator, models
    from adjudge.llm.search import open_search

    connection = _connection(options)
    engine = open_search(annotator.search, key_env=key_env, needs_key=connection.needs_key)
    judge = annotator.fitted(
        search=NO_ENGINE if engine is None else engine.identity.model,
        takes_tools=models.for_role("core").takes_tools,
    )
    return judge, replace(models, search=engine)


def _connection(options: Options) -> Connection:
    key_file = options.get("key_file")
    return Connection(
        base_url=options.get("base_url"),
        key_env=options.get("key_env"),
        key_file=None if key_file is None else Path(key_file),
        served_as=options.get("served_as"),
        json_schema=options.get("json_schema", "auto"),
        effort=options.get("effort"),
        timeout=options.get("timeout", Connection.timeout),
        concurrency=options.get("concurrency", _CONCURRENCY),
        needs_key=not (options.get("dry", False) or options.get("reparse", False)),
        in_batches=options.get("engine") == "batch",
    )


def _budget(prices: Mapping[str, Price | None], options: Options) -> Budget:
    """The limits, if they can be kept.

    Raises:
        UsageError: a limit is no number, or a price that it needs is unknown.
    """
    said, tokens = options.get("budget"), options.get("budget_tokens")
    try:
        amount = None if said is None else Decimal(str(said))
    except ArithmeticError:
        amount = Decimal("NaN")
    if amount is not None and not (amount.is_finite() and amount >= 0):
        raise UsageError(f"--budget must be an amount such as 2.50, got {said!r}")
    if tokens is not None and tokens < 0:
        raise UsageError(f"--budget-tokens must be at least 0, got {tokens}")
    unknown = sorted(name for name, price in prices.items() if price is None)
    if amount is not None and unknown:
        raise UsageError(
            f"--budget: the price of {unknown[0]} is not known; give it with --prices FILE, "
            "or set --budget-tokens instead"
        )
    return Budget(amount=amount, tokens=tokens)


def _money(prices: Mapping[str, Price | None], budget: Budget) -> dict[str, object]:
    """What `run.json` says of prices and limits; no record depends on them."""
    if not prices:
        return {}
    dates = [price.as_of.isoformat() for price in prices.values() if price is not None]
    return {
        "budget": None if budget.amount is None else float(budget.amount),
        "budget_tokens": budget.tokens,
        "price_date": min(dates, default=None),
    }


def _settings(annotator: Annotator, models: Models | None, plan: Plan, options: Options) -> dict[str, object]:
    """Every setting as it was used."""
    settings: dict[str, object] = {"judge" if models else "metric": settings_of(annotator)}
    if models is not None:
        settings |= {
            "model": models.name,
            "json_schema": options.get("json_schema", "auto"),
            "json_schema_used": models.schemas,
            "effort": options.get("effort"),
            "seed": options.get("seed", 0),
            "concurrency": options.get("concurrency", _CONCURRENCY),
            "timeout": options.get("timeout", Connection.timeout),
            "base_url": options.get("base_url"),
        }
    chosen = {} if plan.schedule.kind == "all" else {"pairs": str(plan.schedule)}
    return settings | {
        **chosen,
        "reference": dict(plan.references),
        "context": plan.context,
        "terms": _digest(plan),
    }


def _places(store: Path, out: Path) -> dict[str, object]:
    """Where the store is."""
    return {"store": _seen_from(store, out)}


def _seen_from(path: Path, out: Path) -> str:
    """A path as seen from the run directory, so that both may move together."""
    try:
        return os.path.relpath(path, out)
    except ValueError:  # another drive
        return str(path)


def _digest(plan: Plan) -> str:
    """Six hexadecimal digits over the glossary; empty without one."""
    text = "\n".join(f"{t.source}\t{t.translation}" for t in plan.terms)
    return hashlib.sha256(text.encode()).hexdigest()[:6] if plan.terms else ""


def _signature(annotator: Annotator, models: Models | None, plan: Plan, options: Options) -> Signature:
    names = dict.fromkeys(plan.references.values())
    extra: dict[str, str] = {}
    if plan.schedule.kind != "all":
        extra["pairs"] = str(plan.schedule)
    if plan.context:
        extra["context"] = str(plan.context)
    if plan.terms:
        extra["terms"] = _digest(plan)
    if models is not None and (forced := options.get("json_schema", "auto")) != "auto":
        extra["schema"] = forced
    if models is not None and (effort := options.get("effort")) is not None:
        extra["effort"] = effort
    return signature_of(
        annotator,
        model="" if models is None else models.name,
        reference=",".join(names) or "src",
        lps=plan.test_set.lps,
        extra=extra,
        seed=None if models is None else options.get("seed", 0),
    )


def _notes(models: Models | None) -> list[str]:
    if models is None or models.default.name != EMBEDDED:
        return []
    if all(model.name == EMBEDDED for model in models.all):
        who = f"no language model judges: {EMBEDDED} are fixed rules; choose a model with"
    else:
        who = f"{EMBEDDED}, fixed rules, answer in every role that has no model of its own; for these add"
    return [f"{who} --model provider/model"]
