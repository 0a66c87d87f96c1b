"""What LiteLLM knows of decision models, which it marks as moving: who serves them, where, and in which of the two wire
forms a question is put (OpenAI's list, or System One's map by name).

Its own calls are not used. In OpenAI's form they match answers with questions by their place and drop the names that a
server gives them (`openai_response_to_ir` of `litellm/llms/openai/decisions/transformation.py`: `answers[index]`), fill
in 0 for an option that it left out (`_openai_choice_answer`), and take the text "0.9", `true` and a usage of -1 for
numbers; what cannot be read at all they call a fault of the server, to be sent again (`transform_decisions_response` of
`litellm/llms/base_llm/decisions/transformation.py`: status 500). What is sent is theirs; it goes over this package's
connections, and `aisr/lm/decision_answers.py` reads what comes back.

DSPy 3.4's own decision requests do not bear these programs: a list of labels is refused (`dspy/adapters/
decision_state.py`: "Unsupported System One output"), and so is any setting of a call, such as how many draws
(`dspy/adapters/decision.py`: "Unsupported TypeSafe generation settings"); an LM that takes them is no `dspy.LM`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from dspy.clients.engines.litellm_errors import litellm_errors
from dspy.lm15 import InvalidRequestError

from aisr.compat.dspy import get_litellm

MOST_QUESTIONS = 128  # a request, `litellm.types.decisions.MAX_DECISION_QUESTIONS`


@dataclass(frozen=True)
class Asked:
    """One request. state: what is judged; questions: by name, each `type` noul (yes or no) or choice, `instructions`
    and, of a choice, `criteria`: label to description; images: data URLs, in the order in which the state speaks of
    them."""

    model: str
    state: str
    questions: Mapping[str, Mapping[str, Any]]
    images: Sequence[str] = ()
    api_base: str | None = None
    api_key: str | None = field(default=None, repr=False)


class Prepared(NamedTuple):
    """A request as it goes over the wire. provider: who may pack an answer once more (`answer_in`)."""

    url: str
    headers: Mapping[str, str]
    body: bytes
    provider: Any


class Provider(NamedTuple):
    """What LiteLLM knows of a provider's decision models. keys: the variables that its key is read from, one of which
    must be set; addresses: those of its address, where it has no address of its own."""

    name: str
    sees: bool
    keys: tuple[str, ...]
    addresses: tuple[str, ...]


def prepared(asked: Asked) -> Prepared:
    """What is sent. Raises lm15's errors."""
    get_litellm(feature="decide:")
    from litellm.decisions.call import SystemOneRequestFields, prepare_call
    from litellm.types.decisions import UnsupportedDecisionsRequest

    with litellm_errors(model=asked.model):
        call = prepare_call(
            model=asked.model,
            fields=SystemOneRequestFields(asked.state, asked.questions, list(asked.images) or None),
            safety_identifier=None,
            api_key=asked.api_key,
            api_base=asked.api_base,
            timeout=None,
            custom_llm_provider=None,
            extra_headers=None,
            kwargs={},
        )
        said = call.provider_config
        body = said.transform_decisions_request(call.model, call.ir_request, call.custom_llm_provider)
        if isinstance(body, UnsupportedDecisionsRequest):
            raise InvalidRequestError(f"{call.custom_llm_provider}: {body.reason}")
        url = said.get_complete_url(call.api_base, call.model)
        headers = said.validate_environment(call.headers, call.model, call.api_key)
        headers, signed = said.sign_request(headers, url, call.api_base, dict(body), call.api_key, {})
    return Prepared(url, headers, signed or json.dumps(body, ensure_ascii=False).encode(), said)


def answer_in(provider: Any, payload: Any) -> Any:
    """What a server said, out of the form in which a provider packs it."""
    return provider.unwrap_response(payload)


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
