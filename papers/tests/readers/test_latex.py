"""LaTeX papers become drafts: every sentence at its line, floats with their cells, references and citations."""

import unicodedata
from pathlib import Path

import pytest
from PIL import Image

from aisr import UserError
from aisr_papers.check.questions import collect_checks
from aisr_papers.draft import Draft, Sentence
from aisr_papers.draft_record import DraftRecord
from aisr_papers.readers.latex import read

WHOLE = "\\documentclass{article}\n%s\n\\begin{document}\n%s\n\\end{document}\n"


def picture_names(draft: Draft) -> dict[str, list[str]]:
    """The files that each figure shows, of those that show some."""
    return {one.name: [picture.file.name for picture in one.pictures] for one in draft.floats.values() if one.pictures}


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8")


def read_body(folder: Path, body: str, preamble: str = "") -> Draft:
    write(folder, "main.tex", WHOLE % (preamble, body))
    return read(folder)


def sentences(draft: Draft) -> list[Sentence]:
    return [one for each in draft.paragraphs for one in each.sentences]


def test_each_sentence_stands_at_the_file_and_line_that_it_begins_in(tmp_path: Path) -> None:
    write(tmp_path, "sections/a.tex", "In a.\n\\input{sections/b.tex}\nBack in a.")
    write(tmp_path, "sections/b.tex", "\nIn b.\n\\endinput\nNever said.")
    body = "First one. Second\none goes on. % a remark\n\n\nThird\none, 5\\,\\% of it.\n\n"
    draft = read_body(tmp_path, body + "\\include{sections/a}\n\\input sections/b\n")
    assert [(str(one.place), one.text) for one in sentences(draft)] == [
        ("main.tex:4", "First one."),
        ("main.tex:4", "Second one goes on."),
        ("main.tex:8", "Third one, 5 % of it."),
        ("sections/a.tex:1", "In a."),
        ("sections/b.tex:2", "In b."),
        ("sections/a.tex:3", "Back in a."),
        ("sections/b.tex:2", "In b."),
    ]


@pytest.mark.parametrize(
    ("preamble", "body", "expected"),
    [
        (r"\newcommand\pair[2][left]{#1 and #2}", r"\pair{right}, \pair[up]{down}.", "left and right, up and down."),
        (r"\DeclareMathOperator{\gate}{gate}", r"Here $\gate(w) = \frac{1}{w+1}$.", "Here gate(w) = 1/(w+1)."),
        ("", r"Here \[\left[ a\right] = \frac{1}{w+1}\] holds.", "Here [ a] = 1/(w+1) holds."),
        (r"\newif\ifdraft\draftfalse", r"One \ifdraft never\else always\fi. \iffalse no \if x\fi no\fi", "One always."),
        (r"\let\old\emph \NewDocumentCommand{\two}{m m}{#2#1}", r"\old{It} is \two{b}{a}.", "It is ab."),
        ("", r"G\"odel, \v{S}i, \c{c}a, \ss{} \& \alpha.", "Gödel, Ši, ça, ß & α."),
        (r"\newcommand{\afirst}{A first}", "\\afirst\\\nendpoints.", "A first endpoints."),
        ("", r"$10^{2}_{2}$, $x^{ab}_2$, $x_1^2$.", "10^2_2, x^ab_2, x1^2."),
        ("", r"An empty $\sqrt$ here.", "An empty [formula] here."),
        ("", r"\ding{51} and \ding{55}.", "✓ and ✗."),
        ("", r"\SI{5}{\kilo\metre}, \qty{3}{\percent}, \SIrange{1}{5}{km/h}.", "5 km, 3 %, 1 to 5 km/h."),
        ("", r"\nicefrac{1}{2}, 10\textsuperscript{-5}, 5\tnote{a}, 1\textsuperscript{st}.", "1/2, 10^-5, 5^a, 1st."),
        ("", r"It \replaced{is}{was} \deleted{not}so, \ie fast, \eg{} here.", "It is so, i.e. fast, e.g. here."),
    ],
)  # fmt: skip
def test_macros_and_symbols_read_as_in_print(tmp_path: Path, preamble: str, body: str, expected: str) -> None:
    draft = read_body(tmp_path, body, preamble)
    assert " ".join(one.text for one in sentences(draft)) == expected
    assert draft.unread == ()


def test_a_sentence_may_begin_with_a_small_letter_and_end_as_chinese_does(tmp_path: Path) -> None:
    body = r"""It is fast. celerite is faster (see above). $\sigma$ is small. We use a loss (e.g. of 2 min.
length, etc.) and more, resp. less. 召回率为83.9！为什么？因为“风”。"""
    assert [one.text for one in sentences(read_body(tmp_path, body))] == [
        "It is fast.",
        "celerite is faster (see above).",
        "σ is small.",
        "We use a loss (e.g. of 2 min. length, etc.) and more, resp. less.",
        "召回率为83.9！",
        "为什么？",
        "因为“风”。",
    ]


PANDOC = r"""
\hypertarget{introduction}{%
\section{Introduction}\label{introduction}}

Research (\protect\hyperlink{ref-obi}{Obi, 2015}) is shared, as Section \ref{introduction} says.

\begin{CSLReferences}{1}{0}
\leavevmode\vadjust pre{\hypertarget{ref-obi}{}}%
Obi, W. (2015). Are we wasting data. \emph{Collabra}, 1. doi:10.1525/collabra.13
\end{CSLReferences}
"""


def test_what_pandoc_makes_of_r_markdown(tmp_path: Path) -> None:
    draft = read_body(tmp_path, PANDOC, r"\abstract{Packages help. They do.}")
    assert [one.reason for one in draft.unread] == ["a list of references (CSLReferences), which is not read"]
    assert [(each.headings, [one.text for one in each.sentences]) for each in draft.paragraphs] == [
        (("Abstract",), ["Packages help.", "They do."]),
        (("Introduction",), ["Research (Obi, 2015) is shared, as Section 1 says."]),
    ]


def test_headings_lists_and_footnotes(tmp_path: Path) -> None:
    body = r"""
\begin{abstract}Short.\end{abstract}
\section{One}\label{s}
Text\footnote{A note. Of two.} goes on in \autoref{t}.
\subsection*{Inner}
\begin{itemize}\item a thing; \item another\end{itemize}
\section{Two $F_1$}\label{t} More, as \cref{{s}} and Section~\ref{u} say. \acknowledgments We thank.
\begin{appendix}
\section{Extra}\label{u} \begin{claim}Last.\end{claim}
\end{appendix}"""
    draft = read_body(tmp_path, body, r"\newtheorem{claim}[theorem]{Claim}")
    assert draft.unread == ()
    paragraphs = [(each.headings, [one.text for one in each.sentences]) for each in draft.paragraphs]
    assert paragraphs == [
        (("Abstract",), ["Short."]),
        (("One",), ["Text goes on in Section 2."]),
        (("One",), ["A note.", "Of two."]),
        (("One", "Inner"), ["a thing;"]),
        (("One", "Inner"), ["another"]),
        (("Two F1",), ["More, as Section 1 and Section A say."]),
        (("Acknowledgments",), ["We thank."]),
        (("Extra",), ["Last."]),
    ]


TABLES = r"""
\begin{table*}[t]\centering
\caption[short]{Scores of \emph{all}. More is better.}\label{tab:x}
\begin{tabular}{@{}l|rr@{}}\toprule
 & \multicolumn{2}{c}{Test} \\ \cmidrule(lr){2-3}
Name & P & R \\ \midrule
\multicolumn{3}{l}{\textit{Hard ones}} \\
\multirow{2}{*}{Ours} & 1.5 & $-2$ \\
  & \textbf{3} & \makecell{4 \\ 5} \\[2pt] \bottomrule
\end{tabular}
\end{table*}
\begin{table}\caption{Second.}\label{tab:y}\begin{tabular}{ll}a & b|c\end{tabular}\end{table}
See Tables~\ref{tab:x} and~\ref{tab:y}. See \cref{tab:x,tab:y}. See Table 2 (\ref{eq:1}).
\begin{equation}x\label{eq:1}\end{equation}
"""


def test_tables_keep_their_cells_below_their_headings(tmp_path: Path) -> None:
    draft = read_body(tmp_path, TABLES)
    first, second = draft.floats.values()
    assert (first.key, first.name, first.kind) == ("tab:x", "Table 1", "table")
    assert first.caption == "Scores of all. More is better."
    assert first.rows.split("\n") == ["\tTest\tTest", "Name\tP\tR", "Hard ones", "Ours\t1.5\t-2", "Ours\t3\t4 5"]
    assert (second.name, second.caption, second.rows) == ("Table 2", "Second.", "a\tb∣c")
    in_text = sentences(draft)
    assert [one.text for one in in_text[:2]] == ["See Tables 1 and 2.", "See Tables 1 and 2."]
    assert [one.float_keys for one in in_text[:3]] == [("tab:x", "tab:y"), ("tab:x", "tab:y"), ("tab:y",)]
    assert draft.unread == ()


def test_figures_have_their_pictures_and_parts(tmp_path: Path) -> None:
    (tmp_path / "figures").mkdir()
    for name in ("a.png", "b.jpg"):
        Image.new("RGB", (4, 4)).save(tmp_path / "figures" / name)
    write(tmp_path, "figures/plot.pdf", "no picture of points")
    body = r"""
\begin{figure}
  \begin{subfigure}[b]{.5\textwidth}\includegraphics[width=1cm]{a}\caption{Left.}\label{fig:l}\end{subfigure}
  \subfloat[Right.\label{fig:r}]{\includegraphics{b.jpg}}
  \caption{Both.}\label{fig:both}
\end{figure}
\begin{figure}\includegraphics{plot}\caption{Drawn.}\label{fig:d}\end{figure}
\begin{figure}\begin{tikzpicture}\draw (0,0);\end{tikzpicture}\caption{By code.}\end{figure}
\begin{figure}
  \begin{minipage}{3cm}\vskip -0.6em\includegraphics{a}\subcaption{Bog.}\end{minipage}
  \begin{minipage}{3cm}\includegraphics{b}\includegraphics{a}\subcaption{Heath.}\end{minipage}\caption{Sites.}
\end{figure}
Figure~\ref{fig:l} and \autoref{fig:both}, Fig. 2 and Figs.~1b--2 and 3. In Figure 4b F1 falls by 3 points."""
    draft = read_body(tmp_path, body, r"\graphicspath{{figures/}}")
    assert {one.name: (one.key, one.caption) for one in draft.floats.values()} == {
        "Figure 1": ("fig:both", "Both."),
        "Figure 1a": ("fig:l", "Left."),
        "Figure 1b": ("fig:r", "Right."),
        "Figure 2": ("fig:d", "Drawn."),
        "Figure 3": ("Figure 3", "By code."),
        "Figure 4": ("Figure 4", "Sites."),
        "Figure 4a": ("Figure 4a", "Bog."),
        "Figure 4b": ("Figure 4b", "Heath."),
    }
    assert picture_names(draft) == {
        "Figure 1a": ["a.png"],
        "Figure 1b": ["b.jpg"],
        "Figure 2": ["plot.pdf"],
        "Figure 4a": ["a.png"],
        "Figure 4b": ["b.jpg", "a.png"],
    }
    record = collect_checks(draft, {}).claims[0].record
    assert isinstance(record, DraftRecord)
    assert [(one.image_caption, one.img_path) for one in record.evidence_bundle][:3] == [
        (["Figure 4: Sites."], None),
        (["Figure 4a: Bog."], "figures/a.png"),
        (["Figure 4b: Heath."], "figures/b.jpg"),
    ]
    assert draft.paragraphs[0].sentences[0].float_keys == ("fig:l", "fig:both", "fig:d", "fig:r", "Figure 3")
    assert [(one.place.line, one.reason.split(":")[0].split(" (")[0]) for one in draft.unread] == [
        (11, "a drawing by code"),
    ]


@pytest.mark.parametrize(
    "source",
    [
        r"\includegraphics{{a b}.png}", r'\includegraphics{"a b.png"}', "\\includegraphics{ü.png}",
        "\\includegraphics{u\u0308}", r"\plotone{a b}", r"\plottwo{a b}{fig[1]}",
    ],
)  # fmt: skip
def test_pictures_with_odd_names_and_those_of_aastex(tmp_path: Path, source: str) -> None:
    for name in ("fig[1].png", "a b.png", unicodedata.normalize("NFD", "ü.png")):
        write(tmp_path, name, "")
    draft = read_body(tmp_path, rf"Text. \begin{{figure}}{source}\caption{{Of odd names.}}\end{{figure}}")
    assert draft.unread == ()
    ((_, names),) = picture_names(draft).items()
    assert len(names) == (2 if "plottwo" in source else 1)


BIB = r"""@article{holm, author={Holm, Ida and Reyes, Tom\'as and others}, title={{On} B\"ohm's {F}$_1$}, year=2020,
  doi={https://doi.org/10.5555/x.1}}
@book{obi, author="Samuel {van Obi}", title="Wind", date={2022-05-01}}
@article{bad, title={no end
"""


def test_citations_of_natbib_and_biblatex(tmp_path: Path) -> None:
    write(tmp_path, "refs.bib", BIB)
    body = r"""
\citet{holm} found it. It is known \citep[see][p.~3]{holm,obi}. So it is.\cite{obi} Also \textcite{obi} and
\parencite{holm}. Both do \parencites{holm}[4]{obi}. Nobody does \citep{nobody}. So do Holm et al. (2020).
\bibliography{refs,gone}"""
    draft = read_body(tmp_path, body)
    assert [(one.text, one.work_keys) for one in draft.paragraphs[0].sentences] == [
        ("Holm et al. (2020) found it.", ("holm",)),
        ("It is known (see Holm et al., 2020; van Obi, 2022, p. 3).", ("holm", "obi")),
        ("So it is (van Obi, 2022).", ("obi",)),
        ("Also van Obi (2022) and (Holm et al., 2020).", ("obi", "holm")),
        ("Both do (Holm et al., 2020)(van Obi, 2022, 4).", ("holm", "obi")),
        ("Nobody does [@nobody].", ("nobody",)),
        ("So do Holm et al. (2020).", ("holm",)),
    ]
    assert draft.works["holm"] == ("holm", "On Böhm's F1", "10.5555/x.1")
    assert sorted(one.reason for one in draft.unread) == [
        "'gone': no such file",
        "an entry of the bibliography that cannot be read",
        "nobody: cited, but in no bibliography",
    ]


def test_a_bibliography_that_latex_made(tmp_path: Path) -> None:
    items = r"""\begin{thebibliography}{9}
\bibitem[Obi and Holm(2022)Obi, Holm]{obi} S.~Obi and I.~Holm.
\newblock How far a recorder hears.
\newblock \emph{Acoustics}, 2022. doi: 10.5555/y.
\bibitem{reyes} T. Reyes, ``Calls at night,'' 2019.
\end{thebibliography}"""
    write(tmp_path, "main.bbl", items)
    draft = read_body(tmp_path, r"They hear \cite{obi}. They call \cite{reyes}. \bibliography{gone}")
    assert [one.text for one in draft.paragraphs[0].sentences] == [
        "They hear (Obi and Holm, 2022).",
        "They call [@reyes].",
    ]
    assert draft.works["obi"] == ("obi", "How far a recorder hears", "10.5555/y")
    assert draft.works["reyes"].title == "Calls at night"


def test_what_is_not_understood_is_listed_with_its_line(tmp_path: Path) -> None:
    body = (
        "A \\strange{word} here.\n\\begin{odd}in it\\end{odd}\n\\ref{nowhere}\n\\ifnum1=1 x\\fi\n"
        "\\begin{lstlisting}\nx = {\n\\end{lstlisting}\n\\includegraphics{p}\n\\caption{c}"
    )
    notes = [(str(one.place), one.reason) for one in read_body(tmp_path, body).unread]
    assert notes == [
        ("main.tex:8", "a listing (lstlisting), which is no prose"),
        ("main.tex:4", "\\strange: not known; what is in its braces is read as text"),
        ("main.tex:5", "the environment odd: not known; what stands in it is read as text"),
        ("main.tex:7", "\\ifnum: a condition that is not followed; both of its sides are left out"),
        ("main.tex:11", "'p': a picture outside of a figure"),
        ("main.tex:12", "a caption outside of a figure or table"),
        ("main.tex:6", "\\ref{nowhere}: no such label"),
    ]


def test_which_file_is_the_paper(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no such file"):
        read(tmp_path / "none.tex")
    with pytest.raises(UserError, match="found none"):
        read(tmp_path)
    (tmp_path / "a.tex").write_text(WHOLE % ("", "From a."))
    (tmp_path / "part.tex").write_text("A part without a class.")
    assert read(tmp_path).paragraphs[0].sentences[0].text == "From a."
    assert read(tmp_path / "part.tex").paragraphs[0].sentences[0].text == "A part without a class."
    (tmp_path / "b.tex").write_text(WHOLE % ("", ""))
    with pytest.raises(UserError, match=r"found a\.tex, b\.tex; name the file itself"):
        read(tmp_path)
    with pytest.raises(UserError, match="no words in this paper"):
        read(tmp_path / "b.tex")


ALONE = "\\documentclass[../main]{subfiles}\n\\title{A chapter}\n\\begin{document}\n%s\n\\end{document}\nNot said.\n"


def test_files_that_can_be_set_alone_are_read_as_parts(tmp_path: Path) -> None:
    write(tmp_path, "sub/a.tex", ALONE % "In a. \\input{b}")
    write(tmp_path, "sub/b.tex", "In b.")  # beside the file that puts it in
    write(tmp_path, "sub/rows.tex", ALONE % "\\begin{tabular}{lr}Site & F1 \\\\ Bog & 61.0\\end{tabular}")
    body = "\\title{The whole}Before. \\subfile{sub/a} Between. \\input{sub/a}\n"
    body += "\\begin{table}\\caption{F1.}\\includestandalone[width=5cm]{sub/rows}\\end{table}\nBehind."
    draft = read_body(tmp_path, body)
    assert [one.text for one in sentences(draft)] == [
        "Before.", "In a.", "In b.", "Between.", "In a.", "In b.", "Behind.",
    ]  # fmt: skip
    assert (draft.title, draft.unread) == ("The whole", ())
    assert draft.floats["Table 1"].rows == "Site\tF1\nBog\t61.0"
    write(tmp_path, "only.tex", "\\input{main}")  # a main file without a document of its own
    assert len(sentences(read(tmp_path / "only.tex"))) == 7


TYPED = [
    (r"See \url{http://a.org/x%20y&z#1} now. And on.", "See http://a.org/x%20y&z#1 now."),
    (r"See \href{http://a.org/x%20y}{this} now. And on.", "See this now."),
    (r"See \url|http://a.org/x%20y| now. And on.", "See http://a.org/x%20y now."),
    (r"See \path{C:\a%b} and \nolinkurl{a%b} now. And on.", r"See C:\a%b and a%b now."),
    (r"It is \verb|99.5 % x| and \verb*+\b%+ now. And on.", r"It is 99.5 % x and \b% now."),
    (r"It is \lstinline[style=a]|5%| and \mintinline{c}{%d} now. And on.", "It is 5% and %d now."),
    (r"It is 5\% and \texttt{\%d} now. And on. % not this", "It is 5% and %d now."),
    (r"It is \\% not this", "It is"),
]


@pytest.mark.parametrize(("line", "expected"), TYPED)
def test_a_percent_sign_in_an_address_or_in_code_begins_no_comment(tmp_path: Path, line: str, expected: str) -> None:
    draft = read_body(tmp_path, f"\\begin{{table}}\\caption{{{line}\n}}\\end{{table}}{line}\n")
    assert sentences(draft)[0].text == expected
    assert draft.floats["Table 1"].caption.startswith(expected)


def test_what_stands_in_verbatim_environments_of_the_paper_itself_is_no_text(tmp_path: Path) -> None:
    preamble = "\\lstnewenvironment{code}{}{}\n\\DefineVerbatimEnvironment{out}{Verbatim}{}"
    body = "One.\n\\begin{code}\n{ % \\end{document}\n\\end{code}\n\\begin{out}[x]\n}\\end{out}\nTwo."
    assert [one.text for one in sentences(read_body(tmp_path, body, preamble))] == ["One.", "Two."]


def test_what_is_provided_stands_only_where_nothing_is_defined(tmp_path: Path) -> None:
    preamble = r"\newcommand{\n}{42}\def\m{7}\providecommand{\n}{??}\providecommand{\m}{?}\providecommand{\o}{5}"
    preamble += r"\providecommand{\eg}{for instance}\ProvideDocumentCommand{\n}{}{!!}"
    assert (
        sentences(read_body(tmp_path, r"We saw \n, \m, \o{} (\eg).", preamble))[0].text
        == "We saw 42, 7, 5 (for instance)."
    )
