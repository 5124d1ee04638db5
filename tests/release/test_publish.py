"""The workflow that publishes: what it may do, and that it publishes what `make release` checked."""

from pathlib import Path

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8"))
JOBS = WORKFLOW["jobs"]


def test_only_the_job_that_runs_nothing_of_ours_can_prove_who_publishes() -> None:
    assert WORKFLOW["permissions"] == {}
    assert JOBS["build"]["permissions"] == {"contents": "read"}
    assert JOBS["publish"]["permissions"] == {"id-token": "write"}
    assert not [step for step in JOBS["publish"]["steps"] if "run" in step]


def test_what_make_release_checked_is_published() -> None:
    runs = [step["run"] for step in JOBS["build"]["steps"] if "run" in step]
    assert runs[0].split(" #")[0].strip() == "make release"
    assert JOBS["publish"]["needs"] == "build"
    (upload,) = (
        step["with"] for step in JOBS["build"]["steps"] if step.get("with", {}).get("name") == "packages"
    )
    download, publish = (step["with"] for step in JOBS["publish"]["steps"])
    assert upload["path"] == download["path"] == publish["packages-dir"]
    assert download["name"] == upload["name"]
    assert publish["attestations"] is True
