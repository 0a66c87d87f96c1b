"""LiteLLM's decision models, which it marks as moving: its System One form, of which it makes what each provider's wire
wants (OpenAI's list of questions, or a map by name).

The System One form and not OpenAI's, because LiteLLM's answer in the latter fills in 0 for an option that the server
left out (`_openai_choice_answer` of `litellm/llms/openai/decisions/transformation.py`), and nobody could tell.

DSPy 3.4's own decision requests do not bear these programs: a list of labels is refused (`dspy/adapters/
decision_state.py`: "Unsupported System One output"), and so is any setting of a call, such as how many draws
(`dspy/adapters/decision.py`: "Unsupported TypeSafe generation settings"); an LM that takes them is no `dspy.LM`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dspy.clients.engines.litellm_errors import litellm_errors

from aisr.compat.dspy import get_litellm

MOST_QUESTIONS = 128  # a request, `litellm.types.decisions.MAX_DECISION_QUESTIONS`


@dataclass(frozen=True)
class Asked:
    """One request. state: what is judged; questions: by name, each `type` noul (yes or no) or choice, `instructions`
    and, of a choice, `criteria`: label to description; images: data URLs, in the order in which the state speaks of
    them; timeout: seconds."""

    model: str
    state: str
    questions: Mapping[str, Mapping[str, Any]]
    images: Sequence[str] = ()
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout: float | None = None

    def settings(self) -> dict[str, Any]:
        found = {
            "model": self.model,
            "state": self.state,
            "questions": dict(self.questions),
            "api_base": self.api_base,
            "api_key": self.api_key,
            "timeout": self.timeout,
            "num_retries": 0,
            "max_retries": 0,
        }
        return found | ({"images": list(self.images)} if self.images else {})


class Served(NamedTuple):
    """What a server said: by name of its question a probability, or one for each option that it spoke of; nothing for
    a question that it refused. Token counts; cached of read."""

    answers: dict[str, float | dict[str, float]]
    read: int
    written: int
    cached: int


class Provider(NamedTuple):
    """What LiteLLM knows of a provider's decision models. keys: the variables that its key is read from, one of which
    must be set; addresses: those of its address, where it has no address of its own."""

    name: str
    sees: bool
    keys: tuple[str, ...]
    addresses: tuple[str, ...]


def served(asked: Asked) -> Served:
    """One answer. Raises lm15's errors."""
    litellm = get_litellm(feature="decide:")
    with litellm_errors(model=asked.model):
        return _read(litellm.systemone(**asked.settings()))


async def aserved(asked: Asked) -> Served:
    """The same for an event loop."""
    litellm = get_litellm(feature="decide:")
    with litellm_errors(model=asked.model):
        return _read(await litellm.asystemone(**asked.settings()))


def provider_of(model: str) -> Provider | None:
    """Who serves a model string such as openai/gpt-6-luna; None for whom LiteLLM knows no decision models of."""
    litellm = get_litellm(feature="decide:")
    from litellm.types.utils import LlmProviders
    from litellm.utils import ProviderConfigManager

    try:
        _, name, _, _ = litellm.get_llm_provider(model)
        about = ProviderConfigManager.get_provider_decisions_config(model.partition("/")[2], LlmProviders(name))
    except (litellm.exceptions.BadRequestError, ValueError):
        return None
    if about is None:
        return None
    keys = about.api_key_env or (f"{name.upper()}_API_KEY",)
    addressed = about.get_default_api_base() is not None
    return Provider(
        name,
        bool(about.supports_images),
        keys if about.api_key_required else (),
        () if addressed else tuple(about.api_base_env),
    )


def _read(response: Any) -> Served:
    answers: dict[str, float | dict[str, float]] = {}
    for name, answer in response.answers.items():
        if answer.type == "noul":
            answers[name] = answer.noul
        elif answer.type == "choice":
            answers[name] = dict(answer.probabilities)
    usage = response.usage
    return Served(
        answers,
        usage.input_tokens if usage else 0,
        usage.output_tokens if usage else 0,
        usage.cached_tokens if usage else 0,
    )
