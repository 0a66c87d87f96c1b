"""What a loopback server answers that embeds texts, and who asks it."""

import json
from typing import Any

from aisr.lm.budget import Ledger
from aisr.lm.config import LMConfig
from aisr.lm.embeddings import Embeddings
from support.loopback import HttpRequest, Loopback


def embed_letters(request: HttpRequest, width: int = 3) -> str:
    """Embeddings by the letters of each text."""
    rows = [[float(text.count(letter)) + 1.0 for letter in "aeiou"[:width]] for text in request.body["input"]]
    data = [{"object": "embedding", "index": k, "embedding": row} for k, row in enumerate(rows)]
    usage = {"prompt_tokens": 50 * len(rows), "total_tokens": 50 * len(rows)}
    return json.dumps({"object": "list", "model": request.body["model"], "data": data, "usage": usage})


def is_embedding(request: HttpRequest) -> bool:
    return request.path.endswith("/embeddings")


def texts(server: Loopback) -> list[str]:
    """The texts that a server embedded."""
    return [text for request in server.requests if is_embedding(request) for text in request.body["input"]]


def opened(url: str | None, ledger: Ledger | None = None, **config: Any) -> Any:
    """What embeds at a server, and does not wait long; default: at that of the environment."""
    embed: Any = Embeddings(LMConfig("openai/lm", embedding_api_base=url, **config), ledger).of("openai/embedder")
    embed.contact.first_wait = 0.001
    return embed
