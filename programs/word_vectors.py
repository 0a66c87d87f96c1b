"""Vectors of texts: the mean of static word vectors, which `wordllama` ships in its wheel.

Its two files are read here, and the package is not imported: its import sets up logging for the whole process, and its
`load` would fetch from the web a file that it has.
"""

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file
from scipy.sparse import csr_array
from tokenizers import Tokenizer

Vectors = NDArray[np.float64]
WEIGHTS = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"


class WordVectors(NamedTuple):
    """What splits a text into tokens, and the vector of each, shape (tokens, 256)."""

    tokenizer: Tokenizer
    matrix: NDArray[np.float32]


@lru_cache(maxsize=1)
def load_word_vectors() -> WordVectors:
    """Return the word vectors, read once."""
    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError("wordllama is not installed: it holds the word vectors")
    package = Path(spec.origin).parent
    tokenizer = Tokenizer.from_file(str(package / TOKENIZER))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    matrix = load_file(package / WEIGHTS)["embedding.weight"]
    return WordVectors(tokenizer, matrix.astype(np.float32))


def embed(texts: Sequence[str]) -> Vectors:
    """Return the vectors of texts, scaled to length 1, a row each."""
    matrix = load_word_vectors().matrix
    ids = [token_ids(text or " ") for text in texts]  # an empty text would have no direction
    ends = np.cumsum([0, *map(len, ids)])
    columns = np.fromiter(chain.from_iterable(ids), dtype=np.int64, count=ends[-1])
    # The tokens of each text; one text after the other would take twice as long.
    table = csr_array((np.ones(len(columns), np.float32), columns, ends), shape=(len(texts), len(matrix)))
    rows = np.asarray(table @ matrix, dtype=np.float64)
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12))


LONGEST_KEPT_WORD = 100  # characters of a word whose tokens are kept


def token_ids(text: str) -> list[int]:
    """Return the tokens of a text. No token holds the end of one word and the beginning of the next, so those of each
    word are found once; only more than one blank between two words is a token of its own."""
    words = text.split(" ")
    lengths = list(map(len, words))
    if min(lengths) > 0 and max(lengths) <= LONGEST_KEPT_WORD:
        return list(chain.from_iterable(map(_word_ids, words)))
    ids: list[int] = load_word_vectors().tokenizer.encode(text, add_special_tokens=False).ids
    return ids


@lru_cache(maxsize=2**16)
def _word_ids(word: str) -> tuple[int, ...]:
    return tuple(load_word_vectors().tokenizer.encode(word, add_special_tokens=False).ids)
