"""A language model made of prepared answers, and records whose right answer stands in their own text."""

import itertools
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import dspy
import pytest
from dspy.lm15 import Message, Request, Response, TextPart, Usage

from aisr.lm.budget import Ledger
from aisr.lm.client import OpenLM
from aisr.lm.config import LMConfig, Price
from aisr.programs.case import Case
from aisr.programs.task import Task
from aisr.programs.track1 import TRACK1, Track1Record
from aisr.programs.track2 import TRACK2, Track2Record
from support import corpora

BOTH = {task.name: task for task in (TRACK1, TRACK2)}
AS_JSON = "Respond with a JSON object"  # in prompts of the adapter that takes a schema
Answers = Sequence[str | Exception] | Callable[[Request], str | Response]
_numbers = itertools.count()
_records: dict[str, Track1Record | Track2Record] = {}  # by the field of a prompt that names them


class ScriptedEngine:
    """Answers from a list (an exception in it is raised) or by a function. A list that runs dry fails the test."""

    supports_response_schema = True
    supports_function_calling = False
    supports_reasoning = False
    supported_params = frozenset({"response_format", "temperature", "max_tokens"})

    def __init__(self, answers: Answers) -> None:
        self._answer = answers if callable(answers) else None
        self._left: Iterator[str | Exception] = iter(()) if callable(answers) else iter(answers)
        self.requests: list[Request] = []

    def __deepcopy__(self, memo: dict[int, Any]) -> "ScriptedEngine":
        return self

    def complete(self, request: Request) -> Response:
        self.requests.append(request)
        answer = self._answer(request) if self._answer else next(self._left, None)
        if answer is None:
            pytest.fail(f"the script holds no answer to call {len(self.requests)}")
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Response):
            return answer
        return Response(
            id=None,
            model=request.model,
            message=Message.assistant([TextPart(answer)]),
            finish_reason="stop",
            usage=Usage(input_tokens=100, output_tokens=10),
        )

    def close(self) -> None:
        pass


def scripted(answers: Answers, *, adapter: str = "json", threads: int = 1) -> OpenLM:
    """An LM that answers from a script. Its name is new each time, so that no cached answer reaches it."""
    config = LMConfig("scripted/it", schema=adapter == "json", threads=threads)
    engine = ScriptedEngine(answers)
    lm = OpenLM(f"scripted/{next(_numbers)}", config, Ledger(), Price(0.0, 0.0), engine=engine)
    lm.contact.first_wait = 0.001
    return lm


def requests(lm: OpenLM) -> list[Request]:
    """The requests to the LM so far."""
    received: list[Request] = lm.engine.requests
    return received


def question(request: Request) -> str:
    """The last message of a request: the record to judge, without the demos."""
    return request.messages[-1].text or ""


def wording(request: Request) -> str:
    """The whole prompt of a request."""
    return "\n".join([str(request.system), *(f"{message.role}: {message.text}" for message in request.messages)])


def field(prompt: str, name: str) -> str | None:
    """The value of an input field in a message of DSPy's adapters."""
    _, mark, rest = prompt.partition(f"[[ ## {name} ## ]]\n")
    return rest.partition("\n\n")[0] if mark else None


def written(prompt: str, fields: dict[str, Any]) -> str:
    """The answer in the form that the prompt asks for: JSON, or DSPy's marked fields."""
    if AS_JSON in prompt:
        return json.dumps(fields)
    values = {name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()}
    return "\n\n".join(f"[[ ## {name} ## ]]\n{value}" for name, value in {**values, "completed": ""}.items())


def claim(*labels: str, number: int = 1) -> Track1Record:
    """A paragraph whose sentences say which label is right."""
    row = corpora.claim_row(*([label] for label in labels), number=number)
    record = Track1Record.model_validate({"id": f"track1-{number:06d}", **row})
    _records[json.dumps([sentence["sentence"] for sentence in row["sentence_label"]])] = record
    return record


def citation(label: str, *evidence: str, number: int = 1, paragraphs: int = 4) -> Track2Record:
    """A claim that says which label is right."""
    row = corpora.citation_row(label, evidence, number, paragraphs)
    record = Track2Record.model_validate({"id": f"track2-{number:06d}", **row})
    _records[record.claim_text] = record
    return record


def record_of(prompt: str) -> Any:
    """The record of `claim` or `citation` that a question is about."""
    return _records[field(prompt, "sentences") or field(prompt, "claim") or ""]


def right_answer(prompt: str) -> str:
    """The right answer to a question about a record of `claim` or `citation`."""
    record = record_of(prompt)
    if isinstance(record, Track1Record):
        return written(prompt, {"sentence_labels": TRACK1.first_labels(record.gold)})
    return written(prompt, {"label": record.label, "evidence_ids": record.evidence_para_ids})


def right(request: Request) -> str:
    return right_answer(question(request))


def flat_answer(prompt: str) -> str:
    """Supported, whatever the question of a track."""
    if (sentences := field(prompt, "sentences")) is not None:
        return written(prompt, {"sentence_labels": ["Supported"] * len(json.loads(sentences))})
    return written(prompt, {"label": "Supported", "evidence_ids": []})


def flat(request: Request) -> str:
    return flat_answer(question(request))


def corpus(task: Task, count: int = 12) -> list[Any]:
    """Labelled records of a track with all its labels."""
    labels = task.labels
    if task is TRACK1:
        return [claim(labels[k % 5], labels[(k + 2) % 5], "Supported", number=k + 1) for k in range(count)]
    named: dict[str, list[str]] = {"Irrelevant": []}
    return [citation(labels[k % 4], *named.get(labels[k % 4], ["P2"]), number=k + 1) for k in range(count)]


def write_corpus(folder: Path, task: Task, count: int = 12) -> Path:
    """The same as a file."""
    records = [record.model_dump(mode="json") for record in corpus(task, count)]
    return corpora.write(folder / "records.jsonl", records)


def cases(task: Task, program: dspy.Module) -> list[Case]:
    return [program.prepare(record) for record in corpus(task)]


TRACKS = [pytest.param(task, id=task.name) for task in BOTH.values()]
