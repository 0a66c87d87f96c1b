"""What is known of LaTeX's commands and environments: their arguments, and what of them is text."""


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
