# shellcheck shell=bash
# What the scripts in this folder share; sourced, not run.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
llvm=/usr/lib/llvm-22

# One line a step.
say() { printf '==> %s\n' "$*"; }

# A message and exit status 1.
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# The same for a wrong command line, with exit status 2.
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
