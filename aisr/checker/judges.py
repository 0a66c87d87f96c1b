"""Programs made ready to judge a paper: compiled ones, with what is known of them, or those of the tasks uncompiled."""

from pathlib import Path

from aisr.artifact import manifest as made
from aisr.base.files import BadArtifact
from aisr.inference.embeddings import attach_embeddings
from aisr.inference.images import attach_gallery, form_of_evidence
from aisr.inference.suits import check_suits, states_for
from aisr.lm.client import OpenLM
from aisr.programs.errors import UserError
from aisr.programs.questions import describe_options
from aisr.programs.vision.images import Gallery
from aisr.review.judging import Judge
from aisr.review.verdicts import Kind
from aisr.review.worth import Record
from aisr.tasks.task import Task
from aisr.tracking import registry
from aisr.tracking.model_uri import MODEL_SCHEME


def judge_by(
    kind: Kind,
    task: Task,
    name: str | None,
    lm: OpenLM,
    gallery: Gallery | None,
    artifacts: Path,
    evidence: str | None = None,
) -> Judge:
    """The program of a folder or of `models:/…`, or the uncompiled one of the task, ready to judge with an LM.
    evidence: what that one shows of a picture (`--evidence`); None: the pixels where the LM is known to take them, else
    the caption. Raises UserError for a program of another task, or one that shows what the LM cannot see."""
    if name:
        loaded = registry.load(name, artifacts)
        if loaded.task is not task:
            raise UserError(f"--program {name} is compiled for {loaded.task.name}, not for {task.name}")
        judging = loaded.program
    else:
        shown = form_of_evidence(evidence, lm) if evidence else "image" if lm.sees else None
        wanted = {"states": states_for(lm), "evidence": shown}
        judging = task.build({key: value for key, value in wanted.items() if value and key in task.option_types})
        if lm.decides:
            describe_options(judging)
    check_suits(judging, lm)
    ready = attach_embeddings(attach_gallery(judging, gallery), lm.embeddings)
    return Judge(kind, task, ready, known(name, artifacts) if name else None)


def known(name: str, artifacts: Path) -> Record:
    """What is known of how a compiled program did: nothing, where its folder or run lacks that."""
    from mlflow.exceptions import MlflowException

    try:
        if name.startswith(MODEL_SCHEME):
            return Record(name, registry.manifest(artifacts, name), registry.on_test(artifacts, name))
        return Record(name, made.manifest(Path(name)), made.on_test(Path(name) / made.REPORT))
    except (BadArtifact, MlflowException):  # a program is complete without these; its error rate is then not known
        return Record(name, None, None)
