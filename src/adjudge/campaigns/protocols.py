"""What an annotator is shown and asked, by one word: one TOML file of `protocols/` each."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final, Literal

from adjudge.core.typology import Severity
from adjudge.errors import UsageError

__all__ = ["NAMES", "Anchor", "CampaignProtocol", "Scale", "Shows", "find_campaign_protocol"]

NAMES: Final = ("esa", "esa-ai", "mqm", "da-sqm", "sqm", "contrastive-esa", "pairwise", "post-edit")

Shows = Literal["one", "several", "pair", "candidates"]
"""What stands beside a source: one translation, several to rate each, two to choose from, drafts to edit."""


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """A point of the scale and what it means."""

    at: float
    means: str


@dataclass(frozen=True, kw_only=True)
class Scale:
    """A rating: higher is better.

    Args:
        low: worst.
        high: best.
        step: distance of the ratings that can be given.
        anchors: points with a meaning, worst first.
    """

    low: float
    high: float
    step: float
    anchors: tuple[Anchor, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CampaignProtocol:
    """One way to work.

    Args:
        name: the word on the command line.
        title: for people.
        record: protocol of the records that it makes (`core.protocol`); `""` where it makes none.
        shows: what stands beside a source.
        scale: of the rating; None where nothing is rated.
        severities: that a marked span may have; empty where nothing is marked.
        has_categories: whether a span needs a category.
        marks_source: whether spans of the source are marked, too.
        marks_missing: whether something missing can be marked without a place.
        is_given_spans: whether spans were marked beforehand.
        criteria: that are compared; empty where nothing is.
    """

    name: str
    title: str
    record: str
    shows: Shows = "one"
    scale: Scale | None = None
    severities: tuple[Severity, ...] = ()
    has_categories: bool = False
    marks_source: bool = False
    marks_missing: bool = False
    is_given_spans: bool = False
    criteria: tuple[str, ...] = ()


@cache
def find_campaign_protocol(name: str) -> CampaignProtocol:
    """Look a protocol up by its name.

    Raises:
        UsageError: there is none of that name.
    """
    if name not in NAMES:
        raise UsageError(f"no campaign protocol {name!r}; there are {', '.join(NAMES)}")
    text = (files("adjudge.campaigns") / "protocols" / f"{name}.toml").read_text(encoding="utf-8")
    return _read(name, tomllib.loads(text))


def _read(name: str, fields: Mapping[str, Any]) -> CampaignProtocol:
    lists = {key: tuple(value) for key, value in fields.items() if isinstance(value, list)}
    return CampaignProtocol(**{**fields, **lists, "name": name, "scale": _read_scale(fields.get("scale"))})


def _read_scale(fields: Mapping[str, Any] | None) -> Scale | None:
    if fields is None:
        return None
    return Scale(**{**fields, "anchors": tuple(Anchor(**anchor) for anchor in fields.get("anchors", ()))})
