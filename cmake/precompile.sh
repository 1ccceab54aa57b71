#!/bin/sh
# Compiles the precompiled header FILE, and writes FILE.sum: a checksum of all
# headers in it, which ccache uses instead of FILE's contents. FILE contains
# absolute paths of this folder. So FILE must not come from a cache, and if
# ccache compared FILE itself, clones of the repository couldn't share results
# that were compiled with it. CMake calls this script as
#
#    precompile.sh COMPILER ARGUMENT... -MF DEPENDENCIES ... -o FILE ...
set -eu
"$@"

file='' dependencies='' previous=''
for argument in "$@"; do
  case $previous in
    -o) file=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  previous=$argument
done
case $file in
  *.pch)
    # The file of dependencies is a rule of make: the output, a colon, and all
    # files that were read. Each line but the last ends with a backslash.
    sed -e '1s/^[^:]*://' -e 's/\\$//' "$dependencies" | xargs cat |
      sha256sum >"$file.sum"
    ;;
esac
