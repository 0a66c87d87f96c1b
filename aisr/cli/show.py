"""The commands that show programs and runs: inspect, ui."""

from typing import Annotated

import typer

from aisr.base import redact
from aisr.cli import options as opt
from aisr.programs.registry import find_task


def inspect(
    program: Annotated[str, typer.Argument(help=f"{opt.PROGRAM_NAMES}.", callback=opt.check_program)],
    task: Annotated[
        str | None,
        typer.Option(
            metavar="PLACE", help="Needed for a task of your own: package.module:TASK.", callback=opt.check_task
        ),
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Print a program as Markdown: instruction, demos, lengths."""
    from aisr.artifact.prompt_page import prompt_page
    from aisr.tracking import registry

    loaded = registry.load(program, artifacts, find_task(task) if task else None)
    typer.echo(redact.printable(prompt_page(f"{program} ({loaded.digest})", loaded.task, loaded.program)), nl=False)


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Open the MLflow UI, on this machine only."""
    from aisr.tracking.ui import serve_ui

    serve_ui(artifacts, port)
