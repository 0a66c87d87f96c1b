"""What a compile would come to, before anything is spent: calls, tokens and price, from real prompt renderings."""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import cache
from heapq import nlargest
from math import ceil, isnan, nan

import dspy

from aisr.lm.client import OpenLM
from aisr.lm.embeddings import Embeddings, UnsentEmbeddings
from aisr.optimize.search import nearest
from aisr.optimize.search.compilation import Settings
from aisr.optimize.search.demos import affordable
from aisr.optimize.search.embedding_cost import Embedded, prepared
from aisr.optimize.search.proposals import PROPOSALS, USUAL, WRITTEN, material, proposals
from aisr.optimize.search.record_cost import Cost, costs, dollars
from aisr.optimize.search.searches import Sizes, Step, in_turn
from aisr.programs.judges.contract import Program, without_layer
from aisr.programs.text.tokens import length


@dataclass(frozen=True)
class Estimate:
    """LM calls, tokens in them, and US dollars (None where a price is unknown), with those of the retriever's embedding
    model; embedded: how many of the prompt tokens are read by that."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    embedded: int = 0


@dataclass(frozen=True)
class Bounds:
    """usual: where every answer can be used, and the response cache answers what was asked before. most: where every
    answer has to be asked for again, none brings log-probabilities and the cache keeps nothing.

    Either way tokens are about four bytes each, an answer is as long as a labelled one, an instruction that an
    optimizer has written has `proposals.WRITTEN` tokens at most and usually `USUAL`, and calls that fail are not
    counted: providers do not charge for them.
    """

    usual: Estimate
    most: Estimate


def bounds(
    optimizers: Sequence[str],
    settings: Settings,
    splits: Mapping[str, Sequence[dspy.Example]],
    program: Program,
    lm: OpenLM,
    teacher: OpenLM,
    decide: bool,
) -> Bounds:
    """What a compile of a program would come to. splits: its labelled examples of train, dev and maybe test."""
    usual, most = (_spent(optimizers, settings, splits, program, lm, teacher, decide, most) for most in (False, True))
    return Bounds(usual, most)


def total(parts: Sequence[Bounds]) -> Bounds:
    """Those of several programs together."""
    return Bounds(_sum([part.usual for part in parts]), _sum([part.most for part in parts]))


def with_embeddings(found: Bounds, unsent: UnsentEmbeddings, priced: Embeddings) -> Bounds:
    """The same with what preparing the records embeds."""
    usual, most = (_embedding(prepared(unsent, priced, most)) for most in (False, True))
    return Bounds(_sum([found.usual, usual]), _sum([found.most, most]))


def _embedding(found: Embedded) -> Estimate:
    return Estimate(found.requests, found.tokens, 0, found.usd, found.tokens)


def of_judging(program: Program, examples: Sequence[dspy.Example], lm: OpenLM) -> Bounds:
    """What judging labelled examples once with a compiled program would come to."""
    bare = without_layer(program)
    both = (sum(costs(bare, examples, lm, [], 0, most), Cost()) for most in (False, True))
    return Bounds(*(_priced(cost, lm, _model(bare)) for cost in both))


def _spent(
    optimizers: Sequence[str],
    settings: Settings,
    splits: Mapping[str, Sequence[dspy.Example]],
    program: Program,
    lm: OpenLM,
    teacher: OpenLM,
    decide: bool,
    most: bool,
) -> Estimate:
    if not program.predictors():
        return Estimate(0, 0, 0, 0.0)  # it asks no LM, and there is nothing to optimize
    sizes = Sizes(*(len(splits.get(name, ())) for name in Sizes._fields))
    written = (WRITTEN if most else USUAL) * len(PROPOSALS.keys() & {*optimizers})

    @cache
    def judged(split: str, taught: bool, count: int) -> list[Cost]:
        train = splits["train"]
        demos = _demos(optimizers, settings, train, program, most)
        if count:
            chosen = _nearest_demos(count, settings, train, program, most)
            fields = list(program.judging.signature.fields)
            longer = max(chosen, demos, key=lambda rows: sum(length(row, fields) for row in rows))
            demos = longer if most else chosen
        return costs(program, splits.get(split, ()), teacher if taught else lm, demos, written, most)

    by_lm, by_teacher = Cost(), Cost()
    for step in in_turn(optimizers, settings, sizes, decide, most):
        if step.cached and not most:
            continue
        taught = step.taught and teacher is not lm
        cost = _of(step, judged(step.split, taught, step.nearest))
        by_teacher, by_lm = (by_teacher + cost, by_lm) if step.taught else (by_teacher, by_lm + cost)
    given = material(program, splits["train"]) if written else None
    if given:
        for name in optimizers:
            by_teacher += proposals(name, settings, sizes, given)
    return _sum([_priced(by_lm, lm, _model(program)), _priced(by_teacher, teacher, _model(program), lm.embeddings)])


def _of(step: Step, judged: Sequence[Cost]) -> Cost:
    """What a step costs: of a part of a split, at most."""
    if step.records is None or step.records >= len(judged):
        return sum(judged, Cost()) * step.times
    parts = zip(*map(astuple, judged), strict=True)
    return Cost(*(sum(nlargest(step.records, part)) for part in parts)) * step.times


def _demos(
    optimizers: Sequence[str], settings: Settings, train: Sequence[dspy.Example], program: Program, most: bool
) -> list[dspy.Example]:
    """The demos that an optimizer may put into a prompt together: the longest at most, usually middling ones."""
    if not optimizers:
        return []
    fields = list(program.judging.signature.fields)
    pool = affordable(
        [row for example in train for row in program.lessons(example)], fields, settings.demos, settings.demo_tokens
    )
    if "simba" in optimizers:  # while it searches, it takes what it likes
        pool = pool + [row for example in train for row in program.demo_rows(example)]
    return _as_long(pool, fields, settings.demos, most)


def _nearest_demos(
    count: int, settings: Settings, train: Sequence[dspy.Example], program: Program, most: bool
) -> list[dspy.Example]:
    """So many of the demos that nearest ones are chosen from: the longest at most, usually the middling ones."""
    fields = sorted({name for predictor in program.predictors() for name in predictor.signature.fields})
    rows = [row for example in train for row in program.lessons(example)]
    offered = nearest.pool(rows, fields, settings.demos, settings.demo_tokens)
    return _as_long(offered, fields, count, most)


def _as_long(rows: Sequence[dspy.Example], fields: Sequence[str], count: int, most: bool) -> list[dspy.Example]:
    in_order = sorted(rows, key=lambda row: length(row, fields), reverse=True)
    first = 0 if most else max(len(in_order) - count, 0) // 2
    return in_order[first : first + count]


def _model(program: Program) -> str | None:
    """The model that a program's retriever embeds with, where it has one that is to be asked."""
    return getattr(program, "embedding_model", None)


def _priced(cost: Cost, lm: OpenLM, model: str | None, embeddings: Embeddings | None = None) -> Estimate:
    """model: what embeds; embeddings: where, if it is not where the LM's are."""
    asked = Estimate(0, 0, 0, 0.0)
    if cost.calls:
        price = lm.lm.price
        paid = nan if price is None else dollars(cost, price)
        asked = Estimate(ceil(cost.calls), ceil(cost.prompt), ceil(cost.completion), None if isnan(paid) else paid)
    if not cost.requests or model is None:
        return asked
    of_text = (embeddings or lm.embeddings).price_of(model)
    usd = None if of_text is None else cost.embedded * of_text.prompt / 1e6
    return _sum([asked, _embedding(Embedded(ceil(cost.requests), ceil(cost.embedded), usd))])


def _sum(parts: Sequence[Estimate]) -> Estimate:
    """Several estimates together; the price is unknown where one is."""
    prices = [part.usd for part in parts]
    usd = None if None in prices else sum(price for price in prices if price is not None)
    calls, prompt, completion, embedded = (
        sum(column)
        for column in zip(*((p.calls, p.prompt_tokens, p.completion_tokens, p.embedded) for p in parts), strict=True)
    )
    return Estimate(calls, prompt, completion, usd, embedded)
