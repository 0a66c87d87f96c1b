"""What the built-in model takes in all: `python -m benchmarks.engine_process [QUESTIONS]`.

Seconds of the processor and memory (MB) of this process and of the one that llama.cpp runs in, over questions of some
300 tokens with a common beginning and four labels. Run it on two versions of the project to compare them.
"""

import resource
import sys

from dspy.lm15 import Config, Message, Request

from aisr.lm.embedded import EmbeddedEngine

OPTIONS = ["Supported", "Contradiction", "Unsupported Entity", "Unsupported Causal Mechanistic"]
LABEL = {"type": "object", "properties": {"label": {"enum": OPTIONS}}}


def main() -> None:
    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    engine = EmbeddedEngine()
    form = {"type": "json_schema", "schema": LABEL}
    for number in range(questions):
        asked = Message.user("The tram was late. " * 60 + f"Claim {number}.")
        engine.complete(Request(model="m", messages=(asked,), config=Config(response_format=form, logprobs=4)))
    engine.model.end()  # what a child used is known once it ended
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in used)
    memory = " + ".join(str(one.ru_maxrss >> 10) for one in used)
    print(f"{questions} questions: {seconds:.1f} s of the processor, {memory} MB")


if __name__ == "__main__":
    main()
