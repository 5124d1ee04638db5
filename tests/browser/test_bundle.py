"""A page out of a wheel, as users have it: one script and one style, which a browser keeps."""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from tests.browser.served import Site, make_test_set, serving, visit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
ESBUILD = shutil.which("esbuild", path=str(ROOT / "node_modules" / ".bin"))
TEXT = "The night train to Vienna leaves at half past twelve, and the next one in the morning. " * 3
TEXTS = make_test_set("en-de", *((f"{place}: {TEXT}", f"{place}. {TEXT}") for place in range(12)))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, unpacked, that was made by way of the sdist, as a release is."""
    if ESBUILD is None or shutil.which("node") is None:
        pytest.skip("no node, or no node_modules: 'npm ci' installs what bundles the pages")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "uv", "build", "--quiet", "--out-dir", str(folder), str(ROOT)]
    if subprocess.run([*build, "--offline"], check=False, capture_output=True).returncode:
        subprocess.run(build, check=True)  # uv's cache has no hatchling
    (file,) = folder.glob("*.whl")
    zipfile.ZipFile(file).extractall(folder / "unpacked")
    return folder / "unpacked"


@contextmanager
def served_by(package: Path, site: Site) -> Iterator[Site]:
    """The same campaign on the server of an unpacked wheel."""
    command = [sys.executable, "-m", "adjudge", "campaign", "serve", str(site.campaign.folder), "--port", "0"]
    environment = os.environ | {"PYTHONPATH": str(package), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, cwd=package, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        found = next(filter(None, (re.search(r"http://127\.0\.0\.1:\d+", line) for line in process.stdout)))
        try:
            yield replace(site, url=found[0])
        finally:
            process.terminate()


class Traffic:
    """What a page gets over the network; what the browser has kept is none of it."""

    def __init__(self, page: Any) -> None:
        self.asked: dict[str, str] = {}
        self.bytes: dict[str, float] = {}
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on("Network.requestWillBeSent", lambda e: self.ask(e["requestId"], e["request"]))
        session.on("Network.requestServedFromCache", lambda e: self.asked.pop(e["requestId"], None))
        session.on("Network.responseReceived", self.look)
        session.on("Network.loadingFinished", self.end)

    def ask(self, name: str, request: dict[str, str]) -> None:
        if request["method"] == "GET":
            self.asked[name] = request["url"]

    def look(self, event: dict[str, Any]) -> None:
        if event["response"].get("fromDiskCache"):
            self.asked.pop(event["requestId"], None)

    def end(self, event: dict[str, Any]) -> None:
        self.bytes[event["requestId"]] = event["encodedDataLength"]

    def of(self, page: Any, url: str) -> tuple[list[str], float]:
        """Addresses and bytes of one visit."""
        self.asked.clear()
        page.goto(url)
        page.wait_for_selector("body[data-ready]")
        page.wait_for_load_state("networkidle")
        return sorted(self.asked.values()), sum(self.bytes.get(name, 0) for name in self.asked)


def test_a_wheel_has_its_pages_as_few_small_files(wheel: Path, chromium: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "campaign", TEXTS) as checkout, served_by(wheel, checkout) as site:
        found = visit(chromium, site)
        task = found.begin().url
        context = chromium.new_context(storage_state=found.context.storage_state())
        page = found.watch(context.new_page())
        traffic = Traffic(page)
        cold, cold_bytes = traffic.of(page, task)
        warm, warm_bytes = traffic.of(page, task)
    bundled = {re.sub(r"bundle/\w+", "bundle/DIGEST", url.removeprefix(site.url)) for url in cold}
    assert bundled > {"/static/bundle/DIGEST/js/page.js", "/static/bundle/DIGEST/pages.css", "/work/1"}
    assert (len(cold) <= 6, cold_bytes <= 90_000) == (True, True), cold_bytes
    assert (len(warm) <= 3, warm_bytes <= 12_000) == (True, True), (warm, warm_bytes)
    assert not found.misdeeds


def test_every_page_of_a_wheel_runs(wheel: Path, chromium: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "campaign", TEXTS) as checkout, served_by(wheel, checkout) as site:
        annotator = visit(chromium, site)
        annotator.begin()
        annotator.settle()
        annotator.page.goto(f"{site.url}/work")
        annotator.page.locator("#leave").click()
        annotator.page.wait_for_url(f"{site.url}/")
        context = chromium.new_context()
        page = annotator.watch(context.new_page())
        page.goto(site.link(role="organiser"))
        page.wait_for_url("**/dashboard")
        for path in ("/dashboard", "/dashboard/people"):
            page.goto(f"{site.url}{path}")
            page.wait_for_selector("body[data-ready]")
        page.goto(f"{site.url}/sign-in")
        page.locator("#sign-in button").click()
        assert "/static/bundle/" in page.content()
    assert not annotator.misdeeds
