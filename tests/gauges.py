"""What is counted in `src/adjudge`, and the most that there may be of each: `tests/test_house.py` holds it.

    .venv/bin/python -m tests.gauges [WORDS]

prints every count beside its limit and the nodes of each room; with words it lists what a gauge of that name
counts. Nodes are counted and not lines, so that neither stacking files nor long lines nor moving code into
data is taken for less.
"""

import ast
import io
import re
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import typer

from adjudge.cli.main import COMMANDS, GROUP_COMMANDS, app_for

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "adjudge"
MODULES = sorted(PACKAGE.rglob("*.py"))
ROOMS = sorted(path.name for path in PACKAGE.iterdir() if (path / "__init__.py").is_file())
DATA = {".css", ".html", ".js", ".json", ".jsonl", ".md", ".mplstyle", ".toml", ".txt"}
PUBLIC = {"adjudge", "adjudge.judges", "adjudge.kit", "adjudge.metrics"}  # their names are for users
ROOM = 1.02  # what a limit has above the count that was measured when it was set
SLACK = 1.05  # a limit that is further above the count than this no longer holds anything

Function = ast.FunctionDef | ast.AsyncFunctionDef


# Trees...


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def inside(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    return ".".join(module.split(".")[:2])


def docstring(node: ast.AST) -> str | None:
    """The text, where this is a string that stands by itself."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return node.value.value if isinstance(node.value.value, str) else None
    return None


def is_list_of_names(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "__all__"


def strings(tree: ast.Module) -> Iterator[str]:
    """String constants that are neither docstrings nor names in an `__all__`."""
    left_out = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    left_out |= {id(one) for node in tree.body if is_list_of_names(node) for one in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
            yield node.value


def functions() -> Iterator[tuple[Path, Function]]:
    for path in MODULES:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, Function):
                yield path, node


# Size...


def nodes(tree: ast.Module) -> int:
    """AST nodes without imports, `__all__` and docstrings; contexts, operators and aliases add none."""
    waiting: list[ast.AST] = [tree]
    found = 0
    while waiting:
        node = waiting.pop()
        if (
            isinstance(node, ast.Import | ast.ImportFrom)
            or is_list_of_names(node)
            or docstring(node) is not None
        ):
            continue
        found += not isinstance(node, ast.expr_context | ast.operator)
        waiting += ast.iter_child_nodes(node)
    return found


def nodes_of_rooms() -> Counter[str]:
    found: Counter[str] = Counter()
    for path in MODULES:
        parts = path.relative_to(PACKAGE).parts
        found[parts[0] if len(parts) > 1 else "adjudge"] += nodes(tree_of(path))
    return found


def lines_of_data() -> Iterator[str]:
    """Lines of our own: libraries under `static/vendor` are others'."""
    for file in sorted(PACKAGE.rglob("*")):
        if file.suffix in DATA and file.parent.name != "vendor":
            yield from [inside(file)] * len(file.read_text().splitlines())


def commands() -> list[str]:
    """Every command of `adjudge` that runs something, such as `campaign new`."""
    return [*COMMANDS, *(f"{group} {name}" for group, names in GROUP_COMMANDS.items() for name in names)]


def options() -> Iterator[str]:
    for name in commands():
        command: Any = typer.main.get_command(app_for(name.split()))
        for word in name.split():
            command = command.commands[word]
        yield from (f"{name} {one.opts[0]}" for one in command.params if one.param_type_name == "option")


# Words...


def docstring_characters() -> float:
    said = sum(len(text) for path in MODULES for node in ast.walk(tree_of(path)) if (text := docstring(node)))
    return 100 * said / sum(len(path.read_text()) for path in MODULES)


WORDS = {"str", "list[str]", "Iterator[str]", "tuple[str, ...]"}


def returns_words(function: Function) -> bool:
    if function.returns is None:
        return False
    said = ast.unparse(function.returns).strip("'\"")
    return said.removesuffix(" | None").removeprefix("None | ") in WORDS


def statements_of_words() -> Iterator[str]:
    """Statements in functions that return text, each counted once where one stands in another."""
    seen: set[int] = set()
    for path, function in functions():
        if returns_words(function):
            for node in ast.walk(function):
                if node is not function and isinstance(node, ast.stmt) and docstring(node) is None:
                    if id(node) not in seen:
                        yield f"{inside(path)}:{function.lineno} {function.name}"
                    seen.add(id(node))


RIDDLES = re.compile(
    "of which|that there is not|who(ever)? (is|has|asks|does|works|reads)|so few|so many|that (is|are) none|"
    "of its own|in the place of|none that|How it stands"
)


def riddles() -> Iterator[str]:
    """Phrases in strings, docstrings and pages that are hard to read in a second language."""
    texts = [
        (path, node.value)
        for path in MODULES
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    texts += [
        (path, path.read_text()) for path in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    ]
    for path, text in texts:
        for hit in RIDDLES.finditer(" ".join(text.split())):
            yield f"{inside(path)} {hit[0]!r}"


FILE_NAME = re.compile(
    r"(?<![\w/.{<-])((?:[\w-]+/)+[\w-]+\.(?:py|toml|md|html|css|js|jsonl)|[a-z_]{3,}\.py)\b"
)
DOTTED_NAME = re.compile(rf"`((?:{'|'.join(ROOMS)})(?:\.\w+)+)`")
THEIRS = {"scoring_esa.py", "humeval/02a-filter_data.py", "humeval/02b-analyze_results.py"}
"""Files of other projects that docstrings name."""


def words_for_people(path: Path) -> Iterator[tuple[int, str]]:
    """Docstrings and comments of a file, each with its line."""
    text = path.read_text()
    for node in ast.walk(tree_of(path)):
        if (words := docstring(node)) is not None and isinstance(node, ast.Expr):
            yield node.lineno, words
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def strangers() -> Iterator[str]:
    """Files and names of ours, by what docstrings and comments call them, that are not there.

    What a judge's docstring names under `Code` is its authors'.
    """
    for path in MODULES:
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


def headings() -> Iterator[str]:
    for path in MODULES:
        for heading in re.findall(r"\n\n# ((?:.*\n# )*.*)\n\n", path.read_text()):
            if len(heading.split()) > 5:
                yield f"{inside(path)}: {heading}"


# Structure...


@cache
def imports(*, at_once: bool) -> dict[str, set[str]]:
    """Every module of ours to those that it imports: at once when it is imported itself, or ever.

    Ever includes what a function imports when it is called, what is imported for types alone, and modules
    that a string names: "adjudge.runs.ray", "runs.ray" or "adjudge.runs.ray:execute".
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
            elif isinstance(node, ast.Import):
                found[name].update(one.name for one in node.names)
        for string in () if at_once else strings(tree):
            said = string.partition(":")[0]
            found[name].update({said, f"adjudge.{said}"} if "." in said else ())
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


def lonely() -> list[str]:
    importers: dict[str, set[str]] = {}
    for name, targets in imports(at_once=True).items():
        for target in targets:
            importers.setdefault(target, set()).add(name)
    return sorted(
        name
        for name, by in importers.items()
        if len(by) == 1 and room_of(name) == room_of(next(iter(by))) and name.count(".") > 1
    )


def parameters(function: Function) -> int:
    a = function.args
    return len([x for x in (*a.posonlyargs, *a.args, *a.kwonlyargs) if x.arg not in {"self", "cls"}])


def used_once() -> Iterator[str]:
    """Functions with one leading underscore whose name is loaded once in their own file."""
    for path in MODULES:
        used: Counter[str] = Counter()
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load):
                used[node.id if isinstance(node, ast.Name) else node.attr] += 1
        for node in ast.walk(tree_of(path)):
            if isinstance(node, Function) and re.match(r"_(?!_)", node.name) and used[node.name] == 1:
                yield f"{inside(path)}:{node.lineno} {node.name}"


def share_used_once() -> float:
    return 100 * len(list(used_once())) / len(list(functions()))


def named_nowhere_else() -> Iterator[str]:
    """Module-level names without underscore that no other file of src names; what users have is left out."""
    naming: dict[str, set[str]] = defaultdict(set)
    for path in MODULES:
        for name in names_in(module_name(path), tree_of(path)):
            naming[name].add(module_name(path))
    for path in MODULES:
        module = module_name(path)
        for name in names_of(tree_of(path)) if module not in PUBLIC else ():
            if not naming[name] - {module}:
                yield f"{module}.{name}"


def names_in(module: str, tree: ast.Module) -> Iterator[str]:
    """Every name that the code of a module says, in strings such as "adjudge.runs.ray:execute" too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.ImportFrom):
            yield from (one.name for one in node.names)
    for string in strings(tree):
        if named := re.fullmatch(r"[\w.]+:(\w+)", string):
            yield named[1]
        elif module in PUBLIC:
            yield from string.split()


def names_of(tree: ast.Module) -> Iterator[str]:
    """What a module defines for others; a function with a decorator was given to somebody by it."""
    for node in tree.body:
        found: list[str] = []
        if isinstance(node, ast.ClassDef) or (isinstance(node, Function) and not node.decorator_list):
            found = [node.name]
        elif isinstance(node, ast.Assign):
            found = [target.id for target in node.targets if isinstance(target, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found = [node.target.id]
        yield from (name for name in found if not name.startswith("_"))


# Limits...


@dataclass(frozen=True)
class Gauge:
    """One count, and its limit.

    `count` gives the things, to be listed, or their number.
    """

    what: str
    limit: float
    do: str
    why: str
    count: Callable[[], Iterable[str] | float]

    def measure(self) -> float:
        found = self.count()
        return found if isinstance(found, float) else len(list(found))

    def complaint(self) -> str | None:
        """What is wrong, if anything: more than the limit, or a limit that holds nothing any more."""
        found, line = self.measure(), line_of(self.what)
        place = f"tests/gauges.py, line {line}"
        if found > self.limit:
            return (
                f"src/adjudge has {show(found)} {self.what}; the limit is {show(self.limit)} "
                f"({place}: {self.why}). {self.do}. `python -m tests.gauges {self.what}` lists them"
            )
        if found * SLACK < self.limit - 1:
            lower = show(found * ROOM if found % 1 else found * ROOM // 1)
            return f"src/adjudge has {show(found)} {self.what}: lower the limit to {lower} ({place})"
        return None


def show(number: float) -> str:
    return f"{number:,.0f}" if float(number).is_integer() or number > 1000 else f"{number:.1f}"


def line_of(what: str) -> int:
    """Where the limit of a gauge stands in this file."""
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.strip() == f'"{what}",')


LESS = "Delete, or send what does the same a second way through the place that does it"
RAISE = "; if the new thing is worth it, raise the limit by what it needs and say why beside it"

GAUGES = (
    Gauge(
        "AST nodes",
        417_000,
        LESS + RAISE,
        "all behaviours of the first release",
        lambda: float(nodes_of_rooms().total()),
    ),
    Gauge(
        "lines of data",
        14_500,  # FiRE's tables; an annotator's page of rows, its keys, and its next task in place
        "Delete data that nothing reads" + RAISE,
        "prompts, pages, scripts, styles and examples",
        lines_of_data,
    ),
    Gauge(
        "Python files",
        231,  # somebody new looked for challenge sets and found no file of that name
        "Put the code into the module that has the idea" + RAISE,
        "a module is an idea that a user or a paper has a name for",
        lambda: map(inside, MODULES),
    ),
    Gauge(
        "lines of Python",
        85_300,
        LESS + RAISE,
        "what a newcomer has to scroll through",
        lambda: float(sum(len(path.read_text().splitlines()) for path in MODULES)),
    ),
    Gauge(
        "lines of tests",
        88_600,
        "Say a thing once: a case in a table, a builder of the room, no second test that fails for one fault"
        + RAISE,
        "what a newcomer has to read to trust a change",
        lambda: float(sum(len(path.read_text().splitlines()) for path in (ROOT / "tests").rglob("*.py"))),
    ),
    Gauge(
        "commands",
        43,  # a campaign's catalogue
        "Make it a setting of the command that is nearest" + RAISE,
        "what a user has to choose from",
        commands,
    ),
    Gauge(
        "options",
        601,  # --mismatched of every verb that joins inputs
        "Choose for the user, or take away an option that this one replaces" + RAISE,
        "what a user has to read",
        options,
    ),
    Gauge(
        "% of characters in docstrings",
        14.5,
        "Say it with a name or a type, or in a comment that gives the reason" + RAISE,
        "words are for those who read them: public names, units, sources",
        docstring_characters,
    ),
    Gauge(
        "% of functions private and used once",
        23.0,
        "Write the function where it is called, unless its name says more than its body" + RAISE,
        "a function is a whole thought",
        share_used_once,
    ),
    Gauge(
        "statements in functions that return words",
        3_460,
        "Say it in a column, or in one sentence that has a home" + RAISE,
        "messages, notes and labels",
        statements_of_words,
    ),
    Gauge(
        "riddles in strings and pages",
        283,
        "Write a sentence with a subject, a verb and a noun in place of the pronoun",
        "phrases that are read twice; the number only falls",
        riddles,
    ),
    Gauge(
        "names that no other module names",
        646,
        "Give it an underscore, or delete it" + RAISE,
        "a name without underscore says that others need it",
        named_nowhere_else,
    ),
    Gauge(
        "import circles",
        0,
        "Move what both need into a module that imports neither",
        "strings that name modules count as imports",
        lambda: circles(imports(at_once=False)),
    ),
    Gauge(
        "modules of more than 1,000 lines",
        0,
        "Divide it where its idea divides",
        "a module is read in one go",
        lambda: (inside(path) for path in MODULES if len(path.read_text().splitlines()) > 1000),
    ),
    Gauge(
        "modules that one module of the same room imports and no other",
        16,
        "Put it into the module that imports it" + RAISE,
        "pieces of one idea",
        lonely,
    ),
    Gauge(
        "file names that stand twice",
        0,
        "Name the file after its idea",
        "whoever looks for a module finds it by its name",
        lambda: (s for s, n in Counter(path.stem for path in MODULES).items() if n > 1 and s != "__init__"),
    ),
    Gauge(
        "functions of more than 8 parameters",
        3,
        "Make an object of those that belong together" + RAISE,
        "commands, and verbs of the Python API",
        lambda: (f"{inside(path)}:{f.lineno} {f.name}" for path, f in functions() if parameters(f) > 8),
    ),
    Gauge(
        "docstrings and comments that name what is not there",
        0,
        "Name the file or module by its path in the package",
        "words age when code moves",
        strangers,
    ),
    Gauge(
        "headings of sections that are sentences",
        0,
        "Name the section in five words at most",
        "a heading is for the eye",
        headings,
    ),
)


def main(words: list[str]) -> None:
    lines = [f"{show(gauge.measure()):>9} of {show(gauge.limit):>9} {gauge.what}" for gauge in GAUGES]
    lines += [f"{number:9,} {room}" for room, number in nodes_of_rooms().most_common()]
    for gauge in GAUGES:
        if words and " ".join(words) in gauge.what:
            found = gauge.count()
            lines = [show(found)] if isinstance(found, float) else list(found)
    sys.stdout.write("\n".join([*lines, ""]))


if __name__ == "__main__":
    main(sys.argv[1:])
