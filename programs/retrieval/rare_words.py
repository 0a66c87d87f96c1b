"""How rare a claim's words are in other papers: those that most papers have ("cell", "increase") decide little, however
few paragraphs of this one have them."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from aisr.programs.retrieval.bm25 import indexed, words

Values = NDArray[np.float64]
BY_RARITY = "BM25, words that are rare in other papers counting more"
SHARE = "share of the claim's words, those that are rare in other papers counting more"

FEWEST = 2  # tenths of the papers that a word of the table stands in; below them all words are as rare
BARELY = 0.05  # the rarity of a word that all papers have


def tenths(having: Counter[str], papers: int) -> dict[str, str]:
    """The common words of papers: from in how many tenths of them, `2` to `10`, to the stems, joined by blanks.

    having: how many of the papers have a stem.
    """
    found: dict[str, list[str]] = {}
    for stem, count in sorted(having.items()):
        share = round(10 * count / papers)
        if share >= FEWEST:
            found.setdefault(str(share), []).append(stem)
    return {share: " ".join(stems) for share, stems in sorted(found.items(), key=lambda pair: int(pair[0]))}


def by_stem(table: Mapping[str, str]) -> dict[str, int]:
    """Such a table the other way round. Raises ValueError where a share is no whole number."""
    return {stem: int(share) for share, stems in table.items() for stem in stems.split()}


def rarity(stems: Iterable[str], common: Mapping[str, int]) -> Values:
    """How rare each stem is in other papers: the logarithm of one in how many of them has it, `BARELY` at least."""
    return np.array([BARELY + np.log(10 / max(common.get(stem, 0), FEWEST)) for stem in stems], dtype=np.float64)


def rare_words(claim: str, texts: tuple[str, ...], common: Mapping[str, int]) -> dict[str, Values]:
    """The two features of each text, by name: the claim's words each counting as much as they are rare."""
    index = indexed(texts)
    (stems,) = words([claim])
    known = [stem for stem in dict.fromkeys(stems) if index is not None and stem in index.vocab_dict]
    if index is None or not known:
        return {BY_RARITY: np.zeros(len(texts)), SHARE: np.zeros(len(texts))}
    told = np.column_stack([index.get_scores([stem]) for stem in known])
    weights = rarity(known, common)
    whole = float((rarity(dict.fromkeys(stems), common) ** 2).sum())
    return {BY_RARITY: told @ weights, SHARE: (told > 0) @ weights**2 / whole}


def papers_having(papers: Sequence[tuple[str, ...]]) -> Counter[str]:
    """How many of the papers, each given as its paragraphs, have a stem."""
    return Counter(stem for paper in papers for stem in {stem for own in words(paper) for stem in own})
