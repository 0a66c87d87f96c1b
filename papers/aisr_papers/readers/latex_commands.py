"""What is known of LaTeX's commands and environments: their arguments, and what of them is text."""


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
# These go over pages, and have captions of their own.
LONG = name_set("longtable xltabular longtabu supertabular longtblr talltblr")
# Drawn by code, or no prose; with what they are called in the list of what was not read.
SKIPPED = {
    **dict.fromkeys(name_set("tikzpicture pgfpicture picture axis forest circuitikz pspicture"), "a drawing by code"),
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
