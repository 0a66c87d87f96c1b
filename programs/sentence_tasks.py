"""What the tasks share that label sentences, all held against one evidence bundle. Each says where its sentences stand,
what their labels are and how they are scored."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, Self, TypeVar

from aisr.programs.records import EvidenceItem
from aisr.programs.shared_evidence import evidence_keys, picture_keys
from aisr.programs.task import Correctable, Judgements, Said

Gold = Sequence[Sequence[str]]
BundledT = TypeVar("BundledT", bound="Bundled")


class Bundled(Protocol):
    """A record with an evidence bundle."""

    evidence_bundle: list[EvidenceItem]

    @property
    def img_paths(self) -> list[str]: ...

    def model_dump(self) -> dict[str, Any]: ...

    @classmethod
    def model_validate(cls, obj: Any) -> Self: ...


def texts(record: Bundled) -> list[str]:
    """The passages and tables of the bundle that are given as text."""
    return [item.text for item in record.evidence_bundle if item.text]


def shared_keys(record: Bundled) -> set[str]:
    """The keys of the pictures, texts and captions of the bundle."""
    captions = [caption for item in record.evidence_bundle for caption in (*item.table_caption, *item.image_caption)]
    return picture_keys(record.img_paths) | evidence_keys(texts(record), captions)


def judgements(labels: tuple[str, ...], neutral: str, definitions: Mapping[str, str]) -> Judgements:
    """The labels of sentences."""
    return Judgements(
        labels=labels,
        neutral=neutral,
        definitions=definitions,
        allowed=lambda gold: gold,
        statements=lambda example: list(example.sentences),
        grounds=lambda example: str(example.evidence),
    )


def correctable(
    sentences: Callable[[Any], Sequence[str]],
    around: Callable[[Any], str],
    bare: Callable[[Any], Any],
    labelled: Callable[[Any, Mapping[int, Said]], Any],
) -> Correctable:
    """Where sentences stand, what they are held against and what else is judged with them, see `Correctable`."""
    return Correctable(
        statements=sentences,
        evidence=lambda record: [item.model_dump_json() for item in record.evidence_bundle],
        said=lambda answer: answer,
        bare=bare,
        around=around,
        labelled=labelled,
    )


def with_sentences(record: BundledT, field: str, sentences: Sequence[Mapping[str, Any]]) -> BundledT:
    """A record with these in its `field`."""
    return type(record).model_validate({**record.model_dump(), field: sentences})
