"""What commands open before they work: the response cache, the task, language models, programs."""

import json
import logging
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    from aisr.artifact.program import Loaded
    from aisr.lm.budget import Ledger
    from aisr.lm.client import OpenLM
    from aisr.lm.config import LMConfig
    from aisr.programs.task import Task


def prepare(artifacts: Path, *programs: str | None) -> None:
    """Set what must be set before DSPy is imported: no progress bars of others.

    Raises UserError for a program that does not exist, so that nobody waits for that import to learn of it.
    """
    for program in filter(None, programs):
        _check_exists(program, artifacts)
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web


def _check_exists(program: str, artifacts: Path) -> None:
    from aisr.tracking.store import MODEL_SCHEME, parse_model_uri

    if program.startswith(MODEL_SCHEME):
        parse_model_uri(artifacts, program)
    else:
        from aisr.artifact.manifest import check_program_exists

        check_program_exists(Path(program), artifacts)


def command_line() -> str:
    """The command as files and runs record it: without the addresses of servers, which can hold keys."""
    words, before = ["aisr"], ""
    for word in sys.argv[1:]:
        name, equals, _ = word.partition("=")
        if before == "--api-base":
            words.append("ADDRESS")
        elif equals and name.endswith(("api-base", "api_base")):
            words.append(f"{name}=ADDRESS")
        else:
            words.append(word)
        before = word
    return shlex.join(words)


# --- Language models.


def open_ledger(max_usd: float | None, max_calls: int | None, output: Path | None = None) -> "Ledger":
    """A new account with these limits, of which that in US dollars is for all runs that write `output`."""
    from aisr.lm.budget import Ledger, Limits

    limits = Limits(max_usd, max_calls)
    return Ledger(limits) if output is None else Ledger.for_output(output, limits)


def open_lm(config: "LMConfig", ledger: "Ledger | None" = None, needs_key: bool = True) -> "OpenLM":
    """`aisr.lm.open.open_lm` with the response cache of commands, and without what DSPy logs: failures are counted."""
    from aisr.lm.config import PROVIDER
    from aisr.lm.open import configure_cache
    from aisr.lm.open import open_lm as open_config

    if config.api_base and config.embedding_api_base == PROVIDER:
        warn_of_one_key("embeddings")
    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # after its import, which sets its own
    configure_cache()
    return open_config(config, ledger, needs_key)


def open_teacher(
    config: "LMConfig | None", lm_config: "LMConfig", lm: "OpenLM", ledger: "Ledger", needs_key: bool
) -> "OpenLM":
    """The LM that writes demos and instructions: that of --teacher-lm, else the one that judges."""
    if config is None:
        return lm
    if lm_config.api_base and config.api_base is None and config.model.startswith("openai/"):
        warn_of_one_key("the teacher LM")
    from aisr.lm.open import open_lm as open_config

    return open_config(config, ledger, needs_key)


def warn_of_one_key(user: str) -> None:
    """Print a warning where a provider's key also goes to a server of the user's own."""
    from aisr.cli.display import note
    from aisr.lm.endpoint import OPENAI_KEY, OWN_KEY, key_of_servers

    if key_of_servers() == OPENAI_KEY:
        note(
            f"warning: {OPENAI_KEY} goes to OpenAI, for {user}, and to the server at --api-base as well; set "
            f"{OWN_KEY} to that server's own key, or to nothing where it asks for none"
        )


# --- Files of records and of predictions.


def check_kind(task: "Task", kind: str, *files: Path) -> None:
    """Raise UserError for a file whose first line is another task's. kind: `record` or `prediction`."""
    from aisr.programs.registry import TASKS, find_task

    models = {one.name: getattr(one, kind) for one in (*map(find_task, TASKS), task)}
    for file in files:
        other = _nearest_task(file, models)
        if other not in (None, task.name):
            raise UserError(f"{file}: its first line is a {kind} of {other}, not of {task.name}; is it --task {other}?")


def _nearest_task(file: Path, models: "Mapping[str, type[BaseModel]]") -> str | None:
    """Of the tasks whose model takes the first line of a file the one that knows most of its fields; None for none, and
    where several know as many."""
    from aisr.base.jsonl import LONGEST, scan

    with file.open("rb") as lines:
        first = next(filter(bytes.strip, iter(lambda: lines.readline(LONGEST), b"")), b"")
    try:
        fields = set(json.loads(first))
    except (ValueError, RecursionError, TypeError):
        return None  # no JSON Lines at all; the check of its lines names the wrong one
    known = {
        name: len(fields & _names(model))
        for name, model in models.items()
        if (line := next(scan(file, model, name), None)) and line.record is not None
    }
    best = [name for name, count in known.items() if count == max(known.values())]
    return best[0] if len(best) == 1 else None


def _names(model: "type[BaseModel]") -> set[str]:
    """The names that a model's fields may go by in a file."""
    from pydantic import AliasChoices

    names: set[str] = set()
    for name, field in model.model_fields.items():
        alias = field.validation_alias
        choices: list[Any] = alias.choices if isinstance(alias, AliasChoices) else [alias or field.alias or name]
        names |= {one for one in choices if isinstance(one, str)}
    return names


# --- Programs.


def load(program: str, artifacts: Path, task: "Task | None" = None) -> "Loaded":
    """The program of a folder or of `models:/…`. Raises UserError for one of another task."""
    from aisr.tracking import registry

    return registry.load(program, artifacts, task)


def warn_of_another_lm(program: Any, lm: "OpenLM") -> None:
    """Print a warning where a program's label weights were fitted on the answers of another LM."""
    from aisr.cli.display import note
    from aisr.predict.judge import another_lm

    if warning := another_lm(program, lm):
        note(f"warning: {warning}")
