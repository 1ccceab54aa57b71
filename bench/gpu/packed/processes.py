"""Runs processes with a time limit, and finds the machine's GPU. Needs only Python's
standard library."""

import ctypes
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time

CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, _MINOR


class Failure(Exception):
    """The reason why an item has failed."""


class Late(Failure):
    """The item has exceeded its time limit."""


def stop(process):
    """Kills a process together with all processes that it has started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it says nothing"


def run(command, seconds, environment=None):
    """Returns the output of a command, with both streams together, and its exit code;
    raises Late if it takes longer."""
    process = subprocess.Popen([str(part) for part in command], text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, env=environment)
    try:
        output, _ = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        raise Late(f"took longer than {seconds:.0f} s") from None
    finally:
        stop(process)
    return output, process.returncode


def run_well(command, seconds, environment=None):
    output, code = run(command, seconds, environment)
    if code:
        raise Failure(f"exit {code}: {last_line(output)}")
    return output


class Worker:
    """A process that reads items as lines of JSON and answers each with a line of JSON. It
    is started for the first item, and restarted after an item that took too long or that
    ended the process."""

    def __init__(self, command):
        self.command, self.process = command, None

    def start(self):
        self.process = subprocess.Popen(self.command, text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL,
                                        start_new_session=True)
        self.answers = queue.Queue()
        threading.Thread(target=self.read, args=(self.process, self.answers),
                         daemon=True).start()

    @staticmethod
    def read(process, answers):
        for line in process.stdout:
            answers.put(line)
        answers.put(None)

    def ask(self, item, seconds):
        if not self.process:
            self.start()
        try:
            self.process.stdin.write(json.dumps(item) + "\n")
            self.process.stdin.flush()
            answer = self.answers.get(timeout=seconds)
        except queue.Empty:
            self.close()
            raise Late(f"took longer than {seconds:.0f} s") from None
        except OSError:
            answer = None
        if answer is None:
            code = self.process.wait()
            self.close()
            raise Failure(f"its process ended with {code}")
        answer = json.loads(answer)
        if "error" in answer:
            raise Failure(answer["error"])
        return answer

    def close(self):
        if self.process:
            stop(self.process)
            self.process = None


class Clock:
    """The time that an item may take: at most its own limit, and at most the time left
    for all items."""

    def __init__(self, limit, total):
        self.limit, self.total, self.begin = limit, total, time.monotonic()

    def left(self):
        if not self.total:
            return float("inf")
        return self.total - (time.monotonic() - self.begin)

    def seconds(self):
        return max(0.1, min(self.limit, self.left()))

    def cuts_short(self):
        """Returns whether the time for all items is up, to 0.2 s: then this total, rather
        than the item's own limit, has ended the item."""
        return self.left() < 0.2


def find_gpu():
    """Returns the first GPU's name and chip, such as sm_90; raises Failure if there is
    none."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        raise Failure("there is no driver for NVIDIA GPUs, libcuda.so.1") from None
    count, device = ctypes.c_int(0), ctypes.c_int(0)
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value:
        raise Failure("the driver finds no GPU that may be used")
    name, numbers = ctypes.create_string_buffer(256), []
    failed = driver.cuDeviceGet(ctypes.byref(device), 0) or \
        driver.cuDeviceGetName(name, len(name), device)
    for attribute in CAPABILITY:
        number = ctypes.c_int(0)
        failed = failed or driver.cuDeviceGetAttribute(ctypes.byref(number), attribute,
                                                       device)
        numbers.append(str(number.value))
    if failed:
        raise Failure(f"the driver doesn't say what GPU there is: error {failed}")
    return name.value.decode(), "sm_" + "".join(numbers)


def has_module(name):
    """Returns whether Python finds a package, without loading it, which could take long."""
    code = "import importlib.util, sys; sys.exit(not importlib.util.find_spec(sys.argv[1]))"
    return subprocess.run([sys.executable, "-c", code, name], check=False).returncode == 0
