"""Rows with wrong command lines of hftac and of a training program."""

import json
import os

import data_rows
import language_rows
from onnx_writer import node, simple, value
from row import Row

DEEP = "a/" * 3000 + "b"
LONG = "x" * 5000
SMALL = simple([node("Relu", ["x"], ["y"])])
HUGE_JOB = language_rows.GOOD.replace("16))", "2000000000))")


def link_to_full(path):
    """Makes a link to /dev/full, a device that is always full. A program that wrongly
    replaces its output file then replaces the link, not the device."""
    path.symlink_to("/dev/full")


def hftac(name, code, *texts, options=(), files=(), job=True):
    """Makes a row of hftac with options, and with a correct job file if `job`."""
    return Row(name, {"job.hfta": language_rows.GOOD, "program": "an older one",
                      **dict(files)},
               ["hftac", *(["job.hfta"] if job else []), *options], (code,),
               ("error: ", *texts))


def output(name, path, *texts, files=(), emit="exe"):
    """Makes a row of hftac that compiles a small model to `path`, where it can't write."""
    return Row(name, {"m.onnx": SMALL, **dict(files)},
               ["hftac", "m.onnx", "--batch=2", "-o", path, f"--emit={emit}"],
               (4,), ("error: ", "cannot write", *texts))


def sweep(name, code, *texts, options, files=()):
    """Makes a row of the compiled program `sweep` with options."""
    return Row(f"a program: {name}", {**data_rows.OLD, **data_rows.DATA, **dict(files)},
               ["sweep", *options], (code,), ("sweep: error: ", *texts))


def train(name, code, *texts, options, files=()):
    return sweep(name, code, *texts, files=files, options=[
        "train", "--no-progress", *options])


def make_batch_row():
    open_axis = simple([node("Relu", ["x"], ["y"])],
                       inputs=[value("x", ["samples", 4])],
                       outputs=[value("y", ["samples", 4])])
    return hftac("a batch of another size than its axis", 2, "--dim:1:1",
                 "'--dim' gives axis 'samples' the size 3, but '--batch' 2",
                 job=False,
                 files={"m.onnx": open_axis},
                 options=["m.onnx", "--batch=2", "--dim=samples=3", "-o",
                          "program"])


def make_gpu_rows():
    def gpu(what, code, *parts, options):
        return hftac(what, code, *parts,
                     options=["--target=cuda", *options, "-o", "program"])

    yield hftac("a chip of the CPU", 2, "'--chip'", "'--target=cuda'",
                options=["--chip=sm_90", "-o", "program"])
    yield gpu("a processor of a GPU", 2, "'--cpu'", "'--target=cpu'",
              options=["--cpu=x86-64-v3"])
    yield gpu("a chip that doesn't exist", 2, "'sm_35'", "sm_80, sm_86, sm_89",
              options=["--chip=sm_35"])
    yield gpu("no chip", 2, "''", "sm_80", options=["--chip="])
    yield gpu("a chip twice", 2, "'sm_80' twice", options=["--chip=sm_80,sm_80"])
    yield gpu("code that doesn't exist", 2, "'--gpu-code' cannot be 'sass'",
              options=["--gpu-code=sass"])
    yield gpu("an assembler that isn't there", 4, "'nowhere'", "can't be run",
              options=["--ptxas=nowhere"])
    yield gpu("an assembler for nothing", 2, "'--ptxas'", "exclude",
              options=["--ptxas=nowhere", "--gpu-code=ptx"])
    yield gpu("an assembler that fails", 4, "'/bin/false' failed",
              options=["--ptxas=/bin/false"])
    yield gpu("text for two chips", 2, "'--emit=ptx' is for one chip",
              options=["--emit=ptx"])
    yield gpu("text of no text", 2, "'--emit=ptx' and '--gpu-code' without ptx",
              options=["--emit=ptx", "--chip=sm_80", "--gpu-code=emulated"])
    yield gpu("a budget on a GPU", 3, "a budget of memory",
              options=["--memory=device = 64MiB"])
    yield gpu("replicas on GPUs", 3, "workers",
              options=["--pipeline=replicas = [2]", "--micro-batches=2"])


def make_hftac_rows():
    yield make_batch_row()
    yield hftac("no input", 2, "no input file", job=False)
    yield hftac("an unknown option", 2, "'--frobnicate'",
                options=["--frobnicate"])
    yield hftac("an option without its value", 2, "'-o'", options=["-o"])
    yield Row("an output that begins with a dash", {"job.hfta": language_rows.GOOD},
              ["hftac", "job.hfta", "-o", "-program"], (0,), ())
    yield hftac("an empty value", 2, "'--emit'", options=["--emit="])
    yield hftac("a phase that doesn't exist", 2, "'--emit'", "'exee'",
                options=["--emit=exee"])
    yield hftac("a phase of another target", 2, "'--emit=gpu'", "cuda",
                options=["--emit=gpu"])
    yield hftac("a processor that doesn't exist", 2, "'pentium-9'",
                options=["--cpu=pentium-9", "-o", "program"])
    yield hftac("a processor of another kind", 2, "'cortex-a53'",
                options=["--cpu=cortex-a53", "-o", "program"])
    yield hftac("a processor that is too old", 2, "'i386'",
                options=["--cpu=i386", "-o", "program"])
    yield hftac("a target that doesn't exist", 2, "'tpu'",
                options=["--target=tpu"])
    yield hftac("an input of no known kind", 2, "'x.txt'", job=False,
                options=["x.txt"])
    yield hftac("two job files", 2, "'other.hfta'", options=["other.hfta"])
    yield hftac("an input that would be replaced", 2, "would replace",
                options=["-o", "job.hfta"])
    yield hftac("an input that would be replaced through a link", 2,
                "would replace", options=["-o", "link"], files={
                    "link": lambda path: path.symlink_to("job.hfta")}.items())
    yield hftac("a batch that is no number", 1, "'batch'",
                options=["--batch=many", "-o", "program"])
    yield hftac("a batch of 0", 1, "'batch'", "0",
                options=["--batch=0", "-o", "program"])
    yield hftac("a batch of 30 digits", 1, "out of range",
                options=["--batch=" + "9" * 30, "-o", "program"])
    yield hftac("a batch that is code", 1,
                options=["--batch=1 }", "-o", "program"])
    yield hftac("an optimizer, 10 000 parentheses deep", 1, "256",
                options=["--optimizer=adam(lr = " + "(" * 10000, "-o",
                         "program"])
    yield hftac("a seed with a line break", 1,
                options=["--seed=1\n}", "-o", "program"])
    yield hftac("a loss without an end", 1, options=["--loss=mse(net", "-o",
                                                     "program"])
    yield hftac("epochs and steps", 1, options=["--epochs=2", "-o", "program"])
    yield hftac("0 copies", 1, "'copies'", "0",
                options=["--copies=0", "-o", "program"])
    yield hftac("a size that is no number", 1, "many",
                options=["--dim=n=many", "-o", "program"])
    yield hftac("a size without a name", 1, "--dim:1:1", "axis=size",
                options=["--dim=7", "-o", "program"])
    yield hftac("a negative size", 1, "-7",
                options=["--dim=batch=-7", "-o", "program"])
    yield hftac("two sizes of one axis", 1, "'n'",
                options=["--dim=n=7", "--dim=n=8", "-o", "program"])
    yield hftac("a cut at no value", 1, "'nowhere'",
                options=["--cuts=nowhere", "-o", "program"])
    yield hftac("a cut of 60 000 names", 1, "'a'",
                options=["--cuts=" + ",".join(["a"] * 60000), "-o", "program"])
    yield hftac("a value that is cut twice", 1, "'hidden' is cut twice",
                options=["--cuts=hidden,hidden", "-o", "program"])
    yield hftac("cuts in the wrong order", 1, "'output' depends on 'hidden'",
                options=["--cuts=output,hidden", "-o", "program"])
    yield hftac("cuts of a job that has its own", 2, "'--cuts'",
                options=["--pipeline=cuts = [\"hidden\"]", "--cuts=hidden", "-o",
                         "program"])
    yield hftac("a pattern that freezes nothing", 1, "'nothing'",
                options=["--freeze=\"nothing\"", "-o", "program"])
    yield hftac("a pattern that trains nothing", 1, "'nothing'",
                options=["--trainable=\"nothing\"", "-o", "program"])
    yield hftac("a pattern that freezes what another one trains", 1, "'*'",
                "freezes nothing",
                options=["--freeze=\"*\"", "--trainable=\"*\"", "-o", "program"])
    yield hftac("a pattern without an end", 1, "'[a'",
                options=["--trainable=\"[a\"", "-o", "program"])
    yield hftac("a pattern of modes without a batch normalization", 1, "evaluation_mode "
                "pattern '*' matches no batch normalization",
                options=["--evaluation-mode=\"*\"", "-o", "program"])
    yield hftac("a pattern of modes without an end", 1, "training_mode pattern '[a'",
                options=["--training-mode=\"[a\"", "-o", "program"])
    yield hftac("a pattern without quotes", 1, "'trainable'",
                options=["--trainable=head", "-o", "program"])
    yield hftac("a data file without a field", 1,
                options=["--train-data=image.npy", "-o", "program"])
    yield hftac("a folder of data that isn't there", 1, "'nowhere'",
                options=["--data=nowhere", "-o", "program"])
    yield hftac("a data folder that is a file", 1, "'job.hfta'",
                options=["--data=job.hfta", "-o", "program"])
    yield hftac("a precision that doesn't exist", 1, "f31",
                options=["--precision=f31", "-o", "program"])
    yield hftac("a constant file that isn't there", 1, "'x'", "No such file",
                options=["--constant=x=nowhere.npy", "-o", "program"])
    yield from make_gpu_rows()
    yield hftac("weights outside of the program", 3, "external",
                options=["--weights=external", "-o", "program"])
    yield hftac("a library that no identifier names", 2, "libNAME.a",
                options=["--emit=lib", "-o", "lib1-x.a"])
    yield hftac("an option behind the end of options", 2, "'--plan'",
                options=["--", "--plan"])
    yield hftac("an option that isn't UTF-8", 2,
                options=[b"--\xff\xfe", "-o", "program"])
    yield hftac("a name of 5000 letters", 1, options=[LONG + ".hfta"],
                job=False)


PROFILE = "".join(
    f"node{i} -- layer{i} -- forward_compute_time=1.0, backward_compute_time=2.0, "
    "activation_size=100.0, parameter_size=1000.0\n" for i in range(4)) + "".join(
        f"\tnode{i} -- node{i + 1}\n" for i in range(3))


def planning(name, code, *texts, options=(), profile=PROFILE, place="error: ",
             more=()):
    """Makes a row of `hftac --plan-pipeline` with a profile, which is correct by default.
    `options` may replace the options before them, as the last of equal options counts."""
    return Row(name, {"profile.txt": profile, "plan.json": "an older one",
                      **dict(more)},
               ["hftac", "--plan-pipeline", "--profile=profile.txt",
                "--profile-samples=2", "--batch=16", "--cluster=devices = [2, 2]",
                "-o", "plan.json", *options], (code,), (place, *texts))


def make_planning_rows():
    yield planning("a profile that isn't there", 1, "'none.txt'",
                   options=["--profile=none.txt"])
    yield planning("a profile that is a folder", 1, "'.'",
                   options=["--profile=."])
    yield planning("a profile of nothing", 1, "no node", profile="")
    yield planning("a profile of zeros", 1, place="profile.txt:1: error: ",
                   profile=bytes(4096))
    yield planning("a profile of random bytes", 1, place="profile.txt:1: error: ",
                   profile=bytes(range(255, 0, -1)) * 16)
    for name, old, new, line, *texts in (
            ("a profile with a broken tab", "\tnode1 -- node2",
             "    node1 -- node2", 6, "after a tab"),
            ("an edge to nowhere", "\tnode1 -- node2", "\tnode1 -- node9", 6,
             "'node9'"),
            ("an edge without an end", "\tnode1 -- node2", "\tnode1 --", 6,
             "'from -- to'"),
            ("a negative time", "forward_compute_time=1.0",
             "forward_compute_time=-1.0", 1, "'-1.0'"),
            ("a time that is no number", "forward_compute_time=1.0",
             "forward_compute_time=nan", 1, "'nan'"),
            ("a node without a size", ", parameter_size=1000.0", "", 1,
             "'parameter_size'"),
            ("a node that is there twice", "node1 --", "node0 --", 2,
             "second node 'node0'")):
        yield planning(name, 1, *texts, place=f"profile.txt:{line}: error: ",
                       profile=PROFILE.replace(old, new, 1))
    yield planning("a profile in a circle", 1, "circle",
                   profile=PROFILE + "\tnode3 -- node0\n")
    yield planning("a profile of 5000 nodes", 1, "4096",
                   place="profile.txt:4097: error: ", profile="".join(
                       f"n{i} -- x -- forward_compute_time=1, "
                       "backward_compute_time=2, activation_size=1, "
                       "parameter_size=1\n" for i in range(5000)))
    for name, cluster, *texts in (
            ("a cluster without devices", "memory = 1", "'devices'"),
            ("a machine of 0 devices", "devices = [2, 0]", "'devices'", "0"),
            ("a cluster of no machine", "devices = []", "'devices'"),
            ("more devices than there may be", "devices = [65536, 65536]",
             "131072"),
            ("a link that carries nothing", "devices = [2], link = 0", "'link'"),
            ("a negative latency", "devices = [2], latency = -1", "'latency'"),
            ("a latency that is a word", "devices = [2], latency = low", "low"),
            ("an unknown duplex", "devices = [2], duplex = both", "'both'"),
            ("an unknown argument of cluster", "devices = [2], colour = 1",
             "'colour'"),
            ("a negative memory", "devices = [2], memory = -1", "'memory'")):
        yield planning(name, 1, *texts, place="--cluster:1:",
                       options=["--cluster=" + cluster])
    for name, pipeline, *texts in (
            ("a plan of replicas that are given", "auto, replicas = [2]",
             "exclude"),
            ("a cut at no layer", 'cuts = ["layer9"], replicas = [1, 1]',
             "'layer9'"),
            ("cuts in the wrong order of layers",
             'cuts = ["layer2", "layer1"], replicas = [1, 1, 1]', "'layer1'"),
            ("a stage without a layer",
             'cuts = ["layer1", "layer1"], replicas = [1, 1, 1]', "is empty"),
            ("a cut behind the last layer",
             'cuts = ["layer3"], replicas = [1, 1]', "'layer3'"),
            ("replicas of one of two stages of a profile",
             'cuts = ["layer1"], replicas = [1]', "1 number of replicas"),
            ("more replicas than devices", 'replicas = [5]', "5 replicas",
             "4 devices"),
            ("numbers in flight that are given", "in_flight = [2]",
             "'in_flight'"),
            ("more chunks than layers", "chunks = 3", "models of 6 layers",
             "has 4"),
            ("parts of a profile that chunks don't divide",
             'cuts = ["layer1"], replicas = [1], chunks = 4', "2 parts"),
            ("published costs of chunks", "costs = published, chunks = 2",
             "one chunk"),
            ("an order from a file for planned stages", 'order = file("o.csv")',
             "a pipeline that is planned takes an order's name, not a file"),
            ("a plan of an order from a file", 'auto, order = file("o.csv")',
             "exclude"),
            ("a plan that is a word", "automatic", "'auto'"),
            ("unknown costs", "auto, costs = dear", "'dear'")):
        yield planning(name, 1, *texts, place="--pipeline:1:",
                       options=["--pipeline=" + pipeline])
    yield planning("micro-batches that don't divide the batch of a profile", 1,
                   "3", place="--micro-batches:1:", options=["--micro-batches=3"])
    for parts in ("8, groups = 9", "auto, groups = 17"):
        yield planning(f"more groups than micro-batches, {parts}", 1, "groups for",
                       place="--micro-batches:1:",
                       options=["--micro-batches=" + parts])
    for parts in ("1024", "auto, groups = 1024"):
        yield planning(f"more chunks than are simulated, {parts}", 1, "512",
                       place="--micro-batches:1:",
                       options=["--batch=1024", "--micro-batches=" + parts,
                                "--pipeline=auto, chunks = 2"])
    yield planning("a cluster in which nothing fits", 3, "fits into devices of 1 bytes",
                   options=["--cluster=devices = [2], memory = 1"])
    yield planning("a stage that doesn't fit", 3, "'layer0' to 'layer1'",
                   options=["--cluster=devices = [2], memory = 1",
                            '--pipeline=cuts = ["layer1"], replicas = [1, 1]',
                            "--micro-batches=2"])
    yield planning("replicas of a profile without micro-batches", 1,
                   "2 micro-batches", place="--pipeline:1:",
                   options=["--pipeline=replicas = [4]", "--micro-batches=2"])
    yield planning("0 samples of a profile", 2, "'--profile-samples'", "'0'",
                   options=["--profile-samples=0"])
    yield planning("a profile and a job's loss", 2, "'--loss'",
                   options=["--loss=mse"])
    yield planning("a profile and a job", 2, "exclude", options=["job.hfta"])
    yield planning("a profile that would be replaced", 2, "would replace",
                   options=["-o", "profile.txt"])
    yield hftac("a profile without a plan", 2, "'--plan-pipeline'",
                options=["--profile=job.hfta"])
    yield hftac("a timeline without a plan", 2, "'--plan'",
                options=["--timeline=t.svg"])
    yield planning("a timeline that can't be written", 4, "cannot write",
                   options=["--timeline=none/t.svg"])
    yield planning("a timeline of too many devices", 3, "'--timeline'",
                   options=["--cluster=devices = [512]", "--batch=1024",
                            "--micro-batches=1024", "--timeline=t.svg"])
    yield hftac("a trace without a timeline", 2, "'--timeline=FILE.svg'",
                options=["--trace=t.json"])
    for name, trace, *texts in (
            ("a trace of nothing", "", "t.json"),
            ("a trace that is no trace", "[1, 2]", "'traceEvents'"),
            ("a trace without a step", '{"traceEvents": [{"ph": 3}, null]}',
             "'step'"),
            ("a trace of random bytes", bytes(range(255, 0, -1)), "t.json")):
        yield planning(name, 1, *texts, more={"t.json": trace},
                       options=["--timeline=t.svg", "--trace=t.json"])
    yield planning("a trace that isn't there", 1, "'t.json'",
                   options=["--timeline=t.svg", "--trace=t.json"])
    yield planning("a timeline in the plan's place", 2, "both",
                   options=["--timeline=plan.json"])
    yield hftac("samples without a profile", 2, "'--profile=FILE'",
                options=["--profile-samples=2"])
    yield hftac("the plan of a job without a cluster", 2, "'cluster'",
                options=["--plan-pipeline"])


def make_output_rows():
    yield output("a folder as the output", "folder", "directory",
                 files={"folder": None}.items())
    yield output("the output in a folder that isn't there", "nowhere/program",
                 "'nowhere/program'", "No such file")
    yield output("the output in a file", "m.onnx/program", "Not a directory")
    yield output("an output of 5000 letters", LONG, "File name too long")
    yield output("an output 3000 folders deep", DEEP)
    yield output("the output in /proc", "/proc/program", "'/proc/program'")
    yield output("a folder named by a slash", "folder/", files={
        "folder": None}.items())
    full = {"full": link_to_full}
    yield output("a program instead of a device", "full", "'full'",
                 "expected a regular file", files=full.items())
    yield output("a program instead of a pipe", "pipe", "'pipe'",
                 "expected a regular file", files={"pipe": os.mkfifo}.items())
    yield output("text on a full device", "full", "No space left", files=full.items(),
                 emit="llvm")
    yield output("an object on a full device", "full", "No space left",
                 files=full.items(), emit="obj")
    yield output("a library instead of a device", "libx.a", "'libx.a'",
                 "expected a regular file", files={
                     "libx.a": link_to_full}.items(), emit="lib")
    yield output("a library in a folder that isn't there", "nowhere/libx.a",
                 "No such file", emit="lib")
    yield output("text in a folder that isn't there", "nowhere/x.mlir",
                 "No such file", emit="import")
    yield Row("a standard output that is full",
              {"job.hfta": language_rows.GOOD},
              ["sh", "-c", '"$0" job.hfta --emit=import -o - > /dev/full',
               "hftac"], (4,), ("error: ", "standard output", "No space left"))
    yield Row("help on a full device", {},
              ["sh", "-c", '"$0" --help > /dev/full', "hftac"], (4,),
              ("error: ", "standard output", "No space left"))
    yield Row("a plan on a full device", {"job.hfta": language_rows.GOOD},
              ["sh", "-c", '"$0" job.hfta --plan > /dev/full', "hftac"], (4,),
              ("error: ", "standard output", "No space left"))


def make_module_rows():
    def module(name, text, code, *texts):
        return Row(f"a module: {name}", {"m.mlir": text, "program": "an older one"},
                   ["hftac", "m.mlir", "-o", "program"], (code,),
                   ("m.mlir", "error: ", *texts))

    yield module("nothing", "", 1, "hfta.phase")
    yield module("binary", bytes(range(256)) * 16, 1)
    yield module("no end", "module {", 1)
    yield module("a phase that doesn't exist",
                 'module attributes {hfta.phase = "baked"} {}', 1, "'baked'")
    yield module("a phase of another target",
                 'module attributes {hfta.phase = "ptx"} {}', 1, "'ptx'")
    yield module("a purpose without what it is of",
                 'module attributes {hfta.phase = "import"} {hfta.variable @v '
                 '{role = #hfta.role<output>, purpose = #hfta.purpose<norm>} '
                 ': tensor<f64>}', 1, "'norm' must be of a variable")
    yield module("a purpose of nothing",
                 'module attributes {hfta.phase = "import"} {hfta.variable @v '
                 '{role = #hfta.role<output>, '
                 'purpose = #hfta.purpose<norm of @w>} : tensor<f64>}', 1,
                 "belongs to no variable: @w")
    yield module("a purpose of itself",
                 'module attributes {hfta.phase = "import"} {hfta.variable @v '
                 '{role = #hfta.role<constant>, '
                 'purpose = #hfta.purpose<initial of @v>} : tensor<f64>}', 1,
                 "@v is a constant")
    yield module("segments that are none",
                 'module attributes {hfta.phase = "planned", '
                 'hfta.segments = [1]} {}', 1, "'hfta.segments'")
    yield module("a phase that is a number",
                 "module attributes {hfta.phase = 3} {}", 1, "hfta.phase")
    yield module("a phase without what it has to hold",
                 'module attributes {hfta.phase = "planned"} {}', 1)
    yield module("an operation that doesn't exist",
                 'module { "hfta.frobnicate"() : () -> () }', 1,
                 "hfta.frobnicate")


def make_trace_rows():
    for command in ("train", "bench"):
        def trace(name, code, *texts, options=("--trace",), files=()):
            return sweep(f"{command}: a trace {name}", code, *texts, files=files,
                         options=[command, "--steps", "2", *options])

        yield trace("without its file", 2, "'--trace'", "FILE.json")
        yield trace("with an empty name", 2, "'--trace'", options=["--trace", ""])
        yield trace("of 0 steps", 2, "'--trace-steps'",
                    "'0' is not a whole number of at least 1",
                    options=["--trace", "t.json", "--trace-steps", "0"])
        yield trace("of many steps, but no file", 2,
                    "'--trace-steps' needs --trace FILE.json",
                    options=["--trace-steps", "3"])
        yield trace("in a folder that isn't there", 4, "'nowhere/t.json'",
                    "No such file", options=["--trace", "nowhere/t.json"])
        yield trace("that is a folder", 4, "'checkpoints'", "directory",
                    options=["--trace", "checkpoints"])
        yield trace("on a full device", 4, "'full'", "No space left",
                    options=["--trace", "full"],
                    files={"full": link_to_full}.items())


def make_paced_rows():
    def paced(name, text, *texts):
        return sweep(f"times of tasks: {name}", 1, "'costs.json'", *texts,
                     files={"costs.json": text}.items(),
                     options=["bench", "--device", "paced:costs.json"])

    def task(**keys):
        return json.dumps({"tasks": [{"name": "forward.0", "runs": 1, "seconds": 1,
                                      **keys}]})

    yield paced("nothing", "")
    yield paced("no object", "[]", "at byte", "'tasks'")
    yield paced("no end", '{"tasks": [', "at byte")
    yield paced("two objects", task() + task(), "at byte")
    yield paced("no tasks", '{"seconds": 3}', "'tasks'")
    yield paced("tasks that are no list", '{"tasks": 3}', "'tasks'")
    yield paced("a task that is a number", '{"tasks": [3]}', "at byte")
    yield paced("binary", bytes(range(256)), "at byte")
    yield paced("lists in lists", '{"x": ' + "[" * 10000, "at byte")
    yield paced("another program's", task(), "no time of task 'backward.0'")
    for keys in ({"runs": 0}, {"runs": -1}, {"seconds": -1}, {"seconds": 1e308,
                 "runs": 1e-9}, {"runs": "1"}, {"seconds": None}):
        yield paced(f"{keys}", task(**keys), "task 'forward.0'", "0 runs",
                    "seconds of at least 0")
    yield sweep("times of tasks: no file", 1, "'nowhere.json'", "No such file",
                options=["bench", "--device", "paced:nowhere.json"])
    for device in ("paced", "paced:"):
        yield sweep(f"times of tasks: '{device}'", 2, "paced:costs.json",
                    options=["bench", "--device", device])
    for words in (["train", "--control", "-"], ["train", "--trials", "3"],
                  ["train", "--replay", "0"], ["train", "--fold", "1"], ["eval", "--best"],
                  ["export", "--trial", "9" * 20]):
        yield sweep(f"without a search, {words[1]} of {words[0]}", 2,
                    f"unknown option '{words[1]}'", options=words)
    for command in (["train"], ["eval"],
                    ["run", "--output", "out", "--input", "a=b.npy"]):
        yield sweep(f"times of tasks for {command[0]}", 2, "'paced'", "'bench'",
                    options=[*command, "--device", "paced:costs.json"])


def make_program_rows():
    yield sweep("no command", 2, "command", options=[])
    yield sweep("an unknown command", 2, "'tain'", options=["tain"])
    yield train("an unknown option", 2, "'--epoch'", options=["--epoch", "1"])
    yield train("an option without its value", 2, "'--steps'",
                options=["--steps"])
    for value in ("none", "", "0", "-1", "1.5", "9" * 30, "1e3", " 4", "4x"):
        yield train(f"steps of '{value[:9]}'", 2, "'--steps'",
                    f"'{value}' is not a whole number of at least 1",
                    options=["--steps", value])
    yield train("steps and epochs", 2, "--epochs", "--steps",
                options=["--steps", "3", "--epochs", "1"])
    for value in ("0", "-1", "257", "99999999999", "two"):
        yield train(f"{value} threads", 2, "'--threads'",
                    f"'{value}' is not a whole number from 1 to 256",
                    options=["--threads", value])
    for value in ("2", "0", "all", ""):
        yield train(f"ranks of '{value}'", 2, "'--ranks'",
                    options=["--ranks", value])
    for value in ("0", "-1", "soon", "1000001"):
        yield train(f"a timeout of '{value}' for ranks", 2, "'--rank-timeout'",
                    options=["--rank-timeout", value])
    yield train("an MPI library without a name", 2, "'--mpi'",
                options=["--mpi", ""])
    yield train("a rest", 2, "'rest'", options=["rest"])
    yield train("an interval without a folder", 2, "--checkpoint",
                options=["--every", "2"])
    yield train("a resumption without a folder", 2, "--checkpoint",
                options=["--resume"])
    yield train("overwriting without a folder", 2, "--checkpoint",
                options=["--overwrite"])
    yield train("keeping without a folder", 2, "--checkpoint",
                options=["--keep", "2"])
    yield train("keeping nothing", 2, "'--keep'",
                options=["--keep", "0", "--checkpoint", "new"])
    yield train("an interval of 0", 2, "'--every'",
                options=["--every", "0", "--checkpoint", "new"])
    yield train("a log every 0 steps", 2, "'--log-every'",
                options=["--log-every", "0"])
    yield train("a device that isn't there", 3, "'cuda:0'",
                options=["--device", "cuda:0"])
    yield train("a device that doesn't exist", 3, "'abacus'",
                options=["--device", "abacus"])
    yield train("a folder of data that isn't there", 1, "'nowhere",
                "No such file", options=["--data", "nowhere"])
    yield train("a data folder that is a file", 1, "b.npy/",
                options=["--data", "b.npy"])
    yield train("an empty data folder", 2, "'--data'", options=["--data", ""])
    yield train("a log in a folder that isn't there", 4, "'nowhere/log.jsonl'",
                "No such file", options=["--log", "nowhere/log.jsonl"])
    yield train("a log that is a folder", 4, "'checkpoints'", "directory",
                options=["--log", "checkpoints"])
    yield train("a log on a full device", 4, "'full'", "No space left",
                options=["--log", "full"],
                files={"full": link_to_full}.items())
    yield from make_trace_rows()
    yield from make_paced_rows()
    yield train("checkpoints in a file", 4, "'b.npy'",
                options=["--checkpoint", "b.npy/checkpoints"])
    yield train("checkpoints in /proc", 4, "/proc/c",
                options=["--checkpoint", "/proc/c"])
    yield train("checkpoints below 5000 letters", 1, "too long",
                options=["--checkpoint", LONG])
    yield Row("a table on a full device", data_rows.DATA,
              ["sh", "-c", '"$0" train --no-progress > /dev/full', "sweep"],
              (4,), ("error: ", "standard output"))
    yield Row("information on a full device", {},
              ["sh", "-c", '"$0" info --json > /dev/full', "sweep"],
              (4,), ("error: ", "standard output"))
    for what, text in (("a copy that isn't there", "2"), ("no number", "one"),
                       ("a copy twice", "1,0,1"),
                       ("a comma too much", "0,"), ("a negative number", "-1"),
                       ("a number without end", "9" * 40)):
        yield sweep("copies to train: " + what, 2,
                    "'--only' needs different copies' numbers from 0 to 1",
                    f"'{text}'", options=["train", "--only", text])
    yield sweep("copies to time that aren't there", 2, "'--only'",
                options=["bench", "--only", "0,7"])
    yield Row("a schedule on a full device", {},
              ["sh", "-c", '"$0" info --schedule > /dev/full', "sweep"],
              (4,), ("error: ", "standard output"))
    yield sweep("information as text and as an object", 2,
                "--json and --schedule",
                options=["info", "--json", "--schedule"])
    yield Row("a program: more memory than the machine has", {},
              ["huge", "bench"], (3,),
              ("huge: error: ", "bytes of memory and may have"))
    yield sweep("an option of another command", 2, "'--every'",
                options=["eval", "--every", "2"])


def make_array_rows():
    npy = data_rows.npy

    def run(name, code, *texts, options, files=()):
        return sweep(name, code, *texts, files=files, options=[
            "run", "--output", "out", *options])

    a = ["--input", "a=a.npy"]
    rest = ["--input", "b=b.npy", "--input", "c=b.npy"]
    good = {"a.npy": npy(shape="(64, 4)", body=bytes(1024))}
    yield run("an input that is missing", 2, "'c'", "not given",
              options=[*a, "--input", "b=b.npy"], files=good.items())
    yield run("an input twice", 2, "'b'", options=[*a, *rest, "--input",
                                                   "b=b.npy"],
              files=good.items())
    yield run("an input that doesn't exist", 2, "z=b.npy", "'a', 'b', 'c'",
              options=[*a, *rest, "--input", "z=b.npy"], files=good.items())
    yield run("an input without a file", 2, "'a'", options=["--input", "a"])
    yield run("an array of another type", 1, "'a'", "f32", "i64",
              options=[*a, *rest], files={"a.npy": npy(
                  shape="(64, 4)", descr="<i8", body=bytes(2048))}.items())
    yield run("an array of another shape", 1, "'a'",
              options=[*a, *rest], files={"a.npy": npy(
                  shape="(64, 5)", body=bytes(1280))}.items())
    yield run("arrays of two numbers of samples", 1, "64", "63",
              options=[*a, *rest], files={"a.npy": npy(
                  shape="(63, 4)", body=bytes(1008))}.items())
    yield run("an array that is cut off", 1, "'a.npy'", "truncated",
              options=[*a, *rest], files={"a.npy": good["a.npy"][:-1]}.items())
    yield run("a copy that doesn't exist", 2, "'--copy'", "'2'", "from 0 to 1",
              options=[*a, *rest, "--copy", "2"], files=good.items())
    yield sweep("an output folder that is a file", 4, "'b.npy'",
                options=["run", "--output", "b.npy", *a, *rest],
                files=good.items())
    yield sweep("no output folder", 2, "--output", options=["run", *a, *rest],
                files=good.items())
    yield sweep("an export of no copy", 2, "--copy",
                options=["export", "-o", "out.onnx"])
    yield sweep("an export without a file", 2, "-o",
                options=["export", "--copy", "1"])
    yield sweep("an export of copy -1", 2, "'--copy'", "'-1'",
                options=["export", "-o", "out.onnx", "--copy", "-1"])
    yield sweep("an export into a folder that isn't there", 4,
                "'nowhere/out.onnx'", "No such file",
                options=["export", "-o", "nowhere/out.onnx", "--copy", "1"])
    yield sweep("an export into a folder", 4, "'checkpoints'", "directory",
                options=["export", "-o", "checkpoints", "--copy", "1"])
    yield sweep("an export onto a full device", 4, "'full'", "No space left",
                options=["export", "-o", "full", "--copy", "1"], files={
                    "full": link_to_full}.items())
    yield sweep("a measurement of 0 steps", 2, "'--steps'",
                options=["bench", "--steps", "0"])


def make_rows(_):
    yield from make_planning_rows()
    yield from make_hftac_rows()
    yield from make_output_rows()
    yield from make_module_rows()
    yield from make_program_rows()
    yield from make_array_rows()
