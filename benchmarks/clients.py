"""What a call costs other clients of language models, each in an environment that has nothing of ours.

`benchmarks/engine.py` makes that environment and starts this file in it: the name of a client, the address of
the server, how many calls at a time, how many in all, and a file with their bodies.
"""

import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

Call = Callable[[dict[str, object]], Awaitable[str | None]]


def openai(url: str, _width: int) -> Call:
    """The SDK as its documentation shows it."""
    from openai import AsyncOpenAI

    sdk = AsyncOpenAI(base_url=url, api_key="none", max_retries=0)

    async def call(body: dict[str, object]) -> str | None:
        completion = await sdk.chat.completions.create(**body)
        return completion.choices[0].message.content

    return call


def litellm(url: str, _width: int) -> Call:
    """Its asynchronous completion; prices come from the file that it brings."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    from litellm import acompletion

    async def call(body: dict[str, object]) -> str | None:
        found = await acompletion(**(body | {"model": "openai/mock"}), api_base=url, api_key="none")
        return found.choices[0].message.content

    return call


def inspect_ai(url: str, width: int) -> Call:
    """A model of the framework, asked without a task around it."""
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        get_model,
    )

    roles = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    config = GenerateConfig(max_connections=width, max_tokens=2048, temperature=0.0)
    model = get_model("openai/mock", base_url=url, api_key="none", config=config, responses_api=False)

    async def call(body: dict[str, object]) -> str | None:
        said = [roles[message["role"]](content=message["content"]) for message in body["messages"]]
        return (await model.generate(said)).completion

    return call


async def measure(call: Call, width: int, calls: int, bodies: list[dict[str, object]]) -> None:
    """So many calls, so many at a time; a first round opens the connections."""

    async def worker(numbers: range) -> None:
        for number in numbers:
            assert await call(bodies[number % len(bodies)])

    await asyncio.gather(*(worker(range(1)) for _ in range(width)))
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(worker(range(first, calls, width)) for first in range(width)))
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(json.dumps({"rate": calls / seconds, "cpu": cpu / calls, "mb": peak}))


if __name__ == "__main__":
    name, url, width, calls, file = sys.argv[1:]
    if hasattr(os, "sched_setaffinity") and len(cores := sorted(os.sched_getaffinity(0))) > 1:
        os.sched_setaffinity(0, {cores[0]})
    make = {"openai": openai, "litellm": litellm, "inspect_ai": inspect_ai}[name]
    lines = Path(file).read_text(encoding="utf-8").splitlines()

    async def main() -> None:
        """The client is made where it runs."""
        await measure(make(url, int(width)), int(width), int(calls), [json.loads(line) for line in lines])

    asyncio.run(main())
