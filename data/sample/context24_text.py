"""Context24's second task: papers of the invented studies as a PDF reader gives them, and the passages that ground each
claim, as somebody copied them out of the PDF."""

from __future__ import annotations

from random import Random
from typing import Any

from studies import STUDIES, Outcome, Study

SPLITS = {"train": 5, "dev": 3, "test": 4}  # papers; each has three claims
PAGED = 0.7  # share of gold passages with the page behind them
HYPHENATED = 0.25  # share of gold passages whose copy in the paper was hyphenated at the end of a line
LIGATURES = (("ffi", "ﬃ"), ("fi", "ﬁ"), ("fl", "ﬂ"))
Record = dict[str, Any]


def splits(rng: Random) -> dict[str, list[Record]]:
    """The records of each split, three a paper. No paper stands on two sides."""
    made: dict[str, list[Record]] = {}
    order = rng.sample(STUDIES, len(STUDIES))
    first = 0
    for split, count in SPLITS.items():
        made[split] = [record for study in order[first : first + count] for record in _records(rng, study)]
        first += count
    return made


def _records(rng: Random, study: Study) -> list[Record]:
    gold = {outcome: _gold(study, outcome) for outcome in study.outcomes}
    paragraphs = [_soiled(rng, text) for text in _paper(rng, study)]
    page = rng.randint(2, 5)
    return [
        {
            "claim": outcome.claim,
            "citekey": study.key,
            "dataset": study.dataset,
            "paragraphs": paragraphs,
            "context": [_copied(rng, text, page + place) for place, text in enumerate(passages)],
        }
        for outcome, passages in gold.items()
    ]


def _gold(study: Study, outcome: Outcome) -> list[str]:
    """Who was studied, how, and how this outcome was measured: the passages of one claim."""
    return [" ".join(study.who), " ".join(study.how[:2]), " ".join(outcome.measure)]


def _paper(rng: Random, study: Study) -> list[str]:
    """The paragraphs of a paper. Abstract, introduction, results and discussion speak of what was varied and of the
    outcomes by name, so that a search for a claim finds them too; what grounds it stands in between."""
    names = [outcome.name for outcome in study.outcomes]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    opinion = rng.choice(
        [
            f"There are many opinions on {study.field} and few experiments. Some authors expect much of {study.cause}, "
            "others nothing at all (Arden 2009; Moreau and Pell 2012).",
            f"That {study.cause} may matter has been suspected for long (Pell 1998). Most of what is written on "
            f"{study.field} rests on single cases.",
            f"Work on {study.field} has a long tradition. Whether {study.cause} has a part in it is disputed (Arden "
            "2009, but see Pell 1998).",
        ]
    )
    return [
        study.title,
        f"Little is known about {study.field}. We asked what {study.cause} does to {listed}. "
        + " ".join(_in_short(outcome, study) for outcome in study.outcomes)
        + " What this means for practice is discussed.",
        "1 Introduction",
        f"{opinion} Earlier work looked at {names[0]} alone and did not separate it from {names[1]}.",
        f"One may expect that {study.treated} differ from {study.control} in {names[0]} and in {names[1]}. As to "
        f"{names[2]}, theory is silent. The present study puts these expectations to a test.",
        "2 Method",
        " ".join(study.who),
        " ".join(study.how),
        *(" ".join(outcome.measure) for outcome in rng.sample(study.outcomes, len(study.outcomes))),
        " ".join(study.analysis) + " The significance level was set to .05. All tests are two-sided.",
        "3 Results",
        *(_result(rng, study, outcome) for outcome in study.outcomes),
        "4 Discussion",
        f"We found that {study.cause} makes a difference to {names[0]}. This agrees with Moreau and Pell (2012). For "
        f"{names[1]} no earlier result can be compared with ours.",
        f"What we found for {names[2]} was less expected. It may have other causes, which {study.treated} and "
        f"{study.control} have in common. Future work on {study.field} should look at longer times and at other places.",
        "References",
        "Arden, K. (2009). Notes on method. Journal of Small Studies, 4(2), 11-29. Moreau, P. and Pell, A. (2012). What "
        "matters and what does not. Annals of Trials, 17(1), 3-40. Pell, A. (1998). A suspicion. Letters, 2(3), 1-4.",
    ]


def _result(rng: Random, study: Study, outcome: Outcome) -> str:
    high, low = sorted((rng.uniform(2, 9), rng.uniform(2, 9)), reverse=True)
    a, b = (high, low) if outcome.more else (low, high)
    figure = rng.randint(1, 4)
    first = rng.choice(
        [
            f"Figure {figure} shows {outcome.name} of {study.treated} and {study.control}.",
            f"As to {outcome.name}, {study.treated} differed from {study.control} (Fig. {figure}).",
        ]
    )
    more = "higher" if outcome.more else "lower"
    return (
        f"{first} It was {more} in {study.treated} (M = {a:.2f}) than in {study.control} (M = {b:.2f}, p = "
        f".0{rng.randint(10, 49)}). The difference was of the same sign in all parts of the sample."
    )


def _in_short(outcome: Outcome, study: Study) -> str:
    return f"{outcome.name.capitalize()} was {'higher' if outcome.more else 'lower'} in {study.treated}."


def _soiled(rng: Random, text: str) -> str:
    """A paragraph as a PDF reader gives it: a hyphen and a blank inside a word here and there."""
    words = text.split(" ")
    long = [place for place, word in enumerate(words) if len(word) > 9 and word.isalpha() and word.islower()]
    if long and rng.random() < HYPHENATED:
        place = rng.choice(long)
        half = len(words[place]) // 2
        words[place] = f"{words[place][:half]}- {words[place][half:]}"
    return " ".join(words)


def _copied(rng: Random, text: str, page: int) -> str:
    """A passage as it was copied from the PDF: with ligatures, and often with its page."""
    if rng.random() < 0.5:
        for letters, sign in LIGATURES:
            text = text.replace(letters, sign)
    return f"{text} (p. {page})" if rng.random() < PAGED else text
