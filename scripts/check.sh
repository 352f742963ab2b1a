#!/bin/sh
# Style and lint of everything that is ours. Prints what is wrong; exit status 1 if anything is.
set -eu
cd "$(dirname "$0")/.."
bad=0

# lint NAME PATTERN... -- COMMAND...: the command on all files git knows or would add.
lint() {
    echo "  CHECK   $1"
    shift
    patterns=
    while [ "$1" != -- ]; do
        patterns="$patterns $1"
        shift
    done
    shift
    # shellcheck disable=SC2086 # patterns is a list; set -f keeps git's patterns for git
    (set -f && git ls-files -z --cached --others --exclude-standard -- $patterns) |
        xargs -0 -r "$@" || bad=1
}

# nowhere REASON PATTERN FILES...: no line of these files may match.
nowhere() {
    echo "  CHECK   $1"
    shift
    if git grep --untracked -nE "$@"; then
        bad=1
    fi
}

lint clang-format '*.c' '*.h' -- clang-format --dry-run -Werror
# ctuuninitvar takes an out-parameter in another file for a read of what is not set yet.
lint cppcheck 'harness/*.c' 'oracles/*.c' 'reports/*.c' 'injectors/*.c' 'engine/*.c' -- \
    cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --error-exitcode=1 \
    --library=scripts/cppcheck.cfg -Iharness -I. --suppress=missingIncludeSystem --suppress=ctuuninitvar
lint luacheck '*.lua' -- luacheck --quiet
lint shellcheck '*.sh' scripts/arm64/mpicc .ci/run -- shellcheck -x
# prove runs a test file itself, and stops at one that it may not run.
# shellcheck disable=SC2016 # expanded by that shell
lint "tests can be run" '*.bats' '*.sh' -- sh -c '
    for file; do
        [ -x "$file" ] || { echo "$file: not executable" && bad=1; }
    done
    exit ${bad:-0}' sh
nowhere "MPI headers only in injectors and suites" '#include (<mpi.h>|"mpi_library.h")' -- \
    harness oracles reports ':!harness/mpi_library.h'
nowhere "lua_* only in harness/script" '\blua_[a-z]+\(' -- '*.c' '*.h' ':!harness/script'
# What a program under test or a stranger may have put there is opened by base/regular_file.h; these
# read /proc, what the command itself has open, or are the program's own calls.
nowhere "files are read by base/regular_file.h" \
    '\bfopen\([^)]*"r|json_load_file|luaL_loadfile|archive_read_open_filename|\bopen\([^)]*O_RDONLY \| O_CLOEXEC' \
    -- harness reports injectors ':!harness/system/process.c' ':!harness/command/doctor.c' \
    ':!harness/stacks/snapshot.c' ':!harness/store/journal.c' ':!harness/launch/launcher.c' \
    ':!harness/launch/rank.c' ':!harness/launch/zygotes.c' ':!injectors/taps/tap_spawn.c'
# Everything else is built for any processor.
one_processor='__(x86_64|i386|aarch64)__|__builtin_ia32_|\brdtsc|\b_mm_|\b[a-z]mmintrin'
one_processor="$one_processor|\bREG_R[A-Z0-9]|PTRACE_GETREGS\b|__asm__ volatile\(\"[a-z]"
nowhere "what one processor has only in registers.h, clock.h, add.h, hash_avx2.h" "$one_processor" \
    -- '*.c' '*.h' ':!*/registers.h' ':!*/clock.h' ':!*/add.h' ':!*/hash_avx2.h'
echo "  CHECK   includes go one way"
lua5.4 scripts/includes.lua || bad=1
echo "  CHECK   man pages"
for page in man/*.scd; do
    scdoc <"$page" >/dev/null || bad=1
done
exit $bad
