"""Tables of Markdown papers that are no pipe tables: pandoc's grid and simple tables, HTML, and what code prints."""

import re
from collections.abc import Sequence
from html.parser import HTMLParser
from itertools import pairwise
from typing import NamedTuple

from aisr_papers.readers.files import parse_count

MARKER = "\ue003"  # leads the line that stands for a table, with its position; for private use, no paper has it
FENCE = re.compile(r"\s*(`{3,}|~{3,})(.*)")
BORDER = re.compile(r"\s{0,3}\+(?:[-=:]+\+)+\s*")
PART_OF_BORDER = re.compile(r"\|.*\+[-=]{2,}|\+[-=]{2,}.*\|")  # of a cell that takes several rows
DASHES = re.compile(r"\s*-{2,}(?:\s+-{2,})+\s*")
RULE = re.compile(r"\s*-{10,}\s*")  # above and below a table whose rows take several lines
HTML = re.compile(r"\s{0,3}<table\b", re.IGNORECASE)
CODE_CAPTION = re.compile(r"(?:\btab\.|\btbl-|\b)cap(?:tion)?\s*[=:]\s*([\"'])(.{1,2000}?)\1")
FIGURE_CAPTION = re.compile(r"\bfig[.-]cap\s*[=:]")
LATEX = re.compile(r"\s{0,3}\\begin\{((?:sideways)?table\*?|longtable)\}")
LATEX_CAPTION = re.compile(r"\\caption\*?\{((?:[^{}\\]|\\.|\{[^{}]*+\})*+)\}", re.DOTALL)
MOST_LINES, MOST_COLUMNS = 5_000, 200  # of a table


class Cell(NamedTuple):
    """A cell as it is written in Markdown."""

    text: str
    columns: int = 1
    rows: int = 1


class FoundTable(NamedTuple):
    """A table, and what of it was not read."""

    rows: list[list[Cell]]  # none where it is not read
    caption: str = ""  # where it stands in the table
    unread: str = ""  # the reason


def take_tables(text: str) -> tuple[str, list[FoundTable]]:
    """Return the text with a marker in place of each table, line by line, and the tables in order. Code is left alone,
    but what prints a table with a caption counts as one that is not read."""
    lines = text.replace(MARKER, "").split("\n")
    tables: list[FoundTable] = []
    number = 0
    while number < len(lines):
        end, table = _table_at(lines, number)
        if table is not None:
            has_head = table.rows and DASHES.fullmatch(lines[number]) and _has_head(lines, number)
            begin = number - 1 if has_head else number
            lines[begin:end] = [f"{MARKER}{len(tables)}", *[""] * (end - begin - 1)]
            tables.append(table)
        number = end
    return "\n".join(lines), tables


def _table_at(lines: Sequence[str], number: int) -> tuple[int, FoundTable | None]:
    """Return the table that begins at a line, if one does, and the line behind that, or behind code."""
    line = lines[number]
    if fence := FENCE.fullmatch(line):
        end = next(
            (one for one in range(number + 1, len(lines)) if lines[one].strip().startswith(fence[1])), len(lines)
        )
        return end + 1, _printed(fence[2], lines[number + 1 : end])
    if BORDER.fullmatch(line) and (number == 0 or not lines[number - 1].strip()):
        end = number
        while end < len(lines) and lines[end].lstrip()[:1] in ("+", "|") and lines[end].strip():
            end += 1
        return end, _grid(lines[number:end])
    if latex := LATEX.match(line):
        close = f"\\end{{{latex[1]}}}"
        end = next((one for one in range(number, min(number + MOST_LINES, len(lines))) if close in lines[one]), number)
        caption = LATEX_CAPTION.search("\n".join(lines[number : end + 1]))
        words = " ".join(caption[1].split()) if caption else ""
        return end + 1, FoundTable([], words, "a table in LaTeX, which is not read in Markdown")
    if HTML.match(line):
        return _html(lines, number)
    if DASHES.fullmatch(line):
        end = number + 1
        while end < len(lines) and lines[end].strip() and not DASHES.fullmatch(lines[end]):
            end += 1
        rows = [*([lines[number - 1]] if _has_head(lines, number) else []), *lines[number + 1 : end]]
        closes = end < len(lines) and DASHES.fullmatch(lines[end]) is not None
        return (end + closes, _simple(line, rows)) if len(rows) > 1 else (number + 1, None)
    if RULE.fullmatch(line) and (number == 0 or not lines[number - 1].strip()):
        below = range(number + 1, min(number + MOST_LINES, len(lines)))
        end = next((one for one in below if RULE.fullmatch(lines[one])), number)
        if any(DASHES.fullmatch(one) for one in lines[number + 1 : end]):
            return end + 1, FoundTable([], "", "a table whose rows take several lines, which is not read")
    return number + 1, None


def _has_head(lines: Sequence[str], number: int) -> bool:
    """Return whether the line above one of dashes is the head of a table."""
    return number > 0 and bool(lines[number - 1].strip()) and (number == 1 or not lines[number - 2].strip())


def _printed(info: str, code: Sequence[str]) -> FoundTable | None:
    """Return the table that a chunk of R or Python prints, by its caption."""
    text = "\n".join([info, *code])
    caption = CODE_CAPTION.search(FIGURE_CAPTION.sub("", text)) if info.strip().startswith("{") else None
    return FoundTable([], caption[2], "a table that code prints, which is not run") if caption else None


def _grid(lines: Sequence[str]) -> FoundTable | None:
    if len(lines) < 3 or not BORDER.fullmatch(lines[-1]):
        return None
    bounds = [place for place, sign in enumerate(lines[0]) if sign == "+"]
    if len(bounds) > MOST_COLUMNS or any(PART_OF_BORDER.search(line) for line in lines):
        return FoundTable([], "", "a grid table with a cell of several rows, or too many columns, which is not read")
    rows: list[list[Cell]] = []
    group: list[str] = []
    for line in lines[1:]:
        if not BORDER.fullmatch(line):
            group.append(line)
            continue
        cuts = [one for one in bounds if all(text[one : one + 1] in ("|", "+") for text in group)]
        cells = [
            Cell(" ".join(text[left + 1 : right].strip() for text in group).strip(), _count(bounds, left, right))
            for left, right in pairwise(cuts)
        ]
        rows += [cells] if group else []
        group = []
    return FoundTable(rows)


def _count(bounds: Sequence[int], left: int, right: int) -> int:
    return sum(left < one <= right for one in bounds)


def _simple(dashes: str, lines: Sequence[str]) -> FoundTable:
    starts = [match.start() for match in re.finditer(r"-+", dashes)][:MOST_COLUMNS]
    cuts = [0, *starts[1:], None]
    return FoundTable([[Cell(line[left:right].strip()) for left, right in pairwise(cuts)] for line in lines])


def _html(lines: Sequence[str], number: int) -> tuple[int, FoundTable | None]:
    depth, last = 0, min(number + MOST_LINES, len(lines))
    for end in range(number, last):
        line = lines[end].lower()
        depth += line.count("<table") - line.count("</table")
        if depth <= 0:
            parser = _TableParser()
            parser.feed("\n".join(lines[number : end + 1]))
            parser.close()
            return end + 1, FoundTable(parser.rows, " ".join(parser.caption.split()))
    return last, None


class _TableParser(HTMLParser):
    """Reads the cells of an HTML table; a table within a cell is text of that."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[Cell]] = []
        self.caption = ""
        self._in = ""  # td or caption
        self._depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._depth += tag == "table"
        if self._depth > 1:
            return
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            spans = {name: parse_count(value or "") for name, value in attrs}
            self.rows = self.rows or [[]]
            self.rows[-1].append(Cell("", spans.get("colspan", 1), spans.get("rowspan", 1)))
            self._in = "td"
        elif tag == "caption":
            self._in = tag
        elif tag in ("b", "strong"):
            self._add("**")
        elif tag in ("br", "p", "div", "li"):
            self._add(" ")
        elif tag in ("sup", "sub"):
            self._add(f"<{tag}>" if self._in == "td" else "^" * (tag == "sup"))

    def handle_endtag(self, tag: str) -> None:
        if self._depth <= 1 and tag in ("td", "th", "caption"):
            self._in = ""
        elif self._depth <= 1 and tag in ("b", "strong"):
            self._add("**")
        elif self._in == "td" and tag in ("sup", "sub"):
            self._add(f"</{tag}>")
        self._depth -= tag == "table"

    def handle_data(self, data: str) -> None:
        self._add(data)

    def _add(self, text: str) -> None:
        if self._in == "caption":
            self.caption += text
        elif self._in and self.rows and self.rows[-1]:
            cell = self.rows[-1][-1]
            self.rows[-1][-1] = cell._replace(text=cell.text + text)
