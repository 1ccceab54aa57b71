"""crash.py HFTAC FOLDER: a crash while hftac reads its input ends it with exit
code 70 and one message. A pipe without a writer holds the compiler up."""

import os
import pathlib
import signal
import subprocess
import sys
import time

hftac, folder = sys.argv[1], pathlib.Path(sys.argv[2])
pipe = folder / "pipe.mlir"
os.mkfifo(pipe)
process = subprocess.Popen([hftac, pipe, "--emit=import", "-v"],
                           stderr=subprocess.PIPE, text=True)
first = process.stderr.readline()  # it is past setting up its handlers
time.sleep(0.2)
process.send_signal(signal.SIGSEGV)
rest = process.communicate(timeout=60)[1]
print(first + rest, end="")
print("exit code", process.returncode)
