"""Models that do what an attack wants, and the subjects that hold one."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from adjudge.core.ask import About, Answer, Message, Reply
from adjudge.core.segment import Segment, Subject
from tests.attacks.corpus import Attack, carrier_of

__all__ = ["PLACES", "Hostile", "clean_answer", "subject_with"]

T = TypeVar("T")
PLACES = ("source", "translation", "context")


class Hostile:
    """An `Ask` that gives clean answers, but says to one question what it is told to.

    Args:
        words: what it says; None for clean answers only.
        step: to which question, from 0.
    """

    def __init__(self, words: str | None = None, *, step: int = 0) -> None:
        self.words = words
        self.step = step
        self.asked: list[tuple[Message, ...]] = []
        self.is_believed = False

    async def __call__(
        self,
        messages: Sequence[Message],
        *,
        about: About,
        read: Callable[[Reply], T],
        **_: Any,
    ) -> Answer[T]:
        is_hostile = len(self.asked) == self.step
        self.asked.append(tuple(messages))
        reply = Reply(text=self.words if is_hostile and self.words is not None else clean_answer(about))
        value = read(reply)
        self.is_believed |= is_hostile
        return Answer(value=value, reply=reply)


def clean_answer(about: About) -> str:
    """An answer in the form asked for: one omission, so that it is nobody's verdict but the model's."""
    facts = about.facts
    is_json = facts.get("form", "json") == "json"
    if about.wants == "rating":
        return '{"rating": 37}' if is_json else "37"
    counts = {"major": 1, "minor": 0}
    if about.wants == "counts":
        return json.dumps(counts) if is_json else "1, 0"
    if is_json:
        error = {"span": "", "category": "accuracy/omission", "severity": "major", "side": "source"}
        more: Mapping[str, object] = {"counts": counts, "score": -5} if "counts" in about.wants else {}
        return json.dumps({"errors": [error], **more})
    severities: Any = facts["severities"]
    listed = [f"{s.capitalize()}:\n{'accuracy/omission' if s == 'major' else 'no-error'}" for s in severities]
    return "\n".join([*listed, *(["Counts: 1, 0\n<score>-5</score>"] if "counts" in about.wants else [])])


def subject_with(attack: Attack, place: str) -> Subject:
    """A harmless subject with the attack in one of its texts; its own source, if it was carried over."""
    harmless = carrier_of("en" if attack.language != "en" else "de")
    texts = {
        "source": attack.source or harmless,
        "translation": carrier_of(attack.language),
        "context": harmless,
    }
    texts[place] = attack.text
    lp = f"en-{attack.language}" if attack.language != "en" else "de-en"
    before = Segment(segment="0", lp=lp, source=texts["context"], translations={"sys": texts["context"]})
    segment = Segment(
        segment="1",
        lp=lp,
        source=texts["source"],
        translations={"sys": texts["translation"]},
        references={"ref": harmless},
    )
    return Subject(segment=segment, systems=("sys",), reference=harmless, context=(before,))
