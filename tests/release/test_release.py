"""The gates of a release: each refuses what it is there for. Nothing is built and nobody is asked here."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from release import audit as auditing
from release.__main__ import has_passed
from release.audit import FAULTY, read_audit, refuse_blind, refuse_faults, refuse_less, waived
from release.build import digests_of, refuse_differences
from release.licences import Distribution, is_allowed, licence_of, refuse_licences
from release.lock import Locked, layers, read_lock, render_requirements
from release.policy import Excepted, Policy, read_policy
from release.programs import ROOT, ReleaseError, output_of, program
from release.sbom import refuse_gaps
from release.start_files import find_start_files, refuse_start_files

WHEEL, SDIST = "adjudge-1-py3-none-any.whl", "adjudge-1.tar.gz"

# Builds...


def test_two_builds_that_are_the_same_pass() -> None:
    refuse_differences({WHEEL: "a", SDIST: "b"}, {WHEEL: "a", SDIST: "b"})


@pytest.mark.parametrize(
    ("first", "second", "says"),
    [
        ({WHEEL: "a", SDIST: "b"}, {WHEEL: "a", SDIST: "c"}, SDIST),
        ({WHEEL: "a", SDIST: "b"}, {WHEEL: "a"}, SDIST),
        ({WHEEL: "a"}, {WHEEL: "a"}, "a wheel and an sdist were wanted"),
        ({WHEEL: "a", "other.whl": "b"}, {WHEEL: "a", "other.whl": "b"}, "a wheel and an sdist were wanted"),
        ({}, {}, "nothing"),
    ],
)
def test_two_builds_that_differ_do_not(first: dict[str, str], second: dict[str, str], says: str) -> None:
    with pytest.raises(ReleaseError, match=says):
        refuse_differences(first, second)


def test_digests_are_of_the_packages_alone(tmp_path: Path) -> None:
    for name in (WHEEL, SDIST, ".gitignore"):
        (tmp_path / name).write_bytes(b"")
    assert set(digests_of(tmp_path)) == {WHEEL, SDIST}


# The lock...

LOCK = """
version = 1
[[package]]
name = "adjudge"
version = "0.1.0"
source = { editable = "." }
[[package]]
name = "numpy"
version = "1.0"
source = { registry = "index" }
sdist = { url = "u", hash = "sha256:aa" }
wheels = [{ url = "u", hash = "sha256:bb" }]
[[package]]
name = "numpy"
version = "2.0"
source = { registry = "index" }
wheels = [{ url = "u", hash = "sha256:cc" }]
"""


@pytest.fixture
def locked(tmp_path: Path) -> tuple[Locked, ...]:
    (tmp_path / "uv.lock").write_text(LOCK)
    return read_lock(tmp_path / "uv.lock")


def test_a_lock_holds_every_package_but_adjudge(locked: tuple[Locked, ...]) -> None:
    assert locked == (
        Locked("numpy", "1.0", ("sha256:bb", "sha256:aa")),
        Locked("numpy", "2.0", ("sha256:cc",)),
    )


def test_two_versions_of_a_package_are_asked_apart(locked: tuple[Locked, ...]) -> None:
    assert [render_requirements(layer) for layer in layers(locked)] == [
        "numpy==1.0 --hash=sha256:bb --hash=sha256:aa\n",
        "numpy==2.0 --hash=sha256:cc\n",
    ]


def test_nothing_of_our_own_lock_is_left_out() -> None:
    packages = read_lock(ROOT / "uv.lock")
    assert len(packages) == (ROOT / "uv.lock").read_text().count("[[package]]") - 1
    assert sum(map(len, layers(packages))) == len(packages)
    assert all(package.hashes for package in packages)


# The audit...


def looked_up(name: str, version: str, *ids: str) -> dict[str, Any]:
    return {"name": name, "version": version, "vulns": [{"id": one, "fix_versions": []} for one in ids]}


def skipped(name: str) -> dict[str, Any]:
    return {"name": name, "skip_reason": "not found"}


def said(*entries: dict[str, Any]) -> dict[str, Any]:
    return {"dependencies": list(entries), "fixes": []}


def test_an_audit_of_all_that_is_locked_passes(locked: tuple[Locked, ...]) -> None:
    found = read_audit([said(looked_up("numpy", "1.0")), said(looked_up("numpy", "2.0"))])
    refuse_less(found, locked)
    refuse_faults(found)


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([looked_up("numpy", "1.0")], "audited 1 of 2 locked packages, not numpy 2.0$"),
        ([skipped("numpy")], r"audited 0 of 2 .*not numpy 1.0, numpy 2.0 \(not found\)"),
        ([], "audited 0 of 2"),
        ([looked_up("numpy", v) for v in ("1.0", "2.0", "3.0")], "what is not locked: .*3.0"),
        ([looked_up("numpy", "1.0"), looked_up("scipy", "2.0")], "audited 1 of 2"),
    ],
)
def test_an_audit_of_anything_else_fails(
    locked: tuple[Locked, ...], entries: list[dict[str, Any]], says: str
) -> None:
    with pytest.raises(ReleaseError, match=says):
        refuse_less(read_audit([said(*entries)]), locked)


def test_a_known_fault_fails_with_its_id() -> None:
    with pytest.raises(ReleaseError, match=r"numpy 1\.0: CVE-1, CVE-2"):
        refuse_faults(read_audit([said(looked_up("numpy", "1.0", "CVE-1", "CVE-2"))]))


@pytest.mark.parametrize("entry", [skipped("jinja2"), looked_up(FAULTY.name, FAULTY.version)])
def test_a_source_that_knows_no_faults_of_a_faulty_release_fails(entry: dict[str, Any]) -> None:
    with pytest.raises(ReleaseError, match=r"has no advisories.*--without-advisories"):
        refuse_blind(read_audit([said(entry)]))
    refuse_blind(read_audit([said(looked_up(FAULTY.name, FAULTY.version, "CVE-1"))]))


def test_a_blind_source_is_not_asked_for_the_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[list[Locked]] = []

    def ask(packages: list[Locked]) -> dict[str, Any]:
        asked.append(packages)
        return said(*(skipped(package.name) for package in packages))

    monkeypatch.setattr(auditing, "_ask", ask)
    with pytest.raises(ReleaseError, match="has no advisories"):
        auditing.audit(tmp_path / "audit.json")
    assert asked == [[FAULTY]]
    assert not list(tmp_path.iterdir())


def test_an_audit_says_how_many_and_of_when(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every package of our own lock, from a source that knows faults of the faulty release only."""

    def ask(packages: list[Locked]) -> dict[str, Any]:
        return said(*(looked_up(p.name, p.version, *(["CVE-1"] if p == FAULTY else [])) for p in packages))

    monkeypatch.setattr(auditing, "_ask", ask)
    auditing.audit(tmp_path / "audit.json")
    count = len(read_lock(ROOT / "uv.lock"))
    asked = json.loads((tmp_path / "audit.json").read_text())["asked"]
    assert capsys.readouterr().out == f"audited {count}, locked {count}; advisories as of {asked}\n"


def test_a_waiver_is_said_and_wants_a_reason() -> None:
    assert waived(" no source here ") == "NOT AUDITED, waived: no source here"
    with pytest.raises(ReleaseError, match="wants a reason"):
        waived(" ")


# Licences...

ALLOWED = frozenset({"MIT", "Apache-2.0"})


@pytest.mark.parametrize(
    ("expression", "is_good"),
    [
        ("MIT", True),
        ("MIT OR GPL-3.0-only", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND Apache-2.0", True),
        ("GPL-3.0-only AND MIT OR Apache-2.0", True),
        ("GPL-3.0-only AND (MIT OR Apache-2.0)", False),
        ("MIT AND (GPL-3.0-only OR Apache-2.0)", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("GPL-3.0-only WITH GCC-exception-3.1", False),
        ("UNKNOWN", False),
        ("", False),
        ("MIT or so", False),
        ("MIT MIT", False),
        ("(MIT", False),
        ("MIT)", False),
        ("MIT OR", False),
        ("MIT / Apache-2.0", False),
        ("Free, as MIT", False),
    ],
)
def test_an_expression_is_allowed_if_a_choice_of_it_is(expression: str, is_good: bool) -> None:
    assert is_allowed(expression, ALLOWED) == is_good


def policy(**excepted: Excepted) -> Policy:
    return Policy(ALLOWED, {"MIT License": "MIT", "MIT licence": "MIT"}, excepted, {})


@pytest.mark.parametrize(
    ("expression", "classifier", "field", "licence"),
    [
        ("MIT", "Apache Software License", "GPL", "MIT"),
        ("UNKNOWN", "MIT License", "UNKNOWN", "MIT"),
        ("UNKNOWN", "MIT License", "MIT licence", "MIT"),
        ("UNKNOWN", "MIT License", "GPL", "MIT AND GPL"),
        ("UNKNOWN", "MIT License; Other", "UNKNOWN", "MIT AND Other"),
        ("UNKNOWN", "MIT License", "A whole\ntext", "MIT"),
        ("UNKNOWN", "UNKNOWN", "A whole\ntext", "A whole"),
        ("UNKNOWN", "UNKNOWN", "UNKNOWN", "UNKNOWN"),
    ],
)
def test_a_licence_is_all_that_metadata_says(
    expression: str, classifier: str, field: str, licence: str
) -> None:
    row = {"License-Expression": expression, "License-Classifier": classifier, "License-Metadata": field}
    assert licence_of(row, policy()) == licence


def test_a_distribution_that_is_not_allowed_fails_by_name() -> None:
    with pytest.raises(ReleaseError, match=r"does not allow: b 1: GPL-3.0-only; c 2: UNKNOWN\."):
        refuse_licences(
            [
                Distribution("a", "1", "MIT"),
                Distribution("b", "1", "GPL-3.0-only"),
                Distribution("c", "2", "UNKNOWN"),
            ],
            policy(),
        )


def test_an_exception_holds_for_the_licence_that_it_names() -> None:
    with_exception = policy(b=Excepted("GPL-3.0-only", "asked for"))
    refuse_licences([Distribution("b", "1", "GPL-3.0-only")], with_exception)
    with pytest.raises(ReleaseError, match="AGPL"):
        refuse_licences([Distribution("b", "2", "AGPL-3.0-only")], with_exception)


def test_our_policy_allows_no_strong_copyleft() -> None:
    ours = read_policy()
    assert not [name for name in ours.allowed if name.startswith(("GPL", "AGPL", "SSPL"))]
    assert set(ours.names.values()) <= ours.allowed


def test_an_exception_without_a_reason_is_none(tmp_path: Path) -> None:
    text = (ROOT / "release" / "policy.toml").read_text()
    (tmp_path / "policy.toml").write_text(text + '"a.pth" = " "\n')
    with pytest.raises(ReleaseError, match="wants a reason"):
        read_policy(tmp_path / "policy.toml")


# Bill of materials, files that start, steps...


def test_the_bill_lists_what_is_installed() -> None:
    refuse_gaps({"numpy": "2"}, {"numpy": "2", "adjudge": "1"})
    with pytest.raises(ReleaseError, match="lacks scipy 1"):
        refuse_gaps({"numpy": "2", "scipy": "0"}, {"numpy": "2", "scipy": "1"})


@pytest.mark.parametrize(
    ("name", "is_found"),
    [
        ("evil.pth", True),
        ("evil.start", True),
        ("sitecustomize.py", True),
        ("sitecustomize.cpython-311-x86_64-linux-gnu.so", True),
        ("usercustomize", True),
        ("sitecustomizer.py", False),
        ("numpy", False),
    ],
)
def test_what_python_runs_at_every_start_is_found(tmp_path: Path, name: str, is_found: bool) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "harmless.pth").touch()
    assert list(find_start_files(tmp_path)) == [name] * is_found


def test_a_start_file_needs_an_exception() -> None:
    refuse_start_files(iter(["a.pth"]), policy()._replace(start_files={"a.pth": "asked for"}))
    with pytest.raises(ReleaseError, match=r"would run a\.pth"):
        refuse_start_files(iter(["a.pth"]), policy())


def test_a_step_that_fails_says_why(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise ReleaseError("not like this")

    assert not has_passed("audit", fail)
    assert capsys.readouterr().out == "== audit\nFAILED: not like this\n"
    assert has_passed("audit", lambda: None)


def test_a_program_that_fails_or_is_missing_is_named() -> None:
    with pytest.raises(ReleaseError, match="ended with exit code 3: gone"):
        output_of(sys.executable, "-c", "import sys; print('gone', file=sys.stderr); sys.exit(3)")
    assert output_of(sys.executable, "-c", "import sys; print('well'); sys.exit(1)", ok=(0, 1)) == "well\n"
    with pytest.raises(ReleaseError, match="no-such-program is wanted"):
        program("no-such-program")
