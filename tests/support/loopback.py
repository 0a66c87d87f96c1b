"""An OpenAI-compatible server on the loopback address: real HTTP, answers by rule, faults on demand."""

import itertools
import json
import select
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from support import scripted

RELEASE_AFTER = 30.0  # seconds; no client of a test waits that long
_numbers = itertools.count()
# The text of an answer; or a status and a body, sent as they stand; or what is done with the connection instead.
Reply = str | tuple[int, str] | Callable[[BaseHTTPRequestHandler], None]


@dataclass
class HttpRequest:
    """One request as it came in."""

    path: str
    authorization: str | None
    body: dict[str, Any]

    @property
    def question(self) -> str:
        """The last message, as text."""
        content = self.body["messages"][-1]["content"]
        return content if isinstance(content, str) else "".join(part["text"] for part in content)

    @property
    def has_demos(self) -> bool:
        return any(message["role"] == "assistant" for message in self.body["messages"])


@dataclass
class Loopback:
    """A running server. `reply` may be replaced at any time; `requests` has all so far."""

    url: str = ""
    requests: list[HttpRequest] = field(default_factory=list)
    reply: Callable[[HttpRequest], Reply] = lambda request: judged(request)
    lock: threading.Lock = field(default_factory=threading.Lock)


@contextmanager
def serve() -> Iterator[Loopback]:
    """A server on a free port of 127.0.0.1 for as long as the block lasts."""
    loopback = Loopback()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"] or 0)) or "{}")
            request = HttpRequest(self.path, self.headers["Authorization"], body)
            with loopback.lock:
                loopback.requests.append(request)
            reply = loopback.reply(request)
            if callable(reply):
                reply(self)
            elif isinstance(reply, str):
                send(self, 200, completion(request, reply))
            else:
                send(self, *reply)

        do_GET = do_POST  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, *args: object) -> None:
            """A client that was killed leaves a broken pipe; that is no fault of the server."""

    server = Server(("127.0.0.1", 0), Handler)
    # A path of its own: ports are given out again, and the response cache knows a server by its address.
    loopback.url = f"http://127.0.0.1:{server.server_port}/{next(_numbers)}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield loopback
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def completion(request: HttpRequest, text: str) -> str:
    """A chat completion as OpenAI's API sends it."""
    message = {"role": "assistant", "content": text}
    return json.dumps(
        {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": request.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220},
        }
    )


def answer_with(change: Callable[[Any], object], text: str | None = None) -> Callable[[HttpRequest], Reply]:
    """Replies with the right answer, or with a text, in a completion whose body is changed."""

    def reply(request: HttpRequest) -> Reply:
        body = json.loads(completion(request, judged(request) if text is None else text))
        change(body)
        return 200, json.dumps(body)

    return reply


def refused(status: int, message: str, code: str = "", **headers: str) -> Callable[[HttpRequest], Reply]:
    """Replies with an HTTP error in OpenAI's form."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code or None}})
    return lambda request: lambda handler: send(handler, status, body, headers)


def hang(request: HttpRequest) -> Reply:
    """Nothing, until the client has given up and gone."""

    def wait(handler: BaseHTTPRequestHandler) -> None:
        gone = select.poll()
        gone.register(handler.connection, select.POLLRDHUP)
        gone.poll(RELEASE_AFTER * 1000)

    return wait


def send(
    handler: BaseHTTPRequestHandler, status: int, body: str, headers: Mapping[str, str] | None = None, missing: int = 0
) -> None:
    """Send an answer whose last `missing` bytes never come."""
    sent = body.encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    for name, value in (headers or {}).items():
        handler.send_header(name.replace("_", "-"), value)
    handler.send_header("Content-Length", str(len(sent)))
    handler.end_headers()
    handler.wfile.write(sent[: len(sent) - missing])


def add_logprobs(body: Any, top: Mapping[str, Any], chosen: Any = -0.1) -> None:
    """Give the answer of a completion log-probabilities: 0 to the text before and behind its first label, `chosen` to
    that, and to the alternatives in its place those of `top`, of which the label is the first."""
    choice = body["choices"][0]
    label = next(iter(top))
    before, behind = choice["message"]["content"].split(label, 1)
    content: list[dict[str, Any]] = [
        {"token": one, "logprob": 0.0, "bytes": None, "top_logprobs": []} for one in (before, label, behind)
    ]
    alternatives = [{"token": token, "logprob": logprob, "bytes": None} for token, logprob in top.items()]
    content[1] |= {"logprob": chosen, "top_logprobs": alternatives}
    choice["logprobs"] = {"content": content, "refusal": None}


def judged(request: HttpRequest) -> str:
    """Supported, as an answer to either track in the requested form."""
    return scripted.flat_answer(request.question)
