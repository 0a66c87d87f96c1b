"""Which paragraphs of a cited paper a model gets to see for a claim."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aisr.programs.errors import UserError
from aisr.programs.retrieval.bm25 import bm25
from aisr.programs.retrieval.content import heading, without_content
from aisr.programs.retrieval.retrievers import Matcher, order
from aisr.programs.text.table import flat
from aisr.programs.text.tokens import tokens

# The budget where none is given: two fifths of the paper, within bounds that keep a short paper whole and a long one
# affordable. On the sample's train and dev a quarter of a paper of 50 paragraphs holds 92 % of the gold evidence.
SHARE, LEAST, MOST = 0.4, 600, 3000
WHOLE = 10**9  # tokens that no paper has: it is shown whole


class Passages(NamedTuple):
    """What is shown of a paper.

    text: the chosen paragraphs in document order, each as `[P12] text`, rows of tables on lines behind it;
    shown: their ids, in document order; ranking: all ids of the paper, best first; scores: by which they are ranked, in
    that order, where that was done here.
    """

    text: str
    shown: list[str]
    ranking: list[str]
    scores: Sequence[float] = ()


def passages(claim: str, paragraphs: Mapping[str, str], context_tokens: int = 0, matcher: Matcher = bm25) -> Passages:
    """The best-ranked paragraphs that fit into `context_tokens` (0: `budget`), at least one; the whole paper where it
    fits.

    Raises UserError where context_tokens is negative.
    """
    keys, scores = list(paragraphs), matcher(claim, list(paragraphs.values()))
    best = order(scores)
    found = chosen(paragraphs, [keys[place] for place in best], check_budget(context_tokens) or budget(paragraphs))
    return found._replace(scores=scores[best].tolist())


def chosen(paragraphs: Mapping[str, str], best_first: Sequence[str], budget: int) -> Passages:
    """The first of ranked paragraphs that fit into a budget of tokens, each with the heading that it stands under where
    that fits too. What cannot decide a claim comes when all else is shown."""
    under, idle = _headings(paragraphs), without_content(paragraphs)
    telling = [key for key in best_first if key not in idle]
    shown: set[str] = set()
    left = budget
    for key in [*telling, *(key for key in best_first if key in idle)]:
        if key in idle and not shown.issuperset(telling):
            break
        for wanted in ({key, under[key]}, {key}):
            cost = sum(_cost(each, paragraphs[each]) for each in wanted - shown)
            if cost <= left or (not shown and wanted == {key}):
                shown |= wanted
                left -= cost
                break
    keys = [key for key in paragraphs if key in shown]
    text = "\n".join(f"[{key}] {flat(paragraphs[key])}" for key in keys)
    return Passages(text, keys, list(best_first))


def sufficient(paragraphs: Mapping[str, str], best_first: Sequence[str], wanted: Sequence[str]) -> int:
    """A budget of tokens within which one of the wanted paragraphs is sure to be shown: what it takes with all that
    come before it. Raises ValueError where none of them is ranked."""
    under, idle = _headings(paragraphs), without_content(paragraphs)
    in_order = [*(key for key in best_first if key not in idle), *(key for key in best_first if key in idle)]
    first = min(place for place, key in enumerate(in_order) if key in wanted)
    shown = {each for key in in_order[: first + 1] for each in (key, under[key])}
    return sum(_cost(key, paragraphs[key]) for key in shown)


def rank(claim: str, paragraphs: Mapping[str, str], matcher: Matcher = bm25) -> list[str]:
    """All paragraph ids, best first; ties in document order."""
    keys = list(paragraphs)
    return [keys[place] for place in order(matcher(claim, list(paragraphs.values())))]


def budget(paragraphs: Mapping[str, str]) -> int:
    """How many tokens of a paper to show where nobody says: two fifths, but 600 to 3,000."""
    return round(min(max(SHARE * whole(paragraphs), LEAST), MOST))


def whole(paragraphs: Mapping[str, str]) -> int:
    """About how many tokens a paper takes if all of it is shown."""
    return sum(_cost(key, text) for key, text in paragraphs.items())


def check_budget(context_tokens: int) -> int:
    """The number of tokens, if it can be one. Raises UserError otherwise."""
    if context_tokens < 0:
        raise UserError(f"context_tokens is {context_tokens}; expected 0 (two fifths of the paper) or more")
    return context_tokens


def _cost(key: str, text: str) -> int:
    return tokens(f"[{key}] {text}\n")


def _headings(paragraphs: Mapping[str, str]) -> dict[str, str]:
    """For each paragraph the heading that it stands under, itself where there is none."""
    under, last = {}, ""
    for key, text in paragraphs.items():
        last = key if heading(text) else last
        under[key] = last or key
    return under
