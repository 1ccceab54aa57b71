#!/usr/bin/env python3
"""Losses and their gradients with respect to scores, computed with Python's floats. As a
script, with a Python that has torch, compares them with PyTorch's losses and gradients."""

import math


def find_log_softmax(scores):
    most = max(scores)
    total = most + math.log(sum(math.exp(score - most) for score in scores))
    return [score - total for score in scores]


def cross_entropy(scores, label, weights=None, ignored=-100, smoothing=0.0):
    """Returns an element's loss, its gradient with respect to the scores, and its
    part of the mean's divisor. `label` is a class number, or probabilities."""
    classes = range(len(scores))
    weights = weights or [1.0] * len(scores)
    if isinstance(label, int):
        if label == ignored:
            return 0.0, [0.0 for _ in classes], 0.0
        divisor = weights[label]
        label = [float(c == label) for c in classes]
    else:
        divisor = 1.0
    wanted = [weights[c] * ((1 - smoothing) * label[c] + smoothing / len(scores))
              for c in classes]
    logs = find_log_softmax(scores)
    slopes = [math.exp(logs[c]) * sum(wanted) - wanted[c] for c in classes]
    return -sum(w * log for w, log in zip(wanted, logs)), slopes, divisor


def binary_cross_entropy(scores, labels, weights):
    """Returns the sum of the losses of a sample's logits, its gradient with respect to
    them, and their number. `weights` is PyTorch's pos_weight."""
    loss, slopes = 0.0, []
    for x, t, weight in zip(scores, labels, weights):
        factor = 1 - t + weight * t
        loss += (1 - t) * x + factor * (max(-x, 0) + math.log1p(math.exp(-abs(x))))
        slopes.append(1 - t - factor / (1 + math.exp(x)))
    return loss, slopes, len(scores)


def l1(scores, labels):
    """Returns the sum of absolute differences, its gradient, and their number."""
    differences = [x - t for x, t in zip(scores, labels)]
    return (sum(map(abs, differences)), [(d > 0) - (d < 0) for d in differences],
            len(scores))


def huber(scores, labels, delta):
    """Returns the sum of Huber's losses, its gradient, and their number."""
    differences = [x - t for x, t in zip(scores, labels)]
    losses = [d * d / 2 if abs(d) <= delta else delta * (abs(d) - delta / 2)
              for d in differences]
    return sum(losses), [min(max(d, -delta), delta) for d in differences], len(scores)


def find_mean(elements):
    """Returns the mean loss of elements, given as results of the functions above, and its
    gradients, which are zero if the divisor is 0."""
    divisor = sum(element[2] for element in elements)
    total = sum(element[0] for element in elements)
    slopes = [[slope / divisor if divisor else 0.0 for slope in element[1]]
              for element in elements]
    if divisor:
        return total / divisor, slopes
    return math.inf if total else math.nan, slopes


def compare_with_torch():
    import torch
    from torch.nn import functional
    torch.manual_seed(1)
    scores = torch.randn(16, 5, dtype=torch.float64, requires_grad=True)
    weights = torch.tensor([0.5, 2, 0, 1.25, 3], dtype=torch.float64)
    classes = torch.randint(5, (16,))
    binary = (torch.rand(16, 5, dtype=torch.float64) * 1.5).clamp(max=1)

    def compare(what, theirs, elements):
        loss, slopes = find_mean(elements)
        scores.grad = None
        theirs.backward()
        difference = (scores.grad - torch.tensor(slopes, dtype=torch.float64)).abs().max()
        good = abs(loss - theirs.item()) < 1e-12 and difference < 1e-12
        print(f"{'equal' if good else 'DIFFERENT'}: {what}")
        return good

    good = True
    for smoothing in (0.0, 0.25):
        for of in (None, weights):
            name = f"smoothing {smoothing}, {'weights' if of is not None else 'no weights'}"
            listed = None if of is None else of.tolist()
            for ignored in (-100, 1):
                good &= compare(
                    f"classes, {name}, ignored {ignored}",
                    functional.cross_entropy(scores, classes, of, ignore_index=ignored,
                                             label_smoothing=smoothing),
                    [cross_entropy(row, int(label), listed, ignored, smoothing)
                     for row, label in zip(scores.tolist(), classes)])
            probabilities = torch.softmax(torch.randn(16, 5, dtype=torch.float64), 1)
            good &= compare(
                f"probabilities, {name}",
                functional.cross_entropy(scores, probabilities, of,
                                         label_smoothing=smoothing),
                [cross_entropy(row, label, listed, smoothing=smoothing)
                 for row, label in zip(scores.tolist(), probabilities.tolist())])
    good &= compare(
        "positive weights",
        functional.binary_cross_entropy_with_logits(scores, binary, pos_weight=weights),
        [binary_cross_entropy(row, labels, weights.tolist())
         for row, labels in zip(scores.tolist(), binary.tolist())])
    rows = list(zip(scores.tolist(), binary.tolist()))
    good &= compare("l1", functional.l1_loss(scores, binary), [l1(*row) for row in rows])
    for delta in (0.25, 1.0, 3.0):
        good &= compare(f"huber, delta {delta}",
                        functional.huber_loss(scores, binary, delta=delta),
                        [huber(*row, delta) for row in rows])
    return good


if __name__ == "__main__":
    raise SystemExit(not compare_with_torch())
