"""The AVeriTeC score: 60 corpora that the organisers' scorers scored, in both formats, and 400 pairs of texts whose
METEOR comes from NLTK 3.9.1 with its own data."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from aisr.base.errors import exit_code
from aisr.metrics import averitec
from aisr.metrics.averitec import (
    Answer,
    ClaimGold,
    FactCheck,
    Matches,
    Pair,
    Predicted,
    Question,
    Verdict,
    official_numbers,
)
from aisr.metrics.intervals import score_interval
from aisr.metrics.meteor import meteor, words
from aisr.metrics.scores import value
from support.paths import TESTS


def golden(name: str) -> list[dict[str, Any]]:
    with gzip.open(TESTS / "golden" / name, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


VECTORS = golden("averitec-score-vectors.jsonl.gz")


def test_both_official_scorers_are_reproduced() -> None:
    assert len(VECTORS) == 60
    for corpus in VECTORS:
        gold = [ClaimGold.model_validate(row) for row in corpus["references"]]
        for form, name in (("predictions", "official"), ("predictions_2024", "official_2024")):
            predicted = [Predicted.model_validate(row) for row in corpus[form]]
            matches = Matches.of(gold, predicted)
            ours, official = official_numbers(gold, predicted, matches), corpus[name]
            wanted = {
                "label accuracy": official["accuracy"],
                "macro-F1": official["macro_f1"],
                "evidence match": official["question_answer"],
                "question match": official["question_only"],
                **{f"AVeriTeC score at {at}": share for at, share in official["averitec"].items()},
                **{f"F1 of {label}": f1 for label, f1 in official["f1"].items()},
            }
            if form == "predictions":  # the scorer of 2024 leaves this out
                wanted["justification"] = official["justification"]
            else:
                wanted |= {f"evidence match of {kind}": match for kind, match in official["by_type_0.25"].items()}
                assert ours.keys() - wanted.keys() == {"justification"}
            assert {key: ours[key] for key in wanted} == pytest.approx(wanted, abs=1e-9), corpus["name"]
            assert matches.evidence.tolist() == pytest.approx(official["per_claim"], abs=1e-9), corpus["name"]


def test_meteor_of_all_pairs_and_their_words() -> None:
    for pair in golden("meteor-pairs.jsonl.gz"):
        assert meteor(pair["candidate"], pair["reference"]) == pytest.approx(pair["meteor"], abs=1e-12)
        for side, tokens in zip(("candidate", "reference"), pair["tokens"], strict=True):
            assert list(words(pair[side])) == [token.lower() for token in tokens]


@pytest.mark.parametrize(
    ("form", "scores"), [("predictions", "official"), ("predictions_2024", "official_2024")], ids=["paper", "2024"]
)
def test_the_command_prints_the_organisers_numbers(
    form: str, scores: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen = next(row for row in VECTORS if row["id"] == "v44")
    gold, predicted = tmp_path / "gold.json", tmp_path / "predicted.json"
    gold.write_text(json.dumps(chosen["references"]))
    monkeypatch.setattr("sys.argv", ["averitec", str(gold), str(predicted)])
    predicted.write_text(json.dumps(chosen[form]))
    assert exit_code(averitec.main) == 0
    share = chosen[scores]["averitec"]["0.25"]
    shown = capsys.readouterr().out
    assert re.search(rf"^AVeriTeC score at 0\.25 +{100 * share:.1f}$", shown, re.MULTILINE)
    assert "16 claims, " in shown
    if form == "predictions_2024":  # gold fields may stand beside those of the prediction
        beside = {"label": "Not Enough Evidence", "questions": []}
        predicted.write_text(json.dumps([beside | row for row in chosen[form]]))
        assert exit_code(averitec.main) == 0
        assert capsys.readouterr().out == shown
    predicted.write_text(json.dumps(chosen[form][:-1]))
    assert exit_code(averitec.main) == 2
    assert "matched by position" in capsys.readouterr().err


def test_a_claim_counts_where_label_and_evidence_are_right_and_its_surrogate_has_a_slope_between() -> None:
    """A right claim, one with a wrong label, one with useless evidence, and one that failed."""
    asked = [Question(question="When did the bridge close?", answers=[Answer(answer="It closed in May 2020.")])]
    good = (Pair(question="When did the bridge close?", answer="It closed in May 2020."),)
    bad = (Pair(question="Why?", answer="Nobody said."),)
    labels: list[Verdict] = ["Refuted", "Refuted", "Supported", "Refuted"]
    gold = [ClaimGold(label=label, questions=asked) for label in labels]
    predicted = [FactCheck("Refuted", good), FactCheck("Supported", good), FactCheck("Supported", bad), None]
    scores = Matches.of(gold, predicted)
    assert scores.right().tolist() == [True, False, False, False]
    report = scores.report()
    assert value(scores) == report.score == 0.25
    assert report.parts["accuracy"] == 0.5
    assert report.per_label["Refuted"].support == 3
    assert report.per_label["Supported"].precision == 0.5
    assert score_interval(scores).low == 0
    right, wrong_label, poor, failed = scores.surrogate(scores)
    assert (right, wrong_label, failed) == (1, 0.5, 0)
    assert 0.5 <= poor < 1
