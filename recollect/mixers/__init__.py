"""Mixers: each one readable file; `build_mixer` makes them by name."""

from typing import Any

from recollect.errors import BadInput
from recollect.mixers.foreign import Foreign
from recollect.mixers.mixer import Decaying, MatrixMixer, Mixer, Place
from recollect.ops.forms import KERNELS, Kernel
from recollect.spec import ForeignOptions, MixerOptions, mixer_options
from recollect.spec.registry import implementation


def build_mixer(
    name: str,
    *,
    d_model: int,
    length: int = 64,
    layer: int = 0,
    n_layers: int = 1,
    kernel: Kernel = KERNELS[0],
    **options: Any,
) -> Mixer:
    """A mixer by its name, or a user's class by `path/to/file.py:Class`."""
    return place_mixer(mixer_options(name, options), Place(d_model, length, layer, n_layers, kernel))


def place_mixer(options: MixerOptions, place: Place) -> Mixer:
    """The module for these options at this place."""
    if isinstance(options, ForeignOptions):
        return Foreign(options, place)
    try:
        filled = options.resolved(place.d_model, place.length)
    except ValueError as error:
        raise BadInput(str(error)) from None
    made: Mixer = implementation("mixers", options, options.name)(filled, place)
    return made


__all__ = ["Decaying", "MatrixMixer", "Mixer", "Place", "build_mixer", "place_mixer"]
