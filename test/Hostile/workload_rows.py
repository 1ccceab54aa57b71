"""Rows of `hftac --simulate` with wrong workloads: several models on several devices."""

import json

from row import Row

UNIT = {"kind": "fl", "shard": 0, "seconds": 1, "bytes_in": 4, "bytes_out": 4}
GOOD = {"devices": 2, "read_bytes_per_second": 1e9, "write_bytes_per_second": 1e9,
        "double_buffer": True,
        "models": [{"name": name, "batches": 2, "units": [UNIT]} for name in "ab"]}


def simulating(name, workload, *texts, code=1, options=(), place="w.json: error: "):
    """Makes a row of `hftac --simulate` with a workload: a text, bytes, an object, or None
    for no file."""
    text = workload if isinstance(workload, (str, bytes)) else json.dumps(workload)
    files = {} if workload is None else {"w.json": text}
    return Row(name, files, ["hftac", "--simulate=w.json", *options], (code,),
               (place, *texts))


def change(path, value):
    """Returns the workload GOOD with another value at a path of keys, or without this entry
    if the value is None."""
    workload = json.loads(json.dumps(GOOD))
    inner = workload
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    if value is None:
        del inner[path[-1]]
    return workload


def make_file_rows():
    tell = {"place": "hftac: error: "}
    yield simulating("a workload that isn't there", None, "'w.json'", **tell)
    yield simulating("a workload of nothing", "", "EOF")
    yield simulating("a workload of zeros", bytes(4096), "JSON")
    yield simulating("a workload of random bytes", bytes(range(255, 0, -1)) * 16)
    yield simulating("a workload that ends early", json.dumps(GOOD)[:-3])
    yield simulating("a workload that is a list", "[]", "expected an object")
    yield simulating("a workload as deep as it is long", "[" * 100000, "too deep")
    yield Row("a workload that is a folder", {"w.json": None},
              ["hftac", "--simulate=w.json"], (1,),
              ("hftac: error: ", "'w.json'", "regular file"))


def make_field_rows():
    """Makes rows of workloads with a wrong value in one field."""
    unit = ("models", 1, "units", 0)
    for path, value, *texts in (
            (("devices",), 0, "from 1 to 256, got 0"),
            (("devices",), 2**62, "from 1 to 256"),
            (("devices",), "2", "a whole number", 'got "2"'),
            (("devices",), None, "missing"),
            (("read_bytes_per_second",), 0, "a number from 1"),
            (("read_bytes_per_second",), -1e9, "a number from 1"),
            (("write_bytes_per_second",), 1e300, "to 1e+15"),
            (("write_bytes_per_second",), [1], "a number from 1"),
            (("double_buffer",), 1, "true or false"),
            (("models",), [], "isn't empty"), (("models",), None, "missing"),
            (("models",), {}, "an array"),
            (("models",), [GOOD["models"][0]] * 257, "at most 256, got 257"),
            (("models", 1), 3, "expected an object"),
            (("models", 1, "name"), "a", "second model 'a'"),
            (("models", 1, "name"), 3, "a text"),
            (("models", 1, "batches"), 0, "from 1 to 131072"),
            (("models", 1, "batches"), 2**63, "from 1 to 131072"),
            (("models", 1, "batches"), 131072, "131072 units in all"),
            (("models", 1, "units"), [], "isn't empty"),
            (("models", 1, "lr"), 0.1, "unknown field"),
            ((*unit, "kind"), "loss", '"f", "fl" or "b"'),
            ((*unit, "kind"), 0, '"f", "fl" or "b"'),
            ((*unit, "shard"), 1, "below that of units, 1, got 1"),
            ((*unit, "shard"), -1, "a whole number from 0"),
            ((*unit, "seconds"), -0.5, "from 0 to 4e+06, got -0.5"),
            ((*unit, "seconds"), 1e300, "from 0 to 4e+06"),
            ((*unit, "bytes_in"), 1e30, "a whole number from 0"),
            ((*unit, "bytes_in"), 0.5, "a whole number from 0"),
            ((*unit, "bytes_out"), -4, "a whole number from 0"),
            ((*unit, "shard_bytes"), 5, "from 0 to 4, got 5"),
            ((*unit, "Seconds"), 1, "unknown field")):
        key = "".join(f"[{part}]" if isinstance(part, int) else f".{part}"
                      for part in path)[1:]
        # This error concerns several fields, so it names the object that contains them.
        if value == 131072:
            key = "models[1].units"
        yield simulating(f"a workload with {key} {str(value)[:20]}",
                         change(path, value), key + ": ", *texts)
    for word in ("NaN", "Infinity", "-Infinity", "1e999"):
        yield simulating(f"a workload whose seconds are {word}",
                         json.dumps(GOOD).replace('"seconds": 1', f'"seconds": {word}'))
    yield simulating("a workload that takes longer than there is time for",
                     change(unit, {**UNIT, "seconds": 3e6}), "models: ",
                     "4e+06 seconds")
    yield simulating("a workload whose transfers take that long",
                     change(unit, {**UNIT, "bytes_in": 10**15, "bytes_out": 10**15}) |
                     {"read_bytes_per_second": 1}, "models: ", "4e+06 seconds")


def make_option_rows():
    tell = {"code": 2, "place": "hftac: error: "}
    for option in ("--plan", "--emit=fused", "-o=made", "--batch=2", "--cuts=all",
                   "--no-fuse", "--cpu=native", "--plan-pipeline", "--costs=c.json"):
        yield simulating(f"a workload and {option}", GOOD, "exclude each other",
                         option.split("=")[0], options=[option], **tell)
    yield simulating("a workload and a job", GOOD, "'job.hfta'",
                     options=["job.hfta"], **tell)
    yield simulating("a drawing in its workload's place", GOOD, "would replace",
                     "workload", options=["--timeline=w.json"], **tell)
    yield simulating("a drawing and JSON in one place", GOOD, "--timeline",
                     options=["--timeline=-", "--json"], **tell)
    yield simulating("a drawing of models that can't be written", GOOD, "cannot write",
                     options=["--timeline=none/t.svg"],
                     **{**tell, "code": 4})
    yield Row("JSON of nothing", {}, ["hftac", "--json", "job.hfta"], (2,),
              ("hftac: error: ", "'--json'", "--simulate"))


def make_rows(_program):
    yield from make_file_rows()
    yield from make_field_rows()
    yield from make_option_rows()
