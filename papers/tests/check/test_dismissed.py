"""A dismissed flag does not come back until its sentence or its evidence changes."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from paper_support.commands import CheckPaper
from support.commands import Finished
from support.corpora import read_rows
from support.pages import listening

PAPER = r"""\documentclass{article}
\begin{document}
\section{Results}
At Bog, wrens sang in 37 of 120 nights (38.8\,\%) (Table~\ref{tab:main}).
Wrens sang longer than larks, $t(28) = 2.20$, $p = .02$.
\begin{table}
\caption{F1 of two detectors.}\label{tab:main}
\begin{tabular}{lr} Detector & F1 \\ Wren & 61.0 \\ Lark & 58.5 \end{tabular}
\end{table}
\end{document}
"""
FLAG = "main.tex:4: Wrong percentage"


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "main.tex").write_text(PAPER)
    (tmp_path / "dismissed.txt").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(check_paper: CheckPaper, *more: object) -> Finished:
    words = ["--lm", "none", "--out", "review", "--dismissed", "dismissed.txt", "--fail-on", "statistics"]
    return check_paper("main.tex", *words, *more)


def sarif(paper: Path) -> dict[str, Any]:
    (run,) = json.loads((paper / "review" / "paper.sarif").read_text())["runs"]
    return {one["ruleId"]: one.get("suppressions") for one in run["results"]}


def test_a_dismissed_flag_is_suppressed_everywhere_until_the_paper_changes(
    check_paper: CheckPaper, paper: Path, browser: Browser
) -> None:
    assert checked(check_paper).code == 3
    with listening(browser) as show:
        page = show(paper / "review" / "paper.html")
        page.get_by_text("Dismiss this flag").click()
        line = page.locator("#detail code").inner_text()
    assert line.endswith(" Wrong percentage: At Bog, wrens sang in 37 of 120 nights (38.8 %) (Table 1).")
    (paper / "dismissed.txt").write_text(line, "utf-8")
    again = checked(check_paper, "--fail-on", "Wrong percentage")
    assert re.search(r"dismissed\W+1\b", again.out)
    assert "--fail-on: 1 sentence\n" in again.out  # the other one, recomputed too
    assert "Wrong percentage" not in again.out
    assert sarif(paper) == {
        "statistics-wrong-percentage": [{"kind": "external", "status": "accepted"}],
        "statistics-inconsistent-test": None,
    }
    assert [row["dismissed"] for row in read_rows(paper / "review" / "paper.jsonl")] == [True, False]
    with listening(browser) as show:
        page = show(paper / "review" / "paper.html")
        expect(page.locator(".row")).to_have_count(1)
        page.get_by_role("button", name="dismissed 1").click()
        expect(page.locator("#detail")).to_contain_text("Dismissed.")
        expect(page.locator("#detail code")).to_have_count(0)

    for before, after, back in (("Wrens", "Finches", False), ("At Bog,", "At Fen,", True)):
        (paper / "main.tex").write_text(PAPER.replace(before, after))
        assert (FLAG in checked(check_paper).out) is back


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0123456789abcdef ok\n\xff\n", "dismissed.txt:2: '\ufffd' is no digest of a flag; expected 16 hexadecimal"),
        (None, "--dismissed dismissed.txt: no such file"),
    ],
)
def test_what_is_no_file_of_digests_is_refused(
    check_paper: CheckPaper, paper: Path, content: bytes | None, message: str
) -> None:
    (paper / "dismissed.txt").unlink() if content is None else (paper / "dismissed.txt").write_bytes(content)
    done = checked(check_paper)
    assert (done.code, message in done.err, (paper / "review").exists()) == (2, True, False)
    refused = check_paper("mcp", "--folder", ".", "--lm", "none", "--dismissed", "dismissed.txt")
    assert (refused.code, message in refused.err) == (2, True)
