"""Networks that tests cut into four or eight parts, and jobs that train them as pipelines.
Needs only Python's standard library."""

import json
import sys

from harness import DATA, MODELS, REFERENCE, make_blocks, run

sys.path.insert(0, str(REFERENCE))
sys.path.insert(0, str(REFERENCE.parent / "Hostile"))

from make_data import hash32, uniform, write_npy  # noqa: E402
from onnx_writer import (INT64, graph, integers, model, node,  # noqa: E402
                         tensor, value)

RATES = "[1e-3, 3e-3, 1e-2, 3e-2]"
COPIES = 4
STEPS = 5
SAMPLES, TOKENS, WORDS, WIDTH = 320, 6, 11, 8

# Networks in Hfta's language: "mlp" and "deep" with dropouts, "cnn" with running statistics
# in two stages and a pooling of whole planes, whose gradient is placed and summed in another
# stage, and "skip" with a value that skips two stages, and one that is computed
# before the first cut and used by the last stage.
LANGUAGE = {
    "mlp": """
model net(image: f32[batch, 1, 8, 8]) {
  first = dropout(relu(linear(flatten(image), 37)), 0.2)
  second = dropout(relu(linear(first, 21)), 0.1)
  third = dropout(relu(linear(second, 17)), 0.3)
  return output = linear(third, 10)
}
""",
    "cnn": MODELS["cnn"].replace("relu(conv1)", "relu(batch_norm(conv1))")
                        .replace("relu(conv2)", "relu(batch_norm(conv2))")
                        .replace("hidden = relu(linear(flatten(pool2), 16))",
                                 "peaks = conv(pool2, 56, 3, padding = 1)\n"
                                 "  hidden = flatten(max_pool(relu(peaks), 7))"),
    "deep": "\nmodel net(image: f32[batch, 1, 8, 8]) {\n"
            "  a1 = dropout(relu(linear(flatten(image), 16)), 0.1)\n" +
            "".join(f"  a{layer} = tanh(linear(a{layer - 1}, {10 + layer}))\n"
                    for layer in range(2, 8)) +
            "  return output = linear(a7, 10)\n}\n",
    "skip": """
model net(image: f32[batch, 1, 8, 8]) {
  early = relu(linear(flatten(image), 16))
  late = sigmoid(early) * early
  first = relu(linear(early, 16))
  second = relu(linear(first, 16))
  third = linear(second, 16) + first
  return output = linear(relu(third) + first + late, 10)
}
""",
}
CUTS = {
    "mlp": ["first", "second", "third"],
    "cnn": ["pool1", "pool2", "peaks"],
    "deep": [f"a{layer}" for layer in range(1, 8)],
    "skip": ["first", "second", "third"],
    "tied": ["embedded", "mixed1", "mixed2"],
    "partial": ["first", "second", "third"],
}
# The cuts that divide network "tied" into eight parts.
TIED_PARTS = ("embedded", "r1", "n1", "mixed1", "r2", "n2", "mixed2")
FIELDS = {
    "mlp": DATA["mlp"], "deep": DATA["mlp"], "skip": DATA["mlp"], "cnn": DATA["cnn"],
    "tied": 'tokens = npy("tokens.npy"), next = npy("next.npy")',
    "partial": DATA["mlp"],
}
FIELDS["masked"] = FIELDS["tied"]


def make_numbers(name, *dims):
    """Returns a tensor of pseudo-random weights."""
    count = 1
    for size in dims:
        count *= size
    seed = sum(map(ord, name))
    return tensor(name, dims, [(uniform(seed, index) - 0.5) * 0.6
                               for index in range(count)])


def make_block(number, source, result, kind):
    """Returns the nodes and weights of a transformer block that maps `source` to `result`:
    attention with one head, and two layers with the activation function `kind`."""
    def weight(kind):
        return f"{kind}{number}"

    def of(part):
        return f"{part}{number}"
    nodes = [node("MatMul", [source, weight("query")], [of("q")], name=of("q")),
             node("MatMul", [source, weight("key")], [of("k")], name=of("k")),
             node("MatMul", [source, weight("content")], [of("v")], name=of("v")),
             node("Transpose", [of("k")], [of("kt")], name=of("kt"), perm=[0, 2, 1]),
             node("MatMul", [of("q"), of("kt")], [of("s")], name=of("s")),
             node("Softmax", [of("s")], [of("p")], name=of("p"), axis=-1),
             node("MatMul", [of("p"), of("v")], [of("a")], name=of("a")),
             node("Add", [of("a"), source], [of("r")], name=of("r")),
             node("LayerNormalization", [of("r"), weight("scale"), weight("shift")],
                  [of("n")], name=of("n"), axis=-1),
             node("MatMul", [of("n"), weight("up")], [of("u")], name=of("u")),
             node(kind, [of("u")], [of("h")], name=of("h")),
             node("MatMul", [of("h"), weight("down")], [of("d")], name=of("d")),
             node("Add", [of("d"), of("n")], [result], name=result)]
    square = [make_numbers(weight(kind), WIDTH, WIDTH)
              for kind in ("query", "key", "content")]
    return nodes, square + [
        make_numbers(weight("up"), WIDTH, 2 * WIDTH),
        make_numbers(weight("down"), 2 * WIDTH, WIDTH),
        tensor(weight("scale"), [WIDTH], [1.0] * WIDTH),
        make_numbers(weight("shift"), WIDTH)]


def write_tied(folder, name="tied", kind="Relu"):
    """Writes a language model whose embedding table is also the weight of its last layer,
    and its data. `kind` is the activation function of its first block."""
    nodes = [node("Gather", ["words", "tokens"], ["g"], name="g"),
             node("Add", ["g", "places"], ["embedded"], name="embedded")]
    tensors = [make_numbers("words", WORDS, WIDTH),
               make_numbers("places", TOKENS, WIDTH)]
    for number, source in ((1, "embedded"), (2, "mixed1")):
        more, weights = make_block(number, source, f"mixed{number}",
                                   kind if number == 1 else "Relu")
        nodes += more
        tensors += weights
    nodes += [node("Transpose", ["words"], ["turned"], name="turned", perm=[1, 0]),
              node("MatMul", ["mixed2", "turned"], ["scores"], name="scores")]
    (folder / f"{name}.onnx").write_bytes(model(graph(
        nodes, [value("tokens", ["batch", TOKENS], type=INT64)],
        [value("scores", ["batch", TOKENS, WORDS])], tensors)))
    for seed, name in ((21, "tokens"), (22, "next")):
        write_npy(folder / f"{name}.npy", "<i8",
                  [hash32(seed, index) % WORDS for index in range(SAMPLES * TOKENS)],
                  [SAMPLES, TOKENS])


def write_masked(folder):
    """Writes a model whose layers all use one mask, computed from the tokens of write_tied.
    Masked elements keep their value, and the others are replaced by one trained value."""
    nodes = [node("Gather", ["words", "tokens"], ["embedded"], name="embedded"),
             node("LessOrEqual", ["tokens", "seven"], ["small"], name="small"),
             node("Unsqueeze", ["small", "axis"], ["mask"], name="mask")]
    source = "embedded"
    for layer in (1, 2, 3):
        nodes += [node("MatMul", [source, f"w{layer}"], [f"h{layer}"], name=f"h{layer}"),
                  node("Where", ["mask", f"h{layer}", "other"], [f"m{layer}"],
                       name=f"m{layer}")]
        source = f"m{layer}"
    nodes.append(node("MatMul", [source, "last"], ["scores"], name="scores"))
    tensors = [make_numbers("words", WORDS, WIDTH), make_numbers("other", 1),
               make_numbers("last", WIDTH, WORDS), integers("seven", [7]),
               integers("axis", [-1])]
    tensors += [make_numbers(f"w{layer}", WIDTH, WIDTH) for layer in (1, 2, 3)]
    (folder / "masked.onnx").write_bytes(model(graph(
        nodes, [value("tokens", ["batch", TOKENS], type=INT64)],
        [value("scores", ["batch", TOKENS, WORDS])], tensors)))


def write_partial(folder):
    """Writes two models, "plain" and "other". The latter has another activation function
    and one additional layer."""
    for name, kind, more in (("plain", "Relu", False), ("other", "Tanh", True)):
        nodes = [node("Reshape", ["image", "flat"], ["x"], name="x")]
        tensors = [integers("flat", [-1, 64])]
        source, width = "x", 64
        for stage in ("first", "second", "third"):
            nodes += [node("MatMul", [source, f"w.{stage}"], [f"{stage}.sum"],
                           name=f"{stage}.sum"),
                      node(kind if stage == "second" else "Relu", [f"{stage}.sum"],
                           [stage], name=stage)]
            tensors.append(make_numbers(f"w.{stage}", width, 12))
            source, width = stage, 12
            if more and stage == "second":
                nodes.append(node("MatMul", [source, "w.more"], ["more"], name="more"))
                tensors.append(make_numbers("w.more", 12, 12))
                source = "more"
        nodes.append(node("MatMul", [source, "w.last"], ["scores"], name="scores"))
        tensors.append(make_numbers("w.last", 12, 10))
        (folder / f"{name}.onnx").write_bytes(model(graph(
            nodes, [value("image", ["batch", 1, 8, 8])],
            [value("scores", ["batch", 10])], tensors)))


def get_model(net):
    if net in ("tied", "masked"):
        return f'model net = onnx("{net}.onnx")\n'
    if net == "partial":
        return 'model net = onnx("plain.onnx", "other.onnx", "plain.onnx", "other.onnx")\n'
    return LANGUAGE[net]


def make_job(net, clauses, steps=STEPS, batch=48):
    """Returns a job of four copies. The batch size doesn't divide the number of samples, so
    that the last batch of an evaluation is incomplete."""
    rates = RATES
    takes_tokens = FIELDS[net] == FIELDS["tied"]
    label = "next" if takes_tokens else "label"
    metric = f"  metric accuracy(net, {label})"
    loss = f"cross_entropy(net, {label})"
    source = "net(tokens)" if takes_tokens else "net(image)"
    return get_model(net) + make_blocks(
        FIELDS[net] + "\n  test " + FIELDS[net], loss, f"adam(lr = {rates})", steps,
        batch=batch, model=source, clauses=f"{metric}\n  seed 3\n  {clauses}")


def make_pipeline(net, replicas=None, order="auto", cuts=None):
    """Returns the pipeline clause for a network with the given replicas, order and cuts, by
    default those of CUTS."""
    names = ", ".join(f'"{name}"' for name in (cuts or CUTS[net]))
    parts = [f"cuts = [{names}]", f"order = {order}"]
    if replicas:
        parts.append(f"replicas = {replicas}")
    if order == "interleaved":
        parts.append("chunks = 2")
    return "pipeline " + ", ".join(parts)


def compile_on_devices(work, name, text, pipeline, devices):
    """Compiles a job with the plan that hftac makes for `pipeline`, in which each stage's
    devices are replaced by a list of `devices`. Returns the program."""
    job, plan = work.write_job(name, text), work.folder / f"{name}.json"
    run(work.hftac, job, "--plan-pipeline", f"--pipeline={pipeline}", "-o", plan)
    changed = json.loads(plan.read_text())
    for stage, own in zip(changed["stages"], devices, strict=True):
        stage["devices"] = own
    plan.write_text(json.dumps(changed))
    return work.compile(name, text, f'--pipeline=plan("{plan}")')
