"""Tokens that each judge sends for one translation, beside the prompts that its authors published.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/prompt_tokens.py [--write]

The embedded rules judge the first translations of WMT23 en-de, and every message is counted as it would
be sent, in tokens of cl100k_base. The package tiktoken must be installed (`uv pip install tiktoken`);
its vocabulary is downloaded, or read from the folder that TIKTOKEN_CACHE_DIR names.

Instructions are our words without worked examples. The authors' column counts the text that their papers
print for the same call, without judged texts and examples. The prefix is the first messages without a
judged text.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from statistics import mean

import pytest

import adjudge
from adjudge.core.ask import Message, Reply
from adjudge.formats.read import load
from adjudge.llm.embedded_rules import RulesModel
from adjudge.llm.model import Request, render_message
from adjudge.reports.tables import Table, render_table

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)

TITLE = "Tokens of prompts"
SEGMENTS = 5
SYSTEMS = ("ONLINE-A", "NLLB_Greedy")
HEAD = f"""Calls of the recommended profile for {SEGMENTS} segments and {len(SYSTEMS)} systems of WMT23 en-de,
and the tokens (cl100k_base) of one call: all of it, our instructions, our worked examples, the prefix that
calls for other translations share, and the instructions that the authors print in their papers for the
same call.

187 tokens of every call say that judged texts are data and that nothing in them is obeyed, and 60 to 150
say the exact form of the answer; the authors' prompts have neither, but for RATE's form. RATE's core and
evaluation take fewer tokens than the authors' own. gemba-mqm takes about as many: the authors' code
repeats its 261 tokens with each of three examples. The others take 40 to 540 more. Only the prefixes of
gemba-mqm and gemba-esa reach 1,024 tokens, the least that servers with marked caches keep.

"""
JUDGES = ("gemba-da", "gemba-mqm", "gemba-esa", "ea-prompt", "direct-rank", "fire", "m-mad", "himate", "rate")
AUTHORS = {
    ("gemba-da", "rating"): 117,
    ("gemba-mqm", "errors"): 261,
    ("ea-prompt", "errors"): 80,
    ("ea-prompt", "count"): 36,
    ("fire", "faithfulness"): 397,
    ("fire", "fluency"): 425,
    ("fire", "style"): 432,
    ("direct-rank", "overall"): 211,
    ("rate", "core"): 1688,
    ("rate", "evaluation"): 685,
    ("rate", "comparison"): 324,
}
"""Tokens of the prompts in RATE's figures 15 to 20 and 23 to 25, and in FiRE's appendix B."""


@dataclass(frozen=True)
class Sent:
    """One call in tokens: all of it, instructions, worked examples, and the messages before the texts."""

    agent: str
    tokens: int
    instructions: int
    examples: int
    prefix: int


def counter() -> Callable[[str], int]:
    """Return a function that counts tokens."""
    import tiktoken  # no dependency of the project

    encode = tiktoken.get_encoding("cl100k_base").encode
    return lru_cache(maxsize=65_536)(lambda text: len(encode(text, disallowed_special=())))


def measure(request: Request, count: Callable[[str], int]) -> Sent:
    """Count the tokens of one call."""

    def whole(messages: Sequence[Message]) -> int:
        return sum(count(render_message(message, request.mark)) for message in messages)

    def ours(messages: Sequence[Message]) -> int:
        return sum(count(part) for message in messages for part in message.parts if isinstance(part, str))

    messages = request.messages
    plain = [not any(not isinstance(part, str) for part in message.parts) for message in messages]
    first = plain.index(False) if False in plain else len(messages)
    shown = messages[1:first]
    about = request.about
    agent = (about.role or about.stage).partition(".")[0]
    return Sent(agent, whole(messages), ours(messages) - ours(shown), ours(shown), whole(messages[:first]))


def measure_judge(name: str, data: Path, count: Callable[[str], int]) -> list[Sent]:
    """Judge the first segments of WMT23 en-de with one judge, and return its calls."""
    sent: list[Sent] = []
    reply = RulesModel.reply

    async def kept(self: RulesModel, request: Request) -> Reply:
        sent.append(measure(request, count))
        return await reply(self, request)

    test_set = load(data / "wmt23", lp="en-de").select(limit=SEGMENTS, systems=SYSTEMS)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(RulesModel, "reply", kept)
        adjudge.run(name, test_set, out=Path(folder) / "run")
    return sent


def main() -> None:
    """Measure every judge."""
    options = make_parser(__doc__).parse_args()
    data = find_data()
    if data is None:
        return
    count = counter()
    rows = []
    for name in JUDGES:
        sent = measure_judge(name, data, count)
        for agent in dict.fromkeys(call.agent for call in sent):
            calls = [call for call in sent if call.agent == agent]
            sizes = {
                field: f"{mean(getattr(call, field) for call in calls):,.0f}"
                for field in ("tokens", "instructions", "examples", "prefix")
            }
            authors = AUTHORS.get((name, agent))
            told = "" if authors is None else f"{authors:,}"
            rows.append([name, agent, str(len(calls)), *sizes.values(), told])
    columns = ("judge", "agent", ">calls", ">tokens", ">ours", ">examples", ">prefix", ">authors")
    show(TITLE, HEAD + render_table(Table(columns=columns, rows=rows), "markdown"), write=options.write)


if __name__ == "__main__":
    main()
