"""Signatures as closed questions: the adapters of LMs that give a probability for each option in place of writing it.

What such a model reads is short: the instruction, demos with their answers, the values of the inputs. The form of an
answer is not told in words, as to a model that writes: the request carries the questions.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, get_origin

import dspy
from pydantic import BaseModel

from aisr.compat.dspy import prepare_formats_by
from aisr.lm.adapters import adapter_for, remembering
from aisr.lm.client import OpenLM
from aisr.programs.errors import UserError
from aisr.programs.questions.closed import (
    AGAIN,
    SURE,
    Question,
    each_of,
    is_closed,
    labels_of,
    preamble,
    questions_of,
    with_options,
)

FORM = "questions"  # the name of the response format that carries them
NOTHING_BEFORE = "-"  # a system message must hold something


class CannotWrite(UserError):
    """A step that needs text from a model that writes none."""


class LeanAdapter(dspy.JSONAdapter):
    """Prompts for a model in this process, whose labels are scored under a schema: the instruction with its options,
    the values of the inputs, and answers as JSON in one line. What must be written is asked for as DSPy does."""

    def format_system_message(self, signature: Any) -> str:
        if not is_closed(signature):
            return str(super().format_system_message(signature))
        return _instruction(signature, signature.instructions)

    def format_user_message_content(
        self, signature: Any, inputs: Mapping[str, Any], prefix: str = "", suffix: str = "", main_request: bool = False
    ) -> str:
        if not is_closed(signature):
            return str(super().format_user_message_content(signature, inputs, prefix, suffix, main_request))
        wanted = [name for name in signature.input_fields if name != AGAIN and inputs.get(name) is not None]
        given = {name: inputs[name] for name in wanted}
        return "\n\n".join(f"{name}:\n{_written(value)}" for name, value in given.items())

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> str:
        if not is_closed(signature):
            return str(super().format_assistant_message_content(signature, outputs, missing_field_message))
        said = {name: outputs.get(name) for name in signature.output_fields if outputs.get(name) is not None}
        return json.dumps(said, ensure_ascii=False, default=str)


class QuestionAdapter(LeanAdapter):
    """The same for a decision model, with the questions in place of a schema. writer: who is asked by signatures that
    no question stands for, such as what to look for; None for nobody."""

    def __init__(self, writer: OpenLM | None = None) -> None:
        super().__init__()
        self.writer = writer

    def format_system_message(self, signature: Any) -> str:
        return preamble(signature) or NOTHING_BEFORE

    def format_assistant_message_content(
        self, signature: Any, outputs: Mapping[str, Any], missing_field_message: str | None = None
    ) -> str:
        closed = {name: outputs.get(name) for name in signature.output_fields if name != SURE}
        return super().format_assistant_message_content(signature, closed)

    def __call__(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        if is_closed(signature) and _decides(lm):
            return super().__call__(lm, lm_kwargs, signature, demos, inputs)
        if not _decides(lm):  # an optimizer's, to propose instructions with
            return _chat(lm)(lm, lm_kwargs, signature, demos, inputs)
        writer = self._writer(signature)
        return writer.adapter(writer.lm, _writing(lm_kwargs, writer), signature, demos, inputs)

    async def acall(self, lm: Any, lm_kwargs: dict[str, Any], signature: Any, demos: Any, inputs: Any) -> Any:
        if is_closed(signature) and _decides(lm):
            return await super().acall(lm, lm_kwargs, signature, demos, inputs)
        if not _decides(lm):
            return await _chat(lm).acall(lm, lm_kwargs, signature, demos, inputs)
        writer = self._writer(signature)
        return await writer.adapter.acall(writer.lm, _writing(lm_kwargs, writer), signature, demos, inputs)

    def _writer(self, signature: Any) -> OpenLM:
        if self.writer is not None:
            return self.writer
        raise _no_writer(signature)


def lean_adapter() -> dspy.Adapter:
    """That of a model in this process, ready for use."""
    return remembering(LeanAdapter())


def question_adapter(writer: OpenLM | None) -> dspy.Adapter:
    """That adapter, ready for use."""
    adapter = remembering(QuestionAdapter(writer))
    prepare_formats_by(adapter, _ask)  # each request has its own questions: nothing to remember
    return adapter


def writer_of(lm: OpenLM) -> OpenLM | None:
    """Who writes for an LM: itself, or the model behind a decision model; None for nobody."""
    writer: OpenLM | None = getattr(lm.adapter, "writer", None)
    return writer if lm.decides else lm


def check_writes(signature: Any, lm: OpenLM) -> None:
    """Raises `CannotWrite` where a decision model would have to write what a signature asks for."""
    if not lm.decides:
        return
    if is_closed(signature):
        form_of(signature, {})
    elif writer_of(lm) is None:
        raise _no_writer(signature)


def form_of(signature: Any, constraints: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The questions of a signature as a request carries them. constraints: by output field what an answer is held to,
    from which come the number of a list's labels (`minItems`) and the ids that one may hold (`items`). Raises
    `CannotWrite` for an output that is neither closed nor may be empty."""
    lists: dict[str, Any] = {}
    counts: dict[str, int] = {}
    ids: dict[str, Sequence[str]] = {}
    for name, field in signature.output_fields.items():
        said = constraints.get(name, {})
        each = each_of(field)
        if labels_of(field.annotation):
            counts[name] = int(said.get("minItems", 0))
        elif each is not None:
            ids[name] = list(said.get("items", {}).get("enum", ()))
            lists[name] = {"ranked": each.ranked, "least": said.get("minItems", 0), "most": said.get("maxItems")}
        elif field.annotation not in (str, list[str]):
            raise CannotWrite(f"a decision model writes no text, and {signature.__name__} asks for {name}")
    questions = [_as_json(question) for question in questions_of(signature, counts, ids)]
    shapes = {name: _shape(field.annotation) for name, field in signature.output_fields.items()}
    return {"type": "object", "properties": {}, "questions": questions, "lists": lists, "shapes": shapes}


def question_from(said: Mapping[str, Any]) -> Question:
    """A question out of the form."""
    return Question(said["field"], said["instructions"], said["options"], said["slot"])


def _ask(lm: Any, lm_kwargs: dict[str, Any], signature: Any) -> None:
    constraints = (lm_kwargs.pop("metadata", None) or {}).get("constraints") or {}
    schema = form_of(signature, constraints)
    lm_kwargs["response_format"] = {"type": "json_schema", "json_schema": {"name": FORM, "schema": schema}}


def _no_writer(signature: Any) -> CannotWrite:
    return CannotWrite(
        f"a decision model writes no text, and {signature.__name__} asks for {', '.join(signature.output_fields)}; "
        "name a model that writes behind it: decide:PROVIDER/MODEL,writer=PROVIDER/MODEL"
    )


def _decides(lm: Any) -> bool:
    return bool(getattr(getattr(lm, "engine", None), "decides", False))


def _chat(lm: Any) -> dspy.Adapter:
    return adapter_for(bool(lm.supports_response_schema))


def _writing(lm_kwargs: Mapping[str, Any], writer: OpenLM) -> dict[str, Any]:
    """The settings of a call as the model takes them that writes."""
    kept = {name: value for name, value in lm_kwargs.items() if name != "metadata"}
    if not writer.lm.gives_logprobs:
        kept = {name: value for name, value in kept.items() if name not in ("logprobs", "top_logprobs")}
    return kept


def _as_json(question: Question) -> dict[str, Any]:
    options = None if question.options is None else dict(question.options)
    return {
        "name": question.name,
        "field": question.field,
        "slot": question.slot,
        "instructions": question.instructions,
        "options": options,
    }


def _shape(annotation: Any) -> str:
    if annotation is str:
        return "text"
    return "list" if get_origin(annotation) is list else "label"


def _written(value: Any) -> str:
    """A value of an input; the items of a list one a line, numbered."""
    if isinstance(value, list | tuple):
        return "\n".join(f"{number}. {one}" for number, one in enumerate(value, start=1))
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value  # DSPy's types mark pictures there
    return plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)


@lru_cache(maxsize=64)
def _instruction(signature: Any, instructions: str) -> str:
    return str(with_options(signature).instructions)
