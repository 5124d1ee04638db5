"""Pages about runs whose texts are attacks."""

from pathlib import Path

import pytest
from playwright.sync_api import expect

import adjudge
from adjudge.core.record import SUSPECT
from adjudge.llm import embedded_rules
from adjudge.reports.html import render_page
from adjudge.reports.page import make_page
from tests.attacks.hostile import TEST_SET, Calm, Obedient
from tests.browser.conftest import OpenPage

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("model", [Calm, Obedient])
def test_a_page_about_attacks_asks_nothing_runs_nothing_and_shows_flags(
    model: type[Calm | Obedient], tmp_path: Path, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedded_rules, "RulesModel", model)
    run = adjudge.run("gemba-mqm", TEST_SET, out=tmp_path / "run")
    watched = open_page(render_page(make_page([run])), offline=True)
    expect(watched.page.locator("#list > li").first).to_be_visible()
    expect(watched.page.locator(".badge", has_text=SUSPECT).first).to_be_attached()
    assert watched.page.evaluate("window.pwned === undefined")
    assert not watched.misdeeds
