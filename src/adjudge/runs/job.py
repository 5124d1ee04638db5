"""What is to be run, resolved from names, files and options, before anything is asked.

`prepare` makes a `Job` of `RunSettings` and refuses what cannot go together. `advise` asks a judge what it
has to say before a run: what will cost more than it need, and what it cannot do.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from decimal import Decimal
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Annotated, Final, Literal, Protocol, Self, runtime_checkable

from annotated_types import Ge, Gt, Le
from pydantic import BeforeValidator

from adjudge.analysis.pair_schedules import Schedule, ScheduleKind, read_pairs
from adjudge.core.ask import CHAT_TOKEN, NO_ENGINE
from adjudge.core.frozen import frozen
from adjudge.core.judge import Profile, is_searching_judge
from adjudge.core.protocol import find_protocol
from adjudge.core.record import grouped
from adjudge.core.scores import RunInfo, Signature
from adjudge.core.segment import Subject, TestSet, listed_pairs
from adjudge.core.verb import MaxFailed, Names, OfMismatched, Option, settings, takes
from adjudge.core.wording import count, nearest
from adjudge.errors import FailureReason, UsageError
from adjudge.formats.read import OneOrMore, TextSettings
from adjudge.judges import has_setting, profile_note
from adjudge.judges._prompts import VERBATIM, judged_texts
from adjudge.judges._samples import Sampled
from adjudge.llm.model_choice import EMBEDDED, Models, open_models
from adjudge.llm.money import Budget, Meter, Price, find_prices, with_batches
from adjudge.llm.providers import Connection
from adjudge.runs.resume import describe_test_set
from adjudge.runs.units import (
    Annotator,
    Plan,
    UnitKind,
    adapter_of,
    code_of,
    criteria_of,
    is_judge,
    is_metric,
    kind_of,
    load_annotator,
    plan_units,
    read_terms,
    settings_of,
    signature_of,
)
from adjudge.store.call_file import STORE

_COMMON: Final = ("samples", "temperature", "explain_in", "search")
_OF_NAMED: Final = ("profile", "prompts", "settings", "plugin", *_COMMON)
RESOLVED: Final = (*_OF_NAMED, *TextSettings.__dataclass_fields__)
"""Settings that went into the annotator and the test set of a job."""

NOWHERE: Final = Path(os.devnull)
"""A run directory in which there never is a store."""


Rooms = Annotated[
    Sequence[str],
    BeforeValidator(lambda it: (str(it),) if isinstance(it, str | int) else tuple(map(str, it))),
]


@settings
class RunSettings(TextSettings):
    """What is judged, by which model, how, and what may be paid."""

    out: Annotated[
        Path | str | None,
        Option(help="Run directory; the command resumes an interrupted run.", short="o", kind=Path),
    ] = None
    model: Annotated[
        OneOrMore,
        Option(
            help="Model from `adjudge list models`; repeat for several roles.",
            metavar="[ROLE=]PROVIDER/MODEL",
            repeats=True,
        ),
    ] = ()
    base_url: Annotated[
        str | None, Option(help="URL of an OpenAI-compatible server, up to /v1.", metavar="URL")
    ] = None
    key_env: Annotated[str | None, Option(help="Environment variable that holds the key.")] = None
    key_file: Annotated[
        Path | str | None, Option(help="File that holds the key.", kind=Path, exists=True)
    ] = None
    served_as: Annotated[
        str | None, Option(help="Accept answers from a model with this name; `any` accepts every name.")
    ] = None
    profile: Annotated[Profile, Option(help="Follow our advice, the paper, or the paper's code.")] = (
        "recommended"
    )
    prompts: Annotated[Path | str | None, Option(help="Folder of your own prompts.", kind=Path)] = None
    json_schema: Annotated[
        Literal["auto", "on", "off"], Option(help="Ask for answers by a JSON schema; auto: if supported.")
    ] = "auto"
    effort: Annotated[
        Literal["low", "medium", "high"] | None,
        Option(help="Reasoning effort, for models with such a setting; docs/models.md."),
    ] = None
    max_tokens: Annotated[
        Rooms,
        Option(
            help="Limit of a reply, reasoning included; default: raised for truncated replies.",
            metavar="[MODEL=]TOKENS",
            repeats=True,
        ),
    ] = ()
    concurrency: Annotated[
        int, Ge(1), Option(help="Largest number of parallel calls; rate limits reduce the number.")
    ] = 20
    timeout: Annotated[float, Ge(0.1), Option(help="Seconds for one attempt.")] = Connection.timeout
    context: Annotated[int, Ge(0), Option(help="Show the N preceding segments of the document.")] = 0
    terms: Annotated[
        Path | str | None,
        Option(help="Glossary file: source, tab, translation; or a .csv.", kind=Path, exists=True),
    ] = None
    pairs: Annotated[
        ScheduleKind | None,
        Option(help="Pairs for a pairwise judge; default: all, or those of --pairs-file or the test set."),
    ] = None
    pairs_per_segment: Annotated[int | None, Ge(1), Option(help="Pairs to sample from each segment.")] = None
    pairs_in_all: Annotated[int | None, Ge(1), Option(help="Pairs to sample from all segments together.")] = (
        None
    )
    pairs_file: Annotated[
        Path | str | None,
        Option(help="Compare only the pairs in this file of `adjudge curate pairs`.", kind=Path, exists=True),
    ] = None
    anchors: Annotated[
        Names | None,
        Option(help="Systems to pair with all others; for rate: growing or frozen."),
    ] = None
    reference: Annotated[str | None, Option(help="Reference to show, if there are several.")] = None
    store: Annotated[Path | str | None, Option(help="Call store that several runs share.", kind=Path)] = None
    plugin: Annotated[
        Path | str | None,
        Option(help="Python file of metrics: functions with @adjudge.metric.", kind=Path, exists=True),
    ] = None
    seed: Annotated[int, Option(help="Seed of sampling, for temperatures above 0.")] = 0
    samples: Annotated[
        int | None,
        Ge(1),
        Option(help="Judge each translation this many times and combine the results."),
    ] = None
    temperature: Annotated[float | None, Ge(0), Option(help="Temperature of the samples.")] = None
    search: Annotated[
        str | None,
        Option(
            help="Search engine: files:DIR, http:URL, wikipedia...; docs/search.md.",
            metavar="ENGINE",
        ),
    ] = None
    search_key_env: Annotated[
        str | None, Option(help="Environment variable that holds the search engine's key.")
    ] = None
    explain_in: Annotated[
        str | None, Option(help="Explain each error in this language, such as de.", metavar="LANG")
    ] = None
    max_failed: MaxFailed = "1%"
    reparse: Annotated[bool, Option(help="Parse the stored answers again; send nothing.")] = False
    retry_failed: Annotated[bool, Option(help="Repeat the failed judgements; keep all others.")] = False
    ask_again: Annotated[bool, Option(help="Repeat and pay calls whose answers the call store has lost.")] = (
        False
    )
    prices: Annotated[
        Path | str | None,
        Option(help="TOML file with your own prices; docs/forecast.md.", kind=Path, exists=True),
    ] = None
    budget: Annotated[
        Decimal | float | str | None,
        Option(help="Stop before the run directory costs more, such as 2.50.", metavar="AMOUNT", kind=str),
    ] = None
    budget_tokens: Annotated[
        int | None, Ge(0), Option(help="Stop before the run directory uses more tokens than this.")
    ] = None
    engine: Annotated[
        Literal["local", "ray", "batch"],
        Option(help="Run here (local), on Ray (docs/scale-out.md) or as batches (docs/batch.md)."),
    ] = "local"
    workers: Annotated[
        int | None, Ge(1), Option(help="Workers of engine ray; default: one per CPU of the cluster.")
    ] = None
    dry_run: Annotated[
        bool, Option(help="Print the forecast, as `adjudge forecast` does, and send nothing.")
    ] = False
    settings: Annotated[
        Mapping[str, str] | None, Option(help="The judge's own settings, by name.", kind=None)
    ] = None
    progress: Annotated[bool, Option(help="Show progress on standard error.", kind=None)] = False
    origin: Annotated[
        Path | str | None,
        Option(help="File of the test set; judgements can be written back into some.", kind=None),
    ] = None

    @property
    def prompts_folder(self) -> Path | None:
        return None if self.prompts is None else Path(self.prompts)

    def without(self, *names: str) -> Self:
        """The same, with some settings as if nobody had given them."""
        return replace(self, **{name: getattr(type(self), name) for name in names})


@settings
class ForecastSettings(RunSettings):
    """Settings of a run that may have no directory, or whose directory the command chooses."""

    out: Annotated[
        Path | str | None,
        Option(help="Run directory; stored answers are reused at no cost.", short="o", kind=Path),
    ] = None


@settings
class CalibrateSettings(ForecastSettings):
    """A run over a validation set, and what is taken of its confidences."""

    out: Annotated[
        Path | str | None, Option(help="File of the threshold, such as himate.json.", short="o", kind=Path)
    ] = None
    gold: Annotated[
        Path | str | None,
        Option(
            help="Human verdicts for a pairwise judge; TEST_SET is the judge's run.", kind=Path, exists=True
        ),
    ] = None
    mismatched: OfMismatched = "refuse"
    percentile: Annotated[
        float,
        Gt(0),
        Le(100),
        Option(help="Percentile of himate's confidences to use as the threshold."),
    ] = 60.0


_FORM: Final = "try --json-schema off (or on), or another --model; `adjudge trace OUT` shows the replies"
_BODY: Final = "check that --base-url leads to an OpenAI-compatible server, and try another --model"
_LATER: Final = "check the server, or lower --concurrency or raise --timeout"
_REMEDIES: Final[Mapping[FailureReason, str]] = {
    **dict.fromkeys(("ambiguous", "count", "label", "parse", "range", "schema"), _FORM),
    **dict.fromkeys(("bad_envelope", "encoding", "not_json", "oversize"), _BODY),
    **dict.fromkeys(("connection", "server_error", "timeout"), _LATER),
    "empty": "try --json-schema off, or another --model",
    "logprob": "choose a --model that gives log-probabilities, or draw samples with --samples",
    "missing": "give each segment a source and a reference; to replay, name the --store that has the answers",
    "model_mismatch": "if this is the same model, add --served-as NAME; else correct --model",
    "no_answer": "the model spends its tokens on thinking: try more --max-tokens, or --effort low",
    "refused": "the model or a content filter refuses these texts: try another --model or filter",
    "too_long": "lower --context, shorten --terms, or choose a --model with a longer context",
    "truncated": "answers are longer than their token limit: try more --max-tokens, or --effort low",
}
_WITHOUT_TOOLS: Final = frozenset({"bad_envelope", "count", "empty", "no_answer", "parse", "schema"})

_LOOK: Final = 20  # translations that a judge may look at


@runtime_checkable
class Advising(Protocol):
    """A judge that looks at what it is to do."""

    @property
    def needs_logprobs(self) -> Sequence[str]:
        """Roles whose answers are worth nothing without log-probabilities."""

    def advise(self, model: str, lps: Sequence[str], subjects: Sequence[Subject]) -> tuple[str, ...]:
        """What the user must know."""


@runtime_checkable
class Lacking(Protocol):
    """A judge whose prompts do not have something for every language pair."""

    def lacking(self, lps: Iterable[str]) -> tuple[str, ...]:
        """What they lack for these, a line for each thing."""


def advise(annotator: Annotator, models: Models | None, plan: Plan) -> list[str]:
    """What the user must know: of prompts, of the embedded rules, and what the judge itself says."""
    notes = []
    if (adapter := adapter_of(annotator)) is not None and adapter.is_verbatim:
        notes.append(VERBATIM)
        texts = (text for unit in plan if unit.is_there for text in judged_texts(unit.subject))
        if any(map(CHAT_TOKEN.search, texts)):
            notes.append(
                "a judged text holds a mark of chat templates, such as <|end|>, and is sent verbatim: a "
                "server may read the mark as the end of the question"
            )
    if models is not None and all(model.name == EMBEDDED for model in models.all):
        notes.append(getattr(annotator, "by_rules", f"no language model judges: {EMBEDDED} are fixed rules"))
    judge = annotator.judge if isinstance(annotator, Sampled) else annotator
    if is_judge(judge):
        notes += profile_note(judge)
    if isinstance(judge, Lacking):
        notes += judge.lacking(plan.test_set.lps)
    if models is None or not isinstance(judge, Advising):
        return notes
    check_logprobs(models, judge.needs_logprobs)
    subjects = list(islice((unit.subject for unit in plan if unit.is_there), _LOOK))
    return [*notes, *judge.advise(models.name, plan.test_set.lps, subjects)]


def remedy_for(annotator: Annotator, reason: FailureReason) -> str:
    """Say which options to change where every judgement fails for one reason."""
    if settings_of(annotator).get("tools") == "native" and reason in _WITHOUT_TOOLS:
        return "the model may not call tools: try --tools xml, or another --model"
    if is_metric(annotator) and reason != "missing":
        return "correct the metric; the detail of each failure in the records says what it did"
    return _REMEDIES.get(reason, _FORM)


def check_logprobs(models: Models, roles: Iterable[str]) -> None:
    """Refuse a model that is known not to give log-probabilities where they are needed."""
    for identity in (models.for_role(role).identity for role in roles):
        if not identity.gives_logprobs:
            raise UsageError(
                f"{identity.name} gives no log-probabilities; take samples with --verifications 5"
            )


def check_roles(annotator: Annotator, models: Models) -> None:
    """Refuse a model for a role that the judge does not have, before anything is paid for the others."""
    known = roles_of(annotator)
    if known is None:
        return
    words = {
        ".".join(parts[:n]) for parts in (name.split(".") for name in known) for n in range(1, len(parts) + 1)
    }
    for role in models.roles:
        if not serves(role, known):
            kinds = ", ".join(dict.fromkeys(name.partition(".")[0] for name in known))
            raise UsageError(
                f"--model {role}=...: {annotator.name} so set asks no {role!r}; its roles: {kinds}"
                + nearest(role, sorted(words), most=1)
            )


def roles_of(annotator: Annotator) -> tuple[str, ...] | None:
    """The roles in which a judge can ask under its settings, if it names them in `roles`."""
    judge = annotator.judge if isinstance(annotator, Sampled) else annotator
    return getattr(judge, "roles", None)


def serves(role: str, names: Iterable[str]) -> bool:
    """Whether one of these asks the model of a role; `expert.accuracy` asks that of `expert`."""
    return any(name == role or name.startswith(f"{role}.") for name in names)


_METRICS: Final = "adjudge.metrics."  # begins the modules of ours


@frozen
class Job:
    """One run, ready to go."""

    annotator: Annotator  # judge or metric
    plan: Plan
    out: Path  # run directory
    models: Models | None  # whom a judge asks; None for a metric
    store: Path
    settings: Mapping[str, object]  # as `run.json` keeps them
    signature: Signature  # without the failed count
    options: RunSettings  # the settings that it was made with
    origin: Path | str | None = None  # file of the test set; judgements can be written back into some
    # of every model that may be paid, None where unknown
    prices: Mapping[str, Price | None] = field(default_factory=dict)
    budget: Budget = field(default_factory=Budget)  # limits of what may be paid
    notes: tuple[str, ...] = ()  # what the user must know beforehand
    base: Path | None = None  # store whose answers count too, and which is not written
    # counts what is paid, where jobs share a budget; else each begins one of its own
    meter: Meter | None = None

    def info(self) -> RunInfo:
        """What `run.json` says before the first unit is judged."""
        texts = describe_test_set(self.plan.test_set, self.plan.systems)
        if self.origin is not None:
            texts["origin"] = _seen_from(Path(self.origin), self.out)
        return RunInfo(
            signature=self.signature,
            kind="metric" if is_metric(self.annotator) else "judge",
            annotator=self.annotator.name,
            protocol=self.annotator.protocol,
            weights=self.annotator.weights,
            low=getattr(self.annotator, "low", None),
            high=getattr(self.annotator, "high", None),
            settings=self.settings,
            test_set=texts,
            counts={"judged": 0, "failed": 0, "pending": len(self.plan)},
        )


@takes(RunSettings)
def prepare(judge: Annotator | str, test_set: TestSet | Path | str | None, options: RunSettings) -> Job:
    """Resolve names, files and options."""
    chosen, limited = options.load(test_set), []
    if options.limit is not None and len(chosen.lps) > 1:
        told = count(options.limit, "segment")
        limited = [f"the first {told} of each of {len(chosen.lps)} language pairs: {', '.join(chosen.lps)}"]
    origin = options.origin
    if isinstance(test_set, Path | str) and Path(test_set).is_file():
        origin = origin or test_set
    annotator, options = _load(judge, options)
    out, kind = Path(options.out or NOWHERE), kind_of(annotator)
    plan = plan_units(
        chosen,
        with_reference=annotator.with_reference,
        reference=options.reference,
        kind=kind,
        criteria=criteria_of(annotator) if kind == "pair" else (),
        schedule=_schedule(annotator, kind, options, chosen),
        context=options.context,
        terms=() if options.terms is None else read_terms(Path(options.terms)),
        needs_translation=find_protocol(annotator.protocol).needs_translation,
        needs_source=is_judge(annotator),
    )
    annotator, models = _opened(annotator, options)
    if models is not None and models.roles:
        check_roles(annotator, models)
    _refuse_unused(annotator, options)
    store = Path(options.store or out / STORE)
    paid = frozenset() if models is None else models.paid
    prices = with_batches(find_prices(paid, options.prices)) if paid or options.prices else {}
    budget = _budget(prices, options)
    names = dict.fromkeys(plan.references.values())
    extra = {
        "code": code_of(annotator),
        "pairs": "" if plan.schedule.kind == "all" else str(plan.schedule),
        "context": str(plan.context or ""),
        "terms": _digest(plan) if plan.terms else "",
    }
    if models is not None:
        extra |= {
            "schema": "" if options.json_schema == "auto" else options.json_schema,
            "effort": options.effort or "",
            "max_tokens": "+".join(options.max_tokens),
        }
    return Job(
        annotator=annotator,
        plan=plan,
        out=out,
        models=models,
        store=store,
        settings=_settings(annotator, models, plan, options)
        | {"store": _seen_from(store, out)}
        | (
            {
                "budget": None if budget.amount is None else float(budget.amount),
                "budget_tokens": budget.tokens,
                "price_date": min(
                    (p.as_of.isoformat() for p in prices.values() if p is not None), default=None
                ),
            }
            if prices
            else {}
        ),
        signature=signature_of(
            annotator,
            model="" if models is None else models.name,
            reference=",".join(names) or "src",
            lps=plan.test_set.lps,
            extra=dict(filter(itemgetter(1), extra.items())),
            seed=None if models is None else options.seed,
        ),
        options=options,
        origin=origin,
        prices=prices,
        budget=budget,
        notes=(*plan.notes, *limited, *advise(annotator, models, plan)),
    )


def _load(judge: Annotator | str, options: RunSettings) -> tuple[Annotator, RunSettings]:
    given = [name for name in _OF_NAMED if getattr(options, name) not in (None, {}, RunSettings.profile)]
    if not isinstance(judge, str):
        if given:
            name = getattr(judge, "name", type(judge).__name__)
            raise UsageError(
                f"{given[0]} is for a judge given by its name; {name} is an object: "
                "set the option in the object"
            )
        _refuse_strangers(judge)
        return judge, options
    own = dict(options.settings or {})
    common: dict[str, str] = {name: str(getattr(options, name)) for name in _COMMON if name in given}
    if options.anchors and has_setting(judge, "anchors"):
        # systems that pairs are made with, for most; some judges keep anchors of their own
        common["anchors"], options = ",".join(options.anchors), options.without("anchors")
    for name in sorted(common):
        if name in own or name.replace("_", "-") in own:
            raise UsageError(f"{name} is given twice, by itself and in settings")
    found = load_annotator(
        judge,
        profile=options.profile,
        prompts=options.prompts_folder,
        settings=common | own,
        plugin=None if options.plugin is None else Path(options.plugin),
    )
    if code_of(found):
        refuse_options(found)
    return found, options


def _refuse_strangers(judge: object) -> None:
    name = getattr(judge, "__name__", type(judge).__name__)
    if isinstance(judge, type):
        raise UsageError(f"{name} is a class: make a judge or a metric of it, {name}()")
    if not hasattr(judge, "with_reference"):
        todo = "write @adjudge.metric above it" if callable(judge) else "give one, or the name of one"
        raise UsageError(f"{name} is neither a judge nor a metric: {todo}")


_OTHERS: Final = frozenset(
    {
        "accept_changed",
        "debug",
        "format",
        "help",
        "judge",
        "segment",
        "set",
        "system",
        "test_set",
        "trust_config",
    }
)
"""Options of `adjudge run` and `adjudge show` that are no settings of a run."""


def refuse_options(annotator: Annotator) -> None:
    """Refuse a judge or a metric of another package with a setting that no command line can give it."""
    taken = (_OTHERS | RunSettings.__dataclass_fields__.keys()) - {*_OF_NAMED, "anchors"} | {"settings"}
    if found := sorted(settings_of(annotator).keys() & taken):
        raise UsageError(
            f"{annotator.name} cannot have a setting {found[0]!r}: --{found[0].replace('_', '-')} is an "
            "option of `adjudge run` or `adjudge show`; give its field another name"
        )


def open_again(job: Job) -> Models | None:
    """The models of a job, opened once more: of every part of a run that is judged beside others."""
    return _opened(job.annotator, job.options)[1]


def _schedule(annotator: Annotator, of: UnitKind, options: RunSettings, test_set: TestSet) -> Schedule:
    kind, per_segment = options.pairs, options.pairs_per_segment
    in_all, anchors = options.pairs_in_all, tuple(options.anchors or ())
    file = options.pairs_file
    said = {
        "--pairs": kind not in {None, "all"},
        "--pairs-per-segment": per_segment,
        "--pairs-in-all": in_all,
        "--pairs-file": file is not None,
        "--anchors": anchors,
    }
    for name, value in said.items():
        if value and of != "pair":
            raise UsageError(f"{name}: {annotator.name} does not compare pairs")
    if is_metric(annotator) and kind == "adaptive":
        raise UsageError(
            f"--pairs adaptive is for judges; {annotator.name} is a metric and judges all at once"
        )
    listed: Mapping[tuple[str, str], Collection[tuple[str, str]]] = {}
    if file is not None:
        listed = grouped(((pair.lp, pair.segment), pair.systems) for pair in read_pairs(Path(file)))
    elif of == "pair" and kind in {None, "listed"}:
        own = {(s.lp, s.segment): listed_pairs(s) for s in test_set}
        listed = {} if None in own.values() else {place: pairs for place, pairs in own.items() if pairs}
    return Schedule(
        kind=kind or ("all" if file is None and not listed else "listed"),
        per_segment=per_segment,
        in_all=in_all,
        anchors=anchors,
        seed=options.seed,
        listed=listed,
    )


def _refuse_unused(annotator: Annotator, options: RunSettings) -> None:
    """Refuse what nobody would make use of; a metric from outside may read more than ours."""
    if is_metric(annotator) and type(annotator).__module__.startswith(_METRICS):
        for name in ("context", "terms"):
            if getattr(options, name):
                raise UsageError(
                    f"--{name}: {annotator.name} is a metric and reads one translation at a time"
                )
    if options.retry_failed:
        why = {
            f"{annotator.name} is a metric and asks no model": is_metric(annotator),
            "--reparse asks nothing": options.reparse,
            "leave --engine out: the same command finishes on this machine": options.engine != "local",
        }
        if found := [words for words, holds in why.items() if holds]:
            raise UsageError(f"--retry-failed: {found[0]}")
    if options.ask_again and options.reparse:
        raise UsageError("--ask-again and --reparse exclude each other: leave one of them out")
    if options.workers is not None and options.engine != "ray":
        raise UsageError("--workers is for --engine ray; leave it out, or choose that engine")


def _opened(annotator: Annotator, options: RunSettings) -> tuple[Annotator, Models | None]:
    connection = Connection(
        base_url=options.base_url,
        key_env=options.key_env,
        key_file=None if options.key_file is None else Path(options.key_file),
        served_as=options.served_as,
        json_schema=options.json_schema,
        effort=options.effort,
        max_tokens=options.max_tokens,
        timeout=options.timeout,
        concurrency=options.concurrency,
        needs_key=not (options.dry_run or options.reparse),
        in_batches=options.engine == "batch",
    )
    models = None
    if not is_metric(annotator):
        models = open_models(list(options.model), connection)
    elif given := (*(["--model"] if options.model else []), *connection.given):
        raise UsageError(f"{', '.join(given)}: {annotator.name} is a metric and asks no model")
    key_env = options.search_key_env
    if models is None or not is_searching_judge(annotator):
        if key_env is not None:
            raise UsageError(f"--search-key-env: {annotator.name} does not search")
        return annotator, models
    from adjudge.llm.search import open_search

    engine = open_search(annotator.search, key_env=key_env, needs_key=connection.needs_key)
    judge = annotator.fitted(
        search=NO_ENGINE if engine is None else engine.identity.model,
        takes_tools=models.for_role("core").takes_tools,
    )
    return judge, replace(models, search=engine)


def _budget(prices: Mapping[str, Price | None], options: RunSettings) -> Budget:
    said = options.budget
    if said is None:
        return Budget(tokens=options.budget_tokens)
    try:
        amount = Decimal(str(said))
    except ArithmeticError:
        amount = Decimal("NaN")
    if not (amount.is_finite() and amount >= 0):
        raise UsageError(f"--budget must be an amount such as 2.50, got {said!r}")
    if unknown := sorted(name for name, price in prices.items() if price is None):
        raise UsageError(
            f"--budget: the price of {unknown[0]} is not known; give it with --prices FILE, "
            "or set --budget-tokens instead"
        )
    return Budget(amount=amount, tokens=options.budget_tokens)


def _settings(
    annotator: Annotator, models: Models | None, plan: Plan, options: RunSettings
) -> dict[str, object]:
    settings: dict[str, object] = {"judge" if models else "metric": settings_of(annotator)}
    if code := code_of(annotator):
        settings["code"] = code
    if models is not None:
        settings |= {
            "model": models.name,
            "json_schema": options.json_schema,
            "json_schema_used": models.schemas,
            "effort": options.effort,
            "max_tokens": [*options.max_tokens],
            "seed": options.seed,
            "concurrency": options.concurrency,
            "timeout": options.timeout,
            "base_url": options.base_url,
        }
    chosen = {} if plan.schedule.kind == "all" else {"pairs": str(plan.schedule)}
    return settings | {
        **chosen,
        "reference": dict(plan.references),
        "context": plan.context,
        "terms": _digest(plan) if plan.terms else "",
    }


def _seen_from(path: Path, out: Path) -> str:
    """A path as seen from the run directory, so that both may move together."""
    try:
        return os.path.relpath(path, out)
    except ValueError:  # another drive
        return str(path)


def _digest(plan: Plan) -> str:
    text = "\n".join(f"{t.source}\t{t.translation}" for t in plan.terms)
    return hashlib.sha256(text.encode()).hexdigest()[:6]
