"""Insides of DSPy 3.4. Version 3.5 removes some and rewrites the adapters."""

# The response cache, whose disk is ours: DSPy pickles what it keeps there.
from dspy.clients import DISK_CACHE_DIR, Cache

# A call of DSPy's own adapters is told by the LM's identity, and any other is warned of; `LedgerLM` stands in between.
from dspy.clients._deprecation import adapter_message_call

# LiteLLM with DSPy's settings of it, which silence its telemetry and its prints.
from dspy.clients._litellm import get_litellm

# The form in which answers are kept in the response cache, and back.
from dspy.clients.call_result import CACHE_FORMAT, attributes

# From an error of LiteLLM or of lm15 to that of DSPy which says whether a call may be sent again.
from dspy.clients.engines.litellm_errors import litellm_errors

# DSPy chooses an engine anew for each call; for a server that does not change it is opened once.
from dspy.clients.engines.lm15_engine import AsyncLM15Engine, LM15Engine, timeouts_for
from dspy.clients.errors import error_boundary
from dspy.clients.legacy_outputs import plain
from dspy.clients.lm import _is_openai_reasoning_model

__all__ = [
    "CACHE_FORMAT",
    "DISK_CACHE_DIR",
    "AsyncLM15Engine",
    "Cache",
    "LM15Engine",
    "adapter_message_call",
    "attributes",
    "error_boundary",
    "get_litellm",
    "is_reasoning_model",
    "litellm_errors",
    "plain",
    "timeouts_for",
]


def is_reasoning_model(spec: str) -> bool:
    """Whether DSPy takes a model for one of OpenAI's that reason, which refuse temperatures; it refuses them itself."""
    return bool(_is_openai_reasoning_model(spec))
