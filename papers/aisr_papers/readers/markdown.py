"""Markdown papers: headings, paragraphs, tables, pictures, [@key] and [1] citations, each at its line."""

import re
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from aisr import UserError
from aisr.text import INVISIBLE
from aisr_papers.citations import read_bibtex
from aisr_papers.draft import Draft, Picture, Place
from aisr_papers.passages import Piece, flatten, lay_out, mark_bold, spread
from aisr_papers.readers.blocks import Block, BlockReader
from aisr_papers.readers.coverage import markdown_lines, measure
from aisr_papers.readers.files import Files
from aisr_papers.readers.formulas import FRACTION, SCRIPT, script_mark, without_marks
from aisr_papers.readers.latex_formulas import formula
from aisr_papers.readers.markdown_tables import MARKER, FoundTable, take_tables

MAX_CHARACTERS = 2**20
LONGEST_BLOCK = 50_000  # characters between blank lines; the parser takes its time with longer ones
SETTING = re.compile(r"(title|bibliography):[ \t]*+(.*)")
LABEL = re.compile(r"\{#([\w:.-]{1,80})[^{}]{0,200}\}")
FORMULA = re.compile(r"\$(?! )([^$\n]{1,400})(?<! )\$(?!\d)")
# $$ … $$ and LaTeX's environments, whose signs Markdown would take for its own.
DISPLAYED = re.compile(r"\$\$|\\begin\{((?:equation|align|gather)\*?)\}")
LONGEST_FORMULA = 4_000  # characters
FILLER = "\ue002"  # stands for a line of a displayed formula, so that lines keep their numbers
RAISED = re.compile(r"\^([^\s^]{1,20})\^|~(\w{1,10})~")  # pandoc's 10^-5^ and H~2~O
ATTRIBUTES = re.compile(r"\{[^{}]{0,200}\}")
TEX_LABEL = re.compile(r"\\label\{([\w:.-]{1,80})\}")
NOTE_BEGIN = re.compile(r"^\[\^[^\[\]\s]{1,40}\]:[ \t]", re.MULTILINE)
HTML = re.compile(r"<!--.*|</?(?!img\b)[A-Za-z][^<>]{0,500}>", re.DOTALL)  # without words: a comment, tags
HTML_SCRIPT = re.compile(r"</?(su[pb])\b", re.IGNORECASE)
TABLE = re.compile(rf"{MARKER}(\d+)")
PIPES = re.compile(r"\|.*\|\s*\n\s*\|.*\|")
NOTE = re.compile(r"\[\^[^\[\]\s]{1,40}\](?::\s)?")


def read(path: Path, root: Path | None = None) -> Draft:
    """Return a paper from a Markdown file. root: the folder that files are read below, by default its own. Raises
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
    return measure(draft, markdown_lines(text, files.name(file)))


class _Reader(BlockReader):
    """Reads a file once."""

    tables: list[FoundTable]

    def draft(self, text: str) -> Draft:
        text, self.tables = take_tables(self._read_settings(text))
        text = NOTE_BEGIN.sub("", _print_formulas(text))
        self._walk(MarkdownIt("commonmark").enable("table").parse(self._without_longest(text)))
        return self.build_draft()

    def _read_settings(self, text: str) -> str:
        """Return the text with its front matter read and blanked out, so that lines keep their numbers."""
        if not text.startswith("---\n") or (end := text.find("\n---", 3)) < 0:
            return text
        head = text[: end + 4]
        for number, line in enumerate(head.split("\n"), start=1):
            setting = SETTING.match(line)
            if setting and setting[1] == "title":
                self.title = INVISIBLE.sub("", setting[2]).strip().strip("\"'")
            elif setting:
                place = Place(self.name, number)
                file = self.files.find(setting[2].strip().strip("\"'[]"), place, ("", ".bib"))
                entries = self.files.read_text(file, place) if file is not None else None
                if file is not None and entries is not None:
                    self.works = read_bibtex(entries, self.files.name(file), self.files)
        return "\n" * head.count("\n") + text[end + 4 :]

    def _without_longest(self, text: str) -> str:
        """Return the text without blocks that are far too long; their lines stay, as blank ones."""
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
        opened = Place(self.name, line)  # where a table begins
        for before, token in zip([None, *tokens], tokens, strict=False):
            line = token.map[0] + 1 if token.map else line
            place = Place(self.name, line)
            above = before.type if before is not None else ""
            if token.type == "inline" and above == "heading_open" and before is not None:
                level, title = int(before.tag[1:]), flatten(self._pieces(token, line)).text
                if level == 1 and not self.title and not self.blocks:
                    self.title = title
                else:
                    self.add_heading(level, title)
            elif token.type == "inline" and above in ("th_open", "td_open"):
                cell = flatten(self._pieces(token, line)).text
                bold = any(child.type == "strong_open" for child in token.children or ())
                table[-1].append((mark_bold(cell, bold), 1, 1))
            elif token.type == "inline" and MARKER in token.content:
                self._between_tables(token, line)
            elif token.type == "inline":
                self._paragraph(token, place)
            elif token.type == "table_open":
                table, opened = [], place
            elif token.type == "tr_open":
                table.append([])
            elif token.type == "table_close":
                self.blocks.append(Block("table", [], self.path(), opened, lay_out(table)))
            elif token.type in ("fence", "code_block"):
                self.files.note_unread(place, "a listing, which is no prose")
            elif token.type == "html_block" and (markers := TABLE.findall(token.content)):  # a table in a <div>
                for number in markers:
                    self._add_table(self.tables[int(number)], place)
            elif token.type == "html_block" and HTML.sub("", token.content).strip():
                self.files.note_unread(place, "HTML, which is not read")

    def _between_tables(self, token: Token, line: int) -> None:
        """A paragraph of tables, and of text right above and below them, such as captions without a blank line."""
        text, began = list[Token](), line
        for child in [*(token.children or []), None]:
            marker = TABLE.fullmatch(child.content) if child is not None else None
            if (child is None or marker) and any(one.content.strip() for one in text):
                content = "".join(one.content or "\n" for one in text)
                self._paragraph(Token("inline", "", 0, content=content, children=text), Place(self.name, began))
            if marker:
                self._add_table(self.tables[int(marker[1])], Place(self.name, line))
                text, began = [], line
            elif child is not None:
                text.append(child)
                line += child.type in ("softbreak", "hardbreak")

    def _add_table(self, table: FoundTable, place: Place) -> None:
        """A table that is no pipe table; of one that is not read its caption."""
        if table.unread:
            self.files.note_unread(place, table.unread)
        rows = [[(self._cell(cell.text, place), cell.columns, cell.rows) for cell in row] for row in table.rows]
        caption = [Piece(table.caption, place)] if table.caption else []
        self.blocks.append(Block("table", caption, self.path(), place, lay_out(spread(rows))))

    def _cell(self, text: str, place: Place) -> str:
        (token,) = MarkdownIt("commonmark").parseInline(" ".join(text.split()))
        words = flatten(self._pieces(token, place.line or 1)).text
        return mark_bold(words, any(child.type == "strong_open" for child in token.children or ()))

    def _paragraph(self, token: Token, place: Place) -> None:
        if PIPES.match(token.content):
            self.files.note_unread(place, "a table without a line below its head, which is read as text")
        children = token.children or []
        pictures = [one for one in children if one.type == "image"]
        around = "".join(one.content for one in children if one.type == "text")
        label = LABEL.search(around)
        name = label[1] if label else ""
        if pictures and not ATTRIBUTES.sub("", around).strip():
            for one in pictures:
                label = TEX_LABEL.search(one.content)
                name = label[1] if label else name
                caption = TEX_LABEL.sub("", one.content)
                file = self.files.find_picture(str(one.attrs.get("src", "")), place)
                shown = (Picture(file),) if file else ()
                self.blocks.append(Block("figure", [Piece(caption, place)], self.path(), place, "", shown, name))
            return
        for one in pictures:
            self.files.note_unread(place, f"{str(one.attrs.get('src', ''))[:80]!a}: a picture within a line")
        self.blocks.append(Block("text", self._pieces(token, place.line or 1), self.path(), place, label=name))

    def _pieces(self, token: Token, line: int) -> list[Piece]:
        pieces: list[Piece] = []
        behind_script = False
        for one in token.children or []:
            text = ""
            if one.type in ("softbreak", "hardbreak"):
                line += 1
                text = " "
            elif one.type == "code_inline":
                text = one.content
            elif one.type == "text":
                text = FORMULA.sub(_inline_formula, NOTE.sub("", one.content))
                text = RAISED.sub(
                    lambda match: f"^{match[1]}{SCRIPT}" if match[1] else f"{match[2]}{SCRIPT}",
                    TEX_LABEL.sub("", LABEL.sub("", text.replace(FILLER, ""))),
                )
            elif one.type == "html_inline" and (script := HTML_SCRIPT.match(one.content)):
                before = next((piece.text for piece in reversed(pieces) if piece.text), "")
                text = SCRIPT if one.content[1] == "/" else script_mark(script[1].lower(), before)
            if behind_script and text[:1].isdigit():  # 10<sup>5</sup>3
                text = f" {text}"
            behind_script = text.endswith(SCRIPT)
            pieces.append(Piece(without_marks(text), Place(self.name, line)))
        return pieces


def _inline_formula(match: re.Match[str]) -> str:
    """Return a formula, with marks where a number beside it stands apart: of a fraction or a power."""
    text = formula(match[1])
    return f"{FRACTION}{text}{FRACTION}" if "/" in text else f"{text}{SCRIPT}" if "^" in text else text


def _print_formulas(text: str) -> str:
    """Return the text with each displayed formula in one line, as code so that Markdown takes it as it is, and its
    other lines filled."""
    pieces, end = [], 0
    for begin in DISPLAYED.finditer(text):
        closing = f"\\end{{{begin[1]}}}" if begin[1] else "$$"
        close = text.find(closing, begin.end(), begin.end() + LONGEST_FORMULA)
        source = text[begin.end() : close]
        if begin.start() >= end and close >= 0 and "\n\n" not in source:
            printed = formula(TEX_LABEL.sub("", source).replace("\n", " ")).replace("`", "'")
            pieces += [text[end : begin.start()], f"`{printed}`", f"\n{FILLER}" * source.count("\n")]
            end = close + len(closing)
    return "".join([*pieces, text[end:]])
