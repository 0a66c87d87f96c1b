"""A small paper in LaTeX whose sentences are borne out by its table, as an author writes them: two on a line, a comment
between, `~` and commands within."""

from pathlib import Path

SOURCE = r"""\documentclass{article}
\newcommand{\finchbog}{49.2}
\begin{document}
\title{Wrens at night}
\section{Introduction}
Detectors of birds are many, and Wren was faster in 2020 (see elsewhere).
\section{Results} % all of them
Table~\ref{tab:main} shows what was found. At Heath, Wren reaches an F1
of $72.4$ (Table~\ref{tab:main}). % TODO: 72.4 is rounded
At Bog, Wren is higher than Lark in F1\,: we like it. At Heath,
Wren is 6.3~points of F1 better than Lark (Table~\ref{tab:main}).
On this table, the \emph{F1} at Bog of Finch is \finchbog.

Others reach 61.0 with Wren at Bog~\cite{ash}. At Bog, Lark outperforms Wren in F1 (Table~\ref{tab:main}).
\begin{table}
\caption{F1 and recall at two sites.}\label{tab:main}
\begin{tabular}{lrrrr}
Detector & \multicolumn{2}{c}{Bog} & \multicolumn{2}{c}{Heath} \\
 & F1 & Recall & F1 & Recall \\
Wren & 61.0 & 70.5 & 72.4 & 79.1 \\
Lark & 58.5 & 66.3 & 66.1 & 74.8 \\
Finch & 49.2 & 60.7 & 51.3 & 58.9 \\
\end{tabular}
\end{table}
\begin{thebibliography}{9}
\bibitem{ash} A. Ash. Calm nights. 2020.
\end{thebibliography}
\end{document}
"""


def write(folder: Path) -> Path:
    """The main file of the paper in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "main.tex").write_text(SOURCE, encoding="utf-8")
    return folder / "main.tex"
