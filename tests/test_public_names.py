"""A completion offers every public name, a type checker knows it, and it is loaded when it is first used."""

import ast
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import adjudge
import adjudge.kit

USER_CODE = Path(__file__).with_name("user_code.py")
LATE = (
    "numpy polars pandas scipy sqlalchemy aiohttp pydantic typer jinja2 "
    "adjudge.judges adjudge.metrics adjudge.core.record"
)
MODULES = (adjudge, adjudge.judges, adjudge.metrics)


def told(module: ModuleType) -> dict[str, str]:
    """Name to the module that a type checker is told it comes from."""
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    (block,) = (
        part for part in tree.body if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"
    )
    imports = [part for part in block.body if isinstance(part, ast.ImportFrom)]
    return {name.name: str(part.module) for part in imports for name in part.names}


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_completion_offers_the_public_names_and_nothing_else(module: ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    assert told(module).keys() <= {*module.__all__}
    assert all(hasattr(module, name) for name in module.__all__)


def test_a_type_checker_is_told_of_every_name_that_adjudge_imports_late() -> None:
    late = {name: f"adjudge.{home}" for name, home in adjudge._HOMES.items()}
    assert told(adjudge) == late | {"judges": "adjudge", "metrics": "adjudge"}
    assert told(adjudge).keys() == {*adjudge.__all__}


@pytest.mark.parametrize(
    ("module", "table"),
    [(adjudge.judges, adjudge.judges.JUDGES), (adjudge.metrics, adjudge.metrics.METRICS)],
    ids=["judges", "metrics"],
)
def test_a_type_checker_is_told_of_every_class_of_a_room(module: ModuleType, table: dict[str, str]) -> None:
    classes = {place.partition(":")[2] for place in table.values()}
    assert told(module).keys() == classes
    for name, home in told(module).items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("module", [*MODULES, adjudge.kit], ids=lambda module: module.__name__)
def test_every_public_function_and_class_says_what_it_takes(module: ModuleType) -> None:
    wordless = []
    for name in module.__all__:
        thing = getattr(module, name)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)):
            continue
        words = inspect.getdoc(thing) or ""
        told = set(re.findall(r"^    \*{0,2}(\w+):", words, re.MULTILINE))
        takes = (
            set(inspect.signature(thing).parameters)
            if inspect.isfunction(thing) and "Args:" in words
            else set()
        )
        wordless += [name] if not words or takes - told - {"args", "kwargs"} else []
    assert not wordless, f"{module.__name__}: without words, or Args without a parameter: {wordless}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_programs_that_type_checkers_read_use_every_name(module: ModuleType) -> None:
    read = ast.parse(USER_CODE.read_text(encoding="utf-8"))
    used = {ast.unparse(part) for part in ast.walk(read) if isinstance(part, ast.Attribute)}
    used |= {
        f"{part.module}.{name.name}"
        for part in ast.walk(read)
        if isinstance(part, ast.ImportFrom)
        for name in part.names
    }
    assert {f"{module.__name__}.{name}" for name in told(module)} <= used


@pytest.mark.exhaustive
@pytest.mark.parametrize("checker", [["mypy"], ["basedpyright", "--level", "error"]], ids=["mypy", "pyright"])
def test_type_checkers_accept_what_users_write_and_report_names_there_are_not(checker: list[str]) -> None:
    name, *options = checker
    program = Path(sys.executable).with_name(name)
    if not program.exists():
        pytest.skip(f"{name} is not installed")
    done = subprocess.run(
        [program, *options, USER_CODE],
        capture_output=True,
        text=True,
        check=False,
        cwd=USER_CODE.parents[1],
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "early"),
    [
        ("import adjudge; dir(adjudge)", ""),
        ("import adjudge; adjudge.judges.GembaMqm", "adjudge.judges adjudge.core.record"),
        ("from adjudge import rank; rank.by", "adjudge.core.record numpy pydantic"),
    ],
)
def test_importing_adjudge_loads_what_is_used(code: str, early: str) -> None:
    program = f"{code}; import sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    loaded = {*done.stdout.split()} & {*LATE.split()}
    assert {*early.split()} <= loaded
    assert early or not loaded
