"""The files that a run keeps in its folder while it goes on and after its end."""

CHECKPOINT, WEIGHTS = "checkpoint.safetensors", "model.safetensors"
