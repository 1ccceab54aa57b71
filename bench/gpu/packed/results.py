"""The results of running a pack (bench/gpu/pack): a file with a line of JSON for each item,
and tables of them. Needs only Python's standard library."""

import json
import math

PASSED, FAILED, SKIPPED, MEASURED = "passed", "failed", "skipped", "measured"
OURS = "ours"


class Results:
    """The lines of a file, to which each new line is appended at once. An item's key is
    (section, name). A later line with the same key replaces an earlier one, and any
    result in a section replaces the section's skipped lines."""

    def __init__(self, path):
        self.path, self.lines = path, {}
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    self.keep(json.loads(line))
                except ValueError:
                    print(f"{path}: passed over a line that isn't whole")

    def keep(self, line):
        if line["status"] != SKIPPED:
            for skipped in self.of(line["section"], SKIPPED):
                del self.lines[skipped["section"], skipped["item"]]
        self.lines[line["section"], line["item"]] = line

    def add(self, section, item, status, **more):
        line = {"section": section, "item": item, "status": status, **more}
        self.keep(line)
        with self.path.open("a") as file:
            file.write(json.dumps(line) + "\n")
        what = more.get("why") or more.get("found") or ""
        if "milliseconds" in more:
            what = f"{more['milliseconds']:.3f} ms a step"
        print(f"{section} {item}: {status}{': ' if what else ''}{what}", flush=True)

    def has(self, section, item, retry):
        """Returns whether an item has a result and needn't run again. Skipped items run
        again, failed ones only if `retry` is true."""
        status = self.lines.get((section, item), {}).get("status")
        return status in (PASSED, MEASURED) or (status == FAILED and not retry)

    def of(self, section, *status):
        """Returns a section's lines, all or only those with one of the given statuses."""
        return [line for line in self.lines.values() if line["section"] == section
                and (not status or line["status"] in status)]


def geometric_mean(numbers):
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def group_times(lines):
    """Returns a map from (GPU, network, copies, precision) to {way: milliseconds per
    step}."""
    groups = {}
    for line in lines:
        key = line["gpu"], line["network"], line["copies"], line["precision"]
        groups.setdefault(key, {})[line["way"]] = line["milliseconds"]
    return groups


def best_peer(times):
    """Returns (milliseconds, way) of the fastest way but ours, or None without one."""
    return min(((time, way) for way, time in times.items() if way != OURS), default=None)


def table(rows):
    """Formats rows as lines of columns, the first two aligned to the left."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        yield "  ".join(cell.ljust(width) if i < 2 else cell.rjust(width)
                        for i, (cell, width) in enumerate(zip(row, widths))).rstrip()


def times_table(groups, ways):
    """Returns the table's rows for the groups of one GPU, and a map from (precision,
    copies) to the ratios of the fastest peer's time to ours."""
    rows = [["network", "precision", "copies", OURS, *ways, "ours beside the best"]]
    ratios = {}
    for (network, copies, precision), times in groups.items():
        cells = [f"{times[way]:.3f}" if way in times else "-" for way in (OURS, *ways)]
        best, told = best_peer(times), "-"
        if best and OURS in times:
            ratio = best[0] / times[OURS]
            told = f"{ratio:.2f}x ({best[1]})"
            ratios.setdefault((precision, copies), []).append(ratio)
        rows.append([network, precision, str(copies), *cells, told])
    return rows, ratios


def report_times(lines, ways):
    every = group_times(lines)
    for gpu in dict.fromkeys(key[0] for key in every):
        groups = {key[1:]: times for key, times in every.items() if key[0] == gpu}
        yield f"Milliseconds a step of all copies, {gpu}:"
        rows, ratios = times_table(groups, ways)
        yield from table(rows)
        for (precision, copies), found in sorted(ratios.items()):
            yield (f"geometric mean of {len(found)} networks, {precision}, {copies} "
                   f"copies: {geometric_mean(found):.2f}x the fastest peer's speed")
        if ratios:
            found = [ratio for part in ratios.values() for ratio in part]
            yield (f"geometric mean of all {len(found)}: {geometric_mean(found):.2f}x "
                   "the fastest peer's speed")


def report_machine(results):
    for line in results.of("machine", MEASURED):
        yield f"The machine: {line['found']}"


def report(results, ways):
    """Returns the lines of all tables."""
    for section in ("truth", "sanitizer"):
        done = results.of(section)
        counts = [f"{len(results.of(section, status))} {status}"
                  for status in (PASSED, FAILED, SKIPPED)]
        if done:
            yield f"{section}: {', '.join(counts)}"
    yield from report_machine(results)
    lines = results.of("times", MEASURED)
    if lines:
        yield from report_times(lines, ways)
    for status in (FAILED, SKIPPED):
        for line in results.lines.values():
            if line["status"] == status:
                yield f"{status}: {line['section']} {line['item']}: {line['why']}"


def has_failed(results):
    """Returns whether an item has failed. Times that couldn't be measured are no
    failure."""
    return bool(results.of("truth", FAILED) or results.of("sanitizer", FAILED))
