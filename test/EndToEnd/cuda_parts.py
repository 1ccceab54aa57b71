#!/usr/bin/env python3
"""Tests kernels of an emulated GPU that also compute partial sums of their results, on
models in which the rows of the partial sums are hard to tell apart. However the copies are
trained, the bytes must be equal, and the numbers must be near the CPU's. Needs only
Python's standard library."""

import cuda_work
from cuda_work import RATES, STEPS, CudaWork
from harness import checkpoint, copy_file, expect_equal, read_safetensors

# A tensor whose partial sums each cover one row, and whose tile is kept only a few columns
# at a time.
LINES = """
model net(image: f32[batch, 1, 8, 8]) {
  first  = relu(batch_norm(conv(reshape(image, [batch, 2, 32]), 128, 1, bias = false)))
  second = relu(batch_norm(conv(first, 128, 1, bias = false)))
  return output = linear(flatten(max_pool(second, 4)), 10)
}
"""
# Two layer norms of one tensor, whose gradients come from different matrix products.
NORMS = """
model net(image: f32[batch, 1, 8, 8]) {
  x = linear(reshape(image, [batch, 16, 4]), 32)
  p = gelu(linear(layer_norm(x), 64))
  q = linear(layer_norm(x), 64)
  return output = linear(flatten(mean(p * q, 1)), 10)
}
"""
# A product whose rows are in another order than those of its operand.
TURNED = """
model net(image: f32[batch, 1, 8, 8]) {
  h = layer_norm(linear(reshape(image, [batch, 4, 4, 4]), 32))
  u = transpose(linear(h, 32), [0, 2, 1, 3])
  return output = linear(flatten(mean(relu(linear(u, 32)), 1)), 10)
}
"""
# A grouped convolution with several output channels per group.
GROUPED = """
model net(image: f32[batch, 1, 8, 8]) {
  first = relu(batch_norm(conv(reshape(image, [batch, 2, 4, 8]), 16, 3, padding = 1,
                               groups = 2, bias = false)))
  second = batch_norm(conv(first, 8, 3, padding = 1, bias = false))
  return output = linear(flatten(second), 10)
}
"""
# A product whose kernel also stores the gate, which the backward recomputes.
GATED = """
model net(image: f32[batch, 1, 8, 8]) {
  x = layer_norm(linear(reshape(image, [batch, 16, 4]), 48))
  y = linear(x, 48) * sigmoid(linear(x, 48))
  return output = linear(flatten(mean(linear(y, 48), 1)), 10)
}
"""
NETWORKS = {"lines": LINES, "norms": NORMS, "turned": TURNED, "grouped": GROUPED,
            "gated": GATED}
for network, model in NETWORKS.items():
    cuda_work.JOBS[network] = (model, "sgd(lr = {}, momentum = 0.9)", "")
    cuda_work.DATA[network] = cuda_work.DATA["mlp"]


def read(folder, copy):
    return read_safetensors(copy_file(checkpoint(folder, STEPS), copy))


def check(work, job, precision):
    flag, what = f"--precision={precision}", f"{job}, {precision}"
    gpu = work.compile(job, job, flag)
    expected = work.train(gpu, f"{job}-{precision}")
    apart = work.train(work.compile(f"{job}-apart", job, flag, "--no-fuse"),
                       f"{job}-{precision}-apart", seed=2)
    again = work.train(work.compile(f"{job}-again", job, flag, "--recompute=all"),
                       f"{job}-{precision}-again", seed=4)
    alone = work.train(work.compile(f"{job}-alone", job, flag, rates=RATES[1:2]),
                       f"{job}-{precision}-alone", seed=3)
    for copy in range(len(RATES)):
        expect_equal(read(apart, copy), read(expected, copy),
                     f"{what}, copy {copy} without fusion")
        expect_equal(read(again, copy), read(expected, copy),
                     f"{what}, copy {copy} with its forward computed again")
    expect_equal(read(alone, 0), read(expected, 1), f"{what}, copy 1 alone")
    print(f"equal: {what}")


def main():
    work = CudaWork(__doc__)
    for job in NETWORKS:
        work.check_numbers(job, "f64")
        for precision in ("f32", "bf16"):
            check(work, job, precision)


if __name__ == "__main__":
    main()
