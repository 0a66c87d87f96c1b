"""Champions as versions of a registered model, the aliases that name them, and their prompts in MLflow's prompt
registry, where its UI shows what a compile changed.

A version holds `program.json` and a copy of `aisr/serving.py`, which MLflow runs to serve it; our own prediction reads
the JSON of its run alone and checks it against the digest in the version's tags. The alias `champion` moves to a
version that did better on the same test split, that was compiled on other data, or that a person promotes; `previous`
then names the one before. A champion chosen so among many owes some of its test score to the choice: `aisr compare` on
held-out records is the honest figure.
"""

import io
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path
from typing import Any, NamedTuple

from aisr.artifact.manifest import FILE, PROGRAM, REPORT, Manifest, TestReport, read_manifest, read_test_report
from aisr.artifact.program import Loaded, load_file, load_program
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact, percent
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.tracking.store import EXPECTED, MODEL_SCHEME, describe, parse_model_uri, reading

SERVING = Path(__file__).parents[1] / "serving.py"
ARTIFACT = "artifact"  # the folder of a compile's files in its run
ALIAS, PREVIOUS = "champion", "previous"
DIGEST_TAG, LM_TAG = "aisr.digest", "aisr.lm"
SCORE_TAG, TEST_TAG, DEV_TAG = "aisr.test_score", "aisr.test_data", "aisr.dev_data"
MOST_CHARACTERS = 90_000  # of a prompt; MLflow takes 100,000


class NotPromoted(UserError):
    """The version is not known to be better than the champion."""


class VersionScore(NamedTuple):
    """A version, its data, and its score on test in 0-1; None where it was compiled without a test split."""

    version: str
    dev: str | None  # the digest of the file
    test: str | None  # the digest of the file and the number of records that were used, as "9f86d081884c7d65/40"
    score: float | None

    @classmethod
    def of(cls, version: Any) -> "VersionScore":
        """From a version of MLflow."""
        tags, score = version.tags, version.tags.get(SCORE_TAG)
        return cls(str(version.version), tags.get(DEV_TAG), tags.get(TEST_TAG), float(score) if score else None)

    def __str__(self) -> str:
        score = "not scored on a test split" if self.score is None else f"{percent(self.score)} on test"
        return f"version {self.version} ({score})"

    def has_data_of(self, other: "VersionScore") -> bool:
        """Whether both were compiled on the same records: those of test, or of dev where one of them has no test."""
        if self.test and other.test:
            return self.test.partition("/")[0] == other.test.partition("/")[0]
        return self.dev == other.dev

    def is_comparable(self, other: "VersionScore") -> bool:
        """Whether both were scored on the same test records."""
        return self.test is not None and self.test == other.test


class Promotion(NamedTuple):
    """The champion that a version replaced, None for the first; whether that was compiled on the same data."""

    before: VersionScore | None
    same_data: bool


def model_name(task: Task) -> str:
    """The registered model of a task."""
    return f"aisr-{task.name}"


# --- Reading


def load(program: str, root: Path, task: Task | None = None) -> Loaded:
    """The program of an artifact folder, or of `models:/NAME@ALIAS` or `models:/NAME/VERSION` in the store below
    `root`. Reads JSON; no stored code runs. task: as for `aisr.artifact.program.parse`.

    Raises `BadArtifact` where there is none, or its file is not the one that was registered, and `NoStore`.
    """
    if not program.startswith(MODEL_SCHEME):
        return load_program(Path(program), task)
    with _fetched(program, root, PROGRAM) as (folder, version):
        loaded = load_file(folder / PROGRAM, program, task)
    if loaded.digest != version.tags.get(DIGEST_TAG):
        raise BadArtifact(
            f"{program}: digest {loaded.digest}, but version {version.version} was registered with "
            f"{version.tags.get(DIGEST_TAG)}; the stored file was changed since"
        )
    return loaded


def load_scores(program: str, root: Path) -> tuple[Manifest, TestReport | None]:
    """The manifest of a program named as for `load`, and how it did on its test split, None where it was not tested.
    Raises `BadArtifact` and `NoStore`."""
    if not program.startswith(MODEL_SCHEME):
        return read_manifest(Path(program) / FILE), read_test_report(Path(program) / REPORT)
    with _fetched(program, root, FILE, REPORT) as (folder, _):
        return read_manifest(folder / FILE), read_test_report(folder / REPORT)


@contextmanager
def _fetched(uri: str, root: Path, *names: str) -> Iterator[tuple[Path, Any]]:
    """A folder with files of the compile that a registered version comes from, and the version. Raises `BadArtifact`
    with MLflow's reason where there is none."""
    parts = parse_model_uri(root, uri)
    with reading(root) as client, tempfile.TemporaryDirectory() as place:
        from mlflow import MlflowException

        try:
            if parts["alias"]:
                version = client.get_model_version_by_alias(parts["name"], parts["alias"])
            else:
                version = client.get_model_version(parts["name"], parts["version"])
            files = [client.download_artifacts(version.run_id, f"{ARTIFACT}/{name}", place) for name in names]
        except (MlflowException, OSError) as error:
            raise BadArtifact(f"{uri}: {describe(error)}; {EXPECTED}") from error
        yield Path(files[0]).parent, version


def version_of(mlflow: Any, program: str, loaded: Loaded) -> Any:
    """The registered version of a program: the one that `program` names, or the newest of the same program; None where
    there is none."""
    client, name = mlflow.MlflowClient(), model_name(loaded.task)
    same = client.search_model_versions(f"name = '{name}' and tags.`{DIGEST_TAG}` = '{loaded.digest}'")
    named = program.rpartition("/")[2]
    return max(same, key=lambda version: (str(version.version) == named, int(version.version)), default=None)


# --- Registering


def register(mlflow: Any, task: Task, folder: Path, manifest: Manifest) -> str:
    """Log the program of an artifact folder as a model of the current run and register it, and its prompt; its version.
    The same program of the same LM and data is not registered again."""
    client, name = mlflow.MlflowClient(), model_name(task)
    tags = {DIGEST_TAG: manifest.digest, LM_TAG: manifest.lm.spec, DEV_TAG: manifest.data["dev"].digest}
    if "test" in manifest.scores:
        about = manifest.data["test"]
        tags[TEST_TAG] = f"{about.digest}/{about.records}"
    conditions = [f"name = '{name}'", *(f"tags.`{tag}` = '{value}'" for tag, value in tags.items())]
    known = client.search_model_versions(" and ".join(conditions))
    if known:
        return str(max(int(version.version) for version in known))
    # MLflow advises on type hints and tells of its success on standard error; errors are raised, not printed.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        model = mlflow.pyfunc.log_model(
            name="program",
            python_model=str(SERVING),
            artifacts={"program": str(folder / PROGRAM)},
            model_config={
                "lm": manifest.lm.spec,
                "schema": manifest.lm.adapter != "ChatAdapter",
                "logprobs": bool(manifest.lm.logprobs),
            },
            registered_model_name=name,
            # aisr brings the others; which versions of them it was compiled with, only we know.
            pip_requirements=[
                f"{package}=={manifest.versions[package]}"
                for package in ("aisr", "dspy", "litellm", "mlflow", "pydantic")
            ],
        )
    version = str(model.registered_model_version)
    tags["aisr.artifact"] = folder.name
    if "test" in manifest.scores:
        tags[SCORE_TAG] = repr(manifest.scores["test"].score)
    for tag, value in tags.items():
        client.set_model_version_tag(name, version, tag, value)
    register_prompt(mlflow, task, load_program(folder, task).program, version)
    return version


def register_prompt(mlflow: Any, task: Task, program: Program, version: str) -> None:
    """Register instruction and demos of a program as a version of its task's prompt, and link that to the current run.

    The same text is not registered again. version: of the registered model.
    """
    client = mlflow.MlflowClient()
    name = f"{model_name(task)}-prompt"  # MLflow has models and prompts under one set of names
    text = prompt_text(program)
    versions = client.search_prompt_versions(name) if client.get_prompt(name) else []
    prompt = next((known for known in versions if known.template == text), None)
    if prompt is None:
        prompt = mlflow.genai.register_prompt(name, text, commit_message=f"models:/{model_name(task)}/{version}")
    client.link_prompt_version_to_run(mlflow.active_run().info.run_id, prompt)


def prompt_text(program: Program) -> str:
    """The instruction and the demos of each predictor as text. What MLflow does not take is left out at the end, which
    then says so."""
    parts = []
    for name, predictor in program.named_predictors():
        parts.append(f"# {name}: instruction\n\n{predictor.signature.instructions}")
        for k, demo in enumerate(predictor.demos, start=1):
            fields = [f"{field}: {demo[field]}" for field in predictor.signature.fields if field in demo]
            parts.append("\n".join([f"# {name}: demo {k}", "", *fields]))
    text = "\n\n".join(parts)
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} …\n\nThe rest is in program.json."


# --- Promoting


def promote_compiled(mlflow: Any, name: str, version: str) -> Promotion:
    """Make the version of a compile the champion of its model where it is better than the champion on the same test
    split, or was compiled on other data, and so answers another question.

    Raises `NotPromoted`.
    """
    client = mlflow.MlflowClient()
    challenger, champion = VersionScore.of(client.get_model_version(name, version)), _champion(client, name)
    same_data = champion is not None and challenger.has_data_of(champion)
    if champion is not None and same_data and not challenger.is_comparable(champion):
        raise NotPromoted(f"{challenger}; the champion is {champion}: not scored on the same test records")
    return Promotion(promote(mlflow, name, version), same_data)


def promote(mlflow: Any, name: str, version: str, anyway: bool = False) -> VersionScore | None:
    """Make a version the champion of its model; the champion before it, or None for the first.

    Raises `NotPromoted` where it is no better than the champion on the same test split, unless `anyway`, and
    `BadArtifact` where there is no such version.
    """
    client = mlflow.MlflowClient()
    try:
        challenger, champion = VersionScore.of(client.get_model_version(name, version)), _champion(client, name)
    except mlflow.MlflowException as error:
        raise BadArtifact(f"{MODEL_SCHEME}{name}/{version}: {describe(error)}") from error
    if champion is not None and champion.version != challenger.version:
        if not anyway and challenger.is_comparable(champion) and (challenger.score or 0) <= (champion.score or 0):
            raise NotPromoted(f"{challenger} is no better than the champion, {champion}")
        client.set_registered_model_alias(name, PREVIOUS, champion.version)
    client.set_registered_model_alias(name, ALIAS, version)
    return champion


def _champion(client: Any, name: str) -> VersionScore | None:
    """The champion of a model; None where it has none. Raises MlflowException for a model that does not exist."""
    version = client.get_registered_model(name).aliases.get(ALIAS)
    return VersionScore.of(client.get_model_version(name, version)) if version else None
