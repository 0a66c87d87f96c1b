"""The documents agree with the code: what they tell a reader to type, open or follow is there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from aisr_papers.cli import CHECK, MCP
from paper_support.paths import PAPERS, ROOT
from support.documents import check_links, code, first_command, links

DOCS = sorted((PAPERS / "docs").glob("*.md"))
PAGES = sorted([*PAPERS.glob("*.md"), *DOCS, *(PAPERS / "sample").rglob("README.md")])
CORE_PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])  # which link here


def test_links_lead_somewhere() -> None:
    to_papers = [link for link in links(CORE_PAGES) if link[1].is_relative_to(PAPERS)]
    assert to_papers
    check_links([*to_papers, *links(PAGES)])
    assert {*DOCS} <= {path for _, path, _ in links([PAPERS / "README.md"])}


def test_commands_their_options_and_files_exist() -> None:
    options = {
        name: {"--help", *(each for one in typer.main.get_command(app).params for each in one.opts)}
        for name, app in (("", CHECK), ("mcp", MCP))
    }
    ours = re.compile(r"(?:^|\s)(?:papers/)?((?:tests|docs|aisr_papers|sample)/[\w./-]+)")
    for page, text in [(one, text) for one in PAGES for text in code(one)]:
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))
        if command := re.search(r"(?:^|[\s/])check-paper( mcp\b)?", text):
            assert named <= options[(command[1] or "").strip()], f"{page.name}: {text!r}"
        elif text.startswith("--"):
            assert named <= options[""] | options["mcp"], f"{page.name}: {text!r}"
        for file in ours.findall(text):
            assert (PAPERS / file).exists(), f"{page.name}: {text}"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/agents.md", "docs/papers.md"])
def test_the_first_command_of_a_page_works_as_it_stands(page: str, tmp_path: Path) -> None:
    program, *words = shlex.split(first_command(PAPERS / page), comments=True)
    assert program == "check-paper"
    (tmp_path / "sample").symlink_to(PAPERS / "sample")
    command = [sys.executable, "-m", "aisr_papers.cli", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
