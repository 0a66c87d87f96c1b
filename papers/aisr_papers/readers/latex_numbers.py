"""Numbers of sections and floats as LaTeX counts and prints them: \\setcounter, \\numberwithin, \\thetable, chapters,
IEEE."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path

from aisr_papers.draft import Place
from aisr_papers.readers.files import Files
from aisr_papers.readers.latex_run import Run, join_words
from aisr_papers.readers.latex_tokens import Token

ROMAN = (
    (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"),
    (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
)  # fmt: skip
MOST = 9_999
NUMBER = re.compile(r"[-+]?\d{1,4}")
COUNTED = ("figure", "table", "equation")
SECTIONS = ("chapter", "section", "subsection", "subsubsection")
ROMAN_TABLES = ("IEEEtran", "ieeeconf", "IEEEconf")


def roman(number: int) -> str:
    """XIV for 14; empty for 0."""
    text = ""
    for value, letters in ROMAN:
        text += letters * (number // value)
        number %= value
    return text


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


class Numbers(Run):
    """Counts."""

    def __init__(self, files: Files, main: Path) -> None:
        super().__init__(files, main)
        self._outer: dict[str, str] = {}  # what is counted within which section
        self._handlers |= {
            "documentclass": self._class,
            "setcounter": self._set_counter,
            "addtocounter": self._set_counter,
            "numberwithin": self._count_within,
            "counterwithin": self._count_within,
            "counterwithout": self._count_within,
            "@addtoreset": self._count_within,
            "of@chapter": self._print_chapter,
        }
        self._handlers |= {f"{at}{form}": self._print_counter for form in FORMS for at in ("", "@")}

    def _class(self, token: Token) -> None:
        if self._begun_at:  # of a file that can be set alone
            self.stream.drop("omo")
            self.stream.skip_preamble()
            return
        self.stream.option()
        if self.stream.word() in ROMAN_TABLES:
            self.stream.push(self._tokens(r"\renewcommand{\thetable}{\Roman{table}}", token))
        self.stream.option()

    def _set_counter(self, token: Token) -> None:
        name, value = self.stream.word(), NUMBER.fullmatch(self.stream.word())
        if value is not None:
            before = self._numbers[name] if token.text == "addtocounter" else 0
            self._numbers[name] = max(min(before + int(value[0]), MOST), 0)

    def _count_within(self, token: Token) -> None:
        r"""\numberwithin{table}{section}, \counterwithin and \@addtoreset."""
        self.stream.star()
        self.stream.option()
        name, outer = self.stream.word(), self.stream.word()
        if name not in COUNTED or outer not in SECTIONS:
            return
        self._outer[name] = "" if token.text == "counterwithout" else outer
        lead = "" if token.text == "counterwithout" else f"\\the{outer}."
        if token.text != "@addtoreset":
            definition = f"\\renewcommand{{\\the{name}}}{{{lead}\\arabic{{{name}}}}}"
            self.stream.push(self._tokens(definition, token))

    def _restart_counters(self, section: str) -> None:
        """Begin again at 1 what is counted within a section or chapter."""
        for name in COUNTED:
            if self._outer.get(name) == section or (section == "chapter" and name not in self._outer):
                self._numbers[name] = 0

    def _next_number(self, kind: str, place: Place) -> str:
        """The number of the next figure or table, as it is printed."""
        self._numbers[kind] = min(self._numbers[kind] + 1, MOST)
        return self._printed(kind, place)

    def _printed(self, name: str, place: Place) -> str:
        r"""What \thetable and its kin print: LaTeX's own (see BUILT_IN), or what the paper makes of it."""
        return join_words(self._inline((Token("command", f"the{name}", place),), place))[:20]

    def _print_counter(self, token: Token) -> None:
        r"""\arabic{table}, and \@arabic\c@table within styles."""
        name = self.stream.word().removeprefix("\\c@")
        self._add_text(FORMS[token.text.lstrip("@")](self._numbers[name]), token.place)

    def _print_chapter(self, token: Token) -> None:
        """What leads the numbers of sections and floats in a book."""
        if self._numbers["chapter"]:
            self.stream.push(self._tokens("\\thechapter.", token))
