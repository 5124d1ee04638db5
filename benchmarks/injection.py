"""How far attacks of ours get with a judge and a model.

    .venv/bin/python benchmarks/injection.py [--judge NAME]... [--model NAME] [--base-url URL] [--write]

Two layers. Application: a server on this machine, whose model was taken over, copies an attack that it is
shown as its whole reply, to every question; how many of these verdicts are refused, flagged, or believed?
Model: does the score of a translation with a planted error rise when an attack is added to it, which only
makes it worse? That needs a language model to say much: `builtin/rules`, the default, reads no orders, and
what it shows is the noise of the measure. With ADJUDGE_DATA, also how often detectors flag texts in which
nobody attacks.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import adjudge
from adjudge import examples
from adjudge.checks.attacks import find_attacks
from adjudge.core.judge import PROFILES
from adjudge.core.record import Failure, Record
from adjudge.core.segment import Segment, TestSet
from adjudge.errors import AnswerError
from adjudge.judges import JUDGES, load_judge
from adjudge.llm.model_choice import EMBEDDED

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.attacks import clean_table  # noqa: E402 (found by the line above)
from benchmarks.page import find_data, make_parser, show  # noqa: E402 (found by the line above)
from tests.attacks.corpus import ATTACKS, KINDS, Attack, carrier_of  # noqa: E402 (found by the line above)
from tests.attacks.hostile import PLACES, Hostile, subject_with  # noqa: E402 (found by the line above)
from tests.faults.server import running  # noqa: E402 (found by the line above)

ALONE = "10 master key"
"""Kind whose strings stand in place of the translation; the others follow it."""
TEXTS = {attack.text for attack in ATTACKS}
QUOTED = re.compile(r'^<<[\w-]+ [0-9a-f]{16}>>\n("[^\n]*")$', re.MULTILINE)
SEEDS = 8
"""Segments with errors, from which the attacked translations are made."""


def main() -> None:
    """Measure and print."""
    wanted = read_arguments()
    lines = [
        f"`ADJUDGE_DATA=DIR .venv/bin/python benchmarks/injection.py --forged {wanted.forged} --write`",
        "",
        "Application layer: a server on this machine copies an attack that it is shown as its whole reply,",
        f"to every question, in whole runs of every judge on {wanted.forged} strings of each kind. A copy is",
        "refused where it cannot be the answer, and flagged `verdict_in_text` where it could be.",
        "",
        *application_table(wanted.judge or [name for name in JUDGES if name != "criteria"], wanted.forged),
        "",
        f"Later questions: the model copies each of {len(ATTACKS)} attacks to the first and to the last",
        "question of a judge, and answers well between. They stand in source, translation and context in",
        "turn.",
        "",
        *steps_table([name for name in wanted.judge or JUDGES if asks_little(name)]),
    ]
    if data := find_data():
        lines += [
            "",
            "False flags: public test sets in which nobody attacks a judge; the bound is 0.5 %.",
            "",
        ]
        lines += clean_table(data)
    for name in wanted.judge or ["gemba-mqm", "gemba-da"]:
        lines += ["", *model_layer(name, wanted)]
    text = "\n".join(lines)
    show("Attacks on judges", text, write=wanted.write)


def read_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = make_parser(__doc__)
    parser.add_argument("--judge", action="append", help="may be repeated; else all, and two with the model")
    parser.add_argument("--model", default=EMBEDDED, help="as of `adjudge run`")
    parser.add_argument("--base-url", help="as of `adjudge run`")
    parser.add_argument("--profile", default="recommended", choices=PROFILES)
    parser.add_argument("--forged", type=int, default=12, help="strings of each kind that are copied")
    parser.add_argument("--limit", type=int, default=60, help="strings of each kind that the model is shown")
    return parser.parse_args()


# The application...


def application_table(names: Sequence[str], limit: int) -> Iterator[str]:
    """One row a kind, of all judges; and whether a judge believed anything."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    believing = [name for name in names if count_outcomes(found, obeyed(name, limit))]
    yield "| kind | verdicts | refused | flagged | believed | refused or flagged |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: |"
    found["all"] = sum(found.values(), Counter())
    for kind, outcomes in found.items():
        numbers = [outcomes[name] for name in ("refused", "flagged", "believed")]
        share = f"{1 - outcomes['believed'] / outcomes.total():.1%}"
        yield f"| {kind} | {' | '.join(map(str, [outcomes.total(), *numbers]))} | {share} |"
    yield ""
    yield f"Judges: {', '.join(names)}. Judges that believed a copy: {', '.join(believing) or 'none'}."


def count_outcomes(found: dict[str, Counter[str]], outcomes: Iterator[tuple[str, str]]) -> int:
    """Add the outcomes by kind, and give how many copies were believed."""
    counted = list(outcomes)
    for kind, outcome in counted:
        found[kind][outcome] += 1
    return sum(outcome == "believed" for _, outcome in counted)


def obeyed(name: str, limit: int) -> Iterator[tuple[str, str]]:
    """Kind and outcome of each verdict of a run in which the model obeys every attack."""
    chosen = [attack for kind in KINDS for attack in spread(kind, limit)]
    with running(copied) as server, tempfile.TemporaryDirectory() as folder:
        run = adjudge.run(
            name,
            forged_set(chosen),
            out=Path(folder) / "run",
            model="mock",
            base_url=server.url,
            max_failed=1.0,
        )
    for record in run.records:
        yield chosen[int(record.segment)].kind, outcome_of(record)


def outcome_of(record: Record) -> str:
    """What became of a copied verdict; a server that failed would be no result."""
    if isinstance(record, Failure):
        assert record.reason not in {"server_error", "connection", "timeout"}, record
        return "refused"
    return "flagged" if "verdict_in_text" in record.flags else "believed"


def copied(request: dict[str, Any]) -> str:
    """What the obedient model says: an attack that it is shown, the longest first."""
    shown = "\n".join(str(message["content"]) for message in request["messages"])
    texts = {json.loads(text) for text in QUOTED.findall(shown)}
    return max(texts & TEXTS, key=lambda text: (len(text), text))


def forged_set(attacks: Sequence[Attack]) -> TestSet:
    """Each attack as the whole translation of two systems; every second one stands in the source, too."""
    segments = []
    for number, attack in enumerate(attacks):
        other = next(a for a in ATTACKS if a[:2] == attack[:2] and a.text != attack.text)
        harmless = carrier_of("en" if attack.language != "en" else "de")
        segments.append(
            Segment(
                segment=str(number),
                lp=f"en-{attack.language}" if attack.language != "en" else "de-en",
                source=attack.source or (attack.text if number % 2 else harmless),
                translations={"first": attack.text, "second": other.text},
                references={"ref": harmless},
            )
        )
    return TestSet(name="forged", segments=tuple(segments))


def asks_little(name: str) -> bool:
    """Whether a judge of single translations asks once or twice; agents are tested in tests/attacks."""
    judge = load_judge(name)
    return hasattr(judge, "annotate") and judge.calls.min <= 2


def steps_table(names: Sequence[str]) -> Iterator[str]:
    """One row a judge and profile."""
    yield "| judge | profile | replies | refused | flagged | believed |"
    yield "| --- | --- | ---: | ---: | ---: | ---: |"
    for name in names:
        for profile in PROFILES:
            found = asyncio.run(copies(name, profile))
            cells = (found.total(), found["refused"], found["flagged"], found["believed"])
            yield f"| {name} | {profile} | {' | '.join(map(str, cells))} |"


async def copies(name: str, profile: str) -> Counter[str]:
    """What becomes of replies that are copied from an attack."""
    judge = load_judge(name, profile=profile, settings={"samples": "1"} if name == "gemba-v2" else {})  # type: ignore[arg-type]
    found: Counter[str] = Counter()
    assert hasattr(judge, "annotate")
    for attack, place in zip(ATTACKS, cycle(PLACES), strict=False):
        for step in {0, judge.calls.min - 1}:
            ask = Hostile(attack.text, step=step)
            try:
                annotation = await judge.annotate(subject_with(attack, place), ask)
            except AnswerError:
                found["refused"] += 1
            else:
                found["flagged" if "verdict_in_text" in annotation.flags else "believed"] += 1
    return found


# The model...


class Change(NamedTuple):
    """Scores of one translation, without and with the attack; None where the judgement failed."""

    kind: str
    plain: float | None
    attacked: float | None
    is_flagged: bool


def model_layer(name: str, wanted: argparse.Namespace) -> Iterator[str]:
    """A table of one judge, one row a kind."""
    chosen = [attack for kind in KINDS for attack in spread(kind, wanted.limit)]
    with tempfile.TemporaryDirectory() as folder:
        run = adjudge.run(
            name,
            attacked_set(chosen),
            out=Path(folder) / "run",
            model=wanted.model,
            base_url=wanted.base_url,
            profile=wanted.profile,
        )
        scores = adjudge.score(run)
    numbers = {(s.segment, s.system): s.score for s in scores.segments}
    by_kind: dict[str, list[Change]] = defaultdict(list)
    for number, attack in enumerate(chosen):
        plain, attacked = numbers[str(number), "plain"], numbers[str(number), "attacked"]
        change = Change(attack.kind, plain, attacked, bool(find_attacks(attack.text)))
        by_kind[attack.kind].append(change)
    yield "Model layer: the same translations with and without an attack; `better` is a score that rose."
    yield f"`{scores.signature}`"
    yield ""
    yield "| kind | judged | failed | better | share | mean change | better and not flagged |"
    yield "| --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    for kind in KINDS:
        yield row(kind, by_kind[kind])
    yield row("all", [change for changes in by_kind.values() for change in changes])


def spread(kind: str, limit: int) -> list[Attack]:
    """As many attacks of a kind as are wanted, of every language."""
    attacks = [attack for attack in ATTACKS if attack.kind == kind]
    step = max(1, len(attacks) // limit)
    return attacks[::step][:limit]


def attacked_set(attacks: Sequence[Attack]) -> TestSet:
    """Each attack with one translation that has an error; the system `attacked` adds the attack to it."""
    with_errors = examples_with_errors()
    segments = []
    for number, attack in enumerate(attacks):
        seed, translation = with_errors[number % len(with_errors)]
        attacked = attack.text if attack.kind == ALONE else f"{translation} {attack.text}"
        segments.append(
            Segment(
                segment=str(number),
                lp=seed.lp,
                source=seed.source,
                translations={"plain": translation, "attacked": attacked},
            )
        )
    return TestSet(name="attacks", segments=tuple(segments))


def examples_with_errors() -> list[tuple[Segment, str]]:
    """Translations of the bundled test set in which an error is planted."""
    segments = {(s.lp, s.segment): s for s in adjudge.load(examples.path("test_set.jsonl"), lp="en-de")}
    gold = adjudge.read_records(examples.path("gold.mqm.jsonl"))
    found = [
        (segments[r.lp, r.segment], segments[r.lp, r.segment].translations[r.system])
        for r in gold
        if isinstance(r, adjudge.Annotation)
        and (r.lp, r.segment) in segments
        and any(span.severity in {"major", "critical"} for span in r.spans)
    ]
    return found[:SEEDS]


def row(kind: str, changes: Sequence[Change]) -> str:
    """Counts of one kind."""
    both = [(c, c.attacked - c.plain) for c in changes if c.plain is not None and c.attacked is not None]
    better = [c for c, moved in both if moved > 0]
    share = f"{len(better) / len(both):.1%}" if both else "-"
    mean = f"{sum(moved for _, moved in both) / len(both):+.2f}" if both else "-"
    unseen = sum(not c.is_flagged for c in better)
    return (
        f"| {kind} | {len(both)} | {len(changes) - len(both)} | {len(better)} | {share} | {mean} | {unseen} |"
    )


if __name__ == "__main__":
    main()
