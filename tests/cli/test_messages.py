"""What commands say of files of another task, of estimates without a key, and of papers with nothing to check."""

import json
from pathlib import Path

from support.commands import Aisr
from support.compiled import Compiled
from support.corpora import beginning
from support.loopback import HttpRequest, Loopback, completion
from support.paths import SAMPLE

TASKS = ("track1", "track2", "averitec", "context24-figures", "context24-text", "draft")


def test_a_file_of_another_task_is_said_to_be_that(aisr: Aisr, tmp_path: Path) -> None:
    """And of no third."""
    files = {task: beginning(SAMPLE / task / "dev.jsonl", 3, tmp_path / f"{task}.jsonl") for task in TASKS}
    for task, file in files.items():
        for name in TASKS:
            done = aisr("check", file, "--task", name)
            hints = [other for other in TASKS if f"check it with --task {other}" in " ".join(done.out.split())]
            assert (done.code, hints) == ((0, []) if name == task else (2, [task]))


def test_an_estimate_asks_for_no_key(aisr: Aisr, compiled: Compiled, tmp_path: Path) -> None:
    lm = ["--lm", "openai/gpt-4o-mini", "--artifacts", tmp_path, "--estimate"]
    at = ["--task", "track2", "--data", SAMPLE / "track2"]
    data = ["--task", "track2", "--data", SAMPLE / "track2" / "test.jsonl", "--out", tmp_path / "out.jsonl"]
    (tmp_path / "paper.md").write_text("# Results\n\nWe gain 3 points (Figure 1).\n\n![Figure 1: gain.](x.png)\n")
    for words in (
        ["compile", *at, "--optimizer", "labeled", "--teacher-lm", "openai/gpt-4o", *lm],
        ["predict", *data, "--program", compiled.folder("track2"), *lm],
        ["check-paper", tmp_path / "paper.md", "--out", tmp_path / "review", *lm],
    ):
        done = aisr(*words)
        assert done.code == 0, done.err
        assert "USD" in done.out
        assert aisr(*words[:-1]).code == 2  # and without it does


def test_an_answer_too_long_to_read_fails_its_record(
    aisr: Aisr, compiled: Compiled, loopback: Loopback, tmp_path: Path
) -> None:
    def reply(request: HttpRequest) -> tuple[int, str]:
        ids = json.dumps({"label": "Supported", "evidence_ids": ["P1"] * 400_000})
        return 200, completion(request, ids)

    loopback.reply = reply
    data = beginning(SAMPLE / "track2" / "test.jsonl", 1, tmp_path / "one.jsonl")
    words = ["--task", "track2", "--program", compiled.folder("track2"), "--data", data, "--artifacts", tmp_path]
    done = aisr("predict", *words, "--out", tmp_path / "o.jsonl", "--lm", "openai/x", "--api-base", loopback.url)
    assert done.code == 1
    assert "an answer of more than 1,000,000 characters" in (tmp_path / "o.jsonl").read_text()
    assert len(loopback.requests) == 1
