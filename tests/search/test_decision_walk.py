"""A decision model through what users do: compiled twice (the default search in OpenAI's form, MIPRO with a teacher in
System One's), compared, told of, served, asked about a text, and refused where it cannot serve."""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import pytest

from aisr import serving
from aisr.base import digests
from aisr.programs.signatures.track1 import BRIEF
from support import decisions
from support.commands import Aisr, Finished
from support.corpora import read_rows
from support.loopback import Asked, Loopback, Reply, judged, serve
from support.paths import SAMPLE

OPENAI, SYSTEM_ONE = "decide:openai/gpt-6-luna", "decide:hosted_vllm/decider"
DATA = SAMPLE / "track1"
FEW = ("--limit-train", 8, "--limit-dev", 6, "--limit-test", 2, "--demos", 2)
GOLD = {
    said["sentence"]: said["types"][0]
    for split in ("train", "dev", "test")
    for row in read_rows(DATA / f"{split}.jsonl")
    for said in row["sentence_label"]
}
MEANING = "the table itself has another value"
WITH_OPTIONS = f"Judge each sentence.\n\nOptions:\n- Contradiction: {MEANING}"
LOST = "Judge each sentence with care."  # a proposal without a word on the options
DEFINED = "directly conflicts with the evidence"  # what the output field says of Contradiction


class Walk(NamedTuple):
    """A server, an artifacts folder with both programs, and what their compiles said and asked."""

    server: Loopback
    root: Path
    usual: Finished
    mipro: Finished
    asked: dict[str, list[Asked]]

    @property
    def folder(self) -> Path:
        return self.root / "track1"

    def at(self, lm: str) -> list[object]:
        return ["--lm", lm, "--api-base", self.server.url, "--artifacts", self.root]


def text_of(asked: Asked) -> str:
    """What a decision model was given to read."""
    return str(asked.body.get("state") or asked.body["input"])


def contradiction(text: str) -> str:
    """How that option is described."""
    return str(re.findall(r"^- Contradiction: (.*)$", text, re.MULTILINE)[0])


def questions(server: Loopback) -> list[Asked]:
    return [asked for asked in server.asked if "questions" in asked.body]


def school() -> Callable[[Asked], Reply]:
    """A decision model that is always right once it is told to take care; and a teacher, who proposes two instructions
    in turn."""
    proposed: list[str] = []

    def reply(asked: Asked) -> Reply:
        if "questions" in asked.body:
            careful = text_of(asked).startswith(LOST)
            return 200, json.dumps(decisions.served(asked, GOLD.__getitem__) if careful else decisions.served(asked))
        wanted = re.findall(r"`(\w+)`", asked.question.rpartition("in the following order of fields:")[2])
        if "sentence_labels" in wanted:
            return judged(asked)
        if "proposed_instruction" in wanted:
            proposed.append(LOST if len(proposed) % 2 else WITH_OPTIONS)
        return json.dumps({name: proposed[-1] if "instruction" in name else "About papers." for name in wanted})

    return reply


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory, aisr: Aisr) -> Iterator[Walk]:
    root = tmp_path_factory.mktemp("decided")
    with serve() as server:
        server.reply = school()
        at = ["--api-base", server.url, "--artifacts", root, "--data", DATA, "--task", "track1", "--no-track", *FEW]
        usual = aisr("compile", "--lm", OPENAI, "--name", "usual", "--candidates", 2, *at)
        asked = {"usual": questions(server)}
        server.asked.clear()
        teacher = ["--optimizer", "mipro", "--teacher-lm", "openai/teacher", "--teacher-api-base", server.url]
        mipro = aisr("compile", "--lm", SYSTEM_ONE, "--name", "mipro", "--candidates", 3, *teacher, *at)
        asked["mipro"] = questions(server)
        yield Walk(server, root, usual, mipro, asked)


@pytest.fixture
def server(walk: Walk) -> Loopback:
    """Its server, asked nothing so far."""
    walk.server.asked.clear()
    return walk.server


def test_the_default_search_needs_no_writer(walk: Walk, aisr: Aisr) -> None:
    assert walk.usual.code == 0, walk.usual.err
    said = " ".join(walk.usual.out.split())
    assert "with random-search and decide:openai/gpt-6-luna" in said
    assert "(options)" in said  # where the decision layer's probabilities come from
    made = json.loads((walk.folder / "usual" / "manifest.json").read_text())
    assert (made["optimizer"], made["lm"]["spec"], made["options"]["states"]) == ("random-search", OPENAI, False)
    shown = [text for asked in walk.asked["usual"] if "Example:" in (text := text_of(asked))]
    assert shown
    assert all(text.index("Example:") < text.index("Answer:") < text.rindex("To be judged:") for text in shown)
    told = aisr("compile", "--task", "track1", "--data", DATA, "--lm", OPENAI, *FEW, "--estimate")
    estimate = " ".join(told.out.split())
    assert "if the cache keeps none. Nothing was sent" in estimate
    assert "twice" not in estimate


@pytest.mark.parametrize(("words", "asked"), [(["track1", "--checks"], "checks"), (["averitec"], "questions")])
def test_an_estimate_refuses_what_the_run_would(words: list[str], asked: str, aisr: Aisr) -> None:
    data = SAMPLE / words[0]
    told = aisr(
        "compile", "--task", *words, "--data", data, "--lm", OPENAI, *FEW, "--optimizer", "labeled", "--estimate"
    )
    assert told.code == 2
    assert re.search(rf"a decision model writes no text, and \w+ asks for .*{asked}", told.err)


def test_the_options_are_sent_in_the_order_of_the_instruction(walk: Walk) -> None:
    """It says to take the first that fits."""
    assert all(text_of(asked).startswith(BRIEF) for asked in walk.asked["usual"])
    order = re.findall(r"^- ([^:]*):", BRIEF, re.MULTILINE)
    choices = walk.asked["usual"][0].body["questions"][0]["choices"]
    assert [choice["value"] for choice in choices] == order


def test_mipro_rewrites_the_options_and_its_champion_asks_them(walk: Walk, server: Loopback, aisr: Aisr) -> None:
    assert walk.mipro.code == 0, walk.mipro.err
    assert "ended early" not in walk.mipro.out
    assert {contradiction(text_of(asked)) for asked in walk.asked["mipro"]} == {contradiction(BRIEF), MEANING, DEFINED}
    page = (walk.folder / "mipro" / "PROMPT.md").read_text()
    assert LOST in page
    asked = page.partition("### Questions")[2]
    assert f"- Contradiction: {DEFINED}" in asked  # the proposal had lost it
    assert "Which label fits sentence 1?" in asked
    seed = page.partition("### What changed from the seed instruction")[2].partition("### Fields")[0]
    assert f"+ {LOST}" in seed
    assert "- Of the options, take the first that fits." in seed  # the seed of a decision model, not of a chat
    data, out = walk.root / "few.jsonl", walk.root / "out.jsonl"
    data.write_text("".join((DATA / "test.jsonl").read_text().splitlines(keepends=True)[5:8]))
    words = ["--task", "track1", "--program", walk.folder / "mipro", "--data", data, "--out", out]
    assert aisr("predict", *words, *walk.at(SYSTEM_ONE)).code == 0
    assert [text_of(asked).startswith(LOST) for asked in questions(server)] == [True] * 3


def test_diff_and_report_show_the_questions(walk: Walk, aisr: Aisr) -> None:
    both = aisr("diff", walk.folder / "usual", walk.folder / "mipro", "--task", "track1", "--artifacts", walk.root)
    assert f"+ - Contradiction: {DEFINED}" in both.out
    assert "- - Contradiction: the evidence itself states otherwise" in both.out
    paper = walk.root / "paper"
    words = ["--task", "track1", "--out", paper, "--artifacts", walk.root]
    assert aisr("techreport", walk.folder / "usual", *words).code == 0
    text = paper.with_suffix(".md").read_text()
    assert BRIEF in text
    assert "Which label fits sentence 1?" in text
    assert "these questions to a decision model" in text


def test_it_is_served(walk: Walk, server: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AISR_LM", SYSTEM_ONE)
    monkeypatch.setenv("AISR_API_BASE", server.url)
    file = walk.folder / "mipro" / "program.json"
    model = serving.model({"task": "track1", "digest": digests.of_text(file.read_text())})
    model.load_context(SimpleNamespace(artifacts={"program": str(file)}))
    given = read_rows(DATA / "test-inputs.jsonl")[10:12]
    lines = model.predict(given)
    assert [len(line["labels"]) for line in lines] == [len(record["sentence_label"]) for record in given]
    assert [text_of(asked).startswith(LOST) for asked in questions(server)] == [True] * 2


def test_a_text_of_ones_own_is_judged_by_its_probabilities(walk: Walk, server: Loopback, aisr: Aisr) -> None:
    draft, table = walk.root / "draft.txt", walk.root / "table.txt"
    draft.write_text("Larks lead because of their filter. They lead at every site.")
    table.write_text("Table 1: Words a minute. Bog: owl 61, lark 58.")
    words = [draft, "--program", walk.folder / "usual", "--evidence", table]
    told = aisr("check-text", *words, *walk.at(OPENAI))
    assert told.code == 0, told.err
    assert "Unsupported Causal Mechanistic 80%" in told.out  # as the model said it
    assert len(questions(server)) == 1


def test_a_batch_is_refused_before_anything_is_sent(walk: Walk, server: Loopback, aisr: Aisr) -> None:
    words = ["--task", "track1", "--program", walk.folder / "usual", "--data", DATA / "test.jsonl"]
    refused = aisr("predict", *words, "--out", walk.root / "batch.jsonl", *walk.at(OPENAI), "--batch", "export")
    assert refused.code == 2
    assert "decision models have no batch API here; predict without --batch" in " ".join(refused.err.split())
    assert not server.asked
