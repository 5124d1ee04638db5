"""Nothing is sent that nobody asked for: commands run with every way out closed, and knock at none.

Python tells its audit hooks of every look-up and connection before it is made. The hook is installed by a
`sitecustomize` on PYTHONPATH, so that programs that adjudge starts have it, too, if they are Python's.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from adjudge import examples
from tests.faults.server import patient

HOOK = """
import ipaddress, os, socket, sys

WAYS_OUT = {"socket.connect", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"}

def stays_here(event, arguments):
    if event.startswith("socket.get"):
        host = arguments[0]
    else:
        host = arguments[1][0] if isinstance(arguments[1], tuple) else None  # None: a file is the socket
    host = host.decode() if isinstance(host, bytes) else host
    if host in {None, "", "localhost"}:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback or ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return False

def guard(event, arguments):
    if event in WAYS_OUT and not stays_here(event, arguments):
        with open(os.environ["ADJUDGE_KNOCKS"], "a", encoding="utf-8") as file:
            file.write(f"{event} {arguments[1:] if event[7] != 'g' else arguments[0]}\\n")
        raise OSError(f"closed: {event}")

sys.addaudithook(guard)
with open(os.environ["ADJUDGE_KNOCKS"] + ".guarded", "a", encoding="utf-8") as file:
    file.write(f"{os.getpid()}\\n")
"""


pytestmark = pytest.mark.slow

COMMAND = "from adjudge.cli.main import main; main()"
TEXTS = (str(examples.path("test_set.jsonl")), "--lp", "en-de")
GOLD = str(examples.path("gold.mqm.jsonl"))


class Sealed(NamedTuple):
    """A folder in which commands run with every way out closed."""

    folder: Path

    @property
    def knocks(self) -> Path:
        """What was tried, a line each."""
        return self.folder / "knocks"

    def start(self, *arguments: str, code: str = COMMAND) -> subprocess.Popen[str]:
        """Start a command, or other code of Python's."""
        self.knocks.write_text("")
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "guard"), "ADJUDGE_KNOCKS": str(self.knocks)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str) -> list[str]:
        """Run a command and give what it tried."""
        with self.start(*arguments) as running:
            _, said = running.communicate()
        assert running.returncode == 0, said
        assert (self.folder / "knocks.guarded").read_text(), "the hook was not there"
        return self.knocks.read_text().splitlines()


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Sealed:
    """The folder, with a run and a campaign in it."""
    folder = tmp_path_factory.mktemp("sealed")
    (folder / "guard").mkdir()
    (folder / "guard" / "sitecustomize.py").write_text(HOOK)
    place = Sealed(folder)
    assert place.run("run", "gemba-mqm", *TEXTS, "--out", "mqm", "--model", "builtin/rules") == []
    assert place.run("campaign", "new", "spring", *TEXTS) == []
    return place


COMMANDS = [
    ("--version",),
    ("show", "gemba-mqm"),
    ("forecast", "gemba-mqm", *TEXTS, "--model", "openai/gpt-5-mini"),
    ("demo", "--out", "demo"),
    ("run", "chrf", *TEXTS, "--out", "chrf"),
    ("meta", *TEXTS, "--gold", GOLD, "--scores", "mqm=mqm"),
    ("report", "mqm", "--gold", GOLD, "--out", "report.html"),
    ("campaign", "status", "spring"),
    ("campaign", "export", "spring", "exported.jsonl"),
]
SHORT = {"--version", "demo", "report"}
"""Those that `make test` seals: the demo calls most others."""


def command(arguments: tuple[str, ...]) -> Any:
    marks = [pytest.mark.exhaustive] * (arguments[0] not in SHORT)
    return pytest.param(arguments, id=" ".join(arguments[:2]), marks=marks)


@pytest.mark.parametrize("arguments", [command(one) for one in COMMANDS])
def test_a_command_knocks_at_no_door(sealed: Sealed, arguments: tuple[str, ...]) -> None:
    assert sealed.run(*arguments) == []


def test_a_server_that_was_named_is_knocked_at(sealed: Sealed) -> None:
    """The hook sees what goes out: this command was told to, and would knock for some seconds."""
    server = ("--model", "m", "--base-url", "http://models.invalid/v1")
    with sealed.start("run", "gemba-mqm", *TEXTS, "--out", "asked", *server) as running:
        assert patient(120, lambda: sealed.knocks.read_text() != "")
        running.terminate()
    knocks = sealed.knocks.read_text().splitlines()
    assert all("models.invalid" in knock for knock in knocks)


def test_programs_that_are_started_are_guarded_too(sealed: Sealed) -> None:
    """A bridge is a program of the user's; here it stands for whatever a command starts."""
    code = "import socket; socket.create_connection(('192.0.2.1', 9))"
    program = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {code!r}]).returncode)"
    with sealed.start(code=program) as running:
        running.communicate()
    assert running.returncode
    assert "192.0.2.1" in sealed.knocks.read_text()
