"""The `aisr` command. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import sys
from importlib.metadata import version
from typing import Annotated

import typer

from aisr.base import redact
from aisr.cli import compile as compile_commands
from aisr.cli import data, evaluate, machine, paper, predict, report
from aisr.cli.help import Command, Group, spread, takes_a_file
from aisr.cli.options import REFUSED
from aisr.programs.errors import UserError

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    rich_markup_mode=None,  # with panels, help takes half a second on a slow machine
    pretty_exceptions_enable=False,
)
for _command in (
    data.check,
    data.split,
    data.corrections,
    compile_commands.compile_,
    evaluate.evaluate,
    evaluate.compare,
    evaluate.promote,
    predict.predict,
    data.export,
    evaluate.retrieval,
    predict.vote,
    predict.submit,
    predict.score,
    report.inspect,
    report.report,
    report.techreport,
    report.check_text,
    paper.check_paper,
    paper.mcp,
    machine.ui,
    machine.doctor,
):
    app.command(_command.__name__.strip("_").replace("_", "-"), cls=Command)(takes_a_file(spread(_command)))


def _version(wanted: bool) -> None:
    if wanted:
        print(f"aisr {version('aisr')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print it.")] = False,
) -> None:
    """Judge whether AI-assisted scientific writing is faithful to its evidence (NLPCC 2026 Task 10): compile prompt
    programs against the ranking score, version them, predict and submit."""


def main() -> None:
    """The console script: what a user can mend ends in one line on standard error and exit code 2."""
    try:
        app()
    except KeyboardInterrupt:
        sys.exit("stopped; the same command goes on where it can")
    except Exception as error:
        if not _is_for_the_user(error):
            raise
        print(f"error: {_said(error)}", file=sys.stderr)
        sys.exit(REFUSED)


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename:
        return redact.printable(f"{error.filename}: {error.strerror}")
    return redact.secrets(str(error))


def _is_for_the_user(error: Exception) -> bool:
    """Bad input, files and LM errors carry messages of their own; anything else is a fault of ours and is shown."""
    loaded = (("dspy.utils.exceptions", "DSPyError"), ("mlflow.exceptions", "MlflowException"))
    others = tuple(getattr(sys.modules[module], name) for module, name in loaded if module in sys.modules)
    return isinstance(error, (UserError, OSError, *others))


if __name__ == "__main__":
    main()
