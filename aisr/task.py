"""What a task is made of, those here as well as one of your own (docs/adding-a-task.md): records, a program, a task,
scores; keys of what two records share; and matchers, which rank texts by a claim: they give each a score, higher is
better.

Each name is imported when it is used: records cost no import of DSPy, programs and tasks do.
"""

from typing import TYPE_CHECKING

from aisr.base.lazy import lazy_names

if TYPE_CHECKING:
    from aisr.base.errors import UserError as UserError
    from aisr.base.files import write_whole as write_whole
    from aisr.metrics.scores import (
        CorpusScore as CorpusScore,
        LabelScores as LabelScores,
        MeanScores as MeanScores,
        Scores as Scores,
        Tally as Tally,
        tally_statements as tally_statements,
    )
    from aisr.programs.case import Case as Case
    from aisr.programs.evidence import (
        PICTURE_MODE_HELP as PICTURE_MODE_HELP,
        Evidence as Evidence,
        Picture as Picture,
        PicturedText as PicturedText,
        PictureMode as PictureMode,
        ShownEvidence as ShownEvidence,
        read_evidence as read_evidence,
    )
    from aisr.programs.pictures import ImageFolder as ImageFolder, small_copies as small_copies
    from aisr.programs.probabilities import definitions as definitions, with_confidence as with_confidence
    from aisr.programs.program import (
        Fitted as Fitted,
        LabelOptions as LabelOptions,
        Options as Options,
        Program as Program,
        SearchOptions as SearchOptions,
        one_label_each as one_label_each,
        unknown_names as unknown_names,
        wrong_count as wrong_count,
    )
    from aisr.programs.records import (
        EvidenceItem as EvidenceItem,
        PicturePath as PicturePath,
        Prediction as Prediction,
        Record as Record,
        SentenceRecord as SentenceRecord,
        Text as Text,
        claim_key as claim_key,
        evidence_keys as evidence_keys,
        paper_keys as paper_keys,
        picture_keys as picture_keys,
    )
    from aisr.programs.retrieval import (
        CUT as CUT,
        USUAL_TOKENS as USUAL_TOKENS,
        Document as Document,
        Matcher as Matcher,
        Passage as Passage,
        PassagesById as PassagesById,
        best_passages as best_passages,
        bm25 as bm25,
        excerpt as excerpt,
        fit_passages as fit_passages,
        fused as fused,
        heading as heading,
        idle_places as idle_places,
        order as order,
        passages_of as passages_of,
        rank as rank,
        without_content as without_content,
    )
    from aisr.programs.task import (
        Query as Query,
        SentenceGold as SentenceGold,
        SentenceTask as SentenceTask,
        Task as Task,
    )
    from aisr.programs.text import (
        SHORTEST_QUOTE as SHORTEST_QUOTE,
        clean as clean,
        item as item,
        item_with_rows as item_with_rows,
        letters as letters,
        plain as plain,
        stretch as stretch,
    )
    from aisr.programs.text_index import TextIndex as TextIndex, index_of as index_of, stemmed as stemmed

__all__, __getattr__, __dir__ = lazy_names(__name__, __file__)
