"""What a loopback server answers that embeds texts."""

import json

from support.loopback import Asked, Loopback


def embedded(asked: Asked, width: int = 3) -> str:
    """Embeddings by the letters of each text."""
    rows = [[float(text.count(letter)) + 1.0 for letter in "aeiou"[:width]] for text in asked.body["input"]]
    data = [{"object": "embedding", "index": k, "embedding": row} for k, row in enumerate(rows)]
    usage = {"prompt_tokens": 50 * len(rows), "total_tokens": 50 * len(rows)}
    return json.dumps({"object": "list", "model": asked.body["model"], "data": data, "usage": usage})


def is_embedding(asked: Asked) -> bool:
    return asked.path.endswith("/embeddings")


def texts(server: Loopback) -> list[str]:
    """The texts that a server was asked to embed."""
    return [text for asked in server.asked if is_embedding(asked) for text in asked.body["input"]]
