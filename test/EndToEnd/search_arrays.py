#!/usr/bin/env python3
"""Tests searches over what a program holds as constants: the batch size, the size of a layer,
the element type, a schedule, the model. Each trial must be what a job of one copy without any
choice makes of it, the decisions must not depend on slots, threads, kills or the array that
has the turn, and commands must take the array of the trial that they are given. With
--emulation, the folder of the emulated driver, tests programs of other kinds instead, for which
Open MPI's mpirun is needed. Needs only Python's standard library."""

import json
import os
import random
import re
import subprocess
import time

from harness import Work, expect_equal, fail, run
from mpirun import run_ranks
from searches import (LOSS, MODEL, OPTIMIZER, Found, expect_replays, expect_same_search,
                      make_job, read_trials, search)

SEARCH = "random(trials = 12, seed = 3), halving(eta = 2)"
WIDE = MODEL.replace("17)", "choice(17, 9))")
CLAUSES = "  schedule choice(constant, cosine(warmup = 2))\n  keep best"
SIZES, BATCHES, SCHEDULES = (17, 9), (32, 48), ("constant", "cosine(warmup = 2)")
BUDGET = 900000  # bytes, in which the largest array spills
SAMPLES = 240  # those of the training data that aren't taken out for validation


def read_tensors(path):
    """Returns the tensors of a safetensors file, as type, shape and bytes by name."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    header.pop("__metadata__", None)
    return {name: (one["dtype"], one["shape"],
                   data[end + one["data_offsets"][0]:end + one["data_offsets"][1]])
            for name, one in header.items()}


def make_arrays(slots=3, **changes):
    """Returns a job with 8 arrays."""
    options = dict(search=SEARCH, slots=slots, model=WIDE, clauses=CLAUSES) | changes
    return make_job(**options).replace("batch = 32", "batch = choice(32, 48)")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", more=["--emulation"])
        self.folder = self.work.folder

    def search(self, binary, name, *flags):
        return search(binary, self.folder / name, *flags, data=self.folder)

    def check_alone(self, found):
        """Compares the last file of some trials with the checkpoint of a job that has one
        copy, the trial's settings, and no search."""
        numbers = {}
        for event in found.list("trial"):
            numbers[event["trial"]] = event["settings"]
        for trial in sorted(numbers)[:4]:
            own = numbers[trial]
            [file] = [name for name in found.files
                      if name.startswith(f"trial-{trial:04}.step")]
            steps = int(re.search(r"step-(\d+)", file)[1])
            [schedule] = [text for text in SCHEDULES if text.startswith(own["schedule"])]
            job = make_job(search="SEARCH", model=MODEL.replace("17)", f"{own['hidden.n']})"),
                           clauses=f"  schedule {schedule}",
                           seed=own["seed"],
                           loss=LOSS.replace("uniform(0, 0.2)", repr(own["label_smoothing"])),
                           optimizer=f"adamw(lr = {own['lr']!r}, "
                                     f"weight_decay = {own['weight_decay']!r})")
            job = job.replace("batch = 32", f"batch = {own['batch']}").replace(
                "  search SEARCH, slots = 3\n", "").replace("train tune {", "train alone {")
            binary = self.work.compile(f"alone-{trial}", job)
            folder = self.folder / f"alone-{trial}-found"
            run(binary, "train", "--data", self.folder, "--checkpoint", folder,
                "--no-progress", "--every", SAMPLES // own["batch"], "--keep", 4)
            [whole] = [path for path in folder.glob("step-*/copy-*.safetensors")
                       if int(path.parent.name[5:]) == steps]
            expect_equal(read_tensors(found.folder / file) == read_tensors(whole), True,
                         f"whether trial {trial} equals a job without a search")
        print("equal: 4 trials and jobs without a search")

    def check_commands(self, binary, found):
        told = read_trials(binary, found.folder)
        best = told["order"][0]
        folder = ("--data", self.folder, "--checkpoint", found.folder)
        for trial in told["order"][:4]:
            text = run(binary, "eval", "--validation", "--trial", trial, *folder)
            expect_equal(text, f"trial {trial}: validation loss "
                         f"{told['trials'][trial]['score']:.5g}\n", "eval")
            run(binary, "export", "--trial", trial, "-o", self.folder / "trial.onnx",
                *folder[2:])
        text = run(binary, "eval", "--best", *folder)
        if not text.startswith(f"trial {best}: test loss"):
            fail(f"eval --best: {text}")
        table = run(binary, "trials", *folder[2:])
        if "cosine" not in table or "constant" not in table:
            fail(f"the table has no schedules:\n{table}")
        told = json.loads(run(binary, "info", "--json"))["search"]
        expect_equal([array["settings"] for array in told["arrays"]],
                     [{"hidden.n": size, "batch": batch, "schedule": schedule}
                      for size in SIZES for batch in BATCHES
                      for schedule in ("constant", "cosine")], "the arrays that info lists")
        if "array 7: " not in run(binary, "info"):
            fail("info lists no arrays")

    def check_kills(self, binary, found, count=6):
        generator = random.Random(5)
        begin = time.monotonic()
        self.search(binary, "timed")
        seconds, kills = time.monotonic() - begin, 0
        folder = self.folder / "killed"
        while True:
            process = subprocess.Popen(
                list(map(str, [binary, "train", "--data", self.folder, "--checkpoint",
                               folder, "--resume", "--no-progress"])),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            try:
                process.wait(generator.uniform(0, seconds / 2) if kills < count else None)
                break
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                kills += 1
        expect_equal(process.returncode, 0, "after kills: exit code")
        expect_same_search(Found(folder), found, f"{kills} kills")

    def check_requests(self, binary):
        """Adds a trial while the search runs, moves it to another array before it begins, and
        asks for what can't be. The first requests are followed when the trials of the first
        array, among them trial 1, have been evaluated."""
        asked = [{"command": "add", "settings": [
                     {"hidden.n": 9, "batch": 48, "schedule": "cosine", "seed": 7,
                      "label_smoothing": 0.125, "lr": 0.015625, "weight_decay": 0}]},
                 {"command": "add", "settings": [{"batch": 50}]},
                 {"command": "add", "settings": [{"schedule": "step"}]},
                 {"command": "clone", "trial": 1, "set": {"batch": 48}},
                 {"command": "set", "trials": [12], "set": {"schedule": "constant"}},
                 {"command": "clone", "trial": 12, "warm": False, "set": {"batch": 32}}]
        folder = self.folder / "steered"
        process = subprocess.run(
            list(map(str, [binary, "train", "--data", self.folder, "--checkpoint", folder,
                           "--no-progress", "--control", "-"])),
            input="".join(json.dumps(line) + "\n" for line in asked).encode(),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
        answers = [json.loads(line) for line in process.stdout.decode().splitlines()
                   if '"ok"' in line]
        expect_equal([answer["ok"] for answer in answers],
                     [True, False, False, False, True, True], "answers")
        expect_equal(answers[0]["trials"], [12], "the added trial")
        for answer, text in zip(answers[1:4], (
                "'batch': expected one of its choices",
                "'schedule': expected one of its choices, as a string",
                "'batch' is a constant of the array that trains trial 1")):
            if text not in answer["error"]:
                fail(f"got {answer}, expected {text!r}")
        expect_replays(binary, Found(folder), data=self.folder, trials=[12, 13])

    def check_models(self):
        """Searches over models and element types, of which one array has its own kind of
        weights each."""
        model = MODEL + MODEL.replace("model net(", "model small(").replace("17)", "5)")
        job = make_job(search="grid", model=model, epochs=2,
                       net="choice(net(image), small(image, rate = 0.25))",
                       loss="cross_entropy", seed=1, optimizer="sgd(lr = [0.1, 0.01])",
                       clauses="  precision choice(f32, bf16)")
        binary = self.work.compile("models", job)
        found = self.search(binary, "models-found")
        expect_replays(binary, found, data=self.folder)
        expect_equal([event["settings"] for event in found.list("trial")],
                     [{"model": net, "lr": rate, "precision": precision}
                      for net in ("net", "small") for rate in (0.1, 0.01)
                      for precision in ("f32", "bf16")], "the grid")


    def check_files(self, binary, found):
        """Searches over ONNX files, which another search has exported."""
        sizes = {}
        for event in found.list("trial"):
            sizes.setdefault(event["settings"]["hidden.n"], event["trial"])
        for size, trial in sizes.items():
            run(binary, "export", "--trial", trial, "--checkpoint", found.folder, "-o",
                self.folder / f"of-{size}.onnx")
        job = make_job(search="random(trials = 6)", slots=2, epochs=2, net="net(image)",
                       model='model net = onnx(choice("of-17.onnx", "of-9.onnx"))\n'
                             "  init fresh\n",
                       loss="cross_entropy", clauses="  clip_norm choice(0.5, 2)")
        binary = self.work.compile("files", job)
        found = self.search(binary, "files-found")
        files = {event["settings"]["model"] for event in found.list("trial")}
        expect_equal({file.rsplit("/")[-1] for file in files}, {"of-17.onnx", "of-9.onnx"},
                     "the files of trials")
        expect_replays(binary, found, data=self.folder)


    def check_kinds(self):
        """Searches over arrays on the emulated GPU, within a budget of memory, and with
        replicas on two ranks."""
        os.environ["HFTA_EMULATION_DEVICE"] = "sm_80"
        os.environ["LD_LIBRARY_PATH"] = self.work.options.emulation
        plain = self.search(self.work.compile("plain", make_arrays()), "plain-found")
        for name, flags in (("gpu", ("--target=cuda", "--gpu-code=emulated", "--chip=sm_80")),
                            ("budget", (f"--memory=device = {BUDGET}",)),
                            ("replicas", ("--pipeline=replicas = [2]",))):
            binary = self.work.compile(name, make_arrays(), *flags)
            found = self.search(binary, f"{name}-found")
            expect_replays(binary, found, data=self.folder)
            if name == "budget":
                expect_same_search(found, plain, "a budget")
            if name == "replicas":
                on_ranks = search(binary, self.folder / "on-ranks", data=self.folder,
                                  launch=lambda *command, **more: run_ranks(2, *command, **more))
                expect_same_search(on_ranks, found, "two ranks", to_the_byte=True)


def main():
    check = Check()
    if check.work.options.emulation:
        return check.check_kinds()
    binary = check.work.compile("arrays", make_arrays())
    found = check.search(binary, "found")
    check.check_alone(found)
    other = check.work.compile("other", make_arrays(slots=8))
    expect_same_search(check.search(other, "other-found", "--threads", 1), found, "8 slots")
    expect_same_search(check.search(binary, "three", "--threads", 3), found, "3 threads",
                       to_the_byte=True)
    expect_replays(other, found, data=check.folder)
    check.check_commands(binary, found)
    check.check_kills(binary, found)
    check.check_requests(binary)
    check.check_models()
    check.check_files(binary, found)


if __name__ == "__main__":
    main()
