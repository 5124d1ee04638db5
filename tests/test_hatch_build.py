"""What a build writes down of itself. Its base class is stood in for: hatchling is there in builds only."""

import hashlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

BASE = "hatchling.builders.hooks.plugin.interface"
HOOK = Path(__file__).parents[1] / "hatch_build.py"


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    base = ModuleType(BASE)
    base.BuildHookInterface = object  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, BASE, base)
    spec = importlib.util.spec_from_file_location("hatch_build", HOOK)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(folder: Path, *arguments: str) -> str:
    who = ("-c", "user.name=A", "-c", "user.email=a@example.invalid")
    return subprocess.check_output(["git", "-C", str(folder), *who, *arguments], text=True).strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    (tmp_path / "uv.lock").write_text("locked\n")
    git(tmp_path, "add", "uv.lock")
    git(tmp_path, "commit", "--quiet", "-m", "First")
    return tmp_path


def included(hook: ModuleType, root: Path, *, target: str = "wheel", version: str = "standard") -> Any:
    data: dict[str, Any] = {"force_include": {}}
    hook.BuildFacts.initialize(SimpleNamespace(root=str(root), target_name=target), version, data)
    return [(place, json.loads(Path(file).read_text())) for file, place in data["force_include"].items()]


@pytest.mark.parametrize(
    ("target", "place"), [("wheel", "adjudge/build.json"), ("sdist", "src/adjudge/build.json")]
)
def test_a_build_holds_the_commit_and_the_digest_of_the_lock(
    hook: ModuleType, checkout: Path, target: str, place: str
) -> None:
    facts = {"commit": git(checkout, "rev-parse", "HEAD"), "lock": hashlib.sha256(b"locked\n").hexdigest()}
    assert included(hook, checkout, target=target) == [(place, facts)]


def test_changed_files_are_told_from_the_commit(hook: ModuleType, checkout: Path) -> None:
    (checkout / "uv.lock").write_text("changed\n")
    assert hook.commit_of(checkout) == git(checkout, "rev-parse", "HEAD") + "+"


def test_the_checkout_around_an_unpacked_folder_is_not_asked(hook: ModuleType, checkout: Path) -> None:
    (checkout / "unpacked").mkdir()
    assert hook.build_facts(checkout / "unpacked") == {"commit": None, "lock": None}


def test_a_checkout_without_commits_has_none(hook: ModuleType, tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    assert hook.commit_of(tmp_path) is None


def test_a_wheel_from_an_sdist_keeps_the_facts_of_the_sdist(hook: ModuleType, checkout: Path) -> None:
    packed = checkout / "src" / "adjudge" / "build.json"
    packed.parent.mkdir(parents=True)
    packed.write_text("{}")
    assert included(hook, checkout) == []


def test_an_editable_install_has_no_facts(hook: ModuleType, checkout: Path) -> None:
    assert included(hook, checkout, version="editable") == []
