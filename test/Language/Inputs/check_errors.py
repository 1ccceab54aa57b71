"""Checks the messages of hftac about wrong jobs.

usage: check_errors.py JOB CASES HFTAC

A case of the file CASES is some lines `old => new`, replacements in the job, followed by
indented lines: texts that the output must contain, in this order. An `old` must be in the
job; `\\n` in a text is a line break. Lines that begin with `#` are comments. If a case has no
line with "error:", the job must be compiled to a module, else refused with as many errors
as the case has: with exit code 1 or, by a message of hftac that names no place, 2.
"""

import pathlib
import subprocess
import sys


def read_cases(text):
    """Yields the replacements and the expected texts of each case."""
    replacements, texts = [], []
    for line in text.split("\n") + ["end => end"]:
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("  "):
            texts.append(line.strip())
            continue
        if texts:
            yield replacements, texts
            replacements, texts = [], []
        old, arrow, new = line.partition(" =>")
        if not arrow:
            sys.exit(f"no '=>' in '{line}'")
        replacements.append((old.replace("\\n", "\n"), new.strip().replace("\\n", "\n")))


def find_wrong(job, replacements, texts, hftac):
    """Returns what is wrong with the output for a case; None if nothing is."""
    for old, new in replacements:
        if old not in job:
            return f"'{old}' isn't in the job"
        job = job.replace(old, new, 1)
    pathlib.Path("case.hfta").write_text(job)
    result = subprocess.run([hftac, "case.hfta", "--emit=import", "-o", "-"],
                            capture_output=True, text=True)
    output = result.stderr + result.stdout
    errors = sum("error:" in text for text in texts)
    code = 0 if not errors else 2 if output.startswith("hftac: error:") else 1
    if result.returncode != code or output.count("error:") != errors:
        return f"exit code {result.returncode}, output:\n{output}"
    rest = output
    for text in texts:
        found = rest.find(text)
        if found < 0:
            return f"no '{text}' in:\n{output}"
        rest = rest[found + len(text):]
    return None


def main():
    job, cases, hftac = sys.argv[1:]
    text = pathlib.Path(job).read_text()
    count = 0
    for replacements, texts in read_cases(pathlib.Path(cases).read_text()):
        count += 1
        if wrong := find_wrong(text, replacements, texts, hftac):
            sys.exit(f"{replacements}: {wrong}")
    print(f"{count} cases")


main()
