"""The tokens of a paper's files one after the other, and those that were put back."""

from collections.abc import Sequence
from pathlib import Path

from aisr.paper.draft import Place
from aisr.paper.files import Files
from aisr.paper.latex_tokens import Token, plain, tokens

MAX_INPUTS = 20  # files within files


class Source:
    """Tokens as they are written, one at a time. Whoever reads may put tokens back."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self._stack: list[list[Token]] = []  # each reversed: the next token is the last
        self._ends: list[tuple[int, str]] = []  # the height of the stack below a file or macro, and what is open there
        self._open: list[Path] = []
        self._levels = 0  # of macros

    def open(self, file: Path, place: Place) -> None:
        """Go on with the tokens of a file. A file within itself, and what is too deep or unreadable, is noted."""
        name = self.files.name(file)
        if file in self._open or len(self._open) >= MAX_INPUTS:
            why = "a file that puts itself in" if file in self._open else f"deeper than {MAX_INPUTS} files"
            self.files.refuse(place, f"{name}: {why}")
            return
        text = self.files.text(file, place)
        if text is not None:
            self._open.append(file)
            self._ends.append((len(self._stack), "file"))
            self._stack.append(tokens(text, name, self.files)[::-1])

    def push(self, back: Sequence[Token]) -> None:
        """Put tokens before those that come next."""
        if back:
            self._stack.append(list(back)[::-1])

    def raw(self) -> Token | None:
        """The next token as it is written; None at the end."""
        while self._stack:
            if self._stack[-1]:
                return self._stack[-1].pop()
            self._stack.pop()
            self._leave()
        return None

    def _leave(self) -> None:
        """Note that the files and macros are over whose tokens are used up."""
        while self._ends and self._ends[-1][0] >= len(self._stack):
            if self._ends.pop()[1] == "file":
                self._open.pop()
            else:
                self._levels -= 1

    def _end_file(self) -> None:
        height = next((height for height, kind in reversed(self._ends) if kind == "file"), 0)
        del self._stack[height:]
        self._leave()

    def stop(self) -> None:
        """Come to the end: nothing behind it is read."""
        self._stack.clear()
        self._ends.clear()
        self._open.clear()

    def peek(self) -> Token | None:
        """The next token, which stays."""
        token = self.raw()
        if token is not None:
            self._stack.append([token])
        return token

    def blanks(self) -> None:
        """Pass over blanks."""
        while (token := self.raw()) is not None:
            if token.kind != "text" or token.text.strip(" \t"):
                self._stack.append([token])
                return

    def argument(self) -> tuple[Token, ...]:
        """The next argument without its braces, or the one token that stands for it; nothing at the end of a
        paragraph."""
        self.blanks()
        token = self.raw()
        if token is None or token.kind in ("par", "close"):
            self.push([token] if token else [])
            return ()
        if token.kind != "open":
            if token.kind == "text" and len(token.text) > 1:
                self.push([token._replace(text=token.text[1:])])
                return (token._replace(text=token.text[0]),)
            return (token,)
        depth, found = 1, []
        while (token := self.raw()) is not None:
            depth += (token.kind == "open") - (token.kind == "close")
            if not depth:
                break
            found.append(token)
        return tuple(found)

    def option(self) -> tuple[Token, ...] | None:
        """What stands in square brackets next; None where there are none. One that does not end in its paragraph is
        put back."""
        self.blanks()
        token = self.raw()
        if token is None or token.kind != "bracket":
            self.push([token] if token else [])
            return None
        depth, found = 0, []
        while (one := self.raw()) is not None:
            depth += (one.kind == "open") - (one.kind == "close")
            if depth < 0 or one.kind == "par":
                found.append(one)
                break
            if one.text == "]" and not depth:
                return tuple(found)
            found.append(one)
        self.push(found)
        return ()

    def star(self) -> bool:
        """Whether a star comes next, which is then passed over."""
        token = self.raw()
        if token is not None and token.kind == "text" and token.text.startswith("*"):
            self.push([token._replace(text=token.text[1:])] if token.text[1:] else [])
            return True
        self.push([token] if token else [])
        return False

    def word(self) -> str:
        """The next argument as it is written."""
        return plain(self.argument())
