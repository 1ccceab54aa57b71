"""Emulates two hosts on this machine with network namespaces. Needs root and iproute2."""

import contextlib
import json
import os
import shutil
import subprocess

from harness import fail, run
from mpirun import COMMAND

# A shell script that runs a command in a network namespace. Like a machine of its own, it
# has its own host name and shared memory.
ENTER = ('exec ip netns exec "$0" unshare --uts --mount sh -c '
         '\'hostname "$0"; mount -t tmpfs tmpfs /dev/shm; exec "$@"\' "$0" "$@"')
ADDRESSES = ("10.97.53.1", "10.97.53.2")


def call(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def can_make_hosts():
    if os.getuid() != 0 or not shutil.which("ip") or not shutil.which("unshare"):
        return False
    name = f"hfta{os.getpid()}try"
    made = subprocess.run(["ip", "netns", "add", name], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0
    entered = made and subprocess.run(
        ["sh", "-c", ENTER, name, "true"], check=False,
        stderr=subprocess.DEVNULL).returncode == 0
    subprocess.run(["ip", "netns", "delete", name], check=False,
                   stderr=subprocess.DEVNULL)
    return entered


def name_host(number):
    return f"hfta{os.getpid()}h{number}"


def connect(name, address, rate, burst):
    inside = ["ip", "netns", "exec", name]
    call(*inside, "ip", "address", "add", address + "/24", "dev", "v0")
    call(*inside, "ip", "link", "set", "v0", "up")
    call(*inside, "ip", "link", "set", "lo", "up")
    if rate:
        call(*inside, "tc", "qdisc", "add", "dev", "v0", "root", "tbf", "rate",
             f"{int(rate * 8)}bit", "burst", burst, "latency", "50ms")


def count_sent_bytes():
    """Returns the number of bytes that the two hosts of make_hosts have sent to each other
    so far."""
    total = 0
    for host in (0, 1):
        shown = subprocess.run(
            ["ip", "-n", name_host(host), "-s", "-j", "link", "show", "v0"],
            check=True, stdout=subprocess.PIPE).stdout
        total += json.loads(shown)[0]["stats64"]["tx"]["bytes"]
    return total


@contextlib.contextmanager
def make_hosts(folder, slots=1, rate=None, burst="1mb"):
    """Makes two hosts for `slots` ranks each, connected by a network of `rate` bytes per
    second in each direction (None: unlimited) with bursts of up to `burst`. Yields an
    mpirun command that runs a program on them; the caller appends the number of ranks and
    the program. Leaving the context removes the hosts."""
    names = [name_host(host) for host in (0, 1)]
    agent = folder.resolve() / "agent"
    agent.write_text(f"""#!/bin/sh
host=$1; shift
case $host in {ADDRESSES[0]}) set -- {names[0]} sh -c "$*";; *) set -- {names[1]} sh -c "$*";; esac
exec sh -c '{ENTER.replace("'", "'" + chr(92) + "''")}' "$@"
""")
    agent.chmod(0o755)
    try:
        for name in names:
            call("ip", "netns", "add", name)
        call("ip", "link", "add", "v0", "netns", names[0], "type", "veth", "peer",
             "name", "v0", "netns", names[1])
        for name, address in zip(names, ADDRESSES):
            connect(name, address, rate, burst)
        yield ["sh", "-c", ENTER, names[0], *COMMAND, "--oversubscribe",
               "--allow-run-as-root", "--mca", "plm_rsh_agent", agent,
               "--mca", "btl", "self,vader,tcp", "--mca", "btl_tcp_if_include", "v0",
               "--mca", "oob_tcp_if_include", "v0", "--mca", "btl_tcp_links", "2",
               "-H", ",".join(f"{address}:{slots}" for address in ADDRESSES)]
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "delete", name], check=False,
                           stderr=subprocess.DEVNULL)


def run_told(command, ranks, program, *arguments, place):
    """Runs a program with a command of make_hosts, and fails unless each host runs half of
    the ranks."""
    output = run(*command, "-n", ranks, "sh", "-c", 'hostname; exec "$@"', "sh", program,
                 *arguments, cwd=place)
    told = [line for line in output.splitlines() if line.startswith("hfta")]
    if sorted(map(told.count, set(told))) != [ranks // 2] * 2:
        fail(f"expected two hosts of {ranks // 2} ranks each\n{output:.2000}")
