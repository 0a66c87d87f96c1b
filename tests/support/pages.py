"""Pages opened in a browser that is listened to."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page

Show = Callable[..., Page]


@contextmanager
def listening(browser: Browser) -> Iterator[Show]:
    """`with listening(browser) as show: show(file, "#anchor")`; fails where a page wrote anything on the console or
    requested anything else. Further arguments go to the browser's context."""
    heard: list[str] = []
    contexts = []

    def show(file: Path, at: str = "", **how: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **how})
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: heard.append(message.text))
        page.on("pageerror", lambda error: heard.append(str(error)))
        page.on("dialog", lambda dialog: heard.append(dialog.message))
        page.on(
            "request",
            lambda request: heard.append(request.url) if not request.url.startswith(("file:", "data:")) else None,
        )
        page.goto(file.as_uri() + at)
        return page

    yield show
    for context in contexts:
        context.close()
    assert heard == []
