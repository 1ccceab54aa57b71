"""Rows of wrong plans of pipelines, wrong costs, and jobs whose pipeline can't be
planned."""

import json

from command_rows import planning
from language_rows import GOOD
from row import Row

CLUSTER = "cluster devices = [2]\n  "
COSTS = {"model": "e2fea19c10df63f1d79a94eb3c64bed84910275a2b7f2c615f4d015902102988",
         "cuts": [["hidden"]], "copies": 2, "batch": 16, "micro_batches": 1,
         "tasks": [{"name": f"{part}.{block}", "runs": 1, "seconds": 1e-3}
                   for part in ("forward", "backward", "update")
                   for block in range(2)]}


def job(name, clauses, code, *texts, files=(), options=(), place="job.hfta:1"):
    """Makes a row of the job GOOD with more clauses after its steps."""
    good = GOOD.replace("steps     3", f"steps 3\n  {clauses}", 1)
    return Row(name, {"job.hfta": good, **dict(files)},
               ["hftac", "job.hfta", "-o", "made", *options], (code,),
               (place, *texts))


def make_plan_rows():
    plan = 'pipeline plan("plan.json")'
    yield job("a plan that isn't there", plan, 1, "'plan.json'")
    yield job("a plan that is a folder", 'pipeline plan(".")', 1, "regular file")
    yield job("a plan without a name", "pipeline plan()", 1, "needs 'file'")
    yield job("a plan whose name is a number", "pipeline plan(3)", 1,
              "is a string")
    for name, text, *texts in (
            ("a plan of nothing", "", "is no plan"),
            ("a plan of zeros", bytes(4096), "is no plan"),
            ("a plan that is a list", "[]", "expected an object"),
            ("a plan without a model", "{}", "model"),
            ("a plan as deep as it is long", "[" * 100000, "is no plan")):
        yield job(name, plan, 1, "'plan.json'", *texts,
                  files=[("plan.json", text)])
    yield job("the plan of another model", plan, 1, "another model",
              files=[("plan.json", make_plan("0f"))])
    for name, old, new, *texts in (
            ("a plan of a stage that ends nowhere", '"cut"', '"cat"', "cat"),
            ("a plan with a row too few", '"order"', '"actions": ["0F0"], "order"',
             "actions"),
            ("a plan with an action that is a number", '"order"',
             '"actions": [0, 1], "order"', "actions[0]")):
        yield job(name, plan, 1, *texts,
                  files=[("plan.json", make_plan("0f").replace(old, new))])
    for name, change, *texts in (
            ("a chunk that is another stage's", {"part": 1}, "chunks[0].part",
             "expected 0, got 1"),
            ("a chunk that is none", {"part": 2**63 - 1}, "chunks[0].part"),
            ("a chunk of a negative number", {"part": -1}, "chunks[0].part"),
            ("a chunk without a number", {"part": None}, "chunks[0].part"),
            ("a chunk that ends nowhere", {"last": 7}, "chunks[0].last"),
            ("a chunk of no time at all", {"forward_ms": "1"}, "chunks[0].forward_ms"),
            ("a chunk that says more", {"first_": "a"}, "chunks[0].first_")):
        yield job(f"a plan with {name}", plan, 1, "stages[0]", *texts,
                  files=[("plan.json", make_chunked_plan(**change))])
    for name, chunks, *texts in (
            ("no chunks", [], "isn't empty"), ("a word for chunks", "two", "array"),
            ("one chunk in a list", [{"part": 0}], "chunks"),
            ("chunks of numbers", [0, 1], "expected an object")):
        yield job(f"a plan with {name}", plan, 1, "stages[0].chunks", *texts,
                  files=[("plan.json", make_chunked_plan(chunks))])
    for name, times, *texts in (
            ("never simulated", {"simulated_ms": None}, "simulated_ms", "a number",
             "several chunks"),
            ("of a latency", {"latency_ms": 7}, "latency_ms", "null"),
            ("of an estimate", {"estimate_ms": 7}, "estimate_ms", "null"),
            ("of a pivot", {"pivot": 0}, "pivot", "null")):
        yield job(f"a plan of two chunks {name}", plan, 1, *texts,
                  files=[("plan.json", make_chunked_plan(times=times))])
    for time in ("latency_ms", "estimate_ms", "pivot"):
        for value in (None, *([0] if time != "pivot" else [])):
            made = json.loads(make_plan("0f"))
            yield job(f"a plan of one chunk with {time} {value}", plan, 1, time,
                      "expected a number", "one chunk",
                      files=[("plan.json", json.dumps({**made, time: value}))])
    yield job("a plan of one stage of two chunks", plan, 1, "none for a plan of one stage",
              files=[("plan.json", make_chunked_plan(stages=1))])
    for word in ("cuts = []", "replicas = [2]", "in_flight = [2]",
                 "order = one_f_one_b", "costs = units"):
        yield job(f"a plan and {word}", f"{plan}, {word}", 1, "exclude each other")
    yield job("a plan and chunks", f"{plan}, chunks = 2", 1, "exclude each other")
    for name, pipeline, *texts in (
            ("more chunks than layers", "chunks = 2", "4 layers"),
            ("as many chunks as there may be", "chunks = 64", "128 layers"),
            ("chunks and an order of one", "chunks = 2, order = one_f_one_b",
             "2 chunks"),
            ("an order of chunks alone", "order = interleaved", "1 chunk"),
            ("a v_shape of three chunks", "order = v_shape, chunks = 3", "not 3"),
            ("published costs of chunks", "costs = published, chunks = 2",
             "one chunk"),
            ("replicas of chunks", "chunks = 2, replicas = [2, 1]", "exclude")):
        yield job(f"a planned pipeline of {name}", f"{CLUSTER}pipeline auto, {pipeline}",
                  1, *texts)
    for name, pipeline in (("a planned pipeline", "pipeline auto"),
                           ("a pipeline to be planned", "micro_batches 2")):
        yield job(f"{name} within a budget of memory",
                  f"{CLUSTER}{pipeline}\n  memory device = 1MiB", 3,
                  "a budget of memory and a pipeline that is planned exclude each other",
                  options=["--plan-pipeline"], place="job.hfta:")
    yield job("given stages within a budget of memory",
              f'{CLUSTER}pipeline cuts = ["hidden"]\n  micro_batches 2\n'
              "  memory device = 1MiB", 3,
              "'--plan-pipeline' doesn't plan several stages within a budget of memory",
              options=["--plan-pipeline"], place="job.hfta:")
    for clause in ("loss_scale 2", "precision f16"):
        yield job(f"a plan with {clause}", f"{CLUSTER}{clause}", 3,
                  "'loss_scale', which 'f16' has, and a pipeline that is planned",
                  options=["--plan-pipeline"], place="job.hfta:")
    yield job("replicas in too little memory",
              f"{CLUSTER}pipeline replicas = [2]\n  micro_batches 2\n"
              "  memory device = 1", 3, "no plan fits into 1 bytes",
              options=["--plan-pipeline"], place="job.hfta:")
    yield job("chunks planned on one device",
              "cluster devices = [1]\n  pipeline auto, chunks = 2", 1, "2 devices")


def make_plan(model):
    stage = {"first": "a", "last": "b", "cut": ["b"], "replicas": 1,
             "groups": 1, "in_flight": 1, "forward_ms": 1, "backward_ms": 1,
             "all_reduce_ms": 0, "peak_bytes": 0}
    cluster = {"devices": [2], "memory": 0, "link": 1, "network": 1,
               "point_to_point": 1, "latency": 0, "duplex": "full"}
    stages = [dict(stage, devices=[device]) for device in range(2)]
    return json.dumps(
        {"model": model, "cluster": cluster, "micro_batches": 1,
         "order": "one_f_one_b", "latency_ms": 1,
         "estimate_ms": 1, "pivot": 0, "simulated_ms": None, "speedup": 1,
         "stages": stages})


def make_chunked_plan(chunks=None, stages=2, times=None, **change):
    """Returns a plan with two chunks per stage, and with changed fields in the first chunk,
    or with `chunks` as those of the first stage."""
    made = {**json.loads(make_plan("0f")), "latency_ms": None, "estimate_ms": None,
            "pivot": None, "simulated_ms": 1, **(times or {})}
    made["stages"] = made["stages"][:stages]
    for number, stage in enumerate(made["stages"]):
        own = {key: stage.pop(key)
               for key in ("first", "last", "cut", "forward_ms", "backward_ms")}
        stage["chunks"] = [{**own, "part": number}, {**own, "part": number + stages}]
    if chunks is not None:
        made["stages"][0]["chunks"] = chunks
    else:
        made["stages"][0]["chunks"][0].update(change)
    return json.dumps(made)


def make_cost_rows():
    def costs(name, text, *texts, code=1, **options):
        options.setdefault("place", "costs.json: error: ")
        return job(name, CLUSTER + "pipeline auto", code, *texts,
                   files=[("costs.json", text)],
                   options=["--costs=costs.json"], **options)

    def changed(**fields):
        return json.dumps({**COSTS, **fields})

    yield costs("costs of nothing", "", "no measured costs")
    yield costs("costs of zeros", bytes(4096), "no measured costs")
    yield costs("a plan in place of costs", make_plan("0f"), "no measured costs: cuts")
    yield costs("costs that are a number", "3", "expected an object")
    yield costs("costs without tasks", json.dumps({**COSTS, "tasks": None}), "tasks")
    yield costs("costs of other copies", changed(copies=3), "copies", "3")
    yield costs("costs of no samples", changed(batch=0), "batch")
    for name, task, *texts in (
            ("a task without a name", {"seconds": 1}, "name"),
            ("a task of negative time", {"name": "forward.0", "seconds": -1},
             "seconds"),
            ("a task whose time is a text", {"name": "forward.0", "seconds": "1"},
             "seconds"),
            ("a task that is a number", 3, "tasks[0]")):
        yield costs("costs with " + name, changed(tasks=[task]), *texts)
    first = COSTS["tasks"][0]
    for name, fields, text in (
            ("a field", {"link": []}, "link: unknown field"),
            ("a task's copies", {"tasks": [{**first, "copy": 2}]},
             "tasks[0].copy: unknown field"),
            ("a task's seconds", {"tasks": [{"name": "forward.0", "second": 1}]},
             "tasks[0].seconds: expected a number from 0 to 1e+06, but the field is "
             "missing"),
            ("a store's rate", {"store": {
                "read_bytes_per_second": 1, "write_bytes_per_second": 1, "shared": True,
                "seconds_per_transfer": 0, "seconds": 1}}, "store.seconds: unknown field")):
        yield costs(f"costs with {name} misspelt", changed(**fields), text)
    still = [{**task, "seconds": 0} for task in COSTS["tasks"]]
    yield costs("costs in which nothing takes time", changed(tasks=still), "time")
    yield costs("a task that never ends", changed(
        tasks=[{"name": "forward.0", "seconds": 1e300}]), "tasks[0].seconds")
    yield costs("costs with a task twice", changed(tasks=COSTS["tasks"][:1] * 2),
                "twice")
    yield costs("costs of a layer too few", changed(tasks=COSTS["tasks"][:1]),
                "'forward.1'")
    yield costs("costs of another model", changed(model="0f"), "model: expected",
                COSTS["model"], "'0f'")
    for name, model in (("no model", ""), ("a model that is a number", 3)):
        yield costs("costs of " + name, changed(model=model), "model: expected a text")
    for name, cuts, *texts in (
            ("no cuts", [], "cuts[0]: expected 'hidden'", "--cuts=all", "got none"),
            ("other cuts", [["image"]], "expected 'hidden'", "got 'image'"),
            ("a cut too many", COSTS["cuts"] + [["image"]],
             "cuts[1]: expected none", "got 'image'"),
            ("a cut of two values", [[*COSTS["cuts"][0], "image"]],
             "got 'hidden, image'"),
            ("a cut of no values", [[]], "cuts[0]: expected an array of names"),
            ("a cut that is a name", ["hidden"], "cuts[0]: expected an array"),
            ("a cut of a number", [[1]], "cuts[0]: expected an array"),
            ("cuts that are a name", "all", "cuts: expected an array")):
        yield costs("costs of " + name, changed(cuts=cuts), *texts)
    for name, link in (
            ("one rank", {"ranks": [0], "latency": 0, "bytes_per_second": 1}),
            ("no rate", {"ranks": [0, 1], "latency": 0, "bytes_per_second": 0}),
            ("a slowdown that is a text", {"ranks": [0, 1], "latency": 0,
                                           "bytes_per_second": 1,
                                           "slowdown": "2"})):
        yield costs("costs with a link of " + name, changed(links=[link]), "links[0]")
    yield job("costs that aren't there", CLUSTER + "pipeline auto", 1, "'none'",
              options=["--costs=none"], place="hftac: error: ")
    yield job("costs of nothing that is planned", "clip_norm 1", 2, "--costs",
              options=["--costs=none"], place="hftac: error: ")
    yield from make_preconditioner_rows()


def make_preconditioner_rows():
    """Makes rows of wrong costs for jobs in which only K-FAC's placement is planned."""
    clauses = "precondition kfac()\n  micro_batches 2\n  pipeline replicas = [2]"
    good = {**COSTS, "cuts": [], "micro_batches": 2, "model": (
        "f824e0d62ee8bc3b4466bbe338a4a68e24de6b3d2756db3d0e38351618ee0fb0")}

    def costs(name, *texts, place="costs.json: error: ", **fields):
        return job(f"a preconditioner's costs {name}", clauses, 1, *texts, place=place,
                   files=[("costs.json", json.dumps({**good, **fields}))],
                   options=["--costs=costs.json"])

    yield costs("of another model", "model: expected", "'0f'", model="0f")
    yield costs("of other copies", "copies: expected the job's 2, got 3", copies=3)
    yield costs("of copies that are a text", "tasks[0].copies: expected a number",
                tasks=[{**COSTS["tasks"][0], "copies": "2"}])
    yield costs("of a program of other cuts", "'costs.json': cuts[0]: expected none",
                "got after 'hidden'", cuts=[["hidden"]], place="job.hfta:1")
    yield costs("of no tasks", "'costs.json': tasks: expected", "'forward.0'", tasks=[],
                place="job.hfta:1")
    yield costs("of blocks that aren't there", "'costs.json': tasks: expected those",
                tasks=[{**task, "name": task["name"].replace(".1", ".99")}
                       for task in COSTS["tasks"]], place="job.hfta:1")
    yield job("costs of a preconditioner on one replica", "precondition kfac()", 2,
              "--costs", options=["--costs=none"], place="hftac: error: ")


def replacing(name, output, *options):
    """Makes a row in which the option `output` would overwrite an input or another
    output."""
    return Row(name, {"job.hfta": GOOD, "plan.json": make_plan("0f")},
               ["hftac", "job.hfta", "--plan-pipeline", "--pipeline=auto",
                "--cluster=devices = [2]", output, *options], (2,),
               ("hftac: error: ",))


def drawing(name, clauses, code, *texts, timeline="t.svg", files=()):
    """Makes a row in which `--timeline` draws the step of a job with K-FAC."""
    good = GOOD.replace("steps     3", f"steps 3\n  {clauses}", 1)
    return Row(name, {"job.hfta": good, **dict(files)},
               ["hftac", "job.hfta", "--plan", f"--timeline={timeline}",
                *(["--trace=t.json"] if files else [])], (code,),
               ("error: ", *texts))


def make_drawing_rows():
    shared = "precondition kfac()\n  micro_batches 2\n  pipeline replicas = [2]"
    yield drawing("a drawing of a job that preconditions nothing", "", 2,
                  "'--timeline'", "preconditioner")
    yield drawing("a drawing of what one worker does", "precondition kfac()", 2,
                  "'--timeline'", "preconditioner")
    yield drawing("a drawing in its preconditioned job's place", shared, 2,
                  "would replace", "'job.hfta'", timeline="job.hfta")
    yield drawing("a drawing of a placement that can't be written", shared, 4,
                  "cannot write", timeline="none/t.svg")
    yield drawing("a drawing beside a trace of nothing", shared, 1, "t.json",
                  files=[("t.json", "")])


def make_limit_rows():
    yield replacing("a plan in its job's place", "-o=job.hfta")
    yield replacing("a drawing in its job's place", "--timeline=job.hfta")
    yield from make_drawing_rows()
    yield replacing("a plan and a drawing in one place", "-o=-", "--timeline=-")
    yield job("a plan of more devices than there may be", 'pipeline plan("plan.json")',
              1, "at most 4096", files=[("plan.json", make_plan("0f").replace(
                  '"devices": [2]', '"devices": [4611686018427387904]'))])
    yield job("more groups than samples, of a plan",
              CLUSTER + "micro_batches auto, groups = 17\n  pipeline auto", 1,
              "17 groups")
    yield job("an order of micro_batches, of a plan",
              CLUSTER + "micro_batches 4, all_forwards_first = true\n  pipeline auto",
              1, "all_forwards_first")
    yield job("a worker that doesn't fit", "cluster devices = [2], memory = 1024\n  "
              "pipeline replicas = [2]", 3, "doesn't fit into 1024",
              place="hftac: error: ")
    small = "cluster devices = [2], memory = 4096\n  "
    yield job("a cluster in which no stage of the job fits",
              small + "pipeline auto", 3, "fits into devices of 4096 bytes",
              place="hftac: error: ")
    yield job("stages of a job that don't fit",
              small + 'pipeline cuts = ["hidden"]', 3, "doesn't fit into 4096",
              place="hftac: error: ")
    yield job("a pipeline planned without a cluster", "pipeline auto", 1,
              "cluster")
    for name, options, *texts in (
            ("a job planned without a cluster", [], "'cluster'"),
            ("a plan and a phase", ["--emit=fused"], "--emit"),
            ("a plan of cuts", ["--cuts=all"], "--cuts")):
        yield Row(name, {"job.hfta": GOOD},
                  ["hftac", "job.hfta", "--plan-pipeline", "-o", "plan.json",
                   *options], (2,), ("hftac: error: ", *texts))
    yield Row("the plan of a module", {"job.mlir": "module {}"},
              ["hftac", "job.mlir", "--plan-pipeline"], (2,),
              ("hftac: error: ", "takes a job"))


def make_chunk_rows():
    """Makes rows of stages with several chunks that are too many to be simulated, or that
    need too much memory."""
    given = '--pipeline=cuts = ["layer0", "layer1", "layer2"], chunks = 2'
    many = ["--batch=1009", "--micro-batches=auto, groups = 2",
            "--pipeline=auto, chunks = 2"]
    told = ("at most 512", "2 groups", "1009")
    yield planning("chunks of a profile whose batch is a prime", 1, *told,
                   place="--micro-batches:1:", options=many)
    for option in ("--plan-pipeline", "--emit=scheduled"):
        yield job(f"chunks of a job whose batch is a prime, {option}",
                  "cluster devices = [2]", 1, *told, place="--micro-batches:1:",
                  options=[option, *many])
    yield planning("more micro-batches of given chunks than are simulated", 1,
                   "at most 512", "1024", place="--micro-batches:1:",
                   options=["--batch=1024", "--micro-batches=1024", given])
    yield planning("more workers of given chunks than are simulated", 1,
                   "at most 64 devices", "80", place="--pipeline:1:",
                   options=["--batch=80", "--micro-batches=40",
                            "--cluster=devices = [80]",
                            given + ", replicas = [40, 40]"])
    for order in ("auto", "interleaved", "v_shape"):
        yield planning(f"given chunks that don't fit, {order}", 3,
                       "stage whose parts begin with 'layer",
                       "doesn't fit into 4096 bytes", "it needs ",
                       place="hftac: error: the ",
                       options=["--batch=64", "--micro-batches=8",
                                "--cluster=devices = [2], memory = 4096",
                                f"{given}, order = {order}"])


def make_place_rows():
    """Makes rows of modules with a wrong attribute `worker_places`, the order in which
    workers are assigned to ranks."""
    for name, places, *texts in (
            ("a place twice", "array<i64: 1, 1>", "0 to 1, each once"),
            ("a place too many", "array<i64: 0, 1, 2>", "0 to 1, each once"),
            ("a place that is none", "array<i64: 0, 9223372036854775807>",
             "0 to 1, each once"),
            ("places of another type", "array<i32: 1, 0>", "array<i64: …>"),
            ("places that are words", '["1", "0"]', "array<i64: …>")):
        script = ('"$0" job.hfta --pipeline=\'cuts = ["hidden"]\' --emit=import -o m.mlir'
                  ' && sed "s/hfta.job = {/&worker_places = $1, /" m.mlir > wrong.mlir'
                  '; "$0" wrong.mlir -o program; code=$?; rm *.mlir; exit $code')
        yield Row(f"workers with {name}",
                  {"job.hfta": GOOD.replace("steps", "micro_batches 2\n  steps"),
                   "program": "an older one"},
                  ["sh", "-c", script, "hftac", places], (1,),
                  ("job.hfta:11", "'worker_places' must be", *texts))


def make_rows(_):
    yield from make_plan_rows()
    yield from make_cost_rows()
    yield from make_limit_rows()
    yield from make_chunk_rows()
    yield from make_place_rows()
