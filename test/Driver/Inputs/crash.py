"""crash.py HFTAC FOLDER: checks that a crash while hftac reads its input ends
it with exit code 70 and one message. A pipe that nothing is written to keeps it
waiting there."""

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
first = process.stderr.readline()  # it has set up its handlers by then
writer = os.open(pipe, os.O_WRONLY)  # waits until it has opened its input
process.send_signal(signal.SIGSEGV)
rest = process.communicate(timeout=60)[1]
os.close(writer)
print(first + rest, end="")
print("exit code", process.returncode)
