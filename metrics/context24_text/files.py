"""Score the organisers' own files for texts: `python -m aisr.metrics.context24_text.files GOLD PREDICTIONS`.

Both are JSON lists of `id` and `context`, matched by id. As in the organisers' scorer a claim that is not predicted, or
that has no gold snippet, counts as 0, and one that gold does not know is passed over, with a warning.

BERTScore (Zhang et al. 2020) needs a model and a package that have to be installed. `bert_score.score(lang="en")` takes
the 17th layer of roberta-large, without idf weights and without rescaling; so it is high for any two English texts
(Bölücü et al. 2024 report .77 to .87): read differences in its third digit.
"""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from aisr.metrics.context24_text.score import KINDS, matched, rouge
from aisr.programs.errors import UserError
from aisr.programs.lines import explain

MODEL = "roberta-large"  # what bert-score takes for English
GIGABYTES = 1.4


def likenesses(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """BERTScore's F1 of pairs of a predicted and a gold text. Raises UserError where bert-score is not installed."""
    try:
        import bert_score
    except ImportError as error:
        raise UserError(
            f"BERTScore is not installed: it needs the package bert-score, PyTorch and the model {MODEL} "
            f"({GIGABYTES:g} GB, which bert-score downloads at its first use); pip install 'aisr[bertscore]', or leave "
            "out --bertscore"
        ) from error
    distinct = list(dict.fromkeys(pairs))
    if not distinct:
        return {}
    predicted, gold = zip(*distinct, strict=True)
    _, _, found = bert_score.score(list(predicted), list(gold), lang="en")
    return dict(zip(distinct, map(float, found), strict=True))


Snippets = Mapping[str, Sequence[str]]


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")
    id: str
    context: list[str]


@dataclass(frozen=True)
class Official:
    """What the scorer says. bertscore: None where nobody asked for it; per_claim: ROUGE by claim, of those that were
    predicted and have gold; unknown: ids that gold does not have."""

    rouge1: float
    rouge2: float
    rougeL: float  # noqa: N815  # the scorer calls it so
    bertscore: float | None
    claims: int
    per_claim: dict[str, dict[str, float]]
    unknown: list[str]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def score_official(gold: Snippets, predicted: Snippets, bertscore: bool = False) -> Official:
    """Score predictions against gold. Raises UserError for a claim with an empty list of predictions, at which the
    organisers' scorer stops; where gold is empty; and where BERTScore is wanted and not installed."""
    if not gold:
        raise UserError("no gold claims; expected at least one")
    scored = {key: (texts, gold[key]) for key, texts in predicted.items() if gold.get(key)}
    if empty := [key for key, (texts, _) in scored.items() if not texts]:
        raise UserError(f"{empty[0]}: no snippet; the organisers' scorer stops there. Leave the claim out, or give one")
    found = {key: matched(texts, right, rouge, len(KINDS)) for key, (texts, right) in scored.items()}
    one, two, longest = (sum(float(row[k]) for row in found.values()) / len(gold) for k in range(len(KINDS)))
    return Official(
        rouge1=one,
        rouge2=two,
        rougeL=longest,
        bertscore=_bertscore(list(scored.values()), len(gold)) if bertscore else None,
        claims=len(gold),
        per_claim={key: dict(zip(KINDS, map(float, row), strict=True)) for key, row in found.items()},
        unknown=[key for key in predicted if key not in gold],
    )


def _bertscore(scored: Sequence[tuple[Sequence[str], Sequence[str]]], claims: int) -> float:
    pairs = [(one, right) for texts, gold in scored for one in texts for right in gold]
    known = likenesses(pairs)
    rows = [matched(texts, gold, lambda one, right: [known[one, right]], 1) for texts, gold in scored]
    return sum(float(row[0]) for row in rows) / claims


def snippets(file: Path) -> dict[str, list[str]]:
    """A JSON list of claims with their snippets, by id. Raises UserError for a file that is no such list, for a bad
    entry, and for an id that stands there twice (the organisers' scorer takes the last)."""
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UserError(f"{file}: {error}; expected a JSON list of id and context") from error
    if not isinstance(raw, list):
        raise UserError(f"{file}: expected a JSON list of id and context")
    found: dict[str, list[str]] = {}
    for place, entry in enumerate(raw):
        try:
            row = _Row.model_validate(entry)
        except ValidationError as error:
            raise UserError(f"{file}: entry {place}: {explain(error)}") from error
        if row.id in found:
            raise UserError(f"{file}: entry {place}: id: {row.id!r} stands there already; expected each claim once")
        found[row.id] = row.context
    return found


def main() -> int:
    """0 where the files could be scored, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.context24_text.files", description="The score of Context24's second task."
    )
    parser.add_argument("gold", type=Path, help="JSON list of claims with gold snippets, such as task2-train-dev.json")
    parser.add_argument("predictions", type=Path, help="JSON list of claims with predicted snippets")
    parser.add_argument("--bertscore", action="store_true", help="BERTScore too; needs bert-score and its model")
    parser.add_argument("--json", action="store_true", help="all of it as JSON, with the ROUGE of each claim")
    given = parser.parse_args()
    try:
        found = score_official(snippets(given.gold), snippets(given.predictions), given.bertscore)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for key in found.unknown:
        print(f"warning: {key} is no claim of {given.gold}; passed over", file=sys.stderr)
    print(json.dumps(found.as_dict(), indent=1) if given.json else as_text(found))
    return 0


def as_text(found: Official) -> str:
    """A score as a person reads it, in points of 100."""
    lines = [f"{name:10} {100 * value:5.1f}" for name, value in zip(KINDS, _means(found), strict=True)]
    if found.bertscore is not None:
        lines.append(f"BERTScore  {100 * found.bertscore:5.1f}   (unscaled: any two texts are far above 0)")
    missing = found.claims - len(found.per_claim)
    return "\n".join([*lines, f"of {found.claims} claims, {missing} of which count as 0: not predicted, or no gold"])


def _means(found: Official) -> tuple[float, float, float]:
    return found.rouge1, found.rouge2, found.rougeL


if __name__ == "__main__":
    sys.exit(main())
