"""What an engine of our own needs beside `complete`."""

import asyncio
from typing import Any

from dspy.lm15 import Request, Response


class InThread:
    """The async counterpart of an engine that has none: each request in a thread, so that no event loop waits."""

    def __init__(self, engine: Any) -> None:
        self.engine = engine

    def __deepcopy__(self, memo: dict[int, Any]) -> "InThread":
        return self

    async def complete(self, request: Request) -> Response:
        response: Response = await asyncio.to_thread(self.engine.complete, request)
        return response

    async def aclose(self) -> None:
        """Nothing to close."""
