"""What LaTeX's symbols, accents and formulas look like in print, by pylatexenc."""

import logging
import re
from functools import cache

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

from aisr_papers.readers.formulas import fraction, in_line, root
from aisr_papers.readers.latex_commands import name_set
from aisr_papers.readers.latex_units import UNIT_NAMES

LONGEST_FORMULA = 4_000  # characters
DEEPEST_FORMULA = 25  # braces and environments; the library goes down by recursion
FORMULA = "[formula]"
ACCENTS = frozenset("'`^\"~=.cvHkrbdut")  # commands with the letter that they stand on as argument
# What the library leaves out, or means otherwise than print does.
SYMBOLS = {
    "textless": "<", "textgreater": ">", "textbar": "|", "textasciicircum": "^", "S": "§", "P": "¶", "copyright": "©",
    "euro": "€", "pounds": "£", "ddag": "‡", "-": "", "/": "", "@": "", "\\": " ", "%": "%", "xspace": "",
    "newline": " ", "linebreak": " ", "tabularnewline": " ", "LaTeX": "LaTeX", "TeX": "TeX", "slash": "/",
    "textohm": "Ω", "hfill": " ", "enspace": " ", "nobreakspace": " ", "thinspace": " ", "quad": " ", "qquad": " ",
    "textquotedbl": '"', "allowbreak": "", "cmark": "✓", "xmark": "✗", "checkmark": "✓", "sep": "; ", "neg": "¬",
    "textminus": "-", "shortminus": "-", "textequals": "=", "textplusminus": "±", "textpercent": "%",
    "textunderscore": "_", "textbardbl": "‖", "textsurd": "√",
}  # fmt: skip
# Commands in formulas that print nothing of their own, and that the library does not know.
SILENT = name_set(
    "left right middle big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr bigm limits nolimits begin end "
    "displaystyle textstyle scriptstyle scriptscriptstyle nonumber notag mathop mathbin mathrel mathord mathopen "
    "mathclose boldmath boldsymbol bm pmb operatorname rm bf it textnormal hbox"
)
PLACEHOLDER = re.compile(r"\\[hv]?phantom\s?(?:\{[^{}]*\}|\w)")  # is as wide as a number, and prints none
NO_DELIMITER = re.compile(r"\\(?:left|right)\s?\.")  # one that is not printed
FRACTION = re.compile(r"\\(?:[cdts]|nice)frac(?![A-Za-z])")
OVER = re.compile(r"\{([^{}]*)\\over(?![A-Za-z])([^{}]*)\}")
EXPONENT = re.compile(r"\^\{((?:[^{}]|\{[^{}]*\})*)\}")
COMPOUND = re.compile(r"(?<=.)[-+/]|\\frac")  # 2^{n+1}, 2^{1/2}
TOUCHING = re.compile(r"(?<=\d)\}(?=\s*\{?\s*\d)")  # 10^{5}3 is no power of 53
SINGLE = re.compile(r"([\^_]\d)(?=\d)")  # 10^53 neither
COMMAND = re.compile(r"\\([A-Za-z]+)")
NESTING = re.compile(r"(?<!\\)[{}]|\\begin|\\end|\\left|\\right|\\sqrt")
WORDS = re.compile(r"[A-Za-z0-9\s.,;:<>=+*/()|!?%-]*+", re.ASCII)  # a formula that prints as it is written


def symbol(command: str) -> str | None:
    """Return what a command without arguments prints; None where it is not known."""
    for known in (SYMBOLS, UNIT_NAMES):
        if command in known:
            return known[command]
    spec = _context().get_macro_spec(command)
    text = spec.simplify_repl if spec is not None else None
    return text if isinstance(text, str) and "%" not in text else None


def dingbat(code: str) -> str:
    r"""Return what \ding{51} of the package pifont prints: Unicode has the marks of its font, Zapf Dingbats, in its
    order."""
    return chr(0x2700 + int(code) - 32) if code.isascii() and code.isdigit() and len(code) < 4 else ""


@cache
def accented(command: str, letter: str) -> str:
    """Return a letter with its accent."""
    if len(letter) > 2 or letter.isspace():
        return letter
    return str(_reader().latex_to_text(f"\\{command}{{{letter}}}"))


def formula(source: str) -> str:
    """Return a formula in one line of text, `[formula]` where it is too long or too deep: fractions with a stroke,
    "F_1" as "F1", other indices with their mark."""
    if WORDS.fullmatch(source):
        return " ".join(source.split())
    deepest = depth = 0
    for piece in NESTING.finditer(source):
        depth += {"}": -1, "\\end": -1, "\\right": -1}.get(piece[0], 1)
        deepest = max(deepest, depth)
    if len(source) > LONGEST_FORMULA or deepest > DEEPEST_FORMULA:
        return FORMULA
    try:
        text = _reader().latex_to_text(TOUCHING.sub(r"\\ }", COMMAND.sub(_replace, _prepare(source))))
    except (RecursionError, ValueError, TypeError, LookupError, AttributeError):  # the library's ways to give up
        return FORMULA
    return in_line(text.replace(" )", ")")) or FORMULA


def unknown_commands(source: str) -> list[str]:
    """Return the commands of a formula that leave no trace in its text."""
    return [name for name in dict.fromkeys(COMMAND.findall(_prepare(source))) if _is_unknown(name)]


def _replace(command: re.Match[str]) -> str:
    """A blank in the place of a command that is not known: 3\\foo{5} is not 35."""
    return "\\ " if _is_unknown(command[1]) else command[0]


def _is_unknown(command: str) -> bool:
    return command not in SILENT and _context().get_macro_spec(command) is None


def _prepare(source: str) -> str:
    """Return a formula with what the library reads right in the place of what it runs together."""
    source = NO_DELIMITER.sub("", PLACEHOLDER.sub("", source))
    source = SINGLE.sub(r"\1\\ ", FRACTION.sub(r"\\frac", OVER.sub(r"\\frac{\1}{\2}", source)))
    return EXPONENT.sub(lambda one: f"^{{({one[1]})}}" if COMPOUND.search(one[1]) else one[0], source)


@cache
def _context():  # type: ignore[no-untyped-def]
    context = get_default_latex_context_db()
    macros = [MacroTextSpec("frac", simplify_repl=_fraction), MacroTextSpec("sqrt", simplify_repl=_root)]
    names = {**UNIT_NAMES, **SYMBOLS}.items()
    macros += [MacroTextSpec(name, simplify_repl=text.replace("%", "%%")) for name, text in names if name.isalpha()]
    context.add_context_category("aisr", macros=macros, prepend=True)
    return context


@cache
def _reader() -> LatexNodes2Text:
    # It warns of what it cannot read, formula by formula.
    logging.getLogger("pylatexenc").addHandler(logging.NullHandler())
    return LatexNodes2Text(latex_context=_context(), math_mode="text", keep_comments=False)


def _fraction(node, l2tobj) -> str:  # type: ignore[no-untyped-def]
    return fraction(*_arguments(node, l2tobj))


def _root(node, l2tobj) -> str:  # type: ignore[no-untyped-def]
    degree, text = _arguments(node, l2tobj)
    return root(text, degree) if text else ""


def _arguments(node, l2tobj) -> list[str]:  # type: ignore[no-untyped-def]
    """Return the texts of two arguments; empty for one that is not there."""
    parts = node.nodeargd.argnlist if node.nodeargd else []
    texts = [l2tobj.nodelist_to_text([one]) if one is not None else "" for one in parts]
    return [*texts, "", ""][:2]
