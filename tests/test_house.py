"""The house rules that no linter checks. Each failure says what to do."""

import ast
import hashlib
import importlib.metadata
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from adjudge.judges import JUDGES as NAMES
from adjudge.judges import differences, load_judge
from tests.gauges import GAUGES, MODULES, PACKAGE, ROOT, Gauge, circles, imports, inside, nodes, tree_of

JUDGES = PACKAGE / "judges"
PROMPTS = JUDGES / "prompts"
CURATION = PACKAGE / "curation" / "prompts"
LOCK = ROOT / "tests" / "prompt_hashes.json"

JUDGE_FILES = {  # the name of a judge's module: the file with its docstring
    path.stem if path.name != "__init__.py" else path.parent.name: path
    for path in sorted([*JUDGES.glob("[!_]*.py"), *JUDGES.glob("[!_]*/__init__.py")])
}

FORCED_NAMES = {"get_params", "get_route_handler"}  # a base class of another package names them

HEAVY = {"aiohttp", "jinja2", "matplotlib", "numpy", "pydantic", "sacrebleu", "scipy"}
BAD_MODULE = re.compile(r"utils?|commons?|helpers?|managers?")
BAD_FUNCTION = re.compile(r"_*(get|handle|process)_")
MACHINE = re.compile(r"(?<![\w.])/(work/(main|shared|\.\w+)|root)/")  # /work/7 is a page of campaigns
REGISTRY = re.compile(r"\b(pypi\.org|pythonhosted\.org|npmjs\.(org|com)|crates\.io|proxy\.golang\.org)\b")


def settings() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def contract(name: str) -> dict[str, Any]:
    return next(c for c in settings()["tool"]["importlinter"]["contracts"] if name in c["name"])


def prompt_hashes() -> dict[str, str]:
    found = {}
    for folder, start in ((PROMPTS, ""), (CURATION, "curation/")):
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = start + path.relative_to(folder).as_posix()
            found[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


# Names...


def test_names_say_what_a_thing_is() -> None:
    wrong = []
    for path in MODULES:
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        wrong += [f"{inside(path)}: {part}" for part in parts if BAD_MODULE.fullmatch(part.strip("_"))]
        for node in ast.walk(tree_of(path)):
            name = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ""
            if BAD_FUNCTION.match(name) and name not in FORCED_NAMES:
                wrong.append(f"{inside(path)}: {name}")
    assert not wrong


# Counts...


@pytest.mark.parametrize("gauge", GAUGES, ids=lambda gauge: gauge.what)
def test_the_house_stays_small(gauge: Gauge) -> None:
    assert not (said := gauge.complaint()), said


def test_a_gauge_says_what_was_counted_what_to_do_and_where_its_limit_stands() -> None:
    gauge = next(gauge for gauge in GAUGES if gauge.what == "Python files")
    said = replace(gauge, limit=3).complaint()
    assert said is not None
    assert f"src/adjudge has {len(MODULES)} Python files; the limit is 3 (tests/gauges.py, line " in said
    assert gauge.do in said
    assert gauge.why in said
    line = int(said.partition("line ")[2].partition(":")[0])
    assert (ROOT / "tests" / "gauges.py").read_text().splitlines()[line - 1].strip() == '"Python files",'
    assert "lower the limit to" in str(replace(gauge, limit=1000).complaint())


def test_stacking_long_lines_and_moving_into_data_change_no_count() -> None:
    spread = "import a\n__all__ = ['f']\ndef f(x):\n    'Why.'\n    y = x\n    return y\n"
    stacked = "from b import c\ndef f(x): y = x; return y\n"
    assert nodes(ast.parse(spread)) == nodes(ast.parse(stacked)) == 9


def test_a_string_that_names_a_module_is_an_import() -> None:
    graph = imports(at_once=False)
    assert "adjudge.judges.fire" in graph["adjudge.judges"]  # "adjudge.judges.fire:Fire"
    assert "adjudge.analysis.rank" in graph["adjudge"]  # "analysis.rank"
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == ["a b c"]


# Judges...


def test_a_judge_names_its_paper_code_prompt_and_differences() -> None:
    docstrings = {name: ast.get_docstring(tree_of(path)) or "" for name, path in JUDGE_FILES.items()}
    heading = re.compile(r"^(Paper|Code|Prompt|Differs) +\S", re.MULTILINE)
    found = {name: heading.findall(text) for name, text in docstrings.items()}
    assert not {name for name, fields in found.items() if fields != ["Paper", "Code", "Prompt", "Differs"]}


def test_a_judge_has_a_prompt_folder_and_a_test() -> None:
    folders = {"single_agent": "himate"}  # the baseline says what himate says
    assert not [name for name in JUDGE_FILES if not any((PROMPTS / folders.get(name, name)).glob("*.md"))]
    tests = ROOT / "tests" / "judges"
    assert not [name for name in JUDGE_FILES if not (tests / f"test_{name}.py").exists()]


def table_of_judges() -> Iterator[str]:
    """The modules named as "module:Class" in judges/__init__.py."""
    for node in ast.walk(ast.parse((JUDGES / "__init__.py").read_text())):
        if isinstance(node, ast.Dict):
            for value in node.values:
                if isinstance(value, ast.Constant) and re.fullmatch(r"[\w.]+:\w+", str(value.value)):
                    yield str(value.value).partition(":")[0].split(".")[-1]


def test_the_table_of_judges_is_complete() -> None:
    assert set(table_of_judges()) == set(JUDGE_FILES)


def marked_scenes() -> Iterator[tuple[str, int]]:
    """What tests of judges are marked for: a module and a point of its Differs list."""
    for path in sorted((ROOT / "tests" / "judges").glob("test_*.py")):
        for test in ast.walk(tree_of(path)):
            for mark in getattr(test, "decorator_list", []):
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.differs":
                    judge, *points = map(ast.literal_eval, mark.args)
                    yield from ((judge, point) for point in points)


def test_every_point_of_a_differs_list_has_its_scene() -> None:
    listed = {(type(judge).__module__, differences(judge)) for judge in map(load_judge, NAMES)}
    assert {*marked_scenes()} == {
        (module.rpartition(".")[2], number)
        for module, points in listed
        for number in range(1, len(points) + 1)
    }


def test_no_prompt_changes_unnoticed() -> None:
    locked, found = json.loads(LOCK.read_text()), prompt_hashes()
    changed = sorted(name for name in locked.keys() | found.keys() if locked.get(name) != found.get(name))
    assert not changed, (
        "prompts changed, and scores with them. If that is meant, '.venv/bin/python -m tests.test_house' "
        "locks them, and the commit says which judges move"
    )


# Benchmarks...


SCRIPTS = sorted(file for file in (ROOT / "benchmarks").glob("*.py") if "__main__" in file.read_text())


START_EACH = """
import runpy, sys
first = list(sys.path)
for script in sys.argv[1:]:
    sys.path[:] = [script.rpartition("/")[0], *first[1:]]
    for name in [name for name in sys.modules if name.partition(".")[0] == "benchmarks"]:
        del sys.modules[name]
    print(script)
    runpy.run_path(script)
"""
"""Begins scripts as programs, short of what they do: each with the path that it would have."""


def test_a_benchmark_is_a_program_that_finds_what_it_imports(tmp_path: Path) -> None:
    command = [sys.executable, "-c", START_EACH, *map(str, SCRIPTS)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr
    assert done.stdout.split() == [str(script) for script in SCRIPTS]


# Imports...


def test_the_contracts_name_rooms_that_the_layers_declare() -> None:
    """A misspelt "*.room" would match nothing and forbid nothing."""
    layers = contract("one way")["layers"]
    declared = {room.strip("() ") for layer in layers for room in layer.split("|")}
    for forbidden in (c for c in settings()["tool"]["importlinter"]["contracts"] if c["type"] == "forbidden"):
        rooms = {m[2:] for m in forbidden["source_modules"] + forbidden["forbidden_modules"] if m[:2] == "*."}
        assert rooms <= declared


def test_every_file_that_judges_share_is_declared() -> None:
    shared = {path.stem for path in JUDGES.glob("_*.py")} - {"__init__"}
    declared = {line.rpartition(".")[2] for line in contract("each other")["ignore_imports"]}
    assert shared <= declared


def test_only_fetch_downloads() -> None:
    """The contract sees urllib whole, and urllib.parse harms nobody."""
    rooms = contract("network")["source_modules"]
    files = [path for room in rooms for path in (PACKAGE / room[2:]).rglob("*.py") if path.name != "fetch.py"]
    client = re.compile(
        r"^\s*(import|from) +(urllib\.request|urllib import .*request|http\.client|socket)\b", re.MULTILINE
    )
    assert not [inside(path) for path in files if client.search(path.read_text())]


@pytest.mark.parametrize(
    "code",
    [
        "import adjudge",
        "from adjudge.cli.main import main; sys.argv = ['adjudge', '--help']; main()",
    ],
)
def test_starting_loads_nothing_heavy(code: str) -> None:
    program = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {code}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not HEAVY & set(done.stderr.split())


# The public face...


def test_the_public_names_are_few_and_real() -> None:
    adjudge = importlib.import_module("adjudge")
    names = getattr(adjudge, "__all__", [])
    assert len(names) <= 27
    assert len(set(names)) == len(names)
    assert not [name for name in names if not hasattr(adjudge, name)]


def test_the_changelog_knows_this_version() -> None:
    version = importlib.metadata.version("adjudge")
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[0] == version


def test_no_file_names_a_machine_or_a_registry() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("not a git checkout: only tracked files are looked at")
    texts = {
        name: (ROOT / name).read_bytes().decode(errors="ignore")
        for name in listed.stdout.split("\0")
        if name and (ROOT / name).is_file()
    }
    assert not [name for name, text in texts.items() if MACHINE.search(text)]
    assert not [name for name, text in texts.items() if REGISTRY.search(text) and name != "uv.lock"]


def test_the_lock_of_npm_names_no_host_and_says_what_is_in_each_package() -> None:
    text = (ROOT / "package-lock.json").read_text()
    assert "://" not in text
    packages = {name: one for name, one in json.loads(text)["packages"].items() if name}
    assert all(one["integrity"].startswith("sha512-") for one in packages.values())
    pinned = json.loads((ROOT / "package.json").read_text())["devDependencies"]
    locked = {name: packages[f"node_modules/{name}"] for name in pinned}
    assert {name: one["version"] for name, one in locked.items()} == pinned
    licences = {name: one["license"] for name, one in locked.items()}
    assert licences == {"diff": "BSD-3-Clause", "esbuild": "MIT", "idb": "ISC"}


def test_the_libraries_of_the_pages_are_those_of_npm(tmp_path: Path) -> None:
    if shutil.which("node") is None or not (ROOT / "node_modules").is_dir():
        pytest.skip("no node, or no node_modules: 'npm ci' installs what static/vendor is made of")
    subprocess.run(["node", "vendor.mjs", str(tmp_path)], cwd=ROOT, check=True)
    vendor = PACKAGE / "web" / "static" / "vendor"
    found, kept = ({f.name: f.read_text() for f in folder.iterdir()} for folder in (tmp_path, vendor))
    assert found == kept, "'npm run vendor' writes them"
    assert all("Copyright (c)" in text for text in kept.values())


if __name__ == "__main__":
    LOCK.write_text(json.dumps(prompt_hashes(), indent=2) + "\n")
