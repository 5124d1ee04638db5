"""What works in the core alone, and what is said where a library of an extra is missing."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from adjudge import examples
from adjudge.core.extras import EXTRAS, has_library, import_extra, missing_extra
from adjudge.errors import UsageError

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
TEXTS = str(examples.path("test_set.jsonl"))
GOLD = str(examples.path("gold.mqm.jsonl"))
LIBRARIES = [library for libraries in EXTRAS.values() for library in libraries]
ALONE = f"""
import sys
sys.modules.update(dict.fromkeys({sorted({*LIBRARIES} - {"lxml"})}))  # sacrebleu needs lxml, too
from adjudge.cli.main import main
main()
"""


def run_alone(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where no library of an extra can be imported."""
    program = [sys.executable, "-c", ALONE, *arguments]
    return subprocess.run(program, capture_output=True, text=True, check=False)


def test_the_demo_runs_in_the_core_alone(tmp_path: Path) -> None:
    done = run_alone("demo", "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "demo" / "report.html").read_text("utf-8")
    notice = (
        "Figures are not drawn, for matplotlib is not installed: <code>pip install 'adjudge[plot]'</code>"
    )
    assert page.count("matplotlib") == page.count(notice) == 1
    assert page.index(notice) < page.index("<h2"), "once, before the first section"
    figures = re.findall(r"<figure>(.*?)</figure>", page, re.DOTALL)
    assert len(figures) > 1
    assert all(re.search(r'<p class="soft small">[^<]+\.</p>', figure) for figure in figures), (
        "its finding stays"
    )
    assert "English to German" in page


@pytest.mark.parametrize(
    ("arguments", "library", "extra"),
    [
        (("campaign", "status", "nowhere"), "sqlalchemy", "campaign"),
        (("serve", GOLD), "uvicorn", "campaign"),
        (
            ("meta", TEXTS, "--lp", "en-de", "--gold", GOLD, "--scores", GOLD, "--figures", "drawn"),
            "matplotlib",
            "plot",
        ),
    ],
)
def test_a_command_that_needs_an_extra_names_it(
    tmp_path: Path, arguments: tuple[str, ...], library: str, extra: str
) -> None:
    done = run_alone(*arguments)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        f"adjudge: this needs {library}, which is not installed: pip install 'adjudge[{extra}]'"
    )


def test_every_library_of_an_extra_is_known() -> None:
    extras = tomllib.loads(PYPROJECT.read_text("utf-8"))["project"]["optional-dependencies"]
    assert {*EXTRAS} == extras.keys() - {"all", "ray"}
    for extra in EXTRAS.keys() - {"hf"}:  # which `make test` does not install
        assert all(map(has_library, EXTRAS[extra])), "none is misspelt"


def test_a_library_of_no_extra_is_not_taken_for_one() -> None:
    assert missing_extra(ModuleNotFoundError(name="adjudge.nowhere")) is None
    assert missing_extra(ModuleNotFoundError()) is None
    with pytest.raises(
        UsageError, match="needs no_such_library, which is not installed: pip install no_such_library"
    ):
        import_extra("no_such_library.part")
