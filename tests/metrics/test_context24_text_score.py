"""Context24's second score: 40 sets of claims that the organisers' scorer scored, and what ours makes of the same."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from aisr.base.errors import exit_code
from aisr.metrics import context24_text
from aisr.metrics.context24_text import KINDS, RougeScores
from aisr.metrics.scores import value
from support.paths import TESTS

with gzip.open(TESTS / "golden" / "context24-text-score-vectors.jsonl.gz", "rt", encoding="utf-8") as file:
    VECTORS = [json.loads(line) for line in file]
METHOD = "Each plot measured two by two metres and was photographed from above."


def test_the_official_scorer_is_reproduced() -> None:
    assert len(VECTORS) == 40
    for corpus in VECTORS:
        answers = [tuple(corpus["predictions"].get(key, ())) for key in corpus["gold"]]
        scores = RougeScores.of(list(corpus["gold"].values()), answers)
        report = scores.report()
        assert value(scores) == pytest.approx(report.score, abs=1e-12) == report.parts["rouge_l"]
        for column, (part, kind) in enumerate(zip(("rouge_1", "rouge_2", "rouge_l"), KINDS, strict=True)):
            assert report.parts[part] == pytest.approx(corpus["official"][kind], abs=1e-9), corpus["name"]
            matches = dict(zip(corpus["gold"], scores.rouge[:, column], strict=True))
            official = corpus["per_claim"][kind]
            assert {key: matches[key] for key in official} == pytest.approx(official, abs=1e-9), corpus["name"]


def test_a_failed_claim_and_one_without_gold_earn_nothing_and_count() -> None:
    result = RougeScores.of([[METHOD], [METHOD], []], [(METHOD,), None, (METHOD,)])
    assert result.right().tolist() == [True, False, False]
    assert result.surrogate(result).tolist() == result.values.tolist() == [1, 0, 0]
    assert result.ranking(np.array([[1.0, 1, 1], [2, 0, 0]])).tolist() == [pytest.approx(1 / 3), 1]
    assert result.report().remarks[0].startswith("0.7 snippets a claim, of 12 words each")
    (nothing,) = RougeScores.of([[METHOD]], [None]).report().remarks
    assert nothing == "no claim has a snippet"


def test_files_are_scored_by_a_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {
        "gold": [{"id": "a", "claim": "C", "context": [METHOD]}, {"id": "b", "context": [METHOD]}],
        "predicted": [{"id": "a", "context": [METHOD]}, {"id": "z", "context": [METHOD]}],
    }
    files = {name: tmp_path / f"{name}.json" for name in rows}
    for name, file in files.items():
        file.write_text(json.dumps(rows[name]))
    monkeypatch.setattr("sys.argv", ["context24_text", *map(str, files.values())])
    assert exit_code(context24_text.main) == 0
    shown = capsys.readouterr()
    assert "rouge_l     50.0" in shown.out
    assert "2 claims, 1 of which count as 0" in shown.out
    assert "z is no claim of" in shown.err
