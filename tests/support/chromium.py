"""A real browser for the tests of pages."""

import shutil
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser


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
