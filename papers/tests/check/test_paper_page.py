"""The page of a checked paper, as a reader sees it in a real Chromium."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from aisr_papers.check.flags import Mark, NamedPlace, Piece, Reason
from aisr_papers.check.page import write_page
from aisr_papers.check.review import Review
from aisr_papers.draft import Paragraph, Place, Unread
from paper_support import papers
from support.pages import listening

HOSTILE = (
    """<script>window.hacked=1</script></script><!-- <img src=x onerror="window.hacked=1"> {{ 7*7 }} & "quoted\""""
    "</style><style>*{display:none} javascript:window.hacked=1 \u202eeldoop " + "W" * 2000 + " \ud800"
)
SEEN = HOSTILE.replace("\ud800", "?").strip()
Open = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page on a review, and fails where it said anything on the console or asked for anything else."""
    with listening(browser) as show:

        def open_(review: Review) -> Page:
            write_page(tmp_path / "paper.html", review)
            return show(tmp_path / "paper.html")

        yield open_


def listed(page: Page) -> list[str]:
    return page.locator(".row .top b").all_inner_texts()


def current(page: Page) -> str:
    return page.locator("#detail .flag-of b").first.inner_text()


def test_the_paper_stands_in_its_own_order_with_a_flag_on_each_checked_sentence(opened: Open, tmp_path: Path) -> None:
    page = opened(papers.reviewed(tmp_path))
    expect(page.locator("h1")).to_have_text("Wrens at night")
    assert page.locator("#text h2").all_inner_texts() == ["Introduction", "Results", "Sites"]
    texts = page.locator("#text p").all_inner_texts()
    assert [text.split(".")[0] for text in texts] == [texts_of[0].split(".")[0] for texts_of in papers.TEXTS]
    tags = page.locator("#text .tag").all_inner_texts()
    assert [tag.replace("\xa0", " ").strip() for tag in tags] == [
        "Overstate 60 %", "91 %", "Contradicted 83 %", "Beyond the evidence", "Hidden text",
    ]  # fmt: skip
    expect(page.locator("#text .unchecked")).to_have_text("We listened at two sites.")
    assert "A reader's aid, no proof." in page.locator("header").inner_text()


def test_the_doubtful_come_first_and_keys_filters_and_words_go_through_them(opened: Open, tmp_path: Path) -> None:
    page = opened(papers.reviewed(tmp_path))
    contradicted = "Contradicted 83\xa0%"
    assert listed(page) == ["Hidden text", contradicted, "Overstate 60\xa0%", "Beyond the evidence"]
    expect(page.locator("#found")).to_have_text("4 of 5 flags")
    page.keyboard.press("j")
    assert current(page) == contradicted
    expect(page.locator(".sentence.here")).to_contain_text("Lark reaches 70.2")
    expect(page.locator("#detail > .where")).to_have_text("main.tex:12")
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("d")
    assert (listed(page)[-1], current(page)) == ("Supported 91\xa0%", contradicted)
    page.keyboard.press("d")
    assert len(listed(page)) == 4
    page.get_by_text("Wren leads at both sites").first.click()  # not in the list of the doubtful
    assert current(page) == "Supported 91\xa0%"
    page.locator('[data-label="Contradicted"]').click()
    assert listed(page) == [contradicted]
    expect(page.locator(".sentence.other")).to_have_count(4)
    page.keyboard.press("Escape")
    assert len(listed(page)) == 5
    page.keyboard.press("/")
    page.keyboard.type("ash2020")
    expect(page.locator("#found")).to_have_text("1 of 5 flags")
    page.keyboard.press("Enter")
    assert current(page) == "Overstate 60\xa0%"


def test_a_reason_stands_above_its_evidence_where_its_cell_or_its_words_are_marked(
    opened: Open, tmp_path: Path
) -> None:
    rows = ("Table 1: F1.", "| Bog | Heath", "Calm nights", "Wren | 61.0 | 70.2", "Lark | 58.5 | 66.1")
    evidence = (
        Piece("text 1", ("Wind was weak on all nights, and we listened on all nights.",)),
        Piece("Table 1", rows),
    )
    cell, words = Mark(1, 4, columns=(2,)), Mark(0, 0)
    reasons = (
        Reason("Lark reaches less there.", "66.1", NamedPlace("Table 1", "Calm nights, Lark", "Heath"), mark=cell),
        Reason("It was calm.", "Wind was weak", NamedPlace("text 1"), words),
        Reason("not confirmed: Owls are best."),
    )
    review = papers.reviewed(tmp_path)
    flagged = replace(review.flags[2], pieces=evidence, reasons=reasons, marks=(cell, words))
    unexplained = replace(review.flags[3], failed="no reason: not reached: 1 LM call was sent")
    failed = replace(review.flags[1], label=None, confidence=None, failed="the server is down")
    page = opened(replace(review, flags=(flagged, unexplained, failed)))
    assert page.locator("#detail .why").all_inner_texts() == [
        "Lark reaches less there. (Table 1: Calm nights, Lark, Heath: “66.1”)",
        "It was calm. (text 1: “Wind was weak”)",
        "not confirmed: Owls are best.",
    ]
    expect(page.locator(".row").first).to_contain_text("Lark reaches less there.")
    assert page.locator("#detail .exhibit .key b").all_inner_texts() == ["Table 1", "text 1"]  # as the reasons stand
    expect(page.locator("#detail td.cell")).to_have_text("66.1")
    expect(page.locator("#detail table").first).to_have_css("overflow-wrap", "normal")  # no cell is broken
    assert page.locator("#detail tr").first.locator("td").all_inner_texts() == ["", "Bog", "Heath"]
    expect(page.locator("#detail td", has_text="Calm nights")).to_have_attribute("colspan", "3")
    expect(page.locator("#detail mark")).to_have_text("Wind was weak")
    assert page.get_by_text("nearest").count() == 0
    page.keyboard.press("j")
    assert "no reason: not reached" in page.locator("#detail").inner_text()
    assert "confidence unknown" in page.locator("#detail").inner_text()
    page.keyboard.press("j")
    assert current(page) == "not judged"
    assert "the server is down" in page.locator("#detail").inner_text()


def hostile(folder: Path) -> Review:
    """Every text that comes from a paper, a model or a file name, as hostile as it gets."""
    review = papers.reviewed(folder)
    draft = review.draft
    place = Place(HOSTILE.replace("\ud800", ""), 1)
    paragraphs = tuple(
        Paragraph(tuple(one._replace(text=HOSTILE, place=place) for one in paragraph.sentences), (HOSTILE,))
        for paragraph in draft.paragraphs
    )
    bundle = (Piece(HOSTILE, (HOSTILE, HOSTILE), "javascript:window.hacked=1"), Piece("__proto__", ("x",), "__proto__"))
    reasons = (
        Reason(HOSTILE, HOSTILE, NamedPlace(HOSTILE), Mark(0, 0)),
        Reason("\u2028" * 9, "x" * 100_000, NamedPlace(HOSTILE, HOSTILE), mark=Mark(0, 1, columns=(9**9,))),
    )
    texts: dict[str, Any] = {"statement": HOSTILE, "pieces": bundle, "work": HOSTILE, "marks": (), "reasons": reasons}
    flags = [replace(one, **texts) for one in review.flags]
    odd = replace(draft, title=HOSTILE, paragraphs=paragraphs, unread=(Unread(place, HOSTILE),))
    flags.append(replace(flags[0], label=None, failed=HOSTILE))
    listed: dict[str, Any] = {"missing": {HOSTILE: 1}, "skipped": {HOSTILE: 2}, "reliability": (HOSTILE,)}
    return replace(review, draft=odd, flags=tuple(flags), lm=HOSTILE, **listed)


def test_scripts_in_text_and_captions_are_text(opened: Open, tmp_path: Path) -> None:
    page = opened(hostile(tmp_path))
    page.locator("#left-out summary").click()
    expect(page.locator("#text .sentence").first).to_have_css("unicode-bidi", "isolate")
    for part in ("h1", "#text .unchecked", "#text h2"):
        assert page.locator(part).first.inner_text().strip() == SEEN
    for part in ("html", "header", "footer", "#paper", "#detail"):
        assert page.locator(part).evaluate("(box) => box.scrollWidth <= box.clientWidth"), part
    for _ in range(6):
        assert str(page.locator("#detail .exhibit p").first.text_content()).strip() == SEEN
        page.keyboard.press("j")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_pictures_below_the_papers_folder_are_inlined_and_others_never(opened: Open, tmp_path: Path) -> None:
    folder = tmp_path / "paper"
    folder.mkdir()
    for file in (folder / "a.png", tmp_path / "secret.png"):
        Image.new("RGB", (60, 40), "red").save(file)
    bundle = (Piece("figure 1", ("A bar.",), "a.png"), Piece("figure 2", ("No.",), "../secret.png"))
    review = papers.reviewed(folder)
    review = replace(review, flags=(replace(review.flags[2], pieces=bundle, marks=()),))
    page = opened(review)
    expect(page.locator("#detail img")).to_have_count(1)
    expect(page.locator("#detail img")).to_have_attribute("alt", "A bar.")
    assert "../secret.png" in page.locator("#detail").inner_text()
