"""Models that do what an attack wants, and the subjects that hold one."""

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle
from typing import Any, TypeVar

from adjudge.core.ask import About, Answer, Message, Reply
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.llm.model import Request
from tests.attacks.corpus import ATTACKS, CARRIED, HIDDEN, Attack, carrier_of

__all__ = ["CLEAN", "PLACES", "TEST_SET", "Calm", "Hostile", "Obedient", "clean_answer", "subject_with"]

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


LATER: dict[str, dict[str, object]] = {
    "correction": {"translation": "It was corrected."},
    "verification": {"result": "corrected"},
    "versions": {"result": "both"},
    "opinion": {"opinion": "Words are missing.", "exists": True, "severity": "major"},
    "place": {"opinion": "So it is.", "exists": True, "subtype": "omission", "severity": "major"},
    "response": {"reply": "They are.", "agrees": True},
}
"""Clean answers of later stages, by what they must hold."""


def clean_answer(about: About) -> str:
    """An answer in the form asked for: one omission, so that it is nobody's verdict but the model's."""
    facts = about.facts
    if about.wants in LATER:
        return json.dumps(LATER[about.wants])
    is_json = facts.get("form", "json") == "json"
    if about.wants == "rating":
        return '{"rating": 37}' if is_json else "37"
    counts = {"major": 1, "minor": 0}
    if about.wants == "counts":
        return json.dumps(counts) if is_json else "1, 0"
    if is_json:
        error = {"span": "", "category": "accuracy/omission", "severity": "major", "side": "source"}
        if "explain_in" in facts:
            error["note"] = "Words are missing."
        more: Mapping[str, object] = {"counts": counts, "score": -5} if "counts" in about.wants else {}
        offered: Any = facts["categories"]
        is_asked = not offered or error["category"] in offered  # an expert for style is not
        return json.dumps({"errors": [error] if is_asked else [], **more})
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


# Runs...

SAMPLE = [
    a
    for number, a in enumerate(ATTACKS)
    if number % 7 == 0 or a.kind in {*HIDDEN, CARRIED, "06 fake JSON verdict"}
]
CLEAN = "clean"
"""A system that translates without any attack; the other one is `attacked`."""


class Obedient:
    """Copies the translation as its reply where it can, as a model does that an attack has taken over."""

    name = "builtin/rules"

    async def reply(self, request: Request) -> Reply:
        hostile = request.about.subject.system != CLEAN
        return Reply(
            text=request.about.subject.translation if hostile else clean_answer(request.about),
            model=self.name,
        )


COPIED = {"verdict_in_text", "authors_reader"}
"""Flags of an answer that may be copied from a text; the second stands in profiles paper and code alone."""


class Calm:
    """Gives clean answers."""

    name = "builtin/rules"

    async def reply(self, request: Request) -> Reply:
        return Reply(text=clean_answer(request.about), model=self.name)


def segment_of(number: int, attack: Attack, place: str) -> Segment:
    harmless = carrier_of("en" if attack.language != "en" else "de")
    source = attack.text if place == "source" else attack.source or harmless
    return Segment(
        segment=str(number),
        lp=f"en-{attack.language}" if attack.language != "en" else "de-en",
        document=f"document {attack.language}",
        source=source,
        translations={
            CLEAN: carrier_of(attack.language),
            "attacked": attack.text if place == "translation" else carrier_of(attack.language),
        },
    )


TEST_SET = TestSet(
    name="attacks",
    segments=tuple(
        segment_of(number, attack, place)
        for number, (attack, place) in enumerate(
            sorted(
                zip(SAMPLE, cycle(["translation", "source", "translation", "source", "translation"])),
                key=lambda pair: pair[0].language,
            )
        )
    ),
)
