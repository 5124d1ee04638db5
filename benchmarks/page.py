"""What benchmarks share: arguments, the public test sets, and a section of docs/benchmark-tables.md."""

import argparse
import os
import re
from pathlib import Path

__all__ = ["find_data", "make_parser", "show", "write_section"]

PAGE = Path(__file__).parents[1] / "docs" / "benchmark-tables.md"


def make_parser(about: str | None) -> argparse.ArgumentParser:
    """A parser that knows `--write`; `about` is the docstring of the benchmark."""
    parser = argparse.ArgumentParser(description=(about or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help="put the figures into docs/benchmark-tables.md")
    return parser


def find_data() -> Path | None:
    """The folder with the public test sets; says so where there is none."""
    if not (data := os.environ.get("ADJUDGE_DATA")):
        print("ADJUDGE_DATA is not set: it names the folder with the public test sets")
        return None
    return Path(data)


def show(title: str, text: str, *, write: bool) -> None:
    """Print a section, and put it into the page where that is asked for."""
    print(text)
    if write:
        write_section(title, text)


def write_section(title: str, body: str, file: Path = PAGE) -> None:
    """Replace the section of that title, or add it at the end."""
    page = file.read_text(encoding="utf-8")
    section = f"## {title}\n\n{body.strip()}\n"
    place = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    found = place.search(page)
    if found is None:
        page = f"{page.rstrip()}\n\n{section}"
    else:
        rest = page[found.end() :]
        page = page[: found.start()] + section + (f"\n{rest}" if rest else "")
    file.write_text(page, encoding="utf-8")
