"""What a person says on the error browser, in a real Chromium, and what becomes of it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from aisr.predict.judge import judge_all
from aisr.predict.replay import replay
from aisr.programs.track1.task import TRACK1
from aisr.report import page as error_page
from aisr.report.records import About, gather
from support.commands import Aisr
from support.corpora import Row, read_rows
from support.pages import Show, listening
from support.scripted import claim, flat, scripted


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    with listening(browser) as show_page:
        yield show_page


def downloaded(page: Page, target: Path) -> list[Row]:
    """What Ada downloads."""
    page.get_by_placeholder("your name").fill("Ada")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download corrections").click()
    download.value.save_as(target)
    return read_rows(target)


def judged(records: list[Any], folder: Path) -> tuple[Path, Path]:
    """A file of labelled records, and the error browser of what a flat LM says of them."""
    data = folder / "data.jsonl"
    data.write_text("".join(one.model_dump_json() + "\n" for one in records))
    lm, program = scripted(flat), TRACK1.build({})
    judge_all(TRACK1, program, [program.prepare(one) for one in records], lm)
    about = About(
        task=TRACK1.name, labels=list(TRACK1.labelled.labels), evidence=False, title="mine", program="abc", most=0,
        lm="scripted", data="", score=0.5, interval=(0, 1),
    )  # fmt: skip
    return data, error_page.write(folder, gather(TRACK1, about, replay(TRACK1, program, data, lm)))


def test_sentences_are_corrected_by_hand_and_by_key(show: Show, tmp_path: Path, aisr: Aisr) -> None:
    data, file = judged([claim("Contradiction", "Contradiction", number=1)], tmp_path)
    page = show(file)
    page.locator(".correcting summary").first.click()
    page.get_by_role("button", name="Unsupported Entity", exact=True).first.click()
    expect(page.locator(".correct p").first).to_contain_text("You say: Unsupported Entity")
    page.keyboard.press("w")
    page.keyboard.press("w")
    page.keyboard.press("a")  # of the sentence that was gone to
    expect(page.locator(".correcting[open]")).to_have_count(2)
    expect(page.locator("#corrections")).to_contain_text("2 corrections")
    expect(page.locator(".row.corrected")).to_have_count(1)
    page.keyboard.press("u")
    expect(page.locator("#corrections")).to_contain_text("1 correction")
    corrections = tmp_path / "c.jsonl"
    (row,) = downloaded(page, corrections)
    assert "record" not in row
    assert row["verdict"] == {"label": "Supported", "program": "abc", "lm": "scripted"}
    done = aisr("corrections", corrections, "--task", "track1", "--data", data, "--out", tmp_path / "out")
    assert done.code == 0, done.err + done.out
    (made,) = read_rows(tmp_path / "out" / "corrections.jsonl")
    assert [one["types"] for one in made["sentence_label"]] == [["Unsupported Entity"], ["Contradiction"]]
