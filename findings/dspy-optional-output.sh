#!/bin/bash
# An output field that is Optional has an answer in whatever text comes back: under ChatAdapter a refusal in plain words
# gives None, with no parse error and no second try; without Optional it is an error. And the other way round, a None
# that the LM writes for an Optional text is read as the text 'None'.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from typing import Literal, Optional
import dspy

class MaybeLabel(dspy.Signature):
    claim: str = dspy.InputField()
    label: Optional[Literal["Supported", "Refuted"]] = dspy.OutputField()

class Label(dspy.Signature):
    claim: str = dspy.InputField()
    label: Literal["Supported", "Refuted"] = dspy.OutputField()

class MaybeText(dspy.Signature):
    claim: str = dspy.InputField()
    remark: Optional[str] = dspy.OutputField()

adapter, refusal = dspy.ChatAdapter(), "I am sorry, I cannot help with that."
optional = adapter.parse(MaybeLabel, refusal)
try:
    required = adapter.parse(Label, refusal)
except dspy.AdapterParseError as error:
    required = type(error).__name__
text = adapter.parse(MaybeText, "[[ ## remark ## ]]\nNone\n\n[[ ## completed ## ]]")
print(f"dspy {dspy.__version__}: {refusal!r} is read as {optional}; without Optional: {required}")
print(f"None as an Optional text is read as {text}")
found = optional == {"label": None} and required == "AdapterParseError" and text == {"remark": "None"}
sys.exit(0 if found else 1)
END
