#!/usr/bin/env bash
# Installs the build, uses it as a library through find_package, and runs the installed program from
# another folder. Arguments: build folder, source folder.
set -euo pipefail
build=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S "$source/examples/library" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_BUILD_TYPE=Debug "${@:3}" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/example" | grep -q '^largest mismatch'
cd /
"$work/prefix/bin/isoloop" count smelt-200m-e192 --quiet | grep -q 'routed experts'
