"""The documentation is run: commands, Python and links of README.md, CONTRIBUTING.md and docs/."""

import fcntl
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

from adjudge.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]

FENCE = re.compile(
    r"^(?P<not_run> *<!-- not run: [^\n]+ -->\n+)?"
    r"(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^(?P=indent)```",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
COMMAND = re.compile(r"^(adjudge .*|(?:head|tail) .*|cat > .*<< *'?(\w+)'?\n(?s:.*?)^\2)$", re.MULTILINE)
SHELL = re.compile(r"[|<>;&$`*?\n~#]")
EXIT = re.compile(r"# exit (\d+)\s*$")


class Block(NamedTuple):
    """One fenced block: its language, its text, and the line where it starts."""

    language: str
    text: str
    line: int


def read_blocks(page: str) -> list[Block]:
    """Read the blocks that are to be run."""
    return [
        Block(found["language"], textwrap.dedent(found["text"]), page.count("\n", 0, found.start("text")) + 1)
        for found in FENCE.finditer(page)
        if not found["not_run"]
    ]


def read_commands(block: Block) -> list[str]:
    """What is run of a shell block: adjudge, head, tail, and files made with "cat > FILE <<END"."""
    if block.language not in {"sh", "console", "bash"}:
        return []
    text = block.text.replace("\\\n", " ")
    if block.language == "console":  # the lines without a prompt are output
        text = "\n".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
    return [found[1] for found in COMMAND.finditer(text)]


def run_command(command: str, folder: Path) -> None:
    """Run a command as printed: in this process, which is quicker, or in a shell where it needs one."""
    wanted = int(found[1]) if (found := EXIT.search(command)) else 0
    words = EXIT.sub("", command)
    code, said = run_in_shell(command, folder) if SHELL.search(words) else run_here(shlex.split(words))
    assert code == wanted, f"{command}\nexit {code}, wanted {wanted}\n{said}"


def run_here(words: list[str]) -> tuple[int, str]:
    """Run `adjudge ...` in the folder of the test; the exit code, and what it said on stderr."""
    out, said = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(said), pytest.raises(SystemExit) as end:
        main(words[1:])
    return int(end.value.code or 0), said.getvalue()


def run_in_shell(command: str, folder: Path) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    return done.returncode, done.stderr


def anchors(page: Path) -> set[str]:
    """The addresses that forges give to a page's headings."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


DEMO = "adjudge demo --out demo"


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command writes that many pages begin with, made once for all workers."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    (folder := shared / "docs").mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            with chdir(folder), pytest.MonkeyPatch.context() as patch:
                patch.delenv("ADJUDGE_MODEL", raising=False)
                run_command(DEMO, folder)
            (folder / "made").touch()
    return folder / "demo"


FIRST = {"README.md", "docs/tutorial.md"}
"""Pages whose examples `make test` runs: together they call most commands."""


def named(page: Path) -> Any:
    name = page.relative_to(ROOT).as_posix()
    return pytest.param(page, id=name, marks=[pytest.mark.exhaustive] * (name not in FIRST))


@pytest.mark.usefixtures("_one_format")
@pytest.mark.parametrize("page", [named(page) for page in PAGES])
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    blocks = read_blocks(page.read_text())
    commands = [command for block in blocks for command in read_commands(block)]
    monkeypatch.delenv("ADJUDGE_MODEL")  # a page names the model that it asks
    if DEMO in commands or any("demo/" in block.text for block in blocks):
        shutil.copytree(request.getfixturevalue("demo"), tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks:
        if block.language == "python":  # padded so that a traceback gives the page's own line
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)  # noqa: S102 - our own docs
        for command in read_commands(block):
            if command != DEMO:
                run_command(command, tmp_path)


def test_the_links_of_all_pages_resolve() -> None:
    broken = []
    for page in PAGES:
        for link in ("".join(groups) for groups in LINK.findall(FENCE.sub("", page.read_text()))):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = page.parent / name if name else page
            if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
                broken.append(f"{page.relative_to(ROOT)}: {link}")
    assert not broken


def test_the_recipe_for_a_build_asks_in_the_next_build_for_what_is_new(tmp_path: Path) -> None:
    recipe = (ROOT / "docs" / "gate.md").read_text()
    (cached,) = set(re.findall(r"^ +path: (\S+)$", recipe, re.MULTILINE))
    steps = re.findall(r"^      - run: \|\n((?: {10}.*\n)+)", recipe, re.MULTILINE)
    script = "set -e; GITHUB_STEP_SUMMARY=summary.md\n" + "".join(map(textwrap.dedent, steps))
    texts = {"source": "What?", "production": "an engine"}
    asked = []
    for build, last in (("first", "a new engine"), ("second", "a newer engine")):
        (folder := tmp_path / build).mkdir()
        if (kept := tmp_path / "first" / cached).exists():
            kept.rename(folder / cached)
        for name, text in (texts | {"candidate": last}).items():
            (folder / f"{name}.txt").write_text("\n".join([*(f"Number {n}." for n in range(11)), text]))
        code, said = run_in_shell(script, folder)
        assert code == 6, said  # twelve segments are not enough data
        asked += re.findall(r"(\d+) questions? asked", said)
    assert asked == ["12", "1", "0", "1"]


def test_the_page_about_formats_has_the_table_of_the_registry(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["list", "formats", "--format", "markdown"])
    wanted = capsys.readouterr().out
    said = "put what `adjudge list formats --format markdown` prints into docs/formats.md"
    assert wanted in (ROOT / "docs" / "formats.md").read_text("utf-8"), said
