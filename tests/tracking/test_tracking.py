"""Compiles and evaluations as MLflow runs, champions as versions with an alias; no key and no pickle anywhere."""

import json
import os
import re
import shutil
import signal
import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import dspy
import pytest

import aisr as aisr_api
from aisr.artifact.manifest import read_manifest
from aisr.artifact.program import load_program
from aisr.base.files import BadArtifact, digest_text
from aisr.judging.judge import judge
from aisr.programs.track1 import TRACK1
from aisr.tracking import runs
from aisr.tracking.prompts import register_prompts
from aisr.tracking.registry import NotPromoted, load, promote, register
from aisr.tracking.store import open_store
from support import corpora, servers
from support.commands import Aisr, as_process
from support.compiled import KEY, TOKEN, Compiled, compile_words
from support.corpora import read_rows
from support.golden_prompts import messages
from support.loopback import Loopback
from support.paths import ROOT, SAMPLE
from support.runs import save_program
from support.scripted import claim, requests, right, scripted

TEST = SAMPLE / "track1" / "test.jsonl"
MODEL = "models:/aisr-track1"
CHAMPION = f"{MODEL}@champion"


class Logged(NamedTuple):
    """An artifacts folder with two compiles of Track 1, `first` and `second`, and an `evaluation` of the first, logged
    one after the other."""

    root: Path
    client: Any
    runs: dict[str, Any]  # name -> MLflow run

    def folder(self, name: str) -> Path:
        return self.root / "track1" / name


@pytest.fixture(scope="module")
def logged(compiled: Compiled, tmp_path_factory: pytest.TempPathFactory, aisr: Aisr) -> Logged:
    made = compiled.copied(tmp_path_factory.mktemp("logged") / "artifacts")
    commands: list[list[object]] = [
        [*compile_words("track1", "second", "bootstrap", made.lm), "-T", "verbalized_confidence=true"],
        ["promote", "models:/aisr-track1/2", "--anyway", "--artifacts", made.root],
        ["evaluate", "--task", "track1", "--program", made.folder(), "--data", TEST, "--limit", 6, *made.lm],
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", KEY)
        patch.chdir(made.root.parent)
        for words in commands:
            finished = aisr(*words)
            assert finished.code == 0, finished.err
    client = open_store(made.root).MlflowClient()
    (experiment,) = [e for e in client.search_experiments() if e.name == "aisr track1"]
    runs = client.search_runs([experiment.experiment_id], order_by=["start_time"])
    return Logged(made.root, client, dict(zip(("first", "second", "evaluation"), runs, strict=True)))


def test_a_run_has_the_scores_the_spend_and_the_search_of_its_compile(logged: Logged) -> None:
    manifest, run = read_manifest(logged.folder("first") / "manifest.json"), logged.runs["first"]
    metrics, tags = run.data.metrics, run.data.tags
    for split in ("dev", "test", "baseline_dev"):
        score = manifest.scores[split]
        stored = [metrics[f"{split}_{part}"] for part in ("score", "score_low", "score_high")]
        assert stored == [round(value, 4) for value in (score.score, *score.interval)]  # as a person reads it
    assert metrics["lm_calls"] == manifest.spend["calls"] > 0
    assert metrics["usd"] == pytest.approx(manifest.spend["usd"], abs=1e-6)
    steps = logged.client.get_metric_history(run.info.run_id, "candidates/dev_score")
    assert [one.step for one in steps] == list(range(len(steps)))
    assert metrics["dev_score"] == max(one.value for one in steps)
    assert tags["mlflow.runName"] == "first · labeled · openai/gpt-4o-mini"
    assert (tags["aisr.kind"], tags["aisr.candidate"]) == ("compile", manifest.champion)
    assert tags["mlflow.note.content"] == f"    {manifest.command}"


def test_the_champion_is_promoted_and_the_former_one_is_kept(logged: Logged) -> None:
    for alias, version, name in (("champion", "2", "second"), ("previous", "1", "first")):
        version_of_alias = logged.client.get_model_version_by_alias("aisr-track1", alias)
        in_folder, registered = load_program(logged.folder(name)), load(f"{MODEL}@{alias}", logged.root)
        assert str(version_of_alias.version) == version
        assert version_of_alias.tags["aisr.digest"] == registered.digest == in_folder.digest
        assert version_of_alias.run_id == logged.runs[name].info.run_id
        assert registered.program.dump_state() == in_folder.program.dump_state()


def version_files(root: Path, name: str) -> list[Path]:
    """The files of this name that registered versions hold, not their runs."""
    return [*(root / ".mlflow" / "files").glob(f"models/*/artifacts/artifacts/{name}")]


def test_a_changed_stored_file_is_refused(compiled: Compiled, tmp_path: Path) -> None:
    root = compiled.copied(tmp_path / "artifacts").root
    for file in version_files(root, "program.json"):
        file.write_bytes(file.read_bytes().replace(b"Judge whether", b"Say whether"))
    with pytest.raises(BadArtifact, match=rf"{CHAMPION}/program.json: .*changed"):
        load(CHAMPION, root)


def test_a_program_knows_its_test_scores_and_a_broken_report_is_named(compiled: Compiled, tmp_path: Path) -> None:
    made = compiled.copied(tmp_path / "artifacts")
    for name, files in (
        (str(made.folder()), [made.folder() / "report.json"]),
        (CHAMPION, version_files(made.root, "report.json")),
    ):
        program = aisr_api.load(name, artifacts=made.root)
        scores = program.test_scores
        assert scores is not None
        assert (scores.records, scores.lm) == (4, "openai/gpt-4o-mini")
        assert set(scores.per_label) <= set(program.labels)
        assert 0 <= (scores.accuracy or 0) <= 1
        for broken in (b'{"test": ', b'{"test": {"records": "few"}}'):
            for file in files:
                file.write_bytes(broken)
            with pytest.raises(BadArtifact, match=rf"^{re.escape(name)}/report.json: "):
                aisr_api.load(name, artifacts=made.root)
    (made.folder() / "report.json").unlink()
    assert aisr_api.load(made.folder()).test_scores is None


def test_nothing_holds_the_key_or_a_pickle_and_all_is_in_the_artifacts_folder(logged: Logged) -> None:
    """Not even MLflow's own ./mlruns is in the working folder."""
    assert [entry.name for entry in logged.root.parent.iterdir()] == ["artifacts"]
    files = [file for file in logged.root.rglob("*") if file.is_file()]
    assert {"mlflow.db", "program.json", "manifest.json", "MLmodel"} <= {file.name for file in files}
    for file in files:
        content = file.read_bytes()
        assert KEY.encode() not in content, file
        assert TOKEN.encode() not in content, file
        assert file.suffix not in (".pkl", ".pickle", ".joblib"), file
        assert not content.startswith((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05")), file  # of a pickle
    # MLflow shows an HTML or SVG artifact as a page: one is logged, in which no text is markup.
    harmless = {".json", ".md", ".png", ".py", ".toml", ".txt", ".yaml", ".yml", ""}
    pages = [file for file in (logged.root / ".mlflow" / "files").rglob("*.*") if file.suffix not in harmless]
    assert {page.name for page in pages if page.is_file()} == {"report.html"}


def test_traces_have_prediction_and_calls_and_each_label_beside_its_gold_label(logged: Logged) -> None:
    """Of five records of the evaluation, of which the first is looked at."""
    run, gold = logged.runs["evaluation"].info, {row["id"]: row["sentence_label"] for row in read_rows(TEST)}
    trace, *others = logged.client.search_traces(locations=[run.experiment_id], run_id=run.run_id)
    assert len(others) == 4
    record, *steps = trace.data.spans
    assert list(record.outputs) == ["labels"]
    assert {"forward", "format", "__call__", "parse"} <= {span.name.partition(".")[2] for span in steps}
    (call,) = [span for span in steps if span.name.endswith("LM.__call__")]
    assert [message["role"] for message in call.inputs["messages"]] == ["system", "user"]
    labels = [" or ".join(sentence["types"]) for sentence in gold[record.name]]
    said = {one.name: (one.value, one.rationale) for one in trace.info.assessments if one.feedback}
    right = {one.name: one.value for one in trace.info.assessments if one.expectation}
    assert list(said) == ["sentence 1", "sentence 2", "sentence 3", "sentence 4", "sentence 5"][: len(labels)]
    assert list(said.values()) == [*zip(record.outputs["labels"], map("gold {}".format, labels), strict=True)]
    assert list(right.values()) == labels
    assert not dspy.settings.track_usage  # nothing goes on tracing
    assert dspy.settings.callbacks == []


def test_of_two_identical_compiles_at_once_the_first_version_stays(
    compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compiled.copied(tmp_path / "artifacts")
    mlflow = open_store(made.root)
    client, manifest = mlflow.MlflowClient(), read_manifest(made.folder() / "manifest.json")
    run = client.get_run(run_of(made, "1"))
    client.delete_model_version("aisr-track1", "1")
    save = mlflow.pyfunc.save_model

    def compile_once() -> str:
        return register(mlflow, TRACK1, made.folder(), manifest, run)

    def while_the_other_registers(*words: Any, **options: Any) -> None:
        monkeypatch.setattr(mlflow.pyfunc, "save_model", save)
        first.append(compile_once())
        save(*words, **options)

    first = list[str]()
    monkeypatch.setattr(mlflow.pyfunc, "save_model", while_the_other_registers)
    assert [compile_once()] == first
    (left,) = client.search_model_versions("name = 'aisr-track1'")
    assert [str(left.version)] == first


def test_the_address_of_a_run_names_the_workspace_and_no_password(
    compiled: Compiled, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, aisr: Aisr
) -> None:
    made = compiled.copied(tmp_path / "artifacts")
    open_store(made.root)
    monkeypatch.setattr("mlflow.get_tracking_uri", lambda: f"https://me:{KEY}@ml.example/")
    for workspace, query in (("", ""), ("one of ours", "?workspace=one%20of%20ours")):
        monkeypatch.setenv("MLFLOW_WORKSPACE", workspace)
        done = aisr("evaluate", "--task", "track1", "--program", made.folder(), *made.lm, "--data", TEST, "--limit", 2)
        assert re.search(rf"run (\w+) · https://ml\.example/#/experiments/\d+/runs/\1{re.escape(query)}\n", done.out), (
            done
        )


# --- versions that are gone, or copies


def test_a_version_loads_without_its_run_and_what_is_gone_is_registered_anew(
    compiled: Compiled, tmp_path: Path, aisr: Aisr
) -> None:
    """The same compile finds its answers in the cache."""
    made = compiled.copied(tmp_path / "artifacts")
    shutil.rmtree(made.root / ".mlflow" / "files" / run_of(made, "1"))
    assert load(CHAMPION, made.root).digest == load_program(made.folder()).digest
    for file in version_files(made.root, "program.json"):
        file.unlink()
    with pytest.raises(BadArtifact, match="the files of version 1 are gone from the store; compile the program again"):
        load(CHAMPION, made.root)
    again = aisr(*compile_words("track1", "first", "labeled", made.lm))
    assert f"registered {CHAMPION} (version 2)" in again.out, again.err
    assert load(CHAMPION, made.root).version == "aisr-track1/2"


def run_of(made: Compiled, version: str) -> str:
    return str(open_store(made.root).MlflowClient().get_model_version("aisr-track1", version).run_id)


def test_a_copy_loads_and_one_without_anything_to_check_it_by_says_so(compiled: Compiled, tmp_path: Path) -> None:
    root = compiled.copied(tmp_path / "artifacts").root
    client = open_store(root).MlflowClient()
    client.copy_model_version(f"{MODEL}/1", "copies")
    for tag in client.get_model_version("copies", "1").tags:
        client.delete_model_version_tag("copies", "1", tag)
    assert load("models:/copies/1", root).digest == load(CHAMPION, root).digest
    for file in version_files(root, "manifest.json"):
        file.unlink()
    with pytest.raises(BadArtifact, match=r"it has lost its tag aisr.digest, .* and holds no manifest.json"):
        load("models:/copies/1", root)


# --- what may be the champion


class Store(NamedTuple):
    """A store with a model `x`, and the folder that its versions' files are made in."""

    mlflow: Any
    folder: Path

    def register(self, score: float, test: str = "t/100", **tags: str) -> str:
        """A version with this score on these test records; its number. tags: `dev`, `train` and `target` say on which
        data it was compiled."""
        files = self.folder / f"{len(list(self.folder.iterdir()))}" / "artifacts"
        files.mkdir(parents=True)
        (files / "program.json").write_text(str(files))
        data = {f"aisr.{name}_data": value for name, value in {"train": "own", "dev": "own", **tags}.items()}
        sample = {"aisr.sample": "true"} if tags.get("train") == "sample" else {}
        known = {"aisr.test_score": str(score), "aisr.test_data": test, "aisr.digest": digest_text(str(files))}
        client = self.mlflow.MlflowClient()
        version = client.create_model_version("x", files.parent.as_uri(), tags={**known, **data, **sample})
        return str(version.version)

    def compile(self, score: float, test: str = "t/100", **tags: str) -> str:
        """The same, promoted as by its compile: what is said of that."""
        return promote(self.mlflow, "x", self.register(score, test, **tags), compiled=True)

    def alias(self, name: str = "champion") -> str:
        return str(self.mlflow.MlflowClient().get_model_version_by_alias("x", name).version)


@pytest.fixture
def store(artifacts: Path, tmp_path: Path) -> Store:
    mlflow, folder = open_store(artifacts), tmp_path / "versions"
    mlflow.MlflowClient().create_registered_model("x")
    folder.mkdir()
    return Store(mlflow, folder)


def test_on_the_same_test_split_a_better_version_takes_over_and_a_worse_one_does_not(store: Store) -> None:
    assert store.compile(0.5) == ""
    with pytest.raises(NotPromoted, match=r"version 2 \(50.0 on test\) is no better than the champion, version 1"):
        store.compile(0.5)
    with pytest.raises(NotPromoted, match="no better"):
        promote(store.mlflow, "x", "2")
    assert store.alias() == "1"
    assert store.compile(0.6) == "version 1 (50.0 on test)"
    assert (store.alias(), store.alias("previous")) == ("3", "1")
    promote(store.mlflow, "x", "2", anyway=True)
    assert (store.alias(), store.alias("previous")) == ("2", "3")


@pytest.mark.parametrize("other", [{"train": "b"}, {"dev": "b"}, {"target": "b"}, {"train": "sample", "dev": "sample"}])
def test_a_compile_on_other_data_takes_over_only_by_hand(store: Store, other: dict[str, str]) -> None:
    store.compile(0.5)
    with pytest.raises(NotPromoted, match=r"version 2 \(90.0 on test\) was compiled on other data than the champion"):
        store.compile(0.9, "u/100", **other)
    assert store.alias() == "1"
    promote(store.mlflow, "x", "2")
    assert store.alias() == "2"


def test_a_compile_on_other_test_records_takes_over_only_by_hand(store: Store) -> None:
    """So a compile on few records, to try one, changes nothing."""
    store.compile(0.5)
    with pytest.raises(NotPromoted, match="not scored on the same test records"):
        store.compile(0.9, "t/50")
    promote(store.mlflow, "x", "2")
    assert store.alias() == "2"


def test_a_champion_of_the_sample_gives_way_to_any_own_data_and_one_whose_files_are_gone_to_any_version(
    store: Store,
) -> None:
    store.compile(0.9, "s/100", train="sample", dev="sample")
    assert store.compile(0.2) == "version 1 (90.0 on test)"
    for file in store.folder.glob("1/artifacts/*"):
        file.unlink()
    store.compile(0.1)
    assert store.alias() == "3"


# --- stores that are not there


def test_a_store_out_of_reach_shows_itself_before_anything_is_spent(
    logged: Logged, aisr: Aisr, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://me:sw0rdfish-9@127.0.0.1:9")
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    lm = ["--lm", "openai/x", "--api-base", loopback.url, "--artifacts", logged.root, "--task", "track1"]
    for words in (
        compile_words("track1", "other", "labeled", lm),
        ["evaluate", "--program", logged.folder("first"), "--data", TEST, "--limit", 2, *lm],
    ):
        finished = aisr(*words)
        assert finished.code == 2
        assert finished.messages[-1].startswith("error: MLFLOW_TRACKING_URI http://127.0.0.1:9: ")
        assert "sw0rdfish-9" not in finished.err
        assert len(finished.messages) == 1
    assert not loopback.requests
    assert aisr(*words, "--no-track").code == 0


def test_what_cannot_be_written_is_one_line_before_anything_is_spent(
    compiled: Compiled, tmp_path: Path, aisr: Aisr, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compiled.copied(tmp_path / "artifacts")
    lm = ["--lm", "openai/x", "--api-base", loopback.url, "--artifacts", made.root]
    words = compile_words("track1", "other", "labeled", lm)
    database = made.root / ".mlflow" / "mlflow.db"
    with monkeypatch.context() as patch:
        patch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///file:{database}?mode=ro&uri=true")
        readonly = aisr(*words)
    assert readonly.code == 2
    assert "the MLflow store does not take a run of the experiment aisr track1" in readonly.err
    assert "readonly database" in readonly.err
    client = open_store(made.root).MlflowClient()
    number = client.get_experiment_by_name("aisr track1").experiment_id
    client.delete_experiment(number)
    for command in (words, ["evaluate", "--task", "track1", "--program", made.folder(), "--data", TEST, *lm]):
        refused = aisr(*command)
        assert refused.code == 2
        assert f"mlflow experiments restore -x {number}` brings it back" in refused.err
        assert len(refused.messages) == 1
    assert not loopback.requests


def gone(*args: object) -> None:
    raise ConnectionResetError("the store went away")


def test_a_store_that_goes_away_takes_no_result_with_it(
    artifacts: Path, aisr: Aisr, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scores are printed and the artifact is whole; the same command logs it without another call."""
    lm = ["--lm", "openai/x", "--api-base", loopback.url, "--artifacts", artifacts]
    words = compile_words("track1", "late", "labeled", lm)
    with monkeypatch.context() as patch:
        patch.setattr(runs, "find_experiment", gone)
        finished = aisr(*words)
    assert finished.code == 1
    assert "the store went away; the same command does that" in finished.err
    assert "on test, which chose nothing: " in finished.out
    files = {file.name for file in (artifacts / "track1" / "late").iterdir()}
    assert {"program.json", "manifest.json", "report.html"} <= files
    sent = len(loopback.requests)
    again = aisr(*words)
    assert again.code == 0, again.err
    assert re.search(r"\brun [0-9a-f]{32}", again.out)
    assert len(loopback.requests) == sent


# --- `aisr ui`: at the latest experiment, ready without the web, on this machine only, gone when told


@pytest.mark.slow
def test_the_ui_is_ready_offline_on_loopback_only_and_ends_when_told(artifacts: Path) -> None:
    port, nowhere = servers.free_port(), "http://127.0.0.1:9"
    command = as_process("ui", "--port", port, "--artifacts", artifacts)
    proxies = {f"{name}_proxy": nowhere for name in ("http", "https", "all")}  # whatever asks the web is refused
    env = {**os.environ, **proxies, "no_proxy": "127.0.0.1"}
    with servers.answering(command, port, env, ROOT, artifacts / "ui.log") as process:
        while f"MLflow UI on http://127.0.0.1:{port}/" not in (artifacts / "ui.log").read_text():
            assert b"MLflow" in servers.get(port, "/")
        assert not servers.listens(port, "127.0.0.2"), "listens on more than 127.0.0.1"
        with socket.create_connection(("127.0.0.1", port), timeout=30) as held:
            os.killpg(process.pid, signal.SIGINT)  # a terminal sends Ctrl-C to all processes
            process.wait(30)
            assert held.recv(1) == b"", "the server outlived the command"
        assert not servers.listens(port)


# --- prompts


@pytest.mark.parametrize("adapter", ["json", "chat"])
def test_a_prompt_version_gives_the_messages_that_the_program_sends(artifacts: Path, adapter: str) -> None:
    mlflow, program = open_store(artifacts), TRACK1.build({})
    record = claim("Supported", "Contradiction")
    (predictor,) = program.predictors()
    lm = scripted(right, adapter=adapter)
    mlflow.MlflowClient().create_prompt("p")
    for demos in ([], [{"evidence": "E", "sentences": ["S1: it rose"], "sentence_labels": ["Supported"]}]):
        predictor.demos = demos
        judge(TRACK1, program, record, lm)
        number = register_prompts(mlflow.MlflowClient(), "p", {"this one": program}, lm)
        inputs = program.prepare(record).example.inputs()
        filled = mlflow.genai.load_prompt(f"prompts:/p/{number}").format(
            evidence=inputs["evidence"], sentences=json.dumps(inputs["sentences"])
        )
        assert [(one["role"], one["content"]) for one in filled] == [
            one for one in messages(requests(lm)[-1]) if one[0] != "schema"
        ]
    assert number == "2"


def test_texts_that_its_format_would_read_as_variables_and_demos_of_each_record_are_told(artifacts: Path) -> None:
    mlflow, program, lm = open_store(artifacts), TRACK1.build({}), scripted([])
    (predictor,) = program.predictors()
    predictor.demos = [{"evidence": "{{x}} \0", "sentences": ["S1: it rose"], "sentence_labels": ["Supported"]}]
    chosen = TRACK1.build({"demos_per_record": 2})
    client = mlflow.MlflowClient()
    client.create_prompt("p")
    for _ in range(2):  # the same prompt is not registered again
        register_prompts(client, "p", {"a demo of braces": program, "knn": chosen}, lm)
    plain, marked = sorted(client.search_prompt_versions("p"), key=lambda one: one.version)
    assert plain.is_text_prompt
    assert "{{x}} \\0" in plain.template
    assert "plain text" in plain.commit_message
    assert [one["content"] for one in marked.template[1:]] == ["{{demos}}", marked.template[-1]["content"]]
    assert marked.variables == {"demos", "evidence", "sentences"}


def test_what_a_store_is_sent_holds_no_nul_which_postgresql_does_not_take(
    artifacts: Path, tmp_path: Path, aisr: Aisr, loopback: Loopback
) -> None:
    program = TRACK1.build({})
    (predictor,) = program.predictors()
    predictor.demos = [{"evidence": "one \0 two", "sentences": ["S1: it rose"], "sentence_labels": ["Supported"]}]
    client, lm = open_store(artifacts).MlflowClient(), scripted([])
    client.create_prompt("p")
    register_prompts(client, "p", {"with NUL": program}, lm)
    record = claim("Supported", "Contradiction").model_dump(mode="json")
    record["evidence_bundle"][0]["text"] = "three \0 four"
    data = corpora.write(tmp_path / "records.jsonl", [record])
    folder = save_program(tmp_path / "mine", TRACK1, program)
    at = ["--task", "track1", "--program", folder, "--data", data, "--artifacts", artifacts]
    done = aisr("evaluate", *at, "--lm", "openai/local", "--api-base", loopback.url)
    assert "logged run" in done.out, done.err
    assert "three" in loopback.requests[0].question
    with closing(sqlite3.connect(artifacts / ".mlflow" / "mlflow.db")) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        rows = [row for table in tables for row in database.execute(f"SELECT * FROM {table}")]
    texts = "\n".join(str(value) for row in rows for value in row)
    assert "one" in texts
    assert "three" in texts
    assert "\0" not in texts


def test_a_used_port_is_an_error(artifacts: Path, aisr: Aisr) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        done = aisr("ui", "--port", port, "--artifacts", artifacts)
    assert done.code == 2
    assert done.err == f"error: port {port}: Address already in use; choose another one by --port\n"


@pytest.mark.parametrize(
    ("store", "reason"),
    [("postgresql://me@127.0.0.1:9/x", "psycopg"), ("http://127.0.0.1:9", "Connection refused"), ("", "<html>")],
)
def test_a_store_that_cannot_be_used_is_one_line(
    aisr: Aisr, loopback: Loopback, monkeypatch: pytest.MonkeyPatch, store: str, reason: str
) -> None:
    """Nor can one that answers with a page."""
    loopback.reply = lambda request: (200, "<html>\n<p>Please log in</p>")
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store or loopback.url.removesuffix("/v1"))
    finished = aisr("inspect", "models:/aisr-track1@champion")
    assert finished.code == 2
    assert reason in finished.err
    assert len(finished.messages) == 1
    assert "expected models:/" not in finished.err  # the name is right
