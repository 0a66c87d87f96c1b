"""docs/dspy.md: plain GEPA of DSPy on our program and metric, to a submission; and the two forms of file."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import dspy
import pytest

import aisr
from aisr.programs.track1 import TRACK1
from support import scripted
from support.corpora import write
from support.loopback import HttpRequest, Loopback, judged
from support.paths import ROOT, SAMPLE

SCRIPT = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "dspy.md").read_text("utf-8"), re.DOTALL)[0]
MODEL = '"openai/gpt-4o-mini"'
LESSON = "Reading matters."
TRACK1_JSON = ROOT / "artifacts" / "example-track1" / "program.json"


def reader(request: HttpRequest) -> str:
    """Writes an instruction where one is asked for, and labels rightly under that instruction alone."""
    if scripted.field(request.question, "sentences") is None:
        return scripted.written(request.question, {"new_instruction": LESSON})
    is_taught = LESSON in str(request.body["messages"][0])
    return scripted.right_answer(request.question) if is_taught else judged(request)


def test_the_page_goes_from_records_to_a_submission(loopback: Loopback, tmp_path: Path) -> None:
    loopback.reply = reader
    records = [record.model_dump(mode="json") for record in scripted.corpus(TRACK1, 20)]
    (tmp_path / "data" / "t1").mkdir(parents=True)
    for name in ("t1/train", "t1/dev", "test-inputs"):
        write(tmp_path / "data" / f"{name}.jsonl", records)
    server = f'"openai/local", api_base="{loopback.url}"'
    script = SCRIPT.replace(f"dspy.LM({MODEL}", f'dspy.LM({server}, api_key="none"')
    script = script.replace(f"open_lm({MODEL}", f"open_lm({server}, price=(0, 0)").replace("390", "120")
    words = [sys.executable, "-c", script]
    run = subprocess.run(words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True)
    assert run.returncode == 0, run.stderr.decode()[-2000:]
    before, after = re.findall(r"^(?:uncompiled|GEPA) (\S+)$", run.stdout.decode(), re.MULTILINE)
    assert float(before) < float(after) == 1
    program = aisr.load(tmp_path / "artifacts" / "track1" / "plain-gepa")
    assert program.module.main_predictor.signature.instructions == LESSON
    with zipfile.ZipFile(tmp_path / "runs" / "gepa.zip") as pack:
        assert len(pack.read("track1_pred.jsonl").splitlines()) == len(records)


def test_a_right_record_is_perfect_to_gepa_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    examples = aisr.examples("track1", scripted.corpus(TRACK1, 20))
    gold = TRACK1.score([one.gold for one in examples], [one.sentence_labels for one in examples])
    metric = aisr.metric("track1", baseline=gold)
    first = examples[0]
    right = dspy.Prediction(sentence_labels=first.sentence_labels)
    wrong = dspy.Prediction(sentence_labels=["Supported"] * len(first.sentence_labels))
    assert metric.with_feedback(first, right).score == metric.threshold == metric(first, right, trace=[])
    assert metric.with_feedback(first, wrong).score < 1
    assert "right is" in metric.with_feedback(first, wrong).feedback
    assert metric(first, wrong, trace=[]) == 0
    assert aisr.corpus_score("track1", [(first, right), (first, None)]).parts["pem"] == 0.5


def test_a_module_reads_both_forms_of_file_and_names_fields_that_were_moved(tmp_path: Path) -> None:
    module, copy = aisr.Track1(), aisr.Track1()
    module.load(TRACK1_JSON)
    assert module.options.demos_per_record == 4
    module.save(tmp_path / "state.json")
    copy.load(tmp_path / "state.json")
    assert copy.label.demos == module.label.demos
    assert aisr.save(module, "track1", tmp_path / "mine").digest == aisr.load(TRACK1_JSON.parent).digest
    with pytest.raises(aisr.UserError, match="there is a program already"):
        aisr.save(module, "track1", tmp_path / "mine")
    with pytest.raises(aisr.UserError, match="a Track1; expected one of Track2"):
        aisr.save(module, "track2", tmp_path / "other")
    state = (tmp_path / "state.json").read_text("utf-8").replace('"Evidence:"', '"Proof:"')
    (tmp_path / "state.json").write_text(state, "utf-8")
    with pytest.raises(aisr.UserError, match=r"label: fields 'Proof', 'Sentences'.*has 'Evidence', 'Sentences'"):
        copy.load(tmp_path / "state.json")


@pytest.mark.parametrize("content", [b"[]", b"\xff", b'{"label": 1}', b'{"format": 9}'])
def test_a_file_that_is_no_program_is_refused_in_a_line(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_bytes(content)
    with pytest.raises(aisr.UserError, match=r"odd\.json: .+") as refused:
        aisr.Track1().load(tmp_path / "odd.json")
    assert "\n" not in str(refused.value)


def test_records_without_gold_are_named() -> None:
    unlabelled = aisr.examples("track1", SAMPLE / "track1" / "test-inputs.jsonl")
    with pytest.raises(aisr.UserError, match="no labelled examples; give train"):
        aisr.metric("track1", unlabelled)
    with pytest.raises(aisr.UserError, match="example 0 has no gold"):
        aisr.corpus_score("track1", [(unlabelled[0], None)])
    with pytest.raises(aisr.UserError, match=r"records\[0\]: evidence_bundle: missing"):
        aisr.examples("track1", [{"claim_text": "x"}])
