"""The search of the documentation site in a page that was opened from a folder."""

import time
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route

pytestmark = pytest.mark.browser
SHIM = Path(__file__).parents[2] / "site" / "iframe-worker.js"
WORKER = """
addEventListener("message", async ({ data }) => {
  await importScripts(`${data}.js`);
  postMessage(more(data));
});
"""
MORE = "self.more = (question) => question + '!';"
PAGE = """<!doctype html><meta charset="utf-8"><script src="iframe-worker.js"></script><script>
const answers = [], worker = new Worker("worker.js");
worker.addEventListener("message", ({ data }) => answers.push(data));
for (const question of ["slow", "日本"]) worker.postMessage(question);
</script>"""


def answer_late(route: Route) -> None:
    time.sleep(0.5)
    route.continue_()


def test_the_worker_of_a_page_in_a_folder_loads_scripts_and_answers_in_order(
    tmp_path: Path, chromium: Browser
) -> None:
    for name, text in {
        "index.html": PAGE,
        "worker.js": WORKER,
        "slow.js": MORE,
        "日本.js": MORE,
        "iframe-worker.js": SHIM.read_text(encoding="utf-8"),
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    with chromium.new_context() as context:
        page = context.new_page()
        page.route("**/slow.js", answer_late)
        page.goto((tmp_path / "index.html").as_uri())
        page.wait_for_function("answers.length == 2")
        assert page.evaluate("answers") == ["slow!", "日本!"]
