"""The base classes of records and predictions; `aisr.base.jsonl` reads files of either.

A record subclasses `Record`, or `SentenceRecord` where its statements are sentences with one evidence bundle.
"""

import ntpath
import re
from collections.abc import Collection, Iterable
from posixpath import normpath
from threading import Lock
from typing import Annotated, Any, ClassVar, Literal

from cachetools import LRUCache, cached
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from aisr.base.errors import UserError
from aisr.base.files import digest_text
from aisr.programs.text import alike, alike_words, rows_of


def _below_a_folder(path: str | None) -> str | None:
    """Check that a path cannot leave the folder that it is read in, whatever that is."""
    if not path:
        return None
    drive, rest = ntpath.splitdrive(path)
    if drive or rest.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", path):
        raise UserError(f"{path[:80]!r} leads out of the image folder; expected a path such as images/figure.jpg")
    return path


Text = Annotated[str, Field(min_length=1)]
PicturePath = Annotated[str | None, AfterValidator(_below_a_folder)]


class Record(BaseModel):
    """What the records of all tasks share. `read` sets `id` where the file has none."""

    model_config = ConfigDict(frozen=True)

    # The command of aisr, with its arguments, that makes records of the organisers' files, where these have another
    # form; `{file}` holds their claims.
    converter: ClassVar[str] = ""

    id: Text

    @property
    def img_paths(self) -> list[str]:
        """The pictures of a record, as paths below the image root."""
        return []

    @property
    def gold(self) -> Any:
        """The gold answer, in the form that the task's score takes; None where it is withheld."""
        return None


def _as_captions(value: Any) -> Any:
    """Return a caption as a list of strings; a lone string or null is read as such a list."""
    if value is None:
        return []
    return [value] if isinstance(value, str) else value


Captions = Annotated[list[str], BeforeValidator(_as_captions)]


class EvidenceItem(BaseModel, frozen=True):
    """One item of an evidence bundle: a paragraph of text, or a picture of a table or figure with its captions."""

    type: Literal["text", "table", "image"]
    text: str = ""
    table_caption: Captions = []
    image_caption: Captions = []
    img_path: PicturePath = None

    @property
    def caption(self) -> str:
        """All captions of the item, in one line."""
        return " ".join([*self.table_caption, *self.image_caption])


class SentenceRecord(Record):
    """Sentences that are judged by one evidence bundle; a subclass has them in a field of its own."""

    evidence_bundle: list[EvidenceItem]

    @property
    def img_paths(self) -> list[str]:
        return [item.img_path for item in self.evidence_bundle if item.img_path]

    @property
    def statements(self) -> list[str]:
        """The sentences."""
        raise NotImplementedError

    @property
    def context(self) -> str:
        """The paragraph that the sentences stand in; empty where these are all of it."""
        return ""


class Prediction(BaseModel, strict=True):
    """What prediction lines share. A subclass has one field, the answer; or overrides `answer` and `line`."""

    id: Text | None = None

    @property
    def answer(self) -> Any:
        """What the line says, in the form that the task's score takes."""
        (name,) = type(self).model_fields.keys() - {"id"}
        return getattr(self, name)

    @classmethod
    def line(cls, answer: Any) -> dict[str, Any]:
        """Return an answer as the fields of a line; the reverse of `answer`."""
        (name,) = cls.model_fields.keys() - {"id"}
        return {name: list(answer) if isinstance(answer, tuple) else answer}

    @model_validator(mode="before")
    @classmethod
    def _not_failed(cls, raw: Any) -> Any:
        if isinstance(raw, dict) and "failed" in raw:
            raise UserError(f"a failed record ({str(raw['failed'])[:200]}); predict again to have it judged")
        return raw


class LabelPrediction(Prediction):
    """A line of predictions of a task with one label a record."""

    label: str


# --- What a record rests on, as keys by which two records are known to rest on the same: texts, tables, captions. A
# record that is judged by the evidence of another one is no new record: its label can be guessed from the other's.


def claim_key(claim: str) -> str:
    """Return what two records share that have the same claim, but for blanks, capitals and what is not seen."""
    return "claim:" + "".join(alike(claim).split())


PHRASE = 8  # words; a text or caption of fewer ("Results on the test set.") may well stand in two papers
CELLS = 6  # different cells, two of them numbers; of smaller tables two may be equal by chance


def evidence_keys(texts: Iterable[str], captions: Iterable[str] = ()) -> set[str]:
    """Return the keys of texts and captions that are more than a phrase, but for case, blanks, punctuation and what is
    not seen, and of the cells of tables given as text, in whatever markup and order."""
    keys = set()
    for text in texts:
        keys |= _long("evidence text", text)
        before, rows = rows_of(alike(text))
        if not rows:
            continue
        keys |= _long("caption", before)
        cells = {" ".join(alike_words(cell)) for cell in "|".join(rows).split("|")} - {""}
        numbers = [cell for cell in cells if any(map(str.isdigit, cell))]
        if len(cells) >= CELLS and len(numbers) > 1:
            table = "\n".join(sorted(cells))
            keys.add(f"table:{digest_text(table)}")
    for caption in captions:
        keys |= _long("caption", caption)
    return keys


PAPER_KEYS_KEPT = 4096  # whose keys are kept by their digests: many claims cite the same paper


def _paper_digest(paragraphs: Collection[str], citekey: str | None = None) -> tuple[str, str | None]:
    return digest_text("\n".join(paragraphs)), citekey


@cached(LRUCache(PAPER_KEYS_KEPT), key=_paper_digest, lock=Lock())
def paper_keys(paragraphs: Collection[str], citekey: str | None = None) -> set[str]:
    """Return the keys of a paper: its words, however they are parted into paragraphs, and the organisers' name."""
    letters = "".join(alike_words("\n".join(paragraphs)))
    names = {alike(citekey or "")}
    if letters:
        names.add(digest_text(letters))
    return {f"paper:{name}" for name in names if name}


def picture_keys(paths: Iterable[str]) -> set[str]:
    """Return the keys of pictures: their paths, however these are spelled (`./images//a.jpg`)."""
    names = [alike(path).replace("\\", "/") for path in paths]
    return {f"picture:{normpath(name)}" for name in names}


def _long(kind: str, text: str) -> set[str]:
    words = alike_words(text)
    return {f"{kind}:{digest_text(''.join(words))}"} if len(words) >= PHRASE else set()
