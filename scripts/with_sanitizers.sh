#!/bin/sh
# with_sanitizers.sh BUILD COMMAND...: runs the command with the readers' core of that build folder, which
# was built with -DHIP_EXT_SANITIZE=address,undefined, in place of the installed one.
set -eu
core=$(ls "$1"/overlap_lab/native/_native*.so)
shift
libraries=""
for name in libasan.so libubsan.so libstdc++.so; do libraries="$libraries $(${CXX:-g++} -print-file-name=$name)"; done
export OVERLAP_LAB_TESTED_CORE="$core" LD_PRELOAD="$libraries"
export ASAN_OPTIONS=detect_leaks=0:abort_on_error=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
exec "$@"
