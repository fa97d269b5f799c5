#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Derives every constant of frontend/ir/math_definitions*.h and prints frontend/ir/math_coefficients.h.

Run by hand when a polynomial changes, never by the build:

    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install mpmath gmpy2
    /tmp/venv/bin/python tests/oracle/math_coefficients.py > frontend/ir/math_coefficients.h
    clang-format -i frontend/ir/math_coefficients.h

Method. A polynomial is the weighted minimax fit of its target on a dense Chebyshev grid: the
exchange algorithm of Remez, in 70 digits. Coefficients are then rounded to the target format one
after the other, lowest power first; after each rounding the free ones are fitted again, so they
absorb what the rounding lost. The weight turns the error of the fit into the relative error of the
function that uses it, so the printed figure is that function's approximation error, without the
rounding of its evaluation. What the whole function reaches is measured by
tests/differential/math_exhaustive_test.cpp, not here.
"""
import sys

import mpmath as mp

mp.mp.dps = 70
GRID = 800


def round_to(value, bits):
    """Nearest float with `bits` bits of significand (the exponent range is never reached)."""
    mantissa, exponent = mp.frexp(value)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), int(exponent) - bits)


def horner(cs, x):
    acc = mp.mpf(0)
    for c in reversed(cs):
        acc = acc * x + c
    return acc


def extrema(errors, count):
    """Indices of `count` alternating extrema: one per run of equal sign, smallest ends dropped."""
    picks = []
    for i, e in enumerate(errors):
        if picks and (errors[picks[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[picks[-1]]):
                picks[-1] = i
        else:
            picks.append(i)
    while len(picks) > count:
        picks.pop(0 if abs(errors[picks[0]]) < abs(errors[picks[-1]]) else -1)
    return picks


def fit(xs, gs, ws, low, degree):
    """Minimax coefficients of x^low .. x^degree; returns them and the largest weighted error."""
    n = degree - low + 1
    # Slightly off the symmetric places: those make the system of an even or odd basis singular.
    places = [(i + mp.mpf("0.13")) / (n + mp.mpf("0.2")) for i in range(n + 1)]
    picks = [int((len(xs) - 1) * (1 - mp.cos(mp.pi * min(p, 1))) / 2) for p in places]
    best = None
    for _ in range(40):
        rows = mp.matrix(n + 1, n + 1)
        rhs = mp.matrix(n + 1, 1)
        for j, p in enumerate(picks):
            power = xs[p] ** low
            for k in range(n):
                rows[j, k] = power
                power *= xs[p]
            rows[j, n] = (-1) ** j / ws[p]
            rhs[j] = gs[p]
        try:
            solution = mp.lu_solve(rows, rhs)
        except ZeroDivisionError:
            break  # an odd or even rest on a symmetric interval: the caller keeps what it has
        cs = [solution[k] for k in range(n)]
        errors = []
        for x, g, w in zip(xs, gs, ws):
            errors.append((horner(cs, x) * x**low - g) * w)
        worst = max(abs(e) for e in errors)
        if best is None or worst < best[1]:
            best = (cs, worst)
        new = extrema(errors, n + 1)
        if len(new) < n + 1 or new == picks or worst <= abs(solution[n]) * (1 + mp.mpf(10) ** -6):
            break
        picks = new
    return best or ([mp.mpf(0)] * n, mp.inf)


def polynomial(name, bits, degree, lo, hi, target, weight, what):
    """Prints the constants of target(x) ~ c0 + c1 x + .. ; weight(x) scales the error."""
    lo, hi = mp.mpf(lo), mp.mpf(hi)
    xs = [(lo + hi) / 2 - (hi - lo) / 2 * mp.cos(mp.pi * (i + mp.mpf(1) / 2) / GRID) for i in range(GRID)]
    gs = [target(x) for x in xs]
    ws = [abs(weight(x)) for x in xs]
    rounded, rest = [], list(gs)
    cs, free = fit(xs, rest, ws, 0, degree)
    for low in range(degree + 1):
        c = round_to(cs[0], bits)
        rounded.append(c)
        rest = [r - c * x**low for r, x in zip(rest, xs)]
        if low == degree:
            break
        kept = max(abs(horner(cs[1:], x) * x**(low + 1) - r) * w for x, r, w in zip(xs, rest, ws))
        refitted, worst = fit(xs, rest, ws, low + 1, degree)
        cs = refitted if worst < kept else cs[1:]
    final = max(abs(r * w) for r, w in zip(rest, ws))
    emit_array(name, bits, rounded, [what + ".", f"Error 2^{float(mp.log(final, 2)):.2f}; 2^"
               f"{float(mp.log(free, 2)):.2f} before the coefficients are rounded."])
    sys.stderr.write(f"{name}: 2^{float(mp.log(free, 2)):.2f} -> 2^{float(mp.log(final, 2)):.2f}\n")


def literal(value, bits):
    assert mp.mpf(float(value)) == value
    significand, exponent = float(value).hex().split("p")
    return significand.rstrip("0").rstrip(".") + "p" + exponent + ("f" if bits == 24 else "")


def emit_array(name, bits, values, comment):
    for line in comment:
        print(f"// {line}")
    kind = "float" if bits == 24 else "double"
    print(f"inline constexpr {kind} {name}[] = {{{', '.join(literal(v, bits) for v in values)}}};\n")


def emit(name, bits, value, comment):
    kind = "float" if bits == 24 else "double"
    print(f"// {comment}\ninline constexpr {kind} {name} = {literal(value, bits)};\n")


def split(name, bits, value, comment):
    """value = High + Low, each rounded to nearest."""
    high = round_to(value, bits)
    emit(name + "High", bits, high, comment + ", leading part")
    emit(name + "Low", bits, round_to(value - high, bits), comment + ", the rest")


def exponentials(tag, bits, exp_degree, expm1_degree, exp2_degree):
    one = mp.mpf(1)
    ln2 = mp.log(2)
    polynomial(f"kExp{tag}", bits, exp_degree, "-0.694", "0.694", lambda r: (mp.exp(r) - 1 - r) / r**2,
               lambda r: r**2 / mp.exp(r), "exp(r) = 1 + r + r^2 P(r), |r| <= ln 2")
    polynomial(f"kExp2{tag}", bits, exp2_degree, "-0.5", "0.5", lambda r: (2**r - 1) / r,
               lambda r: r / 2**r, "2^r = 1 + r P(r), |r| <= 1/2")
    polynomial(f"kExpm1{tag}", bits, expm1_degree, "-0.348", "0.348", lambda r: (mp.expm1(r) - r) / r**2,
               lambda r: r**2 / mp.expm1(r), "expm1(r) = r + r^2 P(r), |r| <= ln(2) / 2")
    split(f"kLn2{tag}", bits, ln2, "ln 2")
    emit(f"kLog2e{tag}", bits, round_to(one / ln2, bits), "log2 e")


def logarithms(tag, bits, log_degree):
    third = mp.mpf(1) / 3
    polynomial(f"kLog{tag}", bits, log_degree, -third, third,
               lambda f: (mp.log1p(f) - f + f * f / 2) / f**3, lambda f: f**3 / mp.log1p(f),
               "log(1 + f) = f - f^2 / 2 + f^3 P(f), |f| <= 1/3")


def trigonometric(tag, bits, sin_degree, cos_degree):
    top = (mp.pi / 4) ** 2 * mp.mpf("1.0001")
    root = mp.sqrt
    polynomial(f"kSin{tag}", bits, sin_degree, 0, top, lambda z: (mp.sin(root(z)) / root(z) - 1) / z,
               lambda z: z * root(z) / mp.sin(root(z)), "sin y = y + y z P(z), z = y^2, |y| <= pi / 4")
    polynomial(f"kCos{tag}", bits, cos_degree, 0, top, lambda z: (mp.cos(root(z)) - 1 + z / 2) / z**2,
               lambda z: z**2 / mp.cos(root(z)), "cos y = 1 - z / 2 + z^2 P(z), z = y^2, |y| <= pi / 4")


def error_function(tag, bits, small_degree, tail_degree, power_degree, switch, top):
    root = mp.sqrt
    t = mp.mpf(switch)
    polynomial(f"kErfSmall{tag}", bits, small_degree, 0, t * t, lambda z: mp.erf(root(z)) / root(z) - 1,
               lambda z: root(z) / mp.erf(root(z)), f"erf x = x + x P(z), z = x^2, |x| <= {switch}")
    polynomial(f"kErfTail{tag}", bits, tail_degree, t, top, lambda a: mp.log(mp.erfc(a), 2),
               lambda a: mp.erfc(a) * mp.log(2) / mp.erf(a), f"erfc a = 2^P(a), {switch} <= a <= {top}")
    polynomial(f"kErfPower{tag}", bits, power_degree, "-0.501", "0.501", lambda f: -(2**f),
               lambda f: mp.erfc(t) / mp.erf(t), "-(2^f) = P(f), |f| <= 1/2; error as it enters erf")


def residue(exponent):
    """2/pi modulo 2^(2 - exponent), in [0, 2^(2-exponent)): times an integer multiple of 2^exponent
    it gives the same quadrant, modulo 4, as 2/pi itself."""
    modulus = mp.ldexp(mp.mpf(1), 2 - exponent)
    value = 2 / mp.pi
    return value - mp.floor(value / modulus) * modulus


def quadrants_f32():
    """2/pi as seen by floats whose last bit weighs at least 2^e0, one pair per band of exponents."""
    mp.mp.dps = 120
    highs, lows = [], []
    for e0 in (None, 27, 53, 79):
        value = 2 / mp.pi if e0 is None else residue(e0)
        if e0 is not None and value > mp.ldexp(mp.mpf(1), 1 - e0):
            value -= mp.ldexp(mp.mpf(1), 2 - e0)
        high = round_to(value, 53)
        highs.append(high)
        lows.append(round_to(value - high, 53))
    emit_array("kTwoOverPiF32High", 53, highs,
               ["2/pi for arguments below 2^50, and 2/pi modulo 4 / 2^e for those whose last bit weighs",
                "2^e or more, e = 27, 53, 79 (arguments from 2^50, 2^76, 2^102): leading part"])
    emit_array("kTwoOverPiF32Low", 53, lows, ["the rest of kTwoOverPiF32High"])
    mp.mp.dps = 70


def digits_of_two_over_pi():
    """The digits of 2/pi to base 2^48 that an f64 argument can reach."""
    mp.mp.dps = 400
    value, digits = 2 / mp.pi, []
    for _ in range(26):
        digits.append(mp.floor(value))
        value = mp.ldexp(value - digits[-1], 48)
    emit_array("kTwoOverPiDigits", 53, digits, ["2/pi to base 2^48: the sum of digit[i] * 2^(-48 i)"])
    split("kPiOver2F64", 53, mp.pi / 2, "pi / 2")
    mp.mp.dps = 70


def header():
    print("// SPDX-License-Identifier: Apache-2.0\n//")
    print("// Constants of the math definitions. Written by tests/oracle/math_coefficients.py, which says")
    print("// how each is derived; change them there. Polynomials stand lowest power first.")
    print("#pragma once\n\nnamespace tilewright::ir::math {\n")


def main():
    header()
    exponentials("F32", 24, 5, 4, 5)
    logarithms("F32", 24, 7)
    trigonometric("F32", 24, 2, 2)
    error_function("F32", 24, 5, 5, 5, "0.9375", "3.95")
    quadrants_f32()
    digits_of_two_over_pi()
    if "--f32" not in sys.argv:
        exponentials("F64", 53, 11, 10, 10)
        logarithms("F64", 53, 18)
        trigonometric("F64", 53, 5, 5)
        error_function("F64", 53, 11, 17, 11, "1.0", "5.95")
    print("}  // namespace tilewright::ir::math")


if __name__ == "__main__":
    main()
