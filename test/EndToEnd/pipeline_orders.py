"""Makes orders of pipelines for files, with a row of actions per worker: one_f_one_b, and
random orders. An action is a stage, a letter, and the number of a micro-batch; the letters
are F (forward), B (whole backward), I and W (backward in halves, for inputs and weights),
and R (recompute). Needs only Python's standard library."""

# The orders that hftac knows by name, and the number of parts per stage that they need.
CHUNKS_OF_ORDERS = {"all_forwards_first": 1, "one_f_one_b": 1, "interleaved": 2,
                    "zero_bubble": 1, "v_shape": 2}


def write_rows(rows):
    return "".join(",".join(row) + "\n" for row in rows)


def make_one_f_one_b(stages, micro_batches):
    """Makes the order of PipeDream's 1F1B schedule: S - s forwards in stage s of S, then
    backwards and forwards in turn."""
    rows = []
    for stage in range(stages):
        ahead = min(stages - stage, micro_batches)
        row = [f"{stage}F{number}" for number in range(ahead)]
        for number in range(micro_batches):
            row.append(f"{stage}B{number}")
            if number + ahead < micro_batches:
                row.append(f"{stage}F{number + ahead}")
        rows.append(row)
    return rows


class RandomOrder:
    """A random order, which is made by drawing the next action from those that are
    possible. Each worker has `chunks` stages; if `is_v`, these go through the workers forth
    and back, else in a loop. `random` is the generator."""

    def __init__(self, random, stages, micro_batches, chunks=1, is_v=False):
        self.random = random
        self.stages, self.micro_batches = stages, micro_batches
        self.workers = stages // chunks
        self.is_v = is_v
        self.limits = [random.randint(1, micro_batches) * chunks
                       for _ in range(self.workers)]
        # The share of backwards that are divided into halves.
        self.halves = random.choice((0, 1, 1, 0.5))
        self.weights = {kind: random.uniform(0.05, 1) for kind in "FBW"}
        self.done = {kind: [0] * stages for kind in "FBW"}
        self.in_flight = [0] * self.workers
        self.rows = [[] for _ in range(self.workers)]

    def get_worker(self, stage):
        if self.is_v and stage >= self.workers:
            return 2 * self.workers - 1 - stage
        return stage % self.workers

    def find_ready(self):
        """Yields, for each stage, the next forward, backward and gradient of weights that
        its inputs and the limit of micro-batches in flight permit."""
        forward, backward, weight = (self.done[kind] for kind in "FBW")
        for stage in range(self.stages):
            worker = self.get_worker(stage)
            before = self.micro_batches if stage == 0 else forward[stage - 1]
            if forward[stage] < before and self.in_flight[worker] < self.limits[worker]:
                yield "F", stage
            behind = (forward[stage] if stage == self.stages - 1
                      else min(forward[stage], backward[stage + 1]))
            if backward[stage] < behind:
                yield "B", stage
            if weight[stage] < backward[stage]:
                yield "W", stage

    def do(self, kind, stage):
        worker, number = self.get_worker(stage), self.done[kind][stage]
        self.done[kind][stage] += 1
        letter = kind
        if kind == "B":
            if (self.done["W"][stage] == number
                    and self.random.random() >= self.halves):
                self.done["W"][stage] += 1
                self.in_flight[worker] -= 1
            else:
                letter = "I"
        self.in_flight[worker] += {"F": 1, "B": 0, "W": -1}[kind]
        self.rows[worker].append(f"{stage}{letter}{number}")

    def make(self):
        """Returns the rows, or None if the limits of micro-batches in flight lead to a
        deadlock."""
        while ready := list(self.find_ready()):
            weights = [self.weights[kind] for kind, _ in ready]
            self.do(*self.random.choices(ready, weights)[0])
        return self.rows if min(self.done["W"]) == self.micro_batches else None

    def recompute(self, stage):
        """Adds recomputations of all micro-batches of a stage, some of them earlier than
        necessary."""
        row, least = self.rows[self.get_worker(stage)], 0
        for number in range(self.micro_batches):
            last = next(index for index, action in enumerate(row)
                        if action in (f"{stage}B{number}", f"{stage}I{number}"))
            least = max(least, row.index(f"{stage}F{number}") + 1)
            least = self.random.randint(least, last)
            row.insert(least, f"{stage}R{number}")
            least += 1


def make_random_order(random, *shape):
    while not (order := RandomOrder(random, *shape)).make():
        pass
    for stage in range(order.stages):
        if random.random() < 0.2:
            order.recompute(stage)
    return order.rows
