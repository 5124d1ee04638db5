"""RATE's agents for comparison, evaluation and search, and what the core agent is told and can do.

`make_tools` and `read_action` are the tools of the core agent and the calls of them, native or in the paper's
XML form. `Memory` is what is known of one source: a value that each step is given, and that each step may
return changed. `compare` puts a translation and an anchor in both orders and moves a score by the outcome,
`evaluate` rates one translation by the scale. `Searching` makes queries of a question, asks the search
engine, and makes an answer of its results.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, Final, Literal

from adjudge.core.ask import About, Ask, Message, Query, Quoted, Reply, SearchEngine, Tool
from adjudge.core.frozen import frozen
from adjudge.core.protocol import is_number
from adjudge.core.record import Verdict
from adjudge.core.segment import Subject
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._pairs import IDENTICAL, VERDICTS, is_identical, read_compared
from adjudge.judges._prompts import (
    TEXT_FILES,
    Part,
    Parts,
    Prompts,
    joined,
    judged_texts,
    language_names,
    paragraphs,
    render_pair,
    render_texts,
)
from adjudge.judges._reading import (
    Reading,
    Rule,
    check_characters,
    fenced,
    object_schema,
    or_authors,
    or_error,
    read_integer,
    shown,
)

# What agents share


ScaleName = Literal["0-4", "0-100"]
Form = Literal["native", "xml"]
"""How tools are called: as the model's own tool calls, or in the paper's XML."""
Moves = Literal["guarded", "paper", "code"]
"""How a comparison moves a score."""

FILES: Final = (
    *("core.md", "rules_search.md", "rules_known.md", "rules_compare.md", "rules_anchors.md"),
    *("rules_finish.md", "native.md", "xml.md", "tools.jsonl", "errors.jsonl", "task.md", "memory.md"),
    *("anchors_there.md", "anchors_needed.md"),
    *("prepare.md", "rules_prepare_search.md", "rules_prepare_anchors.md", "source.md", "end_now.md"),
    *("result.md", "evaluate.md", "evaluate_json.md", "evaluate_task.md", "queries.md", "queries_task.md"),
    *("answer.md", "answer_task.md", "compare.md", "compare_task.md"),
    *("texts.md", "pair.md", "context_pair.md", "verdict_json.md", *TEXT_FILES),
)
"""Prompt files, beside that of the scale."""

_ERRORS: Final = frozenset(
    {"one_tool", "evaluate_first", "search_again", "search_failed", "evaluate_failed"}
    | {"compare_again", "compare_failed", "anchors_needed", "unusable"}
)
"""What a turn can come to that has no result."""


@frozen
class Scale:
    """A scale of whole numbers, of which a comparison moves a score by a quarter at most."""

    high: int  # best score; the worst is 0
    protocol: str
    low: int = 0

    @property
    def step(self) -> float:
        """What a clear win is worth; a narrow one half of it."""
        return (self.high - self.low) / 4

    @property
    def low_anchor(self) -> float:
        """Score of the poor translation that the core agent writes."""
        return self.low + self.step

    @property
    def high_anchor(self) -> float:
        return float(self.high)

    def clip(self, score: float) -> float:
        return min(max(score, float(self.low)), float(self.high))


@frozen
class Team:
    """What the agents of one judge share."""

    prompts: Prompts  # with `FILES` and `scale.md`
    scale: Scale
    form: Form  # how tools are called
    moves: Moves  # how a comparison moves a score
    is_constrained: bool  # whether answers are held to a schema where a model can be
    has_search: bool  # whether there is a search engine and it is used
    has_compare: bool  # whether translations are compared
    language: str  # of rationales, as " in German"; empty for any
    turns: int  # of the core agent, before it is told to finish
    texts_last: bool  # whether a translation stands after what is told of it, or before

    def __post_init__(self) -> None:
        """Refuse words that would be missing in the middle of a judgement."""
        if missing := sorted(_ERRORS - self.errors.keys()):
            raise UsageError(f"errors.jsonl must have a line with error {missing[0]!r} and its text")

    def about(self, stage: str, subject: Subject, role: str, wants: str, **facts: object) -> About:
        """Which judgement a call serves; the facts are for the embedded rules."""
        scale = {"low": self.scale.low, "high": self.scale.high}
        return About(
            judge="rate", stage=stage, subject=subject, role=role, wants=wants, facts={**scale, **facts}
        )

    def question(self, texts: Parts, told: Parts) -> Message:
        return Message("user", paragraphs([told, texts] if self.texts_last else [texts, told]))

    @property
    def roles(self) -> tuple[str, ...]:
        search = ("search",) if self.has_search else ()
        return "core", *search, "evaluation", *(("comparison",) if self.has_compare else ())

    def schema(self, schema: Mapping[str, object]) -> Mapping[str, object] | None:
        """A schema, where answers are held to one."""
        return schema if self.is_constrained else None

    @property
    def rule(self) -> Rule | None:
        """How the code of the paper reads evaluations and comparisons."""
        return None if self.is_constrained else fenced

    @cached_property
    def descriptions(self) -> Mapping[tuple[str, str], str]:
        """What tools and their arguments are, by tool and argument; a tool itself has an empty one."""
        rows = _rows(self.prompts, "tools.jsonl", "tool")
        return {(row["tool"], row.get("argument", "")): row["text"] for row in rows}

    @cached_property
    def errors(self) -> Mapping[str, str]:
        """What the core agent is told instead of a result."""
        return {row["error"]: row["text"] for row in _rows(self.prompts, "errors.jsonl", "error")}


def told_part(name: str, words: str) -> Quoted:
    """Notes or an instruction as an agent is shown them, so that turns of an author can always name them."""
    return Quoted(name, words if words.strip() else "(none)")


def _rows(prompts: Prompts, file: str, key: str) -> list[Any]:
    try:
        rows = [json.loads(line) for line in prompts.texts[file].splitlines() if line.strip()]
        if all(isinstance(row[key], str) and isinstance(row["text"], str) for row in rows):
            return rows
    except (KeyError, TypeError, ValueError):
        pass
    raise UsageError(f"every line of {file} must be a JSON object with {key} and text")


# Tools of the core agent


Kind = Literal["text", "whole", "number"]

_ARGUMENTS: Final[Mapping[str, Mapping[str, Kind]]] = {
    "search": {"query": "text"},
    "evaluate": {"context_notes": "text", "instruction": "text"},
    "compare": {
        "tentative_score": "whole",
        "context_notes": "text",
        "low_anchor": "text",
        "high_anchor": "text",
    },
    "finish": {"score": "number", "rationale": "text"},
    "prepare": {"context_notes": "text", "low_anchor": "text", "high_anchor": "text"},
}
"""Tools and their arguments."""

_OPTIONAL: Final = {
    ("evaluate", "context_notes"),
    ("evaluate", "instruction"),
    ("compare", "low_anchor"),
    ("compare", "high_anchor"),
}
_MAY_BE_EMPTY: Final = _OPTIONAL | {("compare", "context_notes"), ("prepare", "context_notes")}
_THOUGHT: Final = "thought"
IGNORED: Final = "arguments_ignored"
"""Flag of a judgement on whose way a tool was called with arguments that it does not take."""

_CALL: Final = re.compile(r"<tool_call>(?P<body>.*?)</tool_call>", re.DOTALL)
_NAME: Final = re.compile(r"\s*(?P<name>[a-z_]+)\s*")
_PAIR: Final = re.compile(
    r"\s*<arg_key>\s*(?P<key>[a-z_]+)\s*</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>\s*", re.DOTALL
)
_NUMBER: Final = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")


@frozen
class Action:
    """One tool called."""

    tool: str
    arguments: Mapping[str, Any]  # texts and numbers, as the tool wants them; optional ones may be missing
    flags: tuple[str, ...] = ()  # how the call was read

    def text(self, name: str) -> str:
        """An argument that is text; empty where it is missing."""
        return str(self.arguments.get(name, "")).strip()


class WrongCallError(AnswerError):
    """A reply that is no action, which the agent is shown with what is wrong in it."""

    def __init__(self, reply: Reply, error: AnswerError) -> None:
        super().__init__(error.reason, error.detail)
        self.reply = reply


def make_tools(team: Team, names: Sequence[str], *, with_anchors: bool) -> tuple[Tool, ...]:
    """Tools as the model is offered them."""
    return tuple(_make_tool(team, name, with_anchors=with_anchors) for name in names)


def _make_tool(team: Team, name: str, *, with_anchors: bool) -> Tool:
    kinds = dict(_ARGUMENTS[name])
    if name == "prepare" and not with_anchors:
        kinds = {"context_notes": kinds["context_notes"]}
    fields = {key: _field(team, name, key, kind) for key, kind in kinds.items()}
    if team.form == "native":
        fields = {_THOUGHT: _described(team, _THOUGHT, "", {"type": "string"}), **fields}
    schema = {
        "type": "object",
        "properties": fields,
        "required": [key for key in fields if (name, key) not in _OPTIONAL],
        "additionalProperties": False,
    }
    return Tool(name=name, description=_words(team, name, ""), parameters=schema)


def _field(team: Team, tool: str, key: str, kind: Kind) -> dict[str, object]:
    if kind == "text":
        return _described(team, tool, key, {"type": "string"})
    bounds = {"minimum": team.scale.low, "maximum": team.scale.high}
    return _described(team, tool, key, {"type": "integer" if kind == "whole" else "number", **bounds})


def _described(team: Team, tool: str, key: str, schema: Mapping[str, object]) -> dict[str, object]:
    return {**schema, "description": _words(team, tool, key)}


def _words(team: Team, tool: str, key: str) -> str:
    if (tool, key) not in team.descriptions:
        raise UsageError(f"tools.jsonl must describe {tool}{f' {key}' if key else ''}")
    return team.descriptions[tool, key]


def render_tools(tools: Sequence[Tool]) -> str:
    """Tools in the system message, where the model knows none itself."""
    rows = [{"name": t.name, "description": t.description, "parameters": t.parameters} for t in tools]
    return json.dumps(rows, ensure_ascii=False, indent=1)


def read_action(
    reply: Reply, *, tools: Sequence[Tool], scale: Scale, is_native: bool, judged: tuple[str, ...]
) -> Action:
    """The one action of a reply, with its reasoning before it."""
    try:
        read = _read_native(reply) if is_native else _read_xml(reply, judged)
        return _checked(*read, tools, scale)
    except AnswerError as error:
        raise WrongCallError(reply, error) from error


def _read_native(reply: Reply) -> tuple[str, Mapping[str, Any]]:
    if not reply.calls:
        raise AnswerError("parse", f"wanted a tool call, got {shown(Reading(reply).text)}")
    distinct = {json.dumps([c.name, dict(c.arguments)], sort_keys=True, default=repr): c for c in reply.calls}
    calls = [*distinct.values()]
    if len(calls) > 1 and any(call.name in {"finish", "prepare"} for call in calls):
        raise AnswerError("ambiguous", "a reply that ends the work and goes on with it")
    first = reply.calls[0]
    arguments = dict(first.arguments)
    if not (_has_words(arguments.pop(_THOUGHT, "")) or _has_words(reply.text) or _has_words(reply.reasoning)):
        raise AnswerError("schema", f"{first.name} was called without any reasoning")
    return first.name, arguments


def _read_xml(reply: Reply, judged: tuple[str, ...]) -> tuple[str, Mapping[str, Any]]:
    """The call must be the only one and stand at the end; what is quoted from a text is none."""
    reading = Reading(reply, judged)
    text = reading.text
    if text.count("<tool_call>") > 1:
        raise AnswerError("ambiguous", f"more than one tool call in {shown(text)}")
    call = _CALL.search(text)
    if call is None:
        raise AnswerError("parse", f"wanted a tool call in its tags, got {shown(text)}")
    if text[call.end() :].strip():
        raise AnswerError("ambiguous", f"words after the tool call: {shown(text[call.end() :].strip())}")
    if any(call[0] in text for text in judged):
        raise AnswerError("ambiguous", "the only tool call is one that a judged text holds")
    if not (text[: call.start()].strip() or reply.reasoning.strip() or reply.text.strip() != text):
        raise AnswerError("schema", "a tool was called without any reasoning")
    name, arguments = _read_body(call["body"])
    kinds = _ARGUMENTS.get(name, {})
    return name, {key: _spelled(value, kinds.get(key, "text")) for key, value in arguments.items()}


def _spelled(text: str, kind: Kind) -> object:
    if kind == "text" or not _NUMBER.fullmatch(text):
        return text
    return float(text) if "." in text else int(text)


def _read_body(body: str) -> tuple[str, dict[str, str]]:
    name = _NAME.match(body)
    if name is None:
        raise AnswerError("parse", f"wanted the name of a tool, got {shown(body)}")
    arguments: dict[str, str] = {}
    position = name.end()
    while position < len(body):
        pair = _PAIR.match(body, position)
        if pair is None:
            raise AnswerError("parse", f"wanted pairs of arg_key and arg_value, got {shown(body[position:])}")
        if pair["key"] in arguments:
            raise AnswerError("ambiguous", f"argument {pair['key']} stands twice")
        arguments[pair["key"]] = pair["value"].strip()
        position = pair.end()
    return name["name"], arguments


def _checked(name: str, arguments: Mapping[str, Any], tools: Sequence[Tool], scale: Scale) -> Action:
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        raise AnswerError("schema", f"no tool {shown(name)} was offered; there is {[t.name for t in tools]}")
    known: Any = tool.parameters
    if missing := [key for key in known["required"] if key not in arguments and key != _THOUGHT]:
        raise AnswerError("schema", f"{name} must have {missing[0]}")
    taken = {k: _value((name, k), v, scale) for k, v in arguments.items() if k in known["properties"]}
    return Action(tool=name, arguments=taken, flags=(IGNORED,) if len(taken) < len(arguments) else ())


def _value(place: tuple[str, str], value: object, scale: Scale) -> object:
    tool, key = place
    kind = _ARGUMENTS[tool][key]
    if kind == "text":
        if not isinstance(value, str):
            raise AnswerError("schema", f"{key} must be text, got {shown(value)}")
        check_characters(value)
        if not value.strip() and place not in _MAY_BE_EMPTY:
            raise AnswerError("schema", f"{key} must say something, got an empty text")
        return value
    if kind == "whole":
        return read_integer(value, scale.low, scale.high, key)
    if not is_number(value) or not scale.low <= value <= scale.high:
        raise AnswerError(
            "range", f"{key} must be a number from {scale.low} to {scale.high}, got {shown(value)}"
        )
    return float(value)


def _has_words(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


# Memory


@frozen
class Note:
    """What one search found out."""

    query: str
    answer: str
    reasoning: str  # on what the answer rests


@frozen
class Anchor:
    """A translation whose score is taken as known."""

    score: float
    text: str


@frozen
class Memory:
    """What is known of one source."""

    briefing: str = ""  # notes of the preparation, where there was one
    notes: tuple[Note, ...] = ()  # of searches, in order
    failed: frozenset[str] = frozenset()  # queries that brought nothing
    anchors: tuple[Anchor, ...] = ()  # one for a score at most, by score
    has_synthetic: bool = False  # whether the anchors that the core agent writes were given
    is_frozen: bool = False  # whether it is only read from now on

    def find(self, query: str) -> Note | None:
        """What was found out to the same question."""
        return next((note for note in self.notes if _plain(note.query) == _plain(query)), None)

    def has_failed(self, query: str) -> bool:
        return _plain(query) in self.failed

    def with_note(self, note: Note) -> Memory:
        return replace(self, notes=(*self.notes, note))

    def with_failed(self, query: str) -> Memory:
        return replace(self, failed=self.failed | {_plain(query)})

    def with_anchor(self, anchor: Anchor) -> Memory:
        """A translation takes the place of the one that had its score; a frozen memory stays as it is."""
        if self.is_frozen:
            return self
        others = [known for known in self.anchors if known.score != anchor.score]
        return replace(self, anchors=tuple(sorted([*others, anchor], key=lambda known: known.score)))

    def with_synthetic(self, *anchors: Anchor) -> Memory:
        """Anchors that the core agent wrote take the places that no translation has."""
        taken = {known.score for known in self.anchors}
        memory = replace(self, has_synthetic=True)
        for anchor in anchors:
            memory = memory if anchor.score in taken else memory.with_anchor(anchor)
        return memory

    def nearest(self, score: float) -> Anchor | None:
        """The anchor with the nearest score; of two equally near ones the lower."""
        return min(self.anchors, key=lambda known: (abs(known.score - score), known.score), default=None)

    def render(self, prompts: Prompts, *, with_anchors: bool) -> Parts:
        known = [*([self.briefing] if self.briefing else []), *map(vars, self.notes)]
        notes = Quoted("notes", json.dumps(known, ensure_ascii=False), is_json=True) if known else "(nothing)"
        told = prompts.piece("memory", notes=notes)
        if not with_anchors:
            return told
        scores = ", ".join(f"{anchor.score:g}" for anchor in self.anchors) or "(none)"
        state = prompts.piece("anchors_there" if self.has_synthetic else "anchors_needed", scores=scores)
        return joined((*told, "\n\n", *state))


def _plain(query: str) -> str:
    return " ".join(query.split()).casefold()


# Messages to the core agent


def system_message(
    team: Team, lp: str, tools: Sequence[Tool], *, is_preparing: bool, is_frozen: bool
) -> Message:
    """Who it is, the scale, how to decide, and how to call tools."""
    prompts = team.prompts
    low, high = f"{team.scale.low_anchor:g}", f"{team.scale.high_anchor:g}"
    anchors, turns = {"low_anchor": low, "high_anchor": high}, {"turns": str(team.turns)}
    rules: list[tuple[str, dict[str, str]]]
    if is_preparing:
        rules = [("rules_prepare_search", turns)] if team.has_search else []
        rules += [("rules_prepare_anchors", anchors)] if team.has_compare else []
    else:
        rules = [("rules_search" if team.has_search and not is_frozen else "rules_known", {})]
        rules += [("rules_compare", {})] if team.has_compare else []
        rules += [("rules_anchors", anchors)] if team.has_compare and not is_frozen else []
        rules.append(("rules_finish", {**turns, "language": team.language}))
    words = [prompts.piece(name, **values) for name, values in rules]
    calls = (
        prompts.piece("native") if team.form == "native" else prompts.piece("xml", tools=render_tools(tools))
    )
    return prompts.message(
        "system",
        "prepare" if is_preparing else "core",
        **language_names(lp),
        scale=prompts.piece("scale"),
        rules="\n".join("".join(map(str, piece)) for piece in words),
        calls=calls,
        markers=prompts.piece("markers"),
    )


def task_message(team: Team, subject: Subject, memory: Memory, *, is_preparing: bool) -> Message:
    """What is worked on: a translation with what is known of its source, or the source alone."""
    prompts = team.prompts
    if is_preparing:
        source = Quoted("source", subject.source)
        return prompts.message("user", "source", **language_names(subject.lp), source=source)
    known = memory.render(prompts, with_anchors=team.has_compare)
    return team.question(render_texts(prompts, subject), prompts.piece("task", memory=known))


def result_messages(team: Team, reply: Reply, *result: Part, tool: str = "") -> Iterator[Message]:
    """The reply as it came, and what became of it; calls beside the first were not carried out.

    `tool`: that was called; empty where the reply is no action.
    """
    yield Message("assistant", (reply.text,) if reply.text else (), reply.calls)
    if not reply.calls:
        told = joined(result)
        yield (
            team.prompts.message("user", "result", tool=tool, result=told) if tool else Message("user", told)
        )
    for place, call in enumerate(reply.calls):
        yield Message("tool", (team.errors["one_tool"],) if place and tool else joined(result), (call,))


def end_message(team: Team, tool: str) -> Message:
    return team.prompts.message("user", "end_now", tool=tool)


# Comparison agent


Outcome = Literal["win", "tie", "lose"]
"""Of the translation, in one order."""

_OUTCOMES: Final[Mapping[tuple[bool, Verdict], Outcome]] = {
    (False, "A"): "win",
    (False, "B"): "lose",
    (False, "E"): "tie",
    (True, "A"): "lose",
    (True, "B"): "win",
    (True, "E"): "tie",
}
"""By whether the anchor stands first, and the verdict."""
_POINTS: Final[Mapping[Outcome, int]] = {"win": 1, "tie": 0, "lose": -1}
_CANDIDATE: Final = "candidate"
_ANCHOR: Final = "anchor"


@frozen
class Calibration:
    """What a comparison says."""

    anchor: float
    outcomes: tuple[Outcome, Outcome]  # of the translation, it first and then the anchor first
    suggested: float
    analyses: tuple[str, ...]  # of both orders; none where both texts are one
    flags: tuple[str, ...] = ()  # how both answers were read

    def render(self) -> str:
        found = {
            "anchor_score": self.anchor,
            "outcome": "-".join(self.outcomes),
            "suggested_score": self.suggested,
            "analyses": list(self.analyses),
            "anchor_memory_status": "initialized",
        }
        return json.dumps(found, ensure_ascii=False)


def move(
    tentative: float, anchor: float, outcomes: tuple[Outcome, Outcome], scale: Scale, how: Moves
) -> float:
    """The score that two outcomes suggest.

    Paper: two wins lift the tentative score by a step and a win and a tie by half of one, unless it is above
    the anchor's already; two losses lower it by a step, a loss and a tie by half of one; anything else keeps
    it. Code: the same moves from the anchor's score, where the tentative score is not on that side of it
    already, and anything else is the anchor's score. Guarded: the paper's, but losing to an anchor above the
    tentative score keeps it, too.
    """
    points = sum(_POINTS[outcome] for outcome in outcomes)
    change = points * scale.step / 2
    if how == "code":
        is_wrong = tentative <= anchor if points > 0 else tentative >= anchor
        suggested = anchor + change if points == 0 or is_wrong else tentative
    else:
        is_known = tentative > anchor if points > 0 else how == "guarded" and tentative < anchor
        suggested = tentative if is_known else tentative + change
    return scale.clip(suggested)


async def compare(
    team: Team, subject: Subject, ask: Ask, stage: str, *, anchor: Anchor, tentative: float, notes: str
) -> Calibration:
    """Compare a translation with an anchor, in both orders; nobody is asked where both are one text."""
    texts = {_CANDIDATE: subject.translation, _ANCHOR: anchor.text}
    segment = replace(subject.segment, translations=texts)
    own = subject.systems[0]  # what an anchor would have made of the segments before is not known
    before = (
        replace(s, translations={_CANDIDATE: s.translations[own]} if own in s.translations else {})
        for s in subject.context
    )
    context = tuple(before)
    orders = [
        replace(subject, segment=segment, systems=systems, context=context)
        for systems in ((_CANDIDATE, _ANCHOR), (_ANCHOR, _CANDIDATE))
    ]
    if is_identical(orders[0]):
        read: list[Read | AnswerError] = [("E", "", (IDENTICAL,))] * 2
    else:
        read = await asyncio.gather(*(_put(team, order, ask, stage, notes) for order in orders))
    first, second = read
    if isinstance(first, AnswerError):
        raise first
    if isinstance(second, AnswerError):
        raise second
    outcomes = _OUTCOMES[False, first[0]], _OUTCOMES[True, second[0]]
    return Calibration(
        anchor=anchor.score,
        outcomes=outcomes,
        suggested=move(tentative, anchor.score, outcomes, team.scale, team.moves),
        analyses=tuple(analysis for analysis in (first[1], second[1]) if analysis),
        flags=(*first[2], *second[2]),
    )


Read = tuple[Verdict, str, tuple[str, ...]]
"""Verdict, analysis and flags of one order."""


async def _put(team: Team, order: Subject, ask: Ask, stage: str, notes: str) -> Read | AnswerError:
    verdict = {"type": "string", "enum": list(VERDICTS)}
    answer = await or_error(
        ask(
            messages(team, order, notes),
            about=team.about(stage, order, "comparison", "verdict", criterion="overall"),
            read=or_authors(
                lambda reply: read_compared(reply, (order.source, *order.segment.translations.values())),
                team.rule,
            ),
            schema=team.schema(object_schema(analysis={"type": "string"}, result=verdict)),
        )
    )
    return answer if isinstance(answer, AnswerError) else answer.value


def messages(team: Team, order: Subject, notes: str) -> list[Message]:
    """What to compare by, which all pairs share, then the notes and the texts."""
    prompts = team.prompts
    system = prompts.message(
        "system",
        "compare",
        **language_names(order.lp),
        markers=prompts.piece("markers"),
        form=prompts.piece("verdict_json", analysis='"..."', language=""),
    )
    told = prompts.piece("compare_task", notes=told_part("notes", notes))
    return [system, team.question(render_pair(prompts, order), told)]


# Evaluation agent


_KEYS = ("rationale", "error_spans", "suspected_gaps", "score", "confidence")
_SPAN_KEYS = ("source", "translation", "issue")


@frozen
class Assessment:
    """What the agent says."""

    score: int  # whole number of the scale
    confidence: float
    rationale: str
    error_spans: tuple[Mapping[str, str], ...]  # source part, translation part and issue of each
    gaps: tuple[str, ...]  # what it may not have known
    flags: tuple[str, ...] = ()  # how the answer was read

    def render(self) -> str:
        found = {
            "score": self.score,
            "confidence": self.confidence,
            "rationale": self.rationale,
            "error_spans": list(self.error_spans),
            "suspected_gaps": list(self.gaps),
        }
        return json.dumps(found, ensure_ascii=False)


async def evaluate(
    team: Team, subject: Subject, ask: Ask, stage: str, *, notes: str, instruction: str
) -> Assessment:
    """Rate one translation."""
    text = {"type": "string"}
    spans = {"type": "array", "items": object_schema(**dict.fromkeys(_SPAN_KEYS, text))}
    answer = await ask(
        evaluation_messages(team, subject, notes, instruction),
        about=team.about(stage, subject, "evaluation", "assessment"),
        read=or_authors(partial(read_assessment, team=team, subject=subject), team.rule),
        schema=team.schema(
            object_schema(
                rationale=text,
                error_spans=spans,
                suspected_gaps={"type": "array", "items": text},
                score={"type": "integer", "minimum": team.scale.low, "maximum": team.scale.high},
                confidence={"type": "number", "minimum": 0, "maximum": 1},
            )
        ),
    )
    return answer.value


def evaluation_messages(team: Team, subject: Subject, notes: str, instruction: str) -> list[Message]:
    """The scale and the form, which all translations share, then notes, instruction and the texts."""
    prompts, scale = team.prompts, team.scale
    system = prompts.message(
        "system",
        "evaluate",
        **language_names(subject.lp),
        scale=prompts.piece("scale"),
        markers=prompts.piece("markers"),
        form=prompts.piece("evaluate_json", low=str(scale.low), high=str(scale.high)),
    )
    told = prompts.piece(
        "evaluate_task",
        notes=told_part("notes", notes),
        instruction=told_part("instruction", instruction),
    )
    return [system, team.question(render_texts(prompts, subject), told)]


def read_assessment(reply: Reply, *, team: Team, subject: Subject) -> Assessment:
    """Read one answer, strictly."""
    reading = Reading(reply, judged_texts(subject))
    said = reading.answer(*_KEYS)
    score = reading.integer(said["score"], team.scale.low, team.scale.high, "the score")
    return Assessment(
        score=score,
        confidence=reading.number(said["confidence"], 0, 1, "confidence"),
        rationale=reading.words(said["rationale"], "the rationale"),
        error_spans=tuple(
            _read_span(each, reading) for each in reading.items(said["error_spans"], "error_spans")
        ),
        gaps=tuple(
            reading.words(gap, "a gap") for gap in reading.items(said["suspected_gaps"], "suspected_gaps")
        ),
        flags=reading.settle(is_clean=score == team.scale.high),
    )


def _read_span(value: object, reading: Reading) -> Mapping[str, str]:
    span = reading.fields(value, _SPAN_KEYS, "an error span", is_error=True)
    if not all(isinstance(word, str) for word in span.values()):
        raise AnswerError("schema", f"an error span must be made of texts, got {shown(value)}")
    return {key: str(span[key]) for key in _SPAN_KEYS}


_MOST: Final = 3
_LONGEST_AGE: Final = 36_500  # days


@frozen
class Searching:
    """One search agent at work on one source."""

    team: Team
    subject: Subject  # whose source the questions are about
    ask: Ask  # puts questions to the model
    engine: SearchEngine  # finds pages

    async def find_out(self, question: str, stage: str) -> Note | None:
        """Answer one question; None where the engine found nothing."""
        query = object_schema(query={"type": "string"}, recency={"type": ["integer", "null"]})
        queries = await self.ask(
            self._messages("queries", query=Quoted("question", question)),
            about=self.team.about(stage, self.subject, "search", "queries", question=question),
            read=partial(_read_queries, source=self.subject.source),
            schema=self.team.schema(object_schema(queries={"type": "array", "items": query})),
        )
        found = await asyncio.gather(*(or_error(self.engine.search(query)) for query in queries.value))
        read = [snippets for snippets in found if not isinstance(snippets, AnswerError)]
        if not read:  # one query that failed does not undo the others
            raise next(error for error in found if isinstance(error, AnswerError))
        snippets = [*dict.fromkeys(snippet for snippets in read for snippet in snippets)]
        if not snippets:
            return None
        results = json.dumps([vars(snippet) for snippet in snippets], ensure_ascii=False)
        answer = await self.ask(
            self._messages(
                "answer",
                query=Quoted("question", question),
                results=Quoted("results", results, is_json=True),
            ),
            about=self.team.about(
                stage, self.subject, "search", "answer", found=snippets[0].text or snippets[0].title
            ),
            read=partial(_read_answer, question=question, source=self.subject.source),
            schema=self.team.schema(object_schema(reasoning={"type": "string"}, answer={"type": "string"})),
        )
        return answer.value

    def _messages(self, name: str, **parts: Quoted) -> list[Message]:
        prompts = self.team.prompts
        languages = language_names(self.subject.lp) if name == "queries" else {}
        system = prompts.message("system", name, **languages, markers=prompts.piece("markers"))
        source = Quoted("source", self.subject.source)
        return [system, prompts.message("user", f"{name}_task", source=source, **parts)]


def _read_queries(reply: Reply, *, source: str) -> tuple[Query, ...]:
    reading = Reading(reply, (source,))
    value = reading.items(reading.answer("queries")["queries"], "queries")
    if not 1 <= len(value) <= _MOST:
        raise AnswerError("count", f"queries must be a list of 1 to {_MOST}, got {shown(value)}")
    queries = tuple(dict.fromkeys(_read_query(item, reading) for item in value))
    reading.settle()
    return queries


def _read_query(value: object, reading: Reading) -> Query:
    said = reading.fields(value, ("query", "recency"), "a query")
    days = said["recency"]
    recency = None if days is None else reading.integer(days, 1, _LONGEST_AGE, "recency, if it is not null,")
    return Query(text=reading.leaf(reading.words(said["query"], "a query")), recency=recency)


def _read_answer(reply: Reply, *, question: str, source: str) -> Note:
    reading = Reading(reply, (source,))
    said = reading.answer("reasoning", "answer")
    answer = reading.leaf(reading.words(said["answer"], "answer"))
    reasoning = reading.words(said["reasoning"], "reasoning")
    reading.settle()
    return Note(query=question, answer=answer, reasoning=reasoning)
