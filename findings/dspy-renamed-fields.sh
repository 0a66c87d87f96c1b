#!/bin/bash
# A saved dspy program loads without a word into one whose fields have other names. Descriptions go by position: the new
# fields get those of the old ones in that place. Demos keep the old names, and none of them is in the prompt any more.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
import dspy

class Old(dspy.Signature):
    """Judge."""
    claim: str = dspy.InputField(desc="the claim")
    evidence: str = dspy.InputField(desc="the evidence")
    label: str = dspy.OutputField()

class New(dspy.Signature):
    """Judge."""
    passages: str = dspy.InputField(desc="what was retrieved")
    statement: str = dspy.InputField(desc="a sentence")
    verdict: str = dspy.OutputField()

old = dspy.Predict(Old)
old.demos = [dspy.Example(claim="Ice melts.", evidence="It melted.", label="Supported")]
old.save("program.json")
new = dspy.Predict(New)
new.load("program.json")
described = {name: field.json_schema_extra["desc"] for name, field in new.signature.input_fields.items()}
messages = dspy.ChatAdapter().format(new.signature, new.demos, {"passages": "p", "statement": "s"})
prompt = "\n".join(message["content"] for message in messages)
print(f"dspy {dspy.__version__}: loaded; descriptions are now {described}; demos: {new.demos}")
print(f"the demo is in the prompt: {'Ice melts' in prompt}")
found = described == {"passages": "the claim", "statement": "the evidence"} and "Ice melts" not in prompt
sys.exit(0 if found else 1)
END
