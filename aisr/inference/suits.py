"""Whether an LM can do what a program asks of it, before it is asked."""

from aisr.lm.client import OpenLM
from aisr.lm.question_adapter import check_writes
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program


def check_suits(program: Program, lm: OpenLM) -> None:
    """Raises UserError where a program shows pictures to a model that takes none, or has text written by one that
    writes none."""
    if program.options.get("evidence") in ("image", "transcript") and lm.sees is False:
        raise UserError(f"--lm {lm.spec} takes no pictures, and this program shows them; compile with --evidence ocr")
    for predictor in program.predictors():
        check_writes(predictor.signature, lm)
