"""How well paragraphs are ranked for claims: against the gold evidence of labelled records."""

import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from rank_bm25 import BM25Okapi

from programs.bm25 import indexed, split_sentences
from programs.dense import embedded
from programs.ranking import Matcher
from programs.records import CitationRecord
from programs.retrieval import budget, chosen, rank, whole

DEPTHS = (1, 3, 5, 10, 20)
Ranker = Callable[[CitationRecord], list[str]]  # all paragraph ids of a record's paper, best first


class Found(NamedTuple):
    """How a ranker did, over claims with gold evidence.

    hits: for each depth of `DEPTHS` the share of claims with a gold paragraph among the first so many; mrr: mean
    reciprocal rank of the first gold paragraph; recall: mean share of the gold paragraphs that a prompt shows within
    the token budget; shown: tokens that it shows, as a share of those of the whole paper; milliseconds: wall time a
    claim, with indexing each paper once.
    """

    name: str
    hits: tuple[float, ...]
    mrr: float
    recall: float
    shown: float
    milliseconds: float
    ranks: list[int]  # of the first gold paragraph of each claim, from 1


def measure(name: str, ranker: Ranker, records: Sequence[CitationRecord], context_tokens: int) -> Found:
    """Score a ranker on labelled records that have gold evidence. context_tokens: 0 for the default budget."""
    for kept in (indexed, split_sentences, embedded):
        kept.cache_clear()  # what another ranker left would flatter this one
    start = time.perf_counter()
    rankings = [ranker(record) for record in records]
    seconds = time.perf_counter() - start
    first, recall, shown = [], [], []
    for record, ranking in zip(records, rankings, strict=True):
        paper, gold = record.paragraphs, record.evidence_para_ids or []
        first.append(min(ranking.index(key) for key in gold))
        seen = chosen(paper, ranking, context_tokens or budget(paper))
        recall.append(np.mean([key in seen.shown for key in gold]))
        shown.append(whole({key: paper[key] for key in seen.shown}) / whole(paper))
    place = np.array(first)
    return Found(
        name,
        tuple(float((place < depth).mean()) for depth in DEPTHS),
        float((1 / (1 + place)).mean()),
        float(np.mean(recall)),
        float(np.mean(shown)),
        1000 * seconds / len(records),
        [place + 1 for place in first],
    )


def with_evidence(records: Sequence[CitationRecord]) -> list[CitationRecord]:
    """The labelled records that have gold evidence. Raises ValueError where there are none."""
    found = [record for record in records if record.evidence_para_ids]
    if not found:
        raise ValueError("no record has gold evidence; a labelled file of track2 is needed here")
    return found


def by(matcher: Matcher) -> Ranker:
    """The ranker of a matcher."""
    return lambda record: rank(record.claim_text, record.paragraphs, matcher)


def seed(record: CitationRecord) -> list[str]:
    """What the field began with (CSIRO-LT at Context24): plain `rank_bm25` on words between blanks, nothing stemmed."""
    paper = record.paragraphs
    scores = BM25Okapi([text.split() or [""] for text in paper.values()]).get_scores(record.claim_text.split())
    keys = list(paper)
    return [keys[place] for place in np.argsort(-scores, kind="stable")]
