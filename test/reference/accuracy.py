#!/usr/bin/env python3
"""Trains the copies of examples/fashion with PyTorch, one after another.

This is for a check by hand: the mean test accuracies of the copies of the fused binary
and of PyTorch must agree within 0.5 points. Needs torch, numpy and onnx. Both have the
initial weights, hyper-parameters, batches, epochs and order of samples of sweep.hfta. The
order matters: after two epochs at a constant learning rate, the means for two orders
differ by up to two points. Takes about 20 seconds a copy on two cores.
"""

import argparse
import gzip
import pathlib
import struct
import sys
import time

import numpy
import onnx
import torch
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "examples" / "fashion"))

import export_model  # noqa: E402  (found by the path above)

RATES = [3e-4, 1e-3, 2e-3, 3e-3]
DECAYS = [0.0, 1e-4]


def read_idx(path):
    """Returns the bytes of a compressed idx file as a tensor of its shape."""
    data = gzip.decompress(path.read_bytes())
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    body = bytearray(data[4 + 4 * rank:])
    return torch.frombuffer(body, dtype=torch.uint8).view(shape)


def read_split(folder, split):
    image = read_idx(folder / f"{split}-images-idx3-ubyte.gz")
    label = read_idx(folder / f"{split}-labels-idx1-ubyte.gz")
    return image.unsqueeze(1).float() / 255, label.long()


def philox(counter, key):
    """Returns the four words of Philox4x32-10 (Salmon et al., 2011) for each counter. A
    counter is given by four arrays of 32-bit words in uint64, the key by two words."""
    mask = numpy.uint64(0xFFFFFFFF)
    c, k = list(counter), [numpy.uint64(part) for part in key]
    for _ in range(10):
        high, low = numpy.uint64(0xD2511F53) * c[0], numpy.uint64(0xCD9E8D57) * c[2]
        shift = numpy.uint64(32)
        c = [(low >> shift) ^ c[1] ^ k[0], low & mask,
             (high >> shift) ^ c[3] ^ k[1], high & mask]
        k = [(k[0] + numpy.uint64(0x9E3779B9)) & mask,
             (k[1] + numpy.uint64(0xBB67AE85)) & mask]
    return c


def make_order(samples, epoch, order_seed):
    """Returns the order of samples in an epoch, as compiled programs compute it: a Feistel
    network permutes the numbers below the smallest power of two that is at least `samples`
    (and 4). It is applied again to results that aren't samples (cycle walking)."""
    bits = max(2, (samples - 1).bit_length())
    key = [order_seed & 0xFFFFFFFF, order_seed >> 32 & 0xFFFFFFFF]

    def permute(value):
        widths = [bits // 2, bits - bits // 2]
        left = value >> numpy.uint64(widths[1])
        right = value & numpy.uint64((1 << widths[1]) - 1)
        for number in range(8):
            ones = numpy.ones_like(value)
            random = philox([right, ones * numpy.uint64(number),
                             ones * numpy.uint64(epoch), ones * numpy.uint64(0)],
                            key)[0]
            mixed = (left ^ random) & numpy.uint64((1 << widths[0]) - 1)
            left, right = right, mixed
            widths.reverse()
        return left << numpy.uint64(widths[1]) | right

    value = permute(numpy.arange(samples, dtype=numpy.uint64))
    while (outside := value >= samples).any():
        value[outside] = permute(value[outside])
    return torch.from_numpy(value.astype(numpy.int64))


def load_model():
    graph = onnx.load(ROOT / "examples" / "fashion" / "cnn.onnx").graph
    model = export_model.Cnn()
    model.load_state_dict({
        tensor.name: torch.from_numpy(onnx.numpy_helper.to_array(tensor).copy())
        for tensor in graph.initializer
    })
    return model


def train_epoch(model, optimizer, images, labels, batch, order):
    model.train()
    for begin in range(0, len(order) - batch + 1, batch):
        pick = order[begin:begin + batch]
        loss = nn.functional.cross_entropy(model(images[pick]), labels[pick])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def evaluate(model, images, labels):
    model.eval()
    right = 0
    for begin in range(0, len(images), 1000):
        chunk = slice(begin, begin + 1000)
        right += (model(images[chunk]).argmax(1) == labels[chunk]).sum().item()
    return 100 * right / len(images)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, metavar="DIR",
                        default=pathlib.Path("/usr/share/datasets/fashion-mnist"),
                        help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="default: 2")
    parser.add_argument("--epochs", type=int, default=2, help="default: 2")
    parser.add_argument("--batch", type=int, default=64, help="default: 64")
    parser.add_argument("--order-seed", type=int, default=1,
                        help="the job's order_seed (default: 1)")
    parser.add_argument("--copies", metavar="K,…", default="0,1,2,3,4,5,6,7",
                        type=lambda text: [int(k) for k in text.split(",")],
                        help="copies to train (default: all)")
    options = parser.parse_args()

    torch.set_num_threads(options.threads)
    images, labels = read_split(options.data, "train")
    test_images, test_labels = read_split(options.data, "t10k")
    grid = [(lr, decay) for lr in RATES for decay in DECAYS]
    accuracies = []
    for copy in options.copies:
        lr, decay = grid[copy]
        model = load_model()
        optimizer = torch.optim.Adam(model.parameters(), lr=lr,
                                     weight_decay=decay)
        start = time.monotonic()
        for epoch in range(options.epochs):
            order = make_order(len(images), epoch, options.order_seed)
            train_epoch(model, optimizer, images, labels, options.batch, order)
        seconds = time.monotonic() - start
        accuracies.append(evaluate(model, test_images, test_labels))
        print(f"{copy}  lr {lr:g}  weight_decay {decay:g}  {seconds:.0f} s  "
              f"{accuracies[-1]:.2f} %", flush=True)
    print(f"mean {sum(accuracies) / len(accuracies):.2f} %")


if __name__ == "__main__":
    main()
