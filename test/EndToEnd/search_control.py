#!/usr/bin/env python3
"""Steers searches while they run, by a socket and by the standard streams: sends each request,
also wrong ones, from two clients at a time. A search that is killed while it is steered must
go on without clients to the same trials. Needs only Python's standard library."""

import atexit
import json
import os
import socket
import stat
import subprocess
import sys

from harness import REFERENCE, Work, expect_equal, fail, run
from searches import Found, expect_replays, expect_same_search, make_job

PYTHON = REFERENCE.parent.parent / "python"
sys.path.insert(0, str(PYTHON))

from hfta.client import Search, SearchError  # noqa: E402

SETTINGS = {"label_smoothing": 0.1, "lr": 0.01, "weight_decay": 0, "seed": 7}
# Lines that can't be followed, and what the answer says.
WRONG = ((b"[]", "expected an object"), (b"{", "malformed JSON"), (b"", "expected an object"),
         (b"\0", "expected an object"), (b"\xff\xfe", "expected an object"),
         (b"{}{}", "malformed JSON"), (b'{"id":5}', "'command' is missing"),
         (b'{"command":"stpo","id":"a"}', "stpo"), (b"x" * (2 << 20), "a line has at most"),
         (b'{"command":"stop","trials":[0,999]}', "there is no trial 999"),
         (b'{"command":"set","trials":[0],"set":{"lr":1e9}}', "'lr': expected a number from"),
         (b'{"command":"save","all":true}', "no field 'all'"))


def expect_refusal(text, function, *arguments):
    try:
        function(*arguments)
    except SearchError as error:
        if text in str(error):
            return
        fail(f"got '{error}', expected '{text}'")
    fail(f"{function.__name__}{arguments} wasn't refused: expected '{text}'")


def talk(lines):
    """Sends lines, and returns their answers."""
    with socket.socket(socket.AF_UNIX) as channel:
        channel.settimeout(60)
        channel.connect("s")
        channel.sendall(b"".join(line + b"\n" for line in lines))
        channel.shutdown(socket.SHUT_WR)
        values = [json.loads(line) for line in channel.makefile("rb")]
    return [value for value in values if "ok" in value]


class Check:
    def __init__(self):
        self.work = work = Work(__doc__, "mlp")
        self.folder = work.folder.resolve()
        self.binary = work.compile("tune", make_job("random(trials = 5, seed = 2)",
                                                    epochs=24, clauses="")).resolve()
        os.chdir(self.folder)  # The path of a socket must be short.

    def command(self, folder, *flags):
        return [str(self.binary), "train", "--data", ".", "--no-progress", "--checkpoint",
                folder, *flags]

    def start(self, folder, *flags):
        """Starts a search that takes requests from the socket `s`."""
        process = subprocess.Popen(self.command(folder, "--control", "s", *flags),
                                   stdout=subprocess.DEVNULL)
        atexit.register(process.kill)  # A failed test must not leave it waiting.
        return process

    def expect_end(self, process):
        expect_equal(process.wait(timeout=60), 0, "exit code")
        expect_equal(os.path.exists("s"), False, "whether the socket is there at the end")

    def expect_true(self, folder):
        """Checks that the journal leads to what the folder has, and each trial alone, too."""
        found = Found(self.folder / folder)
        evaluated = sorted({trial for event in found.list("evaluated")
                            for trial in event["trials"]})
        expect_replays(self.binary, found, data=self.folder, trials=evaluated)
        run(*self.command(folder, "--resume"))
        expect_same_search(Found(found.folder), found, folder, to_the_byte=True)
        return found

    def check_requests(self):
        process = self.start("all")
        with Search("s") as one, Search("s") as other:
            expect_equal(stat.S_IMODE(os.stat("s").st_mode), 0o600, "the socket's mode")
            one.hold()
            one.pause([0, 1])
            expect_refusal("is paused already", other.pause, [1])
            expect_equal(other.add([SETTINGS, {**SETTINGS, "seed": 8}]), [5, 6], "added")
            expect_equal(one.more(1), [7], "the sampler's trial")
            expect_equal(one.clone(0, {"lr": 0.03}), 8, "warm clone")
            expect_equal(other.clone(0, {"lr": 0.03}, False), 9, "cold clone")
            one.set([1], {"lr": 0.02})
            told = other.status([5, 1])["trials"]
            expect_equal([row["trial"] for row in told], [5, 1], "trials asked for")
            expect_equal(told[1]["state"], "paused", "state")
            expect_equal(told[1]["lineage"][-1]["settings"]["lr"], 0.02, "its new setting")
            expect_equal(one.save()["folder"], "all", "folder")
            self.check_wrong_lines()
            self.check_shell()
            one.resume([0, 1])
            one.end()
            events = list(one)
            expect_equal(list(one), [], "events after the end")
            expect_refusal("has ended", one.status)
            # The other client has joined a little earlier or later.
            kinds = ("command", "decided", "cloned")
            rows = [[event for event in some if event["event"] in kinds]
                    for some in (events, other)]
            expect_equal(rows[0], rows[1], "events of two clients")
        self.expect_end(process)
        found = self.expect_true("all")
        expect_equal(rows[0], [event for event in found.events if event["event"] in kinds],
                     "events and the journal")
        expect_equal([event["command"] for event in found.list("command")],
                     ["pause", "add", "more", "clone", "clone", "set", "stop", "more", "resume",
                      "end"], "commands")

    def check_wrong_lines(self):
        answers = talk([line for line, _ in WRONG])
        expect_equal(len(answers), len(WRONG), "answers")
        for (line, text), answer in zip(WRONG, answers):
            if answer["ok"] or text not in answer["error"]:
                fail(f"{line!r:.80}: got {answer}, expected {text!r}")
        expect_equal(answers[7]["id"], "a", "id")
        # Clients that go away without reading, and in the middle of a line.
        for text in (b'{"command":"status"}\n' * 200, b'{"command":"sto'):
            with socket.socket(socket.AF_UNIX) as channel:
                channel.connect("s")
                channel.sendall(text)

    def check_shell(self):
        """Tests the command line of hfta.client."""
        def ask(*words, code=0, text=""):
            told = run(sys.executable, PYTHON / "hfta" / "client.py", "s", *words, code=code,
                       input=text)
            return [json.loads(line) for line in told.splitlines()]

        [answer] = ask("status", 6)
        expect_equal([row["trial"] for row in answer["trials"]], [6], "status of trial 6")
        ask("pause", 99, code=1)
        ask("stop", 9)
        answers = ask(code=1, text='{"id":1,"command":"more","count":1}\n\n{"id":2}\n')
        expect_equal([answer["ok"] for answer in answers], [True, False], "two lines")

    def check_paths(self):
        (self.folder / "file").write_text("text")
        process = self.start("used")
        with Search("s") as search:
            search.hold()
            for path, text, code in (
                    ("s", "another process uses the socket 's'", 1),
                    ("file", "'file' exists and isn't a socket", 1),
                    (".", "'.' exists and isn't a socket", 1),
                    ("x" * 200, "the path of a socket has at most 107 characters", 1),
                    ("nowhere/s", "cannot open the socket 'nowhere/s': No such file", 4)):
                told = run(*self.command("none", "--control", path), code=code)
                if text not in told:
                    fail(f"--control {path}: got {told!r}, expected {text!r}")
            search.end(now=True)
        self.expect_end(process)
        expect_equal((self.folder / "file").read_text(), "text", "a file in the way")
        return run(*self.command("used", "--resume"))

    def check_misuse(self):
        for words, text in (
                (["--control", "s", "--replay", 0], "'--control' has no effect with '--replay'"),
                (["--trials", 5, "--replay", 0], "'--trials' has no effect with '--replay'"),
                (["--fold", 0], "option '--fold' needs '--replay K'"),
                (["--trials", 0], "--trials"), (["--trials", "9" * 30], "--trials"),
                (["--replay", -1], "--replay"), (["--control"], "--control")):
            told = run(*self.command("none", *map(str, words)), code=2)
            if text not in told:
                fail(f"{words}: got {told!r}, expected {text!r}")

    def check_kill(self):
        process = self.start("killed")
        with Search("s") as search:
            search.pause([2, 3])
            search.set([2], {"lr": 0.02})
            search.clone(2, {"seed": 11})
            search.resume([2])
            search.stop([3])
            next(event for event in search if event["event"] == "evaluated" and
                 2 in event["trials"] and event["epoch"] > 3)
            process.kill()
            process.wait()
        before = (self.folder / "killed/search.jsonl").read_bytes()
        # The socket that is left is no hindrance.
        process = self.start("killed", "--resume")
        with Search("s") as search:
            search.end(now=True)
        self.expect_end(process)
        run(*self.command("killed", "--resume"))
        after = (self.folder / "killed/search.jsonl").read_bytes()
        whole = before[:before.rfind(b"\n") + 1]
        expect_equal(after[:len(whole)], whole, "the journal up to the kill")
        self.expect_true("killed")

    def check_streams(self):
        """Tests `--control -`, whose input ends while the search is held open."""
        for last, states in (('{"command":"end"}', {"complete", "stopped"}), ("", {"complete"})):
            lines = ['{"command":"hold"}', json.dumps({"command": "add",
                                                       "settings": [SETTINGS]}), "oops", last]
            folder = f"streams-{len(last)}"
            told = subprocess.run(self.command(folder, "--control", "-"), timeout=60,
                                  input="\n".join(lines), text=True, stdout=subprocess.PIPE)
            expect_equal(told.returncode, 0, "exit code")
            values = [json.loads(line) for line in told.stdout.splitlines()]
            answers = [value["ok"] for value in values if "event" not in value]
            expect_equal(answers, [True, True, False, *([True] if last else [])], "answers")
            self.expect_true(folder)
            told = json.loads(run(self.binary, "trials", "--json", "--checkpoint", folder))
            expect_equal({row["state"] for row in told["trials"]}, states, "states")
        with Search(self.command("program"), stderr=subprocess.DEVNULL) as search:
            expect_equal(search.more(1), [5], "a program's trial")
            search.end(now=True)
        expect_equal(search.process.returncode, 0, "exit code of a program")


    def check_outside(self):
        """Gives a search its settings and scores. Each trial is exported before its score is
        told, while the search runs."""
        job = make_job("external(trials = 4), halving(eta = 2)",
                       clauses="  objective external(maximize)")
        self.binary = self.work.compile("outer", job).resolve()
        process = self.start("outside")
        with Search("s") as search:
            expect_refusal("the sampler is external", search.more, 1)
            expect_refusal("doesn't wait for a score", search.tell, 0, 1, 0.5)
            rows = [{**SETTINGS, "seed": seed} for seed in range(1, 5)]
            expect_equal(search.add(rows[:3]), [0, 1, 2], "the first ones")
            expect_refusal("1 trials wait", search.add, rows[:2])
            expect_equal(search.add(rows[3:]), [3], "the last one")
            levels = []
            for event in search:
                if event["event"] != "evaluated" or event["epoch"] == 3:
                    continue  # Epoch 3 is no level: nothing waits for its score.
                for trial in event["trials"]:
                    run(self.binary, "export", "--trial", trial, "--checkpoint", "outside",
                        "-o", "outside.onnx")
                    levels.append((trial, event["epoch"]))
                    search.tell(trial, event["epoch"], float("nan") if trial == 3 else trial)
        self.expect_end(process)
        expect_equal(sorted(levels), [(0, 1), (1, 1), (1, 2), (2, 1), (2, 2), (2, 4), (3, 1)],
                     "levels")
        self.expect_true("outside")
        told = json.loads(run(self.binary, "trials", "--json", "--checkpoint", "outside"))
        expect_equal([(row["trial"], row["score"]) for row in told["trials"]],
                     [(2, 2), (1, 1), (0, 0), (3, "nan")], "trials and scores")


def main():
    check = Check()
    check.check_requests()
    check.check_misuse()
    check.check_paths()
    check.check_kill()
    check.check_streams()
    check.check_outside()


if __name__ == "__main__":
    main()
