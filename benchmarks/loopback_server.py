"""An OpenAI-compatible server that answers after a fixed time: `python -m benchmarks.loopback_server SECONDS`.

It prints its address and serves until its standard input is closed. One event loop and no framework, about 0.1 ms a
request, so that what is measured is the client. Every Track 1 question is answered "Supported", and every question to a
decision model, in either wire form, with its first option or with yes.
"""

import asyncio
import json
import re
import sys
from typing import Any

SURE = 0.9
SENTENCES = re.compile(r"\[\[ ## sentences ## \]\]\n(\[.*?\])\n\n")


def completion(body: bytes) -> bytes:
    """The answer to a request, as OpenAI's API sends it."""
    request = json.loads(body)
    if "questions" in request:
        return decisions(request)
    sentences = SENTENCES.findall(request["messages"][-1]["content"])
    text = json.dumps({"sentence_labels": ["Supported"] * len(json.loads(sentences[-1])) if sentences else []})
    message = {"role": "assistant", "content": text}
    answer = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 700, "completion_tokens": 20, "total_tokens": 720},
    }
    return json.dumps(answer).encode()


def decisions(request: dict[str, Any]) -> bytes:
    """The answer of a decision model: OpenAI's list of answers, or System One's map."""
    questions = request["questions"]
    if isinstance(questions, list):
        answers: Any = [_listed(question) for question in questions]
    else:
        answers = {name: _mapped(question) for name, question in questions.items()}
    usage = {"input_tokens": 700, "output_tokens": 0, "total_tokens": 700}
    return json.dumps({"model": request["model"], "answers": answers, "usage": usage}).encode()


def _listed(question: dict[str, Any]) -> dict[str, Any]:
    if question["type"] == "predicate":
        return {"type": "predicate", "name": question["name"], "probability": 0.9}
    row = _shares([choice["value"] for choice in question["choices"]])
    listed = [{"value": value, "probability": share} for value, share in row.items()]
    about = {"type": "choice", "name": question["name"], "choice": next(iter(row)), "confidence": SURE}
    return {**about, "probabilities": listed}


def _mapped(question: dict[str, Any]) -> dict[str, Any]:
    if question["type"] == "noul":
        return {"type": "noul", "noul": 0.9}
    row = _shares(list(question["criteria"]))
    return {"type": "choice", "choice": next(iter(row)), "confidence": SURE, "probabilities": row}


def _shares(options: list[str]) -> dict[str, float]:
    rest = (1 - SURE) / max(len(options) - 1, 1)
    return {option: rest if k else SURE for k, option in enumerate(options)}


async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, latency: float) -> None:
    """Answer requests on one kept-alive connection until the client closes it."""
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)[1])  # type: ignore[index]
            body = await reader.readexactly(length)
            await asyncio.sleep(latency)
            sent = completion(body)
            writer.write(
                b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(sent) + sent
            )
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main(latency: float) -> None:
    """Serve with `latency` seconds before each answer."""
    server = await asyncio.start_server(
        lambda reader, writer: serve_connection(reader, writer, latency), "127.0.0.1", 0, limit=2**24, backlog=1024
    )
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    async with server:
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1]) if len(sys.argv) > 1 else 0.2))
