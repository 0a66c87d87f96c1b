"""What a compile of a name may go on with, and what it refuses to go on in the place of."""

from pathlib import Path

import pytest

from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.optimize.run import compile_program
from support.loopback import Loopback
from support.plans import SILENT, plan
from support.scripted import right, scripted


def test_a_compile_that_never_got_an_answer_leaves_its_name_free(tmp_path: Path) -> None:
    of_plan, dead, alive = plan(tmp_path / "data", decide=False), scripted(lambda request: "It works!"), scripted(right)
    with pytest.raises(ValueError, match="every record of dev failed"):
        compile_program(of_plan, dead, dead, tmp_path / "out", SILENT)
    assert not any(path.is_file() for path in tmp_path.glob("out/**/*"))
    assert compile_program(of_plan, alive, alive, tmp_path / "out", SILENT).test is not None
    with pytest.raises(ValueError, match="x was begun with another lm: scripted/"):
        compile_program(of_plan, dead, dead, tmp_path / "out", SILENT)
    assert (tmp_path / "out" / "track1" / "x" / "compile.json").is_file()


def test_a_compile_goes_on_at_another_address_and_not_with_another_model(loopback: Loopback, tmp_path: Path) -> None:
    def run(model: str, address: str) -> None:
        lm = open_lm(LMConfig(model, api_base=address))
        compile_program(plan(tmp_path / "data", decide=False), lm, lm, tmp_path / "out", SILENT)

    run("openai/local", loopback.url)
    count = len(loopback.requests)
    run("openai/local", loopback.url.replace("/v1", "/moved/v1"))
    assert len(loopback.requests) == 2 * count  # another server's answers are not taken for this one's
    with pytest.raises(ValueError, match=r"x was begun with another lm: openai/local JSONAdapter .* openai/other"):
        run("openai/other", loopback.url)
