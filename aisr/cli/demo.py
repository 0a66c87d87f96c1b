"""The command that walks the sample: both tracks from labelled records to a scored submission, by recorded answers.

All of it goes to `artifacts/demo/`, with an MLflow store of its own: no program of the demo becomes the champion of a
user's data.
"""

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from aisr.base.errors import UserError
from aisr.base.files import SAMPLE
from aisr.cli import options as opt
from aisr.cli.display import console, note, table
from aisr.lm.config import RECORDED

if TYPE_CHECKING:
    from aisr.walk import Walk

RECORDED_TASKS = ("track1", "track2")  # whose answers are recorded
COMPILE = "--optimizer knn --budget light"


def demo(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="track1, track2. Default: both.")
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Compile, predict, submit and score on the sample, with recorded answers of an LM."""
    from aisr.walk import DEMO, Walk

    for task in tasks or ():
        if task not in RECORDED_TASKS:
            raise UserError(f"{task!r}: expected one of: {', '.join(RECORDED_TASKS)}; answers of these are recorded")
    root = artifacts / DEMO
    shutil.rmtree(root / "data", ignore_errors=True)
    shutil.copytree(SAMPLE, root / "data", ignore=shutil.ignore_patterns("averitec", "context24-*", "hard.jsonl"))
    answers = root / "data" / "recorded"
    walk_all([Walk(task, f"{RECORDED}{answers}/{task}.jsonl.gz", COMPILE, root) for task in tasks or RECORDED_TASKS])


def walk_all(walks: "Sequence[Walk]") -> None:
    """Walk the tasks, then print the scores, and where to go on."""
    from aisr.walk import StepFailed

    root = walks[0].root
    os.environ["AISR_ARTIFACTS"] = str(root)  # of the commands
    for ours in ("MLFLOW_TRACKING_URI", "AISR_API_BASE", "AISR_IMAGE_ROOT"):  # a team's store, the user's server
        os.environ.pop(ours, None)
    seconds: list[float] = []
    for number, walk in enumerate(walks, start=1):
        left = sum(seconds) / len(seconds) * (len(walks) - len(seconds)) if seconds else None
        note(f"\n{number} of {len(walks)}: {walk.task}" + (f", about {left:.0f} s left" if left else ""))
        try:
            seconds.append(walk.run(lambda command: console.print(f"\n$ {command}", style="bold")))
        except StepFailed as error:
            raise typer.Exit(error.code) from error
    recorded = walks[0].lm.startswith(RECORDED)
    title = "official score on held-out, invented records"
    header = ["task", "program", "test score", "gain", "answers"]
    rows = [row for walk in walks for row in walk.scores()]
    table(f"{title}; recorded answers of a frontier model" if recorded else title, header, rows)
    for walk in walks:
        program = walk.program.resolve()
        note(f"the prompt: {program}/PROMPT.md   the submission: {walk.submission.resolve()}")
        note(f"records of dev with their prompts, demos and answers, for a browser: {program}/report.html")
    aisr, place = shlex.quote(_command()), shlex.quote(str(root.resolve()))
    console.print(f"\nMLflow, with runs, prompts and versions:   {aisr} ui --artifacts {place}", style="bold")
    own = "compile --task track1 --data YOUR_FOLDER --optimizer knn --lm openai/gpt-4o-mini"
    console.print(f"your own records and LM:   {aisr} {own}", style="bold")


def _command() -> str:
    """Return how `aisr` is typed in any folder: by its name where the shell finds it, else by its path."""
    command, found = Path(sys.executable).with_name("aisr"), shutil.which("aisr")
    of_one_run = "UV" in os.environ  # `uvx` has its environment on the path for this command alone
    return "aisr" if found and not of_one_run and Path(found).samefile(command) else str(command.absolute())
