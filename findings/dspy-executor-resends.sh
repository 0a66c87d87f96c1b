#!/bin/bash
# Module.batch runs an example again, beside the first run, when that takes longer than `timeout` (120 s by default) and
# few examples are left: a slow LM is asked, and paid, twice or more for one result. timeout=0 turns it off.
set -u
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env" || exit 2
"$folder/env/bin/pip" install --quiet --disable-pip-version-check dspy==3.4.1 || exit 2
cd "$folder" || exit 2
"$folder/env/bin/python" - <<'END'
import sys, threading, time
import dspy

started, lock = [], threading.Lock()

class Slow(dspy.Module):
    def forward(self, number):
        with lock:
            started.append(number)
        time.sleep(4 if number == 0 else 0.1)
        return dspy.Prediction(number=number)

examples = [dspy.Example(number=number).with_inputs("number") for number in range(4)]
runs = {}
for timeout in (1, 0):
    started.clear()
    results = Slow().batch(examples, num_threads=4, timeout=timeout, disable_progress_bar=True)
    time.sleep(4)
    runs[timeout] = sorted(started)
    print(f"dspy {dspy.__version__}, timeout={timeout}: {len(results)} results of runs of {runs[timeout]}")
found = runs[1].count(0) > 1 and runs[0] == [0, 1, 2, 3]
sys.exit(0 if found else 1)
END
