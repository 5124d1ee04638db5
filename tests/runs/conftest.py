"""What the tests of runs share: a small test set, a judge that is easy to follow, and a metric."""

import gc
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest

from adjudge.core.ask import About, Ask, Message, Quoted, Reply
from adjudge.core.judge import Calls, Profile
from adjudge.core.record import Annotation, Record
from adjudge.core.scores import Run
from adjudge.core.segment import Segment, Subject, TestSet
from adjudge.errors import AnswerError, ServerStopError
from adjudge.llm import embedded_rules
from adjudge.llm.model import Request
from adjudge.runs import ray as engine
from adjudge.store.json_lines import write_records
from adjudge.store.run_directory import RECORDS, digest_of_records, read_run_info, write_run_info
from tests.runs.fake_ray import FakeRay

RULES = embedded_rules.RulesModel()  # before any test puts another in its place


@dataclass(frozen=True, kw_only=True)
class Rater:
    """Ask for a rating, as often as `questions` says, and give the mean."""

    name: ClassVar[str] = "rater"
    protocol: ClassVar[str] = "da-sqm"
    weights: ClassVar[None] = None
    calls: ClassVar[Calls] = Calls(1, 1, 1)
    prompts_digest: ClassVar[str] = "abc123"

    profile: Profile = "recommended"
    with_reference: bool = False
    questions: int = 1

    async def annotate(self, subject: Subject, ask: Ask) -> Annotation:
        words: list[str | Quoted] = ["Rate ", Quoted("translation", subject.translation)]
        words += [f" term {term.source}={term.translation}" for term in subject.terms]
        words += [f" before {segment.segment}" for segment in subject.context]
        words += [f" reference {subject.reference}"] if self.with_reference else []
        about = About(judge=self.name, stage="rating", subject=subject, wants="rating", facts={})
        answers = [
            await ask([Message("user", (*words, f" {n}"))], about=about, read=read_rating)
            for n in range(self.questions)
        ]
        return Annotation(
            lp=subject.lp,
            segment=subject.segment.segment,
            system=subject.system,
            annotator=self.name,
            protocol=self.protocol,
            rating=sum(answer.value for answer in answers) / len(answers),
        )


def read_rating(reply: Reply) -> float:
    if not re.fullmatch(r"\d+", reply.text, re.ASCII):
        raise AnswerError("range", f"wanted a number, got {reply.text!r}")
    return float(reply.text)


@dataclass(frozen=True, kw_only=True)
class Lengths:
    """A metric: the length of the translation."""

    name: ClassVar[str] = "lengths"
    protocol: ClassVar[str] = "metric"
    weights: ClassVar[None] = None
    low: ClassVar[float | None] = 0.0
    high: ClassVar[float | None] = None
    with_reference: bool = False
    corpus: bool = False

    def settings(self, lp: str) -> Mapping[str, str]:
        return {"unit": "characters", "tok": "zh" if lp.endswith("zh") else "13a"}

    def annotate(self, subjects: Sequence[Subject]) -> list[Annotation]:
        return [
            Annotation(
                lp=s.lp,
                segment=s.segment.segment,
                system=s.system,
                annotator=self.name,
                protocol=self.protocol,
                rating=float(len(s.translation)),
            )
            for s in subjects
        ]

    def corpus_score(self, subjects: Sequence[Subject]) -> float | None:
        return float(sum(len(s.translation) for s in subjects)) if self.corpus else None


def small_set(size: int = 6, lps: Sequence[str] = ("en-de",), systems: Sequence[str] = ("A", "B")) -> TestSet:
    """Segments of two documents; every translation is another text."""
    segments = [
        Segment(
            segment=str(number),
            lp=lp,
            source=f"Sentence {number} of the bank.",
            document=f"doc{number // 3}",
            references={"refA": f"Referenz {number}"},
            translations={name: f"Satz {number} von {name} in {lp}" for name in systems},
        )
        for lp in lps
        for number in range(size)
    ]
    return TestSet(name="small", segments=tuple(segments))


class Scripted:
    """Stands in for the embedded model: rates by the length of the text, and keeps what it answered.

    After `left` answers comes the error.
    """

    name = "builtin/rules"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.texts: dict[str, str] = {}
        self.left: float = math.inf
        self.error: Exception = ServerStopError("quota")

    async def reply(self, request: Request) -> Reply:
        if self.left == 0:
            raise self.error
        self.left -= 1
        self.requests.append(request)
        translation = request.about.subject.translation
        return Reply(text=self.texts.get(translation, str(len(translation))), model=self.name)


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Scripted:
    """The model that runs without `model=` ask."""
    scripted = Scripted()
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: scripted)
    return scripted


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> Iterator[FakeRay]:
    """What the engine takes for Ray; whoever dies in it, no error is left that nobody hears."""
    fake = FakeRay()
    monkeypatch.setattr(engine, "import_ray", lambda: fake)
    yield fake
    gc.collect()
    assert "never retrieved" not in caplog.text


class Stopping:
    """The embedded rules, until they have answered so many questions."""

    name = "builtin/rules"

    def __init__(self, left: int) -> None:
        self.left = left
        self.asked = 0

    async def reply(self, request: Request) -> Reply:
        if self.asked == self.left:
            raise ServerStopError("no more")
        self.asked += 1
        return await RULES.reply(request)


def check_stops(
    again: Callable[[Path], Run],
    stops: Callable[[int], Sequence[int]],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Run:
    """Stop runs and let them go on: nothing may be asked twice, and the records be those of a whole run.

    Args:
        again: runs into a folder.
        stops: number of all questions to the numbers after which a run is stopped.
        folder: for the runs.
        monkeypatch: of the test.

    Returns:
        The whole run.
    """
    model = Stopping(-1)
    monkeypatch.setattr(embedded_rules, "RulesModel", lambda: model)
    whole, total = again(folder / "whole"), model.asked
    for left in stops(total):
        model.left, model.asked = left, 0
        with pytest.raises(ServerStopError):
            again(folder / f"stopped{left}")
        model.left = -1
        again(folder / f"stopped{left}")
        records = (folder / name / "records.jsonl" for name in ("whole", f"stopped{left}"))
        assert len({path.read_bytes() for path in records}) == 1, left
        assert model.asked == total, "nothing was asked twice"
    return whole


def platform_set(size: int) -> TestSet:
    """In every translation a number is wrong, each time another: no two lists of errors are the same."""
    segments = tuple(
        Segment(
            segment=str(n),
            lp="en-de",
            source=f"Platform {n + 3}, please.",
            references={"refA": f"Gleis {n + 3}, bitte."},
            translations={
                name: f"Wort{name}{n} Gleis {100 + 2 * n + k}, bitte." for k, name in enumerate("AB")
            },
        )
        for n in range(size)
    )
    return TestSet(name="small", segments=segments)


def rewrite_records(folder: Path, records: Sequence[Record]) -> None:
    """Put other records in the place of those of a finished run, as if it had written them."""
    write_records(folder / RECORDS, records)
    write_run_info(folder, replace(read_run_info(folder), records_digest=digest_of_records(folder)))
