"""An OpenAI-compatible server that answers after a fixed time: `python -m benchmarks.loopback_server SECONDS`.

It prints its address and serves until its standard input is closed. One event loop and no framework, about 0.1 ms a
request, so that what is measured is the client. Every Track 1 question is answered "Supported".
"""

import asyncio
import json
import re
import sys

SENTENCES = re.compile(r"\[\[ ## sentences ## \]\]\n(\[.*?\])\n\n")


def completion(body: bytes) -> bytes:
    """The answer to a request, as OpenAI's API sends it."""
    request = json.loads(body)
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
