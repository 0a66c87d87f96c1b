"""References, citations, bibliographies, and small things in the text of a LaTeX paper."""

import re

from aisr.paper import bibliography
from aisr.paper.latex_figures import Figures
from aisr.paper.latex_floats import Citation, Reference, words
from aisr.paper.latex_names import (
    IN_BRACKETS,
    JOINED,
    PLAIN,
)
from aisr.paper.latex_tokens import Token, plain, split
from aisr.paper.passages import Piece

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
                self.works |= bibliography.bibtex(text, self.files.name(file), self.files)
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
            self.works[key] = bibliography.item(key, label, text)

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
