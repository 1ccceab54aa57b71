#!/usr/bin/env python3
"""Fits the polynomials of lib/Conversion/LowerKernels/Math: SingleFunctions.cpp and
DoubleFunctions.cpp.

For f32, each polynomial is close to the minimax polynomial for a weighted error (Lawson's
iteratively reweighted least squares). Coefficients are rounded to f32 one after another,
from the lowest power on, and the remaining ones are fitted again after each. For f64, a
polynomial interpolates the function at Chebyshev nodes, computed with 160 bits. Needs
mpmath and numpy. Prints the coefficients, from the highest power on, and the error."""

import mpmath as mp
import numpy

mp.mp.prec = 160


def solve(points, values, weights, powers):
    """Returns coefficients for these powers of x such that the largest of weights * error
    at the points is small, by Lawson's algorithm."""
    basis = weights[:, None] * points[:, None] ** numpy.array(powers)
    importance = numpy.ones(len(points))
    best, least = None, numpy.inf
    for _ in range(200):
        scale = numpy.sqrt(importance)
        solution = numpy.linalg.lstsq(scale[:, None] * basis, scale * weights * values,
                                      rcond=None)[0]
        errors = numpy.abs(basis @ solution - weights * values)
        if errors.max() < least:
            best, least = solution, errors.max()
        if errors.max() == 0:
            break
        importance *= errors / errors.max() + 1e-9
        importance /= importance.max()
    return best


def show(name, error, coefficients, digits):
    print(f"{name}: error {error:.2e}")
    print("  " + ", ".join(f"{coefficients[p]:.{digits}g}"
                           for p in sorted(coefficients, reverse=True)))


def fit(name, function, weight, low, high, powers, kind=numpy.float32):
    low, high = mp.mpf(low), mp.mpf(high)
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * i / 600) for i in range(601)]
    points = numpy.array([float(x) for x in grid])
    values = numpy.array([float(function(x)) for x in grid])
    weights = numpy.array([float(weight(x)) for x in grid])
    fixed, rest = {}, list(powers)
    while rest:
        left = values - sum(c * points ** p for p, c in fixed.items())
        fixed[rest[0]] = float(kind(solve(points, left, weights, rest)[0]))
        rest = rest[1:]
    error = numpy.abs(weights * (sum(c * points ** p for p, c in fixed.items()) - values)).max()
    show(name, error, fixed, 9 if kind is numpy.float32 else 17)


def find_points(low, high, count):
    """Returns `count` Chebyshev nodes of an interval."""
    return [(low + high) / 2 - (high - low) / 2 * mp.cos(mp.pi * (2 * i + 1) / (2 * count))
            for i in range(count)]


def fit_double(name, function, weight, low, high, powers):
    points = find_points(mp.mpf(low), mp.mpf(high), len(powers))
    basis = mp.matrix([[x ** p for p in powers] for x in points])
    solution = mp.lu_solve(basis, mp.matrix([function(x) for x in points]))
    rounded = {p: float(c) for p, c in zip(powers, solution)}
    error = max(abs(weight(x) * (sum(c * x ** p for p, c in rounded.items()) - function(x)))
                for x in find_points(mp.mpf(low), mp.mpf(high), 600))
    show(f"{name} of f64", float(error), rounded, 17)


def ratio(series, limit):
    """Returns the function `series` with the value `limit` near 0, where it would be
    0/0."""
    return lambda x: limit if abs(x) < mp.mpf(10) ** -12 else series(x)


root = mp.sqrt
# exp(r) = 1 + r + r^2 P(r)
fit("exp", ratio(lambda r: (mp.expm1(r) - r) / r ** 2, mp.mpf(1) / 2),
    lambda r: r ** 2 + mp.mpf(10) ** -6, -0.3467, 0.3467, range(5))
# log(1 + f) = f - f^2 / 2 + f^3 P(f)
fit("log", ratio(lambda f: (mp.log1p(f) - f + f ** 2 / 2) / f ** 3, mp.mpf(1) / 3),
    lambda f: f ** 2 + mp.mpf(10) ** -6, mp.sqrt(0.5) - 1, mp.sqrt(2) - 1, range(9))
# tanh(x) = x + x z P(z), z = x^2
fit("tanh", ratio(lambda z: (mp.tanh(root(z)) / root(z) - 1) / z, -mp.mpf(1) / 3),
    lambda z: z + mp.mpf(10) ** -6, 0, 0.4, range(5))
# erf(x) = x + x P(z), z = x^2
fit("erf below 1", ratio(lambda z: mp.erf(root(z)) / root(z) - 1, 2 / root(mp.pi) - 1),
    lambda z: mp.mpf(1), 0, 1.001, range(7))
# erf(x) = 1 - exp(P(x))
fit("erf from 1", lambda x: mp.log(mp.erfc(x)), lambda x: mp.erfc(x), 1, 4, range(8))
# sin(r) = r + r z P(z), cos(r) = 1 - z / 2 + z^2 P(z), z = r^2, in f64
fit("sin", ratio(lambda z: (mp.sin(root(z)) / root(z) - 1) / z, -mp.mpf(1) / 6),
    lambda z: z + mp.mpf(10) ** -6, 0, 0.6169, range(4), float)
fit("cos", ratio(lambda z: (mp.cos(root(z)) - 1 + z / 2) / z ** 2, mp.mpf(1) / 24),
    lambda z: z ** 2 + mp.mpf(10) ** -6, 0, 0.6169, range(4), float)
# atan(x) = x + x z P(z), asin(x) = x + x z P(z), z = x^2
fit("atan", ratio(lambda z: (mp.atan(root(z)) / root(z) - 1) / z, -mp.mpf(1) / 3),
    lambda z: z + mp.mpf(10) ** -6, 0, 1, range(8))
fit("asin", ratio(lambda z: (mp.asin(root(z)) / root(z) - 1) / z, mp.mpf(1) / 6),
    lambda z: z + mp.mpf(10) ** -6, 0, 0.25, range(5))

# exp(r) = 1 + r + r^2 P(r)
fit_double("exp", ratio(lambda r: (mp.expm1(r) - r) / r ** 2, mp.mpf(1) / 2),
           lambda r: r ** 2, -0.3467, 0.3467, range(11))
# log((1 + s) / (1 - s)) = 2 s + s z P(z), z = s^2
widest = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
fit_double("log", ratio(lambda z: (2 * mp.atanh(root(z)) / root(z) - 2) / z, mp.mpf(2) / 3),
           lambda z: z / 2, 0, widest ** 2, range(7))
# For powers, the logarithm is computed more precisely: as 2 s + s z (2/3 + z P(z)).
fit_double("log for powers",
           ratio(lambda z: ((2 * mp.atanh(root(z)) / root(z) - 2) / z - mp.mpf(2) / 3) / z,
                 mp.mpf(2) / 5),
           lambda z: z ** 2 / 2, 0, widest ** 2, range(7))
# tanh(x) = x + x z P(z), z = x^2
fit_double("tanh", ratio(lambda z: (mp.tanh(root(z)) / root(z) - 1) / z, -mp.mpf(1) / 3),
           lambda z: z, 0, 0.391, range(12))
# erf(x) = x + x P(z), z = x^2
fit_double("erf below 1.25", ratio(lambda z: mp.erf(root(z)) / root(z) - 1,
                                  2 / root(mp.pi) - 1),
           lambda z: mp.mpf(1), 0, 1.5626, range(17))
# erf(x) = 1 - exp(P(x - 3))
fit_double("erf from 1.25", lambda t: mp.log(mp.erfc(t + 3)), lambda t: mp.erfc(t + 3),
           -1.75, 2.95, range(23))
# sin(r) = r + r z P(z), cos(r) = 1 - z / 2 + z^2 P(z), z = r^2
fit_double("sin", ratio(lambda z: (mp.sin(root(z)) / root(z) - 1) / z, -mp.mpf(1) / 6),
           lambda z: z, 0, 0.6169, range(6))
fit_double("cos", ratio(lambda z: (mp.cos(root(z)) - 1 + z / 2) / z ** 2, mp.mpf(1) / 24),
           lambda z: z ** 2, 0, 0.6169, range(6))
# atan(x) = x + x z P(z), asin(x) = x + x z P(z), z = x^2
fit_double("atan", ratio(lambda z: (mp.atan(root(z)) / root(z) - 1) / z, -mp.mpf(1) / 3),
           lambda z: z, 0, 1, range(22))
fit_double("asin", ratio(lambda z: (mp.asin(root(z)) / root(z) - 1) / z, mp.mpf(1) / 6),
           lambda z: z, 0, 0.25, range(14))
