"""Tables that were given as text: their rows, which say nothing any more in one line."""

import re
from collections.abc import Callable
from html import unescape

from aisr.programs.text.sanitize import item

HTML_ROW = re.compile(r"<tr[\s>]", re.IGNORECASE)
TAG = re.compile(r"<(?P<end>/?)(?P<name>[A-Za-z][A-Za-z0-9]*+)[^<>]*+>")
LINE_END = re.compile(r"\r\n?|\n")  # no other: what some call an end of a line stands within cells
RULE = re.compile(r"[\s|:+=-]*")  # a line between head and body
CELL = " | "
ROW = "\n  | "  # before each row of a table: set in and led by a bar, it can begin neither an item nor a message


def rows_of(text: str) -> tuple[str, list[str]]:
    """What stands before a Markdown, HTML or tab-separated table, and its rows, with ` | ` between cells; all of the
    text and no rows where it holds no table. What stands behind a table counts as more rows.

    The text is taken as it comes: whoever shows it makes it plain, row by row.
    """
    if HTML_ROW.search(text):
        return _html(text)
    lines = LINE_END.split(text)
    table = [number for number, line in enumerate(lines) if line.count("|") > 1 or "\t" in line.strip()]
    if len(table) < 2:
        return text, []
    found = [_cells(line) for line in lines[table[0] :] if not RULE.fullmatch(line)]
    return "\n".join(lines[: table[0]]), found


def item_with_rows(text: str, is_label: Callable[[str], object] = lambda _: False) -> str:
    """A text as one item of a list, as `sanitize.item` has it, with the rows of a table on lines behind it."""
    said, rows = rows_of(text)
    return ROW.join(item(part, is_label) for part in (said, *rows))


def flat(text: str) -> str:
    """Such an item with single blanks, but its rows on their lines."""
    return ROW.join(" ".join(part.split()) for part in text.split(ROW))


def _cells(line: str) -> str:
    parts = line.strip().strip("|").split("|") if line.count("|") > 1 else line.split("\t")
    return CELL.join(part.strip() for part in parts)


def _html(text: str) -> tuple[str, list[str]]:
    """By its tags alone: the library's parser takes the square of the length of some broken texts."""
    around: list[str] = []
    rows: list[list[list[str]]] = []
    inside, begin = False, 0
    for tag in [*TAG.finditer(text), None]:
        words = unescape(text[begin : tag.start() if tag else len(text)]).split()
        if not inside:
            around += words
        elif words:
            if not rows[-1]:
                rows[-1].append([])
            rows[-1][-1] += words
        if tag is None:
            break
        begin, name = tag.end(), tag["name"].lower()
        if name == "tr":
            inside = not tag["end"]
            rows += [[]] if inside else []
        elif name == "table":
            inside = False
        elif name in ("td", "th") and inside and not tag["end"]:
            rows[-1].append([])
    return " ".join(around), [CELL.join(" ".join(cell) for cell in row) for row in rows if any(row)]
