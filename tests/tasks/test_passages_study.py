"""The table of all ways to find grounding passages: without an LM, and with one."""

import pytest
from dspy.lm15 import Request

from aisr.optimize.studies import passages
from aisr.tasks.context24_text import CONTEXT24_TEXT
from support.context24_text import claim, grounding
from support.paths import SAMPLE
from support.scripted import question, scripted

DEV, TRAIN = (str(SAMPLE / "context24-text" / f"{side}.jsonl") for side in ("dev", "train"))


def ran(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["passages", *words])
    return passages.main()


def test_the_table_of_the_sample(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert ran(monkeypatch, DEV, "--task", "context24-text", "--train", TRAIN) == 0
    said = capsys.readouterr().out
    assert "9 claims" in said
    assert "| strategy | ROUGE-1 | ROUGE-2 | ROUGE-L | score against the first |" in said
    assert all(said.count(f"| {name} |") == 1 for name in passages.WAYS)


def test_an_lm_that_knows_the_passages_beats_what_needs_none() -> None:
    def right(request: Request) -> str:
        return grounding(question(request))

    records = [claim(k) for k in (1, 2, 3)]
    rows = {row.name: row for row in passages.compared(CONTEXT24_TEXT, records, records, scripted(right))}
    assert list(rows) == [*passages.WAYS, *passages.ASKING]
    first, *_ = rows.values()
    assert first.gain == (0, 0, 0)
    assert rows["an LM chooses among the 15 best"].gain.value > 0
    assert rows["an LM quotes the whole paper, joined"].gain.value > 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((DEV, "--task", "track2", "--train", TRAIN), "looks for no passages"),
        ((DEV.replace("dev", "test-inputs"), "--task", "context24-text", "--train", TRAIN), "labelled"),
    ],
)
def test_bad_words_are_told(
    words: tuple[str, ...], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err
