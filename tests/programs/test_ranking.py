"""The ways to rank paragraphs: each is compared with what it should do to a ranking that is known."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from aisr.base.errors import UserError
from aisr.programs.retrieval import (
    RETRIEVERS,
    Matcher,
    built_in,
    dense,
    fused,
    matcher,
    order,
    rank,
)
from aisr.programs.track2.judge import Track2Judge
from support.plugins import install


def fixed(*scores: float) -> Matcher:
    return lambda claim, texts: np.array(scores)


@pytest.mark.parametrize("spec", RETRIEVERS)
@pytest.mark.parametrize("texts", [["One."], ["", ""], ["Та же самая", "模型 准确率", "نموذج"], ["the of", "and"]])
@pytest.mark.parametrize("claim", ["", "pears", "the", "模型"])
def test_no_paper_and_no_claim_is_too_strange(spec: str, texts: list[str], claim: str) -> None:
    scores = matcher(spec)(claim, texts)
    assert np.isfinite(scores).all()
    assert sorted(order(scores)) == list(range(len(texts)))


def test_fusion_adds_reciprocal_ranks() -> None:
    both = fused(fixed(3, 2, 1), fixed(1, 3, 2))("", ["", "", ""])
    assert both == pytest.approx([1 / 61 + 1 / 63, 1 / 62 + 1 / 61, 1 / 63 + 1 / 62])
    assert list(order(both)) == [1, 0, 2]


def test_the_built_in_vectors_know_words_that_differ() -> None:
    texts = ["A doctor looked at the kid.", "Rates of exchange fell."]
    scores = dense("the physician examined the child", texts, built_in)
    assert scores[0] > scores[1]
    assert (np.abs(scores) <= 1 + 1e-9).all()


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


def test_a_model_that_nothing_embeds_with_is_refused() -> None:
    with pytest.raises(ValueError, match="nothing embeds with openai/embedder"):
        matcher("hybrid:openai/embedder")


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("bm26", "one of: bm25, dense, hybrid"),
        ("dense:../../etc/passwd", "one of"),
        ("dense:http://127.0.0.1/x", "one of"),
    ],
)
def test_another_spec_is_refused(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matcher(spec)


def test_another_package_adds_a_retriever(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = (
        "def by_length(claim, texts):\n    return [len(text) for text in texts]\n\n\nodd = lambda claim, texts: [1]\n"
    )
    (tmp_path / "lengths_of_a_test.py").write_text(source)
    points = "length = lengths_of_a_test:by_length\nodd = lengths_of_a_test:odd\nlost = lengths_of_a_test:none"
    install(monkeypatch, tmp_path, "lengths", points, RETRIEVERS)
    assert rank("pears", {"P1": "a", "P2": "a b"}, matcher("length")) == ["P2", "P1"]
    assert Track2Judge(retriever="length").retriever == "length"
    with pytest.raises(UserError, match=r"retriever 'odd': scores .*; expected one finite number a text"):
        matcher("odd")("pears", ["a", "b"])
    with pytest.raises(UserError, match=r"retriever 'lost' of package lengths 1.0 cannot be used"):
        matcher("lost")
    with pytest.raises(UserError, match="one of: bm25, dense, hybrid, length, lost, odd"):
        matcher("lengths")
