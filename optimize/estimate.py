"""A command as a dry run: it runs as it is, with an LM that sends nothing, counts its calls, and answers itself.

Labelled records get their gold labels where demos stand in the prompt, so that a program with demos wins the race, as
it mostly does, and what follows is counted with its longer prompts. All other answers name the first label. A prompt
that was counted once is not counted again, as the response cache would answer it. A token is taken for four bytes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from threading import Lock
from typing import Any, Literal, get_args, get_origin

import dspy
from dspy.lm15 import InvalidRequestError, Request, Response
from pydantic import BaseModel

from aisr.lm.budget import Ledger, Spend
from aisr.lm.client import LedgerLM, OpenLM
from aisr.lm.config import Price
from aisr.programs.pictures import SHOWN_PIXELS
from aisr.programs.probabilities import CONFIDENCE, USUAL_CONFIDENCE, confidence_of
from aisr.programs.program import Program
from aisr.programs.text import tokens

PICTURE_TOKENS = SHOWN_PIXELS // 750  # by the rule that providers publish, of the largest picture that is shown
MOST_NAMED = 3  # ids that an answer names, and texts that it lists, at most
# A text of an answer: as long as instructions that optimizers propose, some 300 tokens.
FILLER = "Weigh what is stated against what is shown, and name the label whose definition fits it best. " * 12


class DryRun:
    """What a command would ask for. Usage: open the LMs of the command by `open`, and run it with these.

    ledger: calls, tokens and price so far.
    """

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._lock = Lock()
        self._counted: set[str] = set()
        self._gold: dict[tuple[str, ...], dspy.Example] = {}
        self._opened: list[tuple[OpenLM, OpenLM]] = []

    def open(self, lm: OpenLM) -> OpenLM:
        """Return the same LM, with which nothing is sent; one and the same each time, so that a teacher that is the LM
        itself stays that."""
        for real, dry in self._opened:
            if real is lm:
                return dry
        engine = _SilentEngine()
        silent: LedgerLM = lm.lm.copy(engine=engine, timeout=None)  # DSPy refuses a timeout beside an engine
        silent.ledger = self.ledger
        dry = replace(lm, lm=silent, adapter=_CountingAdapter(self, lm.adapter))
        self._opened.append((lm, dry))
        return dry

    def add_gold(self, program: Program, examples: Iterable[dspy.Example]) -> None:
        """Note the gold answers of labelled examples of a program, whole or cut to what teaches."""
        for example in examples:
            for row in (example, program.trimmed_demo(example)):
                if row is not None:
                    self._gold[_key(program.main_predictor.signature, row)] = row

    def answer(
        self, signature: Any, inputs: Mapping[str, Any], limits: Mapping[str, Any], has_demos: bool, text: str
    ) -> dict[str, Any]:
        """Return a value of each output field. limits: of `ask`; text: what a free text says."""
        gold: Any = self._gold.get(_key(signature, inputs), {}) if has_demos else {}
        names = [str(name) for name in next((value for value in inputs.values() if isinstance(value, list)), [])]
        fields = signature.output_fields
        values = {
            name: gold[name] if name in gold else _first(field.annotation, limits.get(name, {}), names, text)
            for name, field in fields.items()
        }
        if CONFIDENCE in values:
            values[CONFIDENCE] = confidence_of(values, fields, [USUAL_CONFIDENCE])
        return values

    def count(self, call: str, price: Price | None, read: int, written: int) -> None:
        """Enter a call of so many prompt and completion tokens, or an answer of the cache where it was counted before.
        call: tells it from others."""
        with self._lock:
            is_new = call not in self._counted
            self._counted.add(call)
        if is_new:
            usd = price.usd(read, written) if price else None if read or written else 0.0
            self.ledger.add(Spend(1, prompt_tokens=read, completion_tokens=written, usd=usd))
        else:
            self.ledger.from_cache()


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
        messages = self.inner.format(signature, demos, inputs)
        sampling = [kwargs.get(name) for kwargs in (lm.kwargs, lm_kwargs) for name in ("rollout_id", "temperature")]
        call = _digest((lm.model, sampling, messages))
        limits = (lm_kwargs.get("metadata") or {}).get("constraints") or {}
        # No two texts are the same, so that each proposed instruction is a candidate.
        values = self.run.answer(signature, inputs, limits, bool(demos), f"{call[:8]} {FILLER}")
        written = tokens(str(self.inner.format_assistant_message_content(signature, values)))
        self.run.count(call, lm.price, sum(_tokens(message["content"]) for message in messages), written)
        return [values] * (lm_kwargs.get("n") or 1)


class _SilentEngine:
    """The engine of an LM that only prompts of its own adapter reach, which answers them."""

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


def _digest(call: Any) -> str:
    return sha256(repr(call).encode("utf-8", "replace")).hexdigest()


def _key(signature: Any, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what tells an example from others by its inputs; pictures count as their text."""
    return tuple(str(row.get(name, "")) for name in signature.input_fields)


def _first(annotation: Any, limits: Mapping[str, Any], names: Sequence[str], text: str) -> Any:
    """Return the first value of a type. limits: a JSON schema fragment; names: the keys of a dict."""
    origin = get_origin(annotation)
    if origin is Literal or "enum" in limits:
        return (limits.get("enum") or get_args(annotation))[0]
    if origin is list:
        within = limits.get("items", {})
        count = limits.get("minItems") or min(limits.get("maxItems", MOST_NAMED), MOST_NAMED)
        if "enum" in within:
            return list(within["enum"][:count])
        return [_first(get_args(annotation)[0], within, names, text) for _ in range(count)]
    if origin is dict:
        return dict.fromkeys(names, text)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        parts, fields = limits.get("properties", {}), annotation.model_fields.items()
        return annotation(
            **{name: _first(field.annotation, parts.get(name, {}), names, text) for name, field in fields}
        )
    return annotation(1) if annotation in (bool, int, float) else text.strip()[: limits.get("maxLength")]


def _tokens(content: Any) -> int:
    """Return those of a message, a text or a list of texts and pictures."""
    if isinstance(content, str):
        return tokens(content)
    return sum(tokens(part["text"]) if part.get("type") == "text" else PICTURE_TOKENS for part in content)
