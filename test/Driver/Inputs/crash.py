"""crash.py HFTAC FOLDER: makes hftac crash by a signal while it reads its input,
and prints its messages and exit code, which must be 70. The input is a named
pipe to which nothing is written, so that hftac waits for it."""

import os
import pathlib
import signal
import subprocess
import sys

hftac, folder = sys.argv[1], pathlib.Path(sys.argv[2])
pipe = folder / "pipe.mlir"
os.mkfifo(pipe)
process = subprocess.Popen([hftac, pipe, "--emit=import", "-v"],
                           stderr=subprocess.PIPE, text=True)
first = process.stderr.readline()  # printed after hftac has installed its signal handlers
writer = os.open(pipe, os.O_WRONLY)  # waits until hftac has opened the pipe
process.send_signal(signal.SIGSEGV)
rest = process.communicate(timeout=60)[1]
os.close(writer)
print(first + rest, end="")
print("exit code", process.returncode)
