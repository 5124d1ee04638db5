"""What the embedded rules say of two translations: the one whose findings cost fewer points is better."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from adjudge.checks import Finding
from adjudge.core.ask import About, TokenLogprob
from adjudge.errors import ModelError
from adjudge.llm.rules_findings import certainty_of, findings_of, points_of

__all__ = ["answer_verdict"]

_CORES: Final[Mapping[str, frozenset[str]]] = {
    "faithfulness": frozenset({"accuracy", "terminology", "non-translation", "other"}),
    "fluency": frozenset({"fluency", "locale convention"}),
    "style": frozenset({"style"}),
}
"""FiRE's criteria by the core types of the errors that speak to them; any other criterion looks at all."""


def answer_verdict(about: About) -> tuple[TokenLogprob, ...]:
    """The better of two translations by one criterion; E where the points are equal."""
    if len(about.subject.systems) != 2:
        raise ModelError(f"the rules compare two translations, got {', '.join(about.subject.systems)}")
    first, second = (_findings(about, system) for system in about.subject.systems)
    lost = points_of(first) - points_of(second)
    verdict = "E" if lost == 0 else "B" if lost > 0 else "A"
    analysis = f"{len(first)} findings in A, {len(second)} in B"
    aspects = about.facts.get("aspects") or ()
    told = dict.fromkeys(aspects, analysis) if isinstance(aspects, tuple) and aspects else analysis
    return (
        TokenLogprob(f'{{"analysis": {json.dumps(told)}, "result": "', 0.0),
        TokenLogprob(verdict, certainty_of([*first, *second])),
        TokenLogprob('"}', 0.0),
    )


def _findings(about: About, system: str) -> list[Finding]:
    cores = _CORES.get(str(about.facts.get("criterion", "")))
    found = findings_of(about.subject.of(system))
    return [f for f in found if cores is None or (f.span.category or "other").partition("/")[0] in cores]
