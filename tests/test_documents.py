"""The documents agree with the code: what they tell a reader to type, open or follow is there."""

import re
from pathlib import Path

import pytest
import typer

from aisr.base.jsonl import read
from aisr.cli.__main__ import app
from aisr.cli.options import LM_SETTINGS
from aisr.programs.averitec import AveritecRecord
from aisr.programs.registry import TASKS, find_task
from aisr.programs.retrieval import passages_of
from support.documents import check_links, code, links, tokens
from support.paths import ROOT

HISTORY = ROOT / "CHANGELOG.md"  # tells what was: its links are looked at, its commands are not
PAGES = sorted(
    [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").glob("*.md"),
        ROOT / "data" / "sample" / "README.md",
        ROOT / "artifacts" / "README.md",
    ]
)
PRESENT = [page for page in PAGES if page != HISTORY]
OURS = re.compile(r"(?:aisr|programs|metrics|optimize|tests|tools|docs|benchmarks|data/sample)/[\w./-]*")
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def command_options(command: str) -> set[str]:
    parameters = COMMANDS[command].params
    return {"--help", *(name for option in parameters for name in (*option.opts, *option.secondary_opts))}


def named_options(text: str) -> list[str]:
    return re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text)


def test_links_lead_somewhere() -> None:
    """Those to papers/, which is not there in `make test-core`, are followed by papers/tests/test_documents.py."""
    check_links(link for link in links(PAGES) if not link[1].is_relative_to(ROOT / "papers"))


def test_commands_and_their_options_exist() -> None:
    known = set().union(*map(command_options, COMMANDS))
    names = {"T": {option for task in map(find_task, TASKS) for option in task.option_names()}}
    names["L"] = {"api_base", *LM_SETTINGS}
    for page, text in [(one, text) for one in PRESENT for text in code(one)]:
        command = re.search(r"(?:^|[\s/])aisr ([a-z][a-z-]*)(.*)", text)
        if command:
            assert command[1] in COMMANDS, f"{page.name}: {text!r}: no command {command[1]}"
            assert set(named_options(command[2])) <= command_options(command[1]), f"{page.name}: {text!r}"
        elif text.startswith("--"):
            assert set(named_options(text)) <= known, f"{page.name}: {text!r}"
        for flag, name in re.findall(r"-([TL]) (?:teacher\.)?([a-z_]+)=", text):
            assert name in names[flag], f"{page.name}: {text!r}"


def test_files_make_targets_and_variables_that_are_named_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    sources = "".join(
        path.read_text(encoding="utf-8") for top in ("aisr", "optimize") for path in (ROOT / top).rglob("*.py")
    )
    for page, text in [(one, text) for one in PRESENT for text in code(one)]:
        if OURS.fullmatch(text):
            assert (ROOT / text).exists(), f"{page.name}: {text}"
        for target in re.findall(r"(?:^|\s)make ([a-z-]+)", text):
            assert target in targets, f"{page.name}: make {target}"
        for variable in re.findall(r"\bAISR_[A-Z_]+", text):
            assert variable in sources, f"{page.name}: {variable}"


def test_the_lines_that_make_records_of_a_table_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = "claim,evidence,label\nIce melts.,It melted.,SUPPORTS\nIce grows.,It melted.,REFUTES\n"
    Path("claims.csv").write_text(table, encoding="utf-8")
    exec(next(one.content for one in tokens(ROOT / "docs" / "official-data.md") if one.info == "python"), {})
    records = list(read("claims.jsonl", AveritecRecord, "averitec"))
    assert [(record.claim, record.label) for record in records] == [
        ("Ice melts.", "Supported"),
        ("Ice grows.", "Refuted"),
    ]
    assert all(passages_of(record.documents or ()) for record in records)
