#!/usr/bin/env python3
"""Tests what a training shows on terminals of many kinds: wide, narrow, low, without
redrawing, colors or UTF-8, and one that becomes narrower while it is shown. A program of
tmux shows what a person would see. Needs only Python's standard library and tmux."""

import os
import re
import subprocess
import time

from harness import Work, fail, run

COPIES = 200
JOB = f"""model net(x: f32[batch, 4]) {{
  return linear(x, 3)
}}
data made {{
  train x = npy("x.npy"), label = npy("label.npy")
  test  x = npy("x.npy"), label = npy("label.npy")
}}
train many {{
  model     net(x)
  data      made, batch = 8
  loss      cross_entropy(net, label)
  metric    accuracy(net, label)
  optimizer sgd(lr = [{", ".join(f"{0.001 * (i + 1):g}" for i in range(COPIES - 1))}, 1e30])
}}
"""


class Terminal:
    """A terminal of tmux in which a command runs."""

    count = 0

    def __init__(self, work, columns, rows, command, **environment):
        # The name of a socket is short, so it is relative to the folder.
        Terminal.count += 1
        self.folder, self.socket = work.folder, f"tmux{Terminal.count}"
        words = [f"{name}={value}" for name, value in environment.items()]
        self.tmux("-f", "/dev/null", "-u", "new-session", "-d", "-x", columns, "-y", rows,
                  "-c", work.folder,
                  f"env -u NO_COLOR {' '.join(words)} {command}; echo over; sleep 60")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *map(str, words)], check=True,
                              capture_output=True, text=True, cwd=self.folder).stdout

    def look(self, text, colors=False):
        """Waits until a text can be seen, and returns the lines of the terminal."""
        for _ in range(600):
            shown = self.tmux("capture-pane", "-p", *(["-e"] if colors else []))
            if re.search(text, shown):
                return shown.rstrip("\n").split("\n")
            time.sleep(0.05)
        fail(f"no {text!r} in\n{shown}")

    def close(self):
        self.tmux("kill-server")


def show(work, columns, rows, command, text, colors=False, **environment):
    terminal = Terminal(work, columns, rows, command, **environment)
    lines = terminal.look(text, colors)
    terminal.close()
    return lines


def expect(lines, *patterns):
    """Expects lines that match, in this order; others may be between them."""
    at = 0
    for pattern in patterns:
        while at < len(lines) and not re.fullmatch(pattern, lines[at]):
            at += 1
        if at == len(lines):
            fail(f"no line {pattern!r} in\n" + "\n".join(lines))


def main():
    work = Work(__doc__)
    from data_forms import write_npy
    write_npy(work.folder / "x.npy", "<f4", (64, 4), [i % 7 / 7 for i in range(256)])
    write_npy(work.folder / "label.npy", "<i8", (64,), [i % 3 for i in range(64)])
    work.compile("many", JOB)
    endless = "./many train --epochs 1000000"
    wide = show(work, 100, 20, endless, "test loss", LC_ALL="C.UTF-8", NO_COLOR=1)
    expect(wide, r"[█░]+  \d+ %  step \d+/8000000  epoch \d+  .* steps/s  [\d:]+ left  \d+ MiB",
           r"  copy  lr     +loss +test loss +accuracy *", r"★ \d+ .* \d+\.\d\d %",
           r"  \d+ .* \d+\.\d\d %", r"  \.\.\. and 18\d more")
    plain = show(work, 70, 20, endless, "test loss", LC_ALL="C", NO_COLOR=1)
    expect(plain, r"([#-]+  )?\d+ %  step .*", r"  copy  lr .*", r"\* \d+ .*")
    if any(ord(c) > 127 for line in plain for c in line):
        fail("characters beyond ASCII:\n" + "\n".join(plain))
    narrow = show(work, 30, 9, endless, "copy  loss", LC_ALL="C", NO_COLOR=1)
    expect(narrow, r"\d+ %  step \d+/8000000.*", r"  copy  loss +t?e?s?.*", r". \d+ .*",
           r"  \.\.\. and 19\d more")
    colored = show(work, 100, 12, endless, "test loss", colors=True, LC_ALL="C.UTF-8")
    if not any("\x1b[32m" in line and "★" in line for line in colored):
        fail("no green line:\n" + "\n".join(colored))

    terminal = Terminal(work, 110, 16, endless, LC_ALL="C.UTF-8", NO_COLOR=1)
    terminal.look("test loss")
    terminal.tmux("resize-window", "-x", 44, "-y", 16)
    time.sleep(0.6)
    lines = terminal.look("copy  loss")
    terminal.close()
    if sum("copy  " in line for line in lines) != 1:
        fail("what was drawn before is still there:\n" + "\n".join(lines))

    # At the end, as many copies as there is room for, from the best one on.
    last = show(work, 100, 20, "./many train --epochs 2 --no-progress", "over",
                LC_ALL="C.UTF-8", NO_COLOR=1)
    expect(last, r"  copy  lr .*", r"★ \d+ .*",
           r"  \.\.\. and 184 more; a file or a pipe gets all", "over")
    # Elsewhere all of them, in the order of their numbers.
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    said = run(work.folder / "many", "train", "--epochs", 2, "--no-progress",
               cwd=work.folder, env=environment).splitlines()
    table = [line for line in said if re.match(r"\d+ ", line)]
    if [int(line.split()[0]) for line in table] != list(range(COPIES)):
        fail("\n".join(said))
    dumb = show(work, 100, 20, f"TERM=dumb {endless} 2>&1 | head -40 | cat -v", "over")
    if any("^[" in line for line in dumb):
        fail("escape sequences:\n" + "\n".join(dumb))


main()
