"""Counts what the built-in model reads and writes for the tests, also in the processes that they start.

It is most of the time that the suite takes on a slow machine, and unlike that time the same everywhere.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from aisr.lm.llama_cpp import TOKEN_COUNT, Tokens, counted

SHOWN = 12  # tests that are named in the summary, those that read the most first


class TokenCount:
    """A pytest plugin. What a fixture of several tests reads counts for the first of them.

    Where workers share the tests, they count into one file, and only the sum is known.
    """

    def __init__(self) -> None:
        self.of_all = "PYTEST_XDIST_WORKER" not in os.environ
        if self.of_all:
            handle, name = tempfile.mkstemp(prefix="aisr-tokens-")
            os.close(handle)
            os.environ[TOKEN_COUNT] = name
        self.file = Path(os.environ[TOKEN_COUNT])
        self.by_test: dict[str, Tokens] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        before = counted(self.file)
        result = yield
        took = Tokens(*(now - then for now, then in zip(counted(self.file), before, strict=True)))
        if took.read:
            self.by_test[item.nodeid] = took
        return result

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section("built-in model")
        for name, took in sorted(self.by_test.items(), key=lambda pair: -pair[1].uncached)[:SHOWN]:
            terminalreporter.line(
                f"{took.uncached:8,} uncached {took.cached:9,} cached {took.written:6,} written {name}"
            )
        everything = counted(self.file)
        terminalreporter.line(
            f"built-in model: {everything.read:,} prompt tokens ({everything.cached:,} of them from its prefix cache), "
            f"{everything.written:,} written"
        )

    def pytest_unconfigure(self) -> None:
        if self.of_all:
            self.file.unlink(missing_ok=True)
