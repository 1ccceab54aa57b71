"""Starts the tools that are other names of the program hftac, in environments where `pip`
has installed it."""

import os
import sys


def hfta_opt():
    """Becomes hfta-opt, which is hftac under this name."""
    hftac = os.path.join(os.path.dirname(os.path.realpath(sys.argv[0])), "hftac")
    os.execv(hftac, ["hfta-opt", *sys.argv[1:]])
