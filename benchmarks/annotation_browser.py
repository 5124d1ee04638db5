"""Our annotator's page beside Pearmut's: the same texts, viewport and browser, in one run.

`benchmarks/annotation.py --browser` calls this. What is done with the mouse and with keys is really done, and
what each server saved is compared with it.
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Locator, Page, sync_playwright

from adjudge.campaigns.campaign import open_campaign
from adjudge.campaigns.exporting import export_campaign
from adjudge.campaigns.making import new_campaign
from adjudge.campaigns.settings import CampaignSettings
from adjudge.core.record import Annotation
from adjudge.core.segment import Segment, TestSet
from adjudge.reports.tables import Table, render_table
from benchmarks.servers import pearmut_served, served

__all__ = ["beside_in_browser"]

ROOT = Path(__file__).parents[1]
TIMES = 5  # of everything that is a time
DELAY = 200  # milliseconds of a round trip
CAMPAIGNS = 5  # where memory is measured with several
LONG = 400  # characters
PAUSE = 1000  # milliseconds that a person looks at the page before leaving it
RATED = 0.85  # of the slider's width
WIDTH, HEIGHT = 1366, 768

SENTENCES = {
    "en": """The last ferry from the islands was more than an hour late again.
The committee met in March and put off the vote on the new bridge until after the summer.
Dr Novak, who advises the mayor, told reporters on 12 March that 4.2 million euros are still missing.
"Nobody asked us," said the owner of the bakery opposite the station, and closed her shutters.
Please restart the device, wait for thirty seconds, and then hold both buttons until the light turns green.
Although the harvest was poor, prices at the market in the old town have hardly risen since last autumn.
Her grandmother had kept every letter in a tin box that smelled of lavender, tobacco and old paper.
Passengers to Vienna change at platform 9; the night train waits for the connection from Ljubljana.
The court will hear both parties again before it decides who has to pay for the flooded cellar.""",
    "de": """Die letzte Fähre von den Inseln kam wieder über eine Stunde zu spät.
Der Ausschuss tagte im März und verschob die Abstimmung über die neue Brücke bis nach dem Sommer.
Dr. Novak, der den Bürgermeister berät, sagte am 12. März, dass immer noch 4,2 Millionen Euro fehlen.
„Uns hat niemand gefragt“, sagte die Besitzerin der Bäckerei gegenüber dem Bahnhof und schloss die Läden.
Starten Sie das Gerät neu, warten Sie dreißig Sekunden und halten Sie beide Tasten, bis das Licht grün wird.
Obwohl die Ernte schlecht war, sind die Preise auf dem Markt der Altstadt seit dem Herbst kaum gestiegen.
Ihre Großmutter hatte jeden Brief in einer Blechdose verwahrt, die nach Lavendel und altem Papier roch.
Reisende nach Wien steigen an Gleis 9 um; der Nachtzug wartet auf den Anschluss aus Ljubljana.
Das Gericht hört beide Seiten noch einmal an, bevor es entscheidet, wer für den Keller bezahlen muss.""",
    "ru": """Последний паром с островов снова опоздал больше чем на час.
Комитет собрался в марте и отложил голосование по новому мосту до конца лета.
Доктор Новак, советник мэра, сообщил журналистам 12 марта, что не хватает ещё 4,2 миллиона евро.
«Нас никто не спрашивал», — сказала хозяйка пекарни напротив вокзала и закрыла ставни.
Перезапустите устройство, подождите тридцать секунд и держите обе кнопки, пока не загорится зелёный свет.
Хотя урожай был плохим, цены на рынке в старом городе с прошлой осени почти не выросли.
Её бабушка хранила все письма в жестяной коробке, которая пахла лавандой, табаком и старой бумагой.
Пассажиры в Вену пересаживаются на пути 9; ночной поезд ждёт прибытия поезда из Любляны.
Суд ещё раз выслушает обе стороны, прежде чем решить, кто заплатит за затопленный подвал.""",
}
PAIRS = ("en-de", "en-ru")
SIZES = (1, 4, 2, 7, 1, 5, 3, 10)  # sentences of a document's segments
DOCUMENTS = 2 * (2 + 2 * TIMES + 2)  # of each pair: with the mouse, with keys, timed, not reached


def _keys(text: str, word: str) -> list[str]:
    """What is pressed for a segment: go to the word by its first letters, mark it, rate, and go on."""
    words = [found[0].lower() for found in re.finditer(r"\w+", text)]
    letters = next(
        start
        for start in (word.lower()[: size + 1] for size in range(len(word)))
        if next(one for one in words if one.startswith(start)) == word.lower()
    )
    return ["/", *letters, "2", "8", "5", "Enter"]


def beside_in_browser(pearmut: Path | None) -> str:
    """The table, and what it says of itself; `pearmut` is the Python of an environment that has Pearmut."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        package = _unpacked_wheel(folder)
        playwright = stack.enter_context(sync_playwright())
        names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
        found = next(filter(None, map(shutil.which, names)), None)
        browser = playwright.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        stack.callback(browser.close)
        tools = [_ours(package), *([] if pearmut is None else [_theirs(pearmut)])]
        columns = [_measure(tool, browser, folder / tool.name) for tool in tools]
        version = browser.version
    if len({frozenset(text.partition(" ")[2] for text in column.texts) for column in columns}) > 1:
        raise RuntimeError("the two did not show the same texts")
    rows = [(what, *(column.cells[what] for column in columns), wanted) for what, wanted in _WANTED.items()]
    table = Table(columns=("", *(tool.name for tool in tools), "wanted"), rows=tuple(rows))
    source = "the checkout, for there is no npm that could bundle a wheel" if package is None else "a wheel"
    return _HEAD.format(version=version, source=source) + render_table(table, "markdown") + "\n"


_HEAD = f"""`.venv/bin/python benchmarks/annotation.py --browser --pearmut PYTHON --write`

ESA, documents of {len(SIZES)} segments of 60 to 1,000 characters, English to German and to Russian, in
headless Chromium {{version}}, {WIDTH} × {HEIGHT}. Ours is served out of {{source}}, Pearmut is 1.1.6.
One document of each language pair was done with the mouse, one error a segment; a drag is one action, and
so is a click. Keys begin in the first text. Times are medians of {TIMES}; a document is finished a second
after its last rating. *Usable*: from opening the address of a task until it can be rated; *by the link*:
with the way in, and "Begin" clicked at once. Ours serves one campaign a process.

"""
_WANTED = {
    "text's start to its rating's end, over 400 characters: median (most), px": "≤ 180",
    "segments whole on the screen: median (least to most)": "≥ 3",
    "page height a segment, px": "≤ 260",
    "jump of the next text when a segment is done, px": "0",
    "mouse actions a segment with one error": "≤ 3.5",
    "keys alone, error in the middle": "≤ 7",
    "document done to the next, 0 / 200 ms, s": "≤ .15 / .4",
    "usable cold, 0 / 200 ms, s": "≤ .6 / 1.0",
    "the same by the link, s": "",
    "cold: kB, requests": "≤ 90, 6",
    "warm: kB, requests": "≤ 12, 3",
    f"server memory, 1 / {CAMPAIGNS} campaigns, MB": "",
}
_PIXELS, _WHOLE, _PAGE, _JUMP, _MOUSE, _KEYS, _NEXT, _COLD, _LINK, _BYTES, _WARM, _MEMORY = _WANTED


# The two...


class Site(NamedTuple):
    """A served campaign: its server's process, a link for each language pair, and where answers are kept."""

    process: int
    links: list[str]
    answers: Path


class Stretch(NamedTuple):
    """Where a word stands on the screen."""

    left: float
    right: float
    first: float
    """The middle of its first character."""
    last: float
    y: float


Saved = dict[str, tuple[list[str], float | None]]
"""What was marked in a text, and its rating."""


@dataclass(frozen=True)
class Tool:
    """One of the two; its selectors."""

    name: str
    item: str
    source: str
    text: str
    rating: str
    finish: str
    usable: str
    serve: Callable[[ExitStack, Path, int], list[Site]]
    """So many campaigns, each with the same texts."""
    enter: Callable[[Page, str], None]
    """Opens the first task by the link of an annotator."""
    mark: Callable[["Visit", Stretch], None]
    """Marks an error with the mouse."""
    saved: Callable[[Path], Saved]
    """What the server has."""


def _ours(package: Path | None) -> Tool:
    def serve(stack: ExitStack, folder: Path, count: int) -> list[Site]:
        sites = []
        for campaign in [folder / f"campaign-{number}" for number in range(count)]:
            settings = CampaignSettings(protocol="esa", assignment="pool")
            people = {f"annotator of {pair}": [pair] for pair in PAIRS}
            made, links = new_campaign(campaign, _texts(), settings, people, now=time.time())
            made.database.close()
            process, url = stack.enter_context(served(campaign, package))
            sites.append(Site(process.pid, [url + link.path for link in links[: len(PAIRS)]], campaign))
        return sites

    def enter(page: Page, link: str) -> None:
        page.goto(link)
        page.wait_for_url("**/work")
        page.locator("#go").click()

    def mark(visit: "Visit", word: Stretch) -> None:
        visit.drag(word, ".menu", "[data-severity=major]")

    def saved(folder: Path) -> Saved:
        found: Saved = {}
        with open_campaign(folder) as campaign:
            for one in export_campaign(campaign).submissions:
                (text,), (record,) = one.texts.values(), one.records
                assert isinstance(record, Annotation)
                found[text] = ([span.text for span in record.spans], record.rating)
        return found

    parts = (".item", ".source .text", ".translation .text", ".rating", "#finish", "body[data-ready] .item")
    return Tool("ours", *parts, serve, enter, mark, saved)


def _theirs(python: Path) -> Tool:
    def serve(stack: ExitStack, folder: Path, count: int) -> list[Site]:
        names = [f"campaign-{number}" for number in range(count)]
        folder.mkdir(parents=True)
        process, url = stack.enter_context(pearmut_served(python, folder, dict.fromkeys(names, _texts())))
        sites = []
        for name in names:
            people = json.loads((folder / f"data/progress/{name}.json").read_text()).values()
            log = folder / f"data/annotations/{name}.jsonl"
            sites.append(Site(process.pid, [f"{url}/{person['url']}" for person in people], log))
        return sites

    def enter(page: Page, link: str) -> None:
        page.goto(link)

    def mark(visit: "Visit", word: Stretch) -> None:
        visit.press(word.first, word.y)
        visit.press(word.last, word.y)
        visit.click(visit.page.locator(".span_toolbox_parent:visible .error_major").last)

    def saved(log: Path) -> Saved:
        found: Saved = {}
        for line in map(json.loads, log.read_text().splitlines()):
            for item, said in zip(line["item"], line["annotation"], strict=True):
                (text,), (one,) = item["tgt"].values(), said.values()
                spans = [text[span["start_i"] : span["end_i"] + 1] for span in one["error_spans"]]
                found[text] = (spans, one["score"])
        return found

    parts = (
        ".output_block",
        ".output_src",
        ".output_tgt",
        ".output_response",
        "#button_next",
        ".output_block",
    )
    return Tool("Pearmut", *parts, serve, enter, mark, saved)


def _texts() -> TestSet:
    """Documents in German and Russian by turns; no two segments have the same text."""
    segments = []
    for document in range(DOCUMENTS):
        pair = PAIRS[document % 2]
        for place, size in enumerate(SIZES):
            source, translation = (
                f"{document + 1}.{place + 1} " + " ".join((lines * 2)[place : place + size])
                for lines in (SENTENCES["en"].splitlines(), SENTENCES[pair[-2:]].splitlines())
            )
            segment = Segment(
                segment=f"{document}-{place}",
                lp=pair,
                document=str(document),
                source=source,
                translations={"Alder": translation},
            )
            segments.append(segment)
    return TestSet(name="texts", segments=tuple(segments))


def _unpacked_wheel(folder: Path) -> Path | None:
    """The package as a release has it, with bundled pages; None where there is no npm."""
    if shutil.which("npm") is None:
        return None
    copy = folder / "copy"
    files = subprocess.check_output(["git", "ls-files"], cwd=ROOT, text=True)  # noqa: S607 (a contributor's own)
    for name in files.splitlines():
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    subprocess.run(["npm", "ci", "--silent"], cwd=copy, check=True)  # noqa: S607 (a contributor's own)
    build = [sys.executable, "-m", "uv", "build", "--quiet", "--out-dir", str(folder / "built")]
    subprocess.run(build, cwd=copy, check=True)  # noqa: S603
    (wheel,) = (folder / "built").glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "package")
    return folder / "package"


# One page...


class Visit:
    """A page in a browser of its own, what its mouse does, and what goes over its network."""

    def __init__(self, tool: Tool, browser: Browser, delay: float = 0, state: Any = None) -> None:  # noqa: ANN401
        self.tool = tool
        self.context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, storage_state=state)
        self.context.add_init_script(f"({_WATCH})({json.dumps([tool.text, tool.finish, tool.usable])})")
        self.page = self.context.new_page()
        self.actions = 0
        self.session = self.context.new_cdp_session(self.page)
        self.asked: set[str] = set()
        self.bytes: dict[str, float] = {}
        self.session.on("Network.requestWillBeSent", lambda event: self.asked.add(event["requestId"]))
        self.session.on(
            "Network.requestServedFromCache", lambda event: self.asked.discard(event["requestId"])
        )
        self.session.on("Network.responseReceived", self._look)
        self.session.on("Network.loadingFinished", self._end)
        self.session.send("Network.enable")
        self.delay(delay)

    def _look(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.asked.discard(event["requestId"])

    def _end(self, event: dict[str, Any]) -> None:
        self.bytes[event["requestId"]] = event["encodedDataLength"]

    def delay(self, milliseconds: float) -> None:
        """Every request takes so much longer from now on."""
        conditions = {"offline": False, "downloadThroughput": -1, "uploadThroughput": -1}
        self.session.send("Network.emulateNetworkConditions", conditions | {"latency": milliseconds})

    def press(self, x: float, y: float) -> None:
        """Click on a place."""
        self.page.mouse.click(x, y)
        self.actions += 1

    def click(self, target: Locator, at: float = 0.5) -> None:
        """Click on something, so far from its left edge."""
        target.wait_for()
        box = target.bounding_box()
        assert box is not None
        self.press(box["x"] + at * box["width"], box["y"] + box["height"] / 2)

    def drag(self, word: Stretch, menu: str, button: str) -> None:
        """Select what stands there, go straight up into the menu, and let go on a button of it."""
        self.page.mouse.move(word.left, word.y)
        self.page.mouse.down()
        self.page.mouse.move(word.right, word.y, steps=3)
        self.page.locator(menu).wait_for()
        box = self.page.locator(f"{menu} {button}").bounding_box()
        assert box is not None
        y = box["y"] + box["height"] / 2
        self.page.mouse.move(word.right, y, steps=4)
        self.page.mouse.move(box["x"] + box["width"] / 2, y, steps=4)
        self.page.mouse.up()
        self.actions += 1

    def enter(self, link: str) -> None:
        """Open the first task."""
        self.tool.enter(self.page, link)
        self.page.wait_for_selector(self.tool.usable)

    def noted(self, name: str) -> float:
        """What the page has noted, milliseconds since 1970."""
        return float(self.page.evaluate("name => sessionStorage[name]", name))

    def traffic(self, url: str) -> str:
        """What opening an address takes."""
        self.page.goto("about:blank")
        self.asked.clear()
        self.page.goto(url)
        self.page.wait_for_selector(self.tool.usable)
        self.page.wait_for_load_state("networkidle")
        return f"{sum(self.bytes.get(name, 0) for name in self.asked) / 1000:.0f}, {len(self.asked)}"

    def usable(self) -> float:
        """Seconds from the first navigation until the page could be used."""
        self.page.wait_for_selector(self.tool.usable)
        self.page.wait_for_selector("html[data-usable]")
        return (self.noted("usable") - self.noted("entered")) / 1000

    def items(self) -> list[Locator]:
        """The segments."""
        return self.page.locator(self.tool.item).all()

    def error(self, item: Locator) -> tuple[Locator, str, tuple[int, int]]:
        """A segment's translation, its text, and where the word is that is to be marked: near the middle."""
        text = item.locator(self.tool.text)
        shown = (text.text_content() or "").removesuffix(" [missing]")  # which Pearmut adds
        words = [found.span() for found in re.finditer(r"[^\W\d]{5,}", shown)]
        return text, shown, min(words, key=lambda word: abs(sum(word) - len(shown)))

    def rate(self, item: Locator) -> None:
        """Press on the slider."""
        slider = item.locator("input[type=range]")
        slider.evaluate(_CENTRE)
        self.click(slider, RATED)

    def finish(self, key: str = "") -> float:
        """Finish the document, by a key if one is named; seconds until the next one's first text is there."""
        seen = int(self.noted("seen"))
        button = self.page.locator(self.tool.finish)
        button.scroll_into_view_if_needed()
        self.page.wait_for_timeout(PAUSE)
        if key:
            self.page.keyboard.press(key)
        else:
            self.click(button)
        self.page.wait_for_selector(f"html[data-seen='{seen + 1}']")
        elapsed = (self.noted("shown") - self.noted("acted")) / 1000
        self.page.wait_for_selector(self.tool.usable)
        return elapsed


_WATCH = """([text, finish, usable]) => {
  if (!location.protocol.startsWith("http")) return;
  const note = sessionStorage, now = () => performance.timeOrigin + performance.now();
  note.entered ??= performance.timeOrigin;
  addEventListener("click", ({ target }) => { if (target.closest?.(finish)) note.acted = now(); }, true);
  addEventListener("keydown", () => { note.acted = now(); }, true);
  const look = () => {
    const shown = document.querySelector(text)?.textContent;
    if (shown && shown !== note.text) {
      Object.assign(note, { text: shown, shown: now(), seen: Number(note.seen ?? 0) + 1 });
    }
    if (document.querySelector(usable)) note.usable ??= now();
    if (note.seen) document.documentElement.dataset.seen = note.seen;
    if (note.usable) document.documentElement.dataset.usable = "";
    requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
"""Notes when what was there; a frame is as exact as it gets."""
_CENTRE = "element => element.scrollIntoView({ block: 'center' })"
_STRETCH = """(text, [start, end]) => {
  const places = [], nodes = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
  for (let node = nodes.nextNode(); node; node = nodes.nextNode()) {
    for (let at = 0; at < node.length; at += 1) places.push([node, at]);
  }
  const [first, last] = [start, end - 1].map((index) => {
    const range = document.createRange(), [node, at] = places[index];
    range.setStart(node, at);
    range.setEnd(node, at + 1);
    return range.getBoundingClientRect();
  });
  const middles = [first, last].map(({ left, width }) => left + width / 2);
  return [first.left + 1, last.right - 1, ...middles, first.top + first.height / 2];
}"""
_PRESS = """(key) => document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }))"""
_LAYOUT = """([item, source, text, rating]) => {
  const isSticky = (one) => getComputedStyle(one).position === "sticky";
  const bars = [...document.querySelectorAll("header")].filter(isSticky).map((one) => one.offsetHeight);
  const rows = [...document.querySelectorAll(item)].map((one) => {
    const parts = [source, text, rating].map((part) => one.querySelector(part));
    const [from, to, rated] = parts.map((part) => part.getBoundingClientRect());
    const [top, bottom] = [Math.min(from.top, to.top), Math.max(from.bottom, rated.bottom)];
    const length = one.querySelector(text).textContent.length;
    return { length, tall: rated.bottom - to.top, top: top + scrollY, bottom: bottom + scrollY };
  });
  return { bar: Math.max(0, ...bars), height: document.documentElement.scrollHeight, rows };
}"""


# What is measured...


class Column(NamedTuple):
    """What was found of one of the two, and the texts that it showed."""

    cells: dict[str, str]
    texts: list[str]


def _measure(tool: Tool, browser: Browser, folder: Path) -> Column:
    with ExitStack() as stack:
        (site,) = tool.serve(stack, folder / "one", 1)
        visits = [Visit(tool, browser) for _ in PAIRS]
        for visit, link in zip(visits, site.links, strict=True):
            visit.enter(link)
        done, cells = _by_mouse(visits)
        visit = visits[0]
        texts = list(done)
        cells[_KEYS] = "impossible"
        if visit.page.locator(f"{tool.text}[tabindex], {tool.text} [tabindex]").count():
            marked, cells[_KEYS] = _by_keys(visit)
            done |= marked
        seconds: dict[int, list[float]] = {0: [], DELAY: []}
        for delay, found in seconds.items():
            visit.delay(delay)
            for _ in range(TIMES):
                for item in visit.items():
                    visit.rate(item)
                found.append(visit.finish())
        cells[_NEXT] = _pair(seconds)
        saved = tool.saved(site.answers)
        for text, word in done.items():
            marked_words, rating = saved.get(text, ([], None))
            if marked_words != [word] or rating is None or abs(rating - 100 * RATED) > 3:
                raise RuntimeError(f"{tool.name}: {word} of {text} was saved as {marked_words}, {rating}")
        url, state = visit.page.url, visit.context.storage_state()
        for one in visits:
            one.context.close()
        cells |= _cold(tool, browser, site.links[0], url, state)
    memory = [_memory(tool, browser, folder / str(count), count) for count in (1, CAMPAIGNS)]
    cells[_MEMORY] = " / ".join(f"{megabytes:.0f}" for megabytes in memory)
    return Column(cells, texts)


def _by_mouse(visits: list[Visit]) -> tuple[dict[str, str], dict[str, str]]:
    """A document each; the word that was marked in each text, and cells."""
    done: dict[str, str] = {}
    jumps, pixels, whole, heights = [], [], [], []
    for visit in visits:
        tool, page = visit.tool, visit.page
        for item, following in zip(items := visit.items(), [*items[1:], None], strict=True):
            text, shown, word = visit.error(item)
            text.evaluate(_CENTRE)
            tool.mark(visit, Stretch(*text.evaluate(_STRETCH, word)))
            item.locator("input[type=range]").evaluate(_CENTRE)
            before = _top(following, tool.text)
            visit.rate(item)
            page.wait_for_timeout(300)
            jumps.append(abs(_top(following, tool.text) - before))
            done[shown] = shown[slice(*word)]
        layout = page.evaluate(_LAYOUT, [tool.item, tool.source, tool.text, tool.rating])
        rows, room = layout["rows"], HEIGHT - layout["bar"]
        pixels += [row["tall"] for row in rows if row["length"] > LONG]
        for first in rows:
            top = min(first["top"], layout["height"] - room)
            whole.append(sum(top <= row["top"] and row["bottom"] <= top + room for row in rows))
        heights.append(layout["height"] / len(rows))
        visit.finish()
    return done, {
        _PIXELS: f"{median(pixels):.0f} ({max(pixels):.0f})",
        _WHOLE: f"{median(whole):.0f} ({min(whole)} to {max(whole)})",
        _PAGE: f"{max(heights):.0f}",
        _JUMP: f"{max(jumps):.0f}",
        _MOUSE: f"{sum(visit.actions for visit in visits) / len(done):.1f}",
    }


def _top(item: Locator | None, text: str) -> float:
    if item is None:
        return 0.0
    return float(item.locator(text).evaluate("one => one.getBoundingClientRect().top"))


def _by_keys(visit: Visit) -> tuple[dict[str, str], str]:
    """One document without the mouse, from the caret in its first text on."""
    done, counts = {}, []
    items = visit.items()
    items[0].locator(visit.tool.text).focus()
    for item in items:
        _, shown, word = visit.error(item)
        *keys, last = _keys(shown, shown[slice(*word)])
        for key in keys:
            if key.isascii():
                visit.page.keyboard.press(key)
            else:  # a letter of another keyboard than the browser's
                visit.page.evaluate(_PRESS, key)
        if item is items[-1]:
            visit.finish(last)
        else:
            visit.page.keyboard.press(last)
        done[shown] = shown[slice(*word)]
        counts.append(len(keys) + 1)
    return done, f"{median(counts):.0f}"


def _cold(tool: Tool, browser: Browser, link: str, url: str, state: Any) -> dict[str, str]:  # noqa: ANN401
    """The page in browsers that have nothing of it; by its own address, and by the person's link."""
    cold: dict[int, list[float]] = {0: [], DELAY: []}
    by_link: dict[int, list[float]] = {0: [], DELAY: []}
    for delay, found in cold.items():
        for _ in range(TIMES):
            visit = Visit(tool, browser, delay, state)
            first = visit.traffic(url)
            found.append(visit.usable())
            again = visit.traffic(url)
            visit.context.close()
            visit = Visit(tool, browser, delay)
            visit.enter(link)
            by_link[delay].append(visit.usable())
            visit.context.close()
    return {_COLD: _pair(cold), _LINK: _pair(by_link), _BYTES: first, _WARM: again}


def _pair(seconds: dict[int, list[float]]) -> str:
    return " / ".join(f"{median(found):.2f}" for found in seconds.values())


def _memory(tool: Tool, browser: Browser, folder: Path, count: int) -> float:
    """Megabytes of the servers of so many campaigns, each of which somebody has opened."""
    with ExitStack() as stack:
        sites = tool.serve(stack, folder, count)
        for site in sites:
            visit = Visit(tool, browser)
            visit.enter(site.links[0])
            visit.context.close()
        status = [Path(f"/proc/{process}/status").read_text() for process in {site.process for site in sites}]
    return sum(int(re.findall(r"VmRSS:\s+(\d+)", one)[0]) for one in status) * 1024 / 1e6
