"""The help of the commands: groups, panels, a task's own options; options in a file; a compile like a former one."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from aisr.commands.__main__ import app
from aisr.commands.help import COMMANDS
from support.commands import Aisr
from support.paths import SAMPLE

if TYPE_CHECKING:
    from support.compiled import Compiled

ALL: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def test_every_command_stands_in_a_group_with_a_summary_that_fits_a_line(
    aisr: Aisr, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert {name for commands in COMMANDS.values() for name in commands} == set(ALL)
    monkeypatch.setenv("COLUMNS", "80")
    said = aisr("--help").out
    for title, commands in COMMANDS.items():
        section = said.partition(f"{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(commands)
        assert [" ".join(line.split()[1:]) for line in section.splitlines()] == list(commands.values())


def test_help_is_in_plain_words_and_says_nothing_twice(aisr: Aisr, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for name in ALL:
        said = aisr(name, "--help").out
        assert re.search(r"<|\[x|\{\w|list\[|\.{4}", said) is None, name
        assert said.count("\nArguments:") <= 1
    shown = aisr("mcp", "--help").out
    assert "  --folder PATH  " in shown
    assert "[default: 500; at least 1]" in " ".join(shown.split())
    assert " corrections [OPTIONS] FILE...\n" in aisr("corrections", "--help").out


def test_a_tasks_help_shows_no_options_of_other_tasks(aisr: Aisr) -> None:
    whole, own = (aisr("compile", *words, "--help").out for words in ([], ["--task", "track1"]))
    for option in ("--unit", "--optimizer", "--context-tokens"):
        assert option in whole
    assert "--unit" in own
    assert "--optimizer" in own
    assert "--context-tokens" not in own
    assert "Of track1:" in own
    assert re.search(r"^Of (?!track1)", own, re.MULTILINE) is None


@pytest.fixture
def checked(aisr: Aisr, tmp_path: Path) -> Callable[..., tuple[int, str]]:
    """`aisr score` with a file of options, on a gold file that is not there; its code and what it said."""

    def run(text: str, *words: object) -> tuple[int, str]:
        (tmp_path / "run.toml").write_text(text, encoding="utf-8")
        finished = aisr(
            "score", tmp_path / "gold.jsonl", tmp_path / "p.jsonl", "--config", tmp_path / "run.toml", *words
        )
        return finished.code, finished.err

    return run


def test_options_stand_in_a_file_and_the_command_line_wins(checked: Callable[..., tuple[int, str]]) -> None:
    assert "--task 'track7'" in checked('task = "track7"\n')[1]
    assert "--task 'track8'" in checked('task = "track7"\n', "--task", "track8")[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('taks = "track1"', "taks: aisr score has no such option; did you mean task?"),
        ('zzz = "track1"', "zzz: aisr score has no such option; `aisr score --help` lists them"),
        ("task = true", "task = True: expected a value"),
        ("task", "expected a TOML file"),
    ],
)
def test_a_file_of_options_that_is_wrong_is_refused(
    text: str, said: str, checked: Callable[..., tuple[int, str]]
) -> None:
    code, error = checked(text)
    assert code == 2
    assert said in error
    assert "run.toml" in error


def test_a_compile_like_another_repeats_its_settings(
    compiled: "Compiled", aisr: Aisr, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    former = "models:/aisr-track1/1"
    made = compiled.copied(tmp_path / "again")
    monkeypatch.setenv("AISR_ARTIFACTS", str(made.root))  # where the former one is found, too
    config = tmp_path / "run.toml"
    config.write_text('limit-dev = 4\nlimit_test = 3\nname = "second"\ntraces = 1\n', encoding="utf-8")
    data = ["--data", SAMPLE / "track1"]
    finished = aisr("compile", "--like", former, "--config", config, *data, "--traces", 0, *made.lm[:4])
    assert finished.code == 0, finished.err
    manifest = json.loads((made.root / "track1" / "second" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["optimizer"] == "labeled"
    assert {name: split["records"] for name, split in manifest["data"].items()} == {"train": 8, "dev": 4, "test": 3}
    assert f"as {former}: --task=track1 --optimizer=labeled" in finished.out
    assert "--traces=1" in manifest["command"]  # what the file said, and then what the command line said
    assert manifest["command"].endswith("--traces 0 --lm openai/gpt-4o-mini --api-base …")
    assert made.server.url not in manifest["command"]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("rm -rf /", "does not say which `aisr compile` made it"),
        ("aisr compile --task track1 --no-such 3", "it was compiled with --no-such"),
        ("aisr compile --api-base http://there/ --teacher-api-base=http://there --task track9", "--task 'track9'"),
    ],
)
def test_a_strangers_manifest_says_nothing_but_settings(
    command: str | None, said: str, aisr: Aisr, tmp_path: Path
) -> None:
    manifest = {"task": "track1", "digest": "0", "command": command}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    finished = aisr("compile", "--like", tmp_path, "--artifacts", tmp_path / "artifacts", "--estimate")
    assert finished.code == 2
    assert said in finished.err
    assert "http://there" not in finished.err
