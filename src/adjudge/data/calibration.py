"""Files of `adjudge calibrate`: the confidence below which a judge looks again, for every lp."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from adjudge.data.files import read_json_file, write_bytes
from adjudge.errors import DataError, UsageError

__all__ = ["Calibration", "LpThreshold", "read_calibration", "write_calibration"]

_KEYS = {"judge", "model", "confidence", "prompts", "percentile", "thresholds"}


@dataclass(frozen=True, kw_only=True)
class LpThreshold:
    """The threshold of one lp.

    Args:
        threshold: a confidence from 0 to 1.
        confidences: of how many it was taken.
        below: how many of them are below it.
        judged: translations that were judged for it.
        failed: translations that could not be judged, and have no part in it.
    """

    threshold: float
    confidences: int
    below: int
    judged: int
    failed: int


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What was found of one judge with one model.

    Args:
        judge: its name.
        model: whom it asked, as in a signature.
        confidence: how it was measured: `logprobs`, or `samples:5` for the share of five answers that agree.
        prompts: six hexadecimal digits over the judge's prompts.
        percentile: of the confidences.
        thresholds: by lp.
    """

    judge: str
    model: str
    confidence: str
    prompts: str
    percentile: float
    thresholds: Mapping[str, LpThreshold]

    @property
    def digest(self) -> str:
        """Six hexadecimal digits over everything that the file says."""
        return hashlib.sha256(_bytes(self)).hexdigest()[:6]


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the file; whole or not at all.

    Raises:
        DataError: it cannot be written.
    """
    write_bytes(path, [_bytes(calibration)])


def read_calibration(path: Path) -> Calibration:
    """Read a file of `adjudge calibrate`.

    Raises:
        UsageError: there is none.
        DataError: it is no such file.
    """
    if not path.is_file():
        raise UsageError(f"no file {str(path)!r}; `adjudge calibrate` makes one")
    try:
        value = read_json_file(path)
    except DataError as error:
        raise DataError(f"{path} must be a file of `adjudge calibrate`: {error}") from None
    if not isinstance(value, dict) or value.keys() != _KEYS:
        raise DataError(f"{path} must be a file of `adjudge calibrate`, with {', '.join(sorted(_KEYS))}")
    try:
        return _calibration(value)
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"{path} must be a file of `adjudge calibrate`: {error}") from None


def _calibration(value: Mapping[str, Any]) -> Calibration:
    thresholds = {str(lp): LpThreshold(**numbers) for lp, numbers in value["thresholds"].items()}
    for lp, found in thresholds.items():
        numbers = list(asdict(found).values())
        if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
            raise ValueError(f"the numbers of {lp} must be numbers, got {numbers}")
        if not 0 <= found.threshold <= 1:
            raise ValueError(f"the threshold of {lp} must be from 0 to 1, got {found.threshold!r}")
    texts = {key: value[key] for key in ("judge", "model", "confidence", "prompts")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{', '.join(texts)} must be texts")
    return Calibration(**texts, percentile=float(value["percentile"]), thresholds=thresholds)


def _bytes(calibration: Calibration) -> bytes:
    return (json.dumps(asdict(calibration), ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
