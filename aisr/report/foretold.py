"""What predicting a file would come to, told from the dev records that a compile left: no call is sent.

The records of the file are taken to be like those of dev: as long, answered as long, and as often unsure.
"""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

from aisr.inference.cascade import is_sure
from aisr.inference.embeddings import attach_embeddings
from aisr.lm.embeddings import Embeddings, UnsentEmbeddings
from aisr.lm.prices import Price
from aisr.optimize.search.cost_estimate import Estimate
from aisr.optimize.search.embedding_cost import Embedded, prepared, priced, together
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program
from aisr.programs.records.base import Record
from aisr.programs.text.tokens import tokens
from aisr.report.records import JudgedRecord, Records

NOTHING = Embedded()


class Foretold(NamedTuple):
    """What the first LM would come to, and the second (None without one); known, unsure: dev records whose confidence
    is known, and that would go to the second; dev: how many there are."""

    first: Estimate
    second: Estimate | None
    known: int
    unsure: int
    dev: int


class Behind(NamedTuple):
    """The second LM: the dev records of its program, its price, and below which confidence it is asked."""

    dev: Records
    price: Price | None
    below: float


def foretell(
    dev: Records, records: int, price: Price | None, behind: Behind | None = None, embedded: Embedded = NOTHING
) -> Foretold:
    """What it would come to to predict so many records by a program that left these of dev. embedded: what embedding
    them comes to, which the first LM's part is told with. Raises UserError where it left none."""
    if not dev.records:
        raise UserError("no dev records beside the program: nothing to tell its price from")
    first = _with(_scaled(dev, dev.records, records / len(dev.records), price), embedded)
    known = sum(one.confidence is not None for one in dev.records)
    if behind is None:
        return Foretold(first, None, known, 0, len(dev.records))
    unsure = {one.id for one in dev.records if not is_sure(one.confidence, behind.below)}
    rows = [one for one in behind.dev.records if one.id in unsure] or behind.dev.records
    asked = records * len(unsure) / len(dev.records)
    second = _scaled(behind.dev, rows, asked / max(len(rows), 1), behind.price)
    return Foretold(first, second, known, len(unsure), len(dev.records))


def embedding(programs: Sequence[Program], records: Iterable[Record], embeddings: Embeddings) -> Embedded:
    """What the texts of records come to that the retrievers of programs embed by a model, each text once."""
    unsent = UnsentEmbeddings()
    ready = [attach_embeddings(program.deepcopy(), unsent) for program in programs]
    if not unsent.models:
        return NOTHING
    found = []
    for record in records:
        for program in ready:
            example = program.prepare(record)
            found.append(priced(program, example, embeddings))
    return together([prepared(unsent, embeddings, most=False), *found])


def _with(asked: Estimate, embedded: Embedded) -> Estimate:
    usd = None if asked.usd is None or embedded.usd is None else asked.usd + embedded.usd
    calls, read = asked.calls + embedded.requests, asked.prompt_tokens + embedded.tokens
    return Estimate(calls, read, asked.completion_tokens, usd, embedded.tokens)


def _scaled(found: Records, rows: Sequence[JudgedRecord], times: float, price: Price | None) -> Estimate:
    calls = [call for one in rows for call in one.calls]
    prompt = sum(tokens(found.texts[text]) for call in calls for _, text in call.messages) * times
    completion = sum(tokens(call.answer or "") for call in calls) * times
    usd = None if price is None else (prompt * price.prompt + completion * price.completion) / 1e6
    return Estimate(ceil(len(calls) * times), ceil(prompt), ceil(completion), usd)
