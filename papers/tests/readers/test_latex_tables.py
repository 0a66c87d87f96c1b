"""Tables of LaTeX papers as they are written: with notes, over pages, of AASTeX, without a float; and their numbers."""

from pathlib import Path

import pytest

from aisr_papers.draft import Draft, Float
from aisr_papers.readers.latex import read

TABULAR = r"\begin{tabular}{lr}Site & F1 \\ \hline Bog & 61.0 \\ \end{tabular}"
NOTES = r"\begin{tablenotes}\item[a] Once.\end{tablenotes}"
ROWS = "Site\tF1\nBog\t61.0"
ARTICLE = r"\documentclass{article}"


def paper(folder: Path, body: str, preamble: str = ARTICLE) -> Draft:
    (folder / "main.tex").write_text(f"{preamble}\n\\begin{{document}}\n{body}\n\\end{{document}}\n", "utf-8")
    return read(folder / "main.tex")


def table(caption: str, tabular: str = TABULAR, kind: str = "table") -> str:
    return rf"\begin{{{kind}}}\caption{{{caption}}}{tabular}\end{{{kind}}}"


def only(draft: Draft) -> Float:
    (one,) = draft.floats.values()
    return one


DELUXE = r"""\begin{floattable}\begin{deluxetable*}{lcc}[t]
\tabletypesize{\small}\tablewidth{0pt}
\tablecaption{F1 at night.\label{tab:night}}
\tablehead{\colhead{Site} & \multicolumn{2}{c}{\colhead{F1}} \\
\colhead{} & \colhead{Wren} & \colhead{Lark\tablenotemark{a}}}
\startdata
Bog & 61.0 & \nodata \\
\cutinhead{Heath}
Dry & 70.2 & 66.1
\enddata
\tablecomments{Nights without wind.}
\tablenotetext{a}{Trained once.}
\end{deluxetable*}\end{floattable}"""


def test_a_table_of_aastex(tmp_path: Path) -> None:
    draft = paper(tmp_path, r"See Table~\ref{tab:night}." + DELUXE)
    one = only(draft)
    assert (one.key, one.name, one.caption) == ("tab:night", "Table 1", "F1 at night.")
    assert one.rows == "Site\tF1\tF1\n\tWren\tLark^a\nBog\t61.0\t…\nHeath\nDry\t70.2\t66.1"
    assert one.notes == "Nights without wind. a: Trained once."
    assert draft.unread == ()
    assert draft.paragraphs[0].sentences[0].float_keys == ("tab:night",)


@pytest.mark.parametrize(
    "body",
    [
        table("F1.", rf"\begin{{threeparttable}}{TABULAR}{NOTES}\end{{threeparttable}}"),
        table("F1.", TABULAR + r"\footnotesize a Once.", "sidewaystable"),
        table("F1.", TABULAR.replace("tabular", "tblr").replace("{lr}", "{colspec={lr}}") + "a Once."),
    ],
)
def test_notes_stand_apart_from_the_caption(tmp_path: Path, body: str) -> None:
    one = only(paper(tmp_path, "Words." + body))
    assert (one.name, one.caption, one.rows, one.notes) == ("Table 1", "F1.", ROWS, "a Once.")


def test_what_a_long_table_repeats_on_each_page_is_read_once(tmp_path: Path) -> None:
    body = r"""Words.
\begin{longtable}{lr}
\caption{F1 at all sites.}\label{t}\\ \toprule Site & F1 \\ \midrule \endfirsthead
\caption[]{(continued)}\\ \toprule Site & F1 \\ \midrule \endhead
\midrule \multicolumn{2}{r}{Continued overleaf} \\ \endfoot
\bottomrule \endlastfoot
Bog & 61.0 \\
Heath & 70.2 \\
\end{longtable}
\begin{longtable}{lr}\caption{Again.}\\ Site & F1 \\ \endhead Bog & 61.0 \end{longtable}"""
    draft = paper(tmp_path, body)
    assert [(one.name, one.caption, one.rows) for one in draft.floats.values()] == [
        ("Table 1", "F1 at all sites.", f"{ROWS}\nHeath\t70.2"),
        ("Table 2", "Again.", ROWS),
    ]


def test_a_table_between_two_sentences_belongs_to_the_one_before(tmp_path: Path) -> None:
    body = "First one.\n\nThese are the scores:\n\\begin{center}" + TABULAR + r"\end{center} They fall."
    beside = r"\begin{tabular}{cc}Ida Holm & Tom Reyes\end{tabular}"
    draft = paper(tmp_path, beside + body)
    table = only(draft)
    assert (table.name, table.rows) == ("Table without a number (main.tex:6)", ROWS)
    keys = {one.text: one.float_keys for each in draft.paragraphs for one in each.sentences}
    assert keys == {"First one.": (), "These are the scores:": (table.key,), "They fall.": ()}


A, B, C = table("A."), table("B."), table("C.")
IEEE = r"\documentclass[conference]{IEEEtran}"
BOOK = r"\documentclass{book}"


@pytest.mark.parametrize(
    ("preamble", "body", "names"),
    [
        (IEEE, A + B + r"\setcounter{table}{3}" + C, ["I", "II", "IV"]),
        (BOOK, rf"\chapter{{X}}{A}\chapter{{Y}}{B}\section{{Z}}{C}", ["1.1", "2.1", "2.2"]),
        (ARTICLE, A + r"\appendix\renewcommand{\thetable}{S\arabic{table}}\setcounter{table}{0}" + B, ["1", "S1"]),
        (
            ARTICLE,
            r"\makeatletter\@addtoreset{table}{section}\makeatother\renewcommand{\thetable}{\thesection.\arabic{table}}"
            rf"\section{{X}}{A}{B}\section{{Y}}{C}",
            ["1.1", "1.2", "2.1"],
        ),
        (ARTICLE, rf"\numberwithin{{table}}{{section}}\section{{X}}{A}{B}\section{{Y}}{C}", ["1.1", "1.2", "2.1"]),
    ],
)
def test_tables_are_numbered_as_latex_counts(tmp_path: Path, preamble: str, body: str, names: list[str]) -> None:
    draft = paper(tmp_path, f"Words. {body}", preamble)
    assert [one.name for one in draft.floats.values()] == [f"Table {name}" for name in names]
    assert [one.rows for one in draft.floats.values()] == [ROWS] * len(names)


MODELSUMMARY = r"""\begin{table}\begin{talltblr}[caption={A},label={tab:a}]{colspec={Q[]Q[]},hline{1}={1-2}{solid}}
& (1)\\ age & 5.1*\\ \end{talltblr}\end{table}"""


def test_a_table_that_modelsummary_writes(tmp_path: Path) -> None:
    draft = paper(tmp_path, f"Words. {MODELSUMMARY}")
    assert (only(draft).name, only(draft).caption, only(draft).rows) == ("Table 1", "A", "\t(1)\nage\t5.1*")
    assert draft.unread == ()


def test_a_root_lets_files_beside_the_folder_be_read_and_nothing_outside(tmp_path: Path) -> None:
    study = tmp_path / "study"
    (study / "paper").mkdir(parents=True)
    (study / "results").mkdir()
    (study / "results" / "t.tex").write_text(TABULAR, "utf-8")
    (tmp_path / "secret.tex").write_text("Secret.", "utf-8")
    (study / "results" / "link.tex").symlink_to(tmp_path / "secret.tex")
    body = r"Words. \input{../../secret}\input{../results/link}" + table("F1.", r"\input{../results/t}")
    (study / "paper" / "main.tex").write_text(body, "utf-8")
    draft = read(study / "paper" / "main.tex", study)
    assert only(draft).rows == ROWS
    assert [(one.text, str(one.place)) for each in draft.paragraphs for one in each.sentences] == [
        ("Words.", "paper/main.tex:1")
    ]
    assert [one.reason for one in draft.unread] == [
        f"'../../secret': leads out of --root {study}",
        f"'../results/link': leads out of --root {study}",
    ]


GIVEN = [
    rf"\begin{{figure}}\captionof{{table}}{{Second.}}\label{{t}}{TABULAR}\end{{figure}}",
    rf"\begin{{center}}{TABULAR}\captionof{{table}}{{Second.}}\label{{t}}\end{{center}}",
    rf"\begin{{minipage}}{{5cm}}\captionsetup{{type=table}}\caption{{Second.}}\label{{t}}{TABULAR}\end{{minipage}}",
    rf"\begin{{figure}}\captionsetup{{type=table}}\caption{{Second.}}\label{{t}}{TABULAR}\end{{figure}}",
    rf"\begin{{figure}}\makeatletter\def\@captype{{table}}\makeatother\caption{{Second.}}\label{{t}}{TABULAR}\end{{figure}}",
    rf"\begin{{floatrow}}\ttabbox{{\caption{{Second.}}\label{{t}}}}{{{TABULAR}}}\end{{floatrow}}",
    rf"\begin{{figure}}\floatbox{{table}}{{\caption{{Second.}}\label{{t}}}}{{{TABULAR}}}\end{{figure}}",
]


@pytest.mark.parametrize("given", GIVEN)
def test_a_caption_may_say_another_kind_than_its_environment(tmp_path: Path, given: str) -> None:
    bird = r"\begin{figure}\caption{A bird.}\label{f}\end{figure}"
    draft = paper(tmp_path, f"Words.\n\n{table('First.')}{given}{bird}{table('Third.')} See \\ref{{t}}, \\ref{{f}}.")
    assert [(one.name, one.caption, one.rows) for one in draft.floats.values()] == [
        ("Table 1", "First.", ROWS), ("Table 2", "Second.", ROWS), ("Figure 1", "A bird.", ""),
        ("Table 3", "Third.", ROWS),
    ]  # fmt: skip
    assert draft.paragraphs[-1].sentences[-1].text == "See 2, 1."
    assert draft.paragraphs[-1].sentences[-1].float_keys == ("t", "f")


def test_labels_behind_a_caption_without_a_float_are_those_of_sections(tmp_path: Path) -> None:
    body = (
        rf"Words.\begin{{center}}{TABULAR}\captionof{{table}}{{F1.}}\label{{t}}\end{{center}}\section{{A}}\label{{a}}"
    )
    draft = paper(tmp_path, body + r" See \autoref{t} and \autoref{a}.")
    assert draft.paragraphs[-1].sentences[0].text == "See Table 1 and Section 1."


@pytest.mark.parametrize("environment", ["figure", "table"])
def test_a_figure_and_a_table_side_by_side_have_what_is_theirs(tmp_path: Path, environment: str) -> None:
    figure = r"\includegraphics{gone}\captionof{figure}{A bird.}\label{f}"
    body = rf"\begin{{{environment}}}{figure}\hfill{TABULAR}\captionof{{table}}{{F1.}}\label{{t}}\end{{{environment}}}"
    floats = paper(tmp_path, f"Words. {body}" + table("Next.")).floats
    assert [(one.name, one.caption, one.rows) for one in floats.values()] == [
        ("Figure 1", "A bird.", ""), ("Table 1", "F1.", ROWS), ("Table 2", "Next.", ROWS),
    ]  # fmt: skip


CELLS = [
    (r"{l r@{.}l c}A & \multicolumn{2}{c}{B} & C \\ w & 83&9 & 1 \\ v & 7& & 2", "A\tB\tC\nw\t83.9\t1\nv\t7\t2"),
    (
        r"{l*{2}{r@{\,$\pm$\,}l}}A & \multicolumn{2}{c}{B} & \multicolumn{2}{c}{C} \\ w & 8&1 & 7&2",
        "A\tB\tC\nw\t8±1\t7±2",
    ),
    (
        r"{l*{2}{>{\columncolor{gray}}r@{.}l}}A & \multicolumn{2}{c}{B} & \multicolumn{2}{c}{C} \\ w & 8&1 & 7&2",
        "A\tB\tC\nw\t8.1\t7.2",
    ),
    (r"{lr@{ (}r@{) }c}A & \multicolumn{2}{c}{B} & C \\ w & 8.1 & 0.2 & 7", "A\tB\tC\nw\t8.1 (0.2)\t7"),
    (r"{lr@{}lc}A & \multicolumn{2}{c}{B} & C \\ w & 83 & .9 & 7 \\ v & 79 & & 8", "A\tB\tC\nw\t83.9\t7\nv\t79\t8"),
    (r"{lr@{}l@{}}A & B & C \\ w & 83 & 79", "A\tB\tC\nw\t83\t79"),
    (r"{@{}l@{\hspace{1em}}>{$}r<{$}@{\extracolsep{\fill}}p{2cm}@{}}A & B & C \\ w & 8 & 9", "A\tB\tC\nw\t8\t9"),
    (r"{lc}\diagbox{M}{D} & B \\ w & 68.3\textsubscript{1} \\ v & 79.4\tnote{a}", "M / D\tB\nw\t68.3_1\nv\t79.4^a"),
    (r"{lcc}A & B & C \\ w & \Block{2-1}{8} & 1 \\ v & & 2", "A\tB\tC\nw\t8\t1\nv\t8\t2"),
    (r"{lcc}A & \Block[c]{1-2}{B} & \\ w & 8 & 1", "A\tB\tB\nw\t8\t1"),
    (r"{lcc}A & B & C \\ \SetCell[r=2]{c} w & 8 & 1 \\ & 9 & 2", "A\tB\tC\nw\t8\t1\nw\t9\t2"),
    (r"{lc}A & B \\ & 8 \\ \multirow{-2}{*}{w} & 9 \\ v & \tablenum{7.0}", "A\tB\nw\t8\nw\t9\nv\t7.0"),
]


@pytest.mark.parametrize(("tabular", "rows"), CELLS)
def test_cells_are_joined_marked_and_spread_as_they_are_printed(tmp_path: Path, tabular: str, rows: str) -> None:
    draft = paper(tmp_path, "Words." + table("F1.", rf"\begin{{tabular}}{tabular}\end{{tabular}}"))
    assert (only(draft).rows, draft.unread) == (rows, ())


def test_tables_in_forms_that_are_not_read_are_listed_and_counted(tmp_path: Path) -> None:
    draft = paper(tmp_path, "Words." + table("Of a file.", r"\csvautotabular{x.csv}") + table("F1."))
    assert [(one.name, one.rows) for one in draft.floats.values()] == [("Table 1", ""), ("Table 2", ROWS)]
    assert [one.reason for one in draft.unread] == [r"\csvautotabular: a table in a form that is not read"]
