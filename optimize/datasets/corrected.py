"""Corrected records beside a data folder's splits: they count as train, as far as dev and test know nothing of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from aisr.optimize.datasets.leakage import Common, all_keys, common
from aisr.programs.errors import UserError
from aisr.programs.records import Record, read
from aisr.programs.task import Task

OTHER_TEXTS = "its id stands in another record of the splits"


@dataclass(frozen=True)
class Corrected:
    """records: those that count as train; replaced: the ids of records of train that they take the place of; left_out:
    the ids of the others, each with the reason."""

    file: Path
    records: tuple[Record, ...]
    replaced: frozenset[str]
    left_out: Mapping[str, str]

    def within(self, train: Iterable[Record]) -> Iterator[Record]:
        """Train with them: those that are replaced left out, and the corrected ones behind the others."""
        return chain((one for one in train if one.id not in self.replaced), self.records)

    def __str__(self) -> str:
        place = f", {len(self.replaced)} of them in the place of train's own" if self.replaced else ""
        out = [f"{key} ({why})" for key, why in self.left_out.items()]
        more = f" and {len(out) - 5} more" if len(out) > 5 else ""
        rest = f"; {len(out)} left out: {', '.join(out[:5])}{more}" if out else ""
        return f"{self.file}: {len(self.records)} corrected records count as train{place}{rest}"


def corrected(task: Task, file: Path, splits: Mapping[str, Path]) -> Corrected:
    """The records of a file of corrections that may count as train: those that share nothing with dev and test by
    which one could be known in the other, and whose ids are not those of other records. One that corrects a record of
    train takes its place. Raises UserError where one has no labels, and `BadLine`."""
    found = list(read(file, task.record, task.name))
    without = next((one.id for one in found if one.gold is None), None)
    if without is not None:
        raise UserError(f"{file}: {without} has no labels; expected what `aisr corrections` wrote")
    content = task.correctable.content if task.correctable else lambda record: record.id
    train = {one.id: content(one) for one in read(splits["train"], task.record, task.name)}
    by_content = {text: key for key, text in train.items()}
    held = [
        (name, one.id, common(task, one))
        for name, path in splits.items()
        if name != "train"
        for one in read(path, task.record, task.name)
    ]
    left_out = dict(_shared(task, found, held))
    for one in found:
        if train.get(one.id, content(one)) != content(one):
            left_out.setdefault(one.id, OTHER_TEXTS)
    kept = tuple(one for one in found if one.id not in left_out)
    replaced = frozenset(by_content[text] for text in map(content, kept) if text in by_content)
    return Corrected(file, kept, replaced, left_out)


def _shared(task: Task, found: list[Record], held: list[tuple[str, str, Common]]) -> Iterator[tuple[str, str]]:
    """Each record that shares its id, or anything that splits keep apart, with another split; and what."""
    keys = all_keys([*(common(task, one) for one in found), *(row for _, _, row in held)])
    owner: dict[str, str] = {}
    for (name, _, _), own in zip(held, keys[len(found) :], strict=True):
        for key in own:
            owner.setdefault(key, name)
    names = {key: name for name, key, _ in held}
    for one, own in zip(found, keys, strict=False):
        shared = min((key for key in own if key in owner), default=None)
        if shared is not None:
            yield one.id, f"{owner[shared]} has its {shared.partition(':')[0]}"
        elif one.id in names:
            yield one.id, OTHER_TEXTS
