"""`make results`: the figures of the README, or the command that prints them where data of others is needed.

Compiles of the sample are repeated with the recorded answers, and so are their peers in plain DSPy. Figures on real
records rest on data that may not be passed on; for each stands the command that prints the same of one's own data.
"""

import subprocess
import sys
import tempfile
from argparse import Namespace
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from aisr.artifact.manifest import FILE, Manifest, read_manifest
from aisr.cli.display import console, table
from benchmarks import plain_dspy

SAMPLE = Path("data/sample")
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


def main() -> None:
    """Print both tables."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (task, optimizer) in COMPILES.items():
            rows.append(_compiled(name, task, optimizer, Path(folder)))
    for task in plain_dspy.TASKS:
        for optimizer in plain_dspy.OPTIMIZERS:
            if plain_dspy.recorded(task, optimizer).exists():
                console.print(f"repeating the search of plain DSPy on {task} with {optimizer}", style="dim")
                with redirect_stderr(StringIO()), redirect_stdout(StringIO()):  # the log of the optimizer: 600 lines
                    before, after, gain, calls = plain_dspy.compare(task, optimizer, Namespace(lm=None, record=False))
                rows.append([task, f"plain DSPy, {optimizer}", "", str(before), str(after), str(gain), str(calls)])
    header = ["task", "compiled by", "no LM", "uncompiled", "compiled", "gain", "calls"]
    table("official score on the sample's test records", header, rows)
    title = "on real records, which may not be passed on: as measured, and the command for your own"
    table(title, ["figure", "measured", "command"], [list(row) for row in REAL])


def _compiled(name: str, task: str, optimizer: str, artifacts: Path) -> list[str]:
    """Repeat a compile with its recorded answers."""
    words = ["--task", task, "--data", str(SAMPLE / task), "--optimizer", optimizer, "--budget", "light"]
    words += ["--lm", f"recorded:{SAMPLE / 'recorded' / name}.jsonl.gz", "--name", name, "--no-track"]
    console.print(f"repeating the compile of {task} with {optimizer}", style="dim")
    command = [sys.executable, "-m", "aisr.cli", "compile", *words, "--artifacts", str(artifacts)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return _row(read_manifest(artifacts / task / name / FILE))


def _row(manifest: Manifest) -> list[str]:
    calls = str(manifest.spend["calls"] + manifest.spend["cached_calls"])
    scores = [manifest.describe_score(name) for name in ("no_lm_test", "baseline_test", "test")]
    return [manifest.task, f"aisr, {manifest.optimizer}", *scores, manifest.describe_gain(), calls]


if __name__ == "__main__":
    main()
