"""What the text in pictures is worth on the sample, without any LM: `python -m aisr.optimize.studies.evidence`.

The wording prior and the cues of the decision layer are fitted on train and dev and scored on test, once with captions
alone and once with what OCR reads in the pictures. A model that is sure of nothing stands where the LM would be. The
sample's pictures are read once, in some minutes.
"""

import sys
from pathlib import Path

from aisr.base.text import percent
from aisr.commands.display import note, table
from aisr.commands.options import ARTIFACTS
from aisr.inference.evaluate import Result, result
from aisr.inference.images import attach_gallery, find_gallery
from aisr.inference.judge import Outcome
from aisr.metrics.confidence import difference_interval
from aisr.optimize.datasets.examples import Labelled, examples, labelled
from aisr.optimize.decision.fit import PRIORS, fit
from aisr.optimize.decision.folds import Judged
from aisr.programs.asking.label_probabilities import Judgement
from aisr.programs.decision.layer import LM
from aisr.tasks.all import TASKS
from aisr.tasks.judgements import Judgements
from aisr.tasks.task import Task

SAMPLE = Path("data/sample")
FORMS = ("caption", "ocr")


def main() -> int:
    """Run the study."""
    for task in TASKS.values():
        if "evidence" in task.option_types:
            _study(task)
    return 0


def _study(task: Task) -> None:
    labels = task.labelled.labels
    found = {form: _scored(task, form) for form in FORMS}
    rows = [
        [form, str(one.interval), *(percent(one.score.per_label[label].f1) for label in labels)]
        for form, one in found.items()
    ]
    title = f"{task.name}: wording + cues, no LM: ranking score and F1 by label, test"
    table(title, ["evidence", "score", *labels], rows)
    first, last = (found[form].scores for form in FORMS)
    note(f"difference: {difference_interval(last, first)}")


def _scored(task: Task, form: str) -> Result:
    folder = SAMPLE / task.name
    gallery = find_gallery(None, folder / "test.jsonl", ARTIFACTS)
    program = attach_gallery(task.build({"evidence": form}), gallery)
    train, dev, test = (labelled(task, program, folder / f"{side}.jsonl") for side in ("train", "dev", "test"))
    facet = task.labelled
    layer = fit(facet, [Judged(row, {LM: _silent(facet, row)}) for row in (*train, *dev)], [], 0).decision
    layer = layer.model_copy(update={"kept": True, "says": layer.ablations[PRIORS]})
    outcomes = []
    for row in test:
        given = facet.statements(row.example), facet.grounds(row.example), {LM: _silent(facet, row).judgements}
        judged = layer.decide(*given)
        outcomes.append(Outcome([one.label for one in judged], None, judged))
    return result(task, examples(test), outcomes)


def _silent(facet: Judgements, row: Labelled) -> Outcome:
    """What a model says that is sure of nothing."""
    even = [1 / len(facet.labels)] * len(facet.labels)
    return Outcome(None, None, [Judgement(facet.labels[0], even, "vote") for _ in facet.statements(row.example)])


if __name__ == "__main__":
    sys.exit(main())
