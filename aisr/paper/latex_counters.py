r"""Numbers as LaTeX counts and prints them: \setcounter, \numberwithin, \renewcommand{\thetable}, chapters, IEEE."""

import re
from collections.abc import Callable, Mapping

from aisr.paper.latex_macros import Macro
from aisr.paper.latex_run import Run
from aisr.paper.latex_tokens import Token

ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
MOST = 9_999
NUMBER = re.compile(r"[-+]?\d{1,4}")
COUNTED = ("figure", "table", "equation")
ROMAN_TABLES = ("IEEEtran", "ieeeconf", "IEEEconf")


class Counters(Run):
    """Keeps the counters of a paper, and prints the numbers of its floats."""

    def _class(self, token: Token) -> None:
        self.stream.option()
        self._roman_tables = self.stream.word() in ROMAN_TABLES
        self.stream.option()

    def _set_counter(self, token: Token) -> None:
        name, said = self.stream.word(), NUMBER.fullmatch(self.stream.word())
        if said is not None:
            before = self._numbers[name] if token.text == "addtocounter" else 0
            self._numbers[name] = max(min(before + int(said[0]), MOST), 0)

    def _step_counter(self, token: Token) -> None:
        name = self.stream.word()
        self._numbers[name] = min(self._numbers[name] + 1, MOST)

    def _count_within(self, token: Token) -> None:
        r"""\numberwithin{table}{section}, \counterwithin and \@addtoreset."""
        self.stream.star()
        self.stream.option()
        name, outer = self.stream.word(), self.stream.word()
        if token.text == "counterwithout":
            self._outer.pop(name, None)
        elif name in COUNTED:
            self._outer[name] = outer

    def _continued(self, token: Token) -> None:
        if self._open:
            self._numbers[self._open[0].kind] = max(self._numbers[self._open[0].kind] - 1, 0)

    def _start_again(self, stepped: str) -> None:
        """Begin again at 1 what is counted within a section or chapter that was stepped."""
        for name in COUNTED:
            if self._outer.get(name) == stepped or (stepped == "chapter" and name not in self._outer):
                self._numbers[name] = 0

    def _next_number(self, kind: str) -> str:
        """The number of the next figure or table, as it is printed."""
        self._numbers[kind] = min(self._numbers[kind] + 1, MOST)
        return self._printed(kind)

    def _printed(self, name: str, within: int = 0) -> str:
        number = self._numbers[name]
        macro = self.stream.macros.get(f"the{name}")
        if macro is not None and within < 5:
            return self._spelled(macro, within)
        outer = self._outer.get(name) or ("chapter" if name in COUNTED and self._numbers["chapter"] else None)
        if outer is not None and within < 5:
            return f"{self._printed(outer, within + 1)}.{number}"
        if name in ("chapter", "section", "subsection", "subsubsection"):
            return self._section_number(max(("chapter", "section", "subsection", "subsubsection").index(name), 0))
        return roman(number) if name == "table" and self._roman_tables else str(number)

    def _spelled(self, macro: Macro, within: int) -> str:
        r"""What a paper's own \thetable prints: words, \arabic{table} and its kin, \thesection."""
        said, tokens = "", list(macro.body)
        while tokens:
            token = tokens.pop(0)
            if token.kind == "text":
                said += token.text
            elif token.kind == "command" and token.text in FORMS:
                name = ""
                while tokens and tokens[0].kind in ("open", "text"):
                    name += tokens.pop(0).text.strip("{ ")
                said += FORMS[token.text](self._numbers[name])
            elif token.kind == "command" and token.text.startswith("the"):
                said += self._printed(token.text.removeprefix("the"), within + 1)
        return " ".join(said.split())[:20]

    def _section_number(self, level: int) -> str:
        raise NotImplementedError


def roman(number: int) -> str:
    """XIV for 14; empty for 0."""
    said = ""
    for value, letters in ROMAN:
        said += letters * (number // value)
        number %= value
    return said


def letter(number: int) -> str:
    """C for 3; empty for 0 and behind Z."""
    return chr(ord("A") + number - 1) if 0 < number <= 26 else ""


FORMS: Mapping[str, Callable[[int], str]] = {
    "arabic": str,
    "Roman": roman,
    "roman": lambda number: roman(number).lower(),
    "Alph": letter,
    "alph": lambda number: letter(number).lower(),
}
