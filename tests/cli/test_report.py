"""`adjudge report` of a campaign beside a run and a metric."""

from pathlib import Path

import pytest

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.people import people
from adjudge.core.record import Annotation
from adjudge.formats.mtme import write_score_records
from adjudge.store.json_lines import write_test_set
from tests.campaigns.work import work_off
from tests.cli.calling import call
from tests.report.samples import small_test_set

TEXTS = small_test_set(["en-de"])


@pytest.fixture
def autumn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A campaign in which two people did everything, and a metric's scores of the same texts."""
    monkeypatch.chdir(tmp_path)
    write_test_set("set.jsonl", TEXTS)
    assert call("campaign", "new", "autumn", "set.jsonl", "-n", "anna,ben", "--redundancy", "2") == 0
    campaign = open_campaign("autumn")
    for who in people(campaign):
        if who.role == "annotator":
            work_off(campaign, who, 1_760_000_000.0)
    campaign.database.close()
    scores = [
        Annotation(
            lp=s.lp, segment=s.segment, system=name, annotator="metric", protocol="metric", rating=len(text)
        )
        for s in TEXTS
        for name, text in s.translations.items()
    ]
    write_score_records("metric.seg.score", scores, TEXTS)
    return tmp_path


def test_a_campaign_and_its_export_and_a_metric_make_one_page(
    autumn: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call("campaign", "export", "autumn", "autumn.jsonl") == 0
    capsys.readouterr()
    assert call("report", "autumn", "metric.seg.score", "--out", "folder.html") == 0, capsys.readouterr().err
    assert call("report", "autumn.jsonl", "metric.seg.score", "--out", "export.html") == 0
    folder, export = (Path(name).read_text(encoding="utf-8") for name in ("folder.html", "export.html"))
    for page in (folder, export):
        assert "<bdi>metric</bdi>" in page
        assert "<bdi>autumn</bdi>" in page
        assert all(name in page for name in ("anna", "ben", *TEXTS.systems))
    assert "adjudge rank metric.seg.score\nadjudge report autumn metric.seg.score --out folder.html" in folder
