"""Whether more of a number is better."""

import re

from aisr.arithmetic.grid import Cell, Grid

BETTER = re.compile(
    r"↑|\b(?:acc|accuracy|f1|f-?score|f-?measure|precision|recall|bleu|rouge|meteor|auc|auroc|auprc|map|ndcg|mrr"
    r"|iou|miou"
    r"|dice|psnr|ssim|exact match|em|hit(?:s|@\d+)?|recall@\d+|r@\d+|p@\d+|throughput|r2|r²|kappa|specificity"
    r"|sensitivity"
    r"|success(?: rate)?|win rate|higher is better)\b",
    re.IGNORECASE,
)
WORSE = re.compile(
    r"↓|\b(?:error(?:s| rate)?|loss|perplexity|ppl|wer|cer|ter|rmse|mse|mae|mape|nll|fid|latency|runtime|time|seconds"
    r"|minutes|hours|ms|memory|cost|eer|lower is better|params?|parameters|flops)\b",
    re.IGNORECASE,
)


VERSION = re.compile(r"\b[A-Za-z]+[-@]\d+\b")  # top-100, P@5


def foreign(said: str, table: Grid) -> bool:
    """Whether words speak of a measure that a table does not: neither its names nor its caption and notes have it."""
    known = " ".join([table.caption, table.notes, *(name for labels in table.levels for name in labels)]).lower()
    found = (one[0].lower() for pattern in (BETTER, WORSE, VERSION) for one in pattern.finditer(said))
    return any(word not in known for word in found)


def is_measure(name: str) -> bool:
    """Whether a name is that of a measure."""
    return BETTER.search(name) is not None or WORSE.search(name) is not None


def larger_is_better(table: Grid, cell: Cell) -> bool | None:
    """By the names that a cell stands for, else by the caption; None where neither says."""
    for text in (" ; ".join(cell.at), table.caption):
        better, worse = BETTER.search(text) is not None, WORSE.search(text) is not None
        if better != worse:
            return better
        if better:
            return None
    return None
