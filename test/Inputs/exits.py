"""exits.py CODE COMMAND...: runs the command; fails unless it exits with CODE."""

import subprocess
import sys

expected = int(sys.argv[1])
code = subprocess.run(sys.argv[2:]).returncode
if code != expected:
    sys.exit(f"exit code {code}, expected {expected}: {' '.join(sys.argv[2:])}")
