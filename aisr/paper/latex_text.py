"""What LaTeX's symbols, accents and formulas look like in print, by pylatexenc."""

import logging
import re
from functools import cache

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

LONGEST_FORMULA = 4_000  # characters
DEEPEST_FORMULA = 25  # braces and environments; the library goes down by recursion
FORMULA = "[formula]"
ACCENTS = frozenset("'`^\"~=.cvHkrbdut")  # commands with the letter that they stand on as argument
# What the library leaves out, or means otherwise than print does.
SYMBOLS = {
    "textless": "<", "textgreater": ">", "textbar": "|", "textasciitilde": "~", "textasciicircum": "^", "S": "§",
    "P": "¶", "copyright": "©", "euro": "€", "texteuro": "€", "pounds": "£", "dag": "†", "ddag": "‡", "-": "",
    "/": "", "@": "", ",": " ", ";": " ", ":": " ", "!": "", " ": " ", "\\": " ", "%": "%", "&": "&", "#": "#",
    "$": "$", "_": "_", "{": "{", "}": "}", "textellipsis": "…", "xspace": "", "newline": " ", "linebreak": " ",
    "tabularnewline": " ", "LaTeX": "LaTeX", "TeX": "TeX", "BibTeX": "BibTeX", "slash": "/", "textmu": "µ",
    "textohm": "Ω", "degree": "°", "textdegree": "°", "textpm": "±", "texttimes": "×", "textsection": "§",
    "hfill": " ", "enspace": " ", "nobreakspace": " ", "thinspace": " ", "quad": " ", "qquad": " ",
    "textquotesingle": "'", "textquotedbl": '"', "allowbreak": "", "cmark": "✓", "xmark": "✗", "checkmark": "✓",
}  # fmt: skip
FRACTION = re.compile(r"\\(?:[dt]|nice|s)frac(?![A-Za-z])")
NESTING = re.compile(r"(?<!\\)[{}]|\\begin|\\end|\\left|\\right|\\sqrt")
WORDS = re.compile(r"[A-Za-z0-9\s.,;:<>=+*/()|!?%-]*+", re.ASCII)  # a formula that prints as it is written
SUBSCRIPT = re.compile(r"(?:(?<=[^\W_])|^)_(?=\d)")  # also alone, as in F$_1$


def symbol(command: str) -> str | None:
    """What a command without arguments prints; None where it is not known."""
    if command in SYMBOLS:
        return SYMBOLS[command]
    spec = _context().get_macro_spec(command)
    said = spec.simplify_repl if spec is not None else None
    return said if isinstance(said, str) and "%" not in said else None


@cache
def accented(command: str, letter: str) -> str:
    """A letter with its accent."""
    if len(letter) > 2 or letter.isspace():
        return letter
    return str(_reader().latex_to_text(f"\\{command}{{{letter}}}"))


def formula(source: str) -> str:
    """A formula in one line of text, `[formula]` where it is too long or too deep: fractions with a stroke, "F_1" as
    "F1", other indices with their mark."""
    if WORDS.fullmatch(source):
        return " ".join(source.split())
    deepest = depth = 0
    for piece in NESTING.finditer(source):
        depth += {"}": -1, "\\end": -1, "\\right": -1}.get(piece[0], 1)
        deepest = max(deepest, depth)
    if len(source) > LONGEST_FORMULA or deepest > DEEPEST_FORMULA:
        return FORMULA
    try:
        said = _reader().latex_to_text(FRACTION.sub(r"\\frac", source))
    except (RecursionError, ValueError, TypeError, IndexError, AttributeError):  # the library's ways to give up
        return FORMULA
    return SUBSCRIPT.sub("", " ".join(said.split())) or FORMULA


@cache
def _context():  # type: ignore[no-untyped-def]
    context = get_default_latex_context_db()
    context.add_context_category("house", macros=[MacroTextSpec("frac", simplify_repl=_fraction)], prepend=True)
    return context


@cache
def _reader() -> LatexNodes2Text:
    logging.getLogger("pylatexenc").addHandler(
        logging.NullHandler()
    )  # it warns of what it cannot read, formula by formula
    return LatexNodes2Text(latex_context=_context(), math_mode="text", keep_comments=False)


def _fraction(node, l2tobj) -> str:  # type: ignore[no-untyped-def]
    parts = [l2tobj.nodelist_to_text([one]) for one in (node.nodeargd.argnlist if node.nodeargd else [])]
    return "/".join(part if part.strip().isalnum() else f"({part.strip()})" for part in parts[:2])
