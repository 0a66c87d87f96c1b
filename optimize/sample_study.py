"""What compiling is worth on the sample, with the embedded model: `python -m optimize.sample_study`.

Compiles both tracks as the README says (an hour on two cores, then from the cache) and prints: compiled against
uncompiled; what the race saved against judging all of dev; what each part of the decision layer is worth; what planted
edits add to it; how long the layer takes. Scores are on the test split, which chose nothing, but those of the race,
which is about dev.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

from optimize.options import ARTIFACTS

# Before DSPy is imported: the cache that the commands use.
os.environ.setdefault("DSPY_CACHEDIR", str(ARTIFACTS.resolve() / ".cache"))

from metrics.confidence import Interval, difference_interval
from optimize.artifact import load, read_json
from optimize.champion import choose, measure
from optimize.decide import fit
from optimize.display import note, table
from optimize.labelled import examples, labelled, with_planted
from optimize.lm import OpenLM, open_lm
from optimize.objective import Objective
from optimize.opinions import opinions
from optimize.optimizers import Candidate, Compilation, Settings, compile_candidates
from optimize.tasks import TASKS, Task
from programs.decision import LM, Decision

NAME = "sample"
CANDIDATES = {"track1": 4, "track2": 2}
OPTIONS = {"track1": {}, "track2": {"context_tokens": 300}}
PLANTED = ((60, 1), (120, 1), (60, 3))  # records, most edits in one


def main() -> int:
    """Run the study for both tracks."""
    lm = open_lm()
    for task in TASKS.values():
        folder = ARTIFACTS / task.name / NAME
        if not (folder / "manifest.json").exists():
            given = [f"--{key.replace('_', '-')}={value}" for key, value in OPTIONS[task.name].items()]
            _aisr(task, "compile", "--optimizer=labeled", f"--candidates={CANDIDATES[task.name]}", *given)
        _compiled(task, folder)
        _race(task, lm)
        _aisr(task, "evaluate", f"--program={folder}", f"--data={_data(task, 'test')}", "--ablate")
        _planted(task, folder, lm)
        _speed(task, folder, lm)
    _checks()
    return 0


def _compiled(task: Task, folder: Path) -> None:
    made = read_json(folder / "manifest.json")
    rows = [
        [title, str(Interval(found["score"], *found["interval"])), f"{100 * found['macro_f1']:.1f}"]
        for title, found in (("uncompiled", made["scores"]["baseline_test"]), ("compiled", made["scores"]["test"]))
    ]
    rows.append(["difference", str(Interval(*made["gain_on_test"])), ""])
    table(f"{task.name}: compiled against uncompiled, test", ["", "ranking score", "macro-F1"], rows)


def _race(task: Task, lm: OpenLM) -> None:
    """Race the candidates of the compile, and judge each of them on all of dev as well."""
    student = task.build(OPTIONS[task.name])
    train, dev = (examples(labelled(task, student, _data(task, side))) for side in ("train", "dev"))
    settings = Settings(candidates=CANDIDATES[task.name])
    work = Compilation(task, student, train, dev, _never, settings, lm, lm, note)
    candidates = compile_candidates("labeled", work, [Candidate("uncompiled", student)])
    choice = choose(task, candidates, dev, lm)
    best = max(measure(task, candidate.program, dev, lm).score.score for candidate in candidates)
    judged = sum(len(contender.dev.tally) for contender in choice.contenders)
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
        made = with_planted(task, program, _data(task, "train"), train, count, density, 0)[len(train) :]
        program.decision = fit(task, judged, made, 0, lm.identity).decision
        after = measure(task, program, examples(test), lm)
        title = f"{count} records, up to {density} in one"
        rows.append([title, str(after.interval), str(difference_interval(after.tally, before.tally))])
    table(f"{task.name}: planted edits for the decision layer, test", ["", "ranking score", "difference"], rows)


def _speed(task: Task, folder: Path, lm: OpenLM) -> None:
    """What the decision layer adds to the prediction of a record."""
    program = load(folder).program
    layer: Decision = program.decision
    judged = opinions(task, program, labelled(task, program, _data(task, "test")), lm, lambda: None)
    given = [
        (task.statements(row.example), task.grounds(row.example), {LM: outcomes[LM].judgements})
        for row, outcomes in judged
    ]
    layer.decide(*given[0])  # the first use builds the vocabulary
    began = time.perf_counter()
    for one in given:
        layer.decide(*one)
    note(f"{task.name}: the decision layer takes {1000 * (time.perf_counter() - began) / len(given):.1f} ms a record\n")


def _checks() -> None:
    """Track 1, a sentence a call, on few records: labels at once against typed checks first."""
    rows = []
    for name, given in (("labels-at-once", []), ("checks-first", ["--checks"])):
        folder = ARTIFACTS / "track1" / name
        if not (folder / "manifest.json").exists():
            few = ["--limit-train=20", "--limit-dev=16", "--limit-test=32", "--candidates=1", "--no-decide"]
            _aisr(TASKS["track1"], "compile", "--optimizer=labeled", "--unit=sentence", *few, *given, name=name)
        made = read_json(folder / "manifest.json")
        scores, spend = made["scores"], made["spend"]
        both = [
            str(Interval(found["score"], *found["interval"])) for found in (scores["baseline_test"], scores["test"])
        ]
        rows.append([name, *both, f"{spend['completion_tokens'] / (spend['calls'] or 1):.0f}"])
    table("track1, test", ["", "uncompiled", "compiled", "completion tokens a call"], rows)


def _never() -> Objective:
    raise AssertionError("labelled few-shot looks at no score")


def _data(task: Task, side: str) -> Path:
    return Path("data/sample") / task.name / f"{side}.jsonl"


def _aisr(task: Task, command: str, *words: str, name: str = NAME) -> None:
    said = [command, f"--task={task.name}", *words, *(["--name", name] if command == "compile" else [])]
    subprocess.run([sys.executable, "-m", "optimize.cli", *said], check=True)


if __name__ == "__main__":
    sys.exit(main())
