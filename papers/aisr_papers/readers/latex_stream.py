r"""The tokens of a paper as TeX would come to them, within limits: file after file where \input names them, with the
paper's own macros expanded."""

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from aisr_papers.draft import Place
from aisr_papers.readers.files import Files, parse_count
from aisr_papers.readers.latex_commands import name_set
from aisr_papers.readers.latex_formulas import symbol
from aisr_papers.readers.latex_tokens import Token, Tokens, source, tokenize
from aisr_papers.readers.latex_units import read_unit

MAX_INPUTS = 20  # files within files
MAX_EXPANDED = 200_000  # tokens that macros may make of a paper; long ones come to a tenth of it
MAX_LEVELS = 60  # macros within macros
MAX_ARGUMENTS = 9
DEFINING = ("newcommand", "renewcommand", "providecommand", "DeclareRobustCommand")
TEX_DEFINING = ("def", "gdef", "edef", "xdef")
DOCUMENTING = ("NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand", "DeclareDocumentCommand")
INPUTS = name_set(
    "input include subfile subfileinclude import subimport inputfrom subinputfrom includestandalone includefrom"
)
# Of siunitx, with how many numbers stand before the unit; and those that have no unit.
QUANTITIES = {
    **dict.fromkeys(("si", "unit"), 0), **dict.fromkeys(("SI", "qty", "SIlist", "qtylist", "qtyproduct"), 1),
    **dict.fromkeys(("SIrange", "qtyrange", "numrange"), 2), "num": 1, "numlist": 1, "numproduct": 1, "ang": 1,
}  # fmt: skip
UNITLESS = name_set("num numlist numproduct numrange ang")
QUANTITY = "[quantity]"  # one whose unit is not known
PROVIDING = ("providecommand", "ProvideDocumentCommand")  # of what is not defined yet
UNDECIDED = name_set("if ifx ifnum ifdim ifcat ifodd ifvmode ifhmode ifinner ifcase ifdefined ifcsname")
# What pdfTeX would say outside of formulas, as pandoc's papers and Stata's tables ask.
ENGINES = dict.fromkeys(("ifpdf", "ifPDFTeX"), True)
ENGINES |= dict.fromkeys(("ifmmode", "ifxetex", "ifXeTeX", "ifluatex", "ifLuaTeX"), False)
# What the reader of the structure must see, whatever a style makes of it.
KEPT = name_set(
    "begin end section subsection subsubsection paragraph subparagraph chapter part caption captionof "
    "label ref autoref cref Cref eqref cite citep citet parencite textcite autocite footnote "
    "includegraphics multicolumn multirow item bibitem bibliography addbibresource title input include "
    "subfile appendix documentclass par"
)
# References that papers define by plainer ones: \newcommand{\eqref}[1]{\ref{eq:#1}}.
REDEFINABLE, PLAINER = ("eqref", "autoref", "cref", "Cref"), ("ref",)
NUMBER = re.compile(r"[$+−-]?[\d.]")
BUILT_IN = Path(__file__).with_name("built_in.tex")


class Macro(NamedTuple):
    """What a paper defines."""

    arguments: int
    body: Tokens
    default: Tokens | None = None  # of an optional first argument; None where it is not optional


class Stream:
    """The tokens of a paper, one at a time. Whoever reads may put tokens back."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.macros: dict[str, Macro] = {}
        self.units: dict[str, Tokens] = {}  # own ones of siunitx
        self.environments: dict[str, tuple[Macro, Tokens]] = {}  # own ones: what their begin and end stand for
        self._stack: list[list[Token]] = []  # each reversed: the next token is the last
        self._ends: list[tuple[int, str]] = []  # the height of the stack below a file or macro, and what is open there
        self.texts: dict[str, str] = {}  # of the main file and those that are put in behind its preamble
        self._files: list[Path] = []  # that are open
        self._cut: set[Path] = set()  # whose preamble was passed over
        self._levels = 0  # of macros
        self._expanded = 0
        self._flags = {"iffalse": False, "iftrue": True, **ENGINES}
        self.push(tokenize(BUILT_IN.read_text("utf-8"), "", files))
        self.next()
        self._built_in = dict(self.macros)

    def open(self, file: Path, place: Place) -> None:
        """Go on with the tokens of a file. A file within itself, and what is too deep or unreadable, is noted."""
        name = self.files.name(file)
        if file in self._files or len(self._files) >= MAX_INPUTS:
            why = "a file that puts itself in" if file in self._files else f"deeper than {MAX_INPUTS} files"
            self.files.note_unread(place, f"{name}: {why}")
            return
        text = self.files.read_text(file, place)
        if text is not None:
            self.texts[name] = text
            self._files.append(file)
            self._ends.append((len(self._stack), "file"))
            self._stack.append(tokenize(text, name, self.files)[::-1])

    def forget_preamble(self) -> None:
        """Leave out of the texts the files that define macros and the like."""
        self.texts = dict(islice(self.texts.items(), 1))

    def push(self, tokens: Sequence[Token]) -> None:
        """Put tokens before those that come next."""
        if tokens:
            self._stack.append(list(tokens)[::-1])

    def push_text(self, token: Token, text: str) -> None:
        """Put the rest of a token's text before what comes next."""
        self.push([token._replace(text=text)] if text else [])

    def raw(self) -> Token | None:
        """Return the next token as it is written; None at the end."""
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
                self._cut.discard(self._files.pop())
            else:
                self._levels -= 1

    @property
    def depth(self) -> int:
        """How many files are open within each other."""
        return len(self._files)

    def end_file(self) -> None:
        """Come to the end of the file that is read: nothing behind it in this file is read."""
        height = next((height for height, kind in reversed(self._ends) if kind == "file"), 0)
        del self._stack[height:]
        self._leave()

    def skip_preamble(self) -> None:
        r"""Pass over what stands before the \begin{document} of the file that is read; over nothing where it has
        none."""
        height = next((height for height, kind in reversed(self._ends) if kind == "file"), 0)
        if not self._files or self._files[-1] in self._cut:
            return
        self._cut.add(self._files[-1])
        ahead = [token for tokens in reversed(self._stack[height:]) for token in reversed(tokens)]
        for number, token in enumerate(ahead):
            if token.text == "begin" and source(ahead[number + 1 : number + 4]) == "{document}":
                del self._stack[height:]
                self._stack.append(ahead[number:][::-1])
                return

    def stop(self) -> None:
        """Come to the end: nothing behind it is read."""
        self._stack.clear()
        self._ends.clear()
        self._files.clear()

    def peek(self) -> Token | None:
        """Return the next token, which stays."""
        token = self.raw()
        if token is not None:
            self._stack.append([token])
        return token

    def skip_blanks(self) -> None:
        while (token := self.raw()) is not None:
            if token.kind != "text" or token.text.strip(" \t"):
                self._stack.append([token])
                return

    def argument(self) -> Tokens:
        """Return the next argument without its braces, or the one token that stands for it; nothing at the end of a
        paragraph."""
        self.skip_blanks()
        token = self.raw()
        if token is None or token.kind in ("par", "close"):
            self.push([token] if token else [])
            return ()
        if token.kind != "open":
            if token.kind == "text" and len(token.text) > 1:
                self.push_text(token, token.text[1:])
                return (token._replace(text=token.text[0]),)
            return (token,)
        depth, tokens = 1, []
        while (token := self.raw()) is not None:
            depth += (token.kind == "open") - (token.kind == "close")
            if not depth:
                break
            tokens.append(token)
        return tuple(tokens)

    def option(self) -> Tokens | None:
        """Return what stands in square brackets next; None where there are none. One that does not end in its paragraph
        is put back."""
        self.skip_blanks()
        token = self.raw()
        if token is None or token.kind != "bracket":
            self.push([token] if token else [])
            return None
        depth, tokens = 0, []
        while (one := self.raw()) is not None:
            depth += (one.kind == "open") - (one.kind == "close")
            if depth < 0 or one.kind == "par":
                tokens.append(one)
                break
            if one.text == "]" and not depth:
                return tuple(tokens)
            tokens.append(one)
        self.push(tokens)
        return ()

    def star(self) -> bool:
        """Return whether a star comes next, which is then passed over."""
        token = self.raw()
        if token is not None and token.kind == "text" and token.text.startswith("*"):
            self.push_text(token, token.text[1:])
            return True
        self.push([token] if token else [])
        return False

    def word(self) -> str:
        """Return the next argument as it is written."""
        return source(self.argument())

    def drop(self, pattern: str) -> None:
        """Pass over arguments: s a star, o in square brackets, m in braces, p in brackets and then in braces."""
        for kind in pattern:
            if kind == "s":
                self.star()
            elif kind == "o":
                self.option()
            elif kind == "m":
                self.argument()
            elif kind == "p":  # (l{3pt}r{3pt}){2-3}
                self.skip_blanks()
                token = self.peek()
                if token is not None and token.text.startswith("("):
                    while (token := self.raw()) is not None and token.kind != "par":
                        if token.kind == "text" and ")" in token.text:
                            self.push_text(token, token.text.partition(")")[2])
                            break
                self.argument()

    def next(self) -> Token | None:
        """Return the next token that is neither a definition nor a call of a macro nor the name of a file to put in."""
        while (token := self.raw()) is not None:
            if token.kind != "command":
                return token
            if (macro := self.macros.get(token.text)) is not None:
                self.expand(token, macro)
            elif token.text in QUANTITIES:
                self._read_quantity(token)
            elif not self.read_definition(token) and not self._read_condition(token):
                return token
        return None

    def expand(self, call: Token, macro: Macro) -> None:
        """Put the body of a macro, with its arguments, before what comes next."""
        arguments: list[Tokens] = []
        if macro.default is not None and macro.arguments:
            option = self.option()
            arguments.append(macro.default if option is None else option)
        while len(arguments) < macro.arguments:
            arguments.append(self.argument())
        body: list[Token] = []
        for token in macro.body:
            if token.kind == "parameter" and token.text.isdigit():
                body += arguments[int(token.text) - 1] if 0 < int(token.text) <= len(arguments) else ()
            else:
                text = token.text[1:] if token.kind == "parameter" else token.text  # ##1 of a definition within
                body.append(token._replace(place=call.place, text=text))
            if len(body) + self._expanded > MAX_EXPANDED:
                break
        if self._levels >= MAX_LEVELS or self._expanded + len(body) > MAX_EXPANDED:
            deep = f"deeper than {MAX_LEVELS} macros" if self._levels >= MAX_LEVELS else "more than macros may make"
            self.files.note_once(call.place, f"\\{call.text}: {deep}; what it stands for is left out")
            return
        self._expanded += len(body) + 1
        self._levels += 1
        self._ends.append((len(self._stack), "macro"))
        self._stack.append(body[::-1])

    def read_definition(self, token: Token) -> bool:
        """Read a definition or go on with a file to put in; whether the token begins one."""
        name = token.text
        if name in DEFINING:
            self.star()
            command, count, default = self._command_name(), self.option(), self.option()
            body = self.argument()
            if not (name in PROVIDING and self._is_defined(command)):
                self._define(command, parse_count(source(count or ()), 0, 1), body, default, token)
        elif name in TEX_DEFINING:
            self._read_tex_definition(token)
        elif name in DOCUMENTING:
            command, pattern = self._command_name(), self.word().split()
            optional = pattern[:1] in (["o"], ["O{}"])
            body = self.argument()
            if name in PROVIDING and self._is_defined(command):
                pass
            elif (optional or pattern[:1] in ([], ["m"])) and all(one == "m" for one in pattern[1:]):
                self._define(command, len(pattern), body, () if optional else None, token)
            else:
                self.files.note_once(token.place, f"\\{command}: defined with arguments that are not read")
        elif name == "let":
            command, other = self._command_name(), self._next_without_equals()
            if other and other.kind == "command" and command not in KEPT and command != other.text:
                self.macros[command] = self.macros.get(other.text, Macro(0, (other,)))
        elif name == "DeclareSIUnit":
            self.option()
            command = self._command_name()
            self.units[command] = self.argument()
        elif name in ("newenvironment", "renewenvironment"):
            self.star()
            environment, count, default = self.word(), self.option(), self.option()
            begin, end = self.argument(), self.argument()
            if environment == "document":
                return True
            self.environments[environment] = (Macro(parse_count(source(count or ()), 0, 1), begin, default), end)
        elif name == "DeclareMathOperator":
            self.star()
            command, operator = self._command_name(), self.argument()
            place = token.place
            opening = (Token("command", "operatorname", place), Token("open", "{", place))
            self._define(command, 0, (*opening, *operator, Token("close", "}", place)), None, token)
        elif name in INPUTS:
            self._read_input(token)
        else:
            return False
        return True

    def _read_quantity(self, call: Token) -> None:
        """Put a quantity of siunitx, in words, before what comes next."""
        option = self.option() or ()
        numbers = [self.argument() for _ in range(QUANTITIES[call.text])]
        if not numbers and NUMBER.match(source(option)):  # \unit[3]{m}, of the package units
            numbers = [option]
        if call.text in UNITLESS:
            self.push([*_in_print(numbers, call), Token("text", "°" if call.text == "ang" else "", call.place)])
            return
        before = self.option() if numbers else None
        own = {name: one.body for name, one in self.macros.items() if not one.arguments} | self.units
        unit = read_unit((*(before or ()), *self.argument()), own, symbol)
        if unit is None:
            self.files.note_unread(call.place, f"\\{call.text}: a unit that is not known; the quantity is left out")
            numbers, unit = [], QUANTITY
        printed = Token("command", "%", call.place) if unit == "%" else Token("text", unit, call.place)
        self.push([*_in_print(numbers, call), *([Token("text", " ", call.place)] if numbers else []), printed])

    def _read_condition(self, token: Token) -> bool:
        """Follow a condition that is plainly true or false, and pass over one that only TeX can tell, with a note."""
        name = token.text
        flag, value = f"if{name.removesuffix('true').removesuffix('false')}", name.endswith("true")
        if name == "newif":
            command = self._next_without_equals()
            if command is not None:
                self._flags[command.text] = False
        elif name == "else":
            self._skip_branch(token, to_else=False)
        elif name in self._flags:
            if not self._flags[name]:
                self._skip_branch(token, to_else=True)
        elif name == "endinput":
            self.end_file()
        elif name == "fi":
            pass
        elif flag in self._flags and name.endswith(("true", "false")):
            self._flags[flag] = value
        elif name in UNDECIDED:
            self.files.note_unread(
                token.place, f"\\{name}: a condition that is not followed; both of its sides are left out"
            )
            self._skip_branch(token, to_else=False)
        else:
            return False
        return True

    def _skip_branch(self, token: Token, to_else: bool) -> None:
        r"""Pass over one side of a condition, to its \fi or \else."""
        depth = 0
        while (one := self.raw()) is not None:
            if one.kind != "command":
                continue
            if not depth and (one.text == "fi" or (one.text == "else" and to_else)):
                return
            depth += (one.text in UNDECIDED or one.text in self._flags) - (one.text == "fi")
        self.files.note_unread(token.place, f"\\{token.text}: no \\fi follows; what stands behind it is left out")

    def _read_tex_definition(self, token: Token) -> None:
        command = self._next_without_equals()
        parameters = 0
        plain = True
        while (one := self.raw()) is not None and one.kind not in ("open", "par"):
            parameters += one.kind == "parameter"
            plain &= one.kind == "parameter" or not one.text.strip()
        self.push([one] if one else [])
        body = self.argument()
        if command is None or command.kind != "command":
            return
        if plain:
            self._define(command.text, parameters, body, None, token)
        elif command.text not in KEPT:
            self.files.note_once(token.place, f"\\{command.text}: defined with delimited arguments, which are not read")

    def _define(self, name: str, count: int, body: Tokens, default: Tokens | None, token: Token) -> None:
        if not name:
            return
        if name in KEPT and not (name in REDEFINABLE and any(one.text in PLAINER for one in body)):
            self.files.note_once(token.place, f"\\{name}: the paper defines it anew; it is read as usual")
        elif 0 <= count <= MAX_ARGUMENTS:
            self.macros[name] = Macro(count, body, default)

    def _is_defined(self, name: str) -> bool:
        """Return whether the paper has defined a command; what stands for commands of packages is not the paper's."""
        return name in self.macros and self.macros[name] is not self._built_in.get(name)

    def _command_name(self) -> str:
        """Return the name of a command, in braces or not."""
        return next((token.text for token in self.argument() if token.kind == "command"), "")

    def _next_without_equals(self) -> Token | None:
        self.skip_blanks()
        token = self.raw()
        if token is not None and token.text == "=":
            self.skip_blanks()
            token = self.raw()
        return token

    def _read_input(self, token: Token) -> None:
        r"""Go on with the file that \input or one of its kin names."""
        if token.text == "includestandalone":
            self.option()
        self.skip_blanks()
        following = self.peek()
        if following is not None and following.kind == "text":  # TeX's own: \input name
            self.raw()
            name, _, rest = following.text.partition(" ")
            self.push_text(following, f" {rest}" if rest else "")
        else:
            name = self.word()
            if token.text.endswith(("import", "inputfrom")):
                name = f"{name.rstrip('/')}/{self.word()}"
        file = self.files.find_input(name.strip(), token.place)
        if file is not None:
            self.open(file, token.place)


def _in_print(numbers: Sequence[Tokens], call: Token) -> list[Token]:
    """Return numbers of siunitx, with "to" between them: a comma is a decimal point there, a semicolon parts those of a
    list."""
    words: list[Token] = []
    for number in numbers:
        words += [Token("text", " to ", call.place)] if words else []
        for token in number:
            text = token.text.replace(",", ".").replace(";", ", ") if token.kind == "text" else token.text
            words.append(token._replace(text=text))
    return words
