"""What a command says while it works."""

import threading

import pytest

from aisr.commands import display
from aisr.lm.budget import Ledger


def test_where_no_terminal_is_a_line_now_and_then_says_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    said, heard = [], threading.Event()

    def print_(text: str, **_: object) -> None:
        said.append(text)
        if "…" in text:
            heard.set()

    monkeypatch.setattr(display, "SILENCE", 0.01)
    monkeypatch.setattr(display.console, "print", print_)
    ledger = Ledger()
    ledger.sent({"prompt_tokens": 3}, 0.0)
    with display.live(ledger) as shown:
        shown.stage("champion: 3 candidates")
        shown.judged()
        assert heard.wait(30)
    assert said[0] == "  champion: 3 candidates"
    assert any(line.endswith("1 records judged; 1 LM calls, 0 cached") for line in said)
