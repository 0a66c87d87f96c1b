"""A compile that recorded the answers of its LMs is repeated from the file alone."""

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

import aisr as api
from aisr.lm.budget import Ledger
from aisr.lm.config import LMConfig
from aisr.lm.open import open_lm
from aisr.lm.recorded import recording
from support import scripted
from support.commands import Aisr, Finished
from support.loopback import HttpRequest, Loopback, Reply, add_logprobs, completion, judged, serve
from support.paths import SAMPLE

FEW = ("--max-train", "10", "--max-dev", "6", "--max-test", "4", "--candidates", "2", "--demos", "2")
DATA = SAMPLE / "track1"
NONSENSE = "I would rather not say."


def compile_(aisr: Aisr, root: Path, *words: object) -> Finished:
    at = ["--task", "track1", "--data", DATA, "--artifacts", root, "--name", "it", "--no-track"]
    return aisr("compile", *at, *FEW, *words)


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def write_lines(path: Path, lines: list[Any]) -> Path:
    path.write_bytes(gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode()))
    return path


def saved(root: Path) -> dict[str, Any]:
    """What a compile must come to again."""
    folder = root / "track1" / "it"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    names = ("digest", "champion", "label_weights", "lm", "teacher", "scores", "gain_on_dev", "gain_on_test")
    reports = {name: (folder / name).read_text(encoding="utf-8") for name in ("program.json", "report.json")}
    pages = {"records": json.loads((folder / "records.json").read_text(encoding="utf-8"))}
    return {name: manifest[name] for name in names} | reports | pages


def hard_to_please(request: HttpRequest) -> Reply:
    """Answers with log-probabilities. One paragraph in three gets an answer only after a complaint, and one never."""
    words = request.question.split()
    repairing = any("correction" in word for word in words)
    if "sentences" in request.question and len(request.question) % 3 == 0 and not repairing:
        return NONSENSE
    if "sentences" in request.question and len(request.question) % 10 == 0:
        return NONSENSE
    body = json.loads(completion(request, judged(request)))
    label = re.search(
        r'"(Supported|Unsupported[^"]*|Scope[^"]*|Contradiction)"', body["choices"][0]["message"]["content"]
    )
    if label and request.body.get("logprobs"):
        sure = -0.1 - len(request.question) % 7 / 10
        add_logprobs(body, {label[1]: sure, "Contradiction": -2.5}, chosen=sure)
    return 200, json.dumps(body)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--optimizer", "knn"], id="knn with label weights"),
        pytest.param(["--optimizer", "random-search", "--budget", "light"], id="rollouts"),
    ],
)
def test_a_compile_is_repeated_without_its_server(aisr: Aisr, tmp_path: Path, words: list[str]) -> None:
    file = tmp_path / "answers.jsonl.gz"
    with serve() as server:
        server.reply = hard_to_please
        lm = ["--lm", "openai/local", "--api-base", server.url]
        first = compile_(aisr, tmp_path / "first", *lm, *words, "--record", file)
        assert first.code in (0, 1), first.err  # 1: some record failed
        asked = len(server.requests)
    second = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{file}", *words)
    assert second.code == first.code, second.err
    assert saved(tmp_path / "second") == saved(tmp_path / "first")
    assert f"wrote {file}: {asked} answers" in first.out
    assert "\n0 LM calls (+" in second.out
    assert any(NONSENSE in str(line) for line in lines_of(file))
    assert any("top_logprobs" in str(line) for line in lines_of(file))


def test_a_teacher_is_recorded_in_the_same_file(aisr: Aisr, tmp_path: Path) -> None:
    file, words = tmp_path / "answers.jsonl.gz", ["--optimizer", "gepa", "--budget", "light"]
    with serve() as server, serve() as other:
        other.reply = lambda request: "Reflected."
        lms = ["--lm", "openai/weak", "--api-base", server.url, "--teacher-lm", "openai/strong"]
        teacher = ["-L", f"teacher.api_base={other.url}"]
        first = compile_(aisr, tmp_path / "first", *lms, *teacher, *words, "--record", file)
        assert first.code == 0, first.err
        assert other.requests
    lms = ["--lm", f"recorded:{file}", "--teacher-lm", f"recorded:{file}"]
    second = compile_(aisr, tmp_path / "second", *lms, *words)
    assert second.code == 0, second.err
    assert saved(tmp_path / "second") == saved(tmp_path / "first")
    assert saved(tmp_path / "second")["teacher"]["spec"] == "openai/strong"
    # GEPA takes a reflection that is lacking for a round that failed, and goes on to the same champion.
    rest = [line for line in lines_of(file) if "Reflected" not in str(line)]
    lms = [word.replace(str(file), str(write_lines(tmp_path / "rest.jsonl.gz", rest))) for word in lms]
    third = compile_(aisr, tmp_path / "third", *lms, *words)
    assert third.code == 2, third.out
    assert "holds no answer to a prompt" in third.err
    assert not (tmp_path / "third" / "track1" / "it" / "program.json").exists()


@pytest.fixture
def recorded(aisr: Aisr, tmp_path: Path) -> Path:
    """The recording of a compile into `first`, by a server that is gone, with answers that the cache had already."""
    file = tmp_path / "answers.jsonl.gz"
    with serve() as server:
        lm = [
            "--lm",
            "openai/local",
            "--api-base",
            server.url,
            "--optimizer",
            "labeled",
            "--budget",
            "light",
        ]
        assert compile_(aisr, tmp_path / "zeroth", *lm).code == 0
        asked = len(server.requests)
        finished = compile_(aisr, tmp_path / "first", *lm, "--record", file)
        assert finished.code == 0, finished.err
        assert len(server.requests) == asked
    assert f"wrote {file}: {asked} answers\n" in finished.out
    return file


def test_answers_of_the_cache_are_recorded_and_serve_other_commands(aisr: Aisr, tmp_path: Path, recorded: Path) -> None:
    test = tmp_path / "test.jsonl"
    lines = (DATA / "test.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    test.write_text("".join(lines[:4]), encoding="utf-8")
    folder, lm = tmp_path / "first" / "track1" / "it", ["--lm", f"recorded:{recorded}"]
    at = ["--task", "track1", "--program", folder, "--data", test]
    predicted = aisr("predict", *at, *lm, "--out", tmp_path / "predictions.jsonl")
    assert predicted.code == 0, predicted.err
    evaluated = aisr("evaluate", *at, *lm, "--no-track", "--output", tmp_path / "report.json")
    assert evaluated.code == 0, evaluated.err
    score = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["score"]
    assert score == saved(tmp_path / "first")["scores"]["test"]["score"]
    opened = api.open_lm(f"recorded:{recorded}")
    assert all(judged.failure is None for judged in api.load(folder).judge_all(map(json.loads, lines[:4]), opened))
    spend = opened.spend
    assert (spend["calls"], spend["cached_calls"], spend["usd"]) == (0, 4, 0.0)
    with pytest.raises(api.LMUnavailable, match="it held those to 4 of 5 prompts so far"):
        api.load(folder).judge(json.loads(lines[4]), opened)


def test_a_recorded_lm_has_an_estimate(aisr: Aisr, tmp_path: Path, recorded: Path) -> None:
    estimated = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{recorded}", "--estimate", "--record", recorded)
    assert estimated.code == 2  # it is recorded already
    assert "are recorded already; leave it out" in estimated.err
    estimated = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{recorded}", "--estimate")
    assert estimated.code == 0, estimated.err
    assert not (tmp_path / "second" / "track1").exists()


@pytest.mark.parametrize(
    ("words", "known"),
    [
        pytest.param(["--optimizer", "labeled", "-T", "unit=sentence"], "0 of 1", id="another form"),
        # Its own draws are the first unknown ones. DSPy's optimizers take any error for a failed record and go on.
        pytest.param(["--optimizer", "bootstrap"], r"[1-9]\d* of \d+", id="within an optimizer"),
    ],
)
def test_an_unknown_prompt_ends_a_compile(
    aisr: Aisr, tmp_path: Path, recorded: Path, words: list[str], known: str
) -> None:
    more = ["-L", "threads=1", "--budget", "light"]
    finished = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{recorded}", *words, *more)
    assert finished.code == 2
    expected = (
        rf"holds no answer to a prompt; it held those to {known} prompts so far\. Prompts change with the version"
    )
    assert re.search(expected, finished.err)
    assert "(recorded: --lm openai/local)" in finished.err
    assert not (tmp_path / "second" / "track1" / "it" / "program.json").exists()


def test_a_call_that_failed_is_not_recorded_and_said_so(aisr: Aisr, tmp_path: Path, loopback: Loopback) -> None:
    file, words = tmp_path / "answers.jsonl.gz", ["--optimizer", "labeled", "--budget", "light"]
    refused: list[str] = []

    def reply(request: HttpRequest) -> Reply:
        with loopback.lock:
            refused.extend([request.question] if not refused else [])
        return (400, "no") if request.question in refused else judged(request)

    loopback.reply = reply
    lm = ["--lm", "openai/local", "--api-base", loopback.url]
    first = compile_(aisr, tmp_path / "first", *lm, *words, "--record", file)
    assert re.search(r"answers; no answer came to \d calls?: run the same command again", first.out)
    second = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{file}", *words)
    assert second.code == 2
    assert "holds no answer" in second.err


HEADER = {"format": 1, "aisr": "0.1.0", "lms": {}}
ANSWER = {"call": "0", "outputs": ["a"], "finish": ["stop"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, ":1: No such file or directory; expected a recording, which `aisr compile"),
        (b"", ":1: not JSON"),
        (gzip.compress(b'{"format": 2}\n', mtime=0), r":1: format: unknown value '2'"),
        ([HEADER, ANSWER, ANSWER], ":3: a second answer to the call 0"),
        ([HEADER, {**ANSWER, "outputs": [1]}], r":2: outputs\[0\]"),
        ([HEADER, {**ANSWER, "call": "x" * 2000}], ":2: longer than"),
        (gzip.compress(json.dumps(HEADER).encode(), mtime=0)[:-9], ":1: Compressed file ended"),
        ([HEADER, ANSWER], ": that compile had no such LM"),
    ],
)
def test_what_is_no_recording_is_refused_with_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: Any, message: str
) -> None:
    monkeypatch.setattr("aisr.lm.recorded.LONGEST", 1000)
    file = tmp_path / "answers.jsonl.gz"
    if isinstance(content, list):
        write_lines(file, content)
    elif content is not None:
        file.write_bytes(content)
    with pytest.raises(api.LMUnavailable, match=f"{file}{message}"):
        api.open_lm(f"recorded:{file}")


def test_no_other_file_is_replaced_and_nothing_is_left_of_a_compile_that_ends_early(
    aisr: Aisr, tmp_path: Path, loopback: Loopback
) -> None:
    loopback.reply = lambda request: (401, "{}")
    lm = ["--lm", "openai/local", "--api-base", loopback.url, "--optimizer", "labeled"]
    taken = tmp_path / "mine.txt"
    taken.write_text("mine", encoding="utf-8")
    finished = compile_(aisr, tmp_path / "first", *lm, "--record", taken)
    assert finished.code == 2
    assert f"--record {taken} exists and is no recording" in finished.err
    assert taken.read_text(encoding="utf-8") == "mine"
    assert compile_(aisr, tmp_path / "first", *lm, "--record", tmp_path / "new.jsonl.gz").code == 2
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["mine.txt"]


def test_keys_and_prompts_are_not_in_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-7f3a91")
    lm = scripted.scripted(lambda request: "the key is sk-planted-7f3a91")
    file = tmp_path / "answers.jsonl.gz"
    with recording(file, {"lm": lm}) as recorder:
        assert lm.lm("What is the key?") == ["the key is <OPENAI_API_KEY>"]
    assert str(recorder) == "1 answer"
    text = gzip.decompress(file.read_bytes()).decode()
    assert "planted" not in text
    assert "What is" not in text
    assert open_lm(LMConfig(f"recorded:{file}"), Ledger()).lm("What is the key?") == ["the key is <OPENAI_API_KEY>"]


def test_a_call_that_is_made_again_gets_the_recorded_answer(tmp_path: Path) -> None:
    """As where two threads ask the same at once: DSPy's cache has nothing for either, and an LM that draws answers
    differently."""
    lm = scripted.scripted(["first", "second", "third"])
    drawing = lm.lm.copy(temperature=1.0, cache=False)
    file = tmp_path / "answers.jsonl.gz"
    with recording(file, {"lm": lm}):
        drawing.recorder = lm.lm.recorder
        answers = [drawing("Draw."), drawing("Draw."), drawing("Draw.", rollout_id=1)]
    assert answers == [["first"], ["first"], ["third"]]
    again = open_lm(LMConfig(f"recorded:{file}"), Ledger()).lm.copy(temperature=1.0)
    assert [again("Draw."), again("Draw.", rollout_id=1)] == [["first"], ["third"]]
    assert [line["finish"] for line in lines_of(file)[1:]] == [["stop"], ["stop"]]
