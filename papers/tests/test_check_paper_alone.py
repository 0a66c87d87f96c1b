"""`check-paper` without a language model: its findings in every output."""

import json
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from paper_support.commands import CheckPaper
from paper_support.paths import PAPERS, SAMPLE
from support.corpora import read_rows

PAPER = r"""
\documentclass{article}
\begin{document}
\section{Results}
At Bog, Wren is 3.5 points of F1 better than Lark, in 37 of 120 nights (38.8\,\%) (Table~\ref{tab:main}).
Wrens sang longer than larks, $t(28) = 2.20$, $p = .02$.
Wren has an F1 of 61.0, and it failed in 1 of 1\,000 nights (0.1\,\%) (Table~\ref{tab:main}).
Compared with others, Lark has an F1 of 55.5, $t_{28} = 5.05$, $p = 2.4$ (Table~\ref{tab:main}).
\begin{table}
\caption{F1 of two detectors.
Of 120 nights, 12 (20\,\%) were calm.}\label{tab:main}
\begin{tabular}{lrr} Detector & F1 & p \\ Wren & $61.0_{\pm 0.2}$ & .41 \\ Mean & 58.5$^{*}$ & .19 \end{tabular}
\end{table}
\begin{table}\caption{Without numbers.}\begin{tabular}{ll} Wren & small \\ Lark & brown \end{tabular}\end{table}
\end{document}
"""
FLAGS = [
    ("main.tex:4: Wrong percentage", "37 of 120 is 30.8 %"),
    ("main.tex:5: Inconsistent test", "t(28) = 2.20 gives p = .036"),
    ("main.tex:9: Wrong percentage", "12 of 120 is 10.0 %"),
]
LISTED = [
    ("recomputed and right: 1", "holds", "1 of 1,000 is 0.1 %"),
    ("not decided: 1", "not decided", "t28 = 5.05 gives p = 2.4e-05; what is printed is no probability"),
]


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "main.tex").write_text(PAPER.lstrip())
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    return tmp_path


def test_what_is_wrong_right_and_not_decided_is_in_all_outputs(
    check_paper: CheckPaper, paper: Path, browser: Browser
) -> None:
    finished = check_paper("main.tex", "--out", "review")  # which needs no model
    assert finished.code == 0, finished.err
    first, *_ = finished.out.splitlines()
    assert first.startswith("Without a language model reported tests of significance and percentages")
    assert "Not checked: numbers against tables" in first
    assert "name a language model, such as --lm openai/gpt-4o-mini" in first
    lines = [line for line in finished.out.splitlines() if line.startswith("main.tex:")]
    for line, (begins, has) in zip(lines, FLAGS, strict=True):
        assert line.startswith(begins)
        assert has in line
    assert lines[-1].endswith(": Of 120 nights, 12 (20 %) were calm.")  # a caption is a statement too
    read = "Read without a language model: 7 sentences; tests and percentages: 1 right, 3 wrong, 1 not decided."
    assert read in finished.out
    rows = read_rows(paper / "review" / "paper.jsonl")
    flags = [row for row in rows if row["kind"] == "statistics"]
    assert [f"{row['file']}:{row['line']}: {row['label']}" for row in flags] == [begins for begins, _ in FLAGS]
    assert [(row["label"], row["why"]) for row in rows if row["kind"] == "recomputed"] == [one[1:] for one in LISTED]
    (run,) = json.loads((paper / "review" / "paper.sarif").read_text())["runs"]
    percentage, test = ("statistics-wrong-percentage", "error"), ("statistics-inconsistent-test", "error")
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == [percentage, test, percentage]
    page = browser.new_page()
    page.goto((paper / "review" / "paper.html").as_uri())
    assert page.locator(".row .top b").all_inner_texts() == [begins.split(": ")[1] for begins, _ in FLAGS]
    assert FLAGS[0][1] in page.locator("#detail").inner_text()
    assert "no language model was asked" in page.locator("footer").inner_text()
    page.locator("#left-out summary").click()
    for title, _, why in LISTED:
        for text in (finished.out, page.locator("#left-out").inner_text()):
            assert title in text
            assert why in text
    page.close()


@pytest.mark.usefixtures("paper")
def test_fail_on_takes_the_kind_and_what_needs_a_model_is_refused(check_paper: CheckPaper) -> None:
    assert check_paper("main.tex", "--lm", "none", "--fail-on", "statistics").code == 3
    assert check_paper("main.tex", "--lm", "none", "--fail-on", "quote").code == 0
    for words in (["--lm", "none", "--program", "artifacts/track1/first"], ["--estimate"]):
        refused = check_paper("main.tex", *words)
        assert refused.code == 2
        assert f"{words[-2:][0]} needs a language model: name one, such as --lm openai/gpt-4o-mini" in refused.err


def test_it_loads_what_the_light_list_has_and_needs_no_folder(paper: Path) -> None:
    light = set(re.findall(r"^([\w-]+)==", (PAPERS / "requirements-light.txt").read_text(), re.MULTILINE))
    sample = SAMPLE / "paper"
    code = (
        f"import sys; sys.argv = {['check-paper', str(sample / 'main.tex'), '--papers', str(sample / 'papers')]}\n"
        "from aisr_papers.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "print('loaded', *{name.partition('.')[0] for name in sys.modules})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=paper, check=True)
    owners = packages_distributions()
    loaded = {owner.lower() for name in done.stdout.splitlines()[-1].split() for owner in owners.get(name, [])}
    assert {"numpy", "pylatexenc"} <= loaded  # a PDF is read, too
    others = {name.replace("_", "-") for name in loaded} - light
    # others take the last three where they are
    assert others <= {"aisr", "aisr-papers", "orjson", "charset-normalizer", "setuptools"}
    assert sorted(path.name for path in paper.iterdir()) == ["main.tex"]


def test_quotes_are_looked_up_in_the_cited_papers(check_paper: CheckPaper, paper: Path) -> None:
    half = "the range of a recorder falls by half when the wind rises to six"
    sentences = (
        f"Obi says that “{half.replace('half', 'a third')}” [1].\n\nObi says that “{half}” [1], and “bats sing when"
    )
    references = "## References\n\n1. Obi, A. Wind and the range of recorders. 2022.\n"
    (paper / "paper.md").write_text(f"# Birds\n\n{sentences} it rains” [1].\n\n{references}")
    (paper / "cited").mkdir()
    (paper / "cited" / "obi.txt").write_text(f"Wind and the range of recorders\n\n{half.capitalize()} m/s.")
    finished = check_paper("paper.md", "--papers", "cited", "--out", "review", "--fail-on", "misquoted")
    assert finished.code == 3, finished.err
    assert f"paper.md:3: Misquoted [1] (1 has: “{half.capitalize()} m/s.” [P2]): Obi says" in finished.out
    assert "paper.md:5: Quote not found [1] (no such words in 1): Obi says" in finished.out
    (run,) = json.loads((paper / "review" / "paper.sarif").read_text())["runs"]
    rules = [("quote-misquoted", "error"), ("quote-not-found", "warning")]
    assert [(one["ruleId"], one["level"]) for one in run["results"]] == rules


def test_characters_that_nobody_sees_change_no_number(check_paper: CheckPaper, paper: Path) -> None:
    text = "In Bog, 3\u200b7 of 120 (30.8 %) sang, and 37 of 12\u00ad0 (38.\u20608 %) flew."
    (paper / "paper.md").write_text(f"# T\n\n{text}\n", encoding="utf-8")
    done = check_paper("paper.md")
    assert "Wrong percentage (37 of 120 is 30.8 %)" in done.out
    assert done.out.count("Wrong percentage (") == 1
    assert "37 of 120 (38.8 %) flew" in done.out


def test_a_sentence_that_is_too_long_is_listed_and_a_file_is_no_folder(check_paper: CheckPaper, paper: Path) -> None:
    text = "and larks sang " * 140
    (paper / "main.tex").write_text(PAPER.replace("Wrens sang longer", f"Wrens {text} sang longer").lstrip())
    finished = check_paper("main.tex")
    assert "sentences too long to be recomputed: 1" in finished.out
    assert finished.out.count("Inconsistent test") == 0
    refused = check_paper("main.tex", "--out", "main.tex/review")
    assert refused.code == 2
    assert (
        refused.err == "error: --out main.tex/review: main.tex is a file; expected a folder, or the name of a new one\n"
    )
