"""What stands before a served program: requests to another host and bodies that are no JSON of records end here.

MLflow's server answers such a body with status 500, and any name that leads to this machine with a prediction: a page
in a browser could ask by a name of its own (DNS rebinding).
"""

import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from pydantic_core import from_json

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

HOSTS = ("127.0.0.1", "localhost", "[::1]")
MOST_BYTES = 64 * 2**20  # of a request; a record of the official data has some 0.1 MB
DEEPEST = 30  # lists and objects in each other; records need 7


class Guard:
    """An ASGI application before another."""

    def __init__(self, app: App) -> None:
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        if _host(headers.get("host", "")) not in HOSTS:
            await _refuse(send, f"this server is asked as {' or '.join(HOSTS)}, not as another host")
            return
        if scope["method"] != "POST":
            await self.app(scope, receive, send)
            return
        body = await _body(receive)
        if why := _refused(headers.get("content-type"), body):
            await _refuse(send, why)
            return
        await self.app(scope, _again(body or b""), send)


def _host(given: str) -> str:
    """A Host header without the port."""
    name, _, port = given.rpartition(":")
    return name.lower() if port.isdecimal() else given.lower()


async def _body(receive: Receive) -> bytes | None:
    """The whole body; None where it is larger than may be."""
    parts, size = [], 0
    while True:
        message = await receive()
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MOST_BYTES:
            return None
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            return b"".join(parts)


def _again(body: bytes) -> Receive:
    """What gives a body that was read already."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return left.pop() if left else {"type": "http.disconnect"}

    return receive


def _refused(form: str | None, body: bytes | None) -> str | None:
    """Why a body is not looked at; None where it is."""
    if body is None:
        return f"the body is larger than {MOST_BYTES >> 20} MiB; send fewer records at a time"
    if form is None or form.partition(";")[0].strip().lower() != "application/json":
        return 'expected the header "Content-Type: application/json" and a body of {"inputs": [record, …]}'
    try:
        given = from_json(body)  # not json.loads: half of a pair of surrogates is no character
    except ValueError as error:
        return f"the body is no JSON ({str(error)[:100]})"
    if _deep(given):
        return f"the body has more than {DEEPEST} lists and objects in each other; a record has a few"
    return None


def _deep(given: Any) -> bool:
    level = [given]
    for _ in range(DEEPEST + 1):
        level = [
            inner
            for one in level
            if isinstance(one, (dict, list))
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
        if not level:
            return False
    return True


async def _refuse(send: Send, why: str) -> None:
    body = json.dumps({"error_code": "BAD_REQUEST", "message": why}, ensure_ascii=False).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 400, "headers": headers})
    await send({"type": "http.response.body", "body": body})
