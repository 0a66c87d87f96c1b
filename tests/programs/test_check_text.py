"""`aisr check-text`: a draft of one's own, judged by the same program as anything else."""

import io
import sys
from pathlib import Path

import pytest

from aisr.artifact.manifest import save_files
from aisr.artifact.program import program_text
from aisr.base.files import digest_text
from support.commands import Aisr
from support.loopback import Loopback
from support.tracks import BOTH

DRAFT = """SlackFirst improves utilisation on TramLog-5 (Fig. 3).
It wins on all 7 workloads because of its queue, e.g. BurstKit."""
RESULTS = """# Results

On TramLog-5, SlackFirst improves utilisation from 67.5% to 76.8% (Fig. 3).

![Figure 3: utilisation of SlackFirst](images/three.png)
"""
PAPER = """# Gantry

Gantry was trained on 12 corpora.

It is faster than Halyard on one of them.
"""


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, Path]:
    """The uncompiled program of both tracks, each as a folder."""
    for name, task in BOTH.items():
        text = program_text(task, task.build({}))
        save_files(tmp_path / name, {"program.json": text, "manifest.json": f'{{"digest": "{digest_text(text)}"}}'})
    return {name: tmp_path / name for name in BOTH}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    made = {"draft.md": DRAFT, "results.md": RESULTS, "claim.txt": "Gantry beats Halyard", "paper.md": PAPER}
    for name, text in made.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {name: tmp_path / name for name in made}


def test_a_paragraph_is_judged_sentence_by_sentence(
    aisr: Aisr, programs: dict[str, Path], files: dict[str, Path], loopback: Loopback
) -> None:
    lm = ["--lm", "openai/local", "--api-base", loopback.url]
    words = ["--program", programs["track1"], "--evidence", files["results.md"]]
    finished = aisr("check-text", files["draft.md"], *words, *lm)
    assert finished.code == 0, finished.err
    out = " ".join(finished.out.split())
    assert "✓ 1. Supported the evidence adequately supports the sentence" in out
    assert "✗ 2. Unsupported Causal Mechanistic adds a cause or mechanism" in out
    assert "names that the evidence lacks: BurstKit" in out
    assert "nearest evidence: [text 2] On TramLog-5, SlackFirst improves" in out
    assert "LM: Supported names" in out or "LM: Supported nearest" in out  # a single vote has no percentage
    assert "1 of 2 not called Supported" in out
    (request,) = loopback.requests
    assert "[figure 1] Figure 3: utilisation of SlackFirst" in request.question
    files["draft.md"].write_text("[bold]Shown[/bold] as [/red] it is.", encoding="utf-8")
    assert "[bold]Shown[/bold] as [/red] it is." in aisr("check-text", files["draft.md"], *words, *lm).out
    loopback.reply = lambda request: "garbage"
    files["draft.md"].write_text("Of nothing else.", encoding="utf-8")
    finished = aisr("check-text", files["draft.md"], *words, *lm)
    assert finished.code == 1
    assert "not judged: UnusableAnswer" in finished.out


def test_a_claim_is_judged_against_a_paper_and_its_paragraphs_are_quoted(
    aisr: Aisr, programs: dict[str, Path], files: dict[str, Path], loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(files["claim.txt"].read_text()))
    lm = ["--lm", "openai/local", "--api-base", loopback.url]
    finished = aisr("check-text", "-", "--program", programs["track2"], "--paper", files["paper.md"], *lm)
    assert finished.code == 0, finished.err
    out = " ".join(finished.out.split())
    assert "Gantry beats Halyard" in out
    assert "evidence 1: [P1] # Gantry" in out
    assert "evidence 2: [P3] It is faster than Halyard" in out


def test_what_is_no_text_or_has_no_evidence_is_refused(
    aisr: Aisr, programs: dict[str, Path], files: dict[str, Path]
) -> None:
    pdf, empty = files["paper.md"].with_name("paper.pdf"), files["paper.md"].with_name("empty.md")
    pdf.write_bytes(b"%PDF-1.7\n\xff\xfe\x00")
    empty.write_text("\n \n")
    draft, at = files["draft.md"], ["--program", programs["track1"]]
    for words, message in (
        ([draft, *at], "give --evidence FILE"),
        (["A paragraph, and no file. " * 20, *at], "no such file; expected one with the paragraph"),
        ([draft, *at, "--evidence", pdf], "not UTF-8"),
        ([draft, *at, "--evidence", empty], "no text in there"),
        ([files["claim.txt"], "--program", programs["track2"], "--evidence", draft], "against the paper that it cites"),
    ):
        finished = aisr("check-text", *words)
        assert finished.code == 2, words
        assert message in finished.err
