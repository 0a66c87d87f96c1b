"""How well rankers rank paragraphs for claims, by the gold evidence of labelled records."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from aisr.base.errors import UserError
from aisr.base.jsonl import read
from aisr.metrics.intervals import Interval, mean_interval
from aisr.programs.ranker import count_paper
from aisr.programs.retrieval import Matcher, embedded, fit_passages, indexed, paper_tokens, rank, split_sentences
from aisr.programs.task import Query, Task
from aisr.programs.text import tokens

DEPTHS = (1, 3, 5, 10, 20)  # of Hit@k
Ranker = Callable[[Query], list[str]]  # all paragraph ids, best first


class RetrievalScore(NamedTuple):
    """The score of a ranker over claims with gold evidence."""

    name: str
    hits: tuple[float, ...]  # for each of `DEPTHS`, the share of claims with a gold paragraph among the first so many
    mrr: float  # mean reciprocal rank of the first gold paragraph
    recall: float  # mean share of the gold paragraphs that a prompt shows within the token budget
    tokens: float  # tokens of the prompt, as a share of those of the whole paper
    milliseconds: float  # wall time a claim, with indexing each paper once
    ranks: list[int]  # of the first gold paragraph of each claim, from 1


def claims_with_evidence(task: Task, file: Path) -> list[Query]:
    """The claims of a labelled file that have gold evidence. Raises UserError where there are none, or the task
    retrieves nothing."""
    queries = [task.query(record) for record in read(file, task.record, task.name)]
    if queries and not any(queries):
        raise UserError(f"{task.name} retrieves no paragraphs; a task that does is needed here")
    claims = [claim for claim in queries if claim and claim.gold]
    if not claims:
        raise UserError(f"{file}: no record has gold evidence; a labelled file of {task.name} is needed here")
    return claims


def matcher_ranker(matcher: Matcher) -> Ranker:
    """The ranker of a matcher."""
    return lambda claim: rank(claim.claim, claim.paragraphs, matcher)


def score_ranker(name: str, ranker: Ranker, claims: Sequence[Query], context_tokens: int) -> RetrievalScore:
    """Score a ranker on claims that have gold evidence."""
    for cached in (indexed, split_sentences, embedded, count_paper):
        cached.cache_clear()  # the cache of another ranker would flatter this one
    start = time.perf_counter()
    rankings = [ranker(claim) for claim in claims]
    seconds = time.perf_counter() - start
    first, recall, read = [], [], []
    for (claim, paper, gold), ranking in zip(claims, rankings, strict=True):
        first.append(min(ranking.index(key) for key in gold))
        passages = fit_passages(claim, paper, ranking, context_tokens)
        recall.append(np.mean([key in passages.keys for key in gold]))
        read.append(tokens(passages.text) / paper_tokens(paper))
    place = np.array(first)
    return RetrievalScore(
        name,
        tuple(float((place < depth).mean()) for depth in DEPTHS),
        float((1 / (1 + place)).mean()),
        float(np.mean(recall)),
        float(np.mean(read)),
        1000 * seconds / len(claims),
        [place + 1 for place in first],
    )


def retrieval_gains(score: RetrievalScore, before: RetrievalScore, claims: Sequence[Query]) -> dict[str, Interval]:
    """The gain of a ranker over another on the same claims: Hit@1, @3 and @10, and mean reciprocal rank, each with the
    interval over papers, whose claims are not independent."""
    papers = [tuple(claim.paragraphs.values()) for claim in claims]
    group = [papers.index(paper) for paper in papers]
    after, first = (np.array(row.ranks, dtype=np.float64) for row in (score, before))
    return {
        **{f"Hit@{k}": mean_interval((after <= k).astype(np.float64) - (first <= k), group) for k in (1, 3, 10)},
        "MRR": mean_interval(1 / after - 1 / first, group),
    }
