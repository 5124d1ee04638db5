"""Metrics by name: what scores translations without a language model. A package of its own may bring more.

`adjudge.metrics.Bleu(lowercase=True)` makes one in Python, `load_metric("bleu")` from a command line.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, cast

from adjudge.core.judge import Metric, find_attribute, find_class, read_settings

if TYPE_CHECKING:
    from adjudge.metrics.bridge import Bridge
    from adjudge.metrics.rules import Rules
    from adjudge.metrics.sacrebleu import Bleu, Chrf, ChrfPlusPlus, SpBleu, Ter

__all__ = [
    "METRICS",
    "Bleu",
    "Bridge",
    "Chrf",
    "ChrfPlusPlus",
    "Rules",
    "SpBleu",
    "Ter",
    "load_metric",
]

METRICS: Final[Mapping[str, str]] = {
    "bleu": "adjudge.metrics.sacrebleu:Bleu",
    "chrf": "adjudge.metrics.sacrebleu:Chrf",
    "chrf++": "adjudge.metrics.sacrebleu:ChrfPlusPlus",
    "ter": "adjudge.metrics.sacrebleu:Ter",
    "spbleu": "adjudge.metrics.sacrebleu:SpBleu",
    "rules": "adjudge.metrics.rules:Rules",
    "bridge": "adjudge.metrics.bridge:Bridge",
}
"""Name to where its class stands. Other packages add theirs under the entry point group `adjudge.metrics`."""


def load_metric(name: str, settings: Mapping[str, str] = types.MappingProxyType({})) -> Metric:
    """Make the metric of that name.

    Args:
        name: in `METRICS`, or of an entry point.
        settings: fields of its dataclass, as text.

    Raises:
        UsageError: no such metric or setting, or a value that its field cannot have.
    """
    make = find_class("metric", name, METRICS)
    return cast(Metric, make(**read_settings(f"metric {name!r}", make, settings)))


if not TYPE_CHECKING:  # a type checker knows every class from above, and reports any other

    def __getattr__(name: str) -> object:
        return find_attribute(__name__, name, METRICS)


def __dir__() -> list[str]:
    return sorted(__all__)
