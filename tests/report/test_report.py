"""The error browser: what it is told, and what a reader sees of it in a real Chromium."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from dspy.utils.exceptions import LMInvalidRequestError
from playwright.sync_api import Browser, Page, expect

from aisr.artifact.manifest import Score
from aisr.judging.judge import FORGOTTEN, judge_all, replay
from aisr.optimize.run import Plan, compile_program
from aisr.optimize.search import Settings
from aisr.programs.evidence import ShownEvidence
from aisr.programs.probabilities import CONFIDENCE
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import TRACK2
from aisr.report.page import (
    About,
    Call,
    JudgedRecord,
    JudgedRecords,
    Statement,
    gather,
    read_judged,
    render,
    write_compile_report,
)
from support.pages import listening
from support.runs import SILENT
from support.scripted import TRACKS, claim, corpus, flat, question, requests, scripted, written

HOSTILE = (
    """<script>window.hacked=1</script></script><!-- <img src=x onerror="window.hacked=1"> {{ 7*7 }} & "quoted" """
)


def file_of(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(record.model_dump_json() + "\n" for record in records), encoding="utf-8")
    return path


# --- what the page is told


@pytest.mark.parametrize("task", TRACKS)
def test_a_compile_leaves_every_dev_record_with_prompt_and_answer_and_sends_nothing_for_it(
    task: Task, tmp_path: Path
) -> None:
    lm, few = scripted(flat), Settings(demos=1, candidates=1)
    data = {side: file_of(tmp_path / f"{side}.jsonl", corpus(task)) for side in ("train", "dev", "test")}
    plan = Plan(task, "x", ["labeled"], few, {}, data, {"dev": 9}, "aisr compile")
    made = compile_program(plan, lm, lm, tmp_path / "out", SILENT)
    sent, spend = len(requests(lm)), lm.ledger.spend
    write_compile_report(made)
    assert len(requests(lm)) == sent
    assert lm.ledger.spend == spend
    found = read_judged(made.folder)
    assert [one.id for one in found.records] == [record.id for record in corpus(task)[:9]]
    assert found.about.program == made.manifest.digest
    assert found.about.test is not None
    assert found.about.test.score == made.manifest.scores["test"].score
    assert found.about.uncompiled is not None
    assert found.about.uncompiled.score == made.manifest.scores["baseline_test"].score
    assert found.about.gain == made.manifest.gain_on_test
    for one in found.records:
        assert one.failure is None
        asked = found.texts[one.calls[0].messages[-1][1]]
        assert one.statements[0].text in asked
        assert "Supported" in str(one.calls[0].answer)
    assert (made.folder / "report.html").stat().st_size > 10_000


def test_what_the_cache_does_not_hold_is_not_asked_again(tmp_path: Path) -> None:
    lm, program = scripted([LMInvalidRequestError("down"), LMInvalidRequestError("down")]), TRACK1.build({})
    records = [claim("Supported"), claim("Supported", number=2)]
    judge_all(TRACK1, program, [program.prepare(record) for record in records], lm)
    path = file_of(tmp_path / "dev.jsonl", records)
    told = replay(TRACK1, program, path, lm, failures={records[0].id: "LMInvalidRequestError: down"})
    assert [one.outcome.failure for one in told] == ["LMInvalidRequestError: down", FORGOTTEN]
    assert len(requests(lm)) == 2


# --- the page in a browser


def about(task: Task) -> About:
    return About(
        labels=list(task.labels), evidence=task is TRACK2, title=f"{task.name} · mine", program="abc", lm="scripted",
        data="dev.jsonl", score=Score(score=0.5, interval=(0.4, 0.6), records=10),
    )  # fmt: skip


def row(number: int, gold: str = "Supported", said: str | None = "Supported", **more: Any) -> JudgedRecord:
    """A record of one sentence."""
    statement = Statement(text=f"Sentence of record {number}.", gold=[gold], said=said, chances=[0.2] * 5)
    given: dict[str, Any] = {
        "id": f"r{number}",
        "right": gold == said,
        "failure": None,
        "statements": [statement],
        "evidence": [ShownEvidence(key="text 1", text=f"Evidence of record {number}.")],
        "calls": [Call(messages=[("user", 0)], answer=f"answer {number}")],
    }
    return JudgedRecord(**{**given, **more})


def judged(rows: list[JudgedRecord], task: Task = TRACK1) -> JudgedRecords:
    return JudgedRecords(about=about(task), texts=["the prompt"], records=rows)


MIXED = [
    row(0),
    row(1, "Contradiction", "Supported"),
    row(2, "Contradiction", "Contradiction"),
    row(3, "Unsupported Entity", None, failure="no answer", calls=[]),
    row(4, "Supported", "Scope Overgeneralization"),
    row(5, "Contradiction", "Supported"),
]


Open = Callable[..., Page]


def page_of(found: JudgedRecords, folder: Path) -> Path:
    file = folder / "report.html"
    file.write_text(render(found), encoding="utf-8")
    return file


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Opens a page on records, and fails where it said anything on the console or asked for anything else."""
    with listening(browser) as show:
        yield lambda found, at="": show(page_of(found, tmp_path), at)


def ids(page: Page) -> list[str]:
    return page.locator(".row .top > span:first-child").all_inner_texts()


def current(page: Page) -> str:
    return page.locator("#detail .id").inner_text()


def test_the_f1_of_each_label_is_the_official_evaluators(opened: Open) -> None:
    both = Statement(text="Hit.", gold=["Scope Overgeneralization", "Unsupported Entity"], said="Unsupported Entity")
    records = [*MIXED, row(6, statements=[both])]
    page = opened(judged(records))
    statements = [record.statements[0] for record in records]
    official = TRACK1.score(
        [[one.gold] for one in statements], [[one.said] if one.said else None for one in statements]
    ).corpus_score()
    assert page.locator("#matrix td.f1").all_inner_texts() == [
        f"{100 * official.per_label[label].f1:.0f}" for label in TRACK1.labels
    ]
    expect(page.locator("#macro")).to_have_text(f"{100 * official.parts['macro_f1']:.1f}")


def test_the_page_begins_with_the_errors_and_the_confusion_matrix_filters(opened: Open) -> None:
    page = opened(judged(MIXED))
    assert ids(page) == ["r1", "r3", "r4", "r5"]
    expect(page.locator("#found")).to_have_text("4 of 6 records: all errors")
    cell = page.locator('td [data-gold="Contradiction"][data-said="Supported"]')
    expect(cell).to_have_text("2")
    cell.click()
    assert ids(page) == ["r1", "r5"]
    assert current(page) == "r1"
    expect(page.locator("#found")).to_have_text("2 of 6 records: gold Contradiction, predicted Supported")
    cell.click()
    assert len(ids(page)) == 6
    page.locator('tbody th [data-gold="Contradiction"]').click()
    assert ids(page) == ["r1", "r2", "r5"]
    page.locator('thead [data-said="failed"]').click()
    assert ids(page) == ["r3"]
    page.locator("#clear").click()
    assert len(ids(page)) == 6
    assert ids(opened(judged([row(0), row(1)]))) == ["r0", "r1"]  # without errors, with all


def test_keys_walk_through_the_records(opened: Open) -> None:
    page = opened(judged(MIXED), at="#r0")
    seen = [current(page)]
    for key in ("j", "j", "ArrowRight", "k", "ArrowLeft", "k", "k"):
        page.keyboard.press(key)
        seen.append(current(page))
    assert seen == ["r0", "r1", "r2", "r3", "r2", "r1", "r0", "r0"]
    page.keyboard.press("p")
    expect(page.locator("#prompt pre").first).to_have_text("the prompt")
    expect(page.locator("#prompt pre").last).to_have_text("answer 0")
    page.keyboard.press("e")
    assert ids(page) == ["r1", "r3", "r4", "r5"]
    page.keyboard.press("/")
    page.keyboard.type("j")
    assert page.locator("#search").input_value() == "j"


def test_html_in_data_is_text(opened: Open) -> None:
    hostile = row(
        0,
        id=HOSTILE,
        failure=HOSTILE,
        statements=[Statement(text=HOSTILE, gold=["Supported"], said="Supported")],
        evidence=[
            ShownEvidence(key=HOSTILE, text=HOSTILE, picture="javascript:window.hacked=1"),
        ],
        calls=[Call(messages=[(HOSTILE, 0)], answer=HOSTILE)],
    )
    found = judged([hostile])
    loud = found.about.model_copy(update={"title": HOSTILE, "note": HOSTILE, "data": HOSTILE, "lm": HOSTILE})
    page = opened(found.model_copy(update={"about": loud, "texts": [HOSTILE]}))
    page.keyboard.press("p")
    assert page.locator(".statement p").inner_text().strip() == HOSTILE.strip()
    assert page.locator("#prompt pre").first.inner_text().strip() == HOSTILE.strip()
    assert page.locator("h1").inner_text().strip() == HOSTILE.strip()
    assert page.evaluate("window.hacked") is None
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 4


def test_a_table_is_a_table_and_the_paragraph_stands_with_its_sentence(opened: Open, tmp_path: Path) -> None:
    paragraph = "We listened twice. At Bog, Wren is ahead. The heath is louder."
    markup = "| Site | Wren | Lark |\n|---|---|---|\n| Bog | 61.0 | <b>58.5</b> |"
    record = {
        "id": "one",
        "claim_text": paragraph,
        "sentence_label": [{"sentence": "At Bog, Wren is ahead.", "types": ["Supported"]}],
        "evidence_bundle": [{"type": "table", "text": markup, "table_caption": ["Table 1: F1."]}],
    }
    lm = scripted(lambda request: written(question(request), {"sentence_labels": ["Supported"], CONFIDENCE: ["90"]}))
    program, records = TRACK1.build({"verbalized_confidence": True}), [TRACK1.record.model_validate(record)]
    judge_all(TRACK1, program, [program.prepare(records[0])], lm)
    replayed = replay(TRACK1, program, file_of(tmp_path / "dev.jsonl", records), lm)
    found = gather(TRACK1, about(TRACK1), replayed)
    assert found.records[0].statements[0].chances == [0.9, 0.025, 0.025, 0.025, 0.025]
    page = opened(found)
    assert page.locator("#detail .piece tr").all_inner_texts() == ["Site\tWren\tLark", "Bog\t61.0\t<b>58.5</b>"]
    assert "|" not in page.locator("#detail .piece").inner_text()
    assert page.get_by_text(paragraph).count() == 1


def test_a_script_that_got_into_the_page_would_not_run(browser: Browser, tmp_path: Path) -> None:
    """The policy of the page admits its own script alone."""
    file = page_of(judged([row(0)]), tmp_path)
    file.write_text(file.read_text().replace("<footer", "<script>window.hacked=1</script><footer", 1))
    page = browser.new_page()
    page.goto(file.as_uri())
    assert page.evaluate("window.hacked") is None
    assert ids(page) == ["r0"]
    page.close()


def test_of_a_thousand_records_one_is_found_by_its_words(opened: Open) -> None:
    page = opened(judged([row(k) for k in range(1000)]))
    expect(page.locator("#found")).to_have_text("1000 of 1000 records")
    page.locator("#search").fill("record 999.")
    expect(page.locator("#found")).to_have_text("1 of 1000 records")
    page.locator("#search").fill("")
    expect(page.locator("#found")).to_have_text("1000 of 1000 records")
    expect(page.locator("#row-999")).to_be_in_viewport()  # the one that was found stays the current one
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    assert current(page) == "r998"


@pytest.mark.parametrize(
    ("ends", "words"),
    [((0, 1), "50.0 (too few independent records for an interval) on 10"), ((0.4, 0.6), "50.0 [40.0, 60.0] on 10")],
)
def test_a_score_stands_beside_its_interval(ends: tuple[float, float], words: str, opened: Open) -> None:
    found = judged([row(0)])
    found.about.score.interval = ends
    found.about.test, found.about.uncompiled = found.about.score, found.about.score
    found.about.gain = (0.1, -0.02, 0.22)
    assert "; gain 10.0 [-2.0, 22.0] " in " ".join(opened(found).locator("header").inner_text().split()) + " "
    assert words in " ".join(opened(found).locator("header").inner_text().split())
