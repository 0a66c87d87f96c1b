#!/bin/bash
# GEPA passes over a minibatch whose scores are all at least 1 ("perfect"). With a metric in percent every minibatch is
# perfect, so that it never reflects: the program comes back as it was, and the budget is spent all the same.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1 gepa==0.1.4 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import os, sys
os.environ["TQDM_DISABLE"] = "1"
import dspy
from importlib.metadata import version
from dspy.utils import DummyLM

class Reflecting(DummyLM):
    calls = 0

    def __call__(self, *args, **settings):
        Reflecting.calls += 1
        return super().__call__(*args, **settings)

examples = [dspy.Example(question=f"q{k}", answer="yes").with_inputs("question") for k in range(12)]
reflections = {}
for best in (1, 100):
    def metric(gold, pred, trace=None, pred_name=None, pred_trace=None):
        return dspy.Prediction(score=best * 0.5, feedback="half right")

    Reflecting.calls = 0
    with dspy.context(lm=DummyLM([{"answer": "yes"}] * 2000)):
        reflecting = Reflecting([{"new_instruction": "Say yes."}] * 500)
        optimizer = dspy.GEPA(metric=metric, max_metric_calls=60, reflection_lm=reflecting)
        optimizer.compile(dspy.Predict("question -> answer"), trainset=examples, valset=examples[:4])
    reflections[best] = Reflecting.calls
print(f"dspy {dspy.__version__}, gepa {version('gepa')}")
print(f"reflections where every answer is half right, by the metric's best score: {reflections}")
found = reflections[1] > 0 and reflections[100] == 0
sys.exit(0 if found else 1)
END
