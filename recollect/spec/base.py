"""What every description shares: frozen, complete, canonical."""

import json
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A description that cannot change and has no unknown field."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def canonical(value: Any) -> str:
    """The one JSON text of a plain value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
