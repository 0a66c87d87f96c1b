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

from pathlib import Path
from typing import TYPE_CHECKING

from aisr.base.lazy import lazy_names

if TYPE_CHECKING:
    from aisr.api import (
        LanguageModel as LanguageModel,
        LoadedProgram as LoadedProgram,
        Verdict as Verdict,
        load as load,
        open_lm as open_lm,
        uncompiled as uncompiled,
    )
    from aisr.artifact.manifest import LabelScore as LabelScore, TestScores as TestScores
    from aisr.base.errors import UserError as UserError, run_command as run_command
    from aisr.base.page import render_page as render_page
    from aisr.evaluation import (
        ProgramComparison as ProgramComparison,
        ProgramScores as ProgramScores,
        RetrievalScores as RetrievalScores,
        compare as compare,
        evaluate as evaluate,
        score_retrieval as score_retrieval,
    )
    from aisr.lm.config import LMUnavailable as LMUnavailable
    from aisr.modules import (
        Metric as Metric,
        corpus_score as corpus_score,
        examples as examples,
        metric as metric,
        save as save,
    )
    from aisr.programs.evidence import ShownEvidence as ShownEvidence
    from aisr.programs.program import UnusableAnswer as UnusableAnswer, ask as ask
    from aisr.programs.track1 import Track1 as Track1
    from aisr.programs.track2 import Track2 as Track2
    from aisr.records import RecordsCheck as RecordsCheck, check as check, split as split
    from aisr.workflow import (
        CompiledRun as CompiledRun,
        Event as Event,
        NotSubmitted as NotSubmitted,
        compile as compile,
        estimate as estimate,
        estimate_prediction as estimate_prediction,
        predict as predict,
        promote as promote,
        score as score,
        submit as submit,
    )

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

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
