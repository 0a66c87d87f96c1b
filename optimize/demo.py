"""`make demo`: both tracks from records to a submission, with the embedded model and the commands a user would type.

Each step is a fresh `aisr` process, so that the predictions come from what was saved and nothing else.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from optimize.display import console, exact_part, note, percent, table
from optimize.options import ARTIFACTS

NAME = "demo"
SAMPLE = Path("data/sample")
# The first records of each split only, so that two cores are done in minutes; the scores of so few mean little.
SIZES = ["--limit-train", "12", "--limit-dev", "16"]
TEST_RECORDS = 16
COMPILE: dict[str, list[str]] = {
    "track1": ["--optimizer", "labeled", "--candidates", "2", "--demos", "2", *SIZES],
    "track2": ["--optimizer", "labeled", "--candidates", "2", "--demos", "2", "--context-tokens", "300", *SIZES],
}


def main() -> int:
    """Run the walk for both tracks; 0 if every step went well."""
    began = time.monotonic()
    root = Path(os.environ.get("AISR_ARTIFACTS", ARTIFACTS))
    rows = []
    for task in COMPILE:
        seconds = time.monotonic()
        zipped, report = _walk(task, root)
        rows.append(_row(task, root, report, time.monotonic() - seconds))
        note(f"submission: {zipped}\n")
    header = ["task", "program", "dev", "test", "macro-F1, exact", "gain on test", "calls", "seconds"]
    table("ranking score, the mean of macro-F1 and exact match, and gain over the uncompiled program", header, rows)
    for task in COMPILE:
        note(f"artifact   {root / task / NAME}/   submission {_zip(root, task)}")
    note(f"sample of {TEST_RECORDS} test records a task, {time.monotonic() - began:.0f} s in all: for trying out")
    console.print("open the MLflow UI with  .venv/bin/aisr ui", style="bold")
    return 0


def _walk(task: str, root: Path) -> tuple[Path, dict[str, Any]]:
    """compile, predict from the registry, submit, score: the zip, and the report of the score."""
    work = root / "demo-runs" / task
    work.mkdir(parents=True, exist_ok=True)
    inputs, gold = work / "test-inputs.jsonl", work / "test.jsonl"
    for target in (inputs, gold):
        lines = (SAMPLE / task / target.name).read_bytes().splitlines(keepends=True)
        target.write_bytes(b"".join(lines[:TEST_RECORDS]))
    predictions, report = work / "predictions.jsonl", work / "score.json"
    for old in (predictions, Path(f"{predictions}.run.json")):
        old.unlink(missing_ok=True)
    shutil.rmtree(root / task / NAME, ignore_errors=True)
    at = ["--task", task]
    limit = ["--limit-test", str(TEST_RECORDS)]
    _aisr("compile", *at, *COMPILE[task], *limit, "--name", NAME)
    program = f"models:/aisr-{task}@champion"
    _aisr("predict", *at, "--program", program, "--data", str(inputs), "--out", str(predictions))
    files = ["--data", str(inputs), "--predictions", str(predictions), "--out", str(_zip(root, task))]
    _aisr("submit", *at, *files)
    _aisr("score", str(gold), str(predictions), *at, "--output", str(report))
    return _zip(root, task), json.loads(report.read_text(encoding="utf-8"))


def _zip(root: Path, task: str) -> Path:
    return root / "demo-runs" / task / "submission.zip"


def _row(task: str, root: Path, report: dict[str, Any], seconds: float) -> list[str]:
    made = json.loads((root / task / NAME / "manifest.json").read_text(encoding="utf-8"))
    dev, test, spend = made["scores"]["dev"], made["scores"]["test"], made["spend"]
    if abs(report["score"] - test["score"]) > 1e-12:
        raise SystemExit(f"{task}: {report['score']} after reloading, {test['score']} when it was compiled")
    return [
        task,
        made["champion"],
        _score(dev),
        _score(test),
        f"{percent(report['macro_f1'])}, {percent(report[exact_part(report)])}",
        _interval(*made["gain_on_test"]),
        str(spend["calls"]),
        f"{seconds:.0f}",
    ]


def _score(found: dict[str, Any]) -> str:
    return _interval(found["score"], *found["interval"])


def _interval(value: float, low: float, high: float) -> str:
    return f"{percent(value)} [{percent(low)}, {percent(high)}]"


def _aisr(*words: str) -> None:
    note(f"$ aisr {shlex.join(words)}")
    code = subprocess.run([sys.executable, "-m", "optimize.cli", *words], check=False).returncode
    if code:
        raise SystemExit(f"aisr {words[0]} ended with exit code {code}")


if __name__ == "__main__":
    sys.exit(main())
