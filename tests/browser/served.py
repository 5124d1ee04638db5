"""A campaign on a server of its own, for pages that a browser opens."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, expect
from sqlalchemy import select

from adjudge.campaigns.database import Campaign, answer, event
from adjudge.campaigns.making import Extras, new_campaign
from adjudge.campaigns.people import Link
from adjudge.campaigns.settings import CampaignSettings
from adjudge.core.segment import Segment, TestSet
from adjudge.web.app import create_app
from tests.browser.conftest import PATIENCE
from tests.campaigns.tables import ready_made


def make_test_set(lp: str, *rows: tuple[str, ...], **more: Any) -> TestSet:
    """One document, a segment a row: source and translations of as many systems."""
    segments = [
        Segment(
            segment=str(place),
            lp=lp,
            document="doc",
            source=source,
            translations={f"System{index}": text for index, text in enumerate(translations)},
            **more,
        )
        for place, (source, *translations) in enumerate(rows)
    ]
    return TestSet(name="small", segments=tuple(segments))


@dataclass
class Site:
    """A served campaign."""

    campaign: Campaign
    links: tuple[Link, ...]
    url: str

    def link(self, place: int = 0, role: str = "annotator") -> str:
        """Address that lets a person in."""
        return f"{self.url}{[one for one in self.links if one.role == role][place].path}"

    def states(self) -> list[dict[str, Any]]:
        """Saved states in the order of the items."""
        with self.campaign.database.reading() as connection:
            rows = connection.execute(select(answer.c.state).order_by(answer.c.item_id)).scalars()
            return [json.loads(row) for row in rows]

    def state(self) -> dict[str, Any]:
        """The one saved state."""
        (found,) = self.states()
        return found

    def events(self) -> list[tuple[int, str, dict[str, Any]]]:
        """Item, kind and state of the saved events but those of time alone, in order."""
        query = select(event.c.item_id, event.c.kind, event.c.state).where(event.c.kind != "time")
        with self.campaign.database.reading() as connection:
            rows = connection.execute(query.order_by(event.c.id))
            return [(item, kind, json.loads(state)) for item, kind, state in rows]

    def kinds(self) -> list[str]:
        """Kinds of these events."""
        return [kind for _, kind, _ in self.events()]


Annotators = int | Sequence[str] | Mapping[str, Sequence[str]]


@contextmanager
def serving(folder: Path, test_set: TestSet, annotators: Annotators = 1, **settings: Any) -> Iterator[Site]:
    """Make a campaign and serve it on a free port; `clock` is what the server takes for the time."""
    clock: Callable[[], float] = settings.pop("clock", time.time)
    named = (
        settings.keys() & Extras.__dataclass_fields__.keys() - CampaignSettings.__dataclass_fields__.keys()
    )
    own = {"tutorial": settings.pop("tutorial_file")} if "tutorial_file" in settings else {}
    extras = Extras(**{name: settings.pop(name) for name in named}, **own)
    chosen = CampaignSettings(**{"protocol": "esa", "assignment": "pool", **settings})
    with ready_made():
        campaign, links = new_campaign(folder, test_set, chosen, annotators, now=time.time(), extras=extras)
    server = uvicorn.Server(uvicorn.Config(create_app(campaign, clock=clock), port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Site(campaign, links, f"http://127.0.0.1:{port}")
    finally:
        server.should_exit = True
        thread.join()
        campaign.database.close()


@dataclass
class Visit:
    """A person's browser, with what it asked for elsewhere, complained of and threw."""

    site: Site
    context: BrowserContext
    page: Page
    misdeeds: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> Page:
        """Note what a page should not do."""
        page.on("request", lambda request: self.note(request.url, not request.url.startswith(self.site.url)))
        page.on("pageerror", lambda error: self.note(str(error)))
        page.on("dialog", self.dismiss)
        page.on("console", lambda message: self.note(message.text, "Failed to load" not in message.text))
        return page

    def dismiss(self, dialog: Dialog) -> None:
        """Close a dialog, which no page of ours opens."""
        self.note(dialog.message)
        dialog.dismiss()

    def note(self, what: str, is_wrong: bool = True) -> None:
        """Remember a misdeed."""
        if is_wrong:
            self.misdeeds.append(what)

    def begin(self) -> Page:
        """Open the first task."""
        self.page.locator("#go").click()
        self.page.wait_for_selector("body[data-ready]")
        return self.page

    def settle(self) -> None:
        """Wait until the server has everything."""
        expect(self.page.locator("#saved")).to_have_text("All saved")


def visit(browser: Browser, site: Site, place: int = 0, *, role: str = "annotator", **options: Any) -> Visit:
    """Open a person's link."""
    context = browser.new_context(viewport={"width": options.pop("width", 1280), "height": 900}, **options)
    context.set_default_timeout(PATIENCE)
    found = Visit(site, context, context.new_page())
    found.watch(found.page)
    found.page.goto(site.link(place, role))
    found.page.wait_for_url("**/work")
    return found


@contextmanager
def opening(folder: Path, browser: Browser) -> Iterator[Callable[..., Visit]]:
    """What serves a campaign of a protocol and opens its first task; all of it is closed at the end."""
    with ExitStack() as stack:

        def make(
            protocol: str, texts: TestSet, seen: Mapping[str, Any] | None = None, **settings: Any
        ) -> Visit:
            """`seen` is how the browser is set."""
            site = stack.enter_context(serving(folder / protocol, texts, protocol=protocol, **settings))
            found = visit(browser, site, **(seen or {}))
            stack.callback(found.context.close)
            found.begin()
            return found

        yield make


RUN_AXE = """async (options) => {
    const {violations} = await axe.run({resultTypes: ['violations'], preload: false, ...options});
    return violations.map((v) => `${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).join(' | ')}`);
}"""
AXE = (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")


def faults(page: Page) -> list[str]:
    """What axe finds against WCAG 2.2 AA and good practice, and in the dark, where colours alone differ."""
    page.evaluate(AXE)
    found: list[str] = page.evaluate(RUN_AXE, {})
    page.emulate_media(color_scheme="dark")
    found += page.evaluate(RUN_AXE, {"runOnly": ["color-contrast"]})
    page.emulate_media(color_scheme="light")
    return found


def press(page: Page, *keys: str) -> None:
    """Press keys one after another."""
    for key in keys:
        page.keyboard.press(key)
