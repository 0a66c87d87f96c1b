"""The help of the commands: groups, panels, a task's own options; options in a file; a compile like a former one."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from aisr.cli.__main__ import app
from aisr.cli.help import COMMANDS
from support.commands import Aisr

if TYPE_CHECKING:
    pass

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
