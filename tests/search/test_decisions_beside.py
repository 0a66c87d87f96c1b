"""A decision model beside what else there is: nearest demos."""

from pathlib import Path

from support import decisions
from support.commands import Aisr
from support.loopback import Asked, Loopback
from support.paths import SAMPLE

LM = "decide:openai/gpt-6-luna"
FEW = ("--limit-train", 6, "--limit-dev", 4, "--limit-test", 2, "--demos", 1, "--candidates", 2, "--no-track")


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
