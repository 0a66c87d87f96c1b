"""The commands that show programs, verdicts and runs: inspect, report, ui."""

from pathlib import Path
from typing import Annotated

import typer

from aisr.base import redact
from aisr.cli import options as opt
from aisr.cli.display import note
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


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            help="artifacts/TASK/NAME, or the folder beside `evaluate --output`.", exists=True, file_okay=False
        ),
    ],
    image_root: Annotated[
        Path | None,
        opt.folder_option(
            help="Folder that the picture paths of the records start from; without it, captions stand in."
        ),
    ] = None,
) -> None:
    """Write the error browser of a compile or an evaluation again.

    It is one HTML file with every judged record, its evidence, verdicts, prompt and answer.
    """
    from aisr.report.page import rewrite

    note(f"wrote {rewrite(folder, image_root)}, to open in a browser")


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Open the MLflow UI, on this machine only."""
    from aisr.tracking.ui import serve_ui

    note("starting MLflow's server; its address follows when it answers, in about 20 seconds")
    serve_ui(artifacts, port)
