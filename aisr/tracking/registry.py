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
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

from aisr.artifact.manifest import FILE, PROGRAM, REPORT, Manifest
from aisr.artifact.program import Loaded, load_program
from aisr.artifact.prompt_page import prompt_page
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact, percent
from aisr.base.redact import environment_defaults
from aisr.programs.program import Program
from aisr.programs.task import Task
from aisr.tracking.store import EXPECTED, MODEL_SCHEME, QUIET, NoStore, describe, parse_model_uri, tracking_uri

SERVING = Path(__file__).parents[1] / "serving.py"
ARTIFACT = "artifact"  # the folder of a compile's files in its run
ALIAS, PREVIOUS = "champion", "previous"
# Of a version: `test_data` is the digest of the file and the number of records that were used ("9f86d081884c7d65/40"),
# and with `test_score` (in 0-1) missing where it was compiled without a test split. Compiles with one `dev_data`, a
# digest, are on the same data.
DIGEST_TAG, LM_TAG = "aisr.digest", "aisr.lm"
SCORE_TAG, TEST_TAG, DEV_TAG = "aisr.test_score", "aisr.test_data", "aisr.dev_data"
NOT_THERE = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")  # MLflow's errors: of a name, of an alias
MOST_CHARACTERS = 90_000  # of a prompt; MLflow takes 100,000


class NotPromoted(UserError):
    """The version is not known to be better than the champion."""


def model_name(task: Task) -> str:
    """The registered model of a task."""
    return f"aisr-{task.name}"


# --- Reading


def load(program: str, root: Path, task: Task | None = None) -> Loaded:
    """The program of an artifact folder, or of `models:/NAME@ALIAS` or `models:/NAME/VERSION` in the store below
    `root`. Reads JSON; no stored code runs, and no setting of MLflow changes. task: as for
    `aisr.artifact.program.parse`.

    Raises `BadArtifact` where there is none, or its file is not the one that was registered, and `NoStore`.
    """
    if not program.startswith(MODEL_SCHEME):
        return load_program(Path(program), task)
    parts = parse_model_uri(root, program)
    with environment_defaults(**QUIET), tempfile.TemporaryDirectory() as place:
        from mlflow import MlflowClient, MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            client = MlflowClient(tracking_uri=tracking_uri(root), registry_uri=tracking_uri(root))
            if parts["alias"]:
                version = client.get_model_version_by_alias(parts["name"], parts["alias"])
            else:
                version = client.get_model_version(parts["name"], parts["version"])
            folder = Path(place)
            for file in client.list_artifacts(version.run_id, ARTIFACT):
                if Path(file.path).name in (PROGRAM, FILE, REPORT):
                    folder = Path(client.download_artifacts(version.run_id, file.path, place)).parent
        except (MlflowException, SQLAlchemyError, ImportError, OSError) as error:
            if isinstance(error, OSError) or getattr(error, "error_code", "") in NOT_THERE:
                raise BadArtifact(f"{program}: {describe(error)}; {EXPECTED}") from error
            raise NoStore(f"{program}: {describe(error)}") from error
        try:
            return load_program(folder, task, str(version.tags.get(DIGEST_TAG)))
        except BadArtifact as error:  # it names the copy
            raise BadArtifact(str(error).replace(str(folder), program)) from error


# --- Registering


def register(mlflow: Any, task: Task, folder: Path, manifest: Manifest) -> str:
    """Log the program of an artifact folder as a model of the current run and register it, and its prompt; its version.
    The same program of the same LM and data is not registered again."""
    name = model_name(task)
    tags = {DIGEST_TAG: manifest.digest, LM_TAG: manifest.lm.spec, DEV_TAG: manifest.data["dev"].digest}
    if "test" in manifest.scores:
        tags[TEST_TAG] = f"{manifest.data['test'].digest}/{manifest.scores['test'].records}"
    conditions = [f"name = '{name}'", *(f"tags.`{tag}` = '{value}'" for tag, value in tags.items())]
    known = mlflow.MlflowClient().search_model_versions(" and ".join(conditions))
    if known:
        return str(max(int(version.version) for version in known))
    tags["aisr.artifact"] = folder.name
    if "test" in manifest.scores:
        tags[SCORE_TAG] = repr(manifest.scores["test"].score)
    with redirect_stderr(io.StringIO()):  # MLflow tells of its success there; errors are raised
        model = mlflow.pyfunc.log_model(
            name="program",
            python_model=str(SERVING),
            artifacts={"program": str(folder / PROGRAM)},
            model_config={
                "lm": manifest.lm.spec,
                "schema": manifest.lm.adapter != "ChatAdapter",
                "logprobs": bool(manifest.lm.logprobs),
            },
            # aisr brings the others; which versions of them it was compiled with, only we know.
            pip_requirements=[
                f"{package}=={manifest.versions[package]}"
                for package in ("aisr", "dspy", "litellm", "mlflow", "pydantic")
            ],
        )
        version = str(mlflow.register_model(model.model_uri, name, tags=tags).version)
    register_prompt(mlflow, task, load_program(folder, task).program, version)
    return version


def register_prompt(mlflow: Any, task: Task, program: Program, version: str) -> None:
    """Register what PROMPT.md says of a program as a version of its task's prompt, and link that to the current run.
    The same text is not registered again. version: of the registered model."""
    client = mlflow.MlflowClient()
    name = f"{model_name(task)}-prompt"  # MLflow has models and prompts under one set of names
    text = prompt_page(task.name, task, program)
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]} …\n\nThe rest is in PROMPT.md."
    versions = client.search_prompt_versions(name) if client.get_prompt(name) else []
    prompt = next((known for known in versions if known.template == text), None)
    if prompt is None:
        prompt = mlflow.genai.register_prompt(name, text, commit_message=f"{MODEL_SCHEME}{model_name(task)}/{version}")
    client.link_prompt_version_to_run(mlflow.active_run().info.run_id, prompt)


# --- Promoting


def promote(mlflow: Any, name: str, number: str, compiled: bool = False, anyway: bool = False) -> str:
    """Make a version the champion of its model; what it replaced, in words, "" for nothing.

    compiled: by its compile, not by a person. Raises `NotPromoted` where it is no better than the champion on the same
    test split, unless `anyway`; for a compile also where it was scored on other records of the same data. A compile on
    other data answers another question and takes the place. Raises `BadArtifact` where there is no such version.
    """
    client = mlflow.MlflowClient()
    try:
        version, aliases = client.get_model_version(name, number), client.get_registered_model(name).aliases
        champion = client.get_model_version(name, aliases[ALIAS]) if ALIAS in aliases else None
    except mlflow.MlflowException as error:
        raise BadArtifact(f"{MODEL_SCHEME}{name}/{number}: {describe(error)}") from error
    replaced = ""
    if champion is not None and str(champion.version) != number:
        replaced = _in_words(champion)
        if TEST_TAG in version.tags and version.tags[TEST_TAG] == champion.tags.get(TEST_TAG):
            if not anyway and float(version.tags[SCORE_TAG]) <= float(champion.tags[SCORE_TAG]):
                raise NotPromoted(f"{_in_words(version)} is no better than the champion, {replaced}")
        elif compiled and version.tags.get(DEV_TAG) == champion.tags.get(DEV_TAG):
            raise NotPromoted(f"{_in_words(version)}; the champion is {replaced}: not scored on the same test records")
        elif compiled:
            replaced += (
                f", compiled on other data, where scores are not comparable; `aisr promote {MODEL_SCHEME}{name}/"
                f"{champion.version}` makes it the champion again"
            )
        client.set_registered_model_alias(name, PREVIOUS, champion.version)
    client.set_registered_model_alias(name, ALIAS, number)
    return replaced


def _in_words(version: Any) -> str:
    score = version.tags.get(SCORE_TAG)
    result = f"{percent(float(score))} on test" if score else "not scored on a test split"
    return f"version {version.version} ({result})"
