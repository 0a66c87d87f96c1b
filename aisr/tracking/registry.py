"""Champions as versions of a registered model, and the aliases that name them.

A version carries `program.json` and a copy of `aisr/serving.py`, which MLflow runs to serve it; our own prediction
reads the JSON alone and checks it against the digest in the version's tags. The alias `champion` moves
to a version that did better on the same test split, that was compiled on other data, or that a person promotes;
`previous` then names the one before. A champion chosen so among many owes some of its test score to the choice:
`aisr compare` on held-out records is the honest figure.
"""

import io
import tempfile
import warnings
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any, NamedTuple

from aisr.artifact.manifest import Manifest, OnTest, parse_manifest, read_test_scores
from aisr.artifact.program import Loaded, load_file, load_program
from aisr.base import redact
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact, percent
from aisr.programs.task import Task
from aisr.tracking.prompts import register_prompt
from aisr.tracking.store import EXPECTED, MODEL_SCHEME, Reader, describe, parse_model_uri, reading

SERVING = Path(__file__).parents[1] / "serving.py"
ALIAS = "champion"
PREVIOUS = "previous"
DIGEST_TAG, LM_TAG = "aisr.digest", "aisr.lm"
CHAMPION_TAG = "aisr.champion"  # of a compile: whether its version is the champion now
YES, NO = "yes", "no"
SCORE_TAG, LOW_TAG, HIGH_TAG, TEST_TAG = "aisr.test_score", "aisr.test_low", "aisr.test_high", "aisr.test_data"
DEV_TAG = "aisr.dev_data"


class NotPromoted(UserError):
    """The version is not known to be better than the champion."""


class VersionScore(NamedTuple):
    """A version, its data, and its score with interval (0-1) on test; None where it was compiled without a test
    split."""

    version: str
    dev: str | None  # the digest of the file
    test: str | None  # the digest of the file and the number of records that were used, as "9f86d081884c7d65/40"
    score: float | None
    low: float | None
    high: float | None

    def __str__(self) -> str:
        if self.score is None or self.low is None or self.high is None:
            return f"version {self.version}, not scored on a test split"
        return f"version {self.version} with {percent(self.score)} [{percent(self.low)}, {percent(self.high)}]"

    def has_data_of(self, other: "VersionScore") -> bool:
        """Whether both were compiled on the same records: those of test, or of dev where one of them has no test."""
        if self.test and other.test:
            return _file(self.test) == _file(other.test)
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


def load(program: str, root: Path, task: Task | None = None) -> Loaded:
    """The program of an artifact folder, or of `models:/…` in the store below `root`. task: as for
    `aisr.artifact.program.parse`. Raises `BadArtifact` and, for the latter, `NoStore`."""
    if program.startswith(MODEL_SCHEME):
        return load_registered(root, program, task)
    return load_program(Path(program), task)


def load_registered(root: Path, uri: str, task: Task | None = None) -> Loaded:
    """The program of `models:/NAME@ALIAS` or `models:/NAME/VERSION`. Reads JSON; no stored code runs.

    Raises `BadArtifact` where there is no such version or its file is not the one that was registered, and `NoStore`.
    """
    with reading(root) as store, tempfile.TemporaryDirectory() as folder:
        version = _version(store, root, uri)
        loaded = load_file(store.file_of_version(version, "artifacts/program.json", Path(folder)), uri, task)
    if loaded.digest != version.tags.get(DIGEST_TAG):
        raise BadArtifact(
            f"{uri}: digest {loaded.digest}, but version {version.version} was registered with "
            f"{version.tags.get(DIGEST_TAG)}; the stored file was changed since"
        )
    return loaded


def load_manifest(root: Path, uri: str) -> Manifest:
    """The manifest of a registered program, from the run that logged it. Raises `BadArtifact` and `NoStore`."""
    with reading(root) as store, tempfile.TemporaryDirectory() as folder:
        version = _version(store, root, uri)
        return parse_manifest(store.file_of_run(version.run_id, "artifact/manifest.json", Path(folder)))


def load_test_report(root: Path, uri: str) -> OnTest | None:
    """How a registered program did on its test split, from the run that logged it; None where it was not tested.
    Raises `BadArtifact` and `NoStore`."""
    with reading(root) as store, tempfile.TemporaryDirectory() as folder:
        version = _version(store, root, uri)
        return read_test_scores(store.file_of_run(version.run_id, "artifact/report.json", Path(folder)))


def version_of(mlflow: Any, program: str, loaded: Loaded) -> Any:
    """The registered version of a program: the one that `program` names, or the newest of the same program; None where
    there is none."""
    client, name = mlflow.MlflowClient(), model_name(loaded.task)
    same = client.search_model_versions(f"name = '{name}' and tags.`{DIGEST_TAG}` = '{loaded.digest}'")
    named = program.rpartition("/")[2]
    return max(same, key=lambda one: (str(one.version) == named, int(one.version)), default=None)


def register(mlflow: Any, task: Task, folder: Path, manifest: Manifest) -> str:
    """Log the program of an artifact folder as a model of the current run and register it, and its prompt; its version.
    The same program of the same LM and data is not registered again."""
    client, name, tags = mlflow.MlflowClient(), model_name(task), _tags(folder, manifest)
    same = [tag for tag in tags if tag in (DIGEST_TAG, LM_TAG, DEV_TAG, TEST_TAG)]
    known = client.search_model_versions(
        " and ".join([f"name = '{name}'", *(f"tags.`{tag}` = '{tags[tag]}'" for tag in same)])
    )
    if known:
        return str(max(int(one.version) for one in known))
    versions = manifest.versions
    # MLflow advises on type hints and tells of its success on standard error; errors are raised, not printed.
    with warnings.catch_warnings(), redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        model = mlflow.pyfunc.log_model(
            name="program",
            python_model=str(SERVING),
            artifacts={"program": str(folder / "program.json")},
            model_config={
                "task": task.place or task.name,
                "lm": manifest.lm.spec,
                "schema": manifest.lm.adapter != "ChatAdapter",
                "logprobs": bool(manifest.lm.logprobs),
            },
            registered_model_name=name,
            # aisr brings the others; which versions of them it was compiled with, only we know.
            pip_requirements=[
                f"{name}=={versions[name]}" for name in ("aisr", "dspy", "litellm", "mlflow", "pydantic")
            ],
        )
    version = str(model.registered_model_version)
    for tag, value in tags.items():
        client.set_model_version_tag(name, version, tag, value)
    run_id = mlflow.active_run().info.run_id
    register_prompt(mlflow, run_id, task, load_program(folder, task).program, version)
    return version


def promote_compiled(mlflow: Any, name: str, version: str) -> Promotion:
    """Make the version of a compile the champion of its model where it is better than the champion on the same test
    split, or was compiled on other data, and so answers another question.

    Raises `NotPromoted`.
    """
    challenger, champion = _score(mlflow.MlflowClient().get_model_version(name, version)), _champion(mlflow, name)
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
        challenger, champion = _score(client.get_model_version(name, version)), _champion(mlflow, name)
    except mlflow.MlflowException as error:
        raise BadArtifact(f"{MODEL_SCHEME}{name}/{version}: {error.message}") from error
    if champion is not None and champion.version != challenger.version:
        if not anyway and challenger.is_comparable(champion) and _worth(challenger) <= _worth(champion):
            raise NotPromoted(f"{challenger} on test is no better than the champion, {champion}")
        client.set_registered_model_alias(name, PREVIOUS, champion.version)
    client.set_registered_model_alias(name, ALIAS, version)
    _mark(mlflow, name, version)
    return champion


def _mark(mlflow: Any, name: str, version: str) -> None:
    """Set the champion tag of this version's run and of no other: the list of runs shows which one is the champion now,
    not which ones were. A version without a run, or whose run was deleted, has no tag."""
    client = mlflow.MlflowClient()
    run_id = client.get_model_version(name, version).run_id
    if not run_id:
        return
    with suppress(mlflow.MlflowException):
        run = client.get_run(run_id)
        for former in client.search_runs([run.info.experiment_id], f"tags.`{CHAMPION_TAG}` = '{YES}'"):
            client.set_tag(former.info.run_id, CHAMPION_TAG, NO)
        client.set_tag(run.info.run_id, CHAMPION_TAG, YES)


def _version(store: Reader, root: Path, uri: str) -> Any:
    """A registered version. Raises `BadArtifact` where there is none."""
    from mlflow.exceptions import MlflowException

    parts = parse_model_uri(root, uri)
    try:
        if parts["alias"]:
            return store.client.get_model_version_by_alias(parts["name"], parts["alias"])
        return store.client.get_model_version(parts["name"], parts["version"])
    except MlflowException as error:
        known = ", ".join(sorted(model.name for model in store.client.search_registered_models()))
        raise BadArtifact(
            f"{uri}: no such version in {redact.secrets(store.uri)} ({describe(error)}); {EXPECTED}; registered there: "
            f"{known or 'nothing yet'}"
        ) from error


def _champion(mlflow: Any, name: str) -> VersionScore | None:
    """The champion of a model; None where it has none. Raises MlflowException for a model that does not exist."""
    client = mlflow.MlflowClient()
    version = client.get_registered_model(name).aliases.get(ALIAS)
    return _score(client.get_model_version(name, version)) if version else None


def _worth(scored: VersionScore) -> float:
    return -1.0 if scored.score is None else scored.score


def _score(version: Any) -> VersionScore:
    tags = version.tags
    score, low, high = (float(tags[tag]) if tag in tags else None for tag in (SCORE_TAG, LOW_TAG, HIGH_TAG))
    return VersionScore(str(version.version), tags.get(DEV_TAG), tags.get(TEST_TAG), score, low, high)


def _file(data: str) -> str:
    """The digest of the file, without the number of its records that were used."""
    return data.partition("/")[0]


def _tags(folder: Path, manifest: Manifest) -> dict[str, str]:
    tags = {
        DIGEST_TAG: manifest.digest,
        LM_TAG: manifest.lm.spec,
        "aisr.artifact": folder.name,
        DEV_TAG: manifest.data["dev"].digest,
    }
    test = manifest.scores.get("test")
    if test is None:
        return tags
    low, high = test.interval
    scores = {SCORE_TAG: repr(test.score), LOW_TAG: repr(low), HIGH_TAG: repr(high)}
    return {**tags, **scores, TEST_TAG: _split(manifest)}


def _split(manifest: Manifest) -> str:
    """Which test records a score is about: the digest of the file, and how many of them were taken."""
    about = manifest.data["test"]
    return f"{about.digest}/{about.records}"
