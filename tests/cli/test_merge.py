"""`adjudge run --shard` and `adjudge merge` as a user calls them."""

from pathlib import Path

import pytest

from adjudge import examples
from tests.cli.calling import call

EXAMPLES = str(examples.path("test_set.jsonl"))

READERS = (
    "rank split",
    "score split",
    "trace split",
    "report split --out report.html",
    f"meta {EXAMPLES} --lp en-de --gold split",
    "run chrf split --out new",
)


def run(out: str, *options: str) -> int:
    return call("run", "fire", EXAMPLES, "--lp", "en-de", "--limit", "4", "--out", out, *options)


def test_shards_are_judged_and_merged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ADJUDGE_MODEL", raising=False)
    assert run("whole") == 0
    assert run("split", "--shard", "2/2") == 0
    assert call("merge", "split") == 2
    assert "1 of 2 shards are not finished: 1." in capsys.readouterr().err
    for command in READERS:
        assert call(*command.split()) == 1
        said = capsys.readouterr().err
        assert (
            "1 of 2 shards are finished: finish the others with --shard, then `adjudge merge split`" in said
        )
    assert run("split", "--shard", "1/2") == 0
    assert call("rank", "split") == 1
    assert "2 of 2 shards are finished: `adjudge merge split` makes one run" in capsys.readouterr().err
    assert call("merge", "split") == 0
    assert "judged, 0 failed -> split" in capsys.readouterr().err
    assert (tmp_path / "split/records.jsonl").read_bytes() == (tmp_path / "whole/records.jsonl").read_bytes()
    assert call("score", "split", "--format", "json") == 0
    assert call("trace", "split", "--segment", "1") == 0
    assert call("merge", "split") == 2
    assert "holds no shards" in capsys.readouterr().err
    assert run("split", "--shard", "3/2") == 2
    assert call("merge", "nowhere") == 2
