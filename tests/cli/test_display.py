"""What a command says while it works."""

import io
import threading

import dspy
import pytest
from rich.console import Console

from aisr.commands import display, results
from aisr.inference.judge import Outcome
from aisr.lm.budget import Ledger
from aisr.optimize.decision.explain import Reason
from aisr.programs.asking.label_probabilities import Judgement
from aisr.tasks.track2 import TRACK2
from support import growth


def test_where_no_terminal_is_a_line_now_and_then_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    said, heard = [], threading.Event()

    def print_(text: str, **_: object) -> None:
        said.append(text)
        if "1 records judged" in text:
            heard.set()

    monkeypatch.setattr(display, "SILENCE", 0.01)
    monkeypatch.setattr(display.console, "print", print_)
    ledger = Ledger()
    ledger.sent({"prompt_tokens": 3}, 0.0)
    with display.live(ledger) as shown:
        shown.stage("champion: 3 candidates")
        shown.judged()
        assert heard.wait(30)
    assert "  champion: 3 candidates" in said  # a sign of life may come before it
    assert any(line.endswith("1 records judged; 1 LM calls, 0 cached") for line in said)


def test_what_is_said_is_not_turned_into_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    display.note("--parts a:b:c, :warning:")
    display.table("labels", ["label"], [[":x:"]])
    said = capsys.readouterr().out
    assert "a:b:c, :warning:" in said
    assert ":x:" in said


@pytest.mark.parametrize("piece", ["\\", "[a] ", "\\[bold] ", "[/] "])
def test_a_statement_is_shown_as_it_stands_however_it_is_escaped(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def shown(count: int) -> str:
        out = io.StringIO()
        monkeypatch.setattr(results, "console", Console(file=out, width=120))
        example, said = dspy.Example(claim=piece * count), Outcome(None, None, [Judgement("Supported", [], "vote")])
        results.say_verdicts(TRACK2.labelled, example, said, [Reason([], {}, "")], [])
        return out.getvalue()

    assert piece.strip() * 1 in shown(3)
    assert growth.grows(shown, 2_000) < growth.TOO_MUCH
