"""A compiled program as it was before its prompt was searched for."""

from collections.abc import Mapping
from typing import Any

from aisr.artifact.program_file import Loaded, parse, program_text
from aisr.artifact.there import UNCOMPILED
from aisr.programs.base import Judge
from aisr.programs.questions import describe_options, describes_options
from aisr.programs.task import Task


def uncompiled(of: Loaded) -> Loaded:
    """The program that a compile holds its candidates against: the hand-written instruction with the options, the
    evidence ranker and what was learnt from train of `of`; no demos and no decision layer."""
    program = of.program
    searched = {option.name for option in program.options.table() if option.searched}
    bare = built_as(
        program, of.task, {name: one for name, one in program.options.as_dict().items() if name not in searched}
    )
    bare.ranker = program.ranker
    bare.fitted = program.fitted
    return parse(program_text(of.task, bare), UNCOMPILED)


def built_as(program: Judge, task: Task, options: Mapping[str, Any]) -> Judge:
    """A new program with the instruction that the search for `program` began with."""
    built = task.build(options)
    if any(describes_options(predictor.signature) for predictor in program.predictors()):
        describe_options(built)  # it was compiled with an LM that new programs ask so (`OpenLM.brief`)
    return built
