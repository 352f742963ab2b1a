/* What a rank does while it waits inside MPICH over UCX, which asks again and again whether a
 * message has come. Where there are more ranks than processors, the one that is waited for would
 * not run until the kernel takes the processor away from the one that asks; so that one gives it
 * away by itself. Must not know: MPI, the rest of Faultline (the tests preload this file alone,
 * too). */
#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UCX_LIBRARY "libucp.so.0"
/* So many questions in vain take some microseconds: an answer that comes at once is not slowed
 * down. */
#define PATIENCE 64

typedef unsigned (*progress_function)(void *worker);

/* Behind this library, or in one that a program has opened for itself. */
static progress_function find(void)
{
    progress_function function;
    void *found = dlsym(RTLD_NEXT, "ucp_worker_progress");
    if (found == NULL) {
        void *library = dlopen(UCX_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
        found = library != NULL ? dlsym(library, "ucp_worker_progress") : NULL;
    }
    if (found == NULL) {
        fputs("libfaultline.so: " UCX_LIBRARY " has no ucp_worker_progress\n", stderr);
        abort();
    }
    memcpy(&function, &found, sizeof function);
    return function;
}

/* UCX's own: one look at what has come; 0: nothing has. */
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker);
__attribute__((visibility("default"))) unsigned ucp_worker_progress(void *worker)
{
    static _Atomic(progress_function) next;
    static __thread unsigned in_vain __attribute__((tls_model("initial-exec")));
    progress_function function = atomic_load_explicit(&next, memory_order_relaxed);
    if (function == NULL) {
        function = find();
        atomic_store_explicit(&next, function, memory_order_relaxed);
    }
    unsigned count = function(worker);
    if (count > 0)
        in_vain = 0;
    else if (++in_vain >= PATIENCE) {
        in_vain = PATIENCE; /* from now on each time, until something comes */
        sched_yield();
    }
    return count;
}
