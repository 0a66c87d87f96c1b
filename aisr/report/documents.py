"""A short document as Markdown and as LaTeX: headings, paragraphs, tables, verbatim text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from aisr.base.redact import printable

MISSING = "(not recorded)"
LONGEST = 80  # characters of what is named as missing
LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{booktabs,fvextra,tabularx}
\begin{document}"""


@dataclass(frozen=True)
class Table:
    """Rows of cells below a header; every row as long as the header."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Verbatim:
    """Text as it stands: a prompt, a command."""

    text: str


Block = str | Table | Verbatim


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Block]


def as_markdown(title: str, sections: Sequence[Section]) -> str:
    """The document in Markdown. Text from outside cannot end a fence or a table cell."""
    parts = [f"# {_said(title)}"]
    for section in sections:
        parts += [f"## {_said(section.title)}", *map(_markdown, section.blocks)]
    return "\n\n".join(parts) + "\n"


def missing(markdown: str) -> list[str]:
    """What such a document says was not recorded, one by one: its heading, and the words that name it."""
    found, heading = [], ""
    for line in markdown.splitlines():
        if line.startswith("## "):
            heading = line.removeprefix("## ")
        for before in line.split(MISSING)[:-1]:
            cells = line.strip("| ").split(" | ") if line.startswith("|") else []
            words = cells[0] if cells else re.split(r"[.;,] ", before.strip(" :"))[-1][-LONGEST:]
            found.append(f"{heading}: {words}" if words else heading)
    return found


def as_latex(title: str, sections: Sequence[Section]) -> str:
    """The document in LaTeX, to compile as it is or to take sections from. Nothing in it is a command but ours."""
    parts = [PREAMBLE, rf"\section*{{{latex(title)}}}"]
    for section in sections:
        parts += [rf"\subsection*{{{latex(section.title)}}}", *map(_latex, section.blocks)]
    return "\n\n".join([*parts, r"\end{document}"]) + "\n"


def latex(text: str) -> str:
    """Text as LaTeX sets it, sign by sign."""
    return "".join(LATEX.get(sign, sign) for sign in printable(text))


def _markdown(block: Block) -> str:
    if isinstance(block, Verbatim):
        longest = max((len(run) for run in re.findall("`+", block.text)), default=0)
        fence = "`" * max(3, longest + 1)
        return f"{fence}text\n{printable(block.text)}\n{fence}"
    if isinstance(block, Table):
        rows = [block.header, ["---"] * len(block.header), *block.rows]
        return "\n".join("| " + " | ".join(_cell(cell) for cell in row) + " |" for row in rows)
    return _said(block)


def _said(text: str) -> str:
    """A line in which nothing is markup that leads or loads anything: no element of HTML, no link, no picture."""
    return printable(text).replace("<", "&lt;").replace("](", "]\\(").replace("][", "]\\[")


def _cell(text: str) -> str:
    return _said(" ".join(text.split())).replace("|", "\\|")


def _latex(block: Block) -> str:
    if isinstance(block, Verbatim):
        # The end of the environment is the one thing that such text must not hold.
        text = printable(block.text).replace(r"\end{Verbatim}", r"\end {Verbatim}")
        return "\\begin{Verbatim}[breaklines=true]\n" + text + "\n\\end{Verbatim}"
    if isinstance(block, Table):
        columns = "l" * (len(block.header) - 1) + "X"
        rows = [[latex(" ".join(cell.split())) for cell in row] for row in (block.header, *block.rows)]
        lines = [" & ".join(row) + r" \\" for row in rows]
        body = "\n".join([r"\toprule", lines[0], r"\midrule", *lines[1:], r"\bottomrule"])
        return rf"\noindent\begin{{tabularx}}{{\linewidth}}{{{columns}}}" + f"\n{body}\n\\end{{tabularx}}"
    return latex(block)
