"""The process that llama.cpp runs in: a line of JSON asks, a line of JSON answers.

Started by `aisr/lm/llama_process.py`, with what to load as JSON in its one argument. A model file is a program of
strangers: its chat template is run, and what does not fit together in it ends the process by an assertion.
"""

import json
import os
import signal
import sys
import threading
import urllib.error
import urllib.request
from queue import SimpleQueue
from typing import Any

from aisr.base import sandbox


def main() -> None:
    given = json.loads(sys.argv[1])
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what llama.cpp prints is no answer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command; this process ends with it
    sandbox.bound("RLIMIT_DATA", given["memory"])  # mapped files do not count
    sandbox.bound("RLIMIT_CORE", 0)
    questions: SimpleQueue[str] = SimpleQueue()
    threading.Thread(target=_listen, args=[questions], daemon=True).start()
    with sandbox.held_to(given["load_seconds"]):
        server = _server(given)
    print("{}", file=answers, flush=True)  # it is loaded
    while True:
        asked = json.loads(questions.get())
        print(json.dumps(_answer(server, asked["path"], asked["body"])), file=answers, flush=True)


def _listen(questions: "SimpleQueue[str]") -> None:
    """Nobody is left to ask once standard input ends, however busy this process is."""
    for line in sys.stdin:
        questions.put(line)
    os._exit(0)


def _server(given: dict[str, Any]) -> Any:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = given["model"]
    params.n_ctx = given["context"]
    params.n_parallel = 1
    params.cpuparams.n_threads = given["threads"]
    params.cpuparams_batch.n_threads = given["threads"]
    params.cache_ram_mib = given["prefix_memory_mib"]
    params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
    params.verbosity = -1
    if given["eyes"]:
        params.mmproj.path = given["eyes"]
    return xllamacpp.Server(params)


def _answer(server: Any, path: str, body: dict[str, Any] | None) -> dict[str, Any]:
    """What llama.cpp says; {"error": why} where it refuses."""
    if path == "completions":
        said = server.handle_completions(body)
        return {"said": said} if isinstance(said, dict) and "error" not in said else {"error": _reason(said)}
    # xllamacpp offers the other questions nowhere but on the loopback port that it opens.
    request = urllib.request.Request(
        f"{server.listening_address}/{path}",
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json"},
    )
    try:
        with urllib.request.urlopen(request) as answer:
            return {"said": json.load(answer)}
    except urllib.error.HTTPError as error:
        return {"error": f"{path}: {error.read().decode(errors='replace')[:300]}"}
    except (OSError, ValueError) as error:
        return {"error": f"{path}: {error}"}


def _reason(said: Any) -> str:
    error = said.get("error", said) if isinstance(said, dict) else said
    return str(error.get("message", error) if isinstance(error, dict) else error)


if __name__ == "__main__":
    main()
