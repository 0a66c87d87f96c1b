"""Insides of LiteLLM."""

# Who serves decision models; `litellm.decisions` itself refuses the others only when it is asked.
from litellm.decisions.call import supported_decisions_providers

__all__ = ["supported_decisions_providers"]
