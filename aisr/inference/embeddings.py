"""Giving programs what asks the embedding models of their retrievers."""

from typing import TypeVar

from aisr.lm.embeddings import Embeddings
from aisr.programs.judges.contract import Program
from aisr.programs.judges.ensemble import members

ProgramT = TypeVar("ProgramT", bound=Program)


def attach_embeddings(program: ProgramT, embeddings: Embeddings) -> ProgramT:
    """The program, with what asks the embedding models of its retrievers."""
    for member in members(program):
        if model := getattr(member, "embedding_model", None):
            vars(member)["embed"] = embeddings.of(model)
    return program
