"""A paper's tokens, file after file, with its own macros expanded and its files put in where \\input names them, within
limits."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from aisr.paper.draft import Place
from aisr.paper.readers.files import Files
from aisr.paper.readers.latex_tokens import Token, plain, tokens

# --- The tokens of a paper's files one after the other, and those that were put back.

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


def _listed(names: str) -> list[str]:
    return names.split()


MAX_EXPANDED = 200_000  # tokens that macros may make of a paper; long ones come to a tenth of it
MAX_LEVELS = 60  # macros within macros
MAX_ARGUMENTS = 9
DEFINING = ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand")
TEX_DEFINING = ("def", "gdef", "edef", "xdef")
DOCUMENTING = ("NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand", "DeclareDocumentCommand")
INPUTS = ("input", "include", "subfile", "subfileinclude", "import", "subimport", "inputfrom", "subinputfrom")
UNDECIDED = frozenset(
    _listed("if ifx ifnum ifdim ifcat ifodd ifvmode ifhmode ifmmode ifinner ifcase ifdefined ifcsname")
)
# What the reader of the structure must see, whatever a style makes of it.
KEPT = frozenset(
    _listed(
        "begin end section subsection subsubsection paragraph subparagraph chapter part caption captionof "
        "label ref autoref cref Cref eqref cite citep citet parencite textcite autocite footnote "
        "includegraphics multicolumn multirow item bibitem bibliography addbibresource title input include "
        "subfile appendix documentclass par"
    )
)

# References that papers define by plainer ones: \newcommand{\eqref}[1]{\ref{eq:#1}}.
OTHERWISE, PLAINLY = ("eqref", "autoref", "cref", "Cref"), ("ref",)


class Macro(NamedTuple):
    """What a paper defines. first: what an optional first argument is where it is not given; None: there is none."""

    arguments: int
    body: tuple[Token, ...]
    first: tuple[Token, ...] | None = None


class Stream(Source):
    """Tokens one at a time, as TeX would come to them."""

    def __init__(self, files: Files) -> None:
        super().__init__(files)
        self.macros: dict[str, Macro] = {}
        self.begins: dict[str, tuple[Macro, tuple[Token, ...]]] = {}
        self._expanded = 0
        self._refused: set[str] = set()
        self._flags = {"iffalse": False, "iftrue": True}

    def next(self) -> Token | None:
        """The next token that is neither a definition nor a call of a macro nor the name of a file to put in."""
        while (token := self.raw()) is not None:
            if token.kind != "command":
                return token
            if (macro := self.macros.get(token.text)) is not None:
                self.expand(token, macro)
            elif not self._defines(token) and not self._decides(token):
                return token
        return None

    def expand(self, call: Token, macro: Macro) -> None:
        """Put the body of a macro, with its arguments, before what comes next."""
        given: list[tuple[Token, ...]] = []
        if macro.first is not None and macro.arguments:
            option = self.option()
            given.append(macro.first if option is None else option)
        while len(given) < macro.arguments:
            given.append(self.argument())
        body: list[Token] = []
        for token in macro.body:
            if token.kind == "parameter" and token.text.isdigit():
                body += given[int(token.text) - 1] if 0 < int(token.text) <= len(given) else ()
            else:
                text = token.text[1:] if token.kind == "parameter" else token.text  # ##1 of a definition within
                body.append(token._replace(place=call.place, text=text))
            if len(body) + self._expanded > MAX_EXPANDED:
                break
        if self._levels >= MAX_LEVELS or self._expanded + len(body) > MAX_EXPANDED:
            deep = f"deeper than {MAX_LEVELS} macros" if self._levels >= MAX_LEVELS else "more than macros may make"
            self._once(call, f"\\{call.text}: {deep}; what it stands for is left out")
            return
        self._expanded += len(body) + 1
        self._levels += 1
        self._ends.append((len(self._stack), "macro"))
        self._stack.append(body[::-1])

    def _once(self, call: Token, why: str) -> None:
        if why not in self._refused:
            self._refused.add(why)
            self.files.refuse(call.place, why)

    def _defines(self, token: Token) -> bool:
        """Read a definition or a file to put in, if the token begins one."""
        name = token.text
        if name in DEFINING:
            self.star()
            called, count, first = self._called(), self.option(), self.option()
            self._define(called, _number(count), self.argument(), first, token)
        elif name in TEX_DEFINING:
            self._tex_definition(token)
        elif name in DOCUMENTING:
            called, pattern = self._called(), self.word().split()
            first = () if pattern[:1] in (["o"], ["O{}"]) else None
            simple = first is not None or pattern[:1] in ([], ["m"])
            body = self.argument()
            if simple and all(one == "m" for one in pattern[1:]):
                self._define(called, len(pattern), body, first, token)
            else:
                self._once(token, f"\\{called}: defined with arguments that are not read")
        elif name == "let":
            called, other = self._called(), self._other()
            if other and other.kind == "command" and called not in KEPT and called != other.text:
                self.macros[called] = self.macros.get(other.text, Macro(0, (other,)))
        elif name in ("newenvironment", "renewenvironment"):
            self.star()
            called, count, first = self.word(), self.option(), self.option()
            begin, end = self.argument(), self.argument()
            self.begins[called] = (Macro(_number(count), begin, first), end)
        elif name == "DeclareMathOperator":
            self.star()
            called, said = self._called(), self.argument()
            place = token.place
            opening = (Token("command", "operatorname", place), Token("open", "{", place))
            self._define(called, 0, (*opening, *said, Token("close", "}", place)), None, token)
        elif name in INPUTS:
            self._input(token)
        else:
            return False
        return True

    def _decides(self, token: Token) -> bool:
        """Follow a condition that is plainly true or false, and pass over one that only TeX can tell, with a note."""
        name = token.text
        if name == "newif":
            called = self._other()
            if called is not None:
                self._flags[called.text] = False
        elif name == "else":
            self._skip(token, to_else=False)
        elif name in self._flags:
            if not self._flags[name]:
                self._skip(token, to_else=True)
        elif name == "endinput":
            self._end_file()
        elif name == "fi":
            pass
        elif f"if{name.removesuffix('true')}" in self._flags and name.endswith("true"):
            self._flags[f"if{name.removesuffix('true')}"] = True
        elif f"if{name.removesuffix('false')}" in self._flags and name.endswith("false"):
            self._flags[f"if{name.removesuffix('false')}"] = False
        elif name in UNDECIDED:
            self.files.refuse(
                token.place, f"\\{name}: a condition that is not followed; both of its sides are left out"
            )
            self._skip(token, to_else=False)
        else:
            return False
        return True

    def _skip(self, token: Token, to_else: bool) -> None:
        r"""Pass over one side of a condition, to its \fi or \else."""
        depth = 0
        while (one := self.raw()) is not None:
            if one.kind != "command":
                continue
            if not depth and (one.text == "fi" or (one.text == "else" and to_else)):
                return
            depth += (one.text in UNDECIDED or one.text in self._flags) - (one.text == "fi")
        self.files.refuse(token.place, f"\\{token.text}: no \\fi follows; what stands behind it is left out")

    def _tex_definition(self, token: Token) -> None:
        called = self._other()
        parameters = 0
        plain_parameters = True
        while (one := self.raw()) is not None and one.kind not in ("open", "par"):
            parameters += one.kind == "parameter"
            plain_parameters &= one.kind == "parameter" or not one.text.strip()
        self.push([one] if one else [])
        body = self.argument()
        if called is None or called.kind != "command":
            return
        if plain_parameters:
            self._define(called.text, parameters, body, None, token)
        elif called.text not in KEPT:
            self._once(token, f"\\{called.text}: defined with delimited arguments, which are not read")

    def _define(
        self, name: str, count: int, body: tuple[Token, ...], first: tuple[Token, ...] | None, token: Token
    ) -> None:
        if not name:
            return
        if name in KEPT and not (name in OTHERWISE and any(one.text in PLAINLY for one in body)):
            self._once(token, f"\\{name}: the paper defines it anew; it is read as usual")
        elif 0 <= count <= MAX_ARGUMENTS:
            self.macros[name] = Macro(count, body, first)

    def _called(self) -> str:
        """The name of a command, in braces or not."""
        return next((token.text for token in self.argument() if token.kind == "command"), "")

    def _other(self) -> Token | None:
        self.blanks()
        token = self.raw()
        if token is not None and token.text == "=":
            self.blanks()
            token = self.raw()
        return token

    def _input(self, token: Token) -> None:
        self.blanks()
        following = self.peek()
        if following is not None and following.kind == "text":  # TeX's own: \input name
            self.raw()
            name, _, rest = following.text.partition(" ")
            self.push([following._replace(text=" " + rest)] if rest else [])
        else:
            name = self.word()
            if token.text.endswith(("import", "inputfrom")):
                name = f"{name.rstrip('/')}/{self.word()}"
        file = self.files.find(name.strip(), token.place, (".tex", ""))
        if file is not None:
            self.open(file, token.place)


def _number(option: tuple[Token, ...] | None) -> int:
    said = plain(option or ())
    return int(said) if said.isascii() and said.isdigit() and len(said) == 1 else 0
