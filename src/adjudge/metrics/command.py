"""Run somebody's program over a file of lines, within a time and a size, and say how it ended.

Knows nothing of scores. The program gets no shell, its own process group, and files instead of pipes, so that
it can block neither itself nor us.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from adjudge.errors import AnswerError, UsageError

__all__ = ["Command", "find_program", "split_command"]

_POLL: Final = 0.05
_MOST_LOG: Final = 64 * 2**20  # bytes of standard error
_TAIL: Final = 2000
_LAST_LINES: Final = 5


def split_command(command: str) -> tuple[str, ...]:
    """Split a command into the program and its arguments as a shell would, though none will run it.

    Raises:
        UsageError: a quote in it has no end.
    """
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(f"command {command!r} cannot be split into arguments: {error}") from None


def find_program(name: str) -> str:
    """Path of a program.

    Raises:
        UsageError: there is none that could be run.
    """
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"the command starts with {name!r}, and no program of that name can be run")
    return found


@dataclass(frozen=True, kw_only=True)
class Command:
    """A program and its arguments.

    Args:
        arguments: the program first. `{input}` in an argument becomes the path of the file of lines, which
            otherwise comes on standard input; `{output}` the path where the program writes its answers,
            which otherwise are its standard output.
        seconds: after which it is killed.
    """

    arguments: Sequence[str]
    seconds: float
    _running: set[subprocess.Popen[bytes]] = field(default_factory=set, init=False, repr=False, compare=False)

    def run(self, lines: Iterable[str], *, most: int) -> bytes:
        """Start the program once and wait for its end.

        Args:
            lines: what it reads, without line ends.
            most: bytes that it may answer.

        Returns:
            What it answered, if it ended by itself and well.

        Raises:
            AnswerError: timeout, oversize, or server_error for any other end; with its last words.
            UsageError: it cannot be started.
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
    """Kill the program and what it started, if it is still there."""
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
    """The last lines of what it wrote beside its answers, printable."""
    with log.open("rb") as file:
        file.seek(max(0, _size(log) - _TAIL))
        text = file.read().decode(errors="replace")
    lines = [line for line in text.splitlines() if line.strip()][-_LAST_LINES:]
    words = " / ".join("".join(c if c.isprintable() else " " for c in line).strip() for line in lines)
    return f"; it said: {words}" if words else "; it said nothing on standard error"
