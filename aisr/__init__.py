"""Judging from Python, with a program that `aisr compile` made:

    import aisr
    program = aisr.load("models:/aisr-track1@champion")  # or the folder of an artifact
    lm = aisr.open_lm("openai/gpt-4o-mini", max_usd=1)
    for judged in program.judge_all(records, lm):  # dicts as in a line of the JSONL files
        print(judged.id, judged.answer or judged.failure)

`await program.ajudge(record, lm)` is for event loops. What this module names stays where it is; everything else of the
project may move. Importing it loads neither DSPy nor MLflow, and using it changes nothing of the process: no variable
of the environment, no setting of DSPy or MLflow, no logger. Answers are kept in DSPy's response cache (see `open_lm`).
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aisr.api.lm import LM, BadProgram, BadRecord, Error, LMUnavailable, open_lm
    from aisr.api.program import Judged, Program, Verdict, load

# `aisr/programs`, `aisr/metrics` and `aisr/optimize` are links to the folders beside this one. A checkout without
# symbolic links (Windows) has files in their place; an editable installation then finds the folders where they are.
_HERE = Path(__file__).parent
if not (_HERE / "programs").is_dir():
    if not (_HERE.parent / "programs" / "track1").is_dir():
        raise ImportError(
            "aisr was installed from a checkout without symbolic links: install that with `pip install -e .`, or clone "
            "it anew with `git clone -c core.symlinks=true`"
        )
    __path__.append(str(_HERE.parent))

_PLACES = {
    "LM": "lm",
    "BadProgram": "lm",
    "BadRecord": "lm",
    "Error": "lm",
    "Judged": "program",
    "LMUnavailable": "lm",
    "Program": "program",
    "Verdict": "program",
    "load": "program",
    "open_lm": "lm",
}

__all__ = [
    "LM",
    "BadProgram",
    "BadRecord",
    "Error",
    "Judged",
    "LMUnavailable",
    "Program",
    "Verdict",
    "load",
    "open_lm",
]


def __getattr__(name: str) -> Any:
    """A name of the way in, from its file: every room is below this package, and most need none of these."""
    if name not in _PLACES:
        raise AttributeError(f"module 'aisr' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"aisr.api.{_PLACES[name]}"), name)
