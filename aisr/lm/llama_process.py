"""llama.cpp in a process of its own: where it breaks off, a request fails with a reason, and the command goes on."""

import json
import os
import signal
import subprocess
import threading
import weakref
from contextlib import suppress
from pathlib import Path
from typing import Any

from aisr.base import sandbox

CHILD = "aisr.lm.llama_child"
LOAD_SECONDS = 60  # of all cores together, and one more for each
LOAD_BYTES = 1 << 28  # of the file; what is not mapped as it is, is copied at ten times this speed
PREFIX_MEMORY_MIB = 512  # prompt prefixes that are kept beside the active one
MOST_DEATHS = 3  # in a row; each costs another loading
MOST_ANSWER = 1 << 26  # signs
LAST_WORDS = 4096  # bytes of its error output that are kept
# Of the environment: how threads wait, and which graphics cards are to be used.
PASSED = ("OMP_", "GOMP_", "GGML_", "CUDA_", "HIP_")


class LlamaProcess:
    """The process of one model file. It is started by the first question, and ends with this object or its process."""

    def __init__(self, model: Path, threads: int, context: int, memory: int, eyes: Path | None) -> None:
        """memory: bytes that it may take beside the mapped file."""
        self._given = {
            "model": str(model), "eyes": str(eyes) if eyes else None, "threads": threads, "context": context,
            "prefix_memory_mib": PREFIX_MEMORY_MIB, "memory": memory,
            "load_seconds": LOAD_SECONDS + model.stat().st_size // LOAD_BYTES,
        }  # fmt: skip
        self._running: _Running | None = None
        self._lock = threading.Lock()
        self._deaths = 0
        self._refused: str | None = None

    def ask(self, path: str, body: dict[str, Any] | None, seconds: float | None = None) -> dict[str, Any]:
        """What llama.cpp answers, within so many seconds. Raises RuntimeError, saying why, where it does not."""
        with self._lock:
            if self._refused:
                raise RuntimeError(self._refused)
            if self._running is None or self._running.owner != os.getpid():  # a fork shares no pipe with its parent
                self._running = self._start()
            answer = self._said({"path": path, "body": body}, seconds)
        if "error" in answer:
            raise RuntimeError(str(answer["error"]))
        return dict(answer["said"])

    def end(self) -> None:
        """End the process, if it runs; the next question starts another."""
        with self._lock:
            if self._running:
                self._running.end()
                self._running = None

    def _start(self) -> "_Running":
        running = _Running(self._given)
        if running.answer() is None:
            self._refused = f"the model file cannot be loaded: {running.end()}"
            raise RuntimeError(self._refused)
        return running

    def _said(self, asked: dict[str, Any], seconds: float | None) -> dict[str, Any]:
        assert self._running is not None
        answer = None
        try:
            answer = self._running.exchange(asked, seconds)
        finally:
            if answer is None:  # also where Ctrl-C comes between question and answer: the pipe holds a half
                why = self._running.end()
                self._running = None
        if answer is not None:
            self._deaths = 0
            return answer
        self._deaths += 1
        if self._deaths >= MOST_DEATHS:
            self._refused = f"{why}; it is not started again"
        raise RuntimeError(why)


class _Running:
    """One life of the process."""

    def __init__(self, given: dict[str, Any]) -> None:
        # OpenMP's threads wait busily for each other, and read for how long when their library is loaded. Beside other
        # busy processes the default makes generation many times slower; asleep at once it is a third as fast alone.
        waits = {} if "OMP_WAIT_POLICY" in os.environ else {"GOMP_SPINCOUNT": "500"}
        own = {name: value for name, value in os.environ.items() if name.startswith(PASSED)}
        self.owner = os.getpid()
        self._memory, self._seconds = given["memory"], given["load_seconds"]
        self._late: float | None = None
        self._child = subprocess.Popen(
            sandbox.command(CHILD, json.dumps(given)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**waits, **sandbox.environment(), **own, "GGML_NO_BACKTRACE": "1"},
        )
        self._last = bytearray()
        self._hearing = threading.Thread(target=_hear, args=[self._child.stderr, self._last], daemon=True)
        self._hearing.start()
        self._finalizer = weakref.finalize(self, _kill, self._child, self._hearing, self.owner)

    def exchange(self, asked: dict[str, Any], seconds: float | None) -> dict[str, Any] | None:
        """The answer, or None where the process ended or took too long over it."""
        timer = threading.Timer(seconds, self._stop, [seconds]) if seconds else None
        if timer:
            timer.daemon = True
            timer.start()
        try:
            assert self._child.stdin
            self._child.stdin.write(json.dumps(asked).encode() + b"\n")
            self._child.stdin.flush()
            return self.answer()
        except OSError:
            return None
        finally:
            if timer:
                timer.cancel()

    def answer(self) -> dict[str, Any] | None:
        assert self._child.stdout
        line = self._child.stdout.readline(MOST_ANSWER)
        if not line.endswith(b"\n"):
            return None
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            return None
        return found if isinstance(found, dict) else None

    def _stop(self, seconds: float) -> None:
        self._late = seconds
        self._child.kill()

    def end(self) -> str:
        """End it. Why it ended of its own, if it did, for a person."""
        if self._child.stdin:
            with suppress(OSError):
                self._child.stdin.close()  # by which it ends; where it already does, this is but a moment too early
        try:
            code = self._child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            code = None
        self._finalizer()
        if self._late is not None:
            return f"no answer within {self._late:g} seconds"
        said = self._last.decode(errors="replace")
        if "bad_alloc" in said or "MemoryError" in said or "failed to allocate" in said:
            return f"it takes more than {self._memory / 1e9:.1f} GB of memory beside the file"
        if code == -signal.SIGXCPU:
            return f"it takes more than {self._seconds} seconds of the processor to load; is its chat template endless?"
        lines = [line for line in said.splitlines() if line.strip()]
        how = signal.Signals(-code).name if code and code < 0 else f"exit code {code}"
        why = f"llama.cpp broke off ({how}{': ' + lines[-1][-200:] if lines else ''})"
        return "".join(sign if sign.isprintable() else " " for sign in why)


def _hear(pipe: Any, last: bytearray) -> None:
    while said := pipe.read1(LAST_WORDS):
        last += said
        del last[:-LAST_WORDS]


def _kill(child: "subprocess.Popen[bytes]", hearing: threading.Thread, owner: int) -> None:
    """owner: the process that started it; a fork of that ends nobody else's."""
    if owner != os.getpid():
        return
    child.kill()
    child.wait()
    hearing.join(timeout=1)
    for pipe in (child.stdin, child.stdout, child.stderr):
        if pipe:
            with suppress(OSError):  # a question that was not read
                pipe.close()
