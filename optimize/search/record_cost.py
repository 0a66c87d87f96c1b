"""What it costs to judge a record: LM calls and tokens, from real renderings of its prompts."""

import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import ceil
from statistics import fmean
from typing import Any

import dspy

from aisr.lm.client import OpenLM
from aisr.lm.decide import MOST_QUESTIONS
from aisr.lm.prices import Price
from aisr.optimize.search.embedding_cost import TWICE, as_judged
from aisr.programs.asking import stated
from aisr.programs.asking.ask import CORRECTION_TOKENS
from aisr.programs.judges.contract import Program, without_layer
from aisr.programs.questions import questions_of
from aisr.programs.text.tokens import length, tokens
from aisr.programs.vision.images import SHOWN_PIXELS

# The most that a picture comes to by the rule that providers publish, a token for some 750 pixels.
PICTURE_TOKENS = SHOWN_PIXELS // 750


@dataclass(frozen=True)
class Cost:
    """LM calls, and the tokens in all of them together; requests to the retriever's embedding model, and tokens in
    them, of texts that are not known before the record is judged."""

    calls: float = 0
    prompt: float = 0
    completion: float = 0
    requests: float = 0
    embedded: float = 0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(*(one + another for one, another in zip(astuple(self), astuple(other), strict=True)))

    def __mul__(self, times: float) -> "Cost":
        return Cost(*(one * times for one in astuple(self)))


def costs(
    program: Program,
    examples: Sequence[dspy.Example],
    lm: OpenLM,
    demos: Sequence[dspy.Example],
    written: int,
    most: bool,
) -> list[Cost]:
    """What each labelled example costs to judge once.

    demos: those that a prompt holds; written: tokens by which an instruction that an optimizer wrote is longer than the
    one at hand. most: as if every answer had to be asked for twice, which a decision model is not;
    otherwise as if every answer could be used. Answers count as long as the labelled ones.
    """
    questions = _Questions(program, lm, demos, written, most)
    return [questions.of(example) for example in examples]


class _Questions:
    """What a program asks about a record."""

    def __init__(self, program: Program, lm: OpenLM, demos: Sequence[dspy.Example], written: int, most: bool) -> None:
        self.program = program
        self.lm = lm
        self.most = most
        judging = program.judging
        given = demos_shown(program, judging, most)
        shown = max((list(demos), given), key=lambda rows: sum(length(row, judging.signature.fields) for row in rows))
        self.more = written + _demo_tokens(lm, judging.signature, shown)
        self.written = written
        self.own: dict[int, int] = {}  # tokens of a predictor's own demos
        self.demos = len(demos)
        self.seeing = program.options.get("evidence") == "image"

    def of(self, example: dspy.Example) -> Cost:
        before = self.program.rows_before(example)
        pictures = PICTURE_TOKENS if "pictures" in example else 0
        sent, embedded = as_judged(self.program, example)
        cost = Cost(requests=sent, embedded=embedded) * (TWICE if self.most else 1)
        for predictor, row in before:
            # Demos of it are traces of it: as many as the judging predictor has, each about as long as this question.
            traced = self.demos * length(row, predictor.signature.fields)
            more = self.written + max(traced, self._own_demos(predictor))
            cost += self._asked(predictor.signature, row, more + pictures)
        answered = sum(tokens(_answer(predictor.signature, row)) for predictor, row in before)
        more = self.more + answered + self.program.longer_by(example)
        more += PICTURE_TOKENS * len(example.pictures) if self.seeing else 0
        for row in self.program.demo_rows(example):
            cost += self._asked(self.program.judging.signature, row, more)
        return cost

    def _own_demos(self, predictor: Any) -> int:
        """Tokens of the demos that a predictor has by now."""
        if id(predictor) not in self.own:
            shown = demos_shown(self.program, predictor, self.most)
            self.own[id(predictor)] = _demo_tokens(self.lm, predictor.signature, shown)
        return self.own[id(predictor)]

    def _asked(self, signature: Any, row: dspy.Example, more: float) -> Cost:
        read, written = tokens(_rendered(self.lm, signature, row)), tokens(_answer(signature, row))
        if self.lm.decides:
            asked = _beside(signature, row)  # an answer that cannot be used is not asked for again
            texts = ceil(len(asked) / MOST_QUESTIONS)  # each request holds the text anew
            return Cost(1, texts * (read + more) + tokens("\n".join(asked)), 0)
        once = Cost(1, read + more, written)
        repair = once + Cost(0, CORRECTION_TOKENS, 0) if self.most else Cost()
        return once + repair


def tokens_a_record(program: Program, sample: Sequence[dspy.Example], lm: OpenLM) -> float:
    """About how many prompt tokens a record costs a program, from real renderings of labelled examples."""
    if not program.predictors():
        return 0.0
    return fmean(cost.prompt for cost in costs(without_layer(program), sample, lm, (), 0, most=False))


def usd_per_1000(program: Program, sample: Sequence[dspy.Example], lm: OpenLM) -> float | None:
    """About how many US dollars it costs to judge a thousand records, from real renderings of labelled examples; None
    where the price is unknown."""
    price = lm.lm.price
    if price is None or price == (0, 0):
        return None if price is None else 0.0
    if not program.predictors():
        return 0.0
    return 1e3 * fmean(dollars(cost, price) for cost in costs(without_layer(program), sample, lm, (), 0, most=False))


def dollars(cost: Cost, price: Price) -> float:
    """What LM calls cost, in US dollars."""
    return (cost.prompt * price.prompt + cost.completion * price.completion) / 1e6


def demos_shown(program: Program, predictor: Any, most: bool) -> list[Any]:
    """The demos that stand in a prompt of a predictor; where they are chosen for each record, so many of the usual
    length, at most the longest."""
    fields, inputs = predictor.signature.fields, predictor.signature.input_fields
    demos = list(predictor.demos)
    if not most:
        given = [demo for demo in demos if all(name in demo for name in inputs)]
        demos = [demo for demo in given if stated.complete(demo, fields)]
    count = program.options.get("nearest") or 0
    if not count or len(demos) <= count:
        return demos
    by_length = sorted(demos, key=lambda demo: length(demo, fields), reverse=True)
    first = 0 if most else (len(by_length) - count) // 2
    return by_length[first : first + count]


def _demo_tokens(lm: OpenLM, signature: Any, demos: Sequence[Any]) -> int:
    """Tokens that demos add to a prompt, with the marks around them."""
    if not demos:
        return 0
    row = demos[0]
    return tokens(_rendered(lm, signature, row, demos)) - tokens(_rendered(lm, signature, row))


def _answer(signature: Any, row: dspy.Example) -> str:
    outputs = signature.output_fields
    usual = {stated.FIELD: stated.in_form(row, outputs, [stated.USUAL])}
    return json.dumps({name: row[name] if name in row else usual[name] for name in outputs})


def _beside(signature: Any, row: dspy.Example) -> list[str]:
    """The questions that stand beside the text, with the ids and the labels that the row has."""
    items = {"enum": row.get("nameable") or row.get("shown") or ()}
    held = {
        name: {"minItems": len(row[name]) if isinstance(row.get(name), list) else 0, "items": items}
        for name in signature.output_fields
    }
    return [f"{one['instructions']} {one['labels'] or ''}" for one in questions_of(signature, held)]


def _rendered(lm: OpenLM, signature: Any, row: dspy.Example, demos: Sequence[Any] = ()) -> str:
    inputs = {name: row.get(name, "") for name in signature.input_fields}  # a demo may lack some
    messages = lm.adapter.format(signature, list(demos), inputs)
    return "\n".join(str(message["content"]) for message in messages)
