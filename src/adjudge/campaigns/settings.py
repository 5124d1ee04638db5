"""How a campaign is set up: its protocol, its settings, and the categories of errors.

A protocol says what an annotator is shown and asked; each is a TOML file of `protocols/`. `CampaignSettings`
are fixed when a campaign is made, and kept as JSON in its store. The categories that an annotator chooses
from are ours, or those of a file.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, fields
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from annotated_types import Ge, Gt, Le, MinLen
from pydantic import AllowInfNan, BeforeValidator

from adjudge.core.frozen import frozen
from adjudge.core.protocol import CATEGORIES, Severity, find_category
from adjudge.core.verb import Option, Seed, settings, split_names
from adjudge.errors import DataError, UsageError
from adjudge.store.files import read_text

NAMES: Final = (
    "esa",
    "esa-ai",
    "mqm",
    "da-sqm",
    "sqm",
    "contrastive-esa",
    "contrastive-sqm",
    "pairwise",
    "post-edit",
)

Shows = Literal["one", "several", "pair", "candidates"]
"""What stands beside a source: one translation, several to rate each, two to choose from, drafts to edit."""


@frozen
class Anchor:
    """A point of the scale and what it means."""

    at: float
    means: str


@frozen
class Scale:
    """A rating: higher is better."""

    low: float
    high: float
    step: float  # distance of the ratings that can be given
    anchors: tuple[Anchor, ...] = ()  # points with a meaning, worst first


@frozen
class CampaignProtocol:
    """One way to work."""

    name: str  # the word on the command line
    title: str
    record: str  # protocol of the records that it makes (`core.protocol`); `""` where it makes none
    shows: Shows = "one"  # what stands beside a source
    scale: Scale | None = None  # of the rating; None where nothing is rated
    severities: tuple[Severity, ...] = ()  # that a marked span may have; empty where nothing is marked
    has_categories: bool = False  # whether a span needs a category
    marks_source: bool = False  # whether spans of the source are marked, too
    marks_missing: bool = False  # whether something missing can be marked without a place
    is_given_spans: bool = False  # whether spans were marked beforehand
    criteria: tuple[str, ...] = ()  # that are compared; empty where nothing is


@cache
def find_campaign_protocol(name: str) -> CampaignProtocol:
    """Look a protocol up by its name."""
    if name not in NAMES:
        raise UsageError(f"no campaign protocol {name!r}; there are {', '.join(NAMES)}")
    text = (files("adjudge.campaigns") / "protocols" / f"{name}.toml").read_text(encoding="utf-8")
    values: dict[str, Any] = tomllib.loads(text)
    if "scale" in values:
        anchors = tuple(Anchor(**anchor) for anchor in values["scale"].get("anchors", ()))
        values["scale"] = Scale(**{**values["scale"], "anchors": anchors})
    lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
    return CampaignProtocol(**{**values, **lists, "name": name})


Balance = Literal["documents", "systems"]
"""What comes first where not everything fits, and what is spread over people first.

`documents`: all systems of a document, so that systems are compared on the same texts. `systems`: equally
many tasks of each system, of as many documents as there are tasks.
"""
AssignmentKind = Literal["static", "pool", "dynamic"]
"""All documents dealt beforehand; one document after another; what tells most by what is known so far."""
DynamicBy = Literal["ties", "disagreement", "information"]
CheckKind = Literal["damaged", "missing", "score"]
"""Some words replaced by others; some words left out; a whole translation of another text."""


_FINITE: Final = AllowInfNan(allow_inf_nan=False)


@settings
class CampaignSettings:
    """How a campaign was set up."""

    protocol: Annotated[str, Option(help=f"Protocol: {', '.join(NAMES)}.")] = "esa"
    test_set: Annotated[str, Option(help="Name of the test set.", kind=None)] = ""
    digest: Annotated[
        str, Option(help="SHA-256 of the test set, so that an export knows what was judged.", kind=None)
    ] = ""
    lps: Annotated[tuple[str, ...], Option(help="Language pairs, in order.", kind=None)] = ()
    raters: Annotated[
        int, Ge(1), Option(help="Raters of each segment; the same people judge all its systems.")
    ] = 1
    pairs_of_people: Annotated[
        bool, Option(help="Assign the same people together to many documents (static).")
    ] = False
    segments_each: Annotated[int | None, Ge(1), Option(help="Largest number of segments for one person.")] = (
        None
    )
    ratings_a_day: Annotated[
        int | None, Ge(1), Option(help="Ratings in a day after which a person gets no new task; MENT: 100.")
    ] = None
    checks: Annotated[
        float,
        Ge(0),
        Le(0.5),
        Option(help="Share of attention checks in each person's segments; ESA paper: 0.12."),
    ] = 0.0
    check_kinds: Annotated[
        tuple[CheckKind, ...],
        BeforeValidator(split_names),
        MinLen(1),
        Option(help="Kinds of attention checks: damaged, missing, score.", metavar="A,B", kind=str),
    ] = ("damaged",)
    is_loud: Annotated[bool, Option(help="Tell people at once when they fail a check.", name="loud")] = False
    checks_first: Annotated[bool, Option(help="Allow a check before its original (static).")] = False
    balance: Annotated[
        Balance, Option(help="Prefer complete documents, or equally many tasks of each system.")
    ] = "documents"
    assignment: Annotated[
        AssignmentKind, Option(help="Assign tasks in advance (static), on request (pool) or by --dynamic-by.")
    ] = "static"
    dynamic_by: Annotated[DynamicBy, Option(help="Criterion for the next task of a dynamic assignment.")] = (
        "ties"
    )
    control: Annotated[
        float, Ge(0), Le(1), Option(help="Share of tasks shown without the prepared marks (esa-ai).")
    ] = 0.0
    lease_minutes: Annotated[
        float,
        Gt(0),
        _FINITE,
        Option(help="Minutes after which an idle person's task may go to others.", name="lease"),
    ] = 60.0
    seed: Seed = 0
    half_steps: Annotated[bool, Option(help="Allow ratings halfway between two steps (sqm).")] = False
    critical: Annotated[bool, Option(help="Add the severity critical (mqm).")] = False
    tutorial: Annotated[
        bool, Option(help="Require people to finish a tutorial first.", off="no-tutorial")
    ] = False
    pass_mark: Annotated[
        float | None,
        Gt(0),
        Le(1),
        Option(help="Make the tutorial a test that needs this share of correct answers."),
    ] = None
    time_idle_after: Annotated[
        float,
        Gt(0),
        _FINITE,
        Option(help="Seconds without activity that count as a pause.", name="idle-after"),
    ] = 60.0
    code_pass: Annotated[str, Option(help="Completion code for people who passed the checks.")] = ""
    code_fail: Annotated[str, Option(help="Completion code for people who failed the checks.")] = ""

    def __post_init__(self) -> None:
        protocol = find_campaign_protocol(self.protocol)
        if self.checks_first and self.assignment != "static":
            raise UsageError(f"checks_first needs assignment static, got {self.assignment}")
        if self.pairs_of_people and self.assignment != "static":
            raise UsageError(f"pairs_of_people needs assignment static, got {self.assignment}")
        if self.control and not protocol.is_given_spans:
            raise UsageError(f"control needs protocol esa-ai, whose marks are prepared; got {self.protocol}")
        if self.half_steps and protocol.record != "sqm":
            raise UsageError(f"half_steps needs protocol sqm or contrastive-sqm, got {self.protocol}")
        if self.critical and "critical" not in protocol.severities:
            raise UsageError(f"critical needs protocol mqm, got {self.protocol}")


def render_settings(settings: CampaignSettings) -> str:
    return json.dumps(asdict(settings), ensure_ascii=False)


def read_settings(text: str) -> CampaignSettings:
    """Read what `render_settings` wrote."""
    try:
        values: dict[str, Any] = json.loads(text)
        lists = {key: tuple(value) for key, value in values.items() if isinstance(value, list)}
        return CampaignSettings(**{**values, **lists, "protocol": values["protocol"]})
    except (ValueError, TypeError, AttributeError, KeyError, UsageError) as error:
        known = ", ".join(field.name for field in fields(CampaignSettings))
        raise DataError(
            f"the settings of this campaign cannot be read ({error}); known are {known}"
        ) from error


_NOT_CHOSEN: Final = frozenset({"non-translation"})  # said of a whole translation, not of a mark

OURS: Final[Mapping[str, str]] = {
    name: means for name, means in CATEGORIES.items() if name not in _NOT_CHOSEN
}
"""Category to what it means: all of `core.protocol` but `non-translation`."""
_MOST: Final = 200
_LONGEST: Final = 100


def read_typology(path: Path) -> dict[str, str]:
    """Read categories of one's own: a TOML table `categories` of `"kind/subkind" = "what it means"`."""
    try:
        categories = tomllib.loads(read_text(path)).get("categories")
    except tomllib.TOMLDecodeError as error:
        raise DataError(f"no TOML: {error}", path=path) from error
    if not isinstance(categories, dict) or not 0 < len(categories) <= _MOST:
        raise DataError(f"wanted a table [categories] of 1 to {_MOST} entries", path=path)
    for name, means in categories.items():
        if not isinstance(means, str) or not name.strip() or len(name) > _LONGEST or name.count("/") > 1:
            raise DataError(
                f'wanted "kind" or "kind/subkind" = "what it means", got {name!r} = {means!r}', path=path
            )
    return dict(categories)


def canonical_category(name: str) -> str:
    """Category of `core.protocol` that a category of one's own is counted as; `other` where none fits."""
    kind = name.partition("/")[0]
    return find_category(name) or find_category(kind) or "other"
