"""A typed signature as closed questions: what a decision model is asked in place of writing an answer.

Such a model gives a probability for every option of a question. An output field that is one of several labels is one
question; a list of labels is one a slot; a list of ids is a yes-or-no question for each id that was shown (`Each` says
how it is put). The instruction of a signature may end with a section that describes the options, one a line: an
optimizer rewrites it with the rest. Where it lost an option, the definition in the output field stands in.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args, get_origin

SURE = "how_sure"  # the output in which a model that writes states how likely its labels are
AGAIN = "shown_ids"  # the input that repeats to a model that writes what it may name
SECTION = "Options:"  # the line behind which an instruction describes them
YES = 0.5  # an id is named from here on
ROUNDING = 0.01  # by which a served probability may lie outside of 0 to 1, and the sum of a choice beside 1


class NoDistribution(ValueError):
    """What a model gave in place of a probability for every option."""


@dataclass(frozen=True)
class Each:
    """How one question of several is put: `{}` is the number of a slot, or an id. ranked: whether all ids are wanted,
    the most probable first, and not those alone that are rather true."""

    question: str
    ranked: bool = False


@dataclass(frozen=True)
class Brief:
    """What a new program asks a model whose options are scored (`OpenLM.brief`) in place of its signature's own words,
    which explain the options where such a model has them described one by one: an instruction with its section of
    options, of the same content."""

    instruction: str


@dataclass(frozen=True)
class Question:
    """One closed question. options: label to description; None for a yes-or-no question. slot: of a list of labels its
    number, from 0; of a list of ids the id; None for a field of one label."""

    field: str
    instructions: str
    options: Mapping[str, str] | None = None
    slot: int | str | None = None

    @property
    def name(self) -> str:
        return (
            self.field if self.slot is None else f"{self.field} {self.slot if self.options is None else self._number}"
        )

    @property
    def _number(self) -> int:
        return int(self.slot or 0) + 1


class Instruction(NamedTuple):
    """What an instruction says apart from its options, and how it describes these."""

    text: str
    options: dict[str, str]


def labels_of(annotation: Any) -> tuple[str, ...]:
    """The labels that a field may hold, or each of its items; none where it holds something else."""
    inner = get_args(annotation)[0] if get_origin(annotation) is list and get_args(annotation) else annotation
    labels = get_args(inner) if get_origin(inner) is Literal else ()
    return labels if all(isinstance(label, str) for label in labels) else ()


def each_of(field: Any) -> Each | None:
    """How the questions of an output field are put."""
    return next((one for one in field.metadata if isinstance(one, Each)), None)


def is_closed(signature: Any) -> bool:
    """Whether a decision model can answer it: some output is labels or ids, and what it cannot write may stay empty."""
    return any(labels_of(field.annotation) or each_of(field) for field in signature.output_fields.values())


def apart(instructions: str, labels: Sequence[str]) -> Instruction:
    """An instruction apart from its section of options, which may be missing or hold some alone."""
    text, mark, section = instructions.rpartition(f"\n{SECTION}\n")
    if not mark:
        return Instruction(instructions, {})
    return Instruction(text.rstrip(), described(section, labels))


def described(text: str, labels: Sequence[str]) -> dict[str, str]:
    """The descriptions of labels in a text that gives them as "Label = description" or "- Label: description", in its
    order, which an instruction may speak of ("take the first that fits")."""
    names = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    places = list(re.finditer(rf"(?:^|(?<=; )|(?<=\. )|\n)[-* ]*+({names})\** ?[:=] ", text))
    ends = [place.start() for place in places[1:]] + [len(text)]
    pairs = zip(places, ends, strict=True)
    found = {place[1]: text[place.end() : end].strip(" ;\n") for place, end in pairs}
    return {label: said for label, said in found.items() if said}


def describes_options(signature: Any) -> bool:
    """Whether its instruction ends with a section that describes options."""
    return f"\n{SECTION}\n" in signature.instructions


def with_options(signature: Any) -> Any:
    """A signature whose instruction also describes the options of its fields, so that both are searched together."""
    options = _defined(signature)
    if not options or describes_options(signature):
        return signature
    return signature.with_instructions(_listed(signature.instructions, options))


def describe_options(program: Any) -> None:
    """Have the instructions of a program that was just built describe the options of its questions, in short words
    where there are some (`Brief`)."""
    for predictor in program.predictors():
        fields = predictor.signature.output_fields.values()
        short = [one.instruction for field in fields for one in field.metadata if isinstance(one, Brief)]
        signature = predictor.signature
        predictor.signature = signature.with_instructions(short[0]) if short else with_options(signature)


def describe_lost_options(program: Any) -> None:
    """Have the instructions of a program that an optimizer left describe the options as they are asked: where it lost
    the section, by the definitions in the output fields."""
    for predictor in program.predictors():
        predictor.signature = with_options(predictor.signature)


def shown_ids(inputs: Mapping[str, Any]) -> list[str]:
    """The ids that the inputs of a call show, each before what it stands for."""
    return [key for value in inputs.values() for key in re.findall(r"^\[([^\]\n]+)\] ", str(value), re.MULTILINE)]


def questions_of(signature: Any, counts: Mapping[str, int], ids: Mapping[str, Sequence[str]]) -> list[Question]:
    """All questions of a signature, in the order of its fields. counts: how many slots a list of labels has; ids: those
    that a list of ids may hold, by field. A field of one label is asked by the instruction itself; the options of a
    list are described once, in the `preamble`: said again for each slot they would be half of what is paid for."""
    found: list[Question] = []
    for name, field in signature.output_fields.items():
        labels, each = labels_of(field.annotation), each_of(field)
        if labels:
            text, own = apart(signature.instructions, labels)
            options = described(_description(field), labels) | own
            full = {label: options.get(label, "") for label in [*own, *(one for one in labels if one not in own)]}
            if get_origin(field.annotation) is list:
                put, bare = each.question if each else "Which one is number {}?", dict.fromkeys(full, "")
                found += [Question(name, put.format(k + 1), bare, k) for k in range(counts.get(name, 0))]
            else:
                found.append(Question(name, text, full))
        elif each:
            found += [Question(name, each.question.format(key), None, key) for key in ids.get(name, ())]
    return found


def preamble(signature: Any) -> str:
    """The instruction, with its options, where no single question holds it: it then stands before what is judged."""
    fields = signature.output_fields.values()
    if any(labels_of(field.annotation) and get_origin(field.annotation) is not list for field in fields):
        return ""
    labels = [label for field in fields for label in labels_of(field.annotation)]
    text, own = apart(signature.instructions, labels)
    return _listed(text, own | {label: said for label, said in _defined(signature).items() if label not in own})


def distribution(question: Question, said: Mapping[str, Any]) -> list[float]:
    """What a model said of the options of a choice, in their order, summing to 1. Raises `NoDistribution`, with why."""
    options = list(question.options or ())
    missing = [option for option in options if option not in said]
    unknown = [option for option in said if option not in options]
    if missing or unknown:
        what = f"no probability for {missing[0]!r}" if missing else f"a probability for {unknown[0]!r}, no option of it"
        raise NoDistribution(f"{question.name}: {what}; expected one for each of its {len(options)} options")
    row = [probability(question, said[option]) for option in options]
    total = math.fsum(row)
    if abs(total - 1) > ROUNDING:
        raise NoDistribution(f"{question.name}: probabilities sum to {total:.3g}; expected 1")
    return [one / total for one in row]


def probability(question: Question, said: Any) -> float:
    """A number from 0 to 1; what is off by no more than rounding is cut. Raises `NoDistribution` for anything else."""
    if isinstance(said, bool) or not isinstance(said, int | float) or not -ROUNDING <= said <= 1 + ROUNDING:
        raise NoDistribution(f"{question.name}: {said!r:.40} is no probability; expected a number from 0 to 1")
    return min(max(float(said), 0.0), 1.0)


def named(each: Each, chances: Mapping[str, float], least: int, most: int | None) -> list[str]:
    """The ids that a list holds, the most probable first: those that are rather true, or all of a ranking."""
    ranked = sorted(chances, key=lambda key: -chances[key])
    true = ranked if each.ranked else [key for key in ranked if chances[key] >= YES]
    return (true if len(true) >= least else ranked[:least])[:most]


def _defined(signature: Any) -> dict[str, str]:
    """The definitions of labels in the descriptions of output fields."""
    return {
        label: text
        for field in signature.output_fields.values()
        if (labels := labels_of(field.annotation))
        for label, text in described(_description(field), labels).items()
    }


def _listed(text: str, options: Mapping[str, str]) -> str:
    if not options:
        return text
    return f"{text}\n\n{SECTION}\n" + "\n".join(f"- {label}: {meaning}" for label, meaning in options.items())


def _description(field: Any) -> str:
    return str((field.json_schema_extra or {}).get("desc") or "")
