r"""LaTeX papers: sections, paragraphs, sentences, figures, tables, references and citations, each at its file:line.

Nothing of a paper is run: commands are read by name, its own macros are expanded within limits, and what is not
understood is listed. Formulas, symbols and accents become text by pylatexenc; bibtexparser reads bibliographies.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from aisr import UserError
from aisr_papers import citations
from aisr_papers.draft import Draft, Float, Picture, Place
from aisr_papers.passages import (
    Cells,
    Piece,
    build_paragraphs,
    fill_upwards,
    join_columns,
    lay_out,
    mark_bold,
    split_bold,
)
from aisr_papers.readers import latex_commands as commands
from aisr_papers.readers.coverage import latex_lines, measure
from aisr_papers.readers.files import Files, find_main_file
from aisr_papers.readers.latex_floats import Floats
from aisr_papers.readers.latex_formulas import dingbat
from aisr_papers.readers.latex_run import (
    SECTIONS,
    Block,
    Citation,
    FloatParts,
    Item,
    Reference,
    Table,
    Target,
    join_words,
)
from aisr_papers.readers.latex_stream import Macro
from aisr_papers.readers.latex_tokens import Token, source, split_keys

ORDINALS = ("st", "nd", "rd", "th", "TM", "®")
LENGTH = re.compile(
    r"[-+]?\d*+\.?\d*+\s?(?:pt|em|ex|cm|mm|in|bp|pc|mu)?(?:\s(?:plus|minus)\s[-+]?[\d.]*+\s?[a-z]{0,5})*+"
)
WITH_KIND = commands.name_set("autoref cref Cref labelcref vref Vref")


def read(path: Path, root: Path | None = None) -> Draft:
    """Return a paper from its main file, or from the folder that holds one. root: the folder that files are read below;
    by default that of the main file. Raises UserError where there is no main file, or no words in it."""
    file = find_main_file(path).resolve()
    reader = _Reader(Files(file.parent, root), file)
    reader.read()
    draft = reader.draft()
    if not draft.paragraphs and draft.unread:
        raise UserError(f"{path}: no words could be read of this paper: {draft.unread[0].reason}")
    if not draft.paragraphs:
        raise UserError(f"{path}: no words in this paper; expected LaTeX with text between its commands")
    macros = reader.stream.macros.items()
    printing = [name for name, one in macros if any(part.kind == "parameter" for part in one.body)]
    return measure(draft, latex_lines(reader.stream.texts, printing))


class _Reader(Floats):
    """Reads a paper once: `read` from the source, and `draft` with the words of references and citations."""

    def __init__(self, files: Files, main: Path) -> None:
        super().__init__(files, main)
        self._theorems: set[str] = set()  # environments that the paper declares by \newtheorem
        self._by_key: dict[str, Float] = {}
        self._keys: dict[str, str] = {}  # label -> key of the float that bears it
        self._handlers |= {
            "begin": self._begin,
            "end": self._end,
            "title": self._title,
            "item": self._item,
            "footnote": self._footnote,
            "footnotetext": self._footnote,
            "bibliography": self._bibliography,
            "addbibresource": self._bibliography,
            "bibitem": self._bibitem,
            "ding": lambda token: self._add_text(dingbat(self.stream.word()), token.place),
            "appendix": self._begin_appendix,
            "(": lambda token: self._math(token, "command", ")"),
            "[": lambda token: self._math(token, "command", "]"),
            "ensuremath": lambda token: self._add_text(self._formula(self.stream.argument(), token), token.place),
            "textsuperscript": self._superscript,
            "textsubscript": self._subscript,
            "abstract": self._abstract,
            "xspace": self._xspace,
            "vskip": self._skip_length,
            "hskip": self._skip_length,
            "kern": self._skip_length,
            "newtheorem": self._declare_theorem,
            "par": lambda token: self._end_paragraph(),
        }
        self._handlers |= dict.fromkeys(commands.BOLD, self._bold) | dict.fromkeys(commands.LEVELS, self._section)
        self._handlers |= dict.fromkeys(commands.IN_BRACKETS | commands.TEXTUAL, self._citation)
        self._handlers |= dict.fromkeys(commands.REFERENCES, self._reference)

    # --- Environments, sections and paragraphs.

    def _begin(self, token: Token) -> None:
        name = self.stream.word()
        if name in self.stream.environments and name not in commands.FLOATS and name not in commands.TABULARS:
            self.stream.expand(token, self.stream.environments[name][0])
            return
        if name == "document":
            if not self._begun_at:  # else of a file that can be set alone, within the paper
                self._begun_at = self.stream.depth
                self._in_document = True
                self.stream.forget_preamble()
                self._items = []
            return
        if name in commands.MATH:
            self._display(name, token)
            return
        if name in commands.SKIPPED:
            self._skip_environment(name, token)
            return
        self._environments.append(name)
        if name in commands.FLOATS or name in commands.SUBFLOATS:
            self.stream.drop(commands.FLOATS.get(name) or commands.SUBFLOATS.get(name, ""))
            self._open_float("table" if "table" in name else "figure", name, token.place)
        elif name in commands.TABULARS:
            self._open_table(name, token)
        else:
            self._end_paragraph()
            if name in commands.HEADED:
                self._headings = [(1, commands.HEADED[name])]
            elif name in ("appendix", "appendices"):
                self._begin_appendix(token)
            elif name not in commands.LISTS and name.rstrip("*") not in commands.KNOWN | self._theorems:
                self._note_once(token, f"the environment {name[:40]}: not known; what stands in it is read as text")
            self.stream.drop(commands.ARGUMENTS.get(name, "o"))

    def _end(self, token: Token) -> None:
        name = self.stream.word()
        if name == "document" and self.stream.depth > self._begun_at > 0:
            self.stream.end_file()
            return
        if name == "document":
            self._end_paragraph()
            self.stream.stop()
            return
        if name in self.stream.environments and name not in commands.FLOATS and name not in commands.TABULARS:
            # As a macro is: an end that names itself comes to its bounds.
            self.stream.expand(token, Macro(0, self.stream.environments[name][1]))
            return
        if name not in self._environments:
            self._note_once(token, f"\\end{{{name[:40]}}} without a \\begin")
            return
        while (environment := self._environments.pop()) != name:
            self._note_once(token, f"\\begin{{{environment[:40]}}} without an \\end")
            self._end_environment(environment)
        self._end_environment(name)

    def _end_environment(self, name: str) -> None:
        """What the end of an environment ends."""
        if name in commands.TABULARS and self._tables and self._tables[-1].depth:
            self._tables[-1].depth -= 1
        elif self._open and self._open[-1].environment == name:
            self._close_float("")
        elif name in commands.TABULARS and self._tables:
            self._tables.pop()
            self._items = self._open[-1].notes if self._open else self._items
        elif name not in commands.FLOATS and name not in commands.SUBFLOATS:
            self._end_paragraph()
            if name in commands.HEADED:
                self._headings = []

    def _skip_environment(self, name: str, token: Token) -> None:
        if commands.SKIPPED[name]:
            self.files.note_unread(token.place, f"{commands.SKIPPED[name]} ({name}), which is not read")
        while (one := self.stream.raw()) is not None:
            if one.kind == "command" and one.text == "end" and self.stream.word() == name:
                return
            if one.kind == "command" and one.text == "label":
                self._label(self.stream.word())

    def _section(self, token: Token) -> None:
        while self._open:
            self._close_float("a section begins within it")
        self._tables.clear()
        self._end_paragraph()
        self._lone = self._captioned = None
        level = commands.LEVELS[token.text]
        starred = self.stream.star()
        self.stream.option()
        title = join_words(self._next_inline(token))
        self._headings = [one for one in self._headings if one[0] < level]
        if title:
            self._headings.append((level, title))
        if starred:
            return
        self._numbers[token.text] += 1
        self._restart_counters(token.text)
        for lower, other in commands.LEVELS.items():
            if other > level:
                self._numbers[lower] = 0
        if token.text in SECTIONS:  # the others have no numbers
            self._here = Target("Section", self._printed(token.text, token.place))

    def _begin_appendix(self, token: Token) -> None:
        self._end_paragraph()
        top = "chapter" if self._numbers["chapter"] else "section"
        self._numbers[top] = 0
        self.stream.push(self._tokens(f"\\renewcommand{{\\the{top}}}{{\\Alph{{{top}}}}}", token))

    def _title(self, token: Token) -> None:
        self.stream.option()
        self.title = self._next_inline(token)

    def _abstract(self, token: Token) -> None:
        r"""\abstract{words}, also in the preamble."""
        items = self._next_inline(token)
        self._end_paragraph()
        self.blocks.append(Block(items, (commands.HEADED["abstract"],)))

    def _item(self, token: Token) -> None:
        if not commands.LISTS.isdisjoint(self._environments[-3:]):
            self._end_paragraph()
        option = self.stream.option()
        if option:
            items = self._inline(option, token.place)
            self._items += [*items, Piece(" ", token.place)]

    def _footnote(self, token: Token) -> None:
        self.stream.option()
        note = self._next_inline(token)
        if self._open or self._tables:
            self._items += [Piece(" ", token.place), *note]
        else:
            self._footnotes.append(note)

    # --- References, citations and bibliographies.

    def _reference(self, token: Token) -> None:
        self.stream.star()
        labels = tuple(split_keys(self.stream.word()))
        if self._is_text:
            self._items.append(Reference(token.text, labels, token.place))

    def _citation(self, token: Token) -> None:
        r"""One citation, or several of biblatex's \cites."""
        self.stream.star()
        last = self._items[-1] if self._items else None
        close = isinstance(last, Piece) and last.text[-1:] in (".", "!", "?") and not last.text.endswith("al.")
        close &= token.text in commands.IN_BRACKETS
        while True:
            first, second = self.stream.option(), self.stream.option()
            if second is None:
                first, second = None, first
            keys = tuple(split_keys(self.stream.word()))
            before, after = (tuple(self._inline(one or (), token.place)) for one in (first, second))
            if keys and self._is_text:
                self._items.append(Citation(token.text, keys, token.place, before, after, close))
            following = self.stream.peek() if token.text.endswith("cites") else None
            if following is None or following.kind not in ("open", "bracket"):
                return

    def _bibliography(self, token: Token) -> None:
        has_entries = False
        for name in split_keys(self.stream.word()):
            file = self.files.find(name, token.place, (".bib", ""))
            text = self.files.read_text(file, token.place) if file is not None else None
            if file is not None and text is not None:
                has_entries = True
                self.works |= citations.read_bibtex(text, self.files.name(file), self.files)
        bbl = self.main.with_suffix(".bbl").resolve()
        if not has_entries and bbl.is_relative_to(self.files.folder) and "\\bibitem" in self.files.peek_text(bbl):
            self.stream.open(bbl, token.place)

    def _bibitem(self, token: Token) -> None:
        label, key = source(self.stream.option() or ()), self.stream.word()
        tokens: list[Token] = []
        while (one := self.stream.raw()) is not None:
            if one.kind == "command" and one.text in ("bibitem", "end"):
                self.stream.push([one])
                break
            tokens.append(one)
        if key:
            text = "".join("\\newblock " if one.text == "newblock" else one.source for one in tokens)
            self.works[key] = citations.read_bibitem(key, label, text)

    # --- Small things in the text.

    def _bold(self, token: Token) -> None:
        """Bold in a cell marks the best number; elsewhere it says nothing that is read."""
        if self._tables:
            self._tables[-1].cell.bold = True

    def _superscript(self, token: Token) -> None:
        text = join_words(self._next_inline(token))
        self._add_text(text if text in ORDINALS or not text else f"^{text}", token.place)

    def _subscript(self, token: Token) -> None:
        """H2O in words; a mark of its own behind a digit, of which it would make another number."""
        text = join_words(self._next_inline(token))
        last = self._items[-1] if self._items else None
        is_number = isinstance(last, Piece) and last.text[-1:].isdigit()
        self._add_text(f"_{text}" if is_number and text else text, token.place)

    def _xspace(self, token: Token) -> None:
        following = self.stream.peek()
        first = following.text[:1] if following is not None and following.kind == "text" else ""
        if first.isalnum() or first == "(":
            self._add_text(" ", token.place)

    def _skip_length(self, token: Token) -> None:
        """Pass over the length behind TeX's own skips: `-0.6em plus 1fil`, or a command that stands for one."""
        self.stream.skip_blanks()
        following = self.stream.raw()
        if following is not None and following.kind == "text" and (length := LENGTH.match(following.text)):
            self.stream.push_text(following, following.text[length.end() :])
        elif following is not None and not (following.kind == "command" and following.text in commands.PLAIN):
            self.stream.push([following])

    def _declare_theorem(self, token: Token) -> None:
        self.stream.star()
        self._theorems.add(self.stream.word())
        self.stream.drop("omo")

    # --- The draft, with the words of references and citations.

    def draft(self) -> Draft:
        """Return what was read, with the words of references and citations."""
        floats = [parts for parts in self.floats if self._counts(parts)]
        for parts in floats:
            self._add_labels(parts)
        for parts in floats:
            for one in (parts, *parts.all(FloatParts)):
                self._add_float(one)
        blocks = ((self._pieces(one.items), one.headings, False) for one in self.blocks)
        paragraphs = build_paragraphs(blocks, self._by_key, self.works)
        title = join_words(self._pieces(self.title))
        works = citations.cited_works(paragraphs, self.works, self.files)
        return Draft(self.files.folder, title, paragraphs, self._by_key, works, tuple(self.files.unread))

    def _pieces(self, items: Iterable[Item]) -> list[Piece]:
        """Return references as "Table 2", citations as "(Obi, 2022)"."""
        pieces = []
        for item in items:
            if isinstance(item, Reference):
                pieces.append(self._reference_words(item))
            elif isinstance(item, Citation):
                pieces.append(self._citation_words(item))
            elif all(key in self._by_key for key in item.float_keys):  # else of a tabular that is no table
                pieces.append(item)
        return pieces

    def _counts(self, parts: FloatParts) -> bool:
        """Return whether a figure or table has a number or a label, or is read without: others cannot be referred
        to."""
        if parts.number or parts.labels:
            return True
        if parts.environment in commands.TABULARS and any(map(_is_data, parts.all(Table))):
            return True  # one between two sentences, which has no number
        if parts.captions or parts.content:
            why = f"a {parts.kind} without a numbered caption: nothing can refer to it"
            self.files.note_unread(parts.place, why)
        return False

    def _add_labels(self, parts: FloatParts) -> None:
        """The targets of the labels of a float, and of those within it."""
        for number, one in enumerate(parts.all(FloatParts)):
            one.number = f"{parts.number}{chr(ord('a') + min(number, 25))}"
        for one in (parts, *parts.all(FloatParts)):
            # Its label, or its name where it has none or another has it already.
            key = next((label for label in one.labels if label not in self._keys), one.name)
            for label in (*one.labels, key):
                self._keys.setdefault(label, key)
                self.labels.setdefault(label, Target(one.kind.capitalize(), one.number))

    def _add_float(self, parts: FloatParts) -> None:
        key = next((self._keys[label] for label in (*parts.labels, parts.name) if label in self._keys), parts.name)
        caption = [item for items in parts.captions for item in (*items, Piece(" ", parts.place))]
        rows = [row for table in parts.all(Table) for row in join_columns(self._cells(table), table.joints)]
        cells, bold = split_bold(lay_out(fill_upwards(rows)))
        one = Float(
            key,
            parts.name,
            parts.kind,
            join_words(self._pieces(caption)),
            parts.place,
            cells,
            tuple(parts.all(Picture)),
            parts.headings,
            join_words(self._pieces(parts.notes)),
            bold,
            _begin(item for items in parts.captions for item in items),
            _begin(parts.notes),
        )
        self._by_key.setdefault(key, one)

    def _cells(self, table: Table) -> list[Cells]:
        return [
            [(mark_bold(join_words(self._pieces(cell.items)), cell.bold), cell.columns, cell.rows) for cell in row]
            for row in table.rows
        ]

    def _reference_words(self, item: Reference) -> Piece:
        targets = [self.labels.get(label) for label in item.labels]
        if None in targets:
            label = ascii(item.labels[targets.index(None)][:60])[1:-1]
            self.files.note_unread(item.place, f"\\{item.command}{{{label}}}: no such label")
        known = [target for target in targets if target is not None]
        keys = tuple(dict.fromkeys(self._keys[label] for label in item.labels if label in self._keys))
        text = ", ".join(target.number or "??" for target in known) or "??"
        if item.command == "eqref":
            text = f"({text})"
        elif item.command.endswith("pageref"):
            text, keys = "??", ()
        elif known and (
            item.command in WITH_KIND or item.command not in commands.REFERENCES
        ):  # a style's own, as \figref
            text = _with_kinds(known)
        return Piece(text, item.place, keys)

    def _citation_words(self, item: Citation) -> Piece:
        before, after = (join_words(self._pieces(one)) for one in (item.before, item.after))
        textual = item.command in commands.TEXTUAL
        text = citations.natbib_text(item.keys, self.works, before, after, textual)
        if textual and item.command in ("citeauthor", "Citeauthor", "citetitle"):
            text = text.partition(" (")[0]
        return Piece(text, item.place, (), item.keys, item.close)


def _begin(items: Iterable[Item]) -> Place | None:
    """Return where some text begins."""
    return next((one.place for one in items if not isinstance(one, Piece) or one.text.strip()), None)


def _is_data(table: Table) -> bool:
    """Return whether a tabular holds data, and is no way to set two things side by side."""
    rows = [
        [one for one in row if any(isinstance(item, Piece) and item.text.strip() for item in one.items)]
        for row in table.rows
    ]
    return sum(len(row) > 1 for row in rows) > 1


def _with_kinds(targets: list[Target]) -> str:
    """`Table 2`, `Figures 2 and 3`, `Section 4 and Tables 1, 2 and 3`."""
    kinds: dict[str, list[str]] = {}
    for target in targets:
        kinds.setdefault(target.kind, []).append(target.number or "??")
    texts = []
    for kind, numbers in kinds.items():
        many = ", ".join(numbers[:-1]) + " and " + numbers[-1] if len(numbers) > 1 else numbers[0]
        texts.append(f"{kind}{'s' if len(numbers) > 1 else ''} {many}")
    return " and ".join(texts)
