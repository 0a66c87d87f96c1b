"""Papers as blocks in order (headings, paragraphs, tables, pictures), which become a draft: captions go to the floats
beside them, and a section of references becomes works. Markdown and Word are read so."""

import re
from collections import Counter
from typing import Literal, NamedTuple

from aisr_papers.citations import Entry, cited_works, natbib_text
from aisr_papers.draft import Draft, Float, Picture, Place
from aisr_papers.passages import Piece, build_paragraphs, flatten, split_bold
from aisr_papers.readers.files import Files
from aisr_papers.readers.references import read_reference

CAPTION = re.compile(r"(fig|tab)(?:ure|le)?\.?\s([A-Z]?\.?\d{1,3}|[IVX]{1,6})[.:]\s*", re.IGNORECASE)
KINDS = {"fig": "Figure", "tab": "Table"}
PANDOC_CAPTION = re.compile(r"(?:table)?:\s", re.IGNORECASE)
TABLE_NOTE = re.compile(r"notes?[.:]\s", re.IGNORECASE)
# References to labels: pandoc-crossref's and Quarto's, [@fig:wind] and @fig-wind, and JOSS's \autoref{fig:wind}.
CROSS = re.compile(r"\[?@((?:fig|tbl|tab)[:-][\w-]{1,80})\]?|\\(?:auto|c|C)?ref\{([\w:.-]{1,80})\}")
BRACKETED_OR_KEY = re.compile(r"\[[^\[\]]{0,300}\]|(?<![\w@/.])@([A-Za-z][\w:.-]{0,80}\w)")
REFERENCES = re.compile(r"(?:references|bibliography|works cited|literature)\.?", re.IGNORECASE)
HEADING_NUMBER = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*+\.?|[A-Z]\.)\s(?=\S)")


class Block(NamedTuple):
    """A paragraph, or what may become a float."""

    kind: Literal["text", "table", "figure"]
    pieces: list[Piece]
    headings: tuple[str, ...]
    place: Place
    rows: str = ""
    pictures: tuple[Picture, ...] = ()
    label: str = ""  # that references name it by
    hidden: bool = False  # no reader sees it
    is_caption: bool = False  # by its style

    @property
    def text(self) -> str:
        return flatten(self.pieces).text


class BlockReader:
    """Reads a paper once. Subclasses add headings and blocks, and works where a bibliography is a file of its own."""

    def __init__(self, files: Files, name: str) -> None:
        self.files = files
        self.name = name  # of the paper's file, as places have it
        self.title = ""
        self.works: dict[str, Entry] = {}
        self.labels: dict[str, str] = {}  # of a float -> its name
        self.headings: list[tuple[int, str]] = []
        self.blocks: list[Block] = []

    def build_draft(self) -> Draft:
        """Return the draft of what was read."""
        self._take_references()
        floats = self._take_floats()
        blocks = ((map(self._with_names, one.pieces), one.headings, one.hidden) for one in self.blocks)
        paragraphs = build_paragraphs(blocks, floats, self.works)
        works = cited_works(paragraphs, self.works, self.files)
        return Draft(self.files.folder, self.title, paragraphs, floats, works, tuple(self.files.unread))

    def path(self) -> tuple[str, ...]:
        return tuple(title for _, title in self.headings)

    def add_heading(self, level: int, title: str) -> None:
        self.headings = [one for one in self.headings if one[0] < level]
        number = HEADING_NUMBER.match(title)
        self.headings.append((level, title[number.end() :] if number else title))

    def _take_floats(self) -> dict[str, Float]:
        """Tables and pictures with the captions that stand beside them; these are no paragraphs any more."""
        floats: dict[str, Float] = {}
        counts: Counter[str] = Counter()
        captions: set[int] = set()  # and notes
        captioned = [match for block in self.blocks if (match := CAPTION.match(block.text))]
        named = {f"{KINDS[match[1].lower()]} {match[2]}" for match in captioned}
        for number, block in enumerate(self.blocks):
            if block.kind == "text":
                continue
            text, label = block.text, block.label
            beside = self._caption_beside(number, captions)
            if beside is not None and not CAPTION.match(text):
                captions.add(beside)
                text, label = self.blocks[beside].text or text, label or self.blocks[beside].label
            if block.kind == "table" and not text and not block.rows:
                continue  # not read, and without a caption: nothing can refer to it
            counts[block.kind] += 1
            name, caption = _name_and_caption(block.kind, text)
            if not name:  # its count, if no other float is called so
                name = f"{block.kind.capitalize()} {counts[block.kind]}"
                name = f"{name.split()[0]} without a number ({block.place})" if name in named else name
            key = label if label and label not in floats else name
            if label:
                self.labels[label] = name
            rows, bold = split_bold(block.rows)
            one = Float(key, name, block.kind, caption, block.place, rows, block.pictures, block.headings, bold=bold)
            below = max(number, beside or 0) + 1
            if below < len(self.blocks) and block.kind == "table" and TABLE_NOTE.match(self.blocks[below].text):
                captions.add(below)
                one = one._replace(notes=self.blocks[below].text, notes_place=self.blocks[below].place)
            floats.setdefault(key, one)
        self.blocks = [one for number, one in enumerate(self.blocks) if one.kind == "text" and number not in captions]
        return floats

    def _caption_beside(self, number: int, captions: set[int]) -> int | None:
        """Return the paragraph before or behind a float that is its caption. captions: those of other floats."""
        kind = self.blocks[number].kind
        for beside in (number - 1, number + 1):  # one above would be that of the float before, if that had none
            if 0 <= beside < len(self.blocks) and beside not in captions and self.blocks[beside].kind == "text":
                caption = CAPTION.match(self.blocks[beside].text)
                if caption and caption[1].lower() == kind[:3]:
                    return beside
                if self.blocks[beside].is_caption and not caption:
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
            count += 1
            if (entry := read_reference(block.text, str(count))) is not None:
                self.works.setdefault(entry.work.key, entry)
        self.blocks = blocks

    def _with_names(self, piece: Piece) -> Piece:
        """Return a piece with names for references to labels and for `@key` without brackets."""
        cited: list[str] = []

        def name_label(match: re.Match[str]) -> str:
            name = self.labels.get(match[1] or match[2], "")
            return (name.split()[-1] if match[0].startswith("\\ref") else name) if name else match[0]

        def name_work(match: re.Match[str]) -> str:
            if match[1] not in self.works:
                return match[0]
            cited.append(match[1])
            return natbib_text([match[1]], self.works, "", "", textual=True)

        text = BRACKETED_OR_KEY.sub(name_work, CROSS.sub(name_label, piece.text))
        return piece._replace(text=text, work_keys=tuple(cited))


def _name_and_caption(kind: str, text: str) -> tuple[str, str]:
    """Return the name, empty where it has none, and the words of a caption."""
    caption = CAPTION.match(text)
    if caption:
        return f"{kind.capitalize()} {caption[2]}", text[caption.end() :]
    pandoc = PANDOC_CAPTION.match(text)
    return "", text[pandoc.end() :] if pandoc else text
