"""The `aisr` command. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from aisr.base.errors import run_command
from aisr.cli import compile as compile_command, convert, data, demo, evaluate, predict, show

app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (demo.demo,),
    "Data": (data.example, data.check, convert.convert, data.split, data.retrieval),
    "Compile": (compile_command.compile_, evaluate.evaluate, evaluate.compare, evaluate.promote),
    "Predict": (predict.predict, predict.submit, predict.score),
    "Programs": (show.inspect, show.report),
    "This machine": (show.ui,),
}
for _panel, _commands in PANELS.items():
    for _command in _commands:
        _class = compile_command.CompileCommand if _command is compile_command.compile_ else None
        app.command(_command.__name__.strip("_").replace("_", "-"), cls=_class, rich_help_panel=_panel)(_command)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"aisr {version('aisr')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Compile LM programs that check whether scientific statements are supported by their evidence; predict, submit."""


def main() -> None:
    """Run a command."""
    # Read by packages when they are imported: no progress bars of others, and the price list of LiteLLM's package.
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    run_command(lambda: app(sys.argv[1:] or ["--help"], prog_name="aisr", standalone_mode=False))


if __name__ == "__main__":
    main()
