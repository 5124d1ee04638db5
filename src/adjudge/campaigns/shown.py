"""Shapes of what an annotator is shown, as the store keeps them in JSON."""

from __future__ import annotations

from typing import Any, Final, Literal, NotRequired, TypedDict, get_args

from adjudge.core.annotation import Verdict

__all__ = ["MEDIA", "Expected", "Media", "Shown", "SpanShown"]

Media = Literal["text", "image", "audio", "video"]
MEDIA: Final[tuple[Media, ...]] = get_args(Media)


class SpanShown(TypedDict):
    """A span that was marked beforehand; half-open offsets in code points of the text shown.

    The mark that something is missing has no place: None and None.
    """

    side: str
    start: int | None
    end: int | None
    text: str
    severity: str
    category: str | None
    note: str


class Shown(TypedDict):
    """One translation of an item.

    `given`: spans marked beforehand; None where none were asked for. `original`: in a check, the text before
    it was damaged; None where it was not. `withheld`: in a control, the spans that would have been given.
    """

    system: str
    text: str
    given: list[SpanShown] | None
    original: str | None
    withheld: NotRequired[list[SpanShown] | None]


class Expected(TypedDict, total=False):
    """What a check or a tutorial expects of an item; nothing of what it does not say.

    `what`: `damaged`, `missing`, `score` or `tutorial`. `translation`: index among systems; in a check the
    damaged one. `spans`: to be marked, each with start, end and severity (None: any), in a tutorial with its
    text. `missing`: whether something missing is to be marked. `rating`: lowest and highest. `verdicts`:
    criterion to A, B or E, A the first system. `chosen`: index of the draft to choose. `says`: told to the
    person beforehand. `lp`: languages of the texts, where they are not those of the task.
    """

    what: str
    translation: int
    spans: list[dict[str, Any]]
    missing: bool
    rating: list[float]
    verdicts: dict[str, Verdict]
    chosen: int
    says: str
    lp: str
