"""Word papers (.docx): headings, paragraphs, tables, captions, footnotes, formulas and pictures. Such a file has no
lines, so the place of each is its heading and paragraph.

The file is a zip of XML from a stranger: of each part a bounded number of bytes is unpacked, no entity is expanded,
links to files outside are not followed, and no macro or field is run. Tracked changes are read as if all were accepted.
Hidden text is told apart from what a reader sees.
"""

import re
import zipfile
import zlib
from collections import deque
from collections.abc import Iterable, Iterator
from io import BytesIO
from itertools import groupby
from pathlib import Path
from posixpath import join, normpath
from typing import NamedTuple
from xml.etree.ElementTree import Element

from aisr import UserError
from aisr.text import INVISIBLE
from aisr_papers.draft import Draft, Picture, Place
from aisr_papers.passages import MAX_SPAN, Piece, lay_out, mark_bold
from aisr_papers.readers.blocks import CAPTION, Block, BlockReader
from aisr_papers.readers.files import PICTURES, Files, parse_count
from aisr_papers.readers.formulas import SCRIPT, bare_indices, omml, without_marks
from aisr_papers.readers.xml_tree import child, is_on, local_name, parse_xml, value

# --- The parts of such a file, each unpacked within limits.

MOST_BYTES = 50 * 2**20  # of the file
MOST_PART = 30 * 2**20  # of a part, unpacked
MOST_DIRECTORY = 2**20  # bytes of the list of its parts; some 70 a part
DEEPEST = 200  # elements in elements; a text box within a table has some 40
EXPECTED = "a paper that Word saved as .docx"
NEXT = "open it in Word and save it anew"


class Archive:
    """The parts of a Word file. Raises UserError where it is none."""

    def __init__(self, file: Path) -> None:
        self.file = file
        try:
            with file.open("rb") as opened:
                content = opened.read(MOST_BYTES + 1)
            if len(content) > MOST_BYTES:
                raise UserError(f"{file}: larger than {MOST_BYTES >> 20} MiB; expected {EXPECTED}")
            end = content[-(2**16) - 22 :]
            place = end.rfind(b"PK\5\6")  # the record behind the list of parts, with the length of that
            length = int.from_bytes(end[place + 12 : place + 16], "little")
            if place >= 0 and (length > MOST_DIRECTORY or b"PK\6\7" in end):
                raise UserError(f"{file}: more parts than a paper has; expected {EXPECTED}")
            self._zip = zipfile.ZipFile(BytesIO(content))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            why = f"not a Word file, or a broken one ({error}); expected {EXPECTED}"
            raise UserError(f"{file}: {why}; save an old or encrypted one as .docx without a password") from error

    def read(self, name: str, most: int = MOST_PART) -> bytes | None:
        """Return a part; None where there is none of that name."""
        try:
            part = self._zip.getinfo(name)
        except KeyError:
            return None
        if part.flag_bits & 1 or part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise UserError(f"{self.file}: {name} is encrypted or packed in an odd way; expected {EXPECTED}")
        try:
            with self._zip.open(part) as opened:
                content = opened.read(most + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, EOFError, ValueError, NotImplementedError) as error:
            raise UserError(f"{self.file}: {name} is broken ({error}); {NEXT}") from error
        if len(content) > most:
            raise UserError(f"{self.file}: {name} unpacks to more than {most >> 20} MiB; expected {EXPECTED}")
        return content

    def tree(self, name: str) -> Element | None:
        """Return a part that is XML; None where there is none of that name."""
        content = self.read(name)
        return None if content is None else parse_xml(content, self.file, DEEPEST, EXPECTED)

    def targets(self, name: str) -> dict[str, str]:
        """Return the parts that a part links to, by the id of the link; a link to the outside is left out."""
        folder, _, last = name.rpartition("/")
        links = self.tree(join(folder, "_rels", f"{last}.rels"))
        return {
            link.get("Id", ""): normpath(join("/", folder, link.get("Target", ""))).lstrip("/")
            for link in (links if links is not None else ())
            if link.get("TargetMode") != "External"
        }


def read_picture(picture: Picture) -> bytes:
    """Return a picture within a Word file. Raises UserError where it cannot be unpacked."""
    content = Archive(picture.file).read(picture.member)
    if content is None:
        raise UserError(f"{picture.file}: no {picture.member} in it")
    return content


# --- What an element says.

SMALLEST = 4  # half points; smaller text is hidden
PROPERTIES = ("pPr", "rPr", "tblPr", "tblGrid", "trPr", "tcPr", "sectPr")
NOTHING = (*PROPERTIES, "instrText", "delText", "del", "moveFrom", "Fallback")


class Run(NamedTuple):
    """Some text of one look."""

    text: str
    bold: bool = False
    script: str = ""  # as Word calls it: superscript, subscript or baseline
    hidden: bool = False  # by Word's switch, or tiny
    white: bool = False


CITED = re.compile(r"\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}")  # raised numbers that cite, as many journals print them
BEFORE_CITED = re.compile(r"(?:[^\W\d_]{3}|[^\W\d_]{2}(?=[.,;:])|[)\]”\"])([.,;:]?)$")


def join_runs(runs: Iterable[Run]) -> str:
    """Return the text of runs. Raised numbers behind a word are citations in brackets, before its full stop."""
    pieces: list[str] = []
    for script, group in groupby(runs, key=lambda run: run.script):
        part, raised = INVISIBLE.sub("", "".join(run.text for run in group)), script == "superscript"
        cited = BEFORE_CITED.search("".join(pieces[-5:])[-5:]) if raised and CITED.fullmatch(part.strip()) else None
        has_digits = any(map(str.isdigit, part))
        if cited:
            pieces[-1] = pieces[-1].removesuffix(cited[1])
            pieces.append(f" [{part.strip()}]{cited[1]}")
        elif raised and has_digits:
            pieces.append(f"^{part.strip()}{SCRIPT}")
        elif script == "subscript" and has_digits:
            is_behind_digit = "".join(pieces[-1:])[-1:].isdigit()
            pieces.append(f"{'_' * is_behind_digit}{part.strip()}{SCRIPT}")
        else:
            pieces.append(part)
    return without_marks("".join(pieces))


# --- The paper.

MAIN = re.compile(r"document\d{0,3}\.xml$")
HEADING = re.compile(r"heading ([1-9])")
OUTLINE = re.compile(r"[0-8]")
SKIPPED_STYLES = re.compile(r"toc \d|toc heading|table of figures|header|footer")
BARE_CAPTION = re.compile(r"((?:fig(?:ure|\.)?|table)\s[A-Z]?\.?\d{1,3})\s(?:[–—|-]\s)?", re.IGNORECASE)
BARE_HEADING = re.compile(r"abstract|references|bibliography", re.IGNORECASE)  # many papers leave these unstyled
LOWEST = 9  # their level
MOST_STYLES = 20  # styles that a style is based on
MOST_CHARACTERS = 2**20
MOST_PICTURES = 50  # in one figure
LONGEST_PLACE = 60


def read(path: Path, root: Path | None = None) -> Draft:
    """Return a paper from a Word file. root: the folder that places are named from, by default its own. Raises
    UserError where there is no file, none of Word, one beyond the limits, or no words in it."""
    file = path.resolve()
    files = Files(file.parent, root)
    reader = _Reader(files, files.name(file), Archive(path))
    reader.read()
    _check_length(sum(len(block.text) + len(block.rows) for block in reader.blocks), path)
    draft = reader.build_draft()
    if not draft.paragraphs:
        raise UserError(f"{path}: no words in this paper; expected paragraphs")
    return draft


def _check_length(characters: int, path: Path) -> None:
    if characters > MOST_CHARACTERS:
        raise UserError(f"{path}: more than {MOST_CHARACTERS:,} characters; expected one paper")


class Style(NamedTuple):
    """A style of paragraphs."""

    name: str = ""  # in small letters, and in English whatever language Word speaks
    based: str = ""  # the id of the style that it is based on
    level: str = ""  # in the outline, from 0; empty where it is no heading


class _Reader(BlockReader):
    """Reads a file once."""

    def __init__(self, files: Files, name: str, archive: Archive) -> None:
        super().__init__(files, name)
        self.archive = archive
        parts = [one for one in archive.targets("").values() if MAIN.search(one)]
        self.main = parts[0] if parts else "word/document.xml"
        self._targets = archive.targets(self.main)
        self._styles = {value(one, "styleId"): _style(one) for one in self._part("styles")}
        self._notes = {
            (kind, value(note, "id")): note for kind in ("footnote", "endnote") for note in self._part(f"{kind}s")
        }
        self._count = 0  # of paragraphs below the heading
        # Of the paragraph that is read: notes, which are read behind it, and pictures; None for one that cannot be
        # shown.
        self._behind: deque[Element] = deque()
        self._is_behind = False
        self._in_tables = 0  # characters: a cell over many rows and columns stands in each of them
        self._pictures: list[Picture | None] = []

    def _part(self, kind: str) -> list[Element]:
        """Return the children of another part beside the document."""
        beside = f"{self.main.rpartition('/')[0]}/{kind}.xml"
        tree = self.archive.tree(next((one for one in self._targets.values() if one.endswith(f"/{kind}.xml")), beside))
        return list(tree) if tree is not None else []

    def read(self) -> None:
        """Read all blocks. Raises UserError where there is no document."""
        tree = self.archive.tree(self.main)
        body = child(tree, "body")
        if body is None:
            raise UserError(f"{self.archive.file}: no document in this file; expected {EXPECTED}")
        self._read_body(body)

    def _read_body(self, element: Element) -> None:
        for one in element:
            name = local_name(one)
            if name == "p":
                self._paragraph(one)
            elif name == "tbl":
                self._table(one)
            elif name == "altChunk":
                self.files.note_once(self.place, "a document within the document, which is not read")
            elif name not in NOTHING:  # content controls, insertions and the like
                self._read_body(one)

    @property
    def place(self) -> Place:
        heading = f"{self.headings[-1][1][:LONGEST_PLACE]}, " if self.headings else ""
        return Place(self.name, paragraph=f"{heading}paragraph {max(self._count, 1)}")

    # --- Paragraphs.

    def _paragraph(self, element: Element) -> None:
        style, level = self._style(element)
        if SKIPPED_STYLES.fullmatch(style):
            return
        runs = list(self._runs(element))
        text = " ".join(join_runs(run for run in runs if not (run.hidden or run.white)).split())
        if text and style == "title" and not self.title:
            self.title = text
        elif text and (level or BARE_HEADING.fullmatch(text)):
            self.add_heading(level or LOWEST, text)
            self._count = 0
        elif text:
            self._count += 1
            is_caption = style == "caption"
            if is_caption and not CAPTION.match(text):
                text = BARE_CAPTION.sub(r"\1: ", text, count=1)
            self._add_text(text, is_caption)
        self._add_pictures()
        hidden = join_runs(run for run in runs if run.hidden or run.white).strip()
        if hidden:
            self.files.note_once(
                self.place, "hidden, white or tiny text, which is marked as hidden; no model is asked about it"
            )
            self._add_text(hidden, hidden=True)
        self._read_behind()

    def _add_text(self, text: str, is_caption: bool = False, hidden: bool = False) -> None:
        block = Block("text", [Piece(text, self.place)], self.path(), self.place)
        self.blocks.append(block._replace(is_caption=is_caption, hidden=hidden))

    def _add_pictures(self) -> None:
        """Add the pictures of a paragraph, with those of the one before, as one figure."""
        has_figure, pictures = bool(self._pictures), tuple(one for one in self._pictures if one)
        self._pictures = []
        last = self.blocks[-1] if self.blocks else None
        if has_figure and last and last.kind == "figure" and len(last.pictures) < MOST_PICTURES:
            self.blocks[-1] = last._replace(pictures=(*last.pictures, *pictures))
        elif has_figure:
            self.blocks.append(Block("figure", [], self.path(), self.place, pictures=pictures))

    def _read_behind(self) -> None:
        """Read footnotes; they are of the paragraph that they belong to. Those that one refers to are read behind it:
        they may refer to each other without end."""
        if self._is_behind:
            return
        self._is_behind, count = True, self._count
        while self._behind:
            self._count = count - 1
            self._read_body(self._behind.popleft())
        self._is_behind, self._count = False, count

    def _style(self, element: Element) -> tuple[str, int]:
        """Return the name of a paragraph's style, and its level as a heading, from 1; 0 where it is none."""
        properties = child(element, "pPr")
        style = self._styles.get(value(child(properties, "pStyle")), Style())
        name, level = style.name, value(child(properties, "outlineLvl"))
        for _ in range(MOST_STYLES):
            level = level or style.level
            heading = HEADING.fullmatch(style.name)
            if heading or OUTLINE.fullmatch(level):
                return name, int(heading[1]) if heading else int(level) + 1
            if style.name in ("title", "caption"):
                return style.name, 0
            style = self._styles.get(style.based, Style())
        return name, 0

    def _runs(self, element: Element) -> Iterator[Run]:
        for one in element:
            name = local_name(one)
            if name == "r":
                yield from self._run(one)
            elif name == "oMath":
                yield Run(bare_indices(omml(one)))
            elif name in ("del", "moveFrom"):
                self.files.note_once(self.place, "tracked changes: insertions are read, deletions are left out")
            elif name not in NOTHING:
                yield from self._runs(one)

    def _run(self, element: Element) -> Iterator[Run]:
        look = child(element, "rPr")
        is_tiny = parse_count(value(child(look, "sz")), SMALLEST) < SMALLEST
        is_white = value(child(look, "color")).upper() == "FFFFFF" and child(look, "shd") is None
        script = value(child(look, "vertAlign"))
        hidden = is_on(child(look, "vanish")) or is_tiny
        like = Run("", is_on(child(look, "b")), script, hidden, is_white)
        for one in element:
            if text := self._text(one):
                yield like._replace(text=text)

    def _text(self, element: Element) -> str:
        """Return what an element of a run prints. Notes and pictures are kept for behind the paragraph."""
        name = local_name(element)
        if name == "t":
            return element.text or ""
        if name in ("tab", "br", "cr", "ptab"):
            return " "
        if name == "noBreakHyphen":
            return "-"
        if name == "sym":
            self.files.note_once(self.place, f"a symbol of the font {value(element, 'font')[:40]!a}")
        elif name in ("footnoteReference", "endnoteReference"):
            # Each once: a note may refer to itself.
            note = self._notes.pop((name.removesuffix("Reference"), value(element, "id")), None)
            self._behind += [] if note is None else [note]
        elif name in ("drawing", "pict", "object", "AlternateContent"):
            self._drawing(element)
        return ""

    def _drawing(self, element: Element) -> None:
        for one in element:
            name = local_name(one)
            if name == "txbxContent":
                self.files.note_once(self.place, "a text box, which is not read; move its words into a paragraph")
            elif name in ("blip", "imagedata"):
                self._picture(self._targets.get(value(one, "embed") or value(one, "id")))
            elif name == "chart":
                self._pictures.append(None)
                self.files.note_once(self.place, "a chart that Word draws; save it as a picture to have it shown")
            elif name not in NOTHING:
                self._drawing(one)

    def _picture(self, member: str | None) -> None:
        shown = member is not None and member.lower().endswith(PICTURES)
        self._pictures.append(Picture(self.files.folder / self.name, member=member or "") if shown else None)
        if member is None:
            self.files.note_once(self.place, "a picture that is no part of the file; nothing outside of it is read")
        elif not shown:
            self.files.note_once(self.place, f"{member[:80]!a}: a picture that is not drawn; save it as PNG")

    # --- Tables.

    def _table(self, element: Element) -> None:
        lines = [list(_children(row, "tc")) for row in _children(element, "tr")]
        indents = [_indent(row) for row in _children(element, "tr")]
        if max(map(len, lines), default=0) < 2:  # a box around text
            for cell in (cell for line in lines for cell in line):
                self._read_body(cell)
            return
        above: dict[int, str] = {}  # column -> the cell that may go on below
        rows: list[list[tuple[str, int, int]]] = []
        for before, line in zip(indents, lines, strict=True):
            row: list[tuple[str, int, int]] = [("", 1, 1)] * before
            column = before
            for cell in line:
                look = child(cell, "tcPr")
                merged, columns = child(look, "vMerge"), parse_count(value(child(look, "gridSpan")))
                goes_on = merged is not None and value(merged) != "restart"
                text = above.get(column, "") if goes_on else self._cell(cell)
                above[column] = text
                self._in_tables += len(text) * min(columns, MAX_SPAN)
                _check_length(self._in_tables, self.archive.file)
                row.append((text, columns, 1))
                column += columns
            rows.append(row)
        texts = [text for row in rows for text, _, _ in row if text]
        if self._pictures and len(texts) <= 2 * len(self._pictures):  # pictures side by side, and their captions
            for text in texts:
                self._add_text(text)
        elif text := lay_out(rows):
            self.blocks.append(Block("table", [], self.path(), self.place, text))
        self._add_pictures()
        self._read_behind()

    def _cell(self, cell: Element) -> str:
        """Return the words of a cell. White ones are taken as they are: white on colour is common there."""
        runs = [run for one in _children(cell, "p") for run in (*self._runs(one), Run(" ")) if not run.hidden]
        bold = [run.bold for run in runs if run.text.strip()]
        return mark_bold(" ".join(join_runs(runs).split()), bool(bold) and all(bold))


def _style(element: Element) -> Style:
    name, based = (value(child(element, one)) for one in ("name", "basedOn"))
    return Style(name.lower(), based, value(child(element, "pPr", "outlineLvl")))


def _indent(row: Element) -> int:
    """Return how many columns of the table stand before the first cell of a row."""
    return min(parse_count(value(child(row, "trPr", "gridBefore")), 0), MAX_SPAN)


def _children(element: Element, kind: str) -> Iterator[Element]:
    """Return the rows of a table, the cells of a row, or the paragraphs of a cell, also those within content controls
    or tables; not those that were deleted."""
    for one in element:
        if local_name(one) == kind:
            if child(one, "trPr", "del") is None:
                yield one
        elif local_name(one) not in NOTHING:
            yield from _children(one, kind)
