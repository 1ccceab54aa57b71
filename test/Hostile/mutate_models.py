"""Compiles mutated models and job files up to fusion.

Whatever a file contains, hftac must end within 10 s and 2 GiB, with exit code 0, or with 1
or 3 and an error message. Files for which this fails are kept in the work folder.

    mutate_models.py --hftac build/bin/hftac --work /tmp/mutants --count 20000 \\
        test examples
"""

import argparse
import collections
import os
import pathlib
import re
import resource
import subprocess
import sys
from random import Random

import protobuf_mutation
from onnx_writer import varint

SECONDS = 10
MEMORY = 2 << 30
MOST_BYTES = 1 << 16  # the largest file that is mutated
EXIT_CODES = {0, 1, 3}  # success, wrong input, unsupported input
# The exit code and message for a file of several jobs, which --emit=fused refuses.
SEVERAL_JOBS = 2, b"takes one job"
NUMBERS = [b"0", b"-1", b"1", b"2147483648", b"9223372036854775807", b"1e308", b"1e-400",
           b"0.5", b"99999999999999999999", b"65536"]


def pick_range(data, random, most):
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.randint(1, most))


def mutate_bytes(data, random):
    """Returns the data after one random mutation that ignores the format."""
    data = bytearray(data)
    kind = random.randrange(8)
    start, end = pick_range(data, random, 64)
    if kind == 0 or not data:
        data[start:start] = random.randbytes(random.randint(1, 16))
    elif kind == 1:
        for _ in range(random.randint(1, 4)):
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    elif kind == 2:
        del data[start:]
    elif kind == 3:
        del data[start:end]
    elif kind == 4:
        data[start:start] = data[start:end] * random.choice([1, 1, 2, 50])
    elif kind == 5:
        other, other_end = pick_range(data, random, 64)
        data[start:end], data[other:other_end] = data[other:other_end], data[start:end]
    elif kind == 6:
        number = random.choice(protobuf_mutation.NUMBERS)
        data[start:start + 1] = varint(number)
    else:
        data[random.randrange(len(data))] = random.choice([0, 1, 0x7F, 0x80, 0xFF])
    return bytes(data)


def mutate_text(text, random):
    """Returns the text after one random mutation of its tokens: words, numbers, signs."""
    tokens = re.findall(rb"\w+|\s+|.", text)
    if not tokens:
        return mutate_bytes(text, random)
    index, other = random.randrange(len(tokens)), random.randrange(len(tokens))
    kind = random.randrange(5)
    if kind == 0:
        numbers = [at for at, token in enumerate(tokens) if token[:1].isdigit()]
        tokens[random.choice(numbers or [index])] = random.choice(NUMBERS)
    elif kind == 1:
        tokens[index], tokens[other] = tokens[other], tokens[index]
    elif kind == 2:
        tokens[index] = tokens[other]
    elif kind == 3:
        del tokens[index:index + random.choice([1, 1, 2, 10])]
    else:
        tokens[index] *= random.choice([2, 3, 1000])
    return b"".join(tokens)


def mutate(data, is_text, random):
    for _ in range(random.choice([1, 1, 2, 4])):
        mutated = None
        if random.random() < 0.7:
            mutated = (mutate_text(data, random) if is_text else
                       protobuf_mutation.mutate(data, random, mutate_bytes))
        data = mutate_bytes(data, random) if mutated is None else mutated
    return data


def find_inputs(folders):
    paths = [path for folder in folders for pattern in ("*.onnx", "*.hfta")
             for path in sorted(folder.rglob(pattern))
             if path.stat().st_size <= MOST_BYTES]
    if not paths:
        sys.exit("no models or job files found")
    return paths


def run(command, work):
    """Runs a command. Returns (problem, exit code): the problem is None unless the command
    took too long, or ended with another exit code or without an error message."""
    with open(work / "messages", "w+b") as messages:
        try:
            code = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=messages,
                                  stdin=subprocess.DEVNULL, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            return f"more than {SECONDS} s", None
        messages.seek(0)
        text = messages.read()
    if code not in EXIT_CODES and not (code == SEVERAL_JOBS[0] and SEVERAL_JOBS[1] in text):
        return f"exit code {code}", code
    if code != 0 and b"error: " not in text:
        return f"exit code {code} without a message", code
    return None, code


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--hftac", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.environ["MALLOC_ARENA_MAX"] = "1"  # more arenas would reserve address space,
                                          # which is limited
    inputs = find_inputs(arguments.folders)
    codes, failures = collections.Counter(), 0
    for number in range(arguments.first, arguments.first + arguments.count):
        random = Random(number)
        source = random.choice(inputs)
        mutant = arguments.work / ("mutant" + source.suffix)
        mutant.write_bytes(mutate(source.read_bytes(), source.suffix == ".hfta", random))
        command = [str(arguments.hftac), str(mutant), "--emit=fused", "-o", "/dev/null"]
        if source.suffix == ".onnx":
            command += random.choice([[], ["--batch=2"], ["--batch=3", "--precision=f64"]])
        problem, code = run(command, arguments.work)
        codes[code] += 1
        if problem:
            failures += 1
            kept = mutant.rename(arguments.work / f"failure-{number}{source.suffix}")
            command[1] = str(kept)
            print(f"{problem}: of {source}: {' '.join(command)}", flush=True)
        done = number + 1 - arguments.first
        if done % 1000 == 0:
            print(f"{done} of {arguments.count}", file=sys.stderr, flush=True)
    print(f"{arguments.count} mutants of {len(inputs)} files:",
          ", ".join(f"{count} exit with {code}" for code, count in
                    sorted(codes.items(), key=str)))
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
