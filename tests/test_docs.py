"""The documentation is run: commands, Python and links of README.md, CONTRIBUTING.md and docs/."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

import pytest

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
COMMAND = re.compile(r"^(adjudge .*|cat > .*<< *'?(\w+)'?\n(?s:.*?)^\2)$", re.MULTILINE)
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
    """Read what is run of a shell block: adjudge itself, and files made with "cat > FILE <<END"."""
    if block.language not in {"sh", "console", "bash"}:
        return []
    text = block.text.replace("\\\n", " ")
    if block.language == "console":  # the lines without a prompt are output
        text = "\n".join(line[2:] for line in text.splitlines() if line.startswith("$ "))
    return [found[1] for found in COMMAND.finditer(text)]


def run_command(command: str, folder: Path) -> None:
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
    wanted = int(found[1]) if (found := EXIT.search(command)) else 0
    assert done.returncode == wanted, f"{command}\nexit {done.returncode}, wanted {wanted}\n{done.stderr}"


def anchors(page: Path) -> set[str]:
    """The addresses that forges give to a page's headings."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading).strip().lower().replace(" ", "-") for heading in headings}


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `adjudge demo` writes, made once."""
    folder = tmp_path_factory.mktemp("docs")
    run_command("adjudge demo --out demo", folder)
    return folder / "demo"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_examples_of_a_page_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    blocks = read_blocks(page.read_text())
    commands = [command for block in blocks for command in read_commands(block)]
    makes_demo = any(command.startswith("adjudge demo") for command in commands)
    if not makes_demo and any("demo/" in block.text for block in blocks):
        shutil.copytree(request.getfixturevalue("demo"), tmp_path / "demo")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks:
        if block.language == "python":  # padded so that a traceback gives the page's own line
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)  # noqa: S102 - our own docs
        for command in read_commands(block):
            run_command(command, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_links_of_a_page_resolve(page: Path) -> None:
    broken = []
    for link in ("".join(groups) for groups in LINK.findall(FENCE.sub("", page.read_text()))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = unquote(link).partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and target.suffix == ".md" and anchor not in anchors(target)):
            broken.append(link)
    assert not broken
