"""What a compile would come to, before anything is spent: calls, tokens and price, from real prompt renderings."""

import json
from collections.abc import Callable, Sequence
from statistics import fmean
from typing import Any, NamedTuple

import dspy

from optimize.lm.client import OpenLM
from optimize.search.optimizers import Settings
from programs.judges.ensemble import models, seen_by
from programs.text.tokens import length, tokens
from programs.vision.images import SHOWN_PIXELS

# The most that a picture comes to by the rule that providers publish, a token for some 750 pixels.
PICTURE_TOKENS = SHOWN_PIXELS // 750


class Sizes(NamedTuple):
    """Records of each split."""

    train: int
    dev: int
    test: int


class Estimate(NamedTuple):
    """At most so many LM calls, so many tokens in them, and US dollars (None where the price is unknown)."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None


# Records that an optimizer judges, at most, beside the uncompiled program on dev, both it and the champion on test, and
# the champion on train where a decision layer is fitted.
# Repeats that the cache answers are counted as if they were sent. Each ends with the race of its candidates on dev.
def _labeled(s: Settings, n: Sizes) -> int:
    return s.candidates * n.dev


def _knn(s: Settings, n: Sizes) -> int:
    return n.dev


def _bootstrap(s: Settings, n: Sizes) -> int:
    return 2 * n.train + n.dev


def _random_search(s: Settings, n: Sizes) -> int:
    return (s.candidates + 2) * n.train + (s.candidates + 2) * n.dev


def _mipro(s: Settings, n: Sizes) -> int:
    batch = min(n.dev, 35)
    full = 2 + 2 * s.candidates // 5
    proposing = 10 + 4 * s.candidates
    return (s.candidates + 1) * n.train + 2 * s.candidates * batch + full * n.dev + proposing


def _simba(s: Settings, n: Sizes) -> int:
    batch = min(32, n.train)
    return n.train + 2 * s.candidates * s.candidates * batch + (s.candidates + 1) * (n.train + n.dev) + s.candidates**2


def _gepa(s: Settings, n: Sizes) -> int:
    return n.train + s.candidates * (n.dev + 20) + 2 * n.dev + s.candidates * 5


RECORDS: dict[str, Callable[[Settings, Sizes], int]] = {
    "labeled": _labeled,
    "knn": _knn,
    "bootstrap": _bootstrap,
    "random-search": _random_search,
    "mipro": _mipro,
    "simba": _simba,
    "gepa": _gepa,
}


def estimate(
    optimizers: Sequence[str],
    settings: Settings,
    sizes: Sizes,
    sample: Sequence[dspy.Example],
    program: Any,
    lm: OpenLM,
    decide: bool,
) -> Estimate:
    """An upper bound for a compile. `sample`: labelled examples whose prompts are rendered to measure their length.

    Every prompt is counted as if it held all demos. Tokens are about four bytes each.
    """
    predictor = program.judging
    rows = [row for example in sample for row in program.demo_rows(example)]
    bare = fmean(tokens(_rendered(lm, predictor.signature, row)) for row in rows) + _pictures_a_prompt(program, sample)
    shown = min(settings.demos, len(rows))
    fields = list(predictor.signature.fields)
    demos = min(settings.demo_tokens, shown * fmean(length(row, fields) for row in rows))
    demos = max(demos, sum(length(demo, fields) for demo in predictor.demos))
    full = bare + demos
    answer = fmean(tokens(_answer(predictor.signature, row)) for row in rows)
    before = _before(program, sample, lm)
    records = (
        sizes.dev
        + 2 * sizes.test
        + (sizes.train if decide else 0)
        + sum(RECORDS[name](settings, sizes) for name in optimizers)
    )
    asked = len(rows) / len(sample) * (1 if lm.lm.gives_logprobs else program.samples)
    calls = round(records * asked)
    uncompiled = 0 if predictor.demos else min(calls, round(sizes.dev * asked))
    prompt_tokens = round(uncompiled * bare + (calls - uncompiled) * full + records * before.prompt)
    completion_tokens = round(calls * answer + records * before.completion)
    calls += round(records * before.calls)
    price = lm.lm.price
    usd = None
    if price is not None:
        usd = (prompt_tokens * price.prompt + completion_tokens * price.completion) / 1e6
    return Estimate(calls, prompt_tokens, completion_tokens, usd)


def tokens_a_record(program: Any, sample: Sequence[dspy.Example], lm: OpenLM) -> float:
    """About how many prompt tokens a record costs a program, from real renderings of labelled examples."""
    rendered = 0.0
    for name, model in models(program).items():
        seen = [seen_by(name, example) for example in sample]
        demos = model.judging.demos[: model.options.get("nearest") or None]
        rows = [row for example in seen for row in model.demo_rows(example)]
        shown = _pictures_a_prompt(model, seen) * len(rows)
        rendered += sum(tokens(_rendered(lm, model.judging.signature, row, demos)) for row in rows) + shown
        rendered += _before(model, seen, lm).prompt * len(seen)
    return rendered / len(sample)


def total(parts: Sequence[Estimate]) -> Estimate:
    """Several estimates together; the price is unknown where one is."""
    prices = [part.usd for part in parts]
    usd = None if None in prices else sum(price for price in prices if price is not None)
    calls, prompt, completion = (sum(column) for column in list(zip(*parts, strict=True))[:3])
    return Estimate(calls, prompt, completion, usd)


def _pictures_a_prompt(program: Any, sample: Sequence[dspy.Example]) -> float:
    """About how many tokens the pictures in a judging prompt take."""
    if program.options.get("evidence") != "image":
        return 0.0
    return PICTURE_TOKENS * fmean(len(example.pictures) for example in sample)


class _Before(NamedTuple):
    """What is asked before a record is judged, on average: calls, and the tokens of them together."""

    calls: float
    prompt: float
    completion: float


def _before(program: Any, sample: Sequence[dspy.Example], lm: OpenLM) -> _Before:
    asked = [(one, row, example) for example in sample for one, row in program.rows_before(example)]
    pictures = PICTURE_TOKENS * sum("pictures" in example for *_, example in asked)
    prompt = sum(tokens(_rendered(lm, one.signature, row)) for one, row, _ in asked) + pictures
    completion = sum(tokens(_answer(one.signature, row)) for one, row, _ in asked)
    return _Before(len(asked) / len(sample), prompt / len(sample), completion / len(sample))


def _answer(signature: Any, row: dspy.Example) -> str:
    return json.dumps({name: row[name] for name in signature.output_fields})


def _rendered(lm: OpenLM, signature: Any, row: dspy.Example, demos: Sequence[Any] = ()) -> str:
    messages = lm.adapter.format(signature, list(demos), {name: row[name] for name in signature.input_fields})
    return "\n".join(str(message["content"]) for message in messages)
