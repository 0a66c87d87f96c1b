"""The scores of AVeriTeC and Context24, on corpora that the organisers' scorers scored; METEOR, on pairs of texts by
NLTK 3.9.1 with its own data; what labels and omissions are worth; and the commands that score files."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aisr.base.errors import run_command
from aisr.base.jsonl import read_list
from aisr.metrics import averitec, context24_figures, context24_text
from aisr.metrics.averitec import AveritecLabel, ClaimGold, FactCheck, GoldAnswer, Matches, Pair, Predicted, Question
from aisr.metrics.context24_figures import Claim, FigureGold, NdcgScores, gain, official_gain
from aisr.metrics.context24_text import ROUGE_KINDS, RougeScores
from aisr.metrics.intervals import score_interval
from aisr.metrics.meteor import meteor, meteor_words
from aisr.metrics.scores import value
from support.commands import Finished, run_main
from support.paths import TESTS


def golden(name: str) -> list[dict[str, Any]]:
    with gzip.open(TESTS / "golden" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def scored(main: Callable[[], None], *files: Path) -> Finished:
    """`python -m aisr.metrics.… FILES…`, as a shell would run it."""
    return run_main(lambda: run_command(main), "score", *files)


def as_json(file: Path, content: Any) -> Path:
    file.write_text(json.dumps(content))
    return file


# --- AVeriTeC

FACT_CHECKS = golden("averitec-score-vectors")


def test_both_scorers_of_averitec_are_reproduced() -> None:
    assert len(FACT_CHECKS) == 60
    for corpus in FACT_CHECKS:
        gold = [ClaimGold.model_validate(row) for row in corpus["references"]]
        for form, name in (("predictions", "official"), ("predictions_2024", "official_2024")):
            predicted = [Predicted.model_validate(row) for row in corpus[form]]
            matches = Matches.of(gold, predicted)
            ours, official = averitec.official_numbers(gold, predicted, matches), corpus[name]
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
    for pair in golden("meteor-pairs"):
        assert meteor(pair["candidate"], pair["reference"]) == pytest.approx(pair["meteor"], abs=1e-12)
        for side, tokens in zip(("candidate", "reference"), pair["tokens"], strict=True):
            assert list(meteor_words(pair[side])) == [token.lower() for token in tokens]


def test_a_file_of_fact_checks_is_scored_in_both_forms(tmp_path: Path) -> None:
    corpus = next(row for row in FACT_CHECKS if row["id"] == "v44")
    gold, predicted = as_json(tmp_path / "gold.json", corpus["references"]), tmp_path / "predicted.json"
    for form, scores in (("predictions", "official"), ("predictions_2024", "official_2024")):
        shown = scored(averitec.main, gold, as_json(predicted, corpus[form])).out
        share = corpus[scores]["averitec"]["0.25"]
        assert re.search(rf"^AVeriTeC score at 0\.25 +{100 * share:.1f}$", shown, re.MULTILINE)
        assert "16 claims, " in shown
    beside = {"label": "Not Enough Evidence", "questions": []}  # gold may stand beside a prediction of 2024
    as_json(predicted, [beside | row for row in corpus["predictions_2024"]])
    assert scored(averitec.main, gold, predicted).out == shown
    done = scored(averitec.main, gold, as_json(predicted, corpus["predictions"][:-1]))
    assert done.code == 2
    assert "matched by position" in done.err


def test_a_claim_counts_where_label_and_evidence_are_right_and_its_surrogate_has_a_slope_between() -> None:
    """A right claim, one with a wrong label, one with useless evidence, and one that failed."""
    asked = [Question(question="When did the bridge close?", answers=[GoldAnswer(answer="It closed in May 2020.")])]
    good = (Pair(question="When did the bridge close?", answer="It closed in May 2020."),)
    bad = (Pair(question="Why?", answer="Nobody said."),)
    labels: list[AveritecLabel] = ["Refuted", "Refuted", "Supported", "Refuted"]
    gold = [ClaimGold(label=label, questions=asked) for label in labels]
    predicted = [FactCheck("Refuted", good), FactCheck("Supported", good), FactCheck("Supported", bad), None]
    scores = Matches.of(gold, predicted)
    assert scores.right().tolist() == [True, False, False, False]
    assert min(scores.evidence[0], scores.questions[0]) > 0.99  # answers are compared with their questions
    report = scores.corpus_score()
    assert value(scores) == report.score == 0.25
    assert report.parts["accuracy"] == 0.5
    assert report.per_label["Refuted"].support == 3
    assert report.per_label["Supported"].precision == 0.5
    assert score_interval(scores).low == 0
    right, wrong_label, poor, failed = scores.surrogate(scores)
    assert (right, wrong_label, failed) == (1, 0.5, 0)
    assert 0.5 <= poor < 1


# --- Context24: figures and tables


def test_the_scorer_of_figures_is_reproduced(tmp_path: Path) -> None:
    corpora = golden("context24-figures-score-vectors")
    assert len(corpora) == 50
    assert max(row["official_2024"]["ndcg@5"] for row in corpora) > 2  # repeats count again
    for row in corpora:
        (tmp_path / "predicted.csv").write_bytes(row["csv"].encode())
        gold = read_list(as_json(tmp_path / "gold.json", row["gold"]), Claim)
        rankings = context24_figures.read_predictions(tmp_path / "predicted.csv")
        for name, score in [*row["official_2024"].items(), *row["official_2025"].items()]:
            depth = int(name.removeprefix("ndcg@"))
            result = context24_figures.score_claims(gold, rankings, depth, official=True)
            assert result == pytest.approx(row["per_claim"][name], abs=1e-9), row["id"]
            assert np.mean([*result.values()]) == pytest.approx(score, abs=1e-9), row["id"]


@pytest.mark.parametrize(
    ("label", "gold", "clean", "official"),
    [
        ("FIG 1", "FIG 1", 1, 1),
        ("FIG 1", "FIG 1A", 0.5, 0.5),
        ("FIG 1A", "FIG 1B", 0, 0),
        ("the last page", "FIG 1", 0, 0),
        ("FIG 1", "FIG 10", 0, 0.5),
        ("FIG 1", "SUPP FIG 1", 0, 0.5),
        ("fig 1", "FIG 1", 1, 0),
        (" FIG 1", "FIG 1", 1, 0.5),
        ("Figure 1 Panel A", "FIG 1A", 1, 0),
        ("Figure 1 Panel A", "Figure 1", 0.5, 0.5),
    ],
)
def test_what_a_label_is_worth(label: str, gold: str, clean: float, official: float) -> None:
    assert gain(label, ["FIG 77", gold]) == clean
    assert official_gain(label, ["FIG 77", gold]) == official


def test_rankings_of_a_corpus() -> None:
    paper = ("FIG 1", "FIG 1A", "FIG 1B", "FIG 2", "FIG 10", "TAB 1")
    gold = [FigureGold(("FIG 1A",), paper), FigureGold(("FIG 2", "TAB 1"), paper)]
    whole = NdcgScores.of(gold, [("FIG 1A", "FIG 1"), ("TAB 1", "FIG 2", "FIG 1")])
    assert whole.corpus_score().score == pytest.approx(1)
    assert whole.right().tolist() == [True, True]
    half = NdcgScores.of(gold, [None, ("TAB 1", "FIG 1", "FIG 2")])
    report = half.corpus_score()
    assert report.parts["ndcg_5"] == report.parts["ndcg_10"] == pytest.approx(report.score) == half.values.mean()
    assert half.surrogate(whole).tolist() == half.values.tolist()
    assert half.values[0] == 0
    repeated, second = NdcgScores.of(gold[:1] * 2, [("FIG 1A", "FIG 1A"), ("FIG 2", "FIG 1A")]).values
    ideal = 1 + 0.5 / np.log2(3)  # FIG 1A counts 1, FIG 1 half; a repeat gains nothing
    assert (repeated, second) == pytest.approx((1 / ideal, 1 / np.log2(3) / ideal))
    assert report.remarks[0].startswith("as the organisers score it, letter by letter: nDCG@5 ")
    beyond = NdcgScores.of([FigureGold(("FIG 1",), ("FIG 1",))], [("FIG 1", "FIG 1A", "Figure 1")])
    assert beyond.values.tolist() == [1]  # what the paper does not have, and another spelling, earn nothing
    assert "theirs has no bound of 1" in beyond.corpus_score().remarks[0]
    with pytest.raises(ValueError, match="no gold element"):
        NdcgScores.of([FigureGold((), paper)], [None])


def test_a_file_of_rankings_is_scored_and_what_blanks_and_omissions_come_to(tmp_path: Path) -> None:
    rows = [
        {"id": "a", "findings": ["FIG 1"], "figures_tables": ["FIG 1", "FIG 10"]},
        {"id": "b", "findings": ["TAB 1"], "figures_tables": ["FIG 1", "TAB 1"]},
        {"id": "c", "findings": [], "figures_tables": ["FIG 1"]},
    ]
    gold, predicted = as_json(tmp_path / "gold.json", rows), tmp_path / "predicted.csv"
    predicted.write_text('claimid,predictions\na,"FIG 10, FIG 1"\n')
    # " FIG 1" is FIG 1 in second place; b was left out and counts 0; c has no gold.
    # The organisers' scorer passes over b; to it " FIG 1" is a label that FIG 1 stands in, as is FIG 10.
    discount = 1 / np.log2(3)
    official = (0.5 + 0.5 * discount) / (1 + 0.5 * discount)
    line = f"nDCG@5   {discount / 2:.4f} of 2 claims; as the organisers score it: {official:.4f} of 1 claims\n"
    assert line in scored(context24_figures.main, gold, predicted).out
    predicted.write_text("h,h\nnobody,FIG 1\n")
    done = scored(context24_figures.main, gold, predicted)
    assert done.code == 2
    assert "nobody is no claim of" in done.err


# --- Context24: the text that grounds a claim

METHOD = "Each plot measured two by two metres and was photographed from above."


def test_the_scorer_of_grounding_text_is_reproduced() -> None:
    corpora = golden("context24-text-score-vectors")
    assert len(corpora) == 40
    for corpus in corpora:
        answers = [tuple(corpus["predictions"].get(key, ())) for key in corpus["gold"]]
        scores = RougeScores.of(list(corpus["gold"].values()), answers)
        report = scores.corpus_score()
        assert value(scores) == pytest.approx(report.score, abs=1e-12) == report.parts["rouge_l"]
        for column, (part, kind) in enumerate(zip(("rouge_1", "rouge_2", "rouge_l"), ROUGE_KINDS, strict=True)):
            assert report.parts[part] == pytest.approx(corpus["official"][kind], abs=1e-9), corpus["name"]
            matches = dict(zip(corpus["gold"], scores.rouge[:, column], strict=True))
            official = corpus["per_claim"][kind]
            assert {key: matches[key] for key in official} == pytest.approx(official, abs=1e-9), corpus["name"]


def test_a_failed_claim_and_one_without_gold_earn_nothing_and_count() -> None:
    result = RougeScores.of([[METHOD], [METHOD], []], [(METHOD,), None, (METHOD,)])
    assert result.right().tolist() == [True, False, False]
    assert result.surrogate(result).tolist() == result.values.tolist() == [1, 0, 0]
    assert result.ranking(np.array([[1.0, 1, 1], [2, 0, 0]])).tolist() == [pytest.approx(1 / 3), 1]
    assert result.corpus_score().remarks[0].startswith("0.7 snippets a claim, of 12 words each")
    (nothing,) = RougeScores.of([[METHOD]], [None]).corpus_score().remarks
    assert nothing == "no claim has a snippet"


def test_a_file_of_snippets_is_scored(tmp_path: Path) -> None:
    gold = [{"id": "a", "claim": "C", "context": [METHOD]}, {"id": "b", "context": [METHOD]}]
    predicted = [{"id": "a", "context": [METHOD]}, {"id": "z", "context": [METHOD]}]
    files = as_json(tmp_path / "gold.json", gold), as_json(tmp_path / "predicted.json", predicted)
    done = scored(context24_text.main, *files)
    assert done.code == 0
    assert "rouge_l     50.0" in done.out
    assert "2 claims, 1 of which count as 0" in done.out
    assert "z is no claim of" in done.err
