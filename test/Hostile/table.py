#!/usr/bin/env python3
"""Runs hftac and compiled programs with a wrong input in each row, and checks that they
report it well: with the documented exit code, one error message that names the place and
the mistake, no crash, little time and memory, and no file that is new, changed or missing
afterwards. Needs only Python's standard library."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import augmentation_rows
import best_rows
import checkpoint_rows
import command_rows
import data_rows
import forms_rows
import jobs_rows
import language_rows
import log_rows
import memory_rows
import new_rows
import node_rows
import onnx_rows
import plan_rows
import precision_rows
import record_rows
import replacement_rows
import search_rows
import turn_rows
import workload_rows

AREAS = {"onnx": onnx_rows, "nodes": node_rows, "language": language_rows,
         "data": data_rows, "forms": forms_rows, "checkpoint": checkpoint_rows,
         "command": command_rows, "jobs": jobs_rows, "plan": plan_rows,
         "memory": memory_rows, "replacement": replacement_rows,
         "workload": workload_rows, "precision": precision_rows,
         "record": record_rows, "search": search_rows, "best": best_rows,
         "turns": turn_rows, "augmentation": augmentation_rows,
         "new": new_rows, "log": log_rows}
MOST_BYTES = 2 << 30
# The seconds that a command may take; main() multiplies them by --slowdown.
most_seconds = 10

# Texts of crashes, which no message may contain.
CRASHES = re.compile(r"PLEASE submit|Stack dump|Assertion|LLVM ERROR|"
                     r"error: internal error|Sanitizer|runtime error|"
                     r"terminate called|out of memory|Traceback")


class Failure(Exception):
    pass


#===----------------------------------------------------------------------===#
# Running a command
#===----------------------------------------------------------------------===#


def read_memory(pid):
    """Returns the resident memory of a process in bytes, or 0 if it has ended."""
    try:
        with open(f"/proc/{pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def execute(command, folder, streams, limited):
    """Runs a command and returns its exit code, its output and its error output. If
    `limited`, kills it once it exceeds the limits of time or memory, and raises Failure."""
    out, err = streams.with_suffix(".out"), streams.with_suffix(".err")
    with open(out, "wb") as stdout, open(err, "wb") as stderr:
        process = subprocess.Popen(command, cwd=folder, stdout=stdout,
                                   stderr=stderr, stdin=subprocess.DEVNULL,
                                   start_new_session=True)
        start, problem, most = time.monotonic(), "", 0
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                break
            most = max(most, read_memory(process.pid))
            if not problem and limited:
                if time.monotonic() - start > most_seconds:
                    problem = f"runs for over {most_seconds} s"
                elif most > MOST_BYTES:
                    problem = f"needs over {MOST_BYTES >> 20} MiB of memory"
                if problem:
                    os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.003)
    process.returncode = code = os.waitstatus_to_exitcode(status)
    if limited and usage.ru_maxrss * 1024 > MOST_BYTES:
        problem = f"needs {usage.ru_maxrss >> 10} MiB of memory"
    if problem:
        raise Failure(problem)
    return (code, out.read_text(errors="replace"),
            err.read_text(errors="replace"))


#===----------------------------------------------------------------------===#
# Files
#===----------------------------------------------------------------------===#


def write_files(folder, files):
    """Writes files to a new folder. `files` maps a path to a text, bytes, None for a
    folder, or a function that is called with the path and makes the file."""
    folder.mkdir(parents=True)
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if content is None:
            path.mkdir()
        elif callable(content):
            content(path)
        else:
            path.write_bytes(content.encode() if isinstance(content, str)
                             else content)


def look(folder):
    """Returns a map from each path in a folder to its mode, its content (for a large file,
    its size) and, except for folders, its time of modification."""
    found = {}
    for path in sorted(folder.rglob("*")):
        state = path.lstat()
        content = state.st_size
        if path.is_symlink():
            content = os.readlink(path)
        elif path.is_file() and state.st_size < 1 << 20 and os.access(
                path, os.R_OK):
            content = path.read_bytes()
        found[str(path.relative_to(folder))] = (state.st_mode, content, None if
                                                path.is_dir() else
                                                state.st_mtime_ns)
    return found


def compare_folders(before, after):
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            raise Failure(f"removes '{name}'")
        if name not in before:
            raise Failure(f"leaves '{name}'")
        if before[name] != after[name]:
            raise Failure(f"changes '{name}'")


#===----------------------------------------------------------------------===#
# Rows
#===----------------------------------------------------------------------===#


def check_message(row, code, err):
    crash = CRASHES.search(err)
    if crash:
        raise Failure(f"says '{crash.group()}'")
    if code not in row.codes:
        raise Failure(f"exits with {code}, expected " +
                      " or ".join(map(str, row.codes)))
    errors = [line for line in err.splitlines() if "error: " in line]
    if code == 0:
        errors.append("")
    if len(errors) != 1:
        raise Failure(f"prints {len(errors)} errors, expected 1")
    for text in row.texts if code else ():
        if text not in errors[0]:
            raise Failure(f"doesn't say \"{text}\"")


def run_row(row, folder, tools, show):
    """Runs a row in a new folder. Returns None, or a text about how it has failed."""
    err = ""
    try:
        write_files(folder, row.files)
        before = look(folder)
        command = [tools.get(part, part) for part in row.command]
        code, _, err = execute(command, folder, folder.with_name(
            folder.name + "-said"), True)
        if show:
            print(f"--- {row.name}\n{err[:600].rstrip()}\nexit {code}")
        check_message(row, code, err)
        if code:
            compare_folders(before, look(folder))
    except Failure as failure:
        command = " ".join(map(os.fsdecode, row.command))
        return (f"{row.name}: {failure}\n  {command:.500}\n  in {folder}\n"
                f"{err:.2000}")
    shutil.rmtree(folder)
    return None


def make_programs(hftac, folder):
    """Compiles the programs that rows share: `sweep`, of which it also makes a checkpoint,
    `keeper`, the same with best weights, `forms`, whose data have other forms, `pair` with
    two jobs, `huge`, which needs more memory than there is, and `spilling`, which spills."""
    write_files(folder, {**data_rows.GOOD, "huge.hfta": command_rows.HUGE_JOB,
                         "keeper.hfta": best_rows.JOB, "forms.hfta": forms_rows.JOB,
                         "jobs.hfta": jobs_rows.JOBS,
                         "large.hfta": memory_rows.JOB})
    train = ["./sweep", "train", "--no-progress", "--checkpoint", "good"]
    keep = ["./keeper", *train[1:-1], "best"]
    for command in ([hftac, "job.hfta", "-o", "sweep"], train,
                    [hftac, "keeper.hfta", "-o", "keeper"], keep,
                    [hftac, "forms.hfta", "-o", "forms"],
                    [hftac, "jobs.hfta", "-o", "pair"],
                    [hftac, "huge.hfta", "-o", "huge"],
                    [hftac, "large.hfta", "-o", "spilling",
                     f"--memory=device = {memory_rows.BUDGET}, threads = 2"]):
        code, _, err = execute(command, folder, folder / "said", False)
        if code:
            sys.exit(f"error: {' '.join(map(str, command))}\n{err}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hftac", required=True, type=pathlib.Path)
    parser.add_argument("--work", required=True, type=pathlib.Path)
    parser.add_argument("--area", choices=AREAS, action="append",
                        help="run only these rows")
    parser.add_argument("--filter", default="",
                        help="run only rows whose name matches")
    parser.add_argument("--show", action="store_true",
                        help="print what every command says")
    parser.add_argument("--slowdown", type=int, default=1,
                        help="factor by which commands may take longer")
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    global most_seconds
    most_seconds *= arguments.slowdown
    shutil.rmtree(arguments.work, ignore_errors=True)
    arguments.work.mkdir(parents=True)
    hftac = arguments.hftac.absolute()
    program = arguments.work.absolute() / "program"
    tools = {"hftac": str(hftac), "sweep": str(program / "sweep"),
             "keeper": str(program / "keeper"), "forms": str(program / "forms"),
             "pair": str(program / "pair"),
             "huge": str(program / "huge"), "spilling": str(program / "spilling")}
    if set(arguments.area or AREAS) - {"onnx", "nodes", "language", "turns", "workload", "new",
                                          "record"}:
        make_programs(hftac, program)
    failures = []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for area in arguments.area or AREAS:
            rows = [row for row in AREAS[area].make_rows(program)
                    if re.search(arguments.filter, row.name)]
            folders = [arguments.work.absolute() / area / str(index)
                       for index, _ in enumerate(rows)]
            wrong = [failure for failure in pool.map(
                lambda row, folder: run_row(row, folder, tools, arguments.show),
                rows, folders) if failure]
            print(f"{area}: {len(rows)} rows, {len(wrong)} wrong")
            failures += wrong
    for failure in failures:
        print(failure)
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
