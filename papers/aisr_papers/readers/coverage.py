r"""How much of a paper's source its draft holds: the words between begin and end of the document, without commands,
comments, mathematics and what is typed verbatim, counted in the source by other rules than those of the reader."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby, pairwise
from typing import NamedTuple

from aisr.text import INVISIBLE
from aisr_papers.draft import Coverage, Draft, Missing, Place
from aisr_papers.readers.files import without_accents
from aisr_papers.readers.latex_commands import MATH, SKIPPED, name_set
from aisr_papers.readers.latex_tokens import IN_BRACES, VERBATIM

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
    """Return the draft with how much of its source it holds. source: the lines without what is no word."""
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
    """Return the longest stretches of words that do not stand in the draft in this order."""
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


# --- The words of LaTeX: those outside of commands, mathematics and what is typed as it is, and those in the braces of
# commands that print them where they stand.

PRINTING = name_set(
    "textbf textit textsc texttt textsf textrm textsl textup textmd textnormal emph underline chapter section "
    "subsection subsubsection paragraph subparagraph caption footnote makecell item hline centering maketitle large "
    "Large small bf it"
)
UNSEEN = "|".join([*VERBATIM, *map(re.escape, SKIPPED), *map(re.escape, MATH), "thebibliography"])
PREAMBLE = re.compile(r"\A.*?\\begin\s*\{document\}", re.DOTALL)
VERB = re.compile(r"\\verb\*?([^\w\s*])([^\n]*?)\1")
ACCENT = re.compile(r"\\(?:['`^\"~=.]\s*\{?\\?|[cvHkrbdut]\{)([A-Za-z])\}?|\\[-/]")
OPTION = r"\[[^\[\]]{0,500}\]"


def latex_lines(texts: Mapping[str, str], printing: Collection[str]) -> Iterator[tuple[str, Place]]:
    """Return the words of a paper line by line. texts: of its main file and those that it puts in, by their names;
    printing: its own commands that print an argument."""
    commands = "|".join(name for name in {*PRINTING, *printing} if name.isalpha())
    unseen = [
        r"(?<!\\)%[^\n]*",
        rf"\\begin\s*\{{({UNSEEN})\}}.*?(?:\\end\s*\{{\1\}}|\Z)",
        r"\\end\s*\{document\}.*",
        r"\\iffalse\b.*?(?:\\fi\b|\Z)",
        r"(?<!\\)(?:\$\$?(?:[^$\n]|\n(?!\s*\n)){1,4000}+\$\$?|\\\(.{1,4000}?\\\)|\\\[.{1,4000}?\\\])",
        rf"\\(?:textcolor|colorbox|href|multi(?:column|row)\s*{IN_BRACES})\s*{IN_BRACES}",
        rf"\\(?!(?:{commands})(?![A-Za-z@]))[A-Za-z@]+\*?(?:\s*(?:{OPTION}|\([^()]{{0,40}}\)|#\d|{IN_BRACES}))*+",
        rf"\\[A-Za-z]+\*?(?:{OPTION})?",
    ]
    patterns = [re.compile(pattern, re.DOTALL) for pattern in unseen]
    for name, text in texts.items():
        body = VERB.sub(_typed, PREAMBLE.sub(_blank, text))
        yield from _lines(ACCENT.sub(r"\1", body), name, patterns)


def _typed(match: re.Match[str]) -> str:
    return f" {match[2].replace('%', ' ')} "


def _blank(match: re.Match[str]) -> str:
    return " " + "\n" * match[0].count("\n") + " "


def _lines(text: str, name: str, patterns: Iterable[re.Pattern[str]]) -> Iterator[tuple[str, Place]]:
    """Return the lines of a text without what is no word."""
    for pattern in patterns:
        text = pattern.sub(_blank, text)
    return ((line, Place(name, number)) for number, line in enumerate(text.split("\n"), start=1))


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
    """Return the words of a Markdown paper line by line, without front matter, code, addresses and works."""
    return _lines(text, name, (COMMENT, DISPLAYED, SETTINGS, FENCED, REFERENCES_SECTION, ASIDE))
