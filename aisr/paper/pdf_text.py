"""The text of a block in one line: words that were broken at the end of a line whole again."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from aisr.paper.pdf_blocks import Block
from aisr.paper.pdf_lines import Line


def vocabulary(lines: Iterable[Line]) -> Counter[str]:
    """All words that are not broken off, for whoever asks how a broken one is written."""
    words: Counter[str] = Counter()
    for line in lines:
        texts = [atom.text for atom in line.atoms]
        whole = texts[:-1] if texts and texts[-1].endswith("-") else texts
        words.update(text.strip(".,;:()[]\"“”'’!?").lower() for text in whole)
    return words


class Text(NamedTuple):
    """A block's text in one line. pages: where in it each page begins; marks: where raised numbers stand."""

    text: str
    pages: tuple[tuple[int, int], ...]
    marks: tuple[tuple[int, str], ...]

    def page(self, place: int) -> int:
        return [page for begin, page in self.pages if begin <= place][-1]


def text_of(block: Block, words: Counter[str], skip: int = 0) -> Text:
    """The text of a block, words that were broken at the end of a line whole again. skip: words left out in front."""
    text = ""
    pages: list[tuple[int, int]] = []
    marks: list[tuple[int, str]] = []
    for number, line in enumerate(block.lines):
        atoms = line.atoms[skip:] if number == 0 else line.atoms
        if number in block.formulas:
            begins = atoms[0].text[:1] if atoms else ""
            text += " [formula]" if begins.islower() else " [formula]."
        for place, atom in enumerate(atoms):
            if place == 0 and text.endswith("-") and number not in block.formulas:
                text = _unbroken(text, atom.text, words)
            elif text:
                text += " "
            if not pages or pages[-1][1] != line.page:
                pages.append((len(text), line.page))
            text += atom.text
            marks += [(len(text), mark) for mark in atom.marks]
    if len(block.lines) in block.formulas:
        text += " [formula]."
    return Text(text, tuple(pages) or ((0, block.lines[0].page),), tuple(marks))


def _unbroken(text: str, rest: str, words: Counter[str]) -> str:
    """A text that ends in a hyphen as it is to go on with the rest of the word."""
    begin = text.rsplit(" ", 1)[-1].lstrip("(\"“‘['")
    end = rest.rstrip(".,;:()[]\"“”'’!?")
    closed, parted = words[(begin[:-1] + end).lower()], words[(begin + end).lower()]
    is_word = end[:1].isalpha() and begin[-2:-1].isalpha() and "-" not in begin[:-1]
    # A name begins behind a hyphen that is meant ("Smith-Jones"); small capitals go on small ("Night-jar").
    return text[:-1] if is_word and parted <= closed and not end[:1].isupper() else text
