"""Tokens that each judge sends for one translation, beside the prompts that its authors published.

    ADJUDGE_DATA=DIR .venv/bin/python benchmarks/prompt_tokens.py [--write]

The embedded rules judge the first translations of WMT23 en-de, and every message is counted as it would
be sent, in tokens of cl100k_base. The package tiktoken must be installed (`uv pip install tiktoken`);
its vocabulary is downloaded, or read from the folder that TIKTOKEN_CACHE_DIR names.

Instructions are our words without worked examples. The authors' column counts the text that their papers
print for the same call, without judged texts and examples. The prefix is the first messages without a
judged text. What a judge's calls share is the part of their characters that another call begins with, too: a
cache that keeps every prefix reads it once. It is measured on more translations, and for HiMATE's first
stage on all segments.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from os.path import commonprefix
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
SHARED_SEGMENTS = 50
SYSTEMS = ("ONLINE-A", "NLLB_Greedy")
HEAD = f"""`.venv/bin/python benchmarks/prompt_tokens.py`

Calls of the recommended profile for {SEGMENTS} segments and {len(SYSTEMS)} systems of WMT23 en-de,
and the tokens (cl100k_base) of one call: all of it, our instructions, our worked examples, the prefix that
calls for other translations share, and the instructions that the authors print for the same call.

187 tokens of every call say that judged texts are data and that nothing in them is obeyed, and 60 to 150
say the exact form of the answer; the authors' prompts have neither, but for RATE's form. RATE's core and
evaluation take fewer tokens than the authors' own. gemba-mqm takes about as many: the authors' code
repeats its 261 tokens with each of three examples. The others take 40 to 540 more.

"""
SHARED_HEAD = f"""
The share of all characters that another call begins with, too, so that a cache that keeps every prefix reads
them once: {SHARED_SEGMENTS} segments and {len(SYSTEMS)} systems, and for HiMATE's first stage (`--stages se`)
all segments of WMT23 en-de as well.

The judged text stands last, so that all translations share what an agent is told before it.

"""
JUDGES = (
    *("gemba-da", "gemba-mqm", "gemba-esa", "gemba-v2", "ea-prompt", "direct-rank", "fire", "criteria"),
    *("m-mad", "single-agent", "himate", "rate"),
)
MARK = "0123456789abcdef"
"""Stands for the digits that a run draws for each segment, which take some tokens more or fewer."""
CRITERIA = ("Every number is that of the source.", "The reader is addressed formally.")
"""Of the judge criteria, for every segment."""
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
        return sum(count(render_message(message, MARK)) for message in messages)

    def ours(messages: Sequence[Message]) -> int:
        return sum(count(part) for message in messages for part in message.parts if isinstance(part, str))

    messages = request.messages
    plain = [not any(not isinstance(part, str) for part in message.parts) for message in messages]
    first = plain.index(False) if False in plain else len(messages)
    shown = messages[1:first]
    about = request.about
    agent = about.stage if about.judge == "himate" else (about.role or about.stage).partition(".")[0]
    return Sent(agent, whole(messages), ours(messages) - ours(shown), ours(shown), whole(messages[:first]))


def requests_of(
    name: str, data: Path, segments: int | None, settings: Mapping[str, str] | None = None
) -> list[Request]:
    """Judge the first segments of WMT23 en-de with one judge, and return what it asks."""
    sent: list[Request] = []
    reply = RulesModel.reply

    async def kept(self: RulesModel, request: Request) -> Reply:
        sent.append(request)
        return await reply(self, request)

    test_set = load(data / "wmt23", lp="en-de").select(limit=segments, systems=SYSTEMS)
    told = {"criteria": list(CRITERIA)}
    test_set = replace(
        test_set, segments=tuple(replace(s, meta={**s.meta, **told}) for s in test_set.segments)
    )
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(RulesModel, "reply", kept)
        adjudge.run(name, test_set, out=Path(folder) / "run", settings=settings)
    return sent


def shared_share(requests: Sequence[Request]) -> float:
    """The share of the characters of these prompts, as they are sent, that another of them begins with."""
    prompts = sorted("\n".join(render_message(m, r.mark) for m in r.messages) for r in requests)
    alike = sum(len(commonprefix(pair)) for pair in pairwise(prompts))  # noqa: RUF071 (these are no paths)
    return alike / sum(map(len, prompts))


def main() -> None:
    """Measure every judge."""
    options = make_parser(__doc__).parse_args()
    data = find_data()
    if data is None:
        return
    count = counter()
    rows, shares = [], []
    for name in JUDGES:
        sent = [measure(request, count) for request in requests_of(name, data, SEGMENTS)]
        for agent in dict.fromkeys(call.agent for call in sent):
            calls = [call for call in sent if call.agent == agent]
            sizes = [
                f"{mean(getattr(call, field) for call in calls):,.0f}"
                for field in ("tokens", "instructions", "examples", "prefix")
            ]
            authors = AUTHORS.get((name, agent))
            told = "" if authors is None else f"{authors:,}"
            rows.append([name, agent, str(len(calls)), *sizes, told])
    measured = [(name, SHARED_SEGMENTS, {}) for name in JUDGES] + [("himate", None, {"stages": "se"})]
    for name, segments, settings in measured:
        asked = requests_of(name, data, segments, settings)
        label = f"{name} {' '.join(settings.values())}".strip()
        shares.append([label, f"{len(asked):,}", f"{shared_share(asked):.1%}"])
    columns = ("judge", "agent", ">calls", ">tokens", ">ours", ">examples", ">prefix", ">authors")
    tables = [
        render_table(Table(columns=columns, rows=rows), "markdown"),
        SHARED_HEAD,
        render_table(Table(columns=("judge", ">calls", ">shared"), rows=shares), "markdown"),
    ]
    show(TITLE, HEAD + "".join(tables), write=options.write)


if __name__ == "__main__":
    main()
