"""Numbers with the signature that makes each of them repeatable, and what a run came to.

`Scores` holds all numbers of one annotator under one `Signature`. `Build` is the version of the package and
what it was built from. A `Run` is one judge or metric over one test set, as `store/run_directory.py` writes
and reads it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from importlib.resources import files
from typing import Any, Final, Literal, NamedTuple, TypeVar

from adjudge.core.columns import Column, Framed
from adjudge.core.columns import Kind as ColumnKind
from adjudge.core.frozen import frozen
from adjudge.core.mqm import PassMark, Weights
from adjudge.core.record import Annotation, Failure, Preference, Record
from adjudge.core.segment import TestSet

T = TypeVar("T")
VERSION: Final = version("adjudge")


class Build(NamedTuple):
    """What a wheel was made from; None is unknown."""

    commit: str | None = None  # of the repository; a plus at its end says that files differed from it
    lock: str | None = None  # sha256 of uv.lock, the versions that it was tested with


def read_build() -> Build:
    """Read what `hatch_build.py` wrote; an editable install has nothing, since its files change."""
    file = files("adjudge").joinpath("build.json")
    return Build(**json.loads(file.read_text())) if file.is_file() else Build()


_COUNTS: Final = frozenset(
    {
        *("failed", "untranslated", "extracted", "normalised", "confirmed", "authors_reader"),
        *("comparison_failed", "tool_failed", "tools_in_xml", "samples_missing", "connection_suspect"),
        "changed",  # after the run, which who reads it has accepted
    }
)
"""Fields that count judgements, and say nothing about how they were made."""


@dataclass(frozen=True)
class Signature:
    """The line under every number, sacrebleu style: `gemba-mqm|model:openai/gpt-x|...|version:0.1.0`."""

    name: str  # the judge, metric or annotator
    fields: Mapping[str, str]  # key to value, in print order

    def __str__(self) -> str:
        return "|".join(
            [_escape(self.name), *(f"{key}:{_escape(value)}" for key, value in self.fields.items())]
        )

    @classmethod
    def read(cls, line: str) -> Signature:
        name, *pairs = line.split("|")
        split = (pair.partition(":") for pair in pairs)
        return cls(_unescape(name), {key: _unescape(value) for key, _, value in split})

    def with_fields(self, **fields: str) -> Signature:
        """Add or replace fields; new ones stand before `version`."""
        merged = {**self.fields, **fields}
        version = merged.pop("version", None)
        return Signature(self.name, merged if version is None else {**merged, "version": version})

    def is_comparable_with(self, other: Signature) -> bool:
        """Whether numbers of both may stand in one column: all but the counts of judgements is equal."""
        return self._without_counts() == other._without_counts()

    def _without_counts(self) -> Signature:
        return Signature(self.name, {k: v for k, v in self.fields.items() if k not in _COUNTS})


def _escape(value: str) -> str:
    for char, code in (("%", "%25"), ("|", "%7C"), ("\n", "%0A"), ("\r", "%0D")):
        value = value.replace(char, code)
    return value


def _unescape(value: str) -> str:
    for char, code in (("\r", "%0D"), ("\n", "%0A"), ("|", "%7C"), ("%", "%25")):
        value = value.replace(code, char)
    return value


CardVerdict = Literal["pass", "fail", "open"]
"""What a scorecard says of a system."""


class Interval(NamedTuple):
    """A two-sided interval, in the units of its score."""

    low: float
    high: float


INTERVAL: Final = Column(
    "interval", "95 % interval of the value before", "interval", title="95 % interval", ends=("low", "high")
)
"""The column of the interval that a row has."""


def listed(interval: Interval | None) -> list[float] | None:
    """An interval as JSON has it: its two ends, or null."""
    return None if interval is None else [interval.low, interval.high]


def failed_fields(judged: int, failures: Mapping[str, int]) -> dict[str, str]:
    """Fields of a signature that say how many judgements failed, and how many had no translation to judge."""
    untranslated = failures.get("no_translation", 0)
    asked = judged + sum(failures.values()) - untranslated
    fields = {"failed": f"{asked - judged}/{asked}"}
    return fields | ({"untranslated": f"{untranslated}/{asked + untranslated}"} if untranslated else {})


@dataclass(frozen=True, kw_only=True, slots=True)  # a run may have millions
class SegmentScore:
    """Score of one translation; None where its judgement failed, or where there is no translation."""

    lp: str  # language pair
    segment: str
    system: str
    score: float | None  # the number; None for none
    document: str = ""
    # how much it counts in the mean of its system: the comparisons behind it where preferences are scored,
    # else 1
    weight: float = 1.0
    # whether there is no translation to score; where pairs are compared, whether each comparison lacked one
    is_untranslated: bool = False
    # mean standard deviation of the samples of a judgement; None where nothing was sampled
    spread: float | None = None


@frozen
class SystemScore:
    """Mean over the judged segments of one system."""

    system: str
    score: float | None  # the mean; None where nothing was judged
    n: int  # segments that the mean is over; comparisons where preferences are scored
    failed: int  # judgements asked for and not obtained; segments, where there is one annotator
    untranslated: int = 0  # segments that the system did not translate; they are not among those that failed
    interval: Interval | None = None  # interval of the mean, where one was computed
    # judgements by the flag that says how they were read, such as `extracted`; only those that there are
    readings: Mapping[str, int] = field(default_factory=dict)
    card: Card | None = None  # its scorecard, where the weights say what passes
    checklist: Checklist | None = None  # its verdicts on the criteria of segments, where these were judged
    # mean standard deviation of the samples of a judgement; None where nothing was sampled
    spread: float | None = None


def all_pass(verdicts: Collection[float | None]) -> float | None:
    """Return whether a translation passes every criterion of its segment: 1 if it does, 0 if not.

    A fail decides, whatever the other verdicts are. Without one, a missing verdict (None) leaves it open:
    None.
    """
    if 0 in verdicts:
        return 0.0
    return None if None in verdicts else 1.0


@frozen
class Checklist:
    """Verdicts of one system on the criteria of segments. One that several judged counts for each."""

    passed: int
    judged: int  # verdicts that were read, passes and fails
    missing: int  # verdicts that were asked for and not obtained. They are neither.
    all_passed: int  # translations that pass every criterion of their segment
    # translations of which it is known whether they do: all verdicts were read, or one is a fail
    settled: int
    unsettled: int  # translations of which it is not known, since a verdict is missing and none is a fail

    @classmethod
    def of(cls, translations: Iterable[Sequence[float | None]]) -> Checklist:
        """Count verdicts: of each translation those on all criteria, 1, 0 or None for a missing one."""
        every = list(translations)
        verdicts = Counter(verdict for each in every for verdict in each)
        wholes = Counter(map(all_pass, every))
        return cls(
            passed=verdicts[1],
            judged=verdicts.total() - verdicts[None],
            missing=verdicts[None],
            all_passed=wholes[1],
            settled=wholes.total() - wholes[None],
            unsettled=wholes[None],
        )

    @property
    def all_pass(self) -> float | None:
        """Share of the settled translations that pass every criterion, 0 to 1; None without one."""
        return self.all_passed / self.settled if self.settled else None

    def to_json(self) -> dict[str, float | None]:
        """All numbers, with the share that they make."""
        return {**asdict(self), "all_pass": self.all_pass}


@frozen
class Card:
    """Scorecard of one system: its points in so many words, and whether that passes."""

    points: float  # of all judged segments; the mean over annotators where a translation has several
    words: int  # of all judged segments
    rate: float | None  # points in as many words as the pass mark is counted in; None without a word
    # 100 less the points in 100 words, the quality score of MQM's scoring model; None without one
    quality: float | None
    critical: int  # translations with a critical error, whoever marked it
    unjudged: int  # segments without a score: failed, not translated, or not judged yet
    verdict: CardVerdict  # `pass`, `fail`, or `open` where segments without a score could still make it fail
    untranslated: int = 0  # of these, segments that are not translated


@frozen
class Suspects:
    """Judgements that are flagged because of what may be meant for the judge in their texts."""

    judgements: int
    asked: int
    in_translation: int  # those of them with something in a translation that its source does not hold
    segments: int
    systems: tuple[SystemScore, ...]  # scores over the other segments


ALL: Final = "all"
"""What stands for the language pair in rows over all of them."""


def by_lp(lps: Mapping[str, T], whole: T) -> dict[str, T]:
    """Rows by language pair, then those over all; one language pair has no name here."""
    return {**lps, ALL: whole} if lps else {"": whole}


def counted_columns(rows: Iterable[Any]) -> list[Column]:
    """Columns of what scores are over, those of untranslated segments and of flags where some row has any."""
    every = list(rows)
    flags = dict.fromkeys(flag for row in every for flag in row.readings)
    return [
        Column("n", "segments, or comparisons, that the score is over", "count"),
        Column("failed", "judgements asked for and not obtained", "count"),
        *untranslated_columns(every),
        *(Column(flag, "judgements with this flag", "count", of=_readings_of(flag)) for flag in flags),
    ]


def _readings_of(flag: str) -> Callable[[Any], int]:
    return lambda row: row.readings.get(flag, 0)


def spread_columns(rows: Iterable[Any]) -> list[Column]:
    """The column of how far samples differ, where some row has samples."""
    column = Column("spread", "mean standard deviation of the samples of a judgement", "decimal", digits=2)
    return [column] if any(row.spread is not None for row in rows) else []


def untranslated_columns(rows: Iterable[Any]) -> list[Column]:
    """The column of segments without a translation, where some row has one."""
    column = Column("untranslated", "segments without a translation", "count", title="not translated")
    return [column] if any(row.untranslated for row in rows) else []


def card_columns(passing: PassMark) -> list[Column]:
    """Columns of the scorecard of a row that has one."""
    rate = f"per {passing.words:,g} words"
    return [
        Column("words", "words of the sources", "count", of="card.words", none=""),
        Column("points", "points of the errors", "decimal", digits=1, of="card.points", none=""),
        Column("rate", "points for so many words", "decimal", title=rate, digits=2, of="card.rate", none=""),
        Column("quality", "quality score, higher is better", "decimal", digits=2, of="card.quality", none=""),
        Column("critical", "critical errors", "count", of="card.critical", none=""),
        Column("unjudged", "segments without a score", "count", of="card.unjudged", none=""),
        Column("scorecard", "pass, fail or open", of="card.verdict", none=""),
    ]


CHECKLIST: Final = (
    Column("passed", "verdicts that are a pass", "count", of="checklist.passed", none=""),
    Column("verdicts", "verdicts that were read", "count", of="checklist.judged", none=""),
    Column("missing", "verdicts that failed to come", "count", of="checklist.missing", none=""),
    Column("all pass", "share of settled ones that pass all", "decimal", of="checklist.all_pass", none=""),
    Column("settled", "translations of which all is known", "count", of="checklist.settled", none=""),
)
"""Columns of the verdicts on criteria of segments, of a row that has them."""


@frozen
class Scores(Framed):
    """All numbers of one annotator under one signature. Higher is better."""

    signature: Signature  # of every number in here
    range: tuple[float, float]  # lowest and highest possible score; infinite where there is no bound
    # one per translation asked for, in test-set order, failed ones included
    segments: tuple[SegmentScore, ...]
    # one per system, over all its segments in here. Empty where several language pairs have not the same
    # systems: a mean over all of them would compare what cannot be compared.
    systems: tuple[SystemScore, ...]
    direction: str = "higher is better"
    # of the marked errors; None where ratings, preferences or a metric's numbers are scored
    weights: Weights | None = None
    notes: tuple[str, ...] = ()  # what a reader must know: failures, unequal coverage, pending judgements
    # each language pair on its own, where there are several; else empty
    lps: Mapping[str, Scores] = field(default_factory=dict)
    # flagged judgements, and the scores without them; None where none is flagged, or where nothing is over
    # all language pairs
    suspects: Suspects | None = None
    # that were scored, on the one criterion; empty where translations were
    preferences: tuple[Preference, ...] = ()

    @property
    def is_corpus(self) -> bool:
        """Whether the scores of systems are of a whole corpus, and no means of segments."""
        return self.signature.fields.get("level") == "corpus"

    def by_pair(self) -> dict[str, Scores]:
        """The scores of each language pair, by its name, of a single one too."""
        return {**self.lps} or {segment.lp: self for segment in self.segments[:1]}

    def signature_of(self, level: Literal["corpus", "mean", "segment"]) -> Signature:
        """The signature of numbers of a level, which it says where a metric has scores of a corpus, too."""
        return self.signature.with_fields(level=level) if self.is_corpus else self.signature

    def __iter__(self) -> Iterator[SystemScore]:
        return iter(self.systems)

    def groups(self) -> dict[str, list[SystemScore]]:
        """Systems of each language pair, best first, then those over all."""
        groups = by_lp({lp: part.systems for lp, part in self.lps.items()}, self.systems)
        return {
            lp: sorted(rows, key=lambda row: (row.score is None, -(row.score or 0.0)))
            for lp, rows in groups.items()
        }

    def columns(self) -> list[Column]:
        rows = [row for group in self.groups().values() for row in group]
        passing = None if self.weights is None else self.weights.passing
        found = [
            Column("system", "its name"),
            Column("score", "mean over what was judged", "score"),
            INTERVAL,
            *spread_columns(rows),
            *counted_columns(rows),
        ]
        if passing is not None:
            found += card_columns(passing)
        elif any(row.checklist for row in rows):
            found += CHECKLIST
        return found

    # how the intervals of `systems` were made, and how sure they are; empty where there are none
    interval_notes: tuple[str, ...] = ()


Kind = Literal["judge", "metric"]
"""Who annotated: asked a model, or scored without one."""


@frozen
class RunInfo:
    """What `run.json` says."""

    signature: Signature  # of the run, `failed` and `version` included
    kind: Kind
    annotator: str  # name of the judge or metric; the annotator of every record
    protocol: str  # of every record
    weights: str | None = None  # named weights of its paper; None where it rates
    low: float | None = None  # lowest score of protocol `metric` that can be given; None without a bound
    high: float | None = None  # highest score of protocol `metric` that can be given; None without a bound
    settings: Mapping[str, object] = field(default_factory=dict)
    test_set: Mapping[str, object] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    # failed units by reason; under `no_translation`, those that had nothing to judge
    failures: Mapping[str, int] = field(default_factory=dict)
    # model calls: `asked`, `from_store`, `attempts`, `repaired`; of the last session with a server also
    # `concurrency` (calls at a time in the end), `refused` (429) and `waited` (seconds)
    calls: Mapping[str, int] = field(default_factory=dict)
    # prompt, cached, completion, reasoning; as the server counted them
    tokens: Mapping[str, int] = field(default_factory=dict)
    price: float | None = None  # in `currency`, or None for unknown
    currency: str = ""
    times: Mapping[str, str] = field(default_factory=dict)  # ISO 8601 `started` and `finished`
    records_digest: str = ""  # SHA-256 of `records.jsonl`, in hexadecimal; empty until the run is finished
    # lp to system to score, of metrics whose corpus score is no mean
    corpus_scores: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    # from which the delimiters of this run are derived; hexadecimal
    secret: str = field(default="", repr=False)
    schema_version: int = 1

    @property
    def untranslated(self) -> int:
        """Units of work that had no translation to judge."""
        return self.failures.get("no_translation", 0)

    @property
    def failed(self) -> int:
        """Units of work that were asked about and failed."""
        return self.counts["failed"] - self.untranslated


@frozen
class Run(Framed):
    """A run read back: what it was, what it judged, what came out."""

    info: RunInfo
    test_set: TestSet  # the segments and systems that it judged
    records: tuple[Record, ...]  # one per unit of work and criterion, in test-set order, failures among them

    def __repr__(self) -> str:
        return f"<run of {self.test_set!r}, {len(self.records):,} records, {self.info.signature}>"

    def groups(self) -> dict[str, tuple[Record, ...]]:
        return {"": self.records}

    def columns(self) -> list[Column]:
        return record_columns(self.records)


def record_columns(records: Sequence[Record]) -> list[Column]:
    """The fields that some record has, by the names that they have in files."""
    return [
        Column("kind", "annotation, preference or failure", of=lambda record: type(record).__name__.lower()),
        *(
            Column(name, "as in records.jsonl", kind, of=_field(name))
            for name, kind in _FIELDS.items()
            if any(_field(name)(record) is not None for record in records)
        ),
    ]


_FIELDS: Final[Mapping[str, ColumnKind]] = {
    **dict.fromkeys(("lp", "document", "segment", "system", "systems", "annotator", "protocol"), "text"),
    **dict.fromkeys(("criterion", "verdict", "weights"), "text"),
    **dict.fromkeys(("rating", "strength"), "decimal"),
    **dict.fromkeys(("spans", "counts", "flags", "orders", "rationale", "samples", "steps"), "text"),
    **dict.fromkeys(("reason", "detail"), "text"),
}


def _field(name: str) -> Callable[[Record], Any]:
    """A field of a record as a frame has it; None where it has none, or nothing in it."""

    def value(record: Record) -> Any:  # noqa: ANN401 (of any field)
        if name == "system" and isinstance(record, Failure):
            return record.systems[0] if len(record.systems) == 1 else None
        if name == "systems" and len(record.systems) == 1:
            return None
        found = getattr(record, name, None)
        if name == "spans" and isinstance(record, Annotation):
            return [asdict(span) for span in record.spans]
        if isinstance(found, Mapping | tuple):
            return (dict(found) if isinstance(found, Mapping) else list(found)) or None
        return None if found == "" else found

    return value
