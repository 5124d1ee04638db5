"""What two texts have in common of one kind: dates, times, telephone numbers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Generic, NamedTuple, Protocol, TypeVar

from adjudge.checks.texts import Mark, Texts

__all__ = ["Keys", "Matched", "mark_changed", "match"]


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


Keys = tuple[AbstractSet[Hashable], AbstractSet[Hashable]]
"""Two sets of keys of a mention, asked and given. Mentions agree if the asked keys of one and the given keys
of the other have one in common."""


def match(source: Sequence[T], translation: Sequence[T], keys: Callable[[T], Keys]) -> Matched[T]:
    """Compare mentions; one mention may answer for several that mean the same.

    Args:
        source: mentions in the source.
        translation: mentions in the translation.
        keys: keys of a mention. Two mentions must agree whichever of them is asked.
    """
    found = _are_matched(source, translation, keys)
    wanted = _are_matched(translation, source, keys)
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


def _are_matched(these: Sequence[T], those: Sequence[T], keys: Callable[[T], Keys]) -> list[bool]:
    """Whether each mention agrees with one of the others, in time linear in both."""
    given = {key for mention in those for key in keys(mention)[1]}
    return [not given.isdisjoint(keys(mention)[0]) for mention in these]


def mark_changed(rule: str, changed: Iterable[tuple[T, T]], texts: Texts) -> Iterator[Mark]:
    """Mark what stands in the translation in place of something else, with what the source has."""
    for lost, added in changed:
        wanted = texts.source[lost.start : lost.end]
        yield Mark(rule, added.start, added.end, note=f"the source has {wanted}")
