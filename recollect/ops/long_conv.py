"""Long causal convolution: y_t[c] = Σ_l h[c, l] · x_{t-l}[c], l = 0..min(t, K-1).

x is (B, L, C). h is (G, K) with G dividing C: every kernel serves C/G adjacent channels. The fast forms work on rows
(G, B·C/G, L); an x that already lies in memory with its channels first gets there, and back, without a copy.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

TOEPLITZ_ALWAYS = 64
"""Rows up to this length take the Toeplitz product whatever the batch."""


def long_conv_loop(x: Tensor, h: Tensor) -> Tensor:
    """The judge: one token at a time."""
    taps = h.repeat_interleave(x.shape[-1] // h.shape[0], dim=0).T  # (K, C)
    rows = []
    for t in range(x.shape[1]):
        reach = min(t + 1, len(taps))
        past = x[:, t + 1 - reach : t + 1].flip(1)  # (B, reach, C): x_t, x_{t-1}, ...
        rows.append((taps[:reach] * past).sum(dim=1))
    return torch.stack(rows, dim=1)


def long_conv_torch(x: Tensor, h: Tensor) -> Tensor:
    """The faster of the two forms below: the matrix is built once a kernel, so that many rows carry it further."""
    length, rows = x.shape[1], x.shape[0] * x.shape[-1] // len(h)
    short = length <= TOEPLITZ_ALWAYS or length * (rows + 64) <= 240 * rows
    return toeplitz_conv(x, h) if short else fft_conv(x, h)


def toeplitz_conv(x: Tensor, h: Tensor) -> Tensor:
    """One matrix product a kernel, with the matrix of its shifted copies; the future stays exactly unseen."""
    rows = _to_rows(x, len(h))
    return _from_rows(rows @ toeplitz(h, x.shape[1]).mT, x)


def fft_conv(x: Tensor, h: Tensor) -> Tensor:
    """A product of spectra; the future is unseen up to rounding."""
    return _from_rows(_FFTConv.apply(_to_rows(x, len(h)), h[:, : x.shape[1]]), x)


def toeplitz(h: Tensor, length: int) -> Tensor:
    """T (G, L, L) with T[i, j] = h[i-j] for j <= i, else 0."""
    padded = F.pad(h[:, :length], (length - 1, max(0, length - h.shape[1])))  # (G, 2L - 1)
    return padded.unfold(-1, length, 1).flip(1).mT


def fft_size(least: int) -> int:
    """The smallest 2^a 3^b 5^c, even, that is at least this large."""
    n = least + least % 2
    while True:
        rest = n
        for prime in (2, 3, 5):
            while rest % prime == 0:
                rest //= prime
        if rest == 1:
            return n
        n += 2


class _FFTConv(torch.autograd.Function):
    """rows (G, R, L) with h (G, K). The gradients are correlations: they reuse the spectra of the forward pass."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, h: Tensor) -> Tensor:
        length, ctx.taps, ctx.n = rows.shape[-1], h.shape[-1], fft_size(rows.shape[-1] + h.shape[-1] - 1)
        x_hat, h_hat = torch.fft.rfft(rows, ctx.n), torch.fft.rfft(h, ctx.n).unsqueeze(1)
        ctx.save_for_backward(x_hat, h_hat)
        y: Tensor = torch.fft.irfft(x_hat * h_hat, ctx.n)
        return y[..., :length]

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        x_hat, h_hat = ctx.saved_tensors
        y_hat = torch.fft.rfft(grad, ctx.n)
        d_rows = torch.fft.irfft(y_hat * h_hat.conj(), ctx.n)[..., : grad.shape[-1]]
        d_h = torch.fft.irfft((y_hat * x_hat.conj()).sum(dim=1), ctx.n)[..., : ctx.taps]
        return d_rows, d_h


class _Transpose(torch.autograd.Function):
    """A contiguous transpose whose gradient is contiguous too: batched products of strided rows are slow."""

    @staticmethod
    def forward(ctx: Any, matrix: Tensor) -> Tensor:
        return matrix.T.contiguous()

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        return grad.T.contiguous()


def _to_rows(x: Tensor, groups: int) -> Tensor:
    """(B, L, C) -> (G, C/G · B, L), contiguous."""
    flat = x.flatten(0, 1)
    rows: Tensor = flat.T if _channels_first(x) else _Transpose.apply(flat)
    return rows.view(groups, -1, x.shape[1])


def _from_rows(rows: Tensor, x: Tensor) -> Tensor:
    """Back to (B, L, C): with channels first in memory if x had them so, else contiguous."""
    flat = rows.reshape(x.shape[-1], -1)
    y: Tensor = flat.T if _channels_first(x) else _Transpose.apply(flat)
    return y.view(x.shape)


def _channels_first(x: Tensor) -> bool:
    return x.permute(2, 0, 1).is_contiguous()
