"""`aisr score`: a predictions file against a labelled file; and how sure an evaluated program was."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import UserError
from aisr.base.jsonl import BadLine
from aisr.judging.evaluate import score_outcomes
from aisr.judging.judge import judge_all
from aisr.judging.predict import check_submission, score_files
from aisr.programs.probabilities import CONFIDENCE
from aisr.programs.records import Record
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1
from support import scripted
from support.corpora import CONTRA, ENTITY, SCOPE, S, claim_row, write

GOLD = [claim_row([S], [SCOPE, ENTITY]), claim_row([CONTRA])]
SAID: list[dict[str, Any]] = [{"labels": [S, ENTITY]}, {"labels": [S]}]
TEST = [{**row, "id": key} for row, key in zip(GOLD, "ab", strict=True)]
NAMED = [{**row, "id": key} for row, key in zip(SAID, "ab", strict=True)]


def score(folder: Path, gold: list[Any], predictions: list[Any]) -> dict[str, Any]:
    return score_files(TRACK1, write(folder / "gold.jsonl", gold), write(folder / "pred.jsonl", predictions)).as_dict()


@pytest.mark.parametrize(
    ("gold", "predictions"),
    [
        (GOLD, SAID),  # train-dev as released: no ids on either side
        (GOLD, [{**row, "id": f"track1-{k:06d}"} for k, row in enumerate(SAID, 1)][::-1]),
        (TEST, NAMED[::-1]),
        ([TEST[0], GOLD[1]], [NAMED[0], {**SAID[1], "id": "track1-000002"}]),
    ],
    ids=["no ids", "numbered, reversed", "ids, reversed", "one with an id, one without"],
)
def test_files_are_matched_and_scored(gold: list[Any], predictions: list[Any], tmp_path: Path) -> None:
    report = score(tmp_path, gold, predictions)
    assert list(report) == ["macro_f1", "pem", "score", "per_label", "remarks"]  # labels that are hardly there
    assert report["pem"] == 0.5
    assert report["macro_f1"] == pytest.approx((2 / 3 + 1) / 5)  # Supported 2/3, Entity 1
    assert report["score"] == pytest.approx((report["pem"] + report["macro_f1"]) / 2)
    assert report["per_label"][S] == pytest.approx({"precision": 0.5, "recall": 1, "f1": 2 / 3, "support": 1})


def test_a_bad_line_of_gold_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadLine, match=r"gold\.jsonl:2: "):
        score(tmp_path, [*GOLD[:1], {}], SAID)


@pytest.mark.parametrize(
    ("gold", "predictions", "words"),
    [
        (TEST, [NAMED[0], SAID[1]], "prediction 2 has no id, others have one"),
        (
            TEST,
            NAMED[:1],
            "ids differ: 1 gold records without a prediction, 0 predictions without a gold record (first: b)",
        ),
        (TEST, SAID[:1], "1 predictions for 2 gold records, matched by line"),
        (TEST, [{"id": "a", "labels": [S]}, NAMED[1]], "record 1: 1 labels for 2 sentences"),
        ([claim_row(None, id="a")], [{"id": "a", "labels": [S]}], "a has no labels; the first file must be the"),
        ([], [], "no records: an empty corpus has no score"),
    ],
)
def test_files_about_different_records_are_refused(
    gold: list[Any], predictions: list[Any], words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=re.escape(words)):
        score(tmp_path, gold, predictions)


class Tone(Task):
    """A task whose answer is one label, as in docs/adding-a-task.md."""

    name = "tone"
    record = Record


def test_of_a_task_with_one_label_a_record_the_failed_ones_alone_are_missing(tmp_path: Path) -> None:
    data = write(tmp_path / "inputs.jsonl", [{"id": "a"}, {"id": "b"}])
    predictions = write(tmp_path / "out.jsonl", [{"id": "a", "label": "praise"}, {"id": "b", "failed": "no answer"}])
    checked = check_submission(Tone(), data, predictions, fill_failed=False)
    assert checked.problems == ["b: failed (no answer); predict again, or --on-failure fallback fills it in"]
    assert checked.lines == [{"id": "a", "label": "praise"}]


# --- How sure a program says it is, held against what was right


STATED = (["95", "90, Supported 8"], ["80", "55, Supported 40"], ["80", "likely"])  # of the third, one is no number


def test_an_evaluation_tells_by_source_how_sure_it_was_and_how_right() -> None:
    program = TRACK1.build({"verbalized_confidence": True})
    examples = [program.prepare(scripted.claim("Supported", "Contradiction", number=k)) for k in (1, 2, 3)]
    answers = [json.dumps({"sentence_labels": [S, CONTRA], CONFIDENCE: stated}) for stated in STATED]
    result = score_outcomes(TRACK1, examples, judge_all(TRACK1, program, examples, scripted.scripted(answers)))
    assert set(result.confidence) == {"stated"}  # the one vote of the third record is no probability
    confidence = result.report()["confidence"]["stated"]
    assert confidence["judgements"] == 5
    assert confidence["accuracy"] == 1.0
    assert confidence["calibration_error"] == pytest.approx((0.05 + 0.1 + 0.2 + 0.45 + 0.2) / 5)
