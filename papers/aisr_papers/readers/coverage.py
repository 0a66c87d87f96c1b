r"""How much of a paper's source its draft holds: the words between begin and end of the document, without commands,
comments, mathematics and what is typed verbatim, counted in the source by other rules than those of the reader."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from aisr_papers.draft import Coverage, Draft, Missing, Place
from aisr_papers.readers.files import MAX_TOTAL, Files
from aisr_papers.readers.latex_commands import (
    ARGUMENTS,
    DROPPED,
    FLOATS,
    IN_BRACKETS,
    MATH,
    REFERENCES,
    SKIPPED,
    SUBFLOATS,
    TABULARS,
    TEXTUAL,
    name_set,
)
from aisr_papers.readers.latex_stream import INPUTS
from aisr_papers.readers.latex_tokens import VERBATIM, find_comment

WORD = re.compile(r"[^\W\d_]{2,40}")
FEWEST = 20  # words of a source; of a shorter one the share says nothing
LONGEST = 3  # stretches that are named
SHOWN = 12  # words of each
GAP = 2  # words that are found and end no missing stretch
MOST_DEEP = 20  # files within files


class Word(NamedTuple):
    """A word of the source."""

    text: str  # in small letters, without accents
    place: Place


def measure(draft: Draft, source: Iterable[tuple[str, Place]]) -> Draft:
    """The draft with how much of its source it holds. source: the lines without what is no word."""
    words = [Word(one, place) for line, place in source for one in _words(line)]
    if len(words) < FEWEST:
        return draft
    read = [one for text in _texts(draft) for one in (*_words(text), "")]
    left = Counter(read)
    found = sum((Counter(one.text for one in words) & left).values())
    pairs = set(pairwise(read))
    near = [False, *((one.text, other.text) in pairs for one, other in pairwise(words)), False]
    lost = [not (before or behind) for before, behind in pairwise(near)]
    return replace(draft, coverage=Coverage(len(words), found, tuple(_stretches(words, lost))))


def _texts(draft: Draft) -> Iterator[str]:
    yield draft.title
    above: tuple[str, ...] = ()
    for paragraph in draft.paragraphs:
        if paragraph.headings != above:
            yield from paragraph.headings
            above = paragraph.headings
        yield " ".join(one.text for one in paragraph.sentences)
    for one in draft.floats.values():
        yield from (one.caption, one.rows, one.notes, *one.headings)


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text)
    return WORD.findall("".join(one for one in plain if not unicodedata.combining(one)).lower())


def _stretches(words: list[Word], lost: list[bool]) -> list[Missing]:
    """The longest stretches of words that do not stand in the draft in this order."""
    bridged = list(lost)
    last = -GAP - 2
    for number, is_lost in enumerate(lost):
        if is_lost:
            if last >= 0 and number - last <= GAP + 1:
                bridged[last:number] = [True] * (number - last)
            last = number
    runs = (list(run) for is_lost, run in groupby(range(len(words)), bridged.__getitem__) if is_lost)
    longest = sorted(runs, key=len, reverse=True)[:LONGEST]
    return [Missing(words[run[0]].place, len(run), " ".join(words[one].text for one in run[:SHOWN])) for run in longest]


# --- The words of LaTeX.

BEGIN, END = re.compile(r"\\begin\s*\{document\}"), re.compile(r"\\end\s*\{document\}")
NO_WORDS = ("thebibliography", *VERBATIM, *SKIPPED, *MATH)
FALSE, DISPLAYED = re.compile(r"\\iffalse(?![A-Za-z])"), re.compile(r"\\([(\[])|\$\$")
CLOSING = {"(": r"\)", "[": r"\]", None: "$$"}
FORMULA = re.compile(r"(?<!\\)\$(?:\\.|[^$\\\n]|\n(?!\s*+\n))*+\$", re.DOTALL)  # within its paragraph
CODE = re.compile(r"\\(?:verb|Verb|lstinline)\*?([^A-Za-z\s{\[])[^\n]*?\1")
ACCENT = re.compile(r"\\[`'^\"~=.]\s?\{?\\?([A-Za-z])\}?|\\[cvuHdbkr]\s?\{([A-Za-z])\}|\\-")
COMMAND = re.compile(r"\\([A-Za-z@]+)\*?|\\(.)", re.DOTALL)
BLANK = re.compile(r"\s*")
DEFINITION = name_set(
    "newcommand renewcommand providecommand DeclareRobustCommand def gdef edef xdef let newenvironment "
    "renewenvironment newtheorem NewDocumentCommand RenewDocumentCommand ProvideDocumentCommand DeclareMathOperator"
)
# Commands whose arguments are no words, beside those that the reader drops.
NO_TEXT = {
    **dict.fromkeys((*IN_BRACKETS, *TEXTUAL), "oom"), **dict.fromkeys(REFERENCES, "m"),
    **dict.fromkeys(INPUTS, "omm"), **dict.fromkeys(DEFINITION, "moomm"),
    **dict.fromkeys(name_set(
        "label url path nolinkurl bibliography nocite captionof graphicspath ce ensuremath ding symbol"
    ), "m"),
    **dict.fromkeys(name_set(
        "captionsetup documentclass usepackage si num addbibresource bibitem pgfplotstabletypeset "
        "csvautotabular"
    ), "om"),
    **dict.fromkeys(name_set("multicolumn setcounter addtocounter numberwithin"), "mm"),
    "includegraphics": "oom", "multirow": "ommom", "SI": "omm", "qty": "omm", "Block": "omo",
    "ctable": "ommm",
}  # fmt: skip
BEGUN = {**ARGUMENTS, **FLOATS, **SUBFLOATS, **TABULARS}
SIGN, ROUND = re.compile(r"(?:(?<!\\)|(?<=\\\\))[{}\[\]]"), re.compile(r"\([^()\n]{0,30}\)")


def latex_lines(main: Path, files: Files, discarding: Collection[str]) -> Iterator[tuple[str, Place]]:
    r"""The words of a paper line by line, from its main file and those that it puts in, each where its name stands.
    discarding: the paper's own commands that print none of their arguments."""
    return _Source(files, dict.fromkeys(discarding, "omm")).lines(main, ())


class _Source:
    """Goes through the files of a paper."""

    def __init__(self, files: Files, discarding: Mapping[str, str]) -> None:
        self.files = files
        self.no_text = {**{name: pattern for name, pattern in DROPPED.items() if pattern}, **NO_TEXT, **discarding}
        self.left = MAX_TOTAL  # characters

    def lines(self, file: Path, above: tuple[Path, ...]) -> Iterator[tuple[str, Place]]:
        text = self.files.peek_text(file).replace("\r\n", "\n")
        self.left -= len(text)
        if file in above or len(above) > MOST_DEEP or self.left < 0:
            return
        text = _masked("\n".join(line[: find_comment(line)] for line in text.split("\n")), self.files.verbatim)
        begin, end = BEGIN.search(text), END.search(text)
        start = begin.end() if begin else 0
        text = _blank(text[:start]) + text[start : end.start() if end else None]
        yield from self._visible(text, file, above)

    def _visible(self, text: str, file: Path, above: tuple[Path, ...]) -> Iterator[tuple[str, Place]]:
        """What stands between the commands, a piece at a time."""
        name = self.files.name(file)
        line, begin, groups = 1, 0, _Groups(text)
        while command := COMMAND.search(text, begin):
            yield from _pieces(text[begin : command.start()], name, line)
            line += text.count("\n", begin, command.start())
            begin = command.end()
            word = command[1] or ""
            pattern = self.no_text.get(word, "o" if word or command[2] == "\\" else "")
            if word in ("begin", "end"):
                environment = text[begin : groups.after(begin, "m")].strip("{} ")
                pattern = "m" + (BEGUN.get(environment, "o") if word == "begin" else "")
            elif word.endswith("ref") or word.endswith("cite"):
                pattern = "oom"
            elif word in ("item", "footnote", "caption") and word not in self.no_text:
                pattern = "" if word == "item" else "o"
            if word in INPUTS:
                yield from self._put_in(text[begin : groups.after(begin, "omm")], Place(name, line), (*above, file))
            end = groups.after(begin, pattern)
            line += text.count("\n", command.start(), end)
            begin = end
        yield from _pieces(text[begin:], name, line)

    def _put_in(self, argument: str, place: Place, above: tuple[Path, ...]) -> Iterator[tuple[str, Place]]:
        names = re.findall(r"\{([^{}]*)\}", argument)[:2]
        noted = len(self.files.unread)
        for one in ["/".join(names), *names[:1]]:
            file = self.files.find_input(one.strip(), place) if one.strip() else None
            if file is not None:
                yield from self.lines(file, above)
                break
        del self.files.unread[noted:]  # the reader has noted it


def _masked(text: str, verbatim: Collection[str]) -> str:
    """The text with blanks for what is no prose; its lines stay."""
    names = "|".join(sorted((re.escape(one) for one in {*NO_WORDS, *verbatim}), key=len, reverse=True))
    environment = re.compile(rf"\\begin\s*\{{((?:{names})\*?)\}}")
    text = _cut(text, environment, lambda match: f"\\end{{{match[1]}}}")
    text = CODE.sub(lambda match: _blank(match[0]), text)
    text = _cut(text, FALSE, lambda _: "\\fi")
    text = _cut(text, DISPLAYED, lambda match: CLOSING[match[1]])
    text = FORMULA.sub(lambda match: _blank(match[0]), text)
    return ACCENT.sub(lambda match: match[1] or match[2] or "", text)


def _cut(text: str, opening: re.Pattern[str], closing: Callable[[re.Match[str]], str]) -> str:
    """The text with blanks for what stands between an opening and its closing; one without stays."""
    pieces: list[str] = []
    absent: set[str] = set()
    begin = at = 0
    while match := opening.search(text, at):
        close = closing(match)
        end = -1 if close in absent else text.find(close, match.end())
        at = match.end()
        if end < 0:
            absent.add(close)
        else:
            at = end + len(close)
            pieces += [text[begin : match.start()], _blank(text[match.start() : at])]
            begin = at
    return "".join([*pieces, text[begin:]])


def _blank(text: str) -> str:
    return " " + "\n" * text.count("\n") + " "


def _pieces(text: str, name: str, line: int) -> Iterator[tuple[str, Place]]:
    for number, one in enumerate(text.split("\n")):
        if one.strip():
            yield one, Place(name, line + number)


class _Groups:
    """The groups in braces and in brackets of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.ends: dict[int, int] = {}
        opened: list[int] = []
        for match in SIGN.finditer(text):
            sign, place = match[0], match.start()
            if sign in "{[":
                opened.append(place)
            elif sign == "}":
                while opened and text[opened[-1]] == "[":
                    opened.pop()
            if sign in ("}", "]") and opened and (text[opened[-1]] == "[") == (sign == "]"):
                self.ends[opened.pop()] = place + 1

    def after(self, begin: int, pattern: str) -> int:
        """Where the arguments end that begin there: m in braces, o in brackets, p in round brackets and then braces."""
        for kind in pattern:
            at = self._skip(BLANK, begin)
            if kind == "p":
                at = self._skip(BLANK, self._skip(ROUND, at))
            if self.text[at : at + 1] == ("[" if kind == "o" else "{") and kind != "s":
                begin = self.ends.get(at, begin)
        return begin

    def _skip(self, pattern: re.Pattern[str], begin: int) -> int:
        match = pattern.match(self.text, begin)
        return match.end() if match else begin


# --- The words of Markdown.

SETTINGS = re.compile(r"\A---\n.*?\n---(?=\n|\Z)", re.DOTALL)
FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
COMMENT, DOLLARS = re.compile("<!--"), re.compile(r"\$\$")
ENVIRONMENT = re.compile(r"\\begin\{(equation|align|gather)(\*?)\}")
ASIDE = re.compile(
    r"(?<=\])\([^()\n]{0,500}\)|\{[^{}\n]{0,300}\}"
    r"|\$(?! )[^$\n]{1,400}(?<! )\$(?!\d)|`[^`\n]+`|</?[A-Za-z][^<>]{0,500}>|\[[^\[\]\n]{0,40}@[^\[\]\n]{0,300}\]"
    r"|\[\^[^\[\]\s]{1,40}\]:?|(?<!\w)@[\w:.-]+|https?://\S+|\\(?:auto|c|C)?ref|&[a-z]{2,8};|^(?: {4}|\t).*$",
    re.DOTALL | re.MULTILINE,
)
REFERENCES_SECTION = re.compile(
    r"^#{1,6} *(?:references|bibliography|works cited|literature)\.?[ \t#]*$.*?(?=^#{1,6} |\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)


def markdown_lines(text: str, name: str) -> Iterator[tuple[str, Place]]:
    """The words of a Markdown paper line by line, without front matter, code, addresses and works."""
    text = _cut(text, COMMENT, lambda _: "-->")
    text = _cut(text, DOLLARS, lambda _: "$$")
    text = _cut(text, ENVIRONMENT, lambda match: f"\\end{{{match[1]}{match[2]}}}")
    for pattern in (SETTINGS, FENCED, REFERENCES_SECTION, ASIDE):
        text = pattern.sub(lambda match: _blank(match[0]), text)
    return _pieces(text, name, 1)
