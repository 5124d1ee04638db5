"""Replies of many kinds put to the judges that read them, and what becomes of each."""

import asyncio
from pathlib import Path
from typing import NamedTuple

import orjson

from adjudge.core.ask import Reply
from adjudge.core.record import Annotation, Preference
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError
from adjudge.judges.direct_rank import DirectRank
from tests.judges.asking import Script, load_judge

SOURCE = "Ref CASE0000: The cat slept on the new sofa while Anna calmly read the news at 9:30."
TRANSLATION = (
    "Ref CASE0000: Die Katze schlief auf dem neuen Sofa, während Anna die die „Nachrichten“ um 9:30 las."
)
OTHER = "Ref CASE0000: Die Katze schlief auf dem neuem Sofa, während Anna die „Nachrichten“ um 9:30 las."
SEGMENT = Segment(
    segment="1", lp="en-de", source=SOURCE, translations={"first": TRANSLATION, "second": OTHER}
)
JUDGES = {
    "errors": ("gemba-mqm", "recommended"),
    "rating": ("gemba-da", "recommended"),
    "number": ("gemba-da", "paper"),
    "headings": ("gemba-mqm", "paper"),
    "verdict": ("direct-rank", "recommended"),
}
"""Form of a reply to the judge and profile that ask for it."""
CLEAN_HEADINGS = {
    "{C}": "Critical:\nno-error\n",
    "{CB2}": "**Critical**:\nno-error\n",
    "{CM}": "### Critical:\nno-error\n",
    "{Cb}": "Critical:\nno error\n",
}
"""What stands for an empty heading `Critical` in a table of replies."""


class Kind(NamedTuple):
    """One kind of reply: whether it is to be believed, and how often real models write so."""

    form: str
    name: str
    reply: str
    want: str
    weight: float

    @property
    def is_constrained(self) -> bool:
        """Whether a model that is held to a schema could write it: the object alone, or behind thinking."""
        ways = ("plain", "blank lines", "thinking", "two")
        return self.form in {"errors", "rating", "verdict"} and self.name.rpartition(", ")[2] in ways


def read_kinds(path: Path) -> list[Kind]:
    """Read a table of kinds, one JSON object a line."""
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    return [Kind(r["form"], r["name"], r["reply"], r["want"], r["weight"]) for r in rows]


def outcome(kind: Kind) -> Annotation | Preference | AnswerError:
    """What the judge of its form makes of a reply."""
    name, profile = JUDGES[kind.form]
    text = kind.reply
    for mark, words in CLEAN_HEADINGS.items():
        text = text.replace(mark, words)
    script = Script(Reply(text=text))
    if kind.form == "verdict":
        pair = Subject(segment=SEGMENT, systems=("first", "second"))
        (found,) = asyncio.run(DirectRank(orders="given").compare(pair, script))
        return found
    try:
        judged = Subject(segment=SEGMENT, systems=("first",))
        return asyncio.run(load_judge(name, profile=profile).annotate(judged, script))
    except AnswerError as error:
        return error


def believed_wrongly(kinds: list[Kind]) -> list[str]:
    """Kinds that are to be refused and are believed."""
    return [
        f"{k.form} {k.name}" for k in kinds if k.want == "refuse" and not isinstance(outcome(k), AnswerError)
    ]


def failed_needlessly(kinds: list[Kind]) -> dict[str, str]:
    """Kinds that are to be believed and fail, with the reason."""
    found = {k: outcome(k) for k in kinds if k.want == "accept"}
    return {f"{k.form} {k.name}": str(o) for k, o in found.items() if isinstance(o, AnswerError)}


def share_failed(kinds: list[Kind], failed: dict[str, str]) -> float:
    """Share of what is to be believed that fails, by weight."""
    asked = [k for k in kinds if k.want == "accept"]
    return sum(k.weight for k in asked if f"{k.form} {k.name}" in failed) / sum(k.weight for k in asked)
