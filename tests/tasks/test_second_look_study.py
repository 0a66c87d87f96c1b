"""The study of the second look: its shares are counted right, and it prints a line a paper."""

import re

import pytest

from aisr.optimize.studies import second_look
from aisr.optimize.studies.second_look import shown
from aisr.paper.open import read
from aisr.programs.records.draft import DraftRecord
from aisr.tasks.check import Check
from support.drafts import SITES, draft, table
from support.paths import SAMPLE

SAID = "Wren reaches 61.0 and 99.9."


def test_what_the_paper_has_nowhere_else_cannot_be_shown() -> None:
    made = draft(SAID, tables=(table(SITES),))

    def counted(rows: str) -> object:
        evidence = [{"type": "table", "text": rows}]
        raw = {"id": "a", "paragraph": SAID, "sentences": [{"sentence": SAID}], "evidence_bundle": evidence}
        return shown(made, [Check(DraftRecord.model_validate(raw), 0, (0,))])

    assert counted("Wren\t61.0") == ((1, 1), (1, 1))  # 99.9 stands nowhere
    assert counted("Lark\t58.5") == ((0, 1), (0, 1))


def test_it_sends_nothing_and_prints_a_line_a_paper(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = SAMPLE / "paper" / "main.tex"
    assert read(file).paragraphs
    monkeypatch.setattr("sys.argv", ["second_look", str(file)])
    assert second_look.main() == 0
    said = capsys.readouterr().out
    found = re.search(r"first look ([\d,]+) tokens, .* together (\d\.\d\d) times; shown (\d+) of (\d+) numbers", said)
    assert found
    assert found[3] == found[4] != "0"
    assert 1 < float(found[2]) < 2
