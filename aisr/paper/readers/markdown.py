"""Markdown papers: headings, paragraphs, pipe tables, pictures, [@key] and [1] citations, each at its line."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.token import Token

from aisr.base.errors import UserError
from aisr.paper.citations import YEAR, Entry, cited_works, find_doi, find_marks, index_works, read_bibtex
from aisr.paper.draft import Draft, Float, Picture, Place, Work
from aisr.paper.passages import Piece, build_paragraph, flatten, keys_by_name, lay_out, mark_bold, split_bold
from aisr.paper.readers.files import Files
from aisr.paper.readers.latex_commands import formula

MAX_CHARACTERS = 2**20
LONGEST_BLOCK = 50_000  # characters between blank lines; the parser takes its time with longer ones
SETTING = re.compile(r"(title|bibliography):[ \t]*+(.*)")
CAPTION = re.compile(r"(fig|tab)(?:ure|le)?\.?\s([A-Z]?\.?\d{1,3}|[IVX]{1,6})[.:]\s*", re.IGNORECASE)
PANDOC_CAPTION = re.compile(r"(?:table)?:\s", re.IGNORECASE)
LABEL = re.compile(r"\{#([\w:.-]{1,80})[^{}]{0,200}\}")
CROSS = re.compile(r"\[?@((?:fig|tbl|tab):[\w-]{1,80})\]?")
FORMULA = re.compile(r"\$(?! )([^$\n]{1,400})(?<! )\$(?!\d)")
NOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\](?::\s)?")
ENTRY = re.compile(r"\[?(\d{1,4})[\].]\s")
QUOTED = re.compile(r"[“\"]([^“”\"]{5,300})[”\"]")
REFERENCES = re.compile(r"(?:references|bibliography|works cited|literature)\.?", re.IGNORECASE)
HEADING_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*+\.?|[A-Z]\.)\s(?=\S)")


class _Block(NamedTuple):
    """A paragraph, or what may become a float."""

    kind: Literal["text", "table", "figure"]
    pieces: list[Piece]
    headings: tuple[str, ...]
    place: Place
    rows: str = ""
    source: str = ""
    label: str = ""  # that references name it by

    @property
    def text(self) -> str:
        return flatten(self.pieces).text


def read(path: Path, root: Path | None = None) -> Draft:
    """A paper from a Markdown file. root: the folder that files are read below, by default its own. Raises
    UserError where there is no file, or no words in it."""
    if not path.is_file():
        raise UserError(f"{path}: no such file; expected a paper in Markdown")
    file = path.resolve()
    files = Files(file.parent, root)
    text = files.read_text(file, Place(files.name(file)))
    if text is None:
        raise UserError(f"{path}: {files.unread[-1].reason}")
    if len(text) > MAX_CHARACTERS:
        raise UserError(f"{path}: more than {MAX_CHARACTERS:,} characters; expected one paper")
    draft = _Reader(files, files.name(file)).draft(text)
    if not draft.paragraphs:
        why = f"could be read of this paper: {files.unread[0].reason}" if files.unread else "in this paper"
        raise UserError(f"{path}: no words {why}; expected Markdown with paragraphs")
    return draft


class _Reader:
    """Reads a file once."""

    def __init__(self, files: Files, name: str) -> None:
        self.files = files
        self.name = name
        self.title = ""
        self.works: dict[str, Entry] = {}
        self.labels: dict[str, str] = {}  # of a float -> its name
        self.headings: list[tuple[int, str]] = []
        self.blocks: list[_Block] = []

    def draft(self, text: str) -> Draft:
        self._walk(MarkdownIt("commonmark").enable("table").parse(self._without_longest(self._read_settings(text))))
        self._take_references()
        floats = self._take_floats()
        float_names, cited_keys = keys_by_name(floats), self._citing()
        paragraphs = tuple(
            paragraph
            for block in self.blocks
            if (paragraph := build_paragraph(self._resolved(block), block.headings, float_names, cited_keys))
        )
        works = cited_works(paragraphs, self.works, self.files)
        return Draft(self.files.folder, self.title, paragraphs, floats, works, tuple(self.files.unread))

    def _read_settings(self, text: str) -> str:
        """The text with its front matter read and blanked out, so that lines keep their numbers."""
        if not text.startswith("---\n") or (end := text.find("\n---", 3)) < 0:
            return text
        head = text[: end + 4]
        for number, line in enumerate(head.split("\n"), start=1):
            setting = SETTING.match(line)
            if setting and setting[1] == "title":
                self.title = setting[2].strip().strip("\"'")
            elif setting:
                place = Place(self.name, number)
                file = self.files.find(setting[2].strip().strip("\"'[]"), place, ("", ".bib"))
                entries = self.files.read_text(file, place) if file is not None else None
                if file is not None and entries is not None:
                    self.works = read_bibtex(entries, self.files.name(file), self.files)
        return "\n" * head.count("\n") + text[end + 4 :]

    def _without_longest(self, text: str) -> str:
        """The text without blocks that are far too long; their lines stay, as blank ones."""
        blocks, line = [], 1
        for block in text.split("\n\n"):
            if len(block) > LONGEST_BLOCK:
                why = f"more than {LONGEST_BLOCK:,} characters without a blank line"
                self.files.note_unread(Place(self.name, line), why)
            blocks.append("\n" * block.count("\n") if len(block) > LONGEST_BLOCK else block)
            line += block.count("\n") + 2
        return "\n\n".join(blocks)

    def _walk(self, tokens: list[Token]) -> None:
        line, table = 1, list[list[tuple[str, int, int]]]()
        for before, token in zip([None, *tokens], tokens, strict=False):
            line = token.map[0] + 1 if token.map else line
            place = Place(self.name, line)
            above = before.type if before is not None else ""
            if token.type == "inline" and above == "heading_open" and before is not None:
                self._heading(int(before.tag[1:]), flatten(self._pieces(token, line)).text)
            elif token.type == "inline" and above in ("th_open", "td_open"):
                cell = flatten(self._pieces(token, line)).text
                bold = any(child.type == "strong_open" for child in token.children or ())
                table[-1].append((mark_bold(cell, bold), 1, 1))
            elif token.type == "inline":
                self._paragraph(token, place)
            elif token.type == "table_open":
                table = []
            elif token.type == "tr_open":
                table.append([])
            elif token.type == "table_close":
                self.blocks.append(_Block("table", [], self._path(), place, lay_out(table)))
            elif token.type in ("fence", "code_block"):
                self.files.note_unread(place, "a listing, which is no prose")
            elif token.type == "html_block" and not token.content.lstrip().startswith("<!--"):
                self.files.note_unread(place, "HTML, which is not read")

    def _path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self.headings)

    def _heading(self, level: int, title: str) -> None:
        if level == 1 and not self.title and not self.blocks:
            self.title = title
            return
        self.headings = [one for one in self.headings if one[0] < level]
        number = HEADING_NUMBER.match(title)
        self.headings.append((level, title[number.end() :] if number else title))

    def _paragraph(self, token: Token, place: Place) -> None:
        children = token.children or []
        pictures = [one for one in children if one.type == "image"]
        around = "".join(one.content for one in children if one.type == "text")
        label = LABEL.search(around)
        name = label[1] if label else ""
        if pictures and not LABEL.sub("", around).strip():
            for one in pictures:
                source = str(one.attrs.get("src", ""))
                self.blocks.append(_Block("figure", [Piece(one.content, place)], self._path(), place, "", source, name))
            return
        for one in pictures:
            self.files.note_unread(place, f"{str(one.attrs.get('src', ''))[:80]!a}: a picture within a line")
        self.blocks.append(_Block("text", self._pieces(token, place.line or 1), self._path(), place, label=name))

    def _pieces(self, token: Token, line: int) -> list[Piece]:
        pieces = []
        for one in token.children or []:
            text = ""
            if one.type in ("softbreak", "hardbreak"):
                line += 1
                text = " "
            elif one.type == "code_inline":
                text = one.content
            elif one.type == "text":
                text = FORMULA.sub(lambda match: formula(match[1]), NOTE.sub("", one.content))
                text = LABEL.sub("", text)
            pieces.append(Piece(text, Place(self.name, line)))
        return pieces

    def _take_floats(self) -> dict[str, Float]:
        """Tables and pictures with the captions that stand beside them; these are no paragraphs any more."""
        floats: dict[str, Float] = {}
        numbers: Counter[str] = Counter()
        captions: set[int] = set()
        for number, block in enumerate(self.blocks):
            if block.kind == "text":
                continue
            numbers[block.kind] += 1
            text, label = block.text, block.label
            beside = self._caption_beside(number, captions)
            if beside is not None and not CAPTION.match(text):
                captions.add(beside)
                text, label = self.blocks[beside].text or text, label or self.blocks[beside].label
            name, caption = _name_and_caption(block.kind, text, numbers[block.kind])
            file = self.files.find_picture(block.source, block.place) if block.source else None
            pictures = (Picture(file),) if file else ()
            key = label if label and label not in floats else name
            if label:
                self.labels[label] = name
            rows, bold = split_bold(block.rows)
            one = Float(key, name, block.kind, caption, block.place, rows, pictures, block.headings, bold=bold)
            floats.setdefault(key, one)
        self.blocks = [one for number, one in enumerate(self.blocks) if one.kind == "text" and number not in captions]
        return floats

    def _caption_beside(self, number: int, captions: set[int]) -> int | None:
        """The paragraph before or behind a float that is its caption. captions: those of other floats."""
        kind = self.blocks[number].kind
        for beside in (number + 1, number - 1):
            if 0 <= beside < len(self.blocks) and beside not in captions and self.blocks[beside].kind == "text":
                caption = CAPTION.match(self.blocks[beside].text)
                if caption and caption[1].lower() == kind[:3]:
                    return beside
                if kind == "table" and PANDOC_CAPTION.match(self.blocks[beside].text):
                    return beside
        return None

    def _take_references(self) -> None:
        """Take the entries of a section of references out of the text, and read them as works."""
        blocks, count = [], 0
        for block in self.blocks:
            if not block.headings or not REFERENCES.fullmatch(block.headings[-1]):
                blocks.append(block)
                continue
            number = ENTRY.match(block.text)
            count += 1
            entry = block.text[number.end() :] if number else block.text
            year = YEAR.search(entry)
            first = re.split(r"[,.\s]", entry, maxsplit=1)[0]
            key = number[1] if number else str(count)
            quoted = QUOTED.search(entry)
            longest = max(entry.split(". "), key=len)
            work = Work(key, (quoted[1] if quoted else longest).strip(" .,"), find_doi(entry))
            self.works.setdefault(key, Entry(work, first, year[0] if year else ""))
        self.blocks = blocks

    def _citing(self) -> Callable[[str], tuple[str, ...]]:
        """Returns the keys that a sentence cites. A number or name that is no work of the paper is no citation."""
        index = index_works(self.works)

        def cited_keys(text: str) -> tuple[str, ...]:
            keys: list[str] = []
            for mark in find_marks(text):
                keyed = "@" in text[mark.start : mark.end]
                if mark.people:
                    keys += [key for one in mark.people if (key := index.find(one))]
                else:
                    keys += [one for one in mark.works if keyed or one in self.works]
            return tuple(keys)

        return cited_keys

    def _resolved(self, block: _Block) -> list[Piece]:
        """The pieces of a block, with names for references to labels."""
        return [
            piece._replace(text=CROSS.sub(lambda match: self.labels.get(match[1], match[0]), piece.text))
            for piece in block.pieces
        ]


def _name_and_caption(kind: str, text: str, number: int) -> tuple[str, str]:
    """The name and the words of a caption; a float without a name is counted."""
    caption = CAPTION.match(text)
    if caption:
        return f"{kind.capitalize()} {caption[2]}", text[caption.end() :]
    pandoc = PANDOC_CAPTION.match(text)
    return f"{kind.capitalize()} {number}", text[pandoc.end() :] if pandoc else text
