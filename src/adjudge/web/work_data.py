"""A task as the annotator's page reads it: names for its template, and data for its script."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from adjudge.campaigns.protocols import Scale
from adjudge.campaigns.state import OMISSION
from adjudge.campaigns.view import ItemView, TaskView
from adjudge.core.language import is_right_to_left, language_name, source_language, target_language
from adjudge.report.invisible import NAMES, RANGES

if TYPE_CHECKING:
    from adjudge.campaigns.campaign import Campaign
    from adjudge.campaigns.people import Person

__all__ = ["page_data", "page_names", "person_key"]

Json = dict[str, Any]

_MOST_CHOICES: Final = 12
"""A rating with more steps is given on a line."""


@dataclass(frozen=True, kw_only=True)
class _Group:
    name: str
    categories: list[tuple[str, str]]


def page_names(campaign: Campaign, view: TaskView) -> Json:
    """What the template names: the protocol, and how it is asked for."""
    protocol = campaign.protocol
    return {
        "title": "Tutorial" if view.is_tutorial else f"Task {view.number}",
        "is_tutorial": view.is_tutorial,
        "is_editable": view.is_editable,
        "protocol": protocol,
        "source": _language(source_language(view.lp_shown)),
        "target": _language(target_language(view.lp_shown)),
        "scale": protocol.scale,
        "choices": _choices(protocol.scale),
        "severities": protocol.severities,
        "categories": _groups(campaign.categories) if protocol.has_categories else [],
        "has_notes": protocol.has_categories or bool(protocol.criteria and protocol.severities),
        "must_declare": protocol.record == "mqm",
    }


def page_data(campaign: Campaign, person: Person, view: TaskView) -> Json:
    """What the page's script reads; `WorkData` in page.js says what each part is."""
    protocol = campaign.protocol
    return {
        "assignment": view.assignment,
        "person": person_key(campaign, person),
        "is_editable": view.is_editable,
        "source": _language(source_language(view.lp_shown)),
        "target": _language(target_language(view.lp_shown)),
        "shows": protocol.shows,
        "scale": None if protocol.scale is None else asdict(protocol.scale),
        "severities": list(protocol.severities),
        "categories": list(campaign.categories) if protocol.has_categories else [],
        "omission": _omission(campaign.categories) if protocol.has_categories else None,
        "criteria": list(protocol.criteria),
        "marks_source": protocol.marks_source,
        "must_declare": protocol.record == "mqm",
        "idle_after": campaign.settings.time_idle_after,
        "invisible": {"ranges": RANGES, "names": NAMES},
        "items": [_item(item) for item in view.items],
    }


def person_key(campaign: Campaign, person: Person) -> str:
    """Whose changes a browser keeps: several people of several campaigns may use it."""
    return f"{campaign.name}/{person.id}"


def _omission(categories: Iterable[str]) -> str | None:
    """Category of what is missing; where a typology of one's own has no omission, its first."""
    names = list(categories)
    return OMISSION if OMISSION in names else next((name for name in names if "omission" in name), names[0])


def _item(item: ItemView) -> Json:
    shown = zip(item.texts, item.given, strict=True)
    return {
        "id": item.id,
        "media": item.media,
        "source": item.source if item.media == "text" else f"/media/{quote(item.source)}",
        "translations": [{"text": text, "given": list(given)} for text, given in shown],
        "hashes": list(item.hashes),
        "state": item.state.model_dump(mode="json"),
        "revision": item.revision,
        "complete": item.is_complete,
        "says": item.says,
    }


@cache
def _language(code: str) -> Json:
    direction = "rtl" if is_right_to_left(code) else "ltr"
    return {"lang": code.replace("_", "-"), "dir": direction, "name": language_name(code)}


def _groups(categories: Mapping[str, str]) -> list[_Group]:
    """Categories by their kind, in the typology's order."""
    found: dict[str, list[tuple[str, str]]] = {}
    for category, means in categories.items():
        found.setdefault(category.partition("/")[0], []).append((category, means))
    return [_Group(name=name, categories=members) for name, members in found.items()]


def _choices(scale: Scale | None) -> list[tuple[str, str]]:
    """Ratings to choose from and what they mean, the best first; none where a line is better."""
    if scale is None or (scale.high - scale.low) / scale.step > _MOST_CHOICES:
        return []
    means = {anchor.at: anchor.means for anchor in scale.anchors}
    values = [
        scale.low + index * scale.step for index in range(int((scale.high - scale.low) / scale.step) + 1)
    ]
    return [(f"{value:g}", means.get(value, "")) for value in reversed(values)]
