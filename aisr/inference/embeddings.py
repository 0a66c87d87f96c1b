"""Giving programs what asks the embedding models of their retrievers."""

from typing import TypeVar

from aisr.lm.embeddings import Embeddings
from aisr.programs.judges.contract import Program

ProgramT = TypeVar("ProgramT", bound=Program)


def attach_embeddings(program: ProgramT, embeddings: Embeddings) -> ProgramT:
    """The program, with what asks the embedding models of its retrievers."""
    if model := getattr(program, "embedding_model", None):
        vars(program)["embed"] = embeddings.of(model)
    return program
