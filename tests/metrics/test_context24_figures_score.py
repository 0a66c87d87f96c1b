"""nDCG of figures and tables: what the organisers' scorer prints, and what labels mean."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from aisr.base.errors import exit_code
from aisr.base.jsonl import read_list
from aisr.metrics import context24_figures
from aisr.metrics.context24_figures import (
    Claim,
    FigureGold,
    NdcgScores,
    gain,
    official_gain,
    read_predictions,
    score_claims,
)
from support.paths import ROOT

GOLDEN = ROOT / "tests" / "golden" / "context24-figures-score-vectors.jsonl.gz"
VECTORS = [json.loads(line) for line in gzip.decompress(GOLDEN.read_bytes()).decode().splitlines()]


def test_it_equals_the_organisers_scorer(tmp_path: Path) -> None:
    assert len(VECTORS) == 50
    assert max(row["official_2024"]["ndcg@5"] for row in VECTORS) > 2  # repeats count again
    for row in VECTORS:
        (tmp_path / "gold.json").write_text(json.dumps(row["gold"]))
        (tmp_path / "predicted.csv").write_bytes(row["csv"].encode())
        gold = read_list(tmp_path / "gold.json", Claim)
        rankings = read_predictions(tmp_path / "predicted.csv")
        for name, score in [*row["official_2024"].items(), *row["official_2025"].items()]:
            result = score_claims(gold, rankings, int(name.removeprefix("ndcg@")), official_quirks=True)
            assert result == pytest.approx(row["per_claim"][name], abs=1e-9), row["id"]
            assert np.mean([*result.values()]) == pytest.approx(score, abs=1e-9), row["id"]


@pytest.mark.parametrize(
    ("label", "gold", "clean", "official"),
    [
        ("FIG 1", "FIG 1", 1, 1),
        ("FIG 1", "FIG 1A", 0.5, 0.5),
        ("FIG 1A", "FIG 1B", 0, 0),
        ("FIG 1", "FIG 10", 0, 0.5),
        ("FIG 1", "SUPP FIG 1", 0, 0.5),
        ("fig 1", "FIG 1", 1, 0),
        (" FIG 1", "FIG 1", 1, 0.5),
    ],
)
def test_what_a_label_is_worth(label: str, gold: str, clean: float, official: float) -> None:
    assert gain(label, ["FIG 77", gold]) == clean
    assert official_gain(label, ["FIG 77", gold]) == official


PAPER = ["FIG 1", "FIG 1A", "FIG 1B", "FIG 2", "FIG 10", "TAB 1"]


def test_a_corpus() -> None:
    gold = [FigureGold(("FIG 1A",), tuple(PAPER)), FigureGold(("FIG 2", "TAB 1"), tuple(PAPER))]
    whole = NdcgScores.of(gold, [("FIG 1A", "FIG 1"), ("TAB 1", "FIG 2", "FIG 1")])
    assert whole.report().score == pytest.approx(1)
    assert whole.right().tolist() == [True, True]
    half = NdcgScores.of(gold, [None, ("TAB 1", "FIG 1", "FIG 2")])
    report = half.report()
    assert report.parts["ndcg_5"] == report.parts["ndcg_10"] == pytest.approx(report.score) == half.values.mean()
    assert half.surrogate(whole).tolist() == half.values.tolist()
    assert half.values[0] == 0
    repeated, second = NdcgScores.of(gold[:1] * 2, [("FIG 1A", "FIG 1A"), ("FIG 2", "FIG 1A")]).values
    ideal = 1 + 0.5 / np.log2(3)  # FIG 1A counts 1, FIG 1 half; a repeat gains nothing
    assert (repeated, second) == pytest.approx((1 / ideal, 1 / np.log2(3) / ideal))
    assert report.remarks[0].startswith("as the organisers score it, letter by letter: nDCG@5 ")


GOLD = [
    {"id": "a", "findings": ["FIG 1"], "figures_tables": ["FIG 1", "FIG 10"]},
    {"id": "b", "findings": ["TAB 1"], "figures_tables": ["FIG 1", "TAB 1"]},
    {"id": "c", "findings": [], "figures_tables": ["FIG 1"]},
]


def test_the_command_and_what_blanks_and_omissions_come_to(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gold, predicted = tmp_path / "gold.json", tmp_path / "predicted.csv"
    gold.write_text(json.dumps(GOLD))
    predicted.write_text('claimid,predictions\na,"FIG 10, FIG 1"\n')
    monkeypatch.setattr("sys.argv", ["context24_figures", str(gold), str(predicted)])
    assert exit_code(context24_figures.main) == 0
    # " FIG 1" is FIG 1 in second place; b was left out and counts 0; c has no gold.
    # The organisers' scorer passes over b; to it " FIG 1" is a label that FIG 1 stands in, as is FIG 10.
    discount = 1 / np.log2(3)
    official = (0.5 + 0.5 * discount) / (1 + 0.5 * discount)
    line = f"nDCG@5   {discount / 2:.4f} of 2 claims; as the organisers score it: {official:.4f} of 1 claims\n"
    assert line in capsys.readouterr().out
    predicted.write_text("h,h\nnobody,FIG 1\n")
    assert exit_code(context24_figures.main) == 2
    assert "nobody is no claim of" in capsys.readouterr().err
