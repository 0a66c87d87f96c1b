"""A dismissed flag does not come back until its sentence or its evidence changes."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from aisr.base import files as files_of_aisr
from aisr.corrections import corrections
from aisr_papers.check.session import Session, Settings
from support.commands import Aisr, Finished
from support.corpora import read_rows, write
from support.corrections import dismissal
from support.loopback import Loopback
from support.pages import listening
from support.runs import opened

PAPER = r"""\documentclass{article}
\begin{document}
\section{Results}
At Bog, Wren is 3.5 points of F1 better than Lark (Table~\ref{tab:main}).
Wrens sang longer than larks, $t(28) = 2.20$, $p = .02$.
\begin{table}
\caption{F1 of two detectors.}\label{tab:main}
\begin{tabular}{lr} Detector & F1 \\ Wren & 61.0 \\ Lark & 58.5 \end{tabular}
\end{table}
\end{document}
"""
FLAG = "main.tex:4: Wrong difference"


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "main.tex").write_text(PAPER)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def checked(aisr: Aisr, *more: object) -> Finished:
    return aisr("check-paper", "main.tex", "--lm", "none", "--out", "review", "--fail-on", "arithmetic", *more)


def dismiss(aisr: Aisr, paper: Path, label: str = "Wrong difference") -> Finished:
    """Dismiss the first flag of a label, by what the page would download."""
    text = (paper / "review" / "paper.html").read_text().partition('id="review">')[2].partition("</script>")[0]
    flag = next(one for one in json.loads(text)["verdicts"] if one["label"] == label)
    row = dismissal(flag["statement"], "of other runs", digest=flag["flag"])
    return aisr("corrections", write(paper / "c.jsonl", [row]), "--draft", "main.tex")


def sarif(paper: Path) -> dict[str, Any]:
    (run,) = json.loads((paper / "review" / "paper.sarif").read_text())["runs"]
    return {one["ruleId"]: one.get("suppressions") for one in run["results"]}


def test_a_dismissed_flag_is_suppressed_everywhere_until_the_paper_changes(
    aisr: Aisr, paper: Path, browser: Browser
) -> None:
    assert checked(aisr).code == 3
    done = dismiss(aisr, paper)
    assert "1 flag dismissed from now on" in done.out, done.err
    again = checked(aisr, "--fail-on", "Wrong difference")
    assert "1 flag dismissed by Ada" in " ".join(again.out.split())
    assert "--fail-on: 1 sentence\n" in again.out  # the other one, recomputed too
    assert "Wrong difference" not in again.out
    assert sarif(paper) == {
        "arithmetic-wrong-difference": [
            {"kind": "external", "status": "accepted", "justification": "Ada: of other runs"}
        ],
        "arithmetic-inconsistent-test": None,
    }
    assert [row["dismissed"] and row["dismissed"]["who"] for row in read_rows(paper / "review" / "paper.jsonl")] == [
        "Ada", None,
    ]  # fmt: skip
    with listening(browser) as show:
        page = show(paper / "review" / "paper.html")
        expect(page.locator(".row")).to_have_count(1)
        page.get_by_role("button", name="dismissed 1").click()
        expect(page.locator("#detail")).to_contain_text("Dismissed by Ada: of other runs")

    for before, after, back in (("Wrens", "Finches", False), ("At Bog,", "At Fen,", True), ("58.5", "58.4", True)):
        (paper / "main.tex").write_text(PAPER.replace(before, after))
        assert (FLAG in checked(aisr).out) is back


def test_a_dismissal_is_of_one_sentence_and_not_of_its_numbers(aisr: Aisr, paper: Path) -> None:
    (paper / "main.tex").write_text(PAPER.replace(r"\begin{table}", r"""
In Bog, 37 of 120 (38.8\,\%) sang. In Fen, 37 of 120 (38.8\,\%) were silent.
\begin{table}"""))  # fmt: skip
    assert checked(aisr).out.count("Wrong percentage (") == 2
    assert dismiss(aisr, paper, "Wrong percentage").code == 0
    assert checked(aisr).out.count("Wrong percentage (") == 1


def test_no_file_of_a_stranger_stops_a_check(aisr: Aisr, paper: Path) -> None:
    checked(aisr)
    dismiss(aisr, paper)
    file = paper / ".aisr" / "dismissed.jsonl"
    good = file.read_bytes()
    early = json.dumps(dismissal(digest="f" * 16, when="9000-01-01T00:00:00Z"))
    file.write_bytes(b'{}\n\xff\n[\n{"\\u001b[2J": 1}\n' + early.encode() + b"\n\n" + good)
    done = checked(aisr)
    output = " ".join(done.out.split())
    assert (done.code, FLAG in done.out, "\x1b" in done.out) == (3, False, False)
    assert "which are no dismissed flags: 5, the first" in output
    assert "dismissed.jsonl:1: sentence: Field required" in output
    assert "dismissed.jsonl:1" in dismiss(aisr, paper).err  # what would be lost is not written over
    file.unlink()
    os.mkfifo(file)
    assert "not read; expected a file" in " ".join(checked(aisr).out.split())


def test_two_at_once_lose_no_dismissal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins while the first is about to write."""
    digests = ["0" * 16, "1" * 16]
    files = [write(tmp_path / f"{digest}.jsonl", [dismissal(digest=digest)]) for digest in digests]
    others: list[threading.Thread] = []

    def save(file: Path) -> None:
        corrections.save_dismissals(tmp_path / "main.tex", corrections.read_corrections([file]))

    def write_late(file: Path, content: str) -> None:
        if not others:
            others.append(threading.Thread(target=save, args=(files[1],)))
            others[0].start()
            others[0].join(0.5)
        files_of_aisr.write_whole(file, content)

    monkeypatch.setattr(corrections, "write_whole", write_late)
    save(files[0])
    others[0].join()
    assert sorted(corrections.load_dismissals(tmp_path / "main.tex").flags) == digests


def test_no_link_is_followed(aisr: Aisr, paper: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (paper / ".aisr").symlink_to(tmp_path / "other")
    write(tmp_path / "other" / "dismissed.jsonl", [dismissal()])
    done = checked(aisr)
    assert (done.code, "a link; expected a folder .aisr" in " ".join(done.out.split())) == (3, True)
    assert aisr("corrections", write(paper / "c.jsonl", [dismissal()]), "--draft", "main.tex").code == 2
    assert len(list((tmp_path / "other").iterdir())) == 1


@pytest.mark.parametrize("name", ["notes.txt", "folder"])
def test_flags_are_remembered_beside_a_paper_alone(aisr: Aisr, tmp_path: Path, name: str) -> None:
    (tmp_path / "notes.txt").touch()
    (tmp_path / "folder").mkdir()
    done = aisr("corrections", write(tmp_path / "c.jsonl", [dismissal()]), "--draft", tmp_path / name)
    assert (done.code, "--draft" in done.err, list(tmp_path.rglob(".aisr"))) == (2, True, [])


def test_an_agent_is_told_what_a_reader_dismissed(loopback: Loopback, paper: Path) -> None:
    session = Session(Settings([paper.resolve()], paper / "artifacts"), opened(loopback.url))
    read = session.paper("main.tex", None)
    before = session.review_so_far(read, session.exact_review(read), [])
    (flag,) = (one for one in before.verdicts if one.label == "Wrong difference")
    (paper / ".aisr").mkdir()
    write(paper / ".aisr" / "dismissed.jsonl", [dismissal(flag.statement, "of other runs", digest=flag.flag)])
    after = session.review(session.paper("main.tex", None), lambda _: None)
    (flagged,) = (one for one in session.sentences(after, range(len(after.verdicts))) if one.quote.dismissed)
    assert (flagged.level, flagged.label, flagged.quote.dismissed) == (None, "Wrong difference", "of other runs")
