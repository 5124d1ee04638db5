"""`adjudge --version`: what a report of a fault says of the program."""

import json
import platform
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from adjudge.cli import main as main_module
from adjudge.cli.main import UNKNOWN, main, render_version
from adjudge.core.scores import VERSION, Build, read_build


def test_the_first_line_is_the_version_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert not end.value.code
    assert capsys.readouterr().out.splitlines()[0] == f"adjudge {VERSION}"


def facts() -> dict[str, str]:
    return dict(line.split(": ", 1) for line in render_version().splitlines()[1:])


def test_a_built_package_says_its_commit_and_its_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_module, "read_build", lambda: Build(commit="c0ffee+", lock="ab12"))
    assert (facts()["commit"], facts()["lock"]) == ("c0ffee+", "sha256:ab12")


def test_a_package_that_was_not_built_claims_no_commit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main_module, "read_build", Build)
    assert (facts()["commit"], facts()["lock"]) == (UNKNOWN, UNKNOWN)


def test_the_build_is_read_from_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder: Callable[[str], Path] = lambda _: tmp_path  # noqa: E731
    monkeypatch.setattr("adjudge.core.scores.files", folder)
    assert read_build() == Build()
    (tmp_path / "build.json").write_text(json.dumps({"commit": None, "lock": "ab12"}))
    assert read_build() == Build(lock="ab12")


def test_libraries_are_those_that_every_install_has() -> None:
    names = [library.split()[0] for library in facts()["libraries"].split(", ")]
    assert {"numpy", "aiohttp", "pydantic", "psycopg"} <= set(names)
    assert not {"lxml", "pytest"} & set(names)
    assert "missing" not in facts()["libraries"]


def test_no_person_and_no_machine_is_named() -> None:
    assert platform.python_version() in facts()["python"]
    said = render_version()
    assert str(Path.home()) not in said
    assert socket.gethostname() not in said
