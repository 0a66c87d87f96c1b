"""A headless Chromium: Playwright's own where it is there, else the system's."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class NoChromium(RuntimeError):
    """There is no browser to start."""


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for as long as the block lasts. Raises `NoChromium` where none is installed."""
    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
        binary = str(own) if own.exists() else next(filter(None, map(shutil.which, NAMES)), None)
        if binary is None:
            raise NoChromium("no Chromium: install the package `chromium`, or run `playwright install chromium`")
        launched = playwright.chromium.launch(executable_path=binary)
        try:
            yield launched
        finally:
            launched.close()
