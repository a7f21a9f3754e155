"""Products by oneDNN: the same numbers but for rounding, in whatever way a factor lies."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from recollect.training import products
from recollect.training.processor import flags, maker
from tests.support.small import tiny

M, K, N = 160, 96, 80  # more multiplications than LEAST


@pytest.fixture
def replaced() -> Iterator[None]:
    """oneDNN multiplies, whatever the processor."""
    if not (torch.backends.mkldnn.is_available() and hasattr(torch.ops.mkldnn, "_linear_pointwise")):
        pytest.skip("this torch has no oneDNN")
    library = products.replaced()
    yield
    library._destroy()


def lain(rows: int, columns: int, how: str, dtype: torch.dtype = torch.float32) -> Tensor:
    """A factor that lies in memory so."""
    x = torch.randn(rows, columns, generator=torch.Generator().manual_seed(rows), dtype=dtype)
    wide = torch.cat((x, x), dim=1)
    ways = {"rows": x, "columns": x.T.contiguous().T, "gaps": wide[:, :columns], "copies": x[:1].expand(rows, columns)}
    return ways[how]


LIES = ("rows", "columns", "gaps", "copies")


@pytest.mark.parametrize("first", LIES)
@pytest.mark.parametrize("second", LIES)
@pytest.mark.parametrize("scale", [1, 8])  # which of the two is the larger one
@pytest.mark.usefixtures("replaced")
def test_products_are_those_of_double_precision(first: str, second: str, scale: int) -> None:
    a, b = lain(M * scale, K, first), lain(K, N, second)
    exact = a.double() @ b.double()
    column, row = lain(len(a), 1, "rows"), lain(N, 1, "rows").squeeze(1)
    assert_near(a @ b, exact)
    assert_near(torch.addmm(row, a, b), row.double() + exact)
    assert_near(torch.addmm(column, a, b), column.double() + exact)
    assert_near(torch.addmm(row[:1].expand(N), a, b), row[:1].double() + exact)
    assert_near(torch.addmm(row, a, b, beta=2, alpha=0.5), 2 * row.double() + 0.5 * exact)
    assert_near(torch.ones(len(a), N).addmm_(a, b), 1 + exact)
    assert_near(torch.ones(len(a), N).addmm_(a, b, beta=0.5), 0.5 + exact)


@pytest.mark.usefixtures("replaced")
def test_factors_that_do_not_fit_are_refused_in_torchs_own_words() -> None:
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        lain(M, K, "rows") @ lain(K + 1, N, "rows")


def assert_near(found: Tensor, exact: Tensor) -> None:
    assert found.dtype == torch.float32
    assert found.shape == exact.shape
    torch.testing.assert_close(found.double(), exact, rtol=1e-5, atol=1e-4)


@pytest.mark.usefixtures("replaced")
def test_gradients_are_those_of_double_precision() -> None:
    layer, x = nn.Linear(K, N), lain(4 * M, K, "rows").unflatten(0, (4, M)).requires_grad_()
    layer(x).square().sum().backward()
    found = [x.grad, layer.weight.grad, layer.bias.grad]
    again, y = nn.Linear(K, N).double(), x.detach().double().requires_grad_()
    again.load_state_dict(layer.state_dict())
    again(y).square().sum().backward()
    for mine, exact in zip(found, [y.grad, again.weight.grad, again.bias.grad], strict=True):
        assert mine is not None
        torch.testing.assert_close(mine.double(), exact, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.int64])
def test_other_precisions_and_small_products_have_torchs_own_bits(dtype: torch.dtype, replaced: None) -> None:
    large = [(8 * lain(rows, columns, "rows")).to(dtype) for rows, columns in ((M, K), (K, N))]
    pairs = [large, [torch.randn(3, 4), torch.randn(4, 5)], [torch.ones(0, 3), torch.ones(3, 2)]]
    pairs += [[torch.ones(2, 0), torch.ones(0, 2)]]
    ours = [a @ b for a, b in pairs]
    for mine, (a, b) in zip(ours, pairs, strict=True):
        own = torch.empty_like(mine)
        assert torch.equal(mine, torch.mm(a, b, out=own))


def test_only_the_rounding_of_a_run_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    """And a process goes from one way to the other and back, with the bits that each of them had."""
    a, b = lain(M, K, "rows"), lain(K, N, "rows")
    own = a @ b
    monkeypatch.setattr(products, "is_faster", lambda spec: True)
    products.set_products(tiny("attention"))
    products.set_products(tiny("attention"))
    assert len(products.replacements) == 1
    torch.testing.assert_close(a @ b, own)
    monkeypatch.setattr(products, "is_faster", lambda spec: False)
    products.set_products(tiny("attention"))
    assert not products.replacements
    assert torch.equal(a @ b, own)


@pytest.mark.parametrize(
    ("maker", "widest", "told"),
    [("AuthenticAMD", "avx512f", True), ("GenuineIntel", "avx512f", False), ("AuthenticAMD", "avx2", False)],
)
def test_the_processor_decides(monkeypatch: pytest.MonkeyPatch, maker: str, widest: str, told: bool) -> None:
    monkeypatch.setattr(products, "maker", lambda: maker)
    monkeypatch.setattr(products, "flags", lambda: frozenset({widest}))
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: True)
    assert products.is_faster(tiny("attention")) == told
    assert not products.is_faster(tiny("attention", compute__compile=True, compute__kernel="torch"))
    assert not products.is_faster(tiny("attention", compute__device="cuda", compute__kernel="torch"))


def test_what_a_processor_says_of_itself(tmp_path: Path) -> None:
    file = tmp_path / "cpuinfo"
    file.write_text(
        "processor\t: 0\nvendor_id\t: AuthenticAMD\nflags\t\t: fpu avx2\n\nvendor_id\t: another\nflags\t\t: fpu\n"
    )
    assert (maker(file), flags(file)) == ("AuthenticAMD", frozenset({"fpu", "avx2"}))
    assert (maker(tmp_path / "none"), flags(tmp_path / "none")) == ("", frozenset())
