"""What a file says of a language model: of a manifest, of a recording, of a logged run. Nothing here imports DSPy."""

from typing import Annotated, Any

from pydantic import AliasChoices, AliasPath, BaseModel, BeforeValidator, ConfigDict, Field


def _class_name(adapter: Any) -> Any:
    return adapter if isinstance(adapter, str | None) else type(adapter).__name__


# Of an `OpenLM`, whose attributes have other names.
TEMPERATURE_OF_LM = AliasChoices("temperature", AliasPath("kwargs", "temperature"))
LOGPROBS = AliasChoices("logprobs", "gives_logprobs")


class LMInfo(BaseModel):
    """A language model: its name in the command, and the form of its requests. `LMInfo.model_validate(lm)` reads it
    from the attributes of an `OpenLM`."""

    model_config = ConfigDict(from_attributes=True, extra="allow", allow_inf_nan=False)
    spec: str = ""
    model: str | None = None
    endpoint: str | None = None  # the digest of an address, never that
    adapter: Annotated[str | None, BeforeValidator(_class_name)] = None
    temperature: float | None = Field(default=None, validation_alias=TEMPERATURE_OF_LM)
    logprobs: bool | None = Field(default=None, validation_alias=LOGPROBS)
