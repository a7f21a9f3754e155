"""Do position encodings change what a recurrent model recalls?"""

from dataclasses import replace

from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study, Variant

ENCODINGS = {
    "none": {},
    "absolute": {"model.positions": "sinusoidal"},
    "relative": {"model.mixer.positions": "rope"},
    "learned": {"model.positions": "learned"},
}
"""Relative positions have no meaning for a recurrence: here they are RoPE on B and C or q and k, else on the input."""

STUDY = Study(
    name="table4",
    title="Position encodings on recurrent models",
    question=__doc__ or "",
    figure="table",
    models={
        f"{mixer}, {name}": Variant(mixer, fields)
        for mixer in ("mamba", "hyena", "rwkv4", "h3")
        for name, fields in ENCODINGS.items()
    },
    scales={
        "smoke": SMOKE,
        "laptop": replace(
            LAPTOP,
            note="V=64 L=32 K=4 instead of V=8192 L=512 K=64; one layer instead of two; one learning rate",
            lrs=(1e-2,),
            shapes=((64, 1),),
        ),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), seeds=DESK.seeds[:1], note=f"{DESK.note}; one seed"),
        "paper": replace(PAPER, settings=PAIRS[3:], shapes=((64, 2),)),
    },
    minutes={"laptop": 12, "desk": 490},
)
