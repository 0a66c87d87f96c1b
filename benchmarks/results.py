"""`make results`: the figures of the README, or the command that prints them where data of others is needed.

Compiles of the sample are repeated with the recorded answers, and so are their peers in plain DSPy; docs/gain.svg shows
them. Figures on real records rest on data that may not be passed on; for each stands the command that prints the same
of one's own data.
"""

import subprocess
import sys
import tempfile
from argparse import Namespace
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import matplotlib

from aisr.artifact.manifest import FILE, Score, read_manifest
from aisr.cli.display import console, table
from aisr.metrics.intervals import Interval
from benchmarks import plain_dspy

SAMPLE = Path("data/sample")
PICTURE = Path("docs/gain.svg")
COMPILES = {
    "track1": ("track1", "knn"),
    "track2": ("track2", "knn"),
    "track1-gepa": ("track1", "gepa"),
    "track2-gepa": ("track2", "gepa"),
    "track2-mipro": ("track2", "mipro"),
}
COMPILE = "aisr compile --task TASK --data FOLDER --optimizer knn --budget light --lm MODEL"
UNCOMPILED = "aisr compile --task TASK --data FOLDER --optimizer labeled --budget light --lm MODEL"
# What rests on data of others: as it was measured in November 2026, and the command for data of one's own.
REAL = (
    ("Track 1, exact match", "68 -> 79", COMPILE.replace("TASK", "track1")),
    ("Track 1, official", "68.4 -> 71.4, 72.7 -> 74.7", COMPILE.replace("TASK", "track1")),
    ("Track 2, official", "77.5 -> 87.4, 53.5 -> 53.4", COMPILE.replace("TASK", "track2")),
    ("Track 2, evidence ranker, Hit@3", "54.2 -> 70.6", "aisr retrieval FILE --fit TRAIN"),
    ("Context24's figures, nDCG@5 / @10", "50.5 / 53.1", UNCOMPILED.replace("TASK", "context24-figures")),
    ("AVeriTeC score", "54.3", UNCOMPILED.replace("TASK", "averitec")),
)


class Result(NamedTuple):
    """A program's official score on the test records of a task, and that of the program before its compile."""

    task: str
    compiled_by: str
    no_lm: str
    uncompiled: Interval
    compiled: Interval
    gain: str
    calls: int

    def row(self) -> list[str]:
        return [*self[:3], *map(str, self[3:])]


def main() -> None:
    """Print both tables, and draw the first."""
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (task, optimizer) in COMPILES.items():
            results.append(_compiled(name, task, optimizer, Path(folder)))
    for task in plain_dspy.TASKS:
        for optimizer in plain_dspy.OPTIMIZERS:
            if plain_dspy.recorded(task, optimizer).exists():
                results.append(_in_plain_dspy(task, optimizer))
    header = ["task", "compiled by", "no LM", "uncompiled", "compiled", "gain", "calls"]
    table("official score on the sample's test records", header, [result.row() for result in results])
    draw(results, PICTURE)
    title = "on real records, which may not be passed on: as measured, and the command for your own"
    table(title, ["figure", "measured", "command"], [list(row) for row in REAL])


def _compiled(name: str, task: str, optimizer: str, artifacts: Path) -> Result:
    """Repeat a compile with its recorded answers."""
    words = ["--task", task, "--data", str(SAMPLE / task), "--optimizer", optimizer, "--budget", "light"]
    words += ["--lm", f"recorded:{SAMPLE / 'recorded' / name}.jsonl.gz", "--name", name, "--no-track"]
    console.print(f"repeating the compile of {task} with {optimizer}", style="dim")
    command = [sys.executable, "-m", "aisr.cli", "compile", *words, "--artifacts", str(artifacts)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    manifest = read_manifest(artifacts / task / name / FILE)
    before, after = (_interval(manifest.scores[split]) for split in ("baseline_test", "test"))
    calls = manifest.spend["calls"] + manifest.spend["cached_calls"]
    no_lm, gain = manifest.describe_score("no_lm_test"), manifest.describe_gain()
    return Result(task, f"aisr, {optimizer}", no_lm, before, after, gain, calls)


def _interval(score: Score) -> Interval:
    return Interval(score.score, *score.interval)


def _in_plain_dspy(task: str, optimizer: str) -> Result:
    """Repeat a search of plain DSPy with its recorded answers."""
    console.print(f"repeating the search of plain DSPy on {task} with {optimizer}", style="dim")
    with redirect_stderr(StringIO()), redirect_stdout(StringIO()):  # the log of the optimizer: 600 lines
        before, after, gain, calls = plain_dspy.compare(task, optimizer, Namespace(lm=None, record=False))
    return Result(task, f"plain DSPy, {optimizer}", "", before, after, str(gain), calls)


def draw(results: Sequence[Result], file: Path) -> None:
    """Draw each compile as a line from the score before it to the one after it, with their 95 % intervals."""
    from matplotlib.figure import Figure

    # The same figure is the same file: no date in it, and ids by a seed.
    matplotlib.rcParams["svg.hashsalt"] = file.name
    figure = Figure(figsize=(9, 1.2 + 0.32 * len(results)), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(results), 0, -1)
    for side, colour, shift in (("uncompiled", "#8a8f98", 0.12), ("compiled", "#0b61a4", -0.12)):
        scores = [getattr(result, side) for result in results]
        axes.errorbar(
            [100 * score.value for score in scores],
            [place + shift for place in places],
            xerr=[
                [100 * (score.value - score.low) for score in scores],
                [100 * (score.high - score.value) for score in scores],
            ],
            fmt="o",
            color=colour,
            label=side,
        )
    axes.set_yticks(list(places), [f"{result.task}: {result.compiled_by}" for result in results])
    axes.set_xlabel("official score on test, with its 95 % interval")
    figure.legend(loc="outside upper center", ncols=2)
    figure.savefig(file, metadata={"Date": None})


if __name__ == "__main__":
    main()
