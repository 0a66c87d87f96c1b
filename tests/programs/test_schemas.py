"""The JSON schemas that programs send mean the same to the compilers of servers: each takes a right answer and refuses
wrong ones."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import llguidance
import pytest
import xllamacpp
from lmformatenforcer import JsonSchemaParser
from outlines_core import json_schema

from aisr.base.jsonl import read
from aisr.programs.registry import TASKS, find_task
from support.golden_prompts import Case, build_student, calls
from support.paths import TESTS
from support.scripted import ScriptedEngine

TOKENIZER = llguidance.LLTokenizer("byte")


def by_llguidance(schema: str, text: str) -> bool:
    return matches(llguidance.LLMatcher.grammar_from_json_schema(schema), text)


def by_llama_cpp(schema: str, text: str) -> bool:
    """As xllamacpp's build of it compiles one: into a grammar that llguidance runs."""
    return matches(llguidance.LLMatcher.grammar_from_lark(xllamacpp.json_schema_to_grammar(schema)), text)


def matches(grammar: str, text: str) -> bool:
    matcher, tokens = llguidance.LLMatcher(TOKENIZER, grammar), TOKENIZER.tokenize_str(text)
    assert not matcher.is_error(), matcher.get_error()
    return bool(matcher.validate_tokens(tokens) == len(tokens) and matcher.consume_tokens(tokens)) and bool(
        matcher.is_accepting()
    )


def by_outlines(schema: str, text: str) -> bool:
    return re.fullmatch(json_schema.build_regex_from_schema(schema), text) is not None


def by_lm_format_enforcer(schema: str, text: str) -> bool:
    parser = JsonSchemaParser(json.loads(schema))
    for character in text:
        if character not in parser.get_allowed_characters():
            return False
        parser = parser.add_character(character)
    return bool(parser.can_end())


def wrong(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Answers that lack a field, have one too many, name an unknown label, or have too few items or too many."""
    for name, field in schema["properties"].items():
        yield {other: value for other, value in answer.items() if other != name}
        if "enum" in field:
            yield {**answer, name: "Fine"}
        if "enum" in field.get("items", {}):
            yield {**answer, name: ["Fine"] * len(answer[name])}
        if field.get("minItems"):
            yield {**answer, name: answer[name][: field["minItems"] - 1]}
        if "maxItems" in field and answer[name]:
            yield {**answer, name: answer[name][:1] * (field["maxItems"] + 1)}
    yield {**answer, "note": "One more."}


def asked(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The schema of each call for a record, as a server gets it, and the right answer."""
    monkeypatch.setattr(ScriptedEngine, "schema_detail", "counts", raising=False)
    case, folder = Case(find_task(name), "labeled"), TESTS / "golden" / "prompts" / name
    record = next(iter(read(folder / "records.jsonl", case.task.record, case.task.name)))
    answer = json.loads((folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()[0])["answer"]
    for request in calls(build_student(case, folder), record, "json", answer):
        form: dict[str, Any] = request.config.response_format or {}
        schema = form["schema"]
        yield schema, {field: answer[field] for field in schema["properties"]}


COMPILERS = {
    "llama.cpp": by_llama_cpp,
    "llguidance": by_llguidance,
    "outlines-core": by_outlines,
    "lm-format-enforcer": by_lm_format_enforcer,
}


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("name", TASKS)
def test_a_schema_takes_right_answers_and_refuses_wrong_ones(
    name: str, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    takes = COMPILERS[compiler]
    for schema, right in asked(name, monkeypatch):
        text = json.dumps(schema)
        assert takes(text, json.dumps(right, ensure_ascii=False)), right
        for answer in wrong(right, schema):
            assert not takes(text, json.dumps(answer, ensure_ascii=False)), answer
