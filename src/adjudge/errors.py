"""Every exception that adjudge raises on purpose, why an answer failed, and how a command ends.

AdjudgeError              what a user may see: one line on the command line, `--debug` for the rest
├── UsageError            the call itself is wrong: an unknown name, two options that contradict
│   └── SettingError      a judge or a metric has no such setting
├── DataError             a file or a record is not what it should be; says where
│   └── LanguagePairError a file judges other language pairs than the one that was wanted
├── ModelError            the model cannot be asked at all: no key, a host that refuses, a wrong setting
│   └── ServerStopError   the server stopped us (quota, key); the run can be resumed
│       ├── UniformFailureError   the first units all failed for one reason; the run can be resumed
│       └── ServerAwayError   it cannot be reached, or asks for a longer pause than a run should make
├── BudgetError           the next call would cross the budget; the run can be resumed
├── StoreError            a store cannot be read or written (full disk, another process, a newer version)
├── AccessError           a link, a password or a session that lets nobody into a campaign
│   └── NotYoursError     a person of a campaign asked for what is not theirs, or not any more
├── UnfinishedError       a task cannot be finished yet; says what is still to do
└── AnswerError           one reply cannot be used; becomes a `Failure`, never a score
    └── NoToolsError      the server takes no tools; a judge that can do without asks in words

DataWarning               a file was read, but not quite as it stands; says how
FolderWarning             a folder above what is written was missing and was made; a typing error may name it
UnfitWarning              a run or a ranking from Python is of a judge that does not see what it judges
FailedWarning             a run from Python ended with more failures than `max_failed` allows; says why
"""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Final, Literal, TypeVar, cast, get_args

F = TypeVar("F", bound=Callable[..., Any])

FailureReason = Literal[
    "ambiguous",
    "bad_envelope",
    "connection",
    "count",
    "empty",
    "encoding",
    "label",
    "logprob",
    "missing",
    "model_mismatch",
    "no_answer",
    "no_translation",
    "not_json",
    "oversize",
    "parse",
    "raised",
    "range",
    "refused",
    "schema",
    "server_error",
    "span",
    "timeout",
    "too_long",
    "truncated",
    "words",
]
"""Why something that was asked for was not obtained. `docs/failures.md` says what each one means."""

FAILURE_REASONS: tuple[FailureReason, ...] = get_args(FailureReason)


class AdjudgeError(Exception):
    """Base of all errors that a user may see."""


class UsageError(AdjudgeError):
    """The call itself is wrong: an unknown name, or options that contradict each other."""


class SettingError(UsageError):
    """A judge or a metric has no such setting. `what`: kind and name, such as `judge 'ea-prompt'`."""

    def __init__(self, what: str, name: str, known: Sequence[str]) -> None:
        super().__init__(f"{what} has no setting {name!r}; it has {', '.join(known) or 'none'}")
        self.name = name
        self.known = tuple(known)


class DataError(AdjudgeError):
    """A file or a record is not what it should be. `line`: its line, counted from 1."""

    def __init__(self, message: str, *, path: object = None, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line

    def __str__(self) -> str:
        line = "" if self.line is None else f" line {self.line}"
        return self.message if self.path is None else f"{self.message} ({self.path}{line})"


class LanguagePairError(DataError):
    """A run or a file judges other language pairs than the one that was wanted."""


class DataWarning(UserWarning):
    """A file was read, but not quite as it stands: a byte-order mark, Windows line ends, a flagged span."""


class FolderWarning(UserWarning):
    """A folder above what is written was missing and was made; a typing error may have named it."""


class FailedWarning(UserWarning):
    """A run from Python ended with a larger share of failures than `max_failed`; its records are kept."""


class UnfitWarning(UserWarning):
    """A run or a ranking from Python is of a judge that does not see what it judges; says why."""


@contextmanager
def placing(path: object, line: int | None = None) -> Iterator[None]:
    """Give a file, and perhaps its line, to what is wrong with data and does not name its place."""
    try:
        yield
    except DataError as error:
        if error.path is None:
            error.path, error.line = path, error.line or line
        raise


def names_file(read: F) -> F:
    """Have a reader, whose first argument is the file, name it in what it refuses."""

    @wraps(read)
    def named(path: object, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 (what the reader takes)
        with placing(path):
            return read(path, *args, **kwargs)

    return cast("F", named)


_NOT_THEIRS: Final = {"adjudge", *sys.stdlib_module_names}
_BETWEEN: Final = frozenset({"adjudge", "asyncio", "contextlib", "functools"})


def warn(message: str, kind: type[Warning] = DataWarning) -> None:
    """Warn at the line of the user's program that led here, the first outside of the package."""
    frame, level = sys._getframe(), 1  # noqa: SLF001 (warnings count frames, too)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, kind, level)


def blamed(error: BaseException) -> str:
    """An exception in the code of another package, and the last line of that code that led to it."""
    theirs = [
        (name, f"{frame.f_code.co_filename} line {line}")
        for frame, line in traceback.walk_tb(error.__traceback__)
        if (name := str(frame.f_globals.get("__name__")).partition(".")[0]) not in _NOT_THEIRS
    ]
    places = [f" ({place})" for name, place in theirs if name == theirs[0][0]]  # not what that code imports
    return f"{type(error).__name__}: {error}{places[-1] if places else ''}"


class ModelError(AdjudgeError):
    """The model cannot be asked at all: no key, a host that refuses, a setting it does not know."""


class ServerStopError(ModelError):
    """The server stopped us (quota, billing, key). What was answered is stored; the run can be resumed."""


class ServerAwayError(ServerStopError):
    """The server cannot be reached, or asks for a longer pause than a run should make."""


class UniformFailureError(ServerStopError):
    """The first units of a run all failed for one reason. The run can be resumed."""


class BudgetError(AdjudgeError):
    """The next call would cross the budget. What was answered is stored; the run can be resumed."""


class StoreError(AdjudgeError):
    """The store of calls or of a campaign cannot be read or written."""


class AccessError(AdjudgeError):
    """A link, a password or a session that lets nobody into a campaign."""


class NotYoursError(AccessError):
    """A person of a campaign asked for what is not theirs, or not any more."""


class UnfinishedError(AdjudgeError):
    """A task cannot be finished yet."""

    def __init__(self, message: str, todo: Mapping[int, Sequence[str]]) -> None:
        """Name the places in the message, and keep them for the page."""
        super().__init__(f"{message}: " + "; ".join(why for reasons in todo.values() for why in reasons))
        self.todo = {item: tuple(reasons) for item, reasons in todo.items()}


class AnswerError(AdjudgeError):
    """One reply cannot be used.

    Args:
        reason: the name that the resulting `Failure` carries.
        detail: what was wanted and what came, short; never holds a key or a header.
    """

    def __init__(self, reason: FailureReason, detail: str) -> None:
        """Keep reason and detail apart for the record."""
        super().__init__(f"{reason}: {detail}")
        self.reason: FailureReason = reason
        self.detail = detail


class NoToolsError(AnswerError):
    """A question that offers tools gets no answer: the server takes none, or none is stored."""


DONE: Final = 0
ERROR: Final = 1
USAGE: Final = 2
FAILURES: Final = 3  # done, with more failures than --max-failed
BUDGET: Final = 4
GATE_NO: Final = 5
GATE_UNSURE: Final = 6
STOPPED: Final = 7  # by the server: quota or key; resumable
INTERRUPTED: Final = 130  # Ctrl-C or SIGTERM
CLOSED_PIPE: Final = 141  # the reader closed the pipe, as `head` does: a shell's code for SIGPIPE


def exit_code_of(error: Exception) -> int:
    """Exit code that an error ends a command with."""
    if isinstance(error, UsageError):
        return USAGE
    if isinstance(error, BudgetError):
        return BUDGET
    return STOPPED if isinstance(error, ServerStopError) else ERROR
