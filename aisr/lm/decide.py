"""A decision model as an LM: it is sent questions with their options, and gives a probability for each option.

LiteLLM knows who serves such models, sends the questions in the provider's form and reads the answer. The answer that
programs see is the JSON that a model which writes would have written, with the probabilities beside it as one token a
label, whose alternatives are whole labels.
"""

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from dspy.lm15 import (
    InvalidRequestError,
    Message,
    ProviderError,
    Request,
    Response,
    TextPart,
    TokenLogprob,
    TopLogprob,
    Usage,
)

from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.private import litellm_errors
from aisr.lm.budget import Ledger, check_price, current_call, token_count
from aisr.lm.client import InThread, LedgerLM, OpenLM, lean_adapter
from aisr.lm.config import (
    SECONDS,
    LMConfig,
    LMUnavailable,
    listed_decision_price,
    listed_vision,
    listed_window,
    quiet_litellm,
)
from aisr.lm.response_cache import address_digest, address_in_environment
from aisr.programs.questions import unanswerable

MOST_QUESTIONS = 128  # a request, `litellm.types.decisions.MAX_DECISION_QUESTIONS`
YES = 0.5  # an id is named from here on
ROUNDING = 0.01  # by which a served probability may lie outside of 0 to 1, and the sum of a choice beside 1
IMPOSSIBLE = 1e-300  # in place of a probability of 0, which has no logarithm


class CannotWrite(UserError):
    """A program that needs text from a model that writes none."""


class Unusable(ProviderError):
    """Probabilities that are none. They are not requested again: the same request has the same answer."""

    def __init__(self, message: str) -> None:
        reason = redact.values(message, redact.secret_values())  # a server may repeat a key as a name
        super().__init__(f"the decision model gave no answer that can be used: {reason}")


class DecisionEngine:
    """The engine of LiteLLM's decision models for `dspy.LM(engine=...)`.

    model: as LiteLLM names it; api_base: a server of one's own; api_key: its key, where it is not in the environment;
    timeout: seconds.
    """

    supports_response_schema = False
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"logprobs", "top_logprobs"})
    is_decision_model = True  # `aisr.programs.ask` sends the questions as metadata

    def __init__(self, model: str, api_base: str | None, api_key: str | None, timeout: float | None) -> None:
        self.model = model
        self.options = {"api_base": api_base, "api_key": api_key, "timeout": timeout or SECONDS}

    def __deepcopy__(self, memo: dict[int, Any]) -> "DecisionEngine":
        return self

    def complete(self, request: Request) -> Response:
        """One answer. Raises lm15's errors: `Unusable` for probabilities that are no distribution."""
        metadata = (request.config.extensions or {}).get("metadata") or {}
        questions = {_name(one): one for one in metadata.get("questions") or ()}
        if not questions:
            raise InvalidRequestError("a decision model answers closed questions, and this call asks none")
        state, images = render_state(request)
        names = list(questions)
        answers: dict[str, Any] = {}
        read = written = 0  # tokens, where they are counts
        for begin in range(0, len(names), MOST_QUESTIONS):  # several requests where there are more than one takes
            part = {name: to_wire(questions[name]) for name in names[begin : begin + MOST_QUESTIONS]}
            served = self._answer(state, part, images)
            answers |= served.answers
            if served.usage:
                read += token_count(served.usage.input_tokens) or 0
                written += token_count(served.usage.output_tokens) or 0
        try:
            probabilities = {name: _probabilities(one, answers.get(name)) for name, one in questions.items()}
        except ValueError as error:
            raise Unusable(str(error)) from error
        values = _values(metadata, questions, probabilities)
        tokens_of = [_token(probabilities[name]) for name, one in questions.items() if one["labels"]]
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant([TextPart(json.dumps(values, ensure_ascii=False))]),
            finish_reason="stop",
            usage=Usage(input_tokens=read, output_tokens=written) if read else Usage(),
            logprobs=tuple(tokens_of) if tokens_of and request.config.logprobs is not None else None,
        )

    def close(self) -> None:
        """Nothing to close: the connections are LiteLLM's."""

    def _answer(self, state: str, questions: Mapping[str, Any], images: list[str]) -> Any:
        """LiteLLM's answer to one request, noted in the `current_call`. Raises lm15's errors."""
        call = current_call.get()
        if call:
            call.requests += 1
        with litellm_errors(model=self.model):
            served = quiet_litellm().systemone(self.model, state, questions, images=images or None, **self.options)
        if call:
            usage = served.usage
            call.receive(usage and {"prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens})
        return served


def open_decisions(config: LMConfig, ledger: Ledger, needs_key: bool) -> OpenLM:
    """The decision model of a config. Raises `LMUnavailable`, saying which variable or option helps."""
    spec, model = f"{config.option('lm')} {config.model}", config.name
    provider, own_base = model.partition("/")[0], config.option("api-base")
    if not _is_known(model):
        raise LMUnavailable(
            f"{spec}: LiteLLM knows no decision models of {provider!r}; for a server of your own use "
            f"decide:hosted_vllm/MODEL with {own_base}"
        )
    address = config.api_base or address_in_environment(model)
    if provider == "hosted_vllm" and not address:
        raise LMUnavailable(f"{spec} has no address of its own: give {own_base} ADDRESS")
    own_key = f"{provider.upper()}_API_KEY"
    missing = quiet_litellm().validate_environment(model=model)["missing_keys"]
    has_key = not missing or any(os.environ.get(name) for name in (*missing, own_key))
    if needs_key and not has_key and not config.api_base:
        raise LMUnavailable(
            f"{spec} needs {missing[0]}; set it in the environment (export {missing[0]}=…), or pass {own_base} "
            "for a server of your own"
        )
    price = config.stated_price or listed_decision_price(model)
    check_price(config, price, ledger)
    key = "none" if config.api_base and not os.environ.get(own_key) else None
    engine = DecisionEngine(model, config.api_base, key, config.timeout)
    digest = address_digest(address) if address else None
    lm = LedgerLM(
        f"decide-{digest}/{model}" if digest else f"decide/{model}",  # as servers are told apart in the response cache
        ledger=ledger,
        price=price,
        gives_logprobs=True,
        threads=config.most_threads,
        context=listed_window(model),
        longest=0,
        engine=engine,
        async_engine=InThread(engine),
    )
    return OpenLM(
        lm,
        lean_adapter(),
        config.model,
        digest,
        config.most_threads,
        supports_vision=listed_vision(model),
        is_decision_model=True,
        short_prompts=True,
    )


def _is_known(model: str) -> bool:
    """Whether LiteLLM has decision models of a provider: it checks the provider before the questions."""
    litellm = quiet_litellm()
    try:
        litellm.systemone(model, "", {})
    except litellm.exceptions.BadRequestError as error:
        return "Unknown Decisions provider" not in str(error)
    except litellm.exceptions.AuthenticationError:
        return True
    return True


def check_writes(signature: Any, lm: OpenLM) -> None:
    """Raises `CannotWrite` where a decision model would have to write what a signature asks for."""
    if lm.is_decision_model and (fields := unanswerable(signature)):
        raise CannotWrite(f"a decision model writes no text, and {signature.__name__} asks for {', '.join(fields)}")


def to_wire(question: Mapping[str, Any]) -> dict[str, Any]:
    """A question in the System One form."""
    if question["labels"] is None:
        return {"type": "noul", "instructions": question["instructions"]}
    criteria = dict.fromkeys(question["labels"])
    return {"type": "choice", "instructions": question["instructions"], "criteria": criteria}


def render_state(request: Request) -> tuple[str, list[str]]:
    """What the questions are about, as one text, and its pictures in their order, each spoken of in the text: the
    instruction, examples with their answers, and the record."""
    system = request.system if isinstance(request.system, str) else "".join(p.text for p in request.system or ())
    texts, images = [system], []
    last = len(request.messages) - 1
    for number, message in enumerate(request.messages):
        text = ""
        for part in message.parts:
            if getattr(part, "type", "") == "image" and part.data:
                images.append(f"data:{part.media_type};base64,{part.data}")
                text += f"[picture {len(images)}]\n"
            else:
                text += getattr(part, "text", "") or ""
        heading = "Answer:" if message.role == "assistant" else "To be judged:" if number == last else "Example:"
        texts.append(f"{heading}\n{text}" if last else text)
    return "\n\n".join(texts), images


def _name(question: Mapping[str, Any]) -> str:
    return question["field"] if question["item"] is None else f"{question['field']} {question['item']}"


def _probabilities(question: Mapping[str, Any], answer: Any) -> dict[str, float]:
    """The probability of each label, summing to 1, or that of a yes. Raises ValueError."""
    name, labels = _name(question), question["labels"]
    if answer is None or answer.type != ("choice" if labels else "noul"):
        raise ValueError(f"{name}: no answer; the model may have refused it")
    stated = dict(answer.probabilities) if labels else {"yes": answer.noul}
    if labels and set(stated) != set(labels):
        raise ValueError(f"{name}: expected a probability for each of its {len(labels)} options, and no other")
    for one in stated.values():
        if not -ROUNDING <= one <= 1 + ROUNDING:
            raise ValueError(f"{name}: {one!r:.40} is no probability; expected a number from 0 to 1")
    row = {option: min(max(stated[option], 0.0), 1.0) for option in labels or stated}
    total = math.fsum(row.values())
    if labels and abs(total - 1) > ROUNDING:
        raise ValueError(f"{name}: probabilities sum to {total:.3g}; expected 1")
    return {option: one / total for option, one in row.items()} if labels else row


def _values(
    metadata: Mapping[str, Any],
    questions: Mapping[str, Mapping[str, Any]],
    probabilities: Mapping[str, Mapping[str, float]],
) -> dict[str, Any]:
    """The fields of an answer: the likeliest label, of a list one a slot; the ids that are rather true, the most
    probable first. What a model that writes states of its labels is left empty."""
    values: dict[str, Any] = {name: [] if listed else "" for name, listed in metadata["fields"].items()}
    ids: dict[str, dict[str, float]] = {}
    for name, one in questions.items():
        field, row = one["field"], probabilities[name]
        if one["labels"] is None:
            ids.setdefault(field, {})[str(one["item"])] = row["yes"]
        elif one["item"] is None:
            values[field] = _best(row)
        else:
            values[field].append(_best(row))
    for field, rows in ids.items():
        held = (metadata.get("constraints") or {}).get(field, {})
        ranked = sorted(rows, key=lambda key: -rows[key])
        likely = [key for key in ranked if rows[key] >= YES]
        values[field] = (likely if len(likely) >= held.get("minItems", 0) else ranked[: held["minItems"]])[
            : held.get("maxItems")
        ]
    return values


def _best(row: Mapping[str, float]) -> str:
    return max(row, key=lambda label: row[label])


def _token(probabilities: Mapping[str, float]) -> TokenLogprob:
    logs = {name: math.log(max(probability, IMPOSSIBLE)) for name, probability in probabilities.items()}
    ranked: Iterable[tuple[str, float]] = sorted(logs.items(), key=lambda pair: -pair[1])
    top = tuple(TopLogprob(token=name, logprob=log) for name, log in ranked)
    return TokenLogprob(token=top[0].token, logprob=top[0].logprob, top=top)
