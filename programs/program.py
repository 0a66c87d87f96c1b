"""The base class of all programs.

A program subclasses `Program`. It has its `Options`, its predictors, `prepare` (a record as an example) and `forward`
(the inputs of an example to a prediction), whose calls of an LM go through `self.ask`: the answer is checked, and
repaired once. All else is a hook with a default. There is never a silent default for an answer: one that is still
unusable raises `UnusableAnswer`, and the record is written down as failed.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args, get_origin

import dspy
from dspy.utils.exceptions import AdapterParseError
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from aisr.base.errors import UserError
from aisr.base.files import read_json
from aisr.base.jsonl import explain
from aisr.programs.case import Case
from aisr.programs.evidence import NO_EVIDENCE, Evidence, PicturedText, PictureMode
from aisr.programs.nearest_demos import IndexedDemos, Similarity, wording
from aisr.programs.pictures import ImageFolder
from aisr.programs.probabilities import CONFIDENCE, Judgement, judgements_of
from aisr.programs.ranker import EvidenceRanker
from aisr.programs.records import Record
from aisr.programs.retrieval import RETRIEVERS, Matcher, RetrieverName, bm25
from aisr.programs.saved import ProgramFile, check_state, read_state
from aisr.programs.text import plain

# --- Options

SEARCHED = ("demos_per_record", "demo_similarity")  # those that optimizers alone set


class Options(BaseModel):
    """How a program is built; program.json holds them. A program adds its own as fields of a subclass: texts, numbers
    and switches, each with a default. A field's description is its help; its bounds and choices are checked."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    demos_per_record: int = Field(
        default=0, ge=0, description="How many demos, the nearest, stand in the prompt of a record; 0: all."
    )
    demo_similarity: Similarity = Field(
        default="words",
        description="How demos are compared with a record: by `words` (BM25), or by `both`, with word vectors.",
    )


class LabelOptions(Options):
    """The options of a program whose answers are labels."""

    verbalized_confidence: bool = Field(
        default=False,
        description="Whether the LM states how likely each label is, beside it, for LMs without log-probabilities.",
    )


class SearchOptions(Options):
    """The options of a program that retrieves evidence."""

    retriever: RetrieverName = Field(
        default="bm25", description="What ranks texts: words (`bm25`), word vectors (`dense`), or both (`hybrid`)."
    )


# --- Asking

Check = Callable[[dspy.Prediction], str | None]  # the complaint about an answer, or None
Counts = Mapping[str, int | tuple[int, int]]
Ids = Mapping[str, Sequence[str]]
NOTHING: Mapping[str, Any] = MappingProxyType({})
TOP_LOGPROBS = 20  # the most that OpenAI's API gives
MOST_CORRECTION = 1200  # characters of a complaint about an answer: of a hundred paragraphs it would name each
NO_TEXT = re.compile(r"None\Z|\{'text': (?:''|None)[,}]")  # how DSPy's adapters show an answer without any


class UnusableAnswer(ValueError):
    """The LM's answer could not be used, nor could its answer to the complaint about it."""


def wrong_count(values: Sequence[object], wanted: int, what: str) -> str | None:
    """Return the complaint about a list of the wrong length, or None: DSPy's schemas and parsers know no lengths."""
    if len(values) == wanted:
        return None
    return f"{len(values)} {what} where {wanted} were asked for"


def unknown_names(names: Sequence[str], known: Sequence[str], what: str) -> str | None:
    """Return the complaint about names that were not offered, or None."""
    for name in names:
        if name not in known:
            return f"{what} {name!r} was not shown; shown were {', '.join(known)}"
    return None


def label_field(signature: type[dspy.Signature]) -> str | None:
    """Return the output field that holds labels: the first one whose type is a Literal, or a list of one; or None."""
    for name, field in signature.output_fields.items():
        kind = field.annotation
        if get_origin(kind) is list:
            (kind,) = get_args(kind)
        if get_origin(kind) is Literal:
            return str(name)
    return None


def one_label_each(field: str, statements: Sequence[object]) -> Counts:
    """Return the counts of an answer with one label, in its output `field`, for each of some statements."""
    return {field: len(statements), CONFIDENCE: len(statements)}


def _lists(counts: Counts, ids: Ids) -> dict[str, dict[str, Any]]:
    """Return what is known of the lists in an answer, in the words of JSON schema."""
    lists: dict[str, dict[str, Any]] = {}
    for name, count in counts.items():
        least, most = (count, count) if isinstance(count, int) else count
        lists[name] = {"minItems": least, "maxItems": most}
    for place, known in ids.items():
        name, _, inner = place.partition(".")
        lists.setdefault(name, {}).setdefault("ids", {})[inner] = list(known)
    return lists


def _without_confidence(error: AdapterParseError) -> dspy.Prediction | None:
    """Return an answer in which only the confidence is missing or malformed; None where anything else is wrong."""
    fields = error.signature.output_fields
    if CONFIDENCE not in fields or error.lm_response is None:
        return None
    for looser in _looser_signatures(error.signature):
        with suppress(AdapterParseError):
            return dspy.Prediction(**dspy.settings.adapter.parse(looser, error.lm_response))
    return None


@lru_cache(maxsize=8)  # a signature is a class, which takes long to make
def _looser_signatures(signature: Any) -> tuple[Any, Any]:
    """Return a signature with any confidence, and one without."""
    return signature.with_updated_fields(CONFIDENCE, type_=Any), signature.delete(CONFIDENCE)


def _trace(predict: dspy.Predict, call: Mapping[str, Any], answer: dspy.Prediction, is_accepted: bool) -> None:
    """Have the last entry of DSPy's trace be that of an accepted answer, with the text of pictures, of which no demo
    may hold any; a refused one must not become a demo. A predictor that raised has entered none."""
    trace = dspy.settings.trace
    if trace is None:
        return
    if trace and trace[-1][2] is answer:
        _, inputs, _ = trace.pop()
    else:
        inputs = {name: value for name, value in call.items() if name in predict.signature.input_fields}
    if not is_accepted:
        return
    texts = dict(inputs)
    for name, value in inputs.items():
        if isinstance(value, PicturedText):
            texts[name] = str(value)
    trace.append((predict, texts, answer))


def _what_failed(error: AdapterParseError) -> str:
    cause = error.__cause__
    if isinstance(cause, (RecursionError, MemoryError)) or type(cause) is ValueError:
        return f"it could not be read ({type(cause).__name__}: {str(cause)[:200]})"
    fields = ", ".join(error.signature.output_fields)
    answer = " ".join(str(error.lm_response or "").split())[:200]
    if not answer or NO_TEXT.match(answer):
        return f"it is empty, and should hold the fields {fields}"
    return f"it does not hold the fields {fields} with their allowed values (it began {answer!r})"


# --- Programs

AnyOptions = Options  # within `Program`, `Options` is the class of its own


class Fitted(BaseModel):
    """What a program was fitted to on train beside its prompt: text and numbers, saved with it."""

    def page(self) -> str:
        """Return it as a person reads it, as Markdown without a heading."""
        raise NotImplementedError


class Program(dspy.Module):
    """One program of a task: it judges records, is what optimizers compile, and what an artifact holds."""

    Options: ClassVar[type[AnyOptions]] = Options
    options: AnyOptions  # what it was built with
    forward: Callable[..., dspy.Prediction]  # from the inputs of an example; raises `UnusableAnswer`
    labels: ClassVar[tuple[str, ...]] = ()  # of its task, the one that finds no fault first; empty if answers are none
    statement: str = "claim"  # the input by which demos are compared with a record, for nearest demos and leakage

    # Fitted beside the prompt, and saved with it.
    fitted: Fitted | None = None  # what `fit` came to
    ranker: EvidenceRanker | None = None  # ranks texts in the retriever's place
    takes_ranker: ClassVar[bool] = False  # whether a ranker may be fitted

    # No part of the program.
    image_folder: ImageFolder | None = None  # where the pictures of records are

    def __init__(self, **options: Any) -> None:
        """Build the program with these options. Raises pydantic's ValidationError for an invalid one."""
        super().__init__()
        self.options = self.Options(**options)
        # No part of the program either: the groups that the statements of demos and records are in, where they are
        # known. No prompt of a record has a demo of the record's own group, which would give the answer away.
        self.excluded: Mapping[str, frozenset[int]] = {}
        self._indexed_demos: IndexedDemos | None = None

    # --- What a program says.

    def prepare(self, record: Any) -> Case:
        """Return a record as the program takes it: an example with its inputs, and where it is labelled the right
        outputs, the gold answer and the demo that it makes (see `case`)."""
        raise NotImplementedError

    @property
    def picture_mode(self) -> PictureMode:
        """What of a picture stands in the prompt: the option of that name; the caption in tasks without pictures."""
        return getattr(self.options, "picture_mode", "caption")

    @property
    def shows_pictures(self) -> bool:
        """Whether prompts hold more of the pictures of records than their captions."""
        return self.image_folder is not None and self.picture_mode != "caption"

    @property
    def main_predictor(self) -> dspy.Predict:
        """The predictor whose answer is the judgement; labelled records are demos of this one."""
        return self.predictors()[-1]

    def fit(self, records: Sequence[Any]) -> None:
        """Fit what stands beside the prompt (`fitted`) to labelled records, those of train."""

    def load_fitted(self, saved: Mapping[str, Any]) -> None:
        """Set `fitted` from what was saved. Raises ValueError where it is no such thing."""
        raise UserError("fitted: nothing of this program is fitted but prompt and ranker")

    def choose_evidence(self, label: str, named: Sequence[str], ranking: Sequence[str]) -> list[str]:
        """Return the ids of the evidence that goes with a label, best first, in tasks that ask for some. named: the ids
        that the LM named, ranking: the ranker's, both best first."""
        return list(named)

    # --- What `forward` calls.

    def nearest_demos(self, demos: Sequence[Any], text: str) -> list[Any]:
        """Return those of some demos that the prompt of a record with the statement `text` shows: all, or where
        `demos_per_record` is set, up to so many whose own statement is nearest to it, the nearest last. Which they are
        depends on the record alone, so that a prompt is the same in every run; a provider's prompt cache gains nothing,
        as the prefix is another for each record."""
        options = self.options
        if not options.demos_per_record:
            return list(demos)
        if self._indexed_demos is None or not self._indexed_demos.holds(demos):
            self._indexed_demos = IndexedDemos(demos, self.statement)
        return self._indexed_demos.nearest(text, options.demos_per_record, options.demo_similarity, self.excluded)

    def ask(
        self,
        predict: dspy.Predict,
        check: Check | None = None,
        *,
        counts: Counts = NOTHING,
        ids: Ids = NOTHING,
        **inputs: Any,
    ) -> dspy.Prediction:
        """Return the answer of a predictor to `inputs`, with the demos nearest to the statement among these.

        check: returns the complaint about an answer, or None. After a complaint, or an answer that does not parse, the
        LM is asked once more, with the complaint; not where the answer was cut, refused or filtered. counts: how many
        items an output list has, a number or the least and the most; ids: what its items are chosen from, or, named
        `pairs.source`, a field of theirs. An LM that decodes under a schema is told, as far as its server takes it.
        Raises `UnusableAnswer`, and `BadPicture` for one that cannot be sent; errors of the LM pass through.
        """
        lm = predict.lm or dspy.settings.lm
        config: dict[str, Any] = {}
        answers: list[Any] = []
        if hasattr(lm, "record_answers"):
            config["lists"] = _lists(counts, ids)
            answers = lm.record_answers()
        if getattr(lm, "gives_logprobs", False):
            config |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        for value in inputs.values():
            if isinstance(value, PicturedText):
                value.check()
        demos = self.nearest_demos(predict.demos, wording(inputs.get(self.statement)))
        call = {**inputs, "demos": demos, "config": config}
        complaint: str | None = None
        reason: str | None = None
        for _ in range(2):
            try:
                answer = predict(**call)
            except AdapterParseError as error:
                answer, complaint = _without_confidence(error), _what_failed(error)
            reason = lm.failed_ending(answers[-1]) if answers else None
            if answer is not None:
                complaint = check(answer) if check and not reason else None
                is_accepted = complaint is None and not reason
                _trace(predict, call, answer, is_accepted)
                if is_accepted:
                    return answer
            if reason:
                break
            # The complaint repeats what the model wrote and what the record calls its paragraphs: data, like the rest.
            cut = f"Your previous answer could not be used: {complaint}"[:MOST_CORRECTION]
            field = dspy.InputField(desc="what was wrong with your previous answer")
            call["signature"] = predict.signature.append("correction", field, str)
            call["correction"] = plain(f"{cut}. Answer again, in the form asked for.")
        if answers:  # they must not come from the cache in the next run
            lm.invalidate(answers)
        raise UnusableAnswer(reason or f"unusable answer, also after one repair: {complaint}")

    def decide(self, answer: dspy.Prediction, field: str) -> list[Judgement]:
        """Return the judgement of each label in an output `field` of the last answer, a label or a list of them."""
        labels = answer[field] if isinstance(answer[field], list) else [answer[field]]
        states = getattr(self.options, "verbalized_confidence", False)
        judged = judgements_of(answer, field, labels, self.labels, states)
        if "logprobs" in answer:  # twenty alternatives a token make a reflection on the trace twenty times as long
            del answer["logprobs"]
        return judged

    @staticmethod
    def case(
        record: Record,
        inputs: Mapping[str, Any],
        right: Mapping[str, Any],
        demo: Mapping[str, Any] | None = NOTHING,
        is_complete: bool = True,
        evidence: Evidence = NO_EVIDENCE,
    ) -> Case:
        """Return a record as the program takes it.

        right: the outputs that are right, where it is labelled; demo: the fields that are others where it is a demo of
        the main predictor, in tasks whose evidence would not fit into one, or None where it would teach nothing;
        is_complete: whether the inputs show the evidence that the answer names; evidence: the items of its bundle.
        """
        example = dspy.Example(id=record.id, **inputs, **right).with_inputs(*inputs)
        as_demo = None if demo is None or record.gold is None else example.copy(**demo)
        return Case(example, record.gold, evidence, as_demo, is_complete)

    @property
    def match(self) -> Matcher:
        """What ranks texts."""
        if self.ranker:
            return self.ranker.matcher()
        if isinstance(self.options, SearchOptions):
            return RETRIEVERS[self.options.retriever]
        return bm25

    # --- What optimizers and commands call.

    def load_saved(self, file: ProgramFile) -> None:
        """Set prompts and what is fitted from a program.json with these options. Raises UserError for another file."""
        check_state(self.named_predictors(), file.state)
        self.load_state(file.model_dump()["state"])
        if file.ranker is not None:
            if not self.takes_ranker:
                raise UserError("ranker: this program does not look for evidence")
            self.ranker = file.ranker
        if file.fitted is not None:
            self.load_fitted(file.fitted)

    def load(self, path: str | PathLike[str], allow_pickle: bool = False, allow_unsafe_lm_state: bool = False) -> None:
        """Load a program.json, or a JSON file that `save` of DSPy wrote; an LM in it is left out.

        A program.json also sets the options and all that is fitted, which DSPy's `save` leaves out. The two switches
        are those of DSPy, which neither form needs. Raises UserError where the file is none of this program.
        """
        source = Path(path)
        content = read_json(source)
        try:
            if "format" in content:
                file = ProgramFile.model_validate(content)
                self.__dict__.update(type(self)(**file.options).__dict__)
                self.load_saved(file)
            else:
                state = read_state(content)
                check_state(self.named_predictors(), state)
                self.load_state({name: saved.model_dump() for name, saved in state.items()})
        except ValidationError as error:
            raise UserError(f"{source}: {explain(error)}") from error
        except UserError as error:
            raise UserError(f"{source}: {error}") from error

    def copy_context(self, other: "Program") -> None:
        """Copy what is not saved with a program: the folder of pictures, and which demos are excluded."""
        self.image_folder, self.excluded = other.image_folder, other.excluded


ask = Program().ask  # for a predictor that is no part of a program
