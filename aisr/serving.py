"""A registered program behind MLflow's `predict` ("models from code"): records in, predictions out.

MLflow keeps a copy of this file with each registered version and runs it where that is loaded; the package aisr must be
installed there. The environment says the rest:

AISR_TASK        the place of a task of another package, package.module:TASK: no stored file leads to its code
AISR_LM          the language model. Default: the built-in one for a program that was compiled with it; any other must
                 be named, since records are sent to it
AISR_API_BASE    the address of an OpenAI-compatible server
AISR_IMAGE_ROOT  the folder that the pictures of records are in
AISR_THREADS     LM calls at a time. Default: 8
AISR_TIMEOUT     seconds until an answer is given up. Default: 600
AISR_MAX_USD     the most that this process may spend; all is refused after that
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mlflow import MlflowException
from mlflow.exceptions import TEMPORARILY_UNAVAILABLE
from mlflow.models import set_model
from mlflow.pyfunc import PythonModel, PythonModelContext
from pydantic import BaseModel, ConfigDict

import aisr
from aisr.base.redact import addresses

EMBEDDED = "embedded"


class ServedRecord(BaseModel):
    """A record as MLflow's signature has it; its other fields are checked by the task."""

    model_config = ConfigDict(extra="allow")

    id: str | None = None


class RegisteredProgram(PythonModel):
    """A program with its language model."""

    def load_context(self, context: PythonModelContext) -> None:
        """Open the program, and the language model of the environment, which is asked in the form that the program was
        compiled with. Raises `aisr.UserError` and `aisr.LMUnavailable`."""
        folder = Path(context.artifacts["program"]).parent
        variables = {name: value for name, value in os.environ.items() if value}  # an empty one is as none
        self.program = aisr.load(folder, variables.get("AISR_TASK"), image_root=os.environ.get("AISR_IMAGE_ROOT"))
        config = context.model_config
        spec = variables.get("AISR_LM")
        if spec is None and config["lm"] == EMBEDDED:
            spec = EMBEDDED
        if spec is None:
            raise aisr.LMUnavailable(
                f"the program was compiled with {config['lm']}: set AISR_LM to that, or to another on purpose, and "
                "AISR_API_BASE where a server of your own serves it"
            )
        settings: dict[str, Any] = {"schema": config["schema"], "logprobs": config["logprobs"]}
        for name in ("threads", "timeout"):
            if f"AISR_{name.upper()}" in variables:
                settings[name] = variables[f"AISR_{name.upper()}"]
        max_usd = variables.get("AISR_MAX_USD")
        try:
            limit = float(max_usd) if max_usd else None
        except ValueError:
            raise aisr.UserError(f"AISR_MAX_USD: {max_usd!r} is no number; expected US dollars") from None
        self.lm = aisr.open_lm(spec, api_base=variables.get("AISR_API_BASE"), max_usd=limit, **settings)

    def predict(self, model_input: list[ServedRecord]) -> Sequence[Mapping[str, object]]:
        """Return a line of a predictions file for each record. Raises MlflowException for a record of the wrong form
        (HTTP 400) and where the language model would refuse every record (HTTP 503)."""
        try:
            records = [record.model_dump(exclude_unset=True) for record in model_input]
            return [verdict.line for verdict in self.program.judge_all(records, self.lm)]
        except aisr.LMUnavailable as error:
            message = f"the language model does not answer: {addresses(str(error))}"  # its own is nobody's business
            raise MlflowException(message, error_code=TEMPORARILY_UNAVAILABLE) from None
        except aisr.UserError as error:
            raise MlflowException.invalid_parameter_value(str(error)) from error


set_model(RegisteredProgram())
