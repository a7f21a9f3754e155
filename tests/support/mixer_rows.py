"""The rows of the mixer contract: every mixer, and every ablation whose code path differs."""

from typing import Any

from recollect.spec import MIXERS

ROWS: list[tuple[str, dict[str, Any]]] = [
    ("attention", {}),
    ("attention", {"n_heads": 4, "bias": False}),
    ("attention", {"positions": "rope", "n_heads": 2}),
    ("attention", {"positions": "alibi", "n_heads": 2}),
    ("attention", {"positions": "hard_alibi", "n_heads": 4}),
    ("attention", {"positions": "t5", "n_heads": 2}),
    *[
        ("attention", {"conv": conv, "conv_at": at})
        for conv in ("qkv", "q", "k", "v")
        for at in ("before", "after", "input")
    ],
    ("attention", {"n_heads": 2, "positions": "rope", "qk_norm": True}),
    ("sliding_attention", {"window": 4}),
    ("sliding_attention", {"window": 4, "n_heads": 2, "positions": "rope"}),
    ("linear_attention", {}),
    ("linear_attention", {"n_heads": 2, "positions": "rope"}),
    ("based", {}),
    ("based", {"n_heads": 2, "d_feature": 4, "window": 4, "positions": "rope"}),
    ("gla", {"chunk": 4}),
    ("gla", {"gate": False, "d_conv": 3}),
    ("gla", {"n_heads": 2, "d_key": 6, "expand_v": 2, "temperature": 1.0, "chunk": 5, "positions": "rope"}),
    ("retnet", {"chunk": 4}),
    ("retnet", {"gate": False, "d_conv": 3, "positions": "none"}),
    ("retnet", {"n_heads": 2, "expand_v": 1, "chunk": 5}),
    ("h3", {}),
    ("h3", {"d_state": 8, "head_dim": 4, "positions": "rope"}),
    ("hyena", {}),
    ("hyena", {"d_filter": 16, "positions": "rope"}),
    ("rwkv4", {}),
    ("rwkv4", {"positions": "rope"}),
    ("mamba", {}),
    ("mamba", {"d_conv": 0}),
    ("mamba", {"gate": False}),
    ("mamba", {"d_state": 8, "d_conv": 2, "expand": 1, "positions": "rope"}),
    ("mamba", {"norms": "bc", "decay": "bounded"}),
    ("mamba", {"norms": "bcdt", "dt_start": "bias 0"}),
    ("mamba2", {"chunk": 4}),
    ("mamba2", {"chunk": 4, "decay": "bounded"}),
    ("mamba2", {"d_conv": 0}),
    ("mamba2", {"d_state": 8, "head_dim": 4, "n_groups": 2, "chunk": 5, "positions": "rope"}),
    ("deltanet", {"chunk": 4}),
    ("deltanet", {"d_conv": 0}),
    ("deltanet", {"n_heads": 2, "gate": True, "negative_eigenvalues": True, "chunk": 5, "positions": "rope"}),
    ("gated_deltanet", {"chunk": 4}),
    ("gated_deltanet", {"d_conv": 0}),
    ("gated_deltanet", {"n_heads": 2, "expand_v": 2, "chunk": 5, "positions": "rope"}),
    ("kda", {"chunk": 4}),
    ("kda", {"d_conv": 0}),
    ("kda", {"n_heads": 2, "negative_eigenvalues": True, "chunk": 5, "positions": "rope"}),
    ("gated_deltaproduct", {"chunk": 4}),
    ("gated_deltaproduct", {"d_conv": 0, "n_steps": 1}),
    ("gated_deltaproduct", {"n_heads": 2, "n_steps": 3, "expand_v": 2, "negative_eigenvalues": False, "chunk": 5}),
    ("gated_deltaproduct", {"positions": "rope"}),
    ("mlstm", {"chunk": 4}),
    ("mlstm", {"d_conv": 3, "gate": False}),
    ("mlstm", {"n_heads": 2, "d_key": 3, "chunk": 5}),
    ("mamba3", {"chunk": 4, "decay": "bounded"}),
    ("mamba3", {"chunk": 4}),
    ("mamba3", {"trapezoid": False, "rotation": 0.0}),
    ("mamba3", {"d_state": 6, "head_dim": 4, "expand": 1, "rotation": 1.0, "chunk": 5}),
    ("rwkv7", {"chunk": 4}),
    ("rwkv7", {"head_dim": 8, "gate": False, "chunk": 5}),
    ("lstm", {}),
    ("lstm", {"positions": "rope"}),
]

NOT_LINEAR = {"lstm"}
"""Mixers that are not linear in their values, and so have no mixing matrix."""
VALUE_LINEAR = set(MIXERS) - NOT_LINEAR


def label(row: tuple[str, dict[str, Any]]) -> str:
    """A readable test name."""
    name, options = row
    return "-".join([name, *(f"{k}={v}" for k, v in options.items())])
