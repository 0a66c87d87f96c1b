"""LaTeX source as tokens, each at its line: commands, braces, text, ends of paragraphs; what is known of its commands,
and what its symbols look like in print."""

import logging
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal, NamedTuple

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

from aisr.paper.draft import Place
from aisr.paper.readers.files import Files

Kind = Literal["command", "open", "close", "bracket", "math", "cell", "par", "parameter", "text"]
# In a line: a command with the blanks behind its letters, a special character, or text up to the next of them.
PIECE = re.compile(r"\\(?:([A-Za-z@]++)[ \t]*+|(.))|([{}&~\[\]])|(\$\$?)|(#++\d?)|([^\\{}&~\[\]$#]++|.)")
# What a comment begins with: a percent sign behind an even number of backslashes.
COMMENT = re.compile(r"(?<!\\)(?:\\\\)*+(%)")
VERBATIM_BEGIN = re.compile(r"\\begin\{(verbatim|Verbatim|lstlisting|minted|alltt|comment|filecontents)(\*?)\}")
MAX_DEPTH = 100  # braces within braces
KINDS: dict[str, Kind] = {"{": "open", "}": "close", "&": "cell", "~": "text", "[": "text", "]": "text"}


class Token(NamedTuple):
    """A piece of source. text: a command without its backslash, the digits of a parameter, or what stands there."""

    kind: Kind
    text: str
    place: Place

    @property
    def source(self) -> str:
        """As it is written."""
        if self.kind == "command":
            return f"\\{self.text} " if self.text[-1:].isalpha() else f"\\{self.text}"
        return f"#{self.text}" if self.kind == "parameter" else self.text


def tokens(text: str, name: str, files: Files) -> list[Token]:
    """The tokens of a file.

    Braces are balanced and of bounded depth: one without its partner ends with its paragraph, and what lies too deep is
    left out; both are noted. A `[` that has its `]` in the paragraph is a bracket, any other is text. Comments are
    gone; listings and other text as it is typed are left out and noted.
    """
    found: list[Token] = []
    lines = iter(enumerate(text.split("\n"), start=1))
    for number, line in lines:
        place = Place(name, number)
        cut = COMMENT.search(line)
        said = line[: cut.start(1)] if cut else line
        typed = VERBATIM_BEGIN.search(said)
        if typed:
            said = said[: typed.start()]
        if not said.strip() and not cut and not typed:
            found.append(Token("par", "\n\n", place))
            continue
        _line(said.lstrip(), place, found)
        if typed:
            end = f"\\end{{{typed[1]}{typed[2]}}}"
            if typed[1] not in ("comment", "filecontents"):
                files.refuse(place, f"a listing ({typed[1]}), which is no prose")
            rest = line[typed.end() :]
            while end not in rest:
                number, rest = next(lines, (0, end))
            _line(rest.partition(end)[2], Place(name, number or place.line), found)
        if not cut and not (found and found[-1].kind == "command" and found[-1].text[-1:].isalpha()):
            found.append(Token("text", " ", place))
    return _balanced(_bracketed(found), files)


def _line(said: str, place: Place, found: list[Token]) -> None:
    begin = 0
    while piece := PIECE.match(said, begin):
        begin = piece.end()
        letters, sign, special, math, parameter, text = piece.groups()
        if letters == "verb":
            mark = said[begin : begin + 1]
            end = said.find(mark, begin + 1) if mark else -1
            end = end if end >= 0 else len(said)
            found.append(Token("text", said[begin + 1 : end], place))
            begin = end + 1
        elif letters or sign:
            found.append(Token("command", letters or sign, place))
        elif special:
            found.append(Token(KINDS[special], "\u00a0" if special == "~" else special, place))
        elif math:
            found.append(Token("math", math, place))
        elif parameter and parameter[-1].isdigit():
            found.append(Token("parameter", parameter[1:], place))
        else:
            found.append(Token("text", text or parameter, place))


def _bracketed(found: list[Token]) -> list[Token]:
    opened: list[list[int]] = [[]]  # the square brackets that are open, by braces
    for number, token in enumerate(found):
        if token.kind == "open":
            opened.append([])
        elif token.kind == "close":
            opened.pop()
            opened = opened or [[]]
        elif token.kind == "par":
            opened = [[]]
        elif token.text == "[":
            opened[-1].append(number)
        elif token.text == "]" and opened[-1]:
            first = opened[-1].pop()
            found[first] = found[first]._replace(kind="bracket")
    return found


def _balanced(found: list[Token], files: Files) -> list[Token]:
    """The tokens with a closing brace where one is missing, at the end of the paragraph, and without those too many."""
    opened: list[int] = []
    lone: set[int] = set()
    for number, token in enumerate(found):
        if token.kind == "open":
            opened.append(number)
        elif token.kind == "close" and opened:
            opened.pop()
        elif token.kind == "close":
            lone.add(number)
    missing = set(opened)
    for number in sorted(lone | missing)[:20]:
        kind = "{ without its partner ends with its paragraph" if number in missing else "} too many is left out"
        files.refuse(found[number].place, f"a {kind}")
    kept: list[Token] = []
    owed = 0
    for number, token in enumerate(found):
        if token.kind == "par" and owed:
            kept += [Token("close", "}", token.place)] * owed
            owed = 0
        owed += number in missing
        if number not in lone:
            kept.append(token)
    kept += [Token("close", "}", token.place) for token in found[-1:]] * owed
    return _shallow(kept, files)


def _shallow(found: list[Token], files: Files) -> list[Token]:
    """The tokens without what lies within too many braces."""
    kept: list[Token] = []
    depth = 0
    for token in found:
        depth += (token.kind == "open") - (token.kind == "close")
        if depth < MAX_DEPTH and not (depth == MAX_DEPTH - 1 and token.kind == "close"):
            kept.append(token)
        elif depth == MAX_DEPTH and token.kind == "open":
            files.refuse(token.place, f"what lies within {MAX_DEPTH} braces is left out")
    return kept


def plain(found: Sequence[Token]) -> str:
    """Tokens as they are written, without blanks around."""
    return "".join(token.source for token in found).strip()


def split(name: str) -> Iterator[str]:
    """The keys of a list such as `a, b`."""
    return (one.strip() for one in name.split(",") if one.strip())


# --- What LaTeX's symbols, accents and formulas look like in print, by pylatexenc.

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


# --- What is known of LaTeX's commands and environments: their arguments, and what of them is text.


def _listed(names: str) -> list[str]:
    return names.split()


# Commands without words of their own, with the arguments that are dropped: m in braces, o in square brackets, s a star.
DROPPED = {
    **dict.fromkeys(
        _listed(
            "vspace hspace pagestyle thispagestyle usetikzlibrary bibliographystyle phantom "
            "hphantom vphantom pagenumbering index glsadd hypersetup captionsetup sisetup lstset theoremstyle "
            "crefname Crefname todo thanks author date affil affiliation institute email keywords thinmuskip "
            "pdfinfo pdfoutput setmainfont tikzset pgfplotsset geometry linespread selectlanguage bibdata "
            "citestyle setcitestyle marginpar stepcounter refstepcounter fontfamily fontseries fontshape "
            "cellcolor rowcolor columncolor color pagecolor arraybackslash cmidrule cline hhline specialrule "
            "addlinespace includeonly newcounter newlength acmConference acmYear acmDOI acmISBN acmPrice "
            "titlerunning authorrunning icmltitlerunning runninghead numberwithin AtBeginDocument AtEndDocument "
            "subjclass pdfstringdefDisableCommands lhead rhead chead lfoot rfoot cfoot IEEEauthorblockN "
            "IEEEauthorblockA tabletypesize tablewidth tablecolumns tablenum tablefontsize altaffiltext altaffilmark "
            "facility facilities software orcid dataset movetabledown movetableright phm"
        ),
        "som",
    ),
    **dict.fromkeys(
        _listed(
            "setlength addtolength setcounter addtocounter settowidth newtheorem fontsize rule "
            "DeclareFieldFormat definecolorset newcolumntype DeclareGraphicsExtensions counterwithin "
            "hyphenationpenalty icmlaffiliation icmlauthor icmlcorrespondingauthor newfloat"
        ),
        "somom",
    ),
    **dict.fromkeys(_listed("usepackage RequirePackage documentclass PassOptionsToPackage LoadClass"), "omo"),
    **dict.fromkeys(
        _listed("definecolor colorlet DeclareMathAlphabet SetMathAlphabet titleformat titlespacing"), "sommm"
    ),
    "cmidrule": "p",
    "addlinespace": "o",
    "DeclareUnicodeCharacter": "mm",
    "DeclareCaptionType": "omo",
    "resizebox": "smm",
    "scalebox": "mo",
    "rotatebox": "om",
    "raisebox": "moo",
    "parbox": "ooom",
    "makebox": "oo",
    "framebox": "oo",
    "mbox": "",
    "fbox": "",
    "textcolor": "om",
    "colorbox": "om",
    "fcolorbox": "omm",
    "adjustbox": "m",
    "href": "om",
    "selectfont": "",
    "foreignlanguage": "om",
    "fontencoding": "m",
    "footnotemark": "o",
    "pagebreak": "o",
    "nopagebreak": "o",
    "texorpdfstring": "",
    "newtheorem": "smomo",
    "icmltitle": "m",
    "tablehead": "m",
}
# Those of them that make text or formulas bold, which marks the best number of a table.
BOLD = ("textbf", "bf", "bfseries")
BOLD_MATH = frozenset(("mathbf", "boldsymbol", "bm", "bf", "textbf", "pmb"))
# Commands that only change how their text looks, or do nothing that is read.
PLAIN = frozenset(
    _listed(
        "textbf textit textsc texttt textsf textrm textsl textup textmd textnormal emph underline uline "
        "uwave sout st hl centering raggedright raggedleft small footnotesize scriptsize tiny normalsize "
        "large Large LARGE huge Huge bf it sc tt sf rm sl em bfseries itshape scshape ttfamily sffamily "
        "rmfamily slshape mdseries upshape normalfont boldmath unboldmath noindent indent par bigskip "
        "medskip smallskip clearpage cleardoublepage newpage maketitle tableofcontents listoffigures "
        "listoftables toprule midrule bottomrule hline relax "
        "protect leavevmode null strut ignorespaces unskip xspace makeatletter makeatother frontmatter "
        "mainmatter backmatter sloppy fussy onecolumn twocolumn FloatBarrier balance nobreak goodbreak "
        "flushbottom raggedbottom vfill hfil hfill vfil ensuremath text textsuperscript textsubscript mbox "
        "url path nolinkurl doi enquote uppercase lowercase MakeUppercase MakeLowercase textls acl "
        "arraybackslash rowstyle doublespacing singlespacing onehalfspacing printbibliography newblock "
        "thefootnote thetable thefigure thesection theequation and baselineskip linewidth textwidth "
        "columnwidth hskip noalign displaystyle textstyle scriptstyle unitlength columnsep tabcolsep "
        "parindent parskip hsize vsize bgroup egroup begingroup endgroup nonumber notag quad hss hrule "
        "vrule hrulefill dotfill break penalty citename bibnamedelima pdfinfoomitdate pdfsuppressptexinfo "
        "pdftrailerid pdfoutput belowcaptionskip abovecaptionskip phantomsection hbox vbox expandafter "
        "arraystretch baselinestretch looseness emergencystretch tolerance hbadness vbadness appendixname "
        "today colhead tableline rotate phn phd phs tablebreak twocolhead nocolhead acknowledgments acknowledgements"
    )
)
# Commands whose argument or arguments are text, parted by a blank: units and numbers.
JOINED = {"SI": 2, "qty": 2, "num": 1, "si": 1, "unit": 1, "ang": 1, "SIrange": 3, "numrange": 2, "ce": 1}
MATH = frozenset(
    f"{name}{star}"
    for name in (
        _listed(
            "equation align gather multline eqnarray math displaymath flalign alignat dmath split aligned subequations"
        )
    )
    for star in ("", "*")
) - {"subequations", "subequations*"}
FLOATS = {
    "figure": "o", "figure*": "o", "table": "o", "table*": "o", "wrapfigure": "omom", "wraptable": "omom",
    "deluxetable": "omo", "deluxetable*": "omo", "sidewaysdeluxetable": "omo", "longdeluxetable": "omo",
    "sidewaystable": "o", "sidewaysfigure": "o", "sidewaystable*": "o", "sidewaysfigure*": "o", "SCfigure": "oo",
    "SCtable": "oo", "floatingfigure": "om", "margintable": "o", "marginfigure": "o", "teaserfigure": "",
}  # fmt: skip
SUBFLOATS = {"subfigure": "om", "subtable": "om", "subfigure*": "om", "subtable*": "om"}
TABULARS = {
    "tabular": "om", "tabular*": "mom", "tabularx": "mom", "tabulary": "mom", "longtable": "om", "tabu": "m",
    "tblr": "om", "xltabular": "mom", "supertabular": "m", "array": "om", "longtabu": "m", "NiceTabular": "om",
}  # fmt: skip
CODED = "a drawing by code"
LONG = ("longtable", "xltabular", "longtabu", "supertabular")  # these go over pages, and have captions of their own
# Drawn by code, or no prose; with what they are called in the list of what was not read.
SKIPPED = {
    **dict.fromkeys(_listed("tikzpicture pgfpicture picture axis forest circuitikz pspicture"), CODED),
    **dict.fromkeys(_listed("algorithm algorithm* algorithmic algorithm2e"), "an algorithm"),
    "CCSXML": "", "filecontents": "", "filecontents*": "",
}  # fmt: skip
LISTS = frozenset(_listed("itemize enumerate description compactitem compactenum inparaenum asparaenum trivlist list"))
# Environments whose begin takes arguments that are dropped; all others take none but what is in square brackets.
ARGUMENTS = {
    "minipage": "ooom", "multicols": "m", "adjustbox": "m", "subequations": "", "thebibliography": "m", "tcolorbox":
    "o", "spacing": "m", "adjustwidth": "mm", "list": "mm", "mdframed": "o", "threeparttable": "o", "tablenotes": "o",
    "landscape": "", "floattable": "", "rotatetable": "", "splittabular": "m", "center": "", "icmlauthorlist": "",
    "CJK": "mm", "CJK*": "mm", "otherlanguage": "m",
}  # fmt: skip
KNOWN = (
    frozenset(
        _listed(
            "document abstract center flushleft flushright quote quotation small footnotesize theorem lemma "
            "proof definition corollary proposition remark example titlepage appendices acks keywords"
        )
    )
    | ARGUMENTS.keys()
)
LEVELS = {
    "part": 0, "chapter": 0, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5,
}  # fmt: skip
IN_BRACKETS = frozenset(
    _listed(
        "cite citep parencite autocite citealp footcite footcitetext supercite smartcite fullcite "
        "citeyearpar cites parencites autocites Citep Parencite Autocite onlinecite citenum footcites "
        "supercites"
    )
)
TEXTUAL = frozenset(
    _listed(
        "citet textcite citealt newcite citeauthor citeyear citetitle Citet Textcite textcites citeA "
        "shortcite posscite Citeauthor citeN shortciteN"
    )
)
REFERENCES = frozenset(
    _listed("ref autoref cref Cref eqref subref vref Vref labelcref pageref cpageref nameref fref Fref tref Tref sref")
)
