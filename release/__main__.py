"""`python -m release`: build, install and check what would be released. Every check runs; each must pass."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from release.audit import audit
from release.build import build
from release.environment import install
from release.licences import check_licences, installed_in
from release.policy import read_policy
from release.programs import ROOT, ReleaseError
from release.sbom import write_sbom
from release.start_files import check_start_files

DIST = ROOT / "dist"


def main() -> None:
    """Say of each step what it found, and leave with 1 if one of them failed."""
    waiver = read_arguments().without_advisories
    with tempfile.TemporaryDirectory() as folder:
        try:
            print("== build")
            wheel = build(DIST)
            print("== install")
            python = install(wheel, Path(folder) / "environment")
            installed = installed_in(python, read_policy())
        except ReleaseError as error:
            sys.exit(f"FAILED: {error}")
        versions = {one.name.lower(): one.version for one in installed}
        failed = [
            name
            for name, step in {
                "bill of materials": lambda: write_sbom(python, versions, DIST / "sbom.cdx.json"),
                "licences": lambda: check_licences(installed, DIST / "licences.json"),
                "start files": lambda: check_start_files(python),
                "audit": lambda: audit(DIST / "audit.json", waiver=waiver),
            }.items()
            if not has_passed(name, step)
        ]
    sys.exit(f"Not to be released: {', '.join(failed)} failed." if failed else 0)


def has_passed(name: str, step: Callable[[], None]) -> bool:
    """Run a step and say how it ended."""
    print(f"== {name}", flush=True)
    try:
        step()
    except ReleaseError as error:
        print(f"FAILED: {error}")
        return False
    return True


def read_arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument(
        "--without-advisories", metavar="REASON", help="waive the audit where no source of advisories is"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
