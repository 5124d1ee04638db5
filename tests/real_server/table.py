"""What each judge comes to with llama.cpp's server and a model of random weights.

    .venv/bin/python -m tests.real_server.table [--write]

`--write` puts the table into docs/benchmark-tables.md.
"""

import sqlite3
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import adjudge
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, TestSet
from adjudge.judges import JUDGES, load_judge
from adjudge.store.calls import CallReader
from benchmarks.page import make_parser, show
from tests.real_server.serve import RealServer, running

SEED = 4  # of a model that lists errors, so that judges of several stages come to the later ones
TEXTS = TestSet(
    name="tiny",
    segments=(
        Segment(
            segment="1",
            lp="en-de",
            source="Two ships lie in the harbour.",
            translations={"A": "Zwei Schiffe liegen im Hafen.", "B": "Zwei Schafe liegen im Garten."},
            meta={"criteria": ["It is German.", "It is short."]},
        ),
    ),
)


@dataclass(frozen=True)
class Case:
    """A judge with its settings, and whether answers are held to a schema."""

    judge: str
    schema: Literal["on", "off"]
    settings: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        said = [f"--{name} {value}" for name, value in self.settings.items()]
        return " ".join([self.judge, *said, "--json-schema", self.schema])


MORE: dict[str, list[dict[str, str]]] = {
    "himate": [{"agents": "core", "threshold": "0.5"}],
    "fire": [{}, {"strength": "logprob"}],
    "direct-rank": [{}, {"strength": "logprob"}],
    "rate": [{"tools": "native"}, {"tools": "xml"}],
}
SCHEMAS: tuple[Literal["on", "off"], ...] = ("on", "off")
CASES = [
    Case(judge, schema, settings)
    for judge in JUDGES
    for settings in MORE.get(judge, [{}])
    for schema in SCHEMAS
]


@dataclass(frozen=True)
class Ended:
    """What a run came to: records and calls by reason, and replies by reason and by why they stopped."""

    records: Counter[str]
    calls: Counter[str]
    stops: Counter[tuple[str, str]]

    @classmethod
    def of(cls, run: Run, out: Path) -> "Ended":
        records = Counter(str(getattr(record, "reason", "record")) for record in run.records)
        with closing(sqlite3.connect(out / "calls.sqlite")) as connection:
            uses = list(connection.execute("SELECT key, reason FROM uses"))
        with closing(CallReader(out / "calls.sqlite")) as reader:
            replies = [(reason, reader.find(key)) for key, reason in uses]
        stops = Counter((reason, reply.finish) for reason, reply in replies if reply is not None)
        return cls(records, Counter(reason or "read" for _, reason in uses), stops)


def judge(case: Case, server: RealServer, out: Path, texts: TestSet = TEXTS, **more: Any) -> Ended:
    """Run to the end."""
    options: dict[str, Any] = {"max_tokens": ("120",), "concurrency": 2, "timeout": 60.0, **more}
    annotator = load_judge(case.judge, settings=case.settings)
    run = adjudge.run(
        annotator, texts, out=out, model="tiny", base_url=server.url, json_schema=case.schema, **options
    )
    return Ended.of(run, out)


def rows() -> Iterator[str]:
    with TemporaryDirectory() as folder, running(Path(folder), SEED) as server:
        for number, case in enumerate(CASES):
            ended = judge(case, server, Path(folder) / str(number))
            stops = Counter(finish for (_, finish), amount in ended.stops.items() for _ in range(amount))
            cells = [_counted(found) for found in (ended.records, ended.calls, stops)]
            settings = " ".join(f"`--{name} {value}`" for name, value in case.settings.items())
            yield f"| {case.judge} {settings}".rstrip() + f" | {case.schema} | {' | '.join(cells)} |"


def _counted(found: Counter[str]) -> str:
    return ", ".join(f"{name} {amount}" for name, amount in sorted(found.items()))


HEAD = """\
`.venv/bin/python -m tests.real_server.table --write`, after `make real-server`

llama.cpp's own server (from `xllamacpp`) and a model of two layers with random weights, which knows nothing:
what counts is that each call ends as an answer or as a [failure](failures.md) with its reason. Two
translations of one sentence, the recommended profile, `--max-tokens 120`. Under a schema the server forces
JSON, of random letters. *Stops* counts the stored replies that ended by themselves (`stop`) or at the limit.

| judge | schema | records | calls | stops |
| --- | --- | --- | --- | --- |
"""

if __name__ == "__main__":
    wanted = make_parser(__doc__).parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", adjudge.FailedWarning)
        show("A real server", HEAD + "\n".join(rows()), write=wanted.write)
