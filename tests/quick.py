"""The tests of what has changed, those first that are nearest to it: `make quick`.

A file counts as changed that differs from a commit (`--since`; without it from HEAD or, where nothing does,
from the commit before). A test is as near to a module as there are imports between them; a file that is no
Python brings the tests of its room, and a room its frozen cases. What a minute does not hold is counted; it
fails where none of the chosen tests ran.
"""

import argparse
import ast
import os
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE, TESTS = ROOT / "src" / "adjudge", ROOT / "tests"
SECONDS = 40  # after the first test no other begins, so that with collection and the longest it is a minute
MOST = 40  # files of tests: more take the minute for being collected
FROZEN = "tests/frozen/test_frozen.py"
CASES = f"{FROZEN}::test_a_command_says_and_writes_what_it_did"
GROUPS = {
    "records": {"core", "judges", "llm", "metrics", "checks", "runs"},
    "messages": {"core", "judges"},
    "results": {"core", "stats", "analysis", "reports"},
    "exports": {"campaigns", "formats", "reports", "web"},
    "conversions": {"core", "formats", "store"},
    "realdata": set(),
}
"""Frozen cases: what they show of which rooms. Those on public data take longer than there is."""
BESIDE = {
    "src/adjudge/web": ("web", "browser"),
    "src/adjudge/reports": ("reports",),
    "src/adjudge/campaigns": ("campaigns", "web"),
    "src/adjudge/examples": ("examples",),
}
"""Folders to the rooms whose tests a file there brings that is no Python; else those of its own room."""


def changed(since: str | None) -> list[str]:
    """Paths that differ, deleted ones among them."""
    there = [*_git("diff", "--name-only", since or "HEAD"), *_git("ls-files", "-o", "--exclude-standard")]
    return there if there or since else _git("diff", "--name-only", "HEAD~1", "HEAD")


def _git(*arguments: str) -> list[str]:
    found = subprocess.run(["git", *arguments], cwd=ROOT, check=False, capture_output=True, text=True)
    if found.returncode:
        sys.exit(f"git {' '.join(arguments)}: {found.stderr.strip()}")
    return found.stdout.splitlines()


def name_of(path: Path) -> str:
    """Module of a file: `adjudge.core.record`, `tests.campaigns.work`."""
    parts = path.relative_to(PACKAGE.parent if PACKAGE in path.parents else ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def importers() -> dict[str, set[str]]:
    """Every module to those that import it, wherever in their text; a folder's conftest to all in it."""
    names = {name_of(path): path for path in [*PACKAGE.rglob("*.py"), *TESTS.rglob("*.py")]}
    found: dict[str, set[str]] = defaultdict(set)
    for name, path in names.items():
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            for target in _targets(node):
                found[target if target in names else target.rpartition(".")[0]].add(name)
        for folder in path.relative_to(ROOT).parents:
            found[".".join([*folder.parts, "conftest"])].add(name)
    return found


def _targets(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{one.name}" for one in node.names)
    elif isinstance(node, ast.Import):
        yield from (one.name for one in node.names)


def distances(modules: set[str], by: dict[str, set[str]]) -> dict[str, int]:
    """Imports between each module and the nearest of these."""
    found = dict.fromkeys(modules, 0)
    reached = modules
    for steps in range(1, 4):
        reached = {name for module in reached for name in by[module]} - found.keys()
        found |= dict.fromkeys(reached, steps)
    return found


def room_of(path: str) -> str:
    """`core` of `src/adjudge/core/record.py` and of `tests/core/test_record.py`."""
    parts = Path(path).parts
    return parts[2] if parts[0] == "src" and len(parts) > 3 else parts[1] if len(parts) > 2 else ""


def chosen(paths: list[str]) -> list[str]:
    """What pytest is to run, the nearest first."""
    modules = {
        name_of(ROOT / path) for path in paths if path.endswith(".py") and path.startswith(("src", "tests"))
    }
    near = distances(modules, importers())
    rooms = {room_of(path) for path in paths if path.startswith("src")} - {""}
    own = {f"tests/{room_of(path)}/test_{Path(path).stem}.py" for path in paths}
    tests = sorted(
        (path not in own, steps, room_of(path) not in rooms, path)
        for name, steps in near.items()
        if name.rpartition(".")[2].startswith("test_") and (path := f"{name.replace('.', '/')}.py")
    )
    found = [path for *_, path in tests if path != FROZEN]
    for path in paths:
        found += _beside(path) if (ROOT / path).exists() else ()
    found = list(dict.fromkeys(found))[:MOST]
    return found + [FROZEN] * any(rooms & of for of in GROUPS.values())


def _beside(path: str) -> list[str]:
    """Tests that a file brings which is no module."""
    page = f"tests/test_docs.py::test_the_examples_of_a_page_run[{path}]"
    if path.endswith(".md") and (path == "README.md" or path.startswith("docs/")) and "decisions" not in path:
        return [page, "tests/test_docs.py::test_the_links_of_all_pages_resolve"]
    if path.startswith("benchmarks/"):
        return ["tests/test_house.py::test_a_benchmark_is_a_program_that_finds_what_it_imports"]
    if path.startswith("tests/frozen/"):
        return [FROZEN]
    if path.endswith(".py") or not path.startswith(("src", "tests")):
        return ["tests/test_house.py::test_no_file_names_a_machine_or_a_registry"]
    folders = next((to for start, to in BESIDE.items() if path.startswith(start)), (room_of(path),))
    return [
        str(one.relative_to(ROOT)) for room in folders for one in sorted((TESTS / room).glob("test_*.py"))
    ]


def main() -> int:
    """Run them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--since", help="a commit; without it HEAD, or the one before it where nothing differs"
    )
    paths = changed(parser.parse_args().since)
    tests = chosen(paths)
    rooms = {room_of(path) for path in paths if path.startswith("src")}
    others = [f"--deselect={CASES}[{group}:" for group, of in GROUPS.items() if not rooms & of]
    sys.stdout.write(f"{len(paths)} changed files: tests in {len(tests)} places\n")
    sys.stdout.flush()
    if not tests:
        return 0
    program = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "--dist",
        "load",
        "--maxschedchunk",
        "1",
        "--timeout=30",
    ]
    chosen_marks = ["-m", "not exhaustive and not nightly and not slow"]
    os.chdir(ROOT)
    return subprocess.run(
        [*program, *chosen_marks, f"--seconds={SECONDS}", *others, *tests], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())
