"""Our scores beside those of scikit-learn, ranx, ir_measures and NLTK, on 500 random corpora.

`python -m benchmarks.peers` installs the peers into an environment of their own (by pip), computes each score by both
sides, and prints how many corpora differ, and by how much at most. `docs/behaviour.md` says who is right
where they do. Corpora have labels without gold statements, failed records, tied scores and empty rankings.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from aisr.judging.evaluate import measure_ranker
from aisr.metrics.context24_figures import FigureGold, NdcgScores, gain
from aisr.metrics.meteor import meteor
from aisr.programs.task import Query
from aisr.programs.track2 import CITATION_LABELS, TRACK2, Citation

CORPORA = 500
PINNED = ("scikit-learn==1.9.1", "ranx==0.3.21", "ir_measures==0.4.3", "nltk==3.9.1")
SAME = 1e-9
Corpus = dict[str, Any]


def drawn(seed: int) -> Corpus:
    """Return a corpus as JSON, with our scores under `ours`."""
    random = Random(seed)
    corpus: Corpus = {**labels(random), **rankings(random), **figures(random), **texts(random)}
    return corpus | {"ours": ours(corpus)}


def labels(random: Random) -> Corpus:
    """Gold labels of 20 claims, of two to four kinds, and predictions, some of which failed (None)."""
    known = random.sample(CITATION_LABELS, random.randint(2, 4))
    gold = random.choices(known, k=20)
    predicted = [random.choice([label, random.choice(CITATION_LABELS), label, None]) for label in gold]
    return {"all_labels": list(CITATION_LABELS), "gold": gold, "predicted": predicted}


def rankings(random: Random) -> Corpus:
    """Scores of ten paragraphs for eight claims, many of them equal, and the gold paragraphs."""
    scores = [[float(random.randint(0, 4)) for _ in range(10)] for _ in range(8)]
    apart = [[random.random() for _ in range(10)] for _ in range(8)]
    gold = [sorted(random.sample(range(10), random.randint(1, 3))) for _ in range(8)]
    return {"tied": scores, "apart": apart, "gold_paragraphs": gold}


def figures(random: Random) -> Corpus:
    """Gold elements of six claims and rankings of the elements of their papers, the first one empty."""
    elements = [f"FIG {number}{panel}" for number in range(1, 5) for panel in ("", "A", "B")]
    gold = [random.sample(elements, random.randint(1, 3)) for _ in range(6)]
    ranked = [random.sample(elements, random.randint(3, 12)) for _ in range(6)]
    gains = [{label: int(2 * gain(label, findings)) for label in elements} for findings in gold]  # 2 whole, 1 half
    return {"elements": elements, "findings": gold, "ranked": [[], *ranked[1:]], "gains": gains}


def texts(random: Random) -> Corpus:
    """Pairs of texts of words that no dictionary has, so that METEOR counts equal words and equal stems."""
    words = [f"zq{a}{b}" for a in "bcdfg" for b in ("ox", "oxed", "oxing", "ub")]
    return {"pairs": [[" ".join(random.choices(words, k=12)) for _ in range(2)] for _ in range(4)]}


def ours(corpus: Corpus) -> dict[str, float]:
    """Return our scores of a corpus, by the names that `peers_theirs` gives to theirs."""
    gold = [Citation(label, []) for label in corpus["gold"]]
    answers = [None if label is None else Citation(label, []) for label in corpus["predicted"]]
    report = TRACK2.score(gold, answers).corpus_score()
    scores = {"macro-F1": report.parts["macro_f1"], "accuracy": report.parts["joint_at_3"]}
    for kind in ("tied", "apart"):
        scores |= {
            f"{name}, {kind}": value for name, value in ranker_scores(corpus[kind], corpus["gold_paragraphs"]).items()
        }
    candidates = tuple(corpus["elements"])
    figure_gold = [FigureGold(tuple(findings), candidates) for findings in corpus["findings"]]
    parts = NdcgScores.of(figure_gold, [tuple(ranked) for ranked in corpus["ranked"]]).corpus_score().parts
    scores |= {"nDCG@5": parts["ndcg_5"], "nDCG@10": parts["ndcg_10"]}
    return scores | {"METEOR": float(np.mean([meteor(*pair) for pair in corpus["pairs"]]))}


def ranker_scores(scores: list[list[float]], gold: list[list[int]]) -> dict[str, float]:
    """Return Hit@3 and MRR as `aisr retrieval` has them."""
    papers = [{f"P{place}": f"Paragraph {place} of {number}." for place in range(10)} for number in range(len(gold))]
    claims = [
        Query(str(number), papers[number], [f"P{place}" for place in gold[number]]) for number in range(len(gold))
    ]
    measures = measure_ranker(lambda query: lambda *_: np.array(scores[int(query.claim)]), claims, 10_000)
    return {"Hit@3": float(measures["Hit@3"].mean()), "MRR": float(measures["MRR"].mean())}


def main() -> None:
    """Print the table."""
    corpora = [drawn(seed) for seed in range(CORPORA)]
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "peers", "bin", "python")
        subprocess.run([sys.executable, "-m", "venv", python.parent.parent], check=True)
        subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PINNED], check=True)
        file = Path(folder, "corpora.json")
        file.write_text(json.dumps(corpora))
        script = Path(__file__).with_name("peers_theirs.py")
        done = subprocess.run([python, script, file], check=True, capture_output=True, text=True)
    theirs = json.loads(done.stdout)
    for name in theirs[0]:
        measure = name.partition(" by ")[0]
        away = [abs(corpus["ours"][measure] - other[name]) for corpus, other in zip(corpora, theirs, strict=True)]
        print(f"{name:40} differs in {sum(one > SAME for one in away):3d} of {CORPORA}, at most by {max(away):.3f}")


if __name__ == "__main__":
    main()
