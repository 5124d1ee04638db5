"""The gate over pip-audit: no known fault, in all that the lock holds, from a source that knows any.

pip-audit ends with "No known vulnerabilities found" and exit code 0, too, when the index has no advisories
and every package was skipped. So two things are held: a release with well-known faults is found faulty, and
what was audited is what is locked, package by package.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from release.lock import Locked, layers, read_lock, render_requirements
from release.programs import ROOT, ReleaseError, output_of, program

__all__ = ["Audit", "audit", "read_audit", "refuse_blind", "refuse_faults", "refuse_less", "waived"]

FAULTY = Locked("jinja2", "2.4.1", ("sha256:" + "0" * 64,))  # CVE-2019-10906 and others; never installed
FOUND_FAULTS = 1  # pip-audit's exit code


class Audit(NamedTuple):
    """What pip-audit said of some packages.

    Args:
        audited: name and version of what was looked up.
        skipped: name to the reason why it was not.
        faults: name and version to the ids of advisories.
    """

    audited: frozenset[tuple[str, str]]
    skipped: dict[str, str]
    faults: dict[tuple[str, str], tuple[str, ...]]


def audit(out: Path, *, waiver: str | None = None) -> None:
    """Audit the lock and write what was said to `out`; a waiver, which is a reason, stands for the audit."""
    if waiver is not None:
        print(waived(waiver))
        return
    locked = read_lock(ROOT / "uv.lock")
    asked = datetime.now(UTC).isoformat(timespec="seconds")
    refuse_blind(read_audit([_ask([FAULTY])]))
    answers = [_ask(layer) for layer in layers(locked)]
    out.write_text(json.dumps({"asked": asked, "answers": answers}, indent=1) + "\n")
    found = read_audit(answers)
    print(f"audited {len(found.audited)}, locked {len(locked)}; advisories as of {asked}")
    refuse_less(found, locked)
    refuse_faults(found)


def waived(reason: str) -> str:
    """The line that stands in a release's log in place of an audit."""
    if not reason.strip():
        raise ReleaseError("--without-advisories wants a reason: it is what a reader of the release sees")
    return f"NOT AUDITED, waived: {reason.strip()}"


def _ask(packages: list[Locked]) -> dict[str, Any]:
    """Ask for the advisories of these versions; no cache, so that they are of today."""
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.txt"
        wanted.write_text(render_requirements(packages))
        said = output_of(
            *(program("pip-audit"), "--requirement", wanted, "--disable-pip", "--require-hashes"),
            *("--format", "json", "--progress-spinner", "off", "--cache-dir", Path(folder) / "cache"),
            ok=(0, FOUND_FAULTS),
        )
    try:
        answer: dict[str, Any] = json.loads(said)
    except json.JSONDecodeError as error:
        raise ReleaseError("pip-audit gave no JSON: the source of advisories cannot be reached") from error
    return answer


def read_audit(answers: Iterable[dict[str, Any]]) -> Audit:
    """Read pip-audit's JSON; an entry that was skipped has a reason and no version."""
    entries = [entry for answer in answers for entry in answer["dependencies"]]
    looked_up = [entry for entry in entries if "skip_reason" not in entry]
    return Audit(
        audited=frozenset((e["name"], e["version"]) for e in looked_up),
        skipped={e["name"]: e["skip_reason"] for e in entries if "skip_reason" in e},
        faults={
            (e["name"], e["version"]): tuple(v["id"] for v in e["vulns"]) for e in looked_up if e["vulns"]
        },
    )


def refuse_blind(found: Audit) -> None:
    """Raise where the source does not know the faults of a release that has well-known ones."""
    if (FAULTY.name, FAULTY.version) in found.faults:
        return
    said = found.skipped.get(FAULTY.name, "it is said to have none")
    raise ReleaseError(
        f"the source of advisories knows no faults of {FAULTY.name} {FAULTY.version}, which has some "
        f"({said}): it has no advisories. Run this where it has, or waive it: --without-advisories REASON"
    )


def refuse_less(found: Audit, locked: Iterable[Locked]) -> None:
    """Raise where what was audited is not what is locked."""
    wanted = {(package.name, package.version) for package in locked}
    if missing := sorted(wanted - found.audited):
        named = ", ".join(f"{name} {version}" for name, version in missing[:5])
        reasons = sorted({found.skipped[name] for name, _ in missing if name in found.skipped})[:1]
        because = f" ({reasons[0]})" if reasons else ""
        raise ReleaseError(
            f"audited {len(wanted) - len(missing)} of {len(wanted)} locked packages, not {named}{because}"
        )
    if more := sorted(found.audited - wanted):
        raise ReleaseError(f"audited what is not locked: {more[:5]}; is the audit of another lock?")


def refuse_faults(found: Audit) -> None:
    """Raise where a locked package has a known fault."""
    if found.faults:
        named = "; ".join(f"{n} {v}: {', '.join(ids)}" for (n, v), ids in sorted(found.faults.items()))
        raise ReleaseError(f"known faults: {named}")
