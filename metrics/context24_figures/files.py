"""Score the organisers' own files for figures: `python -m aisr.metrics.context24_figures.files GOLD.json
PREDICTIONS.csv`.

The gold is their JSON list of claims (`id`, `findings`, `figures_tables`), predictions a CSV file with a header: an id,
and labels joined by commas, best first. By itself the score is clean: labels are stripped, a repeated one counts once,
a claim that is left out counts 0, and labels are read (see `aisr.metrics.context24_figures.score.gain`). With
--official-quirks it is what the organisers' scorer prints.
"""

import argparse
import csv
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from aisr.metrics.context24_figures.score import DEPTHS, ndcg
from aisr.programs.errors import UserError
from aisr.programs.lines import explain


class Claim(BaseModel):
    """A claim of the organisers' file."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    findings: list[str]
    figures_tables: list[str]


def main() -> int:
    """0 where the files could be scored, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.context24_figures.files", description="nDCG of predicted figures and tables."
    )
    parser.add_argument("gold", type=Path, help="JSON list of claims with findings and figures_tables")
    parser.add_argument("predictions", type=Path, help="CSV file: a header, then id and labels joined by commas")
    parser.add_argument("--official-quirks", action="store_true", help="what the organisers' scorer prints")
    parser.add_argument("--depths", type=int, nargs="+", default=list(DEPTHS), help="5 10 in 2024, 3 5 in 2025")
    given = parser.parse_args()
    try:
        gold = claims(given.gold)
        told = predictions(given.predictions, given.official_quirks)
        lines = []
        for k in given.depths:
            found = per_claim(gold, told, k, given.official_quirks)
            lines.append(f"nDCG@{k:<3} {mean(found):.4f}  of {len(found)} claims")
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print("\n".join(lines))
    return 0


def claims(file: Path) -> list[Claim]:
    """The claims of the organisers' file. Raises UserError for anything else."""
    try:
        found = TypeAdapter(list[Claim]).validate_json(file.read_bytes())
    except OSError as error:
        raise UserError(f"{file}: {error}; expected a JSON list of claims") from error
    except ValidationError as error:
        raise UserError(
            f"{file}: {explain(error)}; expected a JSON list of claims with id, findings and figures_tables"
        ) from error
    if not found:
        raise UserError(f"{file}: no claims; expected a JSON list of them")
    return found


def predictions(file: Path, official_quirks: bool = False) -> dict[str, list[str]]:
    """The labels of each claim of a CSV file by its id, best first; with `official_quirks` as they stand between the
    commas, and the last of an id's lines. Raises UserError for a line without two columns or an id that stands there
    twice."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.reader(opened))[1:]
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{file}: {error}; expected a CSV file with a header, ids and labels") from error
    found: dict[str, list[str]] = {}
    for number, row in enumerate(rows, start=2):
        if len(row) < 2:
            raise UserError(
                f"{file}:{number}: {len(row)} columns; expected an id, and labels joined by commas in quotes"
            )
        if row[0] in found and not official_quirks:
            raise UserError(f"{file}:{number}: {row[0]!r} stands there already; expected each claim once")
        labels = row[1].split(",")
        found[row[0]] = labels if official_quirks else [label.strip() for label in labels if label.strip()]
    return found


def per_claim(
    gold: Sequence[Claim], told: Mapping[str, Sequence[str]], k: int, official_quirks: bool = False
) -> dict[str, float]:
    """nDCG at k of each claim that counts: all that have gold elements; with `official_quirks` those of them that were
    predicted. Raises UserError for a claim that is not in the gold, which the organisers' scorer passes over, and where
    no claim counts, which it does not survive."""
    known = {claim.id for claim in gold}
    unknown = [key for key in told if key not in known]
    if unknown and not official_quirks:
        raise UserError(f"claim {unknown[0]!r} is not in the gold; expected ids of its claims")
    counted = [claim for claim in gold if claim.findings and (claim.id in told or not official_quirks)]
    if not counted:
        raise UserError("no claim that has gold elements was predicted; expected one at least")
    return {
        claim.id: ndcg(told.get(claim.id, ()), claim.findings, claim.figures_tables, k, official_quirks)
        for claim in counted
    }


def mean(found: Mapping[str, float]) -> float:
    """The score of claims."""
    return sum(found.values()) / len(found)


if __name__ == "__main__":
    sys.exit(main())
