#!/usr/bin/env python3
"""Metrics of labels and scores, computed with Python's floats by their definitions: by
pairs and thresholds, not by sorting. As a script, with a Python that has scikit-learn,
compares them with its metrics, on random numbers and on edge cases.

Labels are class numbers, of rows of scores; or rows of 0 and 1, one for each score of a
row. `weights` has a number for each element, 0 for one that doesn't count."""

import math
import sys


def softmax(scores):
    most = max(scores)
    powers = [math.exp(score - most) for score in scores]
    return [power / sum(powers) for power in powers]


def guess(scores):
    """Returns the first largest class, or 1 for each score above 0."""
    return max(range(len(scores)), key=lambda c: (scores[c], -c))


def count(labels, scores, weights):
    """Returns, for each class, the weights of right guesses, guesses, and labels."""
    classes = range(len(scores[0]))
    if isinstance(labels[0], int):
        pairs = [[(int(label == c), int(guess(row) == c), weight) for c in classes]
                 for label, row, weight in zip(labels, scores, weights)]
    else:
        pairs = [[(int(label > 0.5), int(score > 0), weight)
                  for label, score, weight in zip(*rows)]
                 for rows in zip(labels, scores, weights)]
    return [(sum(w * t * g for t, g, w in of), sum(w * g for _, g, w in of),
             sum(w * t for t, _, w in of)) for of in zip(*pairs)]


def rate(kind, right, guesses, labels):
    part, whole = {"precision": (right, guesses), "recall": (right, labels),
                   "f1": (2 * right, guesses + labels)}[kind]
    return part / whole if whole else 0.0


def find_rate(kind, average, labels, scores, weights):
    counts = count(labels, scores, weights)
    if average == "micro":
        return rate(kind, *map(sum, zip(*counts)))
    if average == "weighted":
        return (sum(of[2] * rate(kind, *of) for of in counts)
                / (sum(of[2] for of in counts) or 1))
    seen = [of for of in counts if not isinstance(labels[0], int) or of[1] or of[2]]
    return sum(rate(kind, *of) for of in seen) / len(seen)


def find_confusion(labels, scores, weights):
    matrix = [[0] * len(scores[0]) for _ in scores[0]]
    for label, row, weight in zip(labels, scores, weights):
        if weight:
            matrix[label][guess(row)] += weight
    return matrix


def find_top(most, labels, scores, weights):
    right = 0
    for label, row, weight in zip(labels, scores, weights):
        right += weight * (label in sorted(range(len(row)),
                                           key=lambda c: (-row[c], c))[:most])
    return right / sum(weights)


def auroc(elements):
    """`elements` are (is positive, score, weight)."""
    positives = [each for each in elements if each[0]]
    negatives = [each for each in elements if not each[0]]
    if not positives or not negatives:
        return math.nan
    won = sum(a[2] * b[2] * (1 if a[1] > b[1] else 0.5 if a[1] == b[1] else 0)
              for a in positives for b in negatives)
    return won / (sum(a[2] for a in positives) * sum(b[2] for b in negatives))


def average_precision(elements):
    total = sum(weight for is_positive, _, weight in elements if is_positive)
    before = value = 0.0
    for least in sorted({score for _, score, _ in elements}, reverse=True):
        chosen = [each for each in elements if each[1] >= least]
        right = sum(weight for is_positive, _, weight in chosen if is_positive)
        if total:
            value += (right - before) / total * (right / sum(each[2] for each in chosen))
        before = right
    return value


def find_ranked(find, average, labels, scores, weights):
    """Computes a metric of ranks, `find`, of the scores' probabilities for class numbers,
    or else of the scores themselves."""
    if isinstance(labels[0], int):
        counted = [each for each in zip(labels, scores, weights) if each[2]]
        classes = [[(label == c, softmax(row)[c], weight) for label, row, weight in counted]
                   for c in range(len(scores[0]))]
    else:
        classes = [[(t[c] > 0.5, x[c], w[c])
                    for t, x, w in zip(labels, scores, weights) if w[c]]
                   for c in range(len(scores[0]))]
    if average == "micro":
        return find([each for of in classes for each in of])
    values = [(find(of), sum(w for t, _, w in of if t) if average == "weighted" else 1)
              for of in classes]
    values = [each for each in values if not math.isnan(each[0])]
    total = sum(weight for _, weight in values)
    return sum(value * weight for value, weight in values) / total if total else math.nan


def r2(average, labels, scores, weights):
    values = []
    for c in range(len(scores[0])):
        rows = [(t[c], x[c], w[c]) for t, x, w in zip(labels, scores, weights) if w[c]]
        mean = sum(w * t for t, _, w in rows) / sum(w for _, _, w in rows)
        variance = sum(w * (t - mean) ** 2 for t, _, w in rows)
        rest = sum(w * (t - x) ** 2 for t, x, w in rows)
        values.append((1 - rest / variance if variance else float(rest == 0), variance))
    total = sum(variance for _, variance in values)
    if average == "weighted" and total:
        return sum(value * variance for value, variance in values) / total
    return sum(value for value, _ in values) / len(values)


def perplexity(labels, scores, weights):
    total = sum(weight * -math.log(softmax(row)[label])
                for label, row, weight in zip(labels, scores, weights) if weight)
    return math.exp(total / sum(weights))


def compare_with_sklearn():
    import random
    import warnings

    import numpy
    from sklearn import metrics

    warnings.simplefilter("ignore")
    draw, worst = random.Random(1), {}

    def expect(name, mine, theirs):
        own, other = numpy.ravel(mine), numpy.ravel(theirs)
        gap = max(abs(a - b) if not (math.isnan(a) and math.isnan(b)) else 0
                  for a, b in zip(own, other))
        worst[name] = max(worst.get(name, 0), gap)

    for trial in range(60):
        n, classes = draw.randint(3, 40), draw.randint(2, 6)
        # Scores of few values have ties.
        scores = [[draw.randint(-4, 4) / 2 for _ in range(classes)] for _ in range(n)]
        labels = [draw.randrange(draw.choice([1, classes])) for _ in range(n)]
        ones = [[draw.randint(0, 1) * draw.choice([0, 1]) for _ in range(classes)]
                for _ in range(n)]
        values = [[draw.choice([2, draw.randint(-4, 4) / 2]) for _ in range(classes)]
                  for _ in range(n)]
        weight, guesses = [draw.choice([1, 2, 0.5]) for _ in range(n)], list(map(guess, scores))
        each = [[w] * classes for w in weight]
        shares = numpy.array([softmax(row) for row in scores])
        expect("confusion", find_confusion(labels, scores, weight), metrics.confusion_matrix(
            labels, guesses, labels=range(classes), sample_weight=weight))
        for kind, of in (("precision", metrics.precision_score),
                         ("recall", metrics.recall_score), ("f1", metrics.f1_score)):
            for average in ("macro", "micro", "weighted"):
                expect(f"{kind} {average}", find_rate(kind, average, labels, scores, weight),
                       of(labels, guesses, average=average, sample_weight=weight,
                          zero_division=0))
                expect(f"{kind} {average} of logits",
                       find_rate(kind, average, ones, scores, each),
                       of(ones, numpy.array(scores) > 0, average=average,
                          sample_weight=weight, zero_division=0))
        if max(labels) >= 2 or classes == 2:
            expect("top 2", find_top(2, labels, [[x + 1e-9 * -c for c, x in enumerate(row)]
                                                 for row in scores], weight),
                   metrics.top_k_accuracy_score(
                       labels, [[x - 1e-9 * c for c, x in enumerate(row)] for row in scores]
                       if classes > 2 else numpy.array(scores)[:, 1], k=2,
                       labels=range(classes), sample_weight=weight))
        binary = numpy.eye(classes)[labels]
        for average in ("macro", "micro", "weighted"):
            for name, t, x, mine in (("", binary, shares, (labels, scores, weight)),
                                     (" of logits", numpy.array(ones), numpy.array(scores),
                                      (ones, scores, each))):
                expect(f"average_precision {average}{name}",
                       find_ranked(average_precision, average, *mine)
                       if t.sum() or average != "weighted" else 0,
                       metrics.average_precision_score(t, x, average=average,
                                                       sample_weight=weight))
                if all(0 < column.sum() < n for column in t.T):
                    expect(f"auroc {average}{name}", find_ranked(auroc, average, *mine),
                           metrics.roc_auc_score(t, x, average=average,
                                                 sample_weight=weight))
        for average, theirs in (("macro", "uniform_average"),
                                ("weighted", "variance_weighted")):
            expect(f"r2 {average}", r2(average, values, scores, each),
                   metrics.r2_score(values, scores, multioutput=theirs,
                                    sample_weight=weight))
        expect("perplexity", math.log(perplexity(labels, scores, weight)),
               metrics.log_loss(labels, shares, labels=range(classes),
                                sample_weight=weight))
    for name, gap in worst.items():
        print(f"{name}: {gap:.1e}")
    return max(worst.values()) < 1e-9


if __name__ == "__main__":
    sys.exit(not compare_with_sklearn())
