"""What must not move when modules do: records, results, exports, the Python API and the names of commands.

`pytest tests/frozen --freeze` writes all of it anew, where a change is meant.
"""

import dataclasses
import importlib
import inspect
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import adjudge
from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.people import add_people
from adjudge.cli.main import COMMANDS, GROUPS
from adjudge.web.app import create_app
from tests.campaigns.conftest import NOW
from tests.frozen.cases import JUDGES, PROFILES, STORES, Case, Workspace, all_cases, call, read, recorded_run
from tests.frozen.conftest import Frozen
from tests.frozen.keeping import abridged, differences, digest, merged
from tests.web.client import Client

CASES = all_cases()
VERBS = (
    "arun",
    "bias",
    "compare",
    "estimate",
    "forecast",
    "gate",
    "load",
    "meta",
    "power",
    "rank",
    "read_records",
    "report",
    "run",
    "score",
    "spans",
)
ROOMS = ("judges", "metrics")
DASHBOARD = ("/dashboard", "/dashboard/people", "/dashboard/analysis", "/api/dashboard")
GOLD, TEXTS = "gold.mqm.jsonl", "test_set.jsonl"
RESULTS: dict[str, Callable[[], Any]] = {
    "result of bias": lambda: adjudge.bias("gold.pairwise.jsonl", resamples=0),
    "result of compare": lambda: adjudge.compare(GOLD, systems=("Alder", "Birch")),
    "result of estimate": lambda: adjudge.estimate("gold.esa.jsonl", GOLD),
    "result of forecast": lambda: adjudge.forecast("fire", adjudge.load("few.jsonl"), model="builtin/rules"),
    "result of gate": lambda: adjudge.gate(GOLD, systems=("Alder", "Birch"), margin=1),
    "result of load": lambda: adjudge.load("few.jsonl"),
    "result of meta": lambda: adjudge.meta(TEXTS, "en-de", gold=[GOLD], scores={"one": GOLD}),
    "result of power": lambda: adjudge.power(GOLD),
    "result of rank": lambda: adjudge.rank(GOLD),
    "result of read_records": lambda: [
        *adjudge.read_records("few.mqm.jsonl"),
        *adjudge.read_records("few.pairwise.jsonl"),
    ],
    "result of run": lambda: adjudge.run(
        "gemba-mqm", adjudge.load("few.jsonl"), out="api", model="builtin/rules"
    ),
    "result of score": lambda: adjudge.score(GOLD),
    "result of spans": lambda: adjudge.spans(GOLD, GOLD),
}


def all_names() -> dict[str, list[str]]:
    """Every key of every frozen file, in order."""
    names: dict[str, list[str]] = {}
    for case in CASES:
        names.setdefault(case.group, []).append(case.name)
    names["exports"] += [f"dashboard of {name}" for name in STORES]
    names["api"] = [*VERBS, *ROOMS, *RESULTS, "commands"]
    names["calls"] = [f"{judge} {profile}" for judge in JUDGES for profile in PROFILES]
    return names


def identified(case: Case) -> Any:
    marks = [pytest.mark.realdata] if case.is_real else []
    return pytest.param(case, id=f"{case.group}: {case.name}", marks=marks)


@pytest.mark.parametrize("case", [identified(case) for case in CASES])
def test_a_command_says_and_writes_what_it_did(
    case: Case,
    workspace: Workspace,
    frozen: Frozen,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(workspace.folder)
    if case.is_real and not (link := workspace.folder / "data").exists():
        link.symlink_to(request.getfixturevalue("adjudge_data"), target_is_directory=True)
    frozen.check(case.group, case.name, workspace.found(case))


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("judge", JUDGES)
def test_a_question_asked_before_is_found_in_the_store(
    judge: str, profile: str, workspace: Workspace, frozen: Frozen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A key that changes makes every stored call one that is paid again."""
    monkeypatch.chdir(workspace.folder)
    workspace.do(command := recorded_run(judge, profile))
    with closing(sqlite3.connect(Path(command.split()[4]) / "calls.sqlite")) as store:
        keys = sorted(key.hex() for (key,) in store.execute("SELECT key FROM calls"))
    frozen.check(
        "calls", f"{judge} {profile}", {"calls": len(keys), "first": keys[0], "all": digest(" ".join(keys))}
    )


@pytest.mark.parametrize("name", STORES)
def test_a_dashboard_shows_what_it_showed(
    name: str, workspace: Workspace, frozen: Frozen, tmp_path: Path
) -> None:
    shutil.copytree(workspace.folder / "stores" / name, tmp_path / name)
    with open_campaign(tmp_path / name) as campaign:
        (link,) = add_people(campaign, ["Oona"], "organiser", NOW, actor="test")
        client = Client(create_app(campaign, clock=lambda: NOW))
        assert client.post("/api/enter", {"secret": link.secret}).status == 200
        found = {path: read(client.get(path).text) for path in DASHBOARD}
    frozen.check("exports", f"dashboard of {name}", found)


@pytest.mark.parametrize("name", VERBS)
def test_a_verb_takes_what_it_took(name: str, frozen: Frozen) -> None:
    frozen.check("api", name, signature(getattr(adjudge, name)))


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_has_the_names_it_had(name: str, frozen: Frozen) -> None:
    room = getattr(adjudge, name)
    named = {one: getattr(room, one) for one in sorted(room.__all__)}
    table = sorted(next(iter(value for one, value in named.items() if one.isupper())))
    homes = [home.partition(":") for home in named[name.upper()].values()]
    classes = [getattr(importlib.import_module(module), kind) for module, _, kind in homes]
    frozen.check(
        "api",
        name,
        {
            "names": list(named),
            "table": table,
            "classes": {
                one.__name__: signature(one) for one in sorted(classes, key=lambda kind: kind.__name__)
            },
        },
    )


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_has_the_fields_it_had(
    name: str, workspace: Workspace, frozen: Frozen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(workspace.folder)
    shapes: dict[str, list[str]] = {}
    collect(RESULTS[name](), shapes)
    frozen.check("api", name, dict(sorted(shapes.items())))


def test_the_commands_are_those_there_were(frozen: Frozen) -> None:
    groups = {}
    for name in GROUPS:
        _, out, _ = call([name, "--help"])
        groups[name] = [
            line.split()[0]
            for line in out.split("Commands:")[1].splitlines()
            if line[:2] == "  " and line[2:3].strip()
        ]
    public = sorted(adjudge.__all__)
    frozen.check(
        "api", "commands", {"commands": sorted(COMMANDS), "groups": groups, "names of adjudge": public}
    )


def signature(verb: Callable[..., Any]) -> list[str]:
    """Name, kind and default of each parameter; annotations may move."""
    return [
        f"{one.name}, {one.kind.description}"
        + ("" if one.default is one.empty else f", else {shown(one.default)}")
        for one in inspect.signature(verb).parameters.values()
    ]


def shown(default: object) -> str:
    """A default as it is written; one without a text of its own by its kind."""
    return repr(default) if " at 0x" not in repr(default) else type(default).__name__


def collect(value: Any, shapes: dict[str, list[str]]) -> None:
    """The fields, and the properties, of each dataclass within."""
    if dataclasses.is_dataclass(value):
        kind = type(value)
        fields = [field.name for field in dataclasses.fields(value) if not field.name.startswith("_")]
        more = [
            name
            for name in dir(kind)
            if not name.startswith("_") and isinstance(getattr(kind, name), property)
        ]
        shapes.setdefault(kind.__name__, [*fields, *(f"{name} (computed)" for name in sorted(more))])
        for name in fields:
            collect(getattr(value, name), shapes)
    elif isinstance(value, dict):
        for one in value.values():
            collect(one, shapes)
    elif isinstance(value, list | tuple | set | frozenset):
        for one in value:
            collect(one, shapes)


# The keeping itself...


@pytest.mark.parametrize(
    ("kept", "found", "said"),
    [
        ({"a": 1.0}, {"a": 1.0 + 1e-14}, []),
        ({"a": 1.0}, {"a": 1.0 + 1e-9}, ["/a: 1.0 became 1.000000001"]),
        ({"a": "1,2.1234567,3"}, {"a": "1,2.12345670000000001,3"}, []),
        (
            {"a": "1,2.1234567"},
            {"a": "1,2.1234568"},
            ["/a: from character 10 on, '1,2.1234567' became '1,2.1234568'"],
        ),
        ({"a": 1}, {"a": 2}, ["/a: '1' became '2'"]),
        ({"a": 1}, {"a": True}, ["/a: '1' became 'true'"]),
        ({"a": [1, 2]}, {"a": [1]}, ["/a: 2 items became 1"]),
        ({"a": "same old"}, {"a": "same new"}, ["/a: from character 5 on, 'same old' became 'same new'"]),
        ({"a": 1}, {"b": 1}, ["/a: is gone; it was '1'", "/b: is new: '1'"]),
        ({"a": 1, "b": 1}, {"b": 1, "a": 1}, [': the keys stand in another order: \'["b", "a"]\'']),
    ],
)
def test_a_difference_is_said_with_its_place(kept: Any, found: Any, said: list[str]) -> None:
    assert list(differences(kept, found)) == said


def test_a_long_list_shows_a_change_far_down_and_bears_the_last_digit() -> None:
    long = [{"name": f"segment {n}", "score": n / 7} for n in range(100)]
    near = [{**one, "score": one["score"] * (1 + 1e-15)} for one in long]  # type: ignore[operator]
    assert list(differences(abridged(long), abridged(near))) == []
    assert merged(abridged(long), abridged(near)) == abridged(long)
    for change in ({"score": 1.5}, {"name": "another"}):
        assert list(differences(abridged(long), abridged([*long[:90], {**long[90], **change}, *long[91:]])))
    swapped = [*long[:50], {**long[50], "score": 51 / 7}, {**long[51], "score": 50 / 7}, *long[52:]]
    assert [one.split(":")[0] for one in differences(abridged(long), abridged(swapped))] == ["/sum by place"]
