"""Which paragraphs of a cited paper a model sees for a claim."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from aisr.programs.retrieval import (
    RETRIEVERS,
    matcher,
    order,
    rank,
    select_passages,
)

PAPER = {
    "P1": "We study how pears are stored over winter.",
    "P2": "The reranker gains 4.2 points of recall on HarborQA, the largest gain of all systems.",
    "P3": "Annotators were paid by the hour.",
    "P4": "On HarborQA the reranker is slower than the baseline.",
}


def test_a_paper_that_fits_is_shown_whole_and_of_another_the_best_in_document_order() -> None:
    whole = select_passages("the reranker gains recall", PAPER, 1000)
    assert whole.text == "\n".join(f"[{key}] {text}" for key, text in PAPER.items())
    assert sorted(whole.ranking) == whole.keys == list(PAPER)
    best = select_passages("is the reranker slower than the baseline on HarborQA", PAPER, 42)
    assert best.ranking[:2] == ["P4", "P2"]
    assert best.keys == ["P2", "P4"]
    assert [line[:5] for line in best.text.splitlines()] == ["[P2] ", "[P4] "]


def test_what_cannot_decide_is_not_shown() -> None:
    kept = "Pears were washed and purified. They were stained as described, and incubated with pears by Promega."
    paper = {
        "P1": "Pears in winter",
        "P2": "We ask how long fruit keeps, and where, and what is lost of it in the months between.",
        "P3": "Pears keep",
        "P4": "Figure 3. Pears keep in sand.",
        "P5": "Where it was dry, they were as good in spring as they had been on the day of the harvest.",
        "P55": "Nothing else was seen there, " * 20 + "to say it at length.",
        "P6": "This work was supported by the society of those who keep pears.",
        "P7": "The authors declare no interest in pears.",
        "P75": kept,
        "P76": "Supported by a grant for pears.",
        "P8": "References",
        "P9": "How pears keep, in: Pears and how to keep them.",
    }
    passages = select_passages("pears keep", paper, 100)
    assert passages.ranking[0] == "P9"  # it can still be named
    assert passages.keys == ["P1", "P2", "P3", "P5"]
    assert select_passages("pears keep", paper, 1000).keys == ["P1", "P2", "P3", "P5", "P55"]
    assert select_passages("pears keep", {"P1": "Pears keep"}, 1000).keys == ["P1"]


# --- The ways to rank paragraphs: each is compared with what it should do to a ranking that is known


@pytest.mark.parametrize("spec", RETRIEVERS)
@pytest.mark.parametrize("texts", [["", ""], ["Та же самая", "模型 准确率", "نموذج"], ["the of", "and"]])
@pytest.mark.parametrize("claim", ["", "the", "quinces"])
def test_no_paper_and_no_claim_is_too_strange(spec: str, texts: list[str], claim: str) -> None:
    scores = matcher(spec)(claim, texts)
    assert spec != "bm25" or rank(claim, {text: text for text in texts}) == list(dict.fromkeys(texts))
    assert np.isfinite(scores).all()
    assert sorted(order(scores)) == list(range(len(texts)))


def test_a_model_is_asked_once_for_a_paper_and_once_for_a_claim() -> None:
    texts_embedded: list[list[str]] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float64]:
        texts_embedded.append(list(texts))
        return np.array([[len(text), 1.0] for text in texts])

    match = matcher("dense:openai/embedder-of-a-test", embed)
    paper = ["four", "", "sixsix"]
    first, again = match("sixsix", paper), match("four", paper)
    assert [order(first)[0], order(again)[0]] == [2, 0]
    assert texts_embedded == [["four", " ", "sixsix"], ["sixsix"], ["four"]]  # the paper once, each claim once
