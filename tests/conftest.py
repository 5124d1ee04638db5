"""What every test gets: an environment of its own, and a clear word when a test cannot run here."""

import hashlib
import os
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

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


CASES = 4  # of each table with `make test`; `make test-all` runs all of them


def pytest_configure(config: pytest.Config) -> None:
    """Draw fewer examples where the tables are cut, too."""
    if config.option.markexpr == "not exhaustive":
        settings.register_profile("quick", settings.get_profile("house"), max_examples=20)
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is left of a table beside its representatives, which its cases' names choose."""
    tables: dict[str, list[pytest.Item]] = {}
    for item in items:
        if hasattr(item, "callspec"):
            tables.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for cases in tables.values():
        for item in sorted(cases, key=lambda item: hashlib.sha256(item.nodeid.encode()).digest())[CASES:]:
            item.add_marker("exhaustive")


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
        home = tmp_path_factory.mktemp("home")
        for name in ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR"):
            patch.setenv(name, str(home))
        yield


@pytest.fixture(autouse=True)
def _same_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test may change folder or environment; the next one does not see it."""
    monkeypatch.chdir(Path.cwd())


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
