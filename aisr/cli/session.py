"""What every command that runs a program opens first: the cache, the language model, the program."""

import logging
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aisr.base.files import cache_folder
from aisr.base.redact import trim_keys
from aisr.cli.options import Reach
from aisr.programs.errors import UserError

if TYPE_CHECKING:
    from aisr.artifact.program import Loaded
    from aisr.lm.budget import Ledger
    from aisr.lm.client import OpenLM
    from aisr.lm.config import LMConfig
    from aisr.programs.task import Task


def prepare(artifacts: Path, *programs: str | None) -> None:
    """What must be set before DSPy is imported: a response cache of this workspace, no bars but ours, keys trimmed.

    Raises UserError for a program that is not there: who mistyped it should not wait for that import.
    """
    for program in filter(None, programs):
        _check_exists(program, artifacts)
    trim_keys()
    os.environ.setdefault("DSPY_CACHEDIR", str(cache_folder(artifacts)))
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web


def _check_exists(program: str, artifacts: Path) -> None:
    from aisr.tracking.store import MODEL_SCHEME, parse_model_uri

    if program.startswith(MODEL_SCHEME):
        parse_model_uri(artifacts, program)
    else:
        from aisr.artifact.folder import check_program_exists

        check_program_exists(Path(program), artifacts)


ADDRESSES = ("--api-base", "--teacher-api-base", "--embedding-api-base")


def command_line() -> str:
    """The command as files and runs record it: without the address of a server, which can hold a key."""
    hidden, before = ["aisr"], ""
    for word in sys.argv[1:]:
        option, is_joined, _ = word.partition("=")
        if is_joined and option in ADDRESSES:
            hidden.append(f"{option}=…")
        else:
            hidden.append("…" if before in ADDRESSES else word)
        before = word
    return shlex.join(hidden).replace("'…'", "…")


def lm_config(lm: str, reach: Reach, **more: Any) -> "LMConfig":
    """The LM of a command's options. more: other fields of `LMConfig`."""
    from aisr.lm.config import LMConfig

    return LMConfig(lm, **asdict(reach), **more)


def opened_lm(config: "LMConfig", ledger: "Ledger | None" = None, needs_key: bool = True) -> "OpenLM":
    """`aisr.lm.open.open_lm`, without what DSPy logs: failures are counted."""
    from aisr.lm.config import PROVIDER
    from aisr.lm.open import open_lm

    if config.api_base and config.embedding_api_base == PROVIDER:
        say_one_key("embeddings")
    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # after its import, which sets its own
    return open_lm(config, ledger, needs_key)


def say_one_key(whose: str) -> None:
    """Say that a provider's key goes to a server of the user's own as well, unless that has one of its own."""
    from aisr.cli.display import note
    from aisr.lm.endpoint import OPENAI_KEY, OWN_KEY, key_of_servers

    if key_of_servers() == OPENAI_KEY:
        note(
            f"warning: {OPENAI_KEY} goes to OpenAI, for {whose}, and to the server at --api-base as well; set "
            f"{OWN_KEY} to that server's own key, or to nothing where it asks for none"
        )


def lm_beside(config: "LMConfig", role: str, model: str, api_base: str | None, price: str | None) -> "LMConfig":
    """The LM of --ROLE-lm, beside that of --lm, see `LMConfig.beside`."""
    beside = config.beside(role, model, api_base, price)
    if config.api_base and beside.api_base is None and model.startswith("openai/"):
        say_one_key(f"the {role} LM")
    return beside


def load_any(program: str, artifacts: Path) -> "Loaded":
    """The program of a folder or of `models:/…`, whatever its task."""
    from aisr.tracking import registry

    return registry.load(program, artifacts)


def load(task: "Task", program: str, artifacts: Path) -> "Loaded":
    """The same for a task. Raises UserError for a program of another."""
    loaded = load_any(program, artifacts)
    if loaded.task is not task:
        raise UserError(f"--program {program} is compiled for {loaded.task.name}, not for {task.name}")
    return loaded


def load_two(task: "Task", names: tuple[str, str], artifacts: Path) -> list["Loaded"]:
    """Two programs to hold against each other, of which one may be `uncompiled`: the other one as it was before it was
    compiled. Raises UserError where both are."""
    from aisr.artifact.program import uncompiled

    known = {name: load(task, name, artifacts) for name in compiled_of(names)}
    return [known[name] if name in known else uncompiled(*known.values()) for name in names]


def compiled_of(names: tuple[str, str]) -> list[str]:
    """The compiled ones among two programs. Raises UserError where there is none."""
    from aisr.artifact.folder import UNCOMPILED

    found = [name for name in names if name != UNCOMPILED]
    if not found:
        raise UserError(f"{' '.join(names)}: name a compiled program beside it; {UNCOMPILED} is what that was before")
    return found


def warn_of_another_lm(program: Any, lm: "OpenLM") -> None:
    """Say so where a program's decision layer was fitted on what another LM thinks."""
    from aisr.cli.display import note
    from aisr.predict.judge import another_lm

    if said := another_lm(program, lm):
        note(f"warning: {said}")
