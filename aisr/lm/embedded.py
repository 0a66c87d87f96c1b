"""The built-in model as a DSPy engine: answers under a JSON schema, with labels scored instead of generated.

An answer is built field by field, in the order of the schema. A field that is one of several given strings, or a list
of a known number of them, is scored: its probabilities are read from the model and the likeliest is taken (temperature
0) or one is drawn. A list of ids is scored as well, id by id: which of those that are left, and whether it ends there.
Everything else is generated under the schema. With `logprobs`, the response carries one entry a label, whose
alternatives are whole labels.
"""

import json
import math
import os
import random
from collections import Counter
from typing import Any

from dspy.lm15 import (
    InvalidRequestError,
    Message,
    Request,
    Response,
    TextPart,
    TokenLogprob,
    TopLogprob,
    Usage,
)

from aisr.lm import llama_cpp

MAX_TOKENS = 512
MAX_ITEMS = 8  # of a generated list of unknown length: greedy decoding can repeat an item for ever


def usable_cores() -> int:
    """How many cores this process may use: fewer than there are where it was bound to some."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class EmbeddedEngine:
    """What `dspy.LM(engine=...)` asks of an engine, for the built-in SmolLM2."""

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"response_format", "temperature", "max_tokens", "logprobs", "top_logprobs"})
    takes_constraints = True  # aisr.programs.ask: JSON schema fragments by output field, sent as metadata

    def __init__(self) -> None:
        self.model = llama_cpp.load(usable_cores())
        self._draws: Counter[str] = Counter()

    def __deepcopy__(self, memo: dict[int, Any]) -> "EmbeddedEngine":
        return self

    def complete(self, request: Request) -> Response:
        """One answer. Raises lm15's InvalidRequestError where llama.cpp refuses the request."""
        try:
            with self.model.lock:
                return self._complete(request)
        except RuntimeError as error:
            raise InvalidRequestError(f"embedded model: {error}") from error

    def close(self) -> None:
        """Nothing to close: the model ends with this process."""

    def _complete(self, request: Request) -> Response:
        prompt = chat_prompt(request)
        temperature = request.config.temperature or 0.0
        # The n-th draw from one prompt is the same in every run: sampling stays random and reproducible.
        if temperature:
            self._draws[prompt] += 1
        draw = random.Random(f"{self._draws[prompt]}:{prompt}")
        schema = (request.config.response_format or {}).get("schema")
        writer = _Writer(self.model, prompt, temperature, request.config.max_tokens or MAX_TOKENS, draw)
        if isinstance(schema, dict) and schema.get("properties"):
            metadata = (request.config.extensions or {}).get("metadata") or {}
            writer.object(schema, metadata.get("constraints") or {})
        else:
            writer.free()
        return writer.response(request)


class _Writer:
    """Writes one answer behind a prompt, and keeps count of what that took."""

    def __init__(
        self, model: llama_cpp.Llama, prompt: str, temperature: float, max_tokens: int, draw: random.Random
    ) -> None:
        self.model, self.prompt, self.temperature, self.max_tokens, self.draw = (
            model, prompt, temperature, max_tokens, draw,
        )  # fmt: skip
        self.text = ""
        self.finished = True
        self.first: llama_cpp.Completion | None = None
        self.written = 0
        self.scored: list[TokenLogprob] = []

    def free(self) -> None:
        self._generate(None)

    def object(self, schema: dict[str, Any], constraints: dict[str, Any]) -> None:
        """The fields of a JSON object, one after the other."""
        definitions = schema.get("$defs", {})
        for k, (name, field) in enumerate(schema["properties"].items()):
            self.text += f"{', ' if k else '{'}{json.dumps(name)}: "
            held = constraints.get(name, {})
            whole = _merged(_resolved(field, definitions), held, definitions)
            if _options(held.get("items", {})):  # what this record alone admits: ids, each at most once
                self._name(_options(whole["items"]), whole.get("minItems", 0), whole["maxItems"])
            else:
                self._field(whole, definitions)
        self.text += "}"

    def _field(self, field: dict[str, Any], definitions: dict[str, Any]) -> None:
        items = field.get("items", {})
        if _options(field):
            self._score(_options(field))
        elif _options(items) and field.get("minItems", -1) == field.get("maxItems"):
            for k in range(field["maxItems"]):
                self.text += ", " if k else "["
                self._score(_options(items))
            self.text += "]"
        else:
            self._generate({**field, "$defs": definitions} if definitions else field)

    def _name(self, ids: list[str], least: int, most: int) -> None:
        """A list of ids, each of those that are left, for as long as going on is likelier than ending."""
        left = [json.dumps(one, ensure_ascii=False)[1:-1] for one in ids]
        ends, goes_on, count = "[]", '["', 0
        while left and count < most and (count < least or self._picked([ends, goes_on], "")[0] == goes_on):
            chosen, _ = self._picked(left, '"', goes_on)
            self.text += goes_on + chosen
            left.remove(chosen)
            ends, goes_on, count = '"]', '", "', count + 1
        self.text += ends

    def _score(self, options: list[str]) -> None:
        chosen, ranked = self._picked(options, '"', '"')
        self.text += f'"{chosen}"'
        self.scored.append(
            TokenLogprob(
                token=chosen,
                logprob=math.log(dict(ranked)[chosen] or 1e-300),
                top=tuple(TopLogprob(token=option, logprob=math.log(chance or 1e-300)) for option, chance in ranked),
            )
        )

    def _picked(self, options: list[str], end: str, begin: str = "") -> tuple[str, list[tuple[str, float]]]:
        """One of several texts that may stand next, between two others, and how likely each is, the likeliest first."""
        chances, completion = self.model.option_probabilities(self.prompt + self.text + begin, options, end)
        self._count(completion, written=0)
        ranked = sorted(zip(options, chances, strict=True), key=lambda pair: -pair[1])
        if not self.temperature:
            return ranked[0][0], ranked
        weights = [chance ** (1 / self.temperature) for chance in chances]
        return self.draw.choices(options, weights)[0], ranked

    def _generate(self, schema: dict[str, Any] | None) -> None:
        completion = self.model.complete(
            self.prompt + self.text,
            max_tokens=max(self.max_tokens - self.written, 1),
            temperature=self.temperature,
            seed=self.draw.randrange(2**31),
            schema=schema,
        )
        self.text += completion.text.strip() if schema is not None else completion.text
        self.finished = self.finished and completion.finished
        self._count(completion, completion.written)

    def _count(self, completion: llama_cpp.Completion, written: int) -> None:
        self.first = self.first or completion
        self.written += written

    def response(self, request: Request) -> Response:
        read, cached = (self.first.read, self.first.cached) if self.first else (0, 0)
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant([TextPart(self.text)]),
            finish_reason="stop" if self.finished else "length",
            usage=Usage(input_tokens=read, output_tokens=self.written, cache_read_tokens=cached),
            logprobs=tuple(self.scored) if self.scored and request.config.logprobs is not None else None,
        )


def chat_prompt(request: Request) -> str:
    """The request in SmolLM2's chat format (ChatML), open for the assistant's answer.

    Control tokens inside a message are broken up: a paper that holds one must not open a message of its own.
    """
    said = "".join(f"<|im_start|>{role}\n{text.replace('<|', '< |')}<|im_end|>\n" for role, text in _turns(request))
    return f"{said}<|im_start|>assistant\n"


def _turns(request: Request) -> list[tuple[str, str]]:
    turns = []
    if request.system is not None:
        system = request.system if isinstance(request.system, str) else "".join(p.text for p in request.system)
        turns.append(("system", system))
    return turns + [(message.role, message.text or "") for message in request.messages]


def _resolved(field: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A field's own schema where it is a reference to a definition."""
    name = str(field.get("$ref", "")).rpartition("/")[2]
    return definitions.get(name, field) if name else field


def _merged(field: dict[str, Any], extra: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """A field's schema narrowed by a constraint; a list always gets an upper length."""
    if field.get("type") != "array":
        return {**field, **extra}
    items = {**_resolved(field.get("items", {}), definitions), **extra.get("items", {})}
    return {"maxItems": MAX_ITEMS, **field, **extra, "items": items}


def _options(schema: dict[str, Any]) -> list[str]:
    """The strings that a value may be, or an empty list where it is not such a choice."""
    options = schema.get("enum", [])
    return options if options and all(isinstance(option, str) for option in options) else []
