"""How many taps of its convolution does Mamba need to recall, with one layer and with two?"""

from dataclasses import replace

from recollect.studies.scales import DESK, LAPTOP, PAIRS, PAPER, SMOKE, rates
from recollect.studies.study import Study, Variant

STUDY = Study(
    name="conv",
    title="Mamba by the taps of its convolution, one layer and two",
    question=__doc__ or "",
    figure="table",
    models={
        f"{taps} tap{'s' * (taps != 1)}, {depth} layer{'s' * (depth > 1)}": Variant(
            "mamba", {"model.mixer.d_conv": taps, "model.n_layers": depth}
        )
        for depth in (1, 2)
        for taps in range(5)
    },
    scales={
        "smoke": SMOKE,
        "laptop": replace(
            LAPTOP,
            note=f"{LAPTOP.note}; one learning rate; 1,500 steps",
            lrs=(5.62341e-3,),
            fields={"train.steps": 1500},
        ),
        "desk": replace(DESK, lrs=rates(-3, -2, 2), seeds=DESK.seeds[:1], note=f"{DESK.note}; one seed"),
        "paper": replace(PAPER, settings=(PAIRS[0], PAIRS[3]), shapes=((64, 1), (256, 1))),
    },
    minutes={"laptop": 17, "desk": 320},
)
