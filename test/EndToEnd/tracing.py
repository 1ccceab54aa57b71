"""Reads the traces that programs write, for the tests of this folder."""

import collections
import json

from harness import expect_equal, fail

# The resolution of times in a trace, in microseconds.
RESOLUTION = 0.001


def read_trace(path):
    """Returns the parsed trace, and a dictionary from each process to its rows, which maps
    each row's name to its events in order of time."""
    trace = json.loads(path.read_text())
    names, rows = {}, collections.defaultdict(list)
    for event in trace["traceEvents"]:
        row = (event["pid"], event["tid"])
        if event["ph"] == "X":
            rows[row].append(event)
        elif event["name"] == "thread_name":
            names[row] = event["args"]["name"]
    expect_equal(set(rows), set(names), "named rows")
    processes = collections.defaultdict(dict)
    for row, events in rows.items():
        of_process = processes[row[0]]
        if names[row] in of_process:
            fail(f"two rows are called {names[row]}")
        of_process[names[row]] = sorted(events, key=lambda event: event["ts"])
    return trace, processes


def end(event):
    return event["ts"] + event["dur"]


def expect_order(rows):
    for name, events in rows.items():
        if events and events[0]["ts"] < 0:
            fail(f"row '{name}' begins before the trace: {events[0]}")
        for event, after in zip(events, events[1:]):
            if end(event) > after["ts"] + RESOLUTION:
                fail(f"row '{name}': {event} and {after} overlap")
