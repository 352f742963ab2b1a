#!/bin/sh
# The launcher, for ranks that a sanitiser looks at: its runtime RUNTIME (libasan.so, libtsan.so)
# comes first in them. What the library and its transport leak is theirs, and UCX's own hooks for
# memory do not go with a sanitiser's.
# Random addresses of some kernels lie where ThreadSanitizer keeps its own memory: setarch.
exec setarch -R mpiexec -genv LD_PRELOAD "$(gcc -print-file-name="$RUNTIME")" \
    -genv ASAN_OPTIONS detect_leaks=0:handle_segv=0:handle_abort=0 \
    -genv TSAN_OPTIONS "suppressions=$SUPPRESSIONS exitcode=66" -genv UCX_MEM_EVENTS no "$@"
