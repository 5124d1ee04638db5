"""A shell completes commands, options and names of judges."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

BASH = shutil.which("bash")
pytestmark = pytest.mark.skipif(BASH is None, reason="there is no bash")


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    shown = subprocess.run(
        [sys.executable, "-c", "from adjudge.cli.main import main; main()", "--show-completion", "bash"],
        capture_output=True,
        env={**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        text=True,
        check=True,
    ).stdout
    (folder / "adjudge").write_text(
        f'#!/bin/sh\nexec {sys.executable} -c "from adjudge.cli.main import main; main()" "$@"\n'
    )
    (folder / "adjudge").chmod(0o755)
    (folder / "completion.bash").write_text(shown)
    return folder / "completion.bash"


def completed(script: Path, *words: str) -> set[str]:
    """What bash offers behind these words, the last of which is being typed."""
    line = " ".join(f"'{word}'" for word in ("adjudge", *words))
    asked = f"""
        PATH={script.parent}:$PATH
        source {script}
        COMP_WORDS=({line}) COMP_CWORD={len(words)}
        _adjudge_completion adjudge
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    found = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, check=True)
    assert found.stderr == ""
    return {*found.stdout.split()}


def test_what_a_shell_offers(script: Path) -> None:
    subprocess.run(["bash", "-n", str(script)], check=True)
    offers = {
        "ra": {"rank"},
        "campaign s": {"serve", "status"},
        "rank --me": {"--method", "--metric"},
        "run --budget-t": {"--budget-tokens"},
        "run gemba-m": {"gemba-mqm"},
        "forecast chrf": {"chrf", "chrf++"},
        "run nobody-is-called-so": set(),
        "unknown x": set(),
    }
    assert {words: completed(script, *words.split()) for words in offers} == offers
