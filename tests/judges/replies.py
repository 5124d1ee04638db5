"""Replies of many kinds, put to the judges that read them and to the engine that asks on."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import orjson

from adjudge.core.ask import Reply
from adjudge.core.judge import Profile, is_pair_judge
from adjudge.core.record import Annotation, Preference
from adjudge.core.segment import Segment, Subject
from adjudge.errors import AnswerError
from adjudge.judges import load_judge
from adjudge.judges._reading import Reading
from adjudge.llm.asking import CONFIRM, Asker
from adjudge.llm.model import Identity, Request
from adjudge.llm.model_choice import Models, OpenModel
from adjudge.store.call_file import StoredRequest

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
TRUTH = {
    "errors": '{"errors": [{"span": "schlief", "category": "style/awkward", "severity": "critical", '
    '"side": "translation"}]}',
    "rating": '{"rating": 31}',
    "verdict": '{"analysis": "B keeps the article.", "result": "B"}',
    "number": "31",
    "headings": 'Critical:\nstyle/awkward - "schlief"\nMajor:\nno-error\nMinor:\nno-error',
}
"""What an honest model answers where a question is put anew."""
CLEAN_HEADINGS = {
    "{C}": "Critical:\nno-error\n",
    "{CB2}": "**Critical**:\nno-error\n",
    "{CM}": "### Critical:\nno-error\n",
    "{Cb}": "Critical:\nno error\n",
}
"""What stands for an empty heading `Critical` in a table of replies."""
Model = Literal["honest", "yes", "echo"]
"""What a model does after its first reply: tell what it meant, say yes to its value, or repeat itself."""


class Kind(NamedTuple):
    """One kind of reply: whether it is to be believed, and how often real models write so."""

    form: str
    name: str
    reply: str
    want: str
    weight: float
    is_held: bool = False
    """Whether the model was given the schema of the answer."""

    @property
    def is_constrained(self) -> bool:
        """Whether a model that is held to a schema could write it: the object alone, or behind thinking."""
        ways = ("plain", "blank lines", "thinking", "two")
        return self.form in {"errors", "rating", "verdict"} and self.name.rpartition(", ")[2] in ways


class Came(NamedTuple):
    """What became of a reply, and how many questions were put."""

    outcome: Annotation | Preference | AnswerError
    asked: int

    @property
    def verdict(self) -> object:
        """What the record says; None where there is none."""
        if isinstance(self.outcome, Preference):
            return self.outcome.verdict
        if isinstance(self.outcome, Annotation):
            return self.outcome.rating, tuple((s.text, s.category, s.severity) for s in self.outcome.spans)
        return None

    @property
    def is_by_authors(self) -> bool:
        return "authors_reader" in self.flags

    @property
    def flags(self) -> tuple[str, ...]:
        return () if isinstance(self.outcome, AnswerError) else self.outcome.flags


class Memory:
    """A call store that keeps nothing."""

    began_empty = True

    def ignore(self, *_: Any, **more: Any) -> None:
        """Nothing is known, and nobody looks or waits."""

    find = release = note = save_uses = ignore

    async def depart(self, attempt: object) -> None:
        """Nobody looks."""

    async def claim(self, key: bytes, *, anew: bool = False) -> None:
        """Nobody else asks."""

    async def save(
        self, key: bytes, request: StoredRequest, reply: Reply, *, replaces: bool = False
    ) -> Reply:
        """The answer that came counts."""
        return reply


def asker_of(model: Any, *, is_held: bool = False, explains: bool = True) -> Asker:
    """Asks a model, which is given the schema of an answer or not."""
    identity = Identity(endpoint="test", model="m", seeded=True, constrained=is_held)
    opened = OpenModel(identity=identity, model=model, served="any")
    return Asker(Models(default=opened), Memory(), secret=b"s", explains=explains)


class Answering:
    """A model that gives one reply first, and then does what its sort does."""

    name = "test/answering"

    def __init__(self, kind: Kind, model: Model) -> None:
        self.first = with_headings(kind.reply)
        self.kind = kind
        self.sort = model
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        self.asked += 1
        is_confirming = request.messages[-1].parts[0] == CONFIRM
        return Reply(text=self.says(is_confirming=is_confirming))

    def says(self, *, is_confirming: bool) -> str:
        if self.asked == 1 or (self.sort == "echo") or (self.sort == "yes" and not is_confirming):
            return self.first
        is_meant = self.sort == "yes" or self.kind.want == "accept"
        if is_meant and self.kind.form in {"number", "headings"}:
            return self.first
        if is_confirming:
            return json.dumps({"verdict": json.loads(value_in(self.first)) if is_meant else None})
        return value_in(self.first) if is_meant else TRUTH[self.kind.form]


def value_in(text: str) -> str:
    """The one value of a reply with the fields that were asked for, as JSON."""
    value: Any = Reading(Reply(text=text)).value()
    keys = {"errors", "rating", "analysis", "result", "span", "category", "severity", "side"}

    def alone(item: object) -> object:
        if isinstance(item, Mapping):
            return {key.lower(): alone(inner) for key, inner in item.items() if key.lower() in keys}
        return [alone(inner) for inner in item] if isinstance(item, list) else item

    return json.dumps(alone(value), ensure_ascii=False)


def read_kinds(path: Path) -> list[Kind]:
    """Read a table of kinds, one JSON object a line."""
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines() if line.strip()]
    return [Kind(r["form"], r["name"], r["reply"], r["want"], r["weight"]) for r in rows]


def with_headings(text: str) -> str:
    """A reply of a table with its clean headings."""
    for mark, words in CLEAN_HEADINGS.items():
        text = text.replace(mark, words)
    return text


def outcome(kind: Kind, model: Model = "honest") -> Came:
    """What the judge of its form makes of a reply, with a model that is asked on."""
    return asyncio.run(_outcome(kind, model))


async def _outcome(kind: Kind, model: Model) -> Came:
    name, profile = JUDGES[kind.form]
    settings = {"orders": "given"} if kind.form == "verdict" else {}
    judge: Any = load_judge(name, profile=cast("Profile", profile), settings=settings)
    answering = Answering(kind, model)
    asker = asker_of(answering, is_held=kind.is_held, explains=profile == "recommended")
    systems = ("first", "second") if is_pair_judge(judge) else ("first",)
    subject = Subject(segment=SEGMENT, systems=systems)
    try:
        if is_pair_judge(judge):
            (found,) = await judge.compare(subject, asker.for_unit(subject))
        else:
            found = await judge.annotate(subject, asker.for_unit(subject))
    except AnswerError as error:
        found = error
    return Came(found, answering.asked)


def truth() -> Mapping[str, object]:
    """What the records say that `TRUTH` makes, by form."""
    return {form: outcome(Kind(form, "truth", text, "accept", 1)).verdict for form, text in TRUTH.items()}


def believed_wrongly(kinds: Sequence[Kind], model: Model = "honest") -> list[str]:
    """Kinds that are to be refused and whose first value is believed, other than by the authors' rule."""
    truths = truth()
    came = [(k, outcome(k, model)) for k in kinds if k.want == "refuse"]
    return [
        f"{k.form} {k.name}"
        for k, one in came
        if one.verdict not in (None, truths[k.form]) and not one.is_by_authors
    ]


def failed_needlessly(kinds: Sequence[Kind]) -> dict[str, str]:
    """Kinds that are to be believed and fail, with the reason."""
    found = {k: outcome(k).outcome for k in kinds if k.want == "accept"}
    return {f"{k.form} {k.name}": str(o) for k, o in found.items() if isinstance(o, AnswerError)}


def share_failed(kinds: Sequence[Kind], failed: Mapping[str, str]) -> float:
    """Share of what is to be believed that fails, by weight."""
    asked = [k for k in kinds if k.want == "accept"]
    return sum(k.weight for k in asked if f"{k.form} {k.name}" in failed) / sum(k.weight for k in asked)
