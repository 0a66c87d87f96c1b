"""The interval of a score counts claims that share a paper together."""

from pathlib import Path

from aisr.metrics.intervals import score_interval
from aisr.optimize.examples import examples, read_labeled
from aisr.predict.evaluate import Result, score_outcomes
from aisr.predict.judge import Outcome
from aisr.programs.track2.record import Citation
from aisr.programs.track2.task import TRACK2
from support.corpora import write


def score(folder: Path, papers: int) -> Result:
    """Forty claims about so many papers; those about the first half of the papers are judged right."""
    rows = [
        {
            "id": f"c{k}",
            "claim_text": f"Word{k} reed{k} moss{k} was seen by nobody but us in the year {k}.",
            "cited_paper_full_text": [{"P1": f"Paper {k % papers} of many tells of fern{k % papers} alone."}],
            "label": "Irrelevant",
            "evidence_para_ids": [],
        }
        for k in range(40)
    ]
    read = examples(read_labeled(TRACK2, TRACK2.build({}), write(folder / "claims.jsonl", rows)))
    right, wrong = Citation("Irrelevant", []), Citation("Supported", ["P1"])
    answers = [right if k % papers < papers / 2 else wrong for k in range(40)]
    return score_outcomes(TRACK2, read, [Outcome(one, None) for one in answers])


def test_an_interval_is_over_papers(tmp_path: Path) -> None:
    own, few = score(tmp_path, 40), score(tmp_path, 10)
    assert own.interval == score_interval(own.scores)
    assert few.score == own.score
    assert few.interval.high - few.interval.low > 1.5 * (own.interval.high - own.interval.low)
    assert few.gain(few) == (0, 0, 0)
