"""The page of a checked paper, for the documents: the sample paper, with the verdicts of its key."""

import tempfile
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize

from aisr.paper.open import read, read_cited
from aisr.report.thumbnails import Thumbnails
from aisr.review import page
from aisr.review.judging import Judge, reviewed
from aisr.review.verdicts import Review
from aisr.tasks.paper_checks import checks
from aisr.tasks.paper_tasks import CITATIONS, CLAIMS, WHOLE
from tools.sample_key import FOLDER, lm

SAID = "The verdicts in this picture are those of the sample's key, and how sure they are is made up: no LM gave them."
SIZE = ViewportSize(width=1180, height=700)
SHOWN = "Taking out the night prior"  # a contradiction, with the row that shows it


def picture(browser: Browser, scale: float) -> bytes:
    """The page, opened at a sentence that its table contradicts, as a PNG."""
    with tempfile.TemporaryDirectory() as place:
        file = page.write(Path(place), review(), Thumbnails(FOLDER))
        context = browser.new_context(viewport=SIZE, device_scale_factor=scale)
        shown = context.new_page()
        shown.goto(file.as_uri())
        shown.locator(".row", has_text=SHOWN).click()
        shown.locator("#detail .exhibit").first.wait_for()
        return shown.screenshot()


def review() -> Review:
    """The sample paper as its key judges it."""
    draft = read(FOLDER / "main.tex")
    found = checks(draft, read_cited(FOLDER / "papers", draft.works).papers)
    options = {"chances": "stated"}
    judges = [
        Judge("claim", CLAIMS, CLAIMS.build(options)),
        Judge("citation", CITATIONS, CITATIONS.build(options)),
    ]
    again = Judge("claim", WHOLE, WHOLE.build(options))
    return replace(reviewed(draft, found, judges, lm(), again=again), worth=(SAID,), more=())
