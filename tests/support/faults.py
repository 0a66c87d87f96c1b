"""What can go wrong between a program and its LM, as a loopback server does it, by seed."""

import json
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from support.loopback import HttpRequest, Reply, completion, judged

RELEASE_AFTER = 30.0  # seconds; no client of a test waits that long


def refused(status: int, message: str, code: str = "", **headers: str) -> Callable[[HttpRequest], Reply]:
    """An HTTP error in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code or None}})
    return lambda request: lambda handler: send(handler, status, body, headers)


def send(
    handler: BaseHTTPRequestHandler, status: int, body: str | bytes, headers: dict[str, str], missing: int = 0
) -> None:
    """An answer whose last `missing` bytes never come."""
    sent = body.encode() if isinstance(body, str) else body
    handler.send_response(status)
    for name, value in headers.items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(sent)))
    handler.end_headers()
    handler.wfile.write(sent[: len(sent) - missing])


def hang(request: HttpRequest) -> Reply:
    """Nothing, until the client has given up and gone."""

    def wait(handler: BaseHTTPRequestHandler) -> None:
        gone = select.poll()
        gone.register(handler.connection, select.POLLRDHUP)
        gone.poll(RELEASE_AFTER * 1000)

    return wait


def hang_up(request: HttpRequest) -> Reply:
    def close(handler: BaseHTTPRequestHandler) -> None:
        handler.connection.shutdown(socket.SHUT_RDWR)

    return close


def cut_short(request: HttpRequest) -> Reply:
    """An answer that ends before it is over."""
    return lambda handler: send(handler, 200, completion(request, judged(request)), {}, missing=40)


def answering(text: str) -> Callable[[HttpRequest], Reply]:
    """A completion of that text."""
    return lambda request: text


# Faults that pass: the same call may succeed the next time. They are retried until they do.
PASSING: dict[str, Callable[[HttpRequest], Reply]] = {
    "429 with Retry-After": refused(429, "slow down", Retry_After="0.01"),
    "429 without Retry-After": refused(429, "slow down"),
    "500": refused(500, "oops"),
    "502": refused(502, "bad gateway"),
    "503": refused(503, "overloaded"),
    "hang": hang,
    "closed connection": hang_up,
    "truncated body": cut_short,
}
# Answers that cannot be used, to either track. They are sent again once, with the reason.
UNUSABLE: dict[str, str] = {
    "not JSON": "The labels are as follows",
    "JSON of the wrong shape": '[{"answer": {"labels": 3}}]',
    "unknown label": '{"sentence_labels": ["Mostly Fine", "Fine"], "label": "Mostly Fine", "evidence_ids": []}',
    "wrong label count": '{"sentence_labels": ["Supported"], "label": ["Overstate", "Irrelevant"], "evidence_ids": []}',
    "empty content": "",
    "refusal": "I'm sorry, but I can't help with that.",
    "missing field, or ids not in the paper": '{"label": "Supported", "evidence_ids": ["P999"]}',
}
# Faults of the one call, for good.
FINAL: dict[str, Callable[[HttpRequest], Reply]] = {
    "context length": refused(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
    "body that is not JSON": lambda request: (200, "<html>It works!</html>"),
    "body of the wrong shape": lambda request: (200, '{"choices": {"no": "list"}}'),
}
ALL: dict[str, Callable[[HttpRequest], Reply]] = {
    **PASSING,
    **{name: answering(text) for name, text in UNUSABLE.items()},
    **FINAL,
}


@contextmanager
def small_files(most: int) -> Iterator[None]:
    """No file may grow over so many bytes: what a full disk is like."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    wrote, sys.dont_write_bytecode = sys.dont_write_bytecode, True  # of a module, a part would be kept
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        sys.dont_write_bytecode = wrote
        signal.signal(signal.SIGXFSZ, before)
