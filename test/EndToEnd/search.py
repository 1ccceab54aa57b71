#!/usr/bin/env python3
"""Tests a search in programs with 1, 3 and 8 slots, on 1 to 3 threads: all must decide
alike, and leave equal files. Each trial must be what a training of it alone makes of it.
Then the best one is evaluated and exported, and a search is stopped by a signal and after
its minutes, and resumed. With --kills, searches are killed at random times, that many times
in all for each of two rules, and must end as if they hadn't been. Needs only Python's standard library."""

import random
import signal
import subprocess
import time

import searches
from harness import Work, expect_equal, fail, run
from searches import expect_replays, expect_same_search, make_job, read_trials, search

SLOTS = (1, 3, 8)
# In each of these settings some trials have 0, for which code may be left out.
ZEROS = dict(
    net="net(image, rate = choice(0, 0.3))",
    loss="cross_entropy(net, label, label_smoothing = choice(0, 0.1))",
    optimizer="sgd(lr = log_uniform(1e-2, 1), momentum = choice(0, 0.9), "
              "weight_decay = choice(0, 1e-3))")


class Check:
    def __init__(self):
        self.work = Work(__doc__, "mlp", more=["--kills"])
        self.folder = self.work.folder

    def search(self, binary, name, *flags):
        return search(binary, self.folder / name, *flags, data=self.folder)

    def check_slots(self, name, **clauses):
        """Returns a program with 3 slots, and its search."""
        programs = {slots: self.work.compile(f"{name}-{slots}",
                                             make_job(slots=slots, **clauses))
                    for slots in SLOTS}
        found = {slots: self.search(programs[slots], f"{name}-{slots}-found",
                                    "--threads", threads)
                 for threads, slots in enumerate(SLOTS, 1)}
        for slots in SLOTS[1:]:
            expect_same_search(found[slots], found[SLOTS[0]], f"{name}, {slots} slots")
        for threads in (1, 3):
            expect_same_search(
                self.search(programs[3], f"{name}-{threads}-threads", "--threads", threads),
                found[3], f"{name}, {threads} threads", to_the_byte=True)
        expect_replays(programs[3], found[3], data=self.folder)
        # Any program of the job continues any other's search.
        expect_replays(programs[1], found[8], data=self.folder, trials=[2])
        return programs[3], found[3]

    def check_best(self, binary, found):
        """Tests the commands that take a trial."""
        told = read_trials(binary, found.folder)
        expect_equal(told["over"], True, "whether the search is over")
        best = told["order"][0]
        folder = ("--data", self.folder, "--checkpoint", found.folder)
        loss = told["trials"][best]["score"]
        for chosen in (["--best"], ["--trial", best]):
            text = run(binary, "eval", "--validation", *chosen, *folder)
            expect_equal(text, f"trial {best}: validation loss {loss:.5g}\n", "eval")
            model = self.folder / f"{chosen[0][2:]}.onnx"
            run(binary, "export", *chosen, "-o", model, *folder[2:])
        expect_equal((self.folder / "best.onnx").read_bytes(),
                     (self.folder / "trial.onnx").read_bytes(), "exported models")
        for chosen in (["--best"], ["--trial", best]):
            run(binary, "run", *chosen, "--input", f"image={self.folder}/mlp-image.npy",
                "--output", self.folder / chosen[0][2:], *folder[2:])
        outputs = {path.read_bytes() for path in self.folder.glob("*/output.npy")}
        expect_equal(len(outputs), 1, "different outputs of one trial")
        self.check_accuracy(binary, folder)
        table = run(binary, "trials", *folder[2:])
        expect_equal([int(line.split()[1]) for line in table.splitlines()[1:]],
                     told["order"], "the table's order")
        dropped = [number for number in told["order"]
                   if told["trials"][number]["state"] == "dropped"]
        run(binary, "export", "--trial", dropped[-1], "-o", self.folder / "dropped.onnx",
            *folder[2:])

    def check_accuracy(self, binary, folder):
        """Compares the exported model's loss with that of `eval`, if onnxruntime is
        installed."""
        text = run(binary, "eval", "--best", *folder)
        try:
            import numpy
            import onnxruntime
        except ImportError:
            return
        image, label = (numpy.load(self.folder / f"mlp-{name}.npy")
                        for name in ("image", "label"))
        session = onnxruntime.InferenceSession(str(self.folder / "best.onnx"))
        [output] = session.run(None, {"image": image})
        right = (output.argmax(1) == label).mean()
        print(f"{text.strip()}; accuracy by onnxruntime {100 * right:.2f} %")
        if right < 0.5:
            fail("the exported model isn't trained")

    def check_refusals(self, binary, found):
        def refuse(text, *flags, code=2):
            told = run(binary, *flags, code=code)
            if text not in told:
                fail(f"{flags}: got {told!r}, expected {text!r}")

        folder = ("--data", self.folder, "--checkpoint", found.folder)
        other = self.work.compile("other", make_job(slots=1, clauses=""))
        expected = ("belongs to another search: its schedule is 'cosine, warmup 2, minimum "
                    "0', this one's is 'constant, warmup 0'")
        if expected not in (told := run(other, "train", *map(str, (
                "--data", self.folder, "--checkpoint", found.folder)), "--resume", code=1)):
            fail(f"another schedule: got {told!r}, expected {expected!r}")
        refuse("holds an earlier search: give --resume", "train", *folder, code=1)
        refuse("belongs to another search: its epochs is '4', this one's is '5'", "train",
               *folder, "--resume", "--epochs", 5, code=1)
        for option in (["--log-every", 5], ["--every", 5], ["--keep", 2], ["--steps", 7],
                       ["--only", 0], ["--trace", self.folder / "trace.json"]):
            refuse(f"option '{option[0]}': 'tune", "train", *folder[:2], "--checkpoint",
                   self.folder / "none", *option)
        refuse("there is no trial 9: the search has trials 0 to 8", "train", *folder,
               "--replay", 9)
        refuse("say which of its trials, by '--best' or '--trial K'", "eval", *folder)
        refuse("give '--best' or '--trial', not both", "export", "--best", "--trial", 1,
               "-o", "x.onnx", *folder[2:])
        refuse("no search has been saved there", "trials", "--checkpoint",
               self.folder / "none", code=1)

    def check_stops(self, binary, found):
        """Tests a search that signals and its minutes have stopped."""
        stopped = self.folder / "stopped"
        command = list(map(str, [binary, "train", "--data", self.folder, "--checkpoint",
                                 stopped, "--resume", "--no-progress"]))
        hasty = self.work.compile("hasty", make_job(
            clauses="  schedule cosine(warmup = 2)\n  minutes 1e-5"))
        text = run(hasty, *command[1:])
        if "; saved " not in text:
            fail(f"after its minutes: {text}")
        journal = stopped / "search.jsonl"
        size = journal.stat().st_size
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        while process.poll() is None and journal.stat().st_size == size:
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        if process.wait() not in (0, 130):
            fail(f"after SIGINT: exit code {process.returncode}")
        # A search that has ended stays as it is.
        for _ in range(2):
            run(*command)
            expect_same_search(searches.Found(stopped), found, "stopped and resumed")

    def check_kills(self, label, search, epochs, clauses, count):
        """Kills searches until there have been `count` kills."""
        binary = self.work.compile(
            label, make_job(search, epochs=epochs, clauses=clauses))
        begin = time.monotonic()
        whole = self.search(binary, f"{label}-whole")
        seconds = time.monotonic() - begin
        generator = random.Random(7)
        kills = rounds = 0
        while kills < count:
            name, rounds = f"{label}-killed-{rounds}", rounds + 1
            folder = self.folder / name
            while True:
                process = subprocess.Popen(
                    list(map(str, [binary, "train", "--data", self.folder, "--checkpoint",
                                   folder, "--resume", "--no-progress"])),
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                try:
                    process.wait(generator.uniform(0, seconds / 2))
                    break
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    kills += 1
            expect_equal(process.returncode, 0, f"{name}: exit code")
            # A kill while states are saved may change which trials share a line of scores.
            expect_same_search(searches.Found(folder), whole, name)
        print(f"{label}: {kills} kills in {rounds} searches of {seconds:.2f} s")


def main():
    check = Check()
    if check.work.options.kills:
        count = int(check.work.options.kills)
        check.check_kills("halving", "random(trials = 27, seed = 4), halving", 9,
                          "  keep best", count)
        check.check_kills("pbt", "random(trials = 7), pbt(every = 2, quantile = 0.4)", 6, "",
                          count)
        return
    binary, found = check.check_slots("plain")
    check.check_best(binary, found)
    check.check_refusals(binary, found)
    check.check_stops(binary, found)
    check.check_slots("zeros", **ZEROS)


if __name__ == "__main__":
    main()
