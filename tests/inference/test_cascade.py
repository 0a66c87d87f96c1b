"""Two LMs, one behind the other: who is asked about what, what each came to, and what a run of both goes on with."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aisr.artifact import folder as artifact_folder
from aisr.artifact.program_file import program_text
from aisr.base.files import read_json
from aisr.inference.predictions_file import run_file
from aisr.inference.submission import check
from aisr.lm.prices import Price
from aisr.programs.asking.stated import FIELD
from aisr.programs.decision.layer import Decision, as_it_is
from aisr.programs.labels import CLAIM_LABELS
from aisr.report.foretold import Behind, foretell
from aisr.report.records import About, Call, JudgedRecord, Records, Statement
from aisr.tasks.track1 import TRACK1
from support.commands import Aisr, Finished
from support.compiled import Compiled
from support.corpora import read_rows, write
from support.loopback import Asked, Loopback, serve
from support.paths import SAMPLE
from support.scripted import claim, field, written

RECORDS = [claim("Supported", "Contradiction", number=k) for k in range(1, 7)]
SURE = {1: "95", 2: "69", 3: "likely", 4: "70", 5: "95", 6: "95"}  # what the first LM states of each record


def number(asked: Asked) -> int:
    return int(re.findall(r"Row (\d+)", asked.question)[-1])


def first(asked: Asked) -> str:
    """Supported, more or less surely; the last record's answer cannot be read."""
    if number(asked) == 6:
        return "I would rather not say."
    sentences = json.loads(field(asked.question, "sentences") or "[]")
    stated = [f"{SURE[number(asked)]}, Contradiction 3" if k else "97" for k in range(len(sentences))]
    if number(asked) == 3:
        stated[1] = "likely"
    return written(asked.question, {"sentence_labels": ["Supported"] * len(sentences), FIELD: stated})


def second(asked: Asked) -> str:
    """The right labels, and surely."""
    labels = re.findall(r" is ([^.\"]*)\.", field(asked.question, "sentences") or "")
    return written(asked.question, {"sentence_labels": labels, FIELD: ["90"] * len(labels)})


@pytest.fixture
def strong() -> Iterator[Loopback]:
    with serve() as server:
        server.reply = second
        yield server


class Bench:
    """A program, records and two servers, and the command over them."""

    def __init__(self, aisr: Aisr, weak: Loopback, strong: Loopback, folder: Path) -> None:
        self.aisr, self.weak, self.strong, self.folder = aisr, weak, strong, folder
        weak.reply = first
        self.data = write(folder / "records.jsonl", [json.loads(one.model_dump_json()) for one in RECORDS])
        self.out = folder / "out.jsonl"
        artifact_folder.save(folder / "p", {"program.json": program_text(TRACK1, self.program())})

    def program(self, decision: Decision | None = None) -> Any:
        program = TRACK1.build({"chances": "stated"})
        program.decision = decision
        return program

    def predict(self, *more: object) -> Finished:
        at = ["--task", "track1", "--program", self.folder / "p", "--data", self.data, "--out", self.out]
        lm = ["--lm", "openai/weak", "--api-base", self.weak.url, "--price", "1,0", "--threads", 1]
        beside = ["--second-lm", "openai/strong", "--second-api-base", self.strong.url, "--second-price", "10,0"]
        return self.aisr("predict", *at, *lm, *beside, "--artifacts", self.folder, *more)


@pytest.fixture
def bench(aisr: Aisr, loopback: Loopback, strong: Loopback, tmp_path: Path) -> Bench:
    return Bench(aisr, loopback, strong, tmp_path)


def test_the_second_is_asked_where_the_first_is_unsure_and_what_each_came_to_is_told_apart(bench: Bench) -> None:
    done = bench.predict("--below", "0.7", "--confidence")
    assert done.code == 0, done.err
    assert {number(asked) for asked in bench.strong.asked} == {2, 3, 6}  # unsure; it does not say how sure; it failed
    lines = read_rows(bench.out)
    assert [line["lm"] for line in lines] == ["first", "second", "second", "first", "first", "second"]
    assert [line["labels"][1] for line in lines] == [
        "Contradiction" if line["lm"] == "second" else "Supported" for line in lines
    ]
    assert [line["confidence"] for line in lines] == [0.95, 0.9, 0.9, 0.7, 0.95, 0.9]
    told = " ".join(done.out.split())
    assert "asked the second LM about 3 of 6 records (50.0 %)" in told
    calls = len(bench.weak.asked)  # the unreadable answer was asked for again
    assert f"first LM: {calls} LM calls (+0 from the cache), {200 * calls} prompt" in told
    assert "second LM: 3 LM calls (+0 from the cache), 600 prompt" in told
    assert f"together: {calls + 3} LM calls" in told
    spent = read_json(run_file(bench.out))["spent"]
    assert spent["second"]["usd"] == pytest.approx(600 * 10 / 1e6)
    assert spent["first"]["usd"] == pytest.approx(200 * calls / 1e6)
    checked = check(TRACK1, bench.data, bench.out, fill_failed=False)
    assert not checked.problems
    assert [set(line) for line in checked.lines] == [{"id", "labels"}] * 6


def test_a_run_that_a_limit_stopped_goes_on_and_adds_up_what_both_came_to(bench: Bench) -> None:
    stopped = bench.predict("--max-calls", 3)  # the first of record 1, and both of record 2
    assert stopped.code == 1
    assert "--max-calls is 3" in " ".join(stopped.out.split())
    assert [line["id"] for line in read_rows(bench.out)] == [one.id for one in RECORDS[:2]]
    assert len(bench.weak.asked) + len(bench.strong.asked) == 3
    assert bench.predict().code == 0
    assert len(read_rows(bench.out)) == 6
    assert len(bench.strong.asked) == 3  # nothing was asked twice
    spent = read_json(run_file(bench.out))["spent"]
    assert spent["first"]["calls"] == len(bench.weak.asked)
    assert spent["second"]["calls"] == 3
    assert "0 LM calls" in bench.predict().out


def test_another_second_lm_threshold_or_none_is_another_run(bench: Bench) -> None:
    assert bench.predict().code == 0
    at = ["--second-lm", "openai/other", "--second-api-base", bench.strong.url]
    assert "begun with another second lm" in bench.predict(*at).err
    assert "begun with another below: 0.7 then, 0.8 now" in bench.predict("--below", "0.8").err


def test_what_the_second_fails_is_failed_and_tried_again(bench: Bench) -> None:
    bench.strong.reply = lambda asked: (400, "{}") if number(asked) == 2 else second(asked)
    done = bench.predict()
    assert done.code == 1
    assert read_rows(bench.out)[1]["failed"].startswith("second LM: ")
    bench.strong.reply = second
    assert bench.predict().code == 0
    assert read_rows(bench.out)[1]["lm"] == "second"


def test_a_layer_is_used_for_the_lm_that_it_was_fitted_on(bench: Bench) -> None:
    """Of a layer that turns every label into Overgeneralization: fitted on the first LM, it leaves the second alone; a
    program that was compiled with the second brings its own."""
    rule = as_it_is(["LM"], 5).model_copy(update={"offsets": [0.0, 0.0, 0.0, 9.0, 0.0]})
    turned = CLAIM_LABELS[3]

    def save(name: str, fitted_on: str) -> Path:
        layer = Decision(
            labels=list(CLAIM_LABELS), majority="Supported", fitted_on=fitted_on, kept=True, says=rule,
            means=as_it_is(["LM"], 5),
        )  # fmt: skip
        artifact_folder.save(bench.folder / name, {"program.json": program_text(TRACK1, bench.program(layer))})
        return bench.folder / name

    def lm(name: str) -> str:
        return f"openai/{name} JSONAdapter with log-probabilities"

    save("p", lm("weak"))
    done = bench.predict("--below", "0.7")
    assert "brings its own layer" in " ".join(done.out.split())
    for line in read_rows(bench.out):
        assert line["labels"][1] == ("Contradiction" if line["lm"] == "second" else turned)
    bench.out.unlink()
    own = bench.predict("--second-program", save("q", lm("strong")))
    assert "brings its own" not in own.out
    assert {line["labels"][1] for line in read_rows(bench.out)} == {turned}


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "ray"], "--second-lm asks as it goes"),
        (["--second-price", "x"], "--second-price 'x'"),
        (["--second-api-base", "host"], "--second-api-base 'host'"),
        (["--below", "1.5"], "--below"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_asked(bench: Bench, words: list[str], said: str) -> None:
    refused = bench.predict(*words)
    assert refused.code == 2
    assert said in refused.err
    assert bench.weak.asked == bench.strong.asked == []


def test_options_of_a_second_lm_go_with_one(bench: Bench) -> None:
    at = ["--task", "track1", "--program", bench.folder / "p", "--data", bench.data, "--out", bench.out]
    alone = bench.aisr("predict", *at, "--below", "0.5")
    assert alone.code == 2
    assert "--below goes with --second-lm" in alone.err
    local = [*at, "--lm", "openai/weak", "--api-base", bench.weak.url]
    unsaid = bench.aisr("predict", *local, "--second-lm", "openai/strong")
    assert "give --second-api-base ADDRESS" in unsaid.err


def dev(*sure: float | None) -> Records:
    """Dev records that took one call each of 40 bytes, which is ten tokens, and an answer of five."""
    about = About(
        task="track1", labels=[], evidence=False, title="t", program="d", lm="m", data="dev", score=0, interval=(0, 0)
    )
    said = [Statement(text="s", gold=["Supported"], said="Supported")]
    rows = [
        JudgedRecord(
            id=f"r{k}", right=True, confidence=one, failure=None, statements=said, exhibits=[],
            calls=[Call(messages=[("user", 0)], answer="a" * 20)],
        )
        for k, one in enumerate(sure)
    ]  # fmt: skip
    return Records(about=about, texts=["x" * 40], records=rows)


def test_an_estimate_says_what_share_the_second_would_be_asked() -> None:
    found = foretell(dev(0.9, 0.71, 0.69, None), 200, Price(1.0, 2.0), Behind(dev(0.9, 0.7, 0.9, 0.9), None, 0.7))
    assert (found.first.calls, found.first.prompt_tokens, found.first.completion_tokens) == (200, 2000, 1000)
    assert found.first.usd == pytest.approx((2000 + 2 * 1000) / 1e6)
    assert (found.unsure, found.known, found.dev) == (2, 3, 4)
    assert found.second is not None
    assert (found.second.calls, found.second.prompt_tokens, found.second.usd) == (100, 1000, None)
    assert foretell(dev(0.9), 10, None).second is None


def test_the_command_estimates_from_what_the_compile_left_and_sends_nothing(bench: Bench) -> None:
    none = bench.predict("--estimate")
    assert none.code == 2
    assert "no records.json" in none.err
    (bench.folder / "p" / "records.json").write_text(dev(0.9, 0.5).model_dump_json())
    told = bench.predict("--estimate")
    assert told.code == 0, told.err
    assert "6 records" in told.out
    assert "1 (50.0 %) would go to the second LM as well: about 3 LM calls" in " ".join(told.out.split())
    assert bench.weak.asked == bench.strong.asked == []
    assert not bench.out.exists()


def test_a_registered_program_tells_as_much_as_its_folder(aisr: Aisr, compiled: Compiled, tmp_path: Path) -> None:
    data = tmp_path / "five.jsonl"
    data.write_text("".join((SAMPLE / "track1" / "test.jsonl").read_text().splitlines(keepends=True)[:5]))
    at = ["--task", "track1", "--data", data, "--out", tmp_path / "out", *compiled.lm, "--estimate", "--price", "1,1"]
    told = [aisr("predict", *at, "--program", one) for one in ("models:/aisr-track1@champion", compiled.folder())]
    assert told[0].code == 0, told[0].err
    assert told[0].out == told[1].out
    assert "5 records, each as long as those of dev: about" in " ".join(told[0].out.split())
