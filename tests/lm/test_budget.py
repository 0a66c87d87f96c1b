"""Limits of a compile hold, results until then are kept; what a compile of a name may go on with."""

import json
from pathlib import Path
from typing import Any

import pytest

from aisr.artifact.program import load_program
from aisr.lm.budget import Ledger, Limits
from aisr.lm.config import LMConfig
from aisr.lm.open import open_config
from aisr.optimize.run import compile_program
from aisr.optimize.search import Settings
from aisr.optimize.summary import describe_run
from support.loopback import Loopback
from support.runs import SILENT, plan
from support.scripted import flat, requests, right, scripted


@pytest.mark.parametrize(("calls", "scored"), [(8, 1), (24, 3)])
def test_a_spent_budget_leaves_a_valid_artifact_of_what_was_found(
    tmp_path: Path, calls: int, scored: int, capsys: pytest.CaptureFixture[str]
) -> None:
    lm = scripted(right)
    lm.ledger = Ledger(Limits(calls=calls))
    made = compile_program(plan(tmp_path / "data"), lm, lm, tmp_path / "out", SILENT)
    assert len(requests(lm)) == calls
    assert len(made.choice.contenders) == scored
    assert len(made.choice.unscored) == 4 - scored
    assert made.test is None
    assert "  on test: not scored, the budget was spent before" in describe_run(made)
    assert f"--max-calls is {calls}" in (made.manifest.stopped_early or "")
    assert load_program(made.folder).digest == made.manifest.digest


def test_what_an_optimizer_left_is_scored_before_another_spends_the_budget(tmp_path: Path) -> None:
    def answer(request: Any) -> str:
        return right(request) if len(request.messages) > 1 else flat(request)  # demos are all that it needs

    lm = scripted(answer)
    lm.ledger = Ledger(Limits(calls=20))
    two = plan(tmp_path / "data", optimizers=["labeled", "random-search"], settings=Settings(demos=2, candidates=1))
    made = compile_program(two, lm, lm, tmp_path / "out", SILENT)
    assert made.choice.champion.name == "labeled 1"
    assert made.manifest.stopped_early


def test_the_test_split_leaves_no_trace_in_the_program(tmp_path: Path) -> None:
    """A word that tells the label in every record of test: the program stays the same."""
    made = []
    for name in ("plain", "marked"):
        compile_plan, lm = plan(tmp_path / name), scripted(flat)
        if name == "marked":
            text = compile_plan.data["test"].read_text().replace("is Contradiction", "zyx is Contradiction")
            compile_plan.data["test"].write_text(text)
        made.append(compile_program(compile_plan, lm, lm, tmp_path / name / "out", SILENT))
    programs = [json.loads((one.folder / "program.json").read_text()) for one in made]
    assert programs[0] == programs[1]
    assert made[0].manifest.data["test"].digest != made[1].manifest.data["test"].digest


def test_a_compile_that_is_there_sends_nothing_and_another_of_its_name_is_refused_with_both(
    loopback: Loopback, tmp_path: Path
) -> None:
    def run(model: str, address: str, demos: int = 2) -> int:
        lm = open_config(LMConfig(model, api_base=address))
        of_plan = plan(tmp_path / "data", settings=Settings(demos=demos))
        compile_program(of_plan, lm, lm, tmp_path / "out", SILENT)
        return len(loopback.requests)

    count = run("openai/local", loopback.url)
    assert run("openai/local", loopback.url) == count
    with pytest.raises(ValueError, match=r"another optimizer: .*demos 2.* then, .*demos 1.* now"):
        run("openai/local", loopback.url, demos=1)
    with pytest.raises(ValueError, match=r"x was begun with another lm: openai/local JSONAdapter .* openai/other"):
        run("openai/other", loopback.url)
    # It goes on at another address, where another server's answers are not taken for this one's.
    assert run("openai/local", loopback.url.replace("/v1", "/moved/v1")) == 2 * count
