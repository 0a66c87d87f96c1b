"""The prompts of programs in MLflow's prompt registry, where its UI shows what a compile changed.

A version is what a program sends, in chat form: the fixed part of its messages, `{{field}}` in the place of a record's
fields, and `{{demos}}` where demos are chosen for each record. `mlflow.genai.load_prompt(…).format(…)` fills them in.
"""

import json
from typing import Any

from aisr.judging.judge import message_text
from aisr.lm.client import OpenLM
from aisr.programs.program import Program

Template = list[dict[str, str]]
MOST_CHARACTERS = 90_000  # of a prompt as it is stored; MLflow takes 100,000
DEMOS = {"role": "user", "content": "{{demos}}"}  # the place of those that are chosen for each record
PLAIN = "as plain text: it is too long for MLflow's form, or holds {{ or {%, which that would read as a variable"


def chat_template(program: Program, lm: OpenLM) -> Template | None:
    """Return the messages of a program's main predictor, with `{{field}}` in the place of each input; None where they
    hold texts that MLflow's format would read as variables or as code, or are too long for it."""
    text = json.dumps(_render(program, lm), ensure_ascii=False)
    if "{{" in text or "{%" in text:
        return None
    for name in program.main_predictor.signature.input_fields:
        text = text.replace(_mark(name), "{{" + name + "}}")
    template: Template = json.loads(text)
    if program.options.demos_per_record:
        template.insert(len(template) - 1, dict(DEMOS))
    return template if len(json.dumps(template)) < MOST_CHARACTERS else None


def plain_template(program: Program, lm: OpenLM) -> str:
    """Return the messages of a program as one text."""
    text = "\n\n".join(f"# {message['role']}\n\n{message['content']}" for message in _render(program, lm))
    text = text.replace("\0", "\\0")  # which PostgreSQL does not store
    if len(text) < MOST_CHARACTERS:
        return text
    return f"{text[:MOST_CHARACTERS]} …\n\nThe rest is in PROMPT.md."


def _render(program: Program, lm: OpenLM) -> Template:
    """Return the messages, without demos that are chosen for each record, with marks in the places of inputs."""
    predictor = program.main_predictor
    demos = [] if program.options.demos_per_record else predictor.demos
    inputs = {name: _mark(name) for name in predictor.signature.input_fields}
    messages = lm.adapter.format(predictor.signature, demos, inputs)
    return [{"role": str(message["role"]), "content": message_text(message["content"])} for message in messages]


def _mark(name: str) -> str:
    return f"⟦{name}⟧"


def register_prompts(client: Any, name: str, programs: dict[str, Program], lm: OpenLM) -> str:
    """Register the prompts of some programs, by what is said of each, as versions of the prompt `name`; the number of
    the last. The same prompt is not registered again. It must exist, see `aisr.tracking.experiment.check_writable`."""
    numbers = {repr(one.template): str(one.version) for one in client.search_prompt_versions(name)}
    for about, program in programs.items():
        template: Template | str | None = chat_template(program, lm)
        if template is None:
            template, about = plain_template(program, lm), f"{about}, {PLAIN}"
        key = repr(template)
        if key not in numbers:
            numbers[key] = str(client.create_prompt_version(name, template, about).version)
    return numbers[key]
