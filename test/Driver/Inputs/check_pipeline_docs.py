"""Compares the plans of docs/pipelines.md with those that hftac prints.

usage: check_pipeline_docs.py PAGE FOLDER HFTAC [--update]

In the page, a code block after `<!-- file: NAME -->` is written to this file in FOLDER. A
block after `<!-- run -->` is a command that is run there, and the next block after
`<!-- prints -->` must be its output; `--update` replaces it in the page.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys


def main():
    page, folder, hftac = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    hftac = os.path.abspath(hftac)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    printed, checked = "", 0

    def handle(match):
        nonlocal printed, checked
        kind, name, language, text = match.groups()
        if kind == "file":
            (folder / name).write_text(text)
        elif kind == "run":
            command = shlex.split(text)
            if command[0] != "hftac":
                sys.exit(f"{page}: a command of another program: {text}")
            printed = subprocess.run([hftac, *command[1:]], check=True, text=True,
                                     capture_output=True, cwd=folder).stdout
        elif text != printed and "--update" not in sys.argv:
            sys.exit(f"{page} has\n{text}hftac prints\n{printed}"
                     f"run this script with --update")
        else:
            checked += 1
            return f"<!-- prints -->\n```{language}\n{printed}```\n"
        return match.group(0)

    pattern = re.compile(r"<!-- (file|run|prints)(?:: (\S+))? -->\n```(\w*)\n(.*?)```\n",
                         re.S)
    text = page.read_text()
    written = pattern.sub(handle, text)
    if written != text:
        page.write_text(written)
    print(f"{checked} plans")


main()
