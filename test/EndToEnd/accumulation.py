#!/usr/bin/env python3
"""Tests, for every op that adds up terms, in ONNX and in the language, that f64
accumulation makes computation in f32 more exact, both in the forward and in the backward
pass. Needs only Python's standard library.

For each case, hftac trains one step in f64, in f32, and in f32 with `accumulate = f64`,
from equal parameters. The script compares the output (of the command `run`, before the
step), the change of each parameter, the running statistics and the loss. A case's `sums`
names the results that the op's own sums determine: with f64 accumulation, each of these
must be nearer to the f64 result. No other result may be farther from it by more than
rounding to f32."""

import json
import re
import sys

from harness import (REFERENCE, Work, checkpoint, copy_file, fail, make_blocks,
                     read_npy, read_safetensors, run)

sys.path[:0] = [str(REFERENCE), str(REFERENCE.parent / "Hostile")]

from make_data import uniform, write_npy  # noqa: E402
from onnx_writer import (graph, integers, model, node, tensor,  # noqa: E402
                         value)

PRECISIONS = {
    "f64": "f64",
    "f32": "f32, parameters = f64, gradients = f64, state = f64",
    "wide": "f32, parameters = f64, gradients = f64, state = f64, accumulate = f64",
}


def size(shape):
    product = 1
    for axis in shape:
        product *= axis
    return product


def numbers(seed, shape, low=0.25, high=1.25):
    return [low + (high - low) * uniform(seed, i) for i in range(size(shape))]


class Case:
    """A model: either ONNX nodes that compute `y` from `h`, where h = x + p and p is a
    trained parameter, or the body of a model in Hfta's language (`text`). `x` and `y` are
    the shapes of input and output; axis 0 of both is the batch. `weights` maps names of
    further parameters to their shapes."""

    def __init__(self, name, nodes, x, y, sums, weights=None, tensors=(), loss="mse",
                 text=None, clauses=""):
        self.name, self.nodes, self.x, self.y = name, nodes, x, y
        self.sums, self.weights, self.tensors = sums, weights or {}, list(tensors)
        self.loss, self.text, self.clauses = loss, text, clauses
        self.kind = "i64" if text and "embedding" in text else "f32"

    def make_model(self, work):
        if self.text:
            return (f"model net(x: {self.kind}[{', '.join(['batch', *map(str, self.x[1:])])}])"
                    f" {{\n{self.text}\n}}")
        path = work.folder / f"{self.name}.onnx"
        weights = {"p": self.x, **self.weights}
        path.write_bytes(model(graph(
            [node("Add", ["x", "p"], ["h"], "start"), *self.nodes],
            [value("x", ["batch", *self.x[1:]])], ["y"],
            [tensor(name, list(shape), numbers(7 + i, shape))
             for i, (name, shape) in enumerate(weights.items())] + self.tensors)))
        return f'model net = onnx("{path}")'

    def make_job(self, work, precision):
        return self.make_model(work) + make_blocks(
            f'x = npy("{self.name}-x.npy"), y = npy("{self.name}-y.npy")',
            f"{self.loss}(net, y)", "sgd(lr = 1.0)", 1, batch=self.x[0],
            model="net(x)", clauses=f"  precision {precision}\n{self.clauses}")

    def write_data(self, folder):
        if self.kind == "i64":
            indices = [int(uniform(1, i) * 3) for i in range(size(self.x))]
            write_npy(folder / f"{self.name}-x.npy", "<i8", indices, self.x)
        else:
            write_npy(folder / f"{self.name}-x.npy", "<f4", numbers(1, self.x), self.x)
        if self.loss in ("cross_entropy", "nll"):
            shape = self.y[:-1]
            labels = [int(uniform(2, i) * self.y[-1]) for i in range(size(shape))]
            write_npy(folder / f"{self.name}-y.npy", "<i8", labels, shape)
        else:
            write_npy(folder / f"{self.name}-y.npy", "<f4", numbers(2, self.y, 0, 1),
                      self.y)

    def measure(self, work, precision):
        """Returns the results of training and running the job, as a dictionary from names
        to lists of numbers."""
        binary = work.compile(f"{self.name}-{precision}",
                              self.make_job(work, PRECISIONS[precision]))
        log, folder = binary.with_suffix(".jsonl"), binary.with_suffix(".run")
        log.unlink(missing_ok=True)
        trained = checkpoint(work.train(binary, "--log", log, "--overwrite"), 1)
        run(binary, "run", "--input", f"x={work.folder / self.name}-x.npy",
            "--output", folder)
        found = {name: list(tensor[2]) for name, tensor in
                 read_safetensors(copy_file(trained, 0)).items()}
        output = next(folder.glob("*.npy"))
        found["output"] = read_npy(output, "d" if precision == "f64" else "f")
        events = [json.loads(line) for line in log.read_text().splitlines()]
        found["loss"] = [event["loss"][0] for event in events
                         if event["event"] == "step"][:1]
        return found


def distance(mine, theirs):
    return sum((a - b) ** 2 for a, b in zip(mine, theirs)) ** 0.5


def check(work, case):
    case.write_data(work.folder)
    found = {name: case.measure(work, name) for name in PRECISIONS}
    lines = []
    for name, exact in found["f64"].items():
        plain = distance(found["f32"][name], exact)
        wide = distance(found["wide"][name], exact)
        lines.append(f"{name} {plain:.2e} {wide:.2e}")
        if name in case.sums and not wide < plain:
            fail(f"{case.name}: {name} is {plain} from f64 in f32, {wide} with f64 "
                 f"accumulation")
        if wide > 1.5 * plain + 1e-7 * distance(exact, [0] * len(exact)):
            fail(f"{case.name}: {name} is {wide} from f64, {plain} without f64 "
                 f"accumulation")
    missing = set(case.sums) - set(found["f64"])
    if missing:
        fail(f"{case.name} has no {missing}")
    print(f"{case.name}: {', '.join(lines)}")


def onnx_cases():
    yield Case("matmul", [node("MatMul", ["h", "w"], ["y"])], (1, 64, 512), (1, 64, 8),
               ["output", "w"], {"w": (512, 8)})
    yield Case("matmul-wide", [node("MatMul", ["h", "w"], ["y"])], (1, 4, 8), (1, 4, 2048),
               ["p"], {"w": (8, 2048)})
    yield Case("gemm", [node("Reshape", ["h", "rows"], ["r"]),
                        node("Gemm", ["r", "w", "b"], ["q"], transB=1),
                        node("Reshape", ["q", "batch"], ["y"])],
               (1, 512, 256), (1, 512, 4), ["output", "w", "b"],
               {"w": (4, 256), "b": (4,)},
               [integers("rows", [512, 256]), integers("batch", [1, 512, 4])])
    yield Case("einsum", [node("Einsum", ["h", "w"], ["y"], equation="bij,jk->bik")],
               (1, 256, 256), (1, 256, 3), ["output", "w"], {"w": (256, 3)})
    yield Case("conv", [node("Conv", ["h", "w", "b"], ["y"], pads=[1, 1])],
               (1, 128, 512), (1, 4, 512), ["output", "w", "b"],
               {"w": (4, 128, 3), "b": (4,)})
    yield Case("conv-input", [node("Conv", ["h", "w"], ["y"], pads=[1, 1])],
               (1, 2, 16), (1, 512, 16), ["p"], {"w": (512, 2, 3)})
    yield Case("conv-transpose", [node("ConvTranspose", ["h", "w", "b"], ["y"], pads=[1, 1])],
               (1, 128, 512), (1, 4, 512), ["output", "w", "b"],
               {"w": (128, 4, 3), "b": (4,)})
    norm = {"scale": (6,), "b": (6,)}
    yield Case("batch-norm", [node("BatchNormalization",
                                   ["h", "scale", "b", "mean", "var"], ["y"])],
               (1, 6, 2048), (1, 6, 2048), ["scale", "b", "mean", "var"],
               {**norm, "mean": (6,), "var": (6,)})
    yield Case("instance-norm", [node("InstanceNormalization", ["h", "scale", "b"], ["y"])],
               (1, 6, 2048), (1, 6, 2048), ["output", "b"], norm)
    yield Case("layer-norm", [node("LayerNormalization", ["h", "scale", "b"], ["y"])],
               (1, 6, 2048), (1, 6, 2048), ["output"], {"scale": (2048,), "b": (2048,)})
    yield Case("bias", [node("Add", ["h", "b"], ["y"])], (1, 2048, 4), (1, 2048, 4), ["b"],
               {"b": (4,)})
    yield Case("scale", [node("Mul", ["h", "b"], ["y"])], (1, 2048, 4), (1, 2048, 4), ["b"],
               {"b": (4,)})
    terms = {f"w{i}": (64, 64) for i in range(24)}
    for op in ("Sum", "Mean"):
        yield Case(op.lower(), [node(op, ["h", *terms], ["y"])], (1, 64, 64), (1, 64, 64),
                   ["output"], terms)
    rows = (1, 16, 8192)
    yield Case("softmax", [node("Softmax", ["h"], ["y"], axis=2)], rows, rows,
               ["output", "p"])
    yield Case("log-softmax", [node("LogSoftmax", ["h"], ["y"], axis=2)], rows, rows,
               ["output", "p"])
    for op in ("ReduceMean", "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"):
        yield Case(op.lower(), [node(op, ["h"], ["y"], axes=[2], keepdims=0)], rows, (1, 16),
                   ["p"] if op == "ReduceLogSumExp" else ["output"])
    yield Case("reducesum", [node("ReduceSum", ["h", "axes"], ["y"], keepdims=0)], rows,
               (1, 16), ["output"], tensors=[integers("axes", [2])])
    yield Case("cumsum", [node("CumSum", ["h", "axis"], ["y"])], rows, rows, ["output", "p"],
               tensors=[integers("axis", [2])])
    yield Case("average-pool", [node("AveragePool", ["h"], ["y"], kernel_shape=[256])], rows,
               (1, 16, 7937), ["output", "p"])
    yield Case("global-average-pool", [node("GlobalAveragePool", ["h"], ["y"])], rows,
               (1, 16, 1), ["output"])
    yield Case("max-pool", [node("MaxPool", ["h"], ["y"], kernel_shape=[256])], rows,
               (1, 16, 7937), ["p"])
    yield Case("gather", [node("Gather", ["h", "i"], ["y"], axis=2)], (1, 4, 4),
               (1, 4, 2048), ["p"],
               tensors=[integers("i", [int(uniform(3, i) * 4) for i in range(2048)])])
    yield Case("expand", [node("Expand", ["h", "shape"], ["y"])], (1, 4, 1), (1, 4, 2048),
               ["p"], tensors=[integers("shape", [1, 4, 2048])])
    yield Case("resize", [node("Resize", ["h", "", "", "size"], ["y"], mode="linear")],
               (1, 4, 8), (1, 4, 2048), ["p"], tensors=[integers("size", [1, 4, 2048])])


def language_cases():
    wide = (512, 256)
    yield Case("text-linear", [], wide, (512, 4), ["output", "output.weight", "output.bias"],
               text="  return output = linear(x, 4)")
    yield Case("text-conv", [], (16, 64, 128), (16, 4, 128),
               ["output", "output.weight", "output.bias"],
               text="  return output = conv(x, 4, 3, padding = 1)")
    yield Case("text-embedding", [], (2048,), (2048, 4), ["output.weight"],
               text="  return output = embedding(x, 3, 4)")
    yield Case("text-matmul", [], (4, 64, 64), (4, 64, 64), ["output"],
               text="  return output = matmul(x, linear(x, 64))")
    yield Case("text-batch-norm", [], (512, 4, 8), (512, 4, 8),
               ["output.weight", "output.bias", "output.running_mean"],
               text="  return output = batch_norm(x)")
    yield Case("text-layer-norm", [], (512, 512), (512, 512), ["output", "output.bias"],
               text="  return output = layer_norm(x)")
    rows = (8, 1024)
    for op in ("softmax", "log_softmax"):
        yield Case(f"text-{op}", [], rows, rows, ["output"],
                   text=f"  return output = {op}(linear(x, 1024))")
    for op in ("mean", "sum"):
        yield Case(f"text-{op}", [], (8, 1024), (8,), ["output"],
                   text=f"  return output = {op}(linear(x, 1024), 1)")
    images = (2, 3, 32, 32)
    yield Case("text-average-pool", [], images, (2, 3, 17, 17), ["output", "s.weight"],
               text="  s = conv(x, 3, 1)\n  return output = average_pool(s, 16, stride = 1)")
    yield Case("text-global-average-pool", [], images, (2, 3), ["s.weight", "s.bias"],
               text="  s = conv(x, 3, 1)\n  return output = global_average_pool(s)")
    yield Case("text-max-pool", [], images, (2, 3, 17, 17), ["s.weight"],
               text="  s = conv(x, 3, 1)\n  return output = max_pool(s, 16, stride = 1)")
    losses = {"cross_entropy": ["s.bias"], "nll": ["loss"], "mse": ["loss", "s.bias"],
              "binary_cross_entropy": ["loss", "s.bias"]}
    for loss, sums in losses.items():
        yield Case(f"text-{loss}", [], (2048, 8), (2048, 4), ["s.weight", *sums], loss=loss,
                   text="  s = linear(x, 4)\n  return output = s")


def main():
    work = Work(__doc__, more=("--only",))
    only = re.compile(work.options.only or "")
    for case in [*onnx_cases(), *language_cases()]:
        if only.match(case.name):
            check(work, case)


if __name__ == "__main__":
    main()
