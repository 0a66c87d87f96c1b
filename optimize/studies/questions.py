"""What questions about a claim find beside the claim: `python -m aisr.optimize.studies.questions FILE --task TASK`.

Prints the share of claims that have a gold paragraph among the first ten, looked for by the claim, by the gold
questions, and by both, fused by rank. Gold questions are the best that a model could ask.
"""

import argparse
import sys
from pathlib import Path

from aisr.base.text import percent
from aisr.commands.display import note, table
from aisr.commands.options import chosen_task
from aisr.inference.retrieval_eval import claims
from aisr.programs.errors import UserError
from aisr.programs.retrieval.documents import fused_ranking
from aisr.programs.retrieval.retrievers import Matcher, matcher
from aisr.tasks.task import Searched

DEPTH = 10


def main() -> int:
    """0 where the file could be searched, 2 where it could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.optimize.studies.questions", description="Claim against questions."
    )
    parser.add_argument("file", type=Path, help="JSONL file of labelled records")
    parser.add_argument("--task", required=True)
    parser.add_argument("--retrievers", default="bm25,hybrid")
    given = parser.parse_args()
    try:
        found = [one for one in claims(chosen_task(given.task), given.file) if one.questions]
        if not found:
            raise UserError(f"{given.file}: no record has gold questions")
        rows = [row(name, matcher(name), found) for name in given.retrievers.split(",")]
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    note(f"{given.file}: {len(found)} claims with gold questions and gold evidence")
    table(f"gold evidence among the first {DEPTH}", ["retriever", "claim", "gold questions", "both, fused"], rows)
    return 0


def row(name: str, match: Matcher, found: list[Searched]) -> list[str]:
    """The shares of claims, by a retriever."""
    ways = (lambda one: [one.claim], lambda one: one.questions, lambda one: [one.claim, *one.questions])
    return [name, *(percent(sum(_hit(one, way(one), match) for one in found) / len(found)) for way in ways)]


def _hit(one: Searched, queries: list[str], match: Matcher) -> bool:
    keys = list(one.paragraphs)
    first = fused_ranking(queries, list(one.paragraphs.values()), match)[:DEPTH]
    return any(keys[place] in one.gold for place in first)


if __name__ == "__main__":
    sys.exit(main())
