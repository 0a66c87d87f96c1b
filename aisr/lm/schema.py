"""The JSON schema of an answer: what a server that decodes under one is told.

It says what a program knows of its answer: fields, labels, and how many items a list has. Nothing else goes in, since
the compilers of servers differ in it: one refuses `uniqueItems`, another lets no text with a bound on its length hold a
line end, a third matches nothing under an alternation. Ids that are a record's own go to the built-in model alone: for
all others each record would be a new schema to compile.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Literal, get_origin

import pydantic

# How much of what `ask` knows of lists reaches an engine: nothing, the numbers of items, or those and the ids.
Detail = Literal["none", "counts", "ids"]


@lru_cache(maxsize=64)
def outputs_model(signature: Any) -> type[pydantic.BaseModel]:
    """Return the type of the outputs of a signature. A number passes for a text; NaN and infinity for no number."""
    fields: dict[str, Any] = {
        name: (field.annotation, field.default) for name, field in signature.output_fields.items()
    }
    config = pydantic.ConfigDict(extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)
    return pydantic.create_model("DSPyProgramOutputs", __config__=config, **fields)


@lru_cache(maxsize=64)
def response_format(signature: Any) -> dict[str, Any]:
    """Return the response format for the outputs of a signature, as OpenAI's API takes it: all fields in their order,
    and no other; any object where a field is an open mapping."""
    if any(get_origin(field.annotation) is dict for field in signature.output_fields.values()):
        return {"type": "json_object"}
    schema = outputs_model(signature).model_json_schema()
    for field in schema["properties"].values():
        field.pop("json_schema_extra", None)
    _close(schema)
    return {"type": "json_schema", "json_schema": {"name": "DSPyProgramOutputs", "schema": schema, "strict": True}}


def _close(part: Any) -> None:
    """Have each object in a schema demand all of its fields, and allow no other."""
    if not isinstance(part, dict):
        return
    if part.get("type") == "object":
        part["required"] = list(part.setdefault("properties", {}))
        part["additionalProperties"] = False
    for inner in (*part.get("properties", {}).values(), *part.get("$defs", {}).values(), part.get("items")):
        _close(inner)


def with_lists(form: Mapping[str, Any], lists: Mapping[str, Any], detail: Detail) -> dict[str, Any]:
    """Return a response format that says what is known of the lists in an answer. lists: by field, `minItems`,
    `maxItems` and maybe `ids`: what its items are chosen from, below "", or a field of theirs, below its name."""
    if detail == "none" or form.get("type") != "json_schema" or not lists:
        return dict(form)
    schema = form["json_schema"]["schema"]
    fields = dict(schema["properties"])
    for name in fields.keys() & lists.keys():
        known = dict(lists[name])
        ids = known.pop("ids", {})
        fields[name] = {**fields[name], **known}
        if ids and detail == "ids":
            item = fields[name]["items"]
            item = schema["$defs"][item["$ref"].rpartition("/")[2]] if "$ref" in item else item
            enums = {inner: {"type": "string", "enum": known} for inner, known in ids.items()}
            fields[name]["items"] = enums.get("") or {**item, "properties": {**item["properties"], **enums}}
    return {**form, "json_schema": {**form["json_schema"], "schema": {**schema, "properties": fields}}}
