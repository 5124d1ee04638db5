"""Texts that would run if anything took them for markup: in every field of a campaign's pages.

Each page is opened twice: with the server's policy (CSP), under which nothing may complain, and without it,
where escaping alone has to hold.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from adjudge.campaigns.answers import save
from adjudge.campaigns.items import ItemShown
from adjudge.campaigns.settings import NAMES
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import Segment, TestSet
from tests.browser.conftest import PATIENCE
from tests.browser.payloads import KINDS, PAYLOADS, WAYS_OUT
from tests.browser.served import Site, Visit, make_test_set, serving, visit
from tests.campaigns.work import change, finished, items, person, take, work_off

pytestmark = [pytest.mark.browser, pytest.mark.slow]

IS_THOROUGH = "ADJUDGE_CHAOS_KILLS" in os.environ
"""Whether every protocol is tried, with the policy and without; `make chaos` does."""

PROTOCOLS = NAMES if IS_THOROUGH else ("mqm", "post-edit")
ROWS = [(one, one, f"{one} ") for one in PAYLOADS]


@pytest.fixture(params=[False, True] if IS_THOROUGH else [True])
def bypass_csp(request: pytest.FixtureRequest) -> bool:
    """Whether the browser takes no notice of the policy: then escaping alone has to hold."""
    return bool(request.param)


def check(found: Visit, page: Page | None = None) -> None:
    """Nothing ran, nothing was asked for elsewhere, nothing complained."""
    page = page or found.page
    assert [frame.evaluate("window.pwned") for frame in page.frames] == [None]
    assert found.misdeeds == []


def go(found: Visit, path: str) -> Page:
    """Open a page of the server; what it answers may be an error."""
    found.page.goto(found.site.url + path)
    found.misdeeds = [one for one in found.misdeeds if "status of 4" not in one]
    check(found)
    return found.page


def extras_of(folder: Path, protocol: str) -> dict[str, Any]:
    """Guidelines, and what the protocol has besides: categories, marks made beforehand."""
    (folder / "own").mkdir()
    (folder / "own/guidelines.md").write_text("\n\n".join(["# Read", *PAYLOADS]))
    more: dict[str, Any] = {"guidelines": folder / "own"}
    if protocol == "mqm":
        names = [name for name in PAYLOADS if name.count("/") < 2 and len(name) <= 100]
        rows = [f"{json.dumps(name)} = {json.dumps(name)}" for name in names]
        (folder / "own/typology.toml").write_text("\n".join(["[categories]", *rows]))
        more["typology"] = folder / "own/typology.toml"
    if protocol == "esa-ai":
        more["given"] = [
            Annotation(
                lp="en-de",
                segment=str(place),
                system=system,
                annotator="gemba",
                protocol="mqm",
                spans=(ErrorSpan(severity="minor", start=0, end=2, text=one[:2], note=one),),
            )
            for place, one in enumerate(PAYLOADS)
            for system in ("System0", "System1")
        ]
    return more


def said(site: Site, shown: ItemShown, payload: str) -> dict[str, Any]:
    """A payload wherever a person can write; a mark, where there are marks."""
    protocol = site.campaign.protocol
    more = {**finished(site.campaign), "comment": payload}
    if protocol.shows == "candidates":
        more["edited"] = payload
    if protocol.severities and protocol.name != "esa-ai":
        spans = {"side": "translation", "start": 0, "end": 1, "severity": "minor", "given": None}
        category = next(iter(site.campaign.categories)) if protocol.has_categories else None
        note = payload if protocol.has_categories else ""
        text = shown.asked.texts[0][0]
        more["spans"] = [{"id": "c1", **spans, "text": text, "category": category, "note": note}]
    return more


def work(site: Site, number: int, name: str = "") -> int:
    """Say something of each item of a person's next task; its assignment."""
    who, now = person(site.campaign, number), time.time()
    given = take(site.campaign, who, now)
    events = [
        change(shown, kind="complete", at=now, **said(site, shown, name or shown.asked.source))
        for shown in items(site.campaign, given)
    ]
    saved = save(site.campaign, who, given.id, "page", events, now)
    assert not saved.refused
    assert not saved.stale
    return given.id


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_nothing_runs_where_people_work(
    protocol: str, tmp_path: Path, chromium: Browser, bypass_csp: bool
) -> None:
    more = extras_of(tmp_path, protocol)
    with serving(tmp_path / "c", make_test_set("en-de", *ROWS), protocol=protocol, **more) as site:
        assignment = work(site, 0)
        found = visit(chromium, site, bypass_csp=bypass_csp)
        page = go(found, f"/work/{assignment}")
        page.wait_for_selector("body[data-ready]")
        assert page.locator(".item").count() == len(PAYLOADS)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        if page.locator(".markable").count():
            for key in ("t", "w", "1", "Escape", "Control+ArrowRight", "w", "Enter"):
                page.keyboard.press(key)
        for name in ("Guidelines", "Keys"):
            page.get_by_role("button", name=name).click()
            page.locator("dialog[open]").get_by_role("button", name="Close").click()
        check(found)
        page.reload()
        page.wait_for_selector("body[data-ready]")
        check(found)
        go(found, "/guidelines")
        go(found, "/work")
        found.context.close()


# Where people are taught, and where an organiser looks...

LONG = ["".join(way + kind for kind in KINDS) for way in WAYS_OUT]
"""All payloads of a way out at once."""
NAME = "'\"><img src=x onerror=window.pwned=1><svg onload=window.pwned=1>{{7*7}}"
PEOPLE = sorted({one for one in PAYLOADS if len(one) <= 200})
SYSTEMS = LONG[:4]


def test_nothing_runs_in_a_tutorial(tmp_path: Path, chromium: Browser, bypass_csp: bool) -> None:
    items = [
        f"[[items]]\nsource = {json.dumps(one)}\nsays = {json.dumps(one)}\n"
        f"translations = [{json.dumps(one)}]\n"
        f"expects = {{ spans = [{{ text = {json.dumps(one)}, severity = 'major' }}] }}\n"
        for one in LONG
    ]
    (tmp_path / "own.toml").write_text("\n".join(items))
    more: dict[str, Any] = {"tutorial": True, "tutorial_file": tmp_path / "own.toml"}
    with serving(tmp_path / NAME, make_test_set("en-de", ("A.", "B.")), PEOPLE[:1], **more) as site:
        found = visit(chromium, site, bypass_csp=bypass_csp)
        check(found)  # the overview, with the names of campaign and person
        page = found.begin()
        assert page.locator(".instructions").all_text_contents() == LONG
        for item in page.locator(".item").all():
            item.click()
            item.get_by_role("slider").click()
        page.get_by_role("button", name="Check my answers").click()
        expect(page.locator(".feedback .wrong").first).to_contain_text("<script>")
        found.misdeeds = [one for one in found.misdeeds if "status of 4" not in one]
        check(found)
        found.context.close()


@pytest.fixture(scope="module")
def organised(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A campaign in which every name is a payload, and two people have judged everything."""
    segments = tuple(
        Segment(segment=one, document=one, lp="en-de", source=one, translations=dict.fromkeys(SYSTEMS, one))
        for one in SYSTEMS
    )
    texts = TestSet(name=LONG[0], segments=segments)
    with serving(tmp_path_factory.mktemp("organised") / NAME, texts, PEOPLE, raters=2) as site:
        for number in (0, 1):
            work_off(
                site.campaign, person(site.campaign, number), time.time(), rating=9, comment=LONG[number]
            )
        yield site


def test_nothing_runs_where_an_organiser_looks(organised: Site, chromium: Browser, bypass_csp: bool) -> None:
    (link,) = (one for one in organised.links if one.role == "organiser")
    context = chromium.new_context(bypass_csp=bypass_csp)
    context.set_default_timeout(PATIENCE)
    found = Visit(organised, context, context.new_page())
    found.watch(found.page)
    for path in ("/", "/sign-in"):
        assert NAME in str(go(found, path).text_content("body"))
    found.page.goto(organised.url + link.path)
    found.page.wait_for_url("**/dashboard")
    page = found.page
    expect(page.locator(".systems tr")).to_have_count(len(SYSTEMS))
    assert {page.locator(".systems tr").nth(n).locator("th").text_content() for n in range(4)} == set(SYSTEMS)
    check(found)
    page = go(found, "/dashboard/people")
    expect(page.locator("#ways li")).to_have_count(len(PEOPLE) + 1)
    page.get_by_label("Another person").fill(f"{PEOPLE[0]} again")
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#whose")).to_have_text(f"{PEOPLE[0]} again:")
    page.get_by_label("Another person").fill(PEOPLE[0])
    page.get_by_role("button", name="Make a link").click()
    expect(page.locator("#refused")).to_contain_text(PEOPLE[0])
    found.misdeeds = [one for one in found.misdeeds if "status of 4" not in one]
    check(found)
    check_exports(found, page)
    context.close()


def check_exports(found: Visit, page: Page) -> None:
    """An export is a file, and never a page."""
    go(found, "/dashboard")
    forms = page.locator(".contents a")
    assert forms.count() == 6
    for form in forms.all():
        with page.expect_download() as waiting:
            form.click()
        saved = Path(waiting.value.path())
        assert "onerror" in saved.read_text("utf-8")
        answer = found.context.request.get(found.site.url + str(form.get_attribute("href")))
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"].startswith("attachment; ")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert len(answer.body()) == saved.stat().st_size
    check(found)
