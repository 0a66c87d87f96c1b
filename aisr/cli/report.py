"""The commands that show programs, verdicts and runs: inspect, report, ui."""

import os
import socket
import sys
from pathlib import Path
from typing import Annotated

import typer

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import write_whole
from aisr.cli import options as opt
from aisr.cli.display import note
from aisr.programs.registry import find_task

# Without these three the server never becomes ready offline: it asks the web for prices, and starts a job queue.
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
    "MLFLOW_DISABLE_TELEMETRY": "true",
}


def inspect(
    program: Annotated[str, typer.Argument(help=f"{opt.PROGRAM_NAMES}.", callback=opt.check_program)],
    task: Annotated[
        str | None,
        typer.Option(metavar="PLACE", help="Of a task of your own, package.module:TASK.", callback=opt.check_task),
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
        typer.Option(
            help="Folder that the picture paths of the records start from; without it, captions stand in.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
) -> None:
    """Write the error browser of a compile or an evaluation again.

    It is one HTML file with every judged record, its evidence, verdicts, prompt and answer.
    """
    from aisr.programs.pictures import ImageFolder
    from aisr.report import page

    judged = page.read_judged(folder)
    target = folder / page.REPORT_PAGE
    if image_root is None and target.is_file() and b"data:image/webp;base64," in target.read_bytes():
        raise UserError(
            f"{target} shows pictures, which would be lost; give --image-root FOLDER, or remove the page first"
        )
    write_whole(target, page.render(judged, ImageFolder(image_root) if image_root else None))
    note(
        f"wrote {target}: {len(judged.records)} records, {target.stat().st_size / 2**20:.1f} MiB, to open in a browser"
    )


def ui(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5000,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Open the MLflow UI, on this machine only."""
    from aisr.tracking.runs import ui_path
    from aisr.tracking.store import check_store, tracking_uri

    uri = tracking_uri(artifacts)
    if uri.startswith("http"):
        raise UserError(f"MLFLOW_TRACKING_URI is a server already ({redact.secrets(uri)}): open that address")
    check_store(artifacts)  # else a folder that is mistyped would become a new, empty store
    _check_free(port)
    path = ui_path(artifacts)  # says what is wrong with a database that cannot be used
    note(f"MLflow UI on http://127.0.0.1:{port}{path} in about 20 seconds; Ctrl-C ends it")
    words = ["mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    # In the environment: a command line is for everyone on the machine to read, and an address may hold a password.
    environment = os.environ | OFFLINE | {"MLFLOW_BACKEND_STORE_URI": uri, "PYTHONSAFEPATH": "1"}
    sys.stdout.flush()
    # In the place of this process, so that signals reach it. -P: it imports nothing from the current folder.
    os.execve(sys.executable, [sys.executable, "-P", "-m", *words], environment)


def _check_free(port: int) -> None:
    """Raises UserError for a port that another program listens on."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as the server does: not of a connection's end
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise UserError(f"port {port}: {error.strerror}; choose another one by --port") from error
