"""A decision model beside what else there is: nearest demos, a chat model in front of it and behind."""

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


def compiled(aisr: Aisr, tmp_path: Path, server: Loopback, task: str, lm: str, optimizer: str) -> list[Asked]:
    """The questions that a compile asked."""
    at = ["--task", task, "--data", SAMPLE / task, "--lm", lm, "--api-base", server.url, "--artifacts", tmp_path]
    finished = aisr("compile", *at, "--name", "decided", "--optimizer", optimizer, *FEW)
    assert finished.code == 0, finished.err
    assert "ended early" not in finished.out
    return [asked for asked in server.asked if "questions" in asked.body]


def test_each_record_is_shown_the_demos_that_are_nearest(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    loopback.reply = decisions.decided
    asked = compiled(aisr, tmp_path, loopback, "track2", LM, "knn")
    shown = {text.rpartition("To be judged:")[0] for one in asked if "Example:" in (text := one.body["input"])}
    assert len(shown) > 1
    folder = tmp_path / "track2" / "decided"
    data = tmp_path / "few.jsonl"
    data.write_text("".join((SAMPLE / "track2" / "test-inputs.jsonl").read_text().splitlines(keepends=True)[:3]))

    def predicted(out: str, first: str, second: str) -> list[str]:
        words = ["--task", "track2", "--program", folder, "--data", data, "--out", tmp_path / out, "--below", 1]
        lms = ["--lm", first, "--second-lm", second, "--api-base", loopback.url, "--second-api-base", loopback.url]
        loopback.reply, begin = either, len(loopback.asked)
        assert aisr("predict", *words, *lms, "--artifacts", tmp_path).code == 0
        assert [line["lm"] for line in read_rows(tmp_path / out)] == ["second"] * 3
        return ["decides" if "questions" in one.body else "writes" for one in loopback.asked[begin:]]

    # The compile has judged the first two, which are those of its test split.
    assert sorted(predicted("front.jsonl", LM, "openai/chat")) == ["decides", "writes", "writes", "writes"]
    # Both have answered these before, to the same prompts: nothing is asked twice.
    assert predicted("behind.jsonl", "openai/chat", LM) == []
