"""Score the organisers' own files: `python -m aisr.metrics.averitec REFERENCES PREDICTIONS`."""

import argparse
import json
import sys
from pathlib import Path

from aisr.metrics.averitec.files import Official, score_official
from aisr.programs.errors import UserError


def main() -> int:
    """0 where the files could be scored, 2 where they could not."""
    parser = argparse.ArgumentParser(
        prog="python -m aisr.metrics.averitec", description="The AVeriTeC score of a file."
    )
    parser.add_argument("references", type=Path, help="JSON list of claims with gold, such as dev.json")
    parser.add_argument(
        "predictions", type=Path, help="JSON list in the same order, in the format of 2024 or the paper's"
    )
    parser.add_argument(
        "--json", action="store_true", help="all of it as JSON, with the match of each claim's evidence"
    )
    given = parser.parse_args()
    try:
        found = score_official(given.references, given.predictions)
    except UserError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(found.as_dict(), indent=1) if given.json else as_text(found))
    return 0


def as_text(found: Official) -> str:
    """A score as a person reads it, in points of 100."""
    lines = [f"AVeriTeC score at .25   {100 * found.averitec['0.25']:.1f}  of {len(found.per_claim)} claims"]
    lines.append("at other thresholds     " + "  ".join(f"{at}: {100 * x:.1f}" for at, x in found.averitec.items()))
    lines.append(f"label accuracy          {100 * found.accuracy:.1f}   macro-F1 {100 * found.macro_f1:.1f}")
    lines += [f"  F1 of {label:36} {100 * value:5.1f}" for label, value in found.f1.items()]
    lines.append(
        f"evidence matches        {100 * found.question_answer:.1f}   questions alone {100 * found.question_only:.1f}"
    )
    lines += [f"  of {name:39} {100 * value:5.1f}  (0 up to .25)" for name, value in sorted(found.by_type.items())]
    if found.justification is not None:
        lines.append(f"justification           {100 * found.justification:.1f}")
    lines.append(
        f"words a string          {found.words:.0f}   (length alone raises this score: compare like with like)"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
