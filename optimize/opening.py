"""What every command that runs a program opens first: the cache, the language model, the program."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from optimize.budget import Ledger
    from optimize.lm import OpenLM
    from optimize.tasks import Task


def prepare(artifacts: Path) -> None:
    """What must be set before DSPy is imported: a response cache of this workspace, and no bars but ours."""
    os.environ.setdefault("DSPY_CACHEDIR", str(artifacts.resolve() / ".cache"))
    os.environ.setdefault("TQDM_DISABLE", "1")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # the price list of the package, not of the web


def command_line() -> str:
    """The command as files and runs record it: without the address of a server, which can hold a key."""
    words = ["aisr", *sys.argv[1:]]
    hidden = [
        "--api-base=…" if word.startswith("--api-base=") else "…" if k and words[k - 1] == "--api-base" else word
        for k, word in enumerate(words)
    ]
    return shlex.join(hidden).replace("'…'", "…")


def opened_lm(
    lm: str,
    api_base: str | None,
    schema: bool,
    logprobs: bool,
    threads: int | None,
    ledger: "Ledger | None" = None,
    price: str | None = None,
    timeout: float | None = None,
) -> "OpenLM":
    import logging

    import dspy

    from optimize.lm import open_lm
    from optimize.prices import Price
    from optimize.response_cache import tame

    tame(dspy.cache)
    logging.getLogger("dspy").setLevel(logging.CRITICAL)  # after its import, which sets its own; failures are counted
    known = Price.parse(price) if price else None
    return open_lm(
        lm,
        api_base=api_base,
        schema=schema,
        logprobs=logprobs,
        threads=threads,
        ledger=ledger,
        price=known,
        timeout=timeout,
    )


def load(task: "Task", program: str, artifacts: Path) -> Any:
    from optimize import artifact, registry

    registered = program.startswith(registry.MODEL_SCHEME)
    loaded = registry.load_registered(artifacts, program) if registered else artifact.load(Path(program))
    if loaded.task is not task:
        raise ValueError(f"--program {program} is compiled for {loaded.task.name}, not for {task.name}")
    return loaded


def warn_of_another_lm(program: Any, lm: "OpenLM") -> None:
    """Say so where a program's decision layer was fitted on what another LM thinks."""
    from optimize.display import note

    layer = program.decision
    if layer is not None and layer.kept and layer.fitted_on != lm.identity:
        note(
            f"warning: the decision layer was fitted on {layer.fitted_on or 'an unknown LM'}, "
            f"and this is {lm.identity}; its weights may not suit. Compile with the LM that predicts"
        )
