"""A share of the records for each of several machines that know nothing of each other."""

import re
from typing import NamedTuple, Self

from aisr.programs.errors import UserError


class Shard(NamedTuple):
    """Share `number` of `of` (from 1): the records number, number + of, number + 2 of, … of the input.

    Taken in turn like cards, not in blocks: files are often sorted, and the long records would all fall to one machine.
    Shards are joined by taking a line from each in turn, without sorting.
    """

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """The shard of a text such as `2/4`. Raises UserError."""
        found = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", text)
        shard = cls(*map(int, found.groups())) if found else cls(0, 0)
        if not 1 <= shard.number <= shard.of:
            raise UserError(f"--shard {text!r}: expected I/N with I from 1 to N, such as 2/4")
        return shard

    def has(self, place: int) -> bool:
        """Whether the record at this place of the input (from 0) is one of the shard's."""
        return place % self.of == self.number - 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


WHOLE = Shard(1, 1)
