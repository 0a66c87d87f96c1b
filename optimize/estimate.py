"""A command as a dry run: it runs with an LM that sends nothing, counts its calls, and makes up answers.

An answer is the first label for the uncompiled prompt, and the gold label for any other. Otherwise no candidate would
win, and the later steps, with their longer prompts, would be underestimated by a fifth. A prompt is counted once, as
the response cache answers it the second time. A token is taken for four bytes. Nothing is fitted: a prompt is as long
whichever paragraphs are chosen.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any, Literal, get_args, get_origin

import dspy
from dspy.lm15 import InvalidRequestError, Request, Response, Usage
from pydantic import BaseModel

from aisr.lm.budget import Ledger, Spend
from aisr.lm.client import OpenLM
from aisr.lm.config import Price
from aisr.optimize.run import Callbacks, Plan, Run
from aisr.programs.pictures import SHOWN_PIXELS
from aisr.programs.probabilities import CONFIDENCE
from aisr.programs.program import label_field
from aisr.programs.text import tokens

PICTURE_TOKENS = SHOWN_PIXELS // 750  # by the rule that providers publish, of the largest picture that is shown
USUAL_CONFIDENCE = "85, Unsupported Entity 10"  # as long as an answer usually is
USUAL_ITEM = 120  # characters of a text in a list
MOST_NAMED = 3  # ids that an answer names, and texts that it lists, at most
# A text of an answer: as long as instructions that optimizers propose, some 600 tokens.
FILLER = "Weigh what is stated against what is shown, and name the label whose definition fits it best. " * 24


class DryRun:
    """What a command would ask for. ledger: calls, tokens and price so far."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self._lock = Lock()
        self._counted: set[str] = set()
        self._gold: dict[tuple[str, ...], dspy.Example] = {}
        self._instructions: set[str] = set()  # of the uncompiled program

    def open(self, lm: OpenLM) -> OpenLM:
        """Return the same LM, with which nothing is sent."""
        adapter = _CountingAdapter(self, lm.adapter)
        silent: OpenLM = lm.copy(engine=_SilentEngine(), timeout=None, ledger=self.ledger, adapter=adapter)
        return silent

    def compile(self, plan: Plan, lm: OpenLM, teacher: OpenLM, callbacks: Callbacks) -> Run:
        """Go through a compile of opened LMs, without its artifact. Raises what it raises."""
        dry = self.open(lm)
        run = Run(plan, dry, dry if teacher is lm else self.open(teacher), Path(), callbacks, fits=False)
        run.prepare()
        student, signature = run.student, run.student.main_predictor.signature
        self._instructions = {predictor.signature.instructions for predictor in student.predictors()}
        for case in chain.from_iterable(run.cases.values()):
            self._gold[_key(signature, case.example)] = case.example
            if case.demo is not None:  # it may be cut to what teaches
                self._gold[_key(signature, case.demo)] = case.demo
        run.check_alive()
        run.aim()
        run.search()
        run.score_test()
        return run

    def answer(
        self, signature: Any, demos: Sequence[Any], inputs: Mapping[str, Any], lists: Mapping[str, Any], text: str
    ) -> dict[str, Any]:
        """Return a value of each output field. lists: of `Program.ask`; text: what a free text says."""
        gold: Any = {}
        if demos or signature.instructions not in self._instructions:
            gold = self._gold.get(_key(signature, inputs), {})
        values = {}
        for name, field in signature.output_fields.items():
            if name in gold:
                values[name] = gold[name]
            else:
                values[name] = _first(field.annotation, lists.get(name, {}), text)
        if CONFIDENCE in values:
            labels = values.get(label_field(signature))
            values[CONFIDENCE] = [USUAL_CONFIDENCE] * len(labels) if isinstance(labels, list) else USUAL_CONFIDENCE
        return values

    def count(self, call: str, price: Price | None, read: int, written: int) -> None:
        """Add a call, by its digest, with its prompt tokens (`read`) and completion tokens (`written`); one that was
        counted before is answered by the cache."""
        with self._lock:
            is_new = call not in self._counted
            self._counted.add(call)
        usage = Usage(input_tokens=read, output_tokens=written)
        self.ledger.add(Spend.of(usage, price) if is_new else Spend(cached_calls=1))


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
        call = lm.call_digest(messages=messages, **lm_kwargs)
        lists = lm_kwargs.get("lists") or {}
        # No two texts are the same, so that each proposed instruction is a candidate.
        values = self.run.answer(signature, demos, inputs, lists, f"{call[:8]} {FILLER}")
        read = sum(_tokens(message["content"]) for message in messages)
        written = tokens(str(self.inner.format_assistant_message_content(signature, values)))
        self.run.count(call, lm.price, read, written)
        return [values] * (lm_kwargs.get("n") or 1)


class _SilentEngine:
    """The engine of an LM whose adapter answers."""

    def complete(self, request: Request) -> Response:
        raise InvalidRequestError("a dry run sends nothing")


def _key(signature: Any, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what tells an example from others by its inputs; pictures count as their text."""
    return tuple(str(row.get(name, "")) for name in signature.input_fields)


def _first(annotation: Any, known: Mapping[str, Any], text: str) -> Any:
    """Return the first value of a type. known: of a list, see `Program.ask`; text: of a free one."""
    origin = get_origin(annotation)
    if origin is Literal:
        return get_args(annotation)[0]
    if origin is list:
        count = known.get("minItems") or min(known.get("maxItems", MOST_NAMED), MOST_NAMED)
        ids = known.get("ids", {})
        if "" in ids:
            return ids[""][:count]
        return [_first(get_args(annotation)[0], ids, text[:USUAL_ITEM]) for _ in range(count)]
    if origin is dict:
        return {}
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        values = {}
        for name, field in annotation.model_fields.items():
            values[name] = _first(field.annotation, {}, known.get(name, [text])[0])
        return annotation(**values)
    if annotation in (bool, int, float):
        return annotation(1)
    return text.strip()


def _tokens(content: Any) -> int:
    """Return those of a message, a text or a list of texts and pictures."""
    if isinstance(content, str):
        return tokens(content)
    return sum(tokens(part["text"]) if part.get("type") == "text" else PICTURE_TOKENS for part in content)
