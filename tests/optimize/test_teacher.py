"""A teacher has a server and a price of its own, and records go to no other than was said."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from aisr.optimize.decision_fit import judge_fairly
from aisr.optimize.demos import in_prompt
from aisr.optimize.examples import prepare_one
from aisr.optimize.optimizers import Reflection, compile_candidates
from aisr.optimize.search import Candidate, Search, Settings, describe_confusion, objective
from aisr.predict.judge import judge_all
from aisr.programs.context24_text.task import CONTEXT24_TEXT
from aisr.programs.track1.task import TRACK1
from support.commands import sets
from support.loopback import HttpRequest, Loopback, prompt_tokens, serve
from support.paths import SAMPLE
from support.scripted import claim, corpus, examples, flat, question, requests, right, scripted, wording

Aisr = Callable[..., Any]
FEW = (*sets("limits.train=8", "limits.dev=4", "limits.test=2", "search.candidates=2", "search.decide=false"),)
FEW += ("--demos", 2)
TEACHER = ["--teacher-lm", "openai/strong"]


def compile_(aisr: Aisr, tmp_path: Path, student: Loopback, *words: object) -> Any:
    at = ["--task", "track1", "--data", SAMPLE / "track1", "--lm", "openai/weak", "--api-base", student.url]
    return aisr("compile", *at, "--artifacts", tmp_path, "--name", "taught", "--no-track", *FEW, *words)


def models(server: Loopback) -> set[str]:
    return {request.body["model"] for request in server.requests}


def refusing(request: HttpRequest) -> tuple[int, str]:
    return 401, json.dumps({"error": {"message": "no such key", "type": "invalid_request_error"}})


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (TEACHER, "teacher.api_base=ADDRESS, the same one if it serves both, or --set teacher.api_base=provider"),
        ([*TEACHER, "--set", "teacher.api_base=provider"], "--teacher-lm openai/strong needs OPENAI_API_KEY"),
        (["--set", "teacher.price=1,2"], "teacher.price goes with --teacher-lm"),
        (
            [*TEACHER, "--set", "teacher.api_base=http://127.0.0.1:9", "--max-usd", "1", "--set", "lm.price=0,0"],
            "the price of openai/strong is unknown; give it by --set teacher.price=",
        ),
    ],
)
def test_what_cannot_be_a_teacher_is_refused_by_the_name_of_its_option(
    aisr: Aisr, tmp_path: Path, loopback: Loopback, words: list[str], message: str
) -> None:
    finished = compile_(aisr, tmp_path, loopback, *words)
    assert finished.code == 2
    assert message in finished.err
    assert loopback.requests == []


@pytest.mark.parametrize(("optimizer", "teacher"), [("gepa", "strong"), ("mipro", "o3")])
def test_each_server_is_asked_for_its_own_model(
    aisr: Aisr, tmp_path: Path, loopback: Loopback, optimizer: str, teacher: str
) -> None:
    with serve() as other:
        lm = ["--teacher-lm", f"openai/{teacher}", "--set", f"teacher.api_base={other.url}"]
        finished = compile_(aisr, tmp_path, loopback, *lm, "--optimizer", optimizer)
    assert finished.code == 0, finished.err
    assert models(loopback) == {"weak"}
    assert models(other) == {teacher}
    manifest = (tmp_path / "track1" / "taught" / "manifest.json").read_text(encoding="utf-8")
    assert json.loads(manifest)["teacher"]["spec"] == f"openai/{teacher}"
    assert other.url not in manifest
    assert "teacher.api_base=…" in json.loads(manifest)["command"]


def test_what_a_teacher_costs_is_counted_at_its_own_price(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    """A million dollars a million tokens of the teacher: its first answer of some 200 and 20 tokens ends the search."""
    with serve() as other:
        finished = compile_(
            aisr, tmp_path, loopback, *TEACHER, "--set", f"teacher.api_base={other.url}", "--optimizer", "bootstrap",
            *sets("lm.price=0,0", "teacher.price=1000000,1000000"), "--max-usd", 100, "--set", "lm.threads=1",
        )  # fmt: skip
    assert finished.code == 0, finished.err
    assert len(other.requests) == 1
    usd = prompt_tokens(other.requests[0]) + 20
    assert f"stopped early: {usd}.0000 USD are spent and --max-usd is 100" in finished.out
    spend = json.loads((tmp_path / "track1" / "taught" / "manifest.json").read_text(encoding="utf-8"))["spend"]
    assert spend["usd"] == usd
    assert spend["calls"] == len(loopback.requests) + 1


def test_a_teacher_that_never_answers_is_told_of(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    with serve() as other:
        other.reply = refusing
        lm = [*TEACHER, "--set", f"teacher.api_base={other.url}"]
        finished = compile_(aisr, tmp_path, loopback, *lm, "--optimizer", "random-search")
        assert other.requests
    assert finished.code == 2
    assert re.search(r"every call of the teacher, openai/strong, failed, the first with LMAuthError: ", finished.err)
    assert "than uncompiled" not in finished.out
    assert not (tmp_path / "track1" / "taught" / "program.json").exists()


def test_a_teacher_that_a_limit_kept_silent_did_not_fail(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    with serve() as other:
        finished = compile_(
            aisr, tmp_path, loopback, *TEACHER, "--set", f"teacher.api_base={other.url}", "--optimizer", "bootstrap",
            *sets("limits.max_calls=12", "lm.threads=1"),
        )  # fmt: skip
        assert other.requests == []
    assert finished.code == 0, finished.err
    assert "stopped early: 12 LM calls were sent and limits.max_calls is 12" in finished.out


# --- What GEPA is told of the whole of train, and that no instruction keeps what it quotes

QUOTED = "Row 3.1 is Unsupported Entity"  # the beginning of a record of train
RULES = "Compare every number with the evidence before anything else. Take a name that it lacks for new. "


def test_mistakes_over_all_of_train_are_told_by_which_way_they_go() -> None:
    program = TRACK1.build({})
    rows = [claim("Contradiction", "Supported", number=k) for k in (1, 2)] + [claim("Unsupported Entity", number=3)]
    train = [program.prepare(row) for row in rows]
    confusion = describe_confusion(TRACK1, train, judge_all(TRACK1, program, train, scripted(flat)))
    assert "Over all 5 labels" in confusion
    assert (
        "Contradiction was called Supported 2 of 2 times; Unsupported Entity was called Supported 1 of 1" in confusion
    )
    assert "Said too often: Supported (5 times, right 2)" in confusion
    assert describe_confusion(TRACK1, train, judge_all(TRACK1, program, train, scripted(right))) == ""
    assert describe_confusion(CONTEXT24_TEXT, [], []) == ""


def test_what_an_instruction_quotes_is_cut_out_of_it_but_for_words_of_the_uncompiled_one() -> None:
    program = TRACK1.build({})
    own = " ".join(program.judging.signature.instructions.split()[:12])
    rows = [*corpus(TRACK1), claim("Supported").model_copy(update={"sentences": [own]})]
    cleaned = Reflection(program, [program.prepare(row) for row in rows], "").without_quotes
    kept = cleaned(f"{RULES}For example: {QUOTED.upper()}, is supported. Then answer.")
    assert "Compare every number" in kept
    assert "Then answer." in kept
    assert "ROW" not in kept
    for free in (RULES, f"{RULES}Say that 3.1 is unsupported entity.", own):  # six words in a row are a quote
        assert cleaned(free) == free
    with pytest.raises(ValueError, match="quotes records of train"):
        cleaned(f"Look. {QUOTED} is Supported.")


def test_gepa_is_told_the_confusion_and_its_candidates_quote_nothing() -> None:
    program = TRACK1.build({})
    rows = examples(TRACK1, program)
    train, dev = rows[:8], rows[8:]

    def answer(request: Any) -> str:
        if "sentence_labels" in str(request.system) and "## sentences ##" in question(request):
            return right(request) if "Compare every number" in wording(request) else flat(request)
        return json.dumps({"new_instruction": f"{RULES}Remember: {QUOTED} is Supported.", "shortened_instruction": "x"})

    lm = scripted(answer)
    work = Search(
        TRACK1, program, train, dev, lambda: objective(TRACK1, train, judge_all(TRACK1, program, train, lm)),
        Settings(demos=0, candidates=1), lm, lm, lambda text: None,
    )  # fmt: skip
    candidates = compile_candidates("gepa", work, [Candidate("uncompiled", program)])
    prompts = [wording(request) for request in requests(lm) if "new_instruction" in wording(request)]
    assert prompts
    assert all("was called Supported" in text and "Quote no sentence" in text for text in prompts)
    assert len(candidates) == 2
    written = candidates[1].program.predictors()[0].signature.instructions
    assert "Compare every number" in written
    assert not in_prompt(candidates[1].program, train[2])


def test_a_record_that_an_instruction_quotes_counts_as_read_by_the_prompt() -> None:
    """Whoever wrote it: the decision layer is not fitted on such a record, nor on others of its group."""
    program = TRACK1.build({})
    rows = [prepare_one(TRACK1, program.prepare, record) for record in corpus(TRACK1)]
    lm = scripted(right)
    assert len(judge_fairly(TRACK1, program, rows, lm, lambda: None)) == 12
    program.judging.signature = program.judging.signature.with_instructions(f"{RULES} {QUOTED}")
    assert [in_prompt(program, row.example) for row in rows] == [k == 2 for k in range(12)]
    assert len(judge_fairly(TRACK1, program, rows, lm, lambda: None)) == 11
