"""The bill of materials: every distribution of the locked core and extras, in CycloneDX."""

from __future__ import annotations

import json
from pathlib import Path

from release.programs import ROOT, ReleaseError, output_of, program

__all__ = ["refuse_gaps", "write_sbom"]


def write_sbom(python: Path, installed: dict[str, str], out: Path) -> None:
    """Write it, reproducibly, and hold it against what is installed (name to version)."""
    output_of(
        *(program("cyclonedx-py"), "environment", python, "--pyproject", ROOT / "pyproject.toml"),
        *("--output-reproducible", "--output-format", "JSON", "--output-file", out),
    )
    bill = json.loads(out.read_text())
    refuse_gaps({c["name"].lower(): c["version"] for c in bill["components"]}, installed)
    print(f"{out.name}: {len(bill['components'])} components, CycloneDX {bill['specVersion']}")


def refuse_gaps(listed: dict[str, str], installed: dict[str, str]) -> None:
    """Raise where the bill lacks something that is installed, adjudge apart, which it is the bill of."""
    missing = {n: v for n, v in installed.items() if n != "adjudge" and listed.get(n) != v}
    if missing:
        raise ReleaseError(f"the bill of materials lacks {', '.join(f'{n} {v}' for n, v in missing.items())}")
