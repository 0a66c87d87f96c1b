"""What a server of decision models said, read as it came: an answer counts for the question that it names and for no
other, a probability for the option that it names.

Both wire forms: OpenAI's list of answers, each with the name of its question and a list of options, and System One's
maps. Nothing is taken for a number that is none, and what was paid for is known also where nothing can be used.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from dspy.lm15 import ProviderError

from aisr.base import redact
from aisr.programs.reading.strict_json import loads

MOST_BYTES = 4 * 2**20  # of an answer: 128 questions with 255 options of long names are 3 MiB
MOST_TOKENS = 10_000_000  # of a request; no model reads as many
TOKENS = ("input_tokens", "output_tokens")
KINDS = {"predicate": "noul", "noul": "noul", "choice": "choice"}  # of an answer: the question that it answers
REFUSAL = "refusal"


class Unusable(ProviderError):
    """An answer of which nothing can be used, and which is not asked for again: the same request has the same answer.

    paid: its tokens as a chat's usage names them; nothing where the server did not say so.
    """

    def __init__(self, message: str, paid: Mapping[str, Any] | None = None) -> None:
        said = redact.values(message, redact.environment())  # a server may repeat a key as a name
        super().__init__(f"the decision model gave no answer that can be used: {said}")
        self.paid = dict(paid or {})


class Served(NamedTuple):
    """What a server said: by name of its question what stands for a probability, or for one of each option that it
    spoke of; nothing for a question that it refused. paid: as in `Unusable`."""

    answers: dict[str, Any]
    paid: dict[str, Any]


def parsed(body: bytes) -> Any:
    """The JSON of an answer. Raises `Unusable`."""
    if len(body) > MOST_BYTES:
        raise Unusable(f"more than {MOST_BYTES >> 20} MiB")
    try:
        return loads(body)
    except ValueError as error:  # also a key that stands twice, of which parsers take another one each
        raise Unusable(f"{error!s:.200}") from error


def read(payload: Any, questions: Mapping[str, Mapping[str, Any]]) -> Served:
    """An answer to these questions (`aisr.compat.decisions.Asked`). Raises `Unusable`."""
    paid = _usage(payload)
    try:
        return Served(dict(_answers(payload, questions)), paid)
    except Unusable as error:
        error.paid = paid
        raise


def _answers(payload: Any, questions: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    said = payload.get("answers") if isinstance(payload, dict) else None
    if isinstance(said, dict):
        pairs = list(said.items())
    elif isinstance(said, list):
        pairs = [(_of(one, "name"), one) for one in said]
    else:
        raise Unusable("expected `answers`, a list of them or a map by name")
    met = set()
    for name, one in pairs:
        if not isinstance(name, str) or name not in questions:
            raise Unusable(f"an answer to {name!r:.60}, which was not asked")
        if name in met:
            raise Unusable(f"{name}: two answers")
        met.add(name)
        if one is not None and _of(one, "type") != REFUSAL:
            yield name, _said(name, one, str(questions[name]["type"]))


def _said(name: str, one: Any, asked: str) -> Any:
    """What stands for the probability of a yes, or for one of each option."""
    kind = _of(one, "type")
    if KINDS.get(str(kind)) != asked:
        raise Unusable(f"{name}: an answer of type {kind!r:.40}")
    if asked == "noul":
        return _of(one, "noul" if kind == "noul" else "probability")
    rows = _of(one, "probabilities")
    if isinstance(rows, dict):
        return rows
    if not isinstance(rows, list):
        raise Unusable(f"{name}: no probabilities")
    found: dict[str, Any] = {}
    for row in rows:
        option = _of(row, "value")
        if not isinstance(option, str) or option in found:
            raise Unusable(f"{name}: {'two probabilities for' if isinstance(option, str) else 'option'} {option!r:.60}")
        found[option] = _of(row, "probability")
    return found


def _usage(payload: Any) -> dict[str, Any]:
    """The tokens of an answer. Raises `Unusable` for numbers that none can have: what was paid is then not known."""
    said = payload.get("usage") if isinstance(payload, dict) else None
    if said is None:
        return {}
    if not isinstance(said, dict):
        raise Unusable("usage that is no map")
    if said.get(TOKENS[0]) is None:
        return {}
    read, written = (_tokens(said, name, MOST_TOKENS) for name in TOKENS)
    details = said.get("input_tokens_details")
    cached = _tokens(details if isinstance(details, dict) else said, "cached_tokens", read)
    return {"prompt_tokens": read, "completion_tokens": written, "prompt_tokens_details": {"cached_tokens": cached}}


def _tokens(said: Mapping[str, Any], name: str, most: int) -> int:
    number = said.get(name)
    if number is None:
        return 0
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number <= most:
        raise Unusable(f"a usage whose {name} is {number!r:.40}; expected a whole number from 0 to {most}")
    return number


def _of(one: Any, name: str) -> Any:
    return one.get(name) if isinstance(one, dict) else None
