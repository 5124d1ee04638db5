"""How well rate limits are used and kept, over an hour each, in virtual time.

`PYTHONPATH=. .venv/bin/python benchmarks/manners.py [--write]`
"""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from adjudge.llm.faults import Patience, fault_of
from adjudge.llm.limits import join

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import make_parser, write_section  # noqa: E402 (found by the line above)
from tests.faults.limited import Figures, LimitedServer, Meter, compare, drive, finish, run  # noqa: E402 (found by the line above)

_MINUTES: Final = 60
_WORKERS: Final = 64

_LIMITS: Final[dict[str, Callable[[], dict[str, Any]]]] = {
    "60 requests/min": lambda: {"requests": Meter(60, 60)},
    "600 requests/min": lambda: {"requests": Meter(600, 600)},
    "600 requests/min, 20 at once": lambda: {"requests": Meter(600, 20)},
    "40,000 tokens/min": lambda: {"tokens": Meter(40_000, 40_000)},
    "200,000 tokens/min": lambda: {"tokens": Meter(200_000, 200_000)},
    "600 requests and 400,000 tokens/min": lambda: {
        "requests": Meter(600, 600),
        "tokens": Meter(400_000, 400_000),
    },
    "600 requests in each minute of the clock": lambda: {"requests": Meter(600, 600, is_fixed=True)},
}
_SAYS: Final = (("openai", "seconds"), ("anthropic", "none"), ("none", "seconds"), ("none", "none"))
_WORDS: Final = {
    ("openai", "seconds"): "headers (OpenAI's), Retry-After",
    ("anthropic", "none"): "headers (Anthropic's)",
    ("none", "seconds"): "Retry-After",
    ("none", "none"): "nothing",
}


def _measure(**server: Any) -> Figures:  # noqa: ANN401
    async def main() -> Figures:
        return await drive(
            LimitedServer(**server), join("server", _WORKERS, Patience()), _MINUTES * 60, _WORKERS
        )

    return run(main())


def _cells(found: Figures, used: float) -> str:
    refused = f"{found.refused:.2%} | {found.late:.2%}"
    return f"{used:.1%} | {refused} | {found.too_early} | {found.calls:,}"


def _rows() -> list[str]:
    rows = []
    for limits, meters in _LIMITS.items():
        for headers, retry_after in _SAYS:
            found = _measure(headers=headers, retry_after=retry_after, **meters())
            rows.append(f"| {limits} | {_WORDS[headers, retry_after]} | {_cells(found, found.used)} |")
            print(rows[-1], flush=True)
    for latency, parallel in ((2.0, 8), (0.5, 30)):
        found = _measure(latency=latency, parallel=parallel, retry_after="none")
        used = found.calls / (parallel * _MINUTES * 60 / latency)
        rows.append(f"| {parallel} calls at a time | nothing | {_cells(found, used)} |")
        print(rows[-1], flush=True)
    return rows


_SEEDS: Final = 12
_WHIMS: Final = (0.02, 0.06, 0.2)
_OTHERS: Final = """

A server with room for all that refuses single calls with `Retry-After: 1`, as a gateway does or a key that
others use: how fast 120 or 1,000 calls are answered, beside a plain client whose workers each repeat a
refused call after its Retry-After (mean of twelve runs, the slowest in brackets). To reach: 80 % in each run.

| calls | at a time | an answer takes | a refusal takes | 2 % refused | 6 % | 20 % |
| ---: | ---: | ---: | --- | ---: | ---: | ---: |
"""


def _beside_plain() -> list[str]:
    rows = []
    for calls, workers, latency in ((120, 8, 0.35), (120, 8, 1.0), (1000, 8, 0.35), (1000, 20, 2.0)):
        for is_slow in (True, False):
            cells = []
            for whims in _WHIMS:
                ratios = [
                    compare(calls, workers, seed, whims=whims, latency=latency, is_slow=is_slow)
                    for seed in range(_SEEDS)
                ]
                cells.append(f"{sum(ratios) / _SEEDS:.0%} ({min(ratios):.0%})")
            how = "as long" if is_slow else "a fiftieth"
            rows.append(f"| {calls:,} | {workers} | {latency:g} s | {how} | " + " | ".join(cells) + " |")
            print(rows[-1], flush=True)
    return rows


_CALLS: Final = 400
_BUSY, _OVERLOADED = fault_of(503, "busy"), fault_of(429, "overloaded")
_BROKEN: Final[dict[str, dict[str, Any]]] = {
    "nothing": {},
    **{f"{share:.0%} of calls: 429": {"whims": share, "whim": None} for share in (0.02, 0.05, 0.06, 0.2)},
    "three texts: always 200 with `overloaded`; 10 % of answers: `choices: []`": {
        "broken": dict.fromkeys((30, 77, 150), _OVERLOADED),
        "unreadable": 0.1,
    },
    "one text: always 503": {"broken": {30: _BUSY}},
    "the last text: always 503": {"broken": {_CALLS - 1: _BUSY}},
}
_WRONG: Final = f"""

A server with room for all that breaks some answers and never sends a Retry-After: seconds for {_CALLS}
texts, 20 at a time (mean of {_SEEDS} runs, the slowest in brackets). To reach: three times the first row in
each run, and 20 s more where texts always fail.

| broken | an answer takes 0.25 s | 2 s |
| --- | ---: | ---: |
"""


def _seconds(seed: int, latency: float, broken: dict[str, Any]) -> float:
    async def main() -> float:
        server = LimitedServer(seed=seed, latency=latency, **broken)
        return await finish(server, join("server", 20, Patience()), _CALLS, 20)

    return run(main())


def _with_broken_answers() -> list[str]:
    rows = []
    for words, broken in _BROKEN.items():
        cells = []
        for latency in (0.25, 2.0):
            times = [_seconds(seed, latency, broken) for seed in range(_SEEDS)]
            cells.append(f"{sum(times) / _SEEDS:.1f} ({max(times):.1f})")
        rows.append(f"| {words} | " + " | ".join(cells) + " |")
        print(rows[-1], flush=True)
    return rows


_HEAD: Final = f"""`PYTHONPATH=. .venv/bin/python benchmarks/manners.py --write`

{_MINUTES} minutes of virtual time for each row, {_WORKERS} workers, calls of 0.25 to 3 s and 420 to 1,500
tokens, against a server that counts in buckets (`tests/faults/limited.py`). *Used* is the share of what the
server allowed, its savings at the start included; a little over 100 % is a minute more of the clock.
*Late* is the share that was refused more than ten seconds after the first refusal, *too early* are calls
sent before a Retry-After that had arrived was over. To reach: 90 % used, at most 2 % late, and none too early
where headers say what is left. Where they do not, some tens of calls are refused until the limit is known,
and some are sent too early: the first refusals may be of single calls.

| the server allows | it says | used | refused | late | too early | calls |
| --- | --- | ---: | ---: | ---: | ---: | ---: |
"""

if __name__ == "__main__":
    wanted = make_parser(__doc__).parse_args()
    body = _HEAD + "\n".join(_rows()) + _OTHERS + "\n".join(_beside_plain())
    body += _WRONG + "\n".join(_with_broken_answers())
    if wanted.write:
        write_section("Manners: rate limits", body)
