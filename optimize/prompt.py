"""A compiled prompt as a person reads it."""

import dspy


def as_markdown(title: str, program: dspy.Module) -> str:
    """Instruction, fields and demos of each predictor of a program, as Markdown. Text from data stands in fences."""
    parts = [f"# {title}"]
    for name, predictor in program.named_predictors():
        signature = predictor.signature
        parts.append(f"## Predictor `{name}`\n\n### Instruction\n\n{_fenced(signature.instructions)}")
        fields = [
            f"- `{field}` ({'input' if field in signature.input_fields else 'output'}): "
            f"{info.json_schema_extra.get('desc', '')}"
            for field, info in signature.fields.items()
        ]
        parts.append("### Fields\n\n" + "\n".join(fields))
        parts.append(f"### Demos: {len(predictor.demos)}")
        for k, demo in enumerate(predictor.demos, start=1):
            kind = "the program's own right answer" if demo.get("augmented") else "a labelled record"
            said = "\n".join(f"{field}: {demo[field]}" for field in signature.fields if field in demo)
            parts.append(f"#### Demo {k} ({kind})\n\n{_fenced(said)}")
    return "\n\n".join(parts) + "\n"


def _fenced(text: str) -> str:
    """A code block whose fence is longer than any in the text, so that no text can end it."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}text\n{text}\n{fence}"
