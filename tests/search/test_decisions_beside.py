"""A decision model beside what else there is: nearest demos, a chat model in front of it and behind, a whole paper."""

from pathlib import Path

from support import decisions
from support.commands import Aisr
from support.corpora import read_rows
from support.loopback import Asked, Loopback, Reply, judged
from support.paths import SAMPLE

LM = "decide:openai/gpt-6-luna"
FEW = ("--limit-train", 6, "--limit-dev", 4, "--limit-test", 2, "--demos", 1, "--candidates", 2, "--no-track")


def either(asked: Asked) -> Reply:
    """A server of both kinds of models."""
    return decisions.decided(asked) if "questions" in asked.body else judged(asked)


def compiled(aisr: Aisr, artifacts: Path, server: Loopback, task: str, lm: str, optimizer: str) -> list[Asked]:
    """The questions that a compile asked."""
    at = ["--task", task, "--data", SAMPLE / task, "--lm", lm, "--api-base", server.url, "--artifacts", artifacts]
    finished = aisr("compile", *at, "--name", "decided", "--optimizer", optimizer, *FEW)
    assert finished.code == 0, finished.err
    assert "ended early" not in finished.out
    return [asked for asked in server.asked if "questions" in asked.body]


def test_each_record_is_shown_the_demos_that_are_nearest(aisr: Aisr, artifacts: Path, loopback: Loopback) -> None:
    loopback.reply = decisions.decided
    asked = compiled(aisr, artifacts, loopback, "track2", LM, "knn")
    shown = {text.rpartition("To be judged:")[0] for one in asked if "Example:" in (text := one.body["input"])}
    assert len(shown) > 1
    folder = artifacts / "track2" / "decided"
    data = artifacts / "few.jsonl"
    data.write_text("".join((SAMPLE / "track2" / "test-inputs.jsonl").read_text().splitlines(keepends=True)[:3]))

    def predicted(out: str, first: str, second: str) -> list[str]:
        words = ["--task", "track2", "--program", folder, "--data", data, "--out", artifacts / out, "--below", 1]
        lms = ["--lm", first, "--second-lm", second, "--api-base", loopback.url, "--second-api-base", loopback.url]
        loopback.reply, begin = either, len(loopback.asked)
        assert aisr("predict", *words, *lms, "--artifacts", artifacts).code == 0
        assert [line["lm"] for line in read_rows(artifacts / out)] == ["second"] * 3
        return ["decides" if "questions" in one.body else "writes" for one in loopback.asked[begin:]]

    # The compile has judged the first two, which are those of its test split.
    assert sorted(predicted("front.jsonl", LM, "openai/chat")) == ["decides", "writes", "writes", "writes"]
    # Both have answered these before, to the same prompts: nothing is asked twice.
    assert predicted("behind.jsonl", "openai/chat", LM) == []


DRAFT = """# Reading speed

## Results

Table 1 shows the speeds. Owls lead at both sites, with 61 at the bog (Table 1). At the heath, larks reach 66 (Table 1).

Table 1: Words a minute.

| Site | Owl | Lark |
|---|---|---|
| Bog | 61 | 58 |
| Heath | 70 | 66 |
"""


def test_a_whole_paper_is_asked_about_in_questions(aisr: Aisr, artifacts: Path, loopback: Loopback) -> None:
    loopback.reply = decisions.decided
    paper = artifacts / "draft.md"
    paper.write_text(DRAFT, encoding="utf-8")
    at = ["--lm", LM, "--api-base", loopback.url, "--artifacts", artifacts]
    finished = aisr("check-paper", paper, "--out", artifacts / "review", *at)
    assert finished.code in (0, 1), finished.err
    assert loopback.asked
    assert all("questions" in asked.body for asked in loopback.asked)
    rows = read_rows(artifacts / "review" / "paper.jsonl")
    assert [row for row in rows if "Owls lead" in str(row)]
    assert not [row for row in rows if row.get("failed")]
