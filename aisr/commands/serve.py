"""The command that serves a registered program over HTTP, on the loopback address."""

from typing import Annotated

import typer

from aisr.commands.options import ARTIFACTS, ApiBase, Root
from aisr.commands.session import prepare
from aisr.commands.task_options import ImageRoot
from aisr.programs.errors import UserError


def serve(
    program: Annotated[str, typer.Argument(help="models:/aisr-TASK@champion, or models:/aisr-TASK/VERSION.")],
    lm: Annotated[
        str | None,
        typer.Option(
            "--lm",
            envvar="AISR_LM",
            help="The LM that judges. Default: the one that it was compiled with, if that is `embedded`.",
        ),
    ] = None,
    api_base: ApiBase = None,
    image_root: ImageRoot = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on the loopback address.")] = 5001,
    artifacts: Root = ARTIFACTS,
) -> None:
    """Serve a registered program as `mlflow models serve` does, on this machine only: POST {"inputs": [record, …]} to
    /invocations."""
    from aisr.tracking.model_uri import MODEL_SCHEME

    if not program.startswith(MODEL_SCHEME):
        raise UserError(f"{program}: expected models:/aisr-TASK@champion or models:/aisr-TASK/VERSION")
    prepare(artifacts, program)
    from aisr.commands.display import note
    from aisr.commands.mlflow_ui import OFFLINE, run
    from aisr.inference.suits import check_suits
    from aisr.lm.open import EMBEDDED, open_lm
    from aisr.tracking import registry
    from aisr.tracking.store import tracking_uri

    loaded = registry.load_registered(artifacts, program)
    compiled = registry.lm_to_serve(artifacts, program)
    spec = lm or compiled
    if lm is None and compiled != EMBEDDED:
        raise UserError(f"{program} was compiled with {compiled}; give --lm, that one or another on purpose")
    check_suits(loaded.program, open_lm(spec, api_base=api_base))  # what cannot be opened shows itself here, in a line
    note(
        f"serving {program} ({loaded.digest}) with {spec} on http://127.0.0.1:{port}/invocations in about 20 seconds; "
        "Ctrl-C ends it"
    )
    told = {
        "MLFLOW_TRACKING_URI": tracking_uri(artifacts),
        "MLFLOW_REGISTRY_URI": tracking_uri(artifacts),
        "AISR_LM": spec,
        "AISR_API_BASE": api_base,
        "AISR_IMAGE_ROOT": str(image_root.resolve()) if image_root else None,
        "AISR_ARTIFACTS": str(artifacts.resolve()),
    }
    variables = OFFLINE | {name: value for name, value in told.items() if value}
    raise typer.Exit(run([program, str(port)], variables, "aisr.serving.server"))
