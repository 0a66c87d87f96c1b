"""How near a claim and a paper's paragraphs are by their embeddings."""

import logging
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BUILT_IN = "wordllama"
PAPERS = 256  # whose embeddings are kept: many claims cite the same paper

Vectors = NDArray[np.float64]
Embed = Callable[[Sequence[str]], Vectors]  # texts to rows of length 1


def dense(claim: str, texts: Sequence[str], model: str = BUILT_IN) -> Vectors:
    """The cosine of the claim and each text, shape (texts,), -1 to 1.

    model: `wordllama`, which its package carries (static word vectors, no network), or any embedding model of LiteLLM
    (`openai/text-embedding-3-small`), asked through DSPy and its cache.
    """
    return np.asarray(embedded(tuple(texts), model) @ embedder(model)([claim])[0])


@lru_cache(maxsize=4)
def embedder(model: str) -> Embed:
    """What embeds texts with a model, opened once."""
    embed = _built_in() if model == BUILT_IN else _listed(model)

    def normed(texts: Sequence[str]) -> Vectors:
        # An empty text would have no direction; a provider refuses it.
        rows = np.asarray(embed([text or " " for text in texts]), dtype=np.float64)
        return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))

    return normed


def _built_in() -> Callable[[list[str]], Any]:
    root, handlers = logging.getLogger(), list(logging.getLogger().handlers)
    level = root.level
    import wordllama

    root.handlers[:], root.level = handlers, level  # its import sets up logging for the whole process
    # It looks for its tokenizer in a folder of the wrong name, and would then fetch it from the web; this is where both
    # of its files are.
    package = Path(wordllama.__file__).parent
    model = wordllama.WordLlama.load(cache_dir=package, disable_download=True)
    return model.embed  # type: ignore[no-any-return]


def _listed(model: str) -> Callable[[list[str]], Any]:
    import dspy

    return dspy.Embedder(model)  # type: ignore[no-any-return]


@lru_cache(maxsize=PAPERS)
def embedded(texts: tuple[str, ...], model: str) -> Vectors:
    """The embeddings of texts, a row each."""
    return embedder(model)(texts)
