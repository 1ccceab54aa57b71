#!/usr/bin/env python3
"""Compares steps that spill with steps that have all memory, with a store that is
throttled relative to the computing time.

    bench/spill.py [--hftac build/bin/hftac] [--networks mlp,deep,cnn] [--part 4]
                   [--ratios 2,1.3,1] [--recompute none] [--threads 1] [--rounds 3]
                   [--steps 10]
    bench/spill.py --copies 64:8 [--hftac build/bin/hftac] [--threads 1] [--rounds 3]
                   [--steps 50]

For each network and each ratio of the spilled step's computing time to the time of its
transfers, prints: how much longer a step takes within a budget, which is an N-th part
(--part) of the memory that a step without spilling needs, with a plan based on measurements
with the store; how much longer still without overlap, if nothing is computed during
transfers; and what the plan has predicted. Then the bytes that a step reads and writes with
one micro-batch and with eight: parameters move equally often in both. Within a budget, a
program recomputes what its plan chose (--recompute auto), or nothing (none). With --copies,
prints how much longer a step of that many copies of examples/fashion is in the memory of
the second number of copies, with a disk that isn't throttled. Ratios are the medians over
neighbouring runs. Needs only Python's standard library."""

import argparse
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

FAST = 2e9  # bytes per second of a store that a step hardly waits for

ROOT = pathlib.Path(__file__).resolve().parent.parent


def make_layers(count, width, function):
    lines = [f"  a1 = {function}(linear(flatten(image), {width}))"]
    lines += [f"  a{layer} = {function}(linear(a{layer - 1}, {width}))"
              for layer in range(2, count)]
    return "\n".join([*lines, f"  return output = linear(a{count - 1}, 10)"])


def make_convolutions(count, channels):
    lines = [f"  a1 = relu(conv(image, {channels}, 3, padding = 1))"]
    lines += [f"  a{layer} = relu(conv(a{layer - 1}, {channels}, 3, padding = 1))"
              for layer in range(2, count)]
    return "\n".join([*lines,
                      f"  return output = linear(flatten(a{count - 1}), 10)"])


# The networks: the shape of an image, the layers, and the batch size.
NETWORKS = {
    "mlp": ("1, 8, 8", make_layers(12, 1024, "relu"), 512),
    "deep": ("1, 8, 8", make_layers(32, 512, "tanh"), 384),
    "cnn": ("3, 16, 16", make_convolutions(16, 48), 32),
}


def write_job(folder, name):
    shape, layers, batch = NETWORKS[name]
    job = folder / f"{name}.hfta"
    sizes = re.sub(" ", "", shape)
    job.write_text(f"""
model net(image: f32[batch, {shape}]) {{
{layers}
}}
data made {{
  image: f32[{sizes}], label: u8
  train image = raw("image"), label = raw("label")
}}
train sweep {{
  model     net(image)
  data      made, batch = {batch}
  loss      cross_entropy(net, label)
  optimizer adam(lr = [1e-4, 2e-4])
  steps     10
}}
""")
    return job


def compile_job(options, job, output, *flags):
    subprocess.run([options.hftac, job, "-o", output, *flags], check=True,
                   stderr=subprocess.DEVNULL)
    return output


def run_bench(options, binary, store, *flags):
    environment = {**os.environ, **({"HFTA_STORE": store} if store else {})}
    result = subprocess.run(
        [binary, "bench", "--json", f"--steps={options.steps}",
         f"--threads={options.threads}", *flags], check=False, env=environment,
        cwd=binary.parent, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if result.returncode:
        sys.exit(result.stderr)
    return json.loads(result.stdout)


def bench(options, binary, store, *flags):
    """Returns of a step the seconds, and the bytes read from and written to the store."""
    measured = run_bench(options, binary, store, *flags)
    return [measured.get(key, 0) / measured["steps"]
            for key in ("seconds", "store_read_bytes", "store_written_bytes")]


def predict(options, job, *flags):
    """Returns what the plan predicts for a step: `predicted` and `computed` are the seconds
    of the step and of its tasks, `read` and `written` the bytes that it transfers."""
    text = subprocess.run([options.hftac, job, "--plan", *flags], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    return {row: float(re.search(rf"^  {row} +(\S+)", text, re.MULTILINE)[1])
            for row in ("predicted", "computed", "read", "written")}


def plan_by_costs(options, folder, job, limits, spilled, store):
    """Measures the program `spilled` with the store, and compiles the job with a plan based
    on these measurements. Returns the new program and its plan's predictions."""
    costs = folder / "costs.json"
    costs.write_text(json.dumps(run_bench(options, spilled, store, "--phases")))
    flags = [*limits, f"--costs={costs}"]
    return (compile_job(options, job, folder / f"{job.stem}-planned", *flags),
            predict(options, job, *flags))


def get_peak(options, binary):
    text = subprocess.run([binary, "info", "--json", f"--threads={options.threads}"],
                          check=True, stdout=subprocess.PIPE).stdout
    return json.loads(text)["peak_bytes"]


def count_parameters(binary):
    """Returns how many bytes of parameters and optimizer state a step fetches and
    evicts."""
    info = json.loads(subprocess.run([binary, "info", "--json"], check=True,
                                     stdout=subprocess.PIPE).stdout)
    sizes = {index: segment["bytes"] for index, segment in enumerate(info["segments"])
             if segment["role"] in ("parameters", "optimizer_state")}

    def count(commands):
        moved = 0
        for command in commands:
            if command["command"] == "repeat" and command["over"] == "micro_batches":
                moved += info["micro_batches"] * count(command["commands"])
            elif "commands" in command:
                moved += count(command["commands"])
            elif command["command"] in ("fetch", "evict"):
                moved += sizes.get(command["segment"], 0)
        return moved

    step, = (each for each in info["schedules"] if each["name"] == "step")
    return count(step["commands"])


def plan_at_ratio(options, folder, job, limits, spilled, ratio):
    """Returns a program, its plan's predictions, and the store's rate in bytes per second,
    such that a step computes `ratio` times as long as it transfers. Plans for slower stores
    move fewer bytes, so the rate is found by iteration."""
    rate = FAST
    for _ in range(3):
        planned, plan = plan_by_costs(options, folder, job, limits, spilled,
                                      f"throttled={rate:.6g}")
        used, rate = rate, (plan["read"] + plan["written"]) * ratio / plan["computed"]
    return planned, plan, used


def compare(options, free, spilled, store):
    """Times steps with all memory, within the budget, and within it without overlap, in
    interleaved runs. Returns the median seconds with all memory; the median ratios of the
    budget to all memory, and of no overlap to overlap; and the best seconds within the
    budget."""
    rounds = [[bench(options, free, None)[0], bench(options, spilled, store)[0],
               bench(options, spilled, store, "--no-overlap")[0]]
              for _ in range(options.rounds)]
    alone, within, _ = zip(*rounds)
    return [statistics.median(alone),
            *(statistics.median(run[at] / run[at - 1] for run in rounds) for at in (1, 2)),
            min(within)]


def report(options, folder, name):
    job = write_job(folder, name)
    free = compile_job(options, job, folder / f"{name}-free")
    peak = get_peak(options, free)
    limits = [f"--memory=device = {peak // options.part}, threads = {options.threads}",
              f"--recompute={options.recompute}"]
    spilled = compile_job(options, job, folder / f"{name}-spilled", *limits)
    print(f"{name}: {peak / 2**20:.1f} MiB, within "
          f"{get_peak(options, spilled) / 2**20:.1f} MiB")
    for ratio in options.ratios:
        planned, plan, rate = plan_at_ratio(options, folder, job, limits, spilled, ratio)
        store = f"throttled={rate:.6g}"
        alone, within, waiting, best = compare(options, free, planned, store)
        moves = sum(bench(options, planned, store)[1:])
        plan_moves = plan["read"] + plan["written"]
        print(f"  computing {1e3 * plan['computed']:.1f} ms, "
              f"{plan['computed'] * rate / plan_moves:.2f} x reading and writing: spilled "
              f"{within:.3f} x a step with all memory ({1e3 * alone:.1f} ms), "
              f"without overlap {waiting:.3f} x that; planned "
              f"{1e3 * plan['predicted']:.1f} ms, measured "
              f"{best / plan['predicted']:.3f} x that; {moves / 2**20:.1f} MiB moved, "
              f"planned {plan_moves / 2**20:.1f}", flush=True)
    parts = compile_job(options, job, folder / f"{name}-parts", *limits,
                        "--micro-batches=8")
    one, eight = (bench(options, binary, None)[1:] for binary in (spilled, parts))
    weights = count_parameters(parts) / count_parameters(spilled)
    print(f"  moved with 8 micro-batches: {sum(eight) / sum(one):.3f} x, of parameters and "
          f"state {weights:.3f} x")


def write_copies(folder, count):
    """Writes the job of examples/fashion with `count` copies, and returns its path."""
    example = ROOT / "examples/fashion"
    shutil.copy(example / "cnn.onnx", folder)
    rates = ", ".join(f"{1e-4 * (copy + 1):.6g}" for copy in range(count))
    job = folder / f"copies-{count}.hfta"
    job.write_text(re.sub(r"adam\(.*\)", f"adam(lr = [{rates}])",
                          (example / "sweep.hfta").read_text()))
    return job


def report_copies(options, folder):
    count, few = map(int, options.copies.split(":"))
    budget = get_peak(options, compile_job(options, write_copies(folder, few),
                                           folder / "few"))
    job = write_copies(folder, count)
    free = compile_job(options, job, folder / "free")
    spilled = compile_job(options, job, folder / "spilled",
                          f"--memory=device = {budget}, threads = {options.threads}")
    runs = [[bench(options, binary, None) for binary in (free, spilled)]
            for _ in range(options.rounds)]
    alone = statistics.median(run[0][0] for run in runs)
    within = statistics.median(run[1][0] / run[0][0] for run in runs)
    print(f"{count} copies in the memory of {few}, {budget / 2**20:.1f} of "
          f"{get_peak(options, free) / 2**20:.1f} MiB: {1e3 * alone:.1f} ms, spilled "
          f"{within:.3f} x ({sum(runs[0][1][1:]) / 2**20:.2f} MiB moved a step)")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--hftac", type=pathlib.Path, default=ROOT / "build/bin/hftac")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    parser.add_argument("--part", type=int, default=4)
    parser.add_argument("--ratios", default="2,1.3,1")
    parser.add_argument("--recompute", choices=["auto", "none"], default="auto")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--copies")
    options = parser.parse_args()
    options.steps = options.steps or (50 if options.copies else 10)
    options.ratios = [float(ratio) for ratio in options.ratios.split(",")]
    with tempfile.TemporaryDirectory(dir=".") as folder:
        folder = pathlib.Path(folder).resolve()
        if options.copies:
            report_copies(options, folder)
        else:
            for name in options.networks.split(","):
                report(options, folder, name)


if __name__ == "__main__":
    main()
