"""What every test gets: an environment of its own, and a clear word when a test cannot run here."""

import gc
import os
import shutil
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations, count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pytest
from hypothesis import settings

from tests.shares import Shares, is_anothers

if TYPE_CHECKING:
    from adjudge.reports.figures import Figure
    from tests.faults.server import Server

OURS = {"ADJUDGE_DATA", "ADJUDGE_TEST_DATABASE", "ADJUDGE_CHAOS_KILLS"}  # the tests' own settings
FOREIGN = ("FORCE_COLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES")  # would change what rich prints


# A busy machine is slow, not wrong; `make chaos` draws more examples.
settings.register_profile(
    "house", deadline=None, max_examples=200 if "ADJUDGE_CHAOS_KILLS" in os.environ else 50
)
settings.load_profile("house")


def pytest_xdist_auto_num_workers() -> int:
    """`-n auto` is two workers for each core: many tests wait, for a server, a browser or the disk."""
    return 2 * (os.cpu_count() or 1)


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--seconds`: what `make quick` gives its tests."""
    parser.addoption(
        "--seconds", type=float, help="Begin no test so many seconds after the first; fail where none ran."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where the tables are cut, too; share files out."""
    if config.option.dist == "each" and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Shares(config))
    if "not exhaustive" in config.option.markexpr:
        settings.register_profile("quick", settings.get_profile("house"), max_examples=20)
        settings.load_profile("quick")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    return is_anothers(collection_path, config) or None


BEGUN = pytest.StashKey[float]()  # when the first test began, in each process that runs tests


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what there is no time for."""
    seconds = item.config.option.seconds
    if (
        seconds is not None
        and time.monotonic() - item.config.stash.setdefault(BEGUN, time.monotonic()) > seconds
    ):
        pytest.skip("no time is left: `make test` runs it")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Under `--seconds` a session in which no test ran says nothing of the code, and fails."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.option.seconds is None or reporter is None or session.exitstatus != pytest.ExitCode.OK:
        return
    if not any(reporter.stats.get(outcome) for outcome in ("passed", "xfailed")):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED
        reporter.section("no test ran: all that were chosen are skipped", red=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark cases of a table that others stand for, which have every row of it."""
    tables: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items if "exhaustive" in config.option.markexpr else ():
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            tables[item.nodeid.partition("[")[0]].append(item)
    for name, cases in tables.items():
        if not name.startswith("tests/frozen/"):
            for item in set(cases).difference(representatives(cases)):
                item.add_marker("exhaustive")


def representatives(cases: list[pytest.Function]) -> list[pytest.Function]:
    """Cases in which each row of each table stands, of three tables or more each pair of rows."""
    rows = [rows_of(case) for case in cases]
    if len(rows[0]) == 1:
        return cases
    size = 2 if len(rows[0]) > 2 else 1
    stands = [set(combinations(row, size)) for row in rows]
    left, found = set().union(*stands), []
    while left:
        best = max(range(len(cases)), key=lambda index: len(stands[index] & left))
        found.append(cases[best])
        left -= stands[best]
    return found


def rows_of(case: pytest.Function) -> list[tuple[object, ...]]:
    """Of each table that a case is made of, which row it has."""
    given = {name: (name, id(value)) for name, value in case.callspec.params.items()}
    tables = [mark.args[0] for mark in case.iter_markers("parametrize")]
    names = [table.replace(" ", "").split(",") if isinstance(table, str) else table for table in tables]
    rows = [tuple(given.pop(name) for name in table if name in given) for table in names]
    return [row for row in [*rows, *zip(given.values())] if row]


@pytest.fixture(scope="session", autouse=True)
def _clean_environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No key, model or cache of the user reaches a test, not even one that starts a program."""
    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if (
                name.endswith("_API_KEY")
                or name in FOREIGN
                or (name.startswith("ADJUDGE_") and name not in OURS)
            ):
                patch.delenv(name)
        patch.setenv("ADJUDGE_MODEL", "builtin/rules")  # whom a test asks that names no model
        home = tmp_path_factory.mktemp("home")
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "MPLCONFIGDIR"):
            patch.setenv(name, str(home))
        yield


CACHES = count()  # of tests; a folder is made when something is kept in it
SESSIONS: "WeakSet[Any]" = WeakSet()  # of aiohttp


def pytest_collection_finish() -> None:
    """Note sessions from now on; what is there now is no garbage, which is found sooner among the rest."""
    gc.freeze()
    if (aiohttp := sys.modules.get("aiohttp")) is None:
        return
    begin = aiohttp.ClientSession.__init__

    def begin_noted(session: object, *arguments: Any, **more: Any) -> None:
        SESSIONS.add(session)
        begin(session, *arguments, **more)

    aiohttp.ClientSession.__init__ = begin_noted


@pytest.fixture(scope="module", autouse=True)
def _closes_what_it_opens() -> Iterator[None]:
    """What tests leave open fails the last of their module, not a later one in which it becomes garbage."""
    before = count_open_files()
    yield
    if count_open_files() > before or not all(session.closed for session in SESSIONS):
        gc.collect()  # a warning of something that was not closed is an error


def count_open_files() -> int:
    """Files, sockets and the like; 0 where the system does not tell."""
    with suppress(OSError):
        return sum(1 for _ in Path("/dev/fd").iterdir())
    return 0


@pytest.fixture(autouse=True)
def _same_folder(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A test may change folder, environment or what is kept in the cache; the next one does not see it."""
    monkeypatch.chdir(Path.cwd())
    monkeypatch.setenv("ADJUDGE_CACHE", str(tmp_path_factory.getbasetemp() / f"cache-{next(CACHES)}"))


@pytest.fixture(scope="session", autouse=True)
def _listens_to_ctrl_c() -> None:
    """A shell that starts the tests in the background has them ignore SIGINT; a test that sends it cannot."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def adjudge_data() -> Path:
    """The folder of public test sets, for tests marked realdata."""
    if not (folder := os.environ.get("ADJUDGE_DATA")):
        pytest.skip("ADJUDGE_DATA is not set: it names the folder with the public test sets")
    if not Path(folder).is_dir():
        pytest.fail(f"ADJUDGE_DATA must name a folder, got {folder!r}")
    return Path(folder)


@pytest.fixture(scope="session")
def browser_path() -> str:
    """The machine's chromium, for tests marked browser: without windows it takes half the time."""
    for name in ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no chromium or google-chrome on PATH: 'make test' says how to install one")


@pytest.fixture
def _one_format(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are written as SVG alone, where tests of figures have shown that they are in all formats."""
    monkeypatch.setattr("adjudge.reports.figures.Figure.write", _write_svg)


def _write_svg(figure: "Figure", folder: Path) -> list[Path]:
    from adjudge.store.files import make_folder

    make_folder(folder)
    path = folder / f"{figure.name}.svg"
    figure.write_file(path)
    return [path]


@pytest.fixture(scope="session")
def _server() -> "Iterator[Server]":
    from tests.faults.server import running

    with running() as server:
        yield server


@pytest.fixture
def server(_server: "Server") -> "Server":
    """A server of models that behaves, until a test says what it plays."""
    _server.reset()
    return _server


@pytest.fixture
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits as long as a user should, where a model is asked again."""
    monkeypatch.setattr("adjudge.llm.faults.Patience.pause", lambda self, tries: 0.002)


@pytest.fixture(scope="session")
def cheap_passwords() -> Iterator[None]:
    """Passwords are hashed by argon2 with the least that it takes, which is a thousandth of the work."""
    from argon2 import PasswordHasher

    from adjudge.campaigns import people

    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
    people._nobodys.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(people, "_hasher", lambda: hasher)
        yield
    people._nobodys.cache_clear()
