"""The body of a LaTeX paper, command by command: what is text, where it stands, what it refers to, and what no reader
sees."""

import re
from pathlib import Path

from aisr_papers import citations
from aisr_papers.passages import Piece
from aisr_papers.readers import latex_commands as commands
from aisr_papers.readers.files import Files
from aisr_papers.readers.latex_floats import Floats
from aisr_papers.readers.latex_run import SECTIONS, Block, Citation, Reference, Target, join_words
from aisr_papers.readers.latex_stream import Macro
from aisr_papers.readers.latex_tokens import Token, source, split_keys

ORDINALS = ("st", "nd", "rd", "th", "TM", "®")
LENGTH = re.compile(
    r"[-+]?\d*+\.?\d*+\s?(?:pt|em|ex|cm|mm|in|bp|pc|mu)?(?:\s(?:plus|minus)\s[-+]?[\d.]*+\s?[a-z]{0,5})*+"
)


class Body(Floats):
    """Reads a paper once: `read`."""

    def __init__(self, files: Files, main: Path) -> None:
        super().__init__(files, main)
        self._theorems: set[str] = set()  # environments that the paper declares by \newtheorem
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
            "ding": lambda token: self._add_text(commands.dingbat(self.stream.word()), token.place),
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
        if self._open and commands.SKIPPED[name] == commands.CODED:
            self._open[-1].content.append(token.place)
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
