"""Rows with wrong files and command lines of several jobs in one program."""

import data_rows
import language_rows
from row import Row

TRAIN = data_rows.JOB[data_rows.JOB.index("train sweep"):]
DATA = data_rows.JOB[data_rows.JOB.index("data made"):data_rows.JOB.index("train sweep")]

# A file of two jobs. The second one has one copy, and its own data.
JOBS = (data_rows.JOB.replace("train sweep", "train first")
        + DATA.replace("data made", "data more").replace('npy("b.npy")', 'npy("more.npy")')
        + TRAIN.replace("sweep", "other").replace("made", "more")
        .replace("[1e-3, 1e-2]", "1e-3"))

GOOD = language_rows.GOOD
SECOND = GOOD[GOOD.index("train sweep"):].replace("sweep", "other")
LONG = "x" * 5000


def hftac(name, code, *texts, options=("-o", "program"), job=GOOD + SECOND, files=()):
    """Makes a row of hftac with a job file, by default of two correct jobs."""
    return Row(name, {"job.hfta": job, "program": "an older one", **dict(files)},
               ["hftac", "job.hfta", *options], (code,), ("error: ", *texts))


def pair(name, code, *texts, options, files=()):
    """Makes a row of the compiled program `pair`, which has the two jobs JOBS."""
    return Row(f"a program of two jobs: {name}",
               {**data_rows.OLD, **data_rows.DATA, **dict(files)},
               ["pair", *options], (code,), ("pair: error: ", *texts))


def make_hftac_rows():
    yield hftac("two jobs of one name", 1, "job.hfta:18:7",
                "second train block called 'sweep'",
                job=GOOD + SECOND.replace("other", "sweep"))
    yield hftac("two jobs of one name, one of which is asked for", 1, "job.hfta:18:7",
                "second train block called 'sweep'", options=["--job=sweep", "--plan"],
                job=GOOD + SECOND.replace("other", "sweep"))
    yield hftac("a second job without an end", 1, "job.hfta:24:",
                job=GOOD + SECOND.rstrip().rstrip("}"))
    yield hftac("a second job without a name", 1, "job.hfta:18:7",
                job=GOOD + SECOND.replace("train other", "train"))
    yield hftac("a second job without data", 1, "job.hfta:18:7",
                "train block 'other' has no clause 'data'",
                job=GOOD + SECOND.replace("data      made, batch = 16", ""))
    yield hftac("what two jobs share is wrong", 1, "job.hfta:8:",
                job=(GOOD + SECOND).replace("npy(\"image", "npi(\"image"))
    yield hftac("a second job of another shape", 1, "job.hfta:21:",
                job=GOOD + SECOND.replace("net, label", "net, image"))
    yield hftac("a job that isn't in the file", 2, "'job.hfta' has no job 'nobody'",
                options=["--job=nobody", "-o", "program"])
    yield hftac("a job with a name of 5000 letters", 2, "has no job 'xxx",
                options=["--job", LONG, "-o", "program"])
    yield hftac("a job without a name", 2, "'--job' has an empty value",
                options=["--job=", "-o", "program"])
    yield hftac("a library of two jobs", 3, "a library has one job",
                options=["--emit=lib", "-o", "libprogram.a"])
    yield hftac("an object of two jobs", 2, "'--emit=obj' takes one job",
                options=["--emit=obj", "-o", "program"])
    yield hftac("an optimizer for two jobs", 2, "'--optimizer' sets a clause of one job",
                options=["--optimizer=sgd", "-o", "program"])
    more = GOOD[GOOD.index("data made"):GOOD.index("train sweep")]
    yield hftac("an output that replaces the data of the second job", 2,
                "would replace the input 'more.raw'", options=["-o", "more.raw"],
                job=GOOD + (more + SECOND).replace("made", "more")
                .replace('npy("image.npy")', 'raw("more.raw")'),
                files={"more.raw": "samples"})


def make_program_rows():
    for command in ("eval", "export", "run", "bench"):
        yield pair(f"'{command}' of no job", 2, f"'{command}' needs --job NAME",
                   "'first', 'other'", options=[command])
    yield pair("schedules of no job", 2, "'--schedule' needs --job NAME",
               options=["info", "--schedule"])
    yield pair("a job that it doesn't have", 2, "no job is called 'nobody'",
               "'first', 'other'", options=["eval", "--job", "nobody"])
    yield pair("a job with a name of 5000 letters", 2, "no job is called 'xxx",
               options=["bench", f"--job={LONG}"])
    yield pair("a job without a name", 2, "no job is called ''", options=["train", "--job="])
    yield pair("'--job' at the end", 2, "'--job' needs a value", options=["info", "--job"])
    yield pair("two jobs at once", 2, "'--job' is given twice",
               options=["train", "--job", "first", "--job", "other"])
    yield pair("a copy that only the other job has", 2, "'--copy': '1' is not",
               options=["export", "--job", "other", "--copy", "1", "-o", "x.onnx"])
    yield pair("copies of all jobs", 2, "'--only' needs --job NAME",
               options=["train", "--only", "0"])
    yield pair("a trace of all jobs", 2, "'--trace' without '--seats' needs --job NAME",
               options=["train", "--trace", "trace.json"])
    yield pair("a log in place of another job's data", 2, "would replace",
               options=["train", "--job", "first", "--log", "more.npy"],
               files={"more.npy": "samples"})
    yield pair("a log in place of another job's checkpoint", 2, "would replace",
               options=["train", "--job", "first", "--checkpoint", "c", "--log",
                        "c/other/step-00000001/copy-0000.safetensors"],
               files={"c/other/step-00000001/copy-0000.safetensors": "weights"})
    yield pair("a folder without the job's", 1, "'c/first' doesn't exist",
               options=["eval", "--job", "first", "--checkpoint", "c"],
               files={"c/other/file": ""})


def seats(name, code, *texts, options=(), files=()):
    """Makes a row of the program `pair` that trains at two seats."""
    return pair(f"at seats: {name}", code, *texts,
                options=["train", "--seats", "2", *options], files=files)


def make_seat_rows():
    for count in ("0", "-1", "257", "two", "", "1e9", "9" * 30):
        yield pair(f"'{count}' seats", 2, "option '--seats'",
                   options=["train", f"--seats={count}"])
    yield pair("'--seats' of another command", 2, "'--seats'",
               options=["eval", "--job", "first", "--seats", "2"])
    yield pair("a scheduler without seats", 2, "'--scheduler' needs --seats P",
               options=["train", "--scheduler", "lrtf"])
    yield pair("a workload without seats", 2, "'--workload' needs --seats P",
               options=["train", "--workload", "w.json"])
    yield seats("one job", 2, "leave out '--job'", options=["--job", "first"])
    yield seats("copies of all jobs", 2, "'--only' needs --job NAME", options=["--only", "0"])
    yield seats("a scheduler without a name", 2, "option '--scheduler': the value is empty",
                options=["--scheduler="])
    for name in ("LRTF", "best", LONG):
        yield seats(f"scheduler '{name[:8]}'", 2, "option '--scheduler': unknown '",
                    "expected lrtf, fifo", options=[f"--scheduler={name}"])
    yield seats("a device that runs no tasks", 2, "runs no tasks: it is for 'bench'",
                options=["--device", "paced:costs.json"])
    yield seats("too few threads", 2, "option '--threads': 1 for 2 seats",
                options=["--threads", "1"])
    yield seats("some steps of a trace", 2, "a trace has all steps",
                options=["--trace", "t.json", "--trace-steps", "3"])
    for option in ("--log", "--trace", "--workload"):
        yield seats(f"'{option}' in a folder that isn't there", 4, "/nowhere/f",
                    options=[option, "/nowhere/f"])
        yield seats(f"'{option}' in place of a job's data", 2, "would replace the input",
                    options=[option, "more.npy"], files={"more.npy": "samples"})
        yield seats(f"'{option}' in place of a job's checkpoint", 2, "would replace the input",
                    options=["--checkpoint", "c", option,
                             "c/other/step-00000001/copy-0000.safetensors"],
                    files={"c/other/step-00000001/copy-0000.safetensors": "weights"})
    yield seats("a log and a trace in one file", 2, "would replace the log",
                options=["--log", "one", "--trace", "./one"])
    yield seats("a trace and a workload in one file", 2, "would replace the trace",
                options=["--trace", "one", "--workload", "one"], files={"one": "an older one"})


def make_info_rows():
    for count in ("0", "two", "257"):
        yield pair(f"info: '{count}' seats", 2, "option '--seats'",
                   options=["info", "--seats", count])
    for option in (["--seats", "2"], ["--data", "d"]):
        yield pair(f"info: '{option[0]}' of one job", 2, f"'{option[0]}' is for all jobs",
                   options=["info", "--job", "first", *option])
    yield pair("info: fewer threads than seats", 2, "option '--threads': 1 for 2 seats",
               options=["info", "--seats", "2", "--threads", "1"])


def make_rows(_):
    yield from make_hftac_rows()
    yield from make_program_rows()
    yield from make_seat_rows()
    yield from make_info_rows()
