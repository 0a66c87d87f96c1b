"""The estimate is a bound: a server on the loopback address counts what compiles come to."""

import json
import random
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from aisr.inference.judge import judge
from aisr.lm.client import OpenLM
from aisr.lm.open import open_lm
from aisr.lm.prices import Price
from aisr.optimize.experiment.compile import compile_program
from aisr.optimize.experiment.estimate import estimated
from aisr.optimize.experiment.plan import Plan
from aisr.optimize.search.compilation import Settings
from aisr.optimize.search.cost_estimate import Bounds, of_judging
from aisr.optimize.search.optimizers import OPTIMIZERS
from aisr.optimize.search.searches import SEARCHES
from aisr.programs.reading.lines import read
from aisr.programs.text.tokens import tokens
from aisr.tasks.all import TASKS
from aisr.tasks.track2 import TRACK2
from support.embedder import embedded, is_embedding, texts
from support.loopback import Asked, Loopback, serve
from support.paths import SAMPLE
from support.plans import SILENT
from support.scripted import field

LIMITS: dict[str, int | None] = {"train": 8, "dev": 5, "test": 2}
TRACK1_FORMS: list[dict[str, Any]] = [
    {},
    {"unit": "sentence"},
    {"checks": True},
    {"states": True},
]
TRACK2_FORMS: list[dict[str, Any]] = [{}, {"rerank": 5, "quotes": True}, {"retriever": "dense"}]
CASES = [
    *(("track1", [optimizer], {}) for optimizer in OPTIMIZERS),
    *(("track1", ["bootstrap", "knn"], form) for form in TRACK1_FORMS),
    *(("track2", ["labeled"], form) for form in TRACK2_FORMS),
    *(
        pytest.param("track2", [optimizer], {"rerank": 5}, marks=pytest.mark.slow)
        for optimizer in ("random-search", "mipro", "simba", "gepa")
    ),
]


def drawn(schema: dict[str, Any], draw: random.Random, root: dict[str, Any], prompt: str, name: str = "") -> Any:
    """A value of a JSON schema at random, as many in a list and ids of such paragraphs as the prompt asks for."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    if schema["type"] == "array":
        if name.endswith("_ids"):
            return re.findall(r"^\[(\w+)\] ", prompt, re.MULTILINE)[: draw.randint(0, 3)]
        if name == "ranking":
            return re.findall(r"^\[([^\]]+)\] ", field(prompt, "elements") or "", re.MULTILINE)[:1]
        count = len(json.loads(field(prompt, "sentences") or "[]")) if name.startswith("sentence_") else 1
        return [drawn(schema["items"], draw, root, prompt) for _ in range(count)]
    if schema["type"] == "object":
        return {name: drawn(part, draw, root, prompt, name) for name, part in schema.get("properties", {}).items()}
    ids = re.findall(r"^\[([\w.]+)\] ", prompt, re.MULTILINE)
    return ids[0] if name == "source" else f"as it stands there, {draw.random()}"


class Erratic:
    """Answers at random, now and then with what cannot be read, and never with log-probabilities."""

    refuses = 1 / 4

    def __init__(self) -> None:
        self.draw = random.Random(0)

    def __call__(self, asked: Asked) -> str:
        form = asked.body.get("response_format", {}).get("json_schema", {}).get("schema")
        if self.draw.random() < self.refuses:
            return "I would rather not say."
        if form is None:  # DSPy asks for free text without a schema
            names = re.findall(r"`(\w+)`", asked.question.rpartition("Respond with a JSON object")[2])
            return json.dumps(dict.fromkeys(names, "as it stands there"))
        return json.dumps(drawn(form, self.draw, form, asked.question))


def plan(task: str, optimizers: list[str], options: dict[str, Any], **changes: Any) -> Plan:
    """A compile of a few records of the sample."""
    return Plan(
        task=TASKS[task],
        name="x",
        optimizers=optimizers,
        settings=Settings(demos=2, candidates=3),
        options=options,
        data={name: SAMPLE / task / f"{name}.jsonl" for name in LIMITS},
        limits=LIMITS,
        command="aisr compile",
        **changes,
    )


def opened(server: Loopback, price: tuple[float, float] = (1.0, 10.0)) -> OpenLM:
    return open_lm("openai/erratic", api_base=server.url, price=Price(*price))


def compiled(given: Plan, lm: OpenLM, teacher: OpenLM, root: Path) -> Bounds:
    """What was foretold of a compile that then ran."""
    bounds = estimated(given, lm, teacher)
    compile_program(given, lm, teacher, root, SILENT)
    return bounds


def prompt_tokens(server: Loopback) -> int:
    """Of all that a server was asked, by the rule that the estimate counts by."""
    return sum(
        tokens(str(message["content"])) for asked in server.asked for message in asked.body.get("messages", ())
    ) + sum(map(tokens, texts(server)))


class Embedding(Erratic):
    """Answers at random, but so that it can be read; and embeds, by the letters of each text."""

    refuses = 0

    def __call__(self, asked: Asked) -> Any:
        if not is_embedding(asked):
            return super().__call__(asked)
        return 200, embedded(asked)


EMBEDDING: list[tuple[str, dict[str, Any], dict[str, Any], int]] = [
    ("track2", {"retriever": "dense:openai/emb"}, {}, 8),
    ("track2", {"retriever": "hybrid:openai/emb"}, {"hold": 0.95}, 20),  # enough to fit ranker and budget on
    ("averitec", {"retriever": "dense:openai/emb", "questions": 3}, {}, 4),
]


@pytest.mark.parametrize(("task", "optimizers", "options"), CASES, ids=str)
def test_no_compile_asks_for_more_than_was_foretold(
    task: str, optimizers: list[str], options: dict[str, Any], loopback: Loopback, tmp_path: Path
) -> None:
    loopback.reply = Erratic()
    lm = opened(loopback)
    most = compiled(
        plan(task, optimizers, options, decide=task == "track1" and optimizers == ["labeled"]), lm, lm, tmp_path
    ).most
    assert len(loopback.asked) <= most.calls
    assert prompt_tokens(loopback) <= most.prompt_tokens


@pytest.mark.parametrize("nearest", [0, 1, 2])
def test_the_longest_demos_are_counted_where_each_record_has_its_own(nearest: int, loopback: Loopback) -> None:
    """Those that are nearest to all of these records are long, as luck will have it."""
    loopback.reply = lambda asked: "I would rather not say."  # each is asked for twice
    program, lm = TRACK2.build({"nearest": nearest}), opened(loopback)
    rows = [
        program.prepare(record) for record in islice(read(SAMPLE / "track2" / "dev.jsonl", TRACK2.record, "track2"), 6)
    ]
    lessons = [lesson for row in rows for lesson in program.lessons(row)]
    far = [lesson.copy(claim="Nothing of the kind.", passages="[P1] Short.") for lesson in lessons[2:]]
    program.judging.demos = [
        *far,
        *(lesson.copy(passages=lesson.passages * 9, claim=rows[0].claim) for lesson in lessons[:2]),
    ]
    asked = [rows[0].copy(id=str(number)).with_inputs(*rows[0].inputs().keys()) for number in range(2)]
    foretold = of_judging(program, asked, lm)
    assert judge(TRACK2, program, asked[0], lm).failure is not None
    assert 2 * prompt_tokens(loopback) <= foretold.most.prompt_tokens
    if nearest:
        assert foretold.usual.prompt_tokens < prompt_tokens(loopback)


def test_what_the_teacher_is_asked_is_told_apart_by_its_price(loopback: Loopback, tmp_path: Path) -> None:
    with serve() as school:
        loopback.reply, school.reply = Erratic(), Erratic()
        free, dear = opened(loopback, (0.0, 0.0)), opened(school, (1e6, 0.0))  # a dollar a prompt token
        bounds = compiled(plan("track1", ["mipro"], {}, decide=False), free, dear, tmp_path)
        assert bounds.most.usd is not None
        assert 0 < prompt_tokens(school) <= bounds.most.usd < bounds.most.prompt_tokens


def test_the_usual_is_what_a_server_that_answers_is_asked(loopback: Loopback, tmp_path: Path) -> None:
    """Without a search there is nothing to guess, but for the test of a champion that is the uncompiled program."""
    lm = opened(loopback)
    given = replace(plan("track1", ["labeled"], {}), settings=Settings(demos=4, candidates=3))  # no two sets are one
    usual = compiled(given, lm, lm, tmp_path).usual
    assert usual.calls - (LIMITS["test"] or 0) - (LIMITS["train"] or 0) <= len(loopback.asked) <= usual.calls


def test_an_estimate_sends_nothing(loopback: Loopback) -> None:
    lm = opened(loopback)
    most = estimated(plan("track2", [*OPTIMIZERS], {}), lm, lm).most
    assert loopback.asked == []
    assert most.usd == pytest.approx((most.prompt_tokens + 10 * most.completion_tokens) / 1e6, rel=1e-3)


def test_every_optimizer_has_an_estimate() -> None:
    assert list(SEARCHES) == list(OPTIMIZERS)
