"""A compiled program as it was before its prompt was searched for."""

from aisr.artifact.program_file import Loaded, parse, program_text
from aisr.artifact.there import UNCOMPILED
from aisr.programs.errors import UserError
from aisr.programs.judges.ensemble import Ensemble, single
from aisr.programs.judges.learnt import hand_over

SEARCHED = ("nearest", "nearest_by", "seats")  # options that the search chooses


def uncompiled(of: Loaded) -> Loaded:
    """The program that a compile holds its candidates against: the hand-written instruction with the options, the
    evidence ranker and what was learnt from train of `of`; no demos and no decision layer. Raises UserError for an
    ensemble."""
    if isinstance(of.program, Ensemble):
        raise UserError(f"{UNCOMPILED}: an ensemble was not compiled from one program; name one of its members instead")
    bare = of.task.build({name: value for name, value in of.program.options.items() if name not in SEARCHED})
    bare.ranker = single(of.program).ranker
    hand_over(of.program, bare)
    return parse(program_text(of.task, bare), UNCOMPILED)
