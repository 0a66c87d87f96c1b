"""What the embeddings of a retriever come to, told from the texts that it would ask for."""

from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import dspy

from aisr.lm.embeddings import Embeddings, Unsent, UnsentEmbeddings, requests
from aisr.programs.judges.contract import Program
from aisr.programs.text.tokens import BYTES_PER_TOKEN, tokens

TWICE = 2  # at most each text is asked for again: by a ranker that was fitted, and where an answer was lost


class Embedded(NamedTuple):
    """Requests, the tokens in them, and US dollars (None where a price is unknown)."""

    requests: int = 0
    tokens: int = 0
    usd: float | None = 0.0


def prepared(unsent: UnsentEmbeddings, embeddings: Embeddings, most: bool) -> Embedded:
    """What programs asked for as they prepared records. most: where the response cache keeps nothing."""
    return together([_of(asked, embeddings, model, most) for model, asked in unsent.models.items()])


def together(parts: Sequence[Embedded]) -> Embedded:
    """Several; the price is unknown where one is."""
    prices = [part.usd for part in parts]
    usd = None if None in prices else sum(price for price in prices if price is not None)
    return Embedded(sum(part.requests for part in parts), sum(part.tokens for part in parts), usd)


def priced(program: Program, example: dspy.Example, embeddings: Embeddings) -> Embedded:
    """What a program embeds as it judges an example once."""
    sent, count = as_judged(program, example)
    model = getattr(program, "embedding_model", None)
    return Embedded() if not sent or model is None else Embedded(sent, count, _usd(count, embeddings, model))


def _of(asked: Unsent, embeddings: Embeddings, model: str, most: bool) -> Embedded:
    sizes = asked.all_sizes if most else asked.sizes
    count = sum(ceil(size / BYTES_PER_TOKEN) for size in sizes) * (TWICE if most else 1)
    sent = TWICE * asked.all_requests if most else asked.requests
    return Embedded(sent, count, _usd(count, embeddings, model) if sent else 0.0)


def _usd(count: int, embeddings: Embeddings, model: str) -> float | None:
    price = embeddings.price_of(model)
    return None if price is None else count * price.prompt / 1e6


def as_judged(program: Program, example: dspy.Example) -> tuple[int, int]:
    """Requests, and tokens in them, that a program makes as it judges an example: for what an LM wrote on the way."""
    written = getattr(program, "embeds", None)  # most programs embed nothing then
    if written is None or not getattr(program, "embedding_model", None):
        return 0, 0
    batches = written(example)
    return sum(requests(len(texts)) for texts in batches), sum(tokens(text) for texts in batches for text in texts)
