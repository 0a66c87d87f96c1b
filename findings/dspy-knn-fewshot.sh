#!/bin/bash
# A program that dspy.KNNFewShot compiled asks the LM not once a call, but once more for each of its neighbours: it
# bootstraps demos anew in every call of the program, with nothing kept between calls, even for the same question.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1 numpy==2.4.6 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import os, sys
os.environ["TQDM_DISABLE"] = "1"
import dspy
import numpy as np
from dspy.utils import DummyLM

class CountingLM(DummyLM):
    calls = 0

    def __call__(self, *args, **settings):
        CountingLM.calls += 1
        return super().__call__(*args, **settings)

train = [dspy.Example(question=f"Is {k} even?", answer="yes").with_inputs("question") for k in range(0, 12, 2)]
embedder = dspy.Embedder(lambda texts: np.array([[len(text), 1.0] for text in texts]))
with dspy.context(lm=CountingLM([{"answer": "yes"}] * 100)):
    optimizer = dspy.KNNFewShot(k=3, trainset=train, vectorizer=embedder, max_bootstrapped_demos=2)
    program = optimizer.compile(dspy.Predict("question -> answer"))
    counts = []
    for _ in range(3):
        before = CountingLM.calls
        program(question="Is 40 even?")
        counts.append(CountingLM.calls - before)
print(f"dspy {dspy.__version__}: LM calls of three calls of the compiled program: {counts}; expected of a program: 1")
found = min(counts) > 1
sys.exit(0 if found else 1)
END
