"""Options of a run by name, for Python and for the command line, with their types and bounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypedDict, cast, get_type_hints

from pydantic import Field, TypeAdapter, ValidationError

from adjudge.core.judge import Profile
from adjudge.core.language import canonical_lp
from adjudge.core.segment import TestSet
from adjudge.data.load import load_chosen
from adjudge.errors import UsageError
from adjudge.judges import has_setting
from adjudge.meta.ranking.schedules import ScheduleKind

__all__ = ["OF_NAMED", "Options", "RunOptions", "choose", "keywords"]

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
    pairs: which pairs a judge of pairs compares; see `meta.ranking.schedules`.
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
    engine: who carries it out; a name of `runs.engines.ENGINES`.
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
