"""What compiling is worth on the sample, with the embedded model: `python -m aisr.optimize.studies.sample`.

Compiles each task whose sample has a `study.json` (an hour on two cores, then from the cache) and prints: compiled
against uncompiled; what the race saved against judging all of dev; what planted edits add to the
decision layer; how long the layer takes. Scores are on the held-out test split, but those of the
race, which is about dev.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from aisr.commands.options import ARTIFACTS

# Before DSPy is imported: the cache that the commands use.
os.environ.setdefault("DSPY_CACHEDIR", str(ARTIFACTS.resolve() / ".cache"))

from aisr.artifact.folder import load
from aisr.artifact.manifest import manifest
from aisr.base.text import percent, with_interval
from aisr.commands.display import note, table
from aisr.inference.evaluate import measure
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.metrics.confidence import difference_interval
from aisr.optimize.datasets.examples import examples, labelled, with_planted
from aisr.optimize.decision.collect import opinions
from aisr.optimize.decision.fit import fit
from aisr.optimize.search.champion import choose
from aisr.optimize.search.compilation import Candidate, Compilation, Settings
from aisr.optimize.search.objective import Objective
from aisr.optimize.search.optimizers import compile_candidates
from aisr.programs.decision.layer import LM
from aisr.programs.judges.ensemble import name_by
from aisr.tasks.all import TASKS
from aisr.tasks.task import Task

NAME = "sample"
SAMPLE = Path("data/sample")
PLANTED = ((60, 1), (120, 1), (60, 3))  # records, most edits in one


class Settled(BaseModel):
    """How a task is compiled for the study: the candidates of the search, and the options of the program."""

    candidates: int
    options: dict[str, Any]


def main() -> int:
    """Run the study for every task that has one."""
    lm = open_lm()
    for task in TASKS.values():
        file = SAMPLE / task.name / "study.json"
        if not file.exists():
            continue
        settled = Settled.model_validate_json(file.read_bytes())
        folder = ARTIFACTS / task.name / NAME
        if not (folder / "manifest.json").exists():
            given = [f"--{key.replace('_', '-')}={value}" for key, value in settled.options.items()]
            _aisr(task, "compile", "--optimizer=labeled", f"--candidates={settled.candidates}", *given)
        _compiled(task, folder)
        _race(task, settled, lm)
        _planted(task, folder, lm)
        _speed(task, folder, lm)
        if "checks" in task.option_types:
            _checks(task)
    return 0


def _compiled(task: Task, folder: Path) -> None:
    made = manifest(folder)
    rows = [
        [title, str(found), *(percent(found.parts[name]) for name in task.parts)]
        for title, found in (("uncompiled", made.scores["baseline_test"]), ("compiled", made.scores["test"]))
    ]
    if made.gain_on_test:
        rows.append(["difference", with_interval(*made.gain_on_test)])
    table(f"{task.name}: compiled against uncompiled, test", ["", "ranking score", *task.parts.values()], rows)


def _race(task: Task, settled: Settled, lm: OpenLM) -> None:
    """Race the candidates of the compile, and judge each of them on all of dev as well."""
    student = task.build(settled.options)
    train, dev = (examples(labelled(task, student, _data(task, side))) for side in ("train", "dev"))
    settings = Settings(candidates=settled.candidates)
    work = Compilation(task, student, train, dev, _never, settings, lm, lm, note)
    candidates = compile_candidates("labeled", work, [Candidate("uncompiled", student)])
    choice = choose(task, candidates, dev, lm)
    best = max(measure(task, candidate.program, dev, lm).score.score for candidate in candidates)
    judged = sum(len(contender.dev.scores) for contender in choice.contenders)
    note(
        f"{task.name}: the race took {judged} judgements of {len(candidates)} candidates where all of dev takes "
        f"{len(candidates) * len(dev)} ({judged / len(candidates) / len(dev):.0%}) and lost "
        f"{100 * (best - choice.champion.dev.score.score):.2f} points on dev\n"
    )


def _planted(task: Task, folder: Path, lm: OpenLM) -> None:
    """Fit the decision layer again, its priors with planted edits."""
    program = load(folder).program
    train, dev, test = (labelled(task, program, _data(task, side)) for side in ("train", "dev", "test"))
    judged = opinions(task, program, [*train, *dev], lm, lambda: None)
    before = measure(task, program, examples(test), lm)
    rows = [["none", str(before.interval), ""]]
    for count, density in PLANTED:
        made = with_planted(task, program, train, count, density, 0)[len(train) :]
        fitted = fit(task.labelled, judged, made, 0, lm.identity)
        program.decision = fitted.decision
        if fitted.naming:
            name_by(program, fitted.naming.policy)
        after = measure(task, program, examples(test), lm)
        title = f"{count} records, up to {density} in one"
        rows.append([title, str(after.interval), str(difference_interval(after.scores, before.scores))])
    table(f"{task.name}: planted edits for the decision layer, test", ["", "ranking score", "difference"], rows)


def _speed(task: Task, folder: Path, lm: OpenLM) -> None:
    """What the decision layer adds to the prediction of a record."""
    program = load(folder).program
    layer = program.decision
    assert layer is not None, "the compile fits one"
    judged = opinions(task, program, labelled(task, program, _data(task, "test")), lm, lambda: None)
    given = [
        (task.labelled.statements(row.example), task.labelled.grounds(row.example), {LM: outcomes[LM].judgements})
        for row, outcomes in judged
    ]
    layer.decide(*given[0])  # the first use builds the vocabulary
    began = time.perf_counter()
    for one in given:
        layer.decide(*one)
    note(f"{task.name}: the decision layer takes {1000 * (time.perf_counter() - began) / len(given):.1f} ms a record\n")


def _checks(task: Task) -> None:
    """A sentence a call, on few records: labels at once against typed checks first."""
    rows = []
    for name, given in (("labels-at-once", []), ("checks-first", ["--checks"])):
        folder = ARTIFACTS / task.name / name
        if not (folder / "manifest.json").exists():
            few = ["--limit-train=20", "--limit-dev=16", "--limit-test=32", "--candidates=1", "--no-decide"]
            _aisr(task, "compile", "--optimizer=labeled", "--unit=sentence", *few, *given, name=name)
        made = manifest(folder)
        both = [str(made.scores[split]) for split in ("baseline_test", "test")]
        rows.append([name, *both, f"{made.spend.completion_tokens / (made.spend.calls or 1):.0f}"])
    table(f"{task.name}, test", ["", "uncompiled", "compiled", "completion tokens a call"], rows)


def _never() -> Objective:
    raise AssertionError("labelled few-shot looks at no score")


def _data(task: Task, side: str) -> Path:
    return SAMPLE / task.name / f"{side}.jsonl"


def _aisr(task: Task, command: str, *words: str, name: str = NAME) -> None:
    said = [command, f"--task={task.name}", *words, *(["--name", name] if command == "compile" else [])]
    subprocess.run([sys.executable, "-m", "aisr.commands", *said], check=True)


if __name__ == "__main__":
    sys.exit(main())
