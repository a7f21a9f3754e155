"""What happens inside: mixing matrices, scores of them, decay, gradients, phases of training, interventions.

`phases`, `scores` and `decay` take plain arrays and never load torch; the others look into a model.
"""
