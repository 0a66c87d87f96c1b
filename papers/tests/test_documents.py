"""The documents agree with the code: what they tell a reader to type, open or follow is there."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
import typer
from markdown_it import MarkdownIt
from markdown_it.token import Token

from aisr_papers.cli import CHECK, MCP
from paper_support.paths import PAPERS, ROOT

PAGES = sorted([*PAPERS.glob("*.md"), *(PAPERS / "docs").glob("*.md"), *(PAPERS / "sample").rglob("README.md")])
CORE_PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])  # which link here
OPTIONS = {name: typer.main.get_command(app).params for name, app in (("", CHECK), ("mcp", MCP))}


@cache
def tokens(page: Path) -> list[Token]:
    """All tokens of a page, those inside of lines as well."""
    parsed = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    return [each for token in parsed for each in (token, *(token.children or ()))]


def code(page: Path) -> Iterator[str]:
    """What stands in a page as code: each span, and each line of a block, without comments."""
    for token in tokens(page):
        if token.type == "code_inline":
            yield token.content
        elif token.type == "fence":
            for line in token.content.splitlines():
                yield re.sub(r"(^|\s)#.*", "", line)


def command_options(command: str) -> set[str]:
    return {"--help", *(name for option in OPTIONS[command] for name in (*option.opts, *option.secondary_opts))}


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    titles = [after.content for token, after in pairwise(tokens(page)) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The files that a page links to, and the anchors in them."""
    for token in tokens(page):
        target = token.attrGet("href") or token.attrGet("src")
        if target is not None and not str(target).startswith(("http://", "https://")):
            file, _, anchor = str(target).partition("#")
            yield (page.parent / file).resolve() if file else page, anchor


def test_links_lead_somewhere() -> None:
    to_papers = [(page, *link) for page in CORE_PAGES for link in links(page) if link[0].is_relative_to(PAPERS)]
    assert to_papers
    for page, path, anchor in [*to_papers, *((one, *link) for one in PAGES for link in links(one))]:
        assert path.exists(), f"{page.name} links to {path}, which is not there"
        assert not anchor or anchor in anchors(path), f"{page.name} links to {path.name}: no heading {anchor}"


def test_every_page_can_be_reached_from_the_readme() -> None:
    assert {*(PAPERS / "docs").glob("*.md")} <= {path for path, _ in links(PAPERS / "README.md")}
    assert len((PAPERS / "README.md").read_text(encoding="utf-8").splitlines()) <= 60


def test_commands_and_their_options_exist() -> None:
    known = command_options("") | command_options("mcp")
    for page, text in [(one, text) for one in PAGES for text in code(one)]:
        named = set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", text))
        if command := re.search(r"(?:^|[\s/])check-paper( mcp\b)?", text):
            assert named <= command_options((command[1] or "").strip()), f"{page.name}: {text!r}"
        elif text.startswith("--"):
            assert named <= known, f"{page.name}: {text!r}"


def test_files_that_are_named_exist() -> None:
    ours = re.compile(r"(?:^|\s)(?:papers/)?((?:tests|docs|aisr_papers|sample|benchmarks)/[\w./-]+)")
    for page, text in [(one, text) for one in PAGES for text in code(one)]:
        for file in ours.findall(text):
            assert (PAPERS / file).exists(), f"{page.name}: {text}"


@pytest.mark.slow
@pytest.mark.parametrize("page", ["README.md", "docs/agents.md", "docs/papers.md"])
def test_the_first_command_of_a_page_works_as_it_stands(page: str, tmp_path: Path) -> None:
    block = next(token for token in tokens(PAPERS / page) if token.type == "fence" and not token.info)
    program, *words = shlex.split(block.content.splitlines()[0], comments=True)
    assert program == "check-paper"
    (tmp_path / "sample").symlink_to(PAPERS / "sample")
    command = [sys.executable, "-m", "aisr_papers.cli", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, stdin=subprocess.DEVNULL, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
