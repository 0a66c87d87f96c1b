"""How much of a paper is worth showing: `python -m aisr.optimize.studies.budget RECORDS --task TASK`.

Of each budget the share of claims with gold evidence that see some of it, and how many tokens are shown; ranked by
rankers that did not see the claim's paper; as it was, and sifted: title, abstract and conclusion always in, bare
paragraphs that rank low out. Then which gold paragraphs are left out for good. No LM is asked.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.metrics.confidence import mean_interval
from aisr.optimize.evidence.budget_fit import HOLD, fit_budget
from aisr.optimize.evidence.rank_fit import fit_ranker, looked
from aisr.programs.reading.lines import read
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.embeddings import built_in
from aisr.programs.retrieval.passages import WHOLE, chosen, rank
from aisr.programs.text.tokens import tokens
from aisr.tasks.task import Searched

BUDGETS = (600, 1000, 1500, 2000, 2500, 3000, 3500, 4000, 5000, 6000, 8000)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("records", type=Path)
    parser.add_argument("--task", required=True)
    options = parser.parse_args(argv)
    task = chosen_task(options.task)
    claims = looked(task, list(read(options.records, task.record, task.name)))
    unseen = fit_ranker(claims, bm25, built_in, seed=0).unseen
    found = claims.claims
    rankings = [
        rank(one.claim, one.paragraphs, unseen[tuple(one.paragraphs.values())].matcher(built_in)) for one in found
    ]
    held = fit_budget(found, rankings, HOLD, None, sifted=True).tokens
    priced = fit_budget(found, rankings, HOLD, None, priced=True, sifted=True).tokens
    rows = []
    for budget in sorted({*BUDGETS, held, priced}):
        (size, gold), (sifted_size, sifted) = (_shown(found, rankings, budget, way) for way in (False, True))
        gain = str(mean_interval(sifted - gold, claims.group))
        before = [f"{size:.0f}", f"{100 * gold.mean():.1f}"]
        rows.append([str(budget), *before, f"{sifted_size:.0f}", f"{100 * sifted.mean():.1f}", gain])
    heads = ["budget", "tokens shown", "see gold evidence", "tokens, sifted", "see it, sifted", "gain"]
    table(f"{len(found)} claims with gold evidence", heads, rows)
    note(f"by its price {priced} tokens; for {100 * HOLD:.0f} % of the claims {held}")
    left = [(set(one.paragraphs) - set(_all(one, best)), one.gold) for one, best in zip(found, rankings, strict=True)]
    lost = sum(key in out for out, gold in left for key in gold)
    blind = np.array([out.issuperset(gold) for out, gold in left], dtype=np.float64)
    share = np.mean([len(out) / len(one.paragraphs) for (out, _), one in zip(left, found, strict=True)])
    note(
        f"left out: {100 * share:.1f} % of the paragraphs; {lost} of {sum(len(gold) for _, gold in left)} gold ones; "
        f"claims that lose all of theirs: {mean_interval(blind, claims.group)} %"
    )
    return 0


def _shown(
    claims: Sequence[Searched], rankings: Sequence[Sequence[str]], budget: int, sifted: bool
) -> tuple[float, NDArray[np.float64]]:
    """The mean tokens that are shown, and of each claim whether gold evidence is (1 or 0)."""
    shown = [
        chosen(one.claim, one.paragraphs, best, budget, sifted) for one, best in zip(claims, rankings, strict=True)
    ]
    gold = [not set(one.gold).isdisjoint(some.shown) for one, some in zip(claims, shown, strict=True)]
    return float(np.mean([tokens(some.text) for some in shown])), np.array(gold, dtype=np.float64)


def _all(claim: Searched, ranking: Sequence[str]) -> list[str]:
    """What is ever shown of a paper."""
    return chosen(claim.claim, claim.paragraphs, ranking, WHOLE - 1, sifted=True).shown


if __name__ == "__main__":
    sys.exit(main())
