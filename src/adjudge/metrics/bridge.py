"""Any program as a metric: it reads JSON lines and writes JSON lines, in an environment of its own.

Neural metrics pin what we could not live with, so they are called and never imported. How to write such a
program, and examples for the well-known ones, stand in docs/bridge.md.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from adjudge.core.frozen import frozen
from adjudge.core.judge import annotation_of, failure_of, preference_of
from adjudge.core.mqm import find_weights
from adjudge.core.protocol import Protocol, find_category, find_protocol, find_severity, is_number
from adjudge.core.record import Annotation, ErrorSpan, Match, Preference, Record, Side, Verdict
from adjudge.core.segment import Subject
from adjudge.errors import FAILURE_REASONS, AnswerError, DataError, UsageError

Answered = Mapping[str, Any]
"""One answer: an object whose `id` was asked for."""

_SPAN_KEYS: Final = {"start", "end", "text", "severity", "category", "side", "note"}
_LONGEST_NUMBER: Final = 400


def read_answers(raw: bytes, ids: Collection[str]) -> dict[str, Answered | AnswerError]:
    """One answer for each id, or what is wrong with it."""
    found: dict[str, Answered | AnswerError] = {}
    for number, line in enumerate(_decode(raw).split("\n"), start=1):
        if not line.strip(" \t\r"):
            continue
        what = f"line {number} of the answers"
        try:
            answer = _JSON.decode(line)
        except (ValueError, RecursionError):
            wanted = "must be one JSON object and nothing else; words for people go to standard error"
            raise AnswerError("parse", f"{what} {wanted}, got {line[:80]!r}") from None
        if not isinstance(answer, dict):
            raise AnswerError("parse", f"{what} must be a JSON object, got {line[:80]!r}")
        name = answer.get("id")
        if not isinstance(name, str) or name not in ids:
            raise AnswerError("count", f"line {number} answers id {name!r}, which nobody asked for")
        found[name] = AnswerError("count", "answered more than once") if name in found else answer
    missing = f"no answer; {len(found)} of {len(ids)} were answered"
    return {name: found.get(name, AnswerError("count", missing)) for name in ids}


def accepted(answer: Answered | AnswerError) -> Answered:
    """The answer, unless there is none."""
    if isinstance(answer, AnswerError):
        raise answer
    if "error" not in answer:
        return answer
    _check_keys(answer, {"id", "error", "detail"}, "an error")
    error, detail = answer["error"], answer.get("detail", "")
    if not isinstance(error, str) or not isinstance(detail, str):
        raise AnswerError("schema", "error and detail must be texts")
    known = next((reason for reason in FAILURE_REASONS if reason == error), None)
    if known is not None:
        raise AnswerError(known, _text(detail) or "says the command")
    raise AnswerError("server_error", _text(f"{error}: {detail}" if detail else error))


def read_number(answer: Answered, low: float | None, high: float | None) -> float:
    """The score as the program gives it."""
    if "score" not in answer:
        raise AnswerError("schema", f"wanted a score, got {', '.join(answer)}")
    score = answer["score"]
    if not (is_number(score) and (low is None or score >= low) and (high is None or score <= high)):
        bounds = f" from {'-inf' if low is None else f'{low:g}'} to {'inf' if high is None else f'{high:g}'}"
        raise AnswerError("range", f"a score must be a finite number{bounds}, got {str(score)[:80]!r}")
    return float(score)


def read_verdict(answer: Answered) -> Verdict:
    """Which of a pair is better."""
    if "verdict" not in answer:
        raise AnswerError("schema", f"wanted a verdict, got {', '.join(answer)}")
    verdict = next((v for v in get_args(Verdict) if v == answer["verdict"]), None)
    if verdict is None:
        raise AnswerError("label", f"a verdict must be A, B or E, got {str(answer['verdict'])[:80]!r}")
    return cast("Verdict", verdict)


def read_strength(answer: Answered) -> float | None:
    """How far the program is for A, from 1 to -1; None where it does not say."""
    strength = answer.get("strength")
    if strength is not None and not (is_number(strength) and -1 <= strength <= 1):
        raise AnswerError("range", f"a strength must be a number from -1 to 1, got {str(strength)[:80]!r}")
    return strength


def read_flags(answer: Answered) -> tuple[str, ...]:
    """Marks such as `input_cut`, each once."""
    flags = answer.get("flags", [])
    if not isinstance(flags, list) or not all(
        isinstance(flag, str) and flag.isidentifier() for flag in flags
    ):
        raise AnswerError(
            "schema", f"flags must be a list of words such as input_cut, got {str(flags)[:80]!r}"
        )
    return tuple(dict.fromkeys(flags))


def read_spans(answer: Answered, subject: Subject, *, wanted: bool) -> tuple[ErrorSpan, ...]:
    """The marked errors, offsets checked against the texts."""
    if "spans" not in answer and wanted:
        raise AnswerError("schema", "wanted spans; no errors are an empty list")
    spans = answer.get("spans", [])
    if not isinstance(spans, list):
        raise AnswerError("schema", f"spans must be a list, got {str(spans)[:80]!r}")
    return tuple(_read_span(span, subject, f"span {number}") for number, span in enumerate(spans, start=1))


def _read_span(value: object, subject: Subject, what: str) -> ErrorSpan:
    if not isinstance(value, dict):
        raise AnswerError("schema", f"{what} must be an object, got {str(value)[:80]!r}")
    _check_keys(value, _SPAN_KEYS, what)
    text, note = (_text(value.get(key, "")) for key in ("text", "note"))
    severity = find_severity(_text(value.get("severity", "")))
    if severity is None:
        raise AnswerError("label", f"severity of {what} is none, got {value.get('severity')!r}")
    label, category = value.get("category"), None
    if label is not None:
        category = find_category(_text(label))
        if category is None:
            raise AnswerError("label", f"category of {what} is none of the typology, got {label!r}")
    side = value.get("side", "translation")
    if side not in {"translation", "source"}:
        raise AnswerError("label", f"side of {what} must be translation or source, got {side!r}")
    start, end, text, match = _place(
        value, subject.source if side == "source" else subject.translation, text, what
    )
    return ErrorSpan(
        severity=severity,
        start=start,
        end=end,
        text=text,
        category=category,
        side=cast("Side", side),
        match=match,
        note=note,
        label=None if label == category else label,
    )


def _place(
    value: Mapping[str, object], judged: str, text: str, what: str
) -> tuple[int | None, int | None, str, Match]:
    start, end = value.get("start"), value.get("end")
    if start is None and end is None:
        return None, None, text, "unmatched" if text else "unplaced"
    if type(start) is not int or type(end) is not int or not 0 <= start <= end <= len(judged):
        wanted = f"0 <= start <= end <= {len(judged)}, in characters (code points)"
        raise AnswerError("range", f"{what} needs {wanted}; got {start!r} and {end!r}")
    if text not in {"", judged[start:end]}:
        raise AnswerError(
            "range", f"{what} quotes {text[:40]!r}, but {judged[start:end][:40]!r} stands there"
        )
    return start, end, judged[start:end], "exact"


def _check_keys(value: Mapping[str, object], known: Collection[str], what: str) -> None:
    if unknown := sorted(value.keys() - set(known)):
        raise AnswerError("schema", f"{what} has {unknown[0]!r}; it can have {', '.join(sorted(known))}")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise AnswerError("schema", f"wanted a text, got {str(value)[:80]!r}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise AnswerError("encoding", f"half a character in {value[:40]!r}") from None
    return value


def _decode(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise AnswerError("encoding", f"line {line} of the answers is not UTF-8") from None


def _same(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise AnswerError(
            "ambiguous", f"a key stands twice in one object of the answers: {[k for k, _ in pairs]}"
        )
    return found


def _read_whole(digits: str) -> float:
    return int(digits) if len(digits) < _LONGEST_NUMBER else float(digits)


_JSON: Final = json.JSONDecoder(object_pairs_hook=_same, parse_int=_read_whole)
"""Python's own NaN and Infinity come through as floats, which no score accepts: its line keeps its id."""


_POLL: Final = 0.05
_MOST_LOG: Final = 64 * 2**20  # bytes of standard error
_TAIL: Final = 2000
_LAST_LINES: Final = 5


def split_command(command: str) -> tuple[str, ...]:
    """Split a command into the program and its arguments as a shell would, though none will run it."""
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"command {command!r} cannot be split into arguments: {error}") from None


def find_program(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"the command starts with {name!r}, and no program of that name can be run")
    return found


@frozen
class Command:
    """A program and its arguments."""

    # the program first. `{input}` in an argument becomes the path of the file of lines, which otherwise comes
    # on standard input; `{output}` the path where the program writes its answers, which otherwise are its
    # standard output.
    arguments: Sequence[str]
    seconds: float  # after which it is killed
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set, init=False, repr=False, compare=False)

    def run(self, lines: Iterable[str], *, most: int) -> bytes:
        """Start the program once and wait for its end.

        What it answered, if it ended by itself and well. `most`: bytes that it may answer.
        """
        with tempfile.TemporaryDirectory(prefix="adjudge-") as folder:
            given, answers, log = (Path(folder, name) for name in ("input.jsonl", "output.jsonl", "log"))
            with given.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(line + "\n" for line in lines)
            try:
                self._run(given, answers, log, most)
                return answers.read_bytes() if answers.exists() else b""
            except AnswerError as error:
                raise AnswerError(error.reason, error.detail + _last_words(log)) from None

    def stop(self) -> None:
        """Kill what is running; whoever waits for it gets an error."""
        for process in list(self._running):
            _kill(process)

    def _run(self, given: Path, answers: Path, log: Path, most: int) -> None:
        with ExitStack() as files:
            errors = files.enter_context(log.open("wb"))
            reads = any("{input}" in argument for argument in self.arguments)
            writes = any("{output}" in argument for argument in self.arguments)
            process = self._start(
                [a.replace("{input}", str(given)).replace("{output}", str(answers)) for a in self.arguments],
                stdin=subprocess.DEVNULL if reads else files.enter_context(given.open("rb")),
                stdout=errors if writes else files.enter_context(answers.open("wb")),
                stderr=errors,
            )
            self._running.add(process)
            try:
                self._watch(process, answers, log, most)
            finally:
                _kill(process)
                self._running.discard(process)

    def _start(self, arguments: Sequence[str], **files: object) -> subprocess.Popen[bytes]:
        program = find_program(arguments[0])
        try:
            return subprocess.Popen(  # type: ignore[call-overload, no-any-return] # noqa: S603 (the user's own)
                [program, *arguments[1:]],
                env={"PYTHONIOENCODING": "utf-8", **os.environ},
                start_new_session=os.name == "posix",
                **files,
            )
        except (OSError, ValueError) as error:
            raise UsageError(f"{program} cannot be started: {error}") from error

    def _watch(self, process: subprocess.Popen[bytes], answers: Path, log: Path, most: int) -> None:
        end = time.monotonic() + self.seconds
        code: int | None = None
        while code is None:
            with suppress(subprocess.TimeoutExpired):
                code = process.wait(_POLL)
            if _size(answers) > most:
                raise AnswerError("oversize", f"the command wrote more than {most} bytes of answers")
            if _size(log) > _MOST_LOG:
                raise AnswerError(
                    "oversize", f"the command wrote more than {_MOST_LOG} bytes beside its answers"
                )
            if code is None and time.monotonic() > end:
                raise AnswerError(
                    "timeout", f"the command did not end within {self.seconds:g} s and was killed"
                )
        if code:
            raise AnswerError("server_error", f"the command {_how_it_ended(code)}")


def _how_it_ended(code: int) -> str:
    if code > 0:
        return f"ended with exit status {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
        return f"was killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")
    return f"was killed by signal {-code}"


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError, PermissionError):
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _last_words(log: Path) -> str:
    with log.open("rb") as file:
        file.seek(max(0, _size(log) - _TAIL))
        text = file.read().decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    words = " / ".join("".join(c if c.isprintable() else " " for c in line).strip() for line in lines)
    return f"; it said: {words}" if words else "; it said nothing on standard error"


_ROOM: Final = 4 * 2**20  # bytes that any number of answers may have


class Program:
    """What asks a command with JSON lines, `batch` of them at a start; `runs` drives it as a metric."""

    command: str | tuple[str, ...]
    batch: int
    time_limit: float

    @cached_property
    def _arguments(self) -> tuple[str, ...]:
        return split_command(self.command) if isinstance(self.command, str) else tuple(self.command)

    @cached_property
    def _program(self) -> Command:
        return Command(arguments=self._arguments, seconds=self.time_limit)

    @property
    def block(self) -> int:
        """Subjects that it wants at a time."""
        return self.batch

    def corpus_score(self, subjects: Sequence[Subject]) -> None:
        """None: the score of a system is the mean of its segments, if there is one."""

    def stop(self) -> None:
        """Kill the program, if it is running."""
        self._program.stop()

    def _check_limits(self) -> None:
        if self.batch < 1 or not 0 < self.time_limit < math.inf:
            raise UsageError("batch must be 1 or more, and time_limit a number of seconds above 0")

    def _ask(
        self, subjects: Sequence[Subject], line: Callable[[str, Subject], str], room_each: int
    ) -> list[tuple[Subject, Answered | AnswerError]]:
        """One start of the program. If it does not end well, nothing that it said is believed.

        `room_each`: bytes that one answer may have, besides the room that all have together.
        """
        asked = {f"u{number}": subject for number, subject in enumerate(subjects, start=1)}
        answers: Mapping[str, Answered | AnswerError]
        try:
            lines = (line(name, subject) for name, subject in asked.items())
            answers = read_answers(self._program.run(lines, most=_ROOM + room_each * len(asked)), asked)
        except AnswerError as error:
            answers = dict.fromkeys(asked, error)
        return [(subject, answers[name]) for name, subject in asked.items()]


_ROOM_EACH: Final = 16 * 2**10
_KEYS: Final = {"id", "score", "spans", "flags", "rationale"}
_PAIR_KEYS: Final = {"id", "verdict", "strength", "flags", "rationale"}


class _Bounds(NamedTuple):
    low: float | None
    high: float | None


@frozen
class Bridge(Program):
    """Any command that reads JSON lines and answers with JSON lines: COMET, MetricX, a script of yours.

    Args:
        command: the program and its arguments; a text is split as a shell would, and no shell runs it.
        name: of the metric, in records and signature.
        protocol: what it gives: `metric` a score and, if it likes, spans; `mqm` spans; `esa` both;
            `da-sqm` and `sqm` a score on their scale; `pairwise` a verdict on every pair of systems.
        criterion: of the verdicts under `pairwise`.
        weights: of the spans under `mqm`.
        direction: `lower` for scores that are better when lower; they are negated, and the signature says so.
        range: lowest and highest score that the program can give, `0..25`; either may be left out. A score
            outside is a failure.
        with_reference: whether it needs a reference.
        batch: translations that one start of the program gets.
        time_limit: seconds for one start.

    Raises:
        UsageError: a setting that cannot be.
    """

    command: str | tuple[str, ...] = ""
    name: str = "bridge"
    protocol: str = "metric"
    criterion: str = "overall"
    weights: str | None = None
    direction: Literal["higher", "lower"] = "higher"
    range: str = ""
    with_reference: bool = False
    batch: int = 20_000
    time_limit: float = 3600.0

    def __post_init__(self) -> None:
        if not self.name.strip() or not self.name.isprintable():
            raise UsageError(f"name of the metric must be a word or words, got {self.name!r}")
        rates = find_protocol(self.protocol).name == "metric"
        if not rates and (self.direction == "lower" or self.range):
            raise UsageError(
                f"protocol {self.protocol} has its own scale; direction and range are for 'metric'"
            )
        if self.weights is not None and self.protocol != "mqm":
            raise UsageError(f"weights are for protocol mqm; {self.name} has {self.protocol}")
        if self.criterion != "overall" and self.protocol != "pairwise":
            raise UsageError(f"a criterion is for protocol pairwise; {self.name} has {self.protocol}")
        if self.protocol == "mqm":
            object.__setattr__(self, "weights", find_weights(self.weights or "mqm-google").name)
        self._check_limits()
        _ = self._arguments, self._bounds

    def settings(self, lp: str) -> Mapping[str, str]:  # noqa: ARG002 (the program knows what it can do)
        """The command, and what was said of its scores.

        Raises:
            UsageError: there is no command, or no such program.
        """
        if not self._arguments:
            raise UsageError('a bridge needs a command, such as --command "python my_metric.py"')
        find_program(self._arguments[0])
        turned = {"direction": "lower, negated"} if self.direction == "lower" else {}
        limits = {"range": self.range} if self.range else {}
        return {"command": shlex.join(self._arguments), **turned, **limits}

    def annotate(self, subjects: Sequence[Subject]) -> list[Record]:
        """Judge translations, or pairs of them, `batch` at a start of the program.

        Raises:
            UsageError: the program cannot be started.
        """
        records: list[Record] = []
        for first in range(0, len(subjects), self.batch):
            asked = self._ask(subjects[first : first + self.batch], self._line, _ROOM_EACH)
            records += [self._record(subject, answer) for subject, answer in asked]
        return records

    @property
    def low(self) -> float | None:
        """Lowest score, after negation."""
        return self._bounds.low if self.direction == "higher" else _negated(self._bounds.high)

    @property
    def high(self) -> float | None:
        """Highest score, after negation."""
        return self._bounds.high if self.direction == "higher" else _negated(self._bounds.low)

    def _line(self, name: str, subject: Subject) -> str:
        unit = {
            "id": name,
            "lp": subject.lp,
            "document": subject.segment.document,
            "segment": subject.segment.segment,
            "source": subject.source,
            **self._judged(subject),
        }
        if self.with_reference:
            unit["reference"] = subject.reference or ""
        return json.dumps(unit, ensure_ascii=False)

    def _judged(self, subject: Subject) -> Mapping[str, object]:
        if self.protocol != "pairwise":
            return {"system": subject.system, "translation": subject.translation}
        texts = [subject.segment.translations[name] for name in subject.systems]
        return {"systems": subject.systems, "translations": texts}

    def _record(self, subject: Subject, answer: Answered | AnswerError) -> Record:
        try:
            return (self._compare if self.protocol == "pairwise" else self._read)(subject, accepted(answer))
        except AnswerError as error:
            criterion = self.criterion if self.protocol == "pairwise" else None
            return failure_of(self, subject, error.reason, error.detail, criterion)

    def _compare(self, subject: Subject, answer: Answered) -> Preference:
        return preference_of(
            self,
            subject,
            criterion=self.criterion,
            verdict=read_verdict(answer),
            flags=read_flags(answer),
            rationale=_rationale(answer, _PAIR_KEYS),
            strength=read_strength(answer),
        )

    def _read(self, subject: Subject, answer: Answered) -> Annotation:
        rates = self._scale.needs_rating
        marks = self._scale.has_spans or self.protocol == "metric"
        rationale = _rationale(
            answer, _KEYS - (set() if rates else {"score"}) - (set() if marks else {"spans"})
        )
        number = read_number(answer, self._bounds.low, self._bounds.high) if rates else None
        sign = -1 if self.direction == "lower" else 1
        try:
            return annotation_of(
                self,
                subject,
                rating=None if number is None else sign * number + 0.0,
                spans=read_spans(answer, subject, wanted=self._scale.has_spans),
                flags=read_flags(answer),
                rationale=rationale,
            )
        except DataError as error:
            raise AnswerError("schema", str(error)) from error

    @cached_property
    def _bounds(self) -> _Bounds:
        if self.protocol != "metric":
            return _Bounds(self._scale.low, self._scale.high)
        if not self.range:
            return _Bounds(None, None)
        low, dots, high = self.range.partition("..")
        try:
            bounds = _Bounds(float(low) if low else None, float(high) if high else None)
        except ValueError:
            bounds, dots = _Bounds(None, None), ""
        if not dots or any(bound is not None and not math.isfinite(bound) for bound in bounds):
            raise UsageError(f"range must look like 0..25, 0.. or ..0, got {self.range!r}")
        if bounds.low is not None and bounds.high is not None and bounds.low >= bounds.high:
            raise UsageError(f"range must rise, got {self.range!r}")
        return bounds

    @property
    def _scale(self) -> Protocol:
        return find_protocol(self.protocol)


def _rationale(answer: Answered, known: Collection[str]) -> str | None:
    if unknown := sorted(answer.keys() - set(known)):
        raise AnswerError("schema", f"an answer can have {', '.join(sorted(known))}; got {unknown[0]!r}")
    rationale = answer.get("rationale")
    if rationale is not None and not isinstance(rationale, str):
        raise AnswerError("schema", "rationale must be a text")
    return rationale


def _negated(bound: float | None) -> float | None:
    return None if bound is None else 0.0 - bound
