"""Which paragraphs of a cited paper a model gets to see for a claim."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from aisr.programs.errors import UserError
from aisr.programs.retrieval.content import bare, heading, without_content
from aisr.programs.retrieval.excerpts import within
from aisr.programs.retrieval.retrievers import Matcher, bm25, order
from aisr.programs.retrieval.summaries import summaries
from aisr.programs.text.sanitize import flat
from aisr.programs.text.units import tokens

USUAL = 3000  # tokens of a paper that are shown where nobody says
LEAST = 600  # tokens of a single paragraph that are shown at least
SUMMED_UP = 3  # a share of one in so many of the budget is what title, abstract and conclusion may take
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


def passages(
    claim: str,
    paragraphs: Mapping[str, str],
    context_tokens: int = USUAL,
    matcher: Matcher = bm25,
    sifted: bool = False,
) -> Passages:
    """The best-ranked paragraphs that fit into `context_tokens`, at least one; the whole paper where it
    fits. sifted: see `chosen`.

    Raises UserError where context_tokens is not positive.
    """
    keys, scores = list(paragraphs), matcher(claim, list(paragraphs.values()))
    best = order(scores)
    found = chosen(claim, paragraphs, [keys[place] for place in best], check_budget(context_tokens), sifted)
    return found._replace(scores=scores[best].tolist())


def chosen(
    claim: str, paragraphs: Mapping[str, str], best_first: Sequence[str], budget: int, sifted: bool = False
) -> Passages:
    """The first of ranked paragraphs that fit into a budget of tokens, each with the heading that it stands under where
    that fits too. What cannot decide a claim comes when all else is shown. Where the best one does not fit, it is shown
    alone, cut to the budget or `LEAST`, whichever is more, around what matches the claim.

    sifted: behind the best come title, abstract and conclusion, as far as a third of the budget holds them; and what is
    bare and ranked in the second half is left out, unless the whole paper is asked for or is as short as `LEAST`.
    """
    under, idle = _headings(paragraphs), without_content(paragraphs)
    sifting = sifted and budget < WHOLE
    out, always = _sifted(paragraphs, best_first) if sifting else (set(), [])
    telling = [key for key in best_first if key not in idle and key not in out]
    shown: set[str] = set()
    left = budget
    room = budget // SUMMED_UP
    in_turn = [*telling[:1], *always, *telling[1:], *(key for key in best_first if key in idle and key not in out)]
    for place, key in enumerate(in_turn):
        summing = 0 < place <= len(always)
        if key in idle and not summing and not shown.issuperset(telling):
            break
        for wanted in ({key},) if summing else ({key, under[key]}, {key}):
            cost = sum(_cost(each, paragraphs[each]) for each in wanted - shown)
            if (cost <= left and (not summing or cost <= room)) or (not shown and wanted == {key}):
                shown |= wanted
                left -= cost
                room -= cost if summing else 0
                break
    keys = [key for key in paragraphs if key in shown]
    most = max(budget, LEAST)
    text = "\n".join(f"[{key}] {_item(claim, key, paragraphs[key], most)}" for key in keys)
    return Passages(text, keys, list(best_first))


def sufficient(
    paragraphs: Mapping[str, str], best_first: Sequence[str], wanted: Sequence[str], sifted: bool = False
) -> int:
    """A budget of tokens within which one of the wanted paragraphs is sure to be shown: what it takes with all that
    come before it; `WHOLE` where they are left out. Raises ValueError where none of them is ranked."""
    under, idle = _headings(paragraphs), without_content(paragraphs)
    out, always = _sifted(paragraphs, best_first) if sifted else (set(), [])
    ranked = [key for key in best_first if key not in out]
    in_order = [*(key for key in ranked if key not in idle), *(key for key in ranked if key in idle)]
    if set(wanted).isdisjoint(best_first):
        raise ValueError("none of the wanted paragraphs is ranked")
    enough = WHOLE
    if places := [place for place, key in enumerate(in_order) if key in wanted]:
        shown = {each for key in in_order[: places[0] + 1] for each in (key, under[key])}
        enough = sum(_cost(key, paragraphs[key]) for key in shown)
        if places[0]:  # then what sums up the paper comes before it, on its share at most
            summed = sum(_cost(key, paragraphs[key]) for key in set(always) - shown)
            enough = min(enough + summed, math.ceil(enough * SUMMED_UP / (SUMMED_UP - 1)))
    for place, key in enumerate(always):
        if key in wanted:  # behind the best one and its heading, and within the share of what sums up
            before = sum(
                _cost(each, paragraphs[each]) for each in {*always[: place + 1], in_order[0], under[in_order[0]]}
            )
            return min(enough, SUMMED_UP * before)
    return enough


def _sifted(paragraphs: Mapping[str, str], best_first: Sequence[str]) -> tuple[set[str], list[str]]:
    """The paragraphs that are left out, and those that are always in."""
    always = summaries(paragraphs)
    if whole(paragraphs) <= LEAST:
        return set(), always
    last = best_first[(len(best_first) + 1) // 2 :]
    return (bare(paragraphs) & set(last)) - set(always), always


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
