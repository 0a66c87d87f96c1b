"""The name of a compile: taken when it begins, so that another does not go on in its place."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from itertools import chain
from pathlib import Path

from aisr.artifact.program_file import program_text
from aisr.base import digests
from aisr.base.files import as_json, difference, read_json, write_whole
from aisr.inference.images import digest_shown
from aisr.lm.client import OpenLM
from aisr.optimize.experiment.plan import Plan
from aisr.optimize.experiment.prepared import records_of
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import Program

CLAIM = "compile.json"  # of an artifact folder: what the compile of that name was begun with


def identity(plan: Plan, lm: OpenLM, teacher: OpenLM, student: Program) -> dict[str, str]:
    """What makes a compile this one."""
    records = chain.from_iterable(records_of(plan, name) for name in plan.data)
    return {
        "task": plan.task.name,
        "optimizer": f"{plan.optimizers} {asdict(plan.settings)}",
        "program": digests.of_text(program_text(plan.task, student)),
        "lm": lm.identity,
        "teacher": teacher.identity,
        "limits": str(plan.limits),
        "decision layer": str(plan.decide),
        **{f"{name} data": digests.of_file(path) for name, path in plan.data.items()},
        **({"corrections": digests.of_file(plan.corrected.file)} if plan.corrected else {}),
        **digest_shown(student, plan.gallery, (path for record in records for path in record.img_paths)),
    }


@contextmanager
def claimed(folder: Path, identity: dict[str, str]) -> Iterator[None]:
    """Take a name for a compile, and give it back where nothing comes of the block: an address or a model that was
    mistyped must not keep the right one out.

    The same compile may take it again: what it sent before comes from the cache. Raises UserError where another has
    it.
    """
    claim = folder / CLAIM
    known = claim.exists()
    other = difference(read_json(claim), identity) if known else None
    if other:
        raise UserError(
            f"{folder} was begun with another {other}; choose another --name, or remove the folder to start anew"
        )
    write_whole(claim, as_json(identity))
    try:
        yield
    except BaseException:
        if not known:
            claim.unlink()
            with suppress(OSError):  # there was something else in it
                folder.rmdir()
        raise
