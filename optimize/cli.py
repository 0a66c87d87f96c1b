"""The `aisr` command. Everything heavy is imported inside the commands, so that `--help` answers at once."""

import sys

import typer

from optimize import (
    commands_compile,
    commands_data,
    commands_program,
    commands_prompt,
    commands_registry,
    commands_report,
    commands_retrieval,
    redact,
)
from optimize.options import REFUSED

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,  # with panels, help takes half a second on a slow machine
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Judge whether AI-assisted scientific writing is faithful to its evidence (NLPCC 2026 Task 10): compile "
    "prompt programs against the ranking score, version them, predict and submit.",
)
for _command in (
    commands_data.check,
    commands_data.split,
    commands_compile.compile_,
    commands_program.evaluate,
    commands_registry.compare,
    commands_registry.promote,
    commands_program.predict,
    commands_program.merge,
    commands_program.export,
    commands_retrieval.retrieval,
    commands_data.submit,
    commands_data.score,
    commands_prompt.inspect,
    commands_prompt.diff,
    commands_report.report,
    commands_report.techreport,
    commands_report.check_text,
    commands_program.ui,
):
    app.command(_command.__name__.strip("_").replace("_", "-"))(_command)


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
    """Bad input, files and LM errors carry messages of their own; anything else is a fault of ours and shows itself."""
    loaded = (("dspy.utils.exceptions", "DSPyError"), ("mlflow.exceptions", "MlflowException"))
    others = tuple(getattr(sys.modules[module], name) for module, name in loaded if module in sys.modules)
    return isinstance(error, (ValueError, OSError, *others))


if __name__ == "__main__":
    main()
