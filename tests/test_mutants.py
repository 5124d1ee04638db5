"""The faults that `make nightly` puts into the package are faults, and say where they were run."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.mutants import changed_lines, faults

TEXT = """\
class Kind:
    least: int = 3

    def of(self, a, b):
        if a < b and (not a):
            print(a, 'or 1')
        return a + 1
"""


def now(faulty: Callable[[str], str]) -> str:
    return changed_lines(TEXT, faulty("")).splitlines()[-1].partition("+")[2].strip()


def test_each_fault_changes_one_thing_within_functions(tmp_path: Path) -> None:
    (path := tmp_path / "kind.py").write_text(TEXT)
    assert sorted((line, now(faulty)) for line, faulty in faults(path)) == [
        (5, "if a < b or not a:"),
        (5, "if a <= b and (not a):"),
        (5, "if not (a < b and (not a)):"),
        (6, "pass"),
        (7, "return a + 2"),
        (7, "return a - 1"),
    ]


def test_a_fault_leaves_a_mark_where_it_is_run_and_nowhere_else(tmp_path: Path) -> None:
    (path := tmp_path / "kind.py").write_text(TEXT)
    for line, faulty in faults(path):
        names: dict[str, Any] = {"print": lambda *_: None}
        mark = tmp_path / f"line {line}"
        exec(faulty(str(mark)), names)  # noqa: S102 (the text above)
        names["Kind"]().of(0, 0)
    assert sorted(one.name for one in tmp_path.glob("line*")) == ["line 5", "line 7"]
