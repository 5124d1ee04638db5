"""What a state of an item cannot be, which is refused; and what it lacks, so that half-done work is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adjudge.campaigns.protocols import CampaignProtocol
from adjudge.campaigns.state import OMISSION, Asked, MarkedSpan, Missing, State, TranslationState

__all__ = ["faults", "lacks"]

_MOST_SPANS: Final = 200
_MOST_COMMENT: Final = 20_000  # bytes in UTF-8, as is the next
_MOST_EDITED: Final = 100_000


def faults(state: State, asked: Asked) -> list[str]:
    """Why the state cannot be one of these texts under this protocol; empty where it can."""
    if len(state.translations) != len(asked.texts):
        shown = len(asked.texts)
        return [f"the state has {len(state.translations)} translations, and {shown} are shown"]
    found = [why for i, part in enumerate(state.translations) for why in _Checked(asked, i, part).faults()]
    return [*found, *_choice_faults(state, asked), *_size_faults(state)]


@dataclass(frozen=True)
class _Checked:
    """One translation's part of a state beside what was shown."""

    asked: Asked
    index: int
    part: TranslationState

    def faults(self) -> Iterator[str]:
        yield from self.rating_faults()
        for span in self.part.spans:
            yield from self.span_faults(span)
        yield from self.missing_faults()
        yield from self.given_faults()
        ids = [span.id for span in self.part.spans]
        if len(set(ids)) < len(ids):
            yield "two marks have the same id"
        if len(ids) > _MOST_SPANS:
            yield f"a text may have {_MOST_SPANS} marks, this one has {len(ids)}"

    def rating_faults(self) -> Iterator[str]:
        rating, scale = self.part.rating, self.asked.protocol.scale
        if rating is None:
            return
        if scale is None:
            yield f"{self.asked.protocol.name} has no rating, got {rating:g}"
        elif not scale.low <= rating <= scale.high:
            yield f"a rating lies in {scale.low:g} to {scale.high:g}, got {rating:g}"
        elif (rating - scale.low) % scale.step:
            yield f"ratings have steps of {scale.step:g}, got {rating:g}"

    def span_faults(self, span: MarkedSpan) -> Iterator[str]:
        if not self.asked.protocol.severities:
            yield f"{self.asked.protocol.name} marks nothing"
            return
        if span.side == "source" and not self.asked.protocol.marks_source:
            yield f"{self.asked.protocol.name} marks nothing in the source"
            return
        text = self.asked.source if span.side == "source" else self.asked.texts[self.index]
        if not 0 <= span.start < span.end <= len(text):
            yield f"a mark from {span.start} to {span.end} does not lie in a text of {len(text)} characters"
        elif span.text != text[span.start : span.end]:
            there = text[span.start : span.end]
            yield f"from {span.start} to {span.end} the text reads {there!r}, the mark says {span.text!r}"
        yield from self.kind_faults(span)

    def kind_faults(self, mark: MarkedSpan | Missing) -> Iterator[str]:
        severities = self.asked.protocol.severities
        if mark.severity not in severities:
            yield f"severity is one of {', '.join(severities)}; got {mark.severity}"
        if mark.category is None:
            return
        allowed = self.asked.categories if self.asked.protocol.has_categories else _PLAIN
        if mark.category not in allowed and not _is_given(mark, self.asked.given_of(self.index)):
            yield f"there is no category {mark.category!r} here"

    def missing_faults(self) -> Iterator[str]:
        if self.part.missing is None:
            return
        if not self.asked.protocol.marks_missing:
            yield f"{self.asked.protocol.name} has no mark for what is missing"
            return
        yield from self.kind_faults(self.part.missing)

    def given_faults(self) -> Iterator[str]:
        kept = [span.given for span in self.part.spans if span.given is not None]
        named, count = [*kept, *self.part.removed], len(self.asked.given_of(self.index))
        if len(set(named)) < len(named):
            yield "a mark that was there beforehand can be kept once or removed once"
        if any(not 0 <= index < count for index in named):
            yield f"{count} marks were there beforehand, and the state names one that was not"


_PLAIN: Final = frozenset({OMISSION})


def _is_given(mark: MarkedSpan | Missing, given: Sequence[Mapping[str, Any]]) -> bool:
    """A span marked beforehand may bring a category into a protocol that asks for none."""
    index = mark.given if isinstance(mark, MarkedSpan) else None
    return index is not None and 0 <= index < len(given) and given[index].get("category") == mark.category


def _choice_faults(state: State, asked: Asked) -> Iterator[str]:
    protocol = asked.protocol
    unknown = sorted(state.verdicts.keys() - set(protocol.criteria))
    if unknown:
        yield f"{protocol.name} does not ask for {', '.join(unknown)}"
    if protocol.shows != "candidates" and (state.chosen is not None or state.edited is not None):
        yield f"in {protocol.name} no draft is chosen or edited"
    if state.chosen is not None and not 0 <= state.chosen < len(asked.texts):
        yield f"{len(asked.texts)} drafts are shown, and number {state.chosen} was chosen"
    if len(state.is_non_translation) not in {0, len(asked.texts)}:
        yield f"{len(asked.texts)} translations are shown, {len(state.is_non_translation)} are said to be one"
    if any(state.is_non_translation) and protocol.record != "mqm":
        yield f"{protocol.name} does not know non-translations"


def _size_faults(state: State) -> Iterator[str]:
    for what, text, most in (("comment", state.comment, _MOST_COMMENT), ("text", state.edited, _MOST_EDITED)):
        size = len((text or "").encode())
        if size > most:
            yield f"a {what} may have {most:,} bytes, this one has {size:,}"


def lacks(state: State, asked: Asked, *, is_declared: bool) -> list[str]:
    """What is still to do before the item is finished; empty where nothing is.

    Args:
        state: without faults.
        asked: what the item asks for.
        is_declared: whether the person said that all is marked; asked where nothing else would show it.
    """
    protocol = asked.protocol
    found = [
        f"{criterion} is not decided" for criterion in protocol.criteria if criterion not in state.verdicts
    ]
    for part in state.translations:
        found += _missing_of(part, protocol)
    if protocol.shows == "candidates":
        found += ["no draft is chosen"] * (state.chosen is None)
        found += ["the reference is empty"] * (not (state.edited or "").strip())
    if protocol.record == "mqm" and not is_declared:
        found.append("it is not said that all errors are marked")
    return found


def _missing_of(part: TranslationState, protocol: CampaignProtocol) -> Iterator[str]:
    if protocol.scale is not None and part.rating is None:
        yield "a rating is missing"
    if protocol.has_categories:
        yield from (f"{span.text!r} has no category" for span in part.spans if span.category is None)
        if part.missing is not None and part.missing.category is None:
            yield "what is missing has no category"
