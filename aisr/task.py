"""What a task of one's own is made of (docs/adding-a-task.md): records, a program, a task; and matchers, which rank
texts by a claim: they give each a score, higher is better.

Each name is imported when it is used: records cost no import of DSPy, programs and tasks do.
"""

from typing import TYPE_CHECKING

from aisr.base.lazy import lazy_names

if TYPE_CHECKING:
    from aisr.metrics.scores import (
        Scores as Scores,
        tally_statements as tally_statements,
    )
    from aisr.programs.case import (
        Case as Case,
    )
    from aisr.programs.evidence import (
        PICTURE_MODE_HELP as PICTURE_MODE_HELP,
        Evidence as Evidence,
        Picture as Picture,
        PicturedText as PicturedText,
        PictureMode as PictureMode,
        ShownEvidence as ShownEvidence,
        read_evidence as read_evidence,
    )
    from aisr.programs.pictures import (
        ImageFolder as ImageFolder,
        small_copies as small_copies,
    )
    from aisr.programs.probabilities import (
        definitions as definitions,
        with_confidence as with_confidence,
    )
    from aisr.programs.program import (
        LabelOptions as LabelOptions,
        Options as Options,
        Program as Program,
        SearchOptions as SearchOptions,
        one_label_each as one_label_each,
        wrong_count as wrong_count,
    )
    from aisr.programs.records import (
        EvidenceItem as EvidenceItem,
        Prediction as Prediction,
        Record as Record,
        SentenceRecord as SentenceRecord,
        Text as Text,
    )
    from aisr.programs.retrieval import (
        Matcher as Matcher,
        bm25 as bm25,
        fused as fused,
        order as order,
    )
    from aisr.programs.task import (
        Query as Query,
        SentenceTask as SentenceTask,
        Task as Task,
    )
    from aisr.programs.text_index import stemmed as stemmed

__all__, __getattr__ = lazy_names(__name__, __file__)


def __dir__() -> list[str]:
    return __all__
