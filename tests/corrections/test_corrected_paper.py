"""What a person says on the page of a checked paper, in a real Chromium, and what becomes of it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from aisr.paper.check.write import write_page
from aisr.predict.judge import judge_all
from aisr.predict.replay import replay
from aisr.programs.track1.task import TRACK1
from aisr.report import page as error_page
from aisr.report.records import About, gather
from support import papers
from support.commands import Aisr
from support.corpora import Row, read_rows
from support.pages import Show, listening
from support.scripted import claim, flat, scripted


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    with listening(browser) as show_page:
        yield show_page


@pytest.fixture
def page(show: Show, tmp_path: Path) -> Page:
    """The page of a small paper."""
    return show(write_page(tmp_path, papers.correctable(tmp_path)))


def at(page: Page, words: str) -> None:
    page.locator(".sentence", has_text=words).click()


def downloaded(page: Page, target: Path) -> list[Row]:
    """What Ada downloads."""
    page.get_by_placeholder("your name").fill("Ada")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download corrections").click()
    download.value.save_as(target)
    return read_rows(target)


def status(page: Page) -> str:
    return page.locator(".correct p[role=status]").first.inner_text()


def test_from_the_page_to_labelled_records(page: Page, tmp_path: Path, aisr: Aisr) -> None:
    at(page, "At Heath, Lark reaches")
    page.get_by_role("button", name="Supported", exact=True).first.click()
    assert status(page).startswith("You say: Supported")
    at(page, "Wren is trained on calm nights")
    page.get_by_role("button", name="Agree: Overstate").click()
    assert status(page).startswith("You agree: Overstate, by P2")
    page.get_by_label("P1").check()
    assert "by P2, P1" in status(page)
    expect(page.locator("#corrections")).to_contain_text("2 corrections")
    page.get_by_role("button", name="Download corrections").click()  # nobody said who
    expect(page.get_by_placeholder("your name")).to_be_focused()
    page.keyboard.type("ajk")  # which are no keys there
    expect(page.get_by_placeholder("your name")).to_have_value("ajk")
    rows = downloaded(page, tmp_path / "corrections.jsonl")
    assert {row["who"] for row in rows} == {"Ada"}
    assert rows[0]["verdict"] == {"label": "Contradicted", "program": None, "lm": "scripted"}

    file, out = tmp_path / "corrections.jsonl", tmp_path / "data"
    for task in ("draft", "track2"):
        done = aisr("corrections", file, "--task", task, "--out", out / task)
        assert done.code == 0, done.err + done.out
        assert aisr("check", out / task / "corrections.jsonl", "--task", task).code == 0
    (claim,), (citation,) = (read_rows(out / task / "corrections.jsonl") for task in ("draft", "track2"))
    assert claim["sentences"] == [{"sentence": papers.TEXTS[1][1], "label": "Supported"}]
    assert (citation["label"], citation["evidence_para_ids"]) == ("Overstate", ["P1", "P2"])


def test_the_keys_say_it_too_and_take_it_back_and_hostile_words_stay_words(page: Page, tmp_path: Path) -> None:
    at(page, "At Heath, Lark reaches")
    page.keyboard.press("a")
    assert status(page).startswith("You agree: Contradicted")
    page.keyboard.press("1")
    assert status(page).startswith("You say: Supported")
    expect(page.locator(".row.corrected")).to_have_count(1)
    page.keyboard.press("u")
    assert status(page).startswith("You agree")
    page.keyboard.press("u")
    expect(page.locator(".correct p[role=status]")).to_have_count(0)
    expect(page.locator(".row.corrected")).to_have_count(0)
    hostile = '"><img src=x onerror="window.hacked=1"></script>'
    page.keyboard.press("x")
    page.keyboard.type(hostile)
    page.keyboard.press("Enter")
    assert status(page).startswith(f"Dismissed: {hostile}")
    expect(page.locator(".row.gone")).to_have_count(1)
    (row,) = downloaded(page, tmp_path / "x.jsonl")
    assert row["dismissed"] == hostile
    assert page.evaluate("window.hacked") is None


def test_the_browser_keeps_it_for_this_page_alone(page: Page, tmp_path: Path) -> None:
    at(page, "At Heath, Lark reaches")
    page.keyboard.press("a")
    page.get_by_placeholder("your name").fill("Ada")
    page.reload()
    at(page, "At Heath, Lark reaches")
    assert status(page).startswith("You agree: Contradicted")
    expect(page.get_by_placeholder("your name")).to_have_value("Ada")
    digest = page.evaluate("document.body.dataset.page")
    kept = json.loads(page.evaluate("key => localStorage.getItem(key)", f"aisr-corrections:{digest}"))[0]
    spoilt: list[Row] = [
        {"when": "never"}, {"when": "9999-01-01T00:00:00.000Z"}, {"who": "\u001b"}, {"who": "a" * 300},
        {"evidence": ["P1"] * 500}, {"evidence": [""]}, {"dismissed": None},
    ]  # fmt: skip
    bad = json.dumps([kept | one for one in spoilt])
    page.evaluate("name => localStorage.setItem('aisr-corrections:name', name)", "Ada\x1b[2J " + "a" * 300)
    for planted in (bad, '[{"key": 1, "label": "<b>", "evidence": [], "who": "", "when": ""}, null, 7]', "{}", "<"):
        page.evaluate("([key, text]) => localStorage.setItem(key, text)", [f"aisr-corrections:{digest}", planted])
        page.reload()
        expect(page.locator("#corrections")).to_contain_text("No corrections yet")
    expect(page.get_by_placeholder("your name")).to_have_value("Ada [2J " + "a" * 92)


def test_evidence_is_what_somebody_ticked_and_at_most_three_paragraphs(show: Show, tmp_path: Path) -> None:
    made = papers.correctable(tmp_path)
    first, *others = made.verdicts
    assert first.subject
    cited = {f"P{number}": f"Paragraph {number}." for number in range(1, 6)}
    record = first.subject.record.model_copy(update={"cited_paper_full_text": [cited]})
    citation = first._replace(subject=first.subject._replace(record=record))
    page = show(write_page(tmp_path, replace(made, verdicts=(citation, *others))))
    at(page, "Wren is trained on calm nights")
    page.get_by_role("button", name="Supported", exact=True).click()
    assert "by no paragraph: tick those that show it" in status(page)
    page.get_by_text("another paragraph").click()
    page.get_by_role("button", name="P4", exact=True).click()
    page.get_by_text("another paragraph").click()
    page.get_by_role("button", name="P5", exact=True).click()
    page.get_by_label("P2").check()
    assert "by P4, P5, P2" in status(page)
    expect(page.get_by_label("P1")).to_be_disabled()
    page.get_by_text("another paragraph").click()
    expect(page.get_by_role("button", name="P3", exact=True)).to_be_disabled()
    page.get_by_label("P4").click()  # and back among the others it goes
    expect(page.get_by_label("P1")).to_be_enabled()


# --- What a person says on the error browser, in a real Chromium, and what becomes of it


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
