"""A number that a decision layer weighs with."""

from typing import Annotated

from pydantic import Field

MOST = 1e6  # fitted ones stay below a hundred; sums of these and their products stay finite
Weight = Annotated[float, Field(ge=-MOST, le=MOST, allow_inf_nan=False)]
