"""Which paragraphs of a cited paper a model gets to see for a claim."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aisr.programs.errors import UserError
from aisr.programs.retrieval.content import heading, without_content
from aisr.programs.retrieval.excerpts import within
from aisr.programs.retrieval.retrievers import Matcher, bm25, order
from aisr.programs.text.sanitize import flat
from aisr.programs.text.units import tokens

USUAL = 3000  # tokens of a paper that are shown where nobody says
LEAST = 600  # tokens of a single paragraph that are shown at least


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


def passages(
    claim: str, paragraphs: Mapping[str, str], context_tokens: int = USUAL, matcher: Matcher = bm25
) -> Passages:
    """The best-ranked paragraphs that fit into `context_tokens`, at least one; the whole paper where it fits. Raises
    UserError where context_tokens is not positive.
    """
    keys, scores = list(paragraphs), matcher(claim, list(paragraphs.values()))
    best = order(scores)
    found = chosen(claim, paragraphs, [keys[place] for place in best], check_budget(context_tokens))
    return found._replace(scores=scores[best].tolist())


def chosen(claim: str, paragraphs: Mapping[str, str], best_first: Sequence[str], budget: int) -> Passages:
    """The first of ranked paragraphs that fit into a budget of tokens, each with the heading that it stands under where
    that fits too. What cannot decide a claim comes when all else is shown. Where the best one does not fit, it is shown
    alone, cut to the budget or `LEAST`, whichever is more, around what matches the claim."""
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
    most = max(budget, LEAST)
    text = "\n".join(f"[{key}] {_item(claim, key, paragraphs[key], most)}" for key in keys)
    return Passages(text, keys, list(best_first))


def rank(claim: str, paragraphs: Mapping[str, str], matcher: Matcher = bm25) -> list[str]:
    """All paragraph ids, best first; ties in document order."""
    keys = list(paragraphs)
    return [keys[place] for place in order(matcher(claim, list(paragraphs.values())))]


def whole(paragraphs: Mapping[str, str]) -> int:
    """About how many tokens a paper takes if all of it is shown."""
    return sum(_cost(key, text) for key, text in paragraphs.items())


def check_budget(context_tokens: int) -> int:
    """The number of tokens, if it can be one. Raises UserError otherwise."""
    if context_tokens < 1:
        raise UserError(f"context_tokens is {context_tokens}; expected 1 or more")
    return context_tokens


def _cost(key: str, text: str) -> int:
    return tokens(f"[{key}] {text}\n")


def _item(claim: str, key: str, text: str, most: int) -> str:
    return flat(text) if _cost(key, text) <= most else within(claim, text, most - _cost(key, ""))


def _headings(paragraphs: Mapping[str, str]) -> dict[str, str]:
    """For each paragraph the heading that it stands under, itself where there is none."""
    under, last = {}, ""
    for key, text in paragraphs.items():
        last = key if heading(text) else last
        under[key] = last or key
    return under
