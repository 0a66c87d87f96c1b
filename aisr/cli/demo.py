"""The command that walks the sample: both tracks from labelled records to a scored submission, by recorded answers.

Each step is a command that a user types, in a process of its own, so that predictions come from what was saved and from
nothing else. All of it goes to `artifacts/demo/`, with an MLflow store of its own: no program of the demo becomes the
champion of a user's data.
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import shorten
from typing import Annotated, Any, NamedTuple

import typer

from aisr.base.errors import UserError
from aisr.cli import options as opt
from aisr.cli.display import console, note, table
from aisr.lm.config import RECORDED

NAME = "demo"
TASKS = ("track1", "track2")  # whose answers are recorded
COMPILE = ("--optimizer", "knn", "--budget", "light")
EXAMPLES = 3  # statements that a compile corrects
WIDTH = 100  # characters of a statement in them


class Walk(NamedTuple):
    """A task, the LM, how it compiles, and the folder that everything goes to, with the records in `data/`."""

    task: str
    lm: str
    options: Sequence[str]
    root: Path

    @property
    def data(self) -> Path:
        return self.root / "data" / self.task

    @property
    def program(self) -> Path:
        return self.root / self.task / NAME

    @property
    def work(self) -> Path:
        return self.root / "runs" / self.task

    @property
    def submission(self) -> Path:
        from aisr.programs.registry import find_task

        file = Path(find_task(self.task).submission)
        return self.work / (file.name if file.suffix in (".json", ".csv") else f"{file.stem}.zip")


def demo(
    tasks: Annotated[
        list[str] | None, typer.Argument(metavar="[TASK]...", help="track1, track2. Default: both.")
    ] = None,
    artifacts: opt.Root = opt.ARTIFACTS,
) -> None:
    """Compile, predict, submit and score on the sample, with recorded answers of an LM."""
    for task in tasks or ():
        if task not in TASKS:
            raise UserError(f"{task!r}: expected one of: {', '.join(TASKS)}; answers of these are recorded")
    root = artifacts / NAME
    shutil.rmtree(root / "data", ignore_errors=True)
    shutil.copytree(opt.SAMPLE, root / "data", ignore=shutil.ignore_patterns("averitec", "context24-*", "hard.jsonl"))
    answers = root / "data" / "recorded"
    walk_all([Walk(task, f"{RECORDED}{answers}/{task}.jsonl.gz", COMPILE, root) for task in tasks or TASKS])


def walk_all(walks: Sequence[Walk]) -> None:
    """Walk the tasks, then print the scores, what the prompts learnt, and where to go on."""
    root = walks[0].root
    os.environ["AISR_ARTIFACTS"] = str(root)  # of the commands
    for ours in ("MLFLOW_TRACKING_URI", "AISR_API_BASE", "AISR_IMAGE_ROOT"):  # a team's store, the user's server
        os.environ.pop(ours, None)
    rows = []
    for walk in walks:
        for folder in (walk.program, walk.work):
            shutil.rmtree(folder, ignore_errors=True)
        began = time.monotonic()
        score = _run(walk)
        rows += _rows(walk, score, time.monotonic() - began)
    by_readers = walks[0].lm.startswith(RECORDED)
    title = "official score on held-out test records, all invented"
    header = ["task", "program", "test score", "gain", "answers", "seconds"]
    table(f"{title}, by the answers of readers who played the LM" if by_readers else title, header, rows)
    for walk in walks:
        _print_lessons(walk)
        note(f"the prompt: {walk.program}/PROMPT.md   the submission: {walk.submission}")
    command = Path(sys.executable).with_name("aisr")  # with its folder, where the shell does not find it
    found = shutil.which("aisr")
    aisr = "aisr" if found and Path(found).samefile(command) else os.path.relpath(command)
    console.print(f"\nMLflow, with runs, prompts and versions:   {aisr} ui --artifacts {root}", style="bold")
    own = "compile --task track1 --data YOUR_FOLDER --optimizer knn --lm openai/gpt-4o-mini"
    console.print(f"your own records and LM:   {aisr} {own}", style="bold")


# --- The walk


def _run(walk: Walk) -> float:
    """Check, compile, predict with the registered champion, submit and score. Returns the score of the submission."""
    task, lm = ["--task", walk.task], ["--lm", walk.lm]
    inputs, predictions, out = (
        walk.data / "test-inputs.jsonl",
        walk.work / "predictions.jsonl",
        walk.work / "score.json",
    )
    champion = f"models:/aisr-{walk.task}@champion"
    _aisr("check", walk.data / "train.jsonl", *task)
    _aisr("compile", *task, "--data", walk.data, *walk.options, *lm, "--name", NAME)
    _aisr("predict", *task, "--program", champion, "--data", inputs, *lm, "--out", predictions)
    _aisr("submit", *task, "--data", inputs, "--predictions", predictions, "--out", walk.submission)
    _aisr("score", *task, walk.data / "test.jsonl", predictions, "--output", out)
    return float(json.loads(out.read_text("utf-8"))["score"])


def _aisr(*words: object) -> None:
    """Run a command in a process of its own. Exits with its code where it fails."""
    texts = [str(word) for word in words]
    console.print(f"\n$ aisr {shlex.join(texts)}", style="bold")
    done = subprocess.run([sys.executable, "-m", "aisr.cli", *texts], check=False)
    if done.returncode:
        raise typer.Exit(done.returncode)


# --- What came of it


def _rows(walk: Walk, score: float, seconds: float) -> list[list[str]]:
    """The no-LM baseline, the uncompiled program and the compiled one. Raises SystemExit where the submission has
    another score than the program had in the compile."""
    from aisr.artifact.manifest import FILE, read_manifest

    manifest = read_manifest(walk.program / FILE)
    test = manifest.scores["test"]
    if abs(score - test.score) > 1e-12:
        raise SystemExit(f"{walk.task}: {score} after reloading, {test.score} when it was compiled")
    answers = str(manifest.spend["calls"] + manifest.spend["cached_calls"])
    compiled = "similar demos" if manifest.options.get("demos_per_record") else manifest.champion
    rows = [
        ("no_lm_test", "no LM: word counts", ["", "", ""]),
        ("baseline_test", "uncompiled", ["", "", ""]),
        ("test", f"compiled: {compiled}", [manifest.describe_gain(), answers, f"{seconds:.0f}"]),
    ]
    return [
        [walk.task, title, manifest.describe_score(name), *rest]
        for name, title, rest in rows
        if name in manifest.scores
    ]


class Change(NamedTuple):
    """A statement of a test record whose label the compile changed, and the most similar statement with the new label
    among the demos of its prompt ("" for none)."""

    statement: str
    before: str
    after: str
    gold: list[str]
    neighbour: str


def _print_lessons(walk: Walk) -> None:
    """Print how many test statements the compile corrects and how many it makes wrong, and some of the former, of
    different labels and with a demo beside them first."""
    changes = list(_changes(walk))
    corrected = [one for one in changes if one.after in one.gold and one.before not in one.gold]
    broken = [one for one in changes if one.before in one.gold and one.after not in one.gold]
    counts = f"{len(corrected)} test labels corrected, {len(broken)} made wrong"
    console.print(f"\n{walk.task}: {counts}; such as (uncompiled -> compiled, as gold):", style="bold")
    seen: Counter[tuple[str, str]] = Counter()
    ranks = []
    for one in corrected:
        ranks.append((seen[one.before, one.after], not one.neighbour))
        seen[one.before, one.after] += 1
    for _, one in sorted(zip(ranks, corrected, strict=True), key=lambda pair: pair[0])[:EXAMPLES]:
        note(f"  {one.before} -> {one.after}: {shorten(one.statement, WIDTH, placeholder=' …')}")
        if one.neighbour:
            note(f"      {one.after} in a demo beside it: {shorten(one.neighbour, WIDTH, placeholder=' …')}")


def _changes(walk: Walk) -> Iterator[Change]:
    """Yield the statements of test records that the compiled program labels otherwise than the uncompiled one."""
    import aisr

    lm = aisr.open_lm(walk.lm)
    records = [json.loads(line) for line in (walk.data / "test.jsonl").read_text("utf-8").splitlines()]
    compiled = aisr.load(walk.program, image_root=walk.root / "data")
    before = aisr.uncompiled(walk.task, lm, image_root=walk.root / "data").judge_all(records, lm)
    program = compiled.loaded.program
    for record, first, second in zip(records, before, compiled.judge_all(records, lm), strict=True):
        if first.labels == second.labels:
            continue
        statements = record.get("sentence_label") or [{"sentence": record["claim_text"], "types": [record["label"]]}]
        text = " ".join(statement["sentence"] for statement in statements)
        shown = [pair for demo in program.nearest_demos(program.main_predictor.demos, text) for pair in _labelled(demo)]
        # A record that could not be judged has no labels.
        for statement, old, new in zip(statements, first.labels, second.labels, strict=False):
            if old != new:
                like = [other for other, label in shown if label == new]
                words = set(statement["sentence"].split())
                neighbour = max(like, key=lambda other: len(words.intersection(other.split())), default="")
                yield Change(statement["sentence"], old, new, statement["types"], neighbour)


def _labelled(demo: Any) -> list[tuple[str, str]]:
    """The statements of a demo, each with its label."""
    if "sentences" in demo:
        return list(zip(demo["sentences"], demo["sentence_labels"], strict=True))
    return [(demo["claim"], demo["label"])]
