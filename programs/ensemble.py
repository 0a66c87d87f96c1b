"""Several compiled programs as one: each judges, and one decision layer makes a label of their judgements.

What separates members is worth more than their average: unions of diverse systems raised Track 1 from 47.8 to 50.3
where majority voting lowered it. So the layer weighs the members' distributions, and may let a rare label pass with few
votes (`programs.decision.Rule.votes`). Members' own decision layers are left out: one is fitted for all together.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import dspy

from programs.decision import CUES, WORDING, Decision, pooled
from programs.records import Record


class Ensemble(dspy.Module):
    """Members by their names, all of one task. It costs the calls of all, and fails a record that one of them fails."""

    decision: Decision | None = None

    def __init__(self, members: Mapping[str, dspy.Module]) -> None:
        super().__init__()
        if len(members) < 2:
            raise ValueError(f"{len(members)} members; an ensemble needs two or more")
        for name, member in members.items():
            if name in (WORDING, CUES):
                raise ValueError(f"a member cannot be called {name!r}: its decision layer calls an expert so")
            if isinstance(member, Ensemble):
                raise ValueError(f"member {name} is an ensemble itself; name its members instead")
        self.members = {name: members[name] for name in sorted(members)}
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
            self.decision or pooled(list(self.members), self.members[first].labels), said, **parts[first]
        )
        return conclusion
