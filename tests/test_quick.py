"""What `make quick` and `make test` choose of all tests."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests import quick
from tests.conftest import representatives

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("src/adjudge/stats/spa.py", "tests/stats/test_spa.py"),
        ("src/adjudge/core/record.py", "tests/core/test_record.py"),
        ("src/adjudge/judges/rate/agents.py", "tests/judges/test_rate.py"),
        ("src/adjudge/campaigns/answers.py", "tests/campaigns/test_answers.py"),
        ("tests/store/test_files.py", "tests/store/test_files.py"),
        ("docs/meta.md", "tests/test_docs.py::test_the_examples_of_a_page_run[docs/meta.md]"),
        (
            "benchmarks/rules.py",
            "tests/test_house.py::test_a_benchmark_is_a_program_that_finds_what_it_imports",
        ),
    ],
)
def test_what_is_nearest_to_a_change_comes_first(path: str, first: str) -> None:
    assert first in quick.chosen([path])[0]


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("src/adjudge/judges/prompts/fire/criterion_faithfulness.md", "tests/judges/test_fire.py"),
        ("src/adjudge/analysis/task_sets/wmt23.toml", "tests/analysis/test_shared_tasks.py"),
        ("src/adjudge/web/static/js/queue.js", "tests/browser/test_saving.py"),
        ("src/adjudge/reports/templates/find.js", "tests/reports/test_html.py"),
        ("src/adjudge/examples/test_set.jsonl", "tests/examples/test_examples.py"),
        ("src/adjudge/analysis/rank.py", quick.FROZEN),
        ("tests/frozen/results.json", quick.FROZEN),
        ("tests/campaigns/work.py", "tests/campaigns/test_answers.py"),
    ],
)
def test_a_change_brings_the_tests_of_its_room(path: str, wanted: str) -> None:
    assert (ROOT / path).exists()
    assert wanted in quick.chosen([path])


def test_every_module_brings_a_test_and_no_more_files_than_a_minute_holds() -> None:
    modules = [path.relative_to(ROOT).as_posix() for path in quick.PACKAGE.rglob("*.py")]
    assert all(1 <= len(quick.chosen([path])) <= quick.MOST + 1 for path in modules[::20])
    assert len(quick.chosen(modules)) == quick.MOST + 1
    assert quick.chosen([]) == []


LATE = """import time
import pytest
time.sleep(0.5)  # as long as collecting may take: the time counts from the first test

def test_one():
    time.sleep(0.5)

def test_two():
    raise SystemExit(9)
"""


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
def test_no_test_begins_when_the_time_since_the_first_is_over(tmp_path: Path, workers: list[str]) -> None:
    ended = play(tmp_path, LATE, "--seconds=0.4", *workers)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "1 passed, 1 skipped" in ended.stdout
    assert "no time is left: `make test` runs it" in ended.stdout


@pytest.mark.parametrize("workers", [[], ["-n", "1"]])
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("def test_one():\n    pytest.skip('no data')\n", 5),
        ("def test_one():\n    pytest.skip('no data')\ndef test_two():\n    assert not 1\n", 1),
        ("def test_one():\n    pytest.skip('no data')\ndef test_two():\n    pass\n", 0),
    ],
)
def test_a_minute_in_which_no_test_ran_fails(
    tmp_path: Path, text: str, code: int, workers: list[str]
) -> None:
    ended = play(tmp_path, "import pytest\n" + text, "--seconds=40", *workers)
    assert ended.returncode == code, ended.stdout + ended.stderr
    assert ("no test ran" in ended.stdout) is (code == 5)


def play(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a text, with the options of this project."""
    (folder / "test_it.py").write_text(text)
    command = [
        sys.executable,
        *["-m", "pytest", "-p", "no:cacheprovider", "-rs"],
        "-c",
        str(ROOT / "pyproject.toml"),
    ]
    command += [f"--confcutdir={ROOT}", "-p", "tests.conftest", *options, str(folder / "test_it.py")]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize(("second", "name"), [(0, "a"), (1, "b"), (2, "c")])
@pytest.mark.parametrize("third", range(2))
def test_a_table(first: int, second: int, name: str, third: int) -> None:
    """For the test below: three tables, 24 cases."""


def test_of_three_tables_each_pair_of_rows_is_kept(request: pytest.FixtureRequest) -> None:
    cases = [item for item in request.session.items if getattr(item, "function", None) is test_a_table]
    if len(cases) < 24:
        pytest.skip("without all cases there is nothing to choose from")
    kept = representatives(cases)  # type: ignore[arg-type]
    assert len(kept) < 24
    given = [item.callspec.params for item in kept]
    for one, other, size in (("first", "second", 12), ("first", "third", 8), ("name", "third", 6)):
        assert len({(params[one], params[other]) for params in given}) == size
