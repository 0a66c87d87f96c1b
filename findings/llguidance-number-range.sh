#!/bin/bash
# Under a maximum of 0.95 llguidance lets a model write 0.90 and not 0.9: it forbids the short form of a number within
# the range, so that a model whose answer is 0.9 is made to give another.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check llguidance==1.9.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import json, sys
from importlib.metadata import version
from llguidance import LLMatcher, LLTokenizer

tokenizer = LLTokenizer("byte")

def taken(schema, text):
    matcher = LLMatcher(tokenizer, LLMatcher.grammar_from_json_schema(json.dumps(schema)))
    tokens = tokenizer.tokenize_str(text)
    if matcher.validate_tokens(tokens) < len(tokens):
        return False
    matcher.consume_tokens(tokens)
    return matcher.is_accepting()

schema = {"type": "number", "minimum": 0, "maximum": 0.95}
numbers = {text: taken(schema, text) for text in ("0", "0.5", "0.9", "0.90", "0.95", "1")}
print(f"llguidance {version('llguidance')}: {schema} takes {numbers}")
found = numbers == {"0": True, "0.5": True, "0.9": False, "0.90": True, "0.95": True, "1": False}
sys.exit(0 if found else 1)
END
