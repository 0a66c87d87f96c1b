"""Pages of Markdown as the tests of documents read them: code, headings, links."""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token


@cache
def tokens(page: Path) -> list[Token]:
    """All tokens of a page, those inside of lines as well."""
    parsed = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    return [each for token in parsed for each in (token, *(token.children or ()))]


def code(page: Path) -> Iterator[str]:
    """What stands in a page as code: each span, and each line of a block, continued lines as one, without comments."""
    for token in tokens(page):
        if token.type == "code_inline":
            yield token.content
        elif token.type == "fence":
            for line in token.content.replace("\\\n", " ").splitlines():
                yield re.sub(r"(^|\s)#.*", "", line)


def first_command(page: Path) -> str:
    """The first line of the first block of commands."""
    block = next(token for token in tokens(page) if token.type == "fence" and not token.info)
    return block.content.replace("\\\n", " ").splitlines()[0]


def anchors(page: Path) -> set[str]:
    """The headings of a page as GitHub links to them."""
    titles = [after.content for token, after in pairwise(tokens(page)) if token.type == "heading_open"]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(pages: Iterable[Path]) -> Iterator[tuple[Path, Path, str]]:
    """The links of pages to files: the page, the file and the anchor in it."""
    for page in pages:
        targets = [str(token.attrGet("href") or token.attrGet("src") or "http:") for token in tokens(page)]
        for target in targets:
            file, _, anchor = target.partition("#")
            if not target.startswith(("http:", "https:")):
                yield page, (page.parent / file).resolve() if file else page, anchor


def check_links(found: Iterable[tuple[Path, Path, str]]) -> None:
    """Fails for a link that leads nowhere."""
    for page, path, anchor in found:
        assert path.exists(), f"{page.name} links to {path}, which is not there"
        assert not anchor or anchor in anchors(path), f"{page.name} links to {path.name}: no heading {anchor}"
