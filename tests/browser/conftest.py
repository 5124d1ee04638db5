"""A real browser for the tests marked `browser`, and a page that notes everything it should not do."""

import asyncio
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect, sync_playwright

HERE = Path(__file__).parent
PATIENCE = 60_000
"""Milliseconds that a page may take; a busy machine is slow, not wrong."""

expect.set_options(timeout=PATIENCE)

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


SMOKE = {
    "test_what_others_said_stands_side_by_side_and_can_be_taken_over",
    "test_esa_with_the_mouse",
    "test_mqm_with_the_keyboard",
    "test_pairwise_with_the_keyboard",
    "test_contrastive_esa_rates_every_translation",
    "test_post_edit_never_throws_away_what_was_written",
    "test_the_database_has_what_was_done",
    "test_marks_that_were_there_before_the_page_are_painted",
    "test_a_tutorial_says_what_is_expected_until_it_is_done",
    "test_an_instruction_stands_above_the_segment_as_text",
    "test_nothing_runs_where_people_work",
    "test_a_dead_network_keeps_everything_in_order_and_sends_it_once",
    "test_a_second_tab_says_so_and_can_take_the_task_over",
    "test_a_stale_page_asks_which_state_counts",
    "test_what_is_saved_while_a_page_is_loaded_is_on_the_page",
    "test_numbers_move_after_somebody_worked",
    "test_a_person_is_added_let_in_again_and_shut_out",
    "test_it_asks_nothing_says_nothing_and_fits",
    "test_no_text_runs_even_without_the_policy",
    "test_filters_do_what_they_say",
    "test_a_link_leads_to_one_segment_and_back",
    "test_a_conversation_is_shown_and_nothing_in_it_runs",
    "test_every_criterion_stands_below_its_translation_with_its_verdict",
}
"""What `make test` looks at, beside all of test_scripts.py: one test of each thing that people do."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Mark what is more than that."""
    for item in items:
        if item.path.parent == HERE and item.path.stem != "test_scripts" and item.originalname not in SMOKE:
            item.add_marker("exhaustive")


@dataclass
class Watched:
    """A page, with what it asked for, printed, threw and popped up."""

    page: Page
    requests: list[str] = field(default_factory=list)
    printed: list[str] = field(default_factory=list)
    thrown: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def dismiss(self, dialog: Dialog) -> None:
        """Note a dialog and close it, so that the test goes on."""
        self.dialogs.append(dialog.message)
        dialog.dismiss()

    @property
    def misdeeds(self) -> list[str]:
        """All of it; nothing is expected."""
        return self.requests + self.printed + self.thrown + self.dialogs


OpenPage = Callable[..., Watched]


@pytest.fixture(scope="session")
def _launched(browser_path: str) -> Iterator[tuple[Browser, asyncio.AbstractEventLoop]]:
    """One browser, and the event loop that Playwright keeps running in this thread while it is open."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        loop = asyncio.get_running_loop()
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def chromium(_launched: tuple[Browser, asyncio.AbstractEventLoop]) -> Iterator[Browser]:
    """The browser, with nothing open; between modules its loop is hidden from tests that run their own."""
    browser, loop = _launched
    asyncio._set_running_loop(loop)
    yield browser
    for context in browser.contexts:
        context.close()
    asyncio._set_running_loop(None)


@pytest.fixture
def open_page(chromium: Browser, tmp_path: Path) -> Iterator[OpenPage]:
    """Open HTML from a file; the window is 1024 pixels wide unless told otherwise."""
    contexts = []

    def open_html(html: str, *, width: int = 1024, **options: object) -> Watched:
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        context = chromium.new_context(viewport={"width": width, "height": 900}, **options)  # type: ignore[arg-type]
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        watched = Watched(context.new_page())
        page = watched.page
        page.on("request", lambda request: watched.requests.append(request.url))
        page.on("console", lambda message: watched.printed.append(message.text))
        page.on("pageerror", lambda error: watched.thrown.append(str(error)))
        page.on("dialog", watched.dismiss)
        page.goto(file.as_uri())
        assert watched.requests.pop(0) == file.as_uri()
        return watched

    yield open_html
    for context in contexts:
        context.close()
