"""A checked paper as its author reads it in the terminal."""

from collections import Counter
from collections.abc import Sequence

from aisr.base.text import counted
from aisr.cli.display import note, table
from aisr.paper.check.verdicts import EXACT, NOT_JUDGED, Review, Verdict
from aisr.paper.check.write import left_out, line

MOST = 10  # things of a kind that are named


def say_review(review: Review, failing: Sequence[Verdict], notes: bool = False) -> None:
    """The sentences that fault was found with, and with `notes` those that nothing in the paper states or denies, a
    line each that editors can follow, the most doubtful first; counts;
    what was not judged or left out, and why; what it all is worth; and what --fail-on found."""
    for place in review.by_doubt():
        one = review.verdicts[place]
        listed = one.doubtful or (notes and one.folded and not one.dismissed)
        if listed and (one.label or one.first):
            note(line(review, one))
    if not review.verdicts:
        note("nothing was found")
    else:
        table("verdicts", ["", "sentences"], [[label, str(count)] for label, count in review.counts().items()])
    folded = sum(one.folded and not one.dismissed for one in review.verdicts)
    if folded and not notes:
        note(f"not found in the paper's tables, figures and text: {folded}; no fault, and --notes lists them")
    failures = Counter(one.failure for one in review.verdicts if one.label is None)
    unjudged = [f"{why}: {count}" for why, count in failures.most_common()]
    wanting = [{"title": f"{NOT_JUDGED}: {review.unjudged}", "items": unjudged}] if unjudged else []
    for part in [*wanting, *left_out(review)]:
        note(part["title"])
        for item in part["items"][:MOST]:
            note(f"  {item}")
        if len(part["items"]) > MOST:
            note(f"  … and {len(part['items']) - MOST} more; the page names them all")
    if gone := review.dismissed:
        people = ", ".join(sorted({one.dismissed.who for one in gone if one.dismissed}))
        note(f"{counted(len(gone), 'flag')} dismissed by {people}; folded on the page, and not counted by --fail-on")
    for said in review.worth:
        note(said)
    if failing:
        unknown = sum(one.confidence is None and one.kind not in (*EXACT, "hidden") for one in failing)
        less = f", {unknown} of them with unknown confidence" if unknown else ""
        note(f"--fail-on: {counted(len(failing), 'sentence')}{less}")
