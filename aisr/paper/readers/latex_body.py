"""The body of a LaTeX paper, command by command: what is text, where it stands, what it refers to, and what no reader
sees."""

import re
from collections.abc import Callable

from aisr.paper import citations
from aisr.paper.passages import Piece
from aisr.paper.readers.latex_figures import Figures
from aisr.paper.readers.latex_floats import Citation, Reference, words
from aisr.paper.readers.latex_run import Target
from aisr.paper.readers.latex_tokens import (
    ARGUMENTS,
    BOLD,
    CODED,
    FLOATS,
    IN_BRACKETS,
    JOINED,
    KNOWN,
    LEVELS,
    LISTS,
    MATH,
    PLAIN,
    REFERENCES,
    SKIPPED,
    SUBFLOATS,
    TABULARS,
    TEXTUAL,
    Token,
    plain,
    split,
)

# --- Text that LaTeX sets so that no reader sees it: in white, or smaller than any print.

SMALLEST = 2.0  # points; footnotes have 8
NUMBER = re.compile(r"\d{0,4}\.?\d{1,6}")
MIXED = re.compile(r"white!(?:9\d|100)(?:\.\d{1,3})?(?:![\w.]{1,40})?")  # of xcolor: at least nine tenths white


def is_white(model: str, said: str, known: frozenset[str] | set[str] = frozenset()) -> bool:
    r"""Whether a colour is that of the paper. model, said: as in \color[rgb]{1,1,1} or \color{white}; known: names that
    the paper gave to white."""
    said = said.strip()
    if not model:
        return said.casefold() in ("white", *known) or said in known or MIXED.fullmatch(said) is not None
    if model == "HTML":
        return said.upper() == "FFFFFF"
    values = [float(one) for one in NUMBER.findall(said)]
    whites = {"rgb": [1.0] * 3, "RGB": [255.0] * 3, "gray": [1.0], "cmyk": [0.0] * 4}
    return values == whites.get(model)


def is_tiny(size: str) -> bool:
    """Whether a font size is too small to read. size: as in \\fontsize{0.1pt}{1pt}, points where no unit is given."""
    found = NUMBER.match(size.strip())
    return found is not None and not size.strip().endswith(("cm", "mm", "in", "em")) and float(found[0]) < SMALLEST


# --- References, citations, bibliographies, and small things in the text of a LaTeX paper.

LENGTH = re.compile(
    r"[-+]?\d*+\.?\d*+\s?(?:pt|em|ex|cm|mm|in|bp|pc|mu)?(?:\s(?:plus|minus)\s[-+]?[\d.]*+\s?[a-z]{0,5})*+"
)


class Marks(Figures):
    """Reads references and citations."""

    def _reference(self, token: Token) -> None:
        self.stream.star()
        labels = tuple(split(self.stream.word()))
        self._refer(token, labels)

    def _refer(self, token: Token, labels: tuple[str, ...]) -> None:
        if self._reading or self._within:
            self._items.append(Reference(token.text, labels, token.place))

    def _reference_range(self, token: Token) -> None:
        self.stream.star()
        self._refer(token, (self.stream.word(), self.stream.word()))

    def _hyperref(self, token: Token) -> None:
        option = self.stream.option()
        if option:
            self._refer(token, (plain(option),))

    def _citation(self, token: Token) -> None:
        """One citation, or several of biblatex's \\cites."""
        self.stream.star()
        last = self._items[-1] if self._items else None
        close = isinstance(last, Piece) and last.text[-1:] in (".", "!", "?") and not last.text.endswith("al.")
        close &= token.text in IN_BRACKETS
        while True:
            first, second = self.stream.option(), self.stream.option()
            if second is None:
                first, second = None, first
            keys = tuple(split(self.stream.word()))
            before, after = (tuple(self._inline(one or (), token.place)) for one in (first, second))
            if keys and (self._reading or self._within):
                self._items.append(Citation(token.text, keys, token.place, before, after, close))
            following = self.stream.peek() if token.text.endswith("cites") else None
            if following is None or following.kind not in ("open", "bracket"):
                return

    def _bibliography(self, token: Token) -> None:
        found = False
        for name in split(self.stream.word()):
            file = self.files.find(name, token.place, (".bib", ""))
            text = self.files.text(file, token.place) if file is not None else None
            if file is not None and text is not None:
                found = True
                self.works |= citations.bibtex(text, self.files.name(file), self.files)
        made = self.main.with_suffix(".bbl").resolve()
        if not found and made.is_relative_to(self.files.folder) and "\\bibitem" in self.files.again(made):
            self.stream.open(made, token.place)

    def _bibitem(self, token: Token) -> None:
        label, key = plain(self.stream.option() or ()), self.stream.word()
        found: list[Token] = []
        while (one := self.stream.raw()) is not None:
            if one.kind == "command" and one.text in ("bibitem", "end"):
                self.stream.push([one])
                break
            found.append(one)
        if key:
            text = "".join("\\newblock " if one.text == "newblock" else one.source for one in found)
            self.works[key] = citations.item(key, label, text)

    def _superscript(self, token: Token) -> None:
        said = words(one for one in self._inline(self.stream.argument(), token.place) if isinstance(one, Piece))
        self._say(f"^{said}" if said.isdigit() else said, token.place)

    def _skip_length(self, token: Token) -> None:
        """Pass over the length behind TeX's own skips: `-0.6em plus 1fil`, or a command that stands for one."""
        self.stream.blanks()
        following = self.stream.raw()
        if following is not None and following.kind == "text" and (found := LENGTH.match(following.text)):
            rest = following.text[found.end() :]
            self.stream.push([following._replace(text=rest)] if rest else [])
        elif following is not None and not (following.kind == "command" and following.text in PLAIN):
            self.stream.push([following])

    def _xspace(self, token: Token) -> None:
        following = self.stream.peek()
        if (
            following is not None
            and following.kind == "text"
            and (following.text[:1].isalnum() or following.text[:1] == "(")
        ):
            self._say(" ", token.place)

    def _quoted(self, token: Token) -> None:
        self.stream.star()
        said = self._inline(self.stream.argument(), token.place)
        self._items += [Piece("“", token.place), *said, Piece("”", token.place)]

    def _joined(self, token: Token) -> None:
        self._drop("so")
        for number in range(JOINED[token.text]):
            said = self._inline(self.stream.argument(), token.place)
            self._items += [Piece(" ", token.place), *said] if number else said


class Body(Marks):
    """Reads a paper once: `read`."""

    def _handlers(self) -> dict[str, Callable[[Token], None]]:
        found: dict[str, Callable[[Token], None]] = {
            "begin": self._begin,
            "end": self._end,
            "title": self._title,
            "item": self._item,
            "caption": self._caption,
            "captionof": self._caption_of,
            "subfloat": self._subfloat,
            "subfigure": self._subfloat,
            "subcaptionbox": self._subfloat,
            "label": lambda token: self._label(self.stream.word()),
            "includegraphics": self._picture,
            "graphicspath": self._picture_folders,
            "tablecaption": self._caption,
            "tablehead": self._head,
            "cutinhead": self._head_within,
            "sidehead": self._head_within,
            "startdata": self._begin_data,
            "enddata": self._end_data,
            "tablenotetext": self._note_text,
            "tablecomments": self._note_text,
            "tablerefs": self._note_text,
            "tablenotemark": self._note_mark,
            "endhead": self._repeated,
            "endfirsthead": self._repeated,
            "endfoot": self._repeated,
            "endlastfoot": self._repeated,
            "nodata": lambda token: self._say("…", token.place),
            "documentclass": self._class,
            "setcounter": self._set_counter,
            "addtocounter": self._set_counter,
            "stepcounter": self._step_counter,
            "refstepcounter": self._step_counter,
            "numberwithin": self._count_within,
            "counterwithin": self._count_within,
            "counterwithout": self._count_within,
            "@addtoreset": self._count_within,
            "ContinuedFloat": self._continued,
            "SetCell": self._set_cell,
            "subcaption": self._subcaption,
            "vskip": self._skip_length,
            "hskip": self._skip_length,
            "kern": self._skip_length,
            "footnote": self._footnote,
            "footnotetext": self._footnote,
            "multicolumn": self._multicolumn,
            "multirow": self._multirow,
            "\\": self._next_row,
            "tabularnewline": self._next_row,
            "cr": self._next_row,
            "bibliography": self._bibliography,
            "addbibresource": self._bibliography,
            "bibitem": self._bibitem,
            "appendix": lambda token: self._begin_appendix(),
            "crefrange": self._reference_range,
            "Crefrange": self._reference_range,
            "hyperref": self._hyperref,
            "makecell": self._cell_of_lines,
            "shortstack": self._cell_of_lines,
            "thead": self._cell_of_lines,
            "operatorname": lambda token: None,
            "(": lambda token: self._math(token, lambda one: one.kind == "command" and one.text == ")"),
            "[": lambda token: self._math(token, lambda one: one.kind == "command" and one.text == "]"),
            "ensuremath": lambda token: self._say(self._formula(self.stream.argument(), token), token.place),
            "textsuperscript": self._superscript,
            "xspace": self._xspace,
            **dict.fromkeys(BOLD, self._bold),
            "textcolor": self._color,
            "color": self._color,
            "definecolor": self._define_color,
            "fontsize": self._font_size,
            "enquote": self._quoted,
            "nocite": lambda token: self._drop("m"),
            "par": lambda token: self._end_paragraph(),
        }
        found |= dict.fromkeys(LEVELS, self._section)
        found |= dict.fromkeys(IN_BRACKETS | TEXTUAL, self._citation)
        found |= dict.fromkeys(REFERENCES, self._reference)
        return found | dict.fromkeys(JOINED, self._joined)

    def _begin(self, token: Token) -> None:
        name = self.stream.word()
        if name in self.stream.begins and name not in FLOATS and name not in TABULARS:
            begin, _ = self.stream.begins[name]
            self._environments.append(name)
            self.stream.expand(token, begin)
            return
        if name == "document":
            self._reading = True
            self._items = []
            return
        if name in MATH:
            self._display(name, token)
            return
        if name in SKIPPED:
            self._skip(name, token)
            return
        self._environments.append(name)
        if name in FLOATS or name in SUBFLOATS:
            self._drop(FLOATS.get(name) or SUBFLOATS.get(name, ""))
            self._open_float("table" if "table" in name else "figure", name, token.place)
        elif name in TABULARS:
            self._open_table(name, token)
        else:
            self._end_paragraph()
            if name == "abstract":
                self._headings = [(1, "Abstract")]
            elif name not in LISTS and name not in KNOWN and name.rstrip("*") not in KNOWN:
                self._note(token, f"the environment {name[:40]}: not known; what stands in it is read as text")
            self._drop(ARGUMENTS.get(name, "o"))

    def _end(self, token: Token) -> None:
        name = self.stream.word()
        if name == "document":
            self._end_paragraph()
            self.stream.stop()
            return
        if name not in self._environments:
            self._note(token, f"\\end{{{name[:40]}}} without a \\begin")
            return
        while (closed := self._environments.pop()) != name:
            self._note(token, f"\\begin{{{closed[:40]}}} without an \\end")
            self._left(closed)
        self._left(name)
        self._leave_group()

    def _left(self, name: str) -> None:
        """What the end of an environment ends."""
        if name in self.stream.begins and name not in FLOATS and name not in TABULARS:
            self.stream.push(self.stream.begins[name][1])
        elif name in TABULARS and self._tables and self._tables[-1].depth:
            self._tables[-1].depth -= 1
        elif self._open and (self._open[-1].environment == name or self._open[-1].environment == f"\\{name}"):
            self._close_float("")
        elif name in TABULARS and self._tables:
            self._tables.pop()
            self._items = self._open[-1].notes if self._open else self._items
        elif name not in FLOATS and name not in SUBFLOATS:
            self._end_paragraph()
            if name == "abstract":
                self._headings = []

    def _skip(self, name: str, token: Token) -> None:
        if SKIPPED[name]:
            self.files.refuse(token.place, f"{SKIPPED[name]} ({name}), which is not read")
        if self._open and SKIPPED[name] == CODED:
            self._open[-1].code_places.append(token.place)
        while (one := self.stream.raw()) is not None:
            if one.kind == "command" and one.text == "end" and self.stream.word() == name:
                return
            if one.kind == "command" and one.text == "label":
                self._label(self.stream.word())
            if one.kind == "command" and one.text == "caption":
                self._caption(one)

    def _section(self, token: Token) -> None:
        while self._open:
            self._close_float("a section begins within it")
        self._tables.clear()
        self._end_paragraph()
        level = LEVELS[token.text]
        starred = self.stream.star()
        self.stream.option()
        title = words(one for one in self._inline(self.stream.argument(), token.place) if isinstance(one, Piece))
        self._headings = [one for one in self._headings if one[0] < level]
        if title:
            self._headings.append((level, title))
        if starred:
            return
        self._numbers[token.text] += 1
        self._start_again(token.text)
        for lower, other in LEVELS.items():
            if other > level:
                self._numbers[lower] = 0
        self._here = Target("Section", self._section_number(level))

    def _section_number(self, level: int) -> str:
        used = [name for name, one in LEVELS.items() if 1 <= one <= max(level, 1)]
        first, *others = (self._numbers[name] for name in used)
        letter = chr(ord("A") + min(first, 26) - 1) if self._appendix and first else str(first)
        if chapter := self._numbers["chapter"]:
            top = chr(ord("A") + min(chapter, 26) - 1) if self._appendix else str(chapter)
            return ".".join([top, *map(str, (self._numbers[name] for name in used if level > 0))])
        return ".".join([letter, *map(str, others)])

    def _begin_appendix(self) -> None:
        self._end_paragraph()
        self._appendix = True
        self._numbers["section"] = 0

    def _color(self, token: Token) -> None:
        r"""\textcolor{white}{words}, or \color{white} up to the end of the group."""
        model, said = plain(self.stream.option() or ()), self.stream.word()
        if is_white(model, said, self._whites):
            self._hide(token.place, "text in white", group=token.text == "textcolor")
        elif token.text == "color":
            self._see()

    def _define_color(self, token: Token) -> None:
        self._drop("o")
        name, model, said = (self.stream.word() for _ in range(3))
        if is_white(model, said):
            self._whites.add(name)

    def _font_size(self, token: Token) -> None:
        size = self.stream.word()
        self._drop("m")
        if is_tiny(size):
            self._hide(token.place, f"text of {size[:10]} points")

    def _title(self, token: Token) -> None:
        self.stream.option()
        self.title = self._inline(self.stream.argument(), token.place)

    def _item(self, token: Token) -> None:
        if not LISTS.isdisjoint(self._environments[-3:]):
            self._end_paragraph()
        option = self.stream.option()
        if option:
            self._items += [*self._inline(option, token.place), Piece(" ", token.place)]

    def _footnote(self, token: Token) -> None:
        self.stream.option()
        note = self._inline(self.stream.argument(), token.place)
        if self._open or self._tables:
            self._items += [Piece(" ", token.place), *note]
        else:
            self._notes.append(note)
