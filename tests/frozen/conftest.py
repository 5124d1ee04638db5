"""The option that freezes again, and the folder that all frozen commands are called in."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.frozen.cases import Workspace
from tests.frozen.keeping import abridged, differences, merged, normal, rendered

HERE = Path(__file__).parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--freeze", action="store_true", help="Freeze what is found, in place of comparing it.")
    parser.addoption("--whole", metavar="DIR", help="Also write all that is found there, nothing abridged.")


class Frozen:
    """What is kept, by file and key."""

    def __init__(self, is_freezing: bool, whole: str | None) -> None:
        self.is_freezing = is_freezing
        self.whole = Path(whole).absolute() if whole else None
        self.files: dict[str, dict[str, Any]] = {}
        self.found: dict[str, dict[str, Any]] = {}

    def kept(self, group: str) -> dict[str, Any]:
        path = HERE / f"{group}.json"
        if group not in self.files:
            self.files[group] = json.loads(path.read_text("utf-8")) if path.exists() else {}
        return self.files[group]

    def check(self, group: str, name: str, value: Any) -> None:
        """Fail with each difference, or keep the value."""
        full = json.loads(json.dumps(normal(value)))
        short = abridged(full)
        if self.whole:
            path = self.whole / group / f"{name.replace('/', '_')}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rendered(full), "utf-8")
        kept = self.kept(group).get(name)
        if self.is_freezing:
            self.found.setdefault(group, {})[name] = short if kept is None else merged(kept, short)
            return
        if kept is None:
            pytest.fail(f"nothing is frozen of {name!r}: freeze it with pytest tests/frozen --freeze")
        if lines := list(differences(kept, short)):
            more = f"\n  and {len(lines) - 30} more" if len(lines) > 30 else ""
            pytest.fail(
                f"{name}: not what is frozen in {group}.json:\n  "
                + "\n  ".join(lines[:30])
                + more
                + "\nIf that is meant, freeze again and read the difference: pytest tests/frozen --freeze. "
                "What is abridged is seen whole with --whole DIR, here and at the commit before.",
                pytrace=False,
            )

    def write(self, names: dict[str, list[str]]) -> None:
        """Write what was found; what was not asked for now, such as public data, stays as it is."""
        for group, all_names in names.items():
            both = {**self.kept(group), **self.found.get(group, {})}
            text = rendered({name: both[name] for name in all_names if name in both})
            (HERE / f"{group}.json").write_text(text, "utf-8", newline="")


@pytest.fixture(autouse=True)
def _ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """A judge that a contributor has installed is none of what is frozen."""
    for module in ("core.judge", "runs.units"):
        monkeypatch.setattr(f"adjudge.{module}.entry_points", lambda group: ())


@pytest.fixture(scope="session")
def frozen(request: pytest.FixtureRequest) -> Iterator[Frozen]:
    """What must not move; with `--freeze`, what is found is written when all is done."""
    is_freezing = request.config.getoption("--freeze")
    if is_freezing and "PYTEST_XDIST_WORKER" in os.environ:
        pytest.fail("--freeze writes files that all tests share: leave -n out")
    kept = Frozen(is_freezing, request.config.getoption("--whole"))
    yield kept
    if is_freezing:
        from tests.frozen.test_frozen import all_names

        kept.write(all_names())


@pytest.fixture(scope="session")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """The bundled examples and the recorded campaigns, and runs once they are needed."""
    folder = tmp_path_factory.mktemp("frozen")
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patch:
        patch.chdir(folder)
        return Workspace(folder)
