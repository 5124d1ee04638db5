"""What two texts have in common of one kind: dates, times, telephone numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Generic, NamedTuple, Protocol, TypeVar

from adjudge.checks.texts import Mark, Texts

__all__ = ["Matched", "mark_changed", "match"]


class _Placed(Protocol):
    @property
    def start(self) -> int: ...

    @property
    def end(self) -> int: ...


T = TypeVar("T", bound=_Placed)


class Matched(NamedTuple, Generic[T]):
    """Result of comparing the mentions of one kind.

    Args:
        source: ranges of the mentions in the source that are settled: the translation has them, or another.
        translation: ranges of their counterparts.
        changed: mentions of which each text has one of its own, in order.
        lost: further mentions in the source alone.
        added: further mentions in the translation alone.
    """

    source: list[tuple[int, int]]
    translation: list[tuple[int, int]]
    changed: list[tuple[T, T]]
    lost: list[T]
    added: list[T]


def match(source: Sequence[T], translation: Sequence[T], agree: Callable[[T, T], bool]) -> Matched[T]:
    """Compare mentions; one mention may answer for several that mean the same."""
    found = [any(agree(s, t) for t in translation) for s in source]
    wanted = [any(agree(s, t) for s in source) for t in translation]
    lost = [s for s, is_found in zip(source, found, strict=True) if not is_found]
    added = [t for t, is_wanted in zip(translation, wanted, strict=True) if not is_wanted]
    changed = list(zip(lost, added, strict=False))
    settled = [s for s, is_found in zip(source, found, strict=True) if is_found] + [s for s, _ in changed]
    answered = [t for t, is_wanted in zip(translation, wanted, strict=True) if is_wanted]
    answered += [t for _, t in changed]
    return Matched(
        [(s.start, s.end) for s in settled],
        [(t.start, t.end) for t in answered],
        changed,
        lost[len(changed) :],
        added[len(changed) :],
    )


def mark_changed(rule: str, changed: Iterable[tuple[T, T]], texts: Texts) -> Iterator[Mark]:
    """Mark what stands in the translation in place of something else, with what the source has."""
    for lost, added in changed:
        wanted = texts.source[lost.start : lost.end]
        yield Mark(rule, added.start, added.end, note=f"the source has {wanted}")
