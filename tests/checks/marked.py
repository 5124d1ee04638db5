"""Cases as a person reads them: `⟦` and `⟧` stand around what a rule must mark, and nothing else."""

import re
from collections.abc import Mapping, Sequence

from adjudge.checks import find_errors
from adjudge.core.record import ErrorSpan

Case = tuple[str, str, str]
"""Language pair, source, translation."""

Cases = Mapping[str, tuple[Sequence[Case], Sequence[Case]]]
"""Rule to cases in which it speaks and cases in which it keeps still."""


def mark(rule: str, lp: str, source: str, translation: str) -> tuple[str, str]:
    """Source and translation with the marks that a rule puts into them, whatever marks they came with."""
    texts = [re.sub("[⟦⟧]", "", text) for text in (source, translation)]
    spans = [f.span for f in find_errors(texts[0], texts[1], lp) if f.rule == rule]
    return (
        render_marked(texts[0], [s for s in spans if s.side == "source"]),
        render_marked(texts[1], [s for s in spans if s.side == "translation"]),
    )


def render_marked(text: str, spans: Sequence[ErrorSpan]) -> str:
    """Put the marks around the spans."""
    for span in sorted(spans, key=lambda span: -(span.start or 0)):
        text = f"{text[: span.start]}⟦{text[span.start : span.end]}⟧{text[span.end :]}"
    return text
