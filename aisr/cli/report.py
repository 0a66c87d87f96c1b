"""The commands that show programs and verdicts: inspect, report."""

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.session import load, prepare

PROGRAM = "artifacts/TASK/NAME, or models:/aisr-TASK@champion."


def inspect(
    program: Annotated[str, typer.Argument(help=PROGRAM)],
    task: opt.ProgramTask = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Print a program as Markdown: instruction, demos, label weights, lengths."""
    prepare(artifacts, program)
    from aisr.artifact.prompt_page import prompt_page
    from aisr.base.redact import printable
    from aisr.programs.registry import find_task

    loaded = load(program, artifacts, find_task(task) if task else None)
    typer.echo(printable(prompt_page(f"{program} ({loaded.digest})", loaded.task, loaded.program)), nl=False)


def report(
    run: Annotated[
        str,
        typer.Argument(help="artifacts/TASK/NAME, the folder beside `evaluate --output`, or the id of an MLflow run."),
    ],
    image_root: Annotated[
        Path | None,
        typer.Option(help="Folder that the picture paths of the records start from. Default: what the last page has."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Where to write the page. Default: report.html in that folder; report-ID.html for a run."),
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Write the error browser of a compile or an evaluation.

    It is one HTML file with every judged record, its evidence, verdicts, prompt and answer.
    """
    from aisr.tracking.store import is_run_id

    logged = is_run_id(run) and not Path(run).exists()
    if not logged and not Path(run).is_dir():
        raise UserError(
            f"{run}: no such folder; expected that of a compiled program, such as artifacts/TASK/NAME, the one that "
            "`aisr evaluate --output` wrote, or the id of an MLflow run"
        )
    prepare(artifacts)
    from aisr.base.files import write_whole
    from aisr.cli.display import note
    from aisr.report import page, records
    from aisr.tracking import runs

    with tempfile.TemporaryDirectory() as place:
        folder = runs.fetch_files(artifacts, run, [records.FILE, page.FILE], Path(place)) if logged else Path(run)
        judged, thumbnail = records.read(folder), page.read_thumbnails(folder / page.FILE)
    if image_root is not None:
        from aisr.report.records import Thumbnails

        if not image_root.is_dir():
            raise UserError(f"--image-root {image_root}: no such folder; expected the one that img_path starts from")
        thumbnail = Thumbnails(image_root)
    target = out or (Path(f"report-{run[:8]}.html") if logged else Path(run) / page.FILE)
    write_whole(target, page.render(judged, thumbnail))
    note(
        f"wrote {target}: {len(judged.records)} records, {target.stat().st_size / 2**20:.1f} MiB, to open in a browser"
    )
