"""What suits an LM: whether it can do what a program asks of it, and what a new program asks of it."""

from aisr.lm.client import OpenLM
from aisr.lm.decide import check_writes
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program


def check_suits(program: Program, lm: OpenLM) -> None:
    """Raises UserError where a program shows pictures to a model that takes none, or has text written by one that
    writes none."""
    if program.options.get("evidence") == "image" and lm.sees is False:
        raise UserError(f"--lm {lm.spec} takes no pictures, and this program shows them; compile with --evidence ocr")
    for predictor in program.predictors():
        check_writes(predictor.signature, lm)


def states_for(lm: OpenLM) -> bool:
    """Whether an LM should be asked to state how likely its labels are: where it gives no log-probabilities, and at an
    address of one's own, where only its first answer shows whether it does."""
    return not lm.lm.gives_logprobs or (lm.endpoint is not None and not lm.decides)
