"""What the peers of `benchmarks/peers.py` say of its corpora, as JSON: run by that, in an environment without aisr."""

import json
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace
from typing import Any

warnings.simplefilter("ignore")

import ir_measures  # noqa: E402
import ranx  # noqa: E402
from ir_measures import RR, Qrel, ScoredDoc, Success, nDCG  # noqa: E402
from nltk.tokenize import NLTKWordTokenizer  # noqa: E402
from nltk.translate.meteor_score import single_meteor_score  # noqa: E402
from sklearn.metrics import accuracy_score, f1_score  # noqa: E402

Runs = dict[str, dict[str, float]]


def theirs(corpus: dict[str, Any]) -> dict[str, float]:
    """Return the scores of all peers, by measure and peer."""
    predicted = [label or "failed" for label in corpus["predicted"]]
    scores = {
        "macro-F1 by scikit-learn, all labels": f1_score(
            corpus["gold"], predicted, labels=corpus["all_labels"], average="macro", zero_division=0
        ),
        "macro-F1 by scikit-learn, as it comes": f1_score(corpus["gold"], predicted, average="macro"),
        "accuracy by scikit-learn": accuracy_score(corpus["gold"], predicted),
    }
    gold = {str(k): {f"P{place}": 1 for place in places} for k, places in enumerate(corpus["gold_paragraphs"])}
    for kind in ("tied", "apart"):
        run = {str(k): {f"P{place}": score for place, score in enumerate(row)} for k, row in enumerate(corpus[kind])}
        by_ranx = ranx.evaluate(ranx.Qrels(gold), ranx.Run(run), ["hit_rate@3", "mrr"])
        by_ir = measured([Success @ 3, RR, RR @ 10], gold, run)
        scores |= {
            f"Hit@3, {kind} by ranx": by_ranx["hit_rate@3"],
            f"Hit@3, {kind} by ir_measures": by_ir["Success@3"],
            f"MRR, {kind} by ranx": by_ranx["mrr"],
            f"MRR, {kind} by ir_measures RR": by_ir["RR"],
            f"MRR, {kind} by ir_measures RR@10": by_ir["RR@10"],
        }
    gains = {str(k): {label: value for label, value in row.items() if value} for k, row in enumerate(corpus["gains"])}
    run = {str(k): {label: 99.0 - place for place, label in enumerate(row)} for k, row in enumerate(corpus["ranked"])}
    whole = {key: row or {"nothing": 1.0} for key, row in run.items()}  # ranx and trec_eval take no empty ranking
    by_ranx = ranx.evaluate(ranx.Qrels(gains), ranx.Run(whole), ["ndcg@5", "ndcg@10"])
    by_ir = measured([nDCG @ 5, nDCG @ 10], gains, run)
    for depth in (5, 10):
        scores[f"nDCG@{depth} by ranx"] = by_ranx[f"ndcg@{depth}"]
        scores[f"nDCG@{depth} by ir_measures"] = by_ir[f"nDCG@{depth}"]
    words, nothing = NLTKWordTokenizer().tokenize, SimpleNamespace(synsets=lambda word: [])
    pairs = [(words(reference), words(candidate)) for candidate, reference in corpus["pairs"]]
    meteor = [single_meteor_score(*pair, wordnet=nothing) for pair in pairs]
    return {name: float(score) for name, score in scores.items()} | {"METEOR by NLTK": sum(meteor) / len(meteor)}


def measured(measures: list[Any], gold: dict[str, dict[str, int]], run: Runs) -> dict[str, float]:
    qrels = [Qrel(query, key, value) for query, row in gold.items() for key, value in row.items()]
    docs = [ScoredDoc(query, key, value) for query, row in run.items() for key, value in row.items()]
    return {str(name): value for name, value in ir_measures.calc_aggregate(measures, qrels, docs).items()}


print(json.dumps([theirs(corpus) for corpus in json.loads(Path(sys.argv[1]).read_text())]))
