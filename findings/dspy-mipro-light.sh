#!/bin/bash
# dspy.MIPROv2(auto="light") searches at random: optuna's sampler draws its first ten trials at random, and light has no
# more than that. A metric and its opposite see the same instructions and demos in the same order.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check 'dspy[optuna]==3.4.1' optuna==5.0.0 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import os, sys
from unittest import mock
os.environ["TQDM_DISABLE"] = "1"
import dspy, optuna
from dspy.utils import DummyLM

examples = [dspy.Example(question=f"q{k}", answer="yes").with_inputs("question") for k in range(60)]
proposal = {"answer": "yes", "proposed_instruction": "Say yes.", "observations": "none", "summary": "questions",
            "program_description": "answers", "module_description": "answers"}
create, studies = optuna.create_study, []

def kept(*args, **settings):
    studies.append(create(*args, **settings))
    return studies[-1]

def tried(metric):
    with mock.patch("optuna.create_study", kept), dspy.context(lm=DummyLM([proposal] * 9000)):
        optimizer = dspy.MIPROv2(metric=metric, auto="light", num_threads=1)
        optimizer.compile(dspy.Predict("question -> answer"), trainset=examples[:30], valset=examples[30:])
    return [trial.params for trial in studies[-1].trials]

def odd(example, prediction, trace=None):
    return float(int(example.question[1:]) % 2 or len(prediction.answer) > 9)

trials = [tried(odd), tried(lambda *judged: 1 - odd(*judged[:2]))]
print(f"dspy {dspy.__version__}, optuna {optuna.__version__}: {[len(one) for one in trials]} trials")
print(f"the first ten by either metric: {trials[0][:10]}")
found = len(trials[0]) <= 11 and trials[0][:10] == trials[1][:10]
sys.exit(0 if found else 1)
END
