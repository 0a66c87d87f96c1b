"""Champions as versions of a registered model, and the aliases that name them.

A version holds `program.json`, `manifest.json`, `report.json` and a copy of `aisr/serving.py`, which MLflow runs to
serve it; our own prediction reads these JSON files of the version alone, whatever became of its run, and checks the
program against the digest in the version's tags. The alias `champion` moves to a version that did better on the same
data, or that a person promotes; one compiled on the sample gives way to any other. `previous` then names the one
before. A champion chosen so among many owes some of its test score to the choice: `aisr compare` on held-out records is
the honest figure.
"""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from aisr.artifact.manifest import FILE, PROGRAM, REPORT, Manifest
from aisr.artifact.program import Loaded, load_program
from aisr.base.errors import UserError
from aisr.base.files import BadArtifact, digest_text, percent
from aisr.base.private import files_at
from aisr.base.redact import environment_defaults
from aisr.programs.task import Task
from aisr.tracking.store import (
    EXPECTED,
    MODEL_SCHEME,
    QUIET,
    NoStore,
    describe,
    is_refusal,
    parse_model_uri,
    tracking_uri,
)

SERVING = Path(__file__).parents[1] / "serving.py"
ALIAS, PREVIOUS = "champion", "previous"
# Of a version: `test_data` is the digest of the file and the number of records that were used ("9f86d081884c7d65/40"),
# and with `test_score` (in 0-1) missing where it was compiled without a test split. Compiles with the same digests of
# train, dev and target are on the same data; `sample` marks those on the sample.
DIGEST_TAG, LM_TAG = "aisr.digest", "aisr.lm"
SCORE_TAG, TEST_TAG, SAMPLE_TAG = "aisr.test_score", "aisr.test_data", "aisr.sample"
DATA_TAGS = {split: f"aisr.{split}_data" for split in ("train", "dev", "target")}
NOT_THERE = ("RESOURCE_DOES_NOT_EXIST", "INVALID_PARAMETER_VALUE")  # MLflow's errors: of a name, of an alias
VERSION_FILES = (PROGRAM, FILE, REPORT)  # of a version, in its folder `artifacts`


class NotPromoted(UserError):
    """The version is not known to be better than the champion."""


def model_name(task: Task) -> str:
    """Return the registered model of a task."""
    return f"aisr-{task.name}"


def prompt_name(task: Task) -> str:
    """Return the prompt of a task's programs: MLflow has models and prompts under one set of names."""
    return f"{model_name(task)}-prompt"


# --- Reading


def load(program: str, root: Path, task: Task | None = None) -> Loaded:
    """Return the program of an artifact folder, or of `models:/NAME@ALIAS` or `models:/NAME/VERSION` in the store below
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
        except (MlflowException, SQLAlchemyError, ImportError, OSError) as error:
            if isinstance(error, OSError) or getattr(error, "error_code", "") in NOT_THERE:
                raise BadArtifact(f"{program}: {describe(error)}; {EXPECTED}") from error
            raise NoStore(f"{program}: {describe(error)}") from error
        folder = _download(client, version, Path(place), program)
        digest = version.tags.get(DIGEST_TAG)
        if digest is None and not (folder / FILE).is_file():
            raise BadArtifact(
                f"{program}: it has lost its tag {DIGEST_TAG}, as copies of a version may, and holds no {FILE} to "
                "check it by; compile the program again, or take its artifact folder"
            )
        try:
            loaded = load_program(folder, task, digest)
        except BadArtifact as error:  # it names the copy
            raise BadArtifact(str(error).replace(str(folder), program)) from error
    return loaded._replace(version=f"{version.name}/{version.version}")


def _download(client: Any, version: Any, place: Path, program: str, path: str = "artifacts") -> Path:
    """Download the files of a version, or one of them by its path, into a folder; returns the folder that it is in.
    Raises `BadArtifact` where they are gone, and `NoStore` where the store does not give them out."""
    from mlflow import MlflowException
    from mlflow.artifacts import download_artifacts

    try:
        source = client.get_model_version_download_uri(version.name, version.version)
        if source.startswith(MODEL_SCHEME):  # of a logged model, or of the version that this is a copy of
            source = _resolve(client, source)
        uris = {"tracking_uri": client.tracking_uri, "registry_uri": client.tracking_uri}
        folder = Path(download_artifacts(f"{source}/{path}", dst_path=str(place), **uris))
    except (MlflowException, OSError) as error:
        if is_refusal(error):
            raise NoStore(f"{program}: {describe(error)}") from error
        folder = place
    folder = folder if folder.is_dir() else folder.parent
    if not (folder / PROGRAM).is_file():
        raise BadArtifact(
            f"{program}: the files of version {version.version} are gone from the store; compile the program again, "
            "which registers it anew, or take its artifact folder"
        )
    return folder


def _resolve(client: Any, source: str) -> str:
    """Return where the files of `models:/ID` or `models:/NAME/VERSION` are."""
    name, _, number = source.removeprefix(MODEL_SCHEME).partition("/")
    if number:
        return _resolve(client, str(client.get_model_version_download_uri(name, number)))
    if not source.startswith(MODEL_SCHEME):
        return source
    return str(client.get_logged_model(name).artifact_location)


# --- Registering


def version_tags(manifest: Manifest) -> dict[str, str]:
    """Return the tags of a version that say what it is: the same program of the same LM and data has the same ones."""
    data, scores = manifest.data, manifest.scores
    tags = {DIGEST_TAG: manifest.digest, LM_TAG: manifest.lm.spec}
    tags |= {tag: data[split].digest for split, tag in DATA_TAGS.items() if split in data}
    if "test" in scores:
        tags[TEST_TAG] = f"{data['test'].digest}/{scores['test'].records}"
    return tags


def register(mlflow: Any, task: Task, folder: Path, manifest: Manifest, run: Any) -> str:
    """Register the program of an artifact folder as a version of its task's model, with files of its own; its number.
    The same program of the same LM and data is not registered again, unless the files of its version are gone.

    run: the compile's run in MLflow. The registered model must exist, see `aisr.tracking.experiment.check_writable`.
    """
    name, tags, client = model_name(task), version_tags(manifest), mlflow.MlflowClient()
    for known in reversed(_search(client, name, tags)):
        if _is_whole(client, known, manifest.digest):
            return str(known.version)
    model = client.create_logged_model(run.info.experiment_id, "program", run.info.run_id)
    with tempfile.TemporaryDirectory() as place:
        _save_model(mlflow, folder, manifest, f"{place}/model")
        files_at(model.artifact_location, client.tracking_uri).log_artifacts(f"{place}/model")
    client.finalize_logged_model(model.model_id, "READY")
    more = {"aisr.artifact": folder.name}
    if "test" in manifest.scores:
        more[SCORE_TAG] = repr(manifest.scores["test"].score)
    if manifest.is_of_sample:
        more[SAMPLE_TAG] = "true"
    uri, run_id = model.model_uri, run.info.run_id
    number = str(client.create_model_version(name, uri, run_id, {**tags, **more}, model_id=model.model_id).version)
    return _first_of_twins(client, name, tags, number, manifest.digest)


def _save_model(mlflow: Any, folder: Path, manifest: Manifest, path: str) -> None:
    """Save the files of a version, in MLflow's form, in a folder that does not exist."""
    mlflow.pyfunc.save_model(
        path,
        python_model=str(SERVING),
        artifacts={Path(name).stem: str(folder / name) for name in VERSION_FILES if (folder / name).is_file()},
        model_config={
            "lm": manifest.lm.spec,
            "schema": manifest.lm.adapter != "ChatAdapter",
            "logprobs": bool(manifest.lm.logprobs),
        },
        # aisr brings the others; which versions of them it was compiled with, only we know.
        pip_requirements=[
            f"{package}=={manifest.versions[package]}" for package in ("aisr", "dspy", "litellm", "mlflow", "pydantic")
        ],
    )


def _search(client: Any, name: str, tags: dict[str, str]) -> list[Any]:
    """Return the versions of a model with these tags, the oldest first."""
    conditions = [f"name = '{name}'", *(f"tags.`{tag}` = '{value}'" for tag, value in tags.items())]
    return sorted(client.search_model_versions(" and ".join(conditions)), key=lambda version: int(version.version))


def _is_whole(client: Any, version: Any, digest: str) -> bool:
    """Return whether the files of a version are there, and hold the program of this digest."""
    with tempfile.TemporaryDirectory() as place, suppress(BadArtifact):
        file = _download(client, version, Path(place), version.name, f"artifacts/{PROGRAM}") / PROGRAM
        return digest_text(file.read_text(encoding="utf-8")) == digest
    return False


def _first_of_twins(client: Any, name: str, tags: dict[str, str], number: str, digest: str) -> str:
    """Return the version that stays where an identical compile registered the program at the same time: the first. This
    one, `number`, is removed where it is not that, if the store allows it."""
    from mlflow import MlflowException

    for twin in _search(client, name, tags):
        if int(twin.version) < int(number) and _is_whole(client, twin, digest):
            with suppress(MlflowException):  # some may write versions and not remove them
                client.delete_model_version(name, number)
            return str(twin.version)
    return number


# --- Promoting


def promote(mlflow: Any, name: str, number: str, compiled: bool = False, anyway: bool = False) -> str:
    """Make a version the champion of its model; what it replaced, in words, "" for nothing.

    compiled: by its compile, not by a person. Raises `NotPromoted` where it is no better than the champion on the same
    test split, unless `anyway`; for a compile also where it is on other data or test records, unless the champion was
    compiled on the sample alone, or its files are gone. Raises `BadArtifact` where there is no such version.
    """
    client = mlflow.MlflowClient()
    try:
        aliases = client.get_registered_model(name).aliases
        versions = {str(one.version): one for one in client.search_model_versions(f"name = '{name}'")}
        version, champion = versions[number], versions.get(str(aliases.get(ALIAS)))
    except (mlflow.MlflowException, KeyError) as error:
        reason = describe(error) if isinstance(error, mlflow.MlflowException) else "there is no such version"
        raise BadArtifact(f"{MODEL_SCHEME}{name}/{number}: {reason}; {EXPECTED}") from error
    if champion is version:
        return ""
    if champion is None:
        client.set_registered_model_alias(name, ALIAS, number)
        return ""
    reason = "" if anyway else _why_not(version, champion, compiled)
    if reason and _is_whole(client, champion, champion.tags.get(DIGEST_TAG, "")):
        raise NotPromoted(reason)
    client.set_registered_model_alias(name, PREVIOUS, champion.version)
    client.set_registered_model_alias(name, ALIAS, number)
    return _in_words(champion)


def _why_not(version: Any, champion: Any, compiled: bool) -> str:
    """Return why a version may not take the champion's place; "" where it may."""
    new, old = version.tags, champion.tags
    known = set(DATA_TAGS.values())
    if DATA_TAGS["train"] not in old:  # of versions of earlier times only dev and target are known
        known.remove(DATA_TAGS["train"])
    if compiled and any(new.get(tag) != old.get(tag) for tag in known):
        if SAMPLE_TAG in old and SAMPLE_TAG not in new:
            return ""
        return f"{_in_words(version)} was compiled on other data than the champion, {_in_words(champion)}"
    if TEST_TAG in new and new[TEST_TAG] == old.get(TEST_TAG):
        if float(new[SCORE_TAG]) > float(old[SCORE_TAG]):
            return ""
        return f"{_in_words(version)} is no better than the champion, {_in_words(champion)}"
    if compiled:
        return f"{_in_words(version)}; the champion is {_in_words(champion)}: not scored on the same test records"
    return ""


def _in_words(version: Any) -> str:
    score = version.tags.get(SCORE_TAG)
    result = f"{percent(float(score))} on test" if score else "not scored on a test split"
    return f"version {version.version} ({result})"
