"""The documentation site finds a place for every page; what mkdocs itself would say is for `make site`."""

import ast
import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from adjudge.formats.registry import FORMATS

ROOT = Path(__file__).parents[1]
MADE = {"index", "contributing", "changelog"}
"""Pages that are made of files outside of docs/."""


def table(name: str) -> dict[str, Any]:
    """What `site/pages.py` says; it is not imported, since mkdocs is not of the development group."""
    tree = ast.parse((ROOT / "site" / "pages.py").read_text(encoding="utf-8"))
    named = [node for node in tree.body if isinstance(node, ast.AnnAssign) and node.value is not None]
    found: Any = next(n.value for n in named if ast.unparse(n.target) == name)
    return dict(ast.literal_eval(found))


def sections() -> Mapping[str, Sequence[str]]:
    return table("_SECTIONS")


def test_every_page_stands_in_one_section() -> None:
    placed = [page for pages in sections().values() for page in pages]
    assert sorted(placed) == sorted({path.stem for path in (ROOT / "docs").glob("*.md")} | MADE)


def test_every_format_has_a_module_that_describes_it() -> None:
    modules = table("_FORMAT_MODULES")
    for form in FORMATS:
        module = modules.get(form.name, form.name.replace("-", "_"))
        room = "store" if module in {"json_lines", "run_directory"} else "formats"
        assert importlib.import_module(f"adjudge.{room}.{module}").__doc__, form.name
