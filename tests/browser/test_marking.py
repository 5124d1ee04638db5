"""Thirteen texts, nine protocols, three hands: the database has just what was done, where it was done.

The log is this module's own: places in a text are counted in Python, characters by Unicode's rules.
"""

import copy
import json
import re
from dataclasses import dataclass
from itertools import count, groupby, pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest
import regex  # type: ignore[import-untyped]
from playwright.sync_api import Browser, Locator, Page

from adjudge.campaigns.settings import NAMES, CampaignProtocol, find_campaign_protocol
from adjudge.core.record import Annotation, ErrorSpan
from adjudge.core.segment import Segment, TestSet
from tests.browser.served import faults, press, serving, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
SENTENCE = f"Das Cafe\u0301 war {FAMILY} zu klein. "
PAIRS = {  # the words in brackets are to be marked
    "en-hi": (
        f"Die Familie [{FAMILY}] winkt 👋🏽 scho\u0308n.",
        "Он ещё ждал, а поезд [ещё] стоял.",
        "Η παλιά [αμαξοστοιχία] περνά από την κοιλάδα.",
        "कुत्ता [तुरंत] घर भाग गया।",
        "ครอบครัวไป[เที่ยว]ทะเลเมื่อวานนี้",
        "商店早上[九点]开门，中午休息。",
        "しずかな よる、[か\u3099らす]が おちた。",
        f"{SENTENCE * 186}Der Abend war [scho\u0308n] 🇨🇭".ljust(5802, "."),
        "Д[а]",
        "[𠮷]",
    ),
    "de-ar": (
        "قرأ 12 [كتابًا] هذا الصيف في بيروت.",
        "הוא קָרָא 12 [סְפָרִים] בקיץ הזה.",
        "קניתי [Acme Phone 12 פלוס] ב־3.5 USD ועוד.",
    ),
}
CATEGORIES = {"accuracy/omission": "o", "accuracy/addition": "a", "fluency/grammar": "gg"}
"""Category to the letters that choose it in the list."""


def graphemes(text: str) -> list[str]:
    """What people see as characters; with a virama, consonants are one."""
    found: list[str] = regex.findall(r"(?:\X(?<=\u094d))*\X", text)
    return found


@dataclass(frozen=True)
class Text:
    """A text in three parts; the one in the middle is to be marked."""

    before: str
    part: str
    after: str

    def __str__(self) -> str:
        return self.before + self.part + self.after

    def span(self, severity: str, **more: Any) -> dict[str, Any]:
        """The mark as the database is to have it, but for its id."""
        start = len(self.before)
        place = {"start": start, "end": start + len(self.part), "text": self.part}
        more = {"side": "translation", "category": None, "note": "", "given": None, **more}
        return {**place, "severity": severity, **more}


TEXTS = {lp: [Text(*re.split(r"[][]", text)) for text in texts] for lp, texts in PAIRS.items()}

PLACE_OF = {str(texts[n - 1]): (texts, n) for texts in TEXTS.values() for n in range(len(texts))}
"""Source to the texts of its document, and the place of its translation among them."""


def make_texts(protocol: CampaignProtocol) -> TestSet:
    """A document of each pair; the source, and the second translation, are the texts beside."""
    systems = 1 if protocol.shows == "one" else 2
    segments = [
        Segment(
            segment=f"{lp}-{place}",
            lp=lp,
            document=lp,
            source=str(texts[place - 1]),
            translations={f"System{n}": str(texts[(place + n) % len(texts)]) for n in range(systems)},
        )
        for lp, texts in TEXTS.items()
        for place in range(len(texts))
    ]
    return TestSet(name="thirteen", segments=tuple(segments))


# What was done...


class Log:
    """What was done to a segment: of each act its kind and the whole state after it."""

    def __init__(self, given: list[list[dict[str, Any]]]) -> None:
        parts = [
            {"rating": None, "spans": spans, "missing": None, "instruction_fault": None, "removed": []}
            for spans in given
        ]
        self.state: dict[str, Any] = {"translations": parts, "verdicts": {}, "chosen": None, "edited": None}
        self.state |= {"comment": "", "is_non_translation": []}
        self.acts: list[tuple[str, dict[str, Any]]] = []

    def did(self, kind: str, **fields: Any) -> None:
        """Note an act on the segment."""
        self.state |= fields
        self.acts.append((kind, in_order(self.state)))

    def judged(self, kind: str, index: int, **fields: Any) -> None:
        """Note an act on a translation."""
        self.state["translations"][index] |= fields
        self.did(kind)

    def marked(self, index: int, span: dict[str, Any]) -> None:
        """Note a mark."""
        self.judged("mark", index, spans=[*self.state["translations"][index]["spans"], span])

    def detailed(self, index: int, **fields: Any) -> None:
        """Note category or note of the newest mark."""
        self.state["translations"][index]["spans"][-1] |= fields
        self.did("category")


def in_order(state: dict[str, Any]) -> dict[str, Any]:
    """A copy, its marks in one order and without ids."""
    found = copy.deepcopy(state)
    for part in found["translations"]:
        part["spans"] = sorted(({**span, "id": ""} for span in part["spans"]), key=json.dumps)
    return found


def check(log: Log, events: list[tuple[str, dict[str, Any]]]) -> None:
    """Every act is there in its order, and between them nothing but what is typed letter by letter.

    Ratings that follow each other at once are one event.
    """
    found = [(kind, in_order(state)) for kind, state in events]
    assert found[-1] == log.acts[-1]
    left = iter(found)
    acts = [act for act, after in pairwise([*log.acts, ("", {})]) if not act[0] == after[0] == "rate"]
    assert [act for act in acts if act not in left] == []
    kinds, wanted = ([kind for kind, _ in groupby(kind for kind, _ in acts)] for acts in (found, log.acts))
    assert kinds == wanted


# Three hands...

PLACES = """(text, [first, last, isDrag]) => {
    const [range, chars] = [document.createRange(), Array.from(text.firstChild.data)];
    const unit = (point) => chars.slice(0, point).join('').length;
    const box = ([start, end]) => {
        range.setStart(text.firstChild, unit(start));
        range.setEnd(text.firstChild, unit(end));
        return range.getBoundingClientRect();
    };
    const points = (ends, shares) => ends.map(box).flatMap(({left, top, width, height}) =>
        shares.map((share) => [left + share * width, top + height / 2]));
    scrollBy(0, box(first).top - innerHeight / 2);
    if (!isDrag) return points([first, last], [0.5]);
    const stands = (point) => ([x, y]) => document.caretPositionFromPoint(x, y)?.offset === unit(point);
    return [[first[0], [first, [first[0] - 1, first[0]]]], [last[1], [last, [last[1], last[1] + 1]]]].map(
        ([point, ends]) => points(ends, [0.15, 0.85]).find(stands(point)));
}"""
"""Brings a stretch to the middle of the window: the middles of its first and last character; for a drag,
where the browser's caret stands before the one and behind the other."""
BOX = """async (one) => {
    for (let left = 600; left && !one.checkVisibility(); left--) await new Promise(requestAnimationFrame);
    const {top, bottom} = one.getBoundingClientRect();
    if (top < 50 || bottom > innerHeight) one.scrollIntoView({block: 'center'});
    const box = one.getBoundingClientRect();
    return [box.left, box.width, box.top + box.height / 2];
}"""
"""Waits for an element and brings it into the window: left edge, width and middle. Playwright's own click
asks more and takes longer."""
HANDLES = """(text, [start, end]) => {
    const unit = (point) => Array.from(text.firstChild.data).slice(0, point).join('').length;
    getSelection().setBaseAndExtent(text.firstChild, unit(start), text.firstChild, unit(end));
}"""


class Mouse:
    """Clicks and drags; letters are typed."""

    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, page: Page) -> None:
        self.page = page
        self.ways = count()

    def press(self, target: Locator, share: float = 0.5) -> None:
        """Press an element at so much of its width."""
        left, width, y = target.evaluate(BOX)
        self.point(left + min(max(1, share * width), width - 1), y)

    def point(self, x: float, y: float) -> None:
        self.page.mouse.click(x, y)

    def begin(self) -> None:
        self.press(self.page.locator("#go"))

    def ends(self, sheet: Locator, text: Text, *, is_drag: bool) -> list[list[float]]:
        """Where to press for the first and for the last character of the mark."""
        start, characters = len(text.before), graphemes(text.part)
        end = start + len(text.part)
        ends = [[start, start + len(characters[0])], [end - len(characters[-1]), end]]
        found: list[list[float]] = sheet.evaluate(PLACES, [*ends, is_drag])
        return found

    def mark(self, sheet: Locator, text: Text, digit: int) -> None:
        way = next(self.ways) % 3
        first, last = self.ends(sheet, text, is_drag=way > 0)
        if way == 0:
            for point in (first, last):
                self.point(*point)
        else:
            first, last = (first, last) if way == 1 else (last, first)
            self.page.mouse.move(*first)
            self.page.mouse.down()
            self.page.mouse.move(*last, steps=3)
            self.page.mouse.up()
        self.choose(digit)

    def choose(self, digit: int) -> None:
        self.press(self.page.locator("#menu [data-severity]").nth(digit - 1))

    def detail(self, category: str, note: str) -> None:
        menu = self.page.locator("#menu")
        menu.locator("select").select_option(category)
        self.press(menu.locator("input"))
        self.page.keyboard.insert_text(note)
        self.press(menu.locator("[data-act=close]"))

    def change(self, view: Locator, digit: int) -> None:
        self.press(view.locator(".mark-line"))
        self.choose(digit)

    def remove(self, view: Locator) -> None:
        self.press(view.locator(".mark-line"))
        self.press(self.page.locator("#menu [data-act=remove]"))

    def miss(self, view: Locator) -> None:
        view.locator("select.missing").select_option(index=1)

    def deny(self, view: Locator) -> None:
        self.press(view.locator(".non-translation"))

    def rate(self, view: Locator, rating: int) -> None:
        slider = view.locator("input[type=range]")
        if slider.count():
            self.press(slider, rating / 100)
        else:
            self.press(view.locator(f".choice:has([value='{rating}'])"))

    def decide(self, item: Locator, verdicts: dict[str, str]) -> None:
        for criterion, verdict in verdicts.items():
            self.press(item.locator(f"[data-criterion={criterion}] .choice:has([value={verdict}])"))

    def comment(self, item: Locator, words: str) -> None:
        """The field lies over what stands below it, and is shut again."""
        self.press(item.locator("summary"))
        self.press(item.locator(".comment textarea"))
        self.page.keyboard.insert_text(words)
        self.press(item.locator("summary"))

    def draft(self, item: Locator, index: int) -> None:
        self.press(item.locator(".choose").nth(index))

    def write(self, item: Locator, words: str) -> None:
        self.press(item.locator(".editing textarea"))
        self.page.keyboard.press("Control+End")
        self.page.keyboard.insert_text(words)

    def finish(self, item: Locator, is_last: bool) -> None:
        """Where it has to be said that all errors are marked, that of the last segment ends the task."""
        if item.locator(".done").count():
            self.press(item.locator(".done"))
        elif is_last:
            self.press(self.page.locator("#finish"))


class Finger(Mouse):
    """Taps, and the browser's own selection with its handles; letters come from a keyboard on the screen."""

    options: ClassVar[dict[str, Any]] = {"has_touch": True, "width": 390}

    def point(self, x: float, y: float) -> None:
        self.page.touchscreen.tap(x, y)

    def mark(self, sheet: Locator, text: Text, digit: int) -> None:
        first, last = self.ends(sheet, text, is_drag=False)
        self.point(*first)
        if next(self.ways) % 4 == 0:
            self.page.wait_for_timeout(600)  # else it is a double tap
            self.point(*last)
        else:
            sheet.evaluate(HANDLES, [len(text.before), len(text.before + text.part)])
        self.choose(digit)


class Keys(Mouse):
    """The keyboard alone."""

    def keys(self, *keys: str) -> None:
        press(self.page, *keys)

    def go(self, target: Locator, key: str = "Tab") -> None:
        """Press a key until the focus is there."""
        while not target.evaluate("one => one.contains(document.activeElement)"):
            self.keys(key)

    def begin(self) -> None:
        self.go(self.page.locator("#go"))
        self.keys("Enter")

    def mark(self, sheet: Locator, text: Text, digit: int) -> None:
        self.go(sheet, "t")
        ways = ["ArrowLeft", "ArrowRight"]
        back, forward = ways[::-1] if sheet.get_attribute("dir") == "rtl" else ways
        before, part, after = (len(graphemes(one)) for one in (text.before, text.part, text.after))
        if before < after:
            self.keys("Home", *[forward] * before, *[f"Shift+{forward}"] * part)
        else:
            self.keys("End", *[back] * after, *[f"Shift+{back}"] * part)
        self.keys(str(digit))

    def detail(self, category: str, note: str) -> None:
        self.keys(*CATEGORIES[category], "Tab")
        self.page.keyboard.type(note)
        self.keys("Enter")

    def change(self, view: Locator, digit: int) -> None:
        self.go(view.locator(".text"), "t")
        self.keys("Home", "n", str(digit))

    def remove(self, view: Locator) -> None:
        self.go(view.locator(".text"), "t")
        self.keys("Home", "n", "Delete")

    def miss(self, view: Locator) -> None:
        self.go(view, "t")
        self.keys("m")

    def deny(self, view: Locator) -> None:
        self.go(view.locator(".non-translation"))
        self.keys("Space")

    def rate(self, view: Locator, rating: int) -> None:
        if view.locator(".markable").count():
            self.go(view.locator(".text"), "t")
        else:
            self.keys("r")
            self.go(view)
        self.keys(*str(rating))

    def decide(self, item: Locator, verdicts: dict[str, str]) -> None:
        self.keys(*"".join(verdicts.values()).lower())

    def comment(self, item: Locator, words: str) -> None:
        self.keys("c")
        self.page.keyboard.type(words)
        self.keys("Escape")

    def draft(self, item: Locator, index: int) -> None:
        self.keys("r", ("Space", "ArrowDown")[index])

    def write(self, item: Locator, words: str) -> None:
        self.keys("r", "Control+End")
        self.page.keyboard.type(words)

    def finish(self, item: Locator, is_last: bool) -> None:
        self.keys("Control+Enter")


# A campaign...


def given(protocol: CampaignProtocol) -> list[Annotation]:
    """Where marks are made beforehand: all that stands before the words that a person is to mark."""
    return [
        Annotation(
            lp=lp,
            segment=f"{lp}-{place}",
            document=lp,
            system="System0",
            annotator="judge",
            protocol="mqm",
            spans=(ErrorSpan(severity="minor", start=0, end=len(text.before)),) if text.before else (),
        )
        for lp, texts in TEXTS.items()
        for place, text in enumerate(texts)
        if protocol.is_given_spans
    ]


def severities(protocol: CampaignProtocol) -> list[str]:
    """Those that a person can choose; `critical` has to be asked for."""
    return [one for one in protocol.severities if one != "critical"]


@dataclass
class Work:
    """A segment that a hand works on; by its turn, each text gets something else of what a protocol has."""

    hand: Mouse
    item: Locator
    protocol: CampaignProtocol
    text: Text
    source: Text
    turn: int

    def do(self) -> Log:
        """All of it."""
        self.views = self.item.locator(".translation").all()
        self.drafts = [view.locator(".text").text_content() or "" for view in self.views]
        self.own = self.drafts.index(str(self.text))
        self.view = self.views[self.own]
        is_given = self.protocol.is_given_spans and self.text.before
        given = [Text("", self.text.before, "").span("minor", given=0)] if is_given else []
        self.log = Log([given if index == self.own else [] for index in range(len(self.views))])
        if given:
            self.look_at(given[0])
        if self.protocol.severities:
            self.mark(self.view, self.own, self.text, "translation", self.turn)
        if self.protocol.marks_source and self.turn % 2:
            self.mark(self.item.locator(".source"), 0, self.source, "source", self.turn + 1)
        self.judge()
        if self.turn % 2 == 0:
            self.hand.comment(self.item, f"{self.text.part}!")
            self.log.did("comment", comment=f"{self.text.part}!")
        if self.protocol.shows == "candidates":
            self.rewrite(self.turn % 2)
        if self.protocol.has_categories:
            self.log.did("complete")
        return self.log

    def look_at(self, given: dict[str, Any]) -> None:
        """Keep a mark that was made beforehand, change it, or remove it."""
        if self.turn % 3 == 1:
            self.hand.change(self.view, 2)
            self.log.judged("severity", self.own, spans=[{**given, "severity": "major"}])
        elif self.turn % 3 == 2:
            self.hand.remove(self.view)
            self.log.judged("unmark", self.own, spans=[], removed=[0])

    def mark(self, place: Locator, index: int, text: Text, side: str, number: int) -> None:
        """Mark words, and say of which category they are."""
        digit = number % len(severities(self.protocol)) + 1
        self.hand.mark(place.locator(".text"), text, digit)
        self.log.marked(index, text.span(severities(self.protocol)[digit - 1], side=side))
        if self.protocol.has_categories:
            category = list(CATEGORIES)[number % len(CATEGORIES)]
            self.hand.detail(category, text.part)
            self.log.detailed(index, category=category)
            self.log.detailed(index, note=text.part)

    def judge(self) -> None:
        """Say what is missing, rate, compare."""
        if self.protocol.marks_missing and self.turn % 2:
            self.hand.miss(self.view)
            category = "accuracy/omission" if self.protocol.has_categories else None
            missing = {"severity": severities(self.protocol)[0], "category": category}
            self.log.judged("missing", self.own, missing=missing)
        if self.protocol.has_categories and self.turn % 5 == 0:
            self.hand.deny(self.view)
            self.log.did("category", is_non_translation=[True])
        for index, view in enumerate(self.views if self.protocol.scale else []):
            number = self.turn + index
            rating = number % 5 if self.protocol.record == "sqm" else (0, 50, 100)[number % 3]
            self.hand.rate(view, rating)
            self.log.judged("rate", index, rating=rating)
        verdicts = {one: "AEB"[(self.turn + n) % 3] for n, one in enumerate(self.protocol.criteria)}
        self.hand.decide(self.item, verdicts)
        for criterion, verdict in verdicts.items():
            self.log.did("verdict", verdicts={**self.log.state["verdicts"], criterion: verdict})

    def rewrite(self, index: int) -> None:
        """Choose a draft and write on at its end."""
        self.hand.draft(self.item, index)
        self.log.did("choose", chosen=index, edited=self.drafts[index])
        self.hand.write(self.item, self.text.part)
        self.log.did("edit", edited=self.drafts[index] + self.text.part)


def do_all(hand: Mouse, protocol: CampaignProtocol) -> dict[int, Log]:
    """Work off both documents: what was done to each item."""
    page = hand.page
    logs: dict[int, Log] = {}
    before = page.url
    hand.begin()
    for _ in TEXTS:
        page.wait_for_function("before => location.href !== before", arg=before)
        page.wait_for_selector("body[data-ready]")
        before = page.url
        shown = json.loads(page.locator("#data").text_content() or "")["items"]
        for number, (item, data) in enumerate(zip(page.locator(".item").all(), shown, strict=True), start=1):
            texts, place = PLACE_OF[data["source"]]
            turn = place + NAMES.index(protocol.name)
            work = Work(hand, item, protocol, texts[place], texts[place - 1], turn)
            logs[data["id"]] = work.do()
            if number == len(shown):
                assert faults(page) == []
            hand.finish(item, number == len(shown))
    page.wait_for_url("**/work")
    return logs


@pytest.mark.parametrize("hand", [Mouse, Keys, Finger], ids=["mouse", "keys", "touch"])
@pytest.mark.parametrize("name", ["mqm", *(name for name in NAMES if name != "mqm")])
def test_the_database_has_what_was_done(
    name: str, hand: type[Mouse], tmp_path: Path, chromium: Browser
) -> None:
    protocol = find_campaign_protocol(name)
    more = {"given": given(protocol)} if protocol.is_given_spans else {}
    people = {"anna": list(TEXTS)}
    with serving(tmp_path / "campaign", make_texts(protocol), people, protocol=name, **more) as site:
        found = visit(chromium, site, **hand.options)
        logs = do_all(hand(found.page), protocol)
        found.context.close()
        assert len(logs) == 13
        events = site.events()
        for id_, state in zip(sorted(logs), site.states(), strict=True):
            assert in_order(state) == in_order(logs[id_].state)
            check(logs[id_], [(kind, after) for item, kind, after in events if item == id_])
        assert not found.misdeeds
