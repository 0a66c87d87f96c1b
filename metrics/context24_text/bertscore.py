"""BERTScore (Zhang et al. 2020) as Context24's scorer has it, for those who have installed it: it needs a model.

`bert_score.score(lang="en")` takes the 17th layer of roberta-large, without idf weights and without rescaling. Unscaled
it is high for any two English texts (Bölücü et al. 2024 report .77 to .87): read differences in its third digit.
"""

from collections.abc import Sequence

from aisr.programs.errors import UserError

MODEL = "roberta-large"  # what bert-score takes for English
GIGABYTES = 1.4


def likenesses(pairs: Sequence[tuple[str, str]]) -> dict[tuple[str, str], float]:
    """BERTScore's F1 of pairs of a predicted and a gold text. Raises UserError where bert-score is not installed."""
    try:
        import bert_score
    except ImportError as error:
        raise UserError(
            f"BERTScore is not installed: it needs the package bert-score, PyTorch and the model {MODEL} "
            f"({GIGABYTES:g} GB, which bert-score downloads at its first use); pip install 'aisr[bertscore]', or leave "
            "out --bertscore"
        ) from error
    distinct = list(dict.fromkeys(pairs))
    if not distinct:
        return {}
    predicted, gold = zip(*distinct, strict=True)
    _, _, found = bert_score.score(list(predicted), list(gold), lang="en")
    return dict(zip(distinct, map(float, found), strict=True))
