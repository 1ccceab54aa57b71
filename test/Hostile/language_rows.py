"""Rows of hftac with wrong job files."""

import os

from onnx_writer import INT64, graph, model, node, tensor, value
from row import Row

GOOD = """model net(image: f32[batch, 8]) {
  hidden = relu(linear(image, 16))
  return output = linear(hidden, 4)
}

data made {
  image: f32[8], label: u8
  train image = npy("image.npy"), label = npy("label.npy")
}

train sweep {
  model     net(image)
  data      made, batch = 16
  loss      cross_entropy(net, label)
  optimizer adam(lr = [1e-3, 1e-2])
  steps     3
}
"""

LOSS = "cross_entropy(net, label)"


def row(name, job, code, *texts, options=(), files=(), place="job.hfta:"):
    """Makes a row of hftac with one job file. The error must contain `place`
    and the texts."""
    return Row(name, {"job.hfta": job, "program": "an older one",
                      **dict(files)},
               ["hftac", "job.hfta", "-o", "program", *options],
               code if isinstance(code, tuple) else (code,), (place, *texts))


def change(name, old, new, code, *texts, **options):
    """Makes a row of the job GOOD with one text replaced. The error must name that line,
    unless `place` says otherwise."""
    if old not in GOOD:
        raise ValueError(f"'{old}' isn't in the job")
    line = GOOD[:GOOD.index(old)].count("\n") + 1
    options.setdefault("place", f"job.hfta:{line}:")
    return row(name, GOOD.replace(old, new, 1), code, *texts, **options)


def replace(name, changes, number, *rest):
    """Makes a row of the job GOOD with several texts replaced, in which {} stands for
    `number`. The error must name the line of the loss."""
    text = GOOD
    for old, new in changes:
        text = text.replace(old, new.format(number), 1)
    return row(name, text, *rest, place="job.hfta:14:")


def make_mode_rows():
    """Makes rows of wrong clauses about modes of normalizations and dropouts."""
    job = GOOD.replace("relu(linear(image, 16))", "dropout(batch_norm(linear(image, 16)))")
    for name, clauses, message in (
            ("that name nothing", 'evaluation_mode "nothing"',
             "pattern 'nothing' matches no batch normalization with running statistics"),
            ("that name a linear layer", 'evaluation_mode "output.*"',
             "'output.*' matches no batch normalization"),
            ("that another clause overrules", 'evaluation_mode "*.weight"\n'
             '  training_mode "*"', "has no effect: 'training_mode' matches all"),
            ("without quotes", "evaluation_mode hidden", "'evaluation_mode' is a string"),
            ("with a name", 'training_mode x = "*"', "'training_mode' takes only patterns"),
            ("that never end", 'training_mode "[a"', "training_mode pattern '[a'")):
        yield row(f"modes {name}", job.replace("steps     3", clauses), 1, message,
                  place="job.hfta:16:")


def make_lexical_rows():
    yield row("an empty file", "", 1, "job.hfta")
    yield row("only a comment", "// nothing", 1)
    yield row("binary zeros", bytes(4096), 1, "job.hfta:1:1",
              "isn't text in UTF-8")
    yield row("random bytes", bytes(range(255, 0, -1)) * 16, 1, "job.hfta:1:1",
              "isn't text in UTF-8")
    yield row("invalid UTF-8 in a string",
              GOOD.replace("image.npy", "im\xffage.npy").encode("latin-1"), 1,
              "job.hfta:8:", "UTF-8")
    yield row("invalid UTF-8 in a comment",
              b"// \xc3\x28\n" + GOOD.encode(), 1, "job.hfta:1:", "UTF-8")
    yield row("a null byte in a name", GOOD.replace("hidden", "hid\0den"), 1,
              "job.hfta:2:")
    yield row("a null byte in a string",
              GOOD.replace("image.npy", "image.npy\0x"), 1, "job.hfta:8:")
    yield change("a character that means nothing", "relu(", "relu@(", 1, "'@'")
    yield change("a string without an end", '"image.npy"', '"image.npy', 1,
                 "string")
    yield row("a string without an end at the end of the file",
              'model m = onnx("cnn', 1, "job.hfta:1:", "string")
    yield change("a block without an end", "steps     3\n}", "steps     3\n", 1,
                 place="job.hfta:")
    yield row("parentheses, 10 000 deep",
              GOOD.replace("linear(hidden, 4)",
                           "(" * 10000 + "hidden" + ")" * 10000), 1,
              "job.hfta:3:", "256")
    yield row("brackets, 10 000 deep",
              GOOD.replace("[1e-3, 1e-2]", "[" * 10000 + "]" * 10000), 1,
              "job.hfta:15:", "256")
    yield row("calls, 10 000 deep",
              GOOD.replace("relu(linear(image, 16))",
                           "relu(" * 10000 + "image" + ")" * 10000), 1,
              "job.hfta:2:", "256")
    yield row("100 000 minus signs",
              GOOD.replace("1e-3", "-" * 100001 + "1e-3"), 1, "job.hfta:15:",
              "'lr'")
    yield row("a sum of 100 000 terms",
              GOOD.replace("16)", "1" + " + 1" * 100000 + ")"), 1,
              "job.hfta:2:")
    yield row("braces, 10 000 of them", "{" * 10000, 1, "job.hfta:1:1")
    yield row("a file of 100 MB",
              lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR),
                                       100 << 20), 1, "4")
    yield row("a line of 3 MB", "// " + "x" * 3000000 + "\nmodel", 1,
              "job.hfta:2:")
    yield row("a name of 100 000 letters",
              GOOD.replace("hidden", "h" * 100000), 0)
    yield row("Windows line ends and a wrong name",
              GOOD.replace("\n", "\r\n").replace("relu", "rleu"), 1,
              "job.hfta:2:", "'rleu'")
    yield Row("no such file", {}, ["hftac", "job.hfta", "-o", "program"], (1,),
              ("'job.hfta'", "No such file"))
    yield Row("a folder instead of a file", {"job.hfta": None},
              ["hftac", "job.hfta", "-o", "program"], (1,),
              ("'job.hfta'", "expected a regular file"))
    yield Row("a device instead of a file",
              {"job.hfta": lambda path: path.symlink_to("/dev/zero")},
              ["hftac", "job.hfta", "-o", "program"], (1,),
              ("'job.hfta'", "expected a regular file"))


def make_number_rows():
    yield change("an integer beyond 64 bits", "16))",
                 "99999999999999999999))", 1, "whole number out of range")
    yield change("a number beyond all floats", "1e-3", "1e999", 1,
                 "number out of range")
    yield change("a negative width", "16))", "-16))", 1, "-16")
    yield change("a width of 0", "16))", "0))", 1, "0")
    yield change("a width with a point", "16))", "16.5))", 1, "16.5")
    yield change("a width of 2^40", "16))", "1099511627776))", 1,
                 "1099511627776")
    yield change("parameters of terabytes, which the compiler needn't have",
                 "16))", "2000000000))", 0)
    yield change("a learning rate that is a text", "[1e-3, 1e-2]", '"fast"', 1)
    yield change("a negative learning rate", "1e-3", "-1e-3", 1, "-0.001")
    yield change("a beta of 2", "adam(", "adam(beta1 = 2, ", 1, "beta1", "2")
    yield change("a negative beta", "adam(", "adam(beta2 = -0.5, ", 1, "beta2",
                 "-0.5")
    yield change("a negative epsilon", "adam(", "adam(eps = -1, ", 1, "eps",
                 "-1")
    yield change("a negative weight decay", "adam(",
                 "adam(weight_decay = [0, -1], ", 1, "weight_decay", "-1")
    yield change("a learning rate of 0 / 0", "1e-3", "0 / 0", 1)
    yield change("a learning rate of 1e300 * 1e300", "1e-3", "1e300 * 1e300", 1)
    yield change("a label smoothing of 2", "label)",
                 "label, label_smoothing = 2)", 1, "label_smoothing", "2")
    weights = "label, class_weights = {})"
    yield change("a negative weight of a class", "label)",
                 weights.format("[1, -1, 1, 1]"), 1, "'class_weights'", "-1")
    yield change("a weight of a class beyond f32", "label)",
                 weights.format("[1, 1e39, 1, 1]"), 1, "'class_weights'", "1e+39")
    yield change("weights that are all 0", "label)", weights.format("[0, 0, 0, 0]"), 1,
                 "'class_weights'", "no label would count")
    yield change("weights of too few classes", "label)", weights.format("[1, 2, 3]"), 1,
                 "'class_weights'", "[16, 4] has 4, got 3")
    yield change("a list of weights without one", "label)", weights.format("[]"), 1,
                 "empty")
    for name, loss, *texts in (
            ("a delta of 0", "huber(net, label, delta = 0)", "'delta'", "got 0"),
            ("one delta of two", "huber(net, label, delta = [1, -1])", "'delta'", "-1"),
            ("weights of differences", "l1(net, label, class_weights = 1)",
             "'l1' has no argument 'class_weights'"),
            ("differences from classes", "l1(net, label)", "the output is [16, 4]"),
            ("a negative beta", "smooth_l1(net, 0, beta = [1, -1])", "'beta'", "-1"),
            ("a third power of margins", "multi_margin(net, label, p = 3)", "'p'", "3"),
            ("a temperature of 0", "info_nce(net, net, temperature = 0)",
             "'temperature'", "got 0"),
            ("sequences without steps", "ctc(net, label)", "[16, 4]", "sequences"),
            ("a blank that is text", 'ctc(net, label, blank = "x")', "'blank'"),
            ("an infinity that is a number", "ctc(net, label, zero_infinity = 2)",
             "'zero_infinity'"),
            ("a variance that is text", 'gaussian(net, 0, "x")', "'variance'"),
            ("a variance of classes", "gaussian(net, 0, label)", "[16, 4]", "[16]"),
            ("vectors that are no output", "triplet(net, net.x, net.output)",
             "no output 'x'"),
            ("divergence along the batch", "kl(net, 0, axis = 0)", "no axis 0"),
            ("a flag that is a number", "kl(net, 0, log_target = 1)", "'log_target'"),
            ("weights that are an output", "mse(net, 0, weights = net.output)",
             "'weights' is a field"),
            ("weights in another shape", "mse(net, 0, weights = label2)",
             "no field 'label2'"),
            ("a loss divided by a number", "mse(net, 0) / 2", "a sum of losses"),
            ("a product of losses", "mse(net, 0) * l1(net, 0)", "a sum of losses"),
            ("a weight that is text", 'mse(net, 0) + "x" * l1(net, 0)', "'weight'"),
            ("a weight that is no number", "mse(net, 0) + [1, 1e999] * l1(net, 0)",
             "out of range"),
            ("a second loss that doesn't exist", "mse(net, 0) + l2(net, 0)",
             "unknown loss 'l2'"),
            ("targets drawn for two outputs",
             "mse(net, net)\n  precondition kfac(fisher = sampled)", "two outputs")):
        yield change(name, LOSS, loss, 1, *texts)
    for name, metric, *texts in (
            ("the best 0 classes", "top_k(k = 0)", "'k'", "got 0"),
            ("the best of too few classes", "top_k(k = 5)", "'k' is 5",
             "there are 4 classes"),
            ("differences of class numbers", "mse", "the output is [16, 4]"),
            ("the best half class", "top_k(net, label, k = 1.5)", "'k'", "1.5"),
            ("the best classes of an axis", "top_k(k = 2, axis = 3)", "no axis 3"),
            ("a metric without a name", "top_5", "unknown metric 'top_5'"),
            ("a second metric without a name", "accuracy, f2", "unknown metric 'f2'"),
            ("an average of another kind", "f1(average = mean)", "unknown average 'mean'"),
            ("an average that is a number", "f1(average = 1)", "'average'"),
            ("a metric with a name", "m = accuracy", "no argument 'm'"),
            ("counts of classes that are values", "f1(net, image)", "the output is [16, 4]"),
            ("perplexity of an axis", "perplexity(axis = 2)", "no axis 2"),
            ("columns as one", "r2(net, net, average = micro)", "can't be micro"),
            ("columns of classes", "r2", "the output is [16, 4]"),
            ("ranks of a number", "auroc(net, 1)", "a field")):
        yield change(name, LOSS, f"{LOSS}\n  metric {metric}", 1, *texts,
                     place="job.hfta:15:")
    yield change("weights of classes that are lists", "label)",
                 weights.format("[[1, 1, 1, 1]]"), 1, "'class_weights'", "a list")
    yield change("a weight for squared differences", "cross_entropy(net, label)",
                 "mse(net, label, class_weights = [1])", 1, "'mse'",
                 "no argument 'class_weights'")
    binary = [("cross_entropy(net, label)", "binary_cross_entropy(net, label, pos_weight = {})"),
              ("label: u8", "label: f32[4]")]
    yield replace("weights of ones for too few logits", binary, "[1, 2, 3]", 1,
                  "'pos_weight'", "[16, 4] has 4, got 3")
    yield replace("a negative weight of ones", binary, "-1", 1, "'pos_weight'", "-1")
    yield change("a weighted loss before kfac", LOSS,
                 "2 * mse(net, 0)\n  precondition kfac", 1, "a loss of one term",
                 place="job.hfta:15:")
    sequences = [("f32[batch, 8]", "f32[batch, 5, 8]"), ("f32[8]", "f32[5, 8]"),
                 ("label: u8", "label: u8[3]"), (LOSS, "ctc(net, label{})")]
    for name, arguments, *texts in (
            ("a blank between classes", ", blank = 2", "'blank' is 2", "of 4 classes"),
            ("a blank that is no class", ", blank = 4", "'blank' is 4"),
            ("steps that are no axis", ", axis = 0", "no axis 0"),
            ("lengths of steps that are labels", ", label", "'input_length'", "[16, 3]"),
            ("a length that is a number", ", label_length = 3", "'label_length'",
             "whole numbers")):
        yield replace(name, sequences, arguments, 1, *texts)
    cut = ("batch = 16", "batch = 16\n  micro_batches 2")
    yield row("vectors of a batch that is cut", GOOD.replace(
        LOSS, "info_nce(net, net)").replace(*cut), 3,
        "mixes the samples of a batch", "2 micro-batches", place="job.hfta:15:")
    soft = [("label)", "label, ignore_index = {})"), ("label: u8", "label: f32[4]")]
    yield replace("an ignored class of probabilities", soft, "1", 1, "'ignore_index'",
                  "probabilities")
    yield replace("logarithms of probabilities and probabilities",
                  [("cross_entropy(", "nll("), ("label: u8", "label: f32[4]")], "", 1,
                  "the output is [16, 4], the label [16, 4]")
    yield change("a bound of 0 for the norm", "steps     3",
                 "steps 3\n  clip_norm 0", 1, "clip_norm", "0",
                 place="job.hfta:17:")
    yield change("0 steps", "steps     3", "steps 0", 1, "0")
    yield change("a negative number of epochs", "steps     3", "epochs -1", 1,
                 "-1")
    yield change("a size of steps", "steps     3", "steps 3MiB", 1, "'steps'",
                 "not a size")
    yield change("a size in a model", "16))", "16KiB))", 1, "not a size")
    yield change("a size beyond 2^62 bytes", "steps     3", "steps 9999999TiB", 1,
                 "size out of range")
    yield change("a size with an unknown unit", "steps     3", "steps 3MB", 1,
                 "neither a number nor a name")
    yield change("half a step", "steps     3", "steps 0.5", 1, "0.5")
    yield change("a warmup of -1", "steps     3",
                 "steps 3\n  schedule cosine(warmup = -1)", 1, "warmup", "-1",
                 place="job.hfta:17:")
    yield change("a step size of 0", "steps     3",
                 "steps 3\n  schedule step(step_size = 0)", 1, "step_size",
                 place="job.hfta:17:")
    for name, schedule, *words in (
            ("milestones that are a number", "multi_step(milestones = 4)",
             "'milestones'"),
            ("a milestone of 0", "multi_step(milestones = [0, 4])", "'milestones'", "0"),
            ("milestones that descend", "multi_step(milestones = [[1], [4, 2]])",
             "2 follows 4"),
            ("no milestones", "multi_step(milestones = [])", "'milestones'"),
            ("a list of copies beside a list of steps",
             "multi_step(milestones = [[1], 2])", "'milestones'"),
            ("a growth below 1", "cosine_restarts(period = 2, growth = 0.5)", "'growth'",
             "0.5"),
            ("a rise of 2", "one_cycle(rise = 2)", "'rise'", "2"),
            ("a sequence of a sequence without milestones",
             "sequence([constant, sequence([constant, linear])], [2])", "'milestones'"),
            ("a plateau in a sequence", "sequence([constant, plateau], [2])",
             "part of a sequence"),
            ("a plateau in a product", "product([constant, plateau])", "part of a product"),
            ("a product of one schedule", "product([cosine])",
             "a product is a list of two or more schedules"),
            ("a product of a number", "product([cosine, 2])", "expected a schedule"),
            ("milestones of a product", "product([cosine, constant], milestones = [2])",
             "'milestones'"),
            ("a factor of 1", "plateau(factor = 1)\n  validation 0.25",
             "'factor'", "1"),
            ("a plateau without scores", "plateau", "validation"),
            ("a name of a threshold mode", "plateau(threshold_mode = rel)\n  validation 0.25", "'rel'")):
        yield change(f"a schedule with {name}", "steps     3",
                     f"steps 3\n  schedule {schedule}", 1, *words, place="job.hfta:17:")
    for name, schedule, *words in (
            ("a word", "eps = fast", "'fast'"),
            ("the seed", "seed = cosine", "'seed'"),
            ("a number without a name", "cosine", "'number = schedule'"),
            ("a number above its range", "weight_decay = linear, beta1 = "
             "exponential(gamma = 1.1)", "beta1")):
        yield change(f"a schedule of {name}", "steps     3",
                     f"steps 3\n  schedule_of {schedule}", 1, *words,
                     place="job.hfta:17:")
    yield change("a dropout rate of 1", "relu(linear(image, 16))",
                 "dropout(image, 1)", 1, "rate", "1")
    yield change("a dropout rate of -0.5", "relu(linear(image, 16))",
                 "dropout(image, [0.5, -0.5])", 1, "rate", "-0.5")
    yield change("an epsilon of -1", "relu(linear(image, 16))",
                 "layer_norm(image, epsilon = -1)", 1, "epsilon", "-1")
    yield change("a deviation of 0", 'npy("image.npy")',
                 'normalize(npy("image.npy"), 0, 0)', 1, "0")
    yield change("data divided by 0", 'npy("image.npy")',
                 'npy("image.npy") / 0', 1, "division by 0")


def make_copies_rows():
    lists = ", ".join(f"{key} = [{', '.join(['0.5'] * 1000)}]"
                      for key in ("lr", "beta1", "beta2", "eps",
                                  "weight_decay"))
    yield change("lists that don't zip", "lr = [1e-3, 1e-2]",
                 "zip(lr = [1e-3, 1e-2], weight_decay = [0, 1, 2])", 1,
                 "'weight_decay' has 3 values", "has 2")
    yield change("an empty list", "[1e-3, 1e-2]", "[]", 1, "empty")
    yield change("10^15 copies", "adam(lr = [1e-3, 1e-2])", f"adam({lists})", 1,
                 "65536", place="job.hfta:")
    yield change("a list of 100 000 numbers", "[1e-3, 1e-2]",
                 "[" + "1e-3, " * 100000 + "]", 1, "65536")
    yield change("another number of copies", "steps     3",
                 "steps 3\n  copies 5", 1, "5", "2", place="job.hfta:17:")
    yield change("0 copies", "steps     3", "steps 3\n  copies 0", 1, "0",
                 place="job.hfta:17:")
    yield change("10^12 copies", "lr = [1e-3, 1e-2])\n  steps     3",
                 "lr = 1e-3)\n  steps 3\n  copies 1000000000000", 1,
                 "1000000000000", place="job.hfta:17:")
    yield change("a list in a list", "[1e-3, 1e-2]", "[[1e-3], 1e-2]", 1,
                 "'lr' is one number, got a list")
    yield change("a zip of a name that no list has", "steps     3",
                 "steps 3\n  zip(lr, momentum)", 1, "momentum",
                 place="job.hfta:17:")


def make_name_rows():
    yield row("a hyper-parameter called as a setting",
              GOOD.replace("f32[batch, 8])", "f32[batch, 8], lr = 1)"), 1,
              "job.hfta:1:", "'lr'")
    yield row("a hyper-parameter called as a dropout's own rate",
              GOOD.replace("f32[batch, 8])", "f32[batch, 8], dropout_rate = 1)")
              .replace("image, 16)", "dropout(image * dropout_rate, 0.1), 16)"),
              1, "job.hfta:1:", "'dropout_rate'", "a rate of its own")
    weights = [tensor(name, [8], [1] * 8) for name in ("w", "velocity/w")]
    state = model(graph(
        [node("Mul", ["image", "w"], ["h"]),
         node("Add", ["h", "velocity/w"], ["output"])],
        [value("image", ["batch", 8])], [value("output", ["batch", 8])],
        weights))
    yield row("a tensor called as checkpoints call an optimizer's state",
              'model net = onnx("net.onnx")\n' +
              GOOD[GOOD.index("data made"):].replace("adam", "sgd"), 3,
              "'velocity/w' is also what checkpoints call",
              files={"net.onnx": state}, place="net.onnx")
    yield change("a name twice", "return output",
                 "hidden = relu(image)\n  return output", 1, "'hidden'")
    yield row("a model twice", GOOD + GOOD[:GOOD.index("data")], 1,
              "job.hfta:18:", "'net'")
    yield row("two train blocks", GOOD + GOOD[GOOD.index("train sweep"):], 1,
              "job.hfta:18:", "train")
    yield change("a clause twice", "steps     3", "steps 3\n  steps 4", 1,
                 "'steps'", place="job.hfta:17:")
    yield change("an argument twice", "adam(", "adam(lr = 1, ", 1, "'lr'")
    yield change("a field twice", "label: u8", "label: u8, image: f32[8]", 1,
                 "'image'")
    yield change("a name that nothing defines", "linear(hidden, 4)",
                 "linear(hiden, 4)", 1, "'hiden'")
    yield change("a function that doesn't exist", "relu(", "rleu(", 1, "'rleu'")
    yield change("a model that doesn't exist", "net(image)\n  data",
                 "nett(image)\n  data", 1, "'nett'")
    yield change("data that don't exist", "made, batch", "mad, batch", 1,
                 "'mad'")
    yield change("a field that doesn't exist", "net(image)\n  data",
                 "net(picture)\n  data", 1, "'picture'")
    yield change("a loss that doesn't exist", "cross_entropy", "crossentropy",
                 1, "'crossentropy'")
    some = "optimizer adam(lr = [1e-3, 1e-2])"
    yield change("an optimizer in a list that doesn't exist", some,
                 "optimizer [adam(), madam(lr = 1)]", 1, "unknown optimizer 'madam'")
    yield change("an optimizer of matrices for all parameters", some, "optimizer muon()", 1,
                 "'muon' updates matrices, but 'hidden.bias' has the shape [16]")
    yield change("an empty list of optimizers", some, "optimizer []", 1,
                 "expected at least one optimizer")
    yield change("a list of optimizers in a list", some, "optimizer [[adam()], sgd()]", 1,
                 "expected an optimizer such as adam(lr = 1e-3)")
    yield change("a list of optimizers that makes too many copies", some,
                 "optimizer [adam(lr = [" + ", ".join(["1"] * 300) + "], beta1 = [" +
                 ", ".join([".5"] * 300) + "]), sgd()]", 1,
                 "the lists make more than 65536 copies")
    for name, clause, message in (
            ("a group without numbers", "vectors", "a group needs parameters, and numbers"),
            ("a group without parameters", "lr_scale = 2", "a group needs parameters, and numb"),
            ("a group of an unknown kind", "vector, lr_scale = 2",
             "unknown kind of parameters 'vector'"),
            ("a group of a kind that the model lacks", "norms, lr_scale = 2",
             "the model has no trained parameters of the kind 'norms'"),
            ("a group by a pattern without match", '"hedden.*", lr_scale = 2',
             "group pattern 'hedden.*' matches no trained parameter"),
            ("a group by a wrong pattern", '"hidden.[", lr_scale = 2', "group pattern 'hidden.['"),
            ("a group with an own lr", "vectors, lr = 1", "'group' has no argument 'lr'"),
            ("a group with a number that the optimizer lacks", "vectors, momentum = 1",
             "'group' has no argument 'momentum'"),
            ("a group with a negative scale", "vectors, lr_scale = -1", "'lr_scale' is out of"),
            ("a group with an unknown optimizer", "hidden, optimizer = moun(lr = 1)",
             "unknown optimizer 'moun'"),
            ("a group with a list of optimizers", "hidden, optimizer = [sgd(), muon()]",
             "expected an optimizer such as adam(lr = 1e-3)"),
            ("a group that gives a number twice",
             "hidden, optimizer = muon(weight_decay = 0), weight_decay = 1",
             "the group's optimizer has 'weight_decay', too"),
            ("an optimizer of matrices for vectors", "vectors, optimizer = muon()",
             "'muon' updates matrices, but 'hidden.bias' has the shape [16]"),
            ("a scale that muon doesn't have", "hidden, optimizer = muon(scale = spectral)",
             "unknown scale 'spectral'"),
            ("an iteration that muon doesn't have", "hidden, optimizer = muon(iteration = gramm)",
             "unknown iteration 'gramm'"),
            ("bases that are never new", "hidden, optimizer = soap(every = 0)",
             "'every' is out of range"),
            ("bases after half an update", "hidden, optimizer = shampoo(every = 1.5)", "'every'"),
            ("roots of nothing", "hidden, optimizer = shampoo(eps = 0)", "'eps' is out of range"),
            ("a power that isn't one", "hidden, optimizer = kl_shampoo(exponent = -1)",
             "'exponent' is out of range"),
            ("a graft that shampoo doesn't have", "hidden, optimizer = shampoo(graft = sgd)",
             "unknown graft 'sgd'"),
            ("a group with a negative clip", "vectors, clip_norm = -1",
             "'clip_norm' is out of range"),
            ("a group with an unknown clip", "vectors, clip = adaptve(0.1)",
             "unknown way to clip 'adaptve'"),
            ("a group with a number as clip", "vectors, clip = 0.1", "expected adaptive(...)"),
            ("a group with a clip of no factor", "vectors, clip = adaptive()", "'factor'"),
            ("a group with a clip of zero", "vectors, clip = adaptive(0)",
             "'factor' is out of range"),
            ("a group of a number", "3, lr_scale = 1", "'kind of parameters' is a word")):
        yield change(name, some, f"{some}\n  group {clause}", 1, message, place="job.hfta:16:")
    yield change("a group after a wrong optimizer", some,
                 "optimizer madam(lr = 1)\n  group vectors, weight_decay = 0", 1,
                 "unknown optimizer 'madam'")
    for name, clause, message in (
            ("a clip that doesn't exist", "clip norm(1)", "unknown way to clip 'norm'"),
            ("a clip without a factor", "clip adaptive", "'factor'"),
            ("a clip of a number", "clip 0.1", "expected adaptive(...)"),
            ("a negative limit of elements", "clip_value -1", "'clip_value' is out of range"),
            ("two limits of elements", "clip_value 1, 2", "'clip_value'"),
            ("layers without a decay", 'layer_decay layers = ["*"]', "'decay'"),
            ("a decay without layers", "layer_decay 0.5", "'layer_decay' needs 'layers'"),
            ("a decay with no layers", "layer_decay 0.5, layers = []",
             "'layer_decay' needs 'layers'"),
            ("a decay above 1", 'layer_decay 1.5, layers = ["*"]', "'layer_decay' is out of"),
            ("a decay of zero", 'layer_decay 0, layers = ["*"]', "'layer_decay' is out of"),
            ("layers without a parameter", 'layer_decay 0.5, layers = ["hidden.*"]',
             "parameter 'output.weight' belongs to none of the 'layers'"),
            ("layers that name nothing", 'layer_decay 0.5, layers = ["nothing", "*"]',
             "layer pattern 'nothing' matches no parameter"),
            ("layers behind others", 'layer_decay 0.5, layers = ["*", "output.*"]',
             "layer pattern 'output.*' matches only parameters of patterns before it"),
            ("layers without an end", 'layer_decay 0.5, layers = ["[a", "*"]',
             "layer pattern '[a'"),
            ("layers of numbers", "layer_decay 0.5, layers = [1]", "'layers' is a string"),
            ("a schedule of a clip that the job lacks", "schedule_of clip_value = cosine",
             "'clip_value'")):
        yield change(name, some, f"{some}\n  {clause}", 1, message, place="job.hfta:16:")
    for name, optimizer, message in (
            ("an average of nothing", "schedule_free_sgd(momentum = 0)",
             "'momentum' is out of range, got 0"),
            ("an average alone", "schedule_free_adamw(beta1 = 1)", "'beta1' is out of range"),
            ("a pair of averages of nothing", "schedule_free_adamw(betas = [0, 0.99])",
             "'betas' is out of range, got 0"),
            ("a search of averages of nothing", "schedule_free_sgd(momentum = uniform(0, 0.9))"
             "\n  validation 0.5\n  search random(trials = 3), slots = 1", "'momentum'"),
            ("a negative power of rates", "schedule_free_sgd(rate_power = -1)",
             "'rate_power' is out of range"),
            ("a negative power of steps", "schedule_free_sgd(r = -1)", "'r' is out of range"),
            ("an average of averages", "[adam(), schedule_free_sgd()]\n  average ema()",
             "'average' and the optimizer 'schedule_free_sgd' exclude each other"),
            ("an average of a group's averages",
             "adam()\n  average swa(start = 0)\n  group vectors, optimizer = "
             "schedule_free_adamw()",
             "'average' and the optimizer 'schedule_free_adamw' exclude each other")):
        yield change(name, some, f"optimizer {optimizer}", 1, message, place="job.hfta:1")
    yield change("an optimizer that doesn't exist", "adam(", "madam(", 1,
                 "'madam'")
    yield change("a clause that doesn't exist", "steps     3", "stps 3", 1,
                 "stps")
    yield change("a value that nothing uses", "return output",
                 "other = relu(image)\n  return output", 1, "'other'",
                 place="job.hfta:3:")
    yield change("an option that the optimizer hasn't", "adam(",
                 "adam(momentum = 0.9, ", 1, "'momentum'")
    yield change("a value used before its definition",
                 "hidden = relu(linear(image, 16))",
                 "early = relu(hidden)\n  hidden = linear(image, 16)", 1,
                 "'hidden'")
    for clause in ("model     net(image)", "data      made, batch = 16",
                   "loss      cross_entropy(net, label)",
                   "optimizer adam(lr = [1e-3, 1e-2])"):
        word = clause.split()[0]
        yield change(f"no {word} clause", clause, "", 1, word,
                     place="job.hfta:11:")
    yield change("no batch", ", batch = 16", "", 1, "batch",
                 place="job.hfta:")


def make_precondition_rows():
    for name, arguments, *words in (
            ("an option that it hasn't", "dampning = 1e-3", "'dampning'"),
            ("a damping of 0", "damping = [1e-3, 0]", "'damping'", "got 0"),
            ("a damping that is a word", "damping = large", "'damping'"),
            ("a decay of 1", "decay = 1", "'decay'", "got 1"),
            ("half a period", "factor_every = 0.5", "'factor_every'", "0.5"),
            ("inversions that are more frequent than factors",
             "factor_every = [1, 20], inverse_every = 10",
             "every 10 steps", "every 20", "copy 1"),
            ("a negative clip", "kl_clip = -1e-3", "'kl_clip'", "-0.001"),
            ("a method that doesn't exist", "method = lu", "'lu'"),
            ("a list of words", "sharing = [expand, reduce]", "'sharing'"),
            ("pi of eigenvalues", "method = eigen, pi = true", "'pi'", "'eigen'"),
            ("a block of nothing", "block = 0", "'block'", "0"),
            ("a narrow inversion", "inversion = bf16", "'bf16'"),
            ("a schedule that doesn't exist", "damping_schedule = stepp", "'stepp'"),
            ("a schedule's list in a zip that hasn't its length",
             "damping_schedule = step(zip(step_size = [1, 2], gamma = [1, 2, 3]))",
             "3 values", "2"),
            ("an excluded pattern that nothing matches", 'exclude = "tail.*"',
             "'tail.*'"),
            ("an excluded pattern that is none", 'exclude = "[a"', "'[a'"),
            ("everything excluded", 'exclude = ["*.weight", "*"]',
             "nothing is left to precondition"),
            ("more than all ranks", "placement = fraction(1.5)", "'placement'",
             "1.5"),
            ("a fraction of nothing", "placement = fraction()", "'number'"),
            ("a placement that doesn't exist", "placement = everywhere",
             "'everywhere'"),
            ("an option without its name", "1e-3, 0.9, 1, 1, 0, cholesky, true, 3",
             "'fisher'")):
        yield change(f"kfac with {name}", "steps     3",
                     f"steps 3\n  precondition kfac({arguments})", 1, *words,
                     place="job.hfta:17:")
    for share in ("0.3", "1 / 3", "0.75"):
        yield change(f"inverses on {share} of four replicas", "steps     3",
                     "steps 3\n  micro_batches 4\n  pipeline replicas = [4]\n"
                     f"  precondition kfac(placement = fraction({share}))", 1,
                     "with 4 replicas", "fraction(0.5)", place="job.hfta:19:")
    stages = ('steps 3\n  micro_batches 4\n  pipeline cuts = ["hidden"], '
              "replicas = [2, 3]\n")
    yield change("inverses on a half of three replicas of a stage", "steps     3",
                 f"{stages}  precondition kfac(placement = fraction(0.5))", 1,
                 "with 3 replicas of stage 1", "fraction(1)", place="job.hfta:19:")
    yield change("factors of one group where stages have other groups", "steps     3",
                 f"{stages}  precondition kfac(placement = local)", 1,
                 "stage 0 has 2, stage 1 has 3", place="job.hfta:19:")
    yield change("another preconditioner", "steps     3",
                 "steps 3\n  precondition shampoo", 1, "'shampoo'",
                 place="job.hfta:17:")
    yield change("a preconditioner without a name", "steps     3",
                 "steps 3\n  precondition damping = 1e-3", 1, "one value",
                 place="job.hfta:17:")
    yield change("two preconditioners", "steps     3",
                 "steps 3\n  precondition kfac\n  precondition kfac", 1,
                 "second clause 'precondition'", place="job.hfta:18:")
    yield row("a model's number with the name of a preconditioner's",
              GOOD.replace("[batch, 8])", "[batch, 8], decay = 1)").replace(
                  "steps     3", "precondition kfac"), 1, "'decay'")


def make_normalization_rows():
    """Makes rows of batch normalizations in training with one value per channel."""
    for name, options, end in (
            ("a batch of 1", ["--batch=1"], ""),
            ("a batch of 1 of copies apart", ["--batch=1", "--no-fuse"], ""),
            ("micro-batches of 1", ["--micro-batches=16"], " in each of 16 micro-batches"),
            ("micro-batches of 1 in a budget",
             ["--micro-batches=16", "--memory=device = 1MiB"],
             " in each of 16 micro-batches")):
        yield change(f"batch_norm in {name}", "relu(linear", "batch_norm(linear", 3,
                     "error: batch normalization in training needs more than one value per "
                     f"channel, got an input of shape [1, 16]{end}", options=options)


def make_shape_rows():
    yield change("a batch of 0", "batch = 16", "batch = 0", 1, "0")
    yield change("a negative batch", "batch = 16", "batch = -16", 1, "-16")
    yield change("a batch of 2^60", "batch = 16", "batch = 1152921504606846976",
                 1, "1152921504606846976")
    yield change("a batch of two billion, with activations of terabytes",
                 "batch = 16", "batch = 2000000000", 1, "'batch'", "2000000000")
    yield change("micro-batches that don't divide the batch", "steps     3",
                 "steps 3\n  micro_batches 3", 1, "3", "16",
                 place="job.hfta:17:")
    yield change("0 micro-batches", "steps     3", "steps 3\n  micro_batches 0",
                 1, "0", place="job.hfta:17:")
    for name, clauses, *words in (
            ("more groups than micro-batches", "micro_batches 2, groups = 3",
             "3 groups for 2 micro-batches"),
            ("0 groups", "micro_batches 2, groups = 0", "'groups'", "0"),
            ("groups that are a word", "micro_batches 2, groups = many", "many"),
            ("more replicas than micro-batches",
             "micro_batches 2\n  pipeline replicas = [4]",
             "4 replicas share 2 micro-batches"),
            ("fewer groups than replicas",
             "micro_batches 4, groups = 2\n  pipeline replicas = [4]",
             "2 groups for 4 replicas"),
            ("replicas that don't divide the batch", "pipeline replicas = [3]",
             "3 micro-batches", "16"),
            ("replicas of two stages", "pipeline replicas = [2, 2]",
             "2 numbers of replicas"),
            ("0 replicas", "pipeline replicas = [0]", "'replicas'", "0"),
            ("no replicas", "pipeline replicas = []", "'replicas'"),
            ("a pipeline to be planned for no cluster", "pipeline auto",
             "'cluster'"),
            ("a pipeline that is planned and given",
             "cluster devices = [2]\n  pipeline auto, replicas = [2]",
             "exclude each other"),
            ("a pipeline that is a word", "pipeline automatic", "'auto'"),
            ("a cluster without devices", "cluster memory = 1GiB", "'devices'"),
            ("half a replica", "pipeline replicas = [1.5]", "'replicas'", "1.5"),
            ("replicas that are text", 'pipeline replicas = ["2"]', "replicas"),
            ("a cut at no value", 'pipeline cuts = ["nowhere"]', "'nowhere'"),
            ("a cut at two values of which one isn't",
             'pipeline cuts = [["hidden", "nowhere"]]', "'nowhere'"),
            ("a cut that is a number", "pipeline cuts = [3]", "'cuts'"),
            ("a cut without a name", 'pipeline cuts = [""]', "'cuts' is empty"),
            ("a cut of nothing", "pipeline cuts = [[]]", "'cuts' is empty"),
            ("a value that is cut twice",
             'pipeline cuts = ["hidden", "hidden"]', "'hidden' is cut twice"),
            ("cuts in the wrong order", 'pipeline cuts = ["output", "hidden"]',
             "'output' depends on 'hidden' in a later cut"),
            ("replicas of one of two stages",
             'pipeline cuts = ["hidden"], replicas = [1]',
             "1 number of replicas for 2 stages"),
            ("a stage of more replicas than micro-batches",
             'micro_batches 2\n  pipeline cuts = ["hidden"], replicas = [2, 4]',
             "4 replicas of stage 1 share 2 micro-batches"),
            ("a stage of more replicas than groups",
             "micro_batches 4, groups = 2\n"
             '  pipeline cuts = ["hidden"], replicas = [1, 4]',
             "2 groups for 4 replicas of stage 1"),
            ("more in flight than there is",
             'micro_batches 2\n  pipeline cuts = ["hidden"], in_flight = [3, 1]',
             "3 micro-batches in flight of 2"),
            ("nothing in flight",
             'pipeline cuts = ["hidden"], in_flight = [0, 1]', "'in_flight'",
             "0"),
            ("in flight in three of two stages",
             'pipeline cuts = ["hidden"], in_flight = [1, 1, 1]',
             "3 numbers of micro-batches in flight for 2 stages"),
            ("in flight without cuts", "pipeline in_flight = [1]",
             "'in_flight'"),
            ("an order that isn't one", "pipeline order = sideways",
             "unknown order 'sideways'"),
            ("an order that is a number", "pipeline order = 1", "'order'"),
            ("two orders",
             "micro_batches 2, all_forwards_first = true\n"
             "  pipeline order = one_f_one_b", "'one_f_one_b'"),
            ("an order of chunks without chunks",
             'pipeline cuts = ["hidden"], order = interleaved', "1 chunk"),
            ("an order without chunks of stages that have some",
             'pipeline cuts = ["hidden"], order = zero_bubble, chunks = 2',
             "'zero_bubble'", "2 chunks"),
            ("a v_shape of unequal stages",
             "micro_batches 4\n  pipeline cuts = [\"hidden\", \"a\", \"b\"], "
             "order = v_shape, replicas = [2, 1]", "the same number of replicas"),
            ("a v_shape of three chunks",
             'pipeline cuts = ["hidden"], order = v_shape, chunks = 3', "not 3"),
            ("parts that chunks don't divide",
             'pipeline cuts = ["hidden"], chunks = 3', "2 parts", "3 chunks"),
            ("0 chunks", "pipeline chunks = 0", "'chunks'", "0"),
            ("half a chunk", "pipeline chunks = 0.5", "'chunks'"),
            ("a word that recompute doesn't know", "recompute some", "'some'"),
            ("recompute without a word", "recompute", "recompute"),
            ("recompute of stages", "recompute [0, 1]", "'recompute'"),
            ("two words of recompute", "recompute none, all", "recompute"),
            ("recompute twice", "recompute all\n  recompute none",
             "second clause 'recompute'"),
            ("a bucket of nothing", "pipeline replicas = [2], bucket = 0",
             "'bucket'", "0"),
            ("a bucket of half a byte", "pipeline replicas = [2], bucket = 0.5",
             "'bucket'", "0.5"),
            ("a pipeline of something else", "pipeline stages = 2", "stages"),
            ("two pipelines", "pipeline replicas = [2]\n  pipeline replicas = [2]",
             "second clause 'pipeline'")):
        yield change(name, "steps     3", f"steps 3\n  {clauses}", 1, *words,
                     place="job.hfta:1")
    yield from make_order_rows()
    yield change("data of another size than the input", "f32[8], label",
                 "f32[9], label", 1, "8", "9", place="job.hfta:")
    yield change("data of another rank than the input", "f32[8], label",
                 "f32[2, 4], label", 1, "8", place="job.hfta:")
    yield change("labels of another shape", "label: u8", "label: u8[3]", 1, "3",
                 place="job.hfta:")
    yield change("an input without axes", "f32[batch, 8]", "f32[]", 1,
                 place="job.hfta:1:")
    yield change("an input of nine axes", "f32[batch, 8]",
                 "f32[batch, 1, 1, 1, 1, 1, 1, 1, 8]", 1, "8",
                 place="job.hfta:1:")
    yield change("an axis of size 0", "f32[batch, 8]", "f32[batch, 0]", 1,
                 "size out of range")
    yield change("a type that doesn't exist", "f32[8], label", "f33[8], label",
                 1, "'f33'")
    yield change("a field of 2^80 elements", "f32[8], label",
                 "f32[1048576, 1048576, 1048576, 1048576], label", 1)
    yield change("a size for an axis that doesn't exist", "steps     3",
                 "steps 3\n  dim tokens = 4", 1, "tokens", place="job.hfta:17:")
    yield change("another size of the batch's axis", "steps     3",
                 "steps 3\n  dim batch = 4", 1,
                 "axis 'batch' counts the samples of a batch, which are 16, not 4",
                 place="job.hfta:17:")
    yield change("a kernel bigger than its input",
                 "relu(linear(image, 16))",
                 "conv(reshape(image, [batch, 1, 8]), 4, 9)", 1, "9", "8")
    yield change("a stride of 0", "relu(linear(image, 16))",
                 "conv(reshape(image, [batch, 1, 8]), 4, 3, stride = 0)", 1,
                 "stride", "0")
    yield change("groups that don't divide", "relu(linear(image, 16))",
                 "conv(reshape(image, [batch, 1, 8]), 4, 3, groups = 3)", 1,
                 "groups", "3")
    yield change("a padding of 2^60", "relu(linear(image, 16))",
                 "conv(reshape(image, [batch, 1, 8]), 4, 3, "
                 "padding = 1152921504606846976)", 1, "1152921504606846976")
    yield change("a reshape that doesn't fit", "relu(linear(image, 16))",
                 "reshape(image, [batch, 3])", 1, "3", "8")
    yield change("a reshape whose product overflows", "relu(linear(image, 16))",
                 "reshape(image, [batch, 2147483647, 2147483647, 2147483647])",
                 1, "the shape is too large")
    yield change("an axis out of range", "relu(linear(image, 16))",
                 "softmax(image, axis = 7)", 1, "7")
    yield change("an axis of the batch", "relu(linear(image, 16))",
                 "softmax(image, axis = 0)", 1, "0")
    yield change("shapes that don't broadcast", "relu(linear(image, 16))",
                 "linear(image, 16) + image", 1, "16", "8")
    yield change("a concatenation of two ranks", "relu(linear(image, 16))",
                 "concat(image, reshape(image, [batch, 2, 4]))", 1)


def make_order_rows():
    """Makes rows of pipelines of two stages and two micro-batches, with wrong orders from
    files and wrong clauses about them."""
    good = "0F0,0F1,0B0,0B1\n1F0,1B0,1F1,1B1\n"
    rows = [
        ("nothing", "", "order.csv:1:1: expected a row for each of 2 workers, got 0"),
        ("no text", bytes(range(256)), "order.csv:1:1: expected an action"),
        ("no action", good.replace("0F1", "0X1"),
         "order.csv:1:5: expected an action such as 0F0", "'0X1'"),
        ("numbers out of reach", good.replace("0F1", f"0F{2 ** 70}"), "order.csv:1:5:"),
        ("a stage that isn't there", good.replace("1F1", "7F1"), "order.csv:2:9:",
         "a stage below 2 in 7F1"),
        ("a micro-batch that isn't there", good.replace("1F1", "1F2"),
         "order.csv:2:9:", "a micro-batch below 2 in 1F2"),
        ("an action that is missing", good.replace(",1B1", ""), "order.csv:2:1:",
         "worker 1 has no 1B1"),
        ("an action that is there twice", good.replace("0B1", "0F1"),
         "order.csv:1:13: 0F1 is there twice"),
        ("an action on the wrong worker", good.replace("1F1", "0F1"),
         "order.csv:2:9:", "on worker 0, not on worker 1"),
        ("micro-batches in another order", "0F1,0F0,0B0,0B1\n1F0,1B0,1F1,1B1\n",
         "order.csv:1:5: 0F0 comes after 0F1"),
        ("half a backward", good.replace("1B1", "1I1"), "worker 1 has no 1W1"),
        ("a circle", "0F0,0B0,0F1,0B1\n1F0,1F1,1B0,1B1\n", "order.csv:1:5:",
         "wait for each other"),
        ("a row too many", good + "2F0\n", "order.csv:3:1:", "2 workers, got 3"),
        ("a forward that is computed again too late", good[:-1] + ",1R1",
         "order.csv:2:17: 1R1 comes after 1B1"),
        ("more in flight than the job says", "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n",
         "order.csv:2:5:", "at most 1 forwards"),
    ]
    pipeline = '  pipeline cuts = ["hidden"], order = file("order.csv")'
    for name, text, *words in rows:
        limit = ", in_flight = [2, 1]" * (name.startswith("more in"))
        yield change(f"an order of {name}", "steps     3",
                     f"steps 3\n  micro_batches 2\n{pipeline}{limit}", 1, *words,
                     place="job.hfta:18:", files={"order.csv": text}.items())
    for name, clause, *words in (
            ("a file that isn't there", 'order = file("no.csv")', "cannot read",
             "no.csv"),
            ("a folder", 'order = file(".")', "expected a regular file"),
            ("a device", 'order = file("/dev/zero")', "expected a regular file"),
            ("no name", "order = file()", "'file'"),
            ("an empty name", 'order = file("")', "'file' is empty"),
            ("two files", 'order = file("order.csv", "b.csv")', "'file'"),
            ("a number", "order = file(3)", "'file' is a string"),
            ("a file without parentheses", "order = file", "unknown order 'file'"),
            ("another call", 'order = csv("order.csv")', "'csv'"),
            ("a file and all forwards first",
             'order = file("order.csv")\n  micro_batches 2, all_forwards_first = true',
             "all_forwards_first"),
            ("a word with a file", 'costs = file("order.csv")', "'costs' is a word")):
        yield change(f"an order of {name}", "steps     3",
                     f'steps 3\n  pipeline cuts = ["hidden"], {clause}', 1, *words,
                     place="job.hfta:1", files={"order.csv": good}.items())
    for name, clause, words in (
            ("of one stage", "pipeline", "a pipeline with 'cuts'"),
            ("of stages to be planned", "cluster devices = [2]\n  pipeline auto,",
             "exclude each other")):
        yield change(f"an order from a file {name}", "steps     3",
                     f'steps 3\n  {clause} order = file("order.csv")', 1, words,
                     place="job.hfta:1", files={"order.csv": good}.items())


def make_file_rows():
    header = b"\x93NUMPY\1\0v\0"

    def npy(descr, shape):
        return header + (f"{{'descr': '{descr}', 'fortran_order': False, "
                         f"'shape': {shape}, }}").ljust(117).encode() + b"\n"

    def data(content):
        return {"image.npy": content}.items()

    image = 'npy("image.npy")'
    yield change("a data file that is no npy", image, image, 1, "image.npy",
                 files=data("nothing"))
    yield change("an empty data file", image, image, 1, "image.npy",
                 files=data(b""))
    yield change("a data file cut off in its header", image, image, 1,
                 "image.npy", files=data(npy("<f4", "(3, 8)")[:40]))
    yield change("a data file of another type", image, image, 1, "image.npy",
                 "f64", "f32", files=data(npy("<f8", "(0, 8)")),
                 place="job.hfta:")
    yield change("a data file of another shape", image, image, 1, "image.npy",
                 "9", "8", files=data(npy("<f4", "(0, 9)")), place="job.hfta:")
    for name, content, text in (
            ("of texts", npy("<U8", "(0, 8)"), "'<U8'"),
            ("of complex numbers", npy("<c8", "(0, 8)"), "'<c8'"),
            ("of records", npy("<f4", "(0, 8)").replace(b"'<f4'", b"[('a')]"), "records"),
            ("of a future version", npy("<f4", "(0, 8)").replace(
                b"Y\1", b"Y\7"), "version 7.0"),
            ("that is packed", b"\x1f\x8b\x08\0", "packed by gzip")):
        yield change(f"a data file {name}", image, image, 3, "image.npy", text,
                     files=data(content))
    csv = image.replace("npy", "csv")
    for name, content, text in (
            ("that is packed", b"\x1f\x8b\x08\0", "packed by gzip"),
            ("in UTF-16", "0,1".encode("utf-16"), "UTF-16")):
        yield change(f"a csv file {name}", image, csv, 3, "image.csv", text,
                     files={"image.csv": content}.items())
    yield change("a folder as a csv file", image, csv, 1, "image.csv",
                 files={"image.csv": None}.items())
    for name, argument, text in (
            ("of another word", "header = yes", "unknown header 'yes'"),
            ("of a number", "header = 1", "'header' is a word"),
            ("of a string", 'header = "true"', "'header' is a word"),
            ("twice", "header = true, header = true", "header")):
        yield change(f"a csv header {name}", image,
                     csv.replace(")", f", {argument})"), 1, text)
    yield change("two csv headers for one file",
                 'npy("image.npy"), label = npy("label.npy")',
                 'csv("a.csv", header = true), label = csv("a.csv", column = 8, '
                 "header = false)", 1, "'label' has header = false for 'a.csv'",
                 "'image' has header = true")
    for name, path in (("", "a.csv"), (" by another path", "./a.csv")):
        yield change(f"two csv headers for one file of train and test{name}",
                     'image = npy("image.npy"), label = npy("label.npy")',
                     'image = csv("a.csv", header = true), label = npy("label.npy")\n'
                     f'  test image = csv("{path}", header = false), '
                     'label = npy("label.npy")', 1,
                     f"'image' in 'test' has header = false for '{path}'",
                     "'image' in 'train' has header = true")
    yield change("a header of an npy file", image,
                 'npy("image.npy", header = true)', 1, "'header'")
    yield change("a data file of 2^96 elements", image, image, 1, "image.npy",
                 files=data(npy("<f4", f"({1 << 32}, {1 << 32}, {1 << 32})")))
    yield change("a data file of negative size", image, image, 1, "image.npy",
                 files=data(npy("<f4", "(-3, 8)")))
    yield change("a folder as a data file", image, image, 1, "image.npy",
                 files=data(None))
    yield change("a name without an ending", image, '"image"', 1, "image")
    yield change("a format that doesn't exist", image, 'png("image.npy")', 1,
                 "png")
    yield change("a data file that isn't there, of no declared type",
                 "image: f32[8], label: u8", "label: u8", 1, "image",
                 place="job.hfta:")
    onnx = GOOD[GOOD.index("data"):]
    for name, content, text in (("missing", None, "'net.onnx'"),
                                ("empty", b"", "net.onnx"),
                                ("text", "no model", "net.onnx")):
        files = {} if content is None else {"net.onnx": content}
        yield row(f"an ONNX file, {name}",
                  'model net = onnx("net.onnx")\n' + onnx, 1, text,
                  place="" if files else "job.hfta:1:", files=files.items())


def make_mixing_rows():
    """Makes rows of models that mix the samples of a batch, with several micro-batches."""
    graphs = {
        "the mean": [node("ReduceMean", ["image"], ["m"], "mix", axes=[0]),
                     node("Sub", ["image", "m"], ["h"])],
        "the first sample": [node("Gather", ["image", "zero"], ["m"], "mix"),
                             node("Sub", ["image", "m"], ["h"])],
        "a softmax": [node("Softmax", ["image"], ["h"], "mix", axis=0)],
        "a sum of all": [node("CumSum", ["image", "zero"], ["h"], "mix")]}
    clauses = ("micro_batches 2", "micro_batches 16", "pipeline replicas = [2]",
               "micro_batches 4, groups = 2")
    weights = [tensor("w", [8, 4], [0.5] * 32), tensor("zero", [], [0], type=INT64)]
    for (name, nodes), clause in zip(graphs.items(), clauses):
        content = model(graph(
            [*nodes, node("MatMul", ["h", "w"], ["output"])],
            [value("image", ["batch", 8])], [value("output", ["batch", 4])],
            weights))
        yield row(f"{clause} of a model that needs {name} of the batch",
                  'model net = onnx("net.onnx")\n' +
                  GOOD[GOOD.index("data made"):].replace(
                      "steps     3", f"steps 3\n  {clause}"), 3,
                  "node 'mix' mixes the samples of a batch", "can't be cut",
                  files={"net.onnx": content}.items(), place="net.onnx: error:")


def make_rows(_):
    yield from make_lexical_rows()
    yield from make_mode_rows()
    yield from make_number_rows()
    yield from make_copies_rows()
    yield from make_name_rows()
    yield from make_precondition_rows()
    yield from make_normalization_rows()
    yield from make_shape_rows()
    yield from make_file_rows()
    yield from make_mixing_rows()
