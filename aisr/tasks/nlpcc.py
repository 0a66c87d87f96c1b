"""What both tracks of the shared task have in common."""

from aisr.programs.text.alike import alike

FILES = frozenset({"track1_pred.jsonl", "track2_pred.jsonl"})  # one zip may hold both


def claim_key(claim: str) -> str:
    """What two records share that have the same claim, but for blanks, capitals and what is not seen."""
    return "claim:" + "".join(alike(claim).split())
