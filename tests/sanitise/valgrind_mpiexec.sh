#!/bin/sh
# The launcher, for ranks under valgrind: each program of a rank is started by valgrind's tool, with
# what mpi.valgrind leaves out; what it says is in LOGS/log.PID. The tool itself and not the command
# `valgrind`: it is static, so that the preloaded taps come into the rank alone. Leaks are not looked
# for: that search reads the trace after its end, word by word.
tool=/usr/libexec/valgrind/memcheck-$(dpkg --print-architecture)-linux
export VALGRIND_LIB="${tool%/*}"
VALGRIND_LAUNCHER=$(command -v valgrind)
export VALGRIND_LAUNCHER
for word; do
    shift
    set -- "$@" "$word"
    [ "$word" != -- ] || set -- "$@" "$tool" --quiet --leak-check=no --log-file="$LOGS/log.%p" \
        --suppressions="${0%/*}/mpi.valgrind"
done
exec mpiexec "$@"
