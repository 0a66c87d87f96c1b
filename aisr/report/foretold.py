"""What predicting a file would come to, told from the dev records that a compile left: no call is sent.

The records of the file are taken to be like those of dev: as long, and answered as long.
"""

from collections.abc import Iterable
from math import ceil

from aisr.inference.embeddings import attach_embeddings
from aisr.lm.embeddings import Embeddings, UnsentEmbeddings
from aisr.lm.prices import Price
from aisr.optimize.search.cost_estimate import Estimate
from aisr.optimize.search.embedding_cost import Embedded, prepared, priced, together
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program
from aisr.programs.records.base import Record
from aisr.programs.text.tokens import tokens
from aisr.report.records import Records

NOTHING = Embedded()


def foretell(dev: Records, records: int, price: Price | None, embedded: Embedded = NOTHING) -> Estimate:
    """What it would come to to predict so many records by a program that left these of dev. embedded: what embedding
    them comes to. Raises UserError where it left none."""
    if not dev.records:
        raise UserError("no dev records beside the program: nothing to tell its price from")
    return _with(_scaled(dev, records / len(dev.records), price), embedded)


def embedding(program: Program, records: Iterable[Record], embeddings: Embeddings) -> Embedded:
    """What the texts of records come to that the retrievers of a program embed by a model, each text once."""
    unsent = UnsentEmbeddings()
    ready = attach_embeddings(program.deepcopy(), unsent)
    if not unsent.models:
        return NOTHING
    found = []
    for record in records:
        found.append(priced(ready, ready.prepare(record), embeddings))
    return together([prepared(unsent, embeddings, most=False), *found])


def _with(asked: Estimate, embedded: Embedded) -> Estimate:
    usd = None if asked.usd is None or embedded.usd is None else asked.usd + embedded.usd
    calls, read = asked.calls + embedded.requests, asked.prompt_tokens + embedded.tokens
    return Estimate(calls, read, asked.completion_tokens, usd, embedded.tokens)


def _scaled(found: Records, times: float, price: Price | None) -> Estimate:
    calls = [call for one in found.records for call in one.calls]
    prompt = sum(tokens(found.texts[text]) for call in calls for _, text in call.messages) * times
    completion = sum(tokens(call.answer or "") for call in calls) * times
    usd = None if price is None else (prompt * price.prompt + completion * price.completion) / 1e6
    return Estimate(ceil(len(calls) * times), ceil(prompt), ceil(completion), usd)
