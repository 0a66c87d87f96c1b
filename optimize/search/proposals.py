"""What optimizers ask the teacher for beside answers: instructions, and what they rest on."""

import contextlib
import io
from collections.abc import Callable, Sequence
from math import ceil
from typing import NamedTuple

import dspy

from aisr.compat.mipro import get_dspy_source_code
from aisr.optimize.search.compilation import Settings
from aisr.optimize.search.optimizers import GEPA_MINIBATCH, SIMBA_BATCH
from aisr.optimize.search.record_cost import Cost
from aisr.optimize.search.searches import Sizes, gepa_rounds
from aisr.programs.judges.contract import Program
from aisr.programs.text.tokens import tokens

WRITTEN = 1000  # tokens that an instruction, or anything else that the teacher writes, has at most
USUAL = 300  # and usually
FORM = 1000  # tokens of the optimizer's own words around what it asks, at most
SUMMARISED, VIEWED, SHOWN = 10, 10, 3  # of MIPRO: batches of train, records in one, demos in a proposal


class Material(NamedTuple):
    """What proposals are written from. records: tokens of each record of train as it stands, longest first; code: of
    the program's source, instructions included; predictors: how many have an instruction."""

    records: Sequence[int]
    code: int
    predictors: int

    def longest(self, count: int) -> int:
        """Tokens of so many records, at most."""
        return sum(self.records[:count])


def material(program: Program, train: Sequence[dspy.Example]) -> Material:
    """What proposals for a program are written from."""
    with contextlib.redirect_stdout(io.StringIO()):  # DSPy prints what it finds
        code = tokens(get_dspy_source_code(program))
    records = sorted((tokens(repr(example)) for example in train), reverse=True)
    return Material(records, code, len(program.predictors()))


def _none(s: Settings, n: Sizes, given: Material) -> Cost:
    return Cost()


def _mipro(s: Settings, n: Sizes, given: Material) -> Cost:
    batches = min(SUMMARISED, ceil(n.train / VIEWED))
    summary = Cost(1, given.longest(VIEWED) + batches * WRITTEN + FORM, WRITTEN) * batches
    # Each is three questions about the program's code, with a few demos.
    about = Cost(1, given.code + given.longest(SHOWN) + 3 * WRITTEN + FORM, WRITTEN)
    return summary + Cost(1, batches * WRITTEN + FORM, WRITTEN) + about * (3 * s.candidates * given.predictors)


def _simba(s: Settings, n: Sizes, given: Material) -> Cost:
    # A rule that cannot be read is asked for again, of another record of the batch. It sees a record and two ways of
    # judging it, in indented JSON.
    once = Cost(1, 2 * given.code + 6 * given.longest(1) + s.candidates * WRITTEN + 3 * FORM, WRITTEN)
    return once * (s.candidates * min(SIMBA_BATCH, n.train))


def _gepa(s: Settings, n: Sizes, given: Material) -> Cost:
    # What cannot be read is asked for once more; what is too long is to be shortened.
    once = Cost(1, 2 * given.longest(GEPA_MINIBATCH) + WRITTEN + 2 * FORM, WRITTEN) + Cost(1, 3 * WRITTEN, WRITTEN)
    return once * (2 * gepa_rounds(s, n))


PROPOSALS: dict[str, Callable[[Settings, Sizes, Material], Cost]] = {"mipro": _mipro, "simba": _simba, "gepa": _gepa}


def proposals(optimizer: str, settings: Settings, sizes: Sizes, given: Material) -> Cost:
    """What an optimizer asks the teacher to write, at most."""
    return PROPOSALS.get(optimizer, _none)(settings, sizes, given)
