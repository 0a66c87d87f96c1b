"""Every command of every page runs as it stands, but for the LM: one on the loopback address answers. What needs a
server, an account or another machine is looked at: its options exist. All of it takes a minute of CPU time."""

import json
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.commands import Aisr
from support.documents import tokens
from support.loopback import Loopback
from support.paths import ROOT
from support.readers_files import answer_any_task, write_readers_files, write_scored_files

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = ("adding-a-task", "dspy")  # their own tests run them as a whole
NOT_HERE = ("make", "bash", "export", "pip", "sudo")  # set up, or change, a machine
OPTIONS_ALONE = ("ui", "--ray")  # servers, whose own tests run them
PYTHON = ".venv/bin/python"


def commands_of(page: Path) -> list[str]:
    """Return the lines of the blocks of commands, continued ones as one."""
    blocks = [token.content for token in tokens(page) if token.type == "fence" and not token.info]
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line for line in lines if re.match(r"[A-Za-z.][\w./-]*[ =]", line) and not line.startswith("official ")]


def is_run(command: str) -> bool:
    """Return whether a command of a page runs here."""
    first, *words = shlex.split(command, comments=True)
    return first in ("aisr", PYTHON) and not set(words) & {*OPTIONS_ALONE}


def options_of_mlflow(words: list[str]) -> set[str]:
    from mlflow.cli import cli

    command = cli
    for word in words:
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
    return {name for option in command.params for name in option.opts}


def with_loopback_lm(words: list[str], url: str) -> list[str]:
    """Return the words of a command with the server of the test for a hosted LM, and a price of it."""
    for k, word in enumerate(words):
        if word == "--api-base":
            words = [*words[:k], *words[k + 2 :]]
            break
    if not any(word.startswith("openai/") for word in words):
        return words
    return [*words, "--api-base", url, "-L", "price=0,0"]


def output_of(words: list[str]) -> str:
    """Return the value of --out."""
    return words[words.index("--out") + 1]


@pytest.fixture
def reader(artifacts: Path, loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a reader, who has the examples."""
    loopback.reply = answer_any_task
    folder = artifacts.parent
    for example in (ROOT / "artifacts").glob("example-*"):
        shutil.copytree(example, artifacts / example.name)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("AISR_LM")
    monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if page.stem not in ELSEWHERE], ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page: Path, reader: Path, aisr: Aisr, loopback: Loopback) -> None:
    commands = [command for command in commands_of(page) if is_run(command)]
    splits = [shlex.split(command, comments=True) for command in commands if command.startswith("aisr split ")]
    write_readers_files(reader, made=[output_of(words) for words in splits])
    for command in commands:
        line, _, target = command.partition(" > ")
        program, *words = shlex.split(line, comments=True)
        if program == PYTHON:
            write_scored_files(reader, words[1].rpartition(".")[2])
            finished = subprocess.run(
                [sys.executable, *words], capture_output=True, text=True, timeout=100, check=False
            )
            code, out, err = finished.returncode, finished.stdout, finished.stderr
        else:
            if words[0] == "convert":
                Path(output_of(words)).unlink(missing_ok=True)
            code, out, err = aisr(*with_loopback_lm(words, loopback.url))
        assert code == 0, f"{page.name}: {command}: {err}"
        if target:
            Path(shlex.split(target, comments=True)[0]).write_text(out, encoding="utf-8")


def test_commands_that_are_not_run_are_known_and_their_options_exist() -> None:
    for page in PAGES:
        for command in commands_of(page):
            first, *words = shlex.split(re.sub(r"^(\w+=\S+ )+", "", command), comments=True)
            if first == "mlflow":
                named = {word for word in words if word.startswith("--")}
                assert named <= options_of_mlflow(words), f"{page.name}: {command}"
            else:
                assert first in (*NOT_HERE, "aisr", PYTHON), f"{page.name}: {command}: neither run nor looked at"


def test_the_records_of_the_page_on_data_are_records_and_score(tmp_path: Path, aisr: Aisr) -> None:
    texts = [token.content for token in tokens(ROOT / "docs" / "official-data.md") if token.info == "json"]
    for kind, text in zip(("gold", "predicted"), texts, strict=True):
        for number, record in enumerate(re.split(r"\n(?=\{)", text.strip()), start=1):
            (tmp_path / f"{kind}{number}.jsonl").write_text(json.dumps(json.loads(record)) + "\n", encoding="utf-8")
    for number in (1, 2):
        gold, predicted = tmp_path / f"gold{number}.jsonl", tmp_path / f"predicted{number}.jsonl"
        checked = aisr("check", gold, "--task", f"track{number}")
        assert "1 good record, 0 bad lines" in checked.out
        scored = aisr("score", gold, predicted, "--task", f"track{number}")
        assert scored.code == 0, scored.err
        assert "100.0" in scored.out
