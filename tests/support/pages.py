"""A real browser, and pages opened in it that are listened to."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

Show = Callable[..., "Page"]


@pytest.fixture(scope="module")  # it holds an event loop, which the coroutines of other tests would meet
def browser() -> "Iterator[Browser]":
    """A real one, without a window: Playwright's own, else the system's; where there is none, the test is skipped."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
        names = [own, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"]
        binary = next(filter(None, map(shutil.which, names)), None)
        if binary is None:
            pytest.skip("no Chromium: install the package `chromium`, or run `playwright install chromium`")
        launched = playwright.chromium.launch(executable_path=binary)
        yield launched
        launched.close()


@contextmanager
def listening(browser: "Browser") -> Iterator[Show]:
    """`with listening(browser) as show: show(file, "#anchor")`; fails where a page wrote anything on the console or
    requested anything else. Further arguments go to the browser's context."""
    heard: list[str] = []
    requested: list[str] = []
    contexts = []

    def show(file: Path, at: str = "", **how: Any) -> "Page":
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **how})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on("request", lambda request: requested.append(request.url))
        page.goto(file.as_uri() + at)
        return page

    yield show
    for context in contexts:
        context.close()
    assert heard == []
    assert {urlsplit(url).scheme for url in requested} <= {"file", "data"}
