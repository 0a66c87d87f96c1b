"""What commands open before they work: the response cache, the task, language models, programs."""

import os
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.files import cache_folder
from aisr.base.redact import trim_keys
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.artifact.program import Loaded
    from aisr.cli.plan import Limits, LMConfig, Plan
    from aisr.lm.budget import Ledger
    from aisr.lm.client import OpenLM
    from aisr.lm.embeddings import Embeddings
    from aisr.programs.task import Task


def prepare(artifacts: Path, *programs: str | None) -> None:
    """Set what must be set before DSPy is imported: a response cache of this workspace, no progress bars of others,
    keys trimmed.

    Raises UserError for a program that does not exist, so that nobody waits for that import to learn of it.
    """
    for program in filter(None, programs):
        _check_exists(program, artifacts)
    trim_keys()
    os.environ.setdefault("DSPY_CACHEDIR", str(cache_folder(artifacts)))
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web


def _check_exists(program: str, artifacts: Path) -> None:
    from aisr.tracking.store import MODEL_SCHEME, check_registered

    if program.startswith(MODEL_SCHEME):
        check_registered(artifacts, program)
    else:
        from aisr.artifact.folder import check_program_exists

        check_program_exists(Path(program), artifacts)


def command_line() -> str:
    """The command as files and runs record it: without the address of a server, which can hold a key."""
    words, before = ["aisr"], ""
    for word in sys.argv[1:]:
        words.append("…" if before == "--api-base" else re.sub(r"(api[-_]base=).*", r"\1…", word, flags=re.DOTALL))
        before = word
    return re.sub(r"'([^' ]*…)'", r"\1", shlex.join(words))


def chosen_task(name: str) -> "Task":
    """The task of that name."""
    from aisr.programs.registry import TASKS

    return TASKS[name]


# --- Language models.


def open_ledger(limits: "Limits", output: Path | None = None) -> "Ledger":
    """A new account with the limits of a plan, of which that in US dollars is for all runs that write `output`."""
    from aisr.lm.budget import Ledger
    from aisr.lm.budget import Limits as Bounds

    bounds = Bounds(limits.max_usd, limits.max_calls, limits.max_minutes)
    return Ledger(bounds) if output is None else Ledger.beside(output, bounds)


def open_lm(config: "LMConfig", ledger: "Ledger | None" = None, *, role: str = "", keyed: bool = True) -> "OpenLM":
    """The LM of a plan's [lm]. keyed: whether its key must be at hand; not where nothing is sent to it."""
    from aisr.lm import open as lms

    if config.api_base and config.embedding_api_base == lms.PROVIDER:
        warn_of_one_key("embeddings")
    return lms.opened_lm(
        config.model,
        api_base=config.api_base,
        schema=config.schema,
        logprobs=config.logprobs,
        threads=config.threads,
        timeout=config.timeout,
        price=config.price,
        embedding_api_base=config.embedding_api_base,
        embedding_price=config.embedding_price,
        ledger=ledger,
        role=role,
        keyed=keyed,
    )


def open_teacher(plan: "Plan", lm: "OpenLM", ledger: "Ledger", keyed: bool) -> "OpenLM":
    """The LM that writes demos and instructions: that of [teacher], else the one that judges.

    Raises UserError where the LM is at a server of the user's own and nothing says where the teacher is: records would
    leave for a provider unasked.
    """
    from aisr.lm.open import EMBEDDED, PROVIDER

    if plan.teacher is None:
        return lm
    teacher, own_server = plan.teacher, plan.lm.api_base
    if own_server and teacher.api_base is None and teacher.model != EMBEDDED:
        raise UserError(
            f"--teacher-lm {teacher.model}: --api-base is the address of --lm alone; add --set "
            "teacher.api_base=ADDRESS, the same one if it serves both, or --set teacher.api_base=provider to send the "
            f"records to {teacher.model.partition('/')[0]}"
        )
    if teacher.api_base == PROVIDER:
        teacher = replace(teacher, api_base=None)
    if own_server and teacher.api_base is None and teacher.model.startswith("openai/"):
        warn_of_one_key("the teacher LM")
    # Whether a server of one's own takes a schema says nothing of a provider.
    teacher = replace(teacher, schema=teacher.schema or not teacher.api_base)
    return open_lm(teacher, ledger, role="teacher-", keyed=keyed)


def warn_of_one_key(user: str) -> None:
    """Print a warning where a provider's key also goes to a server of the user's own."""
    from aisr.cli.display import note
    from aisr.lm.endpoint import OPENAI_KEY, OWN_KEY, key_of_servers

    if key_of_servers() == OPENAI_KEY:
        note(
            f"warning: {OPENAI_KEY} goes to OpenAI, for {user}, and to the server at --api-base as well; set "
            f"{OWN_KEY} to that server's own key, or to nothing where it asks for none"
        )


def open_embeddings(config: "LMConfig", ledger: "Ledger | None" = None) -> "Embeddings":
    """The embedding models of retrievers, where no LM is opened."""
    from aisr.lm.embeddings import Embeddings
    from aisr.lm.open import embedding_address

    address = embedding_address(config.embedding_api_base, config.api_base)
    return Embeddings(ledger, address, config.embedding_price, timeout=config.timeout)


# --- Programs.


def load(program: str, artifacts: Path, task: "Task | None" = None) -> "Loaded":
    """The program of a folder or of `models:/…`. Raises UserError for one of another task."""
    from aisr.tracking import registry

    loaded = registry.load(program, artifacts)
    if task is not None and loaded.task is not task:
        raise UserError(f"--program {program} is compiled for {loaded.task.name}, not for {task.name}")
    return loaded


def warn_of_another_lm(program: Any, lm: "OpenLM") -> None:
    """Print a warning where a program's decision layer was fitted on the answers of another LM."""
    from aisr.cli.display import note
    from aisr.predict.judge import another_lm

    if warning := another_lm(program, lm):
        note(f"warning: {warning}")
