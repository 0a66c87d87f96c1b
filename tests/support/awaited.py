"""Programs awaited on an event loop."""

import asyncio
from typing import Any

import dspy

from aisr.lm.client import OpenLM


def awaited(program: Any, given: list[dspy.Example], lm: OpenLM) -> list[dspy.Prediction]:
    """All examples at a time, on one event loop."""

    async def main() -> list[dspy.Prediction]:
        try:
            with lm.context():
                return await asyncio.gather(*(program.acall(**example.inputs()) for example in given))
        finally:
            await lm.lm.aclose()

    return asyncio.run(main())
