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
from aisr.lm.open import open_config
from aisr.lm.recorded import recording
from support import scripted
from support.commands import Aisr, Finished
from support.corpora import beginning
from support.loopback import HttpRequest, Loopback, Reply, add_logprobs, completion, judged, serve
from support.paths import SAMPLE

FEW = ("--max-train", "10", "--max-dev", "6", "--max-test", "4", "--candidates", "2", "--demos", "2")
DATA = SAMPLE / "track1"
NONSENSE = "I would rather not say."


def compile_(aisr: Aisr, root: Path, *words: object) -> Finished:
    at = ["--task", "track1", "--data", DATA, "--artifacts", root, "--name", "it", "--no-track"]
    return aisr("compile", *at, *FEW, *words)


def packed(*lines: Any) -> bytes:
    return gzip.compress("".join(f"{json.dumps(line)}\n" for line in lines).encode(), mtime=0)


def saved(root: Path) -> dict[str, Any]:
    """What a compile must come to again."""
    folder = root / "track1" / "it"
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    names = ("digest", "champion", "lm", "teacher", "scores", "gain_on_dev", "gain_on_test")
    reports = {name: (folder / name).read_text(encoding="utf-8") for name in ("program.json", "report.json")}
    pages = {"records": json.loads((folder / "records.json").read_text(encoding="utf-8"))}
    return {name: manifest[name] for name in names} | reports | pages


def hard_to_please(request: HttpRequest) -> Reply:
    """Answers with log-probabilities. A paragraph of four sentences gets an answer only after a complaint, one of three
    never."""
    count = len(json.loads(scripted.field(request.question, "sentences") or ""))
    if count == 3 or (count == 4 and "correction" not in request.question):
        return NONSENSE
    body = json.loads(completion(request, judged(request)))
    sure = -0.1 - count / 10
    add_logprobs(body, {"Supported": sure, "Contradiction": -2.5}, chosen=sure)
    return 200, json.dumps(body)


KNN = ["--optimizer", "knn"]


@pytest.fixture(scope="module")
def recorded(aisr: Aisr, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The recording of a compile into `first` beside it, by a server that is gone."""
    root = tmp_path_factory.mktemp("recorded")
    with serve() as server:
        server.reply = hard_to_please
        words = [*KNN, "--lm", "openai/local", "--api-base", server.url, "-L", "logprobs=true"]
        first = compile_(aisr, root / "first", *words, "--record", root / "answers.jsonl.gz")
        assert first.code in (0, 1), first.err  # 1: some record failed
        assert f"wrote {root / 'answers.jsonl.gz'}: {len(server.requests)} answers" in first.out
    return root / "answers.jsonl.gz"


def test_a_compile_is_repeated_without_its_server_and_other_commands_are_served(
    aisr: Aisr, tmp_path: Path, recorded: Path
) -> None:
    lm = ["--lm", f"recorded:{recorded}"]
    second = compile_(aisr, tmp_path, *lm, *KNN)
    assert second.code in (0, 1), second.err
    repeated = saved(tmp_path)
    assert repeated == saved(recorded.with_name("first"))
    assert "\n0 LM calls (+" in second.out
    answers = gzip.decompress(recorded.read_bytes()).decode()
    assert NONSENSE in answers
    assert '"top_logprobs":[{' in answers

    test = beginning(DATA / "test.jsonl", 4, tmp_path / "test.jsonl")
    at = ["--task", "track1", "--program", tmp_path / "track1" / "it", "--data", test]
    predicted = aisr("predict", *at, *lm, "--out", tmp_path / "predictions.jsonl")
    assert predicted.code in (0, 1), predicted.err
    aisr("evaluate", *at, *lm, "--no-track", "--output", tmp_path / "report.json")
    score = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["score"]
    assert score == repeated["scores"]["test"]["score"]


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


def test_an_unknown_prompt_ends_a_compile(aisr: Aisr, tmp_path: Path, recorded: Path) -> None:
    """Its own draws are the first unknown ones. DSPy's optimizers take any error for a failed record and go on."""
    words = ["--optimizer", "bootstrap", "--budget", "light", "-L", "threads=1"]
    finished = compile_(aisr, tmp_path / "second", "--lm", f"recorded:{recorded}", *words)
    assert finished.code == 2
    assert "holds no answer to a prompt" in finished.err
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
    loopback.reply = judged
    again = compile_(aisr, tmp_path / "again", *lm, *words, "--record", file)
    assert "no answer came" not in again.out
    answers = {str(request.body) for request in loopback.requests}
    assert f"wrote {file}: {len(answers)} answers" in again.out  # those of the cache, too


HEADER = {"format": 1, "aisr": "0.1.0", "lms": {}}
ANSWER = {"call": "0", "outputs": ["a"], "finish": ["stop"]}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, ":1: No such file or directory; expected a recording, which `aisr compile"),
        (packed(HEADER, {**ANSWER, "outputs": [1]}), r":2: outputs\[0\]"),
        (packed(HEADER)[:-9], ":2: Compressed file ended"),
        (packed(HEADER, ANSWER), ": that compile had no such LM"),
    ],
    ids=["no file", "no answer", "cut", "another LM"],
)
def test_what_is_no_recording_is_refused_with_its_line(tmp_path: Path, content: bytes | None, message: str) -> None:
    file = tmp_path / "answers.jsonl.gz"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(api.LMUnavailable, match=f"{file}{message}"):
        api.open_lm(f"recorded:{file}")


def test_keys_and_prompts_are_not_in_a_recording(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-7f3a91")
    lm = scripted.scripted(lambda request: "the key is sk-planted-7f3a91")
    file = tmp_path / "answers.jsonl.gz"
    with recording(file, {"lm": lm}) as recorder:
        assert lm("What is the key?") == ["the key is <OPENAI_API_KEY>"]
    assert str(recorder) == "1 answer"
    text = gzip.decompress(file.read_bytes()).decode()
    assert "planted" not in text
    assert "What is" not in text
    assert open_config(LMConfig(f"recorded:{file}"), Ledger())("What is the key?") == ["the key is <OPENAI_API_KEY>"]
