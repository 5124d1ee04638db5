"""Put a section of figures into docs/benchmarks.md, in place of the one of that name."""

import re
from pathlib import Path

__all__ = ["PAGE", "write_section"]

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"


def write_section(title: str, body: str) -> None:
    """Replace the section, or add it at the end."""
    page = PAGE.read_text(encoding="utf-8")
    section = f"## {title}\n\n{body.strip()}\n"
    place = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    found = place.search(page)
    if found is None:
        page = f"{page.rstrip()}\n\n{section}"
    else:
        rest = page[found.end() :]
        page = page[: found.start()] + section + (f"\n{rest}" if rest else "")
    PAGE.write_text(page, encoding="utf-8")
