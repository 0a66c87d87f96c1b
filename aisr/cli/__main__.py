"""The `aisr` command. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import io
import os
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.cli import compile as compile_command
from aisr.cli import data, demo, evaluate, predict, report
from aisr.cli.options import REFUSED

app = typer.Typer(add_completion=False, rich_markup_mode="rich", pretty_exceptions_enable=False)
INTERRUPTED = 130  # typer's exit code where Ctrl-C ended a command
PANELS: dict[str, tuple[Callable[..., None], ...]] = {
    "Start": (demo.demo,),
    "Data": (data.check, data.split, data.retrieval),
    "Compile": (compile_command.compile_, evaluate.evaluate, evaluate.compare, evaluate.promote),
    "Predict": (predict.predict, predict.submit, predict.score),
    "Programs": (report.inspect, report.report),
    "This machine": (report.ui,),
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
    """Run a command: what a user can mend ends in one line on standard error and exit code 2."""
    # Read by packages when they are imported: no progress bars of others, and the price list of LiteLLM's package.
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # characters that the terminal cannot show
    try:
        code = app(sys.argv[1:] or ["--help"], prog_name="aisr", standalone_mode=False)
        if code == INTERRUPTED:
            print("stopped; the same command goes on where it can", file=sys.stderr)
        sys.exit(code)
    except Exception as error:
        if not _is_for_the_user(error):
            raise
        print(f"error: {_message(error)}", file=sys.stderr)
        sys.exit(REFUSED)


def _message(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return redact.printable(f"{error.filename}: {error.strerror}")
    return redact.secrets(error.format_message() if isinstance(error, typer.TyperException) else str(error))


def _is_for_the_user(error: Exception) -> bool:
    """Whether an error carries a message for the user: bad input, files, LM errors. Anything else is a fault of ours
    and is raised."""
    loaded = (("dspy.utils.exceptions", "DSPyError"), ("mlflow.exceptions", "MlflowException"))
    others = tuple(getattr(sys.modules[module], name) for module, name in loaded if module in sys.modules)
    return isinstance(error, (UserError, OSError, typer.TyperException, *others))


if __name__ == "__main__":
    main()
