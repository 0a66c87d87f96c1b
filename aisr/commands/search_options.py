"""The options of `aisr compile` that steer the search: optimizer, its teacher, how thorough it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.lm.client import OpenLM

Optimizer = Annotated[
    str | None,
    typer.Option(
        help="labeled, knn, bootstrap, random-search, mipro, simba, gepa; or several, joined by commas. Default: knn "
        "where train has 200 records, else random-search."
    ),
]
ArtifactName = Annotated[str | None, typer.Option(help="Name of the artifact. Default: that of the optimizer.")]
TeacherLM = Annotated[
    str | None, typer.Option(help="The LM that writes demos and instructions. Default: that of --lm.")
]
TeacherApiBase = Annotated[
    str | None,
    typer.Option(
        help="Address of an OpenAI-compatible server for --teacher-lm; `provider`: whom the model string names, "
        "which has to be said where --api-base is given."
    ),
]
TeacherPrice = Annotated[str | None, typer.Option(help="--price of --teacher-lm.")]
Budget = Annotated[
    str,
    typer.Option(help="How thorough the search is: `light`, `medium` or `heavy`."),
]
Demos = Annotated[int | None, typer.Option(min=0, help="Most few-shot examples in a prompt. By budget: 4, 4 or 8.")]
DemoTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Most tokens, about, of all demos. By budget: 3000, 3000 or 6000."),
]
Candidates = Annotated[
    int | None, typer.Option(min=1, help="How many programs the optimizer may try. By budget: 2, 4 or 8.")
]
PriceOfAThousand = Annotated[
    float | None,
    typer.Option(min=0, help="Race no program that costs more to judge a thousand records with, about."),
]


def chain_of(optimizer: str) -> list[str]:
    """The optimizers that --optimizer names, in turn. Raises UserError for one that there is not."""
    from aisr.optimize.search.optimizers import OPTIMIZERS

    chain = [step.strip() for step in optimizer.split(",")]
    for step in chain:
        if step not in OPTIMIZERS:
            raise UserError(f"--optimizer {step!r}; one of: {', '.join(OPTIMIZERS)}, or several joined by commas")
    return chain


def check_written(chain: Sequence[str], teacher: "OpenLM") -> None:
    """Raises UserError where an optimizer has instructions written and the teacher writes none."""
    from aisr.optimize.search.optimizers import WRITTEN_BY_LM

    writing = [step for step in chain if step in WRITTEN_BY_LM]
    if teacher.decides and writing:
        raise UserError(
            f"--optimizer {writing[0]} has instructions written, and a decision model writes none: give --teacher-lm "
            "PROVIDER/MODEL"
        )
