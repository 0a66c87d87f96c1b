"""The commands that show compiled programs: one, and what sets two apart."""

from typing import Annotated

import typer

from aisr.commands.options import ARTIFACTS, ProgramName, Root, chosen_task
from aisr.commands.session import compiled_of, load, load_two, prepare
from aisr.commands.task_options import TaskName


def inspect(task: TaskName, program: ProgramName, artifacts: Root = ARTIFACTS) -> None:
    """Print a compiled program as a person reads it, as Markdown: instruction, demos, decision layer, lengths."""
    prepare(artifacts, program)
    from aisr.artifact.prompt_page import as_markdown
    from aisr.base.redact import printable

    chosen = chosen_task(task)
    loaded = load(chosen, program, artifacts)
    typer.echo(printable(as_markdown(f"{program} ({loaded.digest})", chosen, loaded.program)), nl=False)


def diff(
    task: TaskName,
    first: Annotated[
        str,
        typer.Argument(
            help="artifacts/TASK/NAME, models:/aisr-TASK@champion, or `uncompiled`: the other as it was before."
        ),
    ],
    second: Annotated[str, typer.Argument(help="The program to compare it with.")],
    artifacts: Root = ARTIFACTS,
) -> None:
    """Print what sets two compiled programs apart, as Markdown."""
    names = (first, second)
    prepare(artifacts, *compiled_of(names))
    from aisr.artifact.diff import as_markdown
    from aisr.base.redact import printable

    chosen = chosen_task(task)
    a, b = load_two(chosen, names, artifacts)
    typer.echo(printable(as_markdown(a, b, names)), nl=False)
