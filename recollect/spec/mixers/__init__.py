"""The options of every mixer, one file a family; a class with its own name is a mixer, registered by being there."""

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Discriminator

from recollect.spec.mixers import delta, linear, rnn, softmax, ssm
from recollect.spec.mixers.foreign import ForeignOptions, WholeOptions
from recollect.spec.mixers.options import MixerOptions
from recollect.spec.registry import Registry, named, one_of


def _tag(value: Any) -> str:
    name = value.get("name", "") if isinstance(value, dict) else getattr(value, "name", "")
    if ":" in str(name):
        whole = "whole" in value if isinstance(value, dict) else isinstance(value, WholeOptions)
        return "whole" if whole else "foreign"
    return str(name)


MIXERS: Registry[str, type[MixerOptions]] = Registry("mixer", named(MixerOptions, softmax, linear, ssm, delta, rnn))
if TYPE_CHECKING:
    MixerSpec = MixerOptions
else:
    MixerSpec = Annotated[
        one_of([*MIXERS.items(), ("foreign", ForeignOptions), ("whole", WholeOptions)]), Discriminator(_tag)
    ]

__all__ = ["MIXERS", "ForeignOptions", "MixerOptions", "MixerSpec", "WholeOptions"]
