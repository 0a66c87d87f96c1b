"""What the text in pictures is worth on the sample, without any LM: `python -m optimize.evidence_study`.

The wording prior and the cues of the decision layer are fitted on train and dev and scored on test, once with captions
alone and once with what OCR reads in the pictures. A model that is sure of nothing stands where the LM would be. The
sample's pictures are read once, in some minutes.
"""

import sys
from pathlib import Path

from metrics.confidence import difference_interval
from optimize.champion import Result, result
from optimize.decide import PRIORS, fit
from optimize.display import note, percent, table
from optimize.judging import Outcome
from optimize.labelled import Labelled, examples, labelled
from optimize.material import Judged
from optimize.options import ARTIFACTS
from optimize.pictures import hang, open_gallery
from optimize.tasks import TRACK1
from programs.decision import LM
from programs.distribution import Judgement

SAMPLE = Path("data/sample/track1")
FORMS = ("caption", "ocr")


def main() -> int:
    """Run the study."""
    found = {form: _scored(form) for form in FORMS}
    rows = [
        [form, str(one.interval), *(percent(one.score.per_label[label].f1) for label in TRACK1.labels)]
        for form, one in found.items()
    ]
    table("wording + cues, no LM: ranking score and F1 by label, test", ["evidence", "score", *TRACK1.labels], rows)
    first, last = (found[form].tally for form in FORMS)
    note(f"difference: {difference_interval(last, first)}")
    return 0


def _scored(form: str) -> Result:
    gallery = open_gallery(None, SAMPLE / "test.jsonl", ARTIFACTS)
    program = hang(TRACK1.build({"evidence": form}), gallery)
    train, dev, test = (labelled(TRACK1, program, SAMPLE / f"{side}.jsonl") for side in ("train", "dev", "test"))
    layer = fit(TRACK1, [Judged(row, {LM: _silent(row)}) for row in (*train, *dev)], [], 0).decision
    layer = layer.model_copy(update={"kept": True, "says": layer.ablations[PRIORS]})
    outcomes = []
    for row in test:
        given = TRACK1.statements(row.example), TRACK1.grounds(row.example), {LM: _silent(row).judgements}
        judged = layer.decide(*given)
        outcomes.append(Outcome([one.label for one in judged], None, judged))
    return result(TRACK1, examples(test), outcomes)


def _silent(row: Labelled) -> Outcome:
    """What a model says that is sure of nothing."""
    even = [1 / len(TRACK1.labels)] * len(TRACK1.labels)
    return Outcome(None, None, [Judgement(TRACK1.labels[0], even, "vote") for _ in TRACK1.statements(row.example)])


if __name__ == "__main__":
    sys.exit(main())
