#!/bin/sh
# Compiles a precompiled header, and writes a checksum of all headers to
# FILE.sum next to it, which a compiler cache should take for its contents. FILE
# itself holds paths of this folder: so it must not come from a cache, and if
# the cache compared its contents, clones of the repository could not share the
# results that were compiled with it. CMake calls it as
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
    # The file is a rule of make: the output, a colon, and all files that it
    # depends on.
    sed -e '1s/^[^:]*://' -e 's/\\$//' "$dependencies" | xargs cat |
      sha256sum >"$file.sum"
    ;;
esac
