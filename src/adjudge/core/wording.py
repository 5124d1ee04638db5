"""Amounts in sentences for people: with their noun, and with the words that go with one or with several."""

from __future__ import annotations

__all__ = ["count", "form", "of_all"]


def form(amount: int, one: str, many: str) -> str:
    """Choose the word that goes with an amount: 1 is, 2 are."""
    return one if amount == 1 else many


def count(amount: int, one: str, many: str | None = None) -> str:
    """Write an amount with its noun: 1 segment, 2,000 segments."""
    return f"{amount:,} {form(amount, one, many or one + 's')}"


def of_all(amount: int, every: int, one: str, many: str | None = None) -> str:
    """Write an amount out of several: 1 of 2,000 segments, to go with a verb in the form of `amount`."""
    return f"{amount:,} of {count(every, one, many)}"
