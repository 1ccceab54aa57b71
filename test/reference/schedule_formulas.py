#!/usr/bin/env python3
"""Factors by which schedules multiply a number in step s, counted from 0, computed with
Python's floats. As a script, with a Python that has torch, compares them with the learning
rates of PyTorch's schedulers."""

import math


def fall(share):
    """Returns what falls from 1 to 0 in half a period of a cosine."""
    return (1 + math.cos(math.pi * share)) / 2


def above(minimum, factor):
    return minimum + (1 - minimum) * factor


def step(s, step_size, gamma=0.1):
    return gamma ** (s // step_size)


def multi_step(s, milestones, gamma=0.1):
    return gamma ** sum(m <= s for m in milestones)


def exponential(s, gamma):
    return gamma ** s


def polynomial(s, length, power=1, minimum=0):
    return above(minimum, (1 - min(s / length, 1)) ** power)


def linear(s, length, start=1, end=0):
    return start + (end - start) * min(s / length, 1)


def cosine(s, length, minimum=0):
    return above(minimum, fall(min(s / length, 1)))


def cosine_restarts(s, period, growth=1, minimum=0):
    while s >= period:
        s, period = s - period, period * growth
    return above(minimum, fall(s / period))


def one_cycle(s, length, rise=0.3, start=0.04, end=4e-6, shape="cosine",
              three_phases=False):
    top = rise * (length + 1) - 1
    ends = [(0, start), (top, 1.0)]
    if three_phases:
        ends.append((2 * top, start))
    ends.append((length, end))
    for (begin, low), (finish, high) in zip(ends, ends[1:]):
        if s <= finish:
            share = (s - begin) / (finish - begin)
            if shape == "cosine":
                share = 1 - fall(share)
            return low + (high - low) * share
    return end


def inverse_root(s, timescale=10000):
    return math.sqrt(timescale / (s + timescale))


def wsd(s, stable_steps, decay_steps, shape="linear", minimum=0):
    share = min(max((s - stable_steps) / decay_steps, 0), 1)
    return above(minimum, {"linear": 1 - share, "cosine": fall(share),
                           "root": 1 - math.sqrt(share)}[shape])


def with_warmup(s, warmup, schedule, **settings):
    """Returns the factor of a schedule after a warm-up."""
    return (s + 1) / warmup if s < warmup else schedule(s - warmup, **settings)


def sequence(s, schedules, milestones):
    """Returns the factor of the schedule, a function, whose turn it is."""
    reached = sum(m <= s for m in milestones)
    return schedules[reached](s - milestones[reached - 1] if reached else s)


class Plateau:
    """The factor of a schedule that follows scores."""

    def __init__(self, factor=0.1, patience=10, threshold=1e-4, absolute=False, cooldown=0,
                 minimum=0, maximize=False, number=1.0):
        self.settings = (factor, patience, threshold, absolute, cooldown, minimum)
        self.sign = -1 if maximize else 1
        self.number = number
        self.factor, self.best, self.bad, self.pause = 1.0, math.inf, 0, 0

    def note(self, score):
        factor, patience, threshold, absolute, cooldown, minimum = self.settings
        score *= self.sign
        margin = threshold if absolute else threshold * self.sign * self.best
        if math.isinf(self.best) or score < self.best - margin:
            self.best, self.bad = (self.best, self.bad + 1) if math.isnan(score) else (score, 0)
        else:
            self.bad += 1
        if self.pause > 0:
            self.pause, self.bad = self.pause - 1, 0
        if self.bad > patience:
            reduced = max(self.factor * factor, minimum)
            if self.number * (self.factor - reduced) > 1e-8:
                self.factor = reduced
            self.pause, self.bad = cooldown, 0
        return self.factor


def compare_with_torch():
    import torch
    from torch.optim import lr_scheduler

    def make():
        return torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.1, momentum=0.9)

    def compare(name, schedule, formula, steps=20):
        optimizer = make()
        scheduler = schedule(optimizer)
        for s in range(steps):
            rate = optimizer.param_groups[0]["lr"]
            assert abs(rate - 0.1 * formula(s)) < 1e-15, f"{name}: {s}, {rate}, {formula(s)}"
            optimizer.step()
            scheduler.step()
        print(f"{name}: {steps} steps")

    compare("step", lambda o: lr_scheduler.StepLR(o, 7, 0.3), lambda s: step(s, 7, 0.3))
    compare("multi_step", lambda o: lr_scheduler.MultiStepLR(o, [4, 9, 9], 0.5),
            lambda s: multi_step(s, [4, 9, 9], 0.5))
    compare("exponential", lambda o: lr_scheduler.ExponentialLR(o, 0.9),
            lambda s: exponential(s, 0.9))
    compare("polynomial", lambda o: lr_scheduler.PolynomialLR(o, 15, 2.0),
            lambda s: polynomial(s, 15, 2.0))
    compare("linear", lambda o: lr_scheduler.LinearLR(o, 0.25, 0.75, 10),
            lambda s: linear(s, 10, 0.25, 0.75))
    compare("cosine", lambda o: lr_scheduler.CosineAnnealingLR(o, 19, 0.01),
            lambda s: cosine(s, 19, 0.1))
    compare("cosine_restarts",
            lambda o: lr_scheduler.CosineAnnealingWarmRestarts(o, 4, 2, 0.01),
            lambda s: cosine_restarts(s, 4, 2, 0.1))
    for settings in ({}, {"anneal_strategy": "linear", "pct_start": 0.25},
                     {"three_phase": True, "pct_start": 0.4}):
        compare(f"one_cycle {settings}",
                lambda o: lr_scheduler.OneCycleLR(o, 0.1, 20, **settings),
                lambda s: one_cycle(s, 19, settings.get("pct_start", 0.3),
                                    shape="linear" if "anneal_strategy" in settings
                                    else "cosine",
                                    three_phases="three_phase" in settings))
    compare("sequence", lambda o: lr_scheduler.SequentialLR(
        o, [lr_scheduler.LinearLR(o, 0.1, total_iters=5),
            lr_scheduler.CosineAnnealingLR(o, 15)], [5]),
            lambda s: sequence(s, [lambda t: linear(t, 5, 0.1, 1),
                                   lambda t: cosine(t, 15)], [5]))
    scores = [1.0, 0.9, 0.89995, 0.8, 0.81, math.nan, 0.83, 0.84, 0.85, 0.5] + [0.5] * 6
    for maximize in (False, True):
        for mode in ("rel", "abs"):
            for negated in (1, -1):
                optimizer = make()
                theirs = lr_scheduler.ReduceLROnPlateau(
                    optimizer, "max" if maximize else "min", 0.5, 1, 0.02, mode, 2, 0.02)
                mine = Plateau(0.5, 1, 0.02, mode == "abs", 2, 0.2, maximize, 0.1)
                for score in scores:
                    theirs.step(negated * score)
                    factor = mine.note(negated * score)
                    rate = optimizer.param_groups[0]["lr"]
                    assert abs(rate - 0.1 * factor) < 1e-15, (maximize, mode, score)
    print("plateau: equal")


if __name__ == "__main__":
    compare_with_torch()
