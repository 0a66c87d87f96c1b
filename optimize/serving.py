"""The registered model as MLflow serves it ("models from code"): records in, predictions out.

`mlflow models serve -m models:/aisr-track1@champion --env-manager local` answers POST /invocations with
`{"inputs": [record, …]}`. The language model is `AISR_LM` (default: embedded), at `AISR_API_BASE` where that is set.
"""

import os
from pathlib import Path
from typing import Any

import mlflow
from pydantic import ValidationError

from optimize.artifact import parse
from optimize.judging import judge
from optimize.lm import open_lm
from programs.records import explain


class Judge(mlflow.pyfunc.PythonModel):
    """A compiled program behind MLflow's `predict`."""

    def load_context(self, context: Any) -> None:
        text = Path(context.artifacts["program"]).read_text(encoding="utf-8")
        self.loaded = parse(text, "the registered program")
        self.lm = open_lm(os.environ.get("AISR_LM", "embedded"), api_base=os.environ.get("AISR_API_BASE"))

    def predict(self, model_input: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The submission line of each record, or `{"id", "failed"}`. Raises MlflowException for a record of the wrong
        form (HTTP 400)."""
        task, program = self.loaded.task, self.loaded.program
        lines = []
        for number, raw in enumerate(model_input, start=1):
            try:
                record = task.record.model_validate({"id": f"{task.name}-{number:06d}", **raw})
            except ValidationError as error:
                message = f"inputs[{number - 1}]: {explain(error)}"
                raise mlflow.MlflowException.invalid_parameter_value(message) from error
            outcome = judge(task, program, program.prepare(record), self.lm)
            said = task.line(outcome.answer) if outcome.failure is None else {"failed": outcome.failure}
            lines.append({"id": record.id, **said})
        return lines


mlflow.models.set_model(Judge())
