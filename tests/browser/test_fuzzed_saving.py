"""Whatever a person does and whatever happens meanwhile: nothing is lost, doubled or asked without need.

A seed draws what the person does and what happens: reloads within three seconds, a dead network, answers that
are lost, a killed server, a session that ended, another tab, another browser. A model keeps what the person
did. The page must show just that after every step, and the export must hold it in the end.
"""

import datetime as dt
import json
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Page, Route, expect
from sqlalchemy import select

from adjudge.campaigns.database import event, item
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.settings import CampaignSettings
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from tests.browser.killed import KilledServer, taken_port
from tests.browser.served import Site, Visit, visit
from tests.campaigns.tables import ready_made

pytestmark = pytest.mark.browser

TARGETS = (
    ("Eine alte Katze schläft", "Zwei junge Hunde bellen"),
    ("Drei graue Esel schreien", "Vier weiße Gänse fliegen"),
)
TEXTS = TestSet(
    name="small",
    segments=tuple(
        Segment(
            segment=f"{number}-{place}",
            lp="en-de",
            document=f"doc{number}",
            source="Animals.",
            translations={"System": text},
        )
        for number, texts in enumerate(TARGETS)
        for place, text in enumerate(texts)
    ),
)
_FRESH = random.Random(dt.date.today().isoformat())  # noqa: DTZ011 (a day is a day)
SEEDS = [
    *((seed, 5) for seed in range(20)),
    *(
        pytest.param(_FRESH.randrange(20, 10**6), 10, marks=pytest.mark.nightly, id=f"night-{place}")
        for place in range(480)
    ),
]
"""Seeds, and how many things happen; every night has seeds of its own, and a failure names its seed."""
SEVERITIES = ("minor", "major")
MISSING = ("", "minor", "major")
TYPED = {"rate", "comment"}  # what is typed goes on within one event until that is sent
LETS_GO = "() => dispatchEvent(new Event('beforeunload', { cancelable: true }))"
IS_SETTLED = """() => document.querySelector("#saved").textContent === "All saved"
    || document.querySelector(".conflict")"""
KNOWS = f"""() => !document.querySelector("#saved") || document.querySelector("[data-about=signed-out]")
    || ({IS_SETTLED})()"""
READ = """() => [...document.querySelectorAll(".item")].map((item) => [
    item.querySelector(".translation .text").textContent, {
        rating: item.querySelector("output").textContent,
        marks: [...item.querySelectorAll(".errors li")].map((line) =>
            [line.querySelector("q").textContent, line.querySelector(".severity").textContent]),
        missing: item.querySelector(".missing").value,
        comment: item.querySelector(".comment textarea").value,
    }])"""
"""Text of each segment, and what the page says was done there."""


@dataclass(frozen=True)
class Judged:
    """What is done in one segment: severity of each word that is marked, the rest as the page shows it."""

    rating: str = "–"
    marks: tuple[tuple[str, str], ...] = ()
    missing: str = ""
    comment: str = ""


def as_judged(said: dict[str, Any]) -> Judged:
    return Judged(**said | {"marks": tuple((text, severity) for text, severity in said["marks"])})


@dataclass
class Done:
    """What the person did in one segment, and what undo and redo of the page bring back."""

    now: Judged = Judged()
    past: list[Judged] = field(default_factory=list)
    future: list[Judged] = field(default_factory=list)
    kinds: list[str] = field(default_factory=list)
    was_contested: bool = False

    def advance(self, kind: str, **fields: Any) -> None:
        self.past.append(self.now)
        self.now, self.future = replace(self.now, **fields), []
        self.kinds.append(kind)

    def forget(self) -> None:
        """The page is loaded again."""
        self.past, self.future = [], []


class Story:
    """A person at work, what happens to them, and what they did."""

    def __init__(self, chromium: Browser, site: Site, port: int, seed: int) -> None:
        self.random = random.Random(seed)
        self.chromium, self.site, self.port = chromium, site, port
        self.server: KilledServer | None = KilledServer(site.campaign.folder, port)
        self.work: Visit = visit(chromium, site)
        self.page = self.work.begin()
        self.others: list[Page] = []  # tabs in which the task is open, too
        self.is_online = self.is_signed_in = self.is_answered = True
        self.done = {text: Done() for texts in TARGETS for text in texts}
        self.tasks: list[str] = []
        self.told = [f"seed {seed}"]
        self.arrive()

    @property
    def context(self) -> BrowserContext:
        return self.work.context

    @property
    def is_reached(self) -> bool:
        return self.is_online and self.is_signed_in and self.server is not None

    def play(self, steps: int) -> None:
        """All of it, and what is there in the end."""
        acts = [
            self.mark,
            self.mark,
            self.rate,
            self.rate,
            self.comment,
            self.missing,
            self.unmark,
            self.undo,
        ]
        happens = [self.reload, self.reload, self.offline, self.kill, self.sign_out, self.lose_answers]
        more = [self.finish, self.finish, self.take_over, self.elsewhere, self.revisit, self.restore]
        for _ in range(steps):
            for act in self.random.choices(acts, k=self.random.randrange(1, 4)):
                self.tell(act.__name__)
                act()
                self.check()
            happening = self.random.choice([*happens, *more])
            self.tell(happening.__name__)
            happening()
            self.check()
        self.tell("end")
        self.settle()
        self.check()
        self.page.reload()
        self.arrive()
        self.settle()
        self.check()
        assert not self.work.misdeeds

    def tell(self, what: object) -> None:
        self.told.append(str(what))

    # What the page shows...

    def read(self, page: Page) -> dict[str, Judged]:
        return {text: as_judged(said) for text, said in page.evaluate(READ)}

    def check(self) -> None:
        """The page shows what was done, and asks nothing."""
        if not self.page.url.endswith("/work"):
            shown = self.read(self.page)
            assert shown == {text: self.done[text].now for text in shown}
            assert self.page.locator(".conflict").count() == 0

    def arrive(self) -> None:
        """A task is loaded."""
        self.page.wait_for_selector("body[data-ready]")
        if self.page.url not in self.tasks:
            self.tasks.append(self.page.url)
        for text in self.read(self.page):
            self.done[text].forget()

    # What the person does...

    def turn(self, page: Page) -> tuple[str, Done]:
        """To the text of a segment of the task."""
        text = self.random.choice(list(self.read(page)))
        self.focus(page, text)
        return text, self.done[text]

    def focus(self, page: Page, text: str) -> None:
        self.tell(text.partition(" ")[0])
        page.locator(".item", has_text=text).locator(".translation .text").focus()

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def go_to_word(self, text: str, word: str) -> None:
        self.tell(word)
        before = text.split().index(word)
        self.press("Escape", "Home", *["Control+ArrowRight"] * before, *["ArrowRight"] * bool(before))

    def mark(self) -> None:
        """A word, or what is marked becomes more or less severe."""
        text, done = self.turn(self.page)
        word, severity = self.random.choice(text.split()), self.random.choice(SEVERITIES)
        self.go_to_word(text, word)
        self.press("w", str(SEVERITIES.index(severity) + 1))
        marks = dict(done.now.marks)
        kind = "severity" if word in marks else "mark"
        if marks.get(word) != severity:
            marks[word] = severity
            done.advance(kind, marks=tuple((one, marks[one]) for one in text.split() if one in marks))

    def unmark(self) -> None:
        text, done = self.turn(self.page)
        if done.now.marks:
            word, _ = self.random.choice(done.now.marks)
            self.go_to_word(text, word)
            self.press("Delete")
            done.advance("unmark", marks=tuple(one for one in done.now.marks if one[0] != word))

    def rate(self) -> None:
        _, done = self.turn(self.page)
        rating = self.random.choice("0123456789")
        self.press("r", rating)
        done.advance("rate", rating=rating)

    def comment(self) -> None:
        _, done = self.turn(self.page)
        said = self.random.choice(["so ", "and so ", "no "])
        self.press("c", "Control+End")
        self.page.keyboard.type(said)
        done.advance("comment", comment=done.now.comment + said)

    def missing(self) -> None:
        _, done = self.turn(self.page)
        self.press("m")
        done.advance("missing", missing=MISSING[(MISSING.index(done.now.missing) + 1) % 3])

    def undo(self) -> None:
        _, done = self.turn(self.page)
        self.press("Control+z")
        if done.past:
            done.future.insert(0, done.now)
            done.now = done.past.pop()
            done.kinds.append("undo")
            if self.random.random() < 0.5:
                self.check()
                self.press("Control+y")
                done.past.append(done.now)
                done.now = done.future.pop(0)
                done.kinds.append("redo")

    def finish(self) -> None:
        """The task is done, and the next one comes; without a connection, once there is one."""
        if any(self.done[text].now.rating == "–" for text in self.read(self.page)):
            return
        before = self.page.url
        if not (self.is_reached and self.is_answered):
            self.page.locator("#finish").click()
            self.settle()
        if self.page.url == before:
            with suppress(Error):
                self.page.evaluate("document.querySelector('#finish')?.click()")
            self.page.wait_for_url(lambda url: url != before)
        if self.page.url.endswith("/work"):
            self.page.goto(self.random.choice(self.tasks))
        self.leave_others()
        self.arrive()

    # What happens...

    def go(self, url: str) -> None:
        """Load a page soon after what was done; without a connection, once there is one."""
        self.page.wait_for_timeout(3000 * self.random.random() ** 6)
        self.page.wait_for_function(LETS_GO)
        with suppress(Error):
            self.page.goto(url)
        if not self.is_reached:
            self.restore()
            self.page.goto(url)
        self.arrive()

    def reload(self) -> None:
        self.go(self.page.url)

    def revisit(self) -> None:
        self.leave_others()
        self.go(self.random.choice(self.tasks))

    def offline(self) -> None:
        self.context.set_offline(True)
        self.is_online = False

    def kill(self) -> None:
        if self.server:
            self.server.kill()
            self.server = None

    def sign_out(self) -> None:
        self.context.clear_cookies()
        self.is_signed_in = False

    def lose_answers(self) -> None:
        """The server has it, and the page does not hear of it."""
        self.context.unroute_all()
        self.context.route("**/api/events", self.lose)
        self.is_answered = False

    def lose(self, route: Route) -> None:
        with suppress(Error):
            route.fetch()
        with suppress(Error):
            route.abort()

    def restore(self) -> None:
        """All works again."""
        self.context.unroute_all(behavior="wait")
        self.context.set_offline(False)
        self.server = self.server or KilledServer(self.site.campaign.folder, self.port)
        self.is_online = self.is_answered = True
        for page in [self.page, *self.others]:
            page.evaluate("dispatchEvent(new Event('online'))")  # sooner than the next attempt
        if not self.is_signed_in:
            self.enter()
        self.is_signed_in = True

    def enter(self) -> None:
        """By the form on the page where the page knows; else by the link in another tab."""
        self.page.wait_for_function(KNOWS)  # what was sent before may be under way
        form = self.page.locator("[data-about=signed-out]")
        if form.count():
            form.get_by_label("Your link").fill(self.site.link())
            form.get_by_role("button").click()
            expect(form).to_have_count(0)
            return
        other = self.context.new_page()
        other.goto(self.site.link())
        other.wait_for_url("**/work")
        other.close()

    def leave_others(self) -> None:
        for page in self.others:
            page.close()
        self.others = []

    def take_over(self) -> None:
        """The person goes on in another tab."""
        if not self.is_reached:
            return
        url = self.page.url
        if self.others:
            other = self.others.pop()
        else:
            other = self.work.watch(self.context.new_page())
            other.goto(url)
        with other.expect_navigation():
            other.get_by_role("button", name="Work here").click()
        self.others.append(self.page)
        self.page = other
        other.bring_to_front()
        self.arrive()
        if self.random.random() < 0.3:
            self.leave_others()

    def elsewhere(self) -> None:
        """The person changes a segment in another browser, and then works on here."""
        if self.server is None:
            return
        if self.is_reached and self.is_answered:
            self.settle()
        there = visit(self.chromium, self.site)
        there.page.goto(self.page.url)
        there.page.wait_for_selector("body[data-ready]")
        text = self.random.choice(list(self.read(there.page)))
        done = self.done[text]
        self.focus(there.page, text)
        wrong = {done.now.rating, self.read(there.page)[text].rating}
        rating = self.random.choice(sorted({*"0123456789"} - wrong))
        for key in ("r", rating):
            there.page.keyboard.press(key)
        there.settle()
        theirs = self.read(there.page)[text]
        there.context.close()
        done.was_contested = True
        if changes := self.random.random() < 0.6:
            self.focus(self.page, text)
            mine = self.random.choice(sorted({*"0123456789"} - {rating}))
            self.press("r", mine)
            done.advance("rate", rating=mine)
            if self.random.random() < 0.3:
                self.reload_contested()
        self.restore()
        conflict = self.page.locator(".item", has_text=text).locator(".conflict")
        if changes:
            expect(conflict).to_have_count(1)
        else:
            self.page.wait_for_function(IS_SETTLED)
        if conflict.count():
            self.decide(done, theirs)
        else:
            self.page.reload()
            done.now = theirs
            self.arrive()

    def reload_contested(self) -> None:
        self.tell("reload")
        self.reload()

    def decide(self, done: Done, theirs: Judged) -> None:
        """Which of two states counts; undo brings the other one back."""
        is_kept = self.random.random() < 0.5
        self.tell("keep" if is_kept else "take")
        name = "Keep what is on this page" if is_kept else "Take what was saved there"
        self.page.get_by_role("button", name=name).click()
        done.past.append(theirs if is_kept else done.now)
        done.now, done.future = done.now if is_kept else theirs, []
        self.settle()

    def settle(self) -> None:
        self.restore()
        for page in [self.page, *self.others]:
            page.wait_for_function(IS_SETTLED)
        assert self.page.locator(".conflict").count() == 0


@contextmanager
def made(folder: Path, port: int) -> Iterator[Site]:
    chosen = CampaignSettings(protocol="esa", assignment="pool")
    with ready_made():
        campaign, links = new_campaign(folder, TEXTS, chosen, 1, now=time.time())
    yield Site(campaign, links, f"http://127.0.0.1:{port}")
    campaign.database.close()


def exported(site: Site) -> dict[str, tuple[Any, ...]]:
    """Text of each finished segment to what was said of it."""
    found: dict[str, tuple[Any, ...]] = {}
    for one in export_campaign(site.campaign).submissions:
        (text,) = one.texts.values()
        (record,) = one.records
        assert isinstance(record, Annotation)
        spans = tuple((span.text, span.severity) for span in record.spans)
        assert text not in found
        found[text] = (record.rating, record.rationale or "", spans)
    return found


def expected(done: dict[str, Done]) -> dict[str, tuple[Any, ...]]:
    found: dict[str, tuple[Any, ...]] = {}
    for text, one in done.items():
        if one.now.rating != "–":
            missing = (("", one.now.missing),) if one.now.missing else ()
            found[text] = (float(one.now.rating), one.now.comment, (*one.now.marks, *missing))
    return found


def tidy(kinds: list[str]) -> list[str]:
    """What is typed is one event or several."""
    return [one for kind, run in groupby(kinds) for one in ([kind] if kind in TYPED else run)]


def saved_kinds(site: Site) -> dict[str, list[str]]:
    query = select(item.c.translations, event.c.kind).join_from(event, item)
    found: dict[str, list[str]] = {}
    with site.campaign.database.reading() as connection:
        for shown, kind in connection.execute(query.where(event.c.kind != "time").order_by(event.c.id)):
            found.setdefault(json.loads(shown)[0]["text"], []).append(kind)
    return {text: tidy(kinds) for text, kinds in found.items()}


@pytest.mark.parametrize(("seed", "steps"), SEEDS)
def test_nothing_is_lost_doubled_or_asked_without_need(
    tmp_path: Path, chromium: Browser, seed: int, steps: int
) -> None:
    with taken_port() as port, made(tmp_path / "campaign", port) as site:
        story = Story(chromium, site, port, seed)
        try:
            story.play(steps)
            assert exported(site) == expected(story.done)
            kinds = saved_kinds(site)
            for text, one in story.done.items():
                assert one.was_contested or kinds.get(text, []) == tidy(one.kinds)
        except BaseException as error:
            error.add_note("; ".join(story.told))
            raise
        finally:
            story.kill()
            story.context.close()
