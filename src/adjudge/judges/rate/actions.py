"""What the core agent can do, and how its calls are read: native tool calls, or the paper's XML form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from adjudge.core.ask import Reply, Tool, ToolCall
from adjudge.core.protocol import is_number
from adjudge.errors import AnswerError, UsageError
from adjudge.judges._fields import read_whole_number
from adjudge.judges._prose import check_before, unwrap
from adjudge.judges._read import check_characters, echoes, read_text, shown, unreadable
from adjudge.judges.rate.team import Scale, Team

__all__ = ["Action", "make_tools", "read_action", "render_tools"]

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

_CALL: Final = re.compile(r"<tool_call>(?P<body>.*?)</tool_call>", re.DOTALL)
_NAME: Final = re.compile(r"\s*(?P<name>[a-z_]+)\s*")
_PAIR: Final = re.compile(
    r"\s*<arg_key>\s*(?P<key>[a-z_]+)\s*</arg_key>\s*<arg_value>(?P<value>.*?)</arg_value>\s*", re.DOTALL
)
_NUMBER: Final = re.compile(r"-?[0-9]{1,6}(\.[0-9]{1,6})?")


@dataclass(frozen=True, kw_only=True)
class Action:
    """One tool called.

    Args:
        tool: which.
        arguments: texts and numbers, as the tool wants them; optional ones may be missing.
        call: as the model made it; None in the XML form.
        others: further calls of the same reply, which are not carried out.
    """

    tool: str
    arguments: Mapping[str, Any]
    call: ToolCall | None = None
    others: tuple[ToolCall, ...] = ()

    def text(self, name: str) -> str:
        """An argument that is text; empty where it is missing."""
        return str(self.arguments.get(name, "")).strip()


def make_tools(team: Team, names: Sequence[str], *, with_anchors: bool) -> tuple[Tool, ...]:
    """Tools as the model is offered them.

    Args:
        team: whose descriptions they have.
        names: of the tools.
        with_anchors: whether `prepare` takes anchors.

    Raises:
        UsageError: a tool or an argument that nothing describes.
    """
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
    """The one action of a reply, with its reasoning before it.

    Args:
        reply: of the core agent.
        tools: that it was offered.
        scale: of scores.
        is_native: whether tools are called natively.
        judged: texts that it was shown; a call that is copied from one of them is none of its own.

    Raises:
        AnswerError: no call, several of which one ends the work, or one that is not as its tool wants it.
    """
    if not is_native:
        return _read_xml(reply, tools, scale, judged)
    if not reply.calls:
        raise unreadable(read_text(reply), "a tool call")
    calls = _distinct(reply.calls)
    if len(calls) > 1 and any(call.name in {"finish", "prepare"} for call in calls):
        raise AnswerError("ambiguous", "a reply that ends the work and goes on with it")
    first = reply.calls[0]
    arguments = dict(first.arguments)
    if not (_has_words(arguments.pop(_THOUGHT, "")) or _has_words(reply.text) or _has_words(reply.reasoning)):
        raise AnswerError("schema", f"{first.name} was called without any reasoning")
    action = _checked(first.name, arguments, tools, scale)
    return Action(tool=action.tool, arguments=action.arguments, call=first, others=reply.calls[1:])


def _distinct(calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Calls that are not the same twice."""
    return [
        *{json.dumps([c.name, dict(c.arguments)], sort_keys=True, default=repr): c for c in calls}.values()
    ]


def _read_xml(reply: Reply, tools: Sequence[Tool], scale: Scale, judged: tuple[str, ...]) -> Action:
    """The call must be the only one and stand at the end; what is quoted from a text is none."""
    text = read_text(reply)
    text = unwrap(text).text if text.endswith(">") else text
    if text.count("<tool_call>") > 1:
        raise AnswerError("ambiguous", f"more than one tool call in {shown(text)}")
    call = _CALL.search(text)
    if call is None:
        raise unreadable(text, "a tool call in its tags")
    if text[call.end() :].strip():
        raise AnswerError("ambiguous", f"words after the tool call: {shown(text[call.end() :].strip())}")
    check_before(text[: call.start()], "a tool call")
    if echoes(call[0], judged):
        raise AnswerError("ambiguous", "the only tool call is one that a judged text holds")
    if not (text[: call.start()].strip() or reply.reasoning.strip() or reply.text.strip() != text):
        raise AnswerError("schema", "a tool was called without any reasoning")
    name, arguments = _read_body(call["body"])
    kinds = _ARGUMENTS.get(name, {})
    read = {key: _spelled(value, kinds.get(key, "text")) for key, value in arguments.items()}
    return _checked(name, read, tools, scale)


def _spelled(text: str, kind: Kind) -> object:
    """A value of the XML form, where everything is text: numbers in ASCII digits."""
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
    """A call with arguments that its tool takes."""
    tool = next((tool for tool in tools if tool.name == name), None)
    if tool is None:
        raise AnswerError("schema", f"no tool {shown(name)} was offered; there is {[t.name for t in tools]}")
    known: Any = tool.parameters
    missing = [key for key in known["required"] if key not in arguments and key != _THOUGHT]
    unknown = sorted(arguments.keys() - known["properties"].keys())
    if missing or unknown:
        what = f"must have {missing[0]}" if missing else f"has no {shown(unknown[0])}"
        raise AnswerError("schema", f"{name} {what}")
    return Action(tool=name, arguments={k: _value((name, k), v, scale) for k, v in arguments.items()})


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
        return read_whole_number(value, scale.low, scale.high, key)
    if not is_number(value) or not scale.low <= value <= scale.high:
        raise AnswerError(
            "range", f"{key} must be a number from {scale.low} to {scale.high}, got {shown(value)}"
        )
    return float(value)


def _has_words(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())
