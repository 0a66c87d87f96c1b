"""How well paragraphs are ranked for claims: against the gold evidence of labelled records."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from aisr.metrics.intervals import Interval, mean_interval
from aisr.programs.errors import UserError
from aisr.programs.lines import read
from aisr.programs.retrieval.evidence_ranker import counted
from aisr.programs.retrieval.passages import chosen, rank, whole
from aisr.programs.retrieval.retrievers import Matcher, embedded, indexed, split_sentences
from aisr.programs.task import Searched, Task

DEPTHS = (1, 3, 5, 10, 20)
Ranker = Callable[[Searched], list[str]]  # all paragraph ids, best first


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


def measure(name: str, ranker: Ranker, claims: Sequence[Searched], context_tokens: int) -> Found:
    """Score a ranker on claims that have gold evidence."""
    for kept in (indexed, split_sentences, embedded, counted):
        kept.cache_clear()  # what another ranker left would flatter this one
    start = time.perf_counter()
    rankings = [ranker(claim) for claim in claims]
    seconds = time.perf_counter() - start
    first, recall, shown = [], [], []
    for (claim, paper, gold, _), ranking in zip(claims, rankings, strict=True):
        first.append(min(ranking.index(key) for key in gold))
        seen = chosen(claim, paper, ranking, context_tokens)
        recall.append(np.mean([key in seen.shown for key in gold]))
        shown.append(whole({key: paper[key] for key in seen.shown}) / whole(paper))
    place = np.array(first)
    return Found(
        name,
        tuple(float((place < depth).mean()) for depth in DEPTHS),
        float((1 / (1 + place)).mean()),
        float(np.mean(recall)),
        float(np.mean(shown)),
        1000 * seconds / len(claims),
        [place + 1 for place in first],
    )


def gains(found: Found, before: Found, claims: Sequence[Searched]) -> dict[str, Interval]:
    """What a ranker gains over another on the same claims: Hit@1, @3 and @10, and mean reciprocal rank, each with the
    interval over papers, whose claims are not independent."""
    papers = [tuple(one.paragraphs.values()) for one in claims]
    group = [papers.index(paper) for paper in papers]
    after, first = (np.array(row.ranks, dtype=np.float64) for row in (found, before))
    return {
        **{f"Hit@{k}": mean_interval((after <= k).astype(np.float64) - (first <= k), group) for k in (1, 3, 10)},
        "MRR": mean_interval(1 / after - 1 / first, group),
    }


def claims(task: Task, file: Path, least: int = 1, limit: int | None = None) -> list[Searched]:
    """The claims of a labelled file that have gold evidence, the first `limit` of them, of papers with `least`
    paragraphs or more. Raises UserError where there are none, or the task retrieves nothing."""
    if task.searched is None:
        raise UserError(f"{task.name} retrieves no paragraphs; a task that does is needed here")
    searched = (task.searched(record) for record in read(file, task.record, task.name))
    found = [one for one in searched if one.gold and len(one.paragraphs) >= least][:limit]
    if not found:
        raise UserError(f"{file}: no record has gold evidence; a labelled file of {task.name} is needed here")
    return found


def by(matcher: Matcher) -> Ranker:
    """The ranker of a matcher."""
    return lambda given: rank(given.claim, given.paragraphs, matcher)
