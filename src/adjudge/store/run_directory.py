"""The files of a run directory, and the file of `adjudge calibrate`.

A run directory holds `run.json`, `test_set.jsonl`, `records.jsonl`, and the call store that `runs/` keeps.
`AnswerKeys` is the file with the keys of all answers that records rest on. A `Calibration` holds, for every
language pair, the confidence below which a judge looks again.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, cast, get_args

from adjudge.core.frozen import frozen
from adjudge.core.record import Failure, Record
from adjudge.core.scores import Kind, Run, RunInfo, Signature
from adjudge.core.segment import TestSet
from adjudge.core.verb import checks_keywords
from adjudge.errors import DataError, StoreError, UsageError, warn
from adjudge.store.files import (
    Fields,
    inside,
    read_fields,
    read_json,
    read_json_file,
    read_json_lines,
    read_text,
    write_bytes,
    write_text,
)
from adjudge.store.json_lines import read_test_set, record_from_json

ANSWERS: Final = "answers.keys"
INFO: Final = "run.json"
RECORDS: Final = "records.jsonl"
SHARDS: Final = "shards"  # parts of a run on Ray that goes on, each a run directory
TEST_SET: Final = "test_set.jsonl"
SCHEMA_VERSION: Final = 1

_KEYS: Final = frozenset(field.name for field in dataclasses.fields(RunInfo))


def read_run(path: Path | str, like: TestSet | None = None) -> Run:
    folder = Path(path)
    info = refuse_changed(folder, read_run_info(folder))
    if not (folder / RECORDS).is_file():
        raise DataError("not finished: run the same `adjudge run` command again", path=folder)
    test_set = read_test_set(inside(folder, folder / TEST_SET)) if like is None else like
    name = info.test_set.get("name", test_set.name)
    records = tuple(_records_in(folder / RECORDS))
    _check_counts(info, records, folder / RECORDS)
    return Run(info=info, test_set=TestSet(name=str(name), segments=test_set.segments), records=records)


@checks_keywords
def read_records(path: Path | str) -> list[Record]:
    """Read the records of a JSONL file or a run directory, in file order.

    Raises:
        DataError: a line is no record; says which line and what is wrong with it.
        UsageError: this is no path, or the file of a run that was changed after it.
    """
    if not isinstance(path, str | Path):
        raise UsageError(
            f"read_records reads a file or a run directory, got {type(path).__name__}: others, such as "
            "score, take what is in memory as it is"
        )
    path = Path(path)
    file = path / RECORDS if path.is_dir() else path
    if run := run_of(file):
        refuse_changed(run, read_run_info(run))
    return _records_in(file)


def run_of(file: Path) -> Path | None:
    """The directory of the run whose records a file holds; None for any other file."""
    return file.parent if file.name == RECORDS and (file.parent / INFO).is_file() else None


def _records_in(file: Path) -> list[Record]:
    return [record_from_json(value, line, file) for line, value in read_json_lines(file)]


_ACCEPTED: ContextVar[set[Path] | None] = ContextVar("accepted", default=None)


@contextmanager
def accepting_changed() -> Iterator[None]:
    """Read the records of runs in here also where they were changed after the run; each is warned of once."""
    token = _ACCEPTED.set(set())
    try:
        yield
    finally:
        _ACCEPTED.reset(token)


def refuse_changed(folder: Path, info: RunInfo) -> RunInfo:
    """Refuse a run whose records are not those that it wrote; if that is accepted, its signature says so."""
    if not is_changed(folder, info):
        return info
    told = f"{folder / RECORDS} was changed after the run: its SHA-256 is not that in run.json"
    if (accepted := _ACCEPTED.get()) is None:
        raise UsageError(
            f"{told}; the same `adjudge run` command makes it anew from the stored answers, "
            "--accept-changed goes on with it as it is"
        )
    if folder not in accepted:
        accepted.add(folder)
        warn(f"{told}; --accept-changed takes it as it is")
    return replace(info, signature=info.signature.with_fields(changed="records"))


def is_changed(folder: Path, info: RunInfo) -> bool:
    """Whether the records of a finished run are not those that it wrote."""
    return (
        "finished" in info.times
        and (folder / RECORDS).is_file()
        and info.records_digest != digest_of_records(folder)
    )


def digest_of_records(folder: Path) -> str:
    """SHA-256 of the records of a run, in hexadecimal."""
    with (folder / RECORDS).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_counts(info: RunInfo, records: Sequence[Record], path: Path) -> None:
    if "judged" not in info.counts:
        return
    failed = sum(isinstance(record, Failure) for record in records)
    found, wanted = (len(records) - failed, failed), (info.counts["judged"], info.counts.get("failed", 0))
    if found != wanted:
        came, counted = (f"{judged} judged and {lost} failed" for judged, lost in (found, wanted))
        what = f"the records are {came}, where {INFO} counts {counted}"
        raise DataError(f"{what}: records are missing or foreign; run it again into this folder", path=path)


def read_run_info(path: Path | str) -> RunInfo:
    """Read `run.json` of a run directory."""
    file = Path(path) / INFO
    if not file.is_file():
        raise DataError(f"not a run directory: it has no {INFO}", path=path)
    value = read_json(read_text(file), path=file)
    version = value.get("schema_version") if isinstance(value, dict) else None
    if version != SCHEMA_VERSION:
        raise DataError(f"schema_version must be {SCHEMA_VERSION}, got {version!r}", path=file)
    fields = read_fields(value, _KEYS, "run", file)
    kind = fields.text("kind")
    if kind not in get_args(Kind):
        fields.fail(f"'kind' must be {', '.join(get_args(Kind))}; got {kind!r}")
    return RunInfo(
        signature=Signature.read(fields.text("signature")),
        kind=cast("Kind", kind),
        annotator=fields.text("annotator"),
        protocol=fields.text("protocol"),
        weights=fields.optional_text("weights"),
        low=fields.number("low"),
        high=fields.number("high"),
        settings=fields.mapping("settings"),
        test_set=fields.mapping("test_set"),
        counts=_counts(fields, "counts"),
        failures=_counts(fields, "failures"),
        calls=_counts(fields, "calls"),
        tokens=_counts(fields, "tokens"),
        price=fields.number("price"),
        currency=fields.text("currency", ""),
        times=fields.text_mapping("times"),
        records_digest=fields.text("records_digest"),
        corpus_scores={lp: _numbers(fields, lp) for lp in fields.mapping("corpus_scores")},
        secret=fields.text("secret", ""),
    )


def is_finished(path: Path, info: RunInfo) -> bool:
    """Whether a run was judged to its end."""
    return not info.counts.get("pending") and (path / RECORDS).is_file()


def _counts(fields: Fields, key: str) -> dict[str, int]:
    inner = Fields(fields.mapping(key), key, fields.path)
    return {name: inner.whole(name) or 0 for name in inner.values}


def _numbers(fields: Fields, lp: str) -> dict[str, float]:
    outer = Fields(fields.mapping("corpus_scores"), "corpus_scores", fields.path)
    inner = Fields(outer.mapping(lp), f"corpus_scores of {lp}", fields.path)
    return {name: _required(inner, name) for name in inner.values}


def _required(fields: Fields, key: str) -> float:
    value = fields.number(key)
    if value is None:
        fields.fail(f"{key!r} must be a number, got null")
    return value


def write_run_info(path: Path | str, info: RunInfo) -> None:
    """Write `run.json` of a run directory; the file appears whole or not at all."""
    values = {"schema_version": info.schema_version, **vars(info), "signature": str(info.signature)}
    text = json.dumps(values, ensure_ascii=False, indent=2, allow_nan=False)
    write_text(Path(path) / INFO, [text, "\n"])


_KEY_BYTES: Final = 32


class AnswerKeys:
    """The file of keys, for who adds to it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / ANSWERS
        with self._kept():
            self._file = self._path.open("ab", buffering=0)
            self._file.truncate(self._file.tell() // _KEY_BYTES * _KEY_BYTES)  # a key that was cut is none

    def add(self, keys: Iterable[bytes]) -> None:
        if said := b"".join(keys):
            with self._kept():
                self._file.write(said)

    def close(self) -> None:
        self._file.close()

    @contextmanager
    def _kept(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"cannot write {self._path}: {error.strerror}; make room and run it again"
            ) from error


def read_answer_keys(folder: Path) -> Iterator[bytes]:
    """The keys of a run, in no particular order; some may come several times."""
    with (folder / ANSWERS).open("rb") as file:
        yield from (key for key in iter(partial(file.read, _KEY_BYTES), b"") if len(key) == _KEY_BYTES)


def write_answer_keys(folder: Path, keys: Iterable[bytes]) -> None:
    """Put these keys in the place of what stands there."""
    write_bytes(folder / ANSWERS, keys)


@frozen
class LpThreshold:
    """The threshold of one lp."""

    threshold: float  # a confidence from 0 to 1
    confidences: int  # of how many it was taken
    below: int  # how many of them are not above it, so that their errors are discussed if they stand
    judged: int  # translations that were judged for it
    failed: int  # translations that could not be judged, and have no part in it
    # thresholds of subtypes, of their own confidences or of those of their core type
    subtypes: Mapping[str, float] = field(default_factory=dict)


@frozen
class Calibration:
    """What was found of one judge with one model."""

    judge: str
    model: str  # whom it asked, as in a signature
    # how it was measured: `logprobs`, or `samples:5` for the share of five answers that agree
    confidence: str
    prompts: str  # six hexadecimal digits over the judge's prompts
    percentile: float
    thresholds: Mapping[str, LpThreshold]
    # whether each confidence was a share of what could be answered, not a plain probability
    renormalised: bool

    @property
    def digest(self) -> str:
        """Six hexadecimal digits over everything that the file says."""
        return hashlib.sha256(_bytes(self)).hexdigest()[:6]


def write_calibration(path: Path, calibration: Calibration) -> None:
    """Write the file; whole or not at all."""
    write_bytes(path, [_bytes(calibration)])


def read_calibration(path: Path) -> Calibration:
    """Read a file of `adjudge calibrate`."""
    if not path.is_file():
        raise UsageError(f"no file {str(path)!r}; `adjudge calibrate` makes one")
    try:
        value = read_json_file(path)
    except DataError as error:
        raise DataError(f"{path} must be a file of `adjudge calibrate`: {error}") from None
    names = {field.name for field in fields(Calibration)}
    if not isinstance(value, dict) or value.keys() != names:
        raise DataError(f"{path} must be a file of `adjudge calibrate`, with {', '.join(sorted(names))}")
    try:
        return _calibration(value)
    except (AttributeError, TypeError, ValueError) as error:
        raise DataError(f"{path} must be a file of `adjudge calibrate`: {error}") from None


def _calibration(value: Mapping[str, Any]) -> Calibration:
    thresholds = {str(lp): LpThreshold(**numbers) for lp, numbers in value["thresholds"].items()}
    for lp, found in thresholds.items():
        fields = asdict(found)
        numbers = [*fields.pop("subtypes").values(), *fields.values()]
        if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
            raise ValueError(f"the numbers of {lp} must be numbers, got {numbers}")
        if not 0 <= found.threshold <= 1:
            raise ValueError(f"the threshold of {lp} must be from 0 to 1, got {found.threshold!r}")
    texts = {key: value[key] for key in ("judge", "model", "confidence", "prompts")}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{', '.join(texts)} must be texts")
    if not isinstance(renormalised := value["renormalised"], bool):
        raise TypeError(f"renormalised must be true or false, got {renormalised!r}")
    percentile = float(value["percentile"])
    return Calibration(**texts, percentile=percentile, thresholds=thresholds, renormalised=renormalised)


def _bytes(calibration: Calibration) -> bytes:
    return (json.dumps(asdict(calibration), ensure_ascii=False, indent=2, sort_keys=True) + "\n").encode()
