"""What a run may be told, by name; the command line has the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Literal, TypedDict

from adjudge.core.judge import Profile
from adjudge.meta.ranking.schedules import ScheduleKind

__all__ = ["Options"]


class Options(TypedDict, total=False):
    """What `adjudge.run` takes beside judge, test set and folder; the command line has the same.

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
    seed: of sampling, where the temperature is not 0.
    reparse: read the stored answers again and ask nothing.
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
    timeout: float
    reference: str | None
    pairs: ScheduleKind
    pairs_per_segment: int | None
    pairs_in_all: int | None
    anchors: Sequence[str]
    pairs_file: Path | str | None
    context: int
    terms: Path | str | None
    store: Path | str | None
    concurrency: int
    seed: int
    reparse: bool
    prices: Path | str | None
    budget: Decimal | float | str | None
    budget_tokens: int | None
    dry: bool
    progress: bool
    engine: str
    shard: str | None
    workers: int | None
