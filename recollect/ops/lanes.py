"""Lanes: sixteen numbers side by side that a kernel computes with at once, as a type of Numba's.

A loop over arrays becomes vector instructions only if LLVM can prove, or test whenever it enters it, that they do not
overlap. A kernel that is written with lanes need not hope, and keeps its states in registers or in the nearest cache:

    h = lanes(kept, (n, c))              the numbers kept[n, c : c + WIDTH]
    h = power_of_two(s) * h + u * b      s and u lanes too, b lanes or one number
    put(y, (t, c), h)                    y[t, c : c + WIDTH] = h
    total(h)                             their sum

Multiply and add may fuse. LLVM cuts lanes into the registers that the processor has.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic, models, overload, register_model

from recollect.ops.compiled import SHIFT

builtin: Any = intrinsic  # a kernel calls it without the first argument
LOG2E = 1 / math.log(2)
WIDTH = 16  # two registers of AVX2: what is shared between them is loaded once


class Lanes(types.Type):
    """WIDTH numbers of one type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(f"Lanes({dtype})")


@register_model(Lanes)
class _Model(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Lanes) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.dtype).get_value_type(), WIDTH))


def _address(context: Any, builder: Any, signature: Any, array: Any, index: Any) -> Any:
    """Where lanes begin in an array, as the address of a vector."""
    kind, places = signature.args[0], signature.args[1]
    made = context.make_array(kind)(context, builder, array)
    where = cgutils.unpack_tuple(builder, index, len(places))
    where = [context.cast(builder, i, t, types.intp) for i, t in zip(where, places, strict=True)]
    first = cgutils.get_item_pointer(context, builder, kind, made, where, wraparound=False)
    return builder.bitcast(first, context.get_value_type(Lanes(kind.dtype)).as_pointer())


@builtin
def lanes(typing: Any, array: Any, index: Any) -> Any:
    """Numbers of an array from an index on, which is a tuple."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        where = _address(context, builder, signature, *given)
        return builder.load(where, align=array.dtype.bitwidth // 8)

    return Lanes(array.dtype)(array, index), emit


@builtin
def put(typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Write lanes into an array from an index on."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        where = _address(context, builder, signature, *given[:2])
        builder.store(given[2], where, align=array.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, index, value), emit


@builtin
def zeros_like(typing: Any, array: Any) -> Any:
    """Zeros of an array's type, or of other lanes'."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return context.get_constant_null(signature.return_type)

    return Lanes(array.dtype)(array), emit


def _spread(context: Any, builder: Any, kind: Lanes, number: Any) -> Any:
    vector = context.get_value_type(kind)
    one = builder.insert_element(ir.Constant(vector, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    zeros = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(one, ir.Constant(vector, ir.Undefined), zeros)


def _picked(builder: Any, x: Any, places: list[Any]) -> Any:
    """Some of the numbers of a vector."""
    kind = ir.VectorType(ir.IntType(32), len(places))
    return builder.shuffle_vector(x, ir.Constant(x.type, ir.Undefined), ir.Constant(kind, places))


@builtin
def total(typing: Any, value: Any) -> Any:
    """Their sum, in pairs."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        left, half = given[0], WIDTH // 2
        while half:
            first, last = ([ir.Constant(ir.IntType(32), i) for i in range(at, at + half)] for at in (0, half))
            pair = (_picked(builder, left, places) for places in (first, last))
            left, half = builder.fadd(*pair), half // 2
        return builder.extract_element(left, ir.Constant(ir.IntType(32), 0))

    return value.dtype(value), emit


@builtin
def larger(typing: Any, a: Any, b: Any) -> Any:
    """The larger one of each pair; b's where a's is no number."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        return builder.select(builder.fcmp_ordered(">", *given), *given)

    return a(a, b), emit


@builtin
def where_negative(typing: Any, x: Any, a: Any, b: Any) -> Any:
    """a's numbers where x is negative, b's elsewhere."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        zero = context.get_constant_null(x)
        return builder.select(builder.fcmp_ordered("<", given[0], zero), *given[1:])

    return a(x, a, b), emit


def _between(symbol: Callable[[Any, Any], Any], instruction: str) -> None:
    """An operator between lanes, or between lanes and a number."""

    @builtin
    def compute(typing: Any, a: Any, b: Any) -> Any:
        kind = a if isinstance(a, Lanes) else b

        def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
            pair = [v if t == kind else _spread(context, builder, kind, v) for v, t in zip(given, (a, b), strict=True)]
            return getattr(builder, instruction)(*pair, flags=("contract",))

        return kind(*(t if t == kind else kind.dtype for t in (a, b))), emit

    @overload(symbol)
    def between(a: Any, b: Any) -> Any:
        def computed(a: Any, b: Any) -> Any:
            return compute(a, b)

        return computed if isinstance(a, Lanes) or isinstance(b, Lanes) else None


_between(operator.add, "fadd")
_between(operator.sub, "fsub")
_between(operator.mul, "fmul")
_between(operator.truediv, "fdiv")


def _series(f: Callable[[Any], Any], terms: int, low: float, high: float) -> list[float]:
    """Coefficients c_0, c_1, ... of the polynomial that meets f in some points between low and high."""
    met = np.polynomial.Chebyshev.interpolate(f, terms - 1, [low, high])
    return [float(c) for c in met.convert(kind=np.polynomial.Polynomial).coef]


POWER = [1.0, *_series(lambda x: np.expm1(x * math.log(2)) / x, 5, -0.5, 0.5 + 1e-9)]  # of 2^x, exact at 0
LOGARITHM = _series(lambda x: np.log1p(x + 0.5) / (x + 0.5), 10, -0.5, 0.5)  # of log(1 + z) / z in z - 1/2

TAIL = [0.0, 0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429]


def _polynomial(builder: Any, x: Any, coefficients: list[float]) -> Any:
    """c_0 + c_1 x + c_2 x² + ..."""
    made = _all(x, coefficients[-1])
    for c in coefficients[-2::-1]:
        made = builder.fadd(builder.fmul(made, x, flags=("contract",)), _all(x, c), flags=("contract",))
    return made


def _all(x: Any, number: float) -> Any:
    """Lanes like x, each this number in single precision."""
    return ir.Constant(x.type, [float(np.float32(number))] * WIDTH)


def _one_by_one(builder: Any, x: Any, function: str) -> Any:
    """A function of the C library's, lane after lane."""
    kind = x.type.element
    call = cgutils.get_or_insert_function(builder.module, ir.FunctionType(kind, [kind]), function)
    for i in (ir.Constant(ir.IntType(32), i) for i in range(WIDTH)):
        x = builder.insert_element(x, builder.call(call, [builder.extract_element(x, i)]), i)
    return x


@builtin
def power_of_two(typing: Any, x: Any) -> Any:
    """2^x for x <= 0; in single precision with a relative error of 3e-7, and exactly 0 where it would be subnormal."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        single = x.dtype == types.float32
        return _power_of_two(builder, given[0]) if single else _one_by_one(builder, given[0], "exp2")

    return x(x), emit


def _power_of_two(builder: Any, x: Any) -> Any:
    """2^k 2^f with x = k + f; adding SHIFT rounds to k and leaves k + 127 in the last bits."""
    bits, shift = ir.VectorType(ir.IntType(32), WIDTH), _all(x, float(SHIFT))
    x = builder.select(builder.fcmp_ordered("<", x, _all(x, -127)), _all(x, -127), x)
    shifted = builder.fadd(x, shift)
    f = builder.fsub(x, builder.fsub(shifted, shift))
    scale = builder.shl(builder.bitcast(shifted, bits), ir.Constant(bits, [23] * WIDTH))
    return builder.fmul(_polynomial(builder, f, POWER), builder.bitcast(scale, x.type))


@builtin
def log_of_one_and(typing: Any, z: Any) -> Any:
    """log(1 + z) for z from 0 to 1; in single precision with a relative error of 2e-7."""

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        if z.dtype == types.float32:
            about = builder.fsub(given[0], _all(given[0], 0.5))
            return builder.fmul(given[0], _polynomial(builder, about, LOGARITHM))
        return _one_by_one(builder, given[0], "log1p")

    return z(z), emit


@builtin
def upper_tail(typing: Any, x: Any) -> Any:
    """1 - Φ(x) for x >= 0, Φ the normal distribution's; in single precision with an error of 1e-7.

    Abramowitz & Stegun 1964, 7.1.26.
    """

    def emit(context: Any, builder: Any, signature: Any, given: Any) -> Any:
        (z,), half = given, _all(given[0], 0.5)
        root = ir.Constant(z.type, [math.sqrt(0.5)] * WIDTH)
        z = builder.fmul(z, _all(z, math.sqrt(0.5)) if x.dtype == types.float32 else root)
        if x.dtype != types.float32:
            return builder.fmul(half, _one_by_one(builder, z, "erfc"))
        t = builder.fdiv(_all(z, 1), builder.fadd(_all(z, 1), builder.fmul(_all(z, 0.3275911), z)))
        decay = _power_of_two(builder, builder.fmul(builder.fmul(z, z), _all(z, -LOG2E)))
        return builder.fmul(builder.fmul(_polynomial(builder, t, TAIL), half), decay)

    return x(x), emit


@njit(error_model="numpy")
def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x)), without overflow."""
    zero = zeros_like(x)
    small = power_of_two(where_negative(x, x, zero - x) * LOG2E)
    return where_negative(x, small, zero + 1.0) / (small + 1.0)
