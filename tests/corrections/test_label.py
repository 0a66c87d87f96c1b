"""`aisr label`: which records are asked about, and in a real Chromium what a person says of them."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from aisr.artifact import folder as artifact_folder
from aisr.artifact.program_file import program_text
from aisr.programs.asking.stated import FIELD
from aisr.report import to_label
from aisr.tasks.track1 import TRACK1
from support.commands import Aisr, Finished
from support.corpora import Row, citation, read_rows, write
from support.corpora import claim as bundled
from support.loopback import Asked, Loopback
from support.pages import Show, listening
from support.scripted import claim, field, written

SURE = {1: 95, 2: 60, 3: 80, 4: 55, 5: 90}  # what the LM states of each record


@pytest.fixture
def show(browser: Browser) -> Iterator[Show]:
    with listening(browser) as shown:
        yield shown


def rows() -> list[Row]:
    """Five records without labels, and one with."""
    records = [json.loads(claim("Supported", number=k).model_dump_json(exclude_none=True)) for k in range(1, 7)]
    for row in records[:5]:
        for sentence in row["sentence_label"]:
            del sentence["types"]
    return records


def content(page: Path) -> dict[str, Any]:
    found = re.search(r'id="content">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found
    return dict(json.loads(found[1]))


def numbers(page: Path) -> list[int]:
    return [int(row["id"][-1]) for row in content(page)["rows"]]


def reply(asked: Asked) -> str:
    number = int(re.findall(r"Row (\d+)", asked.question)[-1])
    sentences = json.loads(field(asked.question, "sentences") or "[]")
    said = {"sentence_labels": ["Supported"] * len(sentences), FIELD: [str(SURE[number])] * len(sentences)}
    return written(asked.question, said)


@pytest.fixture
def label(aisr: Aisr, loopback: Loopback, tmp_path: Path) -> Any:
    """The command with a program that states how sure it is, on a server."""
    loopback.reply = reply
    artifact_folder.save(tmp_path / "p", {"program.json": program_text(TRACK1, TRACK1.build({"states": True}))})
    data = write(tmp_path / "records.jsonl", rows())

    def run(*more: object) -> Finished:
        lm = ["--lm", "openai/m", "--api-base", loopback.url, "--threads", 1, "--artifacts", tmp_path]
        return aisr("label", data, "--program", tmp_path / "p", "--out", tmp_path / "out", *lm, *more)

    return run


def test_a_program_judges_what_has_no_label_and_the_least_sure_comes_first(
    label: Any, loopback: Loopback, tmp_path: Path
) -> None:
    done = label("--first", 3)
    assert done.code == 0, done.err
    assert numbers(tmp_path / "out" / "label.html") == [4, 2, 3]
    assert len(loopback.asked) == 5  # not about the record that has a label
    assert "3 of 5 records without labels" in " ".join(done.out.split())
    (first, *_) = content(tmp_path / "out" / "label.html")["rows"]
    assert (first["sure"], first["statements"][0]["said"]) == (0.55, "Supported")


def test_a_limit_leaves_out_what_was_not_judged(label: Any, tmp_path: Path) -> None:
    done = label("--max-calls", 2)
    assert done.code == 1
    assert "--max-calls is 2" in done.out
    assert numbers(tmp_path / "out" / "label.html") == [2, 1]


def test_an_estimate_sends_nothing(label: Any, loopback: Loopback) -> None:
    done = label("--estimate")
    assert done.code == 2  # a program without dev records
    assert "no records.json" in done.err
    assert loopback.asked == []


def test_predictions_will_do_and_without_confidence_it_is_said(aisr: Aisr, tmp_path: Path) -> None:
    data = write(tmp_path / "records.jsonl", rows())
    lines = [{"id": row["id"], "labels": ["Supported"], "confidence": 0.1 * k} for k, row in enumerate(rows()[:4])]
    at = ["label", data, "--task", "track1", "--out", tmp_path / "out", "--artifacts", tmp_path, "--predictions"]
    failed = {"id": rows()[4]["id"], "failed": "no answer"}
    assert aisr(*at, write(tmp_path / "sure.jsonl", [*lines, failed])).code == 0
    assert numbers(tmp_path / "out" / "label.html") in ([1, 2, 5, 3, 4], [1, 2, 3, 5, 4])
    assert {row["statements"][0]["said"] for row in content(tmp_path / "out" / "label.html")["rows"]} == {
        "Supported",
        None,
    }
    done = aisr(*at, write(tmp_path / "votes.jsonl", [{**line, "confidence": None} for line in lines]))
    assert "the order is drawn" in " ".join(done.out.split())
    assert sorted(numbers(tmp_path / "out" / "label.html")) == [1, 2, 3, 4]
    for words, said in (
        (["label", data, "--out", tmp_path], "give --program P"),
        (["label", data, "--out", tmp_path, "--predictions", data], "give --task T"),
        (["label", data, "--out", tmp_path, "--predictions", data, "--task", "averitec"], "nobody can correct"),
        ([*at, write(tmp_path / "none.jsonl", [{"id": "else", "labels": ["Supported"]}])], "nothing to label"),
        (
            [*at, write(tmp_path / "other.jsonl", [{**lines[0], "labels": ["Supported"] * 9}])],
            "9 labels for 1 sentence",
        ),
        ([*at, write(tmp_path / "nan.jsonl", [json.dumps({**lines[0], "confidence": float("nan")})])], "confidence: "),
    ):
        refused = aisr(*words)
        assert refused.code == 2
        assert said in refused.err


def test_what_a_person_says_on_the_page_becomes_labelled_records(aisr: Aisr, tmp_path: Path, show: Show) -> None:
    hostile = "Pears </script><img src=x onerror=alert(1)> are ripe."
    paper = {"b": "Of apples.", "P2": "Of pears.", "10": "Of plums.", "2": "Of figs.", "1": "Of nuts."}
    records = [citation(None, id="a", cited_paper_full_text=[paper]), citation(None, id="b", text=hostile)]
    data = write(tmp_path / "records.jsonl", records)
    lines = [
        {"id": key, "label": "Supported", "evidence_para_ids": ["P2"], "confidence": sure}
        for key, sure in (("a", 0.9), ("b", 0.4))
    ]
    predictions = write(tmp_path / "predictions.jsonl", lines)
    at = ["--task", "track2", "--artifacts", tmp_path]
    assert aisr("label", data, *at, "--predictions", predictions, "--out", tmp_path).code == 0
    page = show(tmp_path / "label.html")
    expect(page.locator("article h2").first).to_contain_text("1 of 2 · b · 40")
    expect(page.locator(".statement p").first).to_have_text(hostile)
    page.keyboard.press("3")  # of the first: its third label
    page.keyboard.press("j")
    page.keyboard.press("a")  # agrees on the second
    expect(page.locator("article.labelled")).to_have_count(2)
    page.keyboard.press("u")
    expect(page.locator("article.labelled")).to_have_count(1)
    page.get_by_role("button", name="Agree: Supported").nth(1).click()
    page.get_by_placeholder("your name").fill("Ada")
    with page.expect_download() as found:
        page.get_by_role("button", name="Download corrections").click()
    found.value.save_as(tmp_path / "said.jsonl")
    done = aisr("corrections", tmp_path / "said.jsonl", "--task", "track2", "--out", tmp_path / "out")
    assert done.code == 0, done.err
    labels = {
        row["id"]: (row["label"], row["evidence_para_ids"]) for row in read_rows(tmp_path / "out" / "corrections.jsonl")
    }
    assert labels == {"a": ("Supported", ["P2"]), "b": ("Topical Match", [])}  # nothing was ticked
    by_id = {row["id"]: row for row in read_rows(tmp_path / "out" / "corrections.jsonl")}
    assert list(by_id["a"]["cited_paper_full_text"][0]) == list(paper)


def test_what_no_line_of_corrections_can_hold_is_not_asked_about(
    aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(to_label, "LONGEST_RECORD", 300_000)
    records = [
        citation(None, id="i" * 1001),
        citation(None, id="claim", text="a" * 100_005),
        citation(None, id="whole", cited_paper_full_text=[{"P1": "a" * 300_000}]),
        citation(None, id="good"),
    ]
    lines = [{"id": row["id"], "label": "Supported", "evidence_para_ids": [], "confidence": 0.5} for row in records]
    data, predictions = write(tmp_path / "records.jsonl", records), write(tmp_path / "predictions.jsonl", lines)
    at = ["--task", "track2", "--artifacts", tmp_path, "--out", tmp_path, "--predictions", predictions]
    done = aisr("label", data, *at)
    assert done.code == 0, done.err
    assert [row["id"] for row in content(tmp_path / "label.html")["rows"]] == ["good"]
    assert "3 records are left out: an id, a claim or all of it is too long" in " ".join(done.out.split())


def test_a_picture_by_the_name_of_what_every_object_has_is_none(aisr: Aisr, tmp_path: Path, show: Show) -> None:
    names = ["constructor", "__proto__", "toString"]
    data = write(tmp_path / "records.jsonl", [bundled(None, pictures=names, id="a")])
    predictions = write(tmp_path / "predictions.jsonl", [{"id": "a", "labels": ["Supported"], "confidence": 0.5}])
    at = ["--task", "track1", "--artifacts", tmp_path]
    assert aisr("label", data, *at, "--predictions", predictions, "--out", tmp_path).code == 0
    page = show(tmp_path / "label.html")
    expect(page.locator(".evidence p")).to_have_count(3)
    expect(page.locator("img")).to_have_count(0)
