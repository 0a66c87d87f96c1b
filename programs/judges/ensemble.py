"""Several compiled programs as one: each judges, and one decision layer makes a label of their judgements.

What separates members is worth more than their average: unions of diverse systems raised Track 1 from 47.8 to 50.3
where majority voting lowered it. So the layer weighs the members' distributions, and may let a rare label pass with few
votes (`aisr.programs.decision.layer.Rule.votes`). Members' own decision layers are left out: one is fitted for all
together.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, cast

import dspy

from aisr.programs.decision.layer import CUES, LM, WORDING, Decision, pooled
from aisr.programs.errors import UserError
from aisr.programs.judges.contract import (
    ChoosingProgram,
    JudgeProgram,
    LabelProgram,
    NamingProgram,
    Program,
    SearchingProgram,
)
from aisr.programs.records.base import Record
from aisr.programs.retrieval.evidence_list import DEFAULT, EvidencePolicy
from aisr.programs.retrieval.knn_demos import wording
from aisr.programs.text.overlap import quotes


class Ensemble(dspy.Module):
    """Members by their names, all of one task. It costs the calls of all, and fails a record that one of them fails."""

    decision: Decision | None = None
    naming: EvidencePolicy = DEFAULT

    def __init__(self, members: Mapping[str, JudgeProgram]) -> None:
        super().__init__()
        if len(members) < 2:
            raise UserError(f"{len(members)} members; an ensemble needs two or more")
        for name, member in members.items():
            if name in (WORDING, CUES):
                raise UserError(f"a member cannot be called {name!r}: its decision layer calls an expert so")
            if isinstance(member, Ensemble):
                raise UserError(f"member {name} is an ensemble itself; name its members instead")
        self.members = {name: cast(LabelProgram, members[name]) for name in sorted(members)}
        for member in self.members.values():
            member.decision = None

    @property
    def options(self) -> dict[str, Any]:
        """None: what a member was built with is its own."""
        return {}

    def prepare(self, record: Record) -> dspy.Example:
        """The record as the first member prepares it, and as each does (`parts`)."""
        prepared = {name: member.prepare(record) for name, member in self.members.items()}
        first: dspy.Example = next(iter(prepared.values()))
        parts = {name: example.inputs().toDict() for name, example in prepared.items()}
        return first.copy(parts=parts).with_inputs("parts")

    def forward(self, parts: Mapping[str, Mapping[str, Any]]) -> dspy.Prediction:
        """What the members' programs give, by the decision layer. Raises `UnusableAnswer`."""
        return self._concluded({name: member(**parts[name]) for name, member in self.members.items()}, parts)

    async def aforward(self, parts: Mapping[str, Mapping[str, Any]]) -> dspy.Prediction:
        """`forward` for an event loop, all members at a time: `await program.acall(...)`."""
        said = await asyncio.gather(*(member.acall(**parts[name]) for name, member in self.members.items()))
        return self._concluded(dict(zip(self.members, said, strict=True)), parts)

    def _concluded(
        self, said: Mapping[str, dspy.Prediction], parts: Mapping[str, Mapping[str, Any]]
    ) -> dspy.Prediction:
        first = next(iter(self.members))
        conclusion: dspy.Prediction = self.members[first].conclude(
            self.decision or pooled(list(self.members), self.members[first].labels),
            said,
            naming=self.naming,
            **parts[first],
        )
        return conclusion


def members(program: Program) -> list[JudgeProgram]:
    """The programs that prepare and judge records: an ensemble's members, or the program itself."""
    return [*program.members.values()] if isinstance(program, Ensemble) else [cast(JudgeProgram, program)]


def by_name(program: Program) -> Mapping[str, JudgeProgram]:
    """The same by their names: an ensemble's members, or the program itself as `LM`."""
    return program.members if isinstance(program, Ensemble) else {LM: cast(JudgeProgram, program)}


def ranked(program: Program) -> SearchingProgram | None:
    """A program whose paragraphs an evidence ranker can rank; None for any other."""
    return cast(SearchingProgram, program) if hasattr(type(program), "vectors") else None


def named_by(program: Program) -> EvidencePolicy | None:
    """How a program names evidence; None for one that cannot."""
    return getattr(program, "naming", None)


def name_by(program: Program, policy: EvidencePolicy) -> None:
    """Have a program name evidence so. Raises UserError for one that cannot."""
    if named_by(program) is None:
        raise UserError("the program names no evidence, and was told how to")
    cast(NamingProgram, program).naming = policy


def single(program: Program) -> JudgeProgram:
    """A program that is no ensemble. Raises UserError for one that is."""
    if isinstance(program, Ensemble):
        raise UserError(f"an ensemble of {', '.join(program.members)}, where one program is needed")
    return cast(JudgeProgram, program)


def models(program: Program) -> dict[str, JudgeProgram]:
    """The models of a program by their names, without a decision layer: its members, or itself."""
    if isinstance(program, Ensemble):
        return {**program.members}
    bare = single(program).deepcopy()
    bare.decision = None
    return {LM: bare}


def seen_by(name: str, example: dspy.Example) -> dspy.Example:
    """An example as a model prepared it."""
    if "parts" not in example:
        return example
    part = example.parts[name]
    return example.copy(**part).with_inputs(*part)


def in_prompt(program: Program, example: dspy.Example) -> bool:
    """Whether a record stands in a prompt of the program, whole or in part: as a demo, or quoted by an instruction."""
    return any(
        _is_demo(model, shown) or _is_quoted(model, shown)
        for name, model in by_name(program).items()
        for shown in [seen_by(name, example)]
    )


def _is_demo(model: JudgeProgram, example: dspy.Example) -> bool:
    """By what is judged: its evidence may stand in a demo in another form, without its pictures or reranked."""
    said = [row.get(model.statement) for row in model.demo_rows(example)]
    if hasattr(model, "near") and all(cast(ChoosingProgram, model).near.keeps_apart(wording(one)) for one in said):
        return False  # it stands in the prompts of others only
    return any(demo.get(model.statement) in said for demo in model.judging.demos)


def _is_quoted(model: JudgeProgram, example: dspy.Example) -> bool:
    """Whether an instruction has a run of words from what is judged."""
    said = "\n".join(wording(row.get(model.statement)) for row in model.demo_rows(example))
    return any(quotes(predictor.signature.instructions, said) for predictor in model.predictors())
