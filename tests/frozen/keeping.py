"""How what is frozen is kept and compared: JSON with numbers to a tolerance, everything else to the letter.

A long list is kept as its first items, a digest of its words and sums of its numbers: sums can be compared to
a tolerance, a digest of numbers cannot, and the last digit of a mean differs from machine to machine.
"""

import hashlib
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final

TOLERANCE: Final = 1e-12
_LONG_NUMBER: Final = re.compile(r"-?\d+\.\d{6,}(?:e[-+]\d+)?")
"""Relative; of what is nearly nothing beside 1, absolute."""
MOST: Final = 800
"""Characters of a list or a text that is kept whole; of a longer one its beginning."""
VARIES: Final = frozenset({"times", "secret", "seconds", "time", "version", "ends_at", "concurrency"})
"""Keys left out wherever they stand: the clock's, a run's own secret, and the version."""
LIST_KEY, TEXT_KEY = "a list of", "a text of"
_DRAWN: Final = re.compile(r"(<</?[\w -]+ )[0-9a-f]{16}(>>)")
"""The digits of the markers around texts, which a run draws for itself."""
_VERSION: Final = re.compile(r"version:[^|\s\"']+")


def normal(value: Any) -> Any:
    """The value without what varies from run to run, in JSON's own types."""
    if isinstance(value, dict):
        return {str(key): normal(one) for key, one in value.items() if key not in VARIES}
    if isinstance(value, list | tuple):
        return [normal(one) for one in value]
    if isinstance(value, str):
        return _DRAWN.sub(r"\1_\2", _VERSION.sub("version:_", value))
    return value


def abridged(value: Any) -> Any:
    """The value with its long lists and texts in short."""
    if isinstance(value, dict):
        return {key: abridged(one) for key, one in value.items()}
    if isinstance(value, str) and len(value) > MOST:
        return {
            TEXT_KEY: len(value),
            "begins": value[: MOST // 3],
            "lines": " ".join(digest(line)[:4] for line in value.splitlines()),
            "digest": digest(value),
        }
    if isinstance(value, list) and len(value) > 3 and len(words_of(value)) > MOST:
        numbers = list(numbers_of(value))
        return {
            LIST_KEY: len(value),
            "begins": [abridged(one) for one in value[:3]],
            "digests": " ".join(digest(words_of(one))[:4] for one in value),
            "digest": digest(words_of(value)),
            "numbers": len(numbers),
            "sum": math.fsum(numbers),
            "sum of squares": math.fsum(n * n for n in numbers),
            "sum by place": math.fsum(n * place for place, n in enumerate(numbers, start=1)),
        }
    return [abridged(one) for one in value] if isinstance(value, list) else value


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def numbers_of(value: Any) -> Iterator[float]:
    """Every finite float within, in order."""
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from numbers_of(one)
    elif isinstance(value, float) and math.isfinite(value):
        yield value


def words_of(value: Any) -> str:
    """All of it but its floats."""

    def without(one: Any) -> Any:
        if isinstance(one, dict):
            return {key: without(item) for key, item in one.items()}
        if isinstance(one, list):
            return [without(item) for item in one]
        return "a number" if isinstance(one, float) and math.isfinite(one) else one

    return json.dumps(without(value), ensure_ascii=False)


def is_near(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _are_near_texts(one: Any, other: Any) -> bool:
    """Whether they are texts that differ in the last digits of their numbers alone."""
    if not (isinstance(one, str) and isinstance(other, str)):
        return False
    numbers = [list(map(float, _LONG_NUMBER.findall(text))) for text in (one, other)]
    rests = [_LONG_NUMBER.sub("a number", text) for text in (one, other)]
    return rests[0] == rests[1] and all(map(is_near, *numbers))


def differences(kept: Any, found: Any, where: str = "") -> Iterator[str]:
    """A line for each place where two values differ by more than the tolerance."""
    if isinstance(kept, dict) and isinstance(found, dict):
        for key in {**kept, **found}:
            if key not in found:
                yield f"{where}/{key}: is gone; it was {short(kept[key])}"
            elif key not in kept:
                yield f"{where}/{key}: is new: {short(found[key])}"
            else:
                yield from differences(kept[key], found[key], f"{where}/{key}")
        if list(kept) != list(found) and kept.keys() == found.keys():
            yield f"{where}: the keys stand in another order: {short(list(found))}"
    elif isinstance(kept, list) and isinstance(found, list):
        if len(kept) != len(found):
            yield f"{where}: {len(kept)} items became {len(found)}"
        for place, (one, other) in enumerate(zip(kept, found, strict=False)):
            yield from differences(one, other, f"{where}/{place}")
    elif isinstance(kept, float) and isinstance(found, float):
        if not (kept == found or is_near(kept, found) or (math.isnan(kept) and math.isnan(found))):
            yield f"{where}: {kept!r} became {found!r}"
    elif (type(kept) is not type(found) or kept != found) and not _are_near_texts(kept, found):
        yield f"{where}: {_apart(kept, found)}"


def _apart(kept: Any, found: Any) -> str:
    """Two texts from shortly before the place where they part, anything else in short."""
    if not (isinstance(kept, str) and isinstance(found, str)):
        return f"{short(kept)} became {short(found)}"
    place = next(
        (n for n, (one, other) in enumerate(zip(kept, found, strict=False)) if one != other),
        min(len(kept), len(found)),
    )
    begin = max(0, place - 40)
    return f"from character {place} on, {short(kept[begin:])} became {short(found[begin:])}"


def short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return repr(text if len(text) <= 240 else f"{text[:240]}...")


def merged(kept: Any, found: Any) -> Any:
    """What is found, with the kept numbers wherever they are near enough: freezing again changes no file."""
    if isinstance(kept, dict) and isinstance(found, dict):
        return {key: merged(kept.get(key), one) for key, one in found.items()}
    if isinstance(kept, list) and isinstance(found, list) and len(kept) == len(found):
        return [merged(one, other) for one, other in zip(kept, found, strict=True)]
    if isinstance(kept, float) and isinstance(found, float) and is_near(kept, found):
        return kept
    return found


def rendered(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"
