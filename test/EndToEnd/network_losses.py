#!/usr/bin/env python3
"""Trains four copies of a network and compares with PyTorch's golden file: the
losses of 20 steps in f64; in f32 the first loss and each parameter's gradient.
Needs only Python's standard library.

The tolerance of a loss is a relative error of 1e-8 or, where the network is chaotic, 100
times the change that PyTorch's loss shows if the initial weights are rounded differently.
The tolerance of a gradient's element is 1e-3 of the gradient's largest element or, where
nearly all terms cancel out, 4 times the difference of PyTorch's own gradient in f32.
"""

import array
import json

from harness import checkpoint, copy_file, fail, read_safetensors, run
from network_run import NetworkRun

RELATIVE = 1e-8
CHAOS = 100
LOSS_RELATIVE_F32 = 1e-4
GRADIENT_RELATIVE_F32 = 1e-3
CANCELLED = 4
NO_GRADIENT = 1e-10  # relative to the largest gradient of all parameters; smaller
                     # gradients are rounding errors, even in f64


class Check(NetworkRun):
    def __init__(self):
        super().__init__(__doc__)
        self.golden = json.loads(
            (self.options.golden / f"{self.name}.json").read_text())

    def check_trained(self, binary):
        info = json.loads(run(binary, "info", "--json"))
        found = {tensor["name"] for tensor in info["parameters"]["tensors"]
                 if tensor["trained"]}
        if found != set(self.golden["gradient"]):
            fail(f"trained are {sorted(found)}, expected "
                 f"{sorted(self.golden['gradient'])}")

    def check_losses(self):
        binary = self.compile("losses", "f64")
        self.check_trained(binary)
        rows = self.train(binary)
        if len(rows) != len(self.golden["loss"]):
            fail(f"{len(rows)} steps, expected {len(self.golden['loss'])}")
        worst = largest = chaos = 0.0
        for row, wanted, moved in zip(rows, self.golden["loss"],
                                      self.golden["perturbed"]):
            for got, want, other in zip(row, wanted, moved):
                bound = max(RELATIVE * abs(want), CHAOS * abs(want - other))
                excess = abs(got - want) / bound
                worst = max(worst, excess if excess == excess else 1e300)
                largest = max(largest, abs(got - want) / abs(want))
                chaos = max(chaos, abs(other - want) / abs(want))
        print(f"{self.name} f64: relative difference at most {largest:.2e} "
              f"(PyTorch with perturbed weights: {chaos:.2e}), {worst:.3f} of "
              "what is allowed")
        if worst > 1:
            fail("the losses differ from PyTorch's")

    def check_first_step(self):
        """Checks the first loss and the gradients of one step in f32. With momentum, the
        optimizer's state after one step is the gradient."""
        binary = self.compile(
            "gradients", "f32", steps=1,
            optimizer="sgd(lr = [1e-3, 1e-3, 1e-3, 1e-3], momentum = 0.9)")
        folder = self.work / "checkpoints"
        losses = self.train(binary, "--checkpoint", folder)[0]
        want = self.golden["loss"][0][0]
        worst = max(abs(loss - want) / abs(want) for loss in losses)
        print(f"{self.name} f32: first loss within {worst:.2e}")
        if not worst <= LOSS_RELATIVE_F32:
            fail(f"losses {losses}, expected {want}")
        state = read_safetensors(copy_file(checkpoint(folder, 1), 3))
        whole = self.options.golden / f"{self.name}.gradients"
        self.check_gradients(state, array.array("d", whole.read_bytes())
                             if whole.exists() else None)

    def check_gradients(self, state, whole):
        goldens = self.golden["gradient"]
        largest = max(golden["largest"] for golden in goldens.values())
        worst, where, first, cancelled = 0.0, "none", 0, []
        for name, golden in goldens.items():
            got = state[f"velocity/{name}"][2]
            wanted = golden["entries"].items() if whole is None else \
                enumerate(whole[first:first + len(got)])
            first += len(got)
            scale, bound = golden["largest"], GRADIENT_RELATIVE_F32
            if scale < NO_GRADIENT * largest:
                scale = largest
            elif CANCELLED * golden["f32"] > bound:
                bound = CANCELLED * golden["f32"]
            off = max(abs(got[int(i)] - want) for i, want in wanted) / scale
            if not off <= bound:
                fail(f"{name}: gradient off by {off:.2e} of the largest entry, "
                     f"in PyTorch by {golden['f32']:.2e}")
            if bound > GRADIENT_RELATIVE_F32:
                cancelled.append(f"{name} {off:.1e} ({golden['f32']:.1e})")
            elif off > worst:
                worst, where = off, name
        print(f"{self.name} f32: gradients within {worst:.2e} of the largest "
              f"entry ({where})")
        if cancelled:
            print("  cancelled, with PyTorch's own error in f32:",
                  ", ".join(cancelled))


def main():
    check = Check()
    check.check_losses()
    check.check_first_step()


if __name__ == "__main__":
    main()
