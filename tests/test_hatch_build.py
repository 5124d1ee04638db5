"""What a build writes down of itself. Its base class is stood in for: hatchling is there in builds only."""

import gzip
import hashlib
import importlib.util
import json
import shutil
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


def places(hook: ModuleType, root: Path, *, target: str = "wheel", version: str = "standard") -> Any:
    data: dict[str, Any] = {"force_include": {}}
    hook.BuildFacts.initialize(SimpleNamespace(root=str(root), target_name=target), version, data)
    return {place: Path(file) for file, place in data["force_include"].items()}


def included(hook: ModuleType, root: Path, **how: str) -> Any:
    return [(place, json.loads(file.read_text())) for place, file in places(hook, root, **how).items()]


ESBUILD = """\
#!{python}
import pathlib, sys
*names, = [word for word in sys.argv[1:] if not word.startswith("-")]
(folder,) = [word.partition("=")[2] for word in sys.argv if word.startswith("--outdir=")]
assert "--bundle" in sys.argv and "--minify" in sys.argv
for name in names:
    file = pathlib.Path(folder, "DIGEST", name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("small " + pathlib.Path(name).read_text())
"""


@pytest.fixture
def with_pages(checkout: Path) -> Path:
    """A checkout with pages that name a script and an icon, and with something in esbuild's place."""
    web = checkout / "src" / "adjudge" / "web"
    for name, text in {
        "templates/base.html": '<link href="{{ static("icon.svg") }}">',
        "templates/work/page.html": '<script src="{{ static("js/page.js") }}"></script><a href="/js/no.js">',
        "static/icon.svg": "<svg/>",
        "static/js/page.js": "page",
        "static/js/no.js": "no",
    }.items():
        (web / name).parent.mkdir(parents=True, exist_ok=True)
        (web / name).write_text(text)
    esbuild = checkout / "node_modules" / ".bin" / "esbuild"
    esbuild.parent.mkdir(parents=True)
    esbuild.write_text(ESBUILD.format(python=sys.executable))
    esbuild.chmod(0o755)
    return checkout


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("*") if file.is_file()
    }


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


@pytest.mark.parametrize(
    ("target", "place"),
    [("wheel", "adjudge/web/static/bundle"), ("sdist", "src/adjudge/web/static/bundle")],
)
def test_a_build_bundles_what_pages_name(hook: ModuleType, with_pages: Path, target: str, place: str) -> None:
    found = files_in(places(hook, with_pages, target=target)[place])
    assert {name: gzip.decompress(packed) for name, packed in found.items()} == {
        "DIGEST/icon.svg.gz": b"small <svg/>",
        "DIGEST/js/page.js.gz": b"small page",
    }
    assert found == files_in(places(hook, with_pages, target=target)[place])  # to the byte


def test_a_build_without_node_modules_has_the_modules_alone(hook: ModuleType, with_pages: Path) -> None:
    shutil.rmtree(with_pages / "node_modules")
    assert list(places(hook, with_pages)) == ["adjudge/build.json"]


def test_a_build_fails_where_the_bundle_does(hook: ModuleType, with_pages: Path) -> None:
    (with_pages / "src" / "adjudge" / "web" / "static" / "js" / "page.js").unlink()
    with pytest.raises(subprocess.CalledProcessError):
        places(hook, with_pages)


@pytest.mark.parametrize("version", ["editable", "standard"])
def test_an_editable_install_and_a_wheel_from_an_sdist_bundle_nothing(
    hook: ModuleType, with_pages: Path, version: str
) -> None:
    if version == "standard":
        (with_pages / "src" / "adjudge" / "build.json").write_text("{}")
    assert places(hook, with_pages, version=version) == {}
