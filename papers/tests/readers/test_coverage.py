"""How much of a source its draft holds is counted, and said first where much is lost."""

import json
from pathlib import Path

import pytest

from aisr_papers.open import read_draft
from paper_support.commands import CheckPaper
from paper_support.paths import SAMPLE
from support.corpora import read_rows

PROSE = "We recorded wrens and larks on twelve calm nights at three sites, and counted every call by hand twice. "
LATEX = r"""\documentclass{article}
\newcommand{\todo}[1]{}\newcommand{\cmt}[2]{#2}\newtheorem{claim}{Claim}
\title{Birds in wind}
\begin{document}\maketitle
\section[short]{Results of it}\label{sec:results} % a comment of some words that no reader sees
%s Andr\'e \cite{obi} and \textcolor{red}{M\"uller} agree \todo{write more words here}, see \ref{tab:one}.
\iffalse words that are switched off \fi We use \verb|verbatim words| and $x = \text{formula words}$.
\begin{equation} y = \mathrm{more words of formulas} \end{equation}
\begin{table}[htbp]\caption{Accuracy of models}\begin{tabular}{l@{\hspace{1em}}c}
Bird & \multicolumn{1}{c}{Score} \\ \cmidrule(lr){1-2} Wren & 61.0 \\
Lark\footnote{A note of words.} & 58.5 \end{tabular}\end{table}
\begin{verbatim} typed words here \end{document} \end{verbatim}
\begin{tikzpicture} \node {drawn words}; \end{tikzpicture}
\input{more}
\begin{thebibliography}{9}\bibitem{obi} Obi. Words of a title.\end{thebibliography}
\end{document} Nobody sees what stands behind the end.
"""
MARKDOWN = """---
title: "Birds in wind"
---
# Results {#sec:results}

%s<!-- words of a comment --> See [a link](http://example.org/words) and $\\text{formula words}$.[^1]

```python
print("words of code")
```

| Bird | Score |
|---|---|
| Wren | 61.0 |

[^1]: A note of words.

# References

1. Obi, A. Words of a title. 2022.
"""


def write_latex(folder: Path, more: str = "") -> Path:
    (folder / "main.tex").write_text(LATEX.replace("%s", PROSE, 1), "utf-8")
    (folder / "more.tex").write_text(f"{2 * PROSE}\n{more}", "utf-8")
    return folder / "main.tex"


def test_what_is_read_whole_is_found_whole(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(MARKDOWN.replace("%s", PROSE), "utf-8")
    for file in (write_latex(tmp_path), tmp_path / "a.md", SAMPLE / "paper" / "main.tex"):
        coverage = read_draft(file).coverage
        assert coverage is not None
        assert coverage.share >= 0.98, coverage


DEFINITIONS = (
    "\\newcommand{\\foo}[2]{%s}\n\\newcommand\\bar{%s}\n\\def\\baz#1{%s}\n\\newenvironment{qux}{%s}{%s}\n"
    "\\NewDocumentCommand{\\quux}{m m}{%s}\n\\newtheorem{lemma}{Lemma of words}\n\\let\\corge=\\foo\n"
).replace("%s", "Words of a definition that nothing prints")


def test_definitions_in_the_text_are_no_lost_words(tmp_path: Path) -> None:
    coverage = read_draft(write_latex(tmp_path, f"{DEFINITIONS} {PROSE}")).coverage
    assert coverage is not None
    assert (coverage.missing, coverage.found) == ((), coverage.words)


LOST = (
    "\\ifx\\a\\b\n"
    + 4 * "Sentences in a condition that only TeX can follow are left out by the reader of it. "
    + "\n\\fi"
)


def test_all_outputs_say_first_that_much_is_lost(
    check_paper: CheckPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_latex(tmp_path, LOST)
    done = check_paper("main.tex", "--lm", "none", "--out", "review")
    first, second, *_ = done.out.splitlines()
    assert done.code == 0
    assert first.startswith("Only ")
    assert "more.tex:3: 62 words: sentences in condition that only" in second
    review = tmp_path / "review"
    assert [first in (review / name).read_text("utf-8") for name in ("paper.html", "paper.sarif")] == [True, True]
    row = read_rows(review / "paper.jsonl")[0]
    assert (row["kind"], row["why"][0], row["share"] < 0.9) == ("coverage", first, True)
    (run,) = json.loads((review / "paper.sarif").read_text("utf-8"))["runs"]
    assert run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"] == first
    assert check_paper("main.tex", "--lm", "none", "--strict").code == 1
    write_latex(tmp_path)
    whole = check_paper("main.tex", "--lm", "none", "--strict")
    assert (whole.code, whole.out.startswith("Without a language model")) == (0, True)
