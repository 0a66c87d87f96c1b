"""An answer belongs to its call, and a call ends: servers whose HTTP is odd, and one that is slow."""

import hashlib
import http.client
import http.server
import json
import re
import signal
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, Request

from aisr.lm.client import FATAL_ERRORS
from aisr.lm.config import LMConfig, Price
from aisr.lm.open import open_config
from aisr.programs.track1 import TRACK1
from support import runs
from support.corpora import write
from support.loopback import Loopback, answer_with, hang, judged, refused
from support.scripted import claim


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def answered(question: str) -> bytes:
    message = {"role": "assistant", "content": digest(question)}
    return json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()


def whole(status: bytes, body: bytes) -> bytes:
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)


# What stands before and behind each tenth answer.
ODD = {
    "103 before": (b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n", False),
    "100 before": (b"HTTP/1.1 100 Continue\r\n\r\n", False),
    "twice": (b"", True),
}


class OddServer(socketserver.ThreadingTCPServer):
    """Answers a question by its digest, on connections that it keeps open."""

    allow_reuse_address = daemon_threads = True
    before, is_twice = b"", False
    count = 0

    def handle_error(self, *args: object) -> None:
        """A client that closes its connection, as it should."""


class OddHandler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        server: OddServer = self.server  # type: ignore[assignment]
        while self.rfile.readline().strip():
            length = int(http.client.parse_headers(self.rfile)["Content-Length"])
            question = json.loads(self.rfile.read(length))["messages"][-1]["content"]
            server.count += 1
            is_odd = server.count % 10 == 0
            answer = whole(b"200 OK", answered(question))
            parts = [server.before, answer, answer if server.is_twice else b""] if is_odd else [answer]
            self.wfile.write(b"".join(parts))


@pytest.fixture
def odd() -> Iterator[OddServer]:
    with OddServer(("127.0.0.1", 0), OddHandler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("before", "is_twice"), ODD.values(), ids=ODD)
def test_no_answer_reaches_another_call(before: bytes, is_twice: bool, odd: OddServer) -> None:
    odd.before, odd.is_twice = before, is_twice
    url = f"http://127.0.0.1:{odd.server_address[1]}/{digest(repr((before, is_twice)))[:8]}/v1"
    lm = open_config(LMConfig("openai/local", api_base=url, threads=4))
    questions = [f"question {number}" for number in range(60)]
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda question: lm(question)[0], questions))
    assert answers == [digest(question) for question in questions]


def test_a_call_ends_after_its_seconds_in_all(loopback: Loopback) -> None:
    """However the server sends: here a byte a tenth of a second, for minutes."""

    def drip(handler: http.server.BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "10000")
        handler.end_headers()
        gone = threading.Event()
        for _ in range(10_000):
            handler.wfile.write(b" ")
            gone.wait(0.1)

    loopback.reply = lambda request: drip
    lm = runs.opened(loopback.url, timeout=0.4)
    with pytest.raises(dspy.LMError, match=r"no whole answer within 0\.4 s"):
        lm("Is it so?")
    assert len(loopback.requests) == 4


def test_an_answer_that_never_ends_is_an_error_and_not_a_full_memory(loopback: Loopback) -> None:
    loopback.reply = lambda request: "x" * (17 << 20)
    with pytest.raises(dspy.LMError, match="longer than 16 MiB"):
        runs.opened(loopback.url, timeout=30)("Is it so?")
    assert len(loopback.requests) == 1


def test_an_identical_call_under_way_is_waited_for(loopback: Loopback) -> None:
    both = threading.Barrier(2, timeout=10)
    release = threading.Event()

    def reply(request: object) -> str:
        release.wait(10)
        return "yes"

    loopback.reply = reply
    lm = runs.opened(loopback.url, threads=2, timeout=20)

    def ask(number: int) -> object:
        both.wait()
        if number:  # once the first one is sent
            while not loopback.requests:
                threading.Event().wait(0.01)
            threading.Timer(0.2, release.set).start()
        return lm("Is it so?")

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, range(2))) == [["yes"], ["yes"]]
    assert (len(loopback.requests), lm.ledger.spend.calls) == (1, 1)


@pytest.mark.parametrize("reply", [hang, refused(429, "later", Retry_After="100")], ids=["hangs", "later"])
def test_ctrl_c_ends_a_command_whose_calls_get_no_answer(reply: Any, loopback: Loopback, tmp_path: Path) -> None:
    loopback.reply = reply
    data = write(tmp_path / "in.jsonl", [claim("Supported", number=k).model_dump(mode="json") for k in range(20)])
    program = runs.save_program(tmp_path / "mine", TRACK1)
    words = runs.predict_words(TRACK1, program, data, tmp_path / "out.jsonl", loopback.url)
    command = [sys.executable, "-m", "aisr.cli", *map(str, words)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        while len(loopback.requests) < 8 and process.poll() is None:
            threading.Event().wait(0.05)
        sent = len(loopback.requests)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        _, errors = process.communicate(timeout=60)
    assert time.monotonic() - began < 5  # the server would hang for minutes
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "stopped; the same command goes on where it can"
    assert len(loopback.requests) == sent


# --- Forms of replies


def test_an_odd_report_of_tokens_loses_no_answer_and_a_refused_reply_is_charged(loopback: Loopback) -> None:
    lm = runs.opened(loopback.url, timeout=5, price=Price(1.0, 1.0))
    odd: list[object] = [{"prompt_tokens": "900", "completion_tokens": -1}, {"prompt_tokens": 10**400}, [], "many"]
    for usage in odd:
        loopback.reply = answer_with(partial(dict.update, usage=usage), "yes")
        assert lm(f"Is it {str(usage)[:40]}?") == ["yes"]
    assert lm.ledger.spend.prompt_tokens == 900
    loopback.reply = answer_with(lambda body: body.update(choices=[], usage={"prompt_tokens": 50}), "")
    with pytest.raises(dspy.LMError, match="no choice"):
        lm("And now?")
    assert lm.ledger.spend.prompt_tokens == 900 + 4 * 50


ENDS_THE_RUN = {
    "within status 200": (200, {"error": {"code": 401, "message": "No auth credentials found"}}),
    "a budget": (400, {"error": {"message": "Budget has been exceeded! Max budget: 5.0", "type": "budget_exceeded"}}),
    "a quota of a day": (429, {"error": {"message": "Quota exceeded for requests per day, limit: 0"}}),
    "a model": (400, {"error": {"message": "Invalid model name passed in model=x", "code": "400"}}),
    "a key": (400, {"error": {"message": "No connected db.", "type": "no_db_connection"}}),
    "a path": (404, {"detail": "Not Found"}),
}


@pytest.mark.parametrize(("status", "body"), ENDS_THE_RUN.values(), ids=ENDS_THE_RUN)
def test_what_every_record_would_meet_ends_the_run_at_its_first_call(
    status: int, body: object, loopback: Loopback, tmp_path: Path
) -> None:
    loopback.reply = lambda request: (status, json.dumps(body))
    data = write(tmp_path / "in.jsonl", [claim("Supported", number=k).model_dump(mode="json") for k in range(5)])
    with pytest.raises(FATAL_ERRORS):
        runs.run(TRACK1, data, tmp_path / "out.jsonl", runs.opened(loopback.url, timeout=5))
    assert len(loopback.requests) == 1


@pytest.mark.parametrize("message", [{"detail": [{"loc": ["body"]}]}, [{"msg": "too long"}], 7, None])
def test_the_message_of_an_error_may_be_anything(message: object, loopback: Loopback, tmp_path: Path) -> None:
    """A record fails with it, and the others are judged."""
    wrong = (422, json.dumps({"object": "error", "message": message}))
    loopback.reply = lambda request: wrong if len(loopback.requests) == 1 else judged(request)
    data = write(tmp_path / "in.jsonl", [claim("Supported", number=k + 1).model_dump(mode="json") for k in range(4)])
    summary = runs.run(TRACK1, data, tmp_path / "out.jsonl", runs.opened(loopback.url, timeout=5))
    assert (summary.judged, len(summary.failures)) == (4, 1)
    assert re.match("LMInvalidRequestError: .*HTTP 422", next(iter(summary.failures.values())))


def test_numbers_of_items_go_into_the_schema_until_a_server_refuses_them(loopback: Loopback) -> None:
    def labels(request: object) -> dict[str, object]:
        form = request.body["response_format"]  # type: ignore[attr-defined]
        found: dict[str, object] = form["json_schema"]["schema"]["properties"]["sentence_labels"]
        return found

    program = TRACK1.build({})

    def judge_one(number: int) -> None:
        program(**program.prepare(claim("Supported", "Contradiction", number=number)).example.inputs())

    lm = runs.opened(loopback.url, timeout=5, logprobs=False)
    refusal = (400, json.dumps({"error": {"message": "minItems is not supported in a schema"}}))
    with lm.context():
        judge_one(1)
        loopback.reply = lambda request: refusal if "minItems" in labels(request) else judged(request)
        judge_one(2)
        judge_one(3)
    numbers = [(found.get("minItems"), found.get("maxItems")) for found in map(labels, loopback.requests)]
    assert numbers == [(2, 2), (2, 2), (None, None), (None, None)]
    assert labels(loopback.requests[0])["items"]["enum"] == list(TRACK1.labels)  # type: ignore[index]


def test_a_request_of_dspy_gets_a_response_and_is_sent_once(loopback: Loopback) -> None:
    """As adapters of DSPy will call an LM from 3.5 on."""
    loopback.reply = lambda request: "yes"
    lm = runs.opened(loopback.url, timeout=5)
    request = Request(model=lm.model, messages=(Message.user("Is it so?"),))
    assert [lm(request).message.text for _ in range(2)] == ["yes", "yes"]
    assert (len(loopback.requests), lm.ledger.spend.cached_calls) == (1, 1)
