"""The house rules that no linter checks. Each failure says what to do."""

import ast
import functools
import hashlib
import importlib.metadata
import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "adjudge"
JUDGES = PACKAGE / "judges"
PROMPTS = JUDGES / "prompts"
CURATION = PACKAGE / "curation" / "prompts"
LOCK = ROOT / "tests" / "prompt_hashes.json"

MODULES = sorted(PACKAGE.rglob("*.py"))
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


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


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


@pytest.mark.parametrize("path", MODULES, ids=inside)
def test_names_say_what_a_thing_is(path: Path) -> None:
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    assert not [part for part in parts if BAD_MODULE.fullmatch(part.strip("_"))]
    functions = (
        node for node in ast.walk(tree_of(path)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    assert not [f.name for f in functions if BAD_FUNCTION.match(f.name) and f.name not in FORCED_NAMES]


# The shape of the house: each count may only fall...

TWICE = {"__init__"}  # the only file name that may stand twice

AT_MOST = {
    "Python files": 233,  # kept results, functions as metrics, rows of frames, extras
    "modules of more than 1,000 lines": 0,
    "modules that one module of the same room imports and no other": 16,
    "file names that stand twice": 0,
    "import circles": 0,
    "functions of more than 6 parameters": 10,  # commands, and verbs of the Python API
    "private functions of under 4 lines that are called once": 132,
    "docstrings and comments that name what is not there": 0,
    "headings of sections that are sentences": 0,
    "exported names that nobody imports": 0,
    "statements": 45_044,  # frames, functions as metrics, faults of instructions, second looks, new folders
    "lines of data": 13_824,  # undo of what was given up, colours in the dark, a page on a phone
}
"""What is counted in `src/adjudge`, and the most that there may be. Who lowers a count lowers its limit; who
must raise one says why beside it. Neither stacking files nor moving code into data counts as less."""

SIZES = {"Python files", "statements", "lines of data"}  # that may be below their limit
DATA = {".css", ".html", ".js", ".json", ".jsonl", ".md", ".mplstyle", ".toml", ".txt"}
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
FILE_NAME = re.compile(
    r"(?<![\w/.{<-])((?:[\w-]+/)+[\w-]+\.(?:py|toml|md|html|css|js|jsonl)|[a-z_]{3,}\.py)\b"
)
DOTTED_NAME = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
THEIRS = {"scoring_esa.py", "humeval/02a-filter_data.py", "humeval/02b-analyze_results.py"}
"""Files of other projects that docstrings name."""


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def imports(*, at_once: bool) -> dict[str, set[str]]:
    """Every module of ours to those that it imports: at once when it is imported itself, or ever.

    Ever includes what a function imports when it is called, and what is imported for types alone.
    """
    names = {module_name(path): path for path in MODULES}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        tree = tree_of(path)
        for node in tree.body if at_once else ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for one in node.names:
                    inner = f"{node.module}.{one.name}"
                    found[name].add(inner if inner in names else node.module)
        found[name] &= names.keys() - {name}
    return found


def circles(graph: dict[str, set[str]]) -> list[str]:
    """The modules of each circle: those that import one another, by whatever way."""
    reach = {name: set(targets) for name, targets in graph.items()}
    for middle in graph:
        for targets in reach.values():
            if middle in targets:
                targets.update(reach[middle])
    found = {frozenset(n for n in reach if name in reach[n] and n in reach[name]) for name in reach}
    return sorted(" ".join(sorted(circle)) for circle in found if circle)


def lonely(graph: dict[str, set[str]]) -> list[str]:
    importers: dict[str, set[str]] = {}
    for name, targets in graph.items():
        for target in targets:
            importers.setdefault(target, set()).add(name)
    return sorted(
        name
        for name, by in importers.items()
        if len(by) == 1 and room_of(name) == room_of(next(iter(by))) and name.count(".") > 1
    )


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    a = function.args
    names = [x.arg for x in (*a.posonlyargs, *a.args, *a.kwonlyargs)]
    return len([name for name in names if name not in {"self", "cls"}])


Function = ast.FunctionDef | ast.AsyncFunctionDef


def docstring(node: ast.AST) -> str | None:
    """The text, where this is a string that stands by itself."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else None
    return None


def small_and_called_once(tree: ast.Module) -> list[str]:
    """Private functions without decorators whose body is under 4 lines, called once."""
    nodes = list(ast.walk(tree))
    used = Counter(node.id for node in nodes if isinstance(node, ast.Name) and type(node.ctx) is ast.Load)
    used.update(node.attr for node in nodes if isinstance(node, ast.Attribute))
    found = []
    for node in nodes:
        if isinstance(node, Function) and re.match(r"_(?!_)", node.name) and not node.decorator_list:
            body = [inner for inner in node.body if docstring(inner) is None]
            lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            found += [node.name] if lines < 4 and used[node.name] == 1 else []
    return found


def words_for_people(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and comments of a file, each with its line."""
    text = path.read_text()
    for node in ast.walk(tree_of(path)):
        if (words := docstring(node)) is not None and isinstance(node, ast.Expr):
            yield node.lineno, words
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def strangers(path: Path) -> Iterator[str]:
    """Files and names of ours, by what docstrings and comments call them, that are not there.

    What a judge's docstring names under `Code` is its authors'.
    """
    for line, words in words_for_people(path):
        if re.search("^Code  ", words, re.MULTILINE):
            continue
        for name in FILE_NAME.findall(words):
            if name not in THEIRS and not any((f / name).exists() for f in (PACKAGE, ROOT, path.parent)):
                yield f"{inside(path)}:{line} {name}"
        for name in DOTTED_NAME.findall(words):
            if not is_there(name):
                yield f"{inside(path)}:{line} {name}"


def is_there(name: str) -> bool:
    """Whether a dotted name such as `llm.model.Request` is a module of ours or a name in one."""
    room, *rest = name.split(".")
    for size in range(len(rest), -1, -1):
        place = PACKAGE.joinpath(room, *rest[:size])
        file = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
        if file.is_file():
            return size == len(rest) or re.search(rf"\b{rest[size]}\b", file.read_text()) is not None
    return False


def exported_and_unused() -> list[str]:
    """Names in an `__all__` that no other file of the project imports, or takes from the module."""
    taken: set[tuple[str, str]] = set()
    for file in [*MODULES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").glob("*.py")]:
        renamed: dict[str, str] = {}
        for node in ast.walk(tree_of(file)):
            if isinstance(node, ast.ImportFrom) and node.module:
                taken.update((node.module.rpartition(".")[2], one.name) for one in node.names)
                renamed.update({one.asname: one.name for one in node.names if one.asname})
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                taken.add((renamed.get(node.value.id, node.value.id), node.attr))
    public = {"adjudge", "adjudge.judges", "adjudge.kit", "adjudge.metrics"}  # their names are for users
    return [
        f"{module_name(path)}.{constant.value!s}"
        for path in MODULES
        if module_name(path) not in public
        for node in tree_of(path).body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"
        for constant in ast.walk(node.value)
        if isinstance(constant, ast.Constant)
        and (module_name(path).rpartition(".")[2], constant.value) not in taken
    ]


@functools.cache
def counts() -> dict[str, list[str]]:
    graph = imports(at_once=True)
    stems = [path.stem for path in MODULES]
    many = [
        f"{inside(path)}:{node.lineno} {node.name}"
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters(node) > 6
    ]
    return {
        "Python files": [inside(path) for path in MODULES],
        "modules of more than 1,000 lines": [
            inside(path) for path in MODULES if len(path.read_text().splitlines()) > 1000
        ],
        "modules that one module of the same room imports and no other": lonely(graph),
        "file names that stand twice": sorted({s for s in stems if stems.count(s) > 1} - TWICE),
        "import circles": circles(imports(at_once=False)),
        "functions of more than 6 parameters": many,
        "private functions of under 4 lines that are called once": [
            f"{inside(path)} {name}" for path in MODULES for name in small_and_called_once(tree_of(path))
        ],
        "docstrings and comments that name what is not there": [
            name for path in MODULES for name in strangers(path)
        ],
        "headings of sections that are sentences": [
            f"{inside(path)}: {heading}"
            for path in MODULES
            for heading in re.findall(r"\n\n# ((?:.*\n# )*.*)\n\n", path.read_text())
            if len(heading.split()) > 5
        ],
        "exported names that nobody imports": exported_and_unused(),
        "statements": [
            ""
            for path in MODULES
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.stmt) and docstring(node) is None
        ],
        "lines of data": [
            "" for file in PACKAGE.rglob("*") if file.suffix in DATA for _ in file.read_text().splitlines()
        ],
    }


@pytest.mark.parametrize("what", AT_MOST)
def test_the_house_only_becomes_simpler(what: str) -> None:
    found = counts()[what]
    listed = "" if what in SIZES else ": " + ", ".join(found)
    assert len(found) <= AT_MOST[what], f"{len(found)} {what}, at most {AT_MOST[what]}{listed}"
    assert len(found) == AT_MOST[what] or what in SIZES, f"lower AT_MOST[{what!r}] to {len(found)}"


# Judges...


@pytest.mark.parametrize("path", JUDGE_FILES.values(), ids=inside)
def test_a_judge_names_its_paper_code_prompt_and_differences(path: Path) -> None:
    docstring = ast.get_docstring(tree_of(path)) or ""
    fields = re.findall(r"^(Paper|Code|Prompt|Differs) +\S", docstring, re.MULTILINE)
    assert fields == ["Paper", "Code", "Prompt", "Differs"]


@pytest.mark.parametrize("name", JUDGE_FILES)
def test_a_judge_has_a_prompt_folder_and_a_test(name: str) -> None:
    folder = PROMPTS / {"single_agent": "himate"}.get(name, name)  # the baseline says what himate says
    assert any(folder.glob("*.md")), f"no message in {inside(folder)}"
    assert (ROOT / "tests" / "judges" / f"test_{name}.py").exists()


def table_of_judges() -> Iterator[str]:
    """The modules named as "module:Class" in judges/__init__.py."""
    for node in ast.walk(ast.parse((JUDGES / "__init__.py").read_text())):
        if isinstance(node, ast.Dict):
            for value in node.values:
                if isinstance(value, ast.Constant) and re.fullmatch(r"[\w.]+:\w+", str(value.value)):
                    yield str(value.value).partition(":")[0].split(".")[-1]


def test_the_table_of_judges_is_complete() -> None:
    assert set(table_of_judges()) == set(JUDGE_FILES)


def test_no_prompt_changes_unnoticed() -> None:
    locked, found = json.loads(LOCK.read_text()), prompt_hashes()
    changed = sorted(name for name in locked.keys() | found.keys() if locked.get(name) != found.get(name))
    assert not changed, (
        "prompts changed, and scores with them. If that is meant, '.venv/bin/python tests/test_house.py' "
        "locks them, and a line under Scores in CHANGELOG.md says which judges move"
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


def test_a_reader_who_follows_rank_jumps_seldom_from_file_to_file() -> None:
    from benchmarks.crossings import count_crossings

    found = count_crossings()
    assert found.total() <= MOST_CROSSINGS, found.most_common(20)


MOST_CROSSINGS = 1_729  # whether documents are too few for flips of signs is asked in one place
"""Calls from one file of adjudge into another, where 64 records are ranked."""


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
    assert headings[0] in {"Unreleased", version}


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


if __name__ == "__main__":
    LOCK.write_text(json.dumps(prompt_hashes(), indent=2) + "\n")
