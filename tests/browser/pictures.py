"""Pictures of README.md and of pages about campaigns: `.venv/bin/python -m tests.browser.pictures`.

Without fonts such as Noto's they look poor. They show the bundled examples; nobody judged them, and the
ratings are the constructed ones with some noise.
"""

import random
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

import adjudge
from adjudge.campaigns.answers import finish, save
from adjudge.campaigns.assigning import assign_next
from adjudge.campaigns.items import ItemShown
from adjudge.core.record import Annotation
from adjudge.examples import path
from adjudge.store.json_lines import read_test_set
from adjudge.store.run_directory import read_records
from tests.browser.conftest import ARGUMENTS
from tests.browser.served import Site, serving, visit
from tests.browser.test_annotating import drag
from tests.campaigns.work import change, items, person

DOCS = Path(__file__).parents[2] / "docs"
TEXTS = read_test_set(path("test_set.jsonl"), "en-de")
DAYS, PAUSE, SEEN = 1, 34.0, 0.9


def shoot(page: Page, name: str, height: int) -> None:
    """Take a picture of what is seen."""
    page.set_viewport_size({"width": 1180, "height": height})
    page.screenshot(path=DOCS / name)


def annotator(browser: Browser, folder: Path) -> None:
    """A document under way: one segment done, a mark in the next, the menu of another open."""
    with serving(folder / "autumn", TEXTS, ["anna"], seed=27) as site:
        found = visit(browser, site)
        page = found.begin()
        for words, severity in (("Nachtzug", "major"), ("", ""), ("12:30 a.m.", "minor"), ("laufen", "")):
            if words:
                drag(page, words)
            else:
                for key in ("r", "5", "5", "Control+Enter"):
                    page.keyboard.press(key)
            if severity:
                page.get_by_role("button", name=severity).click()
        found.settle()
        shoot(page, "annotator.png", 620)
        found.context.close()


def noticed(shown: ItemShown) -> list[dict[str, Any]]:
    """A mark on what was damaged in a copy; none where nothing was."""
    text = shown.translations[0]["text"]
    return [
        {**wanted, "id": "c1", "severity": "major", "side": "translation", "category": None, "note": ""}
        | {"given": None, "text": text[wanted["start"] : wanted["end"]]}
        for wanted in ((shown.check or {}).get("spans") or [])[:1]
    ]


def judge(site: Site, share: float) -> None:
    """What two people may have said of some of it, for two days."""
    drawn = random.Random(3)
    gold = {
        (one.segment, one.system): one.rating
        for one in read_records(path("gold.esa.jsonl"))
        if isinstance(one, Annotation) and one.lp == "en-de"
    }
    for number in range(3):
        who, now = person(site.campaign, number), time.time() - DAYS * 86_400 + 600 * number
        for _ in range(round(share * len(TEXTS.segments))):
            given = assign_next(site.campaign, who, now)
            if given is None:
                break
            events = []
            for shown in items(site.campaign, given):
                known = gold[shown.segment, shown.translations[0]["system"]] or 0
                now += drawn.uniform(0.5, 1.5) * PAUSE
                spans = noticed(shown) if drawn.random() < SEEN else []
                rating = round(min(100, max(0, known - 30 * len(spans) + drawn.gauss(4 * number - 6, 9))))
                said: dict[str, Any] = {"rating": rating, "spans": spans}
                events.append(change(shown, kind="complete", at=now, active=drawn.uniform(20, 50), **said))
            save(site.campaign, who, given.id, "page", events, now)
            finish(site.campaign, who, given.id, now)
            now += drawn.uniform(0, 7_000)


def dashboard(browser: Browser, folder: Path) -> None:
    """A campaign half done."""
    more = {"raters": 2, "checks": 0.12, "seed": 4}
    with serving(folder / "autumn", TEXTS, ["anna", "ben", "carla"], **more) as site:
        judge(site, 0.6)
        (link,) = (one for one in site.links if one.role == "organiser")
        page = browser.new_page(color_scheme="light")
        page.goto(site.url + link.path)
        page.wait_for_url("**/dashboard")
        page.wait_for_selector("body[data-ready]")
        shoot(page, "dashboard.png", 1262)


BETWEEN = "main > :not(#segments), #segments > :not(#list), #list > li:first-child"


def report(browser: Browser, folder: Path) -> None:
    """The first screen and a segment of a judge and a metric beside gold; not what lies between."""
    judge = adjudge.run("gemba-mqm", TEXTS, out=folder / "gemba-mqm", model="builtin/rules")
    runs = [judge, adjudge.run("chrf", TEXTS, out=folder / "chrf")]
    gold = [one for one in read_records(path("gold.mqm.jsonl")) if one.lp == "en-de"]
    adjudge.report(runs, folder / "report.html", gold=gold)
    page = browser.new_page(color_scheme="light")
    page.goto((folder / "report.html").as_uri())
    page.wait_for_selector("#list > li")
    page.evaluate("what => document.querySelectorAll(what).forEach(one => one.remove())", BETWEEN)
    shoot(page, "report.png", 1090)


def main() -> None:
    """Take them all."""
    found = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if found is None:
        sys.exit("chromium was wanted, and is not on the path: install it")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=found, args=ARGUMENTS)
        for number, take in enumerate((annotator, dashboard, report)):
            take(browser, Path(folder) / str(number))
        browser.close()


if __name__ == "__main__":
    main()
