"""What is to be run, resolved from names, files and options, before anything is asked."""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cache
from itertools import islice
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Final,
    Literal,
    Protocol,
    TypedDict,
    Unpack,
    cast,
    get_type_hints,
    runtime_checkable,
)

from pydantic import Field, TypeAdapter, ValidationError

from adjudge.analysis.pair_schedules import Schedule, ScheduleKind
from adjudge.core.ask import NO_ENGINE
from adjudge.core.judge import Profile, is_searching_judge
from adjudge.core.language import canonical_lp
from adjudge.core.scores import RunInfo, Signature
from adjudge.core.segment import Subject, TestSet
from adjudge.core.wording import read_share
from adjudge.errors import FailureReason, UsageError
from adjudge.formats.pair_file import read_pairs
from adjudge.formats.read import load, load_chosen
from adjudge.judges import has_setting
from adjudge.judges._samples import Repeated, Sampled
from adjudge.llm.model_choice import EMBEDDED, Models, open_models
from adjudge.llm.money import Budget, Meter, Price, find_prices, with_batches
from adjudge.llm.providers import COMPATIBLE, PROVIDERS, Connection
from adjudge.runs.resume import describe_test_set
from adjudge.runs.shards import Shard, part_of
from adjudge.runs.units import (
    Annotator,
    Plan,
    criteria_of,
    is_metric,
    kind_of,
    load_annotator,
    plan_units,
    read_terms,
    settings_of,
    signature_of,
)
from adjudge.store.call_file import STORE
from adjudge.store.calls import Spent

__all__ = [
    "OF_NAMED",
    "Job",
    "Options",
    "RunOptions",
    "check_logprobs",
    "choose",
    "keywords",
    "open_again",
    "prepare",
    "remedy_for",
    "roles_of",
    "serves",
]


# Options of a run by name, for Python and for the command line, with their types and bounds.


_COMMON: Final = ("samples", "temperature", "explain_in", "search")
OF_NAMED: Final = ("profile", "prompts", "settings", *_COMMON)
"""Options of a judge that is named; one that is an object has them already."""


class Options(TypedDict, total=False):
    """Options that decide how a test set is judged.

    model: `provider/model`, or several, all but one as `role=provider/model`.
    profile, prompts, settings: of a judge that is named and not given.
    search_key_env: environment variable with the key of the search engine, for a judge that searches.
    base_url, key_env, key_file, served_as, json_schema, timeout: how the model's server is reached.
    effort: how much the model thinks, where it can be told.
    reference: the one that is shown, where there are several.
    pairs: which pairs a judge of pairs compares; see `analysis.pair_schedules`.
    pairs_per_segment, pairs_in_all: how many of them.
    anchors: systems that the others are compared with.
    pairs_file: the pairs themselves, as `adjudge curate pairs` writes them.
    context: how many segments before it in its document a translation is shown with.
    terms: glossary, a file of `source<TAB>translation`.
    store: call store that several runs share; its place is the run directory otherwise.
    concurrency: calls at a time.
    origin: file that the test set was read from; judgements can be written back into some formats.
    seed: of sampling, where the temperature is not 0.
    reparse: read the stored answers again and ask nothing.
    retry_failed: ask again the questions of failed judgements whose stored replies could not be read.
    max_failed: share of judgements that may fail, such as 0.01 or "1%"; at 1 a run goes on although its
        first units all fail for one reason.
    prices: file with the user's own prices, which come before those that adjudge ships.
    budget: what the run directory may cost over all its sessions, in the currency of the prices.
    budget_tokens: how many tokens it may use.
    dry: nothing will be sent, so that no key is needed.
    progress: show it on standard error.
    engine: who carries it out; a name of `runs.run.ENGINES`.
    shard: judge one part of the segments only, such as `3/16`; into `shards` of the run directory.
    workers: of engine `ray`; one for each CPU of its cluster where None.
    """

    model: str | Sequence[str]
    profile: Profile
    prompts: Path | str | None
    settings: Mapping[str, str]
    search_key_env: str | None
    base_url: str | None
    key_env: str | None
    key_file: Path | str | None
    served_as: str | None
    json_schema: Literal["auto", "on", "off"]
    effort: Literal["low", "medium", "high"] | None
    timeout: Annotated[float, Field(ge=0.1)]
    reference: str | None
    pairs: ScheduleKind
    pairs_per_segment: Annotated[int, Field(ge=1)] | None
    pairs_in_all: Annotated[int, Field(ge=1)] | None
    anchors: str | Sequence[str]
    pairs_file: Path | str | None
    context: Annotated[int, Field(ge=0)]
    terms: Path | str | None
    store: Path | str | None
    concurrency: Annotated[int, Field(ge=1)]
    origin: Path | str | None
    seed: int
    reparse: bool
    retry_failed: bool
    max_failed: float | str
    prices: Path | str | None
    budget: Decimal | float | str | None
    budget_tokens: int | None
    dry: bool
    progress: bool
    engine: str
    shard: str | None
    workers: Annotated[int, Field(ge=1)] | None


class RunOptions(Options, total=False):
    """Options of `adjudge.run`: those of `Options`, the choice of segments, and settings of many judges.

    lp: language pair to judge.
    systems: only these; a list of names, or one text with commas.
    limit: only the first segments of every system.
    source, translation, reference_file: line-aligned files in place of a test set, as `-s`, `-t` and `-r`.
    samples: judge each translation this many times and keep the answer that most samples agree on.
    temperature: of these samples.
    explain_in: language of the explanations, such as `de`.
    search: search engine of a judge that searches, as `--search`.
    """

    lp: str | None
    systems: str | Sequence[str] | None
    limit: Annotated[int, Field(ge=1)] | None
    source: Path | str | None
    translation: str | Sequence[str] | None
    reference_file: str | Sequence[str] | None
    samples: Annotated[int, Field(ge=1)] | None
    temperature: Annotated[float, Field(ge=0)] | None
    explain_in: str | None
    search: str | None


def choose(
    judge: object, test_set: TestSet | Path | str | None, given: RunOptions
) -> tuple[TestSet, Options]:
    """Load the test set, keep what was chosen of it, and return the other options.

    Args:
        judge: name of a judge or metric, or one itself.
        test_set: a loaded one, a path or a name; None with `source`.
        given: the options, checked here.

    Raises:
        UsageError: a value has a wrong type or is out of its range; two options contradict each other; or
            the test set is not clear.
    """
    _check(given)
    options: dict[str, Any] = dict(given)
    names = _names(options.pop("systems", None))
    limit, lp = options.pop("limit", None), options.pop("lp", None)
    source = options.pop("source", None)
    translations, references = (_listed(options.pop(n, None)) for n in ("translation", "reference_file"))
    if isinstance(test_set, TestSet):
        if source is not None or translations or references:
            raise UsageError("give either a test set or source, translation and reference_file; not both")
        chosen = test_set.select(lp=None if lp is None else canonical_lp(lp), systems=names, limit=limit)
    else:
        files = (None if source is None else Path(source), translations, references)
        chosen = load_chosen(test_set, lp, files, names, limit)
        if test_set is not None and Path(test_set).is_file():
            options.setdefault("origin", test_set)
    return chosen, cast("Options", _with_settings(judge, options))


def _with_settings(judge: object, options: dict[str, Any]) -> dict[str, Any]:
    """Put settings that have an option of their own among the settings of the judge.

    Raises:
        UsageError: the judge is an object, which has its settings already.
    """
    common = {name: options.pop(name, None) for name in _COMMON}
    if not isinstance(judge, str):
        given = [name for name in OF_NAMED if common.get(name) is not None or options.get(name)]
        if given and not (given == ["profile"] and options["profile"] == "recommended"):
            name = getattr(judge, "name", type(judge).__name__)
            raise UsageError(
                f"{given[0]} is for a judge that is named; {name} is an object with settings of its own"
            )
    settings = {name: str(value) for name, value in common.items() if value is not None}
    anchors = _names(options.get("anchors")) or []
    if anchors and isinstance(judge, str) and has_setting(judge, "anchors"):
        # systems that pairs are made with, for most; some judges keep anchors of their own
        settings["anchors"], anchors = ",".join(anchors), []
    own = {str(name).replace("-", "_"): value for name, value in options.get("settings", {}).items()}
    if twice := sorted(settings.keys() & own.keys()):
        raise UsageError(f"{twice[0]} is given twice, by itself and in settings")
    return options | {"settings": settings | dict(options.get("settings", {})), "anchors": anchors}


@cache
def keywords() -> frozenset[str]:
    """Return the names of all options of a run."""
    return frozenset(get_type_hints(RunOptions))


def _names(value: str | Sequence[str] | None) -> list[str] | None:
    """Names as a list; one text has commas between them, as on the command line."""
    if isinstance(value, str):
        return [name.strip() for name in value.split(",") if name.strip()]
    return None if value is None else list(value)


def _listed(value: str | Sequence[str] | None) -> list[str]:
    return [value] if isinstance(value, str) else [str(each) for each in value or ()]


@cache
def _adapters() -> Mapping[str, TypeAdapter[Any]]:
    return {name: TypeAdapter(kind) for name, kind in get_type_hints(RunOptions, include_extras=True).items()}


def _check(options: RunOptions) -> None:
    """Check types and bounds.

    Raises:
        UsageError: names the first option that does not fit, with what is wanted and what came.
    """
    for name, value in options.items():
        try:
            _adapters()[name].validate_python(value, strict=True)
        except ValidationError as error:
            wanted = " or ".join(
                dict.fromkeys(each["msg"].removeprefix("Input should be ") for each in error.errors())
            )
            raise UsageError(f"{name} must be {wanted}; got {value!r}") from None


# What a judge has to say before a run: what will cost more than it need, and what it cannot do.


_FORM: Final = "try --json-schema off (or on), or another --model; `adjudge trace OUT` shows the replies"
_BODY: Final = "check that --base-url leads to an OpenAI-compatible server, and try another --model"
_LATER: Final = "check the server, or lower --concurrency or raise --timeout"
_REMEDIES: Final[Mapping[FailureReason, str]] = {
    **dict.fromkeys(("ambiguous", "count", "label", "parse", "range", "schema"), _FORM),
    **dict.fromkeys(("bad_envelope", "encoding", "not_json", "oversize"), _BODY),
    **dict.fromkeys(("connection", "server_error", "timeout"), _LATER),
    "empty": "try --json-schema off, or another --model",
    "logprob": "choose a --model that gives log-probabilities, or draw samples with --samples",
    "model_mismatch": "if this is the same model, add --served-as NAME; else correct --model",
    "no_answer": "the model spends its tokens on thinking: try --effort low, or another --model",
    "refused": "the model or a content filter refuses these texts: try another --model or filter",
    "too_long": "lower --context, shorten --terms, or choose a --model with a longer context",
    "truncated": "answers are longer than their token limit: try --effort low, or another --model",
}
_WITHOUT_TOOLS: Final = frozenset({"bad_envelope", "count", "empty", "no_answer", "parse", "schema"})

_LOOK: Final = 20  # translations that a judge may look at


@runtime_checkable
class Advising(Protocol):
    """A judge that looks at what it is to do."""

    @property
    def needs_logprobs(self) -> Sequence[str]:
        """Roles whose answers are worth nothing without log-probabilities."""
        ...

    def advise(self, model: str, lps: Sequence[str], subjects: Sequence[Subject]) -> tuple[str, ...]:
        """What the user must know.

        Args:
            model: whom the run asks, as its signature names it.
            lps: language pairs that it judges.
            subjects: the first translations that it judges.

        Raises:
            UsageError: it cannot judge these with this model under its settings.
        """
        ...


def advise(annotator: Annotator, models: Models | None, plan: Plan) -> tuple[str, ...]:
    """Ask a judge, if it has something to say.

    Raises:
        UsageError: it cannot be run so.
    """
    judge = annotator.judge if isinstance(annotator, Sampled) else annotator
    if models is None or not isinstance(judge, Advising):
        return ()
    check_logprobs(models, judge.needs_logprobs)
    subjects = list(islice((unit.subject for unit in plan if unit.is_there), _LOOK))
    return judge.advise(models.name, plan.test_set.lps, subjects)


def remedy_for(annotator: Annotator, reason: FailureReason) -> str:
    """Say which options to change where every judgement fails for one reason."""
    if settings_of(annotator).get("tools") == "native" and reason in _WITHOUT_TOOLS:
        return "the model may not call tools: try --tools xml, or another --model"
    return _REMEDIES.get(reason, _FORM)


def check_logprobs(models: Models, roles: Iterable[str]) -> None:
    """Refuse a model that is known not to give log-probabilities where they are needed.

    Raises:
        UsageError: one of the roles has such a model.
    """
    for identity in (models.for_role(role).identity for role in roles):
        if not PROVIDERS.get(identity.endpoint, COMPATIBLE).gives_logprobs(identity.model):
            raise UsageError(
                f"{identity.name} gives no log-probabilities; take samples with --verifications 5"
            )


def check_roles(annotator: Annotator, models: Models | None) -> None:
    """Refuse a model for a role that the judge does not have, before anything is paid for the others.

    Raises:
        UsageError: there is no such role, and the judge says which there are.
    """
    known = roles_of(annotator)
    if models is None or known is None:
        return
    words = {
        ".".join(parts[:n]) for parts in (name.split(".") for name in known) for n in range(1, len(parts) + 1)
    }
    for role in models.roles:
        if not serves(role, known):
            near = difflib.get_close_matches(role, sorted(words), n=1)
            kinds = ", ".join(dict.fromkeys(name.partition(".")[0] for name in known))
            raise UsageError(
                f"--model {role}=...: {annotator.name} so set asks no {role!r}; its roles: {kinds}"
                + (f"; did you mean {near[0]}?" if near else "")
            )


def roles_of(annotator: Annotator) -> tuple[str, ...] | None:
    """The roles in which a judge can ask under its settings, if it names them in `roles`."""
    judge = annotator.judge if isinstance(annotator, Repeated) else annotator
    return getattr(judge, "roles", None)


def serves(role: str, names: Iterable[str]) -> bool:
    """Whether one of these asks the model of a role; `expert.accuracy` asks that of `expert`."""
    return any(name == role or name.startswith(f"{role}.") for name in names)


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
        engine: who carries it out; a name of `runs.run.ENGINES`.
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
        listed={} if file is None else _job_listed(Path(file)),
    )


def _job_listed(file: Path) -> dict[tuple[str, str], list[tuple[str, str]]]:
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
