#!/usr/bin/env python3
"""Losses and their gradients with respect to scores, computed with Python's floats. As a
script, with a Python that has torch, compares them with PyTorch's losses and gradients."""

import itertools
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


def smooth_l1(scores, labels, beta):
    """Returns the sum of PyTorch's smooth_l1_loss, its gradient, and their number."""
    differences = [x - t for x, t in zip(scores, labels)]
    losses = [d * d / (2 * beta) if abs(d) < beta else abs(d) - beta / 2
              for d in differences]
    return (sum(losses), [d / beta if abs(d) < beta else (d > 0) - (d < 0)
                          for d in differences], len(scores))


def kl(scores, labels, of_logs=False):
    """Returns the divergence of probabilities, or of their logarithms, from the ones whose
    logarithms are the scores; its gradient, and 1."""
    labels = [math.exp(t) for t in labels] if of_logs else labels
    return (sum(t * (math.log(t) - x) for x, t in zip(scores, labels) if t),
            [-t for t in labels], 1)


def poisson(scores, labels):
    return (sum(math.exp(x) - t * x for x, t in zip(scores, labels)),
            [math.exp(x) - t for x, t in zip(scores, labels)], len(scores))


def gaussian(scores, labels, least=1e-6):
    """The second half of the scores are variances."""
    half = len(scores) // 2
    variances = [max(v, least) for v in scores[half:]]
    differences = [x - t for x, t in zip(scores, labels)]
    return (sum((math.log(v) + d * d / v) / 2 for d, v in zip(differences, variances)),
            [d / v for d, v in zip(differences, variances)]
            + [(1 / v - (d / v) ** 2) / 2 for d, v in zip(differences, variances)], half)


def focal(scores, labels, alpha=0.25, gamma=2):
    total, slopes = 0.0, []
    for x, t in zip(scores, labels):
        p = 1 / (1 + math.exp(-x))
        miss, share = p * (1 - t) + (1 - p) * t, alpha * t + (1 - alpha) * (1 - t)
        entropy = (1 - t) * x + max(-x, 0) + math.log1p(math.exp(-abs(x)))
        total += share * miss ** gamma * entropy
        slope = gamma * miss ** (gamma - 1) * (1 - 2 * t) * p * (1 - p) if gamma else 0.0
        slopes.append(share * (slope * entropy + miss ** gamma * (p - t)))
    return total, slopes, len(scores)


def hinge(scores, labels, margin=1):
    rest = [margin - t * x for x, t in zip(scores, labels)]
    return (sum(max(r, 0) for r in rest),
            [-t if r >= 0 else 0.0 for r, t in zip(rest, labels)], len(scores))


def hinge_embedding(scores, labels, margin=1):
    return (sum(x if t > 0 else max(0, margin - x) for x, t in zip(scores, labels)),
            [1.0 if t > 0 else -1.0 if margin >= x else 0.0
             for x, t in zip(scores, labels)], len(scores))


def multi_margin(scores, label, power=1, margin=1, weights=None, ignored=-100):
    if label == ignored:
        return 0.0, [0.0 for _ in scores], 0.0
    factor = (weights or [1.0] * len(scores))[label] / len(scores)
    above = [max(0, margin - scores[label] + x) * (c != label)
             for c, x in enumerate(scores)]
    slopes = [factor * power * z ** (power - 1) if z > 0 else 0.0 for z in above]
    slopes[label] = -sum(slopes)
    return factor * sum(z ** power for z in above), slopes, 1


def find_distance(a, b, added=1e-6):
    """Returns the distance of two vectors, and its gradient for the first one."""
    differences = [x - y + added for x, y in zip(a, b)]
    length = math.sqrt(sum(d * d for d in differences))
    return length, [d / length if length else 0.0 for d in differences]


def triplet(scores, _label, margin=1, swap=False):
    """The scores are three vectors: anchor, positive, negative."""
    third = len(scores) // 3
    anchor, positive, negative = (scores[third * i:third * i + third] for i in range(3))
    near, of_near = find_distance(anchor, positive)
    far, of_far = find_distance(anchor, negative)
    none = [0.0] * third
    slopes = [of_near, [-s for s in of_near], none]
    other, of_other = find_distance(positive, negative)
    parts = [of_far, none, [-s for s in of_far]]
    if swap and other < far:
        far, parts = other, [none, of_other, [-s for s in of_other]]
    rest = near - far + margin
    if rest < 0:
        return 0.0, none * 3, 1
    return rest, [x - y for own, part in zip(slopes, parts) for x, y in zip(own, part)], 1


def contrastive(scores, alike, margin=1):
    """The scores are two vectors."""
    half = len(scores) // 2
    distance, slopes = find_distance(scores[:half], scores[half:], 0)
    rest = max(0, margin - distance)
    slope = alike * distance - (1 - alike) * rest
    return ((alike * distance ** 2 + (1 - alike) * rest ** 2) / 2,
            [slope * s for s in slopes] + [-slope * s for s in slopes], 1)


def info_nce(rows, temperature):
    """Returns the loss of a batch, whose rows are two vectors each, and its gradient."""
    half, count = len(rows[0]) // 2, len(rows)

    def normalize(vector):
        length = math.sqrt(sum(x * x for x in vector))
        return length, [x / length for x in vector]

    vectors = [[normalize(row[:half]) for row in rows], [normalize(row[half:]) for row in rows]]
    scores = [[sum(x * y for x, y in zip(a, b)) / temperature for _, b in vectors[1]]
              for _, a in vectors[0]]
    ways = [[find_log_softmax(row) for row in scores],
            [find_log_softmax(column) for column in zip(*scores)]]
    loss = -sum(way[i][i] for way in ways for i in range(count)) / (2 * count)
    slopes = [[(math.exp(ways[0][i][j]) + math.exp(ways[1][j][i]) - 2 * (i == j))
               / (2 * count * temperature) for j in range(count)] for i in range(count)]
    found = []
    for i in range(count):
        found.append([])
        for own, other, of in ((0, 1, [slopes[i][j] for j in range(count)]),
                               (1, 0, [slopes[j][i] for j in range(count)])):
            length, unit = vectors[own][i]
            sums = [sum(s * vectors[other][j][1][k] for j, s in enumerate(of))
                    for k in range(half)]
            along = sum(x * y for x, y in zip(sums, unit))
            found[-1] += [(s - along * u) / length for s, u in zip(sums, unit)]
    return loss, found


def join(alignment, blank):
    """Returns the label of an alignment: equal neighbours are one, and blanks none."""
    return [own for own, _ in itertools.groupby(alignment) if own != blank]


def ctc(scores, label, blank=0, steps=None, zero_infinity=False):
    """Returns connectionist temporal classification's loss by the label's length, its
    gradient with respect to the rows of scores, and 1, from all alignments one by one. Of
    the rows, the first ones count, by default all."""
    classes, own = range(len(scores[0])), scores[:steps]
    logs = [find_log_softmax(row) for row in own]
    total, shares = 0.0, [[0.0 for _ in row] for row in scores]
    for alignment in itertools.product(classes, repeat=len(own)):
        if join(alignment, blank) != list(label):
            continue
        share = math.exp(sum(row[one] for row, one in zip(logs, alignment)))
        total += share
        for step, one in enumerate(alignment):
            shares[step][one] += share
    length = max(len(label), 1)
    if not total:
        return ((0.0, [0.0 for row in scores for _ in row], 1) if zero_infinity
                else (math.inf, [math.nan for row in scores for _ in row], 1))
    slopes = [[0.0 for _ in row] for row in scores]
    for step, row in enumerate(logs):
        for one in classes:
            slopes[step][one] = (math.exp(row[one]) - shares[step][one] / total) / length
    return -math.log(total) / length, sum(slopes, []), 1


def weigh(element, weight):
    """Returns an element's loss with a weight: the mean divides by the sum of weights."""
    loss, slopes, divisor = element
    return weight * loss, [weight * slope for slope in slopes], weight * divisor


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
    good &= compare_ctc_with_torch(scores)
    return compare_others_with_torch(compare, scores, binary, classes, weights) and good


def compare_ctc_with_torch(scores):
    import torch
    from torch.nn import functional
    labels, lengths, good = [[1, 2, 2], [3, 0, 0], [4, 4, 4]], [3, 1, 2], True
    for zero_infinity in (False, True):
        # With `zero_infinity`, the last label doesn't fit into its steps.
        steps = [5, 4, 2 if zero_infinity else 3]
        rows = scores[:15].reshape(3, 5, 5)
        scores.grad = None
        theirs = functional.ctc_loss(
            rows.log_softmax(-1).transpose(0, 1), torch.tensor(labels), torch.tensor(steps),
            torch.tensor(lengths), zero_infinity=zero_infinity)
        theirs.backward()
        loss, slopes = find_mean([
            ctc(row, label[:length], 0, own, zero_infinity)
            for row, label, length, own in zip(rows.tolist(), labels, lengths, steps)])
        difference = (scores.grad[:15].flatten()
                      - torch.tensor(sum(slopes, []), dtype=torch.float64)).abs().max()
        same = abs(loss - theirs.item()) < 1e-12 and difference < 1e-12
        print(f"{'equal' if same else 'DIFFERENT'}: ctc, zero_infinity {zero_infinity}")
        good &= same
    return good


def compare_others_with_torch(compare, scores, binary, classes, weights):
    import torch
    from torch.nn import functional
    signs = torch.where(binary > 0.5, 1.0, -1.0).to(scores)
    shares = torch.softmax(scores.detach().flip(1), 1)
    shares = torch.where(shares > 0.1, shares, 0)
    listed = weights.tolist()

    def each(rule, labels, rows=scores, **options):
        return [rule(row, label, **options)
                for row, label in zip(rows.tolist(), labels.tolist())]

    cases = [
        ("kl", functional.kl_div(scores, shares, reduction="batchmean"), each(kl, shares)),
        ("kl of logarithms",
         functional.kl_div(scores, shares.exp(), reduction="batchmean", log_target=True),
         each(kl, shares.exp(), of_logs=True)),
        ("poisson", functional.poisson_nll_loss(scores, binary), each(poisson, binary)),
        ("hinge_embedding", functional.hinge_embedding_loss(scores, signs, margin=0.5),
         each(hinge_embedding, signs, margin=0.5)),
        ("hinge", (1 - signs * scores).clamp(min=0).mean(), each(hinge, signs))]
    for beta in (0.5, 2.0):
        cases.append((f"smooth_l1, beta {beta}",
                      functional.smooth_l1_loss(scores, binary, beta=beta),
                      each(smooth_l1, binary, beta=beta)))
    for power, of in ((1, None), (2, weights)):
        cases.append((f"multi_margin, power {power}", functional.multi_margin_loss(
            scores, classes, p=power, margin=0.5, weight=of), each(
                multi_margin, classes, power=power, margin=0.5,
                weights=listed if of is not None else None)))
    hits = torch.sigmoid(scores)
    hits = hits * binary + (1 - hits) * (1 - binary)
    shares = 0.25 * binary + 0.75 * (1 - binary)
    cases.append(("focal", (shares * (1 - hits) ** 1.5 * (
        functional.binary_cross_entropy_with_logits(scores, binary, reduction="none")
        )).mean(), each(focal, binary, gamma=1.5)))
    parts = torch.cat([scores, scores.abs() + 0.25], 1)
    loss = functional.gaussian_nll_loss(scores, binary, scores.abs() + 0.25)
    of_parts = each(gaussian, binary, parts)
    signed = torch.sign(scores).tolist()
    cases.append(("gaussian", loss, [
        (own, [x + y * s for x, y, s in zip(slopes[:5], slopes[5:], row)], n)
        for (own, slopes, n), row in zip(of_parts, signed)]))
    others = torch.cat([scores.detach().flip(0), scores.detach().flip(1)], 1)
    for swap in (False, True):
        rows = torch.cat([scores, others], 1)
        cases.append((f"triplet, swap {swap}", functional.triplet_margin_loss(
            scores, others[:, :5], others[:, 5:], swap=swap), [
                (own, slopes[:5], n)
                for own, slopes, n in each(triplet, classes, rows, swap=swap)]))
    return all([compare(*case) for case in cases])


if __name__ == "__main__":
    raise SystemExit(not compare_with_torch())
