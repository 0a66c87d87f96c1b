"""Where we are right and a good guess is wrong: rows of docs/behaviour.md that have no test elsewhere."""

from typing import get_args

import dspy
import pytest
from nltk.tokenize import NLTKWordTokenizer
from sklearn.metrics import f1_score

from aisr.metrics.meteor import meteor, meteor_words
from aisr.programs.registry import TASKS, find_task
from aisr.programs.track1 import TRACK1
from aisr.programs.track2 import CITATION_LABELS, TRACK2, Citation

REFUSAL = "I am sorry, I cannot help with that."


def test_no_output_may_be_left_out_which_a_refusal_in_words_would_be() -> None:
    """DSPy 3.4.1 (adapters/chat_adapter.py): a field that is Optional is None where the text has none, and a refusal
    passes for an answer. No output of ours is Optional; judging/test_faults.py has what becomes of a refusal."""
    maybe = dspy.Signature({"claim": (str, dspy.InputField()), "label": (str | None, dspy.OutputField())})
    assert dspy.ChatAdapter().parse(maybe, REFUSAL) == {"label": None}
    predictors = [predictor for task in map(find_task, TASKS) for predictor in task.build({}).predictors()]
    outputs = [field for predictor in predictors for field in predictor.signature.output_fields.values()]
    assert type(None) not in {option for field in outputs for option in get_args(field.annotation)}


def test_macro_f1_divides_by_all_labels_even_those_without_a_gold_statement() -> None:
    """scikit-learn 1.9 (f1_score, average="macro") divides by the labels that occur; the official evaluator by all, as
    its own scores show (tests/golden/official-score-vectors.jsonl)."""
    gold, predicted = ["Supported", "Overstate"] * 2, ["Supported", "Overstate", "Supported", "Supported"]
    score = TRACK2.score([Citation(label, []) for label in gold], [Citation(label, []) for label in predicted])
    ours, guess = score.corpus_score().parts["macro_f1"], f1_score(gold, predicted, average="macro")
    assert ours == pytest.approx(guess / 2)
    everything = f1_score(gold, predicted, average="macro", labels=CITATION_LABELS, zero_division=0)
    assert ours == pytest.approx(everything)


def test_one_submission_of_nothing_but_supported_gives_the_share_of_paragraphs_without_an_error() -> None:
    """The guidelines (section 2) print exact match beside macro-F1. That of the commonest label alone is the share of
    error-free paragraphs, to the last digit, whatever the mix of labels within the others."""
    gold = [[["Supported"]] * 3] * 21 + [[["Supported"], ["Contradiction"], ["Unsupported Entity"]]] * 79
    everything = [["Supported"] * 3] * 100
    report = TRACK1.score(gold, everything).corpus_score()
    assert report.parts["pem"] == 0.21
    assert report.score != pytest.approx(0.21)


def test_meteor_takes_the_words_of_the_organisers_whatever_nltk_is_installed() -> None:
    """NLTK 3.10.4 (tokenize/destructive.py) splits at dashes; the organisers ran 3.7 and 3.9.1, which do not."""
    text = "It rose 5\u20137 points."
    assert NLTKWordTokenizer().tokenize(text)[2:5] == ["5", "\u2013", "7"]
    assert meteor_words(text)[2] == "5\u20137"
    assert meteor("It rose 5 \u2013 7 points.", text) < meteor(text, text)
