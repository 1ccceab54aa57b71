#!/bin/sh
# Compiles a precompiled header, and writes beside it, in FILE.sum, what a compiler
# cache should take for its contents: a checksum of all headers. FILE itself holds
# paths of this folder, so that it must not come out of a cache, and clones of the
# repository could not share what is compiled with it. Called by CMake as
#
#     precompile.sh COMPILER ARGUMENT... -MF DEPENDENCIES ... -o FILE ...
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
    # A rule of make: the file, a colon, and all that it was made of.
    sed -e '1s/^[^:]*://' -e 's/\\$//' "$dependencies" | xargs cat |
      sha256sum >"$file.sum"
    ;;
esac
