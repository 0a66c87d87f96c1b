"""nDCG of rankings of figures and tables at 5 and at 10 (Järvelin & Kekäläinen 2002), as Context24 defines it.

A predicted element is worth 1 where it is a gold one, half where it is the figure that a gold panel belongs to, or a
panel of a gold figure: `gain` reads labels; `official_gain` compares them as the organisers' scorer does, letter by
letter. The ideal ranking takes all that a paper has, so that the gold elements alone do not reach 1 where there is more
to name.

`python -m aisr.metrics.context24_figures GOLD.json PREDICTIONS.csv` scores the organisers' own files. The gold is their
JSON list of claims (`id`, `findings`, `figures_tables`), predictions a CSV file with a header: an id, and labels joined
by commas, best first. Beside the clean score, in which labels are stripped, a repeated one counts once, and a claim
that is left out counts 0, stands what the organisers' scorer prints.
"""

import argparse
import csv
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from aisr.base.errors import UserError, run_command
from aisr.base.jsonl import read_list
from aisr.metrics.scores import CorpusScore, Floats, MeanScores, check_pairs

# --- Labels

ELEMENT_LABEL = re.compile(
    r"(?P<supplement>SUPP(?:LEMENTARY|LEMENTAL|LEMENT|L)?\.? ?)?(?P<kind>FIG|TAB)(?:URE|LE)?\.? ?"
    r"(?P<number>S?\d{1,6}(?:[S-]\d{1,6})?)(?:,? ?\(?(?:PANELS? )?(?P<panel>[A-Z][A-Z0-9-]{0,9})\)?)?"
)


class Figure(NamedTuple):
    """A whole figure or table."""

    kind: str  # "FIG" or "TAB"
    number: str  # "3", "S2", "1S1"
    supplement: bool  # whether it is supplementary


class Place(NamedTuple):
    """What a label names: a figure or table, and the panel of it ("" for all of it)."""

    figure: Figure
    panel: str


def tidy(label: str) -> str:
    """Return a label in one spelling: capitals, single blanks, none around it."""
    return " ".join(label.upper().split())


def place_of(label: str) -> Place | None:
    """Return what a label names; None for one that is not of the form `SUPP FIG S1A`, `TAB 2`, `Figure 1 Panel A`."""
    parts = ELEMENT_LABEL.fullmatch(tidy(label))
    if parts is None:
        return None
    return Place(Figure(parts["kind"], parts["number"], bool(parts["supplement"])), parts["panel"] or "")


def name_of(label: str) -> Place | str:
    """Return what two labels of one element have in common, however they are spelled."""
    return place_of(label) or tidy(label)


class FigureGold(NamedTuple):
    """The gold of a claim: the labels of its evidence, and those of all elements that the paper has."""

    findings: tuple[str, ...]
    candidates: tuple[str, ...]


Ranking = tuple[str, ...]  # labels of elements, best first


# --- The score

WHOLE, HALF = 1.0, 0.5


def gain(label: str, gold: Sequence[str]) -> float:
    """Return what a label is worth by what it says: half is for the same figure or table, named once with a panel and
    once without. Panel A has nothing to do with panel B; a label that cannot be read counts where it is the same."""
    own = name_of(label)
    names = [name_of(other) for other in gold]
    if own in names:
        return WHOLE
    if not isinstance(own, Place):
        return 0.0
    for other in names:
        if isinstance(other, Place) and other.figure == own.figure and "" in (own.panel, other.panel):
            return HALF
    return 0.0


def official_gain(label: str, gold: Sequence[str]) -> float:
    """Return what a label is worth by its letters: half is for one that stands in a gold one, or in which a gold one
    stands. So FIG 1 is worth half where FIG 10 or SUPP FIG 1 is gold, and an empty label wherever anything is."""
    if label in gold:
        return WHOLE
    for other in gold:
        if label in other or other in label:
            return HALF
    return 0.0


def ndcg(ranked: Sequence[str], gold: Sequence[str], candidates: Sequence[str], k: int) -> float:
    """Return nDCG of the first `k` labels, best first, in 0-1: a label that is repeated counts once, and one that is
    neither gold nor a candidate 0. candidates: all elements of the paper. Raises ValueError where nothing is gold."""
    worth = {name_of(label): gain(label, gold) for label in (*candidates, *gold)}
    best = sorted(worth.values(), reverse=True)
    labels = [label for label in ranked if label.strip()]
    gains = [worth.pop(name_of(label), 0.0) for label in labels[:k]]
    return _over_ideal(gains, best[:k], gold)


def official_ndcg(ranked: Sequence[str], gold: Sequence[str], candidates: Sequence[str], k: int) -> float:
    """Return nDCG as the organisers score it: each label counts as often as it stands there, by its letters (see
    `official_gain`); it can exceed 1, up to 2.27 in the tests' corpora. Raises ValueError where nothing is gold."""
    others = [official_gain(label, gold) for label in candidates if label not in gold]
    best = sorted([WHOLE] * len(gold) + others, reverse=True)
    return _over_ideal([official_gain(label, gold) for label in ranked[:k]], best[:k], gold)


def _over_ideal(gains: Sequence[float], best: Sequence[float], gold: Sequence[str]) -> float:
    if not gold:
        raise ValueError("no gold element: expected at least one")
    return _discounted(gains) / _discounted(best)


def _discounted(gains: Sequence[float]) -> float:
    return sum(gained / log2(place + 1) for place, gained in enumerate(gains, start=1))


DEPTHS = (5, 10)  # of the shared task of 2024
BEYOND = " (theirs has no bound of 1: repeated labels and labels of no element count)"


@dataclass(frozen=True)
class NdcgScores(MeanScores):
    """The rankings of a corpus of claims; values: the mean of nDCG at both depths. The organisers report both and
    prefer neither; together they tell apart rankings that are equal down to the fifth place, and still count the first
    five twice."""

    clean: Floats  # nDCG by what labels say, (claims, depths of `DEPTHS`)
    official: Floats  # the same as the organisers score them
    gold_first: NDArray[np.bool_]  # whether the gold elements stand before all others, (claims,)

    @classmethod
    def of(cls, gold: Sequence[FigureGold], predicted: Sequence[Ranking | None]) -> Self:
        """Return the scores of rankings; a claim that failed (None) earns 0. Raises ValueError where numbers differ or
        nothing is gold."""
        check_pairs(gold, predicted)
        clean = np.zeros((len(gold), len(DEPTHS)))
        official = np.zeros_like(clean)
        gold_first = np.zeros(len(gold), dtype=np.bool_)
        for row, (right, ranking) in enumerate(zip(gold, predicted, strict=True)):
            labels = ranking or ()
            clean[row] = [ndcg(labels, *right, k) for k in DEPTHS]
            official[row] = [official_ndcg(labels, *right, k) for k in DEPTHS]
            first = [gain(label, right.findings) for label in labels[: len(right.findings)]]
            gold_first[row] = min(first, default=0.0) == WHOLE
        return cls(clean.mean(axis=1), clean, official, gold_first)

    def right(self) -> NDArray[np.bool_]:
        """Return whether an answer may be a demo: whether it names the gold elements before all others."""
        return self.gold_first

    def corpus_score(self) -> CorpusScore:
        """Return the ranking score, and nDCG at both depths. Raises ValueError for an empty corpus."""
        score = super().corpus_score().score
        clean_5, clean_10 = self.mean(self.clean)
        at_5, at_10 = 100 * self.mean(self.official)
        remark = f"as the organisers score it, letter by letter: nDCG@5 {at_5:.1f}, @10 {at_10:.1f}"
        if self.official.max() > 1:
            remark += BEYOND
        return CorpusScore(score, {"ndcg_5": float(clean_5), "ndcg_10": float(clean_10)}, remarks=(remark,))


# --- The organisers' own files


class Claim(BaseModel, frozen=True):
    """A claim of the organisers' file."""

    id: str
    findings: list[str]
    figures_tables: list[str]


def read_predictions(file: Path) -> dict[str, list[str]]:
    """Return the labels of each claim of a CSV file by its id, best first, as they stand between the commas; of an id
    that stands there twice the last. Raises UserError for a file of another form."""
    try:
        with open(file, encoding="utf-8-sig", newline="") as opened:
            rows = list(csv.reader(opened))
        return {key: labels.split(",") for key, labels, *_ in rows[1:]}
    except (OSError, ValueError, csv.Error) as error:
        raise UserError(f"{file}: {error}; expected a CSV file with a header, an id and its labels a line") from error


def score_claims(
    gold: Sequence[Claim], rankings: Mapping[str, Sequence[str]], k: int, official: bool = False
) -> dict[str, float]:
    """Return nDCG at k of each claim that counts: all that have gold elements; as the organisers score (`official`)
    those of them that were predicted. Raises UserError where none counts: the organisers' scorer stops there."""
    score = official_ndcg if official else ndcg
    values = {}
    for claim in gold:
        if not claim.findings or (official and claim.id not in rankings):
            continue
        values[claim.id] = score(rankings.get(claim.id, ()), claim.findings, claim.figures_tables, k)
    if not values:
        raise UserError("no claim that has gold elements was predicted; expected one at least")
    return values


def main() -> None:
    """Run the command; raises UserError where the files cannot be scored."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.context24_figures", description="nDCG of predicted figures and tables."
    )
    parser.add_argument("gold", type=Path, help="JSON list of claims with findings and figures_tables")
    parser.add_argument("predictions", type=Path, help="CSV file: a header, then id and labels joined by commas")
    options = parser.parse_args()
    gold, rankings = read_list(options.gold, Claim), read_predictions(options.predictions)
    for key in sorted(rankings.keys() - {claim.id for claim in gold}):
        print(f"warning: {key} is no claim of {options.gold}; passed over", file=sys.stderr)
    for k in (3, *DEPTHS):  # of 2025 and 2024
        clean = score_claims(gold, rankings, k)
        official = score_claims(gold, rankings, k, official=True)
        beyond = BEYOND if max(official.values()) > 1 else ""
        print(f"nDCG@{k:<3} {_mean_line(clean)}; as the organisers score it: {_mean_line(official)}{beyond}")


def _mean_line(values: Mapping[str, float]) -> str:
    return f"{np.mean([*values.values()]):.4f} of {len(values)} claims"


if __name__ == "__main__":
    run_command(main)
