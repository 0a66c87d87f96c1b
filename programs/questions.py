"""A typed signature as closed questions, for an LM whose options are scored in place of being written.

Such an LM gives a probability for every option of a question. An output field that is one of several labels is one
question; a list of labels is one a slot; a list of ids is a yes-or-no question for each id in the prompt (`Each` says
how it is put). The instruction of a signature may end with a section that describes the options, one a line: an
optimizer rewrites it with the rest. Where it lost all of them, the definitions in the output field stand in.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

CONFIDENCE = "how_sure"  # the output in which a model that writes states how likely its labels are
SECTION = "Options:"  # the line behind which an instruction describes them


@dataclass(frozen=True)
class Each:
    """How one question of several is put: `{}` is the number of a slot, or an id."""

    question: str


@dataclass(frozen=True)
class Brief:
    """What a new program asks an LM whose options are scored (`OpenLM.short_prompts`) for its signature's own words: an
    instruction with its section of options, of the same content."""

    instruction: str


def definitions(of: Mapping[str, str]) -> str:
    """Definitions of labels on one line, as the description of an output field takes them."""
    return "; ".join(f"{label} = {meaning}" for label, meaning in of.items())


def labels_of(annotation: Any) -> tuple[str, ...]:
    """The labels that a field may hold, or each of its items; none where it holds something else."""
    inner = get_args(annotation)[0] if get_origin(annotation) is list and get_args(annotation) else annotation
    labels = get_args(inner) if get_origin(inner) is Literal else ()
    return labels if all(isinstance(label, str) for label in labels) else ()


def each_of(field: Any) -> Each | None:
    """How the questions of an output field are put."""
    return next((one for one in field.metadata if isinstance(one, Each)), None)


def is_closed(signature: Any) -> bool:
    """Whether some output is labels or ids, which can be scored."""
    return any(labels_of(field.annotation) or each_of(field) for field in signature.output_fields.values())


def unanswerable(signature: Any) -> list[str]:
    """The outputs that a model which writes nothing cannot give; all of them where none is a label."""
    fields = signature.output_fields
    if not any(labels_of(field.annotation) for field in fields.values()):
        return list(fields)
    return [
        name for name, one in fields.items() if not (name == CONFIDENCE or labels_of(one.annotation) or each_of(one))
    ]


def questions_of(signature: Any, constraints: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """All questions of a signature, in the order of its fields, as JSON: `field`; `item`, of a list of labels the
    number of the slot, of a list of ids the id, else None; `instructions`; `labels`, None for a yes-or-no question.

    constraints: what an answer is held to, from which come the number of a list's labels (`minItems`) and the ids that
    a list may hold (`items`). The options are described once, in the instruction: repeated for each slot they would be
    half of the cost.
    """
    questions: list[dict[str, Any]] = []
    for name, field in signature.output_fields.items():
        labels, each, held = _options_in_order(signature, field), each_of(field), constraints.get(name, {})
        if labels and get_origin(field.annotation) is not list:
            questions.append({"field": name, "item": None, "instructions": "Which option fits?", "labels": labels})
            continue
        items = range(1, held.get("minItems", 0) + 1) if labels else held.get("items", {}).get("enum", ())
        put = each.question if each else "Which option fits number {}?"
        questions += [
            {"field": name, "item": item, "instructions": put.format(item), "labels": labels or None} for item in items
        ]
    return questions


def describes_options(signature: Any) -> bool:
    """Whether its instruction ends with a section that describes options."""
    return f"\n{SECTION}\n" in signature.instructions


def with_options(signature: Any) -> Any:
    """A signature whose instruction also describes the options of its fields, so that both are searched together."""
    options = _definitions_in(signature)
    if not options or describes_options(signature):
        return signature
    listed = "\n".join(f"- {label}: {meaning}" for label, meaning in options.items())
    return signature.with_instructions(f"{signature.instructions}\n\n{SECTION}\n{listed}")


def describe_options(program: Any) -> None:
    """Have the instructions of a program that was just built describe the options of its questions, in short words
    where there are some (`Brief`)."""
    for predictor in program.predictors():
        fields = predictor.signature.output_fields.values()
        short = [one.instruction for field in fields for one in field.metadata if isinstance(one, Brief)]
        signature = predictor.signature
        predictor.signature = signature.with_instructions(short[0]) if short else with_options(signature)


def describe_lost_options(program: Any) -> None:
    """Have the instructions of a program that an optimizer left describe the options: where it lost the section, by the
    definitions in the output fields."""
    for predictor in program.predictors():
        predictor.signature = with_options(predictor.signature)


def _definitions_in(signature: Any) -> dict[str, str]:
    """The definitions of labels in the descriptions of output fields."""
    return {
        label: text
        for field in signature.output_fields.values()
        if (labels := labels_of(field.annotation))
        for label, text in _described(str((field.json_schema_extra or {}).get("desc") or ""), labels).items()
    }


def _options_in_order(signature: Any, field: Any) -> list[str]:
    """The labels that a field may hold, in the order in which the instruction describes them: it may say to take the
    first that fits."""
    labels = labels_of(field.annotation)
    described = _described(signature.instructions.rpartition(f"\n{SECTION}\n")[2], labels) if labels else ()
    return list(dict.fromkeys((*described, *labels)))


def _described(text: str, labels: Sequence[str]) -> dict[str, str]:
    """The descriptions of labels in a text that gives them as "Label = description", in its order."""
    names = "|".join(re.escape(label) for label in sorted(labels, key=len, reverse=True))
    places = list(re.finditer(rf"(?:^|(?<=; )|(?<=\. )|\n)[-* ]*+({names})\** ?[:=] ", text))
    ends = [*(place.start() for place in places[1:]), len(text)]
    texts = {place[1]: text[place.end() : end].strip(" ;\n") for place, end in zip(places, ends, strict=False)}
    return {label: description for label, description in texts.items() if description}
