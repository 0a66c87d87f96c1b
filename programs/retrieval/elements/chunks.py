"""A paper's text cut into chunks: at sentences, paragraphs, every so many words, or where the subject changes."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from aisr.programs.retrieval.embeddings import built_in, embedded
from aisr.programs.text.sentences import sentences, words

SENTENCE, PARAGRAPH, SEMANTIC = "sentence", "paragraph", "semantic"
WINDOWS = ("100", "128", "256", "512", "1024")  # words between blanks, whatever ends where
SIZES = (SENTENCE, PARAGRAPH, *WINDOWS, SEMANTIC)
LONGEST = 1000  # characters of a semantic chunk, unless one sentence is longer
PAPERS = 64  # whose chunks are kept: a paper has several claims


@lru_cache(maxsize=len(SIZES) * PAPERS)
def chunks(paragraphs: tuple[str, ...], size: str) -> tuple[str, ...]:
    """The chunks of a paper in document order, none of them empty. size: one of `SIZES`."""
    if size == PARAGRAPH:
        return tuple(flat for text in paragraphs if (flat := " ".join(words(text))))
    if size in WINDOWS:
        said = [word for text in paragraphs for word in words(text)]
        return tuple(" ".join(said[begin : begin + int(size)]) for begin in range(0, len(said), int(size)))
    split = [sentences(" ".join(words(text))) for text in paragraphs]
    if size == SENTENCE:
        return tuple(sentence for found in split for sentence in found)
    return tuple(chunk for found in split if found for chunk in _by_subject(tuple(found)))


def _by_subject(parts: Sequence[str]) -> list[str]:
    """The sentences of a paragraph, joined up to `LONGEST` characters, and parted where two neighbours are less alike
    than the neighbours of the paragraph are on average, by more than their standard deviation."""
    vectors = embedded(tuple(parts), built_in)
    alike = np.sum(vectors[1:] * vectors[:-1], axis=1)
    least = float(alike.mean() - alike.std()) if len(alike) else 0.0
    found = [parts[0]]
    for sentence, near in zip(parts[1:], alike, strict=True):
        if near < least or len(found[-1]) + len(sentence) >= LONGEST:
            found.append(sentence)
        else:
            found[-1] += f" {sentence}"
    return found
