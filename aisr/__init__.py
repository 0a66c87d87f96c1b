"""Judging from Python, with a program that `aisr compile` made:

    import aisr
    program = aisr.load("models:/aisr-track1@champion")  # or the folder of an artifact
    lm = aisr.open_lm("openai/gpt-4o-mini", max_usd=1)
    for verdict in program.judge_all(records, lm):  # dicts as in a line of the JSONL files
        print(verdict.id, verdict.answer or verdict.failure)

`await program.ajudge(record, lm)` is for event loops. The names of this module, of `aisr.task` and of `aisr.text`
stay; everything else of the project may move. Importing it loads neither DSPy nor MLflow, and using it changes nothing
of the process: no setting of DSPy or MLflow, no logger. Answers are kept in DSPy's response cache (see `open_lm`).
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from aisr.api import LanguageModel, LoadedProgram, ShownEvidence, Verdict, load, open_lm, uncompiled
    from aisr.artifact.manifest import LabelScore, TestScores
    from aisr.base.errors import UserError, run_command
    from aisr.base.page import render_page
    from aisr.lm.config import LMUnavailable
    from aisr.modules import Metric, corpus_score, examples, metric, save
    from aisr.programs.program import UnusableAnswer, ask
    from aisr.programs.track1 import Track1
    from aisr.programs.track2 import Track2
    from aisr.workflow import NotSubmitted, predict, promote, score, split, submit

# `aisr/programs`, `aisr/metrics` and `aisr/optimize` are links to the folders beside this one. A checkout without
# symbolic links (Windows) has files in their place; an editable installation then finds the folders where they are.
_HERE = Path(__file__).parent
if not (_HERE / "programs").is_dir():
    if not (_HERE.parent / "programs" / "program.py").is_file():
        raise ImportError(
            "aisr was installed from a checkout without symbolic links: install that with `pip install -e .`, or clone "
            "it anew with `git clone -c core.symlinks=true`"
        )
    __path__.append(str(_HERE.parent))

__all__ = [
    "LMUnavailable",
    "LabelScore",
    "LanguageModel",
    "LoadedProgram",
    "Metric",
    "NotSubmitted",
    "ShownEvidence",
    "TestScores",
    "Track1",
    "Track2",
    "UnusableAnswer",
    "UserError",
    "Verdict",
    "ask",
    "corpus_score",
    "examples",
    "load",
    "metric",
    "open_lm",
    "predict",
    "promote",
    "render_page",
    "run_command",
    "save",
    "score",
    "split",
    "submit",
    "uncompiled",
]


# Where names are that are not in `aisr.api`, which loads DSPy.
PLACES = {
    "LMUnavailable": "lm.config",
    "LabelScore": "artifact.manifest",
    "Metric": "modules",
    "NotSubmitted": "workflow",
    "TestScores": "artifact.manifest",
    "Track1": "programs.track1",
    "Track2": "programs.track2",
    "UnusableAnswer": "programs.program",
    "UserError": "base.errors",
    "ask": "programs.program",
    "corpus_score": "modules",
    "examples": "modules",
    "metric": "modules",
    "predict": "workflow",
    "promote": "workflow",
    "render_page": "base.page",
    "run_command": "base.errors",
    "save": "modules",
    "score": "workflow",
    "split": "workflow",
    "submit": "workflow",
}


def __getattr__(name: str) -> Any:
    """A public name, imported when it is used: everything is below this package, and most needs none of it."""
    if name not in __all__:
        raise AttributeError(f"module 'aisr' has no attribute {name!r}")
    return getattr(import_module(f"aisr.{PLACES.get(name, 'api')}"), name)


def __dir__() -> list[str]:
    return __all__
