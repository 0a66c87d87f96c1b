"""Programs made ready to judge a paper: compiled ones, with what is known of them, or those of the tasks uncompiled."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from aisr.artifact import manifest as made
from aisr.base.files import BadArtifact
from aisr.inference.embeddings import attach_embeddings
from aisr.inference.images import attach_gallery, form_of_evidence
from aisr.inference.suits import check_suits, states_for
from aisr.lm.client import OpenLM
from aisr.lm.embeddings import UnsentEmbeddings
from aisr.optimize.search.cost_estimate import Bounds, of_judging, total, with_embeddings
from aisr.programs.errors import UserError
from aisr.programs.questions import describe_options
from aisr.programs.vision.images import Gallery
from aisr.review.judging import Judge
from aisr.review.verdicts import Kind
from aisr.review.worth import Record
from aisr.tasks.check import Check
from aisr.tasks.paper_checks import Checks
from aisr.tasks.paper_tasks import as_if_faultless
from aisr.tasks.task import Task
from aisr.tracking import registry
from aisr.tracking.model_uri import MODEL_SCHEME

DOUBTED = 3  # one sentence in so many is usually doubted: 100 of 281, of a paper that was looked at
MOST_ESTIMATED = 5_000  # sentences whose second look is rendered


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


def estimated(judges: Sequence[Judge], found: Checks, lm: OpenLM, again: Judge | None = None) -> Bounds:
    """What judging all checks of a paper would come to; nothing is sent. again: what takes the second look: usually at
    one of `DOUBTED` sentences of the first, at most at all, and at those that get no first look."""
    parts, unsent = [], UnsentEmbeddings()
    for judge, checks in zip(judges, (found.claims, found.citations), strict=True):
        parts.append(_of(judge, checks, unsent, lm))
    if again is not None and found.second is not None:
        places = [place for one in found.claims for place in one.places][:MOST_ESTIMATED]
        usual, most = (
            _of(again, found.second.checks(_with(found.second.straight, some)), unsent, lm)
            for some in (places[::DOUBTED], places)
        )
        parts.append(Bounds(usual.usual, most.most))
    return with_embeddings(total(parts), unsent, lm.embeddings)


def _of(judge: Judge, checks: Sequence[Check], unsent: UnsentEmbeddings, lm: OpenLM) -> Bounds:
    program = attach_embeddings(judge.program.deepcopy(), unsent)
    return of_judging(program, [program.prepare(as_if_faultless(one.record)) for one in checks], lm)


def _with(straight: Mapping[int, Sequence[int]], places: Sequence[tuple[int, int]]) -> dict[int, list[int]]:
    """The sentences, by paragraph."""
    wanted = {paragraph: list(sentences) for paragraph, sentences in straight.items()}
    for paragraph, sentence in places:
        wanted.setdefault(paragraph, []).append(sentence)
    return wanted
