"""LaTeX's commands: what symbols, accents and formulas print, and the arguments of commands and environments."""

import logging
import re
from functools import cache

from pylatexenc.latex2text import LatexNodes2Text, MacroTextSpec, get_default_latex_context_db

# --- What LaTeX's symbols, accents and formulas look like in print, by pylatexenc.

LONGEST_FORMULA = 4_000  # characters
DEEPEST_FORMULA = 25  # braces and environments; the library goes down by recursion
FORMULA = "[formula]"
ACCENTS = frozenset("'`^\"~=.cvHkrbdut")  # commands with the letter that they stand on as argument
# What the library leaves out, or means otherwise than print does.
SYMBOLS = {
    "textless": "<", "textgreater": ">", "textbar": "|", "textasciicircum": "^", "S": "§", "P": "¶", "copyright": "©",
    "euro": "€", "pounds": "£", "ddag": "‡", "-": "", "/": "", "@": "", "\\": " ", "%": "%", "xspace": "",
    "newline": " ", "linebreak": " ", "tabularnewline": " ", "LaTeX": "LaTeX", "TeX": "TeX", "slash": "/",
    "textohm": "Ω", "degree": "°", "hfill": " ", "enspace": " ", "nobreakspace": " ", "thinspace": " ", "quad": " ",
    "qquad": " ", "textquotedbl": '"', "allowbreak": "", "cmark": "✓", "xmark": "✗", "checkmark": "✓", "sep": "; ",
}  # fmt: skip
# Units of siunitx.
SYMBOLS |= {
    "percent": "%", "metre": "m", "meter": "m", "second": "s", "gram": "g", "hertz": "Hz", "watt": "W",
    "joule": "J", "kelvin": "K", "ampere": "A", "volt": "V", "newton": "N", "pascal": "Pa", "mole": "mol", "ohm": "Ω",
    "degree": "°", "celsius": "°C", "degreeCelsius": "°C", "byte": "B", "minute": "min", "hour": "h", "day": "d",
    "litre": "L", "liter": "L", "electronvolt": "eV", "tesla": "T", "decibel": "dB", "molar": "M", "femto": "f",
    "pico": "p", "nano": "n", "micro": "µ", "milli": "m", "centi": "c", "kilo": "k", "mega": "M", "giga": "G",
    "tera": "T", "per": "/", "square": "", "squared": "^2", "cubed": "^3", "us": "µs", "um": "µm", "kilogram": "kg",
}  # fmt: skip
FRACTION = re.compile(r"\\[dt]frac(?![A-Za-z])")
NO_DELIMITER = re.compile(r"\\(?:left|right)\s?\.")  # one that is not printed
NESTING = re.compile(r"(?<!\\)[{}]|\\begin|\\end|\\left|\\right|\\sqrt")
WORDS = re.compile(r"[A-Za-z0-9\s.,;:<>=+*/()|!?%-]*+", re.ASCII)  # a formula that prints as it is written
# What is printed without its mark: F_1, also alone, as in F$_1$; behind an exponent (the group) the mark stays.
SUBSCRIPT = re.compile(r"(\^[^\W_]+_)|(?:(?<=[^\W\d_])|^)_(?=\d)")


def symbol(command: str) -> str | None:
    """What a command without arguments prints; None where it is not known."""
    if command in SYMBOLS:
        return SYMBOLS[command]
    spec = _context().get_macro_spec(command)
    text = spec.simplify_repl if spec is not None else None
    return text if isinstance(text, str) and "%" not in text else None


def dingbat(code: str) -> str:
    r"""What \ding{51} of the package pifont prints: Unicode has the marks of its font, Zapf Dingbats, in its order."""
    return chr(0x2700 + int(code) - 32) if code.isascii() and code.isdigit() and len(code) < 4 else ""


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
        text = _reader().latex_to_text(NO_DELIMITER.sub("", FRACTION.sub(r"\\frac", source)))
    except (RecursionError, ValueError, TypeError, LookupError, AttributeError):  # the library's ways to give up
        return FORMULA
    return SUBSCRIPT.sub(r"\1", " ".join(text.split())) or FORMULA


@cache
def _context():  # type: ignore[no-untyped-def]
    context = get_default_latex_context_db()
    context.add_context_category("aisr", macros=[MacroTextSpec("frac", simplify_repl=_fraction)], prepend=True)
    return context


@cache
def _reader() -> LatexNodes2Text:
    # It warns of what it cannot read, formula by formula.
    logging.getLogger("pylatexenc").addHandler(logging.NullHandler())
    return LatexNodes2Text(latex_context=_context(), math_mode="text", keep_comments=False)


def _fraction(node, l2tobj) -> str:  # type: ignore[no-untyped-def]
    parts = [l2tobj.nodelist_to_text([one]) for one in (node.nodeargd.argnlist if node.nodeargd else [])]
    return "/".join(part if part.strip().isalnum() else f"({part.strip()})" for part in parts[:2])


# --- What is known of LaTeX's commands and environments: their arguments, and what of them is text.


def name_set(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Commands without words of their own, with the arguments that are dropped: m in braces, o in square brackets, s a star.
# What only a preamble has is not here: its words are no text.
DROPPED = {
    **dict.fromkeys(
        name_set(
            "vspace hspace pagestyle thispagestyle bibliographystyle phantom hphantom vphantom pagenumbering index "
            "glsadd hypersetup sisetup lstset todo thanks author date affil affiliation institute email "
            "keywords selectlanguage marginpar fontfamily fontseries fontshape cellcolor "
            "rowcolor columncolor pagecolor cline cdashline hhline Xhline newcounter newlength titlerunning "
            "authorrunning runninghead AtBeginDocument AtEndDocument pdfstringdefDisableCommands "
            "IEEEauthorblockN IEEEauthorblockA tabletypesize tablewidth tablecolumns tablenum altaffiltext "
            "altaffilmark facility facilities software orcid dataset movetabledown phm ead address corref cortext "
            "fnref fntext tnoteref tnotetext journal ccsdesc received revised accepted Description shorttitle "
            "shortauthors icmltitlerunning deleted hypertarget hyperlink setkeys citestyle setcitestyle"
        ),
        "som",
    ),
    **dict.fromkeys(
        name_set(
            "setlength addtolength settowidth rule icmlaffiliation icmlauthor "
            "icmlcorrespondingauthor"
        ),
        "somom",
    ),
    **dict.fromkeys(name_set("usepackage RequirePackage"), "omo"),
    **dict.fromkeys(name_set("colorlet titleformat titlespacing"), "sommm"),
    "cmidrule": "p", "lstinputlisting": "om", "nocite": "m", "verbatiminput": "m", "inputminted": "omm",
    "specialrule": "mmm", "fontsize": "mm", "definecolor": "mmm", "color": "om", "textcolor": "om", "addlinespace": "o",
    "resizebox": "smm", "scalebox": "mo", "rotatebox": "om", "raisebox": "moo", "parbox": "ooom", "makebox": "oo",
    "framebox": "oo", "mbox": "", "fbox": "", "colorbox": "om", "fcolorbox": "omm",
    "adjustbox": "m", "href": "om", "selectfont": "", "foreignlanguage": "om", "fontencoding": "m",
    "markboth": "mm", "IfFileExists": "mm", "noalign": "m", "addcontentsline": "mmm", "footnotemark": "o",
    "pagebreak": "o", "nopagebreak": "o", "texorpdfstring": "", "icmltitle": "m", "extracolsep": "m", "hyperref": "o",
    "FBoptions": "ooo",  # of the boxes of floatrow: width, height, place
}  # fmt: skip
# Those of them that make text or formulas bold, which marks the best number of a table.
BOLD = ("textbf", "bf", "bfseries")
BOLD_MATH = frozenset(("mathbf", "boldsymbol", "bm", "bf", "textbf", "pmb"))
# Commands that only change how their text looks, or do nothing that is read.
PLAIN = name_set(
    "textbf textit textsc texttt textsf textrm textsl textup textmd textnormal emph underline uline uwave sout "
    "st hl centering raggedright raggedleft small footnotesize scriptsize tiny normalsize large Large LARGE "
    "huge Huge bf it sc tt sf rm sl em bfseries itshape scshape ttfamily sffamily rmfamily slshape mdseries "
    "upshape normalfont boldmath unboldmath noindent indent par bigskip medskip smallskip clearpage "
    "cleardoublepage newpage maketitle tableofcontents listoffigures listoftables toprule midrule bottomrule "
    "hline botrule hdashline relax protect leavevmode null strut ignorespaces unskip makeatletter makeatother "
    "mainmatter backmatter sloppy fussy onecolumn twocolumn FloatBarrier balance nobreak goodbreak flushbottom "
    "raggedbottom vfill hfil hfill vfil ensuremath text textsuperscript textsubscript mbox url path nolinkurl "
    "doi uppercase lowercase MakeUppercase MakeLowercase textls arraybackslash rowstyle "
    "doublespacing singlespacing onehalfspacing printbibliography newblock thefootnote "
    "and baselineskip linewidth textwidth columnwidth hskip displaystyle "
    "textstyle scriptstyle unitlength columnsep tabcolsep parindent parskip hsize vsize bgroup egroup "
    "operatorname begingroup endgroup nonumber notag quad hss hrule vrule hrulefill dotfill break penalty "
    "pdfoutput belowcaptionskip abovecaptionskip "
    "phantomsection hbox vbox expandafter arraystretch baselinestretch looseness emergencystretch tolerance "
    "appendixname today RawFloats colhead tableline rotate phn phd phs tablebreak twocolhead nocolhead "
    "IEEEPARstart dropcap lettrine added backmatter IEEEpeerreviewmaketitle object qed"
)
MATH = frozenset(
    f"{name}{star}"
    for name in name_set("equation align gather multline eqnarray math displaymath flalign alignat dmath split aligned")
    for star in ("", "*")
)
FLOATS = {
    "figure": "o", "figure*": "o", "table": "o", "table*": "o", "wrapfigure": "omom", "wraptable": "omom",
    "deluxetable": "omo", "deluxetable*": "omo", "sidewaysdeluxetable": "omo", "longdeluxetable": "omo",
    "sidewaystable": "o", "sidewaysfigure": "o", "sidewaystable*": "o", "sidewaysfigure*": "o", "SCfigure": "oo",
    "SCtable": "oo", "floatingfigure": "om", "margintable": "o", "marginfigure": "o", "teaserfigure": "",
}  # fmt: skip
SUBFLOATS = {"subfigure": "om", "subtable": "om", "subfigure*": "om", "subtable*": "om"}
TABULARS = {
    "tabular": "om", "tabular*": "mom", "tabularx": "mom", "tabulary": "mom", "longtable": "om", "tabu": "m",
    "tblr": "om", "xltabular": "mom", "supertabular": "m", "array": "om", "longtabu": "m", "NiceTabular": "omo",
    "talltblr": "om", "longtblr": "om", "NiceTabular*": "momo", "NiceTabularX": "momo",
    "xtabular": "om", "supertabular*": "mm", "mpsupertabular": "om",
}  # fmt: skip
CODED = "a drawing by code"
# These go over pages, and have captions of their own.
LONG = name_set("longtable xltabular longtabu supertabular longtblr talltblr")
# Drawn by code, or no prose; with what they are called in the list of what was not read.
SKIPPED = {
    **dict.fromkeys(name_set("tikzpicture pgfpicture picture axis forest circuitikz pspicture"), CODED),
    **dict.fromkeys(name_set("algorithm algorithm* algorithmic algorithm2e"), "an algorithm"),
    **dict.fromkeys(("CSLReferences", "cslreferences"), "a list of references"),
    "CCSXML": "", "filecontents": "", "filecontents*": "",
}  # fmt: skip
LISTS = name_set("itemize enumerate description compactitem compactenum inparaenum asparaenum trivlist list")
# Environments whose begin takes arguments that are dropped; all others take none but what is in square brackets.
ARGUMENTS = {
    "minipage": "ooom", "floatrow": "o", "multicols": "m", "adjustbox": "m", "subequations": "", "thebibliography":
    "m", "tcolorbox": "o", "spacing": "m", "adjustwidth": "mm", "list": "mm", "mdframed": "o", "threeparttable": "o",
    "tablenotes": "o", "landscape": "", "floattable": "", "rotatetable": "", "splittabular": "m", "center": "",
    "icmlauthorlist": "",
    "CJK": "mm", "CJK*": "mm", "otherlanguage": "m",
}  # fmt: skip
# Environments that are a section of their own; the last two are also commands, of AASTeX.
HEADED = {
    "abstract": "Abstract", "acks": "Acknowledgments", "acknowledgments": "Acknowledgments",
    "acknowledgements": "Acknowledgments",
}  # fmt: skip
KNOWN = (
    name_set(
        "document center flushleft flushright quote quotation small footnotesize theorem lemma proof "
        "definition corollary proposition remark example titlepage keywords keyword IEEEkeywords "
        "frontmatter highlights ruledtabular widetext acronym ThreePartTable"
    )
    | ARGUMENTS.keys()
    | HEADED.keys()
)
LEVELS = {
    "part": 0, "chapter": 0, "section": 1, "subsection": 2, "subsubsection": 3, "paragraph": 4, "subparagraph": 5,
}  # fmt: skip
IN_BRACKETS = name_set(
    "cite citep parencite autocite citealp footcite footcitetext supercite smartcite fullcite citeyearpar cites "
    "parencites autocites Citep Parencite Autocite onlinecite citenum footcites supercites"
)
TEXTUAL = name_set(
    "citet textcite citealt newcite citeauthor citeyear citetitle Citet Textcite textcites citeA shortcite "
    "posscite Citeauthor citeN shortciteN"
)
REFERENCES = name_set("ref autoref cref Cref eqref subref vref Vref labelcref pageref cpageref nameref")
