"""Texts that look as if they were written to sway whoever judges them.

The detectors flag, and that is all: no text is altered, no judgement dropped, no score moved. Who writes with
them in view gets past them; docs/benchmarks.md says how many attacks of ours they find, and how many clean
translations they flag.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from adjudge.checks.attacks.characters import find_hidden
from adjudge.checks.attacks.disguises import ROTATED, WITHIN_WORDS, find_disguises, find_encoded
from adjudge.checks.attacks.forms import find_forms, find_padding, form_needles
from adjudge.checks.attacks.needles import Needles
from adjudge.checks.attacks.phrases import find_orders, order_needles
from adjudge.core.annotation import SUSPECT

__all__ = ["DETECTORS", "Suspicion", "attack_flags", "find_attacks"]

DETECTORS: Final[Mapping[str, str]] = {
    "hidden_tags": "tag characters, a second ASCII that nobody sees; those of flags are left alone",
    "zero_width": "characters without width in a row, or strewn about in a script that needs none",
    "variation_selectors": "selectors of variants in a row, or after what has no variants",
    "bidi_control": "an override of the direction, or an embedding in a text with one direction only",
    "control_character": "NUL, terminal sequences and other controls, half surrogate pairs",
    "chat_token": "tokens of chat templates",
    "fake_turn": "a turn of a conversation, such as a line that begins with Assistant:",
    "verdict": "a verdict or a rating in the form of an answer, such as a JSON object with errors",
    "answer_form": "headings, fences or thinking as answers have them",
    "tool_call": "a call of a tool",
    "marker": "markers that open or close a text",
    "instruction": "an order to a judge, in fourteen languages",
    "active_content": "what a page would load or run: scripts, remote images, comments",
    "template": "what a template or an interpreter would fill in or run",
    "padding": "the same again and again, or empty space without end",
    "encoded_text": "words in base64, hexadecimal, binary or escapes",
    "disguise": "one of the above in look-alike, full-width, rotated, spaced or leet letters",
}
"""Detector to what it finds; measured false flags are in docs/benchmarks.md."""


class Suspicion(NamedTuple):
    """Something that a detector found.

    Args:
        detector: name in `DETECTORS`.
        start: first code point.
        end: one past the last.
    """

    detector: str
    start: int
    end: int


@lru_cache(maxsize=2048)
def find_attacks(text: str) -> tuple[Suspicion, ...]:
    """Everything suspicious in one text, in the order of the text. The same text gives the same."""
    lowered = text.lower()
    words = set(lowered.split())
    possible = _needles().possible(words)
    plain = _find_plain(text, lowered, possible)
    found = {*plain, *find_hidden(text), *find_encoded(text, words)}
    if not plain:
        found.update(find_disguises(text, possible, _is_plain_attack))
    if not found:
        return ()
    return tuple(Suspicion(*one) for one in sorted(found, key=lambda one: (one[1], one[2], one[0])))


def attack_flags(source: str, translations: Iterable[str], around: Iterable[str] = ()) -> tuple[str, ...]:
    """Flags of a judgement: `injection_suspect`, then each detector with the text that it found something in.

    A source that holds an order is translated faithfully by a translation that holds it too, which must not
    be held against it: that is `instruction@both`. `instruction@translation` stands in the translation alone.

    Args:
        source: text that was translated.
        translations: that are judged.
        around: what is shown besides: reference, context, glossary.

    Returns:
        Flags in the order of `DETECTORS`; none for texts without suspicion.
    """
    in_source, in_translations, in_context = _names((source,)), _names(translations), _names(around)
    if not (in_source or in_translations or in_context):
        return ()
    flags = [SUSPECT]
    for name in DETECTORS:
        if name in in_source or name in in_translations:
            place = "both" if name in in_source and name in in_translations else None
            flags.append(f"{name}@{place or ('source' if name in in_source else 'translation')}")
        if name in in_context:
            flags.append(f"{name}@context")
    return tuple(flags)


def _names(texts: Iterable[str]) -> set[str]:
    return {one.detector for text in texts for one in find_attacks(text)}


@lru_cache(maxsize=1)
def _needles() -> Needles:
    """All that any detector looks for: a text is looked at once, and most texts hold none of it."""
    return Needles((*form_needles(), *order_needles(), *ROTATED), WITHIN_WORDS)


def _find_plain(text: str, lowered: str, possible: set[str]) -> list[tuple[str, int, int]]:
    found = [*find_forms(text, lowered, possible), *find_orders(text, lowered, possible)] if possible else []
    found += find_padding(text)
    return found


def _is_plain_attack(text: str) -> bool:
    lowered = text.lower()
    return bool(_find_plain(text, lowered, _needles().possible(set(lowered.split()))))
