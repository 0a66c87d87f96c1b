"""The options of `aisr compile` that steer the search: optimizer, its teacher, how thorough it is."""

from typing import Annotated

import typer

Optimizer = Annotated[
    str,
    typer.Option(help="labeled, knn, bootstrap, random-search, mipro, simba, gepa; or several, joined by commas."),
]
EnsembleOf = Annotated[
    str | None,
    typer.Option(help="Instead of optimizing: the compiled programs to make one of, joined by commas."),
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
    typer.Option(help="How thorough the search is: `light`, `medium` or `heavy`. --estimate shows all."),
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
