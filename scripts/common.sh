# shellcheck shell=bash
# Common parts of the scripts in this folder; sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
llvm=/usr/lib/llvm-22

# Prints a line that announces a step.
say() { printf '==> %s\n' "$*"; }

# Prints a message and exits with status 1.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# Prints a message about a wrong command line and exits with status 2.
usage_error() {
  printf '%s: %s; see --help\n' "$(basename "$0")" "$*" >&2
  exit 2
}

is_debian_12() {
  [[ -r /etc/os-release ]] || return 1
  (
    source /etc/os-release
    [[ ${ID:-} == debian && ${VERSION_ID:-} == 12 ]]
  )
}
