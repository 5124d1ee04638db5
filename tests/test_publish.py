"""The workflow that publishes: what it may do, and that what was audited and tried is what is published."""

import re
from pathlib import Path

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "publish.yml").read_text("utf-8"))
JOBS = WORKFLOW["jobs"]


def test_every_action_is_pinned_by_its_commit() -> None:
    used = [line for file in FILES for line in file.read_text("utf-8").splitlines() if "uses:" in line]
    assert used
    assert not [line for line in used if not re.search(r"uses: [\w./-]+@[0-9a-f]{40} # v[\d.]+$", line)]


def test_only_the_job_that_runs_nothing_of_ours_can_prove_who_publishes() -> None:
    assert WORKFLOW["permissions"] == {}
    assert JOBS["build"]["permissions"] == {"contents": "read"}
    assert JOBS["publish"]["permissions"] == {"id-token": "write"}
    runs = [step["run"].partition(" #")[0] for step in JOBS["publish"]["steps"] if "run" in step]
    assert runs == ["uv publish --trusted-publishing always"]


def test_what_was_audited_and_tried_is_published_with_attestations() -> None:
    assert JOBS["publish"]["needs"] == "build"
    said = [step.get("run") or step["uses"].partition("@")[0] for step in JOBS["build"]["steps"]]
    wanted = ["uv version", "pip-audit --strict", "npm ci", "uv build", "static/bundle", "adjudge demo"]
    wanted.append("actions/upload-artifact")
    places = [next(place for place, text in enumerate(said) if word in text) for word in wanted]
    assert places == sorted(places)
    used = [step.get("uses", "").partition("@")[0] for step in JOBS["publish"]["steps"]]
    assert used[1:3] == ["actions/download-artifact", "astral-sh/attest-action"]
    given = [
        step["with"] for job in JOBS.values() for step in job["steps"] if "artifact" in step.get("uses", "")
    ]
    assert {(one["name"], one["path"]) for one in given} == {("dist", "dist/")}


def test_the_workflow_builds_with_the_uv_of_the_makefile() -> None:
    (version,) = re.findall(r"^UV_VERSION := (\S+)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    given = [
        step["with"]["version"]
        for job in JOBS.values()
        for step in job["steps"]
        if "setup-uv" in step.get("uses", "")
    ]
    assert given == [version, version]
