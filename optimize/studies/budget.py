"""How much of a paper is worth showing: `python -m aisr.optimize.studies.budget RECORDS --task TASK`.

Of each budget the share of claims with gold evidence that see some of it, and how many tokens are shown; ranked by
rankers that did not see the claim's paper. No LM is asked.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.optimize.evidence.budget_fit import HOLD, fit_budget
from aisr.optimize.evidence.rank_fit import fit_ranker, looked
from aisr.programs.reading.lines import read
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.embeddings import built_in
from aisr.programs.retrieval.passages import chosen, rank
from aisr.programs.text.tokens import tokens

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
    held = fit_budget(found, rankings, HOLD, None).tokens
    priced = fit_budget(found, rankings, HOLD, None, priced=True).tokens
    rows = []
    for budget in sorted({*BUDGETS, held, priced}):
        shown = [chosen(one.paragraphs, best, budget) for one, best in zip(found, rankings, strict=True)]
        gold = [not set(one.gold).isdisjoint(some.shown) for one, some in zip(found, shown, strict=True)]
        size = np.mean([tokens(some.text) for some in shown])
        rows.append([str(budget), f"{size:.0f}", f"{100 * np.mean(gold):.1f}"])
    table(f"{len(found)} claims with gold evidence", ["budget", "tokens shown", "see gold evidence"], rows)
    note(f"by its price {priced} tokens; for {100 * HOLD:.0f} % of the claims {held}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
