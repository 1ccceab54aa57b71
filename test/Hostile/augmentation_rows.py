"""Rows of hftac with wrong augmentations of data blocks."""

from onnx_writer import graph, model, node, tensor, value
from row import Row

GOOD = """model net(image: f32[batch, 8, 8]) {
  return output = linear(flatten(image), 4)
}
data made {
  image: u8[8, 8], label: u8, line: f32[8], deep: u8[1, 2, 2, 2, 2, 2, 2]
  train image = {IMAGE}, label = npy("label.npy"),
        line = {LINE}, deep = {DEEP}
}
train sweep {
  model     net(image)
  data      made, batch = {BATCH}
  loss      {LOSS}
  optimizer adam
  steps     3
}
"""
IMAGE, LINE, DEEP = 'npy("image.npy")', 'npy("line.npy")', 'npy("deep.npy")'


def row(name, *texts, image=IMAGE, line=LINE, deep=DEEP, batch=16, more="", number=6,
        loss="cross_entropy(net, label)"):
    """Makes a row of a job with these fields, whose error is in line `number`."""
    job = GOOD
    for key, value in (("IMAGE", image), ("LINE", line), ("DEEP", deep + more),
                       ("BATCH", str(batch)), ("LOSS", loss)):
        job = job.replace("{" + key + "}", value)
    return Row(name, {"job.hfta": job, "program": "an older one"},
               ["hftac", "job.hfta", "-o", "program"], (1,),
               (f"job.hfta:{number}:", *texts))


def make_rows(_):
    test = '\n  test image = {}, label = npy("l.npy"), line = npy("line.npy"), deep = npy("d.npy")'
    for function, wrong, text in (
            ("crop", "size = 9", "'crop' can't take samples of shape [8, 8]"),
            ("crop", "size = [8, 11], padding = 1", "[8, 8]"),
            ("crop", "size = 0", "'size' is out of range"),
            ("crop", "size = [1, 2, 3]", "'size' has 3 numbers"),
            ("crop", "padding = -1", "'padding' is out of range"),
            ("crop", "padding = 0.5", "got 0.5"),
            ("crop", "view = -1", "'view' is out of range"),
            ("crop", "paddin = 1", "'paddin'"),
            ("crop", "size = choice(4, 8)", "'size'"),
            ("flip", "axis = 2", "[8, 8]"),
            ("flip", "axis = -3", "[8, 8]"),
            ("flip", "p = 1.5", "'p' is out of range"),
            ("flip", "p = [0.1, 0.2]", "'p' has 2 numbers"),
            ("noise", "view = 1", "needs 'deviation'"),
            ("noise", "-1", "'deviation' is out of range"),
            ("erase", "area = 0.1", "'area' has 1 number"),
            ("erase", "area = [0.3, 0.1]", "from 0.3 to 0.1"),
            ("erase", "area = [0, 0.1]", "'area' is out of range"),
            ("erase", "ratio = [0, 1]", "'ratio' is out of range"),
            ("cutout", "p = 1", "needs 'size'"),
            ("resized_crop", "size = -1", "'size' is out of range"),
            ("mixup", "alpha = 0", "'alpha' is out of range"),
            ("mixup", "view = 1", "'view'"),
            ("mixed_like", "3", "name of a field"),
            ("mixed_like", "label", "'label', which isn't a mixed field"),
            ("mixed_like", "nothing", "'nothing'"),
            ("one_hot", "0", "'classes' is out of range")):
        yield row(f"{function} with {wrong}", text, image=f"{function}({IMAGE}, {wrong})")
    for function in ("crop", "erase", "cutmix", "cutout"):
        more = ", 2" if function == "cutout" else ""
        yield row(f"{function} of a line", "of shape [8]", number=7,
                  line=f"{function}({LINE}{more})")
    yield row("one_hot with too many axes", "[1, 2, 2, 2, 2, 2, 2]", number=7,
              deep=f"one_hot({DEEP}, 3)")
    for name, given in (("noise", f"one_hot(noise({DEEP}, 0.5), 3)"),
                        ("a quotient", f"one_hot({DEEP} / 10, 3)")):
        yield row(f"one_hot of {name}", "'one_hot' takes class numbers, but 'deep' may hold",
                  number=7, deep=given)
    yield row("one_hot of floats", "'one_hot' takes class numbers, but 'line' holds floats: f32[8]",
              number=7, line=f"one_hot({LINE}, 3)")
    yield row("a crop of too many elements", "'image' has more than", number=11,
              image=f"crop({IMAGE}, size = 1000000, padding = 1000000)")
    yield row("crop of nothing", "reads no file", image="crop(4)")
    yield row("crop of two files", "second file", image=f"crop({IMAGE}) + {LINE}")
    yield row("an augmentation that doesn't exist", "function 'cropp'",
              image=f"cropp({IMAGE})")
    yield row("a field mixed twice", "'mixup' and by 'cutmix'",
              image=f"cutmix(mixup({IMAGE}))")
    yield row("a field mixed like one that is mixed like another", "like another one",
              number=7, line=f"mixed_like({LINE}, deep)", deep=f"mixed_like({DEEP}, image)",
              image=f"mixup({IMAGE})")
    yield row("samples mixed in a batch of one", "'batch' is 1", image=f"mixup({IMAGE})",
              batch=1)
    yield row("mixed samples without a mixed label", "'mixup'", "'label'", number=12,
              image=f"mixup({IMAGE})")
    yield row("an augmented test", "'test' has the augmentation 'flip'", number=8,
              image=f"flip({IMAGE})", more=test.format(f"flip({IMAGE})"))
    yield row("a test with other arithmetic", "'image' has different arithmetic", number=8,
              image=f"flip({IMAGE})", more=test.format(f"{IMAGE} / 2"))
    for weights in ("bootstrap(3)", "bootstraps()", "3"):
        yield row(f"weights that are {weights}", "'weights'" if weights != "bootstrap(3)"
                  else "'bootstrap'", number=12,
                  loss=f"cross_entropy(net, label, weights = {weights})")
    yield row("an augment_seed that is no whole number", "'augment_seed'", number=11,
              batch="16, augment_seed = 0.5")
    yield Row("a field with the name of one that augmentations use",
              {"net.onnx": one_layer(), "program": "an older one"},
              ["hftac", "net.onnx", "-o", "program", "--batch=4", "--loss=mse",
               "--optimizer=sgd", "--train-data=x: f32[4]=flip(npy(\"x.npy\")),"
               "\"hfta.keys\": f32[4]=npy(\"label.npy\")"], (1,), ("'hfta.keys'",))


def one_layer():
    """Returns an ONNX model that adds a trained tensor to its input."""
    return model(graph([node("Add", ["x", "weight"], ["y"])], [value("x", ["batch", 4])],
                       [value("y", ["batch", 4])], [tensor("weight", [4], [0.5] * 4)]))
