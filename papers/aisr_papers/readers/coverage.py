r"""How much of a paper's source its draft holds: the words between begin and end of the document, without commands,
comments, mathematics and what is typed verbatim, counted in the source by other rules than those of the reader."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import groupby, pairwise
from pathlib import Path
from typing import NamedTuple

from aisr.text import INVISIBLE
from aisr_papers.draft import Coverage, Draft, Missing, Place
from aisr_papers.readers.files import Files, without_accents
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
from aisr_papers.readers.latex_formulas import ACCENTS
from aisr_papers.readers.latex_stream import Stream
from aisr_papers.readers.latex_tokens import Token, source

WORD = re.compile(r"[^\W\d_]{2,40}")
FEWEST = 20  # words of a source; of a shorter one the share says nothing
LONGEST = 3  # stretches that are named
SHOWN = 12  # words of each
GAP = 2  # words that are found and end no missing stretch


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
    return WORD.findall(without_accents(INVISIBLE.sub("", text)).lower())


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

NO_WORDS = {"thebibliography", *SKIPPED, *MATH}
CLOSING = {"(": ")", "[": "]", "iffalse": "fi"}  # of what is no words either
# Commands whose arguments are no words, beside those that the reader drops.
NO_TEXT = {
    **dict.fromkeys((*IN_BRACKETS, *TEXTUAL), "oom"), **dict.fromkeys(REFERENCES, "m"),

    **dict.fromkeys(name_set(
        "label url path nolinkurl bibliography captionof graphicspath ce ensuremath ding symbol"
    ), "m"),
    **dict.fromkeys(name_set(
        "captionsetup documentclass usepackage si num addbibresource bibitem pgfplotstabletypeset "
        "csvautotabular"
    ), "om"),
    **dict.fromkeys(name_set("multicolumn setcounter addtocounter numberwithin"), "mm"),
    "newtheorem": "smomo", "includegraphics": "oom", "multirow": "omomo", "SI": "omm", "qty": "omm", "Block": "omo",
    "ctable": "ommm",
}  # fmt: skip
BEGUN = {**ARGUMENTS, **FLOATS, **SUBFLOATS, **TABULARS}


def latex_lines(main: Path, files: Files, discarding: Collection[str]) -> Iterator[tuple[str, Place]]:
    r"""The words of a paper line by line, from its main file and those that it puts in, each where its name stands.
    discarding: the paper's own commands that print none of their arguments."""
    words = _Words(main, Files(files.base, files.folder), discarding)
    for place, texts in groupby(words.read(), key=lambda one: one[1]):
        yield "".join(text for text, _ in texts), place


class _Words:
    """Goes through the source of a paper, whose macros and conditions stay as they are."""

    def __init__(self, main: Path, files: Files, discarding: Collection[str]) -> None:
        self.stream = Stream(files)
        self.stream.open(main, Place(files.name(main), 1))
        self.no_text = {**DROPPED, **NO_TEXT, **dict.fromkeys(discarding, "omm")}
        self.endless: set[str] = set()  # what begins and does not end

    def read(self) -> Iterator[tuple[str, Place]]:
        """What stands between the commands, piece by piece."""
        before = ""
        while (token := self.stream.raw()) is not None:
            if token.kind == "command":
                yield self._command(token), token.place
            elif token.kind == "math":
                self._skip("math", token.text)
                yield " ", token.place
            elif token.kind in ("text", "bracket"):
                yield token.text, token.place
            elif token.kind in ("cell", "par") or (before == "close" and token.kind == "open"):
                yield " ", token.place
            before = token.kind

    def _command(self, token: Token) -> str:
        """What a command prints: a letter with an accent, or a blank; its arguments that are no words are skipped."""
        name = token.text
        if name in ACCENTS:
            following = self.stream.peek()
            if not name.isalpha() or (following is not None and following.kind == "open"):
                return "".join(one.text for one in self.stream.argument())
        if name in ("-", "/"):
            return ""
        if name == "documentclass":
            self.stream.skip_preamble()
        elif name == "begin":
            environment = self.stream.word()
            if environment in NO_WORDS:
                self._skip("end", environment)
            else:
                self.stream.drop(BEGUN.get(environment, "o"))
        elif name == "end":
            if self.stream.word() == "document":
                self.stream.end_file()
        elif name in CLOSING:
            self._skip("command", CLOSING[name])
        elif not self.stream.read_definition(token):
            usual = "oom" if name.endswith(("ref", "cite")) else "" if name == "item" else "o"
            self.stream.drop(self.no_text.get(name, usual))
        return " "

    def _skip(self, kind: str, text: str) -> None:
        r"""Pass over what is no words, up to a sign, a command or the \end of an environment; over nothing where there
        is none."""
        if text in self.endless:
            return
        skipped: list[Token] = []
        while (token := self.stream.raw()) is not None:
            skipped.append(token)
            if kind == "end" and token.kind == "command" and token.text == "end":
                name = self.stream.argument()
                if source(name) == text:
                    return
                skipped += name
            elif token.kind == kind and token.text == text:
                return
            elif kind == "math" and token.kind == "par":
                break
        else:
            self.endless.add(text)
        self.stream.push(skipped)


# --- The words of Markdown.

SETTINGS = re.compile(r"\A---\n.*?\n---(?=\n|\Z)", re.DOTALL)
FENCED = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?(?:^[ \t]*\1[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
DISPLAYED = re.compile(r"\$\$.*?\$\$|\\begin\{((?:equation|align|gather)\*?)\}.{0,4000}?\\end\{\1\}", re.DOTALL)
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
    for pattern in (COMMENT, DISPLAYED, SETTINGS, FENCED, REFERENCES_SECTION, ASIDE):
        text = pattern.sub(lambda match: " " + "\n" * match[0].count("\n") + " ", text)
    return ((line, Place(name, number)) for number, line in enumerate(text.split("\n"), start=1))
