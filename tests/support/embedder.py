"""What a loopback server answers that embeds texts, and who asks it."""

import json

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
