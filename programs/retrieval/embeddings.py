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
Embed = Callable[[Sequence[str]], Any]  # texts, none of them empty, to an array with a row for each


def dense(claim: str, texts: Sequence[str], embed: Embed) -> Vectors:
    """The cosine of the claim and each text, shape (texts,), -1 to 1. Raises what `embed` raises."""
    return np.asarray(embedded(tuple(texts), embed) @ normed(embed, [claim])[0])


def built_in(texts: Sequence[str]) -> Any:
    """Embeddings by `wordllama`, whose package carries its model: static word vectors, no network."""
    return _wordllama().embed(list(texts))


@lru_cache(maxsize=1)
def _wordllama() -> Any:
    root, handlers = logging.getLogger(), list(logging.getLogger().handlers)
    level = root.level
    import wordllama

    root.handlers[:], root.level = handlers, level  # its import sets up logging for the whole process
    # It looks for its tokenizer in a folder of the wrong name, and would then fetch it from the web; this is where both
    # of its files are.
    package = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=package, disable_download=True)


@lru_cache(maxsize=PAPERS)
def embedded(texts: tuple[str, ...], embed: Embed) -> Vectors:
    """The embeddings of texts, a row of length 1 each."""
    return normed(embed, texts)


def normed(embed: Embed, texts: Sequence[str]) -> Vectors:
    """The embeddings of texts, scaled to length 1, a row each."""
    # An empty text would have no direction; a provider refuses it.
    rows = np.asarray(embed([text or " " for text in texts]), dtype=np.float64)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))
