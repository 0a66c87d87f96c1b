"""The registered model as MLflow serves it ("models from code"): records in, predictions out.

`mlflow models serve -m models:/aisr-track1@champion --env-manager local` answers POST /invocations with
`{"inputs": [record, …]}`. The language model is `AISR_LM` (default: embedded), at `AISR_API_BASE` where that is set;
pictures are below `AISR_IMAGE_ROOT`.
"""

import os
from pathlib import Path
from typing import Annotated, Any

import mlflow
from dspy.utils.exceptions import LMError
from mlflow.protos.databricks_pb2 import TEMPORARILY_UNAVAILABLE
from pydantic import BaseModel, Field, SkipValidation, ValidationError

from optimize import redact
from optimize.artifact import parse
from optimize.judging import judge_all
from optimize.lm import open_lm
from optimize.pictures import check_sees, hang, open_gallery
from programs.records import explain

# MLflow makes the model's signature of these types. It would also check records by them and answer a bad one with all
# that it was sent; so they let everything pass, and `Record` says what is wrong.
Text = Annotated[str, SkipValidation]
OptionalText = Annotated[str | None, SkipValidation]
OptionalTexts = Annotated[list[str] | None, SkipValidation]
_GIVEN: Any = Field(default=None)


class EvidenceIn(BaseModel):
    """`programs.records.EvidenceItem`."""

    type: Text = _GIVEN
    text: OptionalText = None
    table_caption: OptionalTexts = None
    image_caption: OptionalTexts = None
    img_path: OptionalText = None


class SentenceIn(BaseModel):
    """`programs.records.SentenceLabel`."""

    sentence: Text = _GIVEN
    types: OptionalTexts = None


class ClaimIn(BaseModel):
    """`programs.records.ClaimRecord`."""

    id: OptionalText = None
    claim_text: Text = _GIVEN
    evidence_bundle: Annotated[list[EvidenceIn], SkipValidation] = _GIVEN
    sentence_label: Annotated[list[SentenceIn], SkipValidation] = _GIVEN


class CitationIn(BaseModel):
    """`programs.records.CitationRecord`."""

    id: OptionalText = None
    claim_text: Text = _GIVEN
    cited_paper_full_text: Annotated[list[dict[str, str]], SkipValidation] = _GIVEN


class ClaimOut(BaseModel):
    """The labels of a record, or why it failed."""

    id: str
    labels: list[str] | None = None
    failed: str | None = None


class CitationOut(BaseModel):
    """The judgement of a record, or why it failed."""

    id: str
    label: str | None = None
    evidence_para_ids: list[str] | None = None
    failed: str | None = None


class Judge(mlflow.pyfunc.PythonModel):
    """A compiled program behind MLflow's `predict`."""

    def load_context(self, context: Any) -> None:
        text = Path(context.artifacts["program"]).read_text(encoding="utf-8")
        self.loaded = parse(text, "the registered program")
        self.lm = open_lm(os.environ.get("AISR_LM", "embedded"), api_base=os.environ.get("AISR_API_BASE"))
        check_sees(self.loaded.program, self.lm)
        root = os.environ.get("AISR_IMAGE_ROOT")
        if root:
            hang(self.loaded.program, open_gallery(Path(root), Path(os.environ.get("AISR_ARTIFACTS", "."))))

    def judged(self, given: list[Any]) -> list[dict[str, Any]]:
        """The submission line of each record, or `{"id", "failed"}`. Raises MlflowException for a record of the wrong
        form (HTTP 400) and where the LM would refuse every record (HTTP 503)."""
        task, program = self.loaded.task, self.loaded.program
        examples = []
        for number, one in enumerate(given):
            raw = {name: getattr(one, name) for name in one.model_fields_set}
            if raw.get("id") is None:
                raw["id"] = f"{task.name}-{number + 1:06d}"
            try:
                examples.append(program.prepare(task.record.model_validate(raw)))
            except ValueError as error:  # also where a record has pictures, and nobody said where they are
                said = explain(error) if isinstance(error, ValidationError) else redact.secrets(str(error))
                raise mlflow.MlflowException.invalid_parameter_value(f"inputs[{number}]: {said}") from error
        try:
            outcomes = judge_all(task, program, examples, self.lm)
        except LMError as error:
            message = f"the language model does not answer: {redact.addresses(str(error))}"
            raise mlflow.MlflowException(message, error_code=TEMPORARILY_UNAVAILABLE) from None
        return [
            {"id": example.id, **(task.line(made.answer) if made.failure is None else {"failed": made.failure})}
            for example, made in zip(examples, outcomes, strict=True)
        ]


class ClaimModel(Judge):
    """Track 1."""

    def predict(self, model_input: list[ClaimIn]) -> list[ClaimOut]:
        return self.judged(model_input)  # type: ignore[return-value]  # MLflow takes the types for the signature only


class CitationModel(Judge):
    """Track 2."""

    def predict(self, model_input: list[CitationIn]) -> list[CitationOut]:
        return self.judged(model_input)  # type: ignore[return-value]


MODELS = {"track1": ClaimModel, "track2": CitationModel}
# `optimize.tracking` says which when it logs the model, and MLflow says it again when it loads it.
mlflow.models.set_model(MODELS[mlflow.models.ModelConfig(development_config={"task": "track1"}).get("task")]())
