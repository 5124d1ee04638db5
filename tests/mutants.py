"""Small faults put into the package one at a time, and whether a test finds each: `make nightly`.

Each room gets as many, drawn among all that the functions of its files offer. The tests nearest to the file
run on a copy of the checkout until one fails. Before the faulty statement stands one that leaves a mark where
it runs: a fault that no test reaches is told apart, and another is drawn for it.
"""

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from tests.quick import PACKAGE, ROOT, chosen

WANTED = 0.9  # of the faults that tests reach
SECONDS = 600  # for the tests of one fault; what never ends is found
PAIRS: list[tuple[Any, Any]] = [
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.In, ast.NotIn),
    (ast.Is, ast.IsNot),
    (ast.And, ast.Or),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
]
SWAPS = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}


def faults(path: Path) -> list[tuple[int, Callable[[str], str]]]:
    """Of each fault that a file's functions offer: its line, and what makes the faulty text with its mark."""
    text = path.read_text("utf-8")

    def faulty(number: int, mark: str) -> str:
        tree = ast.parse(text)
        block, place, change = next(islice(_sites(tree), number, None))
        change()
        block.insert(place, ast.parse(f"__import__('pathlib').Path({mark!r}).touch()").body[0])
        return ast.unparse(ast.fix_missing_locations(tree))

    sites = enumerate(_sites(ast.parse(text)))
    return [(block[place].lineno, partial(faulty, number)) for number, (block, place, _) in sites]


def _sites(tree: ast.Module) -> Iterator[tuple[list[ast.stmt], int, Callable[[], Any]]]:
    """Block, place in it and change of all that can be changed in the statements of functions."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = {id(node) for function in functions for node in ast.walk(function) if node is not function}
    for function in functions:
        for parent in ast.walk(function) if id(function) not in inner else ():
            if not isinstance(parent, ast.stmt | ast.excepthandler | ast.match_case):
                continue
            blocks: list[list[ast.stmt]] = [
                getattr(parent, name, []) for name in ("body", "orelse", "finalbody")
            ]
            for block in blocks:
                for place, statement in enumerate(block):
                    if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                        for node in _own(statement):
                            yield from ((block, place, change) for change in _changes(node))
                    if isinstance(statement, ast.Expr) and not isinstance(statement.value, ast.Constant):
                        yield block, place, partial(block.__setitem__, place, ast.Pass())


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What a statement is made of, but for the statements within it, texts and types."""
    yield node
    for name, value in ast.iter_fields(node):
        for child in value if isinstance(value, list) else [value]:
            is_own = isinstance(child, ast.expr | ast.comprehension | ast.keyword)
            if is_own and name != "annotation" and not isinstance(child, ast.JoinedStr):
                yield from _own(child)


def _changes(node: ast.AST) -> Iterator[Callable[[], Any]]:
    if isinstance(node, ast.Compare) and (sign := SWAPS.get(type(node.ops[0]))):
        yield partial(node.ops.__setitem__, 0, sign())
    if isinstance(node, ast.BinOp | ast.BoolOp) and (other := SWAPS.get(type(node.op))):
        yield partial(setattr, node, "op", other())
    if isinstance(node, ast.If | ast.While | ast.IfExp):
        yield partial(setattr, node, "test", ast.UnaryOp(ast.Not(), node.test))
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        yield partial(
            setattr, node, "value", not node.value if isinstance(node.value, bool) else node.value + 1
        )


def first_failure(copy: Path, tests: list[str]) -> str:
    """The first of these tests that fails, or `time` where they never end; empty where all pass.

    Raises RuntimeError where pytest itself fails: that is no test's finding.
    """
    program = [
        sys.executable,
        *["-m", "pytest", "-x", "-q", "-n", "2", "-p", "no:cacheprovider", "-m"],
        "not nightly",
    ]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(copy / "src"), str(copy)])}
    try:
        ended = subprocess.run(
            [*program, *tests],
            cwd=copy,
            env=env,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return "time"
    lines = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if ended.returncode and not lines:
        raise RuntimeError(
            f"pytest ended with {ended.returncode}\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}"
        )
    return lines[0].partition(" ")[2].partition(" - ")[0] if lines else ""


def outcome(copy: Path, path: Path, faulty: Callable[[str], str]) -> str:
    """`found`, `escaped`, `not reached`, or `fails anyway` where its test fails without the fault, too."""
    mark, file = copy / "reached", copy / path
    text = file.read_text("utf-8")
    mark.unlink(missing_ok=True)
    file.write_text(faulty(str(mark)), "utf-8")
    failed = first_failure(copy, chosen([str(path)]))
    file.write_text(text, "utf-8")
    if not failed:
        return "escaped" if mark.exists() else "not reached"
    return "fails anyway" if failed != "time" and first_failure(copy, [failed]) else "found"


def changed_lines(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    shown = [line for line in lines if not line.startswith(("@@", "---", "+++")) and "__import__" not in line]
    return "".join(f"    {line}\n" for line in shown)


def main() -> int:
    """Draw, try, and tell; 1 where fewer are found than wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=60, help="faults that tests reach")
    parser.add_argument("--room", action="append", help="a folder of src/adjudge; without it all")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    given = parser.parse_args()
    sys.stdout.write(f"--seed {given.seed}\n")
    rooms = given.room or sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
    left = {
        room: [(path, *one) for path in (PACKAGE / room).rglob("*.py") for one in faults(path)]
        for room in rooms
    }
    for offered in left.values():
        random.Random(given.seed).shuffle(offered)
    counts = {room: Counter[str]() for room in rooms}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "adjudge"
        without = shutil.ignore_patterns(".venv", "node_modules", "build", "demo", "__pycache__", ".*_cache")
        shutil.copytree(ROOT, copy, ignore=without, symlinks=True)
        for room in islice(cycle(rooms), given.number):
            said = ""
            while left[room] and said not in {"found", "escaped"}:
                path, line, faulty = left[room].pop()
                said = outcome(copy, path.relative_to(ROOT), faulty)
                counts[room][said] += 1
                sys.stdout.write(f"{said:12} {path.relative_to(ROOT)}:{line}\n")
                if said == "escaped":
                    sys.stdout.write(
                        changed_lines(ast.unparse(ast.parse(path.read_text("utf-8"))), faulty(""))
                    )
                sys.stdout.flush()
    for room, count in counts.items():
        sys.stdout.write(f"{room:12} {', '.join(f'{number} {said}' for said, number in count.items())}\n")
    found, escaped = (sum(count[said] for count in counts.values()) for said in ("found", "escaped"))
    sys.stdout.write(f"{found} of {found + escaped} found\n")
    return int(found < WANTED * (found + escaped))


if __name__ == "__main__":
    sys.exit(main())
