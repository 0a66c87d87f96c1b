"""What records have in common, and the groups that this makes of them."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from optimize import digests
from programs.records import CitationRecord, ClaimRecord, Record


def shared(record: Record) -> set[str]:
    """What another record must not have in common with this one across a split: pictures, the paper, the claim."""
    keys = {"claim:" + " ".join(record.claim_text.lower().split())}
    if isinstance(record, ClaimRecord):
        keys |= {f"picture:{item.img_path}" for item in record.evidence_bundle if item.img_path}
    if isinstance(record, CitationRecord):
        whole = "\n".join(record.paragraphs.values())
        keys.add(f"paper:{digests.of_text(whole)}")
    return keys


def groups(keys: Sequence[set[str]]) -> list[int]:
    """The number of the group of each record, given what each shares."""
    columns = {key: k for k, key in enumerate(dict.fromkeys(key for own in keys for key in sorted(own)))}
    rows, cols = [], []
    for row, own in enumerate(keys):
        for key in own:
            rows.append(row)
            cols.append(len(keys) + columns[key])
    size = len(keys) + len(columns)
    graph = coo_array((np.ones(len(rows)), (rows, cols)), shape=(size, size))
    _, component = connected_components(graph, directed=False)
    return [int(number) for number in component[: len(keys)]]
