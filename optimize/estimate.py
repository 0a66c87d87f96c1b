"""A command as a dry run: it runs as it is, with an LM that sends nothing, counts calls and tokens, and answers itself.

The answers are the gold ones of labelled records, but for some, so that optimizers that learn from mistakes find them:
half of them without demos and one in eight with some, so that a program with demos wins the race, as it mostly does,
and what follows is counted with its longer prompts. Where gold is not known (records without labels, steps before the
judgement, instructions that an optimizer has proposed) an answer of the right form is made up. A prompt that was
counted once is not counted again, as the response cache would answer it. A token is taken for four bytes.
"""

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import Any, Literal, get_args, get_origin
from zlib import crc32

import dspy
import numpy as np
from dspy.lm15 import InvalidRequestError, Request, Response
from numpy.typing import NDArray
from pydantic import BaseModel

from aisr.lm.budget import PICTURE_TOKENS, Ledger, Spend
from aisr.lm.client import InThread, LedgerLM, OpenLM
from aisr.lm.config import Price
from aisr.lm.embeddings import BATCH, Embeddings
from aisr.predict.prepare import attach_embeddings
from aisr.programs.probabilities import CONFIDENCE, USUAL_CONFIDENCE, confidence_of
from aisr.programs.program import Program, UnusableAnswer
from aisr.programs.retrieval import Embed
from aisr.programs.text import tokens

WRONG, WRONG_WITH_DEMOS = 1 / 2, 1 / 8  # shares of the labelled records that are answered by a made-up answer
FIRST_LABEL = 2 / 3  # share of the made-up labels that are the first one, mostly the faultless one
MOST_NAMED = 3  # ids that a made-up answer names, and texts that it lists, at most
DIMENSIONS = 64  # of the vectors that stand in for a provider's
# As long as instructions that optimizers propose: some 300 tokens.
FILLER = "Weigh what is stated against what is shown, and name the label whose definition fits it best. " * 12


class DryRun:
    """What a command would ask for. Usage: open the LMs of the command by `open`, and run it with these.

    ledger: calls, tokens and price so far, those of embeddings among them; embedded: tokens to embed.
    """

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.embedded = 0
        self._lock = Lock()
        self._counted: set[bytes] = set()
        self._gold: dict[tuple[str, ...], dspy.Example] = {}
        self._opened: list[tuple[OpenLM, OpenLM]] = []

    def open(self, lm: OpenLM) -> OpenLM:
        """The same LM, with which nothing is sent; one and the same each time, so that a teacher that is the LM itself
        stays that."""
        for real, dry in self._opened:
            if real is lm:
                return dry
        engine = _SilentEngine()
        silent: LedgerLM = lm.lm.copy(engine=engine, async_engine=InThread(engine))
        silent.ledger = self.ledger
        inner = lm.adapter.inner if isinstance(lm.adapter, _CountingAdapter) else lm.adapter  # of a run within a run
        adapter = _CountingAdapter(self, inner)
        dry = replace(lm, lm=silent, adapter=adapter, embeddings=_CountedEmbeddings(self, lm.embeddings))
        self._opened.append((lm, dry))
        return dry

    def add_gold(self, program: Program, examples: Iterable[dspy.Example]) -> None:
        """Have labelled examples of a program answered with their gold, whole or cut to what teaches."""
        for example in examples:
            if "failure" not in example:
                for row in (*program.demo_rows(example), *program.trimmed_demos(example)):
                    self._gold[_key(program.main_predictor.signature, row)] = row

    def answer(
        self,
        signature: Any,
        inputs: Mapping[str, Any],
        constraints: Mapping[str, Any],
        wrong: float,
        draw: random.Random,
    ) -> dict[str, Any]:
        """A value of each output field. wrong: how probably not the gold one; draw: of this prompt."""
        row = self._gold.get(_key(signature, inputs))
        known: Any = {} if row is None or draw.random() < wrong else row
        names = next((value for value in inputs.values() if isinstance(value, list)), [])
        values = {
            name: known[name]
            if name in known
            else _made_up(field.annotation, constraints.get(name, {}), draw, [str(one) for one in names])
            for name, field in signature.output_fields.items()
        }
        if CONFIDENCE in values:
            values[CONFIDENCE] = confidence_of(values, signature.output_fields, [USUAL_CONFIDENCE])
        return values

    def count(self, lm: LedgerLM, prompt: bytes, read: int, written: int) -> None:
        """Enter a call, or an answer of the cache where the same prompt was counted before."""
        if self._new(prompt):
            self.ledger.add(_spend(lm.price, read, written))
        else:
            self.ledger.from_cache()

    def count_embedding(self, model: str, price: Price | None, texts: Sequence[str]) -> None:
        """Enter the requests that embed these texts, or answers of the cache."""
        once = list(dict.fromkeys(texts))
        for begin in range(0, len(once), BATCH):
            batch = once[begin : begin + BATCH]
            if not self._new(sha256(repr((model, batch)).encode("utf-8", "replace")).digest()):
                self.ledger.from_cache()
                continue
            read = sum(map(tokens, batch))
            self.ledger.add(_spend(price, read, 0))
            with self._lock:
                self.embedded += read

    def _new(self, prompt: bytes) -> bool:
        with self._lock:
            before = len(self._counted)
            self._counted.add(prompt)
            return len(self._counted) > before


class _CountingAdapter(dspy.Adapter):
    """Renders prompts as another adapter does, and answers them itself."""

    def __init__(self, run: DryRun, inner: dspy.Adapter) -> None:
        super().__init__()
        self.run = run
        self.inner = inner

    def __deepcopy__(self, memo: dict[int, Any]) -> "_CountingAdapter":
        return self

    def __call__(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        messages = self.format(signature, demos, inputs)
        metadata = lm_kwargs.get("metadata") or {}
        sampling = [
            {name: kwargs.get(name) for name in ("rollout_id", "temperature")} for kwargs in (lm.kwargs, lm_kwargs)
        ]
        prompt = sha256(repr((lm.model, sampling, messages)).encode("utf-8", "replace")).digest()
        draw = random.Random(prompt)
        wrong = WRONG_WITH_DEMOS if demos else WRONG
        values = self.run.answer(signature, inputs, metadata.get("constraints") or {}, wrong, draw)
        read = sum(_tokens(message["content"]) for message in messages)
        written = tokens(str(self.inner.format_assistant_message_content(signature, values)))
        self.run.count(lm, prompt, read, written)
        return [values] * (lm_kwargs.get("n") or 1)

    async def acall(
        self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: dict[str, Any]
    ) -> list[dict[str, Any]]:
        return self(lm, lm_kwargs, signature, demos, inputs)

    def format(self, signature: Any, demos: Any, inputs: dict[str, Any]) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.inner.format(signature, demos, inputs)
        return messages


class _SilentEngine:
    """The engine of an LM that nothing reaches but prompts of its own adapter, which answers them."""

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"response_format", "temperature", "max_tokens", "logprobs", "top_logprobs"})
    takes_constraints = True  # aisr.programs.program: what a list may hold, and how many

    def __deepcopy__(self, memo: dict[int, Any]) -> "_SilentEngine":
        return self

    def complete(self, request: Request) -> Response:
        raise InvalidRequestError("a dry run sends nothing")

    def close(self) -> None:
        """Nothing to close."""


class _CountedEmbeddings(Embeddings):
    """Embeddings that are counted and not requested."""

    def __init__(self, run: DryRun, real: Embeddings) -> None:
        super().__init__(real.config, run.ledger)
        self.run = run
        self.real = real

    def of(self, model: str) -> Embed:
        self.real.of(model)  # refuses a model that cannot be requested
        price = self.price_of(model)

        def embed(texts: Sequence[str]) -> NDArray[np.float32]:
            self.run.count_embedding(model, price, texts)
            return _word_counts(texts)

        return embed


def spend_of(program: Program, examples: Iterable[dspy.Example], lm: OpenLM) -> Spend:
    """What judging examples once comes to."""
    run = DryRun()
    dry = run.open(lm)
    judging = attach_embeddings(program.deepcopy(), dry.embeddings)
    with dry.context():
        for example in examples:
            with suppress(UnusableAnswer):
                judging(**example.inputs())
    return run.ledger.spend


def _spend(price: Price | None, read: int, written: int) -> Spend:
    """One call of so many prompt and completion tokens."""
    usd = price.usd(read, written) if price else None if read or written else 0.0
    return Spend(1, prompt_tokens=read, completion_tokens=written, usd=usd)


def _word_counts(texts: Sequence[str]) -> NDArray[np.float32]:
    """How often words are in texts, by their hashes: alike where a provider's vectors would be, more or less."""
    rows = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in re.findall(r"\w+", text.lower()):
            row[crc32(word.encode()) % DIMENSIONS] += 1
    return rows


def _key(signature: Any, row: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells an example from others by its inputs; pictures count as their text."""
    return tuple(str(row.get(name, "")) for name in signature.input_fields)


def _made_up(annotation: Any, held: Mapping[str, Any], draw: random.Random, names: Sequence[str]) -> Any:
    """A value of a type. held: the part of a JSON schema that it is held to; names: the keys of a dict."""
    origin = get_origin(annotation)
    if origin is Literal or "enum" in held:
        options = get_args(annotation) if origin is Literal else held["enum"]
        return options[0] if draw.random() < FIRST_LABEL else draw.choice(options)
    if origin is list:
        within = held.get("items", {})
        count = held.get("minItems") or min(held.get("maxItems", MOST_NAMED), MOST_NAMED)
        if "enum" in within:
            return list(within["enum"][:count])
        return [_made_up(get_args(annotation)[0], within, draw, names) for _ in range(count)]
    if origin is dict:
        return {name: _text(held, draw) for name in names}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        parts = held.get("properties", {})
        return annotation(
            **{
                name: _made_up(field.annotation, parts.get(name, {}), draw, names)
                for name, field in annotation.model_fields.items()
            }
        )
    if annotation in (bool, int, float):
        return annotation(1)
    return _text(held, draw)


def _text(held: Mapping[str, Any], draw: random.Random) -> str:
    """A text like no other one."""
    return f"{draw.getrandbits(32):08x} {FILLER}".strip()[: held.get("maxLength")]


def _tokens(content: Any) -> int:
    """Those of a message, a text or a list of texts and pictures."""
    if isinstance(content, str):
        return tokens(content)
    return sum(tokens(part["text"]) if part.get("type") == "text" else PICTURE_TOKENS for part in content)
