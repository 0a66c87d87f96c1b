"""The options of a second LM behind the first, and what they come to."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from aisr.commands.session import load, opened_beside, warn_of_another_lm
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aisr.artifact.program_file import Loaded
    from aisr.commands.lm_options import Reach
    from aisr.inference.cascade import Stage
    from aisr.lm.budget import Ledger
    from aisr.lm.client import OpenLM
    from aisr.programs.judges.contract import Program
    from aisr.programs.records.base import Record
    from aisr.report.foretold import Foretold
    from aisr.report.records import Records
    from aisr.tasks.task import Task

BELOW = 0.7
SecondLM = Annotated[
    str | None, typer.Option(help="A stronger LM, to be asked about the records that --lm is not sure of.")
]
Below = Annotated[
    float | None,
    typer.Option(min=0, max=1, help=f"With --second-lm: not sure is whoever is less sure than this. Default: {BELOW}."),
]
SecondProgram = Annotated[
    str | None,
    typer.Option(help="The program that the second LM is asked by, best one compiled with it. Default: --program."),
]
SecondApiBase = Annotated[
    str | None, typer.Option(help="Address of the second LM's server, or `provider`. Needed where --api-base is given.")
]
SecondPrice = Annotated[
    str | None, typer.Option(help="USD a million prompt,completion tokens of the second LM, where they are not listed.")
]


class Asked(NamedTuple):
    """The second LM as the options say it."""

    spec: str
    below: float
    program: str | None
    address: str | None
    price: str | None


class Opened(NamedTuple):
    """The second LM with its program, what its confidence must reach, and what tells a run with it from others."""

    stage: "Stage"
    below: float
    identity: dict[str, str]


def asked(
    spec: str | None, below: float | None, program: str | None, address: str | None, price: str | None
) -> Asked | None:
    """The second LM, if there is to be one. Raises UserError for options of it without it."""
    if spec is None:
        given = {"below": below, "second-program": program, "second-api-base": address, "second-price": price}
        for name, value in given.items():
            if value is not None:
                raise UserError(f"--{name} goes with --second-lm")
        return None
    return Asked(spec, BELOW if below is None else below, program, address, price)


def opened(
    wanted: Asked,
    task: "Task",
    first: "Loaded",
    first_lm: "OpenLM",
    ledger: "Ledger",
    reach: "Reach",
    timeout: float | None,
    artifacts: Path,
    keyed: bool = True,
) -> Opened:
    """Open the second LM, with a program of its own or the first one's, see `behind`."""
    from aisr.commands.display import note
    from aisr.inference.cascade import Stage

    _ = task.labelled  # who has no labels is never unsure of one
    lm = opened_lm_behind(wanted, first_lm, ledger, reach, timeout, keyed)
    digest = first.digest
    if wanted.program:
        loaded = load(task, wanted.program, artifacts)
        program, digest = loaded.program, loaded.digest
        warn_of_another_lm(program, lm)
    else:
        program = behind(first.program, lm)
        if first.program.decision is not None and program.decision is None:
            digest += " without its decision layer"
            note(f"--second-program P, compiled with --lm {wanted.spec}, brings its own layer")
    identity = {"second lm": lm.identity, "second program": digest, "below": f"{wanted.below:g}"}
    return Opened(Stage(program, lm), wanted.below, identity)


def opened_lm_behind(
    wanted: Asked,
    first: "OpenLM",
    ledger: "Ledger",
    reach: "Reach",
    timeout: float | None = None,
    keyed: bool = True,
) -> "OpenLM":
    """The second LM alone. One server embeds the papers, once for both."""
    lm = opened_beside("second", wanted.spec, wanted.address, reach, ledger, wanted.price, timeout, keyed)
    return replace(lm, embeddings=first.embeddings)


def behind(program: "Program", lm: "OpenLM") -> "Program":
    """A program as it asks a second LM, whose answers are taken as they are where the decision layer was fitted on
    another LM: its weights say nothing of this one."""
    from aisr.commands.display import note
    from aisr.inference.judge import another_lm

    own = program.deepcopy()
    if another_lm(own, lm):
        own.decision = None
        note(f"the answers of {lm.spec} are taken as they are: the decision layer was fitted on another LM")
    return own


def foretold(
    program: str,
    loaded: "Loaded",
    records: "Iterable[Record]",
    count: int,
    lm: "OpenLM",
    second: Opened | None,
    second_program: str | None,
    artifacts: Path,
) -> "Foretold":
    """What predicting so many records would come to; they are looked at where a retriever would embed them. Raises
    UserError where a program left no dev records."""
    from aisr.report.foretold import Behind, embedding, foretell

    dev = _dev(program, artifacts)
    programs = [loaded.program, *([second.stage.program] if second else [])]
    embedded = embedding(programs, records, lm.embeddings)
    if second is None:
        return foretell(dev, count, lm.lm.price, None, embedded)
    behind = dev if second_program is None else _dev(second_program, artifacts)
    return foretell(dev, count, lm.lm.price, Behind(behind, second.stage.lm.lm.price, second.below), embedded)


def _dev(program: str, artifacts: Path) -> "Records":
    from aisr.tracking import registry

    return registry.dev_records(program, artifacts)
