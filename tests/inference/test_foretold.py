"""What predicting a file would come to, told from the dev records that a compile left."""

from pathlib import Path

import pytest

from aisr.lm.prices import Price
from aisr.report.foretold import foretell
from aisr.report.records import About, Call, JudgedRecord, Records, Statement
from support.commands import Aisr
from support.compiled import Compiled
from support.paths import SAMPLE


def dev(count: int) -> Records:
    """Dev records that took one call each of 40 bytes, which is ten tokens, and an answer of five."""
    about = About(
        task="track1", labels=[], evidence=False, title="t", program="d", lm="m", data="dev", score=0, interval=(0, 0)
    )
    said = [Statement(text="s", gold=["Supported"], said="Supported")]
    rows = [
        JudgedRecord(
            id=f"r{k}", right=True, confidence=None, failure=None, statements=said, exhibits=[],
            calls=[Call(messages=[("user", 0)], answer="a" * 20)],
        )
        for k in range(count)
    ]  # fmt: skip
    return Records(about=about, texts=["x" * 40], records=rows)


def test_records_are_taken_to_be_like_those_of_dev() -> None:
    found = foretell(dev(4), 200, Price(1.0, 2.0))
    assert (found.calls, found.prompt_tokens, found.completion_tokens) == (200, 2000, 1000)
    assert found.usd == pytest.approx((2000 + 2 * 1000) / 1e6)


def test_a_registered_program_tells_as_much_as_its_folder(aisr: Aisr, compiled: Compiled, tmp_path: Path) -> None:
    data = tmp_path / "five.jsonl"
    data.write_text("".join((SAMPLE / "track1" / "test.jsonl").read_text().splitlines(keepends=True)[:5]))
    at = ["--task", "track1", "--data", data, "--out", tmp_path / "out", *compiled.lm, "--estimate", "--price", "1,1"]
    told = [aisr("predict", *at, "--program", one) for one in ("models:/aisr-track1@champion", compiled.folder())]
    assert told[0].code == 0, told[0].err
    assert told[0].out == told[1].out
    assert "5 records, each as long as those of dev: about" in " ".join(told[0].out.split())
